//! Owns the hub's lifetime: its task tracker, the staged shutdown, the lock on the data directory, and what other
//! programs ask of the one that runs the hub: to quit, and to show its window.

use std::{fs::File, time::Duration};

use parking_lot::Mutex;

use tokio::{sync::broadcast, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    model::{Code, control::Refusal, request::Done},
    tasks::Panicked,
};

/// Maximum number of unread requests to show the window; a window in front is shown by any of them.
const WINDOW_REQUESTS: usize = 8;

/// How long tasks may go on after servers have stopped and records are written.
const LAST_TASKS: Duration = Duration::from_secs(1);

/// The hub's tasks and their cancellation. Shutdown stages, in order: the hub's own tasks, the servers, the recorder,
/// the watchdog.
#[derive(Debug)]
pub(super) struct Lifetime {
    tracker: TaskTracker,
    tasks: CancellationToken,
    watchdog: CancellationToken,
    quit: CancellationToken,
    windows: broadcast::Sender<Option<String>>,
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
            windows: broadcast::Sender::new(WINDOW_REQUESTS),
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

    /// Runs what waits for a disk, on a thread that no call needs.
    ///
    /// # Errors
    /// A [`Refusal`] if it panicked.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let done = self.tracker.spawn_blocking(work);
        done.await.map_err(|_| Refusal::new(Code::Panicked, Panicked.to_string(), ""))
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

    /// Requests to show the app's window.
    pub(super) fn window_requests(&self) -> broadcast::Receiver<Option<String>> {
        self.windows.subscribe()
    }

    /// Asks the app to show its window, or with `dry_run` only whether there is an app.
    ///
    /// # Errors
    /// A [`Refusal`] if no app runs this hub.
    pub(super) fn show_window(&self, link: Option<String>, dry_run: bool) -> Result<Done, Refusal> {
        let is_shown = match dry_run {
            true => self.windows.receiver_count() > 0,
            false => self.windows.send(link).is_ok(),
        };
        let action = "Stop it with `satchel quit`, then start the app.";
        let none = || Refusal::new(Code::NotOpen, "this hub runs without a window", action);
        is_shown.then_some(Done {}).ok_or_else(none)
    }

    /// Waits for every spawned task, for a while: a task that only waits for something else, like a slow provider, must
    /// not delay the end.
    pub(super) async fn tasks_ended(&self) {
        self.tracker.close();
        if tokio::time::timeout(LAST_TASKS, self.tracker.wait()).await.is_err() {
            tracing::warn!(tasks = self.tracker.len(), "the hub ends before its last tasks");
        }
    }

    /// Releases the data directory.
    pub(super) fn unlock(&self) {
        self.lock.lock().take();
    }
}
