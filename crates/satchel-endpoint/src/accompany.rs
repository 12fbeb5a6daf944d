//! What the ledger is told of a client's requests. Texts go to it as they are on the wire.

use std::sync::Arc;

use satchel_core::{
    bridge::Caller,
    hub::{Hub, Program, Tally},
    model::ledger::CallKind,
    stats::event::Visit,
};
use satchel_mcp::{Raw, RawObject};

use crate::{meta, surface::Surface};

/// Who asks. Sessions keep theirs; in the revision without sessions every request tells it anew.
pub(crate) fn visit(hub: &Hub, caller: &Caller, surface: &Surface, revision: &str) -> Arc<Visit> {
    let info = caller.info.as_deref().and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    let (name, version) = (info.text("name").unwrap_or_default(), info.text("version").unwrap_or_default());
    let program = Program { name: &name, version: &version };
    let only = match surface {
        Surface::Server(server) => Some(server),
        Surface::Router | Surface::Direct => None,
    };
    if caller.modern {
        Arc::new(hub.stateless_visit(&caller.client, program, revision, only))
    } else {
        hub.visit(&caller.client, program, revision, only)
    }
}

/// A list of tools goes to the client.
pub(crate) fn listed(hub: &Hub, visit: &Arc<Visit>, list: &Raw) {
    if let Some(tools) = RawObject::parse(list).unwrap_or_default().get("tools") {
        hub.listed(visit, tools.get());
    }
}

/// Accompanies the call of a server's tool under a name of its own.
pub(crate) fn direct(hub: &Hub, visit: &Arc<Visit>, params: &RawObject) -> Option<Tally> {
    let name = params.text("name").unwrap_or_default();
    with_trace(hub.tally(visit, CallKind::Call, &name, &request(params)), params)
}

fn request(params: &RawObject) -> String {
    let text = |key: &str, usual| params.get(key).map_or(usual, Raw::get);
    format!(r#"{{"name":{},"arguments":{}}}"#, text("name", "\"\""), text("arguments", "{}"))
}

fn with_trace(tally: Option<Tally>, params: &RawObject) -> Option<Tally> {
    let meta = params.get("_meta").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    if let (Some(tally), Some(traceparent)) = (&tally, meta.text("traceparent")) {
        tally.trace(&traceparent);
    }
    tally
}

/// Accompanies the call of one of our own tools; `None` for a tool there is not, or where nothing is recorded.
pub(crate) fn tally(
    hub: &Hub,
    visit: &Arc<Visit>,
    name: &str,
    params: &RawObject,
    arguments: &RawObject,
) -> Option<Tally> {
    let full = || arguments.text("detail").as_deref() == Some("full");
    let kind = match name {
        meta::DISCOVER if full() => CallKind::Describe,
        meta::DISCOVER => CallKind::Find,
        meta::EXECUTE => CallKind::Call,
        meta::LIST_RESOURCES => CallKind::Resources,
        meta::READ_RESOURCE => CallKind::Read,
        _ => return None,
    };
    let asked = match kind {
        CallKind::Call => meta::wanted_tool(arguments),
        CallKind::Read => arguments.text("uri"),
        CallKind::Find | CallKind::Describe | CallKind::Resources => None,
    };
    let tally = hub.tally(visit, kind, asked.as_deref().unwrap_or(name), &request(params));
    with_trace(tally, params)
}
