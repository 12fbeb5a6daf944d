//! Reads the call history: filtered pages, and everything known of one call.

use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::{
    schema::{self, StoreError},
    store::sql,
};
use crate::model::{
    ledger::{
        ActivityAsk, ActivityPage, CallDetail, CallLine, ClientUse, DAY_CALLS, DAY_PARTS, LastDay, Minute,
        ServerDay, SessionLine, Spent,
    },
    nature::{Consent, UsualRule},
};

/// Default page size.
const PAGE: u32 = 100;
/// Maximum page size.
const LARGEST_PAGE: u32 = 1000;
/// Maximum length of the arguments in a list, in characters.
const ARGUMENT: usize = 80;
/// Maximum number of steps in a route.
const STEPS: u32 = 20;
/// Maximum number of a script's calls.
const INSIDE: u32 = 200;

/// Columns in the order that [`line_of`] reads them.
const LINE: &str = "id, time_ms, session, client, kind, server, tool, outcome, code, message,
    wait_us + start_us + upstream_us + ours_us, request_tokens, result_tokens, arguments, wait_us, start_us,
    CASE kind WHEN 'script' THEN (
      SELECT CASE count(*) WHEN count(request_tokens + result_tokens)
        THEN coalesce(sum(request_tokens + result_tokens), 0) END
      FROM calls AS one WHERE one.kind = 'inside' AND one.trace = calls.trace) END, cause";
/// Columns in the order that [`session_of`] reads them.
const SESSION: &str =
    "id, client, program, version, era, started_ms, last_ms, calls, searches, base + loaded, definitions,
    find, describe, wrapping, owed";

/// A page of calls of the ledger at `path`.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn page(path: &Path, ask: &ActivityAsk, now_ms: u64) -> Result<ActivityPage, StoreError> {
    let connection = schema::open_to_read(path)?;
    connection.execute_batch("BEGIN")?;
    let limit = if ask.limit == 0 { PAGE } else { ask.limit.min(LARGEST_PAGE) };
    let mut calls = calls(&connection, ask, limit + 1)?;
    let more = calls.len() > limit as usize;
    calls.truncate(limit as usize);
    let mut numbers: Vec<i64> = Vec::new();
    for call in &calls {
        if !numbers.contains(&call.session) {
            numbers.push(call.session);
        }
    }
    let found =
        numbers.into_iter().map(|number| session_at(&connection, number)).collect::<Result<Vec<_>, _>>()?;
    let count =
        |text: &str| connection.query_row(text, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
    Ok(ActivityPage {
        calls,
        sessions: found.into_iter().flatten().collect(),
        more,
        minutes: minutes(&connection, now_ms)?,
        problems: count("SELECT count(*) FROM calls WHERE outcome <> 'ok'")?,
        asked: count("SELECT count(*) FROM calls WHERE asked")?,
    })
}

fn calls(connection: &Connection, ask: &ActivityAsk, limit: u32) -> Result<Vec<CallLine>, StoreError> {
    let mut wheres: Vec<&str> = Vec::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut only = |text: &'static str, value: Option<Box<dyn ToSql>>| {
        if let Some(value) = value {
            wheres.push(text);
            values.push(value);
        }
    };
    let text = |value: &Option<String>| value.clone().map(|value| Box::new(value) as Box<dyn ToSql>);
    let number = |value: Option<i64>| value.map(|value| Box::new(value) as Box<dyn ToSql>);
    only("id < ?", number(ask.before));
    only("client = ?", text(&ask.client));
    only("server = ?", text(&ask.server));
    only("tool = ?", text(&ask.tool));
    only("profile = ?", text(&ask.profile));
    only("session = ?", number(ask.session));
    only("time_ms >= ?", number(ask.from_ms.map(sql)));
    only("time_ms < ?", number(ask.to_ms.map(sql)));
    if ask.problems {
        wheres.push("outcome <> 'ok'");
    }
    if ask.asked {
        wheres.push("asked");
    }
    // They are shown with their script, unless the filter matches them.
    if !ask.problems && !ask.asked && ask.server.is_none() && ask.tool.is_none() {
        wheres.push("kind <> 'inside'");
    }
    let wheres = if wheres.is_empty() { "1".to_owned() } else { wheres.join(" AND ") };
    // The page's ids first: where no index has the order, whole rows would be sorted to keep a hundred of them.
    let ids = format!("SELECT id FROM calls WHERE {wheres} ORDER BY id DESC LIMIT {limit}");
    let text = format!("SELECT {LINE} FROM calls WHERE id IN ({ids}) ORDER BY id DESC");
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map(params_from_iter(values), line_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn line_of(row: &Row<'_>) -> rusqlite::Result<CallLine> {
    let (time_ms, took_us): (i64, i64) = (row.get(1)?, row.get(10)?);
    let (request, result): (Option<i64>, Option<i64>) = (row.get(11)?, row.get(12)?);
    let arguments: Option<String> = row.get(13)?;
    Ok(CallLine {
        id: row.get(0)?,
        time_ms: time_ms.unsigned_abs(),
        session: row.get(2)?,
        client: row.get(3)?,
        kind: row.get(4)?,
        server: row.get(5)?,
        tool: row.get(6)?,
        outcome: row.get(7)?,
        code: row.get(8)?,
        message: row.get(9)?,
        // One of a later version is unknown, and its message says it.
        cause: row.get::<_, Option<String>>(17)?.and_then(|cause| serde_json::from_str(&cause).ok()),
        took_ms: took_us as f64 / 1000.0,
        waited_ms: row.get::<_, i64>(14)? as f64 / 1000.0,
        woke_ms: row.get::<_, i64>(15)? as f64 / 1000.0,
        tokens: request.zip(result).map(|(request, result)| (request + result).unsigned_abs()),
        argument: arguments.map(|text| text.chars().take(ARGUMENT).collect()),
        kept_out: row
            .get::<_, Option<i64>>(16)?
            .zip(request.zip(result))
            .map(|(inside, (request, result))| inside - request - result),
    })
}

fn session_at(connection: &Connection, number: i64) -> Result<Option<SessionLine>, StoreError> {
    let text = format!("SELECT {SESSION} FROM sessions WHERE id = ?1");
    Ok(connection.prepare_cached(&text)?.query_row([number], session_of).optional()?)
}

fn session_of(row: &Row<'_>) -> rusqlite::Result<SessionLine> {
    let count = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
    let (program, version): (String, String) = (row.get(2)?, row.get(3)?);
    let spent = Spent {
        definitions: row.get(10)?,
        find: row.get(11)?,
        describe: row.get(12)?,
        wrapping: row.get(13)?,
    };
    let without: i64 = row.get(9)?;
    Ok(SessionLine {
        id: row.get(0)?,
        client: row.get(1)?,
        program: format!("{program} {version}").trim().to_owned(),
        era: row.get(4)?,
        started_ms: count(5)?,
        last_ms: count(6)?,
        calls: count(7)?,
        searches: count(8)?,
        without,
        spent,
        net: without - spent.sum(),
        counted: row.get::<_, i64>(14)? == 0,
    })
}

fn minutes(connection: &Connection, now_ms: u64) -> Result<Vec<Minute>, StoreError> {
    let first = (now_ms / 60_000).saturating_sub(59);
    let mut minutes = vec![Minute::default(); 60];
    let text = "SELECT time_ms / 60000, count(*), sum(outcome <> 'ok') FROM calls
                WHERE time_ms >= ?1 AND kind IN ('call', 'read', 'inside') GROUP BY 1";
    let mut rows = connection.prepare(text)?;
    let rows = rows.query_map([sql(first * 60_000)], |row| {
        let (minute, calls, failures): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((minute.unsigned_abs(), Minute { calls: calls.unsigned_abs(), failures: failures.unsigned_abs() }))
    })?;
    for row in rows {
        let (minute, counted) = row?;
        let place = usize::try_from(minute.saturating_sub(first)).unwrap_or(usize::MAX);
        if let Some(slot) = minutes.get_mut(place) {
            *slot = counted;
        }
    }
    Ok(minutes)
}

/// The use of each server in the last day.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn last_day(path: &Path, now_ms: u64) -> Result<LastDay, StoreError> {
    const PART_MS: u64 = 24 * 3_600_000 / DAY_PARTS as u64;
    let connection = schema::open_to_read(path)?;
    let first = (now_ms / PART_MS).saturating_sub(DAY_PARTS as u64 - 1);
    let mut day = LastDay::default();
    let text = "SELECT server, time_ms / ?2, count(*) FROM calls
                WHERE time_ms >= ?1 AND kind IN ('call', 'read', 'inside') AND server <> '' GROUP BY 1, 2";
    let mut rows = connection.prepare(text)?;
    let rows = rows.query_map([sql(first * PART_MS), sql(PART_MS)], |row| {
        let (server, part, calls): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((server, part.unsigned_abs(), calls.unsigned_abs()))
    })?;
    for row in rows {
        let (server, part, calls) = row?;
        let parts = day.calls.entry(server).or_insert_with(|| vec![0; DAY_PARTS]);
        let place = usize::try_from(part.saturating_sub(first)).unwrap_or(usize::MAX);
        if let Some(slot) = parts.get_mut(place) {
            *slot += calls;
        }
    }
    Ok(day)
}

/// One server's last 24 hours.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn server_day(path: &Path, server: &str, now_ms: u64) -> Result<ServerDay, StoreError> {
    let connection = schema::open_to_read(path)?;
    // A day is a small part of all calls of a server, so the time index is the better one.
    let text = format!(
        "SELECT client, outcome = 'ok', CASE WHEN outcome <> 'not_sent' THEN wait_us + start_us + upstream_us + ours_us END, time_ms
         FROM calls
         WHERE time_ms >= ?1 AND +server = ?2 AND kind IN ('call', 'read', 'inside') ORDER BY time_ms DESC LIMIT {DAY_CALLS}"
    );
    let mut rows = connection.prepare(&text)?;
    let rows =
        rows.query_map(rusqlite::params![sql(now_ms.saturating_sub(24 * 3_600_000)), server], |row| {
            let (client, good, took, at): (String, bool, Option<i64>, i64) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((client, good, took.map(i64::unsigned_abs), at.unsigned_abs()))
        })?;
    let (mut took, mut clients) = (Vec::new(), BTreeMap::<String, (u64, u64)>::new());
    let mut day = ServerDay::default();
    for row in rows {
        let (client, good, took_us, at_ms) = row?;
        took.extend(took_us);
        day.calls += 1;
        day.failures += u64::from(!good);
        let (calls, last_ms) = clients.entry(client).or_default();
        (*calls, *last_ms) = (*calls + 1, at_ms.max(*last_ms));
    }
    took.sort_unstable();
    day.timed = took.len() as u64;
    (day.median_ms, day.p95_ms) = (rank(&took, 50), rank(&took, 95));
    day.clients =
        clients.into_iter().map(|(client, (calls, last_ms))| ClientUse { client, calls, last_ms }).collect();
    day.clients.sort_by_key(|one| std::cmp::Reverse(one.calls));
    Ok(day)
}

/// The percentile of sorted microseconds, in milliseconds.
fn rank(sorted_us: &[u64], percent: usize) -> Option<f64> {
    let at = (sorted_us.len() * percent).div_ceil(100).checked_sub(1)?;
    Some(*sorted_us.get(at)? as f64 / 1000.0)
}

/// Everything known about one call; `None` if it is not in the ledger.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn call(path: &Path, id: i64) -> Result<Option<CallDetail>, StoreError> {
    let connection = schema::open_to_read(path)?;
    connection.execute_batch("BEGIN")?;
    let text = format!(
        "SELECT {LINE}, wait_us, start_us, upstream_us, ours_us, request_bytes, result_bytes, request_tokens,
           result_tokens, rule, client_era, server_era, trace, arguments, result FROM calls WHERE id = ?1"
    );
    let found = connection.query_row(&text, [id], detail_of).optional()?;
    let Some(mut detail) = found else { return Ok(None) };
    detail.session = session_at(&connection, detail.line.session)?;
    detail.route = route(&connection, &detail.line)?;
    match detail.line.kind.as_str() {
        "script" => detail.inside = inside(&connection, &detail)?,
        "inside" => detail.script = script_of(&connection, &detail)?,
        _ => {}
    }
    Ok(Some(detail))
}

fn detail_of(row: &Row<'_>) -> rusqlite::Result<CallDetail> {
    let ms = |at: usize| row.get::<_, i64>(at).map(|us| us as f64 / 1000.0);
    let count = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
    let some = |at: usize| row.get::<_, Option<i64>>(at).map(|number| number.map(i64::unsigned_abs));
    let rule: String = row.get(26)?;
    Ok(CallDetail {
        usual: UsualRule::read(&rule),
        consent: Consent::read(&rule),
        line: line_of(row)?,
        session: None,
        wait_ms: ms(18)?,
        start_ms: ms(19)?,
        upstream_ms: ms(20)?,
        ours_ms: ms(21)?,
        request_bytes: count(22)?,
        result_bytes: count(23)?,
        request_tokens: some(24)?,
        result_tokens: some(25)?,
        rule,
        client_era: row.get(27)?,
        server_era: row.get(28)?,
        trace: row.get(29)?,
        arguments: row.get(30)?,
        result: row.get(31)?,
        inside: Vec::new(),
        script: None,
        route: Vec::new(),
    })
}

/// The calls of a script: those with its trace, all written before it.
fn inside(connection: &Connection, script: &CallDetail) -> Result<Vec<CallLine>, StoreError> {
    let text = format!(
        "SELECT {LINE} FROM calls WHERE session = ?1 AND id < ?2 AND kind = 'inside' AND trace = ?3
         ORDER BY time_ms, id LIMIT {INSIDE}"
    );
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map(params![script.line.session, script.line.id, script.trace], line_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The script that a call belongs to.
fn script_of(connection: &Connection, call: &CallDetail) -> Result<Option<i64>, StoreError> {
    let text = "SELECT id FROM calls WHERE session = ?1 AND id > ?2 AND kind = 'script' AND trace = ?3
                ORDER BY id LIMIT 1";
    let found =
        connection.query_row(text, params![call.line.session, call.line.id, call.trace], |row| row.get(0));
    Ok(found.optional()?)
}

/// Searches and descriptions in the call's session since the previous call.
fn route(connection: &Connection, line: &CallLine) -> Result<Vec<CallLine>, StoreError> {
    let text = format!(
        "SELECT {LINE} FROM calls WHERE session = ?1 AND id < ?2 AND kind NOT IN ('call', 'read', 'inside', 'script')
           AND id > (SELECT coalesce(max(id), 0) FROM calls
                     WHERE session = ?1 AND id < ?2 AND kind IN ('call', 'read', 'inside'))
         ORDER BY id DESC LIMIT {STEPS}"
    );
    let mut rows = connection.prepare(&text)?;
    let rows = rows.query_map([line.session, line.id], line_of)?;
    let mut steps = rows.collect::<Result<Vec<_>, _>>()?;
    steps.reverse();
    Ok(steps)
}
