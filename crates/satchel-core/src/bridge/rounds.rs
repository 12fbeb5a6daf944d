//! Asks a legacy client a stateless server's questions one at a time and repeats the request with the answers
//! (`2026-07-28/basic/patterns/mrtr.mdx`).

use std::collections::VecDeque;

use satchel_mcp::{ErrorObject, Raw, RawObject};

/// A server's question during a call.
#[derive(Debug, Clone)]
pub struct Question {
    /// Identifies it within its call.
    pub key: String,
    /// `elicitation/create`, `sampling/createMessage`, `roots/list`, or something newer.
    pub method: String,
    /// Its parameters, as the server wrote them.
    pub params: Option<Box<Raw>>,
}

/// The questions of one `input_required` result, and the answers so far.
#[derive(Debug)]
pub struct Round {
    ahead: VecDeque<Question>,
    open: Vec<String>,
    answers: RawObject,
    state: Option<Box<Raw>>,
    refused: Option<ErrorObject>,
}

impl Round {
    /// Parses a result that asks for input. `None` if it is malformed.
    pub fn read(result: &Raw) -> Option<Self> {
        let fields = RawObject::parse(result).ok()?;
        let requests = match fields.get("inputRequests") {
            Some(raw) => RawObject::parse(raw).ok()?,
            None => RawObject::new(),
        };
        let state = fields.get("requestState").map(ToOwned::to_owned);
        let ahead: Option<VecDeque<Question>> = requests
            .iter()
            .map(|(key, request)| {
                let request = RawObject::parse(request).ok()?;
                let params = request.get("params").map(ToOwned::to_owned);
                Some(Question { key: key.to_owned(), method: request.text("method")?, params })
            })
            .collect();
        let ahead = ahead?;
        (!ahead.is_empty() || state.is_some()).then(|| Self {
            ahead,
            open: vec![],
            answers: RawObject::new(),
            state,
            refused: None,
        })
    }

    /// The next question to ask.
    pub fn ask(&mut self) -> Option<Question> {
        let question = self.ahead.pop_front()?;
        self.open.push(question.key.clone());
        Some(question)
    }

    /// Stores an answer; an unexpected one is dropped.
    pub fn answer(&mut self, key: &str, outcome: Result<Box<Raw>, ErrorObject>) {
        let Some(at) = self.open.iter().position(|open| open == key) else { return };
        self.open.swap_remove(at);
        match outcome {
            Ok(result) => self.answers.set(key, result),
            Err(error) => self.refused = Some(error),
        }
    }

    /// Are all questions answered?
    pub fn is_answered(&self) -> bool {
        self.ahead.is_empty() && self.open.is_empty()
    }

    /// The client's error for one of them. There is no way to report it to a stateless server.
    pub fn refusal(&self) -> Option<&ErrorObject> {
        self.refused.as_ref()
    }

    /// The parameters for repeating the request, with the answers and the server's state.
    pub fn retry(&self, params: &RawObject) -> RawObject {
        let mut params = params.clone();
        params.remove("requestState");
        if self.answers.is_empty() {
            params.remove("inputResponses");
        } else {
            params.set("inputResponses", self.answers.to_raw());
        }
        if let Some(state) = &self.state {
            params.set("requestState", state.clone());
        }
        params
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn the_request_is_made_again_with_every_answer_and_the_state_as_it_came() {
        let result = r#"{"resultType":"input_required","requestState":"a b","inputRequests":{
            "x":{"method":"roots/list"},"y":{"method":"elicitation/create","params":{"message":"m"}}}}"#;
        let mut round = Round::read(&raw(result)).unwrap();
        let (x, y) = (round.ask().unwrap(), round.ask().unwrap());
        assert!(round.ask().is_none() && !round.is_answered());
        assert_eq!((x.method.as_str(), y.params.unwrap().get()), ("roots/list", r#"{"message":"m"}"#));
        round.answer("y", Ok(raw(r#"{"action":"accept"}"#)));
        round.answer("y", Ok(raw(r#"{"action":"decline"}"#)));
        round.answer("x", Ok(raw(r#"{"roots":[]}"#)));
        assert!(round.is_answered() && round.refusal().is_none());
        let params = RawObject::parse(&raw(r#"{"name":"t","arguments":{},"requestState":"old"}"#)).unwrap();
        assert_eq!(
            round.retry(&params).to_raw().get(),
            r#"{"name":"t","arguments":{},"inputResponses":{"y":{"action":"accept"},"x":{"roots":[]}},"requestState":"a b"}"#
        );
    }

    #[test]
    fn a_result_that_asks_nothing_is_no_round() {
        assert!(Round::read(&raw(r#"{"resultType":"input_required"}"#)).is_none());
        assert!(Round::read(&raw(r#"{"inputRequests":{"x":1}}"#)).is_none());
        assert!(Round::read(&raw(r#"{"requestState":"s"}"#)).unwrap().is_answered());
    }
}
