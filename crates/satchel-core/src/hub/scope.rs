//! The scope of a handle: its client, the profile that its address names, the folders the client works in, and what a
//! person hid from it.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use tokio::sync::watch;

use super::Hub;
use crate::{
    config::{
        Config,
        profiles::{Lens, Looking},
    },
    model::name::in_path,
};

/// A client's scope: the profile in its address, and its folders. Cheap to clone; clones share the folders.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    profile: Option<Arc<str>>,
    /// Made where somebody tells or follows them: most requests stand for themselves.
    folders: Arc<OnceLock<watch::Sender<Vec<String>>>>,
}

impl Scope {
    /// The scope of an address, with or without a profile.
    pub fn of(profile: Option<&str>) -> Self {
        Self { profile: profile.map(Into::into), folders: Arc::default() }
    }

    /// The profile in the address.
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Sets the client's folders, as absolute paths.
    pub(super) fn works_in(&self, folders: Vec<String>) {
        self.folders().send_if_modified(|before| {
            let differs = *before != folders;
            *before = folders;
            differs
        });
    }

    /// Subscribes to the folders.
    pub(super) fn watch_folders(&self) -> watch::Receiver<Vec<String>> {
        self.folders().subscribe()
    }

    fn folders(&self) -> &watch::Sender<Vec<String>> {
        self.folders.get_or_init(watch::Sender::default)
    }
}

/// The profiles that apply to this handle's caller.
pub(super) fn lens(hub: &Hub) -> Lens {
    lens_of(hub, &hub.config())
}

pub(super) fn lens_of(hub: &Hub, config: &Config) -> Lens {
    // Profiles do not restrict people.
    let Some(client) = hub.context.ruled() else { return Lens::default() };
    let bound = hub.inner.clients.edits.choice(client, |chosen| chosen.profile.clone()).flatten();
    let scope = &hub.context.scope;
    let folders = scope.folders.get().map(watch::Sender::borrow);
    let folders = folders.as_deref().map_or(&[][..], Vec::as_slice);
    let who = Looking { bound: bound.as_deref(), named: scope.profile(), folders };
    config.profiles().lens(&who)
}

/// Is the server visible to this handle's caller? It may still be switched off.
pub(super) fn knows(hub: &Hub, server: &str) -> bool {
    hidden(hub).is_none_or(|hidden| !hidden.contains(&*in_path(server)))
}

/// Is the tool visible to this handle's caller? Its server may be hidden as a whole.
pub(super) fn shows_tool(hub: &Hub, server: &str, tool: &str) -> bool {
    let hides =
        |hidden: BTreeSet<String>| hidden.contains(&*in_path(server)) || hidden.contains(&path(server, tool));
    !hidden(hub).is_some_and(hides)
}

/// What is hidden from this handle's caller; `None` for nothing.
pub(super) fn hidden(hub: &Hub) -> Option<BTreeSet<String>> {
    let some = |hidden: &BTreeSet<String>| (!hidden.is_empty()).then(|| hidden.clone());
    hub.inner.clients.edits.choice(hub.context.client()?, |chosen| some(&chosen.hidden)).flatten()
}

pub(super) fn path(server: &str, tool: &str) -> String {
    format!("{}:{tool}", in_path(server))
}
