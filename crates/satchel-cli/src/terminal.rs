//! Prompts at the terminal. Without a terminal there is no prompt, and nothing counts as an answer.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::Context;

/// Can a person be asked: do we read from a terminal, and is our complaint seen on one?
pub(crate) fn is_there() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// A person's yes. Only a word is one: not a line end, not silence, not a program.
pub(crate) fn agrees(question: &str) -> anyhow::Result<bool> {
    // The answer of the command may be on its way to somewhere else.
    let mut shown = stderr().lock();
    write!(shown, "{} [y/N] ", crate::output::harmless(question))
        .and_then(|()| shown.flush())
        .context("cannot write to the terminal")?;
    drop(shown);
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("cannot read from the terminal")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
