//! Executes tool calls of models and people: accepts inexact tool names, corrects arguments and validates them before
//! anything starts, and cuts long results to the client's limit.

use std::sync::Arc;

use satchel_mcp::RawObject;

use super::{
    CallFailure, Hub, Running, Script, Wanted, call,
    route::{self, Route},
};
use crate::{
    bridge::Caller,
    catalog::arguments::Misfit,
    hub::{call::Finish, links::Goes},
    model::ToolPath,
    stats::event::Visit,
};

/// Calls a tool. Resolves a nearly correct path, checks the arguments against the schema, and cuts the result if it
/// exceeds the caller's limit. `params` are the caller's parameters without the name.
///
/// # Errors
/// A [`CallFailure`] if nothing was sent: it lists every fault, the signature and a corrected skeleton.
pub(super) async fn execute_tool(
    hub: &Hub,
    caller: &Caller,
    path: &str,
    params: RawObject,
) -> Result<Running, CallFailure> {
    execute(hub, caller, path, params, true).await
}

/// The same for a person who calls under the rules for clients, which may ask for permission.
///
/// # Errors
/// As for [`Hub::execute_tool`].
pub(super) async fn execute_whole(
    hub: &Hub,
    caller: &Caller,
    path: &str,
    params: RawObject,
) -> Result<Running, CallFailure> {
    execute(hub, caller, path, params, false).await
}

/// Runs a script, whose calls pass the same checks. This handle observes the run.
///
/// # Errors
/// A [`CallFailure`] if it was not started.
pub(super) fn run_script(
    hub: &Hub,
    caller: &Caller,
    visit: &Arc<Visit>,
    wanted: Wanted,
) -> Result<Script, CallFailure> {
    let hub = hub.seen_by(&caller.client);
    Script::begin(&hub, caller, visit, wanted).inspect_err(|failure| hub.tell_failure(failure))
}

pub(super) async fn execute(
    hub: &Hub,
    caller: &Caller,
    path: &str,
    mut params: RawObject,
    capped: bool,
) -> Result<Running, CallFailure> {
    let hub = hub.seen_by(&caller.client);
    let mut corrected = Vec::new();
    let routed = match meant(&hub, path, &mut corrected) {
        Some(meant) => route::route_path(&hub, Some(path), meant).await,
        None => route::route_tool(&hub, path).await,
    };
    let route = routed.inspect_err(|failure| hub.tell_failure(failure))?;
    let arguments = params.get("arguments").map_or_else(|| RawObject::new().to_raw(), ToOwned::to_owned);
    match route.tool().map(|tool| tool.check(&arguments)) {
        Some(Ok(checked)) => {
            corrected.extend(checked.notes);
            params.set("arguments", checked.arguments);
        }
        Some(Err(misfit)) => {
            // The history shows what the model was told, but without values: arguments must not be stored through an
            // error message.
            let message =
                format!("the arguments do not fit {}: {}", route.path, misfit.plain_faults.join("; "));
            let told = CallFailure::not_sent(Some(&route.path.server), None, message, String::new());
            hub.tell_failure(&told);
            return Err(fault(&route, &misfit));
        }
        None => params.set("arguments", arguments),
    }
    let running = call::call_route(&hub, caller, route, params).await?;
    Ok(running.finished(Finish { corrected, capped, goes: Goes::ByPath }))
}

/// The tool that a path names, or the only one that an incorrect path can mean; `None` if it is ambiguous.
fn meant(hub: &Hub, path: &str, corrected: &mut Vec<String>) -> Option<ToolPath> {
    let catalog = hub.catalog();
    let read = route::read_path(hub, path).ok();
    // Do not replace a held or disabled tool by one with a similar name.
    match read {
        Some(read) if catalog.tool(&read).is_some() => return Some(read),
        Some(read) if hub.refuse_hidden_tool(&read).is_err() => return None,
        Some(_) | None => {}
    }
    let meant = catalog.resolve(path)?;
    corrected.push(format!("tool_path: {path} was read as {meant}"));
    Some(meant)
}

/// Lists every fault of the arguments, the signature and a corrected skeleton.
fn fault(route: &Route, misfit: &Misfit) -> CallFailure {
    let signature = route.tool().map(|tool| tool.signature().to_owned()).unwrap_or_default();
    let message = format!("the arguments do not fit {}: {}", route.path, misfit.faults.join("; "));
    let action = format!("Signature: {signature}. Corrected skeleton: {}", misfit.skeleton);
    CallFailure::not_sent(Some(&route.path.server), None, message, action)
}
