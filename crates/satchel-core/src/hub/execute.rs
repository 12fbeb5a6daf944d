//! Calls by models and people: forgiving in how a tool is named and its arguments are written, strict before anything
//! is started, and with a result that its caller can take.

use satchel_mcp::{Raw, RawObject};

use super::{CallFailure, Failed, Hub, Running};
use crate::{bridge::Caller, catalog::arguments::Misfit, model::ToolPath};

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

    async fn execute(
        &self,
        caller: &Caller,
        path: &str,
        mut params: RawObject,
        capped: bool,
    ) -> Result<Running, CallFailure> {
        let hub = self.seen_by(&caller.client);
        let mut corrected = Vec::new();
        let path = hub.meant(path, &mut corrected);
        let (_, parsed) = hub.route_tool(&path).await.inspect_err(|failure| hub.tell_failure(failure))?;
        let arguments = params.get("arguments").map_or_else(|| RawObject::new().to_raw(), ToOwned::to_owned);
        match hub.catalog().tool(&parsed).map(|tool| tool.check(&arguments)) {
            Some(Ok(checked)) => {
                corrected.extend(checked.notes);
                params.set("arguments", checked.arguments);
            }
            Some(Err(misfit)) => {
                // A person reads there what the model was told, without values: the history keeps no arguments that
                // nobody wants kept, not even in a complaint.
                let message =
                    format!("the arguments do not fit {parsed}: {}", misfit.plain_faults.join("; "));
                let told = CallFailure::not_sent(Some(&parsed.server), None, message, String::new());
                hub.tell_failure(&told);
                return Err(hub.misfit(&parsed, &misfit));
            }
            None => params.set("arguments", arguments),
        }
        let running = hub.call_tool_for(caller, &path, params).await?;
        Ok(running.finished(Finish { corrected, capped }))
    }

    /// The path as it was given, unless it names no tool and can mean one only.
    fn meant(&self, path: &str, corrected: &mut Vec<String>) -> String {
        let catalog = self.catalog();
        let read = self.read_path(path);
        let known = read.as_ref().is_ok_and(|path| catalog.tool(path).is_some());
        // What is held back or off is not taken for another tool of nearly the same name.
        let held = read.is_ok_and(|path| self.refuse_hidden_tool(&path).is_err());
        match catalog.resolve(path).filter(|_| !known && !held) {
            Some(meant) => {
                corrected.push(format!("tool_path: {path} was read as {meant}"));
                meant.to_string()
            }
            None => path.to_owned(),
        }
    }

    fn misfit(&self, path: &ToolPath, misfit: &Misfit) -> CallFailure {
        let signature = self.catalog().tool(path).map(|tool| tool.signature().to_owned()).unwrap_or_default();
        let message = format!("the arguments do not fit {path}: {}", misfit.faults.join("; "));
        let action = format!("Signature: {signature}. Corrected skeleton: {}", misfit.skeleton);
        CallFailure::not_sent(Some(&path.server), None, message, action)
    }
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
                Err(Failed::Upstream(hub.capped_error(client, error)))
            }
            Err(failed) => Err(failed),
        }
    }

    fn with_notes(&self, hub: &Hub, client: &str, result: Box<Raw>) -> Box<Raw> {
        let result = if self.capped { hub.capped(client, result) } else { result };
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
