//! A lease keeps a server awake while it is held. Dropping it starts the idle timer.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{
    handle::Mail,
    hold::Hold,
    lifecycle::{Event, Failure},
    link::Link,
};
use crate::model::snapshot::Phase;

/// A permit to use a server. It belongs to one generation; reports after that generation ended are ignored.
#[derive(Debug)]
pub struct Lease {
    hold: Arc<Hold>,
    mail: mpsc::UnboundedSender<Mail>,
}

/// When a server last began with nothing open: a start, or a new session of a server that had forgotten the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Beginning {
    generation: u64,
    renewals: u64,
}

/// Why a server is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// The user switched it off.
    #[error("it is switched off")]
    Off,
    /// Only a person starts it, and it is not running.
    #[error("it is started by hand only, and is not running")]
    Manual,
    /// A person cancelled its start.
    #[error("its start was cancelled")]
    GivenUp,
    /// It failed to start.
    #[error("{}", .0.message)]
    Failed(Failure),
    /// It failed before, and cannot be tried again yet.
    #[error("{}; it can be tried again in {} s", .failure.message, .retry_seconds)]
    Waiting {
        /// The failure.
        failure: Failure,
        /// Seconds until a call tries it again.
        retry_seconds: u64,
    },
    /// Its start takes longer than the call may wait, and continues.
    #[error("it is still {} after {seconds} s", match phase { Phase::Starting => "being started", Phase::Downloading => "being downloaded" })]
    StillStarting {
        /// The phase of the start.
        phase: Phase,
        /// How long the call waited.
        seconds: u64,
    },
    /// The hub is stopping.
    #[error("the hub is shutting down")]
    Closing,
}

impl Lease {
    pub(super) fn new(hold: Arc<Hold>, mail: mpsc::UnboundedSender<Mail>) -> Self {
        Self { hold, mail }
    }

    /// The connection.
    pub fn link(&self) -> &Link {
        &self.hold.link
    }

    /// The generation of the server that it belongs to.
    pub fn generation(&self) -> u64 {
        self.hold.generation
    }

    /// How far the server has come: this grows whenever what callers had open in it is lost.
    pub fn beginning(&self) -> Beginning {
        Beginning { generation: self.generation(), renewals: self.link().renewals() }
    }

    /// Records that the server answered a call.
    pub fn prove(&self) {
        if self.hold.prove() {
            self.tell(Event::Proved { generation: self.generation() });
        }
    }

    /// Records that a call timed out.
    pub fn timed_out(&self) {
        self.hold.doubt();
        let alone = self.link().in_flight() == 0;
        self.tell(Event::TimedOut { generation: self.generation(), alone });
    }

    fn tell(&self, event: Event) {
        // The task may be gone; then nobody counts any more.
        let _ = self.mail.send(Mail::Happened(event));
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.hold.leave(&self.mail);
    }
}
