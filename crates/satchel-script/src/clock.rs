//! Measures the CPU time of this thread, or elapsed time on systems that do not report it.

use std::time::Duration;

/// CPU time of this thread since an arbitrary moment.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// Time since the first call.
#[cfg(not(unix))]
#[expect(
    clippy::disallowed_methods,
    reason = "there is no runtime in this process whose clock could be paused"
)]
pub fn cpu_time() -> Duration {
    use std::{sync::OnceLock, time::Instant};
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}
