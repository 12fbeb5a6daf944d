//! Streamable HTTP for clients (`2025-11-25/basic/transports.mdx`): POST, GET and DELETE on `/mcp`.
//!
//! Every path is guarded; only `/mcp` exists, and only with a token. Answers are plain JSON unless a note has to go
//! before the result.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, BodyDataStream, Bytes},
    http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header, request::Parts},
};
use futures_util::StreamExt;
use satchel_core::{
    hub::{Hub, Scope},
    model::control::Refusal,
    tasks::{caught, may_fail_here},
};
use satchel_mcp::{ErrorObject, Id, Message, ParseError, Raw, RawObject, envelope, era::Era, errors};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    auth_throttle::{AuthThrottle, MINUTE},
    busy::{PER_CLIENT, Shares},
    callback, compat,
    connection::{Answers, ClientConnection},
    downstream,
    exchange::{self, Answer},
    guard::{Guard, Refused},
    kept_sessions::{self, KeptSessions},
    modern, notifications, origins,
    params::Params,
    parked::ParkedCalls,
    reply, roots,
    serve::HEADER_BYTES,
    session::{Menu, OpenError, Session, Sessions},
    stream::place,
    surface::{Surface, folder_of, profile_at, project_at},
    token,
};

/// Timeout for a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much, and how long, an oversized body is still read.
const UNWANTED_BYTES: usize = 64 * 1024 * 1024;
const UNWANTED_TIME: Duration = Duration::from_secs(5);
/// The path whose surface depends on the client.
const USUAL: &str = "/mcp";
/// Maximum number of messages in a batch, in the only revision that has them.
const BATCH: usize = 64;

const SESSION: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
/// The code that TypeScript servers use for errors without a code of their own.
const BAD_REQUEST: i64 = -32000;
const SESSION_NOT_FOUND: i64 = -32001;

/// What a request's path means.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) surface: Surface,
    /// The surface depends on the client, and may change.
    pub(crate) usual: bool,
    /// The profile in the path.
    pub(crate) scope: Scope,
}

impl Place {
    /// Where a session can be used again, as text.
    fn name(&self) -> String {
        match (&self.surface, self.scope.profile()) {
            (Surface::Server(server), _) => format!("server/{server}"),
            (_, Some(profile)) => format!("profile/{profile}"),
            (_, None) => "hub".to_owned(),
        }
    }
}

/// State shared by all requests.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) hub: Hub,
    pub(crate) sessions: Sessions,
    kept: KeptSessions,
    pub(crate) parked: ParkedCalls,
    /// Tasks that run independently of connections.
    pub(crate) tracker: TaskTracker,
    shares: Shares,
    throttle: AuthThrottle,
    guard: Guard,
    socket_guard: Guard,
    stop: CancellationToken,
}

/// Goes with every request that comes over a client's own socket: nobody else is served there.
#[derive(Debug, Clone)]
pub(crate) struct OnlyFor(pub(crate) Arc<str>);

impl App {
    /// Cancelled when the endpoint stops.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(crate) fn new(hub: Hub, port: u16, stop: CancellationToken, tracker: TaskTracker) -> Self {
        let kept =
            KeptSessions::open(hub.places().data.join(kept_sessions::FILE_NAME), &tracker, stop.clone());
        Self {
            hub,
            sessions: Sessions::default(),
            kept,
            parked: ParkedCalls::default(),
            tracker,
            shares: Shares::new(PER_CLIENT),
            throttle: AuthThrottle::default(),
            guard: Guard::new(port),
            socket_guard: Guard::of_a_socket(),
            stop,
        }
    }
}

/// A single handler for every path, so that the guard covers all of them.
pub(crate) fn answers(app: Arc<App>) -> Answers {
    Arc::new(move |request| Box::pin(handle(app.clone(), request)))
}

/// Catches panics, so that they end only one request.
async fn handle(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let bodiless = request.method() == Method::HEAD;
    let answered = caught(Box::pin(answer(app, request))).await.unwrap_or_else(|panicked| {
        let error = ErrorObject::new(errors::INTERNAL_ERROR, panicked.to_string())
            .with_data(&serde_json::json!({ "outcome": "unknown" }));
        reply::error(StatusCode::INTERNAL_SERVER_ERROR, None, error)
    });
    // A content length without a body makes careless readers wait for one.
    if bodiless { answered.map(|_| Body::empty()) } else { answered }
}

async fn answer(app: Arc<App>, request: Request<Body>) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    without_more_slashes(&mut parts.uri);
    if head_bytes(&parts) > HEADER_BYTES {
        return reply::empty(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    let only = parts.extensions.get::<OnlyFor>();
    let guard = if only.is_some() { &app.socket_guard } else { &app.guard };
    let refused = guard.check(&parts.uri, &parts.headers).err();
    // A person may have allowed the origin for one client, whose token is still needed.
    let allowed = match refused {
        Some(Refused::Origin) if only.is_none() => origins::configured(&app.hub, &parts.headers),
        Some(Refused::Origin | Refused::Host) | None => None,
    };
    if let Some(refused) = refused.filter(|_| allowed.is_none()) {
        return turned_away(&app.hub, refused, parts.uri.path());
    }
    if let Some(preflight) = allowed.as_ref().and_then(|origin| origins::preflight(&parts, origin)) {
        return preflight;
    }
    if let Some(ticket) =
        parts.uri.path().strip_prefix("/sign-in/").filter(|_| only.is_none() && allowed.is_none())
    {
        return match parts.method {
            Method::GET => Box::pin(callback::sign_in_page(&app.hub, ticket, &parts.headers)).await,
            _ => reply::empty(StatusCode::METHOD_NOT_ALLOWED),
        };
    }
    let surface = Surface::at(parts.uri.path(), Surface::Router);
    if surface.is_none() && !compat::is_path(parts.uri.path()) {
        return no_such_path(parts.uri.path());
    }
    let client = token::client(&app.hub, &parts.headers);
    // To say that it is another client's would tell whether it is one.
    let Some(client) = client.filter(|client| only.is_none_or(|OnlyFor(only)| **only == **client)) else {
        let guessed = parts.headers.contains_key(header::AUTHORIZATION);
        app.hub.turned_away(if guessed { "not a client's token" } else { "no token" }, parts.uri.path());
        return if guessed && app.throttle.refuses_another() { too_many_wrong_tokens() } else { no_token() };
    };
    if let Some(origin) = &allowed
        && !origins::is_of(&app.hub, origin, &client)
    {
        return turned_away(&app.hub, Refused::Origin, parts.uri.path());
    }
    if let Some(connection) = parts.extensions.get::<Arc<ClientConnection>>()
        && let Err(refusal) = connection.admitted(&app.hub, &client).await
    {
        throw_away(body.into_data_stream()).await;
        return not_admitted(&refusal);
    }
    if let Some(connection) = parts.extensions.get::<Arc<ClientConnection>>()
        && !connection.is_of(&client).await
    {
        throw_away(body.into_data_stream()).await;
        return too_many_connections(connection.per_client());
    }
    let response = serve(&app, client, surface, &parts, body).await;
    let response = token::ends_with(&app.hub, &parts.headers, response);
    match &allowed {
        Some(origin) => origins::readable(response, origin),
        None => response,
    }
}

/// A request that is not for this endpoint, or from a page.
fn turned_away(hub: &Hub, refused: Refused, path: &str) -> Response<Body> {
    let (message, advice) = match refused {
        Refused::Host => {
            ("this address serves only requests to 127.0.0.1, localhost or [::1] with its port", "")
        }
        Refused::Origin => (
            "web pages may not use this endpoint",
            "; a person may allow the origin of one app for one client, with \"origins\" in Satchel's configuration",
        ),
    };
    hub.turned_away(message, path);
    let error = ErrorObject::new(errors::INVALID_REQUEST, format!("{message}{advice}"));
    reply::error(StatusCode::FORBIDDEN, None, error)
}

/// Handles a request of an authenticated client.
async fn serve(
    app: &Arc<App>,
    client: String,
    surface: Option<Surface>,
    parts: &Parts,
    body: Body,
) -> Response<Body> {
    let profile = profile_at(parts.uri.path());
    if let Some(name) = profile.as_deref().filter(|name| !app.hub.has_profile(name)) {
        return no_profile(name);
    }
    let Some(surface) = surface else {
        let usual = Surface::usual(&app.hub, &client);
        return match app.shares.take(&client) {
            Some(_share) => Box::pin(compat::answer(app, client, usual, parts, body)).await,
            None => busy(),
        };
    };
    let path = parts.uri.path();
    let usual = profile.is_some() || project_at(path).is_some() || path == USUAL;
    let surface = if usual { Surface::usual(&app.hub, &client) } else { surface };
    let scope = Scope::of(profile.as_deref()).naming(folder_of(path, &parts.headers));
    let place = Place { surface, usual, scope };
    match parts.method {
        Method::POST => match app.shares.take(&client) {
            Some(_share) => Box::pin(post(app, client, place, parts, body)).await,
            None => busy(),
        },
        Method::GET => get(app, &client, &place, &parts.headers),
        Method::DELETE => delete(app, &client, &parts.headers).await,
        _ => {
            let mut response = reply::empty(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
            response
        }
    }
}

/// The size of a request's head in bytes. The HTTP library limits it only roughly.
fn head_bytes(parts: &Parts) -> usize {
    let fields = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    fields.sum::<usize>() + parts.uri.path().len() + parts.uri.query().map_or(0, str::len)
}

/// One slash more is the same address: clients that normalize addresses or join them add it, and people paste one. Not a
/// redirect, on which many clients lose the body.
fn without_more_slashes(uri: &mut Uri) {
    let path = uri.path();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let shorter = format!("/{}", parts.join("/"));
    if parts.is_empty() || shorter == path {
        return;
    }
    let mut parts = uri.clone().into_parts();
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    parts.path_and_query = format!("{shorter}{query}").parse().ok();
    if let Ok(without) = Uri::from_parts(parts) {
        *uri = without;
    }
}

/// Nothing is served at this path; says which ones there are.
fn no_such_path(path: &str) -> Response<Body> {
    const CHARS: usize = 80;
    let path: String = path.chars().filter(char::is_ascii_graphic).take(CHARS).collect();
    let message = format!(
        "nothing is served at {path}; use /mcp, /mcp/direct (all tools), /mcp/server/NAME (one server), \
         /mcp/profile/NAME, /mcp/project/FOLDER (percent-encoded), or /sse for clients of the older transport"
    );
    reply::error(StatusCode::NOT_FOUND, None, ErrorObject::new(BAD_REQUEST, message))
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

fn no_profile(name: &str) -> Response<Body> {
    let message = format!("there is no profile {name:?}; `satchel profile list` shows them");
    reply::error(StatusCode::NOT_FOUND, None, ErrorObject::new(BAD_REQUEST, message))
}

/// Reveals nothing about the token.
fn too_many_wrong_tokens() -> Response<Body> {
    let error = ErrorObject::new(BAD_REQUEST, "too many wrong tokens; try again in a minute")
        .with_data(&serde_json::json!({ "outcome": "not_sent" }));
    let mut response = reply::error(StatusCode::TOO_MANY_REQUESTS, None, error);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(MINUTE.as_secs()));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn busy() -> Response<Body> {
    let message =
        format!("this client has {PER_CLIENT} requests in flight; send more when some are answered");
    let error = ErrorObject::new(errors::HUB_REFUSED, message)
        .with_data(&serde_json::json!({ "outcome": "not_sent" }));
    reply::error(StatusCode::TOO_MANY_REQUESTS, None, error)
}

fn too_many_connections(most: usize) -> Response<Body> {
    let message = format!("this client has {most} connections; send more over those, or close some");
    let error = ErrorObject::new(errors::HUB_REFUSED, message)
        .with_data(&serde_json::json!({ "outcome": "not_sent" }));
    let mut response = reply::error(StatusCode::TOO_MANY_REQUESTS, None, error);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The process at the other end may not act as a client.
fn not_admitted(refusal: &Refusal) -> Response<Body> {
    let message = format!("{}. {}", refusal.message, refusal.action);
    let error = ErrorObject::new(errors::HUB_REFUSED, message)
        .with_data(&serde_json::json!({ "code": refusal.code, "outcome": "not_sent" }));
    let mut response = reply::error(StatusCode::FORBIDDEN, None, error);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

// Each kind of request has a boxed future: otherwise the space for all of them together was copied several times per
// request.
async fn post(app: &Arc<App>, client: String, place: Place, parts: &Parts, body: Body) -> Response<Body> {
    let bytes = match read_body(body, app.hub.request_bytes()).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let text = match text_of(&parts.headers, &bytes) {
        Ok(text) => text,
        Err(refused) => return *refused,
    };
    if text.starts_with('[') {
        return Box::pin(batch(app, &client, &place, &parts.headers, text)).await;
    }
    let message = match Message::parse_bounded(text) {
        Ok(message) => message,
        Err(error) => {
            return reply::error(StatusCode::BAD_REQUEST, envelope::id_of_request(text), fault(&error));
        }
    };
    may_fail_here("request");
    // The body may be large, and the answer may take minutes.
    drop(bytes);
    let params = Params::of(message.params());
    if modern::speaks(&message, &params, &parts.headers) {
        return Box::pin(modern::answer(app, &client, place, message, params, &parts.headers)).await;
    }
    match message {
        Message::Request { id, method, .. } if method == "initialize" => {
            Box::pin(initialize(app, client, place, id, params)).await
        }
        message => match session(app, &client, &place, &parts.headers) {
            Ok(session) => {
                let events = accepts_events(&parts.headers);
                Box::pin(deliver(app, &session, message.without_params(), params, events)).await
            }
            Err(refusal) => refusal.with_id(&message),
        },
    }
}

/// The text of a body; a refusal under the id of its request, as far as that can be read.
pub(crate) fn text_of<'a>(headers: &HeaderMap, bytes: &'a [u8]) -> Result<&'a str, Box<Response<Body>>> {
    let id = || envelope::id_of_request(&String::from_utf8_lossy(bytes));
    // Browsers can send other content types without a preflight request.
    if !is_json(headers) {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "the Content-Type must be application/json");
        return Err(Box::new(reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, id(), error)));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        let error = ErrorObject::new(errors::PARSE_ERROR, "the body is not UTF-8");
        Box::new(reply::error(StatusCode::BAD_REQUEST, id(), error))
    })?;
    Ok(text.trim_start_matches('\u{feff}').trim_start())
}

/// Why a text is no message.
pub(crate) fn fault(error: &ParseError) -> ErrorObject {
    ErrorObject::new(error.code(), error.to_string())
}

async fn initialize(app: &Arc<App>, client: String, place: Place, id: Id, params: Params) -> Response<Body> {
    let place_name = place.name();
    let (session, result) = match open(app, client.clone(), place, &params, false).await {
        Ok(opened) => opened,
        Err((status, error)) => return reply::error(status, Some(id), error),
    };
    match app.sessions.open(session) {
        Ok(name) => {
            if let Some(session) = app.sessions.get(&name, &client) {
                session.keep_with(app.kept.keep(&name, session.record(place_name)));
                app.kept.written().await;
                follow(app, &session);
            }
            let mut response = reply::json(StatusCode::OK, Message::result(id, result).to_json());
            if let Ok(name) = HeaderValue::try_from(name) {
                response.headers_mut().insert(SESSION, name);
            }
            response
        }
        Err(error) => not_opened(&error, Some(id)),
    }
}

/// Why a session was not opened.
pub(crate) fn not_opened(error: &OpenError, id: Option<Id>) -> Response<Body> {
    let (status, code) = match error {
        OpenError::Busy => (StatusCode::TOO_MANY_REQUESTS, errors::HUB_REFUSED),
        OpenError::Random(_) => (StatusCode::INTERNAL_SERVER_ERROR, errors::INTERNAL_ERROR),
    };
    let error =
        ErrorObject::new(code, error.to_string()).with_data(&serde_json::json!({ "outcome": "not_sent" }));
    reply::error(status, id, error)
}

/// Opens the session that `initialize` requests, and returns the response.
pub(crate) async fn open(
    app: &App,
    client: String,
    Place { surface, usual, scope }: Place,
    params: &Params,
    one_stream: bool,
) -> Result<(Session, Box<Raw>), (StatusCode, ErrorObject)> {
    let Some(requested) = params.text("protocolVersion") else {
        let error = ErrorObject::new(errors::INVALID_PARAMS, "initialize needs a protocolVersion");
        return Err((StatusCode::BAD_REQUEST, error));
    };
    app.hub.client_seen(&client, None);
    let era = Era::negotiate(&requested);
    let hub = app.hub.seen_by(&client).within(&scope);
    let hello = match downstream::hello(&hub, &surface, era).await {
        Ok(hello) => hello,
        Err(failure) => return Err((StatusCode::OK, downstream::refusal(&failure))),
    };
    let mut result = RawObject::new();
    result.put("protocolVersion", &era.revision());
    result.set("capabilities", hello.capabilities);
    result.set("serverInfo", hello.info);
    if let Some(instructions) = hello.instructions {
        result.put("instructions", &instructions);
    }
    let place = Place { surface, usual, scope };
    let session = Session::new(client, era, place, Menu::of(&hub), &params.fields, one_stream);
    hub.arrives();
    Ok((session, result.to_raw()))
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

fn session(
    app: &Arc<App>,
    client: &str,
    place: &Place,
    headers: &HeaderMap,
) -> Result<Arc<Session>, NoSession> {
    let Some(name) = headers.get(SESSION) else {
        return Err(NoSession(
            StatusCode::BAD_REQUEST,
            BAD_REQUEST,
            "Bad Request: no session; send initialize first, then its Mcp-Session-Id with every request",
        ));
    };
    let name = name.to_str().ok();
    let open = |name: &str| app.sessions.get(name, client).or_else(|| open_again(app, name, client, place));
    let session = name.and_then(open);
    let is_here = |session: &Arc<Session>| {
        session.look_at(&app.hub, place).is_like(&place.surface)
            && place.scope.continues(&session.scope)
            && !session.one_stream
    };
    session.filter(is_here).ok_or(NoSession(
        StatusCode::NOT_FOUND,
        SESSION_NOT_FOUND,
        "Session not found; send initialize again",
    ))
}

/// Opens a session again that its client has not ended: a hub before this one opened it, or it was out of use.
fn open_again(app: &Arc<App>, name: &str, client: &str, place: &Place) -> Option<Arc<Session>> {
    let kept = app.kept.find(name, client, &place.name())?;
    let menu = Menu::of(&app.hub.seen_by(client).within(&place.scope));
    let session = Session::again(&kept, client, kept.era()?, place.clone(), menu);
    let (session, first) = app.sessions.open_as(name, session).ok()?;
    if !first {
        return Some(session);
    }
    app.hub.client_seen(client, None);
    let watched = kept.watched.clone();
    session.keep_with(app.kept.keep(name, kept));
    // What changed in the meantime is unknown. Satchel's own tools stay the same.
    let stays = session.surface().is_ours() && !app.hub.has_pinned_tools();
    let lists = notifications::LISTS.iter().filter(|list| **list != "tools" || !stays);
    lists.for_each(|list| notifications::tell_changed(&session, list));
    follow(app, &session);
    roots::ask(&app.hub, &session, false, &app.tracker, app.stopping());
    if !watched.is_empty() {
        let (hub, session, stop) = (app.hub.clone(), session.clone(), app.stopping());
        app.tracker.spawn(async move {
            stop.run_until_cancelled(exchange::watch_again(&hub, &session, watched)).await;
        });
    }
    tracing::debug!(client, "opened a session again");
    Some(session)
}

async fn deliver(
    app: &Arc<App>,
    session: &Arc<Session>,
    message: Message,
    params: Params,
    events: bool,
) -> Response<Body> {
    match message {
        Message::Notification { method, .. } => {
            notified(app, session, &method, &params);
            reply::empty(StatusCode::ACCEPTED)
        }
        Message::Response { id, outcome } => {
            session.answered(id.as_ref(), outcome);
            reply::empty(StatusCode::ACCEPTED)
        }
        Message::Request { id, method, .. } => {
            let request = exchange::SessionRequest {
                hub: &session.hub(&app.hub),
                session,
                id,
                method: &method,
                params,
                events,
            };
            match request.answer(&app.tracker).await {
                Answer::Done(message) => reply::message(StatusCode::OK, message),
                Answer::List(id, list) => reply::list(&id, &list),
                Answer::Stream(outlet) => {
                    let ends = vec![session.ended.clone()];
                    reply::events(Body::from_stream(outlet.read(None, ends)))
                }
            }
        }
    }
}

/// Handles a notification.
pub(crate) fn notified(app: &App, session: &Arc<Session>, method: &str, params: &Params) {
    exchange::notified(&app.hub, session, method, params);
    let changed = method == "notifications/roots/list_changed";
    if changed || method == "notifications/initialized" {
        roots::ask(&app.hub, session, changed, &app.tracker, app.stopping());
    }
}

/// A batch of messages, in a revision that has them.
async fn batch(
    app: &Arc<App>,
    client: &str,
    place: &Place,
    headers: &HeaderMap,
    text: &str,
) -> Response<Body> {
    let refuse = |message: &str| {
        let error = ErrorObject::new(errors::INVALID_REQUEST, message);
        reply::error(StatusCode::BAD_REQUEST, id_alone(text), error)
    };
    if headers.get(SESSION).is_none() {
        return refuse("an array of messages needs a session of a protocol revision that has them");
    }
    let session = match session(app, client, place, headers) {
        Ok(session) => session,
        Err(NoSession(status, code, message)) => {
            return reply::error(status, id_alone(text), ErrorObject::new(code, message));
        }
    };
    let items: Vec<&Raw> = match serde_json::from_str(text) {
        Ok(items) => items,
        Err(error) => {
            let error = ErrorObject::new(errors::PARSE_ERROR, format!("not JSON: {error}"));
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
    };
    // An answer in a list of one is that answer.
    let is_answer = |item: &&Raw| matches!(Message::parse_bounded(item.get()), Ok(Message::Response { .. }));
    let is_one_answer = items.len() == 1 && items.iter().all(is_answer);
    if !session.era.has_batches() && !is_one_answer {
        return refuse("an array of messages is not supported by this protocol revision");
    }
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
                let request = exchange::SessionRequest {
                    hub: &session.hub(&app.hub),
                    session: &session,
                    id,
                    method: &method,
                    params: Params::of(params.as_deref()),
                    events: false,
                };
                match request.answer(&app.tracker).await {
                    Answer::Done(message) => answers.push(message.to_json()),
                    Answer::List(id, list) => answers.push(reply::list_text(&id, &list)),
                    Answer::Stream(_) => {}
                }
            }
            Ok(Message::Notification { method, params }) => {
                notified(app, &session, &method, &Params::of(params.as_deref()));
            }
            Ok(Message::Response { id, outcome }) => session.answered(id.as_ref(), outcome),
            Err(error) => {
                let id = envelope::id_of_request(item.get());
                if id.is_some() || !envelope::is_notification(item.get()) {
                    answers.push(Message::error(id, fault(&error)).to_json());
                }
            }
        }
    }
    if answers.is_empty() {
        return reply::empty(StatusCode::ACCEPTED);
    }
    reply::json(StatusCode::OK, format!("[{}]", answers.join(",")))
}

/// The id of the only request in a list.
fn id_alone(list: &str) -> Option<Id> {
    let items: Vec<&Raw> = serde_json::from_str(list).ok()?;
    let [item] = items[..] else { return None };
    envelope::id_of_request(item.get())
}

/// The stream for unsolicited messages, or a resumed one (`Last-Event-ID`). Kept open even if nothing will ever be
/// sent, because some clients take its end for the end of the server.
fn get(app: &Arc<App>, client: &str, at: &Place, headers: &HeaderMap) -> Response<Body> {
    if let Err(refusal) = belongs_to_sessions(headers) {
        return *refusal;
    }
    if !accepts_events(headers) {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "a GET must accept text/event-stream");
        return reply::error(StatusCode::NOT_ACCEPTABLE, None, error);
    }
    let session = match session(app, client, at, headers) {
        Ok(session) => session,
        Err(NoSession(status, code, message)) => {
            return reply::error(status, None, ErrorObject::new(code, message));
        }
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(place);
    let ends = vec![session.ended.clone(), app.stopping()];
    if let Some((number, event)) = last
        && let Some(outlet) = session.stream(number)
    {
        if number == 0 {
            follow(app, &session);
        }
        return reply::events(Body::from_stream(outlet.read(Some(event), ends)));
    }
    follow(app, &session);
    reply::events(Body::from_stream(session.notifications.read(None, ends)))
}

/// Starts forwarding notifications to a session, once. Starts with the session, and buffers until the client opens its
/// stream.
pub(crate) fn follow(app: &App, session: &Arc<Session>) {
    if !session.follows.swap(true, std::sync::atomic::Ordering::AcqRel) {
        let (tracker, stop) = (app.tracker.clone(), app.stopping());
        app.tracker.spawn(notifications::pass_on(app.hub.clone(), session.clone(), tracker, stop));
    }
}

/// Only revisions with sessions have methods other than POST; unknown revisions are rejected.
fn belongs_to_sessions(headers: &HeaderMap) -> Result<(), Box<Response<Body>>> {
    let Some(named) = headers.get(VERSION) else { return Ok(()) };
    match named.to_str().ok().and_then(Era::of) {
        Some(era) if !era.is_stateless() => Ok(()),
        Some(_) => {
            let mut response = reply::empty(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            Err(Box::new(response))
        }
        None => {
            let known: Vec<&str> = Era::all().map(Era::revision).collect();
            let message =
                format!("Bad Request: this protocol revision is not supported here; {}", known.join(", "));
            let error = ErrorObject::new(BAD_REQUEST, message);
            Err(Box::new(reply::error(StatusCode::BAD_REQUEST, None, error)))
        }
    }
}

async fn delete(app: &Arc<App>, client: &str, headers: &HeaderMap) -> Response<Body> {
    if let Err(refusal) = belongs_to_sessions(headers) {
        return *refusal;
    }
    let Some(name) = headers.get(SESSION) else { return reply::empty(StatusCode::BAD_REQUEST) };
    let ended = name.to_str().is_ok_and(|name| {
        let kept = app.kept.forget(name, client);
        app.sessions.close(name, client) || kept
    });
    app.kept.written().await;
    match ended {
        true => reply::empty(StatusCode::NO_CONTENT),
        false => reply::empty(StatusCode::NOT_FOUND),
    }
}

pub(crate) async fn read_body(body: Body, most: usize) -> Result<Bytes, Box<Response<Body>>> {
    let refuse = |status, message: String| {
        Box::new(reply::error(status, None, ErrorObject::new(errors::INVALID_REQUEST, message)))
    };
    match tokio::time::timeout(BODY_TIME, gather(body, most)).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => {
            let most = most / 1024 / 1024;
            Err(refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "the body is larger than {most} MiB; \"maxRequestMiB\" in the configuration allows more"
                ),
            ))
        }
        Ok(Err(error)) => {
            let text =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Err(refuse(StatusCode::BAD_REQUEST, format!("the body cannot be read: {text}")))
        }
        Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive".to_owned())),
    }
}

/// The complete body; `None` if it is too large.
async fn gather(body: Body, most: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut chunks = body.into_data_stream();
    let (mut first, mut bytes) = (Bytes::new(), Vec::new());
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if first.len() + bytes.len() + chunk.len() > most {
            throw_away(chunks).await;
            return Ok(None);
        }
        // Most bodies come in one piece, which stays where it is.
        if first.is_empty() && bytes.is_empty() {
            first = chunk;
            continue;
        }
        bytes.extend_from_slice(&std::mem::take(&mut first));
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(if first.is_empty() { bytes.into() } else { first }))
}

/// Keeps reading for a while: a client that is still sending would see a closed connection instead of the reason.
async fn throw_away(mut chunks: BodyDataStream) {
    let reading = async {
        let mut rest = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            rest += chunk.len();
            if rest > UNWANTED_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(UNWANTED_TIME, reading).await;
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

pub(crate) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    all.any(|accept| accept.to_ascii_lowercase().contains("text/event-stream"))
}
