//! The time of day as records and faces have it. What waits or times out uses tokio's clock instead.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    epoch_ms(SystemTime::now())
}

/// A moment in milliseconds since the Unix epoch; 0 for one before it.
pub fn epoch_ms(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
