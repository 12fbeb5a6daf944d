//! The task of one upstream: carries out what its lifecycle decides and publishes its state.
//!
//! Theory of operation: the handle ([`Upstream`]) sends mail; the task owns the lifecycle, the connection and the
//! waiting callers. It sleeps until mail comes or the lifecycle's deadline. Starting and stopping run in tasks of
//! their own and report by mail, so the mailbox never waits for a process. When every handle is gone the task ends
//! the connection and itself.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use satchel_mcp::Raw;
use satchel_reaper::watchdog::Orphan;

use super::{
    activity::{self, Launcher},
    connect::{Connection, Signs, batch, http, sse, stdio},
    container::{self, Engines, Inhabitant, Inside},
    dirty::Dirty,
    ending::Ending,
    environment::{self, Located, SearchPath},
    fill::fill,
    handshake::{self, Hello, failure},
    hold::{Gate, HoldUse},
    lease::{Lease, LeaseError},
    lifecycle::{Effect, Event, Failure, Lifecycle, Policy, Refusal, State, TIMEOUTS},
    link::{EndReason, Link, OnChange},
    log::ServerLog,
    oauth::{account::Credential, accounts::Accounts},
    preflight::Preflight,
    sandbox::SandboxPlan,
    setup::setup_of,
    watchdog::{MARK, Watchdog},
};
use crate::{
    clock::now_ms,
    config::file::OWN_COMMAND,
    files::{self, Places},
    model::{
        Code, ServerConfig, ServerName, TransportConfig,
        audit::AuditKind,
        cause::{FailureCause, Reach, SandboxFault},
        server::{ContainerSandbox, Era, Sandbox},
        snapshot::{During, LastFailure, Phase},
    },
    platform::{Environment, Platform},
    secrets::Secrets,
    stats::audit::{AuditEvent, AuditSink},
    tasks::{Panicked, caught, may_fail_here},
};

/// Timeout of a launcher's start while it downloads and produces output.
const DOWNLOAD: Duration = Duration::from_secs(600);
/// The same without output, as long as its processes make progress.
const SILENT_DOWNLOAD: Duration = Duration::from_secs(300);
/// Interval of sampling its processes.
const LOOKING: Duration = Duration::from_secs(2);
/// A start that takes longer than this is taken for a download.
const NOT_DOWNLOADED: Duration = Duration::from_secs(2);
/// A server that exits this soon after it was ready has failed. One that ran longer restarts on the next call without
/// notice.
const EARLY_END: Duration = Duration::from_secs(60);
/// How long an unknown server may take to reject `server/discover`, before `initialize` is tried.
const PROBE: Duration = Duration::from_secs(10);
/// Interval of checking whether a server is still in use.
const LOOK: Duration = Duration::from_millis(250);
/// Number of cold starts in the median.
const WAKES_KEPT: usize = 20;
/// Number of output lines searched for messages about a download.
const TAIL: usize = 20;

/// State shared by all upstreams of a hub.
#[derive(Debug)]
pub struct Surroundings {
    /// The directories, for logs.
    pub places: Places,
    /// The secret store.
    pub secrets: Secrets,
    /// The sign-ins.
    pub accounts: Accounts,
    /// The program to start where the configuration says `satchel`.
    pub own_program: PathBuf,
    /// Knows every process.
    pub watchdog: Watchdog,
    /// The hub's own environment at its start.
    pub environment: Environment,
    /// Where programs are searched.
    pub search_path: SearchPath,
    /// What runs containers.
    pub engines: Engines,
    /// Shutdown waits for its tasks.
    pub tracker: TaskTracker,
    /// Whether the hub is shutting down.
    pub ending: Ending,
    /// Server notifications that belong to no call. A slow receiver misses the oldest.
    pub notifications: broadcast::Sender<ServerNotification>,
    /// Records every start and every secret that is read.
    pub audit: AuditSink,
}

/// A server notification that belongs to no call.
#[derive(Debug, Clone)]
pub struct ServerNotification {
    /// The server.
    pub server: ServerName,
    /// Its method.
    pub method: Arc<str>,
    /// Its parameters, unchanged.
    pub params: Option<Arc<str>>,
}

#[derive(Debug)]
struct Ears {
    server: ServerName,
    dirty: Arc<Dirty>,
    notifications: broadcast::Sender<ServerNotification>,
}

impl OnChange for Ears {
    fn list_changed(&self, list: &str) {
        self.dirty.tell(Dirty::bit(list));
    }

    fn told(&self, method: &str, params: Option<&Raw>) {
        let params = params.map(|params| params.get().into());
        // There may be no receiver.
        let _ = self.notifications.send(ServerNotification {
            server: self.server.clone(),
            method: method.into(),
            params,
        });
    }
}

/// How a server was reached last time, so that it is not probed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `server/discover` and stateless requests.
    Modern,
    /// `initialize` and a session.
    Legacy,
    /// `initialize` over HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// An address may support a newer revision later; a process does so only if the program changes.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

type Remembered = Arc<Mutex<Option<(Way, Instant)>>>;

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
    gate: Arc<Gate>,
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
    mail: mpsc::UnboundedSender<Mail>,
    seen: watch::Receiver<Seen>,
    dirty: Arc<Dirty>,
    log: ServerLog,
    watched: Arc<watch::Sender<BTreeSet<String>>>,
    gate: Arc<Gate>,
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
    /// Starts the task. `number` is unique in this run of the hub; `last_failure` comes from the previous run.
    pub fn new(
        name: ServerName,
        number: u64,
        config: ServerConfig,
        preflight: Preflight,
        last_failure: Option<LastFailure>,
        around: Arc<Surroundings>,
    ) -> Self {
        // Unbounded: dropping a lease must not wait. All other messages are one per caller, and callers are bounded.
        let (mail, mailbox) = mpsc::unbounded_channel();
        let lifecycle = Lifecycle::new(policy_of(&config), number);
        let gate = Arc::<Gate>::default();
        let log = ServerLog::at(&around.places.server_log(name.as_str()));
        let (seen_out, seen) = watch::channel(Seen {
            state: lifecycle.state().clone(),
            sleeps_at: None,
            phase: Phase::Starting,
            last_failure: last_failure.clone(),
            failures: 0,
            pid: None,
            starts: 0,
            restarts: 0,
            wakes: vec![],
            connected: None,
            gate: gate.clone(),
        });
        let dirty = Arc::new(Dirty::default());
        let (watched, watched_in) = watch::channel(BTreeSet::new());
        let actor = Actor {
            number,
            name,
            way: Remembered::default(),
            config,
            preflight,
            lifecycle,
            phase: Phase::Starting,
            last_failure,
            around: around.clone(),
            mail: mail.downgrade(),
            seen: seen_out,
            dirty: dirty.clone(),
            log: log.clone(),
            waiters: vec![],
            connecting: None,
            connection: None,
            closing: vec![],
            wakes: vec![],
            wanted_updates: watched_in,
            gate: gate.clone(),
            granted: 0,
            look_at: None,
            shown: 0,
        };
        around.tracker.spawn(actor.live(mailbox));
        Self { mail, seen, dirty, log, watched: Arc::new(watched), gate }
    }

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

fn policy_of(config: &ServerConfig) -> Policy {
    Policy { enabled: config.enabled, startup: config.startup, idle_timeout: config.idle_timeout }
}

struct Live {
    generation: u64,
    connection: Connection,
    hello: Arc<Hello>,
}

struct Actor {
    number: u64,
    name: ServerName,
    way: Remembered,
    config: ServerConfig,
    preflight: Preflight,
    lifecycle: Lifecycle,
    phase: Phase,
    last_failure: Option<LastFailure>,
    around: Arc<Surroundings>,
    mail: mpsc::WeakUnboundedSender<Mail>,
    seen: watch::Sender<Seen>,
    dirty: Arc<Dirty>,
    log: ServerLog,
    waiters: Vec<oneshot::Sender<Result<Lease, LeaseError>>>,
    connecting: Option<(u64, CancellationToken, Instant)>,
    connection: Option<Live>,
    closing: Vec<oneshot::Sender<()>>,
    wakes: Vec<Duration>,
    wanted_updates: watch::Receiver<BTreeSet<String>>,
    gate: Arc<Gate>,
    /// Number of leases the lifecycle assumes while the gate is open.
    granted: usize,
    /// When to check whether the server is still in use.
    look_at: Option<Instant>,
    /// Number of leases when it was last published.
    shown: usize,
}

impl Actor {
    async fn live(mut self, mut mailbox: mpsc::UnboundedReceiver<Mail>) {
        while caught(self.run(&mut mailbox)).await.is_err() {
            tracing::error!(server = %self.name, "what looks after a server failed and begins afresh");
            self.begin_afresh().await;
        }
        self.finish().await;
    }

    /// Resets after a panic: nothing runs any more, and waiting callers get an error.
    async fn begin_afresh(&mut self) {
        let told = failure(Code::Crashed, Panicked.to_string());
        self.log.hub(&told.message);
        for waiter in self.waiters.drain(..) {
            let _ = waiter.send(Err(LeaseError::Failed(told.clone())));
        }
        if let Some((_, cancel, _)) = self.connecting.take() {
            cancel.cancel();
        }
        if let Some(live) = self.connection.take() {
            live.connection.stop().await;
        }
        self.shut();
        self.lifecycle = self.lifecycle.afresh();
    }

    async fn run(&mut self, mailbox: &mut mpsc::UnboundedReceiver<Mail>) {
        let policy = policy_of(&self.config);
        let enabled = policy.enabled && self.closing.is_empty();
        self.handle(Event::Policy(Policy { enabled, ..policy }));
        while self.closing.is_empty() || *self.lifecycle.state() != State::Off {
            let deadline = self.lifecycle.deadline();
            let mail = tokio::select! {
                mail = mailbox.recv() => mail,
                () = sleep_until(deadline) => Some(Mail::Happened(Event::Timer)),
                () = sleep_until(self.look_at) => {
                    self.look();
                    continue;
                }
            };
            match mail {
                Some(mail) => self.take(mail),
                // Every handle is gone, so nobody can use it any more.
                None => return,
            }
        }
    }

    async fn finish(mut self) {
        if let Some((_, cancel, _)) = self.connecting.take() {
            cancel.cancel();
        }
        if let Some(live) = self.connection.take() {
            live.connection.stop().await;
        }
        for closed in self.closing.drain(..) {
            let _ = closed.send(());
        }
    }

    fn take(&mut self, mail: Mail) {
        may_fail_here("server");
        match mail {
            Mail::Happened(event) => {
                let is_of_a_call = matches!(event, Event::Proved { .. } | Event::TimedOut { .. });
                if !is_of_a_call {
                    self.settle();
                }
                self.handle(event);
            }
            Mail::Used(generation) if generation == self.lifecycle.generation() => self.look(),
            // Of an earlier generation.
            Mail::Used(_) => {}
            Mail::Lease(waiter) => {
                self.waiters.push(waiter);
                self.handle(Event::Wanted);
            }
            Mail::Started(generation, started) => self.started(generation, *started),
            Mail::Configured(config) => {
                self.settle();
                self.config = *config;
                self.handle(Event::Policy(policy_of(&self.config)));
            }
            Mail::Phase(generation, phase) if generation == self.lifecycle.generation() => {
                self.phase = phase;
                self.publish();
            }
            // Of an earlier start.
            Mail::Phase(..) => {}
            Mail::ListsRead(read) => {
                match read {
                    Ok(()) => self.last_failure = None,
                    // Connected, but unusable until someone signs in.
                    Err(failure) if failure.code.is_sign_in() => {
                        self.handle(Event::Ended(self.lifecycle.generation(), failure));
                    }
                    Err(failure) => self.remember(During::Lists, failure),
                }
                self.publish();
            }
            Mail::Dismissed => {
                self.last_failure = None;
                self.handle(Event::Dismissed);
            }
            Mail::Close(closed) => {
                self.closing.push(closed);
                let off = Policy { enabled: false, ..policy_of(&self.config) };
                self.handle(Event::Policy(off));
            }
        }
    }

    /// Closes the gate; leases that are out no longer count.
    fn shut(&mut self) {
        self.gate.close();
        (self.granted, self.look_at) = (0, None);
    }

    /// Checks whether the server is still in use, and schedules the next check.
    fn look(&mut self) {
        self.look_at = match self.gate.look() {
            HoldUse::Used => Instant::now().checked_add(LOOK),
            HoldUse::Held | HoldUse::Closed => None,
            HoldUse::Unused(last) => {
                self.given_back(last);
                None
            }
        };
        if self.shown != self.gate.leases() {
            self.publish();
        }
    }

    /// Accounts for leases that were just returned, before another decision.
    fn settle(&mut self) {
        if let Some(last) = self.gate.close_unused() {
            self.look_at = None;
            self.given_back(last);
        }
    }

    /// All leases have been returned, the last one at this time.
    fn given_back(&mut self, last: Instant) {
        let generation = self.lifecycle.generation();
        for _ in 0..std::mem::take(&mut self.granted) {
            self.lifecycle.on(Event::Released { generation }, last);
        }
        self.publish();
    }

    fn started(&mut self, generation: u64, (connection, hello): (Connection, Hello)) {
        let Some((_, _, since)) = self.connecting.take_if(|(of, _, _)| *of == generation) else {
            // Stopped in the meantime; dropping the connection ends it.
            return;
        };
        if self.wakes.len() == WAKES_KEPT {
            self.wakes.remove(0);
        }
        self.wakes.push(since.elapsed());
        self.report_end(generation, connection.link.clone());
        self.around.tracker.spawn(super::listen::run(
            connection.link.clone(),
            self.dirty.clone(),
            self.wanted_updates.clone(),
        ));
        self.connection = Some(Live { generation, connection, hello: Arc::new(hello) });
        // Before the gate opens: its lists may have changed.
        self.dirty.begin();
        self.handle(Event::Connected(generation));
    }

    fn report_end(&self, generation: u64, link: Link) {
        let mail = self.mail.clone();
        self.around.tracker.spawn(async move {
            let EndReason { message, cause } = link.wait_ended().await;
            if let Some(mail) = mail.upgrade() {
                let code = closer(Code::Crashed, &message, false, false);
                let failure = Failure { cause, ..failure(code, message) };
                let _ = mail.send(Mail::Happened(Event::Ended(generation, failure)));
            }
        });
    }

    fn handle(&mut self, mut event: Event) {
        // The message may come from the server, and everyone sees it.
        if let Event::Failed(_, failure) | Event::Ended(_, failure) = &mut event {
            failure.message = self.log.redacted(&failure.message);
            failure.cause = failure.cause.take().map(|cause| Box::new(self.redact(*cause)));
        }
        if let Event::Failed(generation, failure) = &event {
            self.connecting.take_if(|(of, _, _)| of == generation);
            self.log.hub(&format!("could not start: {}", failure.message));
        }
        if let Event::Ended(_, failure) = &event {
            self.log.hub(&failure.message);
        }
        let answers_nobody = matches!(event, Event::TimedOut { .. });
        self.note(&event);
        let effects = self.lifecycle.on(event, Instant::now());
        if !matches!(self.lifecycle.state(), State::Ready { .. }) {
            self.shut();
        }
        for effect in effects {
            if answers_nobody && matches!(effect, Effect::Stop(_)) {
                self.log.hub(&format!(
                    "ended: {TIMEOUTS} calls in a row were not answered; the next call restarts it"
                ));
            }
            self.carry_out(effect);
        }
        self.publish();
    }

    /// Records what people should know after a change of state.
    fn note(&mut self, event: &Event) {
        let generation = self.lifecycle.generation();
        let (mut starting, mut early, mut lacks) = (false, false, false);
        match self.lifecycle.state() {
            State::Starting { .. } => starting = true,
            State::Ready { since, .. } => early = since.elapsed() < EARLY_END,
            State::NeedsCredential { .. } => lacks = true,
            State::Off
            | State::Asleep
            | State::Stopping { .. }
            | State::BackingOff { .. }
            | State::Broken { .. } => {}
        }
        match event {
            Event::Failed(of, failure) if starting && *of == generation => {
                self.remember(During::Start, failure.clone());
            }
            Event::Ended(of, failure) if early && *of == generation => {
                self.remember(During::Run, failure.clone());
            }
            // It answers calls.
            Event::Proved { generation: of } if *of == generation => self.last_failure = None,
            // What was missing has been set.
            Event::Renewed if lacks => self.last_failure = None,
            _ => {}
        }
    }

    fn remember(&mut self, during: During, failure: Failure) {
        // A held start is reported separately, and at shutdown ending servers are expected.
        if matches!(failure.code, Code::HeldBack | Code::Deleted)
            || failure.code.is_sign_in()
            || self.around.ending.has_begun()
            || !self.closing.is_empty()
        {
            return;
        }
        let message = self.log.redacted(&failure.message);
        let (cause, at_ms) = (failure.cause.map(|cause| self.redact(*cause)), now_ms());
        self.last_failure = Some(LastFailure { code: failure.code, message, cause, at_ms, during });
    }

    fn redact(&self, cause: FailureCause) -> FailureCause {
        cause.with_texts(|text| self.log.redacted(text))
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Start(generation) => self.start(generation),
            Effect::Stop(generation) => self.stop(generation),
            Effect::Grant(generation) => {
                let Some((live, mail)) = self.connection.as_ref().zip(self.mail.upgrade()) else { return };
                if self.waiters.is_empty() {
                    return;
                }
                self.gate.open(&live.connection.link, generation);
                self.granted += self.waiters.len();
                for waiter in self.waiters.drain(..) {
                    // If the caller is gone, dropping the lease returns it.
                    let _ = waiter.send(self.gate.enter(&mail).ok_or(LeaseError::Closing));
                }
                self.look_at = Instant::now().checked_add(LOOK);
            }
            Effect::Refuse(refusal) => {
                let error = match refusal {
                    Refusal::Off if self.around.ending.has_begun() => LeaseError::Closing,
                    refusal => lease_error(refusal),
                };
                for waiter in self.waiters.drain(..) {
                    let _ = waiter.send(Err(error.clone()));
                }
            }
        }
    }

    fn start(&mut self, generation: u64) {
        let cancel = CancellationToken::new();
        self.connecting = Some((generation, cancel.clone(), Instant::now()));
        self.phase = Phase::Starting;
        self.log.begin_run();
        let start = Start {
            name: self.name.clone(),
            way: self.way.clone(),
            config: self.config.clone(),
            preflight: self.preflight.clone(),
            mark: self.around.watchdog.mark(self.number, generation),
            around: self.around.clone(),
            dirty: self.dirty.clone(),
            log: self.log.clone(),
            told: (generation, self.mail.clone()),
        };
        let mail = self.mail.clone();
        self.around.tracker.spawn(async move {
            let started = tokio::select! {
                started = start.run() => started,
                // Dropping the start closes its connection, which ends the process.
                () = cancel.cancelled() => return,
            };
            let Some(mail) = mail.upgrade() else { return };
            let _ = match started {
                Ok(started) => mail.send(Mail::Started(generation, started)),
                Err(failure) => mail.send(Mail::Happened(Event::Failed(generation, failure))),
            };
        });
    }

    fn stop(&mut self, generation: u64) {
        if let Some((_, cancel, _)) = self.connecting.take_if(|(of, _, _)| *of == generation) {
            cancel.cancel();
        }
        let live = self.connection.take_if(|live| live.generation == generation);
        let (mail, ending) = (self.mail.clone(), self.around.ending.clone());
        self.around.tracker.spawn(async move {
            if let Some(live) = live {
                drain(&live.connection.link, &ending).await;
                live.connection.stop().await;
            }
            if let Some(mail) = mail.upgrade() {
                let _ = mail.send(Mail::Happened(Event::Stopped(generation)));
            }
        });
    }

    fn publish(&mut self) {
        self.shown = self.gate.leases();
        let live = self.connection.as_ref();
        self.seen.send_replace(Seen {
            state: self.lifecycle.state().clone(),
            sleeps_at: self.lifecycle.sleeps_at(),
            phase: self.phase,
            last_failure: self.last_failure.clone(),
            failures: self.lifecycle.failures(),
            pid: live.and_then(|live| live.connection.pid),
            starts: self.lifecycle.generation(),
            restarts: self.lifecycle.restarts(),
            wakes: self.wakes.clone(),
            connected: live.map(|live| (live.connection.link.clone(), live.hello.clone())),
            gate: self.gate.clone(),
        });
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Lets calls in flight finish, for a while.
async fn drain(link: &Link, ending: &Ending) {
    let stopped = Instant::now();
    // The hub may start shutting down in the meantime.
    let in_time = || Instant::now() < ending.calls_until(stopped);
    while link.in_flight() > 0 && link.ended().is_none() && in_time() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn lease_error(refusal: Refusal) -> LeaseError {
    match refusal {
        Refusal::Off => LeaseError::Off,
        Refusal::Manual => LeaseError::Manual,
        Refusal::GivenUp => LeaseError::GivenUp,
        Refusal::Failed(failure) => LeaseError::Failed(failure),
        Refusal::Waiting(failure, until) => {
            let left = until.saturating_duration_since(Instant::now());
            LeaseError::Waiting { failure, retry_seconds: left.as_secs_f64().ceil() as u64 }
        }
    }
}

/// One start: resolve references, connect, shake hands.
#[derive(Clone)]
struct Start {
    name: ServerName,
    way: Remembered,
    config: ServerConfig,
    preflight: Preflight,
    mark: String,
    around: Arc<Surroundings>,
    dirty: Arc<Dirty>,
    log: ServerLog,
    /// The channel for progress, and the generation.
    told: (u64, mpsc::WeakUnboundedSender<Mail>),
}

impl Start {
    /// Tries the possible transports and eras, each at most once, until one works.
    async fn run(self) -> Result<Box<(Connection, Hello)>, Failure> {
        let filled = fill(&self.name, &self.config.transport, &self.around, &self.log).await?;
        self.preflight.permits(&filled).await?;
        let hosted = matches!(filled, TransportConfig::Http { .. });
        let usual = match self.config.era {
            Era::Auto if hosted => Way::Modern,
            Era::Auto | Era::Legacy => Way::Legacy,
            Era::Modern => Way::Modern,
        };
        let mut way = self.remembered(hosted).unwrap_or(usual);
        let (mut tried, mut first) = (vec![], None);
        loop {
            tried.push(way);
            let refused = match self.attempt(&filled, way).await {
                Ok(started) => {
                    // Its launcher may have just fetched something.
                    if let Err(failure) = self.preflight.permits(&filled).await {
                        started.0.stop().await;
                        return Err(failure);
                    }
                    // A process is recorded from its start on.
                    if hosted {
                        self.did(
                            AuditKind::Started,
                            self.name.as_str(),
                            format!("connected; {}", self.setup()),
                        );
                    }
                    let known = (way, Instant::now());
                    *self.way.lock() = Some(known);
                    return Ok(started);
                }
                Err(refused) => refused,
            };
            // A server that was merely slow to wake may be asked the same way again, if it speaks no other.
            if refused.failure.code == Code::HandshakeTimeout && way == Way::Modern && tried.len() == 1 {
                tried.clear();
            }
            let next = match way {
                Way::Legacy if hosted && refused.no_post && !tried.contains(&Way::Sse) => Some(Way::Sse),
                Way::Modern if refused.try_other => Some(Way::Legacy),
                Way::Legacy if refused.try_other => Some(Way::Modern),
                // What was remembered no longer applies.
                Way::Sse if tried.len() == 1 => Some(Way::Modern),
                _ => None,
            };
            // Over HTTP, the oldest transport is tried last; its error is the one that fits most servers.
            let failure = match way {
                Way::Modern if hosted => first.unwrap_or(refused.failure),
                Way::Sse => match first {
                    Some(first) => {
                        let message = format!("{}; over HTTP+SSE {}", first.message, refused.failure.message);
                        Failure { message, ..first }
                    }
                    None => refused.failure,
                },
                _ => refused.failure,
            };
            match next.filter(|next| !tried.contains(next) && self.may_speak(*next)) {
                Some(next) => way = next,
                None => return Err(failure),
            }
            first = Some(failure);
        }
    }

    fn remembered(&self, hosted: bool) -> Option<Way> {
        let known = *self.way.lock();
        let (way, since) = known?;
        let fresh = !hosted || way == Way::Modern || since.elapsed() < REMEMBERED;
        (fresh && self.may_speak(way)).then_some(way)
    }

    /// Does the configuration allow this way?
    fn may_speak(&self, way: Way) -> bool {
        match (self.config.era, way) {
            (Era::Auto, _) | (Era::Modern, Way::Modern) | (Era::Legacy, Way::Legacy | Way::Sse) => true,
            (Era::Modern, Way::Legacy | Way::Sse) | (Era::Legacy, Way::Modern) => false,
        }
    }

    async fn attempt(
        &self,
        filled: &TransportConfig,
        way: Way,
    ) -> Result<Box<(Connection, Hello)>, handshake::HandshakeRefused> {
        let ears = Box::new(Ears {
            server: self.name.clone(),
            dirty: self.dirty.clone(),
            notifications: self.around.notifications.clone(),
        });
        let lost = |failure| handshake::HandshakeRefused { failure, try_other: false, no_post: false };
        let (tracker, quiet) = (&self.around.tracker, self.config.discovery_timeout);
        let (connection, patience, launcher) = match filled.clone() {
            TransportConfig::Stdio { command, args, env, cwd } => {
                let (program, launcher) = match self.config.sandbox.as_ref().and_then(contained) {
                    Some((sandbox, container)) => {
                        let program = self.in_container(sandbox, container, &command, &args, env, cwd);
                        // The engine fetches an image, whatever runs in it.
                        (program.await, Launcher::of("docker", &[]))
                    }
                    None => {
                        let launcher = Launcher::of(&command, &args);
                        (self.program(&command, args, env, cwd).await, launcher)
                    }
                };
                let (program, patience) = (program.map_err(lost)?, patience_for(launcher, quiet));
                let watchdog = self.around.watchdog.clone();
                let count = program.args.len();
                let noun = if count == 1 { "argument" } else { "arguments" };
                let detail = format!("{}, {count} {noun}", program.program.display());
                let ending = self.around.ending.clone();
                let connected = stdio::connect(program, ears, self.log.clone(), watchdog, ending, tracker);
                let connected = connected.map_err(lost)?;
                self.did(AuditKind::Started, self.name.as_str(), format!("{detail}; {}", self.setup()));
                (connected, patience, launcher)
            }
            TransportConfig::Http { url, headers, oauth } => {
                let accounts = &self.around.accounts;
                let credential = Credential::of(accounts, &self.name, &url, &headers, *oauth, &self.log);
                let address = http::Address { url, headers, credential };
                let connection = match way {
                    Way::Sse => sse::connect(&address, ears, self.log.clone(), tracker),
                    Way::Modern | Way::Legacy => http::connect(&address, ears, self.log.clone(), tracker),
                };
                (connection.map_err(lost)?, quiet, None)
            }
        };
        let (hosted, noise_before) = (connection.pid.is_none(), self.log.noise_count());
        let greeting = async {
            match way {
                Way::Modern if self.config.era == Era::Modern => {
                    handshake::discover(&connection.link, patience).await
                }
                Way::Modern => handshake::discover(&connection.link, PROBE.min(patience)).await,
                Way::Legacy | Way::Sse => handshake::initialize(&connection.link, patience).await,
            }
        };
        let greeted = tokio::select! {
            greeted = greeting => greeted,
            silent = silence(&connection.signs, quiet) => {
                let seconds = silent.as_secs();
                let message = format!("it gave no sign of life for {seconds} s before it was ready");
                let cause = FailureCause::Silent { seconds, wrote: None };
                Err(lost(failure(Code::HandshakeTimeout, message).because(cause)))
            }
            never = self.watch(&connection, launcher, quiet) => match never {},
        };
        match greeted {
            Ok(hello) => Ok(Box::new((connection, hello))),
            Err(refused) => {
                connection.stop().await;
                let noisy = self.log.noise_count() > noise_before;
                let Failure { code, mut message, mut cause, missing } = refused.failure;
                let code = closer(code, &message, hosted, noisy);
                if hosted {
                    tell_trouble(cause.as_deref_mut(), code);
                    message = unreached(code, &message);
                } else if matches!(code, Code::HandshakeTimeout | Code::StdoutNoise)
                    // The reason may be in its output.
                    && let Some(line) = self.log.reason()
                {
                    message = format!("{message}; it wrote last: {line}");
                    if let Some(FailureCause::Silent { wrote, .. } | FailureCause::NoAnswer { wrote, .. }) =
                        cause.as_deref_mut()
                    {
                        *wrote = Some(line);
                    }
                }
                let failure = Failure { code, message, cause, missing };
                Err(handshake::HandshakeRefused { failure, ..refused })
            }
        }
    }

    /// Counts the activity of a launcher's processes as signs of life, and reports the phase. Runs until dropped.
    async fn watch(
        &self,
        connection: &Connection,
        launcher: Option<Launcher>,
        quiet: Duration,
    ) -> std::convert::Infallible {
        let (Some(launcher), Some(root)) = (launcher, connection.pid) else {
            return std::future::pending().await;
        };
        let (began, pause) = (Instant::now(), LOOKING.min(quiet / 3));
        let (mut before, mut known) = (None, Phase::Starting);
        loop {
            tokio::time::sleep(pause).await;
            let ours = self.around.own_program.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || activity::look(root, &ours)).await else {
                continue;
            };
            let fetches = launcher.fetches(&now, &self.log.tail(TAIL));
            if let Some((at, sample)) = before.replace((Instant::now(), now))
                && began.elapsed() < SILENT_DOWNLOAD
                && launcher.gets_on(&sample, &now, Instant::now() - at, fetches)
            {
                connection.signs.saw();
            }
            let phase = match fetches && began.elapsed() >= NOT_DOWNLOADED.min(quiet) {
                true => Phase::Downloading,
                false => Phase::Starting,
            };
            if std::mem::replace(&mut known, phase) != phase
                && let Some(mail) = self.told.1.upgrade()
            {
                let _ = mail.send(Mail::Phase(self.told.0, phase));
            }
        }
    }

    fn did(&self, kind: AuditKind, subject: &str, detail: String) {
        let (who, subject) = (self.name.to_string(), subject.to_owned());
        (self.around.audit.0)(AuditEvent { at_ms: now_ms(), kind, who, subject, detail });
    }

    /// A fingerprint of what runs; stays the same until the entry changes.
    fn setup(&self) -> String {
        format!("setup {}", setup_of(&self.config.transport).get(..16).unwrap_or_default())
    }

    /// Sandboxes are applied by the subreaper; without one, a sandboxed server is not started.
    fn sandbox(
        &self,
        sandbox: &Sandbox,
        program: &Path,
        home: Option<&Path>,
        has_subreaper: bool,
        env: &mut Environment,
    ) -> Result<SandboxPlan, Failure> {
        if !has_subreaper {
            return Err(SandboxFault::Absent.into());
        }
        let temporary = self.around.places.data.join("sandboxes").join(files::file_stem(self.name.as_str()));
        let sandbox = SandboxPlan::around(sandbox, program, home, &temporary)?;
        for name in ["TMPDIR", "TMP", "TEMP"] {
            env.set(name, temporary.to_string_lossy());
        }
        Ok(sandbox)
    }

    async fn program(
        &self,
        command: &str,
        args: Vec<String>,
        own: std::collections::BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<stdio::Program, Failure> {
        let (ours, home) = (&self.around.environment, self.around.environment.home());
        let cwd = cwd.map(|cwd| expand_home(&cwd, home.as_deref(), ours.platform()));
        let path = ours
            .platform()
            .variable(&own, "PATH")
            .map(|path| std::env::split_paths(path).collect::<Vec<_>>());
        // The built-in server needs no search, and must not wait for the login shell.
        let known = match command {
            OWN_COMMAND => &[][..],
            _ => self.around.search_path.dirs(ours).await,
        };
        let dirs = path.as_deref().unwrap_or(known);
        let program = if command == OWN_COMMAND {
            self.around.own_program.clone()
        } else {
            let command = expand_home(command, home.as_deref(), ours.platform());
            match environment::find_program(&command.to_string_lossy(), dirs, cwd.as_deref(), ours) {
                Located::At(program) => program,
                Located::NotExecutable(path) => {
                    let program = path.display().to_string();
                    let told = failure(Code::SpawnDenied, format!("{program} is not executable"));
                    return Err(told.because(FailureCause::NotExecutable { program }));
                }
                Located::Nowhere => {
                    let program = command.display().to_string();
                    let searched = !environment::is_path(&command.to_string_lossy());
                    let message = match searched {
                        false => format!("{program} does not exist"),
                        true => format!("{program} was not found in PATH"),
                    };
                    if path.is_some() {
                        self.log.hub("looked in the PATH of its entry");
                    }
                    let code = if is_runtime(&command) { Code::RuntimeMissing } else { Code::SpawnNotFound };
                    return Err(
                        failure(code, message).because(FailureCause::ProgramAbsent { program, searched })
                    );
                }
            }
        };
        let (program, args) = if ours.platform() == Platform::Windows {
            let text = |path: &Path| {
                std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            batch::directly(program, args, text, Path::is_file)?
        } else {
            (program, args)
        };
        let mut env = environment::passed_on(ours);
        if !known.is_empty() {
            env.set("PATH", join(known));
        }
        env.extend(own);
        env.set(MARK, self.mark.as_str());
        let cwd = cwd.or_else(|| home.clone()).filter(|cwd| !cwd.as_os_str().is_empty());
        // The built-in server starts no processes that could escape.
        let subreaper = (cfg!(target_os = "linux") && command != OWN_COMMAND)
            .then(|| satchel_reaper::program(&self.around.own_program))
            .filter(|subreaper| subreaper.is_file());
        let sandbox = match &self.config.sandbox {
            None => None,
            Some(sandbox) => {
                let sandbox =
                    self.sandbox(sandbox, &program, home.as_deref(), subreaper.is_some(), &mut env)?;
                Some((self.around.own_program.clone(), sandbox))
            }
        };
        let (env, container) = (env.into_variables(), None);
        Ok(stdio::Program { program, args, env, cwd, subreaper, sandbox, container })
    }

    /// The client of an engine that runs this command in a container.
    async fn in_container(
        &self,
        sandbox: &Sandbox,
        container: &ContainerSandbox,
        command: &str,
        args: &[String],
        variables: std::collections::BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<stdio::Program, Failure> {
        let (ours, data) = (&self.around.environment, &self.around.places.data);
        if command == OWN_COMMAND {
            return Err(SandboxFault::BuiltIn.into());
        }
        let dirs = self.around.search_path.dirs(ours).await;
        let engine =
            container::find(container.engine, dirs, ours).ok_or(SandboxFault::NoEngine(container.engine))?;
        let mut client = container::client_environment(ours);
        client.set("PATH", join(dirs));
        let rootless = self.around.engines.is_rootless(&engine, &client, data).await?;
        let home = ours.home();
        let command = expand_home(command, home.as_deref(), ours.platform()).to_string_lossy().into_owned();
        let inside = Inside {
            sandbox,
            container,
            engine: &engine,
            inhabitant: Inhabitant::of(engine.is_podman, rootless, data, ours.platform()),
            command: &command,
            args,
            variables: &variables,
            cwd: cwd.as_deref(),
            mark: self.mark.as_str(),
            data,
            home: home.as_deref(),
            platform: ours.platform(),
            selinux: container::is_selinux_on(),
        };
        let args = inside.words()?;
        let name = container::name_of(&self.mark);
        let env = client.clone().into_variables();
        let container = Some(Orphan { name, engine: engine.program.clone(), env });
        client.extend(variables);
        let (program, env, cwd) = (engine.program, client.into_variables(), home);
        Ok(stdio::Program { program, args, env, cwd, subreaper: None, sandbox: None, container })
    }
}

/// The sandbox with its container, where it is one.
fn contained(sandbox: &Sandbox) -> Option<(&Sandbox, &ContainerSandbox)> {
    sandbox.container.as_ref().map(|container| (sandbox, container))
}

/// Refines the code of a failed start by its circumstances.
fn closer(code: Code, message: &str, hosted: bool, noisy: bool) -> Code {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
        Code::ExitedEarly if hosted && says(&["answered HTTP 5"]) => Code::Http5xx,
        Code::ExitedEarly if hosted && says(&["certificate", "tls", "handshake", "corrupt message"]) => {
            Code::Tls
        }
        Code::ExitedEarly if hosted && says(&["etwork is unreachable", "unreachable network"]) => {
            Code::Offline
        }
        Code::ExitedEarly if hosted && says(&["dns", "lookup address", "resolve"]) => Code::Dns,
        Code::ExitedEarly if hosted => Code::Unreachable,
        Code::ExitedEarly
            if says(&["Docker daemon", "docker daemon", "dockerDesktop", "connect to Podman"]) =>
        {
            Code::DockerDown
        }
        // The hub itself always says so when it kills a server.
        Code::ExitedEarly | Code::Crashed if says(&["ended by signal 9"]) => Code::OomKilled,
        // Exit codes of a shell or `env` for a missing or non-executable program.
        Code::ExitedEarly if says(&["ended with exit code 127"]) => Code::SpawnNotFound,
        Code::ExitedEarly if says(&["ended with exit code 126"]) => Code::SpawnDenied,
        Code::HandshakeTimeout if noisy => Code::StdoutNoise,
        other => other,
    }
}

/// Says why an address cannot be reached, by the code of the failed start.
fn tell_trouble(cause: Option<&mut FailureCause>, code: Code) {
    let Some(FailureCause::Unreached { trouble, error }) = cause else { return };
    *trouble = match code {
        Code::Dns => Reach::Name,
        Code::Offline => Reach::Network,
        Code::Tls => Reach::Security,
        Code::Unreachable if is_refused(error) => Reach::Closed,
        _ => Reach::Other,
    };
}

fn is_refused(error: &str) -> bool {
    error.to_lowercase().contains("refused")
}

/// Why an address could not be used, as a sentence that says whose fault it is.
fn unreached(code: Code, message: &str) -> String {
    let detail = message.strip_prefix("it cannot be reached: ").unwrap_or(message);
    let what = match code {
        Code::Dns => "it cannot be reached: its host name is not known",
        Code::Offline => "it cannot be reached: this computer has no route to its network",
        Code::Tls => "it cannot be reached: no secure connection can be made to it",
        Code::Unreachable if is_refused(detail) => "it cannot be reached: nothing listens at its address",
        Code::Http404 => "no MCP server answers at this path",
        Code::Http5xx => "the server itself fails",
        _ => return message.to_owned(),
    };
    format!("{what}: {detail}")
}

/// Resolves when the other side has been silent for too long.
async fn silence(signs: &Signs, quiet: Duration) -> Duration {
    loop {
        let due = signs.last() + quiet;
        if due <= Instant::now() {
            return quiet;
        }
        tokio::time::sleep_until(due).await;
    }
}

/// Interpreters of servers.
const RUNTIMES: [&str; 3] = ["node", "python", "python3"];

fn is_runtime(command: &Path) -> bool {
    let name = command.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    command.components().count() == 1 && (activity::is_launcher(name) || RUNTIMES.contains(&name))
}

/// Timeout of this program's handshake, as long as it shows signs of life.
fn patience_for(launcher: Option<Launcher>, quiet: Duration) -> Duration {
    if launcher.is_some() { DOWNLOAD } else { quiet }
}

fn expand_home(path: &str, home: Option<&Path>, platform: Platform) -> PathBuf {
    let below = path.strip_prefix("~/");
    let below = below.or_else(|| path.strip_prefix("~\\").filter(|_| platform == Platform::Windows));
    match (below, home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

fn join(dirs: &[PathBuf]) -> String {
    std::env::join_paths(dirs).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = crate::model::server::DISCOVERY_TIMEOUT;

    /// The limit of 30 s: a start fails after exactly this time without output.
    #[tokio::test(start_paused = true)]
    async fn a_start_may_take_long_while_it_shows_signs_of_life() {
        let (begin, signs) = (Instant::now(), Signs::default());
        let silent = silence(&signs, QUIET);
        let working = async {
            for _ in 0..10 {
                tokio::time::sleep(QUIET - Duration::from_secs(1)).await;
                signs.saw();
            }
        };
        assert_eq!(tokio::join!(silent, working).0, QUIET);
        assert_eq!(begin.elapsed(), (QUIET - Duration::from_secs(1)) * 10 + QUIET);
    }

    /// 10 min for programs that may download first, 30 s for all others.
    #[tokio::test(start_paused = true)]
    async fn only_what_downloads_first_may_take_longer_than_its_handshake() {
        for (command, limit) in
            [("npx", DOWNLOAD), ("uvx.exe", DOWNLOAD), ("docker", DOWNLOAD), ("node", QUIET)]
        {
            let launcher = Launcher::of(command, &[]);
            assert_eq!(patience_for(launcher, QUIET), limit, "{command}");
            for (takes, good) in
                [(limit - Duration::from_secs(1), true), (limit + Duration::from_secs(1), false)]
            {
                let (link, mut outbox) = Link::new(Box::new(Ears::deaf()), ServerLog::nowhere());
                let answering = async {
                    let asked = outbox.recv().await.unwrap();
                    assert!(asked.sent.leaves());
                    tokio::time::sleep(takes).await;
                    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#.to_owned();
                    let id = satchel_mcp::Id::from(asked.id.unwrap());
                    link.incoming(satchel_mcp::Message::result(id, Raw::from_string(hello).unwrap()));
                };
                let greeted = handshake::initialize(&link, limit);
                let greeted = tokio::join!(greeted, answering).0;
                assert_eq!(greeted.is_ok(), good, "{command} after {takes:?}");
                if let Err(refused) = greeted {
                    assert_eq!(refused.failure.code, Code::HandshakeTimeout);
                }
            }
        }
    }

    impl Ears {
        fn deaf() -> Self {
            let server = "x".parse().unwrap();
            Self { server, dirty: Arc::default(), notifications: broadcast::channel(1).0 }
        }
    }

    #[test]
    fn a_failed_start_is_classified_by_its_symptoms() {
        for (code, message, hosted, noisy, expected) in [
            (Code::ExitedEarly, "it cannot be reached: invalid peer certificate", true, false, Code::Tls),
            // Of rustls, where something else than TLS answers.
            (Code::ExitedEarly, "it cannot be reached: received corrupt message", true, false, Code::Tls),
            (Code::ExitedEarly, "it cannot be reached: failed to lookup address", true, false, Code::Dns),
            (Code::ExitedEarly, "it cannot be reached: Network is unreachable", true, false, Code::Offline),
            (Code::ExitedEarly, "it cannot be reached: Connection refused", true, false, Code::Unreachable),
            (Code::ExitedEarly, "it answered HTTP 503 Service Unavailable", true, false, Code::Http5xx),
            (
                Code::ExitedEarly,
                "docker: Cannot connect to the Docker daemon at x",
                false,
                false,
                Code::DockerDown,
            ),
            (Code::ExitedEarly, "the process was ended by signal 9", false, false, Code::OomKilled),
            (Code::ExitedEarly, "the process ended with exit code 1", false, true, Code::ExitedEarly),
            (Code::Crashed, "x (the process was ended by signal 9)", false, true, Code::OomKilled),
            (Code::Crashed, "the process was ended by signal 11", false, true, Code::Crashed),
            (Code::ExitedEarly, "x (the process ended with exit code 127)", false, true, Code::SpawnNotFound),
            (Code::ExitedEarly, "the process ended with exit code 126", false, true, Code::SpawnDenied),
            (Code::HandshakeTimeout, "silent", false, true, Code::StdoutNoise),
            (Code::HandshakeTimeout, "silent", false, false, Code::HandshakeTimeout),
        ] {
            assert_eq!(closer(code, message, hosted, noisy), expected, "{message}");
        }
    }

    #[test]
    fn the_trouble_with_an_address_is_told_as_its_code_says() {
        for (code, error, expected) in [
            (Code::Dns, "failed to lookup address", Reach::Name),
            (Code::Offline, "Network is unreachable", Reach::Network),
            (Code::Tls, "invalid peer certificate", Reach::Security),
            (Code::Unreachable, "Connection refused (os error 111)", Reach::Closed),
            (Code::Unreachable, "operation timed out", Reach::Other),
        ] {
            let error = error.to_owned();
            let mut cause = FailureCause::Unreached { trouble: Reach::Other, error: error.clone() };
            tell_trouble(Some(&mut cause), code);
            assert_eq!(cause, FailureCause::Unreached { trouble: expected, error });
        }
    }

    #[test]
    fn a_missing_runtime_is_told_from_a_missing_program() {
        for (command, runtime) in
            [("npx", true), ("python3", true), ("docker", true), ("my-server", false), ("/opt/npx", false)]
        {
            assert_eq!(is_runtime(Path::new(command)), runtime, "{command}");
        }
    }
}
