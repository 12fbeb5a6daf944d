//! Streamable HTTP towards clients (`2025-11-25/basic/transports.mdx`): POST, GET and DELETE on `/mcp`.
//!
//! Every path is guarded; only `/mcp` exists, and only with a token. Answers are plain JSON unless a note has to go
//! before the result.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts},
};
use futures_util::{Stream, StreamExt, stream};
use satchel_core::hub::Hub;
use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, era, errors, limits, sse};
use tokio_util::sync::CancellationToken;

use crate::{
    busy::{PER_CLIENT, Shares},
    downstream::{self, Answer},
    guard::{Guard, Refused},
    modern, reply,
    session::{Session, Sessions},
    token,
};

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// A comment this often keeps proxies and clients from giving up on a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(25);
/// Messages in one array, in the one revision that has them.
const BATCH: usize = 64;

const SESSION: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
/// What TypeScript servers answer where we have no code of our own (`protocol` error range of implementations).
const BAD_REQUEST: i64 = -32000;
const SESSION_NOT_FOUND: i64 = -32001;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) hub: Hub,
    pub(crate) sessions: Sessions,
    shares: Shares,
    guard: Guard,
    stop: CancellationToken,
}

impl App {
    /// Cancelled when the endpoint ends.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(crate) fn new(hub: Hub, port: u16, stop: CancellationToken) -> Self {
        Self { hub, sessions: Sessions::default(), shares: Shares::default(), guard: Guard::new(port), stop }
    }
}

/// One handler for every path, so that no path can be forgotten by the guard.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new().fallback(handle).with_state(app)
}

async fn handle(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if let Err(refused) = app.guard.check(&parts.uri, &parts.headers) {
        let message = match refused {
            Refused::Host => {
                "this address serves only requests to 127.0.0.1, localhost or [::1] with its port"
            }
            Refused::Origin => "web pages may not use this endpoint",
        };
        return reply::error(StatusCode::FORBIDDEN, None, ErrorObject::new(errors::INVALID_REQUEST, message));
    }
    if parts.uri.path() != "/mcp" {
        return reply::empty(StatusCode::NOT_FOUND);
    }
    let Some(client) = token::client(&app.hub, &parts.headers) else { return no_token() };
    match parts.method {
        Method::POST => match app.shares.take(&client) {
            Some(_share) => post(&app, client, &parts, body).await,
            None => busy(),
        },
        Method::GET => get(&app, &client, &parts.headers),
        Method::DELETE => delete(&app, &client, &parts.headers),
        _ => {
            let mut response = reply::empty(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
            response
        }
    }
}

fn no_token() -> Response<Body> {
    let error = ErrorObject::new(
        BAD_REQUEST,
        "this endpoint needs the token of a connected client; `satchel connect --print --client NAME` makes one",
    );
    let mut response = reply::error(StatusCode::UNAUTHORIZED, None, error);
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"satchel\""));
    response
}

fn busy() -> Response<Body> {
    let message =
        format!("this client has {PER_CLIENT} requests in flight; send more when some are answered");
    let error = ErrorObject::new(errors::HUB_REFUSED, message)
        .with_data(&serde_json::json!({ "outcome": "not_sent" }));
    reply::error(StatusCode::TOO_MANY_REQUESTS, None, error)
}

async fn post(app: &Arc<App>, client: String, parts: &Parts, body: Body) -> Response<Body> {
    if !is_json(&parts.headers) {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "the Content-Type must be application/json");
        return reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, error);
    }
    let bytes = match read_body(body).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        let error = ErrorObject::new(errors::PARSE_ERROR, "the body is not UTF-8");
        return reply::error(StatusCode::BAD_REQUEST, None, error);
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        return batch(app, &client, &parts.headers, text).await;
    }
    let message = match Message::parse_bounded(text) {
        Ok(message) => message,
        Err(error) => {
            let error = ErrorObject::new(error.code(), error.to_string());
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
    };
    if modern::speaks(&message, &parts.headers) {
        return modern::answer(app, &client, message, &parts.headers).await;
    }
    match message {
        Message::Request { id, method, params } if method == "initialize" => {
            initialize(app, client, id, params)
        }
        message => match session(app, &client, &parts.headers) {
            Ok(session) => deliver(app, &session, message, accepts_events(&parts.headers)).await,
            Err(refusal) => refusal.with_id(&message),
        },
    }
}

fn initialize(app: &Arc<App>, client: String, id: Id, params: Option<Box<Raw>>) -> Response<Body> {
    let params = params.and_then(|params| RawObject::parse(&params).ok()).unwrap_or_default();
    let Some(requested) = params.text("protocolVersion") else {
        let error = ErrorObject::new(errors::INVALID_PARAMS, "initialize needs a protocolVersion");
        return reply::error(StatusCode::BAD_REQUEST, Some(id), error);
    };
    app.hub.client_seen(&client, None);
    let revision = era::negotiate(&requested);
    let servers = downstream::visible_servers(&app.hub);
    let result = downstream::hello(revision);
    match app.sessions.open(Session::new(client, revision, servers)) {
        Ok(name) => {
            let mut response = reply::json(StatusCode::OK, Message::result(id, result).to_json());
            if let Ok(name) = HeaderValue::try_from(name) {
                response.headers_mut().insert(SESSION, name);
            }
            response
        }
        Err(error) => {
            let error = ErrorObject::new(errors::INTERNAL_ERROR, format!("cannot open a session: {error}"));
            reply::error(StatusCode::INTERNAL_SERVER_ERROR, Some(id), error)
        }
    }
}

/// Why a request has no session.
struct NoSession(StatusCode, i64, &'static str);

impl NoSession {
    fn with_id(&self, message: &Message) -> Response<Body> {
        let id = match message {
            Message::Request { id, .. } => Some(id.clone()),
            Message::Notification { .. } | Message::Response { .. } => None,
        };
        reply::error(self.0, id, ErrorObject::new(self.1, self.2))
    }
}

fn session(app: &App, client: &str, headers: &HeaderMap) -> Result<Arc<Session>, NoSession> {
    let Some(name) = headers.get(SESSION) else {
        return Err(NoSession(
            StatusCode::BAD_REQUEST,
            BAD_REQUEST,
            "Bad Request: no session; send initialize first, then its Mcp-Session-Id with every request",
        ));
    };
    name.to_str().ok().and_then(|name| app.sessions.get(name, client)).ok_or(NoSession(
        StatusCode::NOT_FOUND,
        SESSION_NOT_FOUND,
        "Session not found; send initialize again",
    ))
}

async fn deliver(app: &Arc<App>, session: &Arc<Session>, message: Message, events: bool) -> Response<Body> {
    match message {
        Message::Notification { method, params } => {
            downstream::notified(session, &method, params.as_deref());
            reply::empty(StatusCode::ACCEPTED)
        }
        // We never ask legacy clients anything yet, so there is nothing to answer.
        Message::Response { .. } => reply::empty(StatusCode::ACCEPTED),
        Message::Request { id, method, params } => {
            match downstream::answer(&app.hub, session, id, &method, params.as_deref(), events).await {
                Answer::Done(message) => reply::json(StatusCode::OK, message.to_json()),
                Answer::Stream(messages) => {
                    reply::events(Body::from_stream(stream::unfold(messages, |mut messages| async {
                        let message = messages.next().await?;
                        let event = sse::Event::message(message.to_json()).to_wire();
                        Some((Ok::<_, Infallible>(Bytes::from(event)), messages))
                    })))
                }
            }
        }
    }
}

/// Messages in an array: only the revision 2025-03-26 has them.
async fn batch(app: &Arc<App>, client: &str, headers: &HeaderMap, text: &str) -> Response<Body> {
    let refuse = |message: &str| {
        reply::error(StatusCode::BAD_REQUEST, None, ErrorObject::new(errors::INVALID_REQUEST, message))
    };
    let session = match session(app, client, headers) {
        Ok(session) => session,
        Err(NoSession(status, code, message)) => {
            return reply::error(status, None, ErrorObject::new(code, message));
        }
    };
    if !era::has_batches(session.revision) {
        return refuse("an array of messages is not supported by this protocol revision");
    }
    let items: Vec<&Raw> = match serde_json::from_str(text) {
        Ok(items) => items,
        Err(error) => {
            let error = ErrorObject::new(errors::PARSE_ERROR, format!("not JSON: {error}"));
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
    };
    if items.is_empty() || items.len() > BATCH {
        return refuse("an array must have 1 to 64 messages");
    }
    let mut answers = Vec::new();
    for item in items {
        match Message::parse_bounded(item.get()) {
            Ok(Message::Request { id, method, .. }) if method == "initialize" => {
                let error = ErrorObject::new(errors::INVALID_REQUEST, "initialize must be sent alone");
                answers.push(Message::error(Some(id), error).to_json());
            }
            Ok(Message::Request { id, method, params }) => {
                let answer =
                    downstream::answer(&app.hub, &session, id, &method, params.as_deref(), false).await;
                if let Answer::Done(message) = answer {
                    answers.push(message.to_json());
                }
            }
            Ok(Message::Notification { method, params }) => {
                downstream::notified(&session, &method, params.as_deref());
            }
            Ok(Message::Response { .. }) => {}
            Err(error) => {
                let error = ErrorObject::new(error.code(), error.to_string());
                answers.push(Message::error(None, error).to_json());
            }
        }
    }
    if answers.is_empty() {
        return reply::empty(StatusCode::ACCEPTED);
    }
    reply::json(StatusCode::OK, format!("[{}]", answers.join(",")))
}

/// The stream for what we might want to say unasked. Nothing yet: it is kept open because some clients take its end
/// for the end of the server.
fn get(app: &Arc<App>, client: &str, headers: &HeaderMap) -> Response<Body> {
    if !accepts_events(headers) {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "a GET must accept text/event-stream");
        return reply::error(StatusCode::NOT_ACCEPTABLE, None, error);
    }
    let session = match session(app, client, headers) {
        Ok(session) => session,
        Err(NoSession(status, code, message)) => {
            return reply::error(status, None, ErrorObject::new(code, message));
        }
    };
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b": open\n\n")) });
    reply::events(Body::from_stream(first.chain(keep_alive(vec![session.ended.clone(), app.stopping()]))))
}

/// Comments at intervals, until one of the tokens is cancelled.
pub(crate) fn keep_alive(ends: Vec<CancellationToken>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(ends, |ends| async {
        let ended = futures_util::future::select_all(ends.iter().map(|end| Box::pin(end.cancelled())));
        tokio::select! {
            () = tokio::time::sleep(KEEP_ALIVE) => {}
            _ = ended => return None,
        }
        Some((Ok(Bytes::from_static(b": still here\n\n")), ends))
    })
}

fn delete(app: &Arc<App>, client: &str, headers: &HeaderMap) -> Response<Body> {
    let Some(name) = headers.get(SESSION) else { return reply::empty(StatusCode::BAD_REQUEST) };
    match name.to_str().is_ok_and(|name| app.sessions.close(name, client)) {
        true => reply::empty(StatusCode::NO_CONTENT),
        false => reply::empty(StatusCode::NOT_FOUND),
    }
}

async fn read_body(body: Body) -> Result<Bytes, Box<Response<Body>>> {
    let refuse = |status, message: String| {
        Box::new(reply::error(status, None, ErrorObject::new(errors::INVALID_REQUEST, message)))
    };
    match tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, limits::BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let text =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            if text.contains("length limit") {
                let most = limits::BODY_BYTES / 1024 / 1024;
                return Err(refuse(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("the body is larger than {most} MiB"),
                ));
            }
            Err(refuse(StatusCode::BAD_REQUEST, format!("the body cannot be read: {text}")))
        }
        Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive".to_owned())),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    all.any(|accept| accept.to_ascii_lowercase().contains("text/event-stream"))
}
