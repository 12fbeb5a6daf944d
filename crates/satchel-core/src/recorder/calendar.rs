//! Detects jumps of the system date, so that a wrong clock does not delete history by age.

use std::time::Duration;

use tokio::time::Instant;

/// A clock that moves forward this much more than the elapsed time is doubted; a night's sleep of the computer is not.
const JUMP: Duration = Duration::from_secs(36 * 3600);
/// How long it is doubted. A wrong clock is usually noticed sooner, and deleting a day late does no harm.
const DOUBT: Duration = Duration::from_secs(24 * 3600);

/// Follows the system date.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    last: Option<(Instant, u64)>,
    doubted_until: Option<Instant>,
}

impl Calendar {
    /// Checks the date; false while it is doubted.
    pub(super) fn is_reliable(&mut self, now: Instant, date_ms: u64) -> bool {
        if let Some((then, before_ms)) = self.last.replace((now, date_ms)) {
            let passed = now - then;
            let forward = Duration::from_millis(date_ms.saturating_sub(before_ms));
            if forward > passed + JUMP {
                self.doubted_until = Some(now + DOUBT);
            }
        }
        self.doubted_until.is_none_or(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const HOUR_MS: u64 = 3_600_000;
    const YEAR_MS: u64 = 365 * 24 * HOUR_MS;

    /// R14: passes these hours with these clock jumps, and returns the last result.
    fn after(jumps: &[i64]) -> bool {
        let (mut calendar, mut now, mut date) = (Calendar::default(), Instant::now(), 50 * YEAR_MS);
        let mut reliable = calendar.is_reliable(now, date);
        for jump in jumps {
            now += HOUR;
            date = (date + HOUR_MS).saturating_add_signed(*jump);
            reliable = calendar.is_reliable(now, date);
        }
        reliable
    }

    #[test]
    fn a_date_that_jumps_ahead_is_doubted_for_a_day() {
        let ten_years = 10 * YEAR_MS as i64;
        assert!(after(&[0, 0, 0]));
        assert!(!after(&[0, ten_years]));
        assert!(!after(&[ten_years, 0, -ten_years, 0]), "and back");
        assert!(!after(&[&[ten_years][..], &[0; 23]].concat()));
        assert!(after(&[&[ten_years][..], &[0; 24]].concat()));
        assert!(after(&[10 * HOUR_MS as i64]), "the computer slept");
        assert!(after(&[-ten_years, 0]), "a date that goes back makes nothing old");
    }
}
