//! Pinned tools: which of them a client lists beside Satchel's own. What may be called is decided where every call is.

use super::Hub;
use crate::{
    catalog::{Catalog, ToolEntry},
    config::Config,
    model::{
        ToolPath,
        pinned::{MOST, PinnedTool, PinnedView},
    },
};

/// The pinned tools that this handle's caller lists: of those that it can use, the first ones.
pub(super) fn listed(hub: &Hub) -> Vec<ToolPath> {
    let config = hub.config();
    // Computing what a client sees costs something, and mostly nothing is pinned.
    if config.pinned_tools().is_empty() {
        return Vec::new();
    }
    let (client, lens, catalog) = (hub.context.ruled(), hub.lens(), hub.catalog());
    let applies = |pin: &&PinnedTool| {
        pin.client.as_deref().is_none_or(|only| client == Some(only))
            && pin.profile.as_deref().is_none_or(|only| lens.names().any(|name| name == only))
    };
    let mut listed = Vec::new();
    for pin in config.pinned_tools().iter().filter(applies) {
        let path = in_catalog(&catalog, &pin.tool).filter(|path| !listed.contains(path));
        listed.extend(path);
        if listed.len() == MOST {
            break;
        }
    }
    listed
}

/// The path of a tool for models, by its own name on its server.
fn in_catalog(catalog: &Catalog, pinned: &str) -> Option<ToolPath> {
    let ToolPath { server, tool } = pinned.parse().ok()?;
    let is_meant = |entry: &&ToolEntry| entry.for_models && entry.name_there() == tool;
    let entry = catalog.offer(server.as_str())?.tools.iter().find(is_meant)?;
    Some(ToolPath { tool: entry.name.clone(), server })
}

/// Tells clients when what is pinned changes.
pub(super) fn follow(hub: &Hub, before: &Config) {
    if before.pinned_tools() != hub.config().pinned_tools() {
        hub.inner.clients.chosen();
    }
}

/// The pinned tools as shown to people.
pub(super) fn view(hub: &Hub, config: &Config) -> Vec<PinnedView> {
    let catalog = hub.inner.servers.catalog();
    let shown = |pin: &PinnedTool| PinnedView {
        path: in_catalog(&catalog, &pin.tool).map(|path| path.to_string()),
        pin: pin.clone(),
    };
    config.pinned_tools().iter().map(shown).collect()
}
