//! What the hub lends to those who take servers in.

use std::sync::Arc;

use super::{Hub, apply, approved, change, ourselves, registry};
use crate::{
    clients::{ledger::Ledger, template::Ourselves},
    config::Config,
    files::Places,
    intake::house::{Doing, Entries, Hand, House},
    model::{
        audit::AuditKind,
        control::{Change, Refusal},
    },
    platform::Environment,
    secrets::Secrets,
    upstream::environment::SearchPath,
};

impl House for Hub {
    fn config(&self) -> Arc<Config> {
        self.config()
    }

    fn places(&self) -> &Places {
        self.places()
    }

    fn secrets(&self) -> &Secrets {
        &self.inner.around.secrets
    }

    fn edits(&self) -> &Ledger {
        &self.inner.clients.edits
    }

    fn entries(&self) -> &Entries {
        &self.inner.configured.entries
    }

    fn environment(&self) -> &Environment {
        &self.inner.around.environment
    }

    fn search_path(&self) -> &SearchPath {
        &self.inner.around.search_path
    }

    fn ourselves(&self) -> Ourselves {
        ourselves::ourselves(self)
    }

    fn is_for_a_person(&self) -> bool {
        self.context.is_for_a_person()
    }

    fn is_accepted(&self, server: &str) -> bool {
        registry::is_accepted(self, &self.config(), server)
    }

    fn record(&self, kind: AuditKind, subject: &str, detail: &str) {
        self.did_here(kind, subject, detail);
    }

    fn trust_imported<'a>(&'a self, server: &'a str) -> Doing<'a, ()> {
        Box::pin(approved::trust_imported(self, server))
    }

    fn apply(&self, change: Change, hand: Hand) -> Doing<'_, Result<(), Refusal>> {
        Box::pin(async move { Ok(apply::ask(self, change, hand).await?) })
    }

    fn change(&self, change: Change) -> Doing<'_, Result<(), Refusal>> {
        Box::pin(change::change(self, change))
    }
}
