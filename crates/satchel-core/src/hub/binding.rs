//! Binds clients to profiles, and keeps them bound when profiles change.

use super::{Hub, clients, loosening::Loosening};
use crate::{
    config::profiles::Profiles,
    model::{
        Code,
        audit::AuditKind,
        control::{Change, Refusal},
        profiles::Profile,
        request::BindClient,
    },
};

/// Binds a client to a profile, or unbinds it.
///
/// # Errors
/// A [`Refusal`] if there is no such client or profile.
pub(super) fn bind(hub: &Hub, client: &str, profile: Option<String>) -> Result<(), Refusal> {
    if let Some(name) = &profile {
        known(hub.config().profiles(), name)?;
    }
    let detail = profile
        .as_ref()
        .map_or("bound to no profile".to_owned(), |name| format!("bound to the profile \"{name}\""));
    clients::choose_for(hub, client, |choices| choices.profile = profile)?;
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

/// Refuses to remove a profile that clients are bound to.
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

/// Rebinds clients when their profile is renamed.
///
/// # Errors
/// A [`Refusal`] if that cannot be stored; the client then sees nothing until it is bound again.
pub(super) fn follow_name(hub: &Hub, change: &Change) -> Result<(), Refusal> {
    let Change::PutProfile { name, was: Some(was), .. } = change else { return Ok(()) };
    if name == was {
        return Ok(());
    }
    let rebind =
        |client: &String| clients::choose_for(hub, client, |choices| choices.profile = Some(name.clone()));
    clients_of(hub, was).iter().try_for_each(rebind)
}

fn clients_of(hub: &Hub, profile: &str) -> Vec<String> {
    let bound = hub.inner.clients.edits.bound().into_iter();
    bound.filter(|(_, own)| own == profile).map(|(client, _)| client).collect()
}

/// A client that a person bound can only be unbound by a person.
pub(super) fn of_binding(hub: &Hub, BindClient { client, profile }: &BindClient) -> Option<Loosening> {
    let bound = hub.inner.clients.edits.choices(client).profile?;
    let command = match profile {
        Some(profile) => format!("satchel profile bind {client} {profile}"),
        None => format!("satchel profile unbind {client}"),
    };
    (profile.as_ref() != Some(&bound))
        .then(|| Loosening::new(format!("taking {client} out of the profile \"{bound}\""), command))
}

/// Only a person may extend the profile that a client is bound to.
pub(super) fn of_wider(hub: &Hub, was: &str, profile: &Profile) -> Option<Loosening> {
    let clients = clients_of(hub, was);
    let config = hub.config();
    let narrower = config.profiles().all().get(was).is_some_and(|before| before.has_all_of(profile));
    (!clients.is_empty() && !narrower).then(|| {
        let what = format!("widening the profile \"{was}\", to which {} is bound", clients.join(", "));
        Loosening::new(what, format!("satchel profile edit {was}"))
    })
}
