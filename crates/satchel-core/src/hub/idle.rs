//! Gives memory back to the system soon after the start, and each time the hub has had nothing to do for a while. Stops
//! no servers: that is up to `resting` and to each server's own timeout.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Hub;
use crate::{catalog::Catalog, tasks::may_fail_here};

/// How long starting takes at most, as a rule. Most of its code and data is not needed again, however busy the hub is from
/// then on.
const START: Duration = Duration::from_secs(2);
/// Longer than the pauses within an agent's turn, because the first call afterwards pays for 120 to 200 minor faults.
const QUIET: Duration = Duration::from_secs(15);
/// The interval without signs: requests of the command line, the window and calls that are not recorded give none.
const AGAIN: Duration = Duration::from_secs(600);

/// What shows that the hub works: something was recorded, or a server's lists were read. Neither is on a call's way.
struct SignsOfWork {
    recorded: watch::Receiver<()>,
    catalog: watch::Receiver<Catalog>,
    end: CancellationToken,
}

impl SignsOfWork {
    /// Waits for the next sign; false when the hub ends.
    async fn next(&mut self) -> bool {
        tokio::select! {
            recorded = self.recorded.changed() => recorded.is_ok(),
            published = self.catalog.changed() => published.is_ok(),
            () = self.end.cancelled() => false,
        }
    }

    /// Runs `act` after the start, when a quiet time begins and rarely while it lasts, as long as the hub runs.
    async fn when_quiet(mut self, act: impl Fn()) {
        if tokio::time::timeout(START, self.end.cancelled()).await.is_ok() {
            return;
        }
        act();
        let mut pause = QUIET;
        loop {
            match tokio::time::timeout(pause, self.next()).await {
                Ok(true) => pause = QUIET,
                Ok(false) => return,
                Err(_) => {
                    act();
                    pause = AGAIN;
                }
            }
        }
    }
}

/// Gives memory back while the hub runs.
pub(super) async fn keep_small(hub: &Hub) {
    if hub.inner.options.passive {
        return;
    }
    let signs = SignsOfWork {
        recorded: hub.recorder().worked(),
        catalog: hub.inner.servers.follow_catalog(),
        end: hub.inner.life.end().clone(),
    };
    signs.when_quiet(give_back).await;
}

/// On a thread of its own, which no task waits for.
fn give_back() {
    may_fail_here("idle");
    tokio::task::spawn_blocking(|| {
        let pages = satchel_memory::give_back();
        tracing::debug!(pages, "gave memory back");
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn memory_is_given_back_after_the_start_and_when_a_quiet_time_begins() {
        let (recorded, catalog) = (watch::Sender::<()>::default(), watch::Sender::<Catalog>::default());
        let end = CancellationToken::new();
        let signs =
            SignsOfWork { recorded: recorded.subscribe(), catalog: catalog.subscribe(), end: end.clone() };
        let times = AtomicUsize::new(0);
        let given = || times.load(Ordering::Relaxed);
        let keeping = signs.when_quiet(|| {
            times.fetch_add(1, Ordering::Relaxed);
        });
        let working = async {
            tokio::time::sleep(START / 2).await;
            recorded.send_replace(());
            assert_eq!(given(), 0, "it starts");
            for _ in 0..5 {
                tokio::time::sleep(QUIET / 2).await;
                recorded.send_replace(());
            }
            assert_eq!(given(), 1, "it has started, and works");
            tokio::time::sleep(QUIET * 9).await;
            assert_eq!(given(), 2, "at the beginning of a quiet time");
            tokio::time::sleep(AGAIN).await;
            assert_eq!(given(), 3, "and rarely after that");
            catalog.send_modify(|_| {});
            tokio::time::sleep(QUIET * 2).await;
            assert_eq!(given(), 4);
            end.cancel();
        };
        tokio::join!(keeping, working);
    }
}
