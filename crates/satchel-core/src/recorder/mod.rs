//! Records what happens: calls, tool lists given to clients, the audit log, and what searches teach.
//!
//! Theory of operation: events go into a bounded queue and never delay a call; events that do not fit are counted as
//! lost. An [`Observer`] collects the facts of one call and queues its record when the last handle is dropped. One task
//! ([`task`]) owns the [`Store`](crate::stats::store::Store): it batches writes, has texts counted by a separate
//! process, and ends last, within a bound. [`Recorder::health`] reports the state of the store; the room does not know
//! who shows it.

mod calendar;
mod events;
mod learning;
mod observer;
mod outbox;
mod readable;
mod reading;
mod refusals;
mod task;
#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use events::Events;
pub use observer::{CallTrouble, Observer};

use crate::{
    catalog::{Catalog, Offer},
    clients::seen::defers_tools,
    clock::now_ms,
    config::Config,
    files::Places,
    model::{
        ServerName,
        audit::AuditKind,
        ledger::{CallKind, LedgerView},
    },
    stats::{
        StoreError,
        audit::{AuditEvent, AuditSink},
        definitions::Definitions,
        event::{Event, Offered, Offers, Visit},
        sharing::Measured,
        trace::CallSpan,
    },
    trust::clean,
};
use learning::Learning;
use outbox::{Outbox, Weight};
use refusals::Refusals;

/// Capacity of the queue of requests to the task.
const ASKED: usize = 64;
/// Capacity of the queue of spans for the collector; further ones are dropped without delaying calls.
const SPANS: usize = 4 * 1024;
/// Maximum wait until earlier events are written or counted.
const FLUSHING: Duration = Duration::from_secs(20);
/// Maximum length of a client's self-description, in characters.
const PROGRAM: usize = 100;

/// Options for opening the recorder.
#[derive(Debug)]
pub struct Settings {
    /// Where its files are.
    pub places: Places,
    /// The path of this program, which counts tokens in a separate process.
    pub own_program: PathBuf,
    /// For a single command: counts and deletes nothing on its own.
    pub passive: bool,
    /// The configuration in effect.
    pub config: watch::Receiver<Arc<Config>>,
    /// Limits token counting to one process at a time.
    pub counting: Arc<Semaphore>,
}

/// The health of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// The path to which the last damaged file was moved.
    pub damaged: Option<PathBuf>,
    /// Why calls are not recorded.
    pub unusable: Option<String>,
    /// Increases with every change of [`Recorder::view`].
    pub views: u64,
}

/// A handle to the recorder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    outbox: Outbox,
    asked: mpsc::Sender<Order>,
    sessions: AtomicU64,
    /// The span queue, if a collector is attached.
    spans: OnceLock<mpsc::Sender<CallSpan>>,
    view: Mutex<LedgerView>,
    health: watch::Sender<Health>,
    worked: watch::Sender<()>,
    door: Refusals,
    learning: Learning,
    events: Events,
    /// Ends the task, after everything that may still report.
    end: CancellationToken,
}

/// The queues that [`Recorder::run`] reads.
#[derive(Debug)]
pub struct Mailbox {
    events: mpsc::Receiver<(Event, Weight)>,
    asked: mpsc::Receiver<Order>,
}

/// A request to the task, which applies after all earlier events.
#[derive(Debug)]
enum Order {
    /// Write and count, then reply.
    Flush(oneshot::Sender<()>),
    /// Write, then reply.
    Write(oneshot::Sender<()>),
    /// Delete the history, and totals if set.
    Delete(bool, oneshot::Sender<Result<(), StoreError>>),
}

/// A client program's self-description.
#[derive(Debug, Clone, Copy, Default)]
pub struct Program<'a> {
    /// `clientInfo.name`.
    pub name: &'a str,
    /// `clientInfo.version`.
    pub version: &'a str,
}

/// A visit in the revision without sessions. `only`: the server whose own endpoint it uses.
pub fn visit(client: &str, program: Program<'_>, era: &str, only: Option<&ServerName>) -> Visit {
    let cut = |text: &str| text.chars().take(PROGRAM).collect::<String>();
    Visit {
        session: None,
        client: client.to_owned(),
        program: cut(program.name),
        version: cut(program.version),
        era: era.to_owned(),
        only: only.map(ToString::to_string).unwrap_or_default(),
        profile: String::new(),
        face: false,
        defers: defers_tools(program.name, program.version),
    }
}

/// The tool lists that a client could have received directly from these servers.
pub fn offers(catalog: &Catalog, servers: impl Iterator<Item = String>) -> Offers {
    let offered = |server: String| {
        let tools = |offer: &Arc<Offer>| {
            offer.tools.iter().map(|tool| (tool.name.clone(), Arc::from(tool.raw.get()))).collect()
        };
        Offered { tools: catalog.offer(&server).map(tools), server }
    };
    Arc::new(servers.map(offered).collect())
}

impl Recorder {
    /// Creates a recorder, its queues, and a message if the learned data was damaged. Nothing is written until
    /// [`Self::run`] is polled.
    pub fn open(settings: Settings) -> (Self, Mailbox, Option<String>) {
        let ((outbox, events), (asks, asked)) = (Outbox::new(), mpsc::channel(ASKED));
        let (learning, trouble) = Learning::open(&settings.places.data);
        let recorder = Self(Arc::new(Shared {
            settings,
            outbox,
            asked: asks,
            sessions: AtomicU64::new(1),
            spans: OnceLock::new(),
            view: Mutex::default(),
            health: watch::Sender::default(),
            worked: watch::Sender::default(),
            door: Refusals::default(),
            learning,
            events: Events::default(),
            end: CancellationToken::new(),
        }));
        (recorder, Mailbox { events, asked }, trouble)
    }

    /// Writes events until [`Self::end`].
    pub async fn run(self, mailbox: Mailbox) {
        task::run(self, mailbox).await;
    }

    /// Ends the task after everything received is written.
    pub fn end(&self) {
        self.0.end.cancel();
    }

    /// Subscribes to signs of work: something other than a measurement was recorded, which comes all the time while servers run.
    pub fn worked(&self) -> watch::Receiver<()> {
        self.0.worked.subscribe()
    }

    /// Subscribes to the store's health.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.0.health.subscribe()
    }

    /// The live events.
    pub fn events(&self) -> &Events {
        &self.0.events
    }

    /// The sink through which other rooms write audit records.
    pub fn audit(&self) -> AuditSink {
        let outbox = self.0.outbox.clone();
        AuditSink(Arc::new(move |event| outbox.tell(Event::Audit(event))))
    }

    /// Writes an audit record. Hidden characters in names are escaped.
    pub fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        let (who, subject, detail) = (clean::visible(who), clean::visible(subject), detail.into());
        self.tell(Event::Audit(AuditEvent { at_ms: now_ms(), kind, who, subject, detail }));
    }

    /// Records a rejected request. In a flood, the first ones get a record each and the rest are counted. Returns the
    /// number of records written.
    pub fn turned_away(&self, who: &str, why: &str, path: &str) -> usize {
        let (told, more) = self.0.door.one_more(Instant::now());
        if more > 0 {
            let detail = format!("{more} more requests were turned away in the minute before");
            self.did(AuditKind::Denied, "", "", detail);
        }
        if told {
            self.did(AuditKind::Denied, who, path, why);
        }
        usize::from(more > 0) + usize::from(told)
    }

    /// Reports the rejected requests that were only counted, at shutdown.
    pub fn close_door(&self) {
        let more = self.0.door.rest();
        if more > 0 {
            self.did(AuditKind::Denied, "", "", format!("{more} more requests were turned away"));
        }
    }

    /// A number for a new session.
    pub fn session(&self) -> u64 {
        self.0.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Records that a client received the hub's own tool list instead of `offers`.
    pub fn listed(
        &self,
        visit: &Arc<Visit>,
        definitions: impl FnOnce() -> Option<Arc<Definitions>>,
        offers: impl FnOnce() -> Offers,
    ) {
        if self.is_recording()
            && let Some(definitions) = definitions()
        {
            let (visit, at_ms, offers) = (visit.clone(), now_ms(), offers());
            self.tell(Event::Listed { visit, at_ms, definitions, offers });
        }
    }

    /// Records a measurement of running servers and their clients.
    pub fn measured(&self, measured: Measured) {
        if self.is_recording() {
            self.tell(Event::Measured(measured));
        }
    }

    /// Observes a client's call; `request` is an object with name and arguments, as the client wrote it. The observer
    /// does nothing if recording is off.
    pub fn observe(
        &self,
        visit: &Arc<Visit>,
        kind: CallKind,
        tool: &str,
        request: &str,
        offers: impl FnOnce() -> Offers,
    ) -> Observer {
        match self.is_recording() {
            true => Observer::begin(self, visit, kind, tool, request, offers()),
            false => Observer::default(),
        }
    }

    /// Attaches a collector of traces: returns the spans of calls from now on, and makes the hub send its own spans to
    /// servers. `None` if one is already attached. Calls are traced only while they are recorded.
    pub fn spans(&self) -> Option<mpsc::Receiver<CallSpan>> {
        let (spans, received) = mpsc::channel(SPANS);
        self.0.spans.set(spans).is_ok().then_some(received)
    }

    /// Is recording enabled in the configuration?
    pub fn is_recording(&self) -> bool {
        self.0.settings.config.borrow().history().record
    }

    fn tell(&self, event: Event) {
        self.0.outbox.tell(event);
    }
}
