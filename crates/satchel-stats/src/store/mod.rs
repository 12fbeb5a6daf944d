//! Writes events to the database. Rows are written first, without token counts; uncounted texts stay in memory, are
//! handed out for counting, and their counts are added later. Blocks; uses no clock but the events' own times.

mod amounts;
mod baselines;
mod calls;
mod counting;
mod hours;
mod minutes;
mod sessions;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::{Connection, Transaction};

pub(super) use self::amounts::Part;
use self::{
    baselines::MadeOf,
    counting::{AMOUNTS, Due, What},
    hours::Hours,
    sessions::{Key, Open},
};
use super::{
    audit,
    definitions::Hash,
    event::Event,
    retention,
    schema::{self, Damaged, StoreError},
    sharing,
    succession::Succession,
    sums::Sums,
};
use crate::model::ledger::Minute;

/// The pause that ends a session, in milliseconds: after it, a client has a new list in its context.
pub const PAUSE: u64 = 30 * 60 * 1000;

/// A text to be counted.
pub type Uncounted = (Hash, Arc<str>);

/// The ledger's only writer.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    tokenizer: String,
    state: State,
}

/// State besides the database.
#[derive(Debug)]
struct State {
    tokenizer: i64,
    sessions: HashMap<Key, Open>,
    succession: Succession,
    dues: Vec<Due>,
    most_dues: usize,
    /// The sums of the present batch.
    sums: Sums,
    hours: Hours,
    /// The inputs of the last few baselines, newest first: computing one for many servers takes a while.
    baselines: VecDeque<MadeOf>,
    waiting: HashMap<Hash, Arc<str>>,
    waiting_bytes: usize,
    counts: HashMap<Hash, i64>,
    minutes: VecDeque<(u64, Minute)>,
    newest: i64,
    /// How often amounts were settled.
    settled: u64,
    now_ms: u64,
}

impl Store {
    /// Opens the ledger at `path`. `tokenizer` names the tokenizer and its version.
    ///
    /// # Errors
    /// [`StoreError`] if nothing can be recorded.
    pub fn open(path: &Path, tokenizer: &str, now_ms: u64) -> Result<(Self, Option<Damaged>), StoreError> {
        let (connection, damaged) = schema::open(path)?;
        let store = Self::with(path, connection, tokenizer, now_ms);
        match store {
            Ok(store) => Ok((store, damaged)),
            Err(error) if error.is_damage() => {
                let aside = schema::set_aside(path)?;
                let (connection, _) = schema::open(path)?;
                Ok((Self::with(path, connection, tokenizer, now_ms)?, Some(Damaged { aside })))
            }
            Err(error) => Err(error),
        }
    }

    fn with(path: &Path, connection: Connection, tokenizer: &str, now_ms: u64) -> Result<Self, StoreError> {
        audit::resume(&connection, path, now_ms)?;
        connection.execute("INSERT OR IGNORE INTO tokenizers (name) VALUES (?1)", [tokenizer])?;
        let id = "SELECT id FROM tokenizers WHERE name = ?1";
        let tokenizer_id = connection.query_row(id, [tokenizer], |row| row.get(0))?;
        let newest = connection.query_row("SELECT coalesce(max(id), 0) FROM calls", [], |row| row.get(0))?;
        let state = State {
            tokenizer: tokenizer_id,
            sessions: HashMap::new(),
            succession: Succession::default(),
            dues: Vec::new(),
            most_dues: AMOUNTS,
            sums: Sums::default(),
            hours: Hours::default(),
            baselines: VecDeque::new(),
            waiting: HashMap::new(),
            waiting_bytes: 0,
            counts: HashMap::new(),
            minutes: Self::minutes(&connection, now_ms)?,
            newest,
            settled: 0,
            now_ms,
        };
        Ok(Self { path: path.to_owned(), connection, tokenizer: tokenizer.to_owned(), state })
    }

    /// Checks every page, and moves a damaged ledger aside. Takes long for a large one.
    ///
    /// # Errors
    /// [`StoreError`] if no new one can be created.
    pub fn check(&mut self) -> Result<Option<Damaged>, StoreError> {
        if schema::is_sound(&self.connection) { Ok(None) } else { self.begin_anew().map(Some) }
    }

    /// Records events. If the ledger turns out to be damaged, it is moved aside and they go into the new one.
    ///
    /// # Errors
    /// [`StoreError`] if they could not be recorded; they are lost then.
    pub fn record(&mut self, events: &[Event]) -> Result<Option<Damaged>, StoreError> {
        // Earlier amounts wait for a count, and none comes with events.
        let mut owed = self.state.dues.len();
        let damaged = match self.write(events) {
            Ok(()) => None,
            Err(error) if error.is_damage() => {
                let damaged = self.begin_anew()?;
                owed = 0;
                self.write(events)?;
                Some(damaged)
            }
            Err(error) => return Err(error),
        };
        if events.iter().any(|event| matches!(event, Event::Audit(_))) {
            self.remember_audit();
        }
        self.settle(owed)?;
        Ok(damaged)
    }

    /// The records are written even if this fails: without it, truncating them again would go unnoticed.
    fn remember_audit(&self) {
        if let Err(error) = audit::remember_head(&self.connection, &self.path) {
            tracing::warn!(%error, "cannot remember where the audit log ends");
        }
    }

    fn begin_anew(&mut self) -> Result<Damaged, StoreError> {
        // Windows requires the file to be closed before it is moved.
        self.connection = Connection::open_in_memory()?;
        let aside = schema::set_aside(&self.path)?;
        let (connection, _) = schema::open(&self.path)?;
        let (path, tokenizer) = (self.path.clone(), self.tokenizer.clone());
        *self = Self::with(&path, connection, &tokenizer, self.state.now_ms)?;
        Ok(Damaged { aside })
    }

    fn write(&mut self, events: &[Event]) -> Result<(), StoreError> {
        let (dues, newest) = (self.state.dues.len(), self.state.newest);
        let written = self.write_all(events);
        if written.is_err() {
            // Amounts and sessions of the rolled-back transaction do not exist.
            self.state.dues.truncate(dues);
            self.state.newest = newest;
            self.state.sessions.clear();
            self.state.sums = Sums::default();
            self.state.baselines.clear();
        }
        written
    }

    fn write_all(&mut self, events: &[Event]) -> Result<(), StoreError> {
        // A power failure may lose calls, which saves a sync for each batch; but not audit records.
        let lasting = events.iter().any(|event| matches!(event, Event::Audit(_)));
        if lasting {
            self.connection.pragma_update(None, "synchronous", "FULL")?;
        }
        let written = self.write_transaction(events);
        if lasting {
            self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        }
        written
    }

    fn write_transaction(&mut self, events: &[Event]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for event in events {
            self.state.take(&transaction, event)?;
        }
        self.state.sums.write(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Records that this many events could not be recorded.
    ///
    /// # Errors
    /// [`StoreError`] if even that cannot be written.
    pub fn lost(&self, events: u64) -> Result<(), StoreError> {
        let sql_text = "INSERT INTO facts (name, value) VALUES ('lost', ?1) ON CONFLICT DO UPDATE SET value = value + ?1";
        self.connection.execute(sql_text, [sql(events)])?;
        Ok(())
    }

    /// Deletes what is too old, and the oldest if there is too much.
    ///
    /// # Errors
    /// [`StoreError`]; nothing or a part is deleted then.
    pub fn retain(&mut self, now_ms: u64, days: u32, bytes: u64) -> Result<(), StoreError> {
        retention::retain(&self.connection, now_ms, days, bytes)?;
        if audit::retain(&self.connection, now_ms)? {
            self.remember_audit();
        }
        Ok(())
    }

    /// Deletes the history: every call with everything stored about it. Totals remain unless `sums` is set.
    ///
    /// # Errors
    /// [`StoreError`]; it may still exist then.
    pub fn delete_history(&mut self, sums: bool) -> Result<(), StoreError> {
        // First, so that its old content is no longer in the file.
        if audit::delete(&self.connection, self.state.now_ms)? {
            self.remember_audit();
        }
        retention::delete(&self.connection, sums)?;
        // A ledger that was moved aside contains history too.
        crate::files::remove_asides(&self.path)?;
        self.state.minutes.clear();
        // Amounts for deleted calls are dropped; those for totals remain.
        self.state.dues.retain(|due| !sums && !matches!(due.what, What::Tokens { .. }));
        if sums {
            self.state.sessions.clear();
        }
        let needed: HashSet<Hash> =
            self.state.dues.iter().flat_map(|due| due.needs.iter().copied()).collect();
        self.state.waiting.retain(|hash, _| needed.contains(hash));
        self.state.waiting_bytes = self.state.waiting.values().map(|text| text.len()).sum();
        self.state.counts.retain(|hash, _| needed.contains(hash));
        if sums {
            let (path, tokenizer) = (self.path.clone(), self.tokenizer.clone());
            let connection = std::mem::replace(&mut self.connection, Connection::open_in_memory()?);
            let newest = self.state.newest;
            *self = Self::with(&path, connection, &tokenizer, self.state.now_ms)?;
            self.state.newest = newest;
        }
        Ok(())
    }
}

impl State {
    fn take(&mut self, transaction: &Transaction<'_>, event: &Event) -> Result<(), StoreError> {
        match event {
            Event::Listed { visit, at_ms, definitions, offers } => {
                self.listed(transaction, visit, *at_ms, definitions, offers)
            }
            Event::Called(called) => self.called(transaction, called),
            Event::Measured(measured) => sharing::record(transaction, measured),
            Event::Audit(event) => Ok(audit::append(transaction, event)?),
        }
    }
}

/// The first hour of an hour's day.
pub(super) fn day_of(hour: i64) -> i64 {
    hour / 100 * 100
}

/// The local hour of a moment, as 2026112113.
pub(super) fn hour(connection: &Connection, at_ms: u64) -> Result<i64, StoreError> {
    let text = "SELECT CAST(strftime('%Y%m%d%H', ?1 / 1000, 'unixepoch', 'localtime') AS INTEGER)";
    Ok(connection.prepare_cached(text)?.query_row([sql(at_ms)], |row| row.get(0))?)
}

/// Converts to SQLite's number type.
pub(super) fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn size(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
