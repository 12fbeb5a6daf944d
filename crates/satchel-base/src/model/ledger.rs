//! Types of the ledger: calls, costs, savings and how they are counted. Times are milliseconds since the Unix epoch;
//! days are calendar days in the hub's time zone, written `2026-11-21`.

use serde::{Deserialize, Serialize};

use super::{
    cause::{FailureCause, if_known},
    nature::{Consent, UsualRule},
};

/// How a report is grouped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By client.
    Client,
    /// By server.
    #[default]
    Server,
    /// By tool.
    Tool,
    /// By day.
    Day,
}

/// The parameters of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportAsk {
    /// How it is grouped.
    #[serde(default)]
    pub by: By,
    /// Only this many calendar days, including today.
    #[serde(default)]
    pub days: Option<u32>,
    /// Only this many hours, from the start of the first one. Without `days` and `hours`, everything.
    #[serde(default)]
    pub hours: Option<u32>,
    /// Only calls through this profile. Records from before profiles existed have none.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub profile: Option<String>,
}

/// Calls, tokens and savings in a period.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Report {
    /// How it is grouped.
    pub by: By,
    /// The first hour it covers, as `2026-11-21 13:00` in local time; empty for all time.
    pub from: String,
    /// The tokenizer used for all figures, with its version.
    pub tokenizer: String,
    /// The totals.
    pub totals: Totals,
    /// The savings of the sessions that began in this period.
    pub savings: Savings,
    /// What sharing servers saved in this period.
    #[serde(default)]
    pub sharing: Sharing,
    /// What scripts kept out of contexts in this period.
    #[serde(default)]
    pub scripts: Scripted,
    /// The groups, largest first; days in order.
    pub lines: Vec<ReportLine>,
    /// How the figures are computed, one sentence each.
    pub how: Vec<String>,
}

/// Number of calls and their cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Totals {
    /// Calls of servers' tools and resources, including refused ones.
    pub calls: u64,
    /// Calls that failed or were refused.
    pub failures: u64,
    /// Requests that the hub answered itself: searches, descriptions, lists of resources.
    pub searches: u64,
    /// Bytes of the calls, as sent by clients.
    pub request_bytes: u64,
    /// Bytes of the results.
    pub result_bytes: u64,
    /// Tokens of the calls, as sent by clients.
    pub request_tokens: u64,
    /// Tokens of the results.
    pub result_tokens: u64,
    /// Calls whose tokens are not counted (yet).
    pub uncounted: u64,
    /// Durations.
    pub took: Took,
}

/// Durations of calls. The four parts are sums over all calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Took {
    /// Median over the calls that were sent. Taken from a histogram with doubling buckets, so accurate to a factor of 1.5.
    pub median_ms: f64,
    /// 95th percentile, with the same accuracy.
    pub p95_ms: f64,
    /// Waiting for a person or for a free slot.
    pub wait_ms: f64,
    /// Starting servers.
    pub start_ms: f64,
    /// In the servers.
    pub upstream_ms: f64,
    /// In the hub itself.
    pub ours_ms: f64,
}

/// `net = without - with`, over sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Savings {
    /// Sessions with at least one tool list or call.
    pub sessions: u64,
    /// Sessions excluded because the hub stopped before their tokens were counted.
    pub left_out: u64,
    /// Tokens of the tool lists that clients would have received without the hub.
    pub without: i64,
    /// Tokens of the hub's own definitions and answers.
    pub with: i64,
    /// The parts of `with`.
    pub spent: Spent,
    /// `without - with`; negative if the hub costs more than it saves.
    pub net: i64,
    /// `net` in percent of `without`; `None` while there is too little data.
    pub percent: Option<f64>,
    /// The number of searches per session, at their average cost, up to which the hub saves tokens.
    pub break_even_searches: Option<f64>,
    /// The verdict, as text.
    pub verdict: String,
}

/// The token cost of the hub.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Spent {
    /// Definitions of the hub's own tools.
    pub definitions: i64,
    /// Answers to searches.
    pub find: i64,
    /// Answers with complete definitions.
    pub describe: i64,
    /// The overhead of calls through the hub over direct ones, and the hub's own answers to failed calls.
    pub wrapping: i64,
}

impl Spent {
    /// The sum of all four parts.
    pub fn sum(&self) -> i64 {
        self.definitions + self.find + self.describe + self.wrapping
    }
}

/// What scripts kept out of contexts. Reported apart from the savings in definitions, because without a script a model
/// might have made other calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Scripted {
    /// Number of scripts run.
    pub runs: u64,
    /// Calls made by scripts.
    pub calls: u64,
    /// Tokens of those calls and their results.
    pub inside: i64,
    /// Tokens of the scripts and of what they returned.
    pub spent: i64,
    /// `inside - spent`; negative if scripts cost more than they saved.
    pub net: i64,
    /// Scripts in the history that cost more than they kept out.
    #[serde(default)]
    pub losses: u64,
}

/// What sharing servers saved, as averages over the time in which servers ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Sharing {
    /// The measured time in which servers ran, in hours.
    pub measured_hours: f64,
    /// Processes avoided.
    pub processes: f64,
    /// Memory avoided, in bytes.
    pub memory_bytes: u64,
    /// The most processes avoided at one time.
    pub most_processes: u64,
    /// The most memory avoided at one time, in bytes.
    pub most_memory_bytes: u64,
    /// Processes that ran.
    pub used_processes: f64,
    /// Memory they used, in bytes.
    pub used_memory_bytes: u64,
}

/// One group of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportLine {
    /// The client, the server, the tool as `server:tool`, or the day. `Router` stands for the hub itself.
    pub name: String,
    /// Its calls.
    pub totals: Totals,
    /// Sessions, for clients and days.
    pub sessions: u64,
    /// Its share of the tokens that clients would have received.
    pub without: i64,
    /// Its share of the hub's token cost.
    pub with: i64,
    /// `without - with`.
    pub net: i64,
}

/// Selects the calls of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ActivityAsk {
    /// Only calls before this id, for the next page.
    #[serde(default)]
    pub before: Option<i64>,
    /// Maximum number; 0 means 100.
    #[serde(default)]
    pub limit: u32,
    /// Only calls that failed or were refused.
    #[serde(default)]
    pub problems: bool,
    /// Only calls that a person was asked about.
    #[serde(default)]
    pub asked: bool,
    /// Only of this client.
    #[serde(default)]
    pub client: Option<String>,
    /// Only of this server.
    #[serde(default)]
    pub server: Option<String>,
    /// Only of this tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// Only of this session.
    #[serde(default)]
    pub session: Option<i64>,
    /// Start of the period, inclusive, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub from_ms: Option<u64>,
    /// End of the period, exclusive, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub to_ms: Option<u64>,
    /// Only calls through this profile. Records from before profiles existed have none.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub profile: Option<String>,
}

/// A page of calls, newest first, with their sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ActivityPage {
    /// Calls, newest first.
    pub calls: Vec<CallLine>,
    /// Their sessions, the one with the newest call first.
    pub sessions: Vec<SessionLine>,
    /// Are there earlier ones?
    pub more: bool,
    /// Calls per minute in the last 60 minutes, oldest first.
    pub minutes: Vec<Minute>,
    /// Number of stored calls that failed or were refused.
    pub problems: u64,
    /// Number of stored calls that a person was asked about.
    pub asked: u64,
}

/// One minute of the live chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Minute {
    /// Calls in it.
    pub calls: u64,
    /// Calls that failed or were refused.
    pub failures: u64,
}

/// The use of each server in the last day, as far as the history reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LastDay {
    /// Calls and resource reads by server, in [`DAY_PARTS`] equal parts of the day, oldest first. The last part is
    /// still running. Unused servers are missing.
    pub calls: std::collections::BTreeMap<String, Vec<u64>>,
}

/// One server's last 24 hours, as far as the history reaches: the newest [`DAY_CALLS`] calls and resource reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerDay {
    /// Calls and resource reads.
    pub calls: u64,
    /// Calls that failed or were refused.
    pub failures: u64,
    /// Calls that were sent to it: the durations are those of these.
    pub timed: u64,
    /// Median duration; `None` if none was sent.
    pub median_ms: Option<f64>,
    /// 95th percentile of the duration.
    pub p95_ms: Option<f64>,
    /// Its clients, most calls first.
    pub clients: Vec<ClientUse>,
}

/// One client's use of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientUse {
    /// Its id.
    pub client: String,
    /// Its calls and resource reads.
    pub calls: u64,
    /// When the last one began, in milliseconds since the Unix epoch.
    pub last_ms: u64,
}

/// The largest number of calls that a [`ServerDay`] covers.
pub const DAY_CALLS: u32 = 50_000;

/// Number of parts in a [`LastDay`], 90 minutes each.
pub const DAY_PARTS: usize = 16;

/// What a client requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A call of a server's tool.
    Call,
    /// A read of a server's resource.
    Read,
    /// A search for tools.
    Find,
    /// Complete definitions of tools.
    Describe,
    /// A list of resources.
    Resources,
    /// A script; its calls are recorded separately.
    Script,
    /// A tool call made by a script. Its result went to the script and into no context.
    Inside,
}

impl CallKind {
    /// The name used in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            CallKind::Call => "call",
            CallKind::Read => "read",
            CallKind::Find => "find",
            CallKind::Describe => "describe",
            CallKind::Resources => "resources",
            CallKind::Script => "script",
            CallKind::Inside => "inside",
        }
    }
}

/// One call in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallLine {
    /// Its id; increases with every call.
    pub id: i64,
    /// When it began, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The session it belongs to.
    pub session: i64,
    /// The client.
    pub client: String,
    /// The kind of request; see [`CallKind`].
    pub kind: String,
    /// The server; empty if unknown.
    pub server: String,
    /// The tool, or the name of a meta-tool.
    pub tool: String,
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: String,
    /// The failure's class, or the JSON-RPC error code.
    pub code: Option<String>,
    /// The failure's message.
    pub message: Option<String>,
    /// Why its server failed, in parts, where that is the reason.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub cause: Option<FailureCause>,
    /// Total duration in milliseconds.
    pub took_ms: f64,
    /// The part spent waiting for a person or for a free slot.
    #[serde(default)]
    pub waited_ms: f64,
    /// The part spent starting its server.
    #[serde(default)]
    pub woke_ms: f64,
    /// Tokens it added to the context: the call and its result.
    pub tokens: Option<u64>,
    /// The beginning of its arguments, if they are stored.
    pub argument: Option<String>,
    /// For a script: the tokens of its calls and their results, minus its own; negative if it cost more than it kept
    /// out of the context. `None` until they are counted.
    #[serde(default)]
    pub kept_out: Option<i64>,
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionLine {
    /// Its id.
    pub id: i64,
    /// The client.
    pub client: String,
    /// Its program and version, self-reported.
    pub program: String,
    /// Its protocol revision.
    pub era: String,
    /// The time of its first request.
    pub started_ms: u64,
    /// The time of its last request.
    pub last_ms: u64,
    /// Calls of servers' tools.
    pub calls: u64,
    /// Searches and descriptions.
    pub searches: u64,
    /// Tokens it would have received without the hub.
    pub without: i64,
    /// The hub's token cost.
    pub spent: Spent,
    /// `without` minus the sum of `spent`.
    pub net: i64,
    /// Are all of its tokens counted?
    pub counted: bool,
}

/// Everything known about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallDetail {
    /// As in the list.
    pub line: CallLine,
    /// Its session.
    pub session: Option<SessionLine>,
    /// Time spent waiting for a person or for a free slot.
    pub wait_ms: f64,
    /// Time spent starting the server.
    pub start_ms: f64,
    /// Time spent in the server.
    pub upstream_ms: f64,
    /// Time spent in the hub itself.
    pub ours_ms: f64,
    /// Bytes of the call.
    pub request_bytes: u64,
    /// Bytes of the result.
    pub result_bytes: u64,
    /// Tokens of the call.
    pub request_tokens: Option<u64>,
    /// Tokens of the result.
    pub result_tokens: Option<u64>,
    /// The rule that allowed it, and how a person did.
    pub rule: String,
    /// The default behind it, if no rule of the user decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub usual: Option<UsualRule>,
    /// How a person allowed it, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub consent: Option<Consent>,
    /// The client's protocol revision.
    pub client_era: String,
    /// The server's protocol revision.
    pub server_era: Option<String>,
    /// The W3C trace it belongs to.
    pub trace: Option<String>,
    /// The arguments with secrets redacted, if they are stored.
    pub arguments: Option<String>,
    /// The result, under the same conditions.
    pub result: Option<String>,
    /// The calls of a script, in order; otherwise empty.
    #[serde(default)]
    pub inside: Vec<CallLine>,
    /// The finished script that made this call, if any.
    #[serde(default)]
    pub script: Option<i64>,
    /// The searches and descriptions in its session between the previous call and this one.
    pub route: Vec<CallLine>,
}

/// The part of the ledger that every snapshot includes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LedgerView {
    /// The newest call's id: a page that shows another one is out of date.
    pub newest: i64,
    /// How often since the hub started amounts of tokens were added to recorded calls and sessions: tokens are counted
    /// after the call, and a page that was read before the last count lacks them.
    #[serde(default)]
    pub counted: u64,
    /// Calls in the last hour.
    pub calls_hour: u64,
    /// Those of them that failed or were refused.
    pub failures_hour: u64,
    /// Net tokens saved by the sessions that began today; may be negative.
    pub net_today: i64,
    /// Are calls recorded?
    #[serde(default)]
    pub records: bool,
    /// Does ranking learn from searches?
    #[serde(default)]
    pub learns: bool,
    /// How many days single calls are stored.
    #[serde(default)]
    pub days: u32,
}

impl Report {
    /// As CSV: the groups, then the total.
    pub fn to_csv(&self) -> String {
        let head = "name,sessions,calls,failures,searches,request_bytes,result_bytes,request_tokens,result_tokens,\
                    uncounted,median_ms,p95_ms,without,with,net\n";
        let mut text = head.to_owned();
        for line in &self.lines {
            let (without, with) = (line.without, line.with);
            text.push_str(&csv_row(&line.name, line.sessions, &line.totals, (without, with, line.net)));
        }
        let savings = &self.savings;
        let sums = (savings.without, savings.with, savings.net);
        text.push_str(&csv_row("total", savings.sessions, &self.totals, sums));
        text
    }
}

fn csv_row(name: &str, sessions: u64, totals: &Totals, (without, with, net): (i64, i64, i64)) -> String {
    let Totals { calls, failures, searches, request_bytes, result_bytes, .. } = totals;
    let Totals { request_tokens, result_tokens, uncounted, took, .. } = totals;
    let (median, p95) = (took.median_ms, took.p95_ms);
    format!(
        "{},{sessions},{calls},{failures},{searches},{request_bytes},{result_bytes},{request_tokens},\
         {result_tokens},{uncounted},{median:.3},{p95:.3},{without},{with},{net}\n",
        csv_cell(name)
    )
}

/// A CSV cell that spreadsheets neither split nor evaluate as a formula.
pub(super) fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_can_neither_break_its_row_nor_be_run() {
        for (text, expected) in
            [("plain", "plain"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("=1+1", "'=1+1"), ("-x", "'-x")]
        {
            assert_eq!(csv_cell(text), expected);
        }
    }
}
