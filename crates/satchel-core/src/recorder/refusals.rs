//! Rate-limits records of refused requests: the first of a minute have a record each, the rest are counted.

use std::time::Duration;

use parking_lot::Mutex;

use tokio::time::Instant;

/// Number of rejected requests within [`MINUTE`] that get a record each.
const TURNED_AWAY: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);

/// Counts rejected requests.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Turned>);

#[derive(Debug, Default)]
struct Turned {
    since: Option<Instant>,
    told: u32,
    /// Counted but not reported.
    more: u64,
}

impl Refusals {
    /// Counts one more. Returns whether to report it, and how many unreported ones preceded it.
    pub(super) fn one_more(&self, now: Instant) -> (bool, u64) {
        let mut turned = self.0.lock();
        let mut more = 0;
        if turned.since.is_none_or(|since| now - since >= MINUTE) {
            more = std::mem::take(&mut turned.more);
            (turned.since, turned.told) = (Some(now), 0);
        }
        if turned.told < TURNED_AWAY {
            turned.told += 1;
            return (true, more);
        }
        turned.more += 1;
        (false, 0)
    }

    pub(super) fn rest(&self) -> u64 {
        std::mem::take(&mut self.0.lock().more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_at_the_door_is_told_in_few_records_and_counted_whole() {
        let door = Refusals::default();
        let mut told = 0;
        for _ in 0..1_000 {
            told += u64::from(door.one_more(Instant::now()).0);
        }
        assert_eq!(told, u64::from(TURNED_AWAY));
        tokio::time::advance(MINUTE).await;
        let (is_told, more) = door.one_more(Instant::now());
        assert!(is_told);
        assert_eq!(told + more, 1_000);
        assert_eq!(door.rest(), 0);
    }
}
