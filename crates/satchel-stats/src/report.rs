//! Aggregates calls and savings for every face. Reads sums only: a report over a million calls takes milliseconds, and
//! deleting the history changes no sum.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use rusqlite::{Connection, params};

use super::{
    schema::{self, StoreError},
    sharing,
    store::{hour, sql},
};
use crate::model::{
    ledger::{By, Report, ReportAsk, ReportLine, Savings, Scripted, Took, Totals},
    name::in_path,
};

/// Minimum number of sessions for a verdict.
const ENOUGH: u64 = 5;
/// The line for what belongs to the hub itself.
const ROUTER: &str = "Router";
/// Number of histogram buckets.
const STEPS: usize = 16;
/// How long hourly totals are kept; longer periods are rounded to days.
pub(super) const HOURS: u32 = 7 * 24;

/// The totals that a report covers.
#[derive(Debug, Clone)]
struct Span {
    from: i64,
    /// Only of this profile.
    profile: Option<String>,
    calls: &'static str,
    costs: &'static str,
}

/// The client names of people's calls, which reach no model.
const FACES: &str = "'satchel', 'Satchel window'";

/// How the figures are computed, for people.
const HOW: &[&str] = &[
    "Counted with {tokenizer}. Other models count differently; for them the numbers are estimates.",
    "Without: the list of all tools of the servers that were on for the client when it first asked for one in its session, as one text, once; nothing for a session that never asked for a list. Servers that had never been read then are added when they are read. Servers that are off and tools that are held back are not in it.",
    "A client that defers tools by itself would have received only their names, and the definitions of the tools it then called; for it, that is the baseline.",
    "With: the definitions of Satchel's own tools, and of pinned ones, once per list that differs, every answer to a search or for a description, and wrapping: what a call through Satchel is longer than the same call made directly, the whole call of a search, and what Satchel itself answered to calls that failed or were refused.",
    "Of lists and definitions the JSON is counted as a client writes it anew, without white space between its parts, on both sides. Of answers the array of content is counted, and of calls their name and arguments, byte for byte as they went over the wire.",
    "Results of servers are on neither side, and neither are instructions. Nothing is multiplied by turns.",
    "Scripts are counted apart: the calls that scripts made and the results they got, as a model would have written and read them, against the scripts and what they returned. Whether a model would have made the same calls without a script is unknown; images and files are not counted. A script that cost more than it kept out is one that called little or returned nearly all it got; scripts that people run themselves are left out. None of it is in the numbers above.",
    "A session is everything one client asks with pauses of at most 30 minutes, however often it initializes; what it has open side by side is counted apart. It belongs to the hour in which it began.",
    "The split by server and tool is an allocation: without by the size of the definitions, searches by the size of each result; what is left belongs to the Router.",
    "Processes and memory are measured every 15 seconds while a server runs: the resident memory of each server's processes, once for every client but one that asked something in the last half hour. Shown are means over the time that was measured.",
    "Days are calendar days of this computer's time zone.",
];

/// Reads the ledger at `path`.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn report(path: &Path, ask: &ReportAsk, now_ms: u64) -> Result<Report, StoreError> {
    let connection = schema::open_to_read(path)?;
    // One snapshot for all queries, so that the lines add up to the totals during calls.
    connection.execute_batch("BEGIN")?;
    let span = &span(&connection, ask, now_ms)?;
    let from = span.from;
    let tokenizer = tokenizers(&connection, from)?;
    let (savings, bases) = savings(&connection, span)?;
    let name = match ask.by {
        By::Client => "client",
        By::Server => "server",
        By::Tool => "CASE WHEN server = '' THEN '' ELSE server || ':' || tool END",
        By::Day => "hour / 100",
    };
    let (totals, calls) = calls_by(&connection, span, name)?;
    let mut lines = match ask.by {
        By::Client => by_session(&connection, span, name, &calls)?,
        By::Day => by_session(&connection, span, name, &calls)?
            .into_iter()
            .map(|line| ReportLine { name: day(&line.name), ..line })
            .collect(),
        By::Server => by_share(&connection, span, &savings, &bases, calls, |server, _| server.to_owned())?,
        By::Tool => by_share(&connection, span, &savings, &bases, calls, |server, tool| {
            format!("{}:{tool}", in_path(server))
        })?,
    };
    match ask.by {
        By::Day => lines.sort_by(|a, b| a.name.cmp(&b.name)),
        By::Client | By::Server | By::Tool => {
            lines.sort_by(|a, b| (b.net, b.totals.calls, &a.name).cmp(&(a.net, a.totals.calls, &b.name)));
        }
    }
    let scripts = scripted(&connection, span)?;
    // Processes are shared by all clients, regardless of profiles.
    let sharing = match span.profile {
        None => sharing::since(&connection, from)?,
        Some(_) => Default::default(),
    };
    let how = HOW.iter().map(|line| line.replace("{tokenizer}", &tokenizer)).collect();
    Ok(Report { by: ask.by, from: moment(from), tokenizer, totals, savings, sharing, scripts, lines, how })
}

fn span(connection: &Connection, ask: &ReportAsk, now_ms: u64) -> Result<Span, StoreError> {
    let profile = ask.profile.clone();
    let by_days = |from| Span { from, profile: ask.profile.clone(), calls: "days", costs: "tool_costs_days" };
    let days = match (ask.days, ask.hours) {
        (None, None) => return Ok(by_days(0)),
        (None, Some(hours)) if hours <= HOURS => {
            let from = hour(connection, now_ms.saturating_sub(u64::from(hours) * 3_600_000))?;
            return Ok(Span { from, profile, calls: "hours", costs: "tool_costs" });
        }
        (Some(days), _) => days.max(1),
        (None, Some(hours)) => hours.div_ceil(24) + 1,
    };
    let back = format!("-{} days", days - 1);
    let text = "SELECT CAST(strftime('%Y%m%d00', ?1 / 1000, 'unixepoch', 'localtime', ?2) AS INTEGER)";
    Ok(by_days(connection.query_row(text, params![sql(now_ms), back], |row| row.get(0))?))
}

/// 2026112113 in readable form.
fn moment(hour: i64) -> String {
    if hour == 0 {
        return String::new();
    }
    format!("{} {:02}:00", day(&(hour / 100).to_string()), hour % 100)
}

/// 20261121 in readable form.
fn day(digits: &str) -> String {
    match (digits.get(..4), digits.get(4..6), digits.get(6..8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => digits.to_owned(),
    }
}

fn tokenizers(connection: &Connection, from: i64) -> Result<String, StoreError> {
    let used = "SELECT name FROM tokenizers WHERE id IN (SELECT tokenizer FROM sessions WHERE hour >= ?1) ORDER BY id";
    let mut used = connection.prepare(used)?;
    let mut names = used.query_map([from], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if names.is_empty() {
        // Nothing was counted yet; the newest would be used.
        let newest = "SELECT name FROM tokenizers ORDER BY id DESC LIMIT 1";
        names = connection.prepare(newest)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    Ok(names.join(", then "))
}

/// Summed columns, in this order; the histogram buckets follow.
const COLUMNS: [&str; 11] = [
    "calls",
    "failures",
    "request_bytes",
    "result_bytes",
    "request_tokens",
    "result_tokens",
    "uncounted",
    "wait_us",
    "start_us",
    "upstream_us",
    "ours_us",
];

/// The sums of [`COLUMNS`] and the histogram over calls, and the number of requests to the hub itself.
#[derive(Debug, Clone, Default)]
struct Counted {
    columns: [i64; COLUMNS.len()],
    steps: [u64; STEPS],
    searches: i64,
}

impl Counted {
    fn add(&mut self, other: &Self) {
        self.columns.iter_mut().zip(other.columns).for_each(|(sum, more)| *sum += more);
        self.steps.iter_mut().zip(other.steps).for_each(|(sum, more)| *sum += more);
        self.searches += other.searches;
    }

    fn totals(&self) -> Totals {
        let number = |column: usize| self.columns[column].max(0).unsigned_abs();
        let ms = |column: usize| self.columns[column] as f64 / 1000.0;
        Totals {
            calls: number(0),
            failures: number(1),
            searches: self.searches.unsigned_abs(),
            request_bytes: number(2),
            result_bytes: number(3),
            request_tokens: number(4),
            result_tokens: number(5),
            uncounted: number(6),
            took: Took {
                median_ms: percentile(&self.steps, 0.5),
                p95_ms: percentile(&self.steps, 0.95),
                wait_ms: ms(7),
                start_ms: ms(8),
                upstream_ms: ms(9),
                ours_ms: ms(10),
            },
        }
    }
}

/// Calls grouped by a name, and the totals. A single pass, because a second one would take as long again.
fn calls_by(
    connection: &Connection,
    span: &Span,
    by: &str,
) -> Result<(Totals, HashMap<String, Totals>), StoreError> {
    let steps = (0..STEPS).map(|step| format!("took_{step}"));
    let sums = COLUMNS.iter().map(ToString::to_string).chain(steps).map(|column| format!("sum({column})"));
    let sums = sums.collect::<Vec<_>>().join(", ");
    let text = format!(
        "SELECT CAST({by} AS TEXT), CASE kind WHEN 'call' THEN 1 WHEN 'read' THEN 1 WHEN 'inside' THEN 2 ELSE 0 END, {sums} FROM {}
         WHERE hour >= ?1 AND (?2 IS NULL OR profile = ?2) AND kind <> 'script' GROUP BY 1, 2",
        span.calls
    );
    let mut rows = connection.prepare(&text)?;
    let mut rows = rows.query(params![span.from, span.profile])?;
    let (mut all, mut named) = (Counted::default(), HashMap::<String, Counted>::new());
    while let Some(row) = rows.next()? {
        let mut counted = Counted::default();
        let kind: i64 = row.get(1)?;
        if kind > 0 {
            for (at, column) in counted.columns.iter_mut().enumerate() {
                *column = row.get(2 + at)?;
            }
            if kind == 2 {
                // What scripts called and received reached no model.
                counted.columns[2..=5].fill(0);
            }
            for (at, step) in counted.steps.iter_mut().enumerate() {
                *step = row.get::<_, i64>(2 + COLUMNS.len() + at)?.unsigned_abs();
            }
        } else {
            counted.searches = row.get(2)?;
        }
        all.add(&counted);
        named.entry(row.get(0)?).or_default().add(&counted);
    }
    Ok((all.totals(), named.into_iter().map(|(name, counted)| (name, counted.totals())).collect()))
}

/// What scripts called and received, against their own size and their results.
fn scripted(connection: &Connection, span: &Span) -> Result<Scripted, StoreError> {
    let text = format!(
        "SELECT kind = 'inside', sum(calls), sum(request_tokens + result_tokens) FROM {}
         WHERE hour >= ?1 AND (?2 IS NULL OR profile = ?2) AND kind IN ('inside', 'script') AND client NOT IN ({FACES}) GROUP BY 1",
        span.calls
    );
    let mut rows = connection.prepare(&text)?;
    let mut rows = rows.query(params![span.from, span.profile])?;
    let mut all = Scripted::default();
    while let Some(row) = rows.next()? {
        let (calls, tokens): (i64, i64) = (row.get(1)?, row.get(2)?);
        match row.get(0)? {
            true => (all.calls, all.inside) = (calls.unsigned_abs(), tokens),
            false => (all.runs, all.spent) = (calls.unsigned_abs(), tokens),
        }
    }
    all.net = all.inside - all.spent;
    all.losses = losses(connection, span)?;
    Ok(all)
}

/// Number of scripts that cost more than they kept out.
fn losses(connection: &Connection, span: &Span) -> Result<u64, StoreError> {
    let text = format!(
        "SELECT count(*) FROM calls AS script
         WHERE kind = 'script' AND client NOT IN ({FACES})
           AND (?2 IS NULL OR profile = ?2)
           AND (?1 = '' OR time_ms >= 1000 * CAST(strftime('%s', ?1, 'utc') AS INTEGER))
           AND request_tokens + result_tokens > (
             SELECT coalesce(sum(request_tokens + result_tokens), 0) FROM calls AS one
             WHERE one.kind = 'inside' AND one.trace = script.trace)"
    );
    let count: i64 =
        connection.query_row(&text, params![moment(span.from), span.profile], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// The savings of sessions, and how much of them to divide by each tool list.
fn savings(connection: &Connection, span: &Span) -> Result<(Savings, Vec<(i64, i64)>), StoreError> {
    let text = "SELECT baseline, owed > 0, count(*), sum(base), sum(loaded), sum(definitions), sum(find), sum(describe),
                  sum(wrapping), sum(searches)
                FROM sessions WHERE hour >= ?1 AND (?2 IS NULL OR profile = ?2) AND NOT face GROUP BY 1, 2";
    let mut rows = connection.prepare(text)?;
    let mut rows = rows.query(params![span.from, span.profile])?;
    let (mut savings, mut searches, mut bases) = (Savings::default(), 0, Vec::new());
    while let Some(row) = rows.next()? {
        let number = |at: usize| row.get::<_, i64>(at);
        if row.get(1)? {
            savings.left_out += number(2)?.unsigned_abs();
            continue;
        }
        savings.sessions += number(2)?.unsigned_abs();
        savings.without += number(3)? + number(4)?;
        let spent = &mut savings.spent;
        spent.definitions += number(5)?;
        spent.find += number(6)?;
        spent.describe += number(7)?;
        spent.wrapping += number(8)?;
        searches += number(9)?;
        if let Some(baseline) = row.get::<_, Option<i64>>(0)? {
            bases.push((baseline, number(3)?));
        }
    }
    savings.with = savings.spent.sum();
    savings.net = savings.without - savings.with;
    Ok((judged(savings, searches), bases))
}

/// Adds the verdict, and the figures that require enough sessions.
fn judged(savings: Savings, searches: i64) -> Savings {
    let Savings { sessions, without, spent, net, .. } = savings;
    let tokens = |count: u64| if count == 1 { "1 token".to_owned() } else { format!("{count} tokens") };
    let many = if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    let verdict = match sessions {
        0 => "No session yet.".to_owned(),
        1..ENOUGH => format!("Too early to judge: {many}."),
        _ if net < 0 => format!("Satchel cost {} more than it saved, in {many}.", tokens(net.unsigned_abs())),
        _ => format!("Satchel kept back {}, in {many}.", tokens(net.unsigned_abs())),
    };
    let percent = (sessions >= ENOUGH && without > 0).then(|| 100.0 * net as f64 / without as f64);
    let one_search = (spent.find + spent.describe) as f64 / searches.max(1) as f64;
    let room = (without - spent.definitions - spent.wrapping) as f64 / sessions.max(1) as f64;
    let break_even_searches = (searches > 0 && one_search > 0.0).then(|| (room / one_search).max(0.0));
    Savings { percent, break_even_searches, verdict, ..savings }
}

/// Lines by a property that every session has.
fn by_session(
    connection: &Connection,
    span: &Span,
    by: &str,
    calls: &HashMap<String, Totals>,
) -> Result<Vec<ReportLine>, StoreError> {
    let text = format!(
        "SELECT CAST({by} AS TEXT), count(*), sum(base + loaded), sum(definitions + find + describe + wrapping)
         FROM sessions WHERE hour >= ?1 AND (?2 IS NULL OR profile = ?2) AND owed = 0 AND NOT face GROUP BY 1"
    );
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map(params![span.from, span.profile], |row| {
        let (sessions, without, with): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (name, sessions) = (row.get(0)?, sessions.unsigned_abs());
        Ok(ReportLine { name, sessions, without, with, net: without - with, totals: Totals::default() })
    })?;
    let mut lines: BTreeMap<String, ReportLine> = BTreeMap::new();
    for line in rows {
        let line = line?;
        lines.insert(line.name.clone(), line);
    }
    for (name, totals) in calls {
        let line = lines
            .entry(name.clone())
            .or_insert_with(|| ReportLine { name: name.clone(), ..ReportLine::default() });
        line.totals = totals.clone();
    }
    Ok(lines.into_values().collect())
}

/// Lines by server or tool: their shares of the sessions' sums. The rest belongs to the router, so that the lines add
/// up.
fn by_share(
    connection: &Connection,
    span: &Span,
    savings: &Savings,
    bases: &[(i64, i64)],
    calls: HashMap<String, Totals>,
    name: fn(&str, &str) -> String,
) -> Result<Vec<ReportLine>, StoreError> {
    let mut without: BTreeMap<String, f64> = BTreeMap::new();
    let mut with: BTreeMap<String, i64> = BTreeMap::new();
    let mut tools =
        connection.prepare("SELECT server, tool, tokens FROM baseline_tools WHERE baseline = ?1")?;
    for (baseline, base) in bases {
        let tools = tools.query_map([baseline], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let tools: Vec<(String, String, i64)> = tools.collect::<Result<_, _>>()?;
        let whole: i64 = tools.iter().map(|(_, _, tokens)| tokens).sum();
        for (server, tool, tokens) in &tools {
            *without.entry(name(server, tool)).or_default() +=
                *base as f64 * *tokens as f64 / whole.max(1) as f64;
        }
    }
    let costs = format!(
        "SELECT server, tool, sum(loaded), sum(find + describe + wrapping) FROM {}
         WHERE hour >= ?1 AND (?2 IS NULL OR profile = ?2) GROUP BY server, tool",
        span.costs
    );
    let mut costs = connection.prepare(&costs)?;
    let costs = costs.query_map(params![span.from, span.profile], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    for cost in costs {
        let (server, tool, loaded, spent): (String, String, i64, i64) = cost?;
        let name = name(&server, &tool);
        *without.entry(name.clone()).or_default() += loaded as f64;
        *with.entry(name).or_default() += spent;
    }
    let mut lines: BTreeMap<String, ReportLine> = BTreeMap::new();
    let (mut left_without, mut left_with) = (savings.without, savings.with);
    for (name, without) in without {
        let (without, with) = (without.round() as i64, with.get(&name).copied().unwrap_or(0));
        left_without -= without;
        left_with -= with;
        lines.insert(
            name.clone(),
            ReportLine { name, without, with, net: without - with, ..ReportLine::default() },
        );
    }
    for (name, totals) in calls {
        let name = if name.is_empty() { ROUTER.to_owned() } else { name };
        let line = lines.entry(name.clone()).or_insert_with(|| ReportLine { name, ..ReportLine::default() });
        line.totals = totals;
    }
    if left_with != 0 || left_without != 0 {
        let router = lines
            .entry(ROUTER.to_owned())
            .or_insert_with(|| ReportLine { name: ROUTER.into(), ..ReportLine::default() });
        router.without += left_without;
        router.with += left_with;
        router.net = router.without - router.with;
    }
    Ok(lines.into_values().collect())
}

/// The percentile in milliseconds, assuming a uniform distribution within a bucket.
fn percentile(steps: &[u64], part: f64) -> f64 {
    let all: u64 = steps.iter().sum();
    let wanted = all as f64 * part;
    let mut passed = 0.0;
    for (step, calls) in steps.iter().enumerate() {
        let calls = *calls as f64;
        if calls > 0.0 && passed + calls >= wanted {
            let (low, high) =
                (if step == 0 { 0.0 } else { 2f64.powi(step as i32 - 1) }, 2f64.powi(step as i32));
            return low + (high - low) * ((wanted - passed) / calls);
        }
        passed += calls;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ledger::Spent;

    #[test]
    fn percentiles_come_from_steps_that_double() {
        let mut steps = [0; STEPS];
        assert_eq!(percentile(&steps, 0.5), 0.0);
        steps[3] = 10;
        assert_eq!(percentile(&steps, 0.5), 6.0);
        steps[5] = 10;
        assert_eq!((percentile(&steps, 0.5), percentile(&steps, 0.75)), (8.0, 24.0));
    }

    #[test]
    fn a_verdict_needs_five_sessions() {
        let of = |sessions, without, find| {
            let spent = Spent { definitions: 100, find, ..Spent::default() };
            let with = spent.sum();
            judged(Savings { sessions, without, with, spent, net: without - with, ..Savings::default() }, 2)
        };
        let few = of(4, 1000, 100);
        assert_eq!((few.verdict.as_str(), few.percent), ("Too early to judge: 4 sessions.", None));
        let good = of(5, 1000, 100);
        assert_eq!(
            (good.verdict.as_str(), good.percent),
            ("Satchel kept back 800 tokens, in 5 sessions.", Some(80.0))
        );
        // 900 tokens are left for searches in 5 sessions; one search cost 50.
        assert_eq!(good.break_even_searches, Some(3.6));
        let bad = of(5, 100, 500);
        assert_eq!(bad.verdict, "Satchel cost 500 tokens more than it saved, in 5 sessions.");
        assert_eq!((bad.percent, bad.break_even_searches), (Some(-500.0), Some(0.0)));
    }
}
