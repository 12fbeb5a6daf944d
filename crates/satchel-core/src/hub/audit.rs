//! Writes what was done, and by whom, to the audit log. It holds no arguments of calls and no values of secrets.

use std::sync::atomic::Ordering;

use super::Hub;
use crate::model::{audit::AuditKind, control::Change};

impl Hub {
    /// Something for the audit log.
    pub(super) fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        self.recorder().did(kind, who, subject, detail);
        self.count_records(1);
    }

    /// Something for the audit log that whoever makes the request did that this handle carries out.
    pub(super) fn did_here(&self, kind: AuditKind, subject: &str, detail: impl Into<String>) {
        self.did(kind, &self.actor(), subject, detail);
    }

    /// Who makes the request that this handle carries out, as the audit log says it.
    pub(super) fn actor(&self) -> String {
        self.origin.as_ref().map_or_else(|| "satchel".to_owned(), |origin| origin.to_string())
    }

    /// A request was turned away at the door, before it was anybody's.
    pub fn turned_away(&self, why: &str, path: &str) {
        self.turned_away_from("", why, path);
    }

    /// The same of somebody who is known.
    pub(super) fn turned_away_from(&self, who: &str, why: &str, path: &str) {
        self.count_records(self.recorder().turned_away(who, why, path));
    }

    /// What is said of a call, with the script that makes it.
    pub(super) fn with_cause(&self, said: &str) -> String {
        match self.observer.script() {
            Some(trace) => format!("{said} (in a script, trace {trace})"),
            None => said.to_owned(),
        }
    }

    pub(super) fn count_records(&self, made: usize) {
        if let Some(recorded) = &self.recorded {
            recorded.fetch_add(made, Ordering::Relaxed);
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
            Change::SetPictures { show } => (String::new(), format!("pictures of servers: {show}")),
            Change::UseProfile { name } => (
                name.clone().unwrap_or_default(),
                if name.is_some() { "profile in use" } else { "no profile in use" }.into(),
            ),
            Change::PutProfile { name, was, .. } => {
                (name.clone(), if was.is_some() { "profile changed" } else { "profile added" }.into())
            }
            Change::TakeSetting { key, value } => {
                let done = if value.is_some() {
                    "taken from another setup"
                } else {
                    "taken out, as in another setup"
                };
                (key.clone(), format!("setting {done}"))
            }
            Change::RemoveProfile { name } => (name.clone(), "profile removed".to_owned()),
            Change::BindFolder { folder, profile } => {
                let profile = profile.as_ref().map(|name| format!("the profile \"{name}\""));
                (folder.clone(), format!("folder bound to {}", profile.unwrap_or("no profile".into())))
            }
        };
        self.did_here(AuditKind::Policy, &subject, detail);
    }

    /// Does a person make the request that this handle carries out, or the hub itself?
    pub(super) fn is_for_a_person(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.is_person())
    }
}
