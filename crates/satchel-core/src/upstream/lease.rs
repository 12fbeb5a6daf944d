//! A lease keeps a server awake while it is held. Dropping it starts the idle timer.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{
    actor::Mail,
    hold::Hold,
    lifecycle::{Event, Failure},
    link::Link,
};
use crate::model::snapshot::Phase;

/// A lease belongs to one generation of the server; what it reports after that generation ended counts for nothing.
#[derive(Debug)]
pub struct Lease {
    hold: Arc<Hold>,
    mail: mpsc::UnboundedSender<Mail>,
}

/// Why a server could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// The user switched it off.
    #[error("it is switched off")]
    Off,
    /// Only a person starts it, and none has.
    #[error("it is started by hand only, and is not running")]
    Manual,
    /// A person gave its start up.
    #[error("its start was cancelled")]
    GivenUp,
    /// It could not be started.
    #[error("{}", .0.message)]
    Failed(Failure),
    /// It failed before and is not tried again yet.
    #[error("{}; the next attempt is in {} s", .failure.message, .retry_seconds)]
    Waiting {
        /// Why it failed.
        failure: Failure,
        /// Until the next try.
        retry_seconds: u64,
    },
    /// It is being started, which takes longer than the call may wait; the start goes on.
    #[error("it is still {} after {seconds} s", match phase { Phase::Starting => "being started", Phase::Downloading => "being downloaded" })]
    StillStarting {
        /// What its start is doing.
        phase: Phase,
        /// For how long.
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

    /// The connection to call through.
    pub fn link(&self) -> &Link {
        &self.hold.link
    }

    /// Which start of the server it belongs to.
    pub fn generation(&self) -> u64 {
        self.hold.generation
    }

    /// The server answered a call: it works.
    pub fn prove(&self) {
        if self.hold.prove() {
            self.tell(Event::Proved { generation: self.generation() });
        }
    }

    /// A call had no answer in the time it had.
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
