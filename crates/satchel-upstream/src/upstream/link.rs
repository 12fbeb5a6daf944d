//! One connection to a server: sends requests, matches answers, passes notifications on in order, and bounds every
//! wait.
//!
//! Theory of operation: a transport ([`super::connect`]) owns the bytes. It hands every message it reads to
//! [`Link::incoming`] and takes what is to be written from the [`Outbox`]. A request's answer, and the progress
//! notes before it, reach the caller through the request's own queue, so a note can never overtake or follow the
//! answer it belongs to. Ids and progress tokens are ours on this hop; the caller's are put back further up.
//!
//! A server of the legacy revisions may ask something in the middle of a call. Over HTTP the stream says which call is
//! meant; over stdio nothing does, so the question goes to the latest call where all calls in flight are of one
//! client, and to nobody where they are not: a question must never reach somebody else.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard, RwLock};

use satchel_mcp::{
    ErrorObject, Id, Message, Raw, RawObject,
    era::Era,
    errors, headers, meta,
    methods::{Handling, KnownMethod, Sender},
};
use serde::Serialize;
use serde_json::{json, value::to_raw_value};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

pub use super::flight::Sent;
use super::{
    flight::{Flight, QUESTIONS_OPEN},
    log::ServerLog,
    oauth::account::Need,
};
use crate::model::cause::FailureCause;

/// A request may continue as long as it reports progress, up to this limit.
pub const LONGEST_CALL: Duration = Duration::from_secs(600);
/// A server that says nothing about a request for this long is suspect, although it may still answer.
pub const SUSPECT: Duration = Duration::from_secs(60);
/// A timer that fires this late means that the computer slept.
const OVERSLEPT: Duration = Duration::from_secs(1);
/// How long to read what arrived in the meantime.
const CATCHING_UP: Duration = Duration::from_secs(2);
/// Maximum number of cancelled calls whose answers are recognized.
const CANCELLED: usize = 64;
/// How many different methods that Satchel does not know are logged, and how much of each name, in characters.
const UNKNOWN_METHODS: usize = 16;
const UNKNOWN_NAME: usize = 100;

/// What happened to a failed call, as far as known. Sent to clients as `error.data.outcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not a byte of it left the hub.
    NotSent,
    /// The server received it and provably did not execute it.
    NotExecuted,
    /// It may or may not have been executed.
    Unknown,
    /// The server responded with an error.
    UpstreamError,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The server's error, unchanged.
    #[error("{0}")]
    Answered(ErrorObject),
    /// Timed out.
    #[error("no answer within {0} s")]
    TimedOut(u64, Outcome),
    /// It reported progress, but exceeded the maximum duration.
    #[error("no answer within {} min in total", LONGEST_CALL.as_secs() / 60)]
    Overdue(Outcome),
    /// The server rejected the request with an HTTP status; the error says it to clients.
    #[error("{0}")]
    Rejected(ErrorObject, Box<FailureCause>),
    /// The connection ended first.
    #[error("{0}")]
    Ended(EndReason, Outcome),
    /// Rejected without being executed, because of the sign-in.
    #[error("{}", .0.message)]
    SignIn(Need),
}

/// Why a connection or a request ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndReason {
    /// In words.
    pub message: String,
    /// The same in parts, where it has some.
    pub cause: Option<Box<FailureCause>>,
}

impl EndReason {
    /// The message with its parts.
    pub fn new(message: impl Into<String>, cause: FailureCause) -> Self {
        Self { message: message.into(), cause: Some(Box::new(cause)) }
    }
}

impl From<String> for EndReason {
    fn from(message: String) -> Self {
        Self { message, cause: None }
    }
}

impl From<&str> for EndReason {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl CallError {
    /// Why, in parts, where it has some.
    pub fn cause(&self) -> Option<Box<FailureCause>> {
        match self {
            CallError::Rejected(_, cause) => Some(cause.clone()),
            CallError::Ended(reason, _) => reason.cause.clone(),
            CallError::TimedOut(seconds, _) => {
                Some(Box::new(FailureCause::NoAnswer { method: None, seconds: *seconds, wrote: None }))
            }
            CallError::Answered(_) | CallError::Overdue(_) | CallError::SignIn(_) => None,
        }
    }

    /// What happened to the call.
    pub fn outcome(&self) -> Outcome {
        match self {
            CallError::Answered(_) | CallError::Rejected(..) => Outcome::UpstreamError,
            CallError::SignIn(_) => Outcome::NotSent,
            CallError::TimedOut(_, outcome) | CallError::Overdue(outcome) | CallError::Ended(_, outcome) => {
                *outcome
            }
        }
    }
}

/// An event of a call.
#[derive(Debug)]
pub enum Event {
    /// A notification that belongs to the call.
    Note {
        /// Its method.
        method: String,
        /// Its parameters, with the hub's progress token.
        params: Option<Box<Raw>>,
    },
    /// A question from the server; it waits for [`Call::answer`].
    Question {
        /// The server's request id.
        id: Id,
        /// `elicitation/create`, `sampling/createMessage`, `roots/list`, or something newer.
        method: String,
        /// Its parameters.
        params: Option<Box<Raw>>,
    },
    /// The server has said nothing about it for [`SUSPECT`]. Once for each silence.
    Silent,
    /// The result.
    Final(Result<Box<Raw>, CallError>),
}

/// A message for the transport to send.
#[derive(Debug)]
pub struct Outgoing {
    /// One JSON message on one line.
    pub json: String,
    /// The request id, for a request.
    pub id: Option<u64>,
    /// The method, unless it is a response.
    pub method: Option<String>,
    /// The value of the `Mcp-Name` header, for revisions that require it.
    pub named: Option<String>,
    /// Additional headers, for transports that have them.
    pub headers: Vec<(String, String)>,
    /// Checked by the transport before the first byte.
    pub sent: Sent,
    /// Number of bytes already written.
    pub(super) begun: usize,
    /// Held while it waits for earlier messages, if senders may write directly.
    pub(super) _turn: Option<QueuedWrite>,
}

/// A message that waits to be written. No later message may overtake it.
#[derive(Debug)]
pub(super) struct QueuedWrite(Arc<AtomicUsize>);

impl QueuedWrite {
    pub(super) fn of(waiting: &Arc<AtomicUsize>) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting.clone())
    }
}

impl Drop for QueuedWrite {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A transport that senders can write to directly, without a task in between.
pub(super) trait AtOnce: Send + Sync + std::fmt::Debug {
    /// Writes the message unless others wait; otherwise returns it.
    fn write(&self, outgoing: Outgoing, waiting: &Arc<AtomicUsize>) -> Option<Outgoing>;
}

/// A request to send.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its parameters.
    pub params: Option<Box<Raw>>,
    /// The client it is for: the server's questions and log messages go only there.
    pub owner: Option<Arc<str>>,
    /// Arguments to repeat in headers, for transports that have them.
    pub headers: Vec<(String, String)>,
}

/// The era of a connection, and the client description that each stateless request repeats.
#[derive(Debug, Clone)]
pub enum Dialect {
    /// A session opened by `initialize`.
    Session(Era),
    /// Stateless requests.
    Stateless {
        /// Their revision.
        era: Era,
        /// The hub's `clientInfo`.
        client: Box<Raw>,
        /// The hub's capabilities, if the caller does not declare its own.
        capabilities: Box<Raw>,
    },
}

/// The transport's end of the queue of outgoing messages.
pub type Outbox = mpsc::Receiver<Outgoing>;

/// A connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    inner: Arc<LinkInner>,
}

#[derive(Debug)]
struct LinkInner {
    outbox: mpsc::Sender<Outgoing>,
    /// How many messages are in it, or are being written from it.
    waiting: Arc<AtomicUsize>,
    at_once: OnceLock<Box<dyn AtOnce>>,
    pending: Mutex<HashMap<u64, Pending>>,
    /// The newest calls that were cancelled: their servers may answer all the same.
    cancelled: Mutex<VecDeque<u64>>,
    /// The methods that were refused and logged.
    unknown: Mutex<BTreeSet<String>>,
    next: AtomicU64,
    ended: watch::Sender<Option<EndReason>>,
    ending: AtomicBool,
    changed: Box<dyn OnChange>,
    log: ServerLog,
    dialect: RwLock<Option<Arc<Dialect>>>,
    /// The lowest severity that the server was asked to log; above all severities if it was not asked.
    logs_from: AtomicU8,
    /// How often its session was opened again.
    renewals: AtomicU64,
}

#[derive(Debug)]
struct Pending {
    flight: Arc<Flight>,
    owner: Option<Arc<str>>,
}

/// Receives what a server sends unsolicited.
pub trait OnChange: Send + Sync + std::fmt::Debug {
    /// `notifications/<list>/list_changed` arrived.
    fn list_changed(&self, list: &str);
    /// Any other notification that belongs to no call.
    fn told(&self, _method: &str, _params: Option<&Raw>) {}
    /// The URIs of the folders that the server may know, if that does not depend on a call.
    fn roots(&self) -> Option<Vec<String>> {
        None
    }
}

/// A call in flight. Dropping it cancels the request.
#[derive(Debug)]
pub struct Call {
    link: Link,
    id: u64,
    flight: Arc<Flight>,
    /// Asked and not yet answered.
    open: Vec<Id>,
    may_cancel: bool,
    done: bool,
    /// Since when the server has said nothing about it, or waited for an answer.
    quiet_since: Instant,
    /// That was reported.
    silent: bool,
}

impl Link {
    /// A link, and the queue its transport sends from.
    pub fn new(changed: Box<dyn OnChange>, log: ServerLog) -> (Self, Outbox) {
        Self::counting_from(first_id(), changed, log)
    }

    fn counting_from(first: u64, changed: Box<dyn OnChange>, log: ServerLog) -> (Self, Outbox) {
        // Bounded: a server that does not read must not exhaust memory. Callers then wait, up to their timeout.
        let (outbox, queue) = mpsc::channel(64);
        let (ended, _) = watch::channel(None);
        let inner = LinkInner {
            outbox,
            waiting: Arc::default(),
            at_once: OnceLock::new(),
            pending: Mutex::default(),
            cancelled: Mutex::default(),
            unknown: Mutex::default(),
            next: AtomicU64::new(first),
            ended,
            ending: AtomicBool::new(false),
            changed,
            log,
            dialect: RwLock::default(),
            logs_from: AtomicU8::new(u8::MAX),
            renewals: AtomicU64::new(0),
        };
        (Self { inner: Arc::new(inner) }, queue)
    }

    /// Sets the era of what is sent from now on.
    pub fn speak(&self, dialect: Dialect) {
        *self.inner.dialect.write() = Some(Arc::new(dialect));
    }

    /// From now on messages go to the transport itself where none waits.
    pub(super) fn write_by(&self, transport: Box<dyn AtOnce>) {
        let _ = self.inner.at_once.set(transport);
    }

    /// The negotiated era; `None` before the handshake.
    pub fn negotiated(&self) -> Option<Era> {
        self.inner.dialect.read().as_deref().map(|dialect| match dialect {
            Dialect::Session(era) | Dialect::Stateless { era, .. } => *era,
        })
    }

    /// The era; that of a session before the handshake.
    pub fn era(&self) -> Era {
        self.negotiated().unwrap_or(Era::SESSION)
    }

    /// Is it a stateless revision?
    pub fn is_stateless(&self) -> bool {
        self.era().is_stateless()
    }

    /// Sends a request. The response arrives through the [`Call`].
    ///
    /// # Errors
    /// [`CallError::Ended`] with [`Outcome::NotSent`] if the connection is closed or its queue stays full.
    pub async fn start(
        &self,
        method: &str,
        params: Option<Box<Raw>>,
        wait: Duration,
    ) -> Result<Call, CallError> {
        let request = Request { method: method.to_owned(), params, owner: None, headers: vec![] };
        self.begin(request, wait).await
    }

    /// Sends a request for a client. The response arrives through the [`Call`].
    ///
    /// # Errors
    /// [`CallError::Ended`] with [`Outcome::NotSent`] if the connection is closed or its queue stays full.
    pub async fn begin(&self, request: Request, wait: Duration) -> Result<Call, CallError> {
        let Request { method, params, owner, headers } = request;
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let params = self.in_our_words(with_token(params, id, owner.is_some())?)?;
        let named = headers::named_by(&method)
            .filter(|_| self.is_stateless())
            .and_then(|key| RawObject::parse(params.as_deref()?).ok()?.text(key));
        let flight = Arc::new(Flight::default());
        let sent = Sent::of(&flight);
        self.pending().insert(id, Pending { flight: flight.clone(), owner });
        let may_cancel = method != "initialize";
        let (link, quiet_since) = (self.clone(), Instant::now());
        let (open, done, silent) = (vec![], false, false);
        let call = Call { link, id, flight, open, may_cancel, done, quiet_since, silent };
        let json = Message::request(id, &method, params).to_json();
        let outgoing = Outgoing {
            json,
            id: Some(id),
            method: Some(method),
            named,
            headers,
            sent,
            begun: 0,
            _turn: None,
        };
        if let Some(reason) = self.ended() {
            return Err(CallError::Ended(reason, Outcome::NotSent));
        }
        let Some(outgoing) = self.write_at_once(outgoing) else { return Ok(call) };
        match tokio::time::timeout(wait, self.inner.outbox.send(outgoing)).await {
            Ok(Ok(())) => Ok(call),
            Ok(Err(_)) => Err(CallError::Ended(self.reason(), Outcome::NotSent)),
            Err(_) => Err(CallError::TimedOut(wait.as_secs(), Outcome::NotSent)),
        }
    }

    /// The message comes back where it has to wait for its turn.
    fn write_at_once(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let Some(transport) = self.inner.at_once.get() else { return Some(outgoing) };
        let left = transport.write(outgoing, &self.inner.waiting)?;
        Some(Outgoing { _turn: Some(QueuedWrite::of(&self.inner.waiting)), ..left })
    }

    /// Adds the `_meta` fields of stateless requests, on connections of that era.
    fn in_our_words(&self, params: Option<Box<Raw>>) -> Result<Option<Box<Raw>>, CallError> {
        let dialect = self.inner.dialect.read().clone();
        let Some(Dialect::Stateless { era, client, capabilities }) = dialect.as_deref() else {
            return Ok(params);
        };
        let mut fields = match &params {
            None => RawObject::new(),
            Some(raw) => RawObject::parse(raw).map_err(unreadable)?,
        };
        meta::complete_request(&mut fields, *era, client, capabilities);
        Ok(Some(fields.to_raw()))
    }

    /// Sends a request and waits for its result; notifications only extend the timeout.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Box<Raw>>,
        wait: Duration,
    ) -> Result<Box<Raw>, CallError> {
        let mut call = self.start(method, params, wait).await?;
        loop {
            match call.next(wait).await {
                Event::Final(outcome) => return outcome,
                // This request has no client that could be asked.
                Event::Question { id, method, .. } => call.answer(id, unasked(&method)),
                Event::Note { .. } | Event::Silent => {}
            }
        }
    }

    /// Sends a notification; dropped if the connection is closed or its queue is full.
    pub fn notify(&self, method: &str, params: Option<Box<Raw>>) {
        let json = Message::notification(method, params).to_json();
        self.post(json, Some(method.to_owned()));
    }

    /// Responds to a server's request.
    fn respond(&self, id: Id, outcome: Result<Box<Raw>, ErrorObject>) {
        if !self.post(Message::Response { id: Some(id), outcome }.to_json(), None) {
            self.inner.log.hub("could not answer a request: the server does not read its input");
        }
    }

    fn post(&self, json: String, method: Option<String>) -> bool {
        let outgoing = Outgoing {
            json,
            id: None,
            method,
            named: None,
            headers: vec![],
            sent: Sent::default(),
            begun: 0,
            _turn: None,
        };
        self.write_at_once(outgoing).is_none_or(|waits| self.inner.outbox.try_send(waits).is_ok())
    }

    /// The log of its server.
    pub fn log(&self) -> &ServerLog {
        &self.inner.log
    }

    /// Requests log messages from this severity on. Returns whether the server has to be asked for more than before.
    pub fn lower_log(&self, from: u8) -> bool {
        self.inner.logs_from.fetch_min(from, Ordering::Relaxed) > from
    }

    /// Its server had forgotten the session, and has opened another.
    pub(super) fn renewed(&self) {
        self.inner.renewals.fetch_add(1, Ordering::Relaxed);
    }

    /// How often its server has forgotten the session, and what was open in it.
    pub fn renewals(&self) -> u64 {
        self.inner.renewals.load(Ordering::Relaxed)
    }

    /// Why the connection ended; `None` while it is open.
    pub fn ended(&self) -> Option<EndReason> {
        self.inner.ended.borrow().clone()
    }

    /// Says that the connection will end once the requests in flight are answered. Call it before anything fails because
    /// of that.
    pub(super) fn set_ending(&self) {
        self.inner.ending.store(true, Ordering::Release);
    }

    /// Has the connection ended, or will it once the requests in flight are answered?
    pub fn is_ending(&self) -> bool {
        self.inner.ending.load(Ordering::Acquire) || self.inner.ended.borrow().is_some()
    }

    /// Waits for the end of the connection and returns the reason.
    pub async fn wait_ended(&self) -> EndReason {
        let mut ended = self.inner.ended.subscribe();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => EndReason::default(),
        }
    }

    /// Number of clients' requests without a response.
    pub fn in_flight(&self) -> usize {
        self.pending().values().filter(|call| call.owner.is_some()).count()
    }

    /// Is this request still without a response?
    pub fn waits_for(&self, id: u64) -> bool {
        self.pending().contains_key(&id)
    }

    /// Ends the connection: everything in flight fails with `reason`. Later reasons are ignored.
    pub fn end(&self, reason: impl Into<EndReason>) {
        let mut reason = Some(reason.into());
        self.inner.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            if first {
                *ended = reason.take();
            }
            first
        });
        let reason = self.reason();
        for (_, pending) in self.pending().drain() {
            pending.flight.fail(CallError::Ended(reason.clone(), pending.flight.withdrawn()));
        }
    }

    /// Fails one request, for transports on which requests fail individually.
    pub fn fail(&self, id: u64, error: CallError) {
        if let Some(pending) = self.pending().remove(&id) {
            pending.flight.fail(error);
        }
    }

    /// Handles a response that is not valid JSON.
    pub fn broken(&self, id: &Id, reason: &str) {
        if let Some(id) = id.as_ours() {
            let message = format!("its answer is not valid JSON: {reason}");
            self.fail(id, CallError::Ended(message.into(), Outcome::Unknown));
        }
    }

    /// Handles a message from the server.
    pub fn incoming(&self, message: Message) {
        self.incoming_on(None, message);
    }

    /// Handles a message from the stream of a call, on transports with such streams.
    pub fn incoming_on(&self, call: Option<u64>, message: Message) {
        match message {
            Message::Response { id, outcome } => self.answered(id, outcome),
            Message::Notification { method, params } => self.noted(call, method, params),
            Message::Request { id, method, params } => self.asked(call, id, method, params),
        }
    }

    fn answered(&self, id: Option<Id>, outcome: Result<Box<Raw>, ErrorObject>) {
        let ours = id.as_ref().and_then(Id::as_ours);
        let pending = ours.and_then(|id| self.pending().remove(&id));
        match pending {
            Some(pending) => {
                pending.flight.tell(Event::Final(outcome.map_err(CallError::Answered)));
            }
            None if ours.is_some_and(|id| self.was_cancelled(id)) => {
                self.inner.log.hub("the server answered a cancelled call; ignored");
            }
            // A second response, or one to an unknown request.
            None => {
                let id = id.and_then(|id| serde_json::to_string(&id).ok());
                let id = id.unwrap_or_else(|| "without an id".into());
                self.inner.log.hub(&format!("ignored an answer to unknown request {id}"));
            }
        }
    }

    /// Once: a second answer is one to an unknown request.
    fn was_cancelled(&self, id: u64) -> bool {
        let mut cancelled = self.inner.cancelled.lock();
        let at = cancelled.iter().position(|known| *known == id);
        at.and_then(|at| cancelled.remove(at)).is_some()
    }

    fn remember_cancelled(&self, id: u64) {
        let mut cancelled = self.inner.cancelled.lock();
        if cancelled.len() == CANCELLED {
            cancelled.pop_front();
        }
        cancelled.push_back(id);
    }

    /// Logs, once for each name, that the server sent what has no row in the table of methods.
    fn refused_unknown(&self, method: &str) {
        let name: String = method.chars().take(UNKNOWN_NAME).collect();
        let mut unknown = self.inner.unknown.lock();
        if unknown.len() < UNKNOWN_METHODS && unknown.insert(name.clone()) {
            drop(unknown);
            self.inner.log.hub(&format!("refused {name:?} of the server: Satchel does not know this method"));
        }
    }

    fn noted(&self, call: Option<u64>, method: String, params: Option<Box<Raw>>) {
        let Some(known) = KnownMethod::notification(Sender::Server, self.era(), &method) else {
            return self.refused_unknown(&method);
        };
        if method == "notifications/progress" {
            let token = params.as_deref().and_then(|params| RawObject::parse(params).ok());
            let token =
                token.and_then(|params| params.read::<Id>("progressToken")).and_then(|id| id.as_ours());
            // An unknown token is dropped: the notification must never reach another caller.
            if let Some(call) = token.and_then(|token| self.flight(token)) {
                call.note(Event::Note { method, params });
            }
            return;
        }
        if let Some(list) =
            method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"))
        {
            self.inner.changed.list_changed(list);
            return;
        }
        if method == ACKNOWLEDGED {
            let of = call.or_else(|| subscription(params.as_deref()?));
            if let Some(call) = of.and_then(|id| self.flight(id)) {
                call.note(Event::Note { method, params });
            }
            return;
        }
        if method == "notifications/message" {
            self.inner.log.message(params.as_deref().map_or("", Raw::get));
            if let Some(call) = self.meant(call) {
                call.note(Event::Note { method, params });
                return;
            }
            // It belongs to one of several clients' calls, and nothing says which.
            if self.in_flight() > 0 {
                return;
            }
        }
        if known.handling == Handling::Passed {
            self.inner.changed.told(&method, params.as_deref());
        }
    }

    /// The call that an unattributed message belongs to.
    fn meant(&self, call: Option<u64>) -> Option<Arc<Flight>> {
        if let Some(call) = call {
            return self.flight(call);
        }
        let pending = self.pending();
        // A call that waits for its client is idle, so nothing new is about it, unless it is the only one.
        let running = pending.values().any(|call| call.owner.is_some() && !call.flight.is_parked());
        let mut owned =
            pending.iter().filter(|(_, call)| call.owner.is_some() && !(running && call.flight.is_parked()));
        let (mut latest, first) = owned.next()?;
        for (id, call) in owned {
            if call.owner != first.owner {
                return None;
            }
            latest = latest.max(id);
        }
        pending.get(latest).map(|call| call.flight.clone())
    }

    fn flight(&self, id: u64) -> Option<Arc<Flight>> {
        self.pending().get(&id).map(|call| call.flight.clone())
    }

    /// In legacy revisions every request gets a response, because a waiting server would hang. In stateless ones,
    /// servers send no requests (`2026-07-28/basic/transports/stdio.mdx`).
    fn asked(&self, call: Option<u64>, id: Id, method: String, params: Option<Box<Raw>>) {
        if self.is_stateless() {
            self.inner.log.hub(&format!("ignored its request {method}: servers of its revision send none"));
            return;
        }
        if method == "ping" {
            return self.respond(id, Ok(RawObject::new().to_raw()));
        }
        if method == ROOTS
            && let Some(uris) = self.inner.changed.roots()
        {
            return self.respond(id, roots(&uris));
        }
        if KnownMethod::question(&method).is_none() {
            self.refused_unknown(&method);
            return self.respond(id, unasked(&method));
        }
        match self.meant(call) {
            Some(call) if call.may_ask() => {
                if !call.tell(Event::Question { id: id.clone(), method: method.clone(), params }) {
                    self.respond(id, unasked(&method));
                }
            }
            Some(_) => {
                let message = format!("more than {QUESTIONS_OPEN} questions of one call are waiting");
                self.respond(id, Err(ErrorObject::new(errors::INVALID_REQUEST, message)));
            }
            None => self.respond(id, unasked(&method)),
        }
    }

    fn reason(&self) -> EndReason {
        self.ended().unwrap_or_else(|| "the connection ended".into())
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.inner.pending.lock()
    }
}

/// Some servers respond to requests 0, 1, 2… that nobody has made, or report progress on them. Starting elsewhere
/// avoids accidental matches. Ids stay within 32 bits, because some servers store them so.
fn first_id() -> u64 {
    let mut random = [0u8; 4];
    // Without randomness, start at the lowest such number.
    let _ = getrandom::fill(&mut random);
    (1 << 20) + u64::from(u32::from_le_bytes(random) >> 2)
}

/// The method with which a server asks for folders.
const ROOTS: &str = "roots/list";

/// The response to a server's request that no client can answer.
fn unasked(method: &str) -> Result<Box<Raw>, ErrorObject> {
    match method {
        // Some servers ask right after the handshake; they fall back on their own settings.
        ROOTS => roots(&[]),
        _ if KnownMethod::question(method).is_none() => {
            Err(ErrorObject::new(errors::METHOD_NOT_FOUND, format!("there is no method {method}")))
        }
        _ => {
            let message = format!("{method} cannot be answered: no client's call waits for it");
            Err(ErrorObject::new(errors::METHOD_NOT_FOUND, message))
        }
    }
}

fn roots(uris: &[String]) -> Result<Box<Raw>, ErrorObject> {
    let roots: Vec<_> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
    to_raw_value(&json!({ "roots": roots })).map_err(unreadable_answer)
}

fn unreadable_answer(error: serde_json::Error) -> ErrorObject {
    ErrorObject::new(errors::INTERNAL_ERROR, error.to_string())
}

fn unreadable(error: serde_json::Error) -> CallError {
    CallError::Answered(ErrorObject::new(
        errors::INVALID_PARAMS,
        format!("cannot read the parameters: {error}"),
    ))
}

impl Call {
    /// The next event. After `quiet` without one, the call is cancelled: the server is told, and the event is
    /// [`Event::Final`], which is always the last.
    pub async fn next(&mut self, quiet: Duration) -> Event {
        if self.done {
            return Event::Final(Err(CallError::Ended(self.link.reason(), self.flight.withdrawn())));
        }
        let due = self.quiet_since + quiet;
        let suspect = self.quiet_since + SUSPECT;
        if !self.silent && suspect < due {
            match tokio::time::timeout_at(suspect, self.flight.next()).await {
                Ok(event) => return self.came(event),
                Err(_) => {
                    self.silent = true;
                    return Event::Silent;
                }
            }
        }
        let mut came = tokio::time::timeout_at(due, self.flight.next()).await;
        if came.is_err() && due.elapsed() > OVERSLEPT {
            came = tokio::time::timeout(CATCHING_UP, self.flight.next()).await;
        }
        match came {
            Ok(event) => self.came(event),
            Err(_) => {
                let error = CallError::TimedOut(quiet.as_secs(), self.flight.withdrawn());
                self.give_up("the request timed out");
                Event::Final(Err(error))
            }
        }
    }

    fn came(&mut self, event: Event) -> Event {
        self.heard();
        match &event {
            Event::Note { .. } | Event::Silent => {}
            Event::Question { id, .. } => self.open.push(id.clone()),
            Event::Final(_) => self.done = true,
        }
        event
    }

    /// From now on its silence counts.
    fn heard(&mut self) {
        (self.quiet_since, self.silent) = (Instant::now(), false);
    }

    /// Has the server said nothing about it for long?
    pub fn is_suspect(&self) -> bool {
        self.silent
    }

    /// Answers a question of this call.
    pub fn answer(&mut self, id: Id, outcome: Result<Box<Raw>, ErrorObject>) {
        let Some(at) = self.open.iter().position(|open| *open == id) else { return };
        self.open.swap_remove(at);
        self.heard();
        self.flight.was_answered();
        self.link.respond(id, outcome);
    }

    /// Records that the client left to find an answer, or returned.
    pub fn park(&self, parked: bool) {
        self.flight.park(parked);
    }

    /// Cancels the task that this call waits for, and ignores its response.
    pub fn cancel_task(&self, task: &str) {
        let id = self.link.inner.next.fetch_add(1, Ordering::Relaxed);
        let params = to_raw_value(&json!({ "taskId": task })).ok();
        self.link
            .post(Message::request(id, "tasks/cancel", params).to_json(), Some("tasks/cancel".to_owned()));
    }

    /// The era of its connection.
    pub fn era(&self) -> Era {
        self.link.era()
    }

    /// Like [`Self::next`], but the call also ends at `deadline`, however much progress it reports.
    pub async fn next_before(&mut self, quiet: Duration, deadline: Instant) -> Event {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.next(quiet.min(left)).await {
            Event::Final(Err(CallError::TimedOut(_, outcome))) if left < quiet => {
                Event::Final(Err(CallError::Overdue(outcome)))
            }
            event => event,
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.done = true;
        self.flight.give_up();
        // Otherwise a server that waits for an answer would wait forever.
        for id in std::mem::take(&mut self.open) {
            let message = format!("the call was cancelled: {reason}");
            self.link.respond(id, Err(ErrorObject::new(errors::INVALID_REQUEST, message)));
        }
        let was_pending = self.link.pending().remove(&self.id).is_some();
        if was_pending {
            self.link.remember_cancelled(self.id);
        }
        let has_left = self.flight.withdrawn() == Outcome::Unknown;
        // `initialize` may not be cancelled (`2025-11-25/basic/utilities/cancellation.mdx`).
        if was_pending && has_left && self.may_cancel {
            let params =
                serde_json::value::to_raw_value(&json!({ "requestId": self.id, "reason": reason })).ok();
            self.link.notify("notifications/cancelled", params);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.done {
            self.give_up("the client went away");
        }
    }
}

/// A server confirmed a subscription (`2026-07-28/basic/patterns/subscriptions.mdx`).
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The subscription that a notification belongs to, if it says so.
fn subscription(params: &Raw) -> Option<u64> {
    let meta = RawObject::parse(RawObject::parse(params).ok()?.get("_meta")?).ok()?;
    meta.read::<Id>(meta::SUBSCRIPTION)?.as_ours()
}

/// Replaces the caller's progress token by the hub's. `always`: also where the caller wants no progress, because progress
/// is a sign of life.
fn with_token(params: Option<Box<Raw>>, token: u64, always: bool) -> Result<Option<Box<Raw>>, CallError> {
    let raw = match params {
        None if !always => return Ok(None),
        None => RawObject::new().to_raw(),
        Some(raw) if !always && !raw.get().contains("progressToken") => return Ok(Some(raw)),
        Some(raw) => raw,
    };
    let mut params = RawObject::parse(&raw).map_err(unreadable)?;
    let own = params.get("_meta").map(RawObject::parse).transpose().map_err(unreadable)?;
    if !always && own.as_ref().is_none_or(|own| own.get("progressToken").is_none()) {
        return Ok(Some(raw));
    }
    let mut own = own.unwrap_or_default();
    own.put("progressToken", &token);
    params.set("_meta", own.to_raw());
    Ok(Some(params.to_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::flight::NOTES_KEPT;

    #[derive(Debug)]
    struct Nobody;
    impl OnChange for Nobody {
        fn list_changed(&self, _list: &str) {}
    }

    impl Link {
        /// A connection whose notifications are ignored.
        pub(crate) fn unheard() -> (Self, Outbox) {
            Self::new(Box::new(Nobody), ServerLog::nowhere())
        }
    }

    fn link() -> (Link, Outbox) {
        Link::counting_from(1, Box::new(Nobody), ServerLog::nowhere())
    }

    fn raw(json: &str) -> Option<Box<Raw>> {
        Some(Raw::from_string(json.to_owned()).unwrap())
    }

    fn shown(event: &Event) -> String {
        match event {
            Event::Note { params, .. } => params.as_ref().unwrap().get().to_owned(),
            Event::Silent => "silent".to_owned(),
            Event::Question { id, method, .. } => format!("{id:?} {method}"),
            Event::Final(Ok(result)) => result.get().to_owned(),
            Event::Final(Err(error)) => format!("{:?} {error}", error.outcome()),
        }
    }

    const WAIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn each_caller_gets_its_own_answer_and_its_notes_before_it() {
        let (link, mut outbox) = link();
        let params = raw(r#"{"name":"a","_meta":{"progressToken":"mine","x":1}}"#);
        let mut first = link.start("tools/call", params, WAIT).await.unwrap();
        let mut second = link.start("tools/call", raw("{}"), WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().json.contains(r#""_meta":{"progressToken":1,"x":1}"#));
        for json in [
            r#"{"jsonrpc":"2.0","id":2,"result":{"second":1.0}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{"first":true}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"again":true}}"#,
        ] {
            link.incoming(Message::parse(json).unwrap());
        }
        assert_eq!(shown(&first.next(WAIT).await), r#"{"progressToken":1,"progress":1}"#);
        assert_eq!(shown(&first.next(WAIT).await), r#"{"first":true}"#);
        assert_eq!(shown(&second.next(WAIT).await), r#"{"second":1.0}"#);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_from_before_the_request_is_not_taken_for_its_own() {
        let (link, mut outbox) = Link::new(Box::new(Nobody), ServerLog::nowhere());
        let mut call = link.start("initialize", None, WAIT).await.unwrap();
        for id in 0..100 {
            let forged = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"forged":true}}}}"#);
            link.incoming(Message::parse(&forged).unwrap());
        }
        let id = outbox.recv().await.unwrap().id.unwrap();
        assert!(id < 1 << 31, "{id} has room in 32 bits");
        let own = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"own":true}}}}"#);
        link.incoming(Message::parse(&own).unwrap());
        assert_eq!(shown(&call.next(WAIT).await), r#"{"own":true}"#);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_tells_the_server_and_says_whether_it_may_have_run() {
        let (link, mut outbox) = link();
        let mut call = link.start("tools/call", None, WAIT).await.unwrap();
        assert_eq!(shown(&call.next(WAIT).await), "NotSent no answer within 60 s");
        let mut call = link.start("tools/call", None, WAIT).await.unwrap();
        assert!(!outbox.recv().await.unwrap().sent.leaves(), "what was given up unsent is never sent");
        assert!(outbox.recv().await.unwrap().sent.leaves());
        assert_eq!(shown(&call.next(WAIT).await), "Unknown no answer within 60 s");
        let told = outbox.recv().await.unwrap().json;
        assert!(told.contains("notifications/cancelled") && told.contains("\"requestId\":2"), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_connection_reaches_every_caller() {
        let (link, mut outbox) = link();
        let mut sent = link.start("tools/call", None, WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().sent.leaves());
        let mut unsent = link.start("tools/call", None, WAIT).await.unwrap();
        link.end("it crashed");
        link.end("later");
        assert_eq!(shown(&sent.next(WAIT).await), "Unknown it crashed");
        assert_eq!(shown(&unsent.next(WAIT).await), "NotSent it crashed");
        assert_eq!(link.start("ping", None, WAIT).await.unwrap_err().to_string(), "it crashed");
        assert_eq!(link.in_flight(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_call_is_cancelled() {
        let (link, mut outbox) = link();
        let call = link.start("tools/call", None, WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().sent.leaves());
        drop(call);
        assert!(outbox.recv().await.unwrap().json.contains("the client went away"));
        assert_eq!(link.in_flight(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_log_says_in_plain_words_which_answers_were_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("server.log");
        let (link, _outbox) = Link::counting_from(7, Box::new(Nobody), ServerLog::at(&log));
        drop(link.start("tools/call", None, WAIT).await.unwrap());
        for answer in [r#""id":7"#, r#""id":7"#, r#""id":"x""#, r#""id":null"#] {
            link.incoming(Message::parse(&format!(r#"{{"jsonrpc":"2.0",{answer},"result":{{}}}}"#)).unwrap());
        }
        let said = std::fs::read_to_string(&log).unwrap();
        assert_eq!(said.lines().count(), 4, "{said}");
        for (line, wanted) in said.lines().zip([
            "the server answered a cancelled call; ignored",
            "ignored an answer to unknown request 7",
            "ignored an answer to unknown request \"x\"",
            "ignored an answer to unknown request without an id",
        ]) {
            assert!(line.ends_with(wanted), "{line}");
        }
    }

    /// R14: time during which the computer slept does not count.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_came_while_the_computer_slept_is_taken() {
        let (link, mut outbox) = link();
        let mut call = link.start("tools/call", None, WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().sent.leaves());
        let mut next = Box::pin(call.next(WAIT));
        assert!(futures_poll(&mut next).is_none());
        // Asleep for an hour; after waking, the reader runs after the timer.
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(futures_poll(&mut next).is_none());
        link.incoming(Message::parse(r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#).unwrap());
        assert_eq!(shown(&next.await), r#"{"late":true}"#);
        let mut call = link.start("tools/call", None, WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().sent.leaves());
        let mut next = Box::pin(call.next(WAIT));
        assert!(futures_poll(&mut next).is_none());
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(shown(&next.await), "Unknown no answer within 60 s", "not for ever");
    }

    fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }

    /// The limits of a call: 60 s without progress, 10 min in total.
    #[tokio::test(start_paused = true)]
    async fn progress_extends_a_call_and_never_beyond_its_end() {
        let (link, _outbox) = link();
        let mut call = link.start("tools/call", raw(r#"{"_meta":{"progressToken":0}}"#), WAIT).await.unwrap();
        let (begin, deadline) = (Instant::now(), Instant::now() + LONGEST_CALL);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
        let mut notes = 0;
        loop {
            tokio::select! {
                event = call.next_before(WAIT, deadline) => match event {
                    Event::Note { .. } => notes += 1,
                    end => break assert!(shown(&end).contains("no answer"), "{}", shown(&end)),
                },
                () = tokio::time::sleep(WAIT - Duration::from_secs(1)) => {
                    link.incoming(Message::parse(note).unwrap());
                }
            }
        }
        assert_eq!((begin.elapsed(), notes), (LONGEST_CALL, 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_notes_keeps_bounded_memory_and_the_answer() {
        let (link, _outbox) = link();
        let mut call = link.start("tools/call", raw(r#"{"_meta":{"progressToken":0}}"#), WAIT).await.unwrap();
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
        for _ in 0..10_000 {
            link.incoming(Message::parse(note).unwrap());
        }
        link.incoming(Message::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap());
        let mut notes = 0;
        while let Event::Note { .. } = call.next(WAIT).await {
            notes += 1;
        }
        assert_eq!(notes, NOTES_KEPT);
    }

    fn request_of(owner: &str) -> Request {
        Request { method: "tools/call".into(), params: raw("{}"), owner: Some(owner.into()), headers: vec![] }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_goes_to_the_call_that_is_meant_and_never_to_another_client() {
        let (link, mut outbox) = link();
        let mut first = link.begin(request_of("a"), WAIT).await.unwrap();
        let mut second = link.begin(request_of("a"), WAIT).await.unwrap();
        for _ in 0..2 {
            outbox.recv().await.unwrap();
        }
        let ask = |id: u64| Message::request(id, "elicitation/create", None);
        link.incoming_on(Some(1), ask(70));
        assert!(matches!(first.next(WAIT).await, Event::Question { .. }));
        link.incoming(ask(71));
        assert!(
            matches!(second.next(WAIT).await, Event::Question { .. }),
            "the latest, where all are of one client"
        );
        second.answer(71.into(), Ok(RawObject::new().to_raw()));
        assert!(outbox.recv().await.unwrap().json.contains(r#""id":71,"result":{}"#));
        second.park(true);
        link.incoming(ask(73));
        assert!(
            matches!(first.next(WAIT).await, Event::Question { .. }),
            "the one that waits asks nothing new"
        );
        first.answer(73.into(), Ok(RawObject::new().to_raw()));
        assert!(outbox.recv().await.unwrap().json.contains(r#""id":73,"result":{}"#));
        second.park(false);
        let _other = link.begin(request_of("b"), WAIT).await.unwrap();
        outbox.recv().await.unwrap();
        link.incoming(ask(72));
        assert!(outbox.recv().await.unwrap().json.contains("-32601"), "it could be either's");
        drop(first);
        let left = outbox.recv().await.unwrap().json;
        assert!(left.contains(r#""id":70,"error""#), "a server that waits would wait for ever: {left}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stateless_server_is_told_all_in_every_request() {
        let (link, mut outbox) = link();
        let raw = |json: &str| Raw::from_string(json.to_owned()).unwrap();
        link.speak(Dialect::Stateless {
            era: Era::STATELESS,
            client: raw(r#"{"name":"h"}"#),
            capabilities: raw("{}"),
        });
        let call =
            link.start("tools/call", Some(raw(r#"{"name":"t","_meta":{"x":1}}"#)), WAIT).await.unwrap();
        let sent = outbox.recv().await.unwrap();
        assert!(sent.json.contains(r#""_meta":{"x":1,"io.modelcontextprotocol/clientInfo":{"name":"h"}"#));
        assert_eq!(sent.named.as_deref(), Some("t"));
        drop(call);
        assert!(sent.sent.gone().is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_servers_question_is_always_answered() {
        let (link, mut outbox) = link();
        for (method, part) in [
            ("ping", "\"result\":{}"),
            ("roots/list", "\"result\":{\"roots\":[]}"),
            ("sampling/createMessage", "-32601"),
        ] {
            link.incoming(Message::request(9, method, None));
            assert!(outbox.recv().await.unwrap().json.contains(part));
        }
    }

    /// The notifications that went on, by method.
    #[derive(Debug, Clone, Default)]
    struct Heard(Arc<Mutex<Vec<String>>>);

    impl OnChange for Heard {
        fn list_changed(&self, list: &str) {
            self.0.lock().push(list.to_owned());
        }
        fn told(&self, method: &str, _params: Option<&Raw>) {
            self.0.lock().push(method.to_owned());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_sends_passes_only_with_a_row_in_the_table_of_methods() {
        let heard = Heard::default();
        let (link, mut outbox) = Link::new(Box::new(heard.clone()), ServerLog::nowhere());
        for method in [
            "notifications/claude/channel",
            "notifications/skills/list_changed",
            "notifications/cancelled",
            "tools/call",
            "notifications/tools/list_changed",
            "notifications/elicitation/complete",
        ] {
            link.incoming(Message::notification(method, raw("{}")));
        }
        assert_eq!(*heard.0.lock(), ["tools", "notifications/elicitation/complete"]);
        let request = Request {
            method: "tools/call".into(),
            params: raw("{}"),
            owner: Some("a".into()),
            headers: vec![],
        };
        let mut call = link.begin(request, WAIT).await.unwrap();
        outbox.recv().await.unwrap();
        link.incoming(Message::request(7, "vendor/ask", raw("{}")));
        assert!(outbox.recv().await.unwrap().json.contains("-32601"), "its client is not asked");
        assert!(tokio::time::timeout(WAIT / 2, call.next(WAIT)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_clients_request_has_a_token_of_the_hub_and_silence_makes_a_server_suspect() {
        let (link, mut outbox) = link();
        let request = |params| Request {
            method: "tools/call".into(),
            params,
            owner: Some("a".into()),
            headers: vec![],
        };
        let mut call = link.begin(request(raw(r#"{"name":"a","_meta":{"x":1}}"#)), WAIT).await.unwrap();
        let sent = outbox.recv().await.unwrap().json;
        assert!(sent.contains(r#""params":{"name":"a","_meta":{"x":1,"progressToken":1}}"#), "{sent}");
        let _second = link.begin(request(None), WAIT).await.unwrap();
        assert!(outbox.recv().await.unwrap().json.contains(r#""params":{"_meta":{"progressToken":2}}"#));
        let began = Instant::now();
        assert!(matches!(call.next(LONGEST_CALL).await, Event::Silent) && call.is_suspect());
        assert_eq!(began.elapsed(), SUSPECT);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
        link.incoming(Message::parse(note).unwrap());
        assert!(matches!(call.next(LONGEST_CALL).await, Event::Note { .. }) && !call.is_suspect());
        assert!(matches!(call.next(LONGEST_CALL).await, Event::Silent));
        link.incoming(Message::parse(r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#).unwrap());
        assert_eq!(shown(&call.next(LONGEST_CALL).await), r#"{"late":true}"#, "no result is lost");
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_counts_from_the_last_sign_of_life() {
        let (link, _outbox) = link();
        let mut call = link.start("tools/call", raw("{}"), WAIT).await.unwrap();
        let (began, limit) = (Instant::now(), SUSPECT * 2);
        assert!(matches!(call.next(limit).await, Event::Silent));
        assert!(matches!(call.next(limit).await, Event::Final(Err(CallError::TimedOut(120, _)))));
        assert_eq!(began.elapsed(), limit);
    }
}
