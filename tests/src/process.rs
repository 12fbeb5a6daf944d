//! Processes as Linux shows them in /proc: who lives, whose child, who carries a mark in its environment.

use std::fs;

pub use rustix::process::Signal;

/// A live process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Its command line, separated by blanks.
    pub command: String,
}

/// Is the process alive? A zombie is not.
pub fn is_alive(pid: u32) -> bool {
    look_at(pid).is_some()
}

/// Sends a signal; a process that is gone is not an error.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let _ = rustix::process::kill_process(pid.expect("a process id is positive"), signal);
}

/// Live processes started with `NAME=VALUE` in their environment.
pub fn marked(name: &str, value: &str) -> Vec<Process> {
    let mark = format!("{name}={value}").into_bytes();
    let has_mark = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == mark))
    };
    all().into_iter().filter(|process| has_mark(process.pid)).collect()
}

/// All descendants of a process.
pub fn descendants(pid: u32) -> Vec<Process> {
    let everyone = all();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        for child in everyone.iter().filter(|process| process.parent == parent) {
            parents.push(child.pid);
            found.push(child.clone());
        }
    }
    found
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("these tests need Linux's /proc");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(look_at).collect()
}

fn look_at(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and may contain anything, so search after the last bracket.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
    if matches!(state, "Z" | "X") {
        return None;
    }
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned();
    Some(Process { pid, parent, command })
}
