//! Tracks which resources clients watch. Each subscription ends with the last handle to it.

use std::collections::BTreeSet;

use super::{Hub, approved, connected::WatchKey};
use crate::{
    model::{ServerName, approvals::Kind},
    upstream::{Lease, Upstream},
};

/// A subscription to a resource.
#[derive(Debug)]
pub struct Watched {
    pub(super) hub: Hub,
    pub(super) key: WatchKey,
    pub(super) upstream: Upstream,
    pub(super) _lease: Lease,
}

impl Watched {
    /// Its server and URI.
    pub fn resource(&self) -> (&ServerName, &str) {
        (&self.key.0, &self.key.2)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut watching = self.hub.inner.clients.watching();
        let Some(count) = watching.get_mut(&self.key) else { return };
        *count -= 1;
        if *count == 0 {
            watching.remove(&self.key);
            self.upstream.watched().send_if_modified(|watched| watched.remove(&self.key.2));
        }
    }
}

/// Subscribes at the server to all watched resources that are not held back.
pub(super) fn follow_watched(hub: &Hub, server: &ServerName) {
    let Some(known) = hub.servers().get(server).cloned() else { return };
    follow_instance(hub, server, None, &known.upstream);
    for instance in known.instances.all() {
        follow_instance(hub, server, Some(instance.number), &instance.upstream);
    }
}

fn follow_instance(hub: &Hub, server: &ServerName, instance: Option<u64>, upstream: &Upstream) {
    let watched: Vec<String> = hub
        .inner
        .clients
        .watching()
        .keys()
        .filter(|(of, by, _)| of == server && *by == instance)
        .map(|(_, _, uri)| uri.clone())
        .collect();
    let wanted: BTreeSet<String> = watched
        .into_iter()
        .filter(|uri| approved::refuse_held(hub, server, Kind::Resource, uri).is_ok())
        .collect();
    upstream.watched().send_if_modified(|told| {
        let differs = *told != wanted;
        *told = wanted;
        differs
    });
}
