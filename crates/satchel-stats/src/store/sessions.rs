//! Finds the session of a visit: it continues one in memory, reads one back from the database, or begins a new one.

use std::{collections::HashSet, sync::Arc};

use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    PAUSE, State,
    amounts::{Amount, Part},
    baselines::Baseline,
    hour, sql,
};
use crate::{
    definitions::{Definitions, Hash},
    event::{Offers, Visit},
    schema::StoreError,
    succession::List,
};

/// Number of sessions kept in memory; others start again or are read back.
const SESSIONS: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The first of several that continue each other.
    Legacy(u64),
    Stateless {
        client: String,
        program: String,
        version: String,
        only: String,
    },
}

/// A session that may continue.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) row: i64,
    pub(super) hour: i64,
    pub(super) client: Arc<str>,
    /// The profile it began with.
    pub(super) profile: Arc<str>,
    last_ms: u64,
    pub(super) defers: bool,
    pub(super) listed: Option<Hash>,
    pub(super) baseline: Baseline,
    /// Tools whose definitions a deferring client has loaded.
    pub(super) loaded: Arc<HashSet<(String, String)>>,
}

impl State {
    pub(super) fn listed(
        &mut self,
        transaction: &Transaction<'_>,
        visit: &Visit,
        at_ms: u64,
        definitions: &Arc<Definitions>,
        offers: &Offers,
    ) -> Result<(), StoreError> {
        let key = self.session(transaction, visit, at_ms)?;
        if let Some(session) = visit.session {
            let list = List { at_ms, definitions: definitions.clone(), offers: offers.clone() };
            self.succession.listed(session, list);
        }
        let hash = definitions.hash();
        if !visit.face {
            self.baseline(transaction, &key, offers)?;
        }
        let Some(open) = self.sessions.get_mut(&key) else { return Ok(()) };
        // Requesting the same list again replaces it in the client.
        if open.listed == Some(hash) {
            return Ok(());
        }
        open.listed = Some(hash);
        let open = open.clone();
        transaction
            .prepare_cached("UPDATE sessions SET listed = ?2 WHERE id = ?1")?
            .execute(params![open.row, hash])?;
        self.cost(transaction, &open, Part::Definitions, Amount::of_list(definitions.clone()))
    }

    /// The session of a visit: a continuing one, or a new one.
    pub(super) fn session(
        &mut self,
        transaction: &Transaction<'_>,
        visit: &Visit,
        at_ms: u64,
    ) -> Result<Key, StoreError> {
        let Visit { client, program, version, only, .. } = visit;
        let key = match visit.session {
            Some(number) => {
                let found = self.succession.find(number, visit, at_ms);
                if let Some((apart, list)) = found.apart {
                    self.begin_apart(
                        transaction,
                        &Visit { session: Some(apart), ..visit.clone() },
                        at_ms,
                        list,
                    )?;
                }
                Key::Legacy(found.chain)
            }
            None => Key::Stateless {
                client: client.clone(),
                program: program.clone(),
                version: version.clone(),
                only: only.clone(),
            },
        };
        let over = |open: &Open| visit.session.is_none() && at_ms.saturating_sub(open.last_ms) > PAUSE;
        if self.sessions.get(&key).is_none_or(over) {
            self.sums.write_sessions(transaction)?;
            let open = match resume(transaction, visit, at_ms)? {
                Some(open) => open,
                None => self.begin(transaction, visit, at_ms)?,
            };
            self.remember(key.clone(), open);
        }
        if let Some(open) = self.sessions.get_mut(&key) {
            open.last_ms = open.last_ms.max(at_ms);
            self.sums.heard(open.row, sql(at_ms));
        }
        Ok(key)
    }

    /// Starts a session that was mistaken for the continuation of another one.
    fn begin_apart(
        &mut self,
        transaction: &Transaction<'_>,
        visit: &Visit,
        at_ms: u64,
        list: Option<List>,
    ) -> Result<(), StoreError> {
        let Some(session) = visit.session else { return Ok(()) };
        let began_ms = list.as_ref().map_or(at_ms, |list| list.at_ms);
        let open = self.begin(transaction, visit, began_ms)?;
        self.remember(Key::Legacy(session), open);
        match list {
            Some(List { at_ms, definitions, offers }) => {
                self.listed(transaction, visit, at_ms, &definitions, &offers)
            }
            None => Ok(()),
        }
    }

    fn remember(&mut self, key: Key, open: Open) {
        let oldest = || self.sessions.iter().min_by_key(|(_, open)| open.last_ms).map(|(key, _)| key.clone());
        if self.sessions.len() >= SESSIONS
            && let Some(oldest) = oldest()
        {
            self.sessions.remove(&oldest);
        }
        self.sessions.insert(key, open);
    }

    fn begin(&self, transaction: &Transaction<'_>, visit: &Visit, at_ms: u64) -> Result<Open, StoreError> {
        let defers = visit.defers;
        let hour = hour(transaction, at_ms)?;
        transaction
            .prepare_cached(
                "INSERT INTO sessions (client, program, version, era, continues, started_ms, last_ms, hour, tokenizer,
                   defers, face, only_server, profile)
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                visit.client,
                visit.program,
                visit.version,
                visit.era,
                sql(at_ms),
                hour,
                self.tokenizer,
                defers,
                visit.face,
                visit.only,
                visit.profile,
            ])?;
        Ok(Open {
            row: transaction.last_insert_rowid(),
            hour,
            client: visit.client.as_str().into(),
            profile: visit.profile.as_str().into(),
            last_ms: at_ms,
            defers,
            listed: None,
            baseline: Baseline::None,
            loaded: Arc::default(),
        })
    }
}

/// A session from an earlier run of the hub, or one evicted from memory.
fn resume(transaction: &Transaction<'_>, visit: &Visit, at_ms: u64) -> Result<Option<Open>, StoreError> {
    let found = transaction
        .prepare_cached(
            "SELECT id, hour, last_ms, defers, listed, baseline IS NOT NULL, profile FROM sessions
             WHERE continues AND last_ms >= ?1 AND client = ?2 AND program = ?3 AND version = ?4 AND only_server = ?5
               AND id > (SELECT coalesce(max(id), 0) FROM sessions) - 1000
             ORDER BY last_ms DESC LIMIT 1",
        )?
        .query_row(
            params![sql(at_ms.saturating_sub(PAUSE)), visit.client, visit.program, visit.version, visit.only],
            |row| {
                let last_ms: i64 = row.get(2)?;
                let settled: bool = row.get(5)?;
                Ok(Open {
                    row: row.get(0)?,
                    hour: row.get(1)?,
                    client: visit.client.as_str().into(),
                    profile: row.get::<_, String>(6)?.into(),
                    last_ms: last_ms.unsigned_abs(),
                    defers: row.get(3)?,
                    listed: row.get(4)?,
                    baseline: if settled { Baseline::Settled } else { Baseline::None },
                    loaded: Arc::default(),
                })
            },
        )
        .optional()?;
    let Some(mut open) = found else { return Ok(None) };
    let mut used = transaction
        .prepare_cached("SELECT DISTINCT server, tool FROM calls WHERE session = ?1 AND kind = 'call'")?;
    let used = used.query_map([open.row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    open.loaded = Arc::new(used.collect::<Result<_, _>>()?);
    Ok(Some(open))
}
