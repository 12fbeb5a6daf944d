//! Prompts at the terminal. Without a terminal there is no prompt, and nothing counts as an answer.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use anyhow::Context;

/// Is it interactive: is standard input a terminal, and is standard error shown on one?
pub(crate) fn is_there() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Asks a person for approval. Only a typed word counts, not an empty line, end of input, or a program.
pub(crate) fn agrees(question: &str) -> anyhow::Result<bool> {
    let answer = asked(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a line.
pub(crate) fn asked(question: &str) -> anyhow::Result<String> {
    crate::output::prompt(question).context("cannot write to the terminal")?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("cannot read from the terminal")?;
    Ok(answer.trim().to_owned())
}
