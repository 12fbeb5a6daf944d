//! Writes a call: its row, its sums, and what it cost the context of its session.

use std::sync::Arc;

use rusqlite::{Transaction, params};

use super::{
    State,
    amounts::{Amount, Part, Share, Text, shares_in},
    counting::{Due, What},
    sessions::{Key, Open},
    size, sql,
};
use crate::{
    definitions::{Hash, compact, hash},
    event::{Body, Called},
    model::ledger::CallKind,
    retention,
    schema::StoreError,
    sums::OneCall,
};

/// Maximum length of a failure's message.
const MESSAGE: usize = 500;

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

impl State {
    pub(super) fn called(
        &mut self,
        transaction: &Transaction<'_>,
        called: &Called,
    ) -> Result<(), StoreError> {
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
            let hour = self.hours.hour(transaction, called.at_ms)?;
            self.hours.line(hour, called)
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
}
