//! Writes events to the database. Rows are written first, without token counts; uncounted texts stay in memory, are
//! handed out for counting, and their counts are added later. Blocks; uses no clock but the events' own times.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{
    audit, deferring,
    definitions::{Definitions, Hash, compact, hash},
    event::{Body, Called, Event, Offered, Offers, Visit},
    retention,
    schema::{self, Damaged, StoreError},
    sharing,
    succession::{List, Succession},
    sums::{CostKey, HoursKey, OneCall, Sums},
};
use crate::model::{
    ToolPath,
    ledger::{CallKind, LedgerView, Minute},
};

/// The pause that ends a session, in milliseconds: after it, a client has a new list in its context.
pub const PAUSE: u64 = 30 * 60 * 1000;
/// Maximum size of texts that wait to be counted, in bytes. Beyond it, they are marked as not counted.
const WAITING: usize = 16 * 1024 * 1024;
/// Maximum number of amounts that wait for counts. Beyond it, calls are marked as not counted.
const AMOUNTS: usize = 200_000;
/// Size of a portion of texts to count, in bytes.
const PORTION: usize = 4 * 1024 * 1024;
/// Number of token counts kept in memory.
const REMEMBERED: usize = 20_000;
/// Number of baselines whose inputs are cached.
const BASELINES: usize = 8;
/// Number of sessions kept in memory; others start again or are read back.
const SESSIONS: usize = 1024;
/// Maximum length of a failure's message.
const MESSAGE: usize = 500;
/// A quarter of an hour, in milliseconds.
const QUARTER: u64 = 15 * 60 * 1000;
/// Number of minutes in the live chart.
const MINUTES: u64 = 60;

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
    /// The last computed local hour, and its quarter of an hour: in all time zones, hours change at a quarter.
    quarter: Option<(u64, i64)>,
    /// The inputs of the last few baselines, newest first: computing one for many servers takes a while.
    baselines: VecDeque<MadeOf>,
    /// Where the last call was added up: most calls come in rows of one kind.
    line: Option<Arc<HoursKey>>,
    waiting: HashMap<Hash, Arc<str>>,
    waiting_bytes: usize,
    counts: HashMap<Hash, i64>,
    minutes: VecDeque<(u64, Minute)>,
    newest: i64,
    /// How often amounts were settled.
    settled: u64,
    now_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
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
struct Open {
    row: i64,
    hour: i64,
    client: Arc<str>,
    /// The profile it began with.
    profile: Arc<str>,
    last_ms: u64,
    defers: bool,
    listed: Option<Hash>,
    baseline: Baseline,
    /// Tools whose definitions a deferring client has loaded.
    loaded: Arc<HashSet<(String, String)>>,
}

#[derive(Debug, Clone)]
enum Baseline {
    /// Nothing was offered yet.
    None,
    /// Of these servers, with this part counted already; more is added from servers that had not been read.
    Of { servers: Arc<BTreeSet<String>>, unread: Arc<BTreeSet<String>>, hash: Hash },
    /// Read back from the database.
    Settled,
}

/// A baseline that is or will be counted, and its inputs.
#[derive(Debug)]
struct MadeOf {
    offers: Weak<Vec<Offered>>,
    servers: Arc<BTreeSet<String>>,
    defers: bool,
    hash: Hash,
    row: i64,
}

/// Amounts that are added when their texts are counted.
#[derive(Debug)]
struct Due {
    needs: Vec<Hash>,
    what: What,
}

#[derive(Debug)]
enum What {
    Tokens {
        call: i64,
        hours: Arc<HoursKey>,
        request: Option<Hash>,
        answer: Option<Hash>,
    },
    Cost {
        session: i64,
        hour: i64,
        client: Arc<str>,
        profile: Arc<str>,
        part: Part,
        plus: Vec<Hash>,
        minus: Vec<Hash>,
        shares: Vec<Share>,
    },
    Tools {
        baseline: i64,
        tools: Vec<(String, String, Hash)>,
    },
}

/// The first hour of an hour's day.
pub(super) fn day_of(hour: i64) -> i64 {
    hour / 100 * 100
}

/// A column of `sessions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Base,
    Loaded,
    Definitions,
    Find,
    Describe,
    Wrapping,
}

impl Part {
    pub(super) fn column(self) -> &'static str {
        match self {
            Part::Base => "base",
            Part::Loaded => "loaded",
            Part::Definitions => "definitions",
            Part::Find => "find",
            Part::Describe => "describe",
            Part::Wrapping => "wrapping",
        }
    }
}

/// A text whose token count is needed. Created only if it is unknown.
#[derive(Debug)]
enum Text {
    Here(Arc<str>),
    List(Arc<Definitions>),
    /// Requested before: counted or waiting.
    Before,
}

impl Text {
    fn get(self) -> Option<Arc<str>> {
        match self {
            Text::Here(text) => Some(text),
            Text::List(definitions) => Some(definitions.compact()),
            Text::Before => None,
        }
    }
}

/// The tokens of some texts minus those of others, and the tools they are attributed to.
#[derive(Debug, Default)]
struct Amount {
    plus: Vec<(Hash, Text)>,
    minus: Vec<(Hash, Text)>,
    shares: Vec<Share>,
}

/// The texts of a call, each hashed once.
struct CallTexts {
    request: Option<(Hash, Arc<str>)>,
    answer: Option<(Hash, Arc<str>)>,
    direct: Option<(Hash, Arc<str>)>,
}

impl CallTexts {
    fn of(called: &Called) -> Self {
        let hashed = |body: &Body| body.text.as_ref().map(|text| (hash(text), text.clone()));
        Self {
            request: hashed(&called.request),
            answer: hashed(&called.answer),
            direct: called.direct.as_ref().and_then(hashed),
        }
    }
}

/// The tokens of a call.
enum CallTokens {
    /// They are known: those of its request and of its answer.
    Known(i64, i64),
    /// They will be.
    Awaited,
    /// They will not be counted.
    Never,
}

impl Amount {
    fn hashed(plus: impl IntoIterator<Item = (Hash, Arc<str>)>) -> Self {
        let plus = plus.into_iter().map(|(hash, text)| (hash, Text::Here(text))).collect();
        Self { plus, ..Self::default() }
    }

    fn of(plus: impl IntoIterator<Item = Arc<str>>) -> Self {
        let plus = plus.into_iter().map(|text| (hash(&text), Text::Here(text))).collect();
        Self { plus, ..Self::default() }
    }

    fn of_list(definitions: Arc<Definitions>) -> Self {
        Self { plus: vec![(definitions.hash(), Text::List(definitions))], ..Self::default() }
    }

    fn less(self, minus: impl IntoIterator<Item = (Hash, Arc<str>)>) -> Self {
        Self { minus: minus.into_iter().map(|(hash, text)| (hash, Text::Here(text))).collect(), ..self }
    }

    /// Minus what was requested before.
    fn less_than_before(self, before: Option<Hash>) -> Self {
        Self { minus: before.into_iter().map(|hash| (hash, Text::Before)).collect(), ..self }
    }

    fn on(self, shares: Vec<Share>) -> Self {
        Self { shares, ..self }
    }
}

/// A tool's share of a cost.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Share {
    server: String,
    tool: String,
    weight: usize,
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
            quarter: None,
            baselines: VecDeque::new(),
            line: None,
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

    fn minutes(connection: &Connection, now_ms: u64) -> Result<VecDeque<(u64, Minute)>, StoreError> {
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

    /// The next portion of texts to count.
    pub fn uncounted(&self) -> Vec<Uncounted> {
        let mut bytes = 0;
        let mut portion = Vec::new();
        for (hash, text) in &self.state.waiting {
            if bytes > 0 && bytes + text.len() > PORTION {
                break;
            }
            bytes += text.len();
            portion.push((*hash, text.clone()));
        }
        portion
    }

    /// Size of texts that wait to be counted, in bytes.
    pub fn uncounted_bytes(&self) -> usize {
        self.state.waiting_bytes
    }

    /// Number of amounts that wait for the counts of those texts.
    pub fn uncounted_amounts(&self) -> usize {
        self.state.dues.len()
    }

    #[cfg(test)]
    pub(super) fn keep_amounts(&mut self, most: usize) {
        self.state.most_dues = most;
    }

    /// Adds counts to the sums they belong to.
    ///
    /// # Errors
    /// [`StoreError`] if they could not be written; they are kept and written with the next ones.
    pub fn counted(&mut self, counts: &[(Hash, usize)]) -> Result<(), StoreError> {
        let counted_ms = sql(self.state.now_ms);
        for (hash, tokens) in counts {
            self.state.counts.insert(*hash, size(*tokens));
            if let Some(text) = self.state.waiting.remove(hash) {
                self.state.waiting_bytes = self.state.waiting_bytes.saturating_sub(text.len());
            }
        }
        let transaction = self.connection.transaction()?;
        for (hash, tokens) in counts {
            transaction
                .prepare_cached("INSERT OR REPLACE INTO texts (hash, tokenizer, tokens, counted_ms) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![hash, self.state.tokenizer, size(*tokens), counted_ms])?;
        }
        transaction.commit()?;
        self.settle(0)
    }

    /// Settles amounts whose texts are counted, from this index on.
    fn settle(&mut self, from: usize) -> Result<(), StoreError> {
        let counts = &self.state.counts;
        let ready = |due: &Due| due.needs.iter().all(|hash| counts.contains_key(hash));
        let dues = self.state.dues.get(from..).unwrap_or_default();
        if !dues.iter().any(ready) {
            return Ok(());
        }
        let (transaction, mut sums) = (self.connection.transaction()?, Sums::default());
        for due in dues.iter().filter(|due| ready(due)) {
            pay(&transaction, &mut sums, counts, &due.what)?;
        }
        sums.write(&transaction)?;
        transaction.commit()?;
        self.state.settled += 1;
        let mut at = 0;
        self.state.dues.retain(|due| {
            at += 1;
            at <= from || !due.needs.iter().all(|hash| self.state.counts.contains_key(hash))
        });
        self.state.dues.shrink_to(2 * self.state.dues.len());
        if self.state.dues.is_empty() && self.state.counts.len() > REMEMBERED {
            self.state.counts.clear();
        }
        Ok(())
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

    fn listed(
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

    fn called(&mut self, transaction: &Transaction<'_>, called: &Called) -> Result<(), StoreError> {
        let key = self.session(transaction, &called.visit, called.at_ms)?;
        // A client that never requested a list would not have loaded one without the hub either.
        let has_list = self.sessions.get(&key).is_some_and(|open| open.listed.is_some());
        if has_list && !called.visit.face {
            self.baseline(transaction, &key, &called.offers)?;
        }
        let Some(open) = self.sessions.get(&key).cloned() else { return Ok(()) };
        let texts = CallTexts::of(called);
        self.row(transaction, called, &open, &texts)?;
        if called.visit.face {
            return Ok(());
        }
        let share =
            |called: &Called| Share { server: called.server.clone(), tool: called.tool.clone(), weight: 1 };
        let CallTexts { request, answer, direct } = texts;
        match called.kind {
            CallKind::Find | CallKind::Describe | CallKind::Resources => {
                let part = if called.kind == CallKind::Describe { Part::Describe } else { Part::Find };
                if let Some(answer) = answer {
                    let shares = shares_in(&answer.1);
                    self.cost(transaction, &open, part, Amount::hashed([answer]).on(shares))?;
                }
                if let Some(request) = request {
                    self.cost(transaction, &open, Part::Wrapping, Amount::hashed([request]))?;
                }
            }
            CallKind::Call | CallKind::Read => {
                let written = answer.filter(|_| called.ours);
                let amount = Amount::hashed(request.into_iter().chain(written)).less(direct);
                // Too large to count; the difference is then unknown too, and small.
                let known =
                    called.request.text.is_some() && called.direct.as_ref().is_none_or(|d| d.text.is_some());
                let routed = called.kind == CallKind::Call && !called.server.is_empty();
                if known {
                    let shares = if routed { vec![share(called)] } else { vec![] };
                    self.cost(transaction, &open, Part::Wrapping, amount.on(shares))?;
                }
                if routed && open.defers && has_list {
                    self.loaded(transaction, &key, &open, called)?;
                }
            }
            // They replace calls and results of servers, which are on neither side; what they keep out of contexts is
            // summed separately.
            CallKind::Script | CallKind::Inside => {}
        }
        Ok(())
    }

    /// A deferring client loads a tool's definition before its first use.
    fn loaded(
        &mut self,
        transaction: &Transaction<'_>,
        key: &Key,
        open: &Open,
        called: &Called,
    ) -> Result<(), StoreError> {
        let tool = (called.server.clone(), called.tool.clone());
        let offered = called.offers.iter().find(|offered| offered.server == tool.0);
        let tools = offered.and_then(|offered| offered.tools.as_deref()).unwrap_or_default();
        let Some((_, definition)) = tools.iter().find(|(name, _)| *name == tool.1) else { return Ok(()) };
        if open.loaded.contains(&tool) {
            return Ok(());
        }
        if let Some(open) = self.sessions.get_mut(key) {
            Arc::make_mut(&mut open.loaded).insert(tool.clone());
        }
        let share = Share { server: tool.0, tool: tool.1, weight: 1 };
        self.cost(transaction, open, Part::Loaded, Amount::of([compact(definition)]).on(vec![share]))
    }

    fn row(
        &mut self,
        transaction: &Transaction<'_>,
        called: &Called,
        open: &Open,
        texts: &CallTexts,
    ) -> Result<(), StoreError> {
        let tokens = self.tokens_of(transaction, called, texts)?;
        let (request_tokens, result_tokens) = match tokens {
            CallTokens::Known(request, result) => (Some(request), Some(result)),
            CallTokens::Awaited | CallTokens::Never => (None, None),
        };
        let us = |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let (time, end) = (&called.time, &called.end);
        let message = called.told().map(|text| retention::cut(&text, MESSAGE));
        transaction
            .prepare_cached(
                "INSERT INTO calls (time_ms, session, client, kind, server, tool, outcome, code, message, wait_us,
                   start_us, upstream_us, ours_us, request_bytes, result_bytes, rule, asked, client_era, server_era,
                   trace, arguments, result, profile, request_tokens, result_tokens, cause)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                   ?21, ?22, ?23, ?24, ?25, ?26)",
            )?
            .execute(params![
                sql(called.at_ms),
                open.row,
                called.visit.client,
                called.kind.as_str(),
                called.server,
                called.tool,
                end.outcome,
                end.code,
                message,
                us(time.wait),
                us(time.start),
                us(time.upstream),
                us(time.ours),
                size(called.request.bytes),
                size(called.answer.bytes),
                called.rule,
                called.asked,
                called.visit.era,
                called.server_era,
                called.trace,
                called.arguments.as_deref().map(|text| called.redacted(text)),
                called.result.as_deref().map(|text| called.redacted(text)),
                called.visit.profile,
                request_tokens,
                result_tokens,
                called.cause(MESSAGE),
            ])?;
        self.newest = transaction.last_insert_rowid();
        let hours = {
            let hour = self.hour(transaction, called.at_ms)?;
            self.line(hour, called)
        };
        let failed = end.outcome != "ok";
        let (request_bytes, result_bytes) = (size(called.request.bytes), size(called.answer.bytes));
        let sent = end.outcome != "not_sent";
        self.sums.called(&hours, &OneCall { failed, sent, request_bytes, result_bytes, time: called.time });
        self.sums.heard(open.row, sql(called.at_ms));
        let calls = matches!(called.kind, CallKind::Call | CallKind::Read | CallKind::Inside);
        // A script is neither: its calls are.
        if called.kind != CallKind::Script {
            self.sums.used(open.row, !calls);
        }
        if calls {
            self.count_minute(called.at_ms, failed);
        }
        match tokens {
            CallTokens::Known(request, result) => self.sums.counted(&hours, request, result),
            CallTokens::Awaited => {
                let [request, answer] =
                    [&texts.request, &texts.answer].map(|text| text.as_ref().map(|(hash, _)| *hash));
                let needs = request.into_iter().chain(answer).collect();
                self.dues
                    .push(Due { needs, what: What::Tokens { call: self.newest, hours, request, answer } });
            }
            CallTokens::Never => {}
        }
        Ok(())
    }

    /// Where a call of this hour is added up.
    fn line(&mut self, hour: i64, called: &Called) -> Arc<HoursKey> {
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
    fn hour(&mut self, transaction: &Transaction<'_>, at_ms: u64) -> Result<i64, StoreError> {
        let quarter = at_ms / QUARTER;
        if let Some((_, hour)) = self.quarter.filter(|(of, _)| *of == quarter) {
            return Ok(hour);
        }
        let hour = hour(transaction, at_ms)?;
        self.quarter = Some((quarter, hour));
        Ok(hour)
    }

    fn count_minute(&mut self, at_ms: u64, failed: bool) {
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

    /// Has what is not known of a call's tokens counted some time.
    fn tokens_of(
        &mut self,
        transaction: &Transaction<'_>,
        called: &Called,
        texts: &CallTexts,
    ) -> Result<CallTokens, StoreError> {
        let bodies = [(&called.request, &texts.request), (&called.answer, &texts.answer)];
        // Too large to count: stays uncounted.
        if bodies.iter().any(|(body, text)| text.is_none() && body.bytes > 0) {
            return Ok(CallTokens::Never);
        }
        let there = || bodies.iter().filter_map(|(_, text)| text.as_ref());
        let wanted = there().map(|(hash, text)| (*hash, Text::Here(text.clone()))).collect();
        if !self.want(transaction, wanted)? {
            return Ok(CallTokens::Never);
        }
        if !there().all(|(hash, _)| self.counts.contains_key(hash)) {
            return Ok(CallTokens::Awaited);
        }
        let [request, answer] =
            bodies.map(|(_, text)| text.as_ref().map_or(0, |(hash, _)| self.counted(hash)));
        Ok(CallTokens::Known(request, answer))
    }

    fn counted(&self, hash: &Hash) -> i64 {
        self.counts.get(hash).copied().unwrap_or_default()
    }

    fn cost(
        &mut self,
        transaction: &Transaction<'_>,
        open: &Open,
        part: Part,
        amount: Amount,
    ) -> Result<(), StoreError> {
        let Amount { plus, minus, shares } = amount;
        let hashes = |texts: &[(Hash, Text)]| texts.iter().map(|(hash, _)| *hash).collect::<Vec<_>>();
        let (plus_hashes, minus_hashes) = (hashes(&plus), hashes(&minus));
        let texts = plus.into_iter().chain(minus).collect();
        self.sums.owes(open.row);
        if !self.want(transaction, texts)? {
            return Ok(());
        }
        let (client, profile, hour) = (open.client.clone(), open.profile.clone(), open.hour);
        let (plus, minus) = (plus_hashes, minus_hashes);
        let needs = [plus.as_slice(), &minus].concat();
        let what = What::Cost { session: open.row, hour, client, profile, part, plus, minus, shares };
        if needs.iter().all(|hash| self.counts.contains_key(hash)) {
            return pay(transaction, &mut self.sums, &self.counts, &what);
        }
        self.dues.push(Due { needs, what });
        Ok(())
    }

    /// Schedules texts for counting; false if there are too many already.
    fn want(&mut self, transaction: &Transaction<'_>, texts: Vec<(Hash, Text)>) -> Result<bool, StoreError> {
        // A text that occurs twice is counted and stored once.
        let (mut unknown, mut waits) = (BTreeMap::new(), false);
        for (hash, text) in texts {
            if self.counts.contains_key(&hash) || unknown.contains_key(&hash) {
                continue;
            }
            if self.waiting.contains_key(&hash) {
                waits = true;
                continue;
            }
            let known = transaction
                .prepare_cached("SELECT tokens FROM texts WHERE hash = ?1 AND tokenizer = ?2")?
                .query_row(params![hash, self.tokenizer], |row| row.get(0))
                .optional()?;
            let text = if known.is_none() { text.get() } else { None };
            match (known, text) {
                (Some(tokens), _) => {
                    self.counts.insert(hash, tokens);
                }
                (None, Some(text)) => {
                    unknown.insert(hash, text);
                }
                // It was too large when it was requested, and is not available any more.
                (None, None) => return Ok(false),
            }
        }
        let more: usize = unknown.values().map(|text| text.len()).sum();
        let waits = waits || !unknown.is_empty();
        if self.waiting_bytes + more > WAITING || waits && self.dues.len() >= self.most_dues {
            return Ok(false);
        }
        self.waiting_bytes += more;
        self.waiting.extend(unknown);
        Ok(true)
    }

    /// The session of a visit: a continuing one, or a new one.
    fn session(
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
        let defers = deferring::defers(&visit.program, &visit.version);
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

    /// What this client would have received: the list of all servers when it first requested one. Servers that were
    /// enabled but unread are added when they are read.
    fn baseline(
        &mut self,
        transaction: &Transaction<'_>,
        key: &Key,
        offers: &Offers,
    ) -> Result<(), StoreError> {
        let Some(open) = self.sessions.get(key) else { return Ok(()) };
        if matches!(&open.baseline, Baseline::Of { unread, .. } if unread.is_empty()) {
            return Ok(());
        }
        let open = open.clone();
        let is_read = |server: &str| offers.iter().any(|o| o.server == server && o.tools.is_some());
        let (servers, unread) = match &open.baseline {
            Baseline::Settled => return Ok(()),
            Baseline::None => {
                let all: BTreeSet<String> = offers.iter().map(|offered| offered.server.clone()).collect();
                let (read, unread) = all.into_iter().partition::<BTreeSet<_>, _>(|server| is_read(server));
                (read, unread)
            }
            Baseline::Of { servers, unread, .. } => {
                let (came, still) =
                    unread.iter().cloned().partition::<BTreeSet<_>, _>(|server| is_read(server));
                if came.is_empty() {
                    return Ok(());
                }
                (servers.iter().cloned().chain(came).collect(), still)
            }
        };
        // Replaces what was counted so far.
        let before = if let Baseline::Of { hash, .. } = open.baseline { Some(hash) } else { None };
        let unread = Arc::new(unread);
        if let Some((row, hash)) = self.made_before(transaction, offers, &servers, open.defers)? {
            let amount = Amount { plus: vec![(hash, Text::Before)], ..Amount::default() };
            let servers = Arc::new(servers);
            self.begin_baseline(transaction, key, row, Baseline::Of { servers, unread, hash })?;
            return self.cost(transaction, &open, Part::Base, amount.less_than_before(before));
        }
        let offered = offers.iter().filter(|offered| servers.contains(&offered.server));
        let tools: Vec<(String, String, Arc<str>)> = offered
            .flat_map(|offered| {
                let tools = offered.tools.as_deref().unwrap_or_default().iter();
                tools.map(|(tool, definition)| {
                    let text = match open.defers {
                        true => Arc::from(deferring::name(&offered.server, tool)),
                        false => compact(definition),
                    };
                    (offered.server.clone(), tool.clone(), text)
                })
            })
            .collect();
        if tools.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = tools.iter().map(|(_, _, text)| &**text).collect();
        let whole: Arc<str> =
            if open.defers { texts.join("\n").into() } else { format!("[{}]", texts.join(",")).into() };
        let hash = hash(&whole);
        let (row, is_complete) = self.baseline_row(transaction, hash, tools)?;
        let servers = Arc::new(servers);
        if is_complete {
            let made = MadeOf {
                offers: Arc::downgrade(offers),
                servers: servers.clone(),
                defers: open.defers,
                hash,
                row,
            };
            self.baselines.push_front(made);
            self.baselines.truncate(BASELINES);
        }
        self.begin_baseline(transaction, key, row, Baseline::Of { servers, unread, hash })?;
        self.cost(transaction, &open, Part::Base, Amount::of([whole]).less_than_before(before))
    }

    fn begin_baseline(
        &mut self,
        transaction: &Transaction<'_>,
        key: &Key,
        row: i64,
        baseline: Baseline,
    ) -> Result<(), StoreError> {
        let Some(open) = self.sessions.get_mut(key) else { return Ok(()) };
        open.baseline = baseline;
        transaction
            .prepare_cached("UPDATE sessions SET baseline = ?2 WHERE id = ?1")?
            .execute(params![open.row, row])?;
        Ok(())
    }

    /// A cached baseline with the same inputs, if its text is counted or waiting.
    fn made_before(
        &mut self,
        transaction: &Transaction<'_>,
        offers: &Offers,
        servers: &BTreeSet<String>,
        defers: bool,
    ) -> Result<Option<(i64, Hash)>, StoreError> {
        let is_it = |made: &&MadeOf| {
            std::ptr::eq(made.offers.as_ptr(), Arc::as_ptr(offers))
                && made.defers == defers
                && *made.servers == *servers
        };
        let Some((row, hash)) = self.baselines.iter().find(is_it).map(|made| (made.row, made.hash)) else {
            return Ok(None);
        };
        let known = self.want(transaction, vec![(hash, Text::Before)])?;
        Ok(known.then_some((row, hash)))
    }

    /// The row of a baseline, and whether its tools are or will be counted.
    fn baseline_row(
        &mut self,
        transaction: &Transaction<'_>,
        hash_of_all: Hash,
        tools: Vec<(String, String, Arc<str>)>,
    ) -> Result<(i64, bool), StoreError> {
        let known = transaction
            .prepare_cached("SELECT id FROM baselines WHERE hash = ?1 AND tokenizer = ?2")?
            .query_row(params![hash_of_all, self.tokenizer], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            // An earlier run may have stopped before it had counted the tools.
            let counted = "SELECT 1 FROM baseline_tools WHERE baseline = ?1 LIMIT 1";
            if transaction.prepare_cached(counted)?.exists([id])? {
                return Ok((id, true));
            }
        }
        let id = match known {
            Some(id) => id,
            None => {
                transaction
                    .prepare_cached("INSERT INTO baselines (hash, tokenizer) VALUES (?1, ?2)")?
                    .execute(params![hash_of_all, self.tokenizer])?;
                transaction.last_insert_rowid()
            }
        };
        let text = |(_, _, text): &(String, String, Arc<str>)| (hash(text), Text::Here(text.clone()));
        let texts: Vec<(Hash, Text)> = tools.iter().map(text).collect();
        let needs: Vec<Hash> = texts.iter().map(|(hash, _)| *hash).collect();
        let tools = tools.into_iter().map(|(server, tool, text)| (server, tool, hash(&text))).collect();
        let is_complete = self.want(transaction, texts)?;
        if is_complete {
            self.dues.push(Due { needs, what: What::Tools { baseline: id, tools } });
        }
        Ok((id, is_complete))
    }
}

fn pay(
    transaction: &Transaction<'_>,
    sums: &mut Sums,
    counts: &HashMap<Hash, i64>,
    what: &What,
) -> Result<(), StoreError> {
    let of = |hash: &Hash| counts.get(hash).copied().unwrap_or_default();
    match what {
        What::Tokens { call, hours, request, answer } => {
            let [request, answer] = [request, answer].map(|hash| hash.as_ref().map_or(0, of));
            transaction
                .prepare_cached("UPDATE calls SET request_tokens = ?2, result_tokens = ?3 WHERE id = ?1")?
                .execute(params![call, request, answer])?;
            sums.counted(hours, request, answer);
        }
        What::Cost { session, hour, client, profile, part, plus, minus, shares } => {
            let value = plus.iter().map(of).sum::<i64>() - minus.iter().map(of).sum::<i64>();
            sums.pays(*session, *part, value);
            for (share, tokens) in shares.iter().zip(divided(value, shares)) {
                let (server, tool) = (share.server.clone(), share.tool.clone());
                let (hour, client, profile, part) = (*hour, client.clone(), profile.clone(), *part);
                sums.costs(CostKey { hour, client, server, tool, profile, part }, tokens);
            }
        }
        What::Tools { baseline, tools } => {
            for (server, tool, hash) in tools {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO baseline_tools (baseline, server, tool, tokens) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![baseline, server, tool, of(hash)])?;
            }
        }
    }
    Ok(())
}

/// Divides a value by weights into whole numbers with the same sum.
fn divided(value: i64, shares: &[Share]) -> Vec<i64> {
    let weights: i64 = shares.iter().map(|share| size(share.weight)).sum();
    let (mut given, mut passed) = (0, 0);
    let mut parts = Vec::with_capacity(shares.len());
    for share in shares {
        passed += size(share.weight);
        let upto = if weights == 0 { 0 } else { value * passed / weights };
        parts.push(upto - given);
        given = upto;
    }
    parts
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

/// The tools in an answer to a search, and the size of each.
fn shares_in(answer: &str) -> Vec<Share> {
    #[derive(serde::Deserialize)]
    struct Block {
        #[serde(default)]
        text: String,
    }
    #[derive(serde::Deserialize)]
    struct Found {
        #[serde(default)]
        tools: Vec<Box<serde_json::value::RawValue>>,
    }
    #[derive(serde::Deserialize)]
    struct Tool {
        tool_path: ToolPathText,
    }
    type ToolPathText = String;
    let blocks: Vec<Block> = serde_json::from_str(answer).unwrap_or_default();
    let found = blocks.iter().filter_map(|block| serde_json::from_str::<Found>(&block.text).ok());
    found
        .flat_map(|found| found.tools)
        .filter_map(|raw| {
            let tool: Tool = serde_json::from_str(raw.get()).ok()?;
            let path: ToolPath = tool.tool_path.parse().ok()?;
            Some(Share { server: path.server.to_string(), tool: path.tool, weight: raw.get().len() })
        })
        .collect()
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
