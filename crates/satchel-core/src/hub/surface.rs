//! Serves faces that expose servers one by one: their lists, their notifications, and resource subscriptions.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::{broadcast, watch};

use super::{CallFailure, Hub, call::ask_for_logs, route::refused};
use crate::{
    catalog::{Catalog, Offer},
    model::{Code, ServerName, approvals::Kind},
    upstream::{Dirty, Lease, ServerNotification, Upstream},
};

impl Hub {
    /// What a server offers. One that was never read is woken for it; any other is not.
    ///
    /// # Errors
    /// A [`CallFailure`] where there is no such server, or it cannot be read.
    pub async fn offer(&self, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
        let registered = self.route_known_server(server)?;
        if let Some(offer) = self.catalog().offer(server.as_str()) {
            return Ok(offer.clone());
        }
        let lease =
            registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
        self.first_lists(server, &registered.upstream, lease)
            .await
            .map_err(|error| refused(server, &registered, &error))?;
        self.catalog().offer(server.as_str()).cloned().ok_or_else(|| {
            let message = format!("\"{server}\" did not say what it offers");
            let action = Code::HandshakeTimeout.action().to_owned();
            CallFailure::not_sent(Some(server), None, message, action)
        })
    }

    /// Follows what the enabled servers offer.
    pub fn watch_catalog(&self) -> watch::Receiver<Catalog> {
        self.inner.servers.follow_catalog()
    }

    /// Changes whenever it was chosen what some client sees.
    pub fn watch_choices(&self) -> watch::Receiver<u64> {
        self.inner.clients.follow_choices()
    }

    /// What servers say that belongs to no call.
    pub fn notifications(&self) -> broadcast::Receiver<ServerNotification> {
        self.inner.around.notifications.subscribe()
    }

    /// Tells a server that runs that a client's roots changed; one that sleeps has nothing to do with it, and a stateless
    /// one asks for them anew in each call.
    pub fn roots_changed(&self, server: &ServerName) {
        let Ok(registered) = self.route_known_server(server) else { return };
        let Some((link, _)) = registered.upstream.seen().connected else { return };
        if !link.is_modern() {
            link.notify("notifications/roots/list_changed", None);
        }
    }

    /// Somebody wants log messages of a server from this severity on. One that sleeps is told with its next call.
    pub async fn want_logs(&self, server: &ServerName, from: u8) {
        let Ok(registered) = self.route_known_server(server) else { return };
        let Some((link, _)) = registered.upstream.seen().connected else { return };
        if !link.is_modern() {
            ask_for_logs(&registered, &link, from).await;
        }
    }

    /// Hears of changes of a resource until the answer is dropped. Keeps its server awake for so long.
    ///
    /// # Errors
    /// A [`CallFailure`] where the server cannot be had.
    pub async fn watch_resource(&self, server: &ServerName, uri: &str) -> Result<Watched, CallFailure> {
        let registered = self.route_known_server(server)?;
        self.refuse_held(server, Kind::Resource, uri)?;
        let lease =
            registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
        self.wait_for_lists(server, &registered, &lease, Dirty::bit("resources")).await?;
        self.refuse_held(server, Kind::Resource, uri)?;
        *self.inner.clients.watching().entry((server.clone(), uri.to_owned())).or_insert(0) += 1;
        registered.upstream.watched().send_if_modified(|watched| watched.insert(uri.to_owned()));
        Ok(Watched {
            hub: self.clone(),
            key: (server.clone(), uri.to_owned()),
            upstream: registered.upstream,
            _lease: lease,
        })
    }

    /// Has a server told of changes of what is watched, but for what is held back by now.
    pub(super) fn follow_watched(&self, server: &ServerName) {
        let Some(upstream) = self.servers().get(server).map(|known| known.upstream.clone()) else { return };
        let watched: Vec<String> = self
            .inner
            .clients
            .watching()
            .keys()
            .filter(|(of, _)| of == server)
            .map(|(_, uri)| uri.clone())
            .collect();
        let wanted: BTreeSet<String> =
            watched.into_iter().filter(|uri| self.refuse_held(server, Kind::Resource, uri).is_ok()).collect();
        upstream.watched().send_if_modified(|told| {
            let differs = *told != wanted;
            *told = wanted;
            differs
        });
    }
}

/// A resource that somebody hears of.
#[derive(Debug)]
pub struct Watched {
    hub: Hub,
    key: (ServerName, String),
    upstream: Upstream,
    _lease: Lease,
}

impl Watched {
    /// Which.
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
