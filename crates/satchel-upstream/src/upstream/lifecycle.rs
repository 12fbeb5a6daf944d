//! State machine of an upstream. No clock, no tokio, no I/O: time comes in, effects go out.
//!
//! Every start has a generation. What a process or a lease of an older generation reports is ignored, so a late
//! message can never stop, or count for, its successor.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::model::{Code, Startup, cause::FailureCause};

/// Consecutive failed starts after which a server is left alone.
pub const BROKEN_AFTER: u32 = 3;
/// The first pauses. A caller waits for at most [`PATIENCE`].
const BACK_OFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(15)];
/// Callers wait for a start that comes this soon; otherwise they are refused immediately, with the time.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// How long a broken server is left alone at first; doubled each time.
const BROKEN_FIRST: Duration = Duration::from_secs(5 * 60);
const BROKEN_MOST: Duration = Duration::from_secs(60 * 60);
/// A server that ran this long counts as proven, for the same time.
const PROVED_AFTER: Duration = Duration::from_secs(5 * 60);
/// A server that keeps exiting is restarted at most this often within [`ENDS_WITHIN`], however well it works in
/// between.
const ENDS: usize = 5;
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// The pause after something outside killed a working server: short enough for callers to wait.
const KILLED_BACK_OFF: Duration = Duration::from_secs(1);
/// The pause before a missing program is searched again; doubled each time.
const ABSENT_FIRST: Duration = Duration::from_secs(2);
const ABSENT_MOST: Duration = Duration::from_secs(60);

/// Consecutive timeouts after which a server is restarted.
pub const TIMEOUTS: u32 = 5;

/// The user's settings that affect the lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Is it enabled?
    pub enabled: bool,
    /// When it is started.
    pub startup: Startup,
    /// Idle time after which it is stopped.
    pub idle_timeout: Duration,
}

impl Policy {
    /// Does it keep running after its first start?
    fn kept(self) -> bool {
        matches!(self.startup, Startup::KeepAlive | Startup::Eager)
    }
}

/// Why a start or a connection failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its code.
    pub code: Code,
    /// The message, naming what was tried.
    pub message: String,
    /// The same in parts, where it has some.
    pub cause: Option<Box<FailureCause>>,
    /// Names of the missing secrets and variables.
    pub missing: Vec<String>,
}

impl Failure {
    /// A failure without parts that lacks no credential.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), cause: None, missing: vec![] }
    }

    /// With its message in parts.
    #[must_use]
    pub fn because(self, cause: FailureCause) -> Self {
        Self { cause: Some(Box::new(cause)), ..self }
    }

    /// Nothing was started: the program is missing or not executable, or its sandbox cannot be set up.
    fn is_absent(&self) -> bool {
        matches!(
            self.code,
            Code::SpawnNotFound
                | Code::RuntimeMissing
                | Code::SpawnDenied
                | Code::SandboxUnusable
                | Code::EntryWrong
        )
    }

    /// Retrying cannot help: a person has to change something first.
    fn is_final(&self) -> bool {
        self.is_absent()
            || matches!(
                self.code,
                Code::ProtocolVersion | Code::ConfigInvalid | Code::HeldBack | Code::Deleted
            )
    }

    /// The server was killed from outside.
    fn is_from_outside(&self) -> bool {
        self.code == Code::OomKilled
    }
}

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Switched off.
    Off,
    /// Not running, ready to be started.
    Asleep,
    /// Starting, with this many callers waiting.
    Starting {
        /// Since when.
        since: Instant,
        /// Number of waiting callers.
        waiting: usize,
    },
    /// Connected.
    Ready {
        /// Since when.
        since: Instant,
        /// Number of leases held.
        leases: usize,
        /// Since when no lease is held.
        idle_since: Option<Instant>,
    },
    /// Stopping; callers that arrived since wait for the next start.
    Stopping {
        /// Number of waiting callers.
        waiting: usize,
        /// Restart afterwards, even without callers.
        again: bool,
    },
    /// A start failed; the next is made at `until`, or on a later request.
    BackingOff {
        /// The time.
        until: Instant,
        /// The failure.
        failure: Failure,
        /// Number of waiting callers.
        waiting: usize,
    },
    /// Too many starts failed.
    Broken {
        /// The time of the next attempt.
        until: Instant,
        /// The failure.
        failure: Failure,
    },
    /// Cannot start until a credential is set.
    NeedsCredential {
        /// What is missing, and why.
        failure: Failure,
    },
}

/// An input of the state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A caller needs the server.
    Wanted,
    /// A lease was returned.
    Released {
        /// The generation it belonged to.
        generation: u64,
    },
    /// The server answered a call.
    Proved {
        /// Its generation.
        generation: u64,
    },
    /// A call timed out.
    TimedOut {
        /// Its generation.
        generation: u64,
        /// No other call is in flight, which a restart would abort.
        alone: bool,
    },
    /// A start succeeded.
    Connected(u64),
    /// A start failed.
    Failed(u64, Failure),
    /// A connection ended unexpectedly.
    Ended(u64, Failure),
    /// A stop is complete.
    Stopped(u64),
    /// The [`Lifecycle::deadline`] has passed.
    Timer,
    /// The settings changed.
    Policy(Policy),
    /// A person starts or restarts it.
    Restart,
    /// A person stops it or cancels its start. Calls in flight are finished.
    Rest,
    /// Credentials changed; missing ones may be set now.
    Renewed,
    /// A person dismissed the failure.
    Dismissed,
}

/// An output of the state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start this generation.
    Start(u64),
    /// Stop this generation; respond with [`Event::Stopped`].
    Stop(u64),
    /// Give every waiting caller a lease of this generation.
    Grant(u64),
    /// Refuse every waiting caller.
    Refuse(Refusal),
}

/// Why callers are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Switched off.
    Off,
    /// Started by a person only, and not running.
    Manual,
    /// A person cancelled its start.
    GivenUp,
    /// The start failed.
    Failed(Failure),
    /// It failed earlier; not retried before the given time.
    Waiting(Failure, Instant),
}

/// The lifecycle of one server, as a state machine.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    policy: Policy,
    state: State,
    generation: u64,
    failures: u32,
    breaks: u32,
    restarts: u64,
    /// Consecutive timeouts.
    timeouts: u32,
    /// When it last answered a call.
    proved: Option<Instant>,
    /// When it recently exited or failed to start, as far as it counts.
    ends: VecDeque<Instant>,
    /// Varies by server, so that those which fail together do not retry together.
    number: u64,
}

impl Lifecycle {
    /// A server that was never started. Feed it [`Event::Policy`] once to start an eager one. `number` differs between
    /// the servers of a hub.
    pub fn new(policy: Policy, number: u64) -> Self {
        let state = if policy.enabled { State::Asleep } else { State::Off };
        Self {
            policy,
            state,
            generation: 0,
            failures: 0,
            breaks: 0,
            restarts: 0,
            timeouts: 0,
            proved: None,
            ends: VecDeque::new(),
            number,
        }
    }

    /// The same server as if never started, after a panic. Generation numbers continue.
    pub fn afresh(&self) -> Self {
        let ends = self.ends.clone();
        let (generation, restarts) = (self.generation, self.restarts);
        Self { generation, restarts, ends, ..Self::new(self.policy, self.number) }
    }

    /// Its state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The generation of the latest start.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Consecutive failed starts.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Number of starts after a failure.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// When it goes to sleep if it stays unused.
    pub fn sleeps_at(&self) -> Option<Instant> {
        match &self.state {
            State::Ready { idle_since: Some(since), .. } if !self.policy.kept() => {
                since.checked_add(self.policy.idle_timeout)
            }
            _ => None,
        }
    }

    /// When [`Event::Timer`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::BackingOff { until, .. } => Some(*until),
            State::Broken { until, failure } if self.policy.kept() && !failure.is_final() => Some(*until),
            _ => self.sleeps_at(),
        }
    }

    /// Handles an event at `now`, and returns the effects in order.
    pub fn on(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        match event {
            Event::Wanted => self.wanted(now),
            Event::Released { generation } => self.released(generation, now),
            Event::Proved { generation } => self.proved(generation, now),
            Event::TimedOut { generation, alone } => self.timed_out(generation, alone),
            Event::Connected(generation) => self.connected(generation, now),
            Event::Failed(generation, failure) => self.failed(generation, failure, now),
            Event::Ended(generation, failure) => self.ended(generation, failure, now),
            Event::Stopped(generation) => self.stopped(generation, now),
            Event::Timer => self.timer(now),
            Event::Policy(policy) => self.policy(policy, now),
            Event::Restart => self.restart(now),
            Event::Rest => self.rest(),
            Event::Renewed => self.renewed(now),
            Event::Dismissed => self.dismissed(),
        }
    }

    fn wanted(&mut self, now: Instant) -> Vec<Effect> {
        match &mut self.state {
            State::Off => vec![Effect::Refuse(Refusal::Off)],
            State::Asleep if self.policy.startup == Startup::Manual => vec![Effect::Refuse(Refusal::Manual)],
            State::Asleep => self.start(1, now),
            State::Starting { waiting, .. } | State::Stopping { waiting, .. } => {
                *waiting += 1;
                vec![]
            }
            State::Ready { leases, idle_since, .. } => {
                *leases += 1;
                *idle_since = None;
                vec![Effect::Grant(self.generation)]
            }
            State::BackingOff { until, waiting, failure } => {
                if *until <= now {
                    self.start(1, now)
                } else if *until - now <= PATIENCE {
                    *waiting += 1;
                    vec![]
                } else {
                    vec![Effect::Refuse(Refusal::Waiting(failure.clone(), *until))]
                }
            }
            State::Broken { until, .. } if *until <= now => self.start(1, now),
            State::Broken { until, failure } => {
                vec![Effect::Refuse(Refusal::Waiting(failure.clone(), *until))]
            }
            // Another program may have set it in the meantime: checking is cheap and starts nothing.
            State::NeedsCredential { .. } => self.start(1, now),
        }
    }

    fn proved(&mut self, generation: u64, now: Instant) -> Vec<Effect> {
        if generation == self.generation {
            self.timeouts = 0;
            self.failures = 0;
            self.breaks = 0;
            self.proved = Some(now);
        }
        vec![]
    }

    fn released(&mut self, generation: u64, now: Instant) -> Vec<Effect> {
        if generation != self.generation {
            return vec![];
        }
        if let State::Ready { leases, idle_since, .. } = &mut self.state {
            *leases = leases.saturating_sub(1);
            if *leases == 0 {
                *idle_since = Some(now);
            }
        }
        vec![]
    }

    /// Stops a server that answers nobody any more; the next caller starts it.
    fn timed_out(&mut self, generation: u64, alone: bool) -> Vec<Effect> {
        if generation != self.generation || !matches!(self.state, State::Ready { .. }) {
            return vec![];
        }
        self.timeouts += 1;
        if self.timeouts < TIMEOUTS || !alone { vec![] } else { self.stop(self.policy.kept()) }
    }

    fn connected(&mut self, generation: u64, now: Instant) -> Vec<Effect> {
        match self.state {
            State::Starting { waiting, .. } if generation == self.generation => {
                let idle_since = (waiting == 0).then_some(now);
                self.timeouts = 0;
                self.state = State::Ready { since: now, leases: waiting, idle_since };
                vec![Effect::Grant(generation)]
            }
            _ => vec![],
        }
    }

    fn failed(&mut self, generation: u64, failure: Failure, now: Instant) -> Vec<Effect> {
        if generation != self.generation || !matches!(self.state, State::Starting { .. }) {
            return vec![];
        }
        if !failure.missing.is_empty() || failure.code.is_sign_in() {
            self.state = State::NeedsCredential { failure: failure.clone() };
            return vec![Effect::Refuse(Refusal::Failed(failure))];
        }
        self.back_off(failure.clone(), now);
        vec![Effect::Refuse(Refusal::Failed(failure))]
    }

    fn ended(&mut self, generation: u64, failure: Failure, now: Instant) -> Vec<Effect> {
        let State::Ready { since, .. } = self.state else { return vec![] };
        if generation != self.generation {
            return vec![];
        }
        if now - since >= PROVED_AFTER {
            self.failures = 0;
        }
        if failure.code.is_sign_in() {
            self.state = State::NeedsCredential { failure };
            return vec![Effect::Stop(generation)];
        }
        self.back_off(failure, now);
        // Stops what it left behind, above all child processes.
        vec![Effect::Stop(generation)]
    }

    fn back_off(&mut self, failure: Failure, now: Instant) {
        let works = self.proved.is_some_and(|proved| now - proved < PROVED_AFTER);
        if works && failure.is_from_outside() {
            // Being killed says nothing about the server, so it does not count as its failure.
            let until = now + self.scattered(KILLED_BACK_OFF);
            self.state = State::BackingOff { until, failure, waiting: 0 };
            return;
        }
        if self.ends.len() == ENDS {
            self.ends.pop_front();
        }
        self.ends.push_back(now);
        self.failures += 1;
        if failure.is_absent() {
            let pause = ABSENT_FIRST.saturating_mul(1 << (self.failures - 1).min(8)).min(ABSENT_MOST);
            self.state = State::Broken { until: now + pause, failure };
        } else if self.failures >= BROKEN_AFTER || failure.is_final() {
            let pause = BROKEN_FIRST.saturating_mul(1 << self.breaks.min(8)).min(BROKEN_MOST);
            self.breaks += 1;
            self.state = State::Broken { until: now + pause, failure };
        } else {
            let pause = BACK_OFF[(self.failures as usize - 1).min(BACK_OFF.len() - 1)];
            let mut until = now + self.scattered(pause);
            if self.ends.len() == ENDS
                && let Some(first) = self.ends.front()
            {
                until = until.max(*first + ENDS_WITHIN);
            }
            self.state = State::BackingOff { until, failure, waiting: 0 };
        }
    }

    /// Shortened by up to a fifth, depending on server and start.
    fn scattered(&self, pause: Duration) -> Duration {
        let mixed = (self.number ^ self.generation.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        pause - pause.mul_f64(0.2 * (mixed as f64 / f64::from(u32::MAX)))
    }

    fn stopped(&mut self, generation: u64, now: Instant) -> Vec<Effect> {
        if generation != self.generation {
            return vec![];
        }
        let State::Stopping { waiting, again } = self.state else { return vec![] };
        if !self.policy.enabled {
            self.state = State::Off;
            return if waiting > 0 { vec![Effect::Refuse(Refusal::Off)] } else { vec![] };
        }
        if waiting > 0 || again {
            return self.start(waiting, now);
        }
        self.state = State::Asleep;
        vec![]
    }

    fn timer(&mut self, now: Instant) -> Vec<Effect> {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return vec![];
        }
        match self.state {
            State::BackingOff { waiting, .. } if waiting > 0 || self.policy.kept() => {
                self.start(waiting, now)
            }
            // Asleep rather than failed: the next caller retries.
            State::BackingOff { .. } => {
                self.state = State::Asleep;
                vec![]
            }
            State::Broken { .. } => self.start(0, now),
            State::Ready { .. } => self.stop(false),
            State::Off
            | State::Asleep
            | State::Starting { .. }
            | State::Stopping { .. }
            | State::NeedsCredential { .. } => vec![],
        }
    }

    fn policy(&mut self, policy: Policy, now: Instant) -> Vec<Effect> {
        self.policy = policy;
        match self.state {
            State::Off if policy.enabled => {
                self.state = State::Asleep;
                self.failures = 0;
                self.breaks = 0;
                self.start_if_eager(now)
            }
            State::Asleep if policy.enabled => self.start_if_eager(now),
            State::Starting { .. } | State::Ready { .. } if !policy.enabled => {
                let mut effects = self.stop(false);
                effects.push(Effect::Refuse(Refusal::Off));
                effects
            }
            State::Asleep
            | State::Broken { .. }
            | State::NeedsCredential { .. }
            | State::BackingOff { .. }
                if !policy.enabled =>
            {
                self.state = State::Off;
                vec![Effect::Refuse(Refusal::Off)]
            }
            _ => vec![],
        }
    }

    fn start_if_eager(&mut self, now: Instant) -> Vec<Effect> {
        if self.policy.startup == Startup::Eager { self.start(0, now) } else { vec![] }
    }

    fn restart(&mut self, now: Instant) -> Vec<Effect> {
        self.ends.clear();
        self.failures = 0;
        self.breaks = 0;
        match self.state {
            State::Off => vec![Effect::Refuse(Refusal::Off)],
            State::Starting { waiting, .. } => {
                let effects = self.stop(true);
                if let State::Stopping { waiting: still, .. } = &mut self.state {
                    *still = waiting;
                }
                effects
            }
            State::Ready { .. } => self.stop(true),
            State::Stopping { ref mut again, .. } => {
                *again = true;
                vec![]
            }
            State::BackingOff { waiting, .. } => self.start(waiting, now),
            State::Asleep | State::Broken { .. } | State::NeedsCredential { .. } => self.start(0, now),
        }
    }

    fn rest(&mut self) -> Vec<Effect> {
        match self.state {
            State::Ready { leases: 0, .. } => self.stop(false),
            State::Starting { waiting, .. } => {
                let mut effects = self.stop(false);
                if waiting > 0 {
                    effects.push(Effect::Refuse(Refusal::GivenUp));
                }
                effects
            }
            State::Stopping { ref mut again, .. } => {
                *again = false;
                vec![]
            }
            State::Off
            | State::Asleep
            | State::Ready { .. }
            | State::BackingOff { .. }
            | State::Broken { .. }
            | State::NeedsCredential { .. } => vec![],
        }
    }

    fn renewed(&mut self, now: Instant) -> Vec<Effect> {
        if matches!(self.state, State::NeedsCredential { .. }) {
            self.state = State::Asleep;
            return if self.policy.kept() { self.start(0, now) } else { vec![] };
        }
        vec![]
    }

    /// Automatic restarts and starts with waiting callers continue.
    fn dismissed(&mut self) -> Vec<Effect> {
        if !self.policy.kept()
            && matches!(
                self.state,
                State::Broken { .. } | State::BackingOff { waiting: 0, .. } | State::NeedsCredential { .. }
            )
        {
            self.state = State::Asleep;
        }
        vec![]
    }

    fn start(&mut self, waiting: usize, now: Instant) -> Vec<Effect> {
        self.generation += 1;
        self.restarts += u64::from(self.failures > 0);
        self.state = State::Starting { since: now, waiting };
        vec![Effect::Start(self.generation)]
    }

    fn stop(&mut self, again: bool) -> Vec<Effect> {
        self.state = State::Stopping { waiting: 0, again };
        vec![Effect::Stop(self.generation)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lazy() -> Policy {
        Policy { enabled: true, startup: Startup::Lazy, idle_timeout: Duration::from_secs(180) }
    }

    fn failure() -> Failure {
        Failure::new(Code::ExitedEarly, "it ended")
    }

    /// Feeds events with their times in seconds, and returns the lifecycle and the last effects.
    fn play(policy: Policy, events: &[(u64, Event)]) -> (Lifecycle, Vec<Effect>, Instant) {
        let start = Instant::now();
        let mut lifecycle = Lifecycle::new(policy, 0);
        let mut last = vec![];
        for (second, event) in events {
            last = lifecycle.on(event.clone(), start + Duration::from_secs(*second));
        }
        (lifecycle, last, start)
    }

    /// Retrying cannot help: nothing is tried until someone signs in, or calls.
    #[test]
    fn a_server_that_wants_a_sign_in_waits_for_it() {
        let needs = || Failure::new(Code::NeedsSignIn, "it wants a sign-in");
        for lost in [Event::Failed(1, needs()), Event::Ended(1, needs())] {
            let connected = matches!(lost, Event::Ended(..)).then_some((1, Event::Connected(1)));
            let events: Vec<_> =
                [(0, Event::Wanted)].into_iter().chain(connected).chain([(2, lost)]).collect();
            let (mut lifecycle, _, start) = play(lazy(), &events);
            assert!(matches!(lifecycle.state(), State::NeedsCredential { .. }), "{:?}", lifecycle.state());
            assert_eq!(lifecycle.deadline(), None);
            lifecycle.on(Event::Renewed, start + Duration::from_secs(3));
            assert_eq!(*lifecycle.state(), State::Asleep);
        }
    }

    #[test]
    fn a_person_lets_it_rest_but_cuts_no_call_off() {
        let (lifecycle, effects, _) =
            play(lazy(), &[(0, Event::Restart), (1, Event::Connected(1)), (2, Event::Rest)]);
        assert_eq!(
            (lifecycle.state(), effects),
            (&State::Stopping { waiting: 0, again: false }, vec![Effect::Stop(1)])
        );
        let (lifecycle, effects, _) =
            play(lazy(), &[(0, Event::Wanted), (1, Event::Connected(1)), (2, Event::Rest)]);
        assert!(matches!(lifecycle.state(), State::Ready { leases: 1, .. }));
        assert_eq!(effects, []);
    }

    #[test]
    fn an_aborted_start_refuses_its_waiting_callers() {
        let (lifecycle, effects, _) = play(lazy(), &[(0, Event::Wanted), (1, Event::Rest)]);
        assert_eq!(effects, [Effect::Stop(1), Effect::Refuse(Refusal::GivenUp)]);
        assert_eq!(lifecycle.state(), &State::Stopping { waiting: 0, again: false });
        let (lifecycle, _, _) = play(lazy(), &[(0, Event::Wanted), (1, Event::Rest), (2, Event::Stopped(1))]);
        assert_eq!(lifecycle.state(), &State::Asleep);
    }

    #[test]
    fn a_dismissed_failure_leaves_it_asleep_unless_it_is_to_run() {
        let failed: Vec<(u64, Event)> = (0..3)
            .flat_map(|n| {
                [
                    (n * 100, Event::Wanted),
                    (n * 100 + 1, Event::Failed(n + 1, failure())),
                    (n * 100 + 90, Event::Timer),
                ]
            })
            .chain([(300, Event::Dismissed)])
            .collect();
        assert_eq!(play(lazy(), &failed).0.state(), &State::Asleep);
        let kept = Policy { startup: Startup::KeepAlive, ..lazy() };
        let absent = Failure { code: Code::SpawnNotFound, ..failure() };
        let (lifecycle, ..) =
            play(kept, &[(0, Event::Wanted), (1, Event::Failed(1, absent)), (2, Event::Dismissed)]);
        assert!(matches!(lifecycle.state(), State::Broken { .. }));
    }

    fn proved(generation: u64) -> Event {
        Event::Proved { generation }
    }

    fn released(generation: u64) -> Event {
        Event::Released { generation }
    }

    #[test]
    fn a_second_caller_does_not_start_it_twice() {
        let (_, effects, _) = play(lazy(), &[(0, Event::Wanted)]);
        assert_eq!(effects, [Effect::Start(1)]);
        let (lifecycle, effects, start) =
            play(lazy(), &[(0, Event::Wanted), (1, Event::Wanted), (2, Event::Connected(1))]);
        assert_eq!(effects, [Effect::Grant(1)]);
        let since = start + Duration::from_secs(2);
        assert_eq!(lifecycle.state(), &State::Ready { since, leases: 2, idle_since: None });
    }

    #[test]
    fn it_sleeps_only_after_the_idle_time_without_a_lease() {
        let awake = [(0, Event::Wanted), (1, Event::Connected(1))];
        let (lifecycle, _, _) = play(lazy(), &awake);
        assert_eq!(lifecycle.deadline(), None, "never during a call");
        let idle = [&awake[..], &[(5, released(1))]].concat();
        let (mut lifecycle, _, start) = play(lazy(), &idle);
        assert_eq!(lifecycle.deadline(), Some(start + Duration::from_secs(185)));
        assert_eq!(lifecycle.on(Event::Timer, start + Duration::from_secs(184)), []);
        assert_eq!(lifecycle.on(Event::Timer, start + Duration::from_secs(185)), [Effect::Stop(1)]);
        assert_eq!(lifecycle.on(Event::Stopped(1), start + Duration::from_secs(186)), []);
        assert_eq!(lifecycle.state(), &State::Asleep);
    }

    #[test]
    fn a_call_during_shutdown_of_a_server_starts_a_new_process() {
        let events = [
            (0, Event::Wanted),
            (1, Event::Connected(1)),
            (2, released(1)),
            (200, Event::Timer),
            (200, Event::Wanted),
            (201, Event::Stopped(1)),
        ];
        let (lifecycle, effects, _) = play(lazy(), &events);
        assert_eq!(effects, [Effect::Start(2)]);
        assert!(matches!(lifecycle.state(), State::Starting { waiting: 1, .. }));
    }

    #[test]
    fn a_lease_of_an_older_generation_counts_for_nothing() {
        let events = [
            (0, Event::Wanted),
            (1, Event::Connected(1)),
            (2, Event::Ended(1, failure())),
            (4, Event::Wanted),
            (5, Event::Connected(2)),
            (6, released(1)),
        ];
        let (lifecycle, _, _) = play(lazy(), &events);
        assert!(
            matches!(lifecycle.state(), State::Ready { leases: 1, idle_since: None, .. }),
            "{lifecycle:?}"
        );
    }

    #[test]
    fn the_third_failed_start_in_a_row_leaves_it_alone_until_a_person_wants_it() {
        let failed = |generation| Event::Failed(generation, failure());
        let events = [
            (0, Event::Wanted),
            (0, failed(1)),
            (10, Event::Wanted),
            (10, failed(2)),
            (60, Event::Wanted),
            (60, failed(3)),
        ];
        let (mut lifecycle, effects, start) = play(lazy(), &events);
        assert_eq!(effects, [Effect::Refuse(Refusal::Failed(failure()))]);
        let until = start + Duration::from_secs(360);
        assert_eq!(lifecycle.state(), &State::Broken { until, failure: failure() });
        let soon = start + Duration::from_secs(100);
        assert_eq!(lifecycle.on(Event::Wanted, soon), [Effect::Refuse(Refusal::Waiting(failure(), until))]);
        assert_eq!(lifecycle.clone().on(Event::Wanted, until), [Effect::Start(4)]);
        assert_eq!(lifecycle.on(Event::Restart, soon), [Effect::Start(4)]);
        assert_eq!(lifecycle.failures(), 0);
    }

    fn failed_as(code: Code, generation: u64) -> Event {
        Event::Failed(generation, Failure { code, ..failure() })
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        let eager = Policy { startup: Startup::Eager, ..lazy() };
        for code in [Code::ProtocolVersion, Code::SpawnNotFound, Code::SpawnDenied, Code::RuntimeMissing] {
            let (lifecycle, _, _) = play(eager, &[(0, Event::Policy(eager)), (0, failed_as(code, 1))]);
            assert!(matches!(lifecycle.state(), State::Broken { .. }), "{code:?}");
            assert_eq!(lifecycle.deadline(), None, "{code:?}: never by itself");
        }
        // Searching for a program starts nothing, so later callers find what was installed in the meantime.
        let (_, effects, _) =
            play(lazy(), &[(0, Event::Wanted), (0, failed_as(Code::SpawnNotFound, 1)), (2, Event::Wanted)]);
        assert_eq!(effects, [Effect::Start(2)]);
    }

    #[test]
    fn a_server_that_works_is_not_left_alone_because_something_kills_it() {
        let mut events = vec![(0, Event::Wanted), (0, Event::Connected(1)), (1, proved(1))];
        let killed = |generation| Event::Ended(generation, Failure { code: Code::OomKilled, ..failure() });
        events.push((2, killed(1)));
        for round in 1..=50 {
            events.extend([(round * 4, Event::Wanted), (round * 4, failed_as(Code::OomKilled, round + 1))]);
        }
        let (lifecycle, _, start) = play(lazy(), &events);
        let State::BackingOff { until, .. } = lifecycle.state() else { panic!("{lifecycle:?}") };
        assert!(*until - (start + Duration::from_secs(200)) <= PATIENCE);
        // One that never worked, or not recently, is.
        let never = [(0, 1), (20, 2), (40, 3)];
        let never: Vec<_> = never
            .into_iter()
            .flat_map(|(at, generation)| [(at, Event::Wanted), (at, failed_as(Code::OomKilled, generation))])
            .collect();
        assert!(matches!(play(lazy(), &never).0.state(), State::Broken { .. }));
    }

    #[test]
    fn servers_that_fail_together_come_back_scattered_within_the_break() {
        let pauses: std::collections::BTreeSet<Duration> = (0..50)
            .map(|number| {
                let (mut lifecycle, now) = (Lifecycle::new(lazy(), number), Instant::now());
                lifecycle.on(Event::Wanted, now);
                lifecycle.on(Event::Failed(1, failure()), now);
                lifecycle.deadline().unwrap() - now
            })
            .collect();
        assert!(pauses.len() > 40, "{pauses:?}");
        assert!(pauses.iter().all(|pause| (BACK_OFF[0].mul_f64(0.79)..=BACK_OFF[0]).contains(pause)));
    }

    #[test]
    fn a_short_break_is_waited_through_and_a_long_one_is_refused() {
        let (lifecycle, effects, _) =
            play(lazy(), &[(0, Event::Wanted), (0, Event::Failed(1, failure())), (0, Event::Wanted)]);
        assert_eq!(effects, []);
        assert!(matches!(lifecycle.state(), State::BackingOff { waiting: 1, .. }));
        let (_, effects, _) = play(
            lazy(),
            &[(0, Event::Wanted), (0, Event::Failed(1, failure())), (0, Event::Wanted), (1, Event::Timer)],
        );
        assert_eq!(effects, [Effect::Start(2)]);
    }

    #[test]
    fn a_crash_after_good_calls_does_not_count_towards_broken() {
        let mut events = vec![];
        for round in 0..20 {
            let generation = round + 1;
            events.extend([
                (round * 20, Event::Wanted),
                (round * 20 + 1, Event::Connected(generation)),
                (round * 20 + 2, proved(generation)),
                (round * 20 + 3, Event::Ended(generation, failure())),
            ]);
        }
        let (lifecycle, _, _) = play(lazy(), &events);
        assert!(matches!(lifecycle.state(), State::BackingOff { .. }), "{lifecycle:?}");
    }

    #[test]
    fn one_that_works_and_keeps_ending_is_started_five_times_a_minute_and_no_more() {
        // It answers, and exits three seconds after its start. Someone always needs it.
        let mut events = vec![];
        for round in 0..5 {
            let generation = round + 1;
            events.extend([
                (round * 6, Event::Wanted),
                (round * 6 + 1, Event::Connected(generation)),
                (round * 6 + 2, proved(generation)),
                (round * 6 + 3, Event::Ended(generation, failure())),
                (round * 6 + 3, Event::Stopped(generation)),
            ]);
        }
        let (four, _, start) = play(lazy(), &events[..20]);
        assert_eq!(four.clone().on(Event::Wanted, start + Duration::from_secs(24)), [Effect::Start(5)]);
        let (mut five, _, start) = play(lazy(), &events);
        let full = start + Duration::from_secs(3) + ENDS_WITHIN;
        assert_eq!(five.deadline(), Some(full));
        let refused = five.clone().on(Event::Wanted, full - PATIENCE - Duration::from_secs(1));
        assert_eq!(refused, [Effect::Refuse(Refusal::Waiting(failure(), full))]);
        assert_eq!(five.clone().on(Event::Wanted, full), [Effect::Start(6)]);
        assert_eq!(five.on(Event::Restart, full - PATIENCE), [Effect::Start(6)], "a person may at any time");
    }

    #[test]
    fn five_unanswered_calls_in_a_row_restart_the_server_and_end_no_other_call() {
        let late = |alone| Event::TimedOut { generation: 1, alone };
        let answered = proved(1);
        let ready = [(0, Event::Wanted), (0, Event::Connected(1))];
        let after = |more: &[Event]| {
            let more = more.iter().map(|event| (1, event.clone()));
            play(lazy(), &ready.iter().cloned().chain(more).collect::<Vec<_>>())
        };
        assert_eq!(after(&[late(true), late(true), late(true), late(true)]).1, []);
        let (mut lifecycle, effects, start) =
            after(&[late(true), late(true), late(true), late(true), late(true)]);
        assert_eq!(effects, [Effect::Stop(1)]);
        assert_eq!(lifecycle.on(Event::Wanted, start), []);
        assert_eq!(lifecycle.on(Event::Stopped(1), start), [Effect::Start(2)]);
        // Any answer in between counts; a call of another client is not aborted.
        let answers = [late(true), late(true), answered, late(true), late(true), late(true), late(true)];
        assert_eq!(after(&answers).1, []);
        let busy = [late(true), late(true), late(true), late(true), late(false)];
        assert_eq!(after(&busy).1, []);
        assert_eq!(after(&[busy.as_slice(), &[late(true)]].concat()).1, [Effect::Stop(1)]);
        let older = Event::TimedOut { generation: 0, alone: true };
        assert_eq!(after(&vec![older; 9]).1, []);
    }

    #[test]
    fn disabling_a_server_stops_it_and_refuses_waiting_callers() {
        let off = Policy { enabled: false, ..lazy() };
        let (lifecycle, effects, _) = play(lazy(), &[(0, Event::Wanted), (1, Event::Policy(off))]);
        assert_eq!(effects, [Effect::Stop(1), Effect::Refuse(Refusal::Off)]);
        assert!(matches!(lifecycle.state(), State::Stopping { .. }));
        let (lifecycle, effects, _) = play(
            lazy(),
            &[(0, Event::Wanted), (1, Event::Policy(off)), (2, Event::Connected(1)), (3, Event::Stopped(1))],
        );
        assert_eq!((lifecycle.state(), effects), (&State::Off, vec![]));
    }

    #[test]
    fn each_startup_mode_starts_when_it_says() {
        let with = |startup| Policy { startup, ..lazy() };
        let first = |startup| play(with(startup), &[(0, Event::Policy(with(startup)))]).1;
        assert_eq!(first(Startup::Eager), [Effect::Start(1)]);
        for startup in [Startup::Lazy, Startup::KeepAlive, Startup::Manual] {
            assert_eq!(first(startup), [], "{startup:?}");
        }
        let (_, effects, _) = play(with(Startup::Manual), &[(0, Event::Wanted)]);
        assert_eq!(effects, [Effect::Refuse(Refusal::Manual)]);
        let (lifecycle, _, _) =
            play(with(Startup::KeepAlive), &[(0, Event::Wanted), (1, Event::Connected(1)), (2, released(1))]);
        assert_eq!(lifecycle.deadline(), None);
        let (_, effects, _) = play(
            with(Startup::KeepAlive),
            &[
                (0, Event::Wanted),
                (1, Event::Connected(1)),
                (2, Event::Ended(1, failure())),
                (3, Event::Timer),
            ],
        );
        assert_eq!(effects, [Effect::Start(2)]);
    }

    #[test]
    fn a_missing_credential_is_looked_for_again_when_asked_and_when_it_was_set() {
        let missing = Failure { missing: vec!["T".into()], ..Failure::new(Code::NeedsCredential, "") };
        let events = [(0, Event::Wanted), (0, Event::Failed(1, missing.clone()))];
        let (lifecycle, effects, start) = play(lazy(), &events);
        assert_eq!(effects, [Effect::Refuse(Refusal::Failed(missing))]);
        assert_eq!(lifecycle.clone().on(Event::Wanted, start), [Effect::Start(2)]);
        let mut renewed = lifecycle;
        assert_eq!(renewed.on(Event::Renewed, start), []);
        assert_eq!(renewed.state(), &State::Asleep);
    }
}
