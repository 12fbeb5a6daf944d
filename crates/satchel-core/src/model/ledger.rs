//! Types of the ledger: calls, costs, savings and how they are counted. Times are milliseconds since the Unix epoch;
//! days are calendar days in the hub's time zone, written `2026-11-21`.

use serde::{Deserialize, Serialize};

/// By what a report is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// One line a client.
    Client,
    /// One line a server.
    #[default]
    Server,
    /// One line a tool.
    Tool,
    /// One line a day.
    Day,
}

/// What a report is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportAsk {
    /// How it is divided.
    #[serde(default)]
    pub by: By,
    /// Only the last so many calendar days, today included.
    #[serde(default)]
    pub days: Option<u32>,
    /// Only the last so many hours, from the beginning of the first one. With neither, everything there is.
    #[serde(default)]
    pub hours: Option<u32>,
    /// Only what was asked for through this profile; what is older than profiles in the ledger has none.
    #[serde(default)]
    #[cfg_attr(test, ts(optional = nullable))]
    pub profile: Option<String>,
}

/// What was called and what was saved in a span of time. Every face shows the same one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    /// How it is divided.
    pub by: By,
    /// The first hour it covers, as `2026-11-21 13:00` in local time; empty for everything.
    pub from: String,
    /// The tokenizer of all numbers, with its version.
    pub tokenizer: String,
    /// Everything together.
    pub totals: Totals,
    /// What was saved in the sessions that began in this time.
    pub savings: Savings,
    /// What sharing servers saved in this time.
    #[serde(default)]
    pub sharing: Sharing,
    /// What scripts kept out of contexts in this time.
    #[serde(default)]
    pub scripts: Scripted,
    /// The same, divided, biggest first; days in order.
    pub lines: Vec<ReportLine>,
    /// How this is counted, one sentence each.
    pub how: Vec<String>,
}

/// Calls and what they cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Totals {
    /// Calls of servers' tools and resources, refused ones included.
    pub calls: u64,
    /// Those that did not give a good result.
    pub failures: u64,
    /// Questions to the hub itself: searches, descriptions, lists of resources.
    pub searches: u64,
    /// Bytes of the calls as clients wrote them.
    pub request_bytes: u64,
    /// Bytes of the results.
    pub result_bytes: u64,
    /// Tokens of the calls as clients wrote them.
    pub request_tokens: u64,
    /// Tokens of the results.
    pub result_tokens: u64,
    /// Calls whose tokens are not counted, or not yet.
    pub uncounted: u64,
    /// How long calls took.
    pub took: Took,
}

/// Where the time of calls went. The four parts are sums over all calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Took {
    /// Half of the calls took at most so long. From a histogram whose steps double, so within a factor of 1.5.
    pub median_ms: f64,
    /// 95 of 100 took at most so long.
    pub p95_ms: f64,
    /// Waiting for a person or a turn.
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Savings {
    /// Sessions with at least one list or call.
    pub sessions: u64,
    /// Sessions that the hub's end cut off before all was counted; they are left out.
    pub left_out: u64,
    /// Tokens that clients would have received as lists of tools without the hub.
    pub without: i64,
    /// Tokens of the hub's own definitions and answers.
    pub with: i64,
    /// What `with` is made of.
    pub spent: Spent,
    /// `without - with`; negative where the hub costs more than it saves.
    pub net: i64,
    /// `net` in hundredths of `without`; `None` while it is too early to judge.
    pub percent: Option<f64>,
    /// So many searches a session may make, at what one cost so far, before the hub costs more than it saves.
    pub break_even_searches: Option<f64>,
    /// The verdict in words.
    pub verdict: String,
}

/// What the hub cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spent {
    /// Definitions of the tools it offers itself.
    pub definitions: i64,
    /// Answers to searches.
    pub find: i64,
    /// Answers with whole definitions.
    pub describe: i64,
    /// What calls through the hub are longer than direct ones, and what the hub itself answered to failed ones.
    pub wrapping: i64,
}

impl Spent {
    /// All four parts.
    pub fn sum(&self) -> i64 {
        self.definitions + self.find + self.describe + self.wrapping
    }
}

/// What scripts kept out of contexts: apart from the savings in definitions, because without a script a model might have
/// called otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Scripted {
    /// Scripts that were run.
    pub runs: u64,
    /// Calls that they made.
    pub calls: u64,
    /// Tokens of those calls and of their results.
    pub inside: i64,
    /// Tokens of the scripts and of what they returned.
    pub spent: i64,
    /// `inside - spent`; negative where scripts cost more than they saved.
    pub net: i64,
    /// Scripts that cost more than they kept out, of those that the history still has.
    #[serde(default)]
    pub losses: u64,
}

/// What sharing servers saved, in means over the time in which servers ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sharing {
    /// So long servers ran and were measured, in hours.
    pub measured_hours: f64,
    /// Processes that did not run.
    pub processes: f64,
    /// Memory that was not used, in bytes.
    pub memory_bytes: u64,
    /// The most processes that did not run at one time.
    pub most_processes: u64,
    /// The most memory that was not used at one time.
    pub most_memory_bytes: u64,
    /// Processes that ran.
    pub used_processes: f64,
    /// Memory they used, in bytes.
    pub used_memory_bytes: u64,
}

/// One line of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportLine {
    /// The client, the server, the tool as `server:tool`, or the day. `Router` is the hub itself.
    pub name: String,
    /// Its calls.
    pub totals: Totals,
    /// Sessions, for clients and days.
    pub sessions: u64,
    /// Its share of what clients would have received.
    pub without: i64,
    /// Its share of what the hub cost.
    pub with: i64,
    /// `without - with`.
    pub net: i64,
}

/// Which calls a page of activity shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ActivityAsk {
    /// Only calls before this one, for the next page.
    #[serde(default)]
    pub before: Option<i64>,
    /// At most so many; 100 where it is 0.
    #[serde(default)]
    pub limit: u32,
    /// Only those without a good result.
    #[serde(default)]
    pub problems: bool,
    /// Only those a person was asked about.
    #[serde(default)]
    pub asked: bool,
    /// Only this client's.
    #[serde(default)]
    pub client: Option<String>,
    /// Only this server's.
    #[serde(default)]
    pub server: Option<String>,
    /// Only this tool's.
    #[serde(default)]
    pub tool: Option<String>,
    /// Only this session's.
    #[serde(default)]
    pub session: Option<i64>,
    /// Not earlier.
    #[serde(default)]
    pub from_ms: Option<u64>,
    /// Earlier than this.
    #[serde(default)]
    pub to_ms: Option<u64>,
    /// Only what was asked for through this profile; what is older than profiles in the ledger has none.
    #[serde(default)]
    #[cfg_attr(test, ts(optional = nullable))]
    pub profile: Option<String>,
}

/// A page of calls, newest first, with the sessions they belong to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ActivityPage {
    /// Calls, newest first.
    pub calls: Vec<CallLine>,
    /// Their sessions, the one with the newest call first.
    pub sessions: Vec<SessionLine>,
    /// Are there earlier ones?
    pub more: bool,
    /// Calls a minute in the last 60, oldest first.
    pub minutes: Vec<Minute>,
    /// Calls without a good result among all that are kept.
    pub problems: u64,
    /// Calls a person was asked about among all that are kept.
    pub asked: u64,
}

/// One minute of the live chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Minute {
    /// Calls in it.
    pub calls: u64,
    /// Calls that failed or were refused.
    pub failures: u64,
}

/// How much each server was used in the last day, as far as the history is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LastDay {
    /// Calls and readings by server, in [`DAY_PARTS`] equal parts of the day, oldest first. The last part goes on. A
    /// server that was not used has no line.
    pub calls: std::collections::BTreeMap<String, Vec<u64>>,
}

/// One server's last 24 hours, as far as the history is kept: the newest [`DAY_CALLS`] calls and readings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerDay {
    /// Calls and readings.
    pub calls: u64,
    /// Calls that failed or were refused.
    pub failures: u64,
    /// Half of them took at most so long; `None` without any.
    pub median_ms: Option<f64>,
    /// 95 of 100 took at most so long.
    pub p95_ms: Option<f64>,
    /// Who used it, most calls first.
    pub clients: Vec<ClientUse>,
}

/// How much one client used a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientUse {
    /// Its id.
    pub client: String,
    /// Its calls and readings.
    pub calls: u64,
    /// When the last one began, in milliseconds since the Unix epoch.
    pub last_ms: u64,
}

/// The most calls that a [`ServerDay`] looks at.
pub const DAY_CALLS: u32 = 50_000;

/// Parts of a [`LastDay`], 90 minutes each.
pub const DAY_PARTS: usize = 16;

/// What a client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A server's tool.
    Call,
    /// A server's resource.
    Read,
    /// A search for tools.
    Find,
    /// Whole definitions of tools.
    Describe,
    /// A list of resources.
    Resources,
    /// A script; its calls are recorded by themselves.
    Script,
    /// A server's tool, called by a script: its result went to the script, and to no context.
    Inside,
}

impl CallKind {
    /// As it is written in JSON and in the database.
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallLine {
    /// Its number; later calls have greater ones.
    pub id: i64,
    /// When it began.
    pub time_ms: u64,
    /// The session it belongs to.
    pub session: i64,
    /// Who asked.
    pub client: String,
    /// What kind of thing was asked.
    pub kind: String,
    /// The server, where it is known.
    pub server: String,
    /// The tool; for the hub's own ones their name.
    pub tool: String,
    /// `ok`, `tool_error`, `upstream_error`, `not_sent`, `not_executed`, `unknown` or `cancelled`.
    pub outcome: String,
    /// The class of the failure, or the error's number.
    pub code: Option<String>,
    /// The failure, in words.
    pub message: Option<String>,
    /// How long it took in all.
    pub took_ms: f64,
    /// Of that, waiting for a person or a turn.
    #[serde(default)]
    pub waited_ms: f64,
    /// Of that, starting its server.
    #[serde(default)]
    pub woke_ms: f64,
    /// Tokens it put before the model: the call and its result.
    pub tokens: Option<u64>,
    /// The beginning of its arguments, where they are kept.
    pub argument: Option<String>,
    /// Of a script: the tokens of its calls and their results, less its own; negative where it cost more than it kept
    /// out of the context. `None` where they are not counted yet.
    #[serde(default)]
    pub kept_out: Option<i64>,
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SessionLine {
    /// Its number.
    pub id: i64,
    /// The client.
    pub client: String,
    /// The program and its version, as it says itself.
    pub program: String,
    /// The protocol revision it speaks.
    pub era: String,
    /// The first thing it asked.
    pub started_ms: u64,
    /// The last thing it asked.
    pub last_ms: u64,
    /// Calls of servers' tools.
    pub calls: u64,
    /// Searches and descriptions.
    pub searches: u64,
    /// What it would have received without the hub.
    pub without: i64,
    /// What the hub cost.
    pub spent: Spent,
    /// `without` less what was spent.
    pub net: i64,
    /// Whether everything is counted.
    pub counted: bool,
}

/// One call with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallDetail {
    /// The same as in the list.
    pub line: CallLine,
    /// Its session.
    pub session: Option<SessionLine>,
    /// Time waiting for a person or a turn.
    pub wait_ms: f64,
    /// Time starting the server.
    pub start_ms: f64,
    /// Time in the server.
    pub upstream_ms: f64,
    /// Time in the hub itself.
    pub ours_ms: f64,
    /// Bytes of the call.
    pub request_bytes: u64,
    /// Bytes of the result.
    pub result_bytes: u64,
    /// Tokens of the call.
    pub request_tokens: Option<u64>,
    /// Tokens of the result.
    pub result_tokens: Option<u64>,
    /// The rule that allowed it.
    pub rule: String,
    /// The revision the client speaks.
    pub client_era: String,
    /// The revision the server speaks.
    pub server_era: Option<String>,
    /// The W3C trace it belongs to.
    pub trace: Option<String>,
    /// The arguments, where they are kept, with secrets taken out.
    pub arguments: Option<String>,
    /// The result, likewise.
    pub result: Option<String>,
    /// The calls of a script, in their order; empty for everything else.
    #[serde(default)]
    pub inside: Vec<CallLine>,
    /// The script that made this call, where one did and is over.
    #[serde(default)]
    pub script: Option<i64>,
    /// The way here: the searches and descriptions before it in its session, since the call before.
    pub route: Vec<CallLine>,
}

/// What the window shows of the ledger without asking for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LedgerView {
    /// The newest call's number: a page that shows another one is out of date.
    pub newest: i64,
    /// Calls in the last hour.
    pub calls_hour: u64,
    /// Those of them without a good result.
    pub failures_hour: u64,
    /// Tokens kept back today, by the sessions that began today; may be negative.
    pub net_today: i64,
    /// Are calls recorded?
    #[serde(default)]
    pub records: bool,
    /// Are tools found sooner that were used after similar searches?
    #[serde(default)]
    pub learns: bool,
    /// Single calls are kept for so many days.
    #[serde(default)]
    pub days: u32,
}

impl Report {
    /// As a table for other programs: the lines, then the total.
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

/// A cell that a spreadsheet neither splits nor runs as a formula.
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
