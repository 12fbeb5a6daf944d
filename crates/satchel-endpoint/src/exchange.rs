//! Carries a session's request to its answer: progress, log messages, questions of the server, lost connections.
//! Answers with plain JSON unless something must precede the result.

use std::{pin::pin, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{StreamExt, stream::FuturesUnordered};
use satchel_core::{
    bridge::Question,
    catalog::lists::List,
    hub::{Hub, Step, Underway},
    model::ServerName,
};
use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, errors};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::{
    downstream::{self, Asker, Kind, Reply},
    params::Params,
    session::{InFlight, PendingQuestion, Session},
    stream::{FIRST_BYTE, Outlet},
    surface::Surface,
};

/// An implementation-defined JSON-RPC code: cancelled by the client.
const CANCELLED: i64 = -32800;

/// A reply: one message, or a stream that ends with the response.
pub(crate) enum Answer {
    Done(Message),
    List(Id, Arc<List>),
    Stream(Arc<Outlet>),
}

/// A request in a session.
pub(crate) struct SessionRequest<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) session: &'a Arc<Session>,
    pub(crate) id: Id,
    pub(crate) method: &'a str,
    pub(crate) params: Params,
    /// Can the client receive messages before the response?
    pub(crate) events: bool,
}

impl SessionRequest<'_> {
    pub(crate) async fn answer(self, tracker: &TaskTracker) -> Answer {
        let (id, session) = (self.id.clone(), self.session.clone());
        let Some(in_flight) = session.begin(&id) else {
            let message = "another request with this id is still running in this session; give every request its own id";
            return Answer::Done(Message::error(
                Some(id),
                ErrorObject::new(errors::INVALID_REQUEST, message),
            ));
        };
        let cancelled = in_flight.cancelled.clone();
        tokio::select! {
            answer = self.run(in_flight, tracker) => answer,
            () = cancelled.cancelled() => Answer::Done(taken_back(&session, id)),
        }
    }

    async fn run(self, in_flight: InFlight, tracker: &TaskTracker) -> Answer {
        let outcome = match own(self.hub, self.session, self.method, &self.params).await {
            Some(outcome) => outcome,
            None => {
                let asker = Asker {
                    caller: self.session.caller(),
                    surface: self.session.surface(),
                    // Nothing else tells of them.
                    servers: (self.method == "tools/list").then(|| self.session.servers(self.hub)),
                    visit: self.session.visit(self.hub),
                };
                let token = self.params.token();
                match downstream::answer(self.hub, &asker, self.method, self.params).await {
                    Reply::Result(result) => Ok(result),
                    Reply::List(list) => return Answer::List(self.id, list),
                    Reply::Error(error) => Err(error),
                    Reply::Running(running, kind) => {
                        let call = Call {
                            running,
                            kind,
                            id: self.id,
                            token,
                            session: self.session.clone(),
                            in_flight,
                        };
                        return call.begin(self.events, tracker).await;
                    }
                }
            }
        };
        Answer::Done(Message::Response { id: Some(self.id), outcome })
    }
}

/// Handles requests to the session itself; `None` for all others.
async fn own(
    hub: &Hub,
    session: &Arc<Session>,
    method: &str,
    params: &Params,
) -> Option<Result<Box<Raw>, ErrorObject>> {
    let hub = &hub.seen_by(&session.client);
    let text = |key: &str| params.text(key);
    let nothing = || Ok(RawObject::new().to_raw());
    let bad = |message: &str| Err(ErrorObject::new(errors::INVALID_PARAMS, message));
    if method == "ping" {
        return Some(nothing());
    }
    let surface = session.surface();
    match method {
        "logging/setLevel" if !surface.is_ours() => {
            let level = text("level").and_then(|level| satchel_core::bridge::caller::severity(&level));
            let Some(from) = level else {
                return Some(bad("logging/setLevel needs a level from debug to emergency"));
            };
            session.set_log_level(from);
            if let Surface::Server(server) = &surface {
                hub.want_logs(server, from).await;
            }
            Some(nothing())
        }
        "resources/subscribe" | "resources/unsubscribe" => {
            let Some(uri) = text("uri") else { return Some(bad("a subscription needs a uri")) };
            let Some((server, uri)) = downstream::owner(hub, &surface, &uri) else {
                let message = format!("Resource not found: {uri}");
                return Some(Err(ErrorObject::new(errors::RESOURCE_NOT_FOUND, message)));
            };
            if method == "resources/unsubscribe" {
                session.unwatch(&server, &uri);
                return Some(nothing());
            }
            Some(match hub.watch_resource(&server, &uri).await {
                Ok(watched) => match session.watch(watched) {
                    Ok(()) => nothing(),
                    Err(message) => Err(ErrorObject::new(errors::INVALID_REQUEST, message)),
                },
                Err(failure) => Err(downstream::refusal(&failure)),
            })
        }
        _ => None,
    }
}

/// Subscribes a session that was opened again to what it was subscribed to. What cannot be subscribed to any more is
/// logged: its client is not waiting for an answer.
pub(crate) async fn watch_again(
    hub: &Hub,
    session: &Session,
    watched: impl IntoIterator<Item = (ServerName, String)>,
) {
    let hub = &session.hub(hub);
    for (server, uri) in watched {
        match hub.watch_resource(&server, &uri).await {
            Ok(watched) => drop(session.watch(watched)),
            Err(failure) => tracing::debug!(%server, %uri, %failure, "cannot subscribe again"),
        }
    }
}

/// Handles a notification.
pub(crate) fn notified(hub: &Hub, session: &Session, method: &str, params: &Params) {
    downstream::notified(&session.client, session.era, method);
    // The only client notification that concerns shared servers: it contains no ids.
    if let Surface::Server(server) = &session.surface()
        && method == "notifications/roots/list_changed"
    {
        hub.seen_by(&session.client).roots_changed(server);
    }
    if method == "notifications/cancelled"
        && let Some(id) = params.fields.read("requestId")
    {
        session.cancel(&id);
    }
}

/// A running call. Dropping it cancels it.
struct Call {
    running: Underway,
    kind: Kind,
    id: Id,
    token: Option<Box<Raw>>,
    session: Arc<Session>,
    in_flight: InFlight,
}

impl Call {
    /// Runs until something has to be sent before the response; the rest runs independently of the connection, because
    /// a broken connection does not cancel the request (`2025-11-25/basic/transports.mdx`).
    async fn begin(mut self, events: bool, tracker: &TaskTracker) -> Answer {
        let late = Instant::now() + FIRST_BYTE;
        loop {
            let step = tokio::select! {
                step = self.running.next() => step,
                () = tokio::time::sleep_until(late), if events => {
                    return self.begin_stream(First::Nothing, tracker);
                }
            };
            let first = match step {
                Step::End(end) => return Answer::Done(self.response(end)),
                Step::Note { method, params } if events => {
                    let note = downstream::note(self.token.as_deref(), &method, params.as_deref());
                    note.map(First::Message)
                }
                Step::Question(question) if events => Some(First::Question(question)),
                Step::Question(question) => {
                    let message = "the client cannot be asked: it does not accept text/event-stream";
                    let error = ErrorObject::new(errors::METHOD_NOT_FOUND, message);
                    self.running.answer(&question.key, Err(error));
                    None
                }
                Step::Note { .. } => None,
            };
            let Some(first) = first else { continue };
            return self.begin_stream(first, tracker);
        }
    }

    fn begin_stream(self, first: First, tracker: &TaskTracker) -> Answer {
        let outlet = self.session.open_stream();
        if self.session.era.primes_streams() && !self.session.one_stream {
            outlet.prime();
        }
        tracker.spawn(self.stream(first, outlet.clone()));
        Answer::Stream(outlet)
    }

    async fn stream(mut self, first: First, outlet: Arc<Outlet>) {
        let mut asked = FuturesUnordered::new();
        match first {
            First::Message(message) => outlet.push(message.to_json()),
            First::Question(question) => asked.push(self.ask(question, &outlet)),
            First::Nothing => {}
        }
        let cancelled = self.in_flight.cancelled.clone();
        let mut abandoned = pin!(outlet.abandoned());
        let last = loop {
            tokio::select! {
                () = outlet.room() => {}
                () = cancelled.cancelled() => break Some(taken_back(&self.session, self.id.clone())),
                () = &mut abandoned => break None,
            }
            tokio::select! {
                step = self.running.next() => match step {
                    Step::End(end) => break Some(self.response(end)),
                    Step::Note { method, params } => {
                        if let Some(note) = downstream::note(self.token.as_deref(), &method, params.as_deref()) {
                            outlet.push(note.to_json());
                        }
                    }
                    Step::Question(question) => {
                        let asking = self.ask(question, &outlet);
                        asked.push(asking);
                    }
                },
                Some((key, outcome)) = asked.next() => self.running.answer(&key, outcome),
                () = cancelled.cancelled() => break Some(taken_back(&self.session, self.id.clone())),
                () = &mut abandoned => break None,
            }
        };
        if let Some(last) = last {
            outlet.push(last.to_json());
        }
        if !self.session.one_stream {
            outlet.end();
        }
    }

    /// Asks the client; the answer arrives in a separate request.
    fn ask(
        &self,
        question: Question,
        outlet: &Outlet,
    ) -> impl Future<Output = (String, crate::session::Outcome)> + use<> {
        let Question { key, method, params } = question;
        let (message, asked): (Message, PendingQuestion) =
            self.session.ask(&method, with_id(&method, params));
        outlet.push(message.to_json());
        async move {
            let ended = || Err(ErrorObject::new(errors::INVALID_REQUEST, "the client's session ended"));
            let outcome = asked.answer().await.unwrap_or_else(ended);
            (key, outcome)
        }
    }

    fn response(&self, end: Result<Box<Raw>, satchel_core::hub::Failed>) -> Message {
        let outcome = downstream::end(self.kind, &self.running, end);
        Message::Response { id: Some(self.id.clone()), outcome }
    }
}

/// What begins a stream.
enum First {
    /// The response takes long.
    Nothing,
    Message(Message),
    Question(Question),
}

/// The error for a cancelled request: by its client, or because its session ended.
fn taken_back(session: &Session, id: Id) -> Message {
    let message = match session.ended.is_cancelled() {
        true => "its session ended before it was answered; it may have been carried out",
        false => "the request was cancelled",
    };
    Message::error(Some(id), ErrorObject::new(CANCELLED, message).with_data(&json!({ "outcome": "unknown" })))
}

/// Elicitations of pages have an id in revisions with sessions, and none in stateless ones.
fn with_id(method: &str, params: Option<Box<Raw>>) -> Option<Box<Raw>> {
    let fields = params.as_deref().and_then(|raw| RawObject::parse(raw).ok());
    let Some(mut fields) = fields.filter(|fields| {
        method == "elicitation/create"
            && fields.text("mode").as_deref() == Some("url")
            && fields.get("elicitationId").is_none()
    }) else {
        return params;
    };
    let mut random = [0u8; 12];
    // Without randomness all have the same id, which is never looked up.
    let _ = getrandom::fill(&mut random);
    fields.put("elicitationId", &URL_SAFE_NO_PAD.encode(random));
    Some(fields.to_raw())
}
