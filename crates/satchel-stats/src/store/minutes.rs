//! Counts the calls of the last hour by minute, for the ledger's part of the snapshot.

use std::collections::VecDeque;

use rusqlite::Connection;

use super::{State, Store, day_of, hour, sql};
use crate::{
    model::ledger::{LedgerView, Minute},
    schema::StoreError,
};

/// Number of minutes in the live chart.
const MINUTES: u64 = 60;

impl Store {
    pub(super) fn minutes(
        connection: &Connection,
        now_ms: u64,
    ) -> Result<VecDeque<(u64, Minute)>, StoreError> {
        let from = now_ms.saturating_sub(MINUTES * 60_000);
        let mut rows = connection.prepare(
            "SELECT time_ms / 60000, count(*), sum(outcome <> 'ok') FROM calls
             WHERE time_ms >= ?1 AND kind IN ('call', 'read', 'inside') GROUP BY 1 ORDER BY 1",
        )?;
        let rows = rows.query_map([sql(from)], |row| {
            let (minute, calls, failures): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((
                minute.unsigned_abs(),
                Minute { calls: calls.unsigned_abs(), failures: failures.unsigned_abs() },
            ))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The ledger's part of the snapshot.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub fn view(&mut self, now_ms: u64) -> Result<LedgerView, StoreError> {
        self.state.now_ms = now_ms;
        let first = (now_ms / 60_000).saturating_sub(MINUTES - 1);
        while self.state.minutes.front().is_some_and(|(minute, _)| *minute < first) {
            self.state.minutes.pop_front();
        }
        let today = day_of(hour(&self.connection, now_ms)?);
        let net =
            "SELECT coalesce(sum(base + loaded - definitions - find - describe - wrapping), 0) FROM sessions
                   WHERE hour >= ?1 AND owed = 0 AND NOT face";
        let net_today = self.connection.prepare_cached(net)?.query_row([today], |row| row.get(0))?;
        Ok(LedgerView {
            newest: self.state.newest,
            counted: self.state.settled,
            calls_hour: self.state.minutes.iter().map(|(_, minute)| minute.calls).sum(),
            failures_hour: self.state.minutes.iter().map(|(_, minute)| minute.failures).sum(),
            net_today,
            // Set from the configuration.
            ..LedgerView::default()
        })
    }
}

impl State {
    pub(super) fn count_minute(&mut self, at_ms: u64, failed: bool) {
        let minute = at_ms / 60_000;
        self.now_ms = self.now_ms.max(at_ms);
        let place = match self.minutes.binary_search_by_key(&minute, |(minute, _)| *minute) {
            Ok(place) => place,
            Err(place) => {
                self.minutes.insert(place, (minute, Minute::default()));
                place
            }
        };
        let (_, counted) = &mut self.minutes[place];
        counted.calls += 1;
        counted.failures += u64::from(failed);
        while self.minutes.len() as u64 > MINUTES + 1 {
            self.minutes.pop_front();
        }
    }
}
