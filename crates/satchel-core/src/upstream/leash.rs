//! Keeps everything a server starts within reach: a small process between the hub and the server, below which every
//! process of that server stays, wherever it moves to.
//!
//! Theory of operation: on Linux the hub starts its own program as `leash PROGRAM ARGUMENT…`, as the leader of the
//! server's process group. It becomes the reaper of everything below itself, starts the server with its own standard
//! streams, lets go of them and waits. A helper that leaves its parent, its group, its session and its environment
//! behind then becomes a child of the leash and not of init, so that the hub and its warden find it by following
//! parents. When the server has ended, the leash ends what is left outside the group (the hub ends the group, which may
//! need time to finish), and ends as the server did. It knows nothing else.

#[cfg(target_os = "linux")]
pub use linux::main;

/// Only Linux lets a process adopt its descendants. Windows has job objects; elsewhere the group must do.
#[cfg(not(target_os = "linux"))]
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        ffi::OsString,
        fs::File,
        os::unix::process::CommandExt,
        process::{Command, ExitCode},
    };

    use nix::{
        errno::Errno,
        sys::{
            prctl,
            signal::{SigSet, Signal, kill},
            wait::{WaitStatus, wait},
        },
        unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout},
    };

    use crate::upstream::warden::kill_below;

    /// What shells answer where a program cannot be started.
    const NOT_FOUND: u8 = 127;
    const NOT_STARTED: u8 = 126;

    /// The leash's whole life.
    pub fn main() -> ExitCode {
        // What ends the group gently is meant for the server. Its own copy of this mask is cleared when it is started.
        let _ =
            [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect::<SigSet>().thread_block();
        let mut words = std::env::args_os().skip(2);
        let Some(program) = words.next() else { return ExitCode::from(NOT_STARTED) };
        // Without this it is an ordinary parent, which is what other systems have.
        let _ = prctl::set_child_subreaper(true);
        match start(&program, words.collect()) {
            Ok(server) => {
                let how = wait_for(server);
                kill_below(std::process::id(), Some(std::process::id()));
                end_like(how)
            }
            Err(error) => {
                eprintln!("{}: {error}", program.to_string_lossy());
                ExitCode::from(match error.kind() {
                    std::io::ErrorKind::NotFound => NOT_FOUND,
                    _ => NOT_STARTED,
                })
            }
        }
    }

    fn start(program: &OsString, arguments: Vec<OsString>) -> std::io::Result<Pid> {
        // The server sees its own name, as when it is started without a leash.
        let server = Command::new(program).arg0(program).args(arguments).spawn()?;
        // The end of the server's output must be seen as such, although this process goes on for a moment.
        if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
            let _ = dup2_stdin(&nothing);
            let _ = dup2_stdout(&nothing);
            let _ = dup2_stderr(&nothing);
        }
        Ok(Pid::from_raw(i32::try_from(server.id()).unwrap_or(i32::MAX)))
    }

    /// Waits for the server's end, and meanwhile for everything it has left to us.
    fn wait_for(server: Pid) -> Option<WaitStatus> {
        loop {
            match wait() {
                Ok(status @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
                    if status.pid() == Some(server) =>
                {
                    return Some(status);
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn end_like(how: Option<WaitStatus>) -> ExitCode {
        match how {
            Some(WaitStatus::Exited(_, code)) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1)),
            Some(WaitStatus::Signaled(_, signal, _)) => {
                // Its core, where one is wanted, was written already.
                let _ = prctl::set_dumpable(false);
                let _ = SigSet::all().thread_unblock();
                // The first one may only take a handler of the standard library away.
                for _ in 0..2 {
                    let _ = kill(Pid::this(), signal);
                }
                ExitCode::from(u8::try_from(128 + signal as i32).unwrap_or(1))
            }
            _ => ExitCode::FAILURE,
        }
    }
}
