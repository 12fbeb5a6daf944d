//! Checks the lifecycle against a model of its environment with random histories. A failure prints its seed and the
//! shortest failing history.
//!
//! `SATCHEL_SOAK=1` plays as many as the goal sheet wants for a night.

use std::time::Duration;

use tokio::time::Instant;

use super::lifecycle::{Effect, Event, Failure, Lifecycle, Policy, State};
use crate::model::{Code, Startup};

const LENGTH: usize = 40;

/// An injected fault: modifies the effects.
type Spoil = fn(Vec<Effect>) -> Vec<Effect>;

/// One step of a history. Numbers select among what exists at that moment, so that every part of a history is a valid
/// history.
#[derive(Debug, Clone, Copy)]
enum ModelStep {
    Wanted,
    Release(usize),
    Prove,
    Connected,
    Failed(usize),
    Ended(usize),
    Stopped,
    /// A late report of an older generation.
    Late(usize, u64),
    Policy(usize),
    Restart,
    Renewed,
    /// Time passes; the timer may fire early.
    Pass(u64),
    /// Time passes until the deadline.
    Due,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Starting,
    Live,
    Stopping,
}

/// A model of the actor, its process and its callers.
struct World {
    lifecycle: Lifecycle,
    policy: Policy,
    now: Instant,
    process: Option<(u64, Phase)>,
    waiters: usize,
    leases: Vec<u64>,
    spoil: Spoil,
}

const FAILURES: [(Code, bool); 6] = [
    (Code::ExitedEarly, false),
    (Code::OomKilled, false),
    (Code::SpawnNotFound, false),
    (Code::ProtocolVersion, false),
    (Code::HandshakeTimeout, false),
    (Code::NeedsCredential, true),
];

fn failure(which: usize) -> Failure {
    let (code, missing) = FAILURES[which % FAILURES.len()];
    let missing = if missing { vec!["KEY".to_owned()] } else { vec![] };
    Failure { missing, ..Failure::new(code, "") }
}

fn policy(which: usize) -> Policy {
    let startup = [Startup::Lazy, Startup::KeepAlive, Startup::Eager, Startup::Manual][which % 4];
    Policy { enabled: which % 12 < 8, startup, idle_timeout: Duration::from_secs(180) }
}

fn random_step(random: &mut fastrand::Rng) -> ModelStep {
    match random.u32(..100) {
        0..20 => ModelStep::Wanted,
        20..35 => {
            if random.bool() {
                ModelStep::Release(random.usize(..))
            } else {
                ModelStep::Prove
            }
        }
        35..50 => ModelStep::Connected,
        50..57 => ModelStep::Failed(random.usize(..)),
        57..63 => ModelStep::Ended(random.usize(..)),
        63..72 => ModelStep::Stopped,
        72..78 => ModelStep::Late(random.usize(..), random.u64(..)),
        78..84 => ModelStep::Policy(random.usize(..)),
        84..88 => ModelStep::Restart,
        88..90 => ModelStep::Renewed,
        90..95 => ModelStep::Pass(random.u64(..400_000)),
        _ => ModelStep::Due,
    }
}

impl World {
    fn new(first: usize, spoil: Spoil) -> Self {
        let policy = policy(first);
        let lifecycle = Lifecycle::new(policy, first as u64);
        Self { lifecycle, policy, now: Instant::now(), process: None, waiters: 0, leases: vec![], spoil }
    }

    fn step(&mut self, step: ModelStep) -> Result<(), String> {
        let event = match (step, self.process) {
            (ModelStep::Wanted, _) => {
                self.waiters += 1;
                Event::Wanted
            }
            (ModelStep::Release(which), _) if !self.leases.is_empty() => {
                let generation = self.leases.swap_remove(which % self.leases.len());
                Event::Released { generation }
            }
            (ModelStep::Prove, _) if !self.leases.is_empty() => Event::Proved { generation: self.leases[0] },
            (ModelStep::Connected, Some((generation, Phase::Starting))) => {
                self.process = Some((generation, Phase::Live));
                Event::Connected(generation)
            }
            (ModelStep::Failed(which), Some((generation, Phase::Starting))) => {
                self.process = None;
                Event::Failed(generation, failure(which))
            }
            (ModelStep::Ended(which), Some((generation, Phase::Live))) => {
                self.process = None;
                Event::Ended(generation, failure(which % 2))
            }
            // Stopping ends the connection, which is reported too.
            (ModelStep::Ended(which), Some((generation, Phase::Stopping))) => {
                Event::Ended(generation, failure(which % 2))
            }
            (ModelStep::Stopped, Some((generation, Phase::Stopping))) => {
                self.process = None;
                Event::Stopped(generation)
            }
            (ModelStep::Late(which, of), _) if self.lifecycle.generation() > 1 => {
                let generation = 1 + of % (self.lifecycle.generation() - 1);
                match which % 6 {
                    0 => Event::Connected(generation),
                    1 => Event::Failed(generation, failure(which / 6)),
                    2 => Event::Ended(generation, failure(which / 6)),
                    3 => Event::Stopped(generation),
                    4 => Event::Proved { generation },
                    _ => Event::Released { generation },
                }
            }
            (ModelStep::Policy(which), _) => {
                self.policy = policy(which);
                Event::Policy(self.policy)
            }
            (ModelStep::Restart, _) => Event::Restart,
            (ModelStep::Renewed, _) => Event::Renewed,
            (ModelStep::Pass(milliseconds), _) => {
                self.now += Duration::from_millis(milliseconds);
                Event::Timer
            }
            (ModelStep::Due, _) => match self.lifecycle.deadline() {
                Some(deadline) => {
                    self.now = self.now.max(deadline);
                    Event::Timer
                }
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.happens(event)
    }

    fn happens(&mut self, event: Event) -> Result<(), String> {
        let late = event == Event::Timer && self.lifecycle.deadline().is_none_or(|due| due > self.now);
        let before = self.lifecycle.state().clone();
        let effects = (self.spoil)(self.lifecycle.on(event.clone(), self.now));
        if late && (!effects.is_empty() || before != *self.lifecycle.state()) {
            return Err("a timer that is not due changed something".to_owned());
        }
        if event == Event::Timer && self.lifecycle.deadline().is_some_and(|due| due <= self.now) {
            return Err("a timer leaves its own deadline behind: a busy loop".to_owned());
        }
        for effect in effects {
            self.carry_out(&effect)?;
        }
        self.check()
    }

    fn carry_out(&mut self, effect: &Effect) -> Result<(), String> {
        match (effect, self.process) {
            (Effect::Start(_), Some(process)) => Err(format!("{effect:?} beside {process:?}")),
            (Effect::Start(generation), None) => {
                self.process = Some((*generation, Phase::Starting));
                Ok(())
            }
            (Effect::Stop(generation), Some((of, Phase::Starting | Phase::Live))) if of == *generation => {
                self.process = Some((of, Phase::Stopping));
                Ok(())
            }
            // It exited by itself; its leftovers are removed.
            (Effect::Stop(_), None) => Ok(()),
            (Effect::Stop(_), Some(process)) => Err(format!("{effect:?} of {process:?}")),
            (Effect::Grant(generation), Some((of, Phase::Live))) if of == *generation => {
                self.leases.extend(std::iter::repeat_n(of, std::mem::take(&mut self.waiters)));
                Ok(())
            }
            (Effect::Grant(_), process) => Err(format!("{effect:?} with {process:?}")),
            (Effect::Refuse(_), _) => {
                self.waiters = 0;
                Ok(())
            }
        }
    }

    /// Checks that the reported state matches reality.
    fn check(&self) -> Result<(), String> {
        let generation = self.lifecycle.generation();
        let leases = self.leases.iter().filter(|of| **of == generation).count();
        let (phase, waiters) = match self.lifecycle.state() {
            State::Off if self.policy.enabled => return Err("off, although it is wanted".to_owned()),
            State::Off | State::Asleep | State::Broken { .. } | State::NeedsCredential { .. } => (None, 0),
            State::Starting { waiting, .. } => (Some(Phase::Starting), *waiting),
            State::Ready { leases: seen, idle_since, .. } => {
                if *seen != leases || (*seen == 0) != idle_since.is_some() {
                    return Err(format!("{leases} leases are held"));
                }
                (Some(Phase::Live), 0)
            }
            State::Stopping { waiting, .. } => (Some(Phase::Stopping), *waiting),
            State::BackingOff { waiting, .. } => (None, *waiting),
        };
        if !self.policy.enabled && !matches!(self.lifecycle.state(), State::Off | State::Stopping { .. }) {
            return Err("neither off nor stopping, although it is switched off".to_owned());
        }
        let process = phase.map(|phase| (generation, phase));
        if process != self.process {
            return Err(format!("the process is {:?}", self.process));
        }
        if waiters != self.waiters {
            return Err(format!("{} callers wait", self.waiters));
        }
        Ok(())
    }

    /// Completes everything pending, without further requests.
    fn settle(&mut self, random: &mut fastrand::Rng) -> Result<(), String> {
        for _ in 0..60 {
            let step = match (self.process, self.lifecycle.state()) {
                (Some((_, Phase::Starting)), _) if random.bool() => ModelStep::Connected,
                (Some((_, Phase::Starting)), _) => ModelStep::Failed(random.usize(..)),
                (Some((_, Phase::Stopping)), _) => ModelStep::Stopped,
                _ if !self.leases.is_empty() => ModelStep::Release(0),
                (_, State::Off | State::Asleep | State::Broken { .. } | State::NeedsCredential { .. }) => {
                    return Ok(());
                }
                _ if self.lifecycle.deadline().is_none() => return Ok(()),
                _ => ModelStep::Due,
            };
            self.step(step)?;
        }
        Err("it never comes to rest".to_owned())
    }
}

/// Plays one history and lets it settle.
fn play(first: usize, steps: &[ModelStep], seed: u64, spoil: Spoil) -> Result<(), String> {
    let mut world = World::new(first, spoil);
    let told = |world: &World, fault: String| format!("{fault}; seen: {:?}", world.lifecycle.state());
    let wanted = world.policy;
    world.happens(Event::Policy(wanted)).map_err(|fault| told(&world, fault))?;
    for step in steps {
        world.step(*step).map_err(|fault| told(&world, fault))?;
    }
    world.settle(&mut fastrand::Rng::with_seed(seed)).map_err(|fault| told(&world, fault))
}

/// The shortest part of a history that still fails.
fn shrunk(first: usize, mut steps: Vec<ModelStep>, seed: u64, spoil: Spoil) -> Vec<ModelStep> {
    let mut at = 0;
    while at < steps.len() {
        let mut shorter = steps.clone();
        shorter.remove(at);
        if play(first, &shorter, seed, spoil).is_err() {
            steps = shorter;
        } else {
            at += 1;
        }
    }
    steps
}

/// Plays histories until one fails.
fn search(histories: u64, from: u64, spoil: Spoil) -> Result<(), String> {
    for seed in from..from + histories {
        let mut random = fastrand::Rng::with_seed(seed);
        let first = random.usize(..);
        let steps: Vec<ModelStep> = (0..LENGTH).map(|_| random_step(&mut random)).collect();
        if let Err(fault) = play(first, &steps, seed, spoil) {
            let shortest = shrunk(first, steps, seed, spoil);
            return Err(format!("seed {seed}: {fault}\nfrom {:?}: {shortest:#?}", policy(first)));
        }
    }
    Ok(())
}

/// R24, the model of the lifecycle: no history runs two processes of one server, or leaves it unsettled.
#[test]
fn no_history_breaks_a_promise() {
    let soaking = std::env::var_os("SATCHEL_SOAK").is_some_and(|value| !value.is_empty() && value != "0");
    let histories = if soaking { 100_000 } else { 10_000 };
    if let Err(fault) = search(histories, 1, |effects| effects) {
        panic!("{fault}");
    }
    println!("measured: lifecycle: {histories} histories of {LENGTH} steps, 0 broken promises");
}

#[test]
fn planted_faults_are_found() {
    fn without(effects: Vec<Effect>, gone: fn(&Effect) -> bool) -> Vec<Effect> {
        effects.into_iter().filter(|effect| !gone(effect)).collect()
    }
    let faults: [(&str, Spoil); 5] = [
        ("a process is not stopped", |effects| without(effects, |effect| matches!(effect, Effect::Stop(_)))),
        ("callers are not refused", |effects| without(effects, |effect| matches!(effect, Effect::Refuse(_)))),
        ("callers are not served", |effects| without(effects, |effect| matches!(effect, Effect::Grant(_)))),
        ("a process is started twice", |effects| {
            effects
                .into_iter()
                .flat_map(|effect| {
                    let again = matches!(effect, Effect::Start(_)).then(|| effect.clone());
                    [Some(effect), again].into_iter().flatten()
                })
                .collect()
        }),
        ("a lease of another generation", |effects| {
            let other = |effect| match effect {
                Effect::Grant(generation) => Effect::Grant(generation + 1),
                effect => effect,
            };
            effects.into_iter().map(other).collect()
        }),
    ];
    for (fault, spoil) in faults {
        assert!(search(1_000, 1, spoil).is_err(), "not found: {fault}");
    }
}
