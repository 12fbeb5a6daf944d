//! Types for the export of calls: who called what, under which rule, with which outcome. Times are milliseconds since
//! the Unix epoch.

use serde::{Deserialize, Serialize};

use super::ledger::csv_cell;

/// What of it is wanted, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallLogQuery {
    /// Not earlier.
    #[serde(default)]
    pub from_ms: Option<u64>,
    /// Only calls after this one, for the next page.
    #[serde(default)]
    pub after: Option<i64>,
    /// At most so many; 1,000 where it is 0.
    #[serde(default)]
    pub limit: u32,
}

/// A page of the history as an audit wants it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallLogPage {
    /// The calls.
    pub lines: Vec<CallLogLine>,
    /// Are there more?
    pub more: bool,
}

/// One call, refused ones included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallLogLine {
    /// Its number; later calls have greater ones.
    pub id: i64,
    /// When it began.
    pub time_ms: u64,
    /// Whose token it came with.
    pub client: String,
    /// What the program called itself, with its version.
    pub program: String,
    /// Its session.
    pub session: i64,
    /// What kind of thing was asked.
    pub kind: String,
    /// The server, where it is known.
    pub server: String,
    /// The tool or the resource; for the hub's own ones their name.
    pub tool: String,
    /// The rule that decided, and a person's word where one was asked.
    pub rule: String,
    /// Was a person asked?
    pub asked: bool,
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: String,
    /// The class of the failure, or the error's number.
    pub code: Option<String>,
    /// The failure, in words.
    pub message: Option<String>,
    /// How long it took in all.
    pub took_ms: f64,
    /// The arguments, where they are kept, with secrets taken out.
    pub arguments: Option<String>,
    /// The result, likewise.
    pub result: Option<String>,
}

/// The first line of a table for other programs.
pub const CSV_HEAD: &str = "id,time_ms,client,program,session,kind,server,tool,rule,asked,outcome,code,message,took_ms,\
                            arguments,result";

impl CallLogLine {
    /// A line of a table for other programs, under [`CSV_HEAD`].
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
