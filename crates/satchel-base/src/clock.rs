//! Wall-clock time for records and faces. Waits and timeouts use tokio's clock.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// The current time, in milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    epoch_ms(SystemTime::now())
}

/// A time in milliseconds since the Unix epoch; 0 for an earlier one.
pub fn epoch_ms(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// The system clock as a value that tests can set: computers sleep, and their clocks are set forward and back.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// The system clock.
    pub fn system() -> Self {
        Self(Arc::new(now_ms))
    }

    /// A clock that returns these values, in milliseconds since the Unix epoch.
    pub fn of(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_ms))
    }

    /// The current time, in milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
