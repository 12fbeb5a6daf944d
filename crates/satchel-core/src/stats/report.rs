//! What was called and what was saved, added up: the one query layer under every face. Reads sums only, so a report of
//! a million calls takes milliseconds, and deleting the history changes none.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use rusqlite::{Connection, Row, params};

use super::{
    recorder::{hour, sql},
    schema::{self, StoreError},
};
use crate::model::ledger::{By, Report, ReportAsk, ReportLine, Savings, Spent, Took, Totals};

/// Fewer sessions say nothing.
const ENOUGH: u64 = 5;
/// What is nobody's else.
const ROUTER: &str = "Router";
/// Steps of the histogram.
const STEPS: usize = 16;

/// How things are counted, for people.
const HOW: &[&str] = &[
    "Counted with {tokenizer}. Other models count differently; for them the numbers are estimates.",
    "Without: the list of all tools of the servers that were on for the client when its session began, as one text, once. Servers that had never been read then are added when they are read. Servers that are off and tools that are held back are not in it.",
    "A client that defers tools by itself would have received only their names, and the definitions of the tools it then called; for it, that is the baseline.",
    "With: the definitions of Satchel's own tools once per list that differs, every answer to a search or for a description, and wrapping: what a call through Satchel is longer than the same call made directly, the whole call of a search, and what Satchel itself answered to calls that failed or were refused.",
    "Of lists the array of tools is counted, of answers the array of content, of calls their name and arguments, byte for byte as they went over the wire.",
    "Results of servers are on neither side, and neither are instructions. Nothing is multiplied by turns.",
    "A session is one initialize with at least one list or call. In the revision without initialize it is everything one client asks with pauses of at most 30 minutes. It belongs to the hour in which it began.",
    "The split by server and tool is an allocation: without by the size of the definitions, searches by the size of each result; what is left belongs to the Router.",
    "Days are calendar days of this computer's time zone.",
];

/// Reads the ledger at `path`.
///
/// # Errors
/// [`StoreError`] where it cannot be read.
pub fn report(path: &Path, ask: &ReportAsk, now_ms: u64) -> Result<Report, StoreError> {
    let connection = schema::open_to_read(path)?;
    // One moment for all queries, so that the lines add up to the totals while calls go on.
    connection.execute_batch("BEGIN")?;
    let from = from_hour(&connection, ask, now_ms)?;
    let tokenizer = tokenizers(&connection, from)?;
    let totals = all_calls(&connection, from)?;
    let savings = savings(&connection, from)?;
    let lines = match ask.by {
        By::Client => by_session(&connection, from, "client", &calls_by(&connection, from, "client")?)?,
        By::Day => {
            let mut lines =
                by_session(&connection, from, "hour / 100", &calls_by(&connection, from, "hour / 100")?)?;
            for line in &mut lines {
                line.name = day(&line.name);
            }
            lines
        }
        By::Server => {
            let calls = calls_by(&connection, from, "server")?;
            by_share(&connection, from, &savings, calls, |server, _| server.to_owned())?
        }
        By::Tool => {
            let name = "CASE WHEN server = '' THEN '' ELSE server || ':' || tool END";
            let calls = calls_by(&connection, from, name)?;
            by_share(&connection, from, &savings, calls, |server, tool| format!("{server}:{tool}"))?
        }
    };
    let mut lines = lines;
    match ask.by {
        By::Day => lines.sort_by(|a, b| a.name.cmp(&b.name)),
        By::Client | By::Server | By::Tool => {
            lines.sort_by(|a, b| (b.net, b.totals.calls, &a.name).cmp(&(a.net, a.totals.calls, &b.name)));
        }
    }
    let how = HOW.iter().map(|line| line.replace("{tokenizer}", &tokenizer)).collect();
    Ok(Report { by: ask.by, from: moment(from), tokenizer, totals, savings, lines, how })
}

fn from_hour(connection: &Connection, ask: &ReportAsk, now_ms: u64) -> Result<i64, StoreError> {
    match (ask.days, ask.hours) {
        (Some(days), _) => {
            let back = format!("-{} days", days.max(1) - 1);
            let text =
                "SELECT CAST(strftime('%Y%m%d00', ?1 / 1000, 'unixepoch', 'localtime', ?2) AS INTEGER)";
            Ok(connection.query_row(text, params![sql(now_ms), back], |row| row.get(0))?)
        }
        (None, Some(hours)) => hour(connection, now_ms.saturating_sub(u64::from(hours) * 3_600_000)),
        (None, None) => Ok(0),
    }
}

/// 2026112113 as people write it.
fn moment(hour: i64) -> String {
    if hour == 0 {
        return String::new();
    }
    format!("{} {:02}:00", day(&(hour / 100).to_string()), hour % 100)
}

/// 20261121 as people write it.
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
        // Nothing was counted yet; the newest is what would.
        let newest = "SELECT name FROM tokenizers ORDER BY id DESC LIMIT 1";
        names = connection.prepare(newest)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    Ok(names.join(", then "))
}

/// Sums over `hours`, in the order that [`totals_of`] reads them.
fn sums() -> String {
    let call = "kind IN ('call', 'read')";
    let columns = [
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
    let mut sums: Vec<String> = columns.iter().map(|c| format!("sum({c}) FILTER (WHERE {call})")).collect();
    sums.push(format!("sum(calls) FILTER (WHERE NOT {call})"));
    sums.extend((0..STEPS).map(|step| format!("sum(took_{step}) FILTER (WHERE {call})")));
    sums.iter().map(|sum| format!("coalesce({sum}, 0)")).collect::<Vec<_>>().join(", ")
}

/// Reads [`sums`] from the column `at` on.
fn totals_of(row: &Row<'_>, at: usize) -> rusqlite::Result<Totals> {
    let number = |column: usize| row.get::<_, i64>(at + column).map(|number| number.max(0).unsigned_abs());
    let ms = |column: usize| row.get::<_, i64>(at + column).map(|us| us as f64 / 1000.0);
    let steps = (0..STEPS).map(|step| number(12 + step)).collect::<Result<Vec<_>, _>>()?;
    Ok(Totals {
        calls: number(0)?,
        failures: number(1)?,
        searches: number(11)?,
        request_bytes: number(2)?,
        result_bytes: number(3)?,
        request_tokens: number(4)?,
        result_tokens: number(5)?,
        uncounted: number(6)?,
        took: Took {
            median_ms: percentile(&steps, 0.5),
            p95_ms: percentile(&steps, 0.95),
            wait_ms: ms(7)?,
            start_ms: ms(8)?,
            upstream_ms: ms(9)?,
            ours_ms: ms(10)?,
        },
    })
}

fn all_calls(connection: &Connection, from: i64) -> Result<Totals, StoreError> {
    let text = format!("SELECT {} FROM hours WHERE hour >= ?1", sums());
    Ok(connection.query_row(&text, [from], |row| totals_of(row, 0))?)
}

fn calls_by(connection: &Connection, from: i64, by: &str) -> Result<HashMap<String, Totals>, StoreError> {
    let text = format!("SELECT CAST({by} AS TEXT), {} FROM hours WHERE hour >= ?1 GROUP BY 1", sums());
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map([from], |row| Ok((row.get(0)?, totals_of(row, 1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn savings(connection: &Connection, from: i64) -> Result<Savings, StoreError> {
    let text = "SELECT count(*) FILTER (WHERE owed = 0), count(*) FILTER (WHERE owed > 0),
                  coalesce(sum(base + loaded) FILTER (WHERE owed = 0), 0),
                  coalesce(sum(definitions) FILTER (WHERE owed = 0), 0), coalesce(sum(find) FILTER (WHERE owed = 0), 0),
                  coalesce(sum(describe) FILTER (WHERE owed = 0), 0), coalesce(sum(wrapping) FILTER (WHERE owed = 0), 0),
                  coalesce(sum(searches) FILTER (WHERE owed = 0), 0)
                FROM sessions WHERE hour >= ?1 AND NOT face";
    let read = |row: &Row<'_>| -> rusqlite::Result<(Savings, i64)> {
        let count = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
        let spent = Spent {
            definitions: row.get(3)?,
            find: row.get(4)?,
            describe: row.get(5)?,
            wrapping: row.get(6)?,
        };
        let (without, with): (i64, i64) = (row.get(2)?, spent.sum());
        let (sessions, left_out) = (count(0)?, count(1)?);
        let savings =
            Savings { sessions, left_out, without, with, spent, net: without - with, ..Savings::default() };
        Ok((savings, row.get(7)?))
    };
    let (savings, searches) = connection.query_row(text, [from], read)?;
    Ok(judged(savings, searches))
}

/// Adds the verdict, and the numbers that only enough sessions allow.
fn judged(savings: Savings, searches: i64) -> Savings {
    let Savings { sessions, without, spent, net, .. } = savings;
    let many = if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    let verdict = match sessions {
        0 => "No session yet.".to_owned(),
        1..ENOUGH => format!("Too early to judge: {many}."),
        _ if net < 0 => format!("Satchel cost {} tokens more than it saved, in {many}.", net.unsigned_abs()),
        _ => format!("Satchel kept back {net} tokens, in {many}."),
    };
    let percent = (sessions >= ENOUGH && without > 0).then(|| 100.0 * net as f64 / without as f64);
    let one_search = (spent.find + spent.describe) as f64 / searches.max(1) as f64;
    let room = (without - spent.definitions - spent.wrapping) as f64 / sessions.max(1) as f64;
    let break_even_searches = (searches > 0 && one_search > 0.0).then(|| (room / one_search).max(0.0));
    Savings { percent, break_even_searches, verdict, ..savings }
}

/// Lines by something that every session has one of.
fn by_session(
    connection: &Connection,
    from: i64,
    by: &str,
    calls: &HashMap<String, Totals>,
) -> Result<Vec<ReportLine>, StoreError> {
    let text = format!(
        "SELECT CAST({by} AS TEXT), count(*), sum(base + loaded), sum(definitions + find + describe + wrapping)
         FROM sessions WHERE hour >= ?1 AND owed = 0 AND NOT face GROUP BY 1"
    );
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map([from], |row| {
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

/// Lines by server or tool: what each was given of the sessions' sums. The rest belongs to the router, so that the
/// lines add up to the sums.
fn by_share(
    connection: &Connection,
    from: i64,
    savings: &Savings,
    calls: HashMap<String, Totals>,
    name: fn(&str, &str) -> String,
) -> Result<Vec<ReportLine>, StoreError> {
    let mut without: BTreeMap<String, f64> = BTreeMap::new();
    let mut with: BTreeMap<String, i64> = BTreeMap::new();
    let bases = "SELECT baseline, sum(base) FROM sessions
                 WHERE hour >= ?1 AND owed = 0 AND NOT face AND baseline IS NOT NULL GROUP BY baseline";
    let mut bases = connection.prepare(bases)?;
    let bases = bases.query_map([from], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut tools =
        connection.prepare("SELECT server, tool, tokens FROM baseline_tools WHERE baseline = ?1")?;
    for base in bases {
        let (baseline, base): (i64, i64) = base?;
        let tools = tools.query_map([baseline], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let tools: Vec<(String, String, i64)> = tools.collect::<Result<_, _>>()?;
        let whole: i64 = tools.iter().map(|(_, _, tokens)| tokens).sum();
        for (server, tool, tokens) in &tools {
            *without.entry(name(server, tool)).or_default() +=
                base as f64 * *tokens as f64 / whole.max(1) as f64;
        }
    }
    let costs = "SELECT server, tool, sum(loaded), sum(find + describe + wrapping) FROM tool_costs
                 WHERE hour >= ?1 GROUP BY server, tool";
    let mut costs = connection.prepare(costs)?;
    let costs = costs.query_map([from], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
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

/// The time below which so large a part of the calls lies, in milliseconds. Within a step the calls are taken to be
/// spread evenly.
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
