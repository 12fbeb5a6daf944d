//! What the hub tells the trail: who did what, in our words. Never a secret's value, never a call's arguments.

use std::{
    sync::{Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use tokio::time::Instant;

use super::{CallFailure, Hub};
use crate::{
    clock::now_ms,
    model::{
        Code,
        control::{Change, Refusal},
        trail::{DeedKind, TrailAsk, TrailHead, TrailPage, TrailVerdict},
    },
    stats::trail::{self, Deed},
    trust::clean,
};

/// So many requests that are turned away within [`MINUTE`] have a record each; the others are counted.
const TURNED_AWAY: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);

/// Requests that were turned away at the door.
#[derive(Debug, Default)]
pub(super) struct Door(Mutex<Turned>);

#[derive(Debug, Default)]
struct Turned {
    since: Option<Instant>,
    told: u32,
    /// Counted, and not told yet.
    more: u64,
}

impl Door {
    /// One more. Whether it is told, and of how many before it that is said besides.
    fn one_more(&self, now: Instant) -> (bool, u64) {
        let mut turned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut more = 0;
        if turned.since.is_none_or(|since| now - since >= MINUTE) {
            more = std::mem::take(&mut turned.more);
            (turned.since, turned.told) = (Some(now), 0);
        }
        if turned.told < TURNED_AWAY {
            turned.told += 1;
            return (true, more);
        }
        turned.more += 1;
        (false, 0)
    }

    fn rest(&self) -> u64 {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).more)
    }
}

impl Hub {
    /// Something for the trail.
    pub(super) fn did(&self, kind: DeedKind, who: &str, subject: &str, detail: impl Into<String>) {
        let (who, subject, detail) = (clean::visible(who), clean::visible(subject), detail.into());
        self.inner.ledger.did(Deed { at_ms: now_ms(), kind, who, subject, detail });
        if let Some(recorded) = &self.recorded {
            recorded.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Something for the trail that whoever makes the request did that this handle carries out.
    pub(super) fn did_here(&self, kind: DeedKind, subject: &str, detail: impl Into<String>) {
        self.did(kind, &self.actor(), subject, detail);
    }

    /// Who makes the request that this handle carries out, as the trail says it.
    pub(super) fn actor(&self) -> String {
        self.origin.as_ref().map_or_else(|| "satchel".to_owned(), |origin| origin.to_string())
    }

    /// A request was turned away at the door, before it was anybody's. Of a flood the first ones have a record each.
    pub fn turned_away(&self, why: &str, path: &str) {
        self.turned_away_from("", why, path);
    }

    /// The same of somebody who is known.
    pub(super) fn turned_away_from(&self, who: &str, why: &str, path: &str) {
        let (told, more) = self.inner.door.one_more(Instant::now());
        if more > 0 {
            self.did(
                DeedKind::Denied,
                "",
                "",
                format!("{more} more requests were turned away in the minute before"),
            );
        }
        if told {
            self.did(DeedKind::Denied, who, path, why);
        }
    }

    /// Nobody knocks any more: what was only counted is told.
    pub(super) fn close_door(&self) {
        let more = self.inner.door.rest();
        if more > 0 {
            self.did(DeedKind::Denied, "", "", format!("{more} more requests were turned away"));
        }
    }

    /// A call was refused because of what a person or a rule wants.
    pub(super) fn did_deny(&self, failure: &CallFailure) {
        if matches!(failure.code, Some(Code::Denied | Code::HeldBack)) {
            let server = failure.server.as_deref().unwrap_or_default();
            let client = self.viewer.as_deref().filter(|_| !self.by_hand);
            let who = client.map_or_else(|| self.actor(), ToOwned::to_owned);
            self.did(DeedKind::Denied, &who, server, &failure.message);
        }
    }

    /// The configuration was changed at a face. What a server is given in variables and headers is nobody's business.
    pub(super) fn did_change(&self, change: &Change) {
        let (subject, detail) = match change {
            Change::Add { name, replace, .. } | Change::Put { name, replace, .. } => (
                name.clone(),
                if *replace { "server put in, or replaced" } else { "server added" }.to_owned(),
            ),
            Change::Edit { name, .. } => (name.clone(), "server set up differently".to_owned()),
            Change::Duplicate { name, to } => (to.clone(), format!("server added, set up as \"{name}\" is")),
            Change::Remove { name } => (name.clone(), "server removed".to_owned()),
            Change::SetEnabled { name, enabled } => {
                (name.clone(), format!("server switched {}", if *enabled { "on" } else { "off" }))
            }
            Change::SetPermit { tool, client, permit } => {
                let permit =
                    permit.map_or("as usual".to_owned(), |permit| format!("{permit:?}").to_lowercase());
                let client = client.as_ref().map(|client| format!(" for {client}")).unwrap_or_default();
                (tool.clone(), format!("rule{client}: {permit}"))
            }
            Change::SetKeepCalls { name, keep } => {
                (name.clone(), format!("arguments and results kept: {keep}"))
            }
            Change::SetSandbox { name, sandbox } => {
                (name.clone(), format!("sandbox {}", if sandbox.is_some() { "on" } else { "off" }))
            }
            Change::SetLearning { learn } => (String::new(), format!("learning from searches: {learn}")),
        };
        self.did_here(DeedKind::Policy, &subject, detail);
    }

    /// A page of the trail.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub(super) async fn trail(&self, ask: TrailAsk) -> Result<TrailPage, Refusal> {
        self.written().await;
        self.read_ledger(move |path| trail::page(&path, &ask)).await.map_err(unreadable)
    }

    /// Checks the whole trail.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub(super) async fn verify_trail(&self, noted: Option<TrailHead>) -> Result<TrailVerdict, Refusal> {
        self.written().await;
        self.read_ledger(move |path| trail::verify(&path, noted.as_ref())).await.map_err(unreadable)
    }
}

fn unreadable(error: String) -> Refusal {
    Refusal::new("ledger", error, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_at_the_door_is_told_in_few_records_and_counted_whole() {
        let door = Door::default();
        let mut told = 0;
        for _ in 0..1_000 {
            told += u64::from(door.one_more(Instant::now()).0);
        }
        assert_eq!(told, u64::from(TURNED_AWAY));
        tokio::time::advance(MINUTE).await;
        let (is_told, more) = door.one_more(Instant::now());
        assert!(is_told);
        assert_eq!(told + more, 1_000);
        assert_eq!(door.rest(), 0);
    }
}
