//! Handles what a server asks in the middle of a call, for both families of revisions: who is asked, what was answered, and
//! how long the server has waited. The answer to a legacy server goes out on its connection; a stateless server gets the
//! request again with all answers ([`Round`]).

use std::{collections::HashMap, time::Duration};

use satchel_mcp::{ErrorObject, Id, Raw, errors};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::attempt::Attempt;
use crate::{
    bridge::{Caller, Question, Round, caller},
    hub::{
        Hub, hygiene,
        question::{self, Answered, AtFaces, Turn, Whose},
    },
    model::asks::ServerQuestion,
    upstream::link,
};

/// Timeout for a client's answer to a server's question.
const ANSWER_TIME: Duration = Duration::from_secs(10 * 60);
/// Maximum number of input rounds of one request.
const ROUNDS: usize = 10;

/// The questions within one call.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    rounds: usize,
    /// The server's ids of its questions, by the hub's keys.
    asked: HashMap<String, Id>,
    asked_in_all: usize,
    /// Questions for people, through Satchel.
    pub(super) faces: AtFaces,
    /// Since when it waits for an answer.
    waiting_since: Option<Instant>,
    /// Capabilities that the server requires and the caller lacks.
    lacking: Map<String, Value>,
}

/// The next step of a round.
pub(super) enum Next {
    /// Ask the client.
    Ask(Question),
    /// Something was answered; check again.
    GoOn,
    /// Everything is answered: repeat the request with this.
    Retry,
    /// It failed, for this reason.
    Over(String),
}

impl Conversation {
    /// Starts waiting for an answer, if not waiting already.
    pub(super) fn wait(&mut self) {
        self.waiting_since.get_or_insert_with(Instant::now);
    }

    /// Is it waiting for an answer?
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    /// Ends the wait and returns its duration.
    pub(super) fn waited(&mut self) -> Option<Duration> {
        self.waiting_since.take().map(|since| since.elapsed())
    }

    /// The timeout for the next event: the server's message, or the answer it waits for.
    pub(super) fn patience(&self, attempt: &Attempt) -> (Duration, Instant) {
        match self.waiting_since {
            None => attempt.patience(),
            Some(since) => (ANSWER_TIME, since + ANSWER_TIME),
        }
    }

    /// Handles a legacy server's question. Returns it if the client has to answer; otherwise it is answered or queued
    /// for people.
    pub(super) fn questioned(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        attempt: &Attempt,
        call: &mut link::Call,
        (id, method, params): (Id, String, Option<Box<Raw>>),
    ) -> Asked {
        let turn = question::turn(caller, &method, params.as_deref());
        if let Turn::Lacks(lacks) = turn {
            let message = format!("the client cannot answer {method}");
            call.answer(id, Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message)));
            self.lacking.extend(lacks.as_object().cloned().unwrap_or_default());
            return Asked::Settled;
        }
        if let Some(why) = bears(hub, attempt, &method) {
            call.answer(id, Err(ErrorObject::new(errors::INTERNAL_ERROR, why)));
            return Asked::Settled;
        }
        self.asked_in_all += 1;
        let key = format!("question_{}", self.asked_in_all);
        self.asked.insert(key.clone(), id);
        self.wait();
        match turn {
            Turn::Client | Turn::Lacks(_) => {
                hub.calls().owned.page(&caller.client, &attempt.server, params.as_deref());
                Asked::Client(hygiene::question(Question { key, method, params }))
            }
            Turn::People(question) => match self.pose(hub, caller, attempt, &key, *question) {
                Some(answered) => Asked::Answered(key, answered.result),
                None => Asked::Settled,
            },
            Turn::Nobody(why) => {
                let result = self.faces.refused(&attempt.server, &why);
                Asked::Answered(key, result)
            }
        }
    }

    /// Answers a legacy server on its connection. Returns whether nothing is pending.
    pub(super) fn answer(
        &mut self,
        call: &mut link::Call,
        key: &str,
        outcome: Result<Box<Raw>, ErrorObject>,
    ) -> bool {
        if let Some(id) = self.asked.remove(key) {
            call.answer(id, outcome);
        }
        self.asked.is_empty()
    }

    /// Starts a round of a stateless server; `None` if it is invalid.
    pub(super) fn begin_round(&mut self, result: &Raw) -> Option<Round> {
        self.rounds += 1;
        Round::read(result).filter(|_| self.rounds <= ROUNDS)
    }

    /// The next question of a round.
    pub(super) async fn next_of_round(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        attempt: &Attempt,
        round: &mut Round,
    ) -> Next {
        if let Some(question) = round.ask() {
            return self.ask_of_round(hub, caller, attempt, round, question);
        }
        if let Some(refusal) = round.refusal() {
            let server = &attempt.server;
            return Next::Over(format!(
                "\"{server}\" needed an answer that it did not get: {}",
                refusal.message
            ));
        }
        if round.is_answered() {
            return Next::Retry;
        }
        // The answer cancels this wait.
        let until = self.waiting_since.unwrap_or_else(Instant::now) + ANSWER_TIME;
        match tokio::time::timeout_at(until, self.faces.next(&attempt.server)).await {
            Ok(answered) => {
                take_answer(round, answered);
                Next::GoOn
            }
            Err(_) => {
                Next::Over(format!("\"{}\" asked something that was not answered in time", attempt.server))
            }
        }
    }

    fn ask_of_round(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        attempt: &Attempt,
        round: &mut Round,
        question: Question,
    ) -> Next {
        let turn = question::turn(caller, &question.method, question.params.as_deref());
        let turn = match bears(hub, attempt, &question.method) {
            Some(why) => Turn::Nobody(why.to_owned()),
            None => turn,
        };
        match turn {
            Turn::Client => {
                self.wait();
                return Next::Ask(hygiene::question(question));
            }
            Turn::People(asked) => {
                self.wait();
                if let Some(answered) = self.pose(hub, caller, attempt, &question.key, *asked) {
                    take_answer(round, answered);
                }
            }
            Turn::Nobody(why) => {
                let result = self.faces.refused(&attempt.server, &why);
                round.answer(&question.key, Ok(result));
            }
            Turn::Lacks(_) => {
                let message = format!("the client cannot answer {}", question.method);
                round.answer(&question.key, Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message)));
            }
        }
        Next::GoOn
    }

    /// Queues a server's question for people.
    fn pose(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        attempt: &Attempt,
        key: &str,
        question: ServerQuestion,
    ) -> Option<Answered> {
        let tool = attempt.tool.as_ref().map(|path| path.tool.as_str());
        let whose = Whose { server: &attempt.server, tool };
        self.faces.pose(hub, caller, whose, key, question)
    }

    /// The error that lists the capabilities the caller lacks.
    pub(super) fn lacking(&mut self) -> Option<ErrorObject> {
        if self.lacking.is_empty() {
            return None;
        }
        Some(caller::lacking(&Value::Object(std::mem::take(&mut self.lacking))))
    }
}

/// The handling of a legacy server's question.
pub(super) enum Asked {
    /// The client has to answer it.
    Client(Question),
    /// Answered already.
    Answered(String, Box<Raw>),
    /// Nothing left to do.
    Settled,
}

/// Why a server may not ask people any further questions, if so.
fn bears<'a>(hub: &'a Hub, attempt: &Attempt, method: &str) -> Option<&'a str> {
    let of_people = method == "elicitation/create";
    of_people.then(|| hub.inner.prompts.bear_question(&attempt.server)).flatten()
}

/// Stores the answer to a question of a round.
fn take_answer(round: &mut Round, Answered { key, result, unseen_page }: Answered) {
    let outcome = match unseen_page {
        // The caller can be told which page to open.
        Some(page) => {
            let message = format!("open {page} in a browser, then call it again");
            Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message))
        }
        None => Ok(result),
    };
    round.answer(&key, outcome);
}
