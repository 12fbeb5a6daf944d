//! One connection to a server: requests go out, answers and notes come back in order, every wait is bounded.
//!
//! Theory of operation: a transport ([`super::connect`]) owns the bytes. It hands every message it reads to
//! [`Link::incoming`] and takes what is to be written from the [`Outbox`]. A request's answer, and the progress
//! notes before it, reach the caller through the request's own queue, so a note can never overtake or follow the
//! answer it belongs to. Ids and progress tokens are ours on this hop; the caller's are put back further up.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, errors};
use serde::Serialize;
use serde_json::json;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::log::ServerLog;

/// A request may go on as long as it reports progress, but not longer than this.
pub const LONGEST_CALL: Duration = Duration::from_secs(600);
/// Progress notes kept for a caller that does not read them; older ones would only be overtaken.
const NOTES_KEPT: usize = 256;

/// What a failed call did, as far as we can know. Carried to clients as `error.data.outcome`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not a byte of it left the hub.
    NotSent,
    /// It reached the server, which provably did not run it.
    NotExecuted,
    /// It may or may not have run.
    Unknown,
    /// The server answered with an error.
    UpstreamError,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The server answered with an error; it travels on as it came.
    #[error("{0}")]
    Answered(ErrorObject),
    /// No answer within the time allowed.
    #[error("no answer within {0} s")]
    TimedOut(u64, Outcome),
    /// The connection ended first.
    #[error("{0}")]
    Ended(String, Outcome),
}

impl CallError {
    /// What the failed call did.
    pub fn outcome(&self) -> Outcome {
        match self {
            CallError::Answered(_) => Outcome::UpstreamError,
            CallError::TimedOut(_, outcome) | CallError::Ended(_, outcome) => *outcome,
        }
    }
}

/// What a call yields, in order.
#[derive(Debug)]
pub enum Event {
    /// A notification that belongs to the call.
    Note {
        /// Its method.
        method: String,
        /// Its parameters, with our progress token still in them.
        params: Option<Box<Raw>>,
    },
    /// The end of the call.
    Final(Result<Box<Raw>, CallError>),
}

/// What a transport is to write.
#[derive(Debug)]
pub struct Outgoing {
    /// One message, one line.
    pub json: String,
    /// The request's id, where it is one.
    pub id: Option<u64>,
    /// The request's method, where it is one.
    pub method: Option<String>,
    /// Set by the transport before the first byte leaves.
    pub sent: Arc<AtomicBool>,
}

/// The transport's end of the queue of messages to write.
pub type Outbox = mpsc::Receiver<Outgoing>;

/// One connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    outbox: mpsc::Sender<Outgoing>,
    pending: Mutex<HashMap<u64, Pending>>,
    next: AtomicU64,
    ended: watch::Sender<Option<String>>,
    changed: Box<dyn OnChange>,
    log: ServerLog,
}

#[derive(Debug)]
struct Pending {
    events: mpsc::UnboundedSender<Event>,
    notes: Arc<AtomicUsize>,
    sent: Arc<AtomicBool>,
}

/// Told when a server says that one of its lists changed.
pub trait OnChange: Send + Sync + std::fmt::Debug {
    /// `notifications/<list>/list_changed` arrived.
    fn list_changed(&self, list: &str);
}

/// A call in flight. Dropping it before its end tells the server that nobody waits any more.
#[derive(Debug)]
pub struct Call {
    link: Link,
    id: u64,
    events: mpsc::UnboundedReceiver<Event>,
    notes: Arc<AtomicUsize>,
    sent: Arc<AtomicBool>,
    may_cancel: bool,
    done: bool,
}

impl Link {
    /// A link and the queue its transport writes from.
    pub fn new(changed: Box<dyn OnChange>, log: ServerLog) -> (Self, Outbox) {
        Self::counting_from(first_id(), changed, log)
    }

    fn counting_from(first: u64, changed: Box<dyn OnChange>, log: ServerLog) -> (Self, Outbox) {
        // Bounded: a server that does not read must not fill our memory. Callers then wait, up to their timeout.
        let (outbox, queue) = mpsc::channel(64);
        let (ended, _) = watch::channel(None);
        let inner =
            Inner { outbox, pending: Mutex::default(), next: AtomicU64::new(first), ended, changed, log };
        (Self { inner: Arc::new(inner) }, queue)
    }

    /// Sends a request. The answer comes through the [`Call`].
    ///
    /// # Errors
    /// [`CallError::Ended`] with [`Outcome::NotSent`] where the connection is gone or its queue stays full.
    pub async fn start(
        &self,
        method: &str,
        params: Option<Box<Raw>>,
        wait: Duration,
    ) -> Result<Call, CallError> {
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let params = with_token(params, id)?;
        let (events, receiver) = mpsc::unbounded_channel();
        let (notes, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        self.pending().insert(id, Pending { events, notes: notes.clone(), sent: sent.clone() });
        let call = Call {
            link: self.clone(),
            id,
            events: receiver,
            notes,
            sent: sent.clone(),
            may_cancel: method != "initialize",
            done: false,
        };
        let json = Message::request(id, method, params).to_json();
        let outgoing = Outgoing { json, id: Some(id), method: Some(method.to_owned()), sent };
        if let Some(reason) = self.ended() {
            return Err(CallError::Ended(reason, Outcome::NotSent));
        }
        match tokio::time::timeout(wait, self.inner.outbox.send(outgoing)).await {
            Ok(Ok(())) => Ok(call),
            Ok(Err(_)) => Err(CallError::Ended(self.reason(), Outcome::NotSent)),
            Err(_) => Err(CallError::TimedOut(wait.as_secs(), Outcome::NotSent)),
        }
    }

    /// Sends a request and waits for its result; notes are not looked at but extend the wait.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Box<Raw>>,
        wait: Duration,
    ) -> Result<Box<Raw>, CallError> {
        let mut call = self.start(method, params, wait).await?;
        loop {
            if let Event::Final(outcome) = call.next(wait).await {
                return outcome;
            }
        }
    }

    /// Sends a notification; dropped where the connection is gone or its queue is full.
    pub fn notify(&self, method: &str, params: Option<Box<Raw>>) {
        let json = Message::notification(method, params).to_json();
        let _ = self.inner.outbox.try_send(Outgoing { json, id: None, method: None, sent: Arc::default() });
    }

    /// Why the connection ended; `None` while it lives.
    pub fn ended(&self) -> Option<String> {
        self.inner.ended.borrow().clone()
    }

    /// Waits until the connection ends and says why.
    pub async fn wait_ended(&self) -> String {
        let mut ended = self.inner.ended.subscribe();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// Requests without an answer so far.
    pub fn in_flight(&self) -> usize {
        self.pending().len()
    }

    /// Ends the connection: everything in flight fails with `reason`. Later reasons are ignored.
    pub fn end(&self, reason: &str) {
        self.inner.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            if first {
                *ended = Some(reason.to_owned());
            }
            first
        });
        let reason = self.reason();
        for (_, pending) in self.pending().drain() {
            let _ =
                pending.events.send(Event::Final(Err(CallError::Ended(reason.clone(), pending.outcome()))));
        }
    }

    /// Fails one request, for transports where requests fail one by one.
    pub fn fail(&self, id: u64, error: CallError) {
        if let Some(pending) = self.pending().remove(&id) {
            let _ = pending.events.send(Event::Final(Err(error)));
        }
    }

    /// Takes in a message from the server.
    pub fn incoming(&self, message: Message) {
        match message {
            Message::Response { id, outcome } => self.answered(id, outcome),
            Message::Notification { method, params } => self.noted(method, params),
            Message::Request { id, method, .. } => self.asked(id, &method),
        }
    }

    fn answered(&self, id: Option<Id>, outcome: Result<Box<Raw>, ErrorObject>) {
        let pending = id.as_ref().and_then(Id::as_ours).and_then(|id| self.pending().remove(&id));
        match pending {
            Some(pending) => {
                let _ = pending.events.send(Event::Final(outcome.map_err(CallError::Answered)));
            }
            // A second answer, an answer to a call we gave up, or one nobody asked for.
            None => self.inner.log.hub(&format!("ignored an answer to unknown request {id:?}")),
        }
    }

    fn noted(&self, method: String, params: Option<Box<Raw>>) {
        if method == "notifications/progress" {
            let token = params.as_deref().and_then(|params| RawObject::parse(params).ok());
            let token =
                token.and_then(|params| params.read::<Id>("progressToken")).and_then(|id| id.as_ours());
            let pending = self.pending();
            // An unknown token is dropped: it must never reach another caller.
            let Some(call) = token.and_then(|token| pending.get(&token)) else { return };
            if call.notes.fetch_add(1, Ordering::Relaxed) < NOTES_KEPT {
                let _ = call.events.send(Event::Note { method, params });
            } else {
                call.notes.fetch_sub(1, Ordering::Relaxed);
            }
            return;
        }
        if let Some(list) =
            method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"))
        {
            self.inner.changed.list_changed(list);
        } else if method == "notifications/message" {
            self.inner.log.message(params.as_deref().map_or("", Raw::get));
        }
    }

    /// We offer servers no capabilities yet, so they may only ping; anything else is answered, because a server
    /// that waits for an answer hangs.
    fn asked(&self, id: Id, method: &str) {
        let answer = match method {
            "ping" => Message::result(id, RawObject::new().to_raw()),
            _ => {
                let error =
                    ErrorObject::new(errors::METHOD_NOT_FOUND, format!("{method} is not supported here"));
                Message::error(Some(id), error)
            }
        };
        let outgoing = Outgoing { json: answer.to_json(), id: None, method: None, sent: Arc::default() };
        if self.inner.outbox.try_send(outgoing).is_err() {
            self.inner.log.hub("could not answer a request: the server does not read");
        }
    }

    fn reason(&self) -> String {
        self.ended().unwrap_or_else(|| "the connection ended".to_owned())
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.inner.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some servers answer requests 0, 1, 2… that nobody has made yet, or report progress on them. Ids that begin
/// somewhere else cannot be met by accident. They stay within 32 bits, because some servers keep them so.
fn first_id() -> u64 {
    let mut random = [0u8; 4];
    // Without randomness they begin at the lowest such number.
    let _ = getrandom::fill(&mut random);
    (1 << 20) + u64::from(u32::from_le_bytes(random) >> 2)
}

impl Pending {
    fn outcome(&self) -> Outcome {
        if self.sent.load(Ordering::Acquire) { Outcome::Unknown } else { Outcome::NotSent }
    }
}

impl Call {
    /// The next thing that happens. After `quiet` without one the call is given up: the server is told, and the
    /// event is a [`Event::Final`]. After a final event there is no other.
    pub async fn next(&mut self, quiet: Duration) -> Event {
        let event = match tokio::time::timeout(quiet, self.events.recv()).await {
            Ok(Some(event)) => event,
            Ok(None) => Event::Final(Err(CallError::Ended(self.link.reason(), self.outcome()))),
            Err(_) => {
                let error = CallError::TimedOut(quiet.as_secs(), self.outcome());
                self.give_up("the request timed out");
                Event::Final(Err(error))
            }
        };
        match event {
            Event::Note { .. } => {
                self.notes.fetch_sub(1, Ordering::Relaxed);
            }
            Event::Final(_) => self.done = true,
        }
        event
    }

    /// Like [`Self::next`], but the call as a whole also ends at `deadline`, however much progress it reports.
    pub async fn next_before(&mut self, quiet: Duration, deadline: Instant) -> Event {
        let left = deadline.saturating_duration_since(Instant::now());
        self.next(quiet.min(left)).await
    }

    fn outcome(&self) -> Outcome {
        if self.sent.load(Ordering::Acquire) { Outcome::Unknown } else { Outcome::NotSent }
    }

    fn give_up(&mut self, reason: &str) {
        self.done = true;
        let was_pending = self.link.pending().remove(&self.id).is_some();
        // `initialize` may not be cancelled (`2025-11-25/basic/utilities/cancellation.mdx`).
        if was_pending && self.may_cancel {
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

/// Puts our progress token in the place of the caller's, where the caller wants progress.
fn with_token(params: Option<Box<Raw>>, token: u64) -> Result<Option<Box<Raw>>, CallError> {
    let Some(raw) = params else { return Ok(None) };
    if !raw.get().contains("progressToken") {
        return Ok(Some(raw));
    }
    let unreadable = |error: serde_json::Error| {
        CallError::Answered(ErrorObject::new(
            errors::INVALID_PARAMS,
            format!("cannot read the parameters: {error}"),
        ))
    };
    let mut params = RawObject::parse(&raw).map_err(unreadable)?;
    let Some(meta) = params.get("_meta") else { return Ok(Some(raw)) };
    let mut meta = RawObject::parse(meta).map_err(unreadable)?;
    if meta.get("progressToken").is_none() {
        return Ok(Some(raw));
    }
    meta.put("progressToken", &token).map_err(unreadable)?;
    params.set("_meta", meta.to_raw());
    Ok(Some(params.to_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;
    impl OnChange for Nobody {
        fn list_changed(&self, _list: &str) {}
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
        let mut seen = vec![];
        while let Ok(outgoing) = outbox.try_recv() {
            outgoing.sent.store(true, Ordering::Release);
            seen.push(outgoing.json);
        }
        assert!(
            seen[1].contains("notifications/cancelled") && seen[1].contains("\"requestId\":1"),
            "{seen:?}"
        );
        assert_eq!(shown(&call.next(WAIT).await), "Unknown no answer within 60 s");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_connection_reaches_every_caller() {
        let (link, mut outbox) = link();
        let mut sent = link.start("tools/call", None, WAIT).await.unwrap();
        outbox.recv().await.unwrap().sent.store(true, Ordering::Release);
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
        drop(link.start("tools/call", None, WAIT).await.unwrap());
        outbox.recv().await.unwrap();
        assert!(outbox.recv().await.unwrap().json.contains("the client went away"));
        assert_eq!(link.in_flight(), 0);
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

    #[tokio::test(start_paused = true)]
    async fn a_servers_question_is_always_answered() {
        let (link, mut outbox) = link();
        for (method, part) in [("ping", "\"result\":{}"), ("roots/list", "-32601")] {
            link.incoming(Message::request(9, method, None));
            assert!(outbox.recv().await.unwrap().json.contains(part));
        }
    }
}
