//! One server's entry in the configuration, as faces edit it, take it away, and put it back.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

use super::{Hub, fulfil::unknown_server};
use crate::{
    config::expand::Template,
    model::{
        TransportConfig,
        control::{Change, HIDDEN, Refusal},
    },
    trust::secret,
};

/// Entries that were removed since the hub started, by name. They may hold what nobody else knows.
pub(super) type Removed = Mutex<BTreeMap<String, Value>>;

impl Hub {
    /// The entry as it stands, without what is secret in it.
    pub(super) fn entry_to_edit(&self, server: &str) -> Result<Value, Refusal> {
        let config = self.inner.config.borrow().clone();
        let mut entry = config.entry(server).cloned().ok_or_else(|| unknown_server(server))?;
        for block in ["env", "headers"] {
            let values = entry.get_mut(block).and_then(Value::as_object_mut).into_iter().flatten();
            for (name, value) in values {
                let written_out = value.as_str().is_some_and(|text| !text.is_empty() && !text.contains("${"));
                if written_out && secret::is_given_as(name) {
                    *value = json!(HIDDEN);
                }
            }
        }
        Ok(entry)
    }

    /// The secrets that this server names and no other one does.
    pub(super) fn own_secrets(&self, server: &str) -> Result<Value, Refusal> {
        let config = self.inner.config.borrow().clone();
        let own = match config.servers().get(server) {
            Some(own) => named(&own.transport),
            // Nobody knows what an entry means that is wrong; nothing is said to be its own.
            None if config.faults().contains_key(server) => BTreeSet::new(),
            None => return Err(unknown_server(server)),
        };
        let others = config.servers().iter().filter(|(name, _)| name.as_str() != server);
        let elsewhere: BTreeSet<String> = others.flat_map(|(_, other)| named(&other.transport)).collect();
        let names: BTreeSet<String> = own.into_iter().filter(|name| !elsewhere.contains(name)).collect();
        Ok(json!({ "names": names }))
    }

    /// Keeps what is about to leave the configuration. An entry that waits for a look is not kept: putting it back would
    /// pass for the look.
    pub(super) fn remember_removed(&self, name: &str, entry: Option<&Value>) {
        let held = self.servers().get(name).is_some_and(|known| known.held);
        if let Some(entry) = entry.filter(|_| !held) {
            self.removed().insert(name.to_owned(), entry.clone());
        }
    }

    /// Adds a server again that was removed since the hub started, as it was.
    pub(super) async fn put_back(&self, name: &str) -> Result<Value, Refusal> {
        let entry = self.removed().get(name).cloned().ok_or_else(|| {
            let message = format!("no server \"{name}\" was removed since the hub started");
            Refusal::new("nothing_removed", message, "Add it again.")
        })?;
        self.apply(Change::Put { name: name.to_owned(), entry, replace: false, rules: vec![] }).await?;
        self.removed().remove(name);
        Ok(json!({}))
    }

    fn removed(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.inner.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(transport: &TransportConfig) -> BTreeSet<String> {
    let templates = transport.texts().map(Template::parse);
    templates.flat_map(|template| template.secrets().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}
