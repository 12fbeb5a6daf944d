//! Circuit breaker: stops calls to what keeps failing. Pure: time comes in, a decision goes out.
//!
//! Closed lets everything pass and counts failures in a row. Open refuses until its pause is over. HalfOpen lets one
//! probe pass: its success closes, its failure opens again.

use std::time::Duration;

use tokio::time::Instant;

/// After how many consecutive failures it opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// Consecutive failures.
    pub failures: u32,
    /// How long it stays open.
    pub pause: Duration,
}

/// For reading a server's lists.
pub const DISCOVERY: Tolerance = Tolerance { failures: 2, pause: Duration::from_secs(60) };
/// For calling one tool.
pub const EXECUTION: Tolerance = Tolerance { failures: 3, pause: Duration::from_secs(30) };

/// One breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    tolerance: Tolerance,
    state: BreakerState,
    /// The last incident that was counted.
    incident: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum BreakerState {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen { since: Instant },
}

impl Breaker {
    /// A closed breaker.
    pub fn new(tolerance: Tolerance) -> Self {
        Self { tolerance, state: BreakerState::Closed { failures: 0 }, incident: None }
    }

    /// May the next attempt be made? Otherwise, how long to wait. A permit must be followed by [`Self::record`].
    pub fn permit(&mut self, now: Instant) -> Result<(), Duration> {
        match self.state {
            BreakerState::Closed { .. } => Ok(()),
            BreakerState::Open { until } if now < until => Err(until - now),
            BreakerState::Open { .. } => {
                self.state = BreakerState::HalfOpen { since: now };
                Ok(())
            }
            // A probe that never reports, because its caller went away, must not keep it half-open forever.
            BreakerState::HalfOpen { since } => {
                let due = since + self.tolerance.pause;
                if now < due {
                    return Err(due - now);
                }
                self.state = BreakerState::HalfOpen { since: now };
                Ok(())
            }
        }
    }

    /// Records the result of a permitted attempt.
    pub fn record(&mut self, good: bool, now: Instant) {
        let open = BreakerState::Open { until: now + self.tolerance.pause };
        self.state = match (&self.state, good) {
            (_, true) => BreakerState::Closed { failures: 0 },
            (BreakerState::Closed { failures }, false) if failures + 1 < self.tolerance.failures => {
                BreakerState::Closed { failures: failures + 1 }
            }
            (BreakerState::Closed { .. } | BreakerState::HalfOpen { .. }, false) => open,
            // An attempt from before it opened.
            (BreakerState::Open { until }, false) => BreakerState::Open { until: *until },
        };
    }

    /// Records a failure that several attempts share, for example the exit of their process: it counts once.
    pub fn record_incident(&mut self, incident: u64, now: Instant) {
        if self.incident.replace(incident) != Some(incident)
            || matches!(self.state, BreakerState::HalfOpen { .. })
        {
            self.record(false, now);
        }
    }

    /// Is it equal to a new one?
    pub fn is_pristine(&self) -> bool {
        self.state == BreakerState::Closed { failures: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step: the second, and `ok`/`fail` for an attempt with that result, or `no` for a refused one.
    fn check(steps: &[(u64, &str)]) {
        let (mut breaker, start) = (Breaker::new(EXECUTION), Instant::now());
        for (second, expected) in steps {
            let now = start + Duration::from_secs(*second);
            let permitted = breaker.permit(now).is_ok();
            assert_eq!(permitted, *expected != "no", "at {second} of {steps:?}");
            if permitted {
                breaker.record(*expected == "ok", now);
            }
        }
    }

    #[test]
    fn three_failures_in_a_row_open_it_for_its_pause() {
        check(&[(0, "fail"), (1, "fail"), (2, "ok"), (3, "fail"), (4, "fail"), (5, "ok")]);
        check(&[(0, "fail"), (1, "fail"), (2, "fail"), (3, "no"), (31, "no"), (32, "ok"), (33, "ok")]);
    }

    #[test]
    fn a_failed_probe_opens_it_again() {
        check(&[
            (0, "fail"),
            (0, "fail"),
            (0, "fail"),
            (30, "fail"),
            (31, "no"),
            (59, "no"),
            (60, "ok"),
            (60, "ok"),
        ]);
    }

    #[test]
    fn one_incident_counts_once_however_many_tries_it_fails() {
        let (mut breaker, now) = (Breaker::new(EXECUTION), Instant::now());
        for incident in [1, 1, 1, 1, 2, 2, 2] {
            breaker.record_incident(incident, now);
        }
        assert!(breaker.permit(now).is_ok());
        breaker.record_incident(3, now);
        assert!(breaker.permit(now).is_err());
        // A probe's failure always counts.
        let later = now + EXECUTION.pause;
        assert!(breaker.permit(later).is_ok());
        breaker.record_incident(3, later);
        assert!(breaker.permit(later + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn only_one_probe_passes_and_a_lost_one_is_replaced() {
        let (mut breaker, start) = (Breaker::new(EXECUTION), Instant::now());
        (0..3).for_each(|_| breaker.record(false, start));
        let later = |seconds| start + Duration::from_secs(seconds);
        assert!(breaker.permit(later(30)).is_ok());
        assert_eq!(breaker.permit(later(31)), Err(Duration::from_secs(29)));
        assert!(breaker.permit(later(60)).is_ok());
        breaker.record(true, later(61));
        assert!(breaker.is_pristine());
    }
}
