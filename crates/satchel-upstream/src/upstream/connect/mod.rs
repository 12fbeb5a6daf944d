//! Transports to a server: a process or an address.

pub(in crate::upstream) mod batch;
mod body;
pub mod http;
pub mod sse;
mod stdin;
pub mod stdio;
mod unasked;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::link::Link;

/// A live transport and its [`Link`].
#[derive(Debug)]
pub struct Connection {
    /// To call through.
    pub link: Link,
    /// The process, if there is one.
    pub pid: Option<u32>,
    /// When the other side last showed signs of life.
    pub signs: Signs,
    stop: CancellationToken,
    done: CancellationToken,
}

impl Connection {
    /// Stops the transport and everything it started, and waits for it. Bounded by the transport.
    pub async fn stop(self) {
        self.stop.cancel();
        self.done.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A dropped connection, for example of a cancelled start, must not leave a process behind.
        self.stop.cancel();
    }
}

/// The last sign of life: a launcher that downloads a package prints progress long before it speaks MCP.
#[derive(Debug, Clone)]
pub struct Signs {
    start: Instant,
    last_ms: Arc<AtomicU64>,
}

impl Default for Signs {
    fn default() -> Self {
        Self { start: Instant::now(), last_ms: Arc::default() }
    }
}

impl Signs {
    /// Records a sign of life.
    pub fn saw(&self) {
        self.last_ms
            .store(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The time of the last one.
    pub fn last(&self) -> Instant {
        self.start + std::time::Duration::from_millis(self.last_ms.load(Ordering::Relaxed))
    }
}
