//! Lines typed at the terminal, for prompts that may end before a line is typed. Reads only when a prompt asks, so that
//! other prompts can read between.

use std::{future::Future, io};

use anyhow::Context;
use tokio::sync::mpsc;

/// The end of a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed<T> {
    /// What was typed.
    Said(T),
    /// The question is over, for this reason.
    Over(&'static str),
    /// The input ended.
    End,
}

impl<T> Typed<T> {
    /// Turns what was typed into what it means.
    pub(crate) fn map<U>(self, meaning: impl FnOnce(T) -> U) -> Typed<U> {
        match self {
            Typed::Said(typed) => Typed::Said(meaning(typed)),
            Typed::Over(why) => Typed::Over(why),
            Typed::End => Typed::End,
        }
    }
}

/// Standard input, line by line.
#[derive(Debug)]
pub(crate) struct Keyboard {
    wanted: std::sync::mpsc::Sender<()>,
    lines: mpsc::UnboundedReceiver<io::Result<Option<String>>>,
    /// A line was asked for and has not come: it belongs to a question that is over.
    owed: bool,
}

impl Keyboard {
    /// Reads standard input in a thread of its own: a read cannot be cancelled, and must not delay the end of the program.
    pub(crate) fn new() -> Self {
        let (wanted, requests) = std::sync::mpsc::channel();
        let (typed, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            while requests.recv().is_ok() {
                let mut line = String::new();
                let read = io::stdin().read_line(&mut line).map(|length| (length > 0).then_some(line));
                if typed.send(read).is_err() {
                    return;
                }
            }
        });
        Self { wanted, lines, owed: false }
    }

    /// Does the next line belong to a question that is over?
    pub(crate) fn owes(&self) -> bool {
        self.owed
    }

    /// Waits for a line, or for the end of the question.
    ///
    /// # Errors
    /// If the terminal cannot be read, or whether the question is over cannot be found out.
    pub(crate) async fn line(
        &mut self,
        over: impl Future<Output = anyhow::Result<&'static str>>,
    ) -> anyhow::Result<Typed<String>> {
        if !self.owed {
            let _ = self.wanted.send(());
            self.owed = true;
        }
        let typed = tokio::select! {
            typed = self.lines.recv() => typed,
            over = over => return over.map(Typed::Over),
        };
        self.owed = false;
        let typed = typed.unwrap_or(Ok(None)).context("cannot read from the terminal")?;
        Ok(typed.map_or(Typed::End, |line| Typed::Said(line.trim().to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_line_begun_for_a_question_that_is_over_is_known_as_such() {
        let (wanted, requests) = std::sync::mpsc::channel();
        let (typed, lines) = mpsc::unbounded_channel();
        let mut keyboard = Keyboard { wanted, lines, owed: false };
        let over = keyboard.line(ready(Ok("expired"))).await.unwrap();
        assert_eq!((over, keyboard.owes()), (Typed::Over("expired"), true));
        typed.send(Ok(Some("yes\n".into()))).unwrap();
        assert_eq!(keyboard.line(pending()).await.unwrap(), Typed::Said("yes".into()));
        assert!(!keyboard.owes(), "the next line is for the next question");
        assert_eq!(requests.try_iter().count(), 1, "the line that was owed was not asked for twice");
        typed.send(Ok(None)).unwrap();
        assert_eq!(keyboard.line(pending()).await.unwrap(), Typed::End);
    }
}
