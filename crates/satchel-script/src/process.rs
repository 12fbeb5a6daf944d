//! The body of the script's process: reads the script, exchanges messages with the hub, exits. The caller has sandboxed the
//! process before.

use std::io::{self, BufRead, Write};

use crate::{
    engine::{Bounds, Host, run},
    protocol::{CallRequest, FromScript, Settlement, ToScript, put_line},
};

/// Reports readiness, runs the one script it receives, and reports the result.
///
/// # Errors
/// If the hub is gone, or sends an unexpected message.
pub fn speak(input: impl BufRead, output: impl Write) -> io::Result<()> {
    let mut line = InputLine { input, output, text: String::new() };
    line.say(&FromScript::Ready)?;
    let ToScript::Run(task) = line.hear()? else { return Err(unexpected()) };
    let end = run(&task, &Bounds::default(), &mut line)?;
    line.say(&FromScript::Done(end))
}

/// The connection to the hub.
struct InputLine<I, O> {
    input: I,
    output: O,
    text: String,
}

impl<I: BufRead, O: Write> InputLine<I, O> {
    fn say(&mut self, word: &FromScript) -> io::Result<()> {
        let mut text = Vec::new();
        put_line(word, &mut text)?;
        self.output.write_all(&text)?;
        self.output.flush()
    }

    fn hear(&mut self) -> io::Result<ToScript> {
        self.text.clear();
        match self.input.read_line(&mut self.text)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(serde_json::from_str(&self.text)?),
        }
    }
}

impl<I: BufRead, O: Write> Host for InputLine<I, O> {
    fn call(&mut self, call: CallRequest) -> io::Result<()> {
        self.say(&FromScript::Call(call))
    }

    fn wait(&mut self) -> io::Result<(u32, Settlement)> {
        match self.hear()? {
            ToScript::Settled { id, end } => Ok((id, end)),
            ToScript::Run(_) => Err(unexpected()),
        }
    }
}

fn unexpected() -> io::Error {
    io::Error::other("the hub sent an unexpected message")
}
