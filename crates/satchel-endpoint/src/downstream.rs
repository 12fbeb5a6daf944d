//! One client's requests, answered: which methods exist, and what each does.

use std::sync::Arc;

use satchel_core::hub::{Failed, Hub, Running, Step};
use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, errors};
use serde_json::{json, value::to_raw_value};

use crate::{
    meta,
    session::{InFlight, Session},
};

/// JSON-RPC's range for implementations: the client itself took the request back.
const CANCELLED: i64 = -32800;

/// An answer: one message, or several of which the last is the result.
pub(crate) enum Answer {
    /// The response.
    Done(Message),
    /// Notes, then the response.
    Stream(Box<Notes>),
}

/// The result of `initialize`.
pub(crate) fn hello(revision: &str) -> Box<Raw> {
    raw(&json!({
        "protocolVersion": revision,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") },
        "instructions": meta::INSTRUCTIONS,
    }))
}

/// The servers a client can use, by name.
pub(crate) fn visible_servers(hub: &Hub) -> Vec<String> {
    hub.snapshot().servers.iter().filter(|server| server.enabled).map(|server| server.name.clone()).collect()
}

/// Takes in a notification.
pub(crate) fn notified(session: &Session, method: &str, params: Option<&Raw>) {
    if method == "notifications/cancelled"
        && let Some(id) =
            params.and_then(|raw| RawObject::parse(raw).ok()).and_then(|params| params.read("requestId"))
    {
        session.cancel(&id);
    }
}

/// Answers a request. `events` says whether the client can take notes before the result.
pub(crate) async fn answer(
    hub: &Hub,
    session: &Arc<Session>,
    id: Id,
    method: &str,
    params: Option<&Raw>,
    events: bool,
) -> Answer {
    hub.client_seen(&session.client, None);
    let done = |result: Box<Raw>| Answer::Done(Message::result(id.clone(), result));
    let fail = |error: ErrorObject| Answer::Done(Message::error(Some(id.clone()), error));
    match method {
        "ping" => done(RawObject::new().to_raw()),
        "tools/list" => done(raw(&json!({ "tools": meta::definitions(&session.servers) }))),
        "tools/call" => {
            let in_flight = session.begin(&id);
            let cancelled = in_flight.cancelled.clone();
            let call = Call { hub, session, id: &id, params, events };
            tokio::select! {
                answer = call.run(in_flight) => answer,
                () = cancelled.cancelled() => fail(ErrorObject::new(CANCELLED, "the request was cancelled")),
            }
        }
        _ => fail(ErrorObject::new(errors::METHOD_NOT_FOUND, format!("there is no method {method}"))),
    }
}

/// One `tools/call`.
struct Call<'a> {
    hub: &'a Hub,
    session: &'a Session,
    id: &'a Id,
    params: Option<&'a Raw>,
    events: bool,
}

impl Call<'_> {
    async fn run(self, in_flight: InFlight) -> Answer {
        let bad = |message: &str| {
            Answer::Done(Message::error(
                Some(self.id.clone()),
                ErrorObject::new(errors::INVALID_PARAMS, message),
            ))
        };
        let Some(params) = self.params.and_then(|raw| RawObject::parse(raw).ok()) else {
            return bad("tools/call needs an object with a name");
        };
        let Some(name) = params.text("name") else { return bad("tools/call needs a name") };
        let arguments = match params.get("arguments") {
            None => RawObject::new(),
            Some(raw) if raw.get() == "null" => RawObject::new(),
            Some(raw) => match RawObject::parse(raw) {
                Ok(arguments) => arguments,
                Err(_) => return bad("the arguments must be an object"),
            },
        };
        let meta = params.get("_meta").map(ToOwned::to_owned);
        let token = meta.as_deref().and_then(|raw| RawObject::parse(raw).ok()?.remove("progressToken"));
        let meta = meta.and_then(|meta| between_us(&meta));
        let started = match name.as_str() {
            meta::DISCOVER => Ok(Started::Result(meta::discover(self.hub, &arguments))),
            meta::LIST_RESOURCES => Ok(Started::Result(meta::list_resources(self.hub))),
            meta::EXECUTE => match meta::execute_arguments(&arguments) {
                Ok((path, arguments)) => {
                    self.hub.client_seen(&self.session.client, Some(&path));
                    self.hub.call_tool(&path, Some(arguments), meta).await.map(Started::tool)
                }
                Err(fault) => Ok(Started::Result(meta::fault(&fault))),
            },
            meta::READ_RESOURCE => match arguments.text("uri") {
                Some(uri) => self.hub.read_resource(&uri).await.map(Started::resource),
                None => {
                    Ok(Started::Result(meta::fault("read_mcp_resource needs a uri of the form server|uri")))
                }
            },
            other => return bad(&format!("Unknown tool: {other}")),
        };
        match started {
            Ok(Started::Result(result)) => Answer::Done(Message::result(self.id.clone(), result)),
            Ok(Started::Running(running, kind)) => {
                let notes = Notes {
                    running: *running,
                    kind,
                    id: self.id.clone(),
                    token,
                    first: None,
                    over: false,
                    _in_flight: in_flight,
                };
                notes.begin(self.events).await
            }
            Err(failure) => Answer::Done(Message::result(self.id.clone(), meta::failure(&failure))),
        }
    }
}

/// The client's `_meta` without what is said between it and us alone: its revision and capabilities are not ours.
fn between_us(meta: &Raw) -> Option<Box<Raw>> {
    let mut meta = RawObject::parse(meta).ok()?;
    let ours: Vec<String> = meta
        .iter()
        .map(|(key, _)| key.to_owned())
        .filter(|key| key.starts_with("io.modelcontextprotocol/"))
        .collect();
    for key in ours {
        meta.remove(&key);
    }
    (!meta.is_empty()).then(|| meta.to_raw())
}

enum Started {
    Result(Box<Raw>),
    Running(Box<Running>, Kind),
}

#[derive(Clone, Copy)]
enum Kind {
    Tool,
    Resource,
}

impl Started {
    fn tool(running: Running) -> Self {
        Started::Running(Box::new(running), Kind::Tool)
    }
    fn resource(running: Running) -> Self {
        Started::Running(Box::new(running), Kind::Resource)
    }
}

/// A call under way, as messages to its client. Dropping it cancels the call.
pub(crate) struct Notes {
    running: Running,
    kind: Kind,
    id: Id,
    token: Option<Box<Raw>>,
    /// The note that made this a stream.
    first: Option<Message>,
    over: bool,
    _in_flight: InFlight,
}

impl Notes {
    /// Plain JSON unless something has to go before the result.
    async fn begin(mut self, events: bool) -> Answer {
        loop {
            match self.running.next().await {
                Step::End(end) => return Answer::Done(self.end(end)),
                Step::Note { method, params } => {
                    if events && let Some(note) = self.note(&method, params.as_deref()) {
                        self.first = Some(note);
                        return Answer::Stream(Box::new(self));
                    }
                }
            }
        }
    }

    /// The next message; `None` after the response.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        if self.over {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            match self.running.next().await {
                Step::End(end) => {
                    self.over = true;
                    return Some(self.end(end));
                }
                Step::Note { method, params } => {
                    if let Some(note) = self.note(&method, params.as_deref()) {
                        return Some(note);
                    }
                }
            }
        }
    }

    fn end(&self, end: Result<Box<Raw>, Failed>) -> Message {
        match end {
            Ok(result) => Message::result(
                self.id.clone(),
                match self.kind {
                    Kind::Tool => result,
                    Kind::Resource => meta::resource_content(&result),
                },
            ),
            Err(Failed::Upstream(error)) => match self.kind {
                Kind::Tool => Message::error(Some(self.id.clone()), error),
                // To the client this is the call of a tool that failed, not a fault of the protocol.
                Kind::Resource => {
                    Message::result(self.id.clone(), meta::unreadable(self.running.server(), &error))
                }
            },
            Err(Failed::Hub(failure)) => Message::result(self.id.clone(), meta::failure(&failure)),
        }
    }

    /// Puts the client's own progress token back. Without one nothing was asked for.
    fn note(&self, method: &str, params: Option<&Raw>) -> Option<Message> {
        let token = self.token.as_ref()?;
        let mut params = RawObject::parse(params?).ok()?;
        params.set("progressToken", token.clone());
        Some(Message::notification(method, Some(params.to_raw())))
    }
}

fn raw(value: &serde_json::Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}
