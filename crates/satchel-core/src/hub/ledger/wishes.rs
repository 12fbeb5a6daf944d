//! What faces ask of the ledger.

use satchel_mcp::Raw;
use serde_json::{Value, json};

use super::{Program, Tally};
use crate::{
    clock::now_ms,
    hub::{Hub, fulfil::read},
    model::{
        audit::{AuditAsk, AuditPage},
        control::Refusal,
        ledger::{ActivityAsk, ActivityPage, CallDetail, CallKind, LastDay, LedgerView, Report, ReportAsk},
        name::in_path,
    },
    stats::{activity, audit, event::Visit, report},
};
use std::sync::{Arc, PoisonError};

impl Hub {
    /// What was called and saved. Waits for what came just before to be counted.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub async fn report(&self, ask: ReportAsk) -> Result<Report, Refusal> {
        self.flush().await;
        self.read_ledger(move |path| report::report(&path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub async fn activity(&self, ask: ActivityAsk) -> Result<ActivityPage, Refusal> {
        self.read_ledger(move |path| activity::page(&path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// How much each server was used in the last day.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub async fn last_day(&self) -> Result<LastDay, Refusal> {
        self.read_ledger(|path| activity::last_day(&path, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history as an audit wants it.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read.
    pub async fn audit(&self, ask: AuditAsk) -> Result<AuditPage, Refusal> {
        self.flush().await;
        self.read_ledger(move |path| audit::page(&path, &ask)).await.map_err(unreadable)
    }

    /// Everything known of one call.
    ///
    /// # Errors
    /// A [`Refusal`] where it is not kept, or the ledger cannot be read.
    pub async fn call_detail(&self, id: i64) -> Result<CallDetail, Refusal> {
        let found = self.read_ledger(move |path| activity::call(&path, id)).await.map_err(unreadable)?;
        found.ok_or_else(|| Refusal::new("unknown_call", format!("call {id} is not in the history"), ""))
    }

    /// Calls a tool again that was called before, with the arguments that were kept or with others. It goes the way of
    /// every call, and is recorded as one of a person.
    pub(in crate::hub) async fn run_again(
        &self,
        id: i64,
        arguments: Option<Value>,
    ) -> Result<Value, Refusal> {
        let call = self.call_detail(id).await?;
        if call.line.kind != CallKind::Call.as_str() || call.line.server.is_empty() {
            let message = format!("call {id} was not one of a server's tool");
            return Err(Refusal::new("not_repeatable", message, ""));
        }
        let kept = || {
            let text = call.arguments.as_deref()?;
            // What was hidden or cut is not what was called.
            Raw::from_string(text.to_owned()).ok().filter(|_| !text.contains("***"))
        };
        // As a text they keep every digit.
        let as_text = arguments.as_ref().is_some_and(Value::is_string);
        let given = arguments.map(|arguments| match arguments {
            Value::String(text) => Raw::from_string(text),
            arguments => Raw::from_string(arguments.to_string()),
        });
        let given =
            given.transpose().map_err(|error| Refusal::new("bad_arguments", error.to_string(), ""))?;
        let Some(arguments) = given.or_else(kept) else {
            let message = "the arguments of this call were not kept, or not all of them";
            return Err(Refusal::new("arguments_not_kept", message, "Give the arguments."));
        };
        let path = format!("{}:{}", in_path(&call.line.server), call.line.tool);
        let result = self.call_for_face(&path, arguments).await?;
        if as_text { Ok(Value::from(result.get())) } else { read(&result) }
    }

    pub(in crate::hub) async fn forget(&self, sums: bool) -> Result<Value, Refusal> {
        let deleted = self.delete_history(sums).await.map_err(unreadable);
        // Each is deleted where the other cannot be.
        self.forget_habits().await?;
        deleted?;
        Ok(json!({}))
    }

    /// Accompanies the call of a person.
    pub(in crate::hub) fn face_tally(&self, path: &str, arguments: &Raw) -> Option<Tally> {
        let visit = self.stateless_visit("satchel", Program::default(), "", None);
        let visit = Arc::new(Visit { face: true, ..visit });
        let read = self.read_path(path).ok();
        let name = read.as_ref().map_or(path, |read| read.tool.as_str());
        let request = format!(r#"{{"name":{},"arguments":{}}}"#, Value::from(name), arguments.get());
        self.tally(&visit, CallKind::Call, path, &request)
    }

    pub(in crate::hub) fn ledger_view(&self) -> LedgerView {
        let view = self.inner.ledger.view.lock().unwrap_or_else(PoisonError::into_inner).clone();
        LedgerView { records: self.is_recording(), learns: self.learns(), ..view }
    }
}

fn unreadable(error: String) -> Refusal {
    Refusal::new("ledger", error, "")
}
