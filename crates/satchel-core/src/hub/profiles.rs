//! Puts profiles into effect: tells clients when another one applies, puts servers to sleep that no profile in use
//! has, binds clients, and shows all of it to faces. [`crate::config::profiles`] decides what a profile allows. Starts
//! nothing.

use std::collections::BTreeSet;

use super::Hub;
use crate::{
    config::Config,
    model::{
        Code, Notice, ServerName,
        profiles::{FolderProfile, ProfileView, ProfilesView},
    },
};

/// Follows changes to the profiles or the active profile.
pub(super) fn follow(hub: &Hub, before: &Config) {
    let config = hub.config();
    let (before, now) = (before.profiles(), config.profiles());
    if before == now {
        return;
    }
    let unusable = now.active().filter(|active| !now.all().contains_key(*active));
    match unusable {
        Some(active) => {
            let why = now.faults().get(active).map(|fault| format!(" ({fault})")).unwrap_or_default();
            let message = format!(
                "the active profile \"{active}\" cannot be used{why}; clients without a profile of their own see nothing"
            );
            hub.notice(Notice::new(Code::UnknownProfile, message));
        }
        None => hub.clear_notice(Code::UnknownProfile),
    }
    hub.inner.clients.chosen();
}

/// Is the server available to no client?
pub(super) fn is_unused(hub: &Hub, server: &ServerName) -> bool {
    unused(hub, std::iter::once(server)).contains(server)
}

/// Those of the servers that are available to no client.
pub(super) fn unused<'a>(hub: &Hub, servers: impl Iterator<Item = &'a ServerName>) -> BTreeSet<ServerName> {
    let config = hub.config();
    if config.profiles().active().is_none() {
        return BTreeSet::new();
    }
    let clients = &hub.inner.clients;
    let named: BTreeSet<String> =
        clients.edits.bound().into_values().chain(clients.named_profiles()).collect();
    let is_used =
        |server: &ServerName| config.profiles().may_use(server.as_str(), named.iter().map(String::as_str));
    servers.filter(|server| !is_used(server)).cloned().collect()
}

/// The profiles as shown to people.
pub(super) fn view(hub: &Hub, config: &Config) -> ProfilesView {
    let profiles = config.profiles();
    let bound = hub.inner.clients.edits.bound();
    let shown = |name: &String| {
        let profile = profiles.all().get(name).map(|filter| filter.profile().clone()).unwrap_or_default();
        let exists =
            |server: &str| config.servers().contains_key(server) || config.faults().contains_key(server);
        let unknown = profile.servers.iter().filter(|server| !exists(server)).cloned().collect();
        let clients =
            bound.iter().filter(|(_, own)| *own == name).map(|(client, _)| client.clone()).collect();
        let fault = profiles.faults().get(name).map(ToString::to_string);
        ProfileView { name: name.clone(), profile, unknown, clients, fault }
    };
    let names: BTreeSet<&String> = profiles.all().keys().chain(profiles.faults().keys()).collect();
    let folder = |(folder, profile): (&String, &Result<String, crate::config::ConfigError>)| FolderProfile {
        folder: folder.clone(),
        profile: profile.clone().unwrap_or_default(),
        fault: profile.as_ref().err().map(ToString::to_string),
    };
    ProfilesView {
        active: profiles.active().map(ToOwned::to_owned),
        all: names.into_iter().map(shown).collect(),
        folders: profiles.folders().iter().map(folder).collect(),
    }
}
