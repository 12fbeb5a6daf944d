//! Processes as /proc shows them, with what is needed to judge whether any is left: zombies, groups, memory, time.

use std::fs;

pub(crate) use satchel_tests::process::{Signal, signal};

use crate::arena::MARK;

/// A process. Zombies count: nobody has waited for them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) zombie: bool,
    pub(crate) command: String,
}

/// Every process.
pub(crate) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("these tests need Linux's /proc");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(look_at).collect()
}

fn look_at(pid: u32) -> Option<Process> {
    let fields = stat(pid)?;
    let number = |at: usize| fields.get(at)?.parse().ok();
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned();
    Some(Process { pid, parent: number(1)?, group: number(2)?, zombie: fields[0] == "Z", command })
}

/// The fields of `stat` after the program's name: state, parent, group, …
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

/// Processes whose environment has this variable with this value.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<Process> {
    let wanted = format!("{name}={value}").into_bytes();
    let has = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted))
    };
    all().into_iter().filter(|process| has(process.pid)).collect()
}

/// Processes whose environment has this variable with this prefix of a value.
pub(crate) fn with_variable_beginning(name: &str, value: &str) -> Vec<Process> {
    let wanted = format!("{name}={value}").into_bytes();
    let has = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(&wanted))
        })
    };
    all().into_iter().filter(|process| has(process.pid)).collect()
}

/// Is it the hub's subreaper in front of a server?
pub(crate) fn is_subreaper(process: &Process) -> bool {
    process.command.contains(" subreaper ")
}

/// Processes with the mark of a run in their environment or command line, their descendants, and their subreapers.
pub(crate) fn of_run(run: &str) -> Vec<Process> {
    let everyone = all();
    let marked: Vec<u32> = with_variable(MARK, run).into_iter().map(|process| process.pid).collect();
    let mut found: Vec<Process> = Vec::new();
    let is_word = |command: &str| command.split(' ').any(|word| word == run);
    let mut next: Vec<Process> = everyone
        .iter()
        .filter(|process| marked.contains(&process.pid) || is_word(&process.command))
        .cloned()
        .collect();
    while let Some(process) = next.pop() {
        if !found.contains(&process) {
            next.extend(everyone.iter().filter(|other| other.parent == process.pid).cloned());
            found.push(process);
        }
    }
    let parents: Vec<u32> = found.iter().map(|process| process.parent).collect();
    let subreapers =
        everyone.iter().filter(|process| is_subreaper(process) && parents.contains(&process.pid));
    found.extend(subreapers.cloned());
    found.sort();
    found.dedup();
    found
}

/// Children of a process that exited and were never waited for.
pub(crate) fn zombies_of(pid: u32) -> Vec<Process> {
    all().into_iter().filter(|process| process.parent == pid && process.zombie).collect()
}

/// Resident memory in MiB.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("it is a number") / 1_024.0
}

/// Processor time used so far, in seconds. Linux counts in hundredths.
pub(crate) fn processor_time(pid: u32) -> f64 {
    let fields = stat(pid).expect("the process lives");
    let ticks = |at: usize| fields[at].parse::<f64>().expect("it is a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// How often a process gave up or lost the processor: a measure of how often it woke.
pub(crate) fn switches(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives");
    let texts = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    texts
        .flat_map(|text| {
            let lines = text.lines().filter_map(|line| line.split_once("voluntary_ctxt_switches:"));
            lines.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).collect::<Vec<_>>()
        })
        .sum()
}
