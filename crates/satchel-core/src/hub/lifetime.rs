//! Owns the hub's lifetime: its task tracker, the staged shutdown, and the lock on the data directory.

use std::fs::File;

use parking_lot::Mutex;

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The hub's tasks and their cancellation. Shutdown stages, in order: the hub's own tasks, the servers, the recorder,
/// the watchdog.
#[derive(Debug)]
pub(super) struct Lifetime {
    tracker: TaskTracker,
    tasks: CancellationToken,
    watchdog: CancellationToken,
    quit: CancellationToken,
    /// Held until the hub is gone.
    lock: Mutex<Option<File>>,
}

impl Lifetime {
    pub(super) fn new(lock: File) -> Self {
        Self {
            tracker: TaskTracker::new(),
            tasks: CancellationToken::new(),
            watchdog: CancellationToken::new(),
            quit: CancellationToken::new(),
            lock: Mutex::new(Some(lock)),
        }
    }

    /// Every task of the hub runs in this tracker, so that shutdown can wait for it.
    pub(super) fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    pub(super) fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(task)
    }

    /// Cancelled to end the hub's own tasks.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.tasks
    }

    /// Cancelled to end the watchdog, last of all.
    pub(super) fn watchdog_end(&self) -> &CancellationToken {
        &self.watchdog
    }

    /// Cancelled when a client of the control channel, or the app, asks the hub to stop.
    pub(super) fn quit(&self) -> &CancellationToken {
        &self.quit
    }

    /// Waits for every spawned task.
    pub(super) async fn tasks_ended(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Releases the data directory.
    pub(super) fn unlock(&self) {
        self.lock.lock().take();
    }
}
