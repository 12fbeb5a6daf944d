//! A server behind an address: Streamable HTTP (`2025-11-25/basic/transports.mdx`,
//! `2026-07-28/basic/transports/streamable-http.mdx`).
//!
//! One pooled client a server. Each request is a POST of its own; its answer is JSON or an event stream. In the legacy
//! revisions a stream that breaks off is taken up again where the server numbered its events, and a GET stream is kept
//! open for what the server wants to say unasked, where it offers one. In the stateless ones there is no session;
//! headers repeat what the request is about, and closing its stream takes it back.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;

use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use satchel_mcp::{
    ErrorObject, Id, Message,
    envelope::{self, Read},
    era::Era,
    errors,
    framing::broken_answer,
    headers, sse,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Connection, Signs,
    body::{AnswerBody, Looks, kind_of},
};
use crate::{
    model::{
        Code,
        cause::{FailureCause, Reach},
    },
    platform::Environment,
    upstream::{
        lifecycle::Failure,
        link::{CallError, EndReason, Link, OnChange, Outbox, Outcome, Outgoing},
        log::ServerLog,
        oauth::{
            account::{Bearer, Credential, Need},
            challenge::Challenge,
            guarded_http::challenge_of,
        },
        outgoing,
    },
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before a lost GET stream is reopened.
const REOPEN: Duration = Duration::from_secs(5);
/// How often a broken response stream is resumed without anything new on it.
const RESUMES: usize = 5;
/// The pause before that, unless the server says otherwise.
const RESUME_AFTER: Duration = Duration::from_millis(500);
/// How often a request is resent to a busy server, and the maximum wait.
const BUSY_TRIES: usize = 3;
const BUSY_WAIT: Duration = Duration::from_secs(30);

/// Pauses before a request that never left is resent, because the connection was refused.
const UNREACHED: [Duration; 3] =
    [Duration::from_millis(250), Duration::from_millis(750), Duration::from_millis(2000)];
/// How long the first request waits for the GET stream, so that notifications triggered by the first call are not
/// missed.
const OPENING: Duration = Duration::from_secs(1);
/// How often a request is resent in a new session, and the timeout for opening one.
const RENEWALS: usize = 2;
const RENEWAL_TIME: Duration = Duration::from_secs(10);
/// Interval of checking whether an ending connection still expects responses.
const LAST_ANSWERS_EVERY: Duration = Duration::from_millis(50);

/// An address with all references resolved, so it cannot be printed.
pub struct Address {
    /// The endpoint.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Its sign-in, if it may use one.
    pub credential: Option<Credential>,
}

/// State shared by all requests of a connection.
#[derive(Debug)]
struct Http {
    client: Client,
    credential: Option<Credential>,
    url: reqwest::Url,
    session: Mutex<Option<String>>,
    /// The `initialize` request, for reopening the session.
    opening: Mutex<Option<String>>,
    /// Held while a new session is opened.
    renewing: tokio::sync::Mutex<()>,
    renewed: tokio::sync::Notify,
    link: Link,
    log: ServerLog,
    signs: Signs,
    stop: CancellationToken,
    tracker: TaskTracker,
}

/// Creates a link to an address. Sends nothing before the handshake.
///
/// # Errors
/// A [`Failure`] if the address or a header is invalid.
pub fn connect(
    address: &Address,
    changed: Box<dyn OnChange>,
    log: ServerLog,
    tracker: &TaskTracker,
) -> Result<Connection, Failure> {
    let (client, url) = client(address)?;
    let (link, outbox) = Link::new(changed, log.clone());
    let (stop, done, signs) = (CancellationToken::new(), CancellationToken::new(), Signs::default());
    let http = Arc::new(Http {
        client,
        credential: address.credential.clone(),
        url,
        session: Mutex::default(),
        opening: Mutex::default(),
        renewing: tokio::sync::Mutex::default(),
        renewed: tokio::sync::Notify::new(),
        link: link.clone(),
        log,
        signs: signs.clone(),
        stop: stop.clone(),
        tracker: tracker.clone(),
    });
    let finished = done.clone();
    tracker.spawn(async move {
        http.clone().run(outbox).await;
        http.close().await;
        finished.cancel();
    });
    Ok(Connection { link, pid: None, signs, stop, done })
}

/// An HTTP client that adds the address's headers to every request, and follows redirects only within the origin.
pub(super) fn client(address: &Address) -> Result<(Client, reqwest::Url), Failure> {
    let refuse = |message: String| Failure::new(Code::ConfigInvalid, message);
    let url = reqwest::Url::parse(&address.url)
        .map_err(|error| refuse(format!("its url is not an address: {error}")))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &address.headers {
        let name =
            HeaderName::try_from(name).map_err(|_| refuse(format!("{name:?} cannot be a header's name")))?;
        // The value may be a credential, so it must not appear in an error.
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| refuse(format!("the value of header {name} cannot be sent")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let origin = url.origin();
    outgoing::client_for(&url)
        .default_headers(headers)
        .connect_timeout(CONNECT_TIMEOUT)
        // Headers contain credentials, so they must not follow a redirect to another origin.
        .redirect(redirect::Policy::custom(move |attempt| {
            // These would turn a POST into a GET, which means something else.
            let changes = matches!(attempt.status().as_u16(), 301..=303);
            if changes || attempt.previous().len() > 5 || attempt.url().origin() != origin {
                attempt.stop()
            } else {
                attempt.follow()
            }
        }))
        .build()
        .map(|client| (client, url))
        .map_err(|error| refuse(format!("cannot make an HTTP client: {error}")))
}

impl Http {
    async fn run(self: Arc<Self>, mut outbox: Outbox) {
        loop {
            let outgoing = tokio::select! {
                outgoing = outbox.recv() => outgoing,
                () = self.stop.cancelled() => None,
                _ = self.link.wait_ended() => None,
            };
            let Some(outgoing) = outgoing else { break };
            if outgoing.id.is_none() {
                // Closing its stream has already told a stateless server (`basic/patterns/cancellation.mdx`).
                if self.link.is_stateless() && outgoing.method.as_deref() == Some("notifications/cancelled") {
                    continue;
                }
                // Notifications keep their order and precede the requests that follow them.
                let initialized = outgoing.method.as_deref() == Some("notifications/initialized");
                self.notify(outgoing).await;
                if initialized {
                    let (http, opened) = (self.clone(), CancellationToken::new());
                    let open = opened.clone();
                    self.tracker.spawn(async move { http.listen(open).await });
                    let _ = tokio::time::timeout(OPENING, opened.cancelled()).await;
                }
            } else {
                let http = self.clone();
                self.tracker.spawn(async move {
                    let gone = outgoing.sent.gone();
                    tokio::select! {
                        () = http.request(outgoing) => {}
                        () = gone.cancelled() => {}
                        () = http.stop.cancelled() => {}
                    }
                });
            }
        }
        self.link.end("it was disconnected");
        self.stop.cancel();
    }

    async fn notify(&self, outgoing: Outgoing) {
        let post = self.deliver("a notification", || self.post(&outgoing));
        let sent = tokio::time::timeout(CONNECT_TIMEOUT, post).await;
        if !matches!(&sent, Ok(Ok(response)) if response.status().is_success()) {
            self.log.hub("a notification was not accepted");
        }
    }

    async fn request(&self, outgoing: Outgoing) {
        let Some(id) = outgoing.id else { return };
        let opening = outgoing.method.as_deref() == Some("initialize");
        if opening {
            *self.opening.lock() = Some(outgoing.json.clone());
        }
        if !outgoing.sent.leaves() {
            return;
        }
        let mut renewals = 0;
        let response = loop {
            let session = self.session.lock().clone();
            let response = match self.send(&outgoing).await {
                Ok(response) if response.status().is_success() => break Ok(response),
                Ok(response) => response,
                Err(error) => return self.link.fail(id, error.into()),
            };
            // Nothing else is read of a 404: others may be waiting for the new session.
            if session.is_none() || response.status() != StatusCode::NOT_FOUND {
                let refused = HttpRefusal::read(response).await;
                if session.is_none() || !refused.lost_session() {
                    break Err(refused);
                }
            }
            // The session expired, and the request was not executed
            // (`2025-11-25/basic/transports.mdx#session-management`).
            let expired = || EndReason::new("its session expired", FailureCause::SessionExpired);
            let lost = || CallError::Ended(expired(), Outcome::NotExecuted);
            if !opening && renewals == RENEWALS {
                // New sessions are available: other requests continue.
                return self.link.fail(id, lost());
            }
            if opening || !self.renew(session).await {
                self.link.set_ending();
                self.link.fail(id, lost());
                return self.end_after_answers(expired()).await;
            }
            renewals += 1;
        };
        if renewals > 0 {
            self.renewed_for(outgoing.method.as_deref());
        }
        self.signs.saw();
        let response = match response {
            Ok(response) => response,
            Err(refused) => return self.refusal(id, refused),
        };
        if opening
            && let Some(session) = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok())
        {
            *self.session.lock() = Some(session.to_owned());
        }
        self.answer(id, response).await;
    }

    /// Replaces an expired session. Requests that notice at the same time share the new one. Returns false if none is
    /// available.
    async fn renew(&self, forgotten: Option<String>) -> bool {
        let _turn = self.renewing.lock().await;
        if *self.session.lock() != forgotten {
            return true;
        }
        let Some(opening) = self.opening.lock().clone() else { return false };
        let session = match tokio::time::timeout(RENEWAL_TIME, self.open_again(opening)).await {
            Ok(Some(session)) => session,
            Ok(None) | Err(_) => return false,
        };
        *self.session.lock() = Some(session);
        self.link.renewed();
        self.log.hub("it no longer knew its session; opened a new one");
        let initialized = Message::notification("notifications/initialized", None).to_json();
        let told =
            self.deliver("a notification", || self.session_headers(self.plain_post(initialized.clone())));
        let _ = tokio::time::timeout(RENEWAL_TIME, told).await;
        self.renewed.notify_waiters();
        true
    }

    /// An expired session often means a restarted server, perhaps of another version, so its lists are read again. Not
    /// if reading a list discovered it: a server whose sessions expire after a few requests would be asked for its
    /// lists forever.
    fn renewed_for(&self, method: Option<&str>) {
        if method.is_some_and(|method| method.ends_with("/list")) {
            return;
        }
        for list in ["tools", "resources", "prompts"] {
            let method = format!("notifications/{list}/list_changed");
            self.link.incoming(Message::Notification { method, params: None });
        }
    }

    /// Ends the connection after earlier requests had time to complete: a late response is better than an unknown
    /// outcome.
    async fn end_after_answers(&self, reason: EndReason) {
        let answered = async {
            while self.link.in_flight() > 0 {
                tokio::time::sleep(LAST_ANSWERS_EVERY).await;
            }
        };
        tokio::select! {
            _ = tokio::time::timeout(RENEWAL_TIME, answered) => {}
            () = self.stop.cancelled() => {}
        }
        self.link.end(reason);
    }

    /// Sends `initialize` again. Returns the new session id, if the server still speaks the same revision.
    async fn open_again(&self, opening: String) -> Option<String> {
        let response = self.deliver("initialize", || self.plain_post(opening.clone())).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let session = response.headers().get("mcp-session-id")?.to_str().ok()?.to_owned();
        let bytes = AnswerBody::of(response).bytes(|_| false).await.ok()?;
        let text = String::from_utf8_lossy(&bytes);
        // Plain JSON, or an event stream with one event.
        let mut parts =
            std::iter::once(&*text).chain(text.lines().filter_map(|line| line.strip_prefix("data:")));
        let answer = parts.find_map(|part| {
            let all = envelope::read_all(part).ok()?;
            all.into_iter().find_map(|read| match read.message {
                Message::Response { outcome: Ok(result), .. } => Some(result),
                _ => None,
            })
        })?;
        let revision = satchel_mcp::RawObject::parse(&answer).ok()?.text("protocolVersion")?;
        (Era::of(&revision) == self.link.negotiated()).then_some(session)
    }

    /// Sends a request, and resends it if the server did not accept it.
    async fn send(&self, outgoing: &Outgoing) -> Result<Response, Undelivered> {
        let (mut tries, mut unreached) = (0, UNREACHED.iter());
        // If a server is unavailable from the start, its lifecycle handles that.
        let opening = matches!(outgoing.method.as_deref(), Some("initialize" | "server/discover"));
        loop {
            let what = wanted_by(outgoing);
            let response = match self.deliver(&what, || self.post(outgoing)).await {
                Err(Undelivered::Http(error)) if error.is_connect() && !opening => match unreached.next() {
                    Some(pause) => {
                        tokio::time::sleep(*pause).await;
                        continue;
                    }
                    None => return Err(error.into()),
                },
                response => response?,
            };
            tries += 1;
            let repeatable = outgoing.method.as_deref() != Some("tools/call");
            match busy_for(&response, repeatable) {
                Some(pause) if tries < BUSY_TRIES => tokio::time::sleep(pause).await,
                _ => return Ok(response),
            }
        }
    }

    async fn answer(&self, id: u64, response: Response) {
        let silent = matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
        let mut body = AnswerBody::of(response);
        let looks = body.looks().await;
        if let Ok(looks) = looks {
            body.remark(looks, &self.log);
        }
        let failed = match looks {
            Ok(Looks::Events) => self.answer_stream(id, body).await.err(),
            Ok(Looks::Nothing | Looks::Other) if silent => {
                Some("it accepted the request but will not answer it".to_owned())
            }
            Ok(Looks::Nothing | Looks::Other | Looks::Json) => self.answer_body(id, body).await.err(),
            Err(error) => Some(error),
        };
        // If the response has arrived, this id is no longer pending and this has no effect.
        let reason = failed.unwrap_or_else(|| "it ended its answer before the result".to_owned());
        self.link.fail(id, CallError::Ended(reason.into(), Outcome::Unknown));
    }

    async fn answer_body(&self, id: u64, body: AnswerBody) -> Result<(), String> {
        let mut messages = body.messages().await.map_err(|error| error + &self.through_a_proxy())?;
        // A body that is one answer is the answer to its request.
        if let [Read { message: Message::Response { id: none @ None, .. }, .. }] = &mut messages[..] {
            *none = Some(Id::from(id));
        }
        messages.into_iter().for_each(|read| self.take(Some(id), read));
        Ok(())
    }

    /// Handles one message, and notes how it departs from the protocol.
    fn take(&self, call: Option<u64>, read: Read) {
        for departure in read.departures {
            self.log.remark(&format!("it {}", departure.told()));
        }
        self.link.incoming_on(call, read.message);
    }

    /// Reads a response stream, and resumes it if it breaks off early
    /// (`2025-11-25/basic/transports.mdx#resumability-and-redelivery`).
    async fn answer_stream(&self, id: u64, body: AnswerBody) -> Result<(), String> {
        let mut place = ReadSoFar::default();
        let mut broken = self.stream(Some(id), body, &mut place).await;
        let mut tries = 0;
        while !self.link.is_stateless() && self.link.waits_for(id) && tries < RESUMES {
            let Some(last) = place.last.clone() else { break };
            tokio::time::sleep(place.retry.unwrap_or(RESUME_AFTER)).await;
            let get = || {
                self.session_headers(self.client.get(self.url.clone()).header("accept", "text/event-stream"))
                    .header("last-event-id", &last)
            };
            match self.deliver("the rest of an answer", get).await {
                Ok(response) if response.status().is_success() => {
                    broken = self.stream(Some(id), AnswerBody::of(response), &mut place).await;
                }
                Ok(response) => {
                    return Err(format!(
                        "its answer broke off and HTTP {} came instead of the rest",
                        response.status()
                    ));
                }
                Err(error) => broken = Err(format!("its answer broke off: {error}")),
            }
            tries = if place.last.as_deref() == Some(&last) { tries + 1 } else { 0 };
        }
        broken
    }

    /// Reads an event stream to its end.
    async fn stream(
        &self,
        call: Option<u64>,
        mut body: AnswerBody,
        place: &mut ReadSoFar,
    ) -> Result<(), String> {
        let (mut reader, mut events) = (sse::Reader::default(), Vec::new());
        loop {
            let piece = body.piece().await;
            let goes_on = match &piece {
                Ok(Some(piece)) => {
                    self.signs.saw();
                    reader.push(piece, &mut events).map_err(|error| error.to_string())?;
                    true
                }
                Ok(None) | Err(_) => {
                    reader.finish(&mut events);
                    false
                }
            };
            events.drain(..).for_each(|event| self.event(call, event, place));
            if !goes_on {
                return piece.map(drop);
            }
        }
    }

    fn event(&self, call: Option<u64>, event: sse::SseEvent, place: &mut ReadSoFar) {
        if let Some(id) = event.id {
            place.last = Some(id);
        }
        place.retry =
            event.retry.map(Duration::from_millis).map(|retry| retry.min(BUSY_WAIT)).or(place.retry);
        if event.data.trim().is_empty() {
            return;
        }
        match envelope::read_all(&event.data) {
            Ok(messages) => messages.into_iter().for_each(|read| self.take(call, read)),
            // Of another kind, which means nothing here.
            Err(_) if event.event.as_deref().is_some_and(|kind| kind != "message") => {}
            Err(error) => {
                self.log.noise(&format!("{error}: {}", head(&event.data)));
                if let Some((id, reason)) = broken_answer(event.data.trim()) {
                    self.link.broken(&id, &reason);
                }
            }
        }
    }

    /// A status that a proxy gives by itself: it asks for its login, or reaches nothing behind it.
    fn answer_of_proxy(&self, status: StatusCode) -> Option<EndReason> {
        let by_itself = match status.as_u16() {
            407 => true,
            // Behind an encrypted tunnel, only the server answers.
            502..=504 => self.url.scheme() == "http",
            _ => false,
        };
        let proxy = outgoing::proxy_of(&self.url, &Environment::of_this_process()).filter(|_| by_itself)?;
        let error = format!(
            "the proxy {proxy} answered HTTP {status}; HTTP_PROXY, HTTPS_PROXY and NO_PROXY say what goes there"
        );
        let message = format!("it cannot be reached: {error}");
        Some(EndReason::new(message, FailureCause::Unreached { trouble: Reach::Other, error }))
    }

    /// A word for whoever reads an answer that is none of a server's, where a proxy may have written it.
    fn through_a_proxy(&self) -> String {
        // Behind an encrypted tunnel, only the server answers.
        let is_plain = self.url.scheme() == "http";
        let proxy = outgoing::proxy_of(&self.url, &Environment::of_this_process()).filter(|_| is_plain);
        proxy.map_or_else(String::new, |proxy| {
            format!(
                " (the proxy {proxy} stands between, and may have written this; HTTP_PROXY and NO_PROXY say what goes there)"
            )
        })
    }

    fn refusal(&self, id: u64, refused: HttpRefusal) {
        let HttpRefusal { status, later, elsewhere, kind, bytes } = refused;
        let text = String::from_utf8_lossy(&bytes);
        // A JSON-RPC error may come with any status.
        if let Some((answered, error)) = error_in(&text)
            && answered.as_ref().and_then(Id::as_ours).is_none_or(|answered| answered == id)
            && status != StatusCode::UNAUTHORIZED
        {
            return self.link.fail(id, CallError::Answered(error));
        }
        let (number, wait) = (status.as_u16(), later.map(|wait| wait.as_secs()));
        if let Some(reason) = self.answer_of_proxy(status) {
            let outcome = if number == 407 { Outcome::NotExecuted } else { Outcome::Unknown };
            return self.link.fail(id, CallError::Ended(reason, outcome));
        }
        let (message, cause) = match (elsewhere, head(text.trim())) {
            (Some(target), _) => (
                format!(
                    "it redirects to {target} (HTTP {status}); if it has moved there, write that address as its \"url\""
                ),
                FailureCause::Redirected { status: number, target },
            ),
            (None, _) if is_binary(&kind, &bytes) => {
                let kind = if kind.is_empty() { "no named type" } else { kind.as_str() };
                let message = format!(
                    "it answered HTTP {status} with {} bytes that are not text ({})",
                    bytes.len(),
                    head(kind)
                );
                (message, FailureCause::Http { status: number, said: None, retry_seconds: wait })
            }
            (None, text) if text.is_empty() || text.starts_with('<') => (
                format!("it answered HTTP {status}"),
                FailureCause::Http { status: number, said: None, retry_seconds: wait },
            ),
            (None, text) => (
                format!("it answered HTTP {status}: {text}"),
                FailureCause::Http { status: number, said: Some(text), retry_seconds: wait },
            ),
        };
        // Some quote what they were sent.
        let (message, cause) =
            (self.log.redacted(&message), cause.with_texts(|text| self.log.redacted(text)));
        let message = match wait {
            Some(seconds) => format!("{message} (it asks to retry in {seconds} s)"),
            None => message,
        };
        let message = message + &self.through_a_proxy();
        self.link.fail(
            id,
            match status {
                StatusCode::TOO_MANY_REQUESTS => {
                    CallError::Ended(EndReason::new(message, cause), Outcome::NotExecuted)
                }
                status if status.is_server_error() => {
                    CallError::Ended(EndReason::new(message, cause), Outcome::Unknown)
                }
                status => CallError::Rejected(
                    ErrorObject::new(errors::INTERNAL_ERROR, message)
                        .with_data(&serde_json::json!({ "httpStatus": status.as_u16() })),
                    Box::new(cause),
                ),
            },
        );
    }

    /// Keeps a GET stream open, if the server supports one, to receive change notifications.
    async fn listen(&self, asked: CancellationToken) {
        let mut place = ReadSoFar::default();
        loop {
            let get = || {
                let get = self.client.get(self.url.clone()).header("accept", "text/event-stream");
                let get = self.session_headers(get);
                match &place.last {
                    Some(last) => get.header("last-event-id", last),
                    None => get,
                }
            };
            let opened = tokio::select! {
                opened = self.deliver("its stream", get) => opened,
                () = self.stop.cancelled() => return,
            };
            asked.cancel();
            match opened {
                Ok(response) if response.status().is_success() => {
                    tokio::select! {
                        _ = self.unasked(response, &mut place) => {}
                        () = self.stop.cancelled() => return,
                    }
                }
                // Not supported, which is allowed; not retried in this session.
                Ok(_) => {
                    tokio::select! {
                        () = self.renewed.notified() => continue,
                        () = self.stop.cancelled() => return,
                    }
                }
                Err(Undelivered::Lacking(_)) => return,
                Err(Undelivered::Http(_)) => {}
            }
            tokio::select! {
                () = tokio::time::sleep(place.retry.unwrap_or(REOPEN)) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }

    /// Reads what comes on the GET stream. Some answer it with a page, or with JSON about themselves.
    async fn unasked(&self, response: Response, place: &mut ReadSoFar) -> Result<(), String> {
        let mut body = AnswerBody::of(response);
        match body.looks().await? {
            Looks::Events => self.stream(None, body, place).await,
            Looks::Json => {
                let messages = body.messages().await?;
                messages.into_iter().for_each(|read| self.take(None, read));
                Ok(())
            }
            Looks::Nothing | Looks::Other => Ok(()),
        }
    }

    /// Tells the server that the session is over, best effort.
    async fn close(&self) {
        if self.session.lock().is_some() {
            let delete = || self.session_headers(self.client.delete(self.url.clone()));
            let _ = tokio::time::timeout(Duration::from_secs(1), self.deliver("the end", delete)).await;
        }
    }

    /// Sends a request with the present token, and once more with a new one if the server rejects it.
    async fn deliver(
        &self,
        wanted_by: &str,
        make: impl Fn() -> RequestBuilder + Send + Sync,
    ) -> Result<Response, Undelivered> {
        deliver(self.credential.as_ref(), wanted_by, make).await
    }

    fn plain_post(&self, json: String) -> RequestBuilder {
        self.client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(json)
    }

    fn post(&self, outgoing: &Outgoing) -> RequestBuilder {
        let mut post = self.plain_post(outgoing.json.clone());
        let era = self.link.era();
        if !era.is_stateless() {
            return self.session_headers(post);
        }
        post = post.header("mcp-protocol-version", era.revision());
        if let Some(method) = &outgoing.method {
            post = post.header("mcp-method", headers::encode(method));
        }
        if let Some(named) = &outgoing.named {
            post = post.header("mcp-name", headers::encode(named));
        }
        outgoing.headers.iter().fold(post, |post, (name, value)| post.header(name, value))
    }

    fn session_headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(session) = &*self.session.lock() {
            request = request.header("mcp-session-id", session);
        }
        if let Some(era) = self.link.negotiated() {
            request = request.header("mcp-protocol-version", era.revision());
        }
        request
    }
}

/// A response other than success, read to its end.
#[derive(Debug)]
struct HttpRefusal {
    status: StatusCode,
    /// The requested pause before trying again.
    later: Option<Duration>,
    /// The target of a redirect.
    elsewhere: Option<String>,
    kind: String,
    bytes: Vec<u8>,
}

impl HttpRefusal {
    async fn read(response: Response) -> Self {
        Self {
            status: response.status(),
            later: told_to_wait(&response),
            elsewhere: redirect_target(&response),
            kind: kind_of(&response),
            bytes: AnswerBody::of(response).bytes(|_| false).await.unwrap_or_default(),
        }
    }

    /// Did the server not know the session that was sent, though it did not answer 404 as the specification demands
    /// (`2025-11-25/basic/transports.mdx#session-management`)? Servers after the examples of the TypeScript SDK, the
    /// reference server among them, answer 400 with an error that belongs to no request.
    fn lost_session(&self) -> bool {
        if self.status != StatusCode::BAD_REQUEST {
            return false;
        }
        let Some((None, error)) = error_in(&String::from_utf8_lossy(&self.bytes)) else { return false };
        let message = error.message.to_lowercase();
        message.contains("session") || message.contains("not initialized")
    }
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum Undelivered {
    #[error("{}", plain(.0))]
    Http(#[from] reqwest::Error),
    /// The sign-in is missing or insufficient.
    #[error("{}", .0.message)]
    Lacking(Need),
}

impl From<Undelivered> for CallError {
    fn from(undelivered: Undelivered) -> Self {
        match undelivered {
            Undelivered::Http(error) => send_error(&error),
            Undelivered::Lacking(need) => CallError::SignIn(need),
        }
    }
}

/// See [`Http::deliver`].
pub(super) async fn deliver(
    credential: Option<&Credential>,
    wanted_by: &str,
    make: impl Fn() -> RequestBuilder + Send + Sync,
) -> Result<Response, Undelivered> {
    let Some(credential) = credential else { return Ok(make().send().await?) };
    let bearer = credential.bearer().await.map_err(Undelivered::Lacking)?;
    let response = carrying(make(), bearer.as_ref()).send().await?;
    let challenge = match judged(&response, bearer.as_ref()) {
        Judged::Taken => {
            bearer.iter().for_each(|bearer| credential.taken(bearer));
            return Ok(response);
        }
        Judged::TooFew(challenge) => {
            return Err(Undelivered::Lacking(credential.lacks_rights(challenge, wanted_by)));
        }
        Judged::Refused(challenge) => challenge,
    };
    let next = credential.refused(bearer, challenge).await.map_err(Undelivered::Lacking)?;
    let response = carrying(make(), Some(&next)).send().await?;
    match judged(&response, Some(&next)) {
        Judged::Taken => {
            credential.taken(&next);
            Ok(response)
        }
        Judged::TooFew(challenge) => Err(Undelivered::Lacking(credential.lacks_rights(challenge, wanted_by))),
        Judged::Refused(_) => Err(Undelivered::Lacking(credential.refused_again())),
    }
}

/// What a response says about the sign-in.
enum Judged {
    Taken,
    /// Invalid or missing.
    Refused(Option<Challenge>),
    /// Valid, but with insufficient scope.
    TooFew(Challenge),
}

fn judged(response: &Response, bearer: Option<&Bearer>) -> Judged {
    let challenge = || challenge_of(response);
    match response.status() {
        StatusCode::UNAUTHORIZED => match challenge() {
            Some(challenge) if bearer.is_some() && challenge.wants_scope() => Judged::TooFew(challenge),
            challenge => Judged::Refused(challenge),
        },
        StatusCode::FORBIDDEN => match challenge().filter(Challenge::wants_scope) {
            Some(challenge) => Judged::TooFew(challenge),
            None => Judged::Taken,
        },
        _ => Judged::Taken,
    }
}

fn carrying(request: RequestBuilder, bearer: Option<&Bearer>) -> RequestBuilder {
    let Some(mut value) = bearer.and_then(|bearer| HeaderValue::try_from(bearer.header()).ok()) else {
        return request;
    };
    value.set_sensitive(true);
    request.header("authorization", value)
}

/// What needs the sign-in, for people: a tool by name.
fn wanted_by(outgoing: &Outgoing) -> String {
    outgoing.named.clone().or_else(|| outgoing.method.clone()).unwrap_or_else(|| "a request".to_owned())
}

/// How far a stream was read.
#[derive(Debug, Default)]
struct ReadSoFar {
    /// The id of its last event, if events have ids.
    last: Option<String>,
    /// The server's requested pause before resuming.
    retry: Option<Duration>,
}

/// The pause before resending a request that was provably not executed or is safe to repeat; `None` if neither is
/// certain, or the pause is too long.
fn busy_for(response: &Response, repeatable: bool) -> Option<Duration> {
    let told = told_to_wait(response);
    match response.status() {
        StatusCode::TOO_MANY_REQUESTS => Some(told.unwrap_or(Duration::from_secs(1))),
        // Also sent by a server that stopped halfway (RFC 9110, section 15.6.4).
        StatusCode::SERVICE_UNAVAILABLE if repeatable => told,
        _ => None,
    }
    .filter(|pause| *pause <= BUSY_WAIT)
}

/// The value of `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
fn told_to_wait(response: &Response) -> Option<Duration> {
    let told = response.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = told.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(told).ok()?;
    Some(until.duration_since(std::time::SystemTime::now()).unwrap_or_default())
}

/// The target of a redirect that is not followed, without possible credentials.
fn redirect_target(response: &Response) -> Option<String> {
    let location = response.headers().get("location").filter(|_| response.status().is_redirection())?;
    let mut target = response.url().join(location.to_str().ok()?).ok()?;
    // Fails only for URLs that cannot have one.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    target.set_query(None);
    target.set_fragment(None);
    Some(head(target.as_str()))
}

/// The JSON-RPC error that a body is, with the id of its request, as JSON or as one event.
fn error_in(text: &str) -> Option<(Option<Id>, ErrorObject)> {
    let mut events = Vec::new();
    let mut all = envelope::read_all(text).unwrap_or_default();
    if all.is_empty() {
        let mut reader = sse::Reader::default();
        reader.push(text.as_bytes(), &mut events).ok()?;
        reader.finish(&mut events);
        all = events.iter().filter_map(|event| envelope::read_all(&event.data).ok()).flatten().collect();
    }
    all.into_iter().find_map(|read| match read.message {
        Message::Response { id, outcome: Err(error) } => Some((id, error)),
        _ => None,
    })
}

/// Is it unreadable for people?
fn is_binary(kind: &str, bytes: &[u8]) -> bool {
    const KINDS: [&str; 6] =
        ["image/", "audio/", "video/", "font/", "application/octet-stream", "application/zip"];
    let odd = |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x1b);
    KINDS.iter().any(|binary| kind.starts_with(binary))
        || std::str::from_utf8(bytes).is_err()
        || bytes.iter().filter(odd).count() > 0
}

pub(super) fn send_error(error: &reqwest::Error) -> CallError {
    let outcome = if error.is_connect() || error.is_builder() { Outcome::NotSent } else { Outcome::Unknown };
    CallError::Ended(unreached(error), outcome)
}

/// Why an address cannot be reached. What kind of trouble it is shows when a start fails.
pub(super) fn unreached(error: &reqwest::Error) -> EndReason {
    let through = |url| outgoing::proxy_of(url, &Environment::of_this_process());
    let proxy = error.url().filter(|_| error.is_connect()).and_then(through);
    let error = match proxy {
        Some(proxy) => format!("the proxy {proxy} did not lead there: {}", plain(error)),
        None => plain(error),
    };
    let message = format!("it cannot be reached: {error}");
    EndReason::new(message, FailureCause::Unreached { trouble: Reach::Other, error })
}

/// The innermost cause. The outer messages contain the address, which may contain a credential.
pub(super) fn plain(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    if std::ptr::eq(cause, error) {
        text.split(" for url").next().unwrap_or_default().to_owned()
    } else {
        text
    }
}

pub(super) fn head(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::*;
    use crate::upstream::handshake;

    const WAIT: Duration = Duration::from_secs(20);

    #[derive(Debug)]
    struct Nobody;
    impl OnChange for Nobody {
        fn list_changed(&self, _list: &str) {}
    }

    /// A server that knows only its latest session, and forgets the first one after it was opened, as after a restart.
    #[derive(Debug)]
    struct Restarted {
        /// What it answers to a forgotten session.
        refusal: (u16, String),
        /// Each request with the session that it named.
        asked: Mutex<Vec<(String, String)>>,
    }

    impl Restarted {
        async fn serve(self: Arc<Self>, listener: TcpListener, tracker: TaskTracker) {
            while let Ok((stream, _)) = listener.accept().await {
                let server = self.clone();
                tracker.spawn(async move { server.answer(stream).await });
            }
        }

        /// One request per connection.
        async fn answer(&self, mut stream: TcpStream) {
            let (head, body) = read_request(&mut stream).await;
            let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap_or("-");
            let asked = body["method"].as_str().unwrap_or("-").to_owned();
            let openings = {
                let mut all = self.asked.lock();
                all.push((asked.clone(), session.trim().to_owned()));
                all.iter().filter(|(method, _)| method == "initialize").count()
            };
            let ok = |result: Value| {
                (200, json!({ "jsonrpc": "2.0", "id": body["id"], "result": result }).to_string())
            };
            let (status, text) = match asked.as_str() {
                "-" => (405, String::new()),
                "initialize" => ok(json!({
                    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" },
                })),
                "notifications/initialized" => (202, String::new()),
                _ if session.trim() == "s1" => self.refusal.clone(),
                _ => ok(json!({ "done": true })),
            };
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nmcp-session-id: s{openings}\r\n\
                 content-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    }

    async fn read_request(stream: &mut TcpStream) -> (String, Value) {
        let mut read = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&read).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
                if body.len() >= length {
                    return (head, serde_json::from_str(body).unwrap_or_default());
                }
            }
            if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                return (String::new(), Value::Null);
            }
        }
    }

    /// Makes one call after the server has forgotten the session. Returns its outcome and how often the server saw
    /// `initialize` and the call.
    async fn call_after_restart(status: u16, refusal: &Value) -> (Result<String, String>, usize, usize) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let server = Arc::new(Restarted { refusal: (status, refusal.to_string()), asked: Mutex::default() });
        let tracker = TaskTracker::new();
        let serving = server.clone().serve(listener, tracker.clone());
        let calling = async {
            let address = Address { url, headers: BTreeMap::new(), credential: None };
            let connection = connect(&address, Box::new(Nobody), ServerLog::nowhere(), &tracker).unwrap();
            handshake::initialize(&connection.link, WAIT).await.unwrap();
            let called = connection.link.request("tools/call", None, WAIT).await;
            connection.stop().await;
            called.map(|result| result.get().to_owned()).map_err(|error| error.to_string())
        };
        let called = tokio::select! {
            called = calling => called,
            () = serving => unreachable!("it serves until the end"),
        };
        let asked = server.asked.lock();
        let count = |wanted: &str| asked.iter().filter(|(method, _)| method == wanted).count();
        (called, count("initialize"), count("tools/call"))
    }

    fn error(message: &str) -> Value {
        json!({ "jsonrpc": "2.0", "error": { "code": -32000, "message": message } })
    }

    #[tokio::test]
    async fn a_restarted_server_gets_a_new_session_and_the_call_again_however_it_refuses_the_old_one() {
        let mut null = error("Bad Request: No valid session ID provided");
        null["id"] = Value::Null;
        for (status, refusal) in [
            (404, error("Session not found")),
            (400, error("Bad Request: No valid session ID provided")),
            (400, null),
            (400, error("Bad Request: Server not initialized")),
            (400, error("invalid SESSION")),
        ] {
            let called = call_after_restart(status, &refusal).await;
            assert_eq!(called, (Ok(r#"{"done":true}"#.to_owned()), 2, 2), "{status} {refusal}");
        }
    }

    #[tokio::test]
    async fn a_bad_request_about_anything_else_is_an_answer_and_never_repeated() {
        let mut own = error("your session has no such row");
        own["id"] = json!("other");
        for refusal in [error("Bad Request: unknown tool"), own, json!("no session")] {
            let (called, opened, calls) = call_after_restart(400, &refusal).await;
            assert!(called.is_err(), "{refusal}");
            assert_eq!((opened, calls), (1, 1), "{refusal}");
        }
    }
}
