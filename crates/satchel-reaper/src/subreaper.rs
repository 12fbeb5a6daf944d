//! The subreaper: starts one server, keeps all its descendants within reach, and exits as the server did.
//! `upstream/subreaper.rs` of `satchel-core` says why.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// The environment variable that tells a process what its sandbox allows.
pub const SANDBOX: &str = "SATCHEL_SANDBOX";

/// What the server is started with. Written as one line: its length in bytes, a space, itself as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct Orders {
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// The sandbox it runs in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandboxed>,
}

/// SandboxPlan around a server, and what raises them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sandboxed {
    /// The program that raises them around itself and then turns into the server.
    pub by: PathBuf,
    /// Which, as that program reads them.
    pub which: String,
}

impl Orders {
    /// Reads the line, and not a byte of what follows it.
    ///
    /// # Errors
    /// Where it ends early, is longer than [`LONGEST`], or is no such line.
    pub fn read(from: &mut impl std::io::Read) -> std::io::Result<Self> {
        let wrong = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
        let (mut length, mut byte) = (0usize, [0u8; 1]);
        loop {
            from.read_exact(&mut byte)?;
            match byte[0] {
                digit @ b'0'..=b'9' => length = length * 10 + usize::from(digit - b'0'),
                b' ' => break,
                _ => return Err(wrong("its orders do not begin with their length")),
            }
            if length > LONGEST {
                return Err(wrong("its orders are too long"));
            }
        }
        // With the line feed behind them.
        let mut json = vec![0; length + 1];
        from.read_exact(&mut json)?;
        serde_json::from_slice(&json).map_err(|error| wrong(&format!("its orders cannot be read: {error}")))
    }
}

/// More than any system lets a program be started with.
const LONGEST: usize = 64 * 1024 * 1024;

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
        os::{fd::AsFd, unix::process::CommandExt},
        process::{Command, ExitCode},
    };

    use nix::{
        errno::Errno,
        sys::{
            prctl,
            signal::{SigSet, Signal, kill},
            stat::{Mode, umask},
            wait::{WaitStatus, wait},
        },
        unistd::{Pid, close, dup2_stderr, dup2_stdin, dup2_stdout},
    };

    use super::{Orders, SANDBOX};
    use crate::processes::kill_below;

    /// Whoever started the hub may have left files or pipes open for it; they are none of a server's business.
    fn let_go_of_what_was_inherited() {
        let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
        let open: Vec<i32> =
            open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
            // The directory that was just read is among them, and closed already.
            let _ = close(descriptor);
        }
    }

    /// What shells answer where a program cannot be started.
    const NOT_FOUND: u8 = 127;
    const NOT_STARTED: u8 = 126;

    /// The subreaper's whole life.
    pub fn main() -> ExitCode {
        // What ends the group gently is meant for the server. Its own copy of this mask is cleared when it is started.
        let _ =
            [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect::<SigSet>().thread_block();
        let_go_of_what_was_inherited();
        let mut words = std::env::args_os().skip(2);
        let Some(program) = words.next() else { return ExitCode::from(NOT_STARTED) };
        // Without this it is an ordinary parent, which is what other systems have.
        let _ = prctl::set_child_subreaper(true);
        match orders().and_then(|orders| start(&program, orders)) {
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

    /// From standard input itself: what a buffer took of the server's part would be lost.
    fn orders() -> std::io::Result<Orders> {
        Orders::read(&mut File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
    }

    fn start(program: &OsString, orders: Orders) -> std::io::Result<Pid> {
        // What a server writes is its user's own, unless it says otherwise itself.
        umask(Mode::from_bits_truncate(0o077));
        let mut server = match &orders.sandbox {
            // The server sees its own name, as when it is started without a subreaper.
            None => {
                let mut server = Command::new(program);
                server.arg0(program).env_clear().envs(orders.env);
                server
            }
            Some(sandbox) => {
                let mut server = Command::new(&sandbox.by);
                server.arg("sandboxed").arg(program).env_clear().envs(orders.env);
                server.env(SANDBOX, &sandbox.which);
                server
            }
        };
        let server = server.args(orders.args).spawn()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> (Result<Orders, std::io::ErrorKind>, usize) {
        let read = Orders::read(&mut bytes).map_err(|error| error.kind());
        (read, bytes.len())
    }

    #[test]
    fn orders_are_read_to_their_end_and_nothing_of_what_follows() {
        let (args, env) = (vec!["a b".to_owned(), "é\n\"".to_owned()], [("K".to_owned(), "v=1".to_owned())]);
        let orders = Orders { args: args.clone(), env: env.clone().into(), sandbox: None };
        let json = serde_json::to_string(&orders).unwrap();
        let (orders, left) = read(format!("{} {json}\n{{\"jsonrpc\"", json.len()).as_bytes());
        let orders = orders.unwrap();
        assert_eq!((orders.args, orders.env, left), (args, env.into(), 10));
    }

    #[test]
    fn a_hub_that_dies_while_it_writes_starts_nothing() {
        use std::io::ErrorKind::{InvalidData, UnexpectedEof};
        for (bytes, kind) in [
            ("", UnexpectedEof),
            ("12", UnexpectedEof),
            ("12 {\"args\"", UnexpectedEof),
            ("{}", InvalidData),
            ("2 {}\n", InvalidData),
            ("99999999999999 ", InvalidData),
        ] {
            assert_eq!(read(bytes.as_bytes()).0.unwrap_err(), kind, "{bytes}");
        }
    }
}
