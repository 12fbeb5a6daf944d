//! The handle to a server: leases it, shows its state, and sends what people and the hub want of it to its task.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    connect::Connection,
    dirty::Dirty,
    handshake::Hello,
    hold::Gate,
    lease::{Lease, LeaseError},
    lifecycle::{Event, Failure, State},
    link::Link,
    log::ServerLog,
};
use crate::model::{
    ServerConfig,
    snapshot::{LastFailure, Phase},
};

/// The visible state of an upstream.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its state.
    pub state: State,
    /// When it goes to sleep if it stays unused.
    pub sleeps_at: Option<Instant>,
    /// The phase of its start.
    pub phase: Phase,
    /// Its last failure, until it works again or a person dismisses it.
    pub last_failure: Option<LastFailure>,
    /// Consecutive failed starts.
    pub failures: u32,
    /// Its process id.
    pub pid: Option<u32>,
    /// Number of starts.
    pub starts: u64,
    /// Number of starts after a failure.
    pub restarts: u64,
    /// Durations of its last cold starts.
    pub wakes: Vec<Duration>,
    /// The connection and the handshake's result, while connected.
    pub connected: Option<(Link, Arc<Hello>)>,
    pub(super) gate: Arc<Gate>,
}

impl Seen {
    /// Number of leases: calls and whatever else keeps it running.
    pub fn leases(&self) -> usize {
        self.gate.leases()
    }
}

/// A handle to one server. Cheap to clone; dropping the last handle stops the server.
#[derive(Debug, Clone)]
pub struct Upstream {
    pub(super) mail: mpsc::UnboundedSender<Mail>,
    pub(super) seen: watch::Receiver<Seen>,
    pub(super) dirty: Arc<Dirty>,
    pub(super) log: ServerLog,
    pub(super) watched: Arc<watch::Sender<BTreeSet<String>>>,
    pub(super) gate: Arc<Gate>,
}

/// A message to the task.
#[derive(Debug)]
pub(super) enum Mail {
    Happened(Event),
    Lease(oneshot::Sender<Result<Lease, LeaseError>>),
    Started(u64, Box<(Connection, Hello)>),
    Configured(Box<ServerConfig>),
    /// The phase of this generation's start.
    Phase(u64, Phase),
    /// Leases of this generation were taken or returned, after a quiet period.
    Used(u64),
    /// Its lists were read, or failed.
    ListsRead(Result<(), Failure>),
    Dismissed,
    Close(oneshot::Sender<()>),
}

impl Upstream {
    /// Leases the server, starting it if necessary. Concurrent callers share one start.
    pub async fn lease(&self) -> Result<Lease, LeaseError> {
        if let Some(lease) = self.gate.enter(&self.mail) {
            return Ok(lease);
        }
        self.ask().await.map_err(|_| LeaseError::Closing)?
    }

    /// The same without waiting. The channel closes if the hub stops.
    pub fn ask(&self) -> oneshot::Receiver<Result<Lease, LeaseError>> {
        let (answer, granted) = oneshot::channel();
        // If the receiver is gone, so is the lease.
        let _ = self.mail.send(Mail::Lease(answer));
        granted
    }

    /// Its state.
    pub fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// The connection and what the server said of itself, while connected.
    pub fn connected(&self) -> Option<(Link, Arc<Hello>)> {
        self.seen.borrow().connected.clone()
    }

    /// Is it connected?
    pub fn is_connected(&self) -> bool {
        self.seen.borrow().connected.is_some()
    }

    /// Subscribes to its state.
    pub fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.clone()
    }

    /// The watched resources. The server is told when it runs.
    pub fn watched(&self) -> &watch::Sender<BTreeSet<String>> {
        &self.watched
    }

    /// Which of its lists are out of date.
    pub fn dirty(&self) -> &Arc<Dirty> {
        &self.dirty
    }

    /// Its log.
    pub fn log(&self) -> &ServerLog {
        &self.log
    }

    /// Applies a new configuration. A changed transport takes effect at the next start.
    pub fn configure(&self, config: ServerConfig) {
        let _ = self.mail.send(Mail::Configured(Box::new(config)));
    }

    /// A person starts or restarts it.
    pub fn restart(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Restart));
    }

    /// A person puts it to sleep, or cancels its start. Calls in flight are finished.
    pub fn rest(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Rest));
    }

    /// Its lists were read on the present connection, or failed.
    pub fn lists_read(&self, read: Result<(), Failure>) {
        let _ = self.mail.send(Mail::ListsRead(read));
    }

    /// A person dismisses its last failure.
    pub fn dismiss(&self) {
        let _ = self.mail.send(Mail::Dismissed);
    }

    /// Credentials changed.
    pub fn renew(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Renewed));
    }

    /// Stops it for good, and waits until it is gone.
    pub async fn close(&self) {
        let (answer, closed) = oneshot::channel();
        if self.mail.send(Mail::Close(answer)).is_ok() {
            let _ = closed.await;
        }
    }
}
