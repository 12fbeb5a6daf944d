//! Limits unsolicited messages of a server. A flooding server is read more slowly, so that its own pipe fills and
//! others are unaffected.

use std::time::Duration;

use tokio::time::Instant;

/// Rate limiter for unsolicited messages of a server. Pure; time comes in.
pub(super) struct Unasked {
    since: Instant,
    count: u32,
}

impl Unasked {
    /// Number of messages handled immediately within [`Self::WHILE`]: 10,000 a second.
    const MOST: u32 = 100;
    const WHILE: Duration = Duration::from_millis(10);

    /// Starts counting.
    pub(super) fn begin(now: Instant) -> Self {
        Self { since: now, count: 0 }
    }

    /// Counts one message. Returns when to handle it, if not now.
    pub(super) fn one_more(&mut self, now: Instant) -> Option<Instant> {
        if now >= self.since + Self::WHILE {
            *self = Self::begin(now);
        }
        self.count += 1;
        if self.count <= Self::MOST {
            return None;
        }
        *self = Self { since: self.since + Self::WHILE, count: 1 };
        Some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long it takes to handle this many messages that arrive at once.
    fn taken(messages: u32) -> Duration {
        let start = Instant::now();
        let (mut unasked, mut now) = (Unasked::begin(start), start);
        for _ in 0..messages {
            now = unasked.one_more(now).unwrap_or(now);
        }
        now - start
    }

    #[test]
    fn a_flood_is_taken_in_at_ten_thousand_a_second_and_less_at_once() {
        assert_eq!(taken(Unasked::MOST), Duration::ZERO);
        assert_eq!(taken(Unasked::MOST + 1), Unasked::WHILE);
        assert_eq!(taken(10_000), Duration::from_millis(990));
    }

    #[test]
    fn the_count_of_unasked_messages_restarts_after_a_pause() {
        let start = Instant::now();
        let mut unasked = Unasked::begin(start);
        for moment in 0..1_000u32 {
            let now = start + Unasked::WHILE * moment;
            assert!((0..Unasked::MOST).all(|_| unasked.one_more(now).is_none()), "at {moment}");
        }
    }
}
