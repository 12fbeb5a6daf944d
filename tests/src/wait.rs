//! Bounded waiting for a condition. Says what was waited for; never how long it took.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Far more than a healthy run needs, so that a busy machine never decides a test.
const LIMIT: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(40);

/// Polls until there is a value, and panics with `what` if it never comes.
pub async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(answer) = probe().await {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        sleep(PAUSE).await;
    }
}
