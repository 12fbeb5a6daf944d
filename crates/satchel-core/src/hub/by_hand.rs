//! Calls that a person makes: on the command line, in the window, and again from the history.

use std::sync::Arc;

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

use super::{Hub, Script, Wanted, call::Running, execute, failure::CallFailure, route, script};
use crate::{
    bridge::Caller,
    model::{
        Code, Origin, control::Refusal, ledger::CallKind, name::in_path, request::ToolResult, trying::WINDOW,
    },
    recorder::{self, Observer, Program},
    stats::event::Visit,
};

/// Repeats a call with its stored arguments or new ones. It passes the same checks as any call, and is recorded as
/// made by a person.
pub(super) async fn run_again(hub: &Hub, id: i64, arguments: Option<Value>) -> Result<ToolResult, Refusal> {
    let call = hub.recorder().call_detail(id).await?;
    let is_script = call.line.kind == CallKind::Script.as_str();
    if !is_script && (call.line.kind != CallKind::Call.as_str() || call.line.server.is_empty()) {
        let message = format!("call {id} was neither a tool call nor a script");
        return Err(Refusal::new(Code::NotRepeatable, message, ""));
    }
    let kept = || {
        let text = call.arguments.as_deref()?;
        // Redacted or cut arguments differ from what was called.
        Raw::from_string(text.to_owned()).ok().filter(|_| !text.contains("***"))
    };
    // As text, they preserve every digit.
    let as_text = arguments.as_ref().is_some_and(Value::is_string);
    let given = arguments.map(|arguments| match arguments {
        Value::String(text) => Raw::from_string(text),
        arguments => Raw::from_string(arguments.to_string()),
    });
    let given = given.transpose().map_err(|error| Refusal::new(Code::BadArguments, error.to_string(), ""))?;
    let Some(arguments) = given.or_else(kept) else {
        let (message, action) = match is_script {
            true => (
                "the text of this script was not stored in full: it is stored only if calls of every \
                 server it used are stored",
                "Give it: {\"script\": \"…\", \"input\": …}.",
            ),
            false => ("the arguments of this call were not stored in full", "Give the arguments."),
        };
        return Err(Refusal::new(Code::ArgumentsNotKept, message, action));
    };
    if is_script {
        let result = script_for_face(hub, &arguments).await?;
        return tool_result(&result, as_text);
    }
    let path = format!("{}:{}", in_path(&call.line.server), call.line.tool);
    let result = call_for_face(hub, &path, arguments).await?;
    tool_result(&result, as_text)
}

async fn script_for_face(hub: &Hub, arguments: &Raw) -> Result<Box<Raw>, Refusal> {
    let bad = |why: String| Refusal::new(Code::BadArguments, why, "");
    let fields = RawObject::parse(arguments).map_err(|error| bad(error.to_string()))?;
    let mut script = begin_script(hub, Wanted::of(&fields).map_err(bad)?, arguments)?;
    Ok(script.finish_hearing(|_, _| {}).await?)
}

/// Runs a script for a person, under the rules for clients. `arguments` are the tool's arguments as recorded.
///
/// # Errors
/// As for [`Hub::run_script`].
pub(super) fn begin_script(hub: &Hub, wanted: Wanted, arguments: &Raw) -> Result<Script, CallFailure> {
    let (visit, observer) = observe_face_script(hub, arguments);
    hub.observed(&observer).run_script(&Caller::alone(face(hub)), &visit, wanted)
}

/// The client name for calls of a person: the window or the command line.
pub(super) fn face(hub: &Hub) -> &'static str {
    if hub.context.origin() == Some(&Origin::Window) { WINDOW } else { "satchel" }
}

/// Observes a person's script, so that its calls are recorded.
fn observe_face_script(hub: &Hub, arguments: &Raw) -> (Arc<Visit>, Observer) {
    let visit = Visit { face: true, ..recorder::visit(face(hub), Program::default(), "", None) };
    let (visit, name) = (Arc::new(visit), script::TOOL);
    let request = format!(r#"{{"name":"{name}","arguments":{}}}"#, arguments.get());
    let observer = hub.observe(&visit, CallKind::Script, name, &request);
    (visit, observer)
}

/// Observes a person's call under this client name.
pub(super) fn observe_face(hub: &Hub, name: &str, path: &str, arguments: &Raw) -> Observer {
    let visit = Visit { face: true, ..recorder::visit(name, Program::default(), "", None) };
    let named = route::read_path(hub, path).ok();
    let name = named.as_ref().map_or(path, |path| path.tool.as_str());
    let request = format!(r#"{{"name":{},"arguments":{}}}"#, Value::from(name), arguments.get());
    hub.observe(&Arc::new(visit), CallKind::Call, path, &request)
}

/// Calls a tool with arguments as an object or as JSON text. Text preserves every digit; the result is then text too.
pub(super) async fn call_as_given(hub: &Hub, path: &str, arguments: &Value) -> Result<ToolResult, Refusal> {
    let bad = |error: String| Refusal::new(Code::BadArguments, error, "");
    let written = arguments.as_str().map_or_else(|| arguments.to_string(), ToOwned::to_owned);
    let raw = Raw::from_string(written).map_err(|error| bad(error.to_string()))?;
    let result = call_for_face(hub, path, raw).await?;
    tool_result(&result, arguments.is_string())
}

async fn call_for_face(hub: &Hub, path: &str, raw: Box<Raw>) -> Result<Box<Raw>, Refusal> {
    if !raw.get().starts_with('{') {
        return Err(Refusal::new(Code::BadArguments, "the arguments must be a JSON object", ""));
    }
    let observed = hub.observed(&observe_face(hub, "satchel", path, &raw));
    let running = execute_for_face(&observed, path, raw).await?;
    Ok(running.finish().await?)
}

/// The same for a person, who receives the result uncut.
///
/// # Errors
/// As for [`Hub::execute_tool`].
pub(super) async fn execute_for_face(
    hub: &Hub,
    path: &str,
    arguments: Box<Raw>,
) -> Result<Running, CallFailure> {
    let mut params = RawObject::new();
    params.set("arguments", arguments);
    let hand = hub.with(hub.context.by_hand());
    execute::execute(&hand, &Caller::alone("satchel"), path, params, false).await
}

/// A result as JSON text, or parsed with the caller's number precision.
fn tool_result(result: &Raw, as_text: bool) -> Result<ToolResult, Refusal> {
    if as_text {
        return Ok(ToolResult(Value::from(result.get())));
    }
    let read = serde_json::from_str(result.get());
    read.map(ToolResult)
        .map_err(|error| Refusal::new(Code::Unreadable, format!("cannot read the result: {error}"), ""))
}
