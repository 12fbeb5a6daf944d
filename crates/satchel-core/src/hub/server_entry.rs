//! Removes and restores one server's entry in the configuration, for faces.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::MutexGuard;

use satchel_entry::template::Template;
use serde_json::Value;

use super::Hub;
use crate::{
    model::{Origin, TransportConfig, control::Refusal, request::OwnSecrets},
    upstream::log::ServerLog,
};

/// The secrets that only this server references.
pub(super) fn own_secrets(hub: &Hub, server: &str) -> Result<OwnSecrets, Refusal> {
    let config = hub.config();
    let own = match config.servers().get(server) {
        Some(own) => named(&own.transport),
        // An invalid entry cannot be interpreted, so none are claimed to be its own.
        None if config.faults().contains_key(server) => BTreeSet::new(),
        None => return Err(Refusal::unknown_server(server)),
    };
    let others = config.servers().iter().filter(|(name, _)| name.as_str() != server);
    let elsewhere: BTreeSet<String> = others.flat_map(|(_, other)| named(&other.transport)).collect();
    let names = own.into_iter().filter(|name| !elsewhere.contains(name)).collect();
    Ok(OwnSecrets { names })
}

/// Stores an entry that is about to be removed in the window, which can put it back. Entries that wait for review are not
/// stored: restoring one would bypass the review.
pub(super) fn remember_removed(hub: &Hub, name: &str, entry: Option<&Value>) {
    let held = hub.servers().get(name).is_some_and(|known| known.held);
    let in_window = matches!(hub.context.origin(), Some(Origin::Window));
    if let Some(entry) = entry.filter(|_| in_window && !held) {
        removed(hub).insert(name.to_owned(), entry.clone());
    }
}

/// Sets the log of a new server apart from that of an earlier one with its name.
pub(super) fn begin_log(hub: &Hub, name: &str) {
    let path = hub.places().server_log(name);
    if std::fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() > 0) {
        ServerLog::at(&path).hub("added; the lines above are of an earlier server with this name");
    }
}

pub(super) fn removed(hub: &Hub) -> MutexGuard<'_, BTreeMap<String, Value>> {
    hub.inner.configured.entries.removed.lock()
}

fn named(transport: &TransportConfig) -> BTreeSet<String> {
    let templates = transport.texts().map(Template::parse);
    templates.flat_map(|template| template.secrets().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}
