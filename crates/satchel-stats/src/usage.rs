//! Reads memory and CPU time of process trees from the operating system. Blocks for some milliseconds.

use std::{collections::HashMap, path::Path};

use satchel_reaper::is_program;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// The resource use of one process tree.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tree {
    /// Number of processes.
    pub processes: usize,
    /// Resident memory in bytes. Shared memory is counted once per process.
    pub memory_bytes: u64,
    /// CPU time since the previous measurement, in percent of one core.
    pub cpu_percent: f32,
}

/// Measures repeatedly; CPU time requires the previous measurement.
#[derive(Debug, Default)]
pub struct Meter {
    system: Option<System>,
}

impl Meter {
    /// The trees below these processes. Exited processes have none. `ours` is the hub's program: a subreaper does not
    /// count as a cost of the server.
    pub fn measure(&mut self, roots: &[u32], ours: &Path) -> HashMap<u32, Tree> {
        let wanted = ProcessRefreshKind::nothing()
            .with_memory()
            .with_cpu()
            .with_exe(UpdateKind::OnlyIfNotSet)
            .without_tasks();
        if self.system.is_none() {
            self.system = System::new().ok();
        }
        let Some(system) = &mut self.system else { return HashMap::new() };
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted);
        let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
        for (pid, process) in system.processes() {
            // On Linux, threads show up as processes.
            if let Some(parent) = process.parent().filter(|_| process.thread_kind().is_none()) {
                children.entry(parent).or_default().push(*pid);
            }
        }
        let is_subreaper = |pid: Pid| {
            children.contains_key(&pid)
                && system
                    .process(pid)
                    .and_then(|process| process.exe())
                    .is_some_and(|exe| is_program(exe, ours))
        };
        let tree = |root: &u32| {
            let root_pid = Pid::from_u32(*root);
            let first = if is_subreaper(root_pid) { children[&root_pid].clone() } else { vec![root_pid] };
            let (mut tree, mut open) = (Tree::default(), first);
            while let Some(pid) = open.pop() {
                let Some(process) = system.process(pid) else { continue };
                tree.processes += 1;
                tree.memory_bytes += process.memory();
                tree.cpu_percent += process.cpu_usage();
                open.extend(children.get(&pid).into_iter().flatten());
            }
            (tree.processes > 0).then_some((*root, tree))
        };
        roots.iter().filter_map(tree).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_a_process_with_its_children_and_one_that_is_gone_has_none() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60; true"]).spawn().unwrap();
        let (mut meter, ours) = (Meter::default(), Path::new("/nowhere/satchel"));
        // The shell needs a moment to start its child.
        let found = (0..500).find_map(|_| {
            let tree = *meter.measure(&[child.id()], ours).get(&child.id())?;
            (tree.processes == 2 && tree.memory_bytes > 0).then_some(tree)
        });
        let shell = Some(Pid::from_u32(child.id()));
        let mut all = meter.system.as_ref().unwrap().processes().values();
        assert!(all.find(|process| process.parent() == shell).is_some_and(|process| process.kill()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.is_some());
        assert!(meter.measure(&[child.id()], ours).is_empty());
    }
}
