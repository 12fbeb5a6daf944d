//! Connects the review room with the hub: applies decisions about definitions and reports the outcome to the audit log,
//! the servers' logs and people.

use std::sync::Arc;

use satchel_mcp::RawObject;

use super::{CallFailure, Hub, requests::unknown_server};
use crate::{
    model::{
        Code, Notice, ServerName,
        approvals::{ApprovalList, Kind, Seen},
        audit::AuditKind,
        control::Refusal,
    },
    review::{Accepted, Opening, ReviewError},
    tasks::Panicked,
};

impl Hub {
    /// Reads what was approved of servers. For each whether it may not be started.
    pub(super) async fn open_approvals(&self, openings: Vec<Opening>) -> Vec<bool> {
        let names: Vec<ServerName> = openings.iter().map(|opening| opening.name.clone()).collect();
        let opened = self.inner.review.open(openings).await;
        let told = names.iter().zip(opened).map(|(name, opened)| {
            if let Some(lost) = opened.lost {
                tracing::warn!("{lost}");
                self.notice(Notice::new(Code::ApprovalsLost, lost));
            }
            if let Some(entry) = opened.held {
                self.did(AuditKind::Held, "satchel", name.as_str(), entry);
            }
            opened.waits
        });
        told.collect()
    }

    /// A person put this entry there, through Satchel.
    pub(super) async fn accept_launch(&self, name: &ServerName) {
        if let Err(error) = self.inner.review.accept_launch(name).await {
            tracing::warn!(server = %name, %error, "cannot keep that its entry was approved");
        }
    }

    /// Gives entries that a person accepted the secrets they name, where no other recipient has them. The servers that may
    /// be started with them now.
    pub(super) async fn settle_secrets(&self, accepted: Accepted<'_>) -> Vec<ServerName> {
        let mut names = Vec::new();
        for (name, detail) in self.inner.review.settle_secrets(accepted).await {
            self.did(AuditKind::Approval, "satchel", name.as_str(), detail);
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Why a server is not started, where that is because of its entry, a package or a secret.
    pub(super) fn refuse_held_launch(&self, name: &ServerName) -> Result<(), CallFailure> {
        let refused = self.inner.review.refuses_start(name);
        refused.map_or(Ok(()), |because| Err(not_started(name, &because)))
    }

    /// The same, where that is because of its entry.
    pub(super) fn refuse_held_entry(&self, name: &ServerName) -> Result<(), CallFailure> {
        let refused = self.inner.review.refuses_entry(name);
        refused.map_or(Ok(()), |because| Err(not_started(name, because)))
    }

    /// Servers that ran on this computer before they came here count as approved at their first lists.
    pub(super) async fn trust_imported(&self, name: &str) {
        if let Ok(name) = name.parse::<ServerName>() {
            self.inner.review.trust_imported(&name).await;
        }
    }

    /// A person removed a server: what is called so next is another.
    pub(super) async fn forget_approvals(&self, name: &str) {
        if let Ok(name) = name.parse::<ServerName>() {
            self.inner.review.forget(&name).await;
        }
    }

    /// Is anything of this server held back, or the server itself?
    pub(super) fn holds_any(&self, name: &str) -> bool {
        name.parse::<ServerName>().is_ok_and(|name| self.inner.review.holds_any(&name))
    }

    /// Is it known what was approved of a server of this name?
    pub(super) fn has_approvals(&self, name: &str) -> bool {
        name.parse::<ServerName>().is_ok_and(|name| self.inner.review.has_record(&name))
    }

    /// Why a definition may not be used, where it may not. Only asked of what is not on offer.
    pub(super) fn refuse_held(&self, server: &ServerName, kind: Kind, name: &str) -> Result<(), CallFailure> {
        let Some(because) = self.inner.review.refuses(server, kind, name) else { return Ok(()) };
        let message = format!("\"{server}:{name}\" is held back: {because}");
        let action = Code::HeldBack.action().to_owned();
        Err(CallFailure::not_sent(Some(server), Some(Code::HeldBack), message, action))
    }

    /// The same for a request as a client wrote it.
    pub(super) fn refuse_held_request(
        &self,
        server: &ServerName,
        method: &str,
        params: &RawObject,
    ) -> Result<(), CallFailure> {
        let text = |fields: &RawObject, key: &str| fields.text(key).unwrap_or_default();
        match method {
            "prompts/get" => self.refuse_held(server, Kind::Prompt, &text(params, "name")),
            "resources/read" | "resources/subscribe" => {
                self.refuse_held(server, Kind::Resource, &text(params, "uri"))
            }
            "completion/complete" => {
                let reference = params.get("ref").and_then(|raw| RawObject::parse(raw).ok());
                let reference = reference.unwrap_or_default();
                self.refuse_held(server, Kind::Prompt, &text(&reference, "name"))?;
                let address = text(&reference, "uri");
                self.refuse_held(server, Kind::Template, &address)?;
                self.refuse_held(server, Kind::Resource, &address)
            }
            _ => Ok(()),
        }
    }

    /// What there is to look at. Texts are read on a thread of their own, for one face at a time.
    pub(super) async fn approvals(&self, server: Option<String>) -> Result<ApprovalList, Refusal> {
        if let Some(server) = &server
            && !self.servers().contains_key(server.as_str())
        {
            return Err(unknown_server(server));
        }
        let (review, offers) = (self.inner.review.clone(), self.offers().clone());
        let settings = self.inner.configured.accepted.waiting(&self.config()).filter(|_| server.is_none());
        let _turn = self.inner.faces.listing.acquire().await;
        let listing = self.inner.life.tracker().spawn_blocking(move || ApprovalList {
            servers: review.list(&offers, server.as_deref()),
            settings,
        });
        listing.await.map_err(|_| ReviewError::from(Panicked).into())
    }

    /// A person approves exactly these definitions, or wants them held back.
    pub(super) async fn decide(&self, server: &str, items: Vec<Seen>, approve: bool) -> Result<(), Refusal> {
        let name: ServerName = server.parse().map_err(|_| unknown_server(server))?;
        let offer = self.offers().get(&name).cloned();
        let entries = self.inner.review.decide(&name, offer, items, approve).await?;
        self.follow_review(&name).await;
        // What it may have follows from what it may run.
        let granted = self.settle_secrets(Accepted::Nothing).await;
        for name in granted.iter().chain([&name]) {
            self.follow_launch(name).await;
        }
        let kind = if approve { AuditKind::Approval } else { AuditKind::Held };
        entries.into_iter().for_each(|entry| self.did_here(kind, server, entry));
        Ok(())
    }

    /// A person looked at what a server has on offer.
    pub(super) async fn looked_at(&self, server: &str) -> Result<(), Refusal> {
        let name: ServerName = server.parse().map_err(|_| unknown_server(server))?;
        let offer = self.offers().get(&name).cloned();
        let offer: Arc<_> = offer.ok_or_else(|| ReviewError::Unread(server.to_owned()))?;
        let looked = match self.inner.review.look(&name, offer).await? {
            1 => "looked at its only definition".to_owned(),
            many => format!("looked at all {many} definitions"),
        };
        self.follow_review(&name).await;
        self.did_here(AuditKind::Approval, server, looked);
        Ok(())
    }

    /// What was approved of this server changed.
    async fn follow_review(&self, name: &ServerName) {
        self.publish_catalog().await;
        self.follow_watched(name);
        self.inner.faces.changed();
    }
}

impl From<ReviewError> for Refusal {
    fn from(error: ReviewError) -> Self {
        let message = error.to_string();
        match error {
            ReviewError::Unknown(server) => unknown_server(&server),
            ReviewError::Unread(_) => {
                let action = "Start it once with `satchel restart`, or look at `satchel list`.";
                Refusal::new(Code::Unread, message, action)
            }
            ReviewError::ChangedMeanwhile { .. } => {
                Refusal::new(Code::ChangedMeanwhile, message, "Look at it again.")
            }
            ReviewError::Unwritable(_) => Refusal::new(Code::Unwritable, message, ""),
            ReviewError::Panicked(_) => Refusal::new(Code::Panicked, message, ""),
        }
    }
}

fn not_started(name: &ServerName, because: &str) -> CallFailure {
    let message = format!("\"{name}\" is held back and was not started: {because}");
    CallFailure::not_sent(Some(name), Some(Code::HeldBack), message, Code::HeldBack.action().to_owned())
}
