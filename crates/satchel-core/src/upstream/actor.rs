//! The task of one upstream: carries out what its lifecycle decides and publishes its state.
//!
//! Theory of operation: the handle ([`Upstream`]) sends mail; the task owns the lifecycle, the connection and the
//! waiting callers. It sleeps until mail comes or the lifecycle's deadline. Starting and stopping run in tasks of
//! their own and report by mail, so the mailbox never waits for a process. When every handle is gone the task ends
//! the connection and itself.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use satchel_mcp::Raw;

use super::{
    activity::{self, Launcher},
    connect::{Connection, Signs, batch, http, sse, stdio},
    dirty::Dirty,
    ending::Ending,
    environment::{self, Located, SearchPath},
    fill::fill,
    handshake::{self, Hello, failure},
    hold::{Gate, HoldUse},
    lease::{Lease, LeaseError},
    lifecycle::{Effect, Event, Failure, Lifecycle, Policy, Refusal, State, TIMEOUTS},
    link::{Link, OnChange},
    log::ServerLog,
    oauth::{account::Credential, accounts::Accounts},
    preflight::Preflight,
    sandbox::{SandboxError, SandboxPlan},
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
        server::{Era, Sandbox},
        snapshot::{During, LastFailure, Phase},
    },
    platform::{Environment, Platform},
    secrets::Secrets,
    stats::audit::{AuditEvent, AuditSink},
    tasks::{Panicked, caught, may_fail_here},
};

/// How long a program may take that downloads what it runs first, as long as it writes something.
const DOWNLOAD: Duration = Duration::from_secs(600);
/// How long it may be silent for that, as long as its processes get on.
const SILENT_DOWNLOAD: Duration = Duration::from_secs(300);
/// How often its processes are looked at.
const LOOKING: Duration = Duration::from_secs(2);
/// What is on this computer already is started sooner.
const NOT_DOWNLOADED: Duration = Duration::from_secs(2);
/// A server that ends by itself so soon after it was ready has failed. One that worked for longer is started again at the
/// next call, and nobody has to know.
const EARLY_END: Duration = Duration::from_secs(60);
/// How long a server of which nothing is known may take to say that it does not know `server/discover`, before it is
/// asked in the older way.
const PROBE: Duration = Duration::from_secs(10);
/// How often a server that is used is looked at, to see whether it still is.
const LOOK: Duration = Duration::from_millis(250);
/// Cold starts remembered for the median.
const WAKES_KEPT: usize = 20;
/// Lines of its output that are looked at for what a launcher says of a download.
const TAIL: usize = 20;

/// What every upstream of one hub shares.
#[derive(Debug)]
pub struct Surroundings {
    /// Where logs go.
    pub places: Places,
    /// Where credentials come from.
    pub secrets: Secrets,
    /// How servers are signed in to.
    pub accounts: Accounts,
    /// Started where the configuration says `satchel`.
    pub own_program: PathBuf,
    /// Told of every process.
    pub watchdog: Watchdog,
    /// The hub's own environment when it started.
    pub environment: Environment,
    /// Where programs are looked for.
    pub search_path: SearchPath,
    /// Shutdown waits for its tasks.
    pub tracker: TaskTracker,
    /// Whether the hub ends.
    pub ending: Ending,
    /// What servers say that belongs to no call. Whoever is too slow misses the oldest.
    pub notifications: broadcast::Sender<ServerNotification>,
    /// Told of every start and every secret that is read.
    pub audit: AuditSink,
}

/// A notification of a server that belongs to no call.
#[derive(Debug, Clone)]
pub struct ServerNotification {
    /// Which server.
    pub server: ServerName,
    /// Its method.
    pub method: Arc<str>,
    /// Its parameters, as they came.
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
        // Nobody may be listening.
        let _ = self.notifications.send(ServerNotification {
            server: self.server.clone(),
            method: method.into(),
            params,
        });
    }
}

/// How a server was reached last time, so that it is not asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `server/discover`; requests that stand alone.
    Modern,
    /// `initialize`; a session.
    Legacy,
    /// `initialize` over HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// An address may speak a newer revision tomorrow; a process does so only when it is another program.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

type Remembered = Arc<Mutex<Option<(Way, Instant)>>>;

/// What can be seen of an upstream from outside.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its state.
    pub state: State,
    /// When it will sleep, if nobody uses it till then.
    pub sleeps_at: Option<Instant>,
    /// What its start is doing, while it is started.
    pub phase: Phase,
    /// What went wrong last, until it works again or a person dismisses it.
    pub last_failure: Option<LastFailure>,
    /// Failed starts in a row.
    pub failures: u32,
    /// Its process, where one runs.
    pub pid: Option<u32>,
    /// How often it was started.
    pub starts: u64,
    /// Starts that followed a failure.
    pub restarts: u64,
    /// Its last cold starts.
    pub wakes: Vec<Duration>,
    /// The connection and what the server said of itself, while connected.
    pub connected: Option<(Link, Arc<Hello>)>,
    gate: Arc<Gate>,
}

impl Seen {
    /// Calls and whatever else keeps it awake, now.
    pub fn leases(&self) -> usize {
        self.gate.leases()
    }
}

/// The handle of one server. Cheap to clone; the server is ended when the last handle is gone.
#[derive(Debug, Clone)]
pub struct Upstream {
    mail: mpsc::UnboundedSender<Mail>,
    seen: watch::Receiver<Seen>,
    dirty: Arc<Dirty>,
    log: ServerLog,
    watched: Arc<watch::Sender<BTreeSet<String>>>,
    gate: Arc<Gate>,
}

/// What the task is told.
#[derive(Debug)]
pub(super) enum Mail {
    Happened(Event),
    Lease(oneshot::Sender<Result<Lease, LeaseError>>),
    Started(u64, Box<(Connection, Hello)>),
    Configured(Box<ServerConfig>),
    /// What the start of this generation is doing.
    Phase(u64, Phase),
    /// Leases of this generation came or went, after they had not for a while.
    Used(u64),
    /// Its lists were read, or could not be.
    ListsRead(Result<(), Failure>),
    Dismissed,
    Close(oneshot::Sender<()>),
}

impl Upstream {
    /// Starts the task. `number` is unique among the servers of this run of the hub; `last_failure` is what went wrong in
    /// the run before.
    pub fn new(
        name: ServerName,
        number: u64,
        config: ServerConfig,
        preflight: Preflight,
        last_failure: Option<LastFailure>,
        around: Arc<Surroundings>,
    ) -> Self {
        // Unbounded: a lease that is dropped must be able to say so without waiting. Everything else is one message a
        // caller, and callers are bounded.
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
            wanted_news: watched_in,
            gate: gate.clone(),
            granted: 0,
            look_at: None,
            shown: 0,
        };
        around.tracker.spawn(actor.live(mailbox));
        Self { mail, seen, dirty, log, watched: Arc::new(watched), gate }
    }

    /// Permission to call. Starts the server where needed; many callers cause one start.
    pub async fn lease(&self) -> Result<Lease, LeaseError> {
        if let Some(lease) = self.gate.enter(&self.mail) {
            return Ok(lease);
        }
        self.ask().await.map_err(|_| LeaseError::Closing)?
    }

    /// The same, for who does something else until the answer comes. It is closed where the hub ends.
    pub fn ask(&self) -> oneshot::Receiver<Result<Lease, LeaseError>> {
        let (answer, granted) = oneshot::channel();
        // Where nobody reads it any more, the answer is closed with it.
        let _ = self.mail.send(Mail::Lease(answer));
        granted
    }

    /// What it is doing.
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

    /// Follows what it is doing.
    pub fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.clone()
    }

    /// The resources whose changes somebody wants to hear of. The server is told when it runs.
    pub fn watched(&self) -> &watch::Sender<BTreeSet<String>> {
        &self.watched
    }

    /// Which of its lists should be read again.
    pub fn dirty(&self) -> &Arc<Dirty> {
        &self.dirty
    }

    /// Its log.
    pub fn log(&self) -> &ServerLog {
        &self.log
    }

    /// Takes over what the user wants now. How the server is reached takes effect at its next start.
    pub fn configure(&self, config: ServerConfig) {
        let _ = self.mail.send(Mail::Configured(Box::new(config)));
    }

    /// A person wants it started, now and afresh.
    pub fn restart(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Restart));
    }

    /// A person wants it to sleep, or its start given up. A call under way is not cut off.
    pub fn rest(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Rest));
    }

    /// Its lists were read from where it runs now, or could not be.
    pub fn lists_read(&self, read: Result<(), Failure>) {
        let _ = self.mail.send(Mail::ListsRead(read));
    }

    /// A person knows of what went wrong last; it is not shown any more.
    pub fn dismiss(&self) {
        let _ = self.mail.send(Mail::Dismissed);
    }

    /// Credentials changed.
    pub fn renew(&self) {
        let _ = self.mail.send(Mail::Happened(Event::Renewed));
    }

    /// Ends it for good, and waits until it is gone.
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
    wanted_news: watch::Receiver<BTreeSet<String>>,
    gate: Arc<Gate>,
    /// So many leases the lifecycle counts as held while the gate is open.
    granted: usize,
    /// When to look whether the server is still used.
    look_at: Option<Instant>,
    /// How many leases were out when that was published last.
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

    /// What was decided before is not to be relied on: nothing runs any more, and whoever waits is told.
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
                // Every handle is gone: nobody can want it any more.
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
            // Of a run that is over.
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
            // Of a start that is over.
            Mail::Phase(..) => {}
            Mail::ListsRead(read) => {
                match read {
                    Ok(()) => self.last_failure = None,
                    // Connected, and of no use before somebody signs in.
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

    /// Lets nobody in any more; leases that are out count for nothing.
    fn shut(&mut self) {
        self.gate.close();
        (self.granted, self.look_at) = (0, None);
    }

    /// Looks whether the server is still used, and when to look again.
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

    /// Nobody is left who used the server until just now, before something else is decided about it.
    fn settle(&mut self) {
        if let Some(last) = self.gate.close_unused() {
            self.look_at = None;
            self.given_back(last);
        }
    }

    /// All leases are back, the last one since then.
    fn given_back(&mut self, last: Instant) {
        let generation = self.lifecycle.generation();
        for _ in 0..std::mem::take(&mut self.granted) {
            self.lifecycle.on(Event::Released { generation }, last);
        }
        self.publish();
    }

    fn started(&mut self, generation: u64, (connection, hello): (Connection, Hello)) {
        let Some((_, _, since)) = self.connecting.take_if(|(of, _, _)| *of == generation) else {
            // Stopped meanwhile; dropping the connection ends it.
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
            self.wanted_news.clone(),
        ));
        self.connection = Some(Live { generation, connection, hello: Arc::new(hello) });
        // Before anybody is let in: what it offers may not be what it offered before.
        self.dirty.begin();
        self.handle(Event::Connected(generation));
    }

    fn report_end(&self, generation: u64, link: Link) {
        let mail = self.mail.clone();
        self.around.tracker.spawn(async move {
            let message = link.wait_ended().await;
            if let Some(mail) = mail.upgrade() {
                let code = closer(Code::Crashed, &message, false, false);
                let _ = mail.send(Mail::Happened(Event::Ended(generation, failure(code, message))));
            }
        });
    }

    fn handle(&mut self, mut event: Event) {
        // What it says may come from the server, and everybody is shown it.
        if let Event::Failed(_, failure) | Event::Ended(_, failure) = &mut event {
            failure.message = self.log.redacted(&failure.message);
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
                    "ended: {TIMEOUTS} calls in a row had no answer; the next call starts it again"
                ));
            }
            self.carry_out(effect);
        }
        self.publish();
    }

    /// Keeps what a person should know after the state has changed to another.
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
            // What was missing was set.
            Event::Renewed if lacks => self.last_failure = None,
            _ => {}
        }
    }

    fn remember(&mut self, during: During, failure: Failure) {
        // What waits for a person's approval is told as that, and who ends everything knows that servers end.
        if failure.code == Code::HeldBack
            || failure.code.is_sign_in()
            || self.around.ending.has_begun()
            || !self.closing.is_empty()
        {
            return;
        }
        let at_ms = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(at_ms.as_millis()).unwrap_or_default();
        let message = self.log.redacted(&failure.message);
        self.last_failure = Some(LastFailure { code: failure.code, message, at_ms, during });
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
                    // A caller that has gone lets the lease drop, which gives it back.
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
                // Dropping the start lets go of its connection, which ends the process.
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

/// Lets calls in flight end by themselves, for a while.
async fn drain(link: &Link, ending: &Ending) {
    let stopped = Instant::now();
    // The hub may begin to end meanwhile.
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

/// One start: fill in references, connect, shake hands.
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
    /// Who is told what it is doing, and as which start.
    told: (u64, mpsc::WeakUnboundedSender<Mail>),
}

impl Start {
    /// Tries the ways there are until one works: at most one after the other of each kind.
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
                    // Its launcher may have fetched something just now.
                    if let Err(failure) = self.preflight.permits(&filled).await {
                        started.0.stop().await;
                        return Err(failure);
                    }
                    // A program has its record from its start on.
                    if hosted {
                        self.did(
                            AuditKind::Started,
                            self.name.as_str(),
                            format!("connected; {}", self.setup()),
                        );
                    }
                    let known = (way, Instant::now());
                    *self.way.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
                    return Ok(started);
                }
                Err(refused) => refused,
            };
            // A server that was only slow to wake may be asked in the same way again, when it speaks no other.
            if refused.failure.code == Code::HandshakeTimeout && way == Way::Modern && tried.len() == 1 {
                tried.clear();
            }
            let next = match way {
                Way::Legacy if hosted && refused.no_post && !tried.contains(&Way::Sse) => Some(Way::Sse),
                Way::Modern if refused.try_other => Some(Way::Legacy),
                Way::Legacy if refused.try_other => Some(Way::Modern),
                // What was remembered is no longer so.
                Way::Sse if tried.len() == 1 => Some(Way::Modern),
                _ => None,
            };
            // The older way is the last to be tried over HTTP; what it said is what fits most servers.
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
        let known = *self.way.lock().unwrap_or_else(PoisonError::into_inner);
        let (way, since) = known?;
        let fresh = !hosted || way == Way::Modern || since.elapsed() < REMEMBERED;
        (fresh && self.may_speak(way)).then_some(way)
    }

    /// Does the user leave it to us, or want this?
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
                let launcher = Launcher::of(&command, &args);
                let patience = patience_for(launcher, quiet);
                let program = self.program(&command, args, env, cwd).await.map_err(lost)?;
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
            silent = silence(&connection.signs, quiet) => Err(lost(failure(
                Code::HandshakeTimeout,
                format!("it gave no sign of life for {} s before it was ready", silent.as_secs()),
            ))),
            never = self.watch(&connection, launcher, quiet) => match never {},
        };
        match greeted {
            Ok(hello) => Ok(Box::new((connection, hello))),
            Err(refused) => {
                connection.stop().await;
                let noisy = self.log.noise_count() > noise_before;
                let Failure { code, message, missing } = refused.failure;
                let code = closer(code, &message, hosted, noisy);
                let message = match code {
                    code if hosted => unreached(code, &message),
                    // Why it waits may be among what it wrote.
                    Code::HandshakeTimeout | Code::StdoutNoise => match self.log.reason() {
                        Some(wrote) => format!("{message}; it wrote last: {wrote}"),
                        None => message,
                    },
                    _ => message,
                };
                Err(handshake::HandshakeRefused { failure: Failure { code, message, missing }, ..refused })
            }
        }
    }

    /// Takes what the processes of a launcher do for a sign of life, and tells what it is doing. Does not end by itself.
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

    /// What runs, in short: the same as long as nobody changes the server's entry.
    fn setup(&self) -> String {
        format!("setup {}", setup_of(&self.config.transport).get(..16).unwrap_or_default())
    }

    /// SandboxPlan are raised by the subreaper; without one there are none, and then nothing is started.
    fn sandbox(
        &self,
        sandbox: &Sandbox,
        program: &Path,
        home: Option<&Path>,
        has_subreaper: bool,
        env: &mut Environment,
    ) -> Result<SandboxPlan, Failure> {
        let denied = |error: SandboxError| failure(Code::SpawnDenied, error.to_string());
        if !has_subreaper {
            return Err(denied(SandboxError::Absent));
        }
        let temporary = self.around.places.data.join("sandboxes").join(files::file_stem(self.name.as_str()));
        let sandbox = SandboxPlan::around(sandbox, program, home, &temporary).map_err(denied)?;
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
        // The embedded server needs no search, and must not wait for the login shell.
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
                    let message = format!("{} is not executable", path.display());
                    return Err(failure(Code::SpawnDenied, message));
                }
                Located::Nowhere => {
                    let message = format!("{} was not found", command.display());
                    self.log.hub(&format!("looked for {} in {}", command.display(), join(dirs)));
                    let code = if is_runtime(&command) { Code::RuntimeMissing } else { Code::SpawnNotFound };
                    return Err(failure(code, message));
                }
            }
        };
        let (program, args) = if ours.platform() == Platform::Windows {
            let text = |path: &Path| {
                std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            batch::directly(program, args, text, Path::is_file)
                .map_err(|message| failure(Code::SpawnDenied, message))?
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
        // The embedded server starts nothing that could get away.
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
        Ok(stdio::Program { program, args, env: env.into_variables(), cwd, subreaper, sandbox })
    }
}

/// The class of a failed start, seen with what is known around it.
fn closer(code: Code, message: &str, hosted: bool, noisy: bool) -> Code {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
        Code::ExitedEarly if hosted && says(&["answered HTTP 5"]) => Code::Http5xx,
        Code::ExitedEarly if hosted && says(&["certificate", "tls", "handshake"]) => Code::Tls,
        Code::ExitedEarly if hosted && says(&["etwork is unreachable", "unreachable network"]) => {
            Code::Offline
        }
        Code::ExitedEarly if hosted && says(&["dns", "lookup address", "resolve"]) => Code::Dns,
        Code::ExitedEarly if hosted => Code::Unreachable,
        Code::ExitedEarly if says(&["Docker daemon", "docker daemon", "dockerDesktop"]) => Code::DockerDown,
        // We end no server without saying so ourselves.
        Code::ExitedEarly | Code::Crashed if says(&["ended by signal 9"]) => Code::OomKilled,
        // What a shell and `env` say of a program that is not there, or may not be started.
        Code::ExitedEarly if says(&["ended with exit code 127"]) => Code::SpawnNotFound,
        Code::ExitedEarly if says(&["ended with exit code 126"]) => Code::SpawnDenied,
        Code::HandshakeTimeout if noisy => Code::StdoutNoise,
        other => other,
    }
}

/// Why an address could not be used, in a sentence that says whose fault it is.
fn unreached(code: Code, message: &str) -> String {
    let detail = message.strip_prefix("it cannot be reached: ").unwrap_or(message);
    let what = match code {
        Code::Dns => "it cannot be reached: its host name is not known",
        Code::Offline => "it cannot be reached: this computer has no way to its network",
        Code::Tls => "it cannot be reached: no secure connection can be made to it",
        Code::Unreachable if detail.to_lowercase().contains("refused") => {
            "it cannot be reached: nothing listens at its address"
        }
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

/// Programs that run servers, rather than being one.
const RUNTIMES: [&str; 3] = ["node", "python", "python3"];

fn is_runtime(command: &Path) -> bool {
    let name = command.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    command.components().count() == 1 && (activity::is_launcher(name) || RUNTIMES.contains(&name))
}

/// How long this program may take to its handshake, as long as it shows signs of life.
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

    /// The limit of 30 s: a start is given up when nothing has come for that long, and not a moment sooner.
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

    /// 10 min for what may download first, 30 s for every other program.
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
    fn a_failed_start_is_classed_by_what_was_seen() {
        for (code, message, hosted, noisy, expected) in [
            (Code::ExitedEarly, "it cannot be reached: invalid peer certificate", true, false, Code::Tls),
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
    fn a_missing_runtime_is_told_from_a_missing_program() {
        for (command, runtime) in
            [("npx", true), ("python3", true), ("docker", true), ("my-server", false), ("/opt/npx", false)]
        {
            assert_eq!(is_runtime(Path::new(command)), runtime, "{command}");
        }
    }
}
