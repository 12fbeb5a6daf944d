//! Calls of stateless clients that wait for an answer: the server asked something during the call, and the client's
//! next request continues it (`2026-07-28/basic/patterns/mrtr.mdx`).
//!
//! `requestState` is a random handle and nothing else: whatever a client changes in it names no call. It is good once,
//! for the same client, surface, method and parameters, and for a limited time.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use satchel_core::{bridge::Question, hub::Underway};
use satchel_mcp::{Raw, RawObject};
use serde_json::json;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{downstream::Kind, params::Params, surface::Surface};

/// Prefix of the hub's handles, which distinguishes them from a server's own state.
const MARK: &str = "satchel-";
/// How long a call waits for its client.
const AGE: Duration = Duration::from_secs(10 * 60);
/// Maximum number of waiting calls, in total and per client.
const ALL: usize = 256;
const PER_CLIENT: usize = 32;

/// A waiting call and its server's questions.
pub(crate) struct Parked {
    pub(crate) running: Underway,
    pub(crate) kind: Kind,
    pub(crate) questions: Vec<Question>,
    pub(crate) belongs: Belongs,
}

/// The owner and request of a call: a handle is valid for nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Belongs {
    client: String,
    surface: Surface,
    method: String,
    params: String,
}

/// A request as it was sent. Only one that has to wait, or continues one that waits, is compared.
#[derive(Debug)]
pub(crate) struct AsSent {
    pub(crate) client: String,
    pub(crate) surface: Surface,
    pub(crate) method: String,
    pub(crate) params: Option<Box<Raw>>,
}

impl AsSent {
    /// What it has in common with its repetitions: `params` without what a retry adds and what may differ between requests.
    pub(crate) fn identity(&self) -> Belongs {
        let Self { client, surface, method, params } = self;
        let mut fields = params.as_deref().and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
        for key in ["inputResponses", "requestState", "_meta"] {
            fields.remove(key);
        }
        // Clients may reformat or reorder the same values.
        let value: serde_json::Value = serde_json::from_str(fields.to_raw().get()).unwrap_or_default();
        Belongs {
            client: client.clone(),
            surface: surface.clone(),
            method: method.clone(),
            params: sorted(&value).to_string(),
        }
    }
}

fn sorted(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(fields) => {
            let fields: std::collections::BTreeMap<_, _> =
                fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            json!(fields)
        }
        serde_json::Value::Array(items) => json!(items.iter().map(sorted).collect::<Vec<_>>()),
        other => other.clone(),
    }
}

/// All waiting calls.
#[derive(Default)]
pub(crate) struct ParkedCalls {
    waiting: Arc<Mutex<HashMap<String, Parked>>>,
}

impl std::fmt::Debug for ParkedCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParkedCalls").field("waiting", &self.lock().len()).finish()
    }
}

/// The meaning of a `requestState`.
pub(crate) enum Resumed {
    /// Not a handle: a server's own state, which the server judges.
    NotOurs,
    /// An invalid handle: modified, used, expired, or of another request.
    Bad,
    /// The waiting call.
    Call(Box<Parked>),
}

impl ParkedCalls {
    /// Parks a call; returns the result for its client. `None` if too many are waiting; the call is cancelled then.
    pub(crate) fn park(
        &self,
        parked: Parked,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) -> Option<Box<Raw>> {
        let mut random = [0u8; 24];
        getrandom::fill(&mut random).ok()?;
        let handle = format!("{MARK}{}", URL_SAFE_NO_PAD.encode(random));
        let mut requests = RawObject::new();
        for question in &parked.questions {
            requests.set(&question.key, request(question));
        }
        let mut result = RawObject::new();
        result.put("resultType", "input_required");
        result.set("inputRequests", requests.to_raw());
        result.put("requestState", &handle);
        {
            let mut waiting = self.lock();
            let of_client =
                waiting.values().filter(|other| other.belongs.client == parked.belongs.client).count();
            if waiting.len() >= ALL || of_client >= PER_CLIENT {
                return None;
            }
            waiting.insert(handle.clone(), parked);
        }
        let waiting = Arc::downgrade(&self.waiting);
        tracker.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(AGE) => {}
                () = stop.cancelled() => {}
            }
            let gone = waiting.upgrade().and_then(|waiting| lock(&waiting).remove(&handle));
            // Dropping it cancels the call at its server.
            drop(gone);
        });
        Some(result.to_raw())
    }

    /// Takes the call that a request continues.
    pub(crate) fn take(&self, params: &Params, request: &AsSent) -> Resumed {
        let state = params.text("requestState");
        let Some(state) = state.filter(|state| state.starts_with(MARK)) else { return Resumed::NotOurs };
        let belongs = request.identity();
        let mut waiting = self.lock();
        match waiting.get(&state) {
            Some(parked) if parked.belongs == belongs => {
                waiting.remove(&state).map_or(Resumed::Bad, |parked| Resumed::Call(Box::new(parked)))
            }
            _ => Resumed::Bad,
        }
    }

    /// Ends all of them.
    pub(crate) fn clear(&self) {
        let gone = std::mem::take(&mut *self.lock());
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        lock(&self.waiting)
    }
}

fn lock(waiting: &Mutex<HashMap<String, Parked>>) -> MutexGuard<'_, HashMap<String, Parked>> {
    waiting.lock()
}

/// A question for a stateless client: without the id that only sessions use for pages.
fn request(question: &Question) -> Box<Raw> {
    let mut params =
        question.params.as_deref().and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    params.remove("elicitationId");
    let mut request = RawObject::new();
    // Strings always serialize.
    request.put("method", &question.method);
    request.set("params", params.to_raw());
    request.to_raw()
}

impl Parked {
    /// Forwards the client's answers. What it left out is still open.
    pub(crate) fn take_answers(&mut self, params: &Params) {
        let responses = params.fields.get("inputResponses").and_then(|raw| RawObject::parse(raw).ok());
        let responses = responses.unwrap_or_default();
        let running = &mut self.running;
        self.questions.retain(|question| match responses.get(&question.key) {
            Some(answer) if answer.get().starts_with('{') => {
                running.answer(&question.key, Ok(answer.to_owned()));
                false
            }
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_for_the_same_request_alone() {
        let raw = |json: &str| Raw::from_string(json.to_owned()).unwrap();
        let of = |client: &str, method: &str, params: &str| {
            let (client, method) = (client.to_owned(), method.to_owned());
            AsSent { client, surface: Surface::Router, method, params: Some(raw(params)) }.identity()
        };
        let first = of("a", "tools/call", r#"{"name":"t","arguments":{"x":1,"y":2}}"#);
        let again =
            r#"{"name":"t", "arguments":{"y":2,"x":1},"_meta":{},"inputResponses":{},"requestState":"s"}"#;
        assert_eq!(first, of("a", "tools/call", again));
        assert_ne!(first, of("b", "tools/call", again));
        assert_ne!(first, of("a", "prompts/get", again));
        assert_ne!(first, of("a", "tools/call", r#"{"name":"t","arguments":{"x":1,"y":3}}"#));
    }
}
