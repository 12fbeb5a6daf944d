//! Tracks which resources clients watch. Each subscription ends with the last handle to it.

use std::collections::BTreeSet;

use super::{Hub, approved};
use crate::{
    model::{ServerName, approvals::Kind},
    upstream::{Lease, Upstream},
};

/// A subscription to a resource.
#[derive(Debug)]
pub struct Watched {
    pub(super) hub: Hub,
    pub(super) key: (ServerName, String),
    pub(super) upstream: Upstream,
    pub(super) _lease: Lease,
}

impl Watched {
    /// Its server and URI.
    pub fn resource(&self) -> (&ServerName, &str) {
        (&self.key.0, &self.key.1)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut watching = self.hub.inner.clients.watching();
        let Some(count) = watching.get_mut(&self.key) else { return };
        *count -= 1;
        if *count == 0 {
            watching.remove(&self.key);
            self.upstream.watched().send_if_modified(|watched| watched.remove(&self.key.1));
        }
    }
}

/// Subscribes at the server to all watched resources that are not held back.
pub(super) fn follow_watched(hub: &Hub, server: &ServerName) {
    let Some(upstream) = hub.servers().get(server).map(|known| known.upstream.clone()) else { return };
    let watched: Vec<String> = hub
        .inner
        .clients
        .watching()
        .keys()
        .filter(|(of, _)| of == server)
        .map(|(_, uri)| uri.clone())
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
