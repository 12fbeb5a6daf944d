//! The subreaper: starts one server, keeps all its descendants within reach, and exits as the server did.
//! `upstream/subreaper.rs` of `satchel-core` says why.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// The environment variable that tells a process what its sandbox allows.
pub const SANDBOX: &str = "SATCHEL_SANDBOX";

/// How to start the server. On the wire: the length in bytes, a space, then this as JSON, on one line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Orders {
    /// Its arguments.
    pub args: Vec<String>,
    /// Its complete environment.
    pub env: BTreeMap<String, String>,
    /// How many files it may have open at first, if not as many as this process. It can raise that itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// The sandbox it runs in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandboxed>,
}

/// The sandbox of a server and the program that enters it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sandboxed {
    /// The program that restricts itself and then executes the server.
    pub by: PathBuf,
    /// The sandbox's rules, in the format that program reads.
    pub which: String,
}

impl Orders {
    /// Reads the line, and no byte beyond it.
    ///
    /// # Errors
    /// If the input ends early, is longer than [`LONGEST`], or is not such a line.
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
        // Including the line feed.
        let mut json = vec![0; length + 1];
        from.read_exact(&mut json)?;
        serde_json::from_slice(&json).map_err(|error| wrong(&format!("its orders cannot be read: {error}")))
    }
}

/// More than any system allows for starting a program.
const LONGEST: usize = 64 * 1024 * 1024;

#[cfg(target_os = "linux")]
pub use linux::main;

/// Only Linux lets a process adopt its descendants. Windows has job objects; other systems rely on the process group.
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
            resource::{Resource::RLIMIT_NOFILE, getrlimit, setrlimit},
            signal::{SigSet, Signal, kill},
            stat::{Mode, umask},
            wait::{WaitStatus, wait},
        },
        unistd::{Pid, close, dup2_stderr, dup2_stdin, dup2_stdout},
    };

    use super::{Orders, SANDBOX};
    use crate::processes::kill_below;

    /// The hub's parent may have left files or pipes open in it; a server must not inherit them.
    fn let_go_of_what_was_inherited() {
        let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
        let open: Vec<i32> =
            open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
            // The directory just read is among them, and already closed.
            let _ = close(descriptor);
        }
    }

    /// The exit status of shells if a program cannot be started.
    const NOT_FOUND: u8 = 127;
    const NOT_STARTED: u8 = 126;

    /// Main function of the subreaper.
    pub fn main() -> ExitCode {
        // Signals that end the group gently are meant for the server. The server's copy of this signal mask is cleared
        // at its start.
        let _ =
            [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect::<SigSet>().thread_block();
        let_go_of_what_was_inherited();
        let mut words = std::env::args_os().skip(2);
        let Some(program) = words.next() else { return ExitCode::from(NOT_STARTED) };
        // If this fails, it is an ordinary parent, as on other systems.
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

    /// Reads standard input unbuffered: a buffer would swallow input meant for the server.
    fn orders() -> std::io::Result<Orders> {
        Orders::read(&mut File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
    }

    fn start(program: &OsString, orders: Orders) -> std::io::Result<Pid> {
        // Files that a server writes are private to the user, unless it sets other permissions.
        umask(Mode::from_bits_truncate(0o077));
        if let Some(soft) = orders.open_files {
            // If this fails, it has the larger limit.
            let _ =
                getrlimit(RLIMIT_NOFILE).and_then(|(_, hard)| setrlimit(RLIMIT_NOFILE, soft.min(hard), hard));
        }
        let mut server = match &orders.sandbox {
            // The server sees its own name, as without a subreaper.
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
        // The server's output must reach end of file when it exits, although this process continues for a moment.
        if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
            let _ = dup2_stdin(&nothing);
            let _ = dup2_stdout(&nothing);
            let _ = dup2_stderr(&nothing);
        }
        Ok(Pid::from_raw(i32::try_from(server.id()).unwrap_or(i32::MAX)))
    }

    /// Waits for the server to exit, and meanwhile reaps every orphan this process adopted.
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
                // The server's core dump, if wanted, has been written already.
                let _ = prctl::set_dumpable(false);
                let _ = SigSet::all().thread_unblock();
                // The first signal may only remove a handler of the standard library.
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
    fn reading_orders_consumes_no_byte_beyond_them() {
        let (args, env) = (vec!["a b".to_owned(), "é\n\"".to_owned()], [("K".to_owned(), "v=1".to_owned())]);
        let orders = Orders { args: args.clone(), env: env.clone().into(), open_files: None, sandbox: None };
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
