//! Fetches icons of servers if a person allowed pictures.
//!
//! Theory of operation: one task checks the icons that servers name when the catalog or the configuration changes, and
//! fetches one after the other. It ends with the hub.

use serde_json::Value;

use super::Hub;
use crate::{
    icons,
    model::{TransportConfig, request::ServerIcons, snapshot::PicturesView},
};

/// All icons, and the mark that identifies this set.
pub(super) fn all(hub: &Hub) -> ServerIcons {
    ServerIcons { icons: hub.inner.configured.icons.all() }
}

/// The state for the snapshot.
pub(super) fn view(hub: &Hub, shown: bool) -> PicturesView {
    PicturesView { shown, mark: hub.inner.configured.icons.mark() }
}

/// Fetches missing icons while the hub runs.
pub(super) async fn keep(hub: &Hub) {
    if hub.inner.options.passive {
        return;
    }
    let (mut catalog, mut config) = (hub.inner.servers.follow_catalog(), hub.inner.configured.follow());
    loop {
        tokio::select! {
            () = learn(hub) => {}
            () = hub.inner.life.end().cancelled() => return,
        }
        tokio::select! {
            changed = catalog.changed() => if changed.is_err() { return },
            changed = config.changed() => if changed.is_err() { return },
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}

/// Has the pictures of servers fetched that are only listed, where a person allowed pictures.
pub(super) async fn learn_listed(hub: &Hub, chosen: &[(String, icons::IconSource)]) {
    let known = &hub.inner.configured.icons;
    let mut changed = false;
    for (name, source) in chosen {
        // They may have been switched off meanwhile.
        if !hub.config().shows_pictures() {
            return;
        }
        known.make_room();
        changed |= known.learn(name, source, None).await;
    }
    if changed {
        hub.inner.faces.changed();
    }
}

async fn learn(hub: &Hub) {
    let known = &hub.inner.configured.icons;
    let config = hub.config();
    if !config.shows_pictures() {
        if known.clear() {
            hub.inner.faces.changed();
        }
        return;
    }
    known.retain(|name| config.servers().contains_key(name));
    let said: Vec<(String, Value)> = hub
        .offers()
        .iter()
        .filter_map(|(name, offer)| {
            let info = serde_json::from_str(offer.hello.as_ref()?.server_info.get()).ok()?;
            Some((name.to_string(), info))
        })
        .collect();
    let mut changed = false;
    for (name, info) in said {
        let Some(chosen) = icons::choose(&info) else { continue };
        let server = config.servers().get(name.as_str()).and_then(|server| match &server.transport {
            TransportConfig::Http { url, .. } => Some(url.clone()),
            TransportConfig::Stdio { .. } => None,
        });
        changed |= known.learn(&name, &chosen, server.as_deref()).await;
    }
    if changed {
        hub.inner.faces.changed();
    }
}
