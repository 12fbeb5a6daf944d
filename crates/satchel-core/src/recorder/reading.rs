//! Answers faces' queries about the ledger: reports, pages of the history, the audit log.

use super::Recorder;
use crate::{
    clock::now_ms,
    model::{
        Code,
        audit::{AuditAsk, AuditPage},
        control::Refusal,
        ledger::{ActivityAsk, ActivityPage, CallDetail, LastDay, LedgerView, Report, ReportAsk},
        trail::{TrailAsk, TrailHead, TrailPage, TrailVerdict},
    },
    stats::{activity, audit, report, trail},
};
use std::sync::PoisonError;

impl Recorder {
    /// What was called and saved. Waits for what came just before to be counted.
    ///
    /// # Errors
    /// A [`Refusal`] where the ledger cannot be read, as for everything here.
    pub async fn report(&self, ask: ReportAsk) -> Result<Report, Refusal> {
        self.flush().await;
        self.read(move |path| report::report(path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn activity(&self, ask: ActivityAsk) -> Result<ActivityPage, Refusal> {
        self.read(move |path| activity::page(path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// How much each server was used in the last day.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn last_day(&self) -> Result<LastDay, Refusal> {
        self.read(|path| activity::last_day(path, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history as an audit wants it.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn audit(&self, ask: AuditAsk) -> Result<AuditPage, Refusal> {
        self.flush().await;
        self.read(move |path| audit::page(path, &ask)).await.map_err(unreadable)
    }

    /// Everything known of one call.
    ///
    /// # Errors
    /// As [`Self::report`]; and where the call is not kept.
    pub async fn call_detail(&self, id: i64) -> Result<CallDetail, Refusal> {
        let found = self.read(move |path| activity::call(path, id)).await.map_err(unreadable)?;
        found.ok_or_else(|| Refusal::new(Code::UnknownCall, format!("call {id} is not in the history"), ""))
    }

    /// A page of the audit log.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn trail_page(&self, ask: TrailAsk) -> Result<TrailPage, Refusal> {
        self.written().await;
        self.read(move |path| trail::page(path, &ask)).await.map_err(unreadable)
    }

    /// Checks the whole audit log.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub async fn verify_trail(&self, noted: Option<TrailHead>) -> Result<TrailVerdict, Refusal> {
        self.written().await;
        self.read(move |path| trail::verify(path, noted.as_ref())).await.map_err(unreadable)
    }

    /// Deletes the history and what was learned, each also where the other cannot be.
    ///
    /// # Errors
    /// A [`Refusal`] that says what could not be deleted.
    pub async fn forget(&self, sums: bool) -> Result<(), Refusal> {
        let deleted = self.delete_history(sums).await.map_err(unreadable);
        self.forget_habits().await?;
        deleted
    }

    /// What the snapshot shows of the ledger.
    pub fn view(&self) -> LedgerView {
        let view = self.0.view.lock().unwrap_or_else(PoisonError::into_inner).clone();
        LedgerView { records: self.is_recording(), learns: self.learns(), ..view }
    }
}

fn unreadable(error: String) -> Refusal {
    Refusal::new(Code::Ledger, error, "")
}
