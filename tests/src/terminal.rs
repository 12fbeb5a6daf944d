//! A person at a terminal: runs a program on a pseudo-terminal of its own and types the answers.

use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
    process::Stdio,
    time::Duration,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::{Home, Ran, program};

/// Maximum time for a command.
const PATIENCE: Duration = Duration::from_secs(60);

impl Home {
    /// Runs `satchel` at a terminal where a person types this. `stdout` has its prompts and the typed answers as the
    /// terminal shows them.
    pub async fn satchel_typing(&self, arguments: &[&str], typed: &str) -> Ran {
        self.at_a_terminal(&program("satchel"), arguments, typed).await
    }

    /// Runs `satchel` at a terminal where a person says yes.
    pub async fn satchel_agreeing(&self, arguments: &[&str]) -> Ran {
        self.satchel_typing(arguments, "y\n").await
    }

    /// The same with any program.
    pub async fn at_a_terminal(&self, program_file: &Path, arguments: &[&str], typed: &str) -> Ran {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
        let theirs = ptsname(&ours, Vec::new()).expect("it has a name");
        let mut command = self.command(program("on-a-terminal"));
        command.arg(theirs.to_str().expect("its name is plain")).arg(program_file).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it can be started");
        let mut screen = File::from(ours);
        // Early input waits in the terminal until it is read.
        screen.write_all(typed.as_bytes()).expect("there is somebody to type to");
        let read = tokio::task::spawn_blocking(move || {
            let mut shown = Vec::new();
            let mut piece = [0; 4096];
            // Reading fails when no process has the terminal open any more, but also before the program has opened it.
            loop {
                match screen.read(&mut piece) {
                    Ok(0) | Err(_) => return (shown, screen),
                    Ok(count) => shown.extend_from_slice(&piece[..count]),
                }
            }
        });
        let status = tokio::time::timeout(PATIENCE, child.wait()).await;
        let status = status.expect("it ends").expect("it can be waited for");
        let (shown, _) =
            tokio::time::timeout(PATIENCE, read).await.expect("it says no more").expect("it is read");
        Ran {
            code: status.code(),
            stdout: String::from_utf8_lossy(&shown).replace("\r\n", "\n"),
            stderr: String::new(),
        }
    }
}
