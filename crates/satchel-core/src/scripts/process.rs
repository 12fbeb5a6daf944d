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

/// How our program is told to become one.
pub const ROLE: &str = "script-runner";
/// The longest line that is read from a script's process.
const LINE: usize = 16 * 1024 * 1024;
/// What the process may use in all: more than its engine may, which holds what comes and goes a second time.
const MEMORY: u64 = 256 * 1024 * 1024;
/// Seconds of computing after which the system ends it; its engine ends the script before.
const COMPUTING: u64 = 8;

/// A process and what is on its way to it and from it.
#[derive(Debug)]
pub struct Runner {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    heard: Vec<u8>,
    /// So much of it holds no end of a line.
    seen: usize,
    to_say: Vec<u8>,
    said: usize,
}

/// What came from a process.
#[derive(Debug)]
pub(super) enum RunnerMessage {
    /// A word.
    Word(FromScript),
    /// Nothing; but all that was to be said is said.
    Said,
    /// Nothing more.
    Ended(Option<ExitStatus>),
    /// Something that it would not say by itself.
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

    /// Has it not ended yet?
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Puts a word on its way.
    pub(super) fn say(&mut self, word: &ToScript) {
        // Words always serialize: what is raw in them is JSON already.
        let _ = put_line(word, &mut self.to_say);
    }

    /// Is everything said?
    pub(super) fn is_quiet(&self) -> bool {
        self.to_say.is_empty()
    }

    /// The next word; meanwhile, what is to be said is said. May be given up and called again.
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
                        // It does not listen any more; what it said before is still to be read.
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

/// The process's own life.
pub fn main() -> ExitCode {
    let sealed = sealed::seal(MEMORY, COMPUTING);
    let spoken = sealed.and_then(|()| satchel_script::speak(io::stdin().lock(), io::stdout().lock()));
    if spoken.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
