//! Counts wrong tokens. Each guess costs a new connection; clients with a token are unaffected.

use std::{collections::VecDeque, time::Duration};

use parking_lot::Mutex;

use tokio::time::Instant;

/// Number of wrong tokens within [`MINUTE`] before throttling.
const WRONG: usize = 30;
/// The period over which they are counted.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// The times of wrong tokens.
#[derive(Debug, Default)]
pub(crate) struct AuthThrottle(Mutex<VecDeque<Instant>>);

impl AuthThrottle {
    /// Counts another wrong token. Returns true if there were too many within the last minute.
    pub(crate) fn refuses_another(&self) -> bool {
        let now = Instant::now();
        let mut times = self.0.lock();
        while times.front().is_some_and(|time| now - *time >= MINUTE) {
            times.pop_front();
        }
        times.push_back(now);
        // One more than the limit is enough to know.
        if times.len() > WRONG + 1 {
            times.pop_front();
        }
        times.len() > WRONG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_minute_bears_so_many() {
        let throttle = AuthThrottle::default();
        assert!((0..WRONG).all(|_| !throttle.refuses_another()));
        assert!((0..1_000).all(|_| throttle.refuses_another()));
        assert!(throttle.0.lock().len() <= WRONG + 1, "it takes no more room");
        tokio::time::advance(MINUTE).await;
        assert!(!throttle.refuses_another());
    }
}
