//! Computes what sharing servers saved over time: processes that did not run and memory that was not used, weighted by
//! duration.

use std::time::Duration;

use rusqlite::{Connection, Transaction, params};

use super::{
    schema::StoreError,
    store::{hour, sql},
};
use crate::model::ledger::Sharing;

/// A number of processes and their resident memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Use {
    /// Processes.
    pub processes: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// A measurement while servers ran, and the time it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The time it covers.
    pub lasted: Duration,
    /// What the running servers use.
    pub used: Use,
    /// What they would use in addition without sharing.
    pub avoided: Use,
}

pub(super) fn record(transaction: &Transaction<'_>, measured: &Measured) -> Result<(), StoreError> {
    let ms = measured.lasted.as_millis().min(u128::from(u32::MAX)) as u64;
    let (used, avoided) = (measured.used, measured.avoided);
    let over = |what: u64| sql(what.saturating_mul(ms));
    transaction
        .prepare_cached(
            "INSERT INTO sharing (hour, ms, used_processes_ms, used_bytes_ms, avoided_processes_ms, avoided_bytes_ms,
               most_processes, most_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO UPDATE SET ms = ms + ?2, used_processes_ms = used_processes_ms + ?3,
               used_bytes_ms = used_bytes_ms + ?4, avoided_processes_ms = avoided_processes_ms + ?5,
               avoided_bytes_ms = avoided_bytes_ms + ?6, most_processes = max(most_processes, ?7),
               most_bytes = max(most_bytes, ?8)",
        )?
        .execute(params![
            hour(transaction, measured.at_ms)?,
            sql(ms),
            over(used.processes),
            over(used.memory_bytes),
            over(avoided.processes),
            over(avoided.memory_bytes),
            sql(avoided.processes),
            sql(avoided.memory_bytes),
        ])?;
    Ok(())
}

/// The savings from this hour on.
pub(super) fn since(connection: &Connection, from: i64) -> Result<Sharing, StoreError> {
    let text =
        "SELECT total(ms), total(used_processes_ms), total(used_bytes_ms), total(avoided_processes_ms),
                  total(avoided_bytes_ms), coalesce(max(most_processes), 0), coalesce(max(most_bytes), 0)
                FROM sharing WHERE hour >= ?1";
    Ok(connection.query_row(text, [from], |row| {
        let number = |at: usize| row.get::<_, f64>(at);
        let ms = number(0)?;
        let mean = |at: usize| Ok::<f64, rusqlite::Error>(if ms > 0.0 { number(at)? / ms } else { 0.0 });
        let most = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
        Ok(Sharing {
            measured_hours: ms / 3_600_000.0,
            used_processes: mean(1)?,
            used_memory_bytes: mean(2)? as u64,
            processes: mean(3)?,
            memory_bytes: mean(4)? as u64,
            most_processes: most(5)?,
            most_memory_bytes: most(6)?,
        })
    })?)
}
