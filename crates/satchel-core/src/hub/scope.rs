//! Who looks through a handle, and from where: the client, the profile that its address names, the folders it works in,
//! and what a person hid from it.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::watch;

use super::Hub;
use crate::{
    config::{
        Config,
        profiles::{Lens, Looking},
    },
    model::name::in_path,
};

/// Where a client looks from: the profile that its address names, and the folders that it says it works in. Cheap to
/// clone; what one clone is told of folders, all know.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    profile: Option<Arc<str>>,
    folders: watch::Sender<Vec<String>>,
}

impl Scope {
    /// At an address that names a profile, or none.
    pub fn of(profile: Option<&str>) -> Self {
        Self { profile: profile.map(Into::into), folders: watch::Sender::default() }
    }

    /// The profile that the address names.
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }
}

impl Hub {
    /// A handle for a client that looks from there.
    #[must_use]
    pub fn within(&self, scope: &Scope) -> Self {
        if let Some(profile) = scope.profile() {
            self.inner.clients.names_profile(profile);
        }
        Self { scope: scope.clone(), ..self.clone() }
    }

    /// A handle that sees what this client may see.
    #[must_use]
    pub fn seen_by(&self, client: &str) -> Self {
        match &self.viewer {
            Some(viewer) if **viewer == *client => self.clone(),
            _ => Self { viewer: Some(client.into()), ..self.clone() },
        }
    }

    /// What is in the way of whoever looks through this handle.
    pub fn lens(&self) -> Lens {
        self.lens_of(&self.config())
    }

    pub(super) fn lens_of(&self, config: &Config) -> Lens {
        // People choose profiles; none is in their own way.
        let Some(client) = self.viewer.as_deref().filter(|_| !self.by_hand) else { return Lens::default() };
        let bound = self.inner.clients.edits.choices(client).profile;
        let folders = self.scope.folders.borrow().clone();
        let who = Looking { bound: bound.as_deref(), named: self.scope.profile(), folders: &folders };
        config.profiles().lens(&who)
    }

    /// Is there a profile of this name?
    pub fn has_profile(&self, name: &str) -> bool {
        self.config().profiles().has(name)
    }

    /// Has any folder a profile of its own? Otherwise nobody need ask clients for theirs.
    pub fn binds_folders(&self) -> bool {
        !self.config().profiles().folders().is_empty()
    }

    /// The client says that it works in these folders, as absolute paths.
    pub fn works_in(&self, folders: Vec<String>) {
        self.scope.folders.send_if_modified(|before| {
            let differs = *before != folders;
            *before = folders;
            differs
        });
    }

    /// Follows the folders of whoever looks through this handle.
    pub fn watch_folders(&self) -> watch::Receiver<Vec<String>> {
        self.scope.folders.subscribe()
    }

    /// Does the server exist for whoever looks through this handle? It may be switched off all the same.
    pub(super) fn knows(&self, server: &str) -> bool {
        self.hidden().is_none_or(|hidden| !hidden.contains(&*in_path(server)))
    }

    /// May whoever looks through this handle see the tool? Its server may be hidden as a whole.
    pub(super) fn shows_tool(&self, server: &str, tool: &str) -> bool {
        let hides = |hidden: BTreeSet<String>| {
            hidden.contains(&*in_path(server)) || hidden.contains(&path(server, tool))
        };
        !self.hidden().is_some_and(hides)
    }

    /// What is hidden from whoever looks through this handle; `None` for nothing.
    pub(super) fn hidden(&self) -> Option<BTreeSet<String>> {
        let hidden = self.inner.clients.edits.choices(self.viewer.as_deref()?).hidden;
        (!hidden.is_empty()).then_some(hidden)
    }

    /// Whose rules count: a person who calls by hand is no client.
    pub(super) fn ruled(&self) -> Option<&str> {
        self.viewer.as_deref().filter(|_| !self.by_hand)
    }
}

pub(super) fn path(server: &str, tool: &str) -> String {
    format!("{}:{tool}", in_path(server))
}
