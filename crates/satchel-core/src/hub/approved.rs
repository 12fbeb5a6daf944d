//! Asks what was approved of servers, and refuses what was not.

use satchel_mcp::{
    RawObject,
    methods::{KnownMethod, Pinned},
};

use super::{Hub, failure::CallFailure, skills};
use crate::{
    config::Config,
    model::{Code, Notice, ServerName, approvals::Kind, audit::AuditKind},
    review::{Accepted, Opening},
};

/// Loads the approvals of servers. Returns for each whether its start is held back.
pub(super) async fn open_approvals(hub: &Hub, openings: Vec<Opening>) -> Vec<bool> {
    let names: Vec<ServerName> = openings.iter().map(|opening| opening.name.clone()).collect();
    let opened = hub.inner.review.open(openings).await;
    let told = names.iter().zip(opened).map(|(name, opened)| {
        if let Some(lost) = opened.lost {
            tracing::warn!("{lost}");
            hub.notice(Notice::new(Code::ApprovalsLost, lost));
        }
        if let Some(entry) = opened.held {
            hub.did(AuditKind::Held, "satchel", name.as_str(), entry);
        }
        opened.waits
    });
    told.collect()
}

/// Records which entry of this configuration is accepted, before it is written.
pub(super) async fn begin_accepting(hub: &Hub, config: &Config, accepted: Accepted<'_>) {
    let Accepted::Entry { name, by_person } = accepted else { return };
    let Some((name, server)) = config.servers().get_key_value(name) else { return };
    if let Err(error) = hub.inner.review.begin_accepting(name, server, by_person).await {
        tracing::warn!(server = %name, %error, "cannot store that its entry is being approved");
    }
}

/// Accepts an entry that a person wrote through Satchel.
pub(super) async fn accept_launch(hub: &Hub, name: &ServerName) {
    if let Err(error) = hub.inner.review.accept_launch(name).await {
        tracing::warn!(server = %name, %error, "cannot store that its entry was approved");
    }
}

/// Grants the entries a person accepted the secrets they reference, unless those belong to another recipient. Returns
/// the servers that may start as a result.
pub(super) async fn settle_secrets(hub: &Hub, accepted: Accepted<'_>) -> Vec<ServerName> {
    let mut names = Vec::new();
    for (name, detail) in hub.inner.review.settle_secrets(accepted).await {
        hub.did(AuditKind::Approval, "satchel", name.as_str(), detail);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

/// Refuses to start a server whose entry, package or secret is held back.
pub(super) fn refuse_held_launch(hub: &Hub, name: &ServerName) -> Result<(), CallFailure> {
    let refused = hub.inner.review.refuses_start(name);
    refused.map_or(Ok(()), |because| Err(not_started(name, &because)))
}

/// Refuses to start a server whose entry is held back.
pub(super) fn refuse_held_entry(hub: &Hub, name: &ServerName) -> Result<(), CallFailure> {
    let refused = hub.inner.review.refuses_entry(name);
    refused.map_or(Ok(()), |because| Err(not_started(name, because)))
}

/// Treats the first lists of an imported server as approved, because it already ran on this computer.
pub(super) async fn trust_imported(hub: &Hub, name: &str) {
    if let Ok(name) = name.parse::<ServerName>() {
        hub.inner.review.trust_imported(&name).await;
    }
}

/// Forgets the approvals of a removed server: the next one of that name is a different server.
pub(super) async fn forget_approvals(hub: &Hub, name: &str) {
    if let Ok(name) = name.parse::<ServerName>() {
        hub.inner.review.forget(&name).await;
    }
}

/// Is the server, or anything it offers, held back?
pub(super) fn holds_any(hub: &Hub, name: &str) -> bool {
    name.parse::<ServerName>().is_ok_and(|name| hub.inner.review.holds_any(&name))
}

/// Are there approvals for a server of this name?
pub(super) fn has_approvals(hub: &Hub, name: &str) -> bool {
    name.parse::<ServerName>().is_ok_and(|name| hub.inner.review.has_record(&name))
}

/// Refuses a definition that is held back. Only for definitions that are not available. What the hub passed out in a result
/// it takes back: the server gave it, and nothing of its definition is passed on when it is read.
pub(super) fn refuse_held(hub: &Hub, server: &ServerName, kind: Kind, name: &str) -> Result<(), CallFailure> {
    let was_given = || {
        let giver = hub.context.client().and_then(|client| hub.calls().given.giver(client, name));
        kind == Kind::Resource && giver.as_ref() == Some(server)
    };
    if was_given() {
        return Ok(());
    }
    let Some(because) = hub.inner.review.refuses(server, kind, name) else { return Ok(()) };
    let message = format!("\"{server}:{name}\" is held back: {because}");
    let action = Code::HeldBack.action().to_owned();
    Err(CallFailure::not_sent(Some(server), Some(Code::HeldBack), message, action))
}

/// The same for a request in the client's own form.
pub(super) fn refuse_held_request(
    hub: &Hub,
    server: &ServerName,
    method: &str,
    params: &RawObject,
) -> Result<(), CallFailure> {
    let text = |fields: &RawObject, key: &str| fields.text(key).unwrap_or_default();
    match KnownMethod::pinned_by(method) {
        Pinned::Prompt => refuse_held(hub, server, Kind::Prompt, &text(params, "name")),
        Pinned::Resource => {
            let uri = text(params, "uri");
            refuse_held(hub, server, Kind::Resource, &uri)?;
            skills::refuse_unlisted(hub, server, &uri)
        }
        Pinned::Reference => {
            let reference = params.get("ref").and_then(|raw| RawObject::parse(raw).ok());
            let reference = reference.unwrap_or_default();
            refuse_held(hub, server, Kind::Prompt, &text(&reference, "name"))?;
            let address = text(&reference, "uri");
            refuse_held(hub, server, Kind::Template, &address)?;
            refuse_held(hub, server, Kind::Resource, &address)
        }
        // Calls of tools are refused by their path, and only approved skills are given.
        Pinned::Tool | Pinned::Skill | Pinned::Nothing => Ok(()),
    }
}

fn not_started(name: &ServerName, because: &str) -> CallFailure {
    let message = format!("\"{name}\" is held back and was not started: {because}");
    CallFailure::not_sent(Some(name), Some(Code::HeldBack), message, Code::HeldBack.action().to_owned())
}
