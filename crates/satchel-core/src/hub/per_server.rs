//! Serves faces that expose servers one by one: their lists, their notifications, and resource subscriptions.

use std::sync::Arc;

use super::{
    CallFailure, Hub, approved, call::ask_for_logs, failure::refused, fresh_lists, instantiate, launch,
    route, servers::Registered, watching::Watched,
};
use crate::{
    catalog::Offer,
    model::{Code, ServerName, approvals::Kind},
    upstream::Dirty,
};

const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

/// What a server offers. A server that was never read is started for this; others are not.
///
/// # Errors
/// A [`CallFailure`] if there is no such server, or it cannot be read.
pub(super) async fn offer(hub: &Hub, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
    let registered = route::route_known_server(hub, server)?;
    if let Some(offer) = hub.catalog().offer(server.as_str()) {
        return Ok(offer.clone());
    }
    let registered = route::reader(hub, server, &registered).await?;
    let lease = registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
    fresh_lists::first_lists(hub, server, &registered.upstream, lease)
        .await
        .map_err(|error| refused(server, &registered, &error))?;
    hub.catalog().offer(server.as_str()).cloned().ok_or_else(|| {
        let message = format!("\"{server}\" did not list what it offers");
        let action = Code::HandshakeTimeout.action().to_owned();
        CallFailure::not_sent(Some(server), None, message, action)
    })
}

/// Tells a running server that a client's roots changed. Sleeping servers need no notification; stateless ones ask in
/// each call.
pub(super) fn roots_changed(hub: &Hub, server: &ServerName) {
    let Some(registered) = running(hub, server) else { return };
    let Some((link, _)) = registered.upstream.connected() else { return };
    if !link.is_stateless() {
        link.notify(ROOTS_CHANGED, None);
    }
}

/// Records the folders that a client lists, and tells the instances of its session if they changed.
pub(super) fn works_in(hub: &Hub, folders: Vec<String>) {
    let changed = hub.context.scope.works_in(folders);
    let session = hub.context.scope.session().filter(|_| changed);
    let servers: Vec<Registered> = hub.servers().values().cloned().collect();
    let instances = servers.iter().flat_map(|server| server.instances.all());
    for instance in instances.filter(|one| session.is_some_and(|session| one.owner.is_of(session))) {
        if let Some((link, _)) = instance.upstream.connected().filter(|(link, _)| !link.is_stateless()) {
            link.notify(ROOTS_CHANGED, None);
        }
    }
    read_in_folder(hub);
}

/// Reads the lists of servers that run only in a folder and were never read, in the folder of this handle's session.
pub(super) fn read_in_folder(hub: &Hub) {
    for name in launch::unread_in_folders(hub) {
        let Some(server) = hub.servers().get(&name).cloned() else { continue };
        let owned = hub.clone();
        hub.inner.life.spawn(async move {
            // One at a time for each server. What fails is told to callers, and by the instance.
            let Ok(_alone) = server.unread.try_lock() else { return };
            let Ok(registered) = Box::pin(instantiate::own(&owned, &name, &server)).await else { return };
            if let Ok(lease) = registered.upstream.lease().await {
                let _ = fresh_lists::first_lists(&owned, &name, &registered.upstream, lease).await;
            }
        });
    }
}

/// Does it matter to a server in which folders a client works?
pub(super) fn use_folders(hub: &Hub) -> bool {
    hub.servers().values().any(|server| server.config.enabled && server.sharing.wants_folders())
}

/// The server as this handle's caller uses it, if it has used it.
fn running(hub: &Hub, server: &ServerName) -> Option<Registered> {
    instantiate::present(hub, &route::route_known_server(hub, server).ok()?)
}

/// Requests log messages of a server from this severity on. A sleeping server is told with its next call.
pub(super) async fn want_logs(hub: &Hub, server: &ServerName, from: u8) {
    let Some(registered) = running(hub, server) else { return };
    let Some((link, _)) = registered.upstream.connected() else { return };
    if !link.is_stateless() {
        ask_for_logs(&registered, &link, from).await;
    }
}

/// Subscribes to changes of a resource until the returned value is dropped; keeps the server running meanwhile.
///
/// # Errors
/// A [`CallFailure`] if the server is unavailable.
pub(super) async fn watch_resource(
    hub: &Hub,
    server: &ServerName,
    uri: &str,
) -> Result<Watched, CallFailure> {
    let registered = route::route_known_server(hub, server)?;
    approved::refuse_held(hub, server, Kind::Resource, uri)?;
    let registered = instantiate::own(hub, server, &registered).await?;
    let lease = registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
    fresh_lists::wait_for_lists(hub, server, &registered, &lease, Dirty::bit("resources")).await?;
    approved::refuse_held(hub, server, Kind::Resource, uri)?;
    let instance = registered.instance.as_ref().map(|instance| instance.number);
    let key = (server.clone(), instance, uri.to_owned());
    *hub.inner.clients.watching().entry(key.clone()).or_insert(0) += 1;
    registered.upstream.watched().send_if_modified(|watched| watched.insert(uri.to_owned()));
    Ok(Watched { hub: hub.clone(), key, upstream: registered.upstream.clone(), _lease: lease })
}
