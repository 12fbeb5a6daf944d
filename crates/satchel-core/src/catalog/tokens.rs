//! Counts tokens in a separate process (`satchel tokens`), because the encoder needs a hundred megabytes that the hub
//! would otherwise keep.

use std::{
    io::Read,
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, process::Command, sync::Semaphore};

use super::Offer;

/// What all counts are made with: the encoding, and who implements it in which version.
pub const TOKENIZER: &str = "o200k_base (tiktoken-rs 0.12.1)";
/// How long counting may take.
const TIME: Duration = Duration::from_secs(120);
/// So many bytes of definitions are counted in one go.
const TOGETHER: usize = 4 * 1024 * 1024;

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

/// Counts offers: one process at a time, and everything that waits when it starts in one go, because each process loads
/// the whole encoding.
#[derive(Debug, Default)]
pub struct Counter {
    waiting: Mutex<Vec<Arc<Offer>>>,
}

impl Counter {
    /// Counts an offer's definitions, each alone and all as one list, where that has not been done and it is still `wanted`
    /// then. `turn` is taken by whoever counts anything; `program` is our own.
    ///
    /// # Errors
    /// [`CountError`]; the offer is then as it was.
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
            // Somebody else's turn did it.
            [] => Ok(()),
            _ => count_all(program, &together).await,
        }
    }

    /// The offer, and what of the others that wait has room beside it.
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
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
    use super::*;
    use crate::catalog::validate;

    fn offer(tool: &str) -> Arc<Offer> {
        let raw = format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
        let (tools, _) = validate::tools(vec![satchel_mcp::Raw::from_string(raw).unwrap()]);
        Arc::new(Offer { tools, ..Offer::default() })
    }

    /// A stand-in for the counting process: each text has as many tokens as a list of all has texts.
    #[cfg(unix)]
    #[tokio::test]
    async fn what_waits_for_a_turn_is_counted_together_by_one_process() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (program, starts) = (dir.path().join("counts"), dir.path().join("starts"));
        let script = format!(
            "#!/bin/sh\necho >> {}\nn=$(grep -o 'inputSchema' | grep -c .)\n[ $n = 6 ] && echo '[3,3,3,3,3,3]'\n",
            starts.display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
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
