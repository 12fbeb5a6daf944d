//! Measures the CPU and memory of running servers, and what sharing them saves. Idle while all servers sleep.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{Hub, servers::Registered};
use crate::{
    clock::{epoch_ms, now_ms},
    model::{Avoided, ServerName, snapshot::ClientView},
    stats::{
        sharing::{self, Use},
        usage::Tree,
    },
    tasks::may_fail_here,
};

/// Interval of measurements while a server runs.
const EVERY: Duration = Duration::from_secs(15);
/// How recently a client must have made a request to count as connected.
const RECENT: Duration = Duration::from_secs(30 * 60);
const FORMULA: &str = "(clients in the last half hour - 1) x what the servers that are awake use now: their processes, and their measured resident memory";

/// Measures while the hub and any server run.
pub(super) async fn keep_measuring(hub: &Hub) {
    let mut before: Option<Instant> = None;
    loop {
        while roots(hub).is_empty() {
            // Nothing runs until the next start.
            before = None;
            tokio::select! {
                () = hub.inner.faces.measured.awake.notified() => {}
                () = hub.inner.life.end().cancelled() => return,
            }
        }
        may_fail_here("measuring");
        measure(hub).await;
        let now = Instant::now();
        tell_measured(hub, before.replace(now).map_or(Duration::ZERO, |before| now - before));
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = hub.inner.life.end().cancelled() => return,
        }
    }
}

/// Records the last measurement and the time it covers.
fn tell_measured(hub: &Hub, lasted: Duration) {
    if lasted.is_zero() {
        return;
    }
    let (trees, shared): (Vec<Tree>, Vec<Tree>) = {
        let pids = shared_roots(hub);
        let trees = hub.inner.faces.measured.trees.lock();
        let shared = pids.iter().filter_map(|(_, pid)| trees.get(pid).copied());
        (trees.values().copied().collect(), shared.collect())
    };
    let clients = hub.view().clients();
    let used = Use {
        processes: trees.iter().map(|tree| tree.processes as u64).sum(),
        memory_bytes: trees.iter().map(|tree| tree.memory_bytes).sum(),
    };
    let saved = avoided(&clients, shared.into_iter(), SystemTime::now());
    let avoided = Use { processes: saved.processes as u64, memory_bytes: saved.memory_bytes };
    // Do not count the time in which the computer slept.
    let lasted = lasted.min(EVERY * 2);
    hub.recorder().measured(sharing::Measured { at_ms: now_ms(), lasted, used, avoided });
}

/// The processes of running servers that all clients share.
fn shared_roots(hub: &Hub) -> Vec<(ServerName, u32)> {
    let servers = hub.servers();
    servers.iter().filter_map(|(name, server)| Some((name.clone(), server.upstream.seen().pid?))).collect()
}

/// The processes of all running servers, and of all their instances.
fn roots(hub: &Hub) -> Vec<(ServerName, u32)> {
    let servers: Vec<_> = hub.servers().iter().map(|(name, server)| (name.clone(), server.clone())).collect();
    let of = |(name, server): (ServerName, Registered)| {
        let pids = server.instances.all().into_iter().map(|instance| instance.upstream.seen().pid);
        let pids = pids.chain([server.upstream.seen().pid]).flatten().collect::<Vec<_>>();
        pids.into_iter().map(move |pid| (name.clone(), pid))
    };
    servers.into_iter().flat_map(of).collect()
}

/// Measures now.
pub(super) async fn measure(hub: &Hub) {
    let roots = roots(hub);
    let pids: Vec<u32> = roots.iter().map(|(_, pid)| *pid).collect();
    let meter = hub.inner.faces.measured.meter.clone();
    let ours = hub.inner.options.own_program.clone();
    let measuring = tokio::task::spawn_blocking(move || {
        if pids.is_empty() {
            return HashMap::new();
        }
        meter.lock().measure(&pids, &ours)
    });
    if let Ok(trees) = measuring.await {
        let known: HashSet<ServerName> = hub.servers().keys().cloned().collect();
        hub.inner.faces.measured.take(trees, &roots, |server| known.contains(server));
        hub.inner.faces.changed();
    }
}

/// What sharing saves: without it, every client but one would run its own copy.
pub(super) fn avoided(clients: &[ClientView], trees: impl Iterator<Item = Tree>, now: SystemTime) -> Avoided {
    let now = u128::from(epoch_ms(now));
    let recent = |client: &&ClientView| now.saturating_sub(client.last_seen_ms.into()) < RECENT.as_millis();
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
    use std::time::UNIX_EPOCH;

    use super::*;

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
