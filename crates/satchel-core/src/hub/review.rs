//! Connects the review room with the hub: applies decisions about definitions and reports the outcome to the audit log,
//! the servers' logs and people.

use std::sync::Arc;

use super::{Hub, approved, launch, publish, watching};
use crate::{
    model::{
        Code, ServerName,
        approvals::{ApprovalList, Seen},
        audit::AuditKind,
        control::Refusal,
    },
    review::{Accepted, ReviewError},
    tasks::Panicked,
};

/// Everything that waits for review. Composed on a separate thread, for one caller at a time.
pub(super) async fn approvals(hub: &Hub, server: Option<String>) -> Result<ApprovalList, Refusal> {
    if let Some(server) = &server
        && !hub.servers().contains_key(server.as_str())
    {
        return Err(Refusal::unknown_server(server));
    }
    let (review, offers) = (hub.inner.review.clone(), hub.offers().clone());
    let settings = hub.inner.configured.accepted.waiting(&hub.config()).filter(|_| server.is_none());
    let _turn = hub.inner.faces.listing.acquire().await;
    let listing = hub
        .inner
        .life
        .tracker()
        .spawn_blocking(move || ApprovalList { servers: review.list(&offers, server.as_deref()), settings });
    listing.await.map_err(|_| ReviewError::from(Panicked).into())
}

/// Approves exactly these definitions, or keeps them held back.
pub(super) async fn decide(hub: &Hub, server: &str, items: Vec<Seen>, approve: bool) -> Result<(), Refusal> {
    let name: ServerName = server.parse().map_err(|_| Refusal::unknown_server(server))?;
    let offer = hub.offers().get(&name).cloned();
    let entries = hub.inner.review.decide(&name, offer, items, approve).await?;
    follow_review(hub, &name).await;
    // Its access to secrets depends on what it may run.
    let granted = approved::settle_secrets(hub, Accepted::Nothing).await;
    for name in granted.iter().chain([&name]) {
        launch::follow_launch(hub, name).await;
    }
    let kind = if approve { AuditKind::Approval } else { AuditKind::Held };
    entries.into_iter().for_each(|entry| hub.did_here(kind, server, entry));
    Ok(())
}

/// Marks a server's available definitions as reviewed.
pub(super) async fn looked_at(hub: &Hub, server: &str) -> Result<(), Refusal> {
    let name: ServerName = server.parse().map_err(|_| Refusal::unknown_server(server))?;
    if !hub.servers().contains_key(&name) {
        return Err(Refusal::unknown_server(server));
    }
    let offer = hub.offers().get(&name).cloned();
    let offer: Arc<_> = offer.ok_or_else(|| ReviewError::Unread(server.to_owned()))?;
    let looked = match hub.inner.review.look(&name, offer).await? {
        1 => "looked at its only definition".to_owned(),
        many => format!("looked at all {many} definitions"),
    };
    follow_review(hub, &name).await;
    hub.did_here(AuditKind::Approval, server, looked);
    Ok(())
}

/// Applies changed approvals of a server.
async fn follow_review(hub: &Hub, name: &ServerName) {
    publish::publish_catalog(hub).await;
    watching::follow_watched(hub, name);
    hub.inner.faces.changed();
}

impl From<ReviewError> for Refusal {
    fn from(error: ReviewError) -> Self {
        let message = error.to_string();
        match error {
            ReviewError::Unknown(server) => Refusal::unknown_server(&server),
            ReviewError::Unread(_) => {
                let action = "Start it once with `satchel restart`, or look at `satchel list`.";
                Refusal::new(Code::Unread, message, action)
            }
            ReviewError::ChangedMeanwhile { .. } => {
                Refusal::new(Code::ChangedMeanwhile, message, "Review it again.")
            }
            ReviewError::Unwritable(_) => Refusal::new(Code::Unwritable, message, ""),
            ReviewError::Panicked(_) => Refusal::new(Code::Panicked, message, ""),
        }
    }
}
