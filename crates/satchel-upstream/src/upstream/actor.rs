//! The task of one upstream: carries out what its lifecycle decides and publishes its state.
//!
//! Theory of operation: the handle ([`Upstream`]) sends mail; the task owns the lifecycle, the connection and the
//! waiting callers. It sleeps until mail comes or the lifecycle's deadline. Starting and stopping run in tasks of
//! their own and report by mail, so the mailbox never waits for a process. When every handle is gone the task ends
//! the connection and itself.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    connect::Connection,
    dirty::Dirty,
    ending::Ending,
    handle::{Mail, Seen, Upstream},
    handshake::{Hello, failure},
    hold::{Gate, HoldUse},
    lease::{Lease, LeaseError},
    lifecycle::{Effect, Event, Failure, Lifecycle, Policy, Refusal, State, TIMEOUTS},
    link::{EndReason, Link},
    log::ServerLog,
    preflight::Preflight,
    roots::Roots,
    start::{Remembered, Start},
    surroundings::Surroundings,
    symptoms::closer,
};
use crate::{
    clock::now_ms,
    model::{
        Code, ServerConfig, ServerName,
        cause::FailureCause,
        snapshot::{During, LastFailure, Phase},
    },
    tasks::{Panicked, caught, may_fail_here},
};

/// A server that exits this soon after it was ready has failed. One that ran longer restarts on the next call without
/// notice.
const EARLY_END: Duration = Duration::from_secs(60);
/// Interval of checking whether a server is still in use.
const LOOK: Duration = Duration::from_millis(250);
/// Number of cold starts in the median.
const WAKES_KEPT: usize = 20;

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
        let log = ServerLog::at(&around.places.server_log(name.as_str()));
        Self::begin(WhoseTask { name, number, instance: None }, config, preflight, last_failure, around, log)
    }

    /// Starts the task of another instance of this server, with its number and the folders that it may know. Its lines in the
    /// log carry `mark`.
    pub fn another(
        &self,
        name: ServerName,
        (number, roots): (u64, Roots),
        config: ServerConfig,
        preflight: Preflight,
        mark: &str,
        around: Arc<Surroundings>,
    ) -> Self {
        let named = WhoseTask { name, number, instance: Some((number, roots)) };
        Self::begin(named, config, preflight, None, around, ServerLog::within(&self.log, mark))
    }

    fn begin(
        WhoseTask { name, number, instance }: WhoseTask,
        config: ServerConfig,
        preflight: Preflight,
        last_failure: Option<LastFailure>,
        around: Arc<Surroundings>,
        log: ServerLog,
    ) -> Self {
        // Unbounded: dropping a lease must not wait. All other messages are one per caller, and callers are bounded.
        let (mail, mailbox) = mpsc::unbounded_channel();
        let lifecycle = Lifecycle::new(policy_of(&config), number);
        let gate = Arc::<Gate>::default();
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
            instance,
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
}

fn policy_of(config: &ServerConfig) -> Policy {
    Policy { enabled: config.enabled, startup: config.startup, idle_timeout: config.idle_timeout }
}

struct Live {
    generation: u64,
    connection: Connection,
    hello: Arc<Hello>,
}

/// Whose task it is.
struct WhoseTask {
    name: ServerName,
    number: u64,
    instance: Option<(u64, Roots)>,
}

struct Actor {
    number: u64,
    /// Its number and its callers' folders, if not all callers share it.
    instance: Option<(u64, Roots)>,
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
            Mail::Happened(event) => self.happened(event),
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
            Mail::ListsRead(read) => self.lists_read(read),
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

    fn happened(&mut self, event: Event) {
        let is_of_a_call = matches!(event, Event::Proved { .. } | Event::TimedOut { .. });
        if !is_of_a_call {
            self.settle();
        }
        self.handle(event);
    }

    fn lists_read(&mut self, read: Result<(), Failure>) {
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
            instance: self.instance.clone(),
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
