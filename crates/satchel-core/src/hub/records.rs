//! Tells the recorder who calls, where the call goes, how it ends, and who changed what. Secret values are never
//! recorded, and the audit log holds no arguments of calls.

use std::sync::Arc;

use satchel_mcp::RawObject;

use super::{CallFailure, Hub};
use crate::{
    catalog::lists::List,
    model::{Code, Notice, ServerName, audit::AuditKind, ledger::CallKind},
    recorder::{self, Health, Observer, Program},
    stats::event::Visit,
};

impl Hub {
    /// Who asks. A session begins where `with_session` says so: in the revisions that have some, with `initialize`.
    pub fn visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: &str,
        only: Option<&ServerName>,
        with_session: bool,
    ) -> Arc<Visit> {
        let session = with_session.then(|| self.recorder().session());
        Arc::new(Visit { session, ..recorder::visit(client, program, era, only) })
    }

    /// A client was given this list of tools.
    pub fn listed(&self, visit: &Arc<Visit>, list: &List) {
        let visit = &self.in_profile(visit);
        self.recorder().listed(visit, || list.definitions(), || self.offers_to(visit));
    }

    /// Observes a call of a client, which wrote `request`: an object with a name and arguments.
    pub fn observe(&self, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Observer {
        let visit = &self.in_profile(visit);
        self.recorder().observe(visit, kind, tool, request, || self.offers_to(visit))
    }

    /// Who asks, with the profile it looks through now: another one may count in the middle of a session.
    fn in_profile(&self, visit: &Arc<Visit>) -> Arc<Visit> {
        let lens = self.lens();
        let profile = lens.names().next().unwrap_or_default();
        if profile == visit.profile {
            return visit.clone();
        }
        Arc::new(Visit { profile: profile.to_owned(), ..Visit::clone(visit) })
    }

    /// A handle whose calls this observer sees.
    #[must_use]
    pub fn observed(&self, observer: &Observer) -> Self {
        Self { observer: observer.clone(), ..self.clone() }
    }

    /// Where the configuration wants traces to go.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.config().otlp_endpoint().map(ToOwned::to_owned)
    }

    /// The parameters as the server gets them: in a trace that is collected, with the call's own span.
    pub(super) fn in_trace(&self, mut params: RawObject) -> RawObject {
        let Some(traceparent) = self.observer.traceparent() else { return params };
        let meta = params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        // Strings always serialize.
        let _ = meta.put("traceparent", &traceparent);
        params.set("_meta", meta.to_raw());
        params
    }

    /// A call was refused before it was one.
    pub fn tell_failure(&self, failure: &CallFailure) {
        self.did_deny(failure);
        let CallFailure { outcome, server, code, message, .. } = failure;
        self.observer.failed(*outcome, *code, server.as_deref(), message);
    }

    /// A call was refused because of what a person or a rule wants.
    fn did_deny(&self, failure: &CallFailure) {
        if matches!(failure.code, Some(Code::Denied | Code::HeldBack)) {
            let server = failure.server.as_deref().unwrap_or_default();
            let client = self.viewer.as_deref().filter(|_| !self.by_hand);
            let who = client.map_or_else(|| self.actor(), ToOwned::to_owned);
            self.did(AuditKind::Denied, &who, server, self.with_cause(&failure.message));
        }
    }
}

/// Shows people how the recorder is doing, for as long as the hub lives.
pub(super) async fn follow_health(hub: Hub) {
    let mut health = hub.recorder().health();
    let mut shown = Health::default();
    loop {
        let now = health.borrow_and_update().clone();
        if let Some(aside) = now.damaged.as_ref().filter(|aside| shown.damaged.as_ref() != Some(aside)) {
            let message = format!("the history of calls was damaged and set aside as {}", aside.display());
            hub.notice(Notice::new(Code::SetAside, message));
        }
        match &now.unusable {
            Some(why) if shown.unusable.as_ref() != Some(why) => {
                hub.notice(Notice::new(Code::LedgerUnusable, format!("calls are not recorded: {why}")));
            }
            None if shown.unusable.is_some() => hub.clear_notice(Code::LedgerUnusable),
            Some(_) | None => {}
        }
        hub.inner.faces.changed();
        shown = now;
        tokio::select! {
            changed = health.changed() => if changed.is_err() { return },
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}
