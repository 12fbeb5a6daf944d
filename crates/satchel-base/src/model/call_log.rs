//! Types for the export of calls: who called what, under which rule, with which outcome. Times are milliseconds since
//! the Unix epoch.

use serde::{Deserialize, Serialize};

use super::ledger::csv_cell;

/// Selects calls, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallLogQuery {
    /// Start of the period, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub from_ms: Option<u64>,
    /// Only calls after this id, for the next page.
    #[serde(default)]
    pub after: Option<i64>,
    /// Maximum number; 0 means 1,000.
    #[serde(default)]
    pub limit: u32,
}

/// A page of the history for export.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallLogPage {
    /// The calls.
    pub lines: Vec<CallLogLine>,
    /// Are there more?
    pub more: bool,
}

/// One call, including refused ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallLogLine {
    /// Its id; increases with every call.
    pub id: i64,
    /// When it began, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The client that its token belongs to.
    pub client: String,
    /// The client's self-reported program name and version.
    pub program: String,
    /// Its session.
    pub session: i64,
    /// The kind of request; see [`super::ledger::CallKind`].
    pub kind: String,
    /// The server; empty if unknown.
    pub server: String,
    /// The tool or resource, or the name of a meta-tool.
    pub tool: String,
    /// The rule that decided, and the person's decision if one was asked.
    pub rule: String,
    /// Was a person asked?
    pub asked: bool,
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: String,
    /// The failure's class, or the JSON-RPC error code.
    pub code: Option<String>,
    /// The failure's message.
    pub message: Option<String>,
    /// Total duration in milliseconds.
    pub took_ms: f64,
    /// The arguments with secrets redacted, if they are stored.
    pub arguments: Option<String>,
    /// The result, under the same conditions.
    pub result: Option<String>,
}

/// The header line of a CSV export.
pub const CSV_HEAD: &str = "id,time_ms,client,program,session,kind,server,tool,rule,asked,outcome,code,message,took_ms,\
                            arguments,result";

impl CallLogLine {
    /// One line of a CSV export, with the columns of [`CSV_HEAD`].
    pub fn to_csv(&self) -> String {
        let optional = |text: &Option<String>| csv_cell(text.as_deref().unwrap_or_default());
        let took = format!("{:.3}", self.took_ms);
        [
            self.id.to_string(),
            self.time_ms.to_string(),
            csv_cell(&self.client),
            csv_cell(&self.program),
            self.session.to_string(),
            csv_cell(&self.kind),
            csv_cell(&self.server),
            csv_cell(&self.tool),
            csv_cell(&self.rule),
            self.asked.to_string(),
            csv_cell(&self.outcome),
            optional(&self.code),
            optional(&self.message),
            took,
            optional(&self.arguments),
            optional(&self.result),
        ]
        .join(",")
    }
}
