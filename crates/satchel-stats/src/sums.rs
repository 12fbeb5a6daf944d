//! Computes what one batch of events adds to the totals, in memory, as one row per key. A batch of a thousand calls of one tool
//! changes one hour, one day and one session. Reads nothing.

use std::{collections::HashMap, sync::Arc};

use rusqlite::{Transaction, params};

use super::{
    event::Split,
    schema::StoreError,
    store::{Part, day_of},
};

/// Number of histogram buckets.
const STEPS: usize = 16;

/// The key of a call's totals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct HoursKey {
    /// The local hour.
    pub(super) hour: i64,
    pub(super) client: String,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) kind: &'static str,
    pub(super) profile: String,
}

/// The key of a tool's share of costs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CostKey {
    pub(super) hour: i64,
    pub(super) client: Arc<str>,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) profile: Arc<str>,
    pub(super) part: Part,
}

/// A call to be added.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneCall {
    pub(super) failed: bool,
    /// A call that was refused or blocked has no duration.
    pub(super) sent: bool,
    pub(super) request_bytes: i64,
    pub(super) result_bytes: i64,
    pub(super) time: Split,
}

/// Everything to be added.
#[derive(Debug, Default)]
pub(super) struct Sums {
    calls: HashMap<Arc<HoursKey>, Calls>,
    tokens: HashMap<Arc<HoursKey>, TokenSums>,
    sessions: HashMap<i64, Session>,
    costs: HashMap<CostKey, i64>,
}

#[derive(Debug, Default)]
struct Calls {
    calls: i64,
    failures: i64,
    request_bytes: i64,
    result_bytes: i64,
    /// Waiting, starting, in the server, in the hub: microseconds.
    times: [i64; 4],
    took: [i64; STEPS],
}

#[derive(Debug, Default)]
struct TokenSums {
    request: i64,
    answer: i64,
    calls: i64,
}

#[derive(Debug, Default)]
struct Session {
    last_ms: i64,
    calls: i64,
    searches: i64,
    owed: i64,
    parts: HashMap<Part, i64>,
}

impl Sums {
    /// Adds a finished call.
    pub(super) fn called(&mut self, key: &Arc<HoursKey>, call: &OneCall) {
        let us = |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let Split { wait, start, upstream, ours } = call.time;
        let sum = self.calls.entry(key.clone()).or_default();
        sum.calls += 1;
        sum.failures += i64::from(call.failed);
        sum.request_bytes = sum.request_bytes.saturating_add(call.request_bytes);
        sum.result_bytes = sum.result_bytes.saturating_add(call.result_bytes);
        for (sum, time) in sum.times.iter_mut().zip([wait, start, upstream, ours]) {
            *sum = sum.saturating_add(us(time));
        }
        sum.took[bucket(call.time.whole())] += i64::from(call.sent);
    }

    /// Adds the token counts of a call.
    pub(super) fn counted(&mut self, key: &Arc<HoursKey>, request: i64, answer: i64) {
        let sum = self.tokens.entry(key.clone()).or_default();
        sum.request += request;
        sum.answer += answer;
        sum.calls += 1;
    }

    /// Records activity of a session.
    pub(super) fn heard(&mut self, session: i64, at_ms: i64) {
        let sum = self.sessions.entry(session).or_default();
        sum.last_ms = sum.last_ms.max(at_ms);
    }

    /// Adds a call or search to a session.
    pub(super) fn used(&mut self, session: i64, searched: bool) {
        let sum = self.sessions.entry(session).or_default();
        *if searched { &mut sum.searches } else { &mut sum.calls } += 1;
    }

    /// Adds an uncounted amount to a session.
    pub(super) fn owes(&mut self, session: i64) {
        self.sessions.entry(session).or_default().owed += 1;
    }

    /// Settles an amount of a session.
    pub(super) fn pays(&mut self, session: i64, part: Part, tokens: i64) {
        let sum = self.sessions.entry(session).or_default();
        sum.owed -= 1;
        *sum.parts.entry(part).or_default() += tokens;
    }

    /// Adds a tool's share of it.
    pub(super) fn costs(&mut self, key: CostKey, tokens: i64) {
        *self.costs.entry(key).or_default() += tokens;
    }

    /// Writes everything.
    pub(super) fn write(&mut self, to: &Transaction<'_>) -> Result<(), StoreError> {
        self.write_sessions(to)?;
        for (key, sum) in self.calls.drain() {
            write_calls(to, &key, &sum)?;
        }
        for (key, sum) in self.tokens.drain() {
            write_tokens(to, &key, &sum)?;
        }
        for (key, tokens) in self.costs.drain() {
            write_costs(to, &key, tokens)?;
        }
        Ok(())
    }

    /// Writes the sessions' part, for those that query it.
    pub(super) fn write_sessions(&mut self, to: &Transaction<'_>) -> Result<(), StoreError> {
        for (row, Session { last_ms, calls, searches, owed, parts }) in self.sessions.drain() {
            to.prepare_cached(
                "UPDATE sessions SET last_ms = max(last_ms, ?2), calls = calls + ?3, searches = searches + ?4,
                   owed = owed + ?5 WHERE id = ?1",
            )?
            .execute(params![row, last_ms, calls, searches, owed])?;
            for (part, tokens) in parts {
                let column = part.column();
                to.prepare_cached(&format!("UPDATE sessions SET {column} = {column} + ?2 WHERE id = ?1"))?
                    .execute(params![row, tokens])?;
            }
        }
        Ok(())
    }
}

/// Under the hour and under its day.
fn write_calls(to: &Transaction<'_>, key: &HoursKey, sum: &Calls) -> Result<(), StoreError> {
    let took: Vec<usize> = (0..STEPS).filter(|step| sum.took[*step] > 0).collect();
    for (table, hour) in [("hours", key.hour), ("days", day_of(key.hour))] {
        to.prepare_cached(&format!(
            "INSERT INTO {table} (hour, client, server, tool, kind, calls, failures, request_bytes, result_bytes,
               uncounted, wait_us, start_us, upstream_us, ours_us, profile)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?6, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT DO UPDATE SET calls = calls + ?6, failures = failures + ?7,
               request_bytes = request_bytes + ?8, result_bytes = result_bytes + ?9, uncounted = uncounted + ?6,
               wait_us = wait_us + ?10, start_us = start_us + ?11, upstream_us = upstream_us + ?12,
               ours_us = ours_us + ?13"
        ))?
        .execute(params![
            hour,
            key.client,
            key.server,
            key.tool,
            key.kind,
            sum.calls,
            sum.failures,
            sum.request_bytes,
            sum.result_bytes,
            sum.times[0],
            sum.times[1],
            sum.times[2],
            sum.times[3],
            key.profile,
        ])?;
        for step in &took {
            to.prepare_cached(&format!(
                "UPDATE {table} SET took_{step} = took_{step} + ?6
                 WHERE hour = ?1 AND client = ?2 AND server = ?3 AND tool = ?4 AND kind = ?5 AND profile = ?7"
            ))?
            .execute(params![
                hour,
                key.client,
                key.server,
                key.tool,
                key.kind,
                sum.took[*step],
                key.profile
            ])?;
        }
    }
    Ok(())
}

/// Only for existing rows: deleted totals must not come back.
fn write_tokens(to: &Transaction<'_>, key: &HoursKey, sum: &TokenSums) -> Result<(), StoreError> {
    for (table, hour) in [("hours", key.hour), ("days", day_of(key.hour))] {
        to.prepare_cached(&format!(
            "UPDATE {table} SET request_tokens = request_tokens + ?6, result_tokens = result_tokens + ?7,
               uncounted = uncounted - ?8
             WHERE hour = ?1 AND client = ?2 AND server = ?3 AND tool = ?4 AND kind = ?5 AND profile = ?9"
        ))?
        .execute(params![
            hour,
            key.client,
            key.server,
            key.tool,
            key.kind,
            sum.request,
            sum.answer,
            sum.calls,
            key.profile
        ])?;
    }
    Ok(())
}

fn write_costs(to: &Transaction<'_>, key: &CostKey, tokens: i64) -> Result<(), StoreError> {
    let column = key.part.column();
    for (table, hour) in [("tool_costs", key.hour), ("tool_costs_days", day_of(key.hour))] {
        to.prepare_cached(&format!(
            "INSERT INTO {table} (hour, client, server, tool, {column}, profile) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET {column} = {column} + ?5"
        ))?
        .execute(params![hour, key.client, key.server, key.tool, tokens, key.profile])?;
    }
    Ok(())
}

/// The histogram bucket of a duration.
fn bucket(took: std::time::Duration) -> usize {
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    ((u64::BITS - ms.leading_zeros()) as usize).min(STEPS - 1)
}
