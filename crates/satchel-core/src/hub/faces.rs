//! Holds what faces are shown: the snapshot, the live data it is composed from, and the signal to compose it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, watch};

use super::{usage::Measured, view::Live};
use crate::model::Snapshot;

/// What is shown to people.
#[derive(Debug)]
pub(super) struct Faces {
    snapshot: watch::Sender<Arc<Snapshot>>,
    live: Mutex<Live>,
    pub(super) measured: Measured,
    /// Taken by a face that has approvals listed.
    pub(super) listing: Semaphore,
    compose: Arc<Notify>,
}

impl Default for Faces {
    fn default() -> Self {
        Self {
            snapshot: watch::Sender::default(),
            live: Mutex::default(),
            measured: Measured::default(),
            listing: Semaphore::new(1),
            compose: Arc::default(),
        }
    }
}

impl Faces {
    /// What is shown may be different from before: it is composed anew in a moment.
    pub(super) fn changed(&self) {
        self.compose.notify_one();
    }

    /// The same for another room, which knows no faces.
    pub(super) fn notify(&self) -> Arc<Notify> {
        self.compose.clone()
    }

    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    pub(super) async fn to_compose(&self) {
        self.compose.notified().await;
    }

    /// Shows this from now on. Its version is one more than that of what was shown before; nothing is told where only the
    /// version would differ.
    pub(super) fn show(&self, mut next: Snapshot) {
        self.snapshot.send_if_modified(|current| {
            next.version = current.version;
            if **current == next {
                return false;
            }
            next.version += 1;
            *current = Arc::new(std::mem::take(&mut next));
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_and_has_a_new_version() {
        let faces = Faces::default();
        let mut seen = faces.watch();
        faces.show(Snapshot::default());
        assert!(!seen.has_changed().unwrap());
        faces.show(Snapshot { endpoint: Some("a".into()), ..Snapshot::default() });
        assert!(seen.has_changed().unwrap());
        let first = seen.borrow_and_update().version;
        faces.show(Snapshot { endpoint: Some("a".into()), ..Snapshot::default() });
        assert!(!seen.has_changed().unwrap());
        faces.show(Snapshot::default());
        assert_eq!(faces.snapshot().version, first + 1);
    }
}
