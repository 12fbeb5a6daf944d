//! Computes what a client would have received without the hub, and writes each such baseline once.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
};

use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    State,
    amounts::{Amount, Part, Text},
    counting::{Due, What},
    sessions::Key,
};
use crate::{
    deferring,
    definitions::{Hash, compact, hash},
    event::{Offered, Offers},
    schema::StoreError,
};

/// Number of baselines whose inputs are cached.
const BASELINES: usize = 8;

#[derive(Debug, Clone)]
pub(super) enum Baseline {
    /// Nothing was offered yet.
    None,
    /// Of these servers, with this part counted already; more is added from servers that had not been read.
    Of { servers: Arc<BTreeSet<String>>, unread: Arc<BTreeSet<String>>, hash: Hash },
    /// Read back from the database.
    Settled,
}

/// A baseline that is or will be counted, and its inputs.
#[derive(Debug)]
pub(super) struct MadeOf {
    offers: Weak<Vec<Offered>>,
    servers: Arc<BTreeSet<String>>,
    defers: bool,
    hash: Hash,
    row: i64,
}

impl State {
    /// What this client would have received: the list of all servers when it first requested one. Servers that were
    /// enabled but unread are added when they are read.
    pub(super) fn baseline(
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
