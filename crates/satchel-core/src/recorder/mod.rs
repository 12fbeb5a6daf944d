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
mod reading;
mod refusals;
mod task;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use events::Events;
pub use observer::Observer;

use crate::{
    catalog::{Catalog, Offer},
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

/// Requests to the task that wait for their turn.
const ASKED: usize = 64;
/// Spans that wait for a collector; more than that are dropped, and calls go on.
const SPANS: usize = 4 * 1024;
/// How long whoever needs what came just before waits for it to be written or counted.
const FLUSHING: Duration = Duration::from_secs(20);
/// A client's own words about itself are cut after so many characters.
const PROGRAM: usize = 100;

/// What the recorder is opened with.
#[derive(Debug)]
pub struct Settings {
    /// Where its files are.
    pub places: Places,
    /// Our own program, which counts tokens in a process of its own.
    pub own_program: PathBuf,
    /// For one command: nothing is counted or deleted by itself.
    pub passive: bool,
    /// The configuration in force.
    pub config: watch::Receiver<Arc<Config>>,
    /// Whoever counts takes a turn: each counting process loads the whole encoding.
    pub counting: Arc<Semaphore>,
}

/// How the store is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// The file that was damaged last, where it was set aside.
    pub damaged: Option<PathBuf>,
    /// Why calls are not recorded.
    pub unusable: Option<String>,
    /// Counts the changes of [`Recorder::view`].
    pub views: u64,
}

/// The handle of the recorder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: Settings,
    outbox: Outbox,
    asked: mpsc::Sender<Order>,
    sessions: AtomicU64,
    /// Where somebody collects traces.
    spans: OnceLock<mpsc::Sender<CallSpan>>,
    view: Mutex<LedgerView>,
    health: watch::Sender<Health>,
    door: Refusals,
    learning: Learning,
    events: Events,
    /// Ends the task, after everything that might still have something to tell.
    end: CancellationToken,
}

/// What waits to be recorded, for the task that [`Recorder::run`] is.
#[derive(Debug)]
pub struct Mailbox {
    events: mpsc::Receiver<(Event, Weight)>,
    asked: mpsc::Receiver<Order>,
}

/// What the task is asked to do, with everything that came before.
#[derive(Debug)]
enum Order {
    /// Write and count it, then answer.
    Flush(oneshot::Sender<()>),
    /// Write it, then answer.
    Write(oneshot::Sender<()>),
    /// Delete the history, and the sums too where it says so.
    Delete(bool, oneshot::Sender<Result<(), StoreError>>),
}

/// How a program introduced itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Program<'a> {
    /// `clientInfo.name`.
    pub name: &'a str,
    /// `clientInfo.version`.
    pub version: &'a str,
}

/// Who asks, in the revision without sessions. `only`: the one server whose own address it uses.
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
    }
}

/// What a client could have been given directly of these servers.
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
    /// A recorder, what its task reads, and what was wrong with the file of what was learned. Nothing is written before
    /// [`Self::run`] is driven.
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
            door: Refusals::default(),
            learning,
            events: Events::default(),
            end: CancellationToken::new(),
        }));
        (recorder, Mailbox { events, asked }, trouble)
    }

    /// Writes what comes, until [`Self::end`].
    pub async fn run(self, mailbox: Mailbox) {
        task::run(self, mailbox).await;
    }

    /// Nothing more will come: what came is written, and the task ends.
    pub fn end(&self) {
        self.0.end.cancel();
    }

    /// Follows how the store is doing.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.0.health.subscribe()
    }

    /// What happens, for whoever listens.
    pub fn events(&self) -> &Events {
        &self.0.events
    }

    /// Where other rooms tell the audit log of their events.
    pub fn audit(&self) -> AuditSink {
        let outbox = self.0.outbox.clone();
        AuditSink(Arc::new(move |event| outbox.tell(Event::Audit(event))))
    }

    /// A record for the audit log. Hidden characters of names are written out.
    pub fn did(&self, kind: AuditKind, who: &str, subject: &str, detail: impl Into<String>) {
        let (who, subject, detail) = (clean::visible(who), clean::visible(subject), detail.into());
        self.tell(Event::Audit(AuditEvent { at_ms: now_ms(), kind, who, subject, detail }));
    }

    /// A request was turned away at the door. Of a flood the first ones have a record each, the others are counted.
    /// Answers how many records that made.
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

    /// Nobody knocks any more: what was only counted is told.
    pub fn close_door(&self) {
        let more = self.0.door.rest();
        if more > 0 {
            self.did(AuditKind::Denied, "", "", format!("{more} more requests were turned away"));
        }
    }

    /// A number for a session that begins.
    pub fn session(&self) -> u64 {
        self.0.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// A client was given the hub's own list of tools, and could have been given `offers`.
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

    /// Servers ran, and clients shared them.
    pub fn measured(&self, measured: Measured) {
        if self.is_recording() {
            self.tell(Event::Measured(measured));
        }
    }

    /// Observes a call of a client, which wrote `request`: an object with a name and arguments. The observer is silent
    /// where nothing is recorded.
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

    /// The calls from now on, for a collector of traces; servers are told of the hub's own spans then. `None` where
    /// somebody collects them already. Calls are traced only while they are recorded.
    pub fn spans(&self) -> Option<mpsc::Receiver<CallSpan>> {
        let (spans, received) = mpsc::channel(SPANS);
        self.0.spans.set(spans).is_ok().then_some(received)
    }

    /// Does the configuration want calls recorded?
    pub fn is_recording(&self) -> bool {
        self.0.settings.config.borrow().history().record
    }

    fn tell(&self, event: Event) {
        self.0.outbox.tell(event);
    }
}
