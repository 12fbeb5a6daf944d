//! Many calls at once, each with its own key, and something that kills servers meanwhile.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_tests::Client;
use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    journal::{Journal, Outcome},
    processes::{self, Signal},
};

/// Calls of `write_once`, each with its own key.
pub(crate) struct Storm<'a> {
    /// The callers; each client makes one call at a time.
    pub(crate) clients: Vec<Client>,
    /// The servers, in turn.
    pub(crate) servers: Vec<String>,
    /// Total number of calls.
    pub(crate) calls: usize,
    /// Maximum rate over all callers.
    pub(crate) a_second: usize,
    /// Prefix of every key.
    pub(crate) prefix: &'a str,
}

impl Storm<'_> {
    /// Makes the calls and writes each into the journal; returns how often the hub gave each reason for a failure.
    pub(crate) async fn blow(self, journal: &Arc<Journal>) -> BTreeMap<String, usize> {
        let (next, begin) = (Arc::new(AtomicUsize::new(0)), Instant::now());
        let servers = Arc::new(self.servers);
        let mut callers = JoinSet::new();
        for client in self.clients {
            let (next, servers, journal) = (next.clone(), servers.clone(), journal.clone());
            let (calls, a_second, prefix) = (self.calls, self.a_second, self.prefix.to_owned());
            callers.spawn(async move {
                let mut reasons = Vec::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= calls {
                        return reasons;
                    }
                    tokio::time::sleep_until(begin + Duration::from_secs_f64(at as f64 / a_second as f64))
                        .await;
                    let key = format!("{prefix}-{at}");
                    let path = format!("{}:write_once", servers[at % servers.len()]);
                    journal.issue(&key);
                    let answer = client.execute(&path, json!({ "key": key })).await;
                    journal.done(&key, Outcome::of(&answer));
                    reasons.extend(Outcome::code(&answer));
                }
            });
        }
        callers.join_all().await.into_iter().flatten().fold(BTreeMap::new(), |mut counted, reason| {
            *counted.entry(reason).or_default() += 1;
            counted
        })
    }
}

/// Kills servers of a run at random moments, until dropped.
pub(crate) struct Killer {
    stop: Arc<AtomicBool>,
    hits: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Killer {
    /// About one kill every `pause`.
    pub(crate) fn start(
        run: &str,
        pause: Duration,
        signals: &'static [Signal],
        mut random: fastrand::Rng,
    ) -> Self {
        let (stop, hits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, counted, run) = (stop.clone(), hits.clone(), run.to_owned());
        let task = tokio::spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                tokio::time::sleep(pause.mul_f64(0.2 + 1.6 * random.f64())).await;
                let servers = processes::of_run(&run);
                let servers: Vec<_> = servers
                    .iter()
                    .filter(|process| !process.zombie)
                    .filter(|process| {
                        // The hub's subreaper is a victim as well, but a rare one.
                        let subreaper = processes::is_subreaper(process) && random.u32(..10) == 0;
                        subreaper || process.command.contains("chaos_server")
                    })
                    .collect();
                if servers.is_empty() || stopped.load(Ordering::Relaxed) {
                    continue;
                }
                let (victim, sent) =
                    (servers[random.usize(..servers.len())].pid, signals[random.usize(..signals.len())]);
                processes::signal(victim, sent);
                counted.fetch_add(1, Ordering::Relaxed);
                if sent == Signal::STOP {
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(1_500)).await;
                        processes::signal(victim, Signal::CONT);
                    });
                }
            }
        });
        Self { stop, hits, task }
    }

    /// Stops killing; returns the number of victims.
    pub(crate) async fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.expect("the killer does not panic");
        self.hits.load(Ordering::Relaxed)
    }
}
