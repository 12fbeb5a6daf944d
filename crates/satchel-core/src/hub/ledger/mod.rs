//! The ledger's way into the hub: who asks, what they were given, and what it took. Never in the way of a call: what is
//! told goes into a bounded queue, and what does not fit is counted as lost.
//!
//! Theory of operation: a [`Tally`] accompanies one call, however it goes, and speaks when its last handle is gone. One
//! task ([`task`]) owns the [`Recorder`](crate::stats::recorder::Recorder); it writes what came within a moment as one,
//! has texts counted by a process of its own, and ends after the last server did, within a bound.

mod calendar;
mod tally;
mod task;
mod wishes;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use satchel_mcp::{Raw, RawObject};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

pub use tally::Tally;
pub(super) use task::{Mail, run};

use super::{CallFailure, Failed, Hub, Running, Step, registry::Registered};
use crate::{
    catalog::Catalog,
    model::{
        ResourcePath, ServerName, ToolPath,
        ledger::{CallKind, LedgerView},
    },
    stats::{
        event::{Event, Offered, Offers, Visit},
        sharing::Measured,
        trace::CallSpan,
        trail::{Deed, Trail},
    },
    upstream::{Lease, LeaseError},
};

/// Events that wait to be written. More than any machine makes while one batch is written.
const QUEUE: usize = 16 * 1024;
/// Lists that clients could be given and that are remembered: there are few clients that do not see everything.
const OFFERS: usize = 8;
/// Spans that wait for a collector; more than that are dropped, and calls go on.
const SPANS: usize = 4 * 1024;

/// The hub's side of the ledger.
#[derive(Debug)]
pub(super) struct Ledger {
    mail: mpsc::Sender<Mail>,
    lost: Arc<AtomicU64>,
    sessions: AtomicU64,
    /// Where somebody collects traces.
    spans: OnceLock<mpsc::Sender<CallSpan>>,
    /// What clients could be given, the one asked for last first: clients do not all see the same.
    offers: Mutex<VecDeque<(Catalog, Vec<String>, Offers)>>,
    pub(super) view: Mutex<LedgerView>,
    /// Ends the task, after everything that might still have something to tell.
    pub(super) end: CancellationToken,
}

impl Ledger {
    pub(super) fn new() -> (Self, mpsc::Receiver<Mail>) {
        let (mail, received) = mpsc::channel(QUEUE);
        let ledger = Self {
            mail,
            lost: Arc::default(),
            sessions: AtomicU64::new(1),
            spans: OnceLock::new(),
            offers: Mutex::default(),
            view: Mutex::default(),
            end: CancellationToken::new(),
        };
        (ledger, received)
    }

    /// Where other rooms tell of their deeds.
    pub(super) fn trail(&self) -> Trail {
        let (mail, lost) = (self.mail.clone(), self.lost.clone());
        Trail(Arc::new(move |deed| tell(&mail, &lost, Event::Deed(deed))))
    }

    pub(super) fn did(&self, deed: Deed) {
        self.tell(Event::Deed(deed));
    }

    fn tell(&self, event: Event) {
        tell(&self.mail, &self.lost, event);
    }
}

fn tell(mail: &mpsc::Sender<Mail>, lost: &AtomicU64, event: Event) {
    if mail.try_send(Mail::Event(event)).is_err() {
        lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a program introduced itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Program<'a> {
    /// `clientInfo.name`.
    pub name: &'a str,
    /// `clientInfo.version`.
    pub version: &'a str,
}

impl Hub {
    /// A session of a client that begins with `initialize`.
    pub fn visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: &str,
        only: Option<&ServerName>,
    ) -> Arc<Visit> {
        let session = self.inner.ledger.sessions.fetch_add(1, Ordering::Relaxed);
        Arc::new(Visit { session: Some(session), ..self.stateless_visit(client, program, era, only) })
    }

    /// Who asks, in the revision without sessions.
    pub fn stateless_visit(
        &self,
        client: &str,
        program: Program<'_>,
        era: &str,
        only: Option<&ServerName>,
    ) -> Visit {
        let text = |text: &str| text.chars().take(100).collect::<String>();
        Visit {
            session: None,
            client: client.to_owned(),
            program: text(program.name),
            version: text(program.version),
            era: era.to_owned(),
            only: only.map(ToString::to_string).unwrap_or_default(),
            face: false,
        }
    }

    /// A client was given the hub's own list of tools: this array.
    pub fn listed(&self, visit: &Arc<Visit>, definitions: &str) {
        if self.is_recording() {
            let (visit, at_ms, offers) = (visit.clone(), crate::clock::now_ms(), self.offers_to(visit));
            self.inner.ledger.tell(Event::Listed { visit, at_ms, definitions: definitions.into(), offers });
        }
    }

    /// Servers ran, and clients shared them.
    pub(super) fn record_measured(&self, measured: Measured) {
        if self.is_recording() {
            self.inner.ledger.tell(Event::Measured(measured));
        }
    }

    /// Accompanies a call of a client, which wrote `request`: an object with a name and arguments. `None` where nothing
    /// is recorded.
    pub fn tally(&self, visit: &Arc<Visit>, kind: CallKind, tool: &str, request: &str) -> Option<Tally> {
        self.is_recording().then(|| Tally::begin(self, visit, kind, tool, request))
    }

    /// A handle whose calls are accompanied by this tally.
    #[must_use]
    pub fn tallied(&self, tally: Option<&Tally>) -> Self {
        Self { tally: tally.cloned(), ..self.clone() }
    }

    /// The calls from now on, for a collector of traces; servers are told of the hub's own spans then. `None` where
    /// somebody collects them already. Calls are traced only while they are recorded.
    pub fn spans(&self) -> Option<mpsc::Receiver<CallSpan>> {
        let (spans, received) = mpsc::channel(SPANS);
        self.inner.ledger.spans.set(spans).is_ok().then_some(received)
    }

    /// Where the configuration wants traces to go.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.inner.config.borrow().otlp_endpoint().map(ToOwned::to_owned)
    }

    /// The parameters as the server gets them: in a trace that is collected, with the call's own span.
    pub(super) fn in_trace(&self, mut params: RawObject) -> RawObject {
        let Some(traceparent) = self.tally.as_ref().and_then(Tally::traceparent) else { return params };
        let meta = params.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        // Strings always serialize.
        let _ = meta.put("traceparent", &traceparent);
        params.set("_meta", meta.to_raw());
        params
    }

    fn is_recording(&self) -> bool {
        self.inner.config.borrow().history().record
    }

    fn offers_to(&self, visit: &Visit) -> Offers {
        let all = self.offers_to_clients();
        if visit.only.is_empty() {
            return all;
        }
        // Of one server alone it would have been given that one's list.
        Arc::new(all.iter().filter(|offered| offered.server == visit.only).cloned().collect())
    }

    /// What clients could have been given directly, now. Made anew only when it changed.
    fn offers_to_clients(&self) -> Offers {
        let (catalog, config) = (self.catalog(), self.inner.config.borrow().clone());
        let enabled = config.servers().iter().filter(|(_, server)| server.enabled);
        let enabled: Vec<String> =
            enabled.map(|(name, _)| name.to_string()).filter(|name| self.shows(name)).collect();
        let mut known = self.inner.ledger.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |(of, names, _): &(Catalog, Vec<String>, Offers)| of.is_same(&catalog) && *names == enabled;
        if let Some((_, _, offers)) = known.iter().find(|known| is_it(known)) {
            return offers.clone();
        }
        let offers = enabled.iter().map(|server| {
            let offer = catalog.offer(server);
            let tools = |offer: &Arc<crate::catalog::Offer>| {
                offer.tools.iter().map(|tool| (tool.name.clone(), Arc::from(tool.raw.get()))).collect()
            };
            Offered { server: server.clone(), tools: offer.map(tools) }
        });
        let offers: Offers = Arc::new(offers.collect());
        known.push_front((catalog, enabled, offers.clone()));
        known.truncate(OFFERS);
        offers
    }

    pub(super) fn tell_route(&self, path: &ToolPath, arguments: Option<&Raw>, server: &Registered) {
        self.tally.iter().for_each(|tally| tally.routed(path, arguments, server));
    }

    /// The rule that decides about it, and for how long a person was asked.
    pub(super) fn tell_rule(&self, rule: &str, waited: Option<Duration>) {
        self.tally.iter().for_each(|tally| tally.decided(rule, waited));
    }

    pub(super) fn tell_resource(&self, path: &ResourcePath) {
        self.tally.iter().for_each(|tally| tally.routed_to_resource(path));
    }

    pub(super) fn tell_refusal(&self, begun: &Result<Running, CallFailure>) {
        if let Err(failure) = begun {
            self.tell_failure(failure);
        }
    }

    /// A call was refused before it was one.
    pub fn tell_failure(&self, failure: &CallFailure) {
        self.did_deny(failure);
        self.tally.iter().for_each(|tally| tally.failed(failure));
    }

    /// A question of the server was answered after so long.
    pub(super) fn tell_wait(&self, waited: Duration) {
        self.tally.iter().for_each(|tally| tally.waited(waited));
    }

    pub(super) fn tell_step(&self, step: &Step) {
        if let Step::End(Err(Failed::Hub(failure))) = step {
            self.did_deny(failure);
        }
        let Some(tally) = &self.tally else { return };
        tally.step(step);
        if let Some((visit, tool)) = tally.used() {
            self.tell_used(&visit, &tool);
        }
    }

    /// A lease, and how long it took. A start that takes longer than a call may wait goes on without it.
    pub(super) async fn lease_of(&self, registered: &Registered) -> Result<Lease, LeaseError> {
        let awake = registered.upstream.seen().connected.is_some();
        let asked = Instant::now();
        // A little less than the client waits, so that it gets to read why.
        let wait = registered.config.request_timeout.mul_f64(5.0 / 6.0);
        let leased = match tokio::time::timeout(wait, registered.upstream.lease()).await {
            Ok(leased) => leased,
            Err(_) => Err(LeaseError::StillStarting {
                phase: registered.upstream.seen().phase,
                seconds: asked.elapsed().as_secs(),
            }),
        };
        if let Some(tally) = &self.tally {
            let connected = registered.upstream.seen().connected;
            let era = connected.map(|(_, hello)| hello.revision.clone());
            tally.leased(awake, asked.elapsed(), era, leased.is_ok());
        }
        leased
    }
}
