//! Measured tokens. Counted by a process of its own, our program as `tokens`: the encoding takes a hundred megabytes,
//! which the hub would keep for ever after a moment's use.

use std::{
    io::Read,
    path::Path,
    process::{ExitCode, Stdio},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, process::Command};

use super::Offer;

/// What all counts are made with: the encoding, and who implements it in which version.
pub const TOKENIZER: &str = "o200k_base (tiktoken-rs 0.12.1)";
/// How long counting one server's definitions may take.
const TIME: Duration = Duration::from_secs(120);

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The counting process could not be started or spoken to.
    #[error("cannot count tokens: {0}")]
    Process(#[from] std::io::Error),
    /// It answered something else than one number a text.
    #[error("cannot count tokens: the counting process did not answer as expected")]
    Answer,
    /// It took too long.
    #[error("cannot count tokens: the counting process took more than {} s", TIME.as_secs())]
    Time,
}

/// Counts an offer's definitions, each alone and all as one list, where that has not been done. `program` is our own.
///
/// # Errors
/// [`CountError`]; the offer is then as it was.
pub async fn count(program: &Path, offer: &Offer) -> Result<(), CountError> {
    if offer.tokens.get().is_some() {
        return Ok(());
    }
    let list = offer.definitions();
    let texts: Vec<&str> =
        std::iter::once(list.as_str()).chain(offer.tools.iter().map(|tool| tool.raw.get())).collect();
    let counts = count_texts(program, &texts).await?;
    let Some((whole, each)) = counts.split_first() else { return Err(CountError::Answer) };
    for (tool, tokens) in offer.tools.iter().zip(each) {
        let _ = tool.tokens.set(*tokens);
    }
    let _ = offer.tokens.set(*whole);
    Ok(())
}

/// Counts texts. `program` is our own.
///
/// # Errors
/// [`CountError`] where not all of them were counted.
pub async fn count_texts(program: &Path, texts: &[&str]) -> Result<Vec<usize>, CountError> {
    let asked = serde_json::to_vec(texts).map_err(|_| CountError::Answer)?;
    let counts = tokio::time::timeout(TIME, ask(program, &asked)).await.map_err(|_| CountError::Time)??;
    if counts.len() == texts.len() { Ok(counts) } else { Err(CountError::Answer) }
}

/// About how many tokens a text has, from its length: what no answer waits for being counted.
pub fn estimate(text: &str) -> usize {
    // Definitions and descriptions of real servers have 3.5 to 4.5 bytes a token.
    text.len().div_ceil(4)
}

/// Counts texts here and now. Loads the whole encoding; for programs that end soon.
///
/// # Errors
/// [`CountError::Answer`] where the encoding cannot be loaded.
pub fn count_here(texts: &[String]) -> Result<Vec<usize>, CountError> {
    let encoding = tiktoken_rs::o200k_base().map_err(|_| CountError::Answer)?;
    Ok(texts.iter().map(|text| encoding.count_ordinary(text)).collect())
}

async fn ask(program: &Path, texts: &[u8]) -> Result<Vec<usize>, CountError> {
    let mut command = Command::new(program);
    command.arg("tokens").env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    // It reads everything before it answers, so writing first cannot lock up.
    if let Some(mut input) = child.stdin.take() {
        input.write_all(texts).await?;
        input.shutdown().await?;
    }
    let output = child.wait_with_output().await?;
    serde_json::from_slice(&output.stdout).map_err(|_| CountError::Answer)
}

/// The counting process's own life: a JSON list of texts in, a JSON list of numbers out.
pub fn main() -> ExitCode {
    let mut asked = String::new();
    let read = std::io::stdin().read_to_string(&mut asked);
    let (Ok(_), Ok(texts)) = (read, serde_json::from_str::<Vec<String>>(&asked)) else {
        return ExitCode::FAILURE;
    };
    let Ok(counts) = count_here(&texts) else { return ExitCode::FAILURE };
    match serde_json::to_writer(std::io::stdout(), &counts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tokenizer_is_named_with_the_version_that_is_built_in() {
        let lock = include_str!("../../../../Cargo.lock");
        let after = lock.split("name = \"tiktoken-rs\"\nversion = \"").nth(1).unwrap();
        let version = after.split('"').next().unwrap();
        assert_eq!(super::TOKENIZER, format!("o200k_base (tiktoken-rs {version})"));
    }
}
