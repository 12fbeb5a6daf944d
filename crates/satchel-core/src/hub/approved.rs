//! Asks what was approved of servers, and refuses what was not.

use satchel_mcp::RawObject;

use super::{Hub, failure::CallFailure};
use crate::{
    model::{Code, Notice, ServerName, approvals::Kind, audit::AuditKind},
    review::{Accepted, Opening},
};

/// Reads what was approved of servers. For each whether it may not be started.
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

/// A person put this entry there, through Satchel.
pub(super) async fn accept_launch(hub: &Hub, name: &ServerName) {
    if let Err(error) = hub.inner.review.accept_launch(name).await {
        tracing::warn!(server = %name, %error, "cannot store that its entry was approved");
    }
}

/// Gives entries that a person accepted the secrets they name, where no other recipient has them. The servers that may
/// be started with them now.
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

/// Why a server is not started, where that is because of its entry, a package or a secret.
pub(super) fn refuse_held_launch(hub: &Hub, name: &ServerName) -> Result<(), CallFailure> {
    let refused = hub.inner.review.refuses_start(name);
    refused.map_or(Ok(()), |because| Err(not_started(name, &because)))
}

/// The same, where that is because of its entry.
pub(super) fn refuse_held_entry(hub: &Hub, name: &ServerName) -> Result<(), CallFailure> {
    let refused = hub.inner.review.refuses_entry(name);
    refused.map_or(Ok(()), |because| Err(not_started(name, because)))
}

/// Servers that ran on this computer before they came here count as approved at their first lists.
pub(super) async fn trust_imported(hub: &Hub, name: &str) {
    if let Ok(name) = name.parse::<ServerName>() {
        hub.inner.review.trust_imported(&name).await;
    }
}

/// A person removed a server: what is called so next is another.
pub(super) async fn forget_approvals(hub: &Hub, name: &str) {
    if let Ok(name) = name.parse::<ServerName>() {
        hub.inner.review.forget(&name).await;
    }
}

/// Is anything of this server held back, or the server itself?
pub(super) fn holds_any(hub: &Hub, name: &str) -> bool {
    name.parse::<ServerName>().is_ok_and(|name| hub.inner.review.holds_any(&name))
}

/// Is it known what was approved of a server of this name?
pub(super) fn has_approvals(hub: &Hub, name: &str) -> bool {
    name.parse::<ServerName>().is_ok_and(|name| hub.inner.review.has_record(&name))
}

/// Why a definition may not be used, where it may not. Only asked of what is not on offer.
pub(super) fn refuse_held(hub: &Hub, server: &ServerName, kind: Kind, name: &str) -> Result<(), CallFailure> {
    let Some(because) = hub.inner.review.refuses(server, kind, name) else { return Ok(()) };
    let message = format!("\"{server}:{name}\" is held back: {because}");
    let action = Code::HeldBack.action().to_owned();
    Err(CallFailure::not_sent(Some(server), Some(Code::HeldBack), message, action))
}

/// The same for a request as a client wrote it.
pub(super) fn refuse_held_request(
    hub: &Hub,
    server: &ServerName,
    method: &str,
    params: &RawObject,
) -> Result<(), CallFailure> {
    let text = |fields: &RawObject, key: &str| fields.text(key).unwrap_or_default();
    match method {
        "prompts/get" => refuse_held(hub, server, Kind::Prompt, &text(params, "name")),
        "resources/read" | "resources/subscribe" => {
            refuse_held(hub, server, Kind::Resource, &text(params, "uri"))
        }
        "completion/complete" => {
            let reference = params.get("ref").and_then(|raw| RawObject::parse(raw).ok());
            let reference = reference.unwrap_or_default();
            refuse_held(hub, server, Kind::Prompt, &text(&reference, "name"))?;
            let address = text(&reference, "uri");
            refuse_held(hub, server, Kind::Template, &address)?;
            refuse_held(hub, server, Kind::Resource, &address)
        }
        _ => Ok(()),
    }
}

fn not_started(name: &ServerName, because: &str) -> CallFailure {
    let message = format!("\"{name}\" is held back and was not started: {because}");
    CallFailure::not_sent(Some(name), Some(Code::HeldBack), message, Code::HeldBack.action().to_owned())
}
