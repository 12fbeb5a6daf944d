//! Serves faces that expose servers one by one: their lists, their notifications, and resource subscriptions.

use std::sync::Arc;

use super::{
    CallFailure, Hub, approved, call::ask_for_logs, failure::refused, fresh_lists, instantiate, route,
    servers::Registered, watching::Watched,
};
use crate::{
    catalog::Offer,
    model::{Code, ServerName, approvals::Kind},
    upstream::Dirty,
};

/// What a server offers. A server that was never read is started for this; others are not.
///
/// # Errors
/// A [`CallFailure`] if there is no such server, or it cannot be read.
pub(super) async fn offer(hub: &Hub, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
    let registered = route::route_known_server(hub, server)?;
    if let Some(offer) = hub.catalog().offer(server.as_str()) {
        return Ok(offer.clone());
    }
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
        link.notify("notifications/roots/list_changed", None);
    }
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
    let registered = instantiate::own(hub, server, &registered)?;
    let lease = registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
    fresh_lists::wait_for_lists(hub, server, &registered, &lease, Dirty::bit("resources")).await?;
    approved::refuse_held(hub, server, Kind::Resource, uri)?;
    let instance = registered.instance.as_ref().map(|instance| instance.number);
    let key = (server.clone(), instance, uri.to_owned());
    *hub.inner.clients.watching().entry(key.clone()).or_insert(0) += 1;
    registered.upstream.watched().send_if_modified(|watched| watched.insert(uri.to_owned()));
    Ok(Watched { hub: hub.clone(), key, upstream: registered.upstream.clone(), _lease: lease })
}
