//! Holds the latest measurement of each server's processes, and the highest one.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use tokio::sync::Notify;

use crate::{
    model::ServerName,
    stats::usage::{Meter, Tree},
};

/// The latest measurement, by root process.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    pub(super) meter: Arc<Mutex<Meter>>,
    /// Signalled when a server has a process.
    pub(super) awake: Notify,
    pub(super) trees: Mutex<HashMap<u32, Tree>>,
    /// The peak of each server since the hub started.
    pub(super) most: Mutex<HashMap<ServerName, Tree>>,
}

impl Measurements {
    /// Signals that a server has a process to measure.
    pub(super) fn woke(&self) {
        self.awake.notify_one();
    }

    pub(super) fn tree(&self, pid: u32) -> Option<Tree> {
        self.trees.lock().get(&pid).copied()
    }

    /// A server's peak.
    pub(super) fn most(&self, server: &ServerName) -> Option<Tree> {
        self.most.lock().get(server).copied()
    }

    /// Stores the measurements of the servers with these processes, and drops those of removed servers.
    pub(super) fn take(
        &self,
        trees: HashMap<u32, Tree>,
        roots: &[(ServerName, u32)],
        is_known: impl Fn(&ServerName) -> bool,
    ) {
        let mut most = self.most.lock();
        most.retain(|server, _| is_known(server));
        for (server, pid) in roots {
            let Some(tree) = trees.get(pid).filter(|_| is_known(server)) else { continue };
            let known = most.entry(server.clone()).or_default();
            known.memory_bytes = known.memory_bytes.max(tree.memory_bytes);
            known.cpu_percent = known.cpu_percent.max(tree.cpu_percent);
            known.processes = known.processes.max(tree.processes);
        }
        *self.trees.lock() = trees;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_a_server_stays_when_it_rests_and_goes_with_the_server() {
        let measured = Measurements::default();
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
}
