//! A script's process: starts with an empty environment, talks line by line, and ends with its handle.

use std::{
    io,
    path::Path,
    process::{ExitCode, ExitStatus, Stdio},
};

use satchel_script::protocol::{FromScript, ToScript, put_line};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::upstream::sealed;

/// The argument that makes this program a script runner.
pub const ROLE: &str = "script-runner";
/// Maximum length of a line from a script's process.
const LINE: usize = 16 * 1024 * 1024;
/// Memory limit of the process; higher than its engine's, because data in transit is held twice.
const MEMORY: u64 = 256 * 1024 * 1024;
/// CPU time limit in seconds, after which the system kills it; its engine stops the script earlier.
const COMPUTING: u64 = 8;

/// A script's process and the buffered messages in both directions.
#[derive(Debug)]
pub struct Runner {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    heard: Vec<u8>,
    /// Number of bytes already searched for a line end.
    seen: usize,
    to_say: Vec<u8>,
    said: usize,
}

/// An event of the process.
#[derive(Debug)]
pub(super) enum RunnerMessage {
    /// A message.
    Word(FromScript),
    /// No message; everything queued has been sent.
    Said,
    /// The process exited.
    Ended(Option<ExitStatus>),
    /// An invalid message.
    Nonsense,
}

impl Runner {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(ROLE).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(windows)]
        command.creation_flags(0x0800_0000);
        let mut child = command.kill_on_drop(true).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("its streams are missing"));
        };
        Ok(Self { child, input, output, heard: vec![], seen: 0, to_say: vec![], said: 0 })
    }

    /// Is it still running?
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Queues a message.
    pub(super) fn say(&mut self, word: &ToScript) {
        // Messages always serialize: their raw parts are valid JSON.
        let _ = put_line(word, &mut self.to_say);
    }

    /// Has everything been sent?
    pub(super) fn is_quiet(&self) -> bool {
        self.to_say.is_empty()
    }

    /// The next event; sends queued messages meanwhile. Cancel safe.
    pub(super) async fn exchange(&mut self) -> RunnerMessage {
        loop {
            if let Some(at) = self.heard[self.seen..].iter().position(|byte| *byte == b'\n') {
                let rest = self.heard.split_off(self.seen + at + 1);
                let line = std::mem::replace(&mut self.heard, rest);
                self.seen = 0;
                return serde_json::from_slice(&line).map_or(RunnerMessage::Nonsense, RunnerMessage::Word);
            }
            self.seen = self.heard.len();
            if self.seen > LINE {
                return RunnerMessage::Nonsense;
            }
            let rest = &self.to_say[self.said..];
            tokio::select! {
                read = self.output.read_buf(&mut self.heard) => match read {
                    Ok(0) | Err(_) => return RunnerMessage::Ended(self.child.wait().await.ok()),
                    Ok(_) => {}
                },
                written = self.input.write(rest), if !rest.is_empty() => match written {
                    Ok(0) | Err(_) => {
                        // It stopped reading; what it wrote earlier can still be read.
                        self.to_say.clear();
                        self.said = 0;
                    }
                    Ok(written) => {
                        self.said += written;
                        if self.said == self.to_say.len() {
                            self.to_say.clear();
                            self.said = 0;
                            return RunnerMessage::Said;
                        }
                    }
                },
            }
        }
    }
}

/// The main function of the process.
pub fn main() -> ExitCode {
    let sealed = sealed::seal(MEMORY, COMPUTING);
    let spoken = sealed.and_then(|()| satchel_script::speak(io::stdin().lock(), io::stdout().lock()));
    if spoken.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
