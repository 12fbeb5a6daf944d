//! Shutdown deadlines: when the hub ends, servers get less time, so that everything is over before a service manager or
//! a desktop loses patience after about five seconds.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

/// How long a server may take to end by itself after its input closed, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long calls in flight may go on when their server alone is stopped.
const CALLS: Duration = Duration::from_secs(5);
/// The same when the hub ends.
const CALLS_AT_THE_END: Duration = Duration::from_secs(1);
/// What still runs so long after the hub began to end is killed. Killing and waiting for many takes a moment as well.
const ALL: Duration = Duration::from_millis(3_500);
/// Of that, what is left for a server that is asked to end after its input closed.
const ASKED: Duration = Duration::from_secs(1);

/// Whether, and since when, the hub ends. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<OnceLock<Instant>>);

/// Until when a process that is being stopped is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    /// After its input closed; then it is asked to end.
    pub(super) closed: Instant,
    /// After it was asked; then it is killed.
    pub(super) asked: Instant,
}

impl Ending {
    /// The hub ends from now on, if it does not already.
    pub fn begin(&self) {
        let _ = self.0.set(Instant::now());
    }

    /// Does it end?
    pub fn has_begun(&self) -> bool {
        self.0.get().is_some()
    }

    /// Until when calls in flight may go on where their server was to stop at `stopped`.
    pub(super) fn calls_until(&self, stopped: Instant) -> Instant {
        let alone = stopped + CALLS;
        self.0.get().map_or(alone, |begun| alone.min(*begun + CALLS_AT_THE_END))
    }

    /// Until when a process is waited for whose input closed at `closed`.
    pub(super) fn steps(&self, closed: Instant) -> Steps {
        let alone = Steps { closed: closed + GRACE, asked: closed + 2 * GRACE };
        self.0.get().map_or(alone, |begun| {
            let last = *begun + ALL;
            Steps { closed: alone.closed.min(last - ASKED), asked: alone.asked.min(last) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_stopped_alone_has_its_whole_time() {
        let (ending, now) = (Ending::default(), Instant::now());
        assert!(!ending.has_begun());
        assert_eq!(ending.calls_until(now) - now, Duration::from_secs(5));
        let steps = ending.steps(now);
        assert_eq!((steps.closed - now, steps.asked - now), (GRACE, 2 * GRACE));
    }

    #[tokio::test(start_paused = true)]
    async fn what_still_runs_is_killed_soon_after_the_hub_began_to_end() {
        let (ending, begun) = (Ending::default(), Instant::now());
        ending.begin();
        let millis = |at: Instant| (at - begun).as_millis();
        // When its input closed; until when it is waited for then, and when it was asked as well.
        for (closed, until) in [(0, (2_000, 3_500)), (1_000, (2_500, 3_500)), (1_900, (2_500, 3_500))] {
            let steps = ending.steps(begun + Duration::from_millis(closed));
            assert_eq!((millis(steps.closed), millis(steps.asked)), until, "closed after {closed} ms");
        }
        assert_eq!(millis(ending.calls_until(begun)), 1_000);
        tokio::time::advance(Duration::from_secs(3)).await;
        ending.begin();
        assert_eq!(millis(ending.steps(begun).asked), 3_500, "it began once");
    }
}
