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
    exchange::{ExchangeReply, Link, Out, Outcome, exchange, read_stream, refused, write},
    headers, hub,
};
use crate::control::{Endpoint, PostError};

/// How often the client's opening is tried with a hub that came and went.
const OPENING_TRIES: usize = 3;
/// How long the hub may take for our own repetition of the opening.
const REPLAY_TIME: Duration = Duration::from_secs(30);
/// How long to wait before listening again when the hub ended the stream.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// How long the hub may take to end a session.
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// Where the link is.
#[derive(Debug, Clone)]
pub(super) enum LinkState {
    /// Being looked for.
    Seeking,
    /// There.
    Up(Arc<Link>),
    /// Not to be had.
    Down { generation: u64, why: String },
}

#[derive(Debug)]
enum KeeperCommand {
    /// The client opens its conversation.
    Open { message: Message, id: Id, done: oneshot::Sender<()> },
    /// The client is ready; a repeated opening must say so too.
    Ready { message: Message },
    /// The link of that generation led nowhere.
    Lost { generation: u64 },
    /// The conversation is over.
    End { done: oneshot::Sender<()> },
}

/// A handle of the task.
#[derive(Debug, Clone)]
pub(super) struct Keeper {
    orders: mpsc::Sender<KeeperCommand>,
    state: watch::Receiver<LinkState>,
}

impl Keeper {
    /// Starts the task; it looks for the hub at once.
    pub(super) fn start(tracker: &TaskTracker, places: Places, caller: Connecting, out: Out) -> Self {
        let (orders, inbox) = mpsc::channel(64);
        let (publish, state) = watch::channel(LinkState::Seeking);
        let task =
            Keeping { places, caller, out, publish, generation: 0, opening: None, tracker: tracker.clone() };
        tracker.spawn(task.run(inbox));
        Self { orders, state }
    }

    /// Lets the client open its conversation; returns when the answer is written.
    pub(super) async fn open(&self, message: Message, id: Id) {
        let (done, opened) = oneshot::channel();
        let _ = self.orders.send(KeeperCommand::Open { message, id, done }).await;
        let _ = opened.await;
    }

    /// Remembers that the client is ready.
    pub(super) async fn ready(&self, message: Message) {
        let _ = self.orders.send(KeeperCommand::Ready { message }).await;
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let (done, ended) = oneshot::channel();
        let _ = self.orders.send(KeeperCommand::End { done }).await;
        let _ = ended.await;
    }

    /// A link to use; a new one where the link of generation `failed` led nowhere.
    pub(super) async fn link(&mut self, failed: Option<u64>) -> Result<Arc<Link>, String> {
        let failed = match (failed, &*self.state.borrow()) {
            (Some(failed), _) => Some(failed),
            // It was not to be had when somebody else tried; that may have changed.
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

/// What the client said first, to be repeated to every new hub.
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
                // Several requests notice the same loss; the first one is enough.
                KeeperCommand::Lost { generation } if generation == self.generation => self.seek().await,
                KeeperCommand::Lost { .. } => {}
                KeeperCommand::End { done } => {
                    self.farewell().await;
                    let _ = done.send(());
                }
            }
        }
    }

    /// Finds the hub and repeats the opening there.
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
        let fresh = Link { generation: self.generation, endpoint, session: None, revision: None };
        let Some(opening) = &self.opening else { return Ok(fresh) };
        let replay = replay(fresh, opening);
        tokio::time::timeout(REPLAY_TIME, replay)
            .await
            .unwrap_or_else(|_| Err("the hub did not reopen the session in time".into()))
    }

    /// The client's own opening: its answer goes to the client, and is remembered.
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
                    Outcome::Unknown(why) => return write(&self.out, &refused(id, why)).await,
                    Outcome::NotExecuted(why) => {
                        self.seek().await;
                        why
                    }
                },
                LinkState::Down { why, .. } => return write(&self.out, &refused(id, why)).await,
                LinkState::Seeking => continue,
            };
        }
        write(&self.out, &refused(id, format!("the hub keeps restarting: {why}"))).await;
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
        })));
    }

    /// Hears what the hub says unasked, for as long as the present link lasts.
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
            // The hub also ends sessions that say nothing for long.
            let _ = tokio::time::timeout(FAREWELL_TIME, ended).await;
        }
    }
}

/// Repeats an opening; its answers are ours.
async fn replay(fresh: Link, opening: &Opening) -> Result<Link, String> {
    let (nowhere, _) = mpsc::channel(1);
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

/// The revision that the answer to `initialize` names.
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

/// Listens until the hub is gone or has no such stream.
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
