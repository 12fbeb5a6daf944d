//! Finds and ends processes by group, by ancestor, and by the mark in their environment.

/// The environment variable that marks every process started for a server: `<run>.<server number>.<generation>`.
pub const MARK: &str = "SATCHEL_TREE";

/// Ends a process group at once. One that is gone already is fine.
#[cfg(unix)]
pub fn kill_group(group: u32) {
    signal_group(group, nix::sys::signal::Signal::SIGKILL);
}

/// Sends a signal to a group; true where the group exists.
#[cfg(unix)]
pub fn signal_group(group: u32, signal: impl Into<Option<nix::sys::signal::Signal>>) -> bool {
    use nix::{sys::signal::killpg, unistd::Pid};
    // 0 and 1 would mean our own group and everybody.
    match i32::try_from(group) {
        Ok(group) if group > 1 => killpg(Pid::from_raw(group), signal).is_ok(),
        _ => false,
    }
}

#[cfg(not(unix))]
/// Elsewhere groups are ended by other means.
pub fn kill_group(_group: u32) {}

/// One process, as far as it matters here.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    dead: bool,
}

#[cfg(target_os = "linux")]
fn everyone() -> Vec<Process> {
    let look_at = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything. State, parent and group follow it.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let dead = matches!(fields.next()?, "Z" | "X");
        Some(Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()?, dead })
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    entries.flatten().filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Everything below these processes that lives; not they themselves.
#[cfg(target_os = "linux")]
fn below(roots: &[i32]) -> Vec<Process> {
    let everyone = everyone();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = roots.to_vec();
    while let Some(parent) = parents.pop() {
        for process in everyone.iter().filter(|process| process.parent == parent) {
            if !found.iter().any(|known| known.pid == process.pid) {
                found.push(*process);
                parents.push(process.pid);
            }
        }
    }
    found.retain(|process| !process.dead);
    found
}

/// Ends every process below `root` but those of the group `spared`. Repeats until none is left, so that one which is
/// just being forked does not slip through. `root` itself goes on, and adopts what loses its parent meanwhile.
#[cfg(target_os = "linux")]
pub fn kill_below(root: u32, spared: Option<u32>) {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    let number = |pid: u32| i32::try_from(pid).ok().filter(|pid| *pid > 1);
    let (Some(root), spared) = (number(root), spared.and_then(number)) else { return };
    for _ in 0..50 {
        let mut found = below(&[root]);
        found.retain(|process| Some(process.group) != spared);
        if found.is_empty() {
            return;
        }
        for process in found {
            let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn kill_below(_root: u32, _spared: Option<u32>) {}

/// Ends every process whose mark begins with `prefix` with everything below it, and says how many there were. Repeats until none is left, so
/// that one which is just being forked does not slip through.
#[cfg(target_os = "linux")]
pub fn kill_marked(prefix: &str) -> usize {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    let mut killed = 0;
    for _ in 0..20 {
        let found = marked(prefix);
        if found.is_empty() {
            break;
        }
        for pid in found {
            if kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok() {
                killed += 1;
            }
        }
    }
    killed
}

/// Only Linux shows other processes' environments; elsewhere the groups must do.
#[cfg(not(target_os = "linux"))]
pub fn kill_marked(_prefix: &str) -> usize {
    0
}

#[cfg(target_os = "linux")]
fn marked(prefix: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={prefix}");
    let ourselves = i32::try_from(std::process::id()).ok();
    let Ok(processes) = std::fs::read_dir("/proc") else { return vec![] };
    let mut found: Vec<i32> = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| Some(*pid) != ourselves)
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| {
                bytes.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
            })
        })
        .collect();
    // What emptied its environment, and has not left its parent or its subreaper.
    let others: Vec<i32> = below(&found).iter().map(|process| process.pid).collect();
    found.extend(others.into_iter().filter(|pid| Some(*pid) != ourselves));
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_lies_below_a_process_is_found_but_not_the_process_nor_the_dead() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & sleep 60 & wait"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let root = i32::try_from(shell.id()).unwrap();
        let found = (0..10_000).map(|_| below(&[root])).find(|found| found.len() == 2);
        assert!(found.is_some_and(|found| found.iter().all(|process| process.parent == root)));
        kill_below(shell.id(), None);
        assert!(below(&[root]).is_empty());
        let _ = shell.kill();
        shell.wait().unwrap();
    }

    #[test]
    fn a_group_may_be_spared_and_init_always_is() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let own = nix::unistd::getpgrp().as_raw();
        kill_below(std::process::id(), u32::try_from(own).ok());
        kill_below(1, None);
        assert!(child.try_wait().unwrap().is_none(), "it lives");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
