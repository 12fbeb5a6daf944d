//! Counts tokens in a separate process (`satchel tokens`), so that the memory a large text needs is returned to the system.

use std::{
    io::Read,
    path::Path,
    process::{ExitCode, Stdio},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};

use tokio::{io::AsyncWriteExt, process::Command, sync::Semaphore};

use super::Offer;

/// The tokenizer of all counts: encoding, implementation and version.
pub const TOKENIZER: &str = "o200k_base (tiktoken-rs 0.12.1)";
/// Timeout of a count.
const TIME: Duration = Duration::from_secs(120);
/// Maximum size of definitions counted together, in bytes.
const TOGETHER: usize = 4 * 1024 * 1024;

/// Why counting failed.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The counting process could not be started or reached.
    #[error("cannot count tokens: {0}")]
    Process(#[from] std::io::Error),
    /// It did not return one number per text.
    #[error("cannot count tokens: the counting process did not answer as expected")]
    Answer,
    /// It timed out.
    #[error("cannot count tokens: the counting process took more than {} s", TIME.as_secs())]
    Time,
}

/// Counts offers with one process at a time, which takes everything that waits at its start.
#[derive(Debug, Default)]
pub struct Counter {
    waiting: Mutex<Vec<Arc<Offer>>>,
}

impl Counter {
    /// Counts an offer's definitions, individually and as one list, unless that is done or no longer `wanted` when its turn
    /// comes. `turn` limits counting to one process; `program` is this program.
    ///
    /// # Errors
    /// [`CountError`]; the offer is unchanged then.
    pub async fn count(
        &self,
        turn: &Semaphore,
        program: &Path,
        offer: &Arc<Offer>,
        wanted: impl Fn() -> bool,
    ) -> Result<(), CountError> {
        self.waiting().push(offer.clone());
        let _turn = turn.acquire().await;
        if !wanted() {
            self.waiting().retain(|other| !Arc::ptr_eq(other, offer));
            return Ok(());
        }
        let mut together = self.take(offer);
        together.retain(|offer| offer.tokens.get().is_none());
        match together.as_slice() {
            // Counted in another caller's turn.
            [] => Ok(()),
            _ => count_all(program, &together).await,
        }
    }

    /// The offer, and as many of the waiting ones as fit.
    fn take(&self, offer: &Arc<Offer>) -> Vec<Arc<Offer>> {
        let mut waiting = self.waiting();
        waiting.retain(|other| !Arc::ptr_eq(other, offer));
        let (mut bytes, mut together) = (bytes_of(offer), vec![offer.clone()]);
        waiting.retain(|other| {
            bytes += bytes_of(other);
            let fits = bytes <= TOGETHER;
            if fits {
                together.push(other.clone());
            }
            !fits
        });
        together
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Arc<Offer>>> {
        self.waiting.lock()
    }
}

fn bytes_of(offer: &Offer) -> usize {
    offer.tools.iter().map(|tool| tool.raw.get().len()).sum()
}

async fn count_all(program: &Path, offers: &[Arc<Offer>]) -> Result<(), CountError> {
    let lists: Vec<String> = offers.iter().map(|offer| offer.definitions()).collect();
    let tools = |offer: &Arc<Offer>| offer.tools.len();
    let texts: Vec<&str> = offers
        .iter()
        .zip(&lists)
        .flat_map(|(offer, list)| {
            std::iter::once(list.as_str()).chain(offer.tools.iter().map(|tool| tool.raw.get()))
        })
        .collect();
    let counts = count_texts(program, &texts).await?;
    let mut rest = counts.as_slice();
    for offer in offers {
        let (own, others) = rest.split_at_checked(1 + tools(offer)).ok_or(CountError::Answer)?;
        let (whole, each) = own.split_first().ok_or(CountError::Answer)?;
        for (tool, tokens) in offer.tools.iter().zip(each) {
            let _ = tool.tokens.set(*tokens);
        }
        let _ = offer.tokens.set(*whole);
        rest = others;
    }
    Ok(())
}

/// Counts texts. `program` is this program.
///
/// # Errors
/// [`CountError`] if not all were counted.
pub async fn count_texts(program: &Path, texts: &[&str]) -> Result<Vec<usize>, CountError> {
    let asked = serde_json::to_vec(texts).map_err(|_| CountError::Answer)?;
    let counts = tokio::time::timeout(TIME, ask(program, &asked)).await.map_err(|_| CountError::Time)??;
    if counts.len() == texts.len() { Ok(counts) } else { Err(CountError::Answer) }
}

/// Estimates a text's tokens from its length, for answers that cannot wait.
pub fn estimate(text: &str) -> usize {
    // Definitions and descriptions of real servers have 3.5 to 4.5 bytes per token.
    text.len().div_ceil(4)
}

/// Counts texts in this process.
///
/// # Errors
/// [`CountError::Answer`] if a text cannot be split into words.
pub fn count_here(texts: &[String]) -> Result<Vec<usize>, CountError> {
    let encoding = satchel_tokens::TokenEncoding::new().map_err(|_| CountError::Answer)?;
    texts.iter().map(|text| encoding.count(text).map_err(|_| CountError::Answer)).collect()
}

async fn ask(program: &Path, texts: &[u8]) -> Result<Vec<usize>, CountError> {
    let mut command = Command::new(program);
    command.arg("tokens").env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    // It reads everything before it responds, so writing first cannot deadlock.
    if let Some(mut input) = child.stdin.take() {
        input.write_all(texts).await?;
        input.shutdown().await?;
    }
    let output = child.wait_with_output().await?;
    serde_json::from_slice(&output.stdout).map_err(|_| CountError::Answer)
}

/// The main function of the counting process: a JSON list of texts in, a JSON list of numbers out.
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
#[cfg(unix)] // a script stands in for the counting process
mod tests {
    use super::*;
    use crate::catalog::validate;

    fn offer(tool: &str) -> Arc<Offer> {
        let raw = format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
        let (tools, _) = validate::tools(vec![satchel_mcp::Raw::from_string(raw).unwrap()]);
        Arc::new(Offer { tools, ..Offer::default() })
    }

    /// A substitute for the counting process: each text has as many tokens as the list has texts.
    #[tokio::test]
    async fn waiting_offers_are_counted_together_by_one_process() {
        let dir = tempfile::tempdir().unwrap();
        let (program, starts) = (dir.path().join("counts"), dir.path().join("starts"));
        let script = format!(
            "#!/bin/sh\necho >> {}\nn=$(grep -o 'inputSchema' | grep -c .)\n[ $n = 6 ] && echo '[3,3,3,3,3,3]'\n",
            starts.display()
        );
        // A shell writes it: a process that another test starts meanwhile would inherit the file open for writing, and Linux
        // refuses to run such a file.
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\""]).arg(&program).arg(script);
        assert!(shell.status().unwrap().success());
        let (counter, turn) = (Counter::default(), Semaphore::new(1));
        let offers = ["a", "b", "c"].map(offer);
        let busy = turn.acquire().await.unwrap();
        let counting = async {
            let [a, b, c] = offers.each_ref().map(|offer| counter.count(&turn, &program, offer, || true));
            tokio::join!(a, b, c)
        };
        let (counted, ()) = tokio::join!(counting, async { drop(busy) });
        assert!(counted.0.is_ok() && counted.1.is_ok() && counted.2.is_ok(), "{counted:?}");
        assert!(offers.iter().all(|offer| offer.tokens.get() == Some(&3)));
        assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 1);
    }

    #[test]
    fn the_tokenizer_is_named_with_the_version_that_is_built_in() {
        let lock = include_str!("../../../../Cargo.lock");
        let after = lock.split("name = \"tiktoken-rs\"\nversion = \"").nth(1).unwrap();
        let version = after.split('"').next().unwrap();
        assert_eq!(super::TOKENIZER, format!("o200k_base (tiktoken-rs {version})"));
    }
}
