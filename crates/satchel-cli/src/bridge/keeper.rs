//! Keeps the connection to the hub alive.
//!
//! Theory of operation: one task owns the [`Link`] and the client's `initialize`. Others read the link from a `watch` and report
//! when it fails; then the task finds the hub again, starting one if needed, and replays the `initialize`, so that the client does
//! not notice. The task ends when the last [`Keeper`] is dropped.

use std::{sync::Arc, time::Duration};

use satchel_core::files::Places;
use satchel_mcp::{Id, Message, RawObject};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

use super::{
    Connecting,
    exchange::{ExchangeReply, Link, Outcome, exchange, read_stream, refused},
    headers, hub,
    room::Out,
};
use crate::control::{Endpoint, PostError};

/// Number of attempts to open the client's session while hubs exit.
const OPENING_TRIES: usize = 3;
/// Timeout of reopening the session.
const REPLAY_TIME: Duration = Duration::from_secs(30);
/// The pause before reopening a stream that the hub ended.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// Timeout of ending a session.
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// The state of the connection.
#[derive(Debug, Clone)]
pub(super) enum LinkState {
    /// Searching for a hub.
    Seeking,
    /// Connected.
    Up(Arc<Link>),
    /// Unavailable.
    Down { generation: u64, why: String },
}

#[derive(Debug)]
enum KeeperCommand {
    /// The client opens its session.
    Open { message: Message, id: Id, done: oneshot::Sender<()> },
    /// The client is initialized; repeated when the session is reopened.
    Ready { message: Message },
    /// The connection of that generation failed.
    Lost { generation: u64 },
    /// The session is over.
    End { done: oneshot::Sender<()> },
}

/// A handle to the task.
#[derive(Debug, Clone)]
pub(super) struct Keeper {
    orders: mpsc::Sender<KeeperCommand>,
    state: watch::Receiver<LinkState>,
}

impl Keeper {
    /// Starts the task, which searches for the hub immediately.
    pub(super) fn start(tracker: &TaskTracker, places: Places, caller: Connecting, out: Out) -> Self {
        let (orders, inbox) = mpsc::channel(64);
        let (publish, state) = watch::channel(LinkState::Seeking);
        let task =
            Keeping { places, caller, out, publish, generation: 0, opening: None, tracker: tracker.clone() };
        tracker.spawn(task.run(inbox));
        Self { orders, state }
    }

    /// Opens the client's session; returns when the response is written.
    pub(super) async fn open(&self, message: Message, id: Id) {
        let (done, opened) = oneshot::channel();
        let _ = self.orders.send(KeeperCommand::Open { message, id, done }).await;
        let _ = opened.await;
    }

    /// Records that the client is initialized.
    pub(super) async fn ready(&self, message: Message) {
        let _ = self.orders.send(KeeperCommand::Ready { message }).await;
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let (done, ended) = oneshot::channel();
        let _ = self.orders.send(KeeperCommand::End { done }).await;
        let _ = ended.await;
    }

    /// A connection to use; a new one if that of generation `failed` failed.
    pub(super) async fn link(&mut self, failed: Option<u64>) -> Result<Arc<Link>, String> {
        let failed = match (failed, &*self.state.borrow()) {
            (Some(failed), _) => Some(failed),
            // It was unavailable for an earlier caller; that may have changed.
            (None, LinkState::Down { generation, .. }) => Some(*generation),
            (None, LinkState::Up(_) | LinkState::Seeking) => None,
        };
        if let Some(generation) = failed {
            let _ = self.orders.send(KeeperCommand::Lost { generation }).await;
        }
        let passed = |generation: u64| failed.is_none_or(|failed| generation > failed);
        let settled = self.state.wait_for(|state| match state {
            LinkState::Seeking => false,
            LinkState::Up(link) => passed(link.generation),
            LinkState::Down { generation, .. } => passed(*generation),
        });
        match settled.await.as_deref() {
            Ok(LinkState::Up(link)) => Ok(link.clone()),
            Ok(LinkState::Down { why, .. }) => Err(why.clone()),
            Ok(LinkState::Seeking) | Err(_) => Err("the bridge is ending".into()),
        }
    }
}

/// The client's opening messages, to be repeated to every new hub.
struct Opening {
    initialize: Message,
    ready: Option<Message>,
}

struct Keeping {
    places: Places,
    caller: Connecting,
    out: Out,
    publish: watch::Sender<LinkState>,
    generation: u64,
    opening: Option<Opening>,
    tracker: TaskTracker,
}

impl Keeping {
    async fn run(mut self, mut inbox: mpsc::Receiver<KeeperCommand>) {
        self.seek().await;
        while let Some(order) = inbox.recv().await {
            match order {
                KeeperCommand::Open { message, id, done } => {
                    self.open(message, &id).await;
                    let _ = done.send(());
                }
                KeeperCommand::Ready { message } => {
                    if let Some(opening) = &mut self.opening {
                        opening.ready = Some(message);
                    }
                    self.listen();
                }
                // Several requests notice the same loss; the first one suffices.
                KeeperCommand::Lost { generation } if generation == self.generation => self.seek().await,
                KeeperCommand::Lost { .. } => {}
                KeeperCommand::End { done } => {
                    self.farewell().await;
                    let _ = done.send(());
                }
            }
        }
    }

    /// Finds the hub and reopens the session.
    async fn seek(&mut self) {
        self.publish.send_replace(LinkState::Seeking);
        self.generation += 1;
        let found = match hub::arrive(&self.places, &self.caller).await {
            Ok(endpoint) => self.reopen(endpoint).await,
            Err(error) => Err(format!("the hub cannot be reached: {error:#}")),
        };
        let state = match found {
            Ok(link) => LinkState::Up(Arc::new(link)),
            Err(why) => {
                tracing::warn!("{why}");
                LinkState::Down { generation: self.generation, why }
            }
        };
        self.publish.send_replace(state);
        self.listen();
    }

    async fn reopen(&self, endpoint: Endpoint) -> Result<Link, String> {
        let token_file = self.caller.socket.as_ref().map(|socket| socket.token_file.as_path().into());
        let fresh = Link { generation: self.generation, endpoint, session: None, revision: None, token_file };
        let Some(opening) = &self.opening else { return Ok(fresh) };
        let replay = replay(fresh, opening);
        tokio::time::timeout(REPLAY_TIME, replay)
            .await
            .unwrap_or_else(|_| Err("the hub did not reopen the session in time".into()))
    }

    /// Handles the client's own opening: forwards and stores the response.
    async fn open(&mut self, message: Message, id: &Id) {
        self.opening = None;
        let mut why = String::new();
        for _ in 0..OPENING_TRIES {
            if !matches!(*self.publish.borrow(), LinkState::Up(_)) {
                self.seek().await;
            }
            let state = self.publish.borrow().clone();
            why = match state {
                LinkState::Up(link) => match exchange(&link, &message, &self.out).await {
                    Outcome::Done(reply) => return self.opened(&link, message, reply),
                    Outcome::Unknown(why) => return self.out.write(&refused(id, why)).await,
                    Outcome::NotExecuted(why) => {
                        self.seek().await;
                        why
                    }
                },
                LinkState::Down { why, .. } => return self.out.write(&refused(id, why)).await,
                LinkState::Seeking => continue,
            };
        }
        self.out
            .write(&refused(id, format!("the hub was not reached in {OPENING_TRIES} attempts: {why}")))
            .await;
    }

    fn opened(&mut self, link: &Link, initialize: Message, reply: ExchangeReply) {
        let Some(revision) = agreed(&reply) else { return };
        self.generation += 1;
        self.opening = Some(Opening { initialize, ready: None });
        self.publish.send_replace(LinkState::Up(Arc::new(Link {
            generation: self.generation,
            endpoint: link.endpoint.clone(),
            session: reply.session,
            revision: Some(revision),
            token_file: link.token_file.clone(),
        })));
    }

    /// Receives unsolicited messages of the hub while the connection lasts.
    fn listen(&self) {
        let ready = self.opening.as_ref().is_some_and(|opening| opening.ready.is_some());
        let state = self.publish.borrow().clone();
        let LinkState::Up(link) = state else { return };
        if !ready || link.session.is_none() {
            return;
        }
        let (out, mut state) = (self.out.clone(), self.publish.subscribe());
        self.tracker.spawn(async move {
            let generation = link.generation;
            let gone = state
                .wait_for(|state| !matches!(state, LinkState::Up(link) if link.generation == generation));
            tokio::select! {
                _ = hear(&link, &out) => {}
                _ = gone => {}
            }
        });
    }

    async fn farewell(&self) {
        let state = self.publish.borrow().clone();
        let LinkState::Up(link) = state else { return };
        if link.session.is_some() {
            let session = headers::of_session(&link);
            let ended = link.endpoint.end(&session);
            // The hub also ends idle sessions.
            let _ = tokio::time::timeout(FAREWELL_TIME, ended).await;
        }
    }
}

/// Repeats an opening; its responses are not forwarded.
async fn replay(fresh: Link, opening: &Opening) -> Result<Link, String> {
    let (nowhere, _) = Out::new();
    let link = match exchange(&fresh, &opening.initialize, &nowhere).await {
        Outcome::Done(reply) => match agreed(&reply) {
            Some(revision) => Link { session: reply.session, revision: Some(revision), ..fresh },
            None => return Err("the new hub rejected the session".into()),
        },
        Outcome::NotExecuted(why) | Outcome::Unknown(why) => return Err(why),
    };
    let Some(ready) = &opening.ready else { return Ok(link) };
    match exchange(&link, ready, &nowhere).await {
        Outcome::Done(_) => Ok(link),
        Outcome::NotExecuted(why) | Outcome::Unknown(why) => Err(why),
    }
}

/// The revision in the response to `initialize`.
fn agreed(reply: &ExchangeReply) -> Option<String> {
    match &reply.answer {
        Some(Message::Response { outcome: Ok(result), .. }) => {
            RawObject::parse(result).ok()?.text("protocolVersion")
        }
        Some(
            Message::Response { outcome: Err(_), .. }
            | Message::Request { .. }
            | Message::Notification { .. },
        )
        | None => None,
    }
}

/// Listens until the hub is gone or does not support the stream.
async fn hear(link: &Link, out: &Out) -> Result<(), PostError> {
    loop {
        let stream = link.endpoint.listen(&headers::of_session(link)).await?;
        if stream.status() != 200 || !stream.is_stream() {
            return Ok(());
        }
        if let Err(why) = read_stream(stream, None, out).await {
            tracing::debug!("the hub's event stream broke: {why}");
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}
