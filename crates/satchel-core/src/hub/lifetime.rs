//! Owns the hub's lifetime: its task tracker, the staged shutdown, and the lock on the data directory.

use std::{
    fs::File,
    sync::{Mutex, PoisonError},
};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The hub's tasks, and what ends them. Stages, in order: the hub's own tasks, the servers, the recorder, the watchdog.
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

    /// Where every task of the hub is run, so that its end is waited for.
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

    /// Cancelled when the hub's own tasks are to end.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.tasks
    }

    /// Cancelled when the watchdog is to end, last of all.
    pub(super) fn watchdog_end(&self) -> &CancellationToken {
        &self.watchdog
    }

    /// Cancelled when a face wants the hub to end.
    pub(super) fn quit(&self) -> &CancellationToken {
        &self.quit
    }

    /// Waits for every task that was spawned.
    pub(super) async fn tasks_ended(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Lets another hub have the data directory.
    pub(super) fn unlock(&self) {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
