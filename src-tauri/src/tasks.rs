//! Background tasks of the app. The end of the program waits for them.

use std::future::Future;

use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Spawns tasks from any thread, including those outside tokio.
#[derive(Clone)]
pub(crate) struct Tasks {
    runtime: Handle,
    tracker: TaskTracker,
    ending: CancellationToken,
}

impl Tasks {
    pub(crate) fn on(runtime: Handle) -> Self {
        Self { runtime, tracker: TaskTracker::new(), ending: CancellationToken::new() }
    }

    /// Runs a task to completion, or until [`Tasks::end`].
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ending = self.ending.clone();
        let bounded = async move {
            tokio::select! {
                () = task => {}
                () = ending.cancelled() => {}
            }
        };
        self.tracker.spawn_on(bounded, &self.runtime);
    }

    /// Runs a task to completion in any case: [`Tasks::end`] waits for it. An error of the handle is a panic of the
    /// task.
    pub(crate) fn spawn_to_its_end(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.tracker.spawn_on(task, &self.runtime)
    }

    /// Cancels what can be cancelled and waits for the rest.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
