//! Measures the CPU and memory of running servers, and what sharing them saves. Idle while all servers sleep.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::{sync::Notify, time::Instant};

use super::Hub;
use crate::{
    clock::now_ms,
    model::{Avoided, ServerName, snapshot::ClientView},
    stats::{
        sharing::{self, Use},
        usage::{Meter, Tree},
    },
    tasks::may_fail_here,
};

/// How often is measured while a server runs.
const EVERY: Duration = Duration::from_secs(15);
/// A client that spoke so recently is taken for connected.
const RECENT: Duration = Duration::from_secs(30 * 60);
const FORMULA: &str = "(clients in the last half hour - 1) x what the servers that are awake use now: their processes, and their measured resident memory";

/// The latest measurement, by the process at the root.
#[derive(Debug, Default)]
pub(super) struct Measured {
    meter: Arc<Mutex<Meter>>,
    /// A server has a process.
    awake: Notify,
    trees: Mutex<HashMap<u32, Tree>>,
    /// The most of each server since the hub started.
    most: Mutex<HashMap<ServerName, Tree>>,
}

impl Measured {
    /// A server has a process that is to be measured.
    pub(super) fn woke(&self) {
        self.awake.notify_one();
    }

    pub(super) fn tree(&self, pid: u32) -> Option<Tree> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).copied()
    }

    /// The most that a server was measured to use.
    pub(super) fn most(&self, server: &ServerName) -> Option<Tree> {
        self.most.lock().unwrap_or_else(PoisonError::into_inner).get(server).copied()
    }

    /// Takes over what was measured of the servers with these processes; of servers that are gone nothing is kept.
    fn take(
        &self,
        trees: HashMap<u32, Tree>,
        roots: &[(ServerName, u32)],
        is_known: impl Fn(&ServerName) -> bool,
    ) {
        let mut most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
        most.retain(|server, _| is_known(server));
        for (server, pid) in roots {
            let Some(tree) = trees.get(pid).filter(|_| is_known(server)) else { continue };
            let known = most.entry(server.clone()).or_default();
            known.memory_bytes = known.memory_bytes.max(tree.memory_bytes);
            known.cpu_percent = known.cpu_percent.max(tree.cpu_percent);
            known.processes = known.processes.max(tree.processes);
        }
        *self.trees.lock().unwrap_or_else(PoisonError::into_inner) = trees;
    }
}

impl Hub {
    /// Measures for as long as the hub lives and a server runs.
    pub(super) async fn keep_measuring(&self) {
        let mut before: Option<Instant> = None;
        loop {
            while self.roots().is_empty() {
                // Nothing runs until the next one is started.
                before = None;
                tokio::select! {
                    () = self.inner.faces.measured.awake.notified() => {}
                    () = self.inner.life.end().cancelled() => return,
                }
            }
            may_fail_here("measuring");
            self.measure().await;
            let now = Instant::now();
            self.tell_measured(before.replace(now).map_or(Duration::ZERO, |before| now - before));
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = self.inner.life.end().cancelled() => return,
            }
        }
    }

    /// Has it recorded what was just measured; it has been so for this long.
    fn tell_measured(&self, lasted: Duration) {
        if lasted.is_zero() {
            return;
        }
        let trees: Vec<Tree> = {
            let trees = self.inner.faces.measured.trees.lock().unwrap_or_else(PoisonError::into_inner);
            trees.values().copied().collect()
        };
        let clients = self.view().clients();
        let used = Use {
            processes: trees.iter().map(|tree| tree.processes as u64).sum(),
            memory_bytes: trees.iter().map(|tree| tree.memory_bytes).sum(),
        };
        let saved = avoided(&clients, trees.into_iter(), SystemTime::now());
        let avoided = Use { processes: saved.processes as u64, memory_bytes: saved.memory_bytes };
        // A computer that slept meanwhile saved nothing.
        let lasted = lasted.min(EVERY * 2);
        self.recorder().measured(sharing::Measured { at_ms: now_ms(), lasted, used, avoided });
    }

    /// The processes of the servers that run.
    fn roots(&self) -> Vec<(ServerName, u32)> {
        let servers = self.servers();
        servers
            .iter()
            .filter_map(|(name, server)| Some((name.clone(), server.upstream.seen().pid?)))
            .collect()
    }

    /// Measures now.
    pub(super) async fn measure(&self) {
        let roots = self.roots();
        let pids: Vec<u32> = roots.iter().map(|(_, pid)| *pid).collect();
        let meter = self.inner.faces.measured.meter.clone();
        let ours = self.inner.options.own_program.clone();
        let measuring = tokio::task::spawn_blocking(move || {
            if pids.is_empty() {
                return HashMap::new();
            }
            meter.lock().unwrap_or_else(PoisonError::into_inner).measure(&pids, &ours)
        });
        if let Ok(trees) = measuring.await {
            let known: HashSet<ServerName> = self.servers().keys().cloned().collect();
            self.inner.faces.measured.take(trees, &roots, |server| known.contains(server));
            self.inner.faces.changed();
        }
    }
}

/// What sharing saves: every client but one would have a copy of its own.
pub(super) fn avoided(clients: &[ClientView], trees: impl Iterator<Item = Tree>, now: SystemTime) -> Avoided {
    let now_ms = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let recent =
        |client: &&ClientView| now_ms.saturating_sub(u128::from(client.last_seen_ms)) < RECENT.as_millis();
    let clients = clients.iter().filter(recent).count();
    let others = clients.saturating_sub(1);
    let (processes, memory) = trees
        .fold((0, 0), |(processes, memory), tree| (processes + tree.processes, memory + tree.memory_bytes));
    Avoided {
        clients,
        processes: others * processes,
        memory_bytes: others as u64 * memory,
        formula: FORMULA.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_a_server_stays_when_it_rests_and_goes_with_the_server() {
        let measured = Measured::default();
        let (one, other): (ServerName, ServerName) = ("one".parse().unwrap(), "other".parse().unwrap());
        let tree = |memory_bytes, cpu_percent| Tree { processes: 1, memory_bytes, cpu_percent };
        let roots = [(one.clone(), 1), (other.clone(), 2)];
        measured.take([(1, tree(100, 5.0)), (2, tree(7, 0.0))].into(), &roots, |_| true);
        measured.take([(1, tree(60, 9.0))].into(), &roots[..1], |_| true);
        assert_eq!(measured.most(&one), Some(tree(100, 9.0)));
        assert_eq!((measured.tree(1), measured.tree(2)), (Some(tree(60, 9.0)), None));
        assert_eq!(measured.most(&other), Some(tree(7, 0.0)), "it sleeps");
        measured.take(HashMap::new(), &[], |server| *server == one);
        assert_eq!((measured.most(&one), measured.most(&other)), (Some(tree(100, 9.0)), None));
    }

    #[test]
    fn every_recent_client_but_one_saves_a_copy_of_what_is_awake() {
        let now = UNIX_EPOCH + Duration::from_secs(10_000);
        let client = |id: &str, seen: u64| ClientView {
            id: id.into(),
            requests: 1,
            last_call: None,
            last_seen_ms: seen * 1000,
        };
        let trees = || {
            [(2, 100), (1, 50)].map(|(processes, memory_bytes)| Tree {
                processes,
                memory_bytes,
                cpu_percent: 0.0,
            })
        };
        let clients = [client("a", 9_999), client("b", 9_000), client("c", 9_990), client("old", 8_000)];
        let saved = avoided(&clients, trees().into_iter(), now);
        assert_eq!((saved.clients, saved.processes, saved.memory_bytes), (3, 6, 300));
        let alone = avoided(&clients[..1], trees().into_iter(), now);
        assert_eq!((alone.processes, alone.memory_bytes), (0, 0));
        assert_eq!(avoided(&[], trees().into_iter(), now).processes, 0);
    }
}
