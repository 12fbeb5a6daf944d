//! Tells the recorder who calls, where the call goes, how it ends, and who changed what. Secret values are never
//! recorded, and the audit log holds no arguments of calls.

use std::sync::Arc;

use satchel_mcp::era::Era;

use super::{CallFailure, Hub, audience};
use crate::{
    catalog::lists::List,
    model::{Code, Notice, ServerName, audit::AuditKind, ledger::CallKind},
    recorder::{self, CallTrouble, Health, Observer, Program},
    stats::event::Visit,
};

/// Identifies a client's visit, which starts a session in revisions that have them.
pub(super) fn visit(
    hub: &Hub,
    client: &str,
    program: Program<'_>,
    era: Era,
    only: Option<&ServerName>,
) -> Arc<Visit> {
    let session = (!era.is_stateless()).then(|| hub.recorder().session());
    Arc::new(Visit { session, ..recorder::visit(client, program, era.revision(), only) })
}

/// Records that a client received this list of tools.
pub(super) fn listed(hub: &Hub, visit: &Arc<Visit>, list: &List) {
    let visit = &in_profile(hub, visit);
    hub.recorder().listed(visit, || list.definitions(), || audience::offers_to(hub, visit));
}

/// Observes a client's call; `request` is an object with name and arguments, as the client wrote it.
pub(super) fn observe(hub: &Hub, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Observer {
    let visit = &in_profile(hub, visit);
    hub.recorder().observe(visit, kind, tool, request, || audience::offers_to(hub, visit))
}

/// The visit with its present profile, which can change within a session.
fn in_profile(hub: &Hub, visit: &Arc<Visit>) -> Arc<Visit> {
    let lens = hub.lens();
    let profile = lens.names().next().unwrap_or_default();
    if profile == visit.profile {
        return visit.clone();
    }
    Arc::new(Visit { profile: profile.to_owned(), ..Visit::clone(visit) })
}

/// Records a call that was refused before it was made.
pub(super) fn tell_failure(hub: &Hub, failure: &CallFailure) {
    did_deny(hub, failure);
    let CallFailure { outcome, server, code, message, cause, .. } = failure;
    let why = CallTrouble { code: *code, message, cause: cause.as_deref() };
    hub.context.observer.failed(*outcome, server.as_deref(), why);
}

/// Records a call that a person or a rule refused.
fn did_deny(hub: &Hub, failure: &CallFailure) {
    if matches!(failure.code, Some(Code::Denied | Code::HeldBack | Code::Deleted)) {
        let server = failure.server.as_deref().unwrap_or_default();
        let client = hub.context.ruled();
        let who = client.map_or_else(|| hub.context.actor(), ToOwned::to_owned);
        hub.did(AuditKind::Denied, &who, server, hub.context.with_cause(&failure.message));
    }
}

/// Shows the recorder's health in notices while the hub runs.
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
