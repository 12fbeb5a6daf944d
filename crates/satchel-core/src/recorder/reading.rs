//! Answers faces' queries about the ledger: reports, pages of the history, the audit log.

use super::Recorder;
use crate::{
    clock::now_ms,
    model::{
        Code,
        audit::{AuditHead, AuditPage, AuditQuery, AuditVerdict},
        call_log::{CallLogPage, CallLogQuery},
        control::Refusal,
        ledger::{ActivityAsk, ActivityPage, CallDetail, LastDay, LedgerView, Report, ReportAsk, ServerDay},
    },
    stats::{activity, audit, call_log, report},
};

impl Recorder {
    /// The report of calls and savings. Waits until earlier calls are counted.
    ///
    /// # Errors
    /// A [`Refusal`] if the ledger cannot be read, as for all functions here.
    pub async fn report(&self, ask: ReportAsk) -> Result<Report, Refusal> {
        self.flush().await;
        self.read(move |path| report::report(path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn activity(&self, ask: ActivityAsk) -> Result<ActivityPage, Refusal> {
        self.read(move |path| activity::page(path, &ask, now_ms())).await.map_err(unreadable)
    }

    /// The use of each server in the last day.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn last_day(&self) -> Result<LastDay, Refusal> {
        self.read(|path| activity::last_day(path, now_ms())).await.map_err(unreadable)
    }

    /// One server's last 24 hours.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn server_day(&self, server: String) -> Result<ServerDay, Refusal> {
        self.read(move |path| activity::server_day(path, &server, now_ms())).await.map_err(unreadable)
    }

    /// A page of the history for export.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn call_log(&self, ask: CallLogQuery) -> Result<CallLogPage, Refusal> {
        self.flush().await;
        self.read(move |path| call_log::page(path, &ask)).await.map_err(unreadable)
    }

    /// All details of one call.
    ///
    /// # Errors
    /// As for [`Self::report`]; also if the call is not in the history.
    pub async fn call_detail(&self, id: i64) -> Result<CallDetail, Refusal> {
        let found = self.read(move |path| activity::call(path, id)).await.map_err(unreadable)?;
        found.ok_or_else(|| Refusal::new(Code::UnknownCall, format!("call {id} is not in the history"), ""))
    }

    /// A page of the audit log.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn audit_page(&self, ask: AuditQuery) -> Result<AuditPage, Refusal> {
        self.written().await;
        self.read(move |path| audit::page(path, &ask)).await.map_err(unreadable)
    }

    /// Verifies the complete audit log.
    ///
    /// # Errors
    /// As for [`Self::report`].
    pub async fn verify_audit(&self, noted: Option<AuditHead>) -> Result<AuditVerdict, Refusal> {
        self.written().await;
        self.read(move |path| audit::verify(path, noted.as_ref())).await.map_err(unreadable)
    }

    /// Deletes the history and what was learned; each is deleted even if the other fails.
    ///
    /// # Errors
    /// A [`Refusal`] that says what could not be deleted.
    pub async fn forget(&self, sums: bool) -> Result<(), Refusal> {
        let deleted = self.delete_history(sums).await.map_err(unreadable);
        self.forget_habits().await?;
        deleted
    }

    /// The ledger's part of the snapshot.
    pub fn view(&self) -> LedgerView {
        let view = self.0.view.lock().clone();
        let days = self.0.settings.config.borrow().history().days;
        LedgerView { records: self.is_recording(), learns: self.learns(), days, ..view }
    }
}

fn unreadable(error: String) -> Refusal {
    Refusal::new(Code::Ledger, error, "")
}
