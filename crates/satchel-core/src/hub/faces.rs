//! Holds what faces are shown: the snapshot, the live data it is composed from, and the signals to compose it again.
//! Where nobody follows the snapshot none is composed: a call costs the same however many servers would be in it.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::{Notify, Semaphore, watch};

use super::measured::Measurements;
use crate::{
    clock::epoch_ms,
    model::{Notice, Paused, ServerName, Snapshot, snapshot::ClientView},
};

/// Changes within this interval produce one snapshot.
const COALESCE: Duration = Duration::from_millis(30);
/// The same for changes of counters, which are frequent and not urgent.
const COUNTING: Duration = Duration::from_millis(250);

/// State that belongs to no other room.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub(super) endpoint: Option<String>,
    pub(super) notices: Vec<Notice>,
    pub(super) paused: Option<Paused>,
    pub(super) clients: BTreeMap<String, ClientView>,
    pub(super) calls: BTreeMap<ServerName, u64>,
}

impl Live {
    pub(super) fn called(&mut self, server: &ServerName) {
        match self.calls.get_mut(server) {
            Some(calls) => *calls += 1,
            None => drop(self.calls.insert(server.clone(), 1)),
        }
    }

    pub(super) fn clients(&self) -> Vec<ClientView> {
        self.clients.values().cloned().collect()
    }

    pub(super) fn client_seen(&mut self, client: &str, call: Option<&str>) {
        if !self.clients.contains_key(client) {
            let id = client.to_owned();
            let view = ClientView { id, requests: 0, last_call: None, last_seen_ms: 0 };
            self.clients.insert(client.to_owned(), view);
        }
        let Some(view) = self.clients.get_mut(client) else { return };
        view.last_seen_ms = epoch_ms(SystemTime::now());
        match (call, &mut view.last_call) {
            (Some(call), Some(last)) => call.clone_into(last),
            (Some(call), None) => view.last_call = Some(call.to_owned()),
            (None, _) => view.requests += 1,
        }
    }
}

/// The state shown to people.
#[derive(Debug)]
pub(super) struct Faces {
    snapshot: watch::Sender<Arc<Snapshot>>,
    live: Mutex<Live>,
    pub(super) measured: Measurements,
    /// Held while approvals are listed.
    pub(super) listing: Semaphore,
    compose: Arc<Notify>,
    counted: Notify,
    /// Held while a snapshot is composed, so that an older one never replaces a newer one. Calls never wait for it.
    composing: Mutex<()>,
}

impl Default for Faces {
    fn default() -> Self {
        Self {
            snapshot: watch::Sender::default(),
            live: Mutex::default(),
            measured: Measurements::default(),
            listing: Semaphore::new(1),
            compose: Arc::default(),
            counted: Notify::new(),
            composing: Mutex::default(),
        }
    }
}

impl Faces {
    /// Signals a change: a new snapshot is composed shortly.
    pub(super) fn changed(&self) {
        if self.is_watched() {
            self.compose.notify_one();
        }
    }

    /// Signals a changed counter, which may be shown later.
    pub(super) fn counted(&self) {
        if self.is_watched() {
            self.counted.notify_one();
        }
    }

    /// A handle with which other rooms signal changes.
    pub(super) fn notify(&self) -> Arc<Notify> {
        self.compose.clone()
    }

    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock()
    }

    /// The last snapshot. It may be old if nobody follows it.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    fn is_watched(&self) -> bool {
        self.snapshot.receiver_count() > 0
    }

    /// Composes and publishes a snapshot.
    pub(super) fn renew(&self, compose: impl FnOnce() -> Snapshot) {
        let _turn = self.composing.lock();
        self.show(compose());
    }

    /// Resolves when a follower is due another snapshot.
    pub(super) async fn due(&self) {
        loop {
            tokio::select! {
                () = self.compose.notified() => {}
                () = self.counted.notified() => tokio::select! {
                    () = tokio::time::sleep(COUNTING) => {}
                    () = self.compose.notified() => {}
                },
            }
            tokio::time::sleep(COALESCE).await;
            if self.is_watched() {
                return;
            }
        }
    }

    /// Publishes a snapshot with the next version number, unless only the version would differ.
    fn show(&self, mut next: Snapshot) {
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
    fn only_a_different_snapshot_is_published_with_a_new_version() {
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

    #[tokio::test(start_paused = true)]
    async fn without_subscribers_no_snapshot_is_due() {
        let faces = Faces::default();
        let due = || tokio::time::timeout(COUNTING * 10, faces.due());
        faces.changed();
        faces.counted();
        // Other rooms signal changes whether or not anyone follows.
        faces.notify().notify_one();
        assert!(due().await.is_err(), "nobody looks");
        let seen = faces.watch();
        faces.changed();
        assert!(due().await.is_ok(), "somebody looks");
        drop(seen);
        faces.changed();
        assert!(due().await.is_err(), "nobody looks any more");
    }

    #[tokio::test(start_paused = true)]
    async fn counts_are_published_together_and_never_delay_changes() {
        let faces = Faces::default();
        let _seen = faces.watch();
        faces.counted();
        assert!(tokio::time::timeout(COUNTING, faces.due()).await.is_err(), "it is only a count");
        faces.counted();
        let changing = async {
            tokio::time::sleep(COALESCE).await;
            faces.changed();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = changing => {}
            shown = tokio::time::timeout(COUNTING, faces.due()) => assert!(shown.is_ok(), "it does not wait"),
        }
    }
}
