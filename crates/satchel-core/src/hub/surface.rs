//! Serves faces that expose servers one by one: their lists, their notifications, and resource subscriptions.

use std::sync::Arc;

use super::{
    CallFailure, Hub, approved, call::ask_for_logs, failure::refused, lists, route, watching::Watched,
};
use crate::{
    catalog::Offer,
    model::{Code, ServerName, approvals::Kind},
    upstream::Dirty,
};

/// What a server offers. One that was never read is woken for it; any other is not.
///
/// # Errors
/// A [`CallFailure`] where there is no such server, or it cannot be read.
pub(super) async fn offer(hub: &Hub, server: &ServerName) -> Result<Arc<Offer>, CallFailure> {
    let registered = route::route_known_server(hub, server)?;
    if let Some(offer) = hub.catalog().offer(server.as_str()) {
        return Ok(offer.clone());
    }
    let lease = registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
    lists::first_lists(hub, server, &registered.upstream, lease)
        .await
        .map_err(|error| refused(server, &registered, &error))?;
    hub.catalog().offer(server.as_str()).cloned().ok_or_else(|| {
        let message = format!("\"{server}\" did not say what it offers");
        let action = Code::HandshakeTimeout.action().to_owned();
        CallFailure::not_sent(Some(server), None, message, action)
    })
}

/// Tells a server that runs that a client's roots changed; one that sleeps has nothing to do with it, and a stateless
/// one asks for them anew in each call.
pub(super) fn roots_changed(hub: &Hub, server: &ServerName) {
    let Ok(registered) = route::route_known_server(hub, server) else { return };
    let Some((link, _)) = registered.upstream.connected() else { return };
    if !link.is_modern() {
        link.notify("notifications/roots/list_changed", None);
    }
}

/// Somebody wants log messages of a server from this severity on. One that sleeps is told with its next call.
pub(super) async fn want_logs(hub: &Hub, server: &ServerName, from: u8) {
    let Ok(registered) = route::route_known_server(hub, server) else { return };
    let Some((link, _)) = registered.upstream.connected() else { return };
    if !link.is_modern() {
        ask_for_logs(&registered, &link, from).await;
    }
}

/// Hears of changes of a resource until the answer is dropped. Keeps its server awake for so long.
///
/// # Errors
/// A [`CallFailure`] where the server cannot be had.
pub(super) async fn watch_resource(
    hub: &Hub,
    server: &ServerName,
    uri: &str,
) -> Result<Watched, CallFailure> {
    let registered = route::route_known_server(hub, server)?;
    approved::refuse_held(hub, server, Kind::Resource, uri)?;
    let lease = registered.upstream.lease().await.map_err(|error| refused(server, &registered, &error))?;
    lists::wait_for_lists(hub, server, &registered, &lease, Dirty::bit("resources")).await?;
    approved::refuse_held(hub, server, Kind::Resource, uri)?;
    *hub.inner.clients.watching().entry((server.clone(), uri.to_owned())).or_insert(0) += 1;
    registered.upstream.watched().send_if_modified(|watched| watched.insert(uri.to_owned()));
    Ok(Watched {
        hub: hub.clone(),
        key: (server.clone(), uri.to_owned()),
        upstream: registered.upstream.clone(),
        _lease: lease,
    })
}
