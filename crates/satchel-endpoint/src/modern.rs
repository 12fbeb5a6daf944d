//! Serves the stateless revisions: every request carries what it needs, and headers repeat it.
//!
//! Checked here, in the order the specification gives: revision, metadata, method, headers. What a request then does is
//! the same as for sessions ([`crate::downstream`]). What a server asks in the middle of a call goes out as the call's
//! result; the call waits ([`crate::parked`]) until the client comes back with the answer.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Response, StatusCode},
};
use futures_util::{StreamExt, stream};
use satchel_core::{
    bridge::{Caller, Question, caller},
    hub::{Hub, Running, Step, Underway, Watched},
};
use satchel_mcp::{
    ErrorObject, Id, Message, Raw, RawObject,
    era::{self, Era},
    errors, headers,
    meta::{self as metadata, Ttl},
    param_headers, sse,
};
use serde_json::{Value, json, value::to_raw_value};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    downstream::{self, Asker, Kind, Reply},
    http::{App, Place, VERSION, accepts_events},
    notifications::{self, Follower, Told},
    observe,
    params::Params,
    parked::{AsSent, Parked, Resumed},
    reply,
    stream::{FIRST_BYTE, KEEP_ALIVE, STILL_HERE},
    surface::{FRESH, Surface, info_of},
};

/// Questions that arrive within this time of each other are asked together: a server that asks several at once writes
/// them one by one, and may be interrupted.
const TOGETHER: Duration = Duration::from_millis(100);
/// Maximum time that the first question waits for others.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of resources watched by one notification stream.
const WATCHED: usize = 256;

/// Does the request use a stateless revision? Legacy requests name theirs in the header only, if at all.
pub(crate) fn speaks(message: &Message, params: &Params, http: &HeaderMap) -> bool {
    let method = match message {
        Message::Request { method, .. } | Message::Notification { method, .. } => method.as_str(),
        Message::Response { .. } => "",
    };
    let named = http.get(VERSION).and_then(|value| value.to_str().ok());
    let in_body = params.meta.get(era::VERSION_META).is_some();
    if method == "initialize" {
        // A legacy `initialize` names its revision; without one, it is a removed method of this era.
        return in_body && params.fields.get("protocolVersion").is_none();
    }
    method == "server/discover"
        || in_body
        || named.is_some_and(|revision| Era::of(revision).is_none_or(Era::is_stateless))
}

/// Handles one message.
pub(crate) async fn answer(
    app: &Arc<App>,
    client: &str,
    Place { surface, usual, scope }: Place,
    message: Message,
    params: Params,
    http: &HeaderMap,
) -> Response<Body> {
    let hub = app.hub.seen_by(client).within(&scope);
    let (id, method, as_sent) = match message {
        Message::Request { id, method, params } => (id, method, params),
        // No notification of a stateless client is for a server: each call states what is needed, and closing its
        // stream cancels it (`2026-07-28/basic/patterns/cancellation.mdx`). Ids in it are the client's own.
        Message::Notification { method, .. } => {
            downstream::notified(client, Era::STATELESS, &method);
            return reply::empty(StatusCode::ACCEPTED);
        }
        Message::Response { .. } => {
            let error =
                ErrorObject::new(errors::INVALID_REQUEST, "clients cannot send responses in this revision");
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
    };
    let era = match check(&surface, &method, &params, http) {
        Ok(era) => era,
        Err((status, error)) => return reply::error(status, Some(id), error),
    };
    if method == "tools/call"
        && let Err(error) = arguments_agree(&hub, &surface, &params, http)
    {
        return reply::error(StatusCode::BAD_REQUEST, Some(id), error);
    }
    let caller = caller_of(client, era, &surface, &params);
    let server = info_of(&hub, &surface);
    if matches!(method.as_str(), "server/discover" | "tools/list") {
        hub.arrives();
    }
    match method.as_str() {
        "server/discover" => {
            hub.client_seen(client, None);
            let outcome = discover(&hub, &surface, era).await;
            finish(id, outcome, &server, None)
        }
        "subscriptions/listen" => {
            match Listening::open(app, &hub, &surface, &caller, id.clone(), &params).await {
                Ok(listening) if usual => {
                    reply::events(Body::from_stream(listening.of_whatever(&hub, client).stream()))
                }
                Ok(listening) => reply::events(Body::from_stream(listening.stream())),
                Err(error) => finish(id, Err(error), &server, None),
            }
        }
        _ => {
            let belongs =
                AsSent { client: client.to_owned(), surface: surface.clone(), method, params: as_sent };
            let parked = match app.parked.take(&params, &belongs) {
                Resumed::NotOurs => None,
                Resumed::Call(mut parked) => {
                    parked.running.park(false);
                    parked.take_answers(&params);
                    Some(*parked)
                }
                Resumed::Bad => {
                    let message = "invalid or expired requestState; repeat the request without it";
                    return finish(id, Err(ErrorObject::new(errors::INVALID_PARAMS, message)), &server, None);
                }
            };
            let token = params.token();
            let kept = (belongs.method == "resources/read").then_some(Ttl(0));
            let (running, kind, questions) = match parked {
                Some(parked) => (parked.running, parked.kind, parked.questions),
                None => {
                    let visit = observe::visit(&hub, &caller, &surface);
                    let asker = Asker { caller, surface, servers: None, visit };
                    match downstream::answer(&hub, &asker, &belongs.method, params).await {
                        Reply::Result(result) => return finish(id, Ok(result), &server, None),
                        Reply::List(list) => return reply::list(&id, &list),
                        Reply::Error(error) => return finish(id, Err(error), &server, None),
                        Reply::Running(running, kind) => (running, kind, vec![]),
                    }
                }
            };
            // Unanswered questions are asked again, together with new ones.
            let asking =
                (!questions.is_empty()).then(|| (Instant::now() + TOGETHER, Instant::now() + PATIENCE));
            let call = Call {
                app: app.clone(),
                running: Some(running),
                kind,
                questions,
                asking,
                belongs,
                id,
                token,
                server,
                kept,
            };
            call.respond(accepts_events(http)).await
        }
    }
}

/// A call in one request. Dropping it cancels the call: closing the stream means that
/// (`2026-07-28/basic/patterns/cancellation.mdx`).
struct Call {
    app: Arc<App>,
    running: Option<Underway>,
    kind: Kind,
    questions: Vec<Question>,
    /// When to ask the collected questions, and at the latest when.
    asking: Option<(Instant, Instant)>,
    belongs: AsSent,
    id: Id,
    token: Option<Box<Raw>>,
    server: Box<Raw>,
    kept: Option<Ttl>,
}

enum Happened {
    Note(Message),
    End(Result<Box<Raw>, ErrorObject>),
}

impl Call {
    async fn respond(mut self, events: bool) -> Response<Body> {
        let first = tokio::select! {
            first = self.next() => first,
            () = tokio::time::sleep(FIRST_BYTE), if events => return self.stream(Ok(STILL_HERE)),
        };
        match first {
            None => reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
            Some(Happened::End(outcome)) => finish(self.id, outcome, &self.server, self.kept),
            Some(Happened::Note(note)) => self.stream(event(&note)),
        }
    }

    /// The response as a stream that begins with this.
    fn stream(self, first: Result<Bytes, Infallible>) -> Response<Body> {
        let first = stream::once(async move { first });
        let rest = stream::unfold(self, |mut call| async {
            let happened = tokio::select! {
                happened = call.next() => happened?,
                () = tokio::time::sleep(KEEP_ALIVE) => return Some((Ok(STILL_HERE), call)),
            };
            let message = match happened {
                Happened::Note(note) => note,
                Happened::End(outcome) => shaped(call.id.clone(), outcome, &call.server, call.kept),
            };
            Some((event(&message), call))
        });
        reply::events(Body::from_stream(first.chain(rest)))
    }

    /// The next item to send; `None` after the end.
    async fn next(&mut self) -> Option<Happened> {
        loop {
            let running = self.running.as_mut()?;
            let step = match self.asking {
                None => running.next().await,
                // A stream of notifications does not delay it.
                Some((soon, _)) if soon <= Instant::now() => return self.park(),
                Some((soon, _)) => match tokio::time::timeout_at(soon, running.next()).await {
                    Ok(step) => step,
                    Err(_) => return self.park(),
                },
            };
            match step {
                Step::Question(question) => {
                    self.questions.push(question);
                    let latest = self.asking.map_or_else(|| Instant::now() + PATIENCE, |(_, latest)| latest);
                    self.asking = Some((latest.min(Instant::now() + TOGETHER), latest));
                }
                Step::Note { method, params } => {
                    if let Some(note) = downstream::note(self.token.as_deref(), &method, params.as_deref()) {
                        return Some(Happened::Note(note));
                    }
                }
                Step::End(end) => {
                    let end = downstream::end(self.kind, running, end);
                    self.running = None;
                    return Some(Happened::End(end));
                }
            }
        }
    }

    fn park(&mut self) -> Option<Happened> {
        let running = self.running.take()?;
        running.park(true);
        let parked = Parked {
            running,
            kind: self.kind,
            questions: std::mem::take(&mut self.questions),
            belongs: self.belongs.identity(),
        };
        let asked = self.app.parked.park(parked, &self.app.tracker, self.app.stopping());
        Some(Happened::End(asked.ok_or_else(|| {
            let message = "too many calls are waiting for input; answer some, then repeat the request";
            ErrorObject::new(errors::HUB_REFUSED, message).with_data(&json!({ "outcome": "unknown" }))
        })))
    }
}

async fn discover(hub: &Hub, surface: &Surface, era: Era) -> Result<Box<Raw>, ErrorObject> {
    let hello =
        downstream::hello(hub, surface, era).await.map_err(|failure| downstream::refusal(&failure))?;
    let mut result = RawObject::new();
    result.put("supportedVersions", &Era::stateless_revisions());
    result.set("capabilities", hello.capabilities);
    if let Some(instructions) = hello.instructions {
        result.put("instructions", &instructions);
    }
    result.put("ttlMs", &FRESH.0);
    result.put("cacheScope", "private");
    Ok(result.to_raw())
}

fn caller_of(client: &str, era: Era, surface: &Surface, params: &Params) -> Caller {
    let meta = &params.meta;
    let capabilities = meta.get(metadata::CAPABILITIES).and_then(|raw| RawObject::parse(raw).ok());
    let level = meta.text(metadata::LOG_LEVEL).and_then(|level| caller::severity(&level));
    Caller {
        client: client.into(),
        info: meta.get(metadata::CLIENT).map(|raw| Arc::from(raw.to_owned())),
        capabilities: Arc::new(capabilities.unwrap_or_default()),
        era,
        log_from: level.filter(|_| !surface.is_ours()),
        asks_logs: true,
    }
}

/// A response with its HTTP status.
fn finish(id: Id, outcome: Result<Box<Raw>, ErrorObject>, server: &Raw, ttl: Option<Ttl>) -> Response<Body> {
    let message = shaped(id, outcome, server, ttl);
    let status = match &message {
        Message::Response { outcome: Err(error), .. } => match error.code {
            errors::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            errors::HEADER_MISMATCH | errors::MISSING_CAPABILITY | errors::UNSUPPORTED_PROTOCOL_VERSION => {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    };
    reply::message(status, message)
}

fn shaped(id: Id, outcome: Result<Box<Raw>, ErrorObject>, server: &Raw, ttl: Option<Ttl>) -> Message {
    let outcome = match outcome {
        Ok(result) => Ok(metadata::modern_result(&result, server, ttl)),
        Err(error) => Err(metadata::modern_error(error)),
    };
    Message::Response { id: Some(id), outcome }
}

/// Validates a request before it is handled; returns the error and its HTTP status.
fn check(
    surface: &Surface,
    method: &str,
    params: &Params,
    http: &HeaderMap,
) -> Result<Era, (StatusCode, ErrorObject)> {
    let bad = |code: i64, message: String| (StatusCode::BAD_REQUEST, ErrorObject::new(code, message));
    let meta = &params.meta;
    let unspoken = |asked: &str| {
        let message = format!("protocol revision {asked} is not supported here");
        let (status, error) = bad(errors::UNSUPPORTED_PROTOCOL_VERSION, message);
        (status, error.with_data(&json!({ "supported": Era::stateless_revisions(), "requested": asked })))
    };
    let Some(asked) = meta.text(era::VERSION_META) else {
        // An unknown revision may identify itself differently.
        let named = http.get(VERSION).and_then(|value| value.to_str().ok());
        if let Some(named) = named.filter(|named| Era::of(named).is_none()) {
            return Err(unspoken(named));
        }
        return Err(bad(errors::INVALID_PARAMS, format!("_meta needs \"{}\"", era::VERSION_META)));
    };
    same(http, VERSION, &asked)?;
    let Some(era) = Era::of(&asked).filter(|era| era.is_stateless()) else { return Err(unspoken(&asked)) };
    if !meta.get(metadata::CAPABILITIES).is_some_and(|value| value.get().starts_with('{')) {
        let message = format!("_meta needs an object \"{}\"", metadata::CAPABILITIES);
        return Err(bad(errors::INVALID_PARAMS, message));
    }
    if downstream::served(surface, era, method).is_none() {
        let error = ErrorObject::new(errors::METHOD_NOT_FOUND, format!("there is no method {method}"));
        return Err((StatusCode::NOT_FOUND, error));
    }
    same(http, "mcp-method", method)?;
    if let Some(key) = headers::named_by(method) {
        let named = params.text(key);
        let Some(named) = named else {
            return Err(bad(errors::INVALID_PARAMS, format!("{method} needs \"{key}\"")));
        };
        same(http, "mcp-name", &named)?;
    }
    Ok(era)
}

/// Checks that required headers match the arguments in the body.
fn arguments_agree(
    hub: &Hub,
    surface: &Surface,
    params: &Params,
    http: &HeaderMap,
) -> Result<(), ErrorObject> {
    let name = params.text("name").unwrap_or_default();
    let catalog = hub.catalog();
    let path = match surface {
        Surface::Router | Surface::Script | Surface::Direct => catalog.flat().tool(&name).cloned(),
        Surface::Server(server) => Some(satchel_core::model::ToolPath { server: server.clone(), tool: name }),
    };
    let wanted = path.and_then(|path| Some(catalog.tool(&path)?.param_headers())).unwrap_or_default();
    let arguments: Value =
        if wanted.is_empty() { Value::Null } else { params.fields.read("arguments").unwrap_or_default() };
    for param in wanted {
        let mut all = http.get_all(param.header.as_str()).iter();
        let (one, more) = (all.next(), all.next());
        let given = one.map(|value| value.to_str().unwrap_or("\u{0}"));
        if more.is_some() || !param_headers::agrees(&param, &arguments, given) {
            let message =
                format!("the header {} must match the argument {}", param.header, param.path.join("."));
            return Err(ErrorObject::new(errors::HEADER_MISMATCH, message));
        }
    }
    Ok(())
}

/// Requires a header to occur once and match the body.
fn same(http: &HeaderMap, header: &str, expected: &str) -> Result<(), (StatusCode, ErrorObject)> {
    let mut all = http.get_all(header).iter();
    let (one, more) = (all.next(), all.next());
    let given = one.filter(|_| more.is_none()).and_then(|value| headers::decode(value.to_str().ok()?.trim()));
    if given.as_deref() == Some(expected) {
        return Ok(());
    }
    let message = format!("the header {header} must occur once and be {expected:?}, as in the body");
    Err((StatusCode::BAD_REQUEST, ErrorObject::new(errors::HEADER_MISMATCH, message)))
}

/// A filtered notification stream (`2026-07-28/basic/patterns/subscriptions.mdx`).
struct Listening {
    id: Id,
    follower: Follower,
    lists: Vec<&'static str>,
    watched: Vec<Watched>,
    tasks: Vec<String>,
    /// A stateless server reports tasks only to those who subscribe.
    of_tasks: Option<Running>,
    first: VecDeque<Message>,
    /// The client whose surface determines what is listened to, and the signal of its changes.
    usual: Option<(Hub, String, watch::Receiver<u64>)>,
    ends: CancellationToken,
    over: bool,
}

impl Listening {
    async fn open(
        app: &Arc<App>,
        hub: &Hub,
        surface: &Surface,
        caller: &Caller,
        id: Id,
        params: &Params,
    ) -> Result<Self, ErrorObject> {
        let fields = &params.fields;
        let filter = fields.get("notifications").and_then(|raw| RawObject::parse(raw).ok());
        let Some(filter) = filter else {
            let message = "subscriptions/listen needs \"notifications\": what to subscribe to";
            return Err(ErrorObject::new(errors::INVALID_PARAMS, message));
        };
        let follower = Follower::new(hub, surface.clone());
        let mut honoured = RawObject::new();
        let (mut lists, mut watched, mut of_tasks) = (vec![], vec![], None);
        let mut tasks: Vec<String> = vec![];
        for list in notifications::LISTS {
            let key = format!("{list}ListChanged");
            if filter.read(&key) == Some(true) {
                lists.push(list);
                honoured.put(&key, &true);
            }
        }
        let uris: Vec<String> = filter.read("resourceSubscriptions").unwrap_or_default();
        let mut heard = vec![];
        for uri in uris.into_iter().take(WATCHED) {
            let Some((server, own)) = downstream::owner(hub, surface, &uri) else { continue };
            if let Ok(one) = hub.watch_resource(&server, &own).await {
                watched.push(one);
                heard.push(uri);
            }
        }
        if !heard.is_empty() {
            honoured.put("resourceSubscriptions", &heard);
        }
        if let Surface::Server(server) = surface
            && filter.get("taskIds").is_some()
        {
            tasks = filter.read("taskIds").unwrap_or_default();
            tasks.retain(|task| hub.calls().owned.has_task(&caller.client, server, task));
            let mut params = RawObject::new();
            params.set(
                "_meta",
                fields.get("_meta").map_or_else(|| RawObject::new().to_raw(), ToOwned::to_owned),
            );
            let mut only = RawObject::new();
            only.put("taskIds", &tasks);
            params.set("notifications", only.to_raw());
            if !tasks.is_empty() {
                of_tasks = hub.ask(caller, server, "subscriptions/listen", params).await.ok();
            }
            if of_tasks.is_some() {
                honoured.put("taskIds", &tasks);
            }
        }
        let mut acknowledged = RawObject::new();
        acknowledged.set("notifications", honoured.to_raw());
        let first =
            Message::notification("notifications/subscriptions/acknowledged", Some(acknowledged.to_raw()));
        let first = VecDeque::from([notifications::tagged(first, &id)]);
        let (usual, ends) = (None, app.stopping());
        Ok(Self { id, follower, lists, watched, tasks, of_tasks, first, usual, ends, over: false })
    }

    /// Follows changes of the client's surface.
    fn of_whatever(mut self, hub: &Hub, client: &str) -> Self {
        self.usual = Some((hub.clone(), client.to_owned(), hub.watch_choices()));
        self
    }

    fn stream(self) -> impl futures_util::Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut listening| async {
            let piece = listening.next().await?;
            Some((piece, listening))
        })
    }

    async fn next(&mut self) -> Option<Result<Bytes, Infallible>> {
        if self.over {
            return None;
        }
        loop {
            if let Some(first) = self.first.pop_front() {
                return Some(event(&first));
            }
            let chosen = async {
                let Some((hub, client, choices)) = &mut self.usual else { std::future::pending().await };
                if choices.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                (hub.clone(), Surface::usual(hub, client))
            };
            let of_tasks = async {
                match &mut self.of_tasks {
                    Some(running) => matches!(running.next().await, Step::End(_)),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                told = self.follower.next() => match told {
                    Some(told) => if let Some(message) = self.wanted(&told) {
                        return Some(event(&notifications::tagged(message, &self.id)));
                    },
                    None => return self.end(),
                },
                ended = of_tasks => if ended { self.of_tasks = None },
                (hub, surface) = chosen => if surface != *self.follower.surface() {
                    self.follower.turn_to(&hub, surface);
                    let told = self.lists.iter().map(|list| notifications::tagged(notifications::list_changed(list), &self.id));
                    self.first.extend(told);
                },
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    return Some(Ok(STILL_HERE));
                }
                () = self.ends.cancelled() => return self.end(),
            }
        }
    }

    /// Announces the end if the hub causes it.
    fn end(&mut self) -> Option<Result<Bytes, Infallible>> {
        self.over = true;
        let tag =
            to_raw_value(&json!({ "resultType": "complete", "_meta": { metadata::SUBSCRIPTION: self.id } }));
        Some(event(&Message::result(self.id.clone(), tag.ok()?)))
    }

    fn wanted(&mut self, told: &Told) -> Option<Message> {
        match told {
            Told::List(list) => {
                self.watched.retain(|watched| self.follower.shows(watched.resource().0));
                self.lists.contains(list).then(|| notifications::list_changed(list))
            }
            Told::Notification(notification) => {
                let (notification, own) = self.follower.as_shown(notification.clone());
                if let Some(uri) = own {
                    let here = |watched: &Watched| watched.resource() == (&notification.server, uri.as_str());
                    return self.watched.iter().any(here).then(|| notifications::as_said(&notification));
                }
                let task = notifications::fields(&notification).text("taskId")?;
                let tells = &*notification.method == "notifications/tasks" && self.tasks.contains(&task);
                tells.then(|| notifications::as_said(&notification))
            }
        }
    }
}

fn event(message: &Message) -> Result<Bytes, Infallible> {
    Ok(Bytes::from(sse::SseEvent::message(message.to_json()).to_wire()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(params: &str) -> Message {
        Message::parse(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))
            .unwrap()
    }

    fn refusal(method: &str, params: &str, http: &[(&'static str, &str)]) -> Option<(u16, i64)> {
        let mut map = HeaderMap::new();
        for (name, value) in http {
            map.append(*name, value.parse().unwrap());
        }
        let params = Raw::from_string(params.to_owned()).unwrap();
        check(&Surface::Router, method, &Params::of(Some(&params)), &map)
            .err()
            .map(|(status, error)| (status.as_u16(), error.code))
    }

    const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    #[test]
    fn a_request_is_refused_for_the_first_thing_that_is_wrong() {
        let version = ("mcp-protocol-version", "2026-07-28");
        let listing = ("mcp-method", "tools/list");
        let with = |meta: &str| format!(r#"{{"_meta":{meta},"name":"é"}}"#);
        let good = with(META);
        let old = good.replace("2026-07-28", "1900-01-01");
        let calling = ("mcp-method", "tools/call");
        for (method, params, http, expected) in [
            ("tools/list", good.as_str(), &[version, listing][..], None),
            ("tools/list", "{}", &[version, listing][..], Some((400, -32602))),
            (
                "tools/list",
                &with(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#),
                &[version, listing][..],
                Some((400, -32602)),
            ),
            ("tools/list", &good, &[listing][..], Some((400, -32020))),
            ("tools/list", &good, &[version, version, listing][..], Some((400, -32020))),
            (
                "tools/list",
                &good,
                &[("mcp-protocol-version", "2025-11-25"), listing][..],
                Some((400, -32020)),
            ),
            ("tools/list", &old, &[("mcp-protocol-version", "1900-01-01"), listing][..], Some((400, -32022))),
            ("tools/list", &good, &[version][..], Some((400, -32020))),
            ("tools/list", &good, &[version, calling][..], Some((400, -32020))),
            ("ping", &good, &[version][..], Some((404, -32601))),
            ("tools/call", &good, &[version, calling][..], Some((400, -32020))),
            ("tools/call", &good, &[version, calling, ("mcp-name", "=?base64?w6k=?=")][..], None),
            ("tools/call", &good, &[version, calling, ("mcp-name", "e")][..], Some((400, -32020))),
        ] {
            assert_eq!(refusal(method, params, http), expected, "{method} {params} {http:?}");
        }
    }

    #[test]
    fn the_family_is_told_by_header_body_or_method_and_initialize_is_always_legacy() {
        let speaks =
            |message: &Message, http: &HeaderMap| super::speaks(message, &Params::of(message.params()), http);
        let mut named = HeaderMap::new();
        named.insert(VERSION, "2025-11-25".parse().unwrap());
        assert!(!speaks(&request("{}"), &named) && !speaks(&request("{}"), &HeaderMap::new()));
        assert!(speaks(&request(&format!(r#"{{"_meta":{META}}}"#)), &HeaderMap::new()));
        named.insert(VERSION, "2026-07-28".parse().unwrap());
        assert!(speaks(&request("{}"), &named));
        let initialize = Message::request(1, "initialize", None);
        assert!(!speaks(&initialize, &named));
        assert!(speaks(&Message::request(1, "server/discover", None), &HeaderMap::new()));
        let removed = Raw::from_string(format!(r#"{{"_meta":{META}}}"#)).unwrap();
        assert!(speaks(&Message::request(1, "initialize", Some(removed)), &named));
        let both = Raw::from_string(format!(r#"{{"protocolVersion":"2025-06-18","_meta":{META}}}"#)).unwrap();
        assert!(!speaks(&Message::request(1, "initialize", Some(both)), &named));
    }
}
