//! Profiles at work: tells clients when another one counts, puts servers to sleep that nobody may use any more, binds
//! clients, and shows all of it to faces. What a profile lets through is decided in [`crate::config::profiles`]; nothing is
//! started here.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::watch;

use super::{Hub, authorize::Loosening};
use crate::{
    config::{Config, profiles::Profiles},
    model::{
        Code, Notice, ServerName, Snapshot,
        audit::AuditKind,
        control::{Change, Refusal},
        profiles::{FolderProfile, Profile, ProfileView, ProfilesView},
        request::BindClient,
    },
    tasks::may_fail_here,
    upstream::lifecycle::State,
};

/// The configuration has other profiles than before, or another one counts.
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

/// May no client use the server, whoever asks next?
pub(super) fn is_unused(hub: &Hub, server: &ServerName) -> bool {
    unused(hub, std::iter::once(server)).contains(server)
}

/// Those of the servers that no client may use.
fn unused<'a>(hub: &Hub, servers: impl Iterator<Item = &'a ServerName>) -> BTreeSet<ServerName> {
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

fn unused_now(hub: &Hub) -> BTreeSet<ServerName> {
    let names: Vec<ServerName> = hub.servers().keys().cloned().collect();
    unused(hub, names.iter())
}

/// Puts servers to sleep that a choice took from everybody, each when its last call has ended, for as long as the hub lives.
/// One that a person starts by hand afterwards is left alone.
pub(super) async fn keep_resting(hub: &Hub) {
    let mut choices = hub.watch_choices();
    // Followed only while somebody has to leave: a snapshot that nobody follows is not composed.
    let mut shown = None;
    let mut before = unused_now(hub);
    let mut leaving = BTreeSet::new();
    loop {
        tokio::select! {
            chosen = choices.changed() => {
                if chosen.is_err() { return }
                let now = unused_now(hub);
                leaving.retain(|name| now.contains(name));
                leaving.extend(now.difference(&before).cloned());
                before = now;
            }
            open = next(&mut shown) => if !open { return },
            () = hub.inner.life.end().cancelled() => return,
        }
        may_fail_here("profiles");
        if !leaving.is_empty() {
            // Before they are looked at: what changes from here on is told.
            shown.get_or_insert_with(|| hub.watch());
        }
        leaving.retain(|name| !has_left(hub, name));
        if leaving.is_empty() {
            shown = None;
        }
    }
}

/// Waits for another snapshot where it is followed; false when the hub has ended.
async fn next(shown: &mut Option<watch::Receiver<Arc<Snapshot>>>) -> bool {
    match shown {
        Some(shown) => shown.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

/// Has it left the stage, or can it at once?
fn has_left(hub: &Hub, name: &ServerName) -> bool {
    let Some(upstream) = hub.servers().get(name).map(|known| known.upstream.clone()) else { return true };
    match upstream.seen().state {
        State::Ready { leases: 0, .. } | State::Starting { waiting: 0, .. } => {
            upstream.log().hub("put to sleep: no profile in use has it");
            upstream.rest();
            true
        }
        State::Ready { .. } | State::Starting { .. } => false,
        State::Off
        | State::Asleep
        | State::Stopping { .. }
        | State::BackingOff { .. }
        | State::Broken { .. }
        | State::NeedsCredential { .. } => true,
    }
}

/// Binds a client to a profile, or to none.
///
/// # Errors
/// A [`Refusal`] where there is no such client or profile.
pub(super) fn bind(hub: &Hub, client: &str, profile: Option<String>) -> Result<(), Refusal> {
    if let Some(name) = &profile {
        known(hub.config().profiles(), name)?;
    }
    let detail = profile
        .as_ref()
        .map_or("bound to no profile".to_owned(), |name| format!("bound to the profile \"{name}\""));
    hub.choose_for(client, |choices| choices.profile = profile)?;
    hub.did_here(AuditKind::Policy, client, detail);
    Ok(())
}

fn known(profiles: &Profiles, name: &str) -> Result<(), Refusal> {
    match profiles.faults().get(name) {
        Some(fault) => Err(Refusal::new(Code::ConfigInvalid, fault.to_string(), "Correct it in the file.")),
        None if profiles.has(name) => Ok(()),
        None => {
            let message = format!("there is no profile \"{name}\"");
            Err(Refusal::new(Code::UnknownProfile, message, Code::UnknownProfile.action()))
        }
    }
}

/// Refuses to take a profile from clients that are bound to it.
///
/// # Errors
/// A [`Refusal`] that names them.
pub(super) fn refuse_bound(hub: &Hub, change: &Change) -> Result<(), Refusal> {
    let Change::RemoveProfile { name } = change else { return Ok(()) };
    let clients = clients_of(hub, name);
    if clients.is_empty() {
        return Ok(());
    }
    let clients = clients.join(", ");
    let message = format!("the profile \"{name}\" is in use: bound to it: {clients}");
    Err(Refusal::new(
        Code::ProfileInUse,
        message,
        "Take it from them first: `satchel profile unbind CLIENT`.",
    ))
}

/// Clients stay in their profile where it is called otherwise from now on.
///
/// # Errors
/// A [`Refusal`] where that cannot be kept; the client then sees nothing before it is bound again.
pub(super) fn follow_name(hub: &Hub, change: &Change) -> Result<(), Refusal> {
    let Change::PutProfile { name, was: Some(was), .. } = change else { return Ok(()) };
    if name == was {
        return Ok(());
    }
    let rebind = |client: &String| hub.choose_for(client, |choices| choices.profile = Some(name.clone()));
    clients_of(hub, was).iter().try_for_each(rebind)
}

fn clients_of(hub: &Hub, profile: &str) -> Vec<String> {
    let bound = hub.inner.clients.edits.bound().into_iter();
    bound.filter(|(_, own)| own == profile).map(|(client, _)| client).collect()
}

/// A person bound the client: only a person lets it out again.
pub(super) fn of_binding(hub: &Hub, BindClient { client, profile }: &BindClient) -> Option<Loosening> {
    let bound = hub.inner.clients.edits.choices(client).profile?;
    let command = match profile {
        Some(profile) => format!("satchel profile bind {client} {profile}"),
        None => format!("satchel profile unbind {client}"),
    };
    (profile.as_ref() != Some(&bound))
        .then(|| Loosening::new(format!("taking {client} out of the profile \"{bound}\""), command))
}

/// What a client that is bound to the profile may use becomes more only by a person's hand.
pub(super) fn of_wider(hub: &Hub, was: &str, profile: &Profile) -> Option<Loosening> {
    let clients = clients_of(hub, was);
    let config = hub.config();
    let narrower = config.profiles().all().get(was).is_some_and(|before| before.has_all_of(profile));
    (!clients.is_empty() && !narrower).then(|| {
        let what = format!("widening the profile \"{was}\", to which {} is bound", clients.join(", "));
        Loosening::new(what, format!("satchel profile edit {was}"))
    })
}

/// As faces show them.
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
