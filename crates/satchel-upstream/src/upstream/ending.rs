//! Shutdown deadlines: when the hub ends, servers get less time, so that everything is over before a service manager or
//! a desktop loses patience after about five seconds.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

/// How long a server may take to exit after its input closed, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long calls in flight may continue when only their server stops.
const CALLS: Duration = Duration::from_secs(5);
/// The same when the hub stops.
const CALLS_AT_THE_END: Duration = Duration::from_secs(1);
/// When to kill what still runs after the shutdown began. Killing and waiting for many processes takes time too.
const ALL: Duration = Duration::from_millis(3_500);
/// The part of that reserved for a server that is asked to exit after its input closed.
const ASKED: Duration = Duration::from_secs(1);

/// Whether, and since when, the hub is shutting down. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<OnceLock<Instant>>);

/// The deadlines for a process that is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    /// After closing its input; then it is asked to exit.
    pub(super) closed: Instant,
    /// After asking; then it is killed.
    pub(super) asked: Instant,
}

impl Ending {
    /// Marks the start of the shutdown, if it has not begun.
    pub fn begin(&self) {
        let _ = self.0.set(Instant::now());
    }

    /// Has the shutdown begun?
    pub fn has_begun(&self) -> bool {
        self.0.get().is_some()
    }

    /// Until when calls in flight may continue if their server was to stop at `stopped`.
    pub(super) fn calls_until(&self, stopped: Instant) -> Instant {
        let alone = stopped + CALLS;
        self.0.get().map_or(alone, |begun| alone.min(*begun + CALLS_AT_THE_END))
    }

    /// The deadlines for a process whose input closed at `closed`.
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
    async fn servers_that_still_run_are_killed_soon_after_shutdown_begins() {
        let (ending, begun) = (Ending::default(), Instant::now());
        ending.begin();
        let millis = |at: Instant| (at - begun).as_millis();
        // When its input closed; the deadline after that, and the deadline after asking.
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
