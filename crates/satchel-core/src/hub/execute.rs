//! Executes tool calls of models and people: accepts inexact tool names, corrects arguments and validates them before
//! anything starts, and cuts long results to the client's limit.

use std::sync::Arc;

use satchel_mcp::{Raw, RawObject};

use super::{CallFailure, Failed, Hub, Running, Script, Wanted, route::Route};
use crate::{bridge::Caller, catalog::arguments::Misfit, model::ToolPath, stats::event::Visit};

/// The key in a result's `_meta` under which corrections are noted.
const CORRECTED: &str = "dev.satchel/corrected";

/// What is done with a result.
#[derive(Debug)]
pub(super) struct Finish {
    /// What was corrected in the call, a sentence each.
    corrected: Vec<String>,
    /// Whether a long one is cut.
    capped: bool,
}

impl Hub {
    /// Calls a tool by a path that may be nearly right, with arguments that are checked against its schema; its result
    /// is cut where it is too long for the caller. `params` are those of the caller's request without the name.
    ///
    /// # Errors
    /// A [`CallFailure`] where nothing was sent: it names every fault, the signature and a corrected skeleton.
    pub async fn execute_tool(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        self.execute(caller, path, params, true).await
    }

    /// The same for a person, who gets the result whole.
    ///
    /// # Errors
    /// As [`Self::execute_tool`].
    pub(super) async fn execute_for_face(
        &self,
        path: &str,
        arguments: Box<Raw>,
    ) -> Result<Running, CallFailure> {
        let mut params = RawObject::new();
        params.set("arguments", arguments);
        let hand = Self { by_hand: true, ..self.clone() };
        hand.execute(&Caller::alone("satchel"), path, params, false).await
    }

    /// The same for a person who calls as a client does: a rule may have them asked.
    ///
    /// # Errors
    /// As [`Self::execute_tool`].
    pub(super) async fn execute_whole(
        &self,
        caller: &Caller,
        path: &str,
        params: RawObject,
    ) -> Result<Running, CallFailure> {
        self.execute(caller, path, params, false).await
    }

    /// Runs a script, whose calls go the same way. This handle observes the run.
    ///
    /// # Errors
    /// A [`CallFailure`] where it did not begin.
    pub fn run_script(
        &self,
        caller: &Caller,
        visit: &Arc<Visit>,
        wanted: Wanted,
    ) -> Result<Script, CallFailure> {
        let hub = self.seen_by(&caller.client);
        Script::begin(&hub, caller, visit, wanted).inspect_err(|failure| hub.tell_failure(failure))
    }

    async fn execute(
        &self,
        caller: &Caller,
        path: &str,
        mut params: RawObject,
        capped: bool,
    ) -> Result<Running, CallFailure> {
        let hub = self.seen_by(&caller.client);
        let mut corrected = Vec::new();
        let routed = match hub.meant(path, &mut corrected) {
            Some(meant) => hub.route_path(path, meant).await,
            None => hub.route_tool(path).await,
        };
        let route = routed.inspect_err(|failure| hub.tell_failure(failure))?;
        let arguments = params.get("arguments").map_or_else(|| RawObject::new().to_raw(), ToOwned::to_owned);
        match route.tool().map(|tool| tool.check(&arguments)) {
            Some(Ok(checked)) => {
                corrected.extend(checked.notes);
                params.set("arguments", checked.arguments);
            }
            Some(Err(misfit)) => {
                // A person reads there what the model was told, without values: the history keeps no arguments that
                // nobody wants kept, not even in a complaint.
                let message =
                    format!("the arguments do not fit {}: {}", route.path, misfit.plain_faults.join("; "));
                let told = CallFailure::not_sent(Some(&route.path.server), None, message, String::new());
                hub.tell_failure(&told);
                return Err(fault(&route, &misfit));
            }
            None => params.set("arguments", arguments),
        }
        let running = hub.call_route(caller, route, params).await?;
        Ok(running.finished(Finish { corrected, capped }))
    }

    /// The tool that a path means which names none and can mean one only; `None` where it names one, or no one knows.
    fn meant(&self, path: &str, corrected: &mut Vec<String>) -> Option<ToolPath> {
        let catalog = self.catalog();
        let read = self.read_path(path);
        let known = read.as_ref().is_ok_and(|path| catalog.tool(path).is_some());
        // What is held back or off is not taken for another tool of nearly the same name.
        let held = read.is_ok_and(|path| self.refuse_hidden_tool(&path).is_err());
        let meant = catalog.resolve(path).filter(|_| !known && !held)?;
        corrected.push(format!("tool_path: {path} was read as {meant}"));
        Some(meant)
    }
}

/// Every fault of the arguments, the signature and a corrected skeleton.
fn fault(route: &Route, misfit: &Misfit) -> CallFailure {
    let signature = route.tool().map(|tool| tool.signature().to_owned()).unwrap_or_default();
    let message = format!("the arguments do not fit {}: {}", route.path, misfit.faults.join("; "));
    let action = format!("Signature: {signature}. Corrected skeleton: {}", misfit.skeleton);
    CallFailure::not_sent(Some(&route.path.server), None, message, action)
}

impl Finish {
    /// Corrections are noted in the result's `_meta`; where there are none and it is short, it stays as it came.
    pub(super) fn applied(
        &self,
        hub: &Hub,
        client: &str,
        end: Result<Box<Raw>, Failed>,
    ) -> Result<Box<Raw>, Failed> {
        match end {
            Ok(result) => Ok(self.with_notes(hub, client, result)),
            Err(Failed::Upstream(error)) if self.capped => {
                let cap = hub.result_cap(client);
                Err(Failed::Upstream(hub.calls().results.capped_error(client, cap, error)))
            }
            Err(failed) => Err(failed),
        }
    }

    fn with_notes(&self, hub: &Hub, client: &str, result: Box<Raw>) -> Box<Raw> {
        let result = match self.capped {
            true => hub.calls().results.capped(client, hub.result_cap(client), result),
            false => result,
        };
        if self.corrected.is_empty() {
            return result;
        }
        let Ok(mut fields) = RawObject::parse(&result) else { return result };
        let mut meta = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
        // Texts always serialize.
        let _ = meta.put(CORRECTED, &self.corrected);
        fields.set("_meta", meta.to_raw());
        fields.to_raw()
    }
}
