//! Finds the hour and the row of sums under which a call is added up, and keeps the last ones.

use std::sync::Arc;

use rusqlite::Transaction;

use super::hour;
use crate::{event::Called, model::ledger::CallKind, schema::StoreError, sums::HoursKey};

/// A quarter of an hour, in milliseconds.
const QUARTER: u64 = 15 * 60 * 1000;

/// The last hour and the last row of sums.
#[derive(Debug, Default)]
pub(super) struct Hours {
    /// The last computed local hour, and its quarter of an hour: in all time zones, hours change at a quarter.
    quarter: Option<(u64, i64)>,
    /// Where the last call was added up: most calls come in rows of one kind.
    line: Option<Arc<HoursKey>>,
}

impl Hours {
    /// Where a call of this hour is added up.
    pub(super) fn line(&mut self, hour: i64, called: &Called) -> Arc<HoursKey> {
        // Sums stay for ever, so they have no line for every name that somebody makes up.
        let tool = match called.kind {
            CallKind::Read => "(resource)",
            CallKind::Call | CallKind::Inside if called.server.is_empty() => "(no such tool)",
            CallKind::Call
            | CallKind::Find
            | CallKind::Describe
            | CallKind::Resources
            | CallKind::Script
            | CallKind::Inside => &called.tool,
        };
        let (kind, visit) = (called.kind.as_str(), &called.visit);
        let is_it = |line: &&Arc<HoursKey>| {
            line.hour == hour
                && line.kind == kind
                && line.tool == tool
                && line.server == called.server
                && line.client == visit.client
                && line.profile == visit.profile
        };
        if let Some(line) = self.line.as_ref().filter(is_it) {
            return line.clone();
        }
        let (client, profile) = (visit.client.clone(), visit.profile.clone());
        let (server, tool) = (called.server.clone(), tool.to_owned());
        let line = Arc::new(HoursKey { hour, client, server, tool, kind, profile });
        self.line = Some(line.clone());
        line
    }

    /// The local hour of a moment.
    pub(super) fn hour(&mut self, transaction: &Transaction<'_>, at_ms: u64) -> Result<i64, StoreError> {
        let quarter = at_ms / QUARTER;
        if let Some((_, hour)) = self.quarter.filter(|(of, _)| *of == quarter) {
            return Ok(hour);
        }
        let hour = hour(transaction, at_ms)?;
        self.quarter = Some((quarter, hour));
        Ok(hour)
    }
}
