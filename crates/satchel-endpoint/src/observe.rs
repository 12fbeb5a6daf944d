//! Reports a client's requests to the recorder. Texts are recorded as on the wire.

use std::sync::Arc;

use satchel_core::{
    bridge::Caller,
    catalog::lists::List,
    hub::Hub,
    model::ledger::CallKind,
    recorder::{Observer, Program},
    stats::event::Visit,
};
use satchel_mcp::{Raw, RawObject};

use crate::{meta, surface::Surface};

/// The client's visit. Sessions keep theirs; in the stateless revision every request creates one.
pub(crate) fn visit(hub: &Hub, caller: &Caller, surface: &Surface) -> Arc<Visit> {
    let info = caller.info.as_deref().and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    let (name, version) = (info.text("name").unwrap_or_default(), info.text("version").unwrap_or_default());
    let program = Program { name: &name, version: &version };
    let only = match surface {
        Surface::Server(server) => Some(server),
        Surface::Router | Surface::Script | Surface::Direct => None,
    };
    hub.visit(&caller.client, program, caller.era, only)
}

/// Records a tool list sent to the client.
pub(crate) fn listed(hub: &Hub, visit: &Arc<Visit>, list: &List) {
    hub.listed(visit, list);
}

/// Observes a call of a server's tool under its flat name.
pub(crate) fn direct(hub: &Hub, visit: &Arc<Visit>, params: &RawObject, meta: &RawObject) -> Observer {
    let name = params.text("name").unwrap_or_default();
    with_trace(hub.observe(visit, CallKind::Call, &name, &request(params)), meta)
}

fn request(params: &RawObject) -> String {
    let text = |key: &str, usual| params.get(key).map_or(usual, Raw::get);
    format!(r#"{{"name":{},"arguments":{}}}"#, text("name", "\"\""), text("arguments", "{}"))
}

fn with_trace(observer: Observer, meta: &RawObject) -> Observer {
    if let Some(traceparent) = meta.text("traceparent") {
        observer.trace(&traceparent);
    }
    observer
}

/// Observes a call of a meta-tool; silent for an unknown one.
pub(crate) fn own(
    hub: &Hub,
    visit: &Arc<Visit>,
    name: &str,
    (params, meta_of): (&RawObject, &RawObject),
    arguments: &RawObject,
) -> Observer {
    let full = || arguments.text("detail").as_deref() == Some("full");
    let kind = match name {
        meta::DISCOVER if full() => CallKind::Describe,
        meta::DISCOVER => CallKind::Find,
        meta::EXECUTE => CallKind::Call,
        meta::LIST_RESOURCES => CallKind::Resources,
        meta::READ_RESOURCE => CallKind::Read,
        meta::RUN_SCRIPT => CallKind::Script,
        _ => return Observer::default(),
    };
    let asked = match kind {
        CallKind::Call => meta::wanted_tool(arguments),
        CallKind::Read => arguments.text("uri"),
        CallKind::Find | CallKind::Describe | CallKind::Resources | CallKind::Script | CallKind::Inside => {
            None
        }
    };
    let observer = hub.observe(visit, kind, asked.as_deref().unwrap_or(name), &request(params));
    with_trace(observer, meta_of)
}
