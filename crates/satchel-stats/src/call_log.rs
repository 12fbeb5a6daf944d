//! Exports the call history in order, each call with the rule that decided about it.

use std::path::Path;

use rusqlite::{Row, params};

use super::{
    schema::{self, StoreError},
    store::sql,
};
use crate::model::call_log::{CallLogLine, CallLogPage, CallLogQuery};

/// Default and maximum page size.
const PAGE: u32 = 1_000;

/// A page of the ledger at `path`, oldest first.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn page(path: &Path, ask: &CallLogQuery) -> Result<CallLogPage, StoreError> {
    let connection = schema::open_to_read(path)?;
    let limit = if ask.limit == 0 { PAGE } else { ask.limit.min(PAGE) };
    let text = "SELECT calls.id, time_ms, calls.client, coalesce(program || ' ' || version, ''), session, kind, server, tool,
                  rule, asked, outcome, code, message, wait_us + start_us + upstream_us + ours_us, arguments, result
                FROM calls LEFT JOIN sessions ON sessions.id = calls.session
                WHERE time_ms >= ?1 AND calls.id > ?2 ORDER BY calls.id LIMIT ?3";
    let mut rows = connection.prepare(text)?;
    let from = ask.from_ms.map_or(0, sql);
    let rows = rows.query_map(params![from, ask.after.unwrap_or(0), limit + 1], line_of)?;
    let mut lines = rows.collect::<Result<Vec<_>, _>>()?;
    let more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    Ok(CallLogPage { lines, more })
}

fn line_of(row: &Row<'_>) -> rusqlite::Result<CallLogLine> {
    let (time_ms, took_us): (i64, i64) = (row.get(1)?, row.get(13)?);
    let program: String = row.get(3)?;
    Ok(CallLogLine {
        id: row.get(0)?,
        time_ms: time_ms.unsigned_abs(),
        client: row.get(2)?,
        program: program.trim().to_owned(),
        session: row.get(4)?,
        kind: row.get(5)?,
        server: row.get(6)?,
        tool: row.get(7)?,
        rule: row.get(8)?,
        asked: row.get(9)?,
        outcome: row.get(10)?,
        code: row.get(11)?,
        message: row.get(12)?,
        took_ms: took_us as f64 / 1000.0,
        arguments: row.get(14)?,
        result: row.get(15)?,
    })
}
