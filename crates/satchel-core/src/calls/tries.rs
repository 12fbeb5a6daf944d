//! Tracks the calls that a person tries in the window, by the names that the window gave them: the progress of each,
//! and a way to cancel it. Knows nothing of tools and servers.
//!
//! Theory of operation: whoever makes the call holds a [`Try`], tells it what the server says, and gives up when it is
//! cancelled. Dropping it ends whoever follows.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::model::trying::TryProgress;

/// Maximum number of runs. A window shows one tool at a time.
const MOST: usize = 16;
/// Maximum length of a run id.
const NAME: usize = 64;
/// Number of server log lines that are kept.
const LINES: usize = 50;
/// Timeout of a long poll.
const PATIENCE: Duration = Duration::from_secs(20);

/// The running tries.
#[derive(Debug, Clone, Default)]
pub struct Tries(Arc<Mutex<BTreeMap<String, Under>>>);

#[derive(Debug)]
struct Under {
    cancelled: CancellationToken,
    progress: watch::Receiver<TryProgress>,
}

/// A handle for the one who makes the call.
#[derive(Debug)]
pub struct Try {
    tries: Tries,
    run: String,
    cancelled: CancellationToken,
    progress: watch::Sender<TryProgress>,
}

impl Tries {
    /// Starts a run; `None` if there are too many, or the id is in use.
    pub fn begin(&self, run: &str) -> Option<Try> {
        let mut all = self.all();
        if all.len() >= MOST || run.len() > NAME || all.contains_key(run) {
            return None;
        }
        let (cancelled, (progress, heard)) =
            (CancellationToken::new(), watch::channel(TryProgress::default()));
        all.insert(run.to_owned(), Under { cancelled: cancelled.clone(), progress: heard });
        Some(Try { tries: self.clone(), run: run.to_owned(), cancelled, progress })
    }

    /// Cancels a run, if there is one of this id.
    pub fn cancel(&self, run: &str) {
        if let Some(under) = self.all().get(run) {
            under.cancelled.cancel();
        }
    }

    /// The progress, once it is newer than `seen`, or after some seconds.
    pub async fn follow(&self, run: &str, seen: u64) -> TryProgress {
        let known = self.all().get(run).map(|under| under.progress.clone());
        let Some(mut progress) = known else {
            return TryProgress { seen, over: true, ..TryProgress::default() };
        };
        let over = matches!(
            tokio::time::timeout(PATIENCE, progress.wait_for(|now| now.seen > seen)).await,
            Ok(Err(_))
        );
        let now = progress.borrow().clone();
        TryProgress { over, ..now }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Under>> {
        self.0.lock()
    }
}

impl Try {
    /// Resolves when a person cancels the run.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Records the server's progress. Missing fields keep their previous value.
    pub fn tell(&self, progress: Option<f64>, total: Option<f64>, message: Option<String>) {
        self.progress.send_modify(|now| {
            now.seen += 1;
            now.progress = progress.or(now.progress);
            now.total = total.or(now.total);
            now.message = message.or(now.message.take());
        });
    }

    /// Records a log message of the server.
    pub fn log(&self, line: String) {
        self.progress.send_modify(|now| {
            now.seen += 1;
            if now.log.len() >= LINES {
                now.log.remove(0);
            }
            now.log.push(line);
        });
    }
}

impl Drop for Try {
    fn drop(&mut self) {
        self.tries.all().remove(&self.run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_receives_the_newest_progress_once_and_the_end() {
        let tries = Tries::default();
        let one = tries.begin("a").unwrap();
        one.tell(Some(1.0), Some(4.0), Some("begins".into()));
        one.tell(Some(2.0), None, None);
        let now = tries.follow("a", 0).await;
        let expected = TryProgress {
            seen: 2,
            progress: Some(2.0),
            total: Some(4.0),
            message: Some("begins".into()),
            log: vec![],
            over: false,
        };
        assert_eq!(now, expected);
        assert_eq!(tries.follow("a", 2).await, expected, "without progress it is answered after a while");
        let following = tries.clone();
        let (end, ()) = tokio::join!(following.follow("a", 2), async { drop(one) });
        assert!(end.over);
        assert!(tries.follow("a", 0).await.over);
    }

    #[tokio::test]
    async fn the_last_lines_of_a_log_are_kept() {
        let tries = Tries::default();
        let one = tries.begin("a").unwrap();
        (0..LINES + 2).for_each(|at| one.log(at.to_string()));
        let now = tries.follow("a", 0).await;
        assert_eq!((now.log.len(), now.log[0].as_str(), now.seen), (LINES, "2", LINES as u64 + 2));
    }

    #[tokio::test]
    async fn it_is_cancelled_by_its_name_alone() {
        let tries = Tries::default();
        let (one, other) = (tries.begin("a").unwrap(), tries.begin("b").unwrap());
        tries.cancel("b");
        tries.cancel("c");
        other.cancelled().await;
        assert!(!one.cancelled.is_cancelled());
    }

    #[test]
    fn names_are_short_each_is_one_calls_and_there_are_few() {
        let tries = Tries::default();
        let held: Vec<Try> = (0..MOST).filter_map(|at| tries.begin(&at.to_string())).collect();
        assert_eq!((held.len(), tries.begin("more").is_some()), (MOST, false));
        drop(held);
        let one = tries.begin("a");
        assert!(one.is_some() && tries.begin("a").is_none() && tries.begin(&"a".repeat(NAME + 1)).is_none());
    }
}
