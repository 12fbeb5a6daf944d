//! Keeps texts until they are counted, and settles the amounts that wait for their counts.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    State, Store, Uncounted,
    amounts::{Amount, Part, Share, Text, divided},
    sessions::Open,
    size, sql,
};
use crate::{
    definitions::Hash,
    schema::StoreError,
    sums::{CostKey, HoursKey, Sums},
};

/// Maximum size of texts that wait to be counted, in bytes. Beyond it, they are marked as not counted.
const WAITING: usize = 16 * 1024 * 1024;
/// Maximum number of amounts that wait for counts. Beyond it, calls are marked as not counted.
pub(super) const AMOUNTS: usize = 200_000;
/// Size of a portion of texts to count, in bytes.
const PORTION: usize = 4 * 1024 * 1024;
/// Number of token counts kept in memory.
const REMEMBERED: usize = 20_000;

/// Amounts that are added when their texts are counted.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) needs: Vec<Hash>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
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

impl Store {
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
    pub(crate) fn keep_amounts(&mut self, most: usize) {
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
    pub(super) fn settle(&mut self, from: usize) -> Result<(), StoreError> {
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
}

impl State {
    pub(super) fn counted(&self, hash: &Hash) -> i64 {
        self.counts.get(hash).copied().unwrap_or_default()
    }

    pub(super) fn cost(
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
    pub(super) fn want(
        &mut self,
        transaction: &Transaction<'_>,
        texts: Vec<(Hash, Text)>,
    ) -> Result<bool, StoreError> {
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
