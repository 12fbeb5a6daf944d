//! Finds and ends processes by group, by ancestor, and by the mark in their environment.

/// The environment variable that marks every process started for a server: `<run>.<server number>.<generation>`.
pub const MARK: &str = "SATCHEL_TREE";

/// Kills a process group. A group that no longer exists is fine.
#[cfg(unix)]
pub fn kill_group(group: u32) {
    signal_group(group, nix::sys::signal::Signal::SIGKILL);
}

/// Sends a signal to a group. Returns whether the group exists.
#[cfg(unix)]
pub fn signal_group(group: u32, signal: impl Into<Option<nix::sys::signal::Signal>>) -> bool {
    use nix::{sys::signal::killpg, unistd::Pid};
    // 0 and 1 would mean our own group and every process.
    match i32::try_from(group) {
        Ok(group) if group > 1 => killpg(Pid::from_raw(group), signal).is_ok(),
        _ => false,
    }
}

#[cfg(not(unix))]
/// Other systems end groups in other ways.
pub fn kill_group(_group: u32) {}

/// The fields of a process that matter here.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    dead: bool,
}

/// macOS shows users their own processes, with the environments.
#[cfg(target_os = "macos")]
fn looked_at(what: sysinfo::ProcessRefreshKind) -> Option<sysinfo::System> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::All, true, what);
    Some(system)
}

#[cfg(target_os = "macos")]
fn everyone() -> Vec<Process> {
    let Some(system) = looked_at(sysinfo::ProcessRefreshKind::nothing()) else { return vec![] };
    let number = |pid: sysinfo::Pid| i32::try_from(pid.as_u32()).ok();
    let look_at = |process: &sysinfo::Process| {
        let pid = number(process.pid())?;
        let group = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(pid))).ok()?.as_raw();
        let parent = process.parent().and_then(number)?;
        let dead = matches!(process.status(), sysinfo::ProcessStatus::Zombie | sysinfo::ProcessStatus::Dead);
        Some(Process { pid, parent, group, dead })
    };
    system.processes().values().filter_map(look_at).collect()
}

#[cfg(target_os = "linux")]
fn everyone() -> Vec<Process> {
    let look_at = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything. State, parent and group follow it.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let dead = matches!(fields.next()?, "Z" | "X");
        Some(Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()?, dead })
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    entries.flatten().filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// All live descendants of these processes, without the processes themselves.
#[cfg(any(target_os = "linux", target_os = "macos"))]
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

/// Kills every descendant of `root` except the group `spared`. Repeats until none is left, so that a process forked in
/// the meantime does not escape. `root` itself continues; on Linux it adopts orphans meanwhile.
#[cfg(any(target_os = "linux", target_os = "macos"))]
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

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
/// Other systems end a process tree in other ways.
pub fn kill_below(_root: u32, _spared: Option<u32>) {}

/// Kills every process whose mark begins with `prefix`, with its descendants, and returns their number. Repeats until
/// none is left, so that a process forked in the meantime does not escape.
#[cfg(any(target_os = "linux", target_os = "macos"))]
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

/// Windows has job objects, whose processes end with them.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn kill_marked(_prefix: &str) -> usize {
    0
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn marked(prefix: &str) -> Vec<i32> {
    let ourselves = i32::try_from(std::process::id()).ok();
    let mut found: Vec<i32> = with_variable(&format!("{MARK}={prefix}"))
        .into_iter()
        .filter(|pid| Some(*pid) != ourselves)
        .collect();
    // Processes that cleared their environment but stayed below their parent or subreaper.
    let others: Vec<i32> = below(&found).iter().map(|process| process.pid).collect();
    found.extend(others.into_iter().filter(|pid| Some(*pid) != ourselves));
    found.sort_unstable();
    found.dedup();
    found
}

/// The processes with an environment variable that begins with this, including its name.
#[cfg(target_os = "linux")]
fn with_variable(wanted: &str) -> Vec<i32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return vec![] };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| {
            bytes.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
        })
    };
    pids.filter(has).collect()
}

#[cfg(target_os = "macos")]
fn with_variable(wanted: &str) -> Vec<i32> {
    let environments = sysinfo::ProcessRefreshKind::nothing().with_environ(sysinfo::UpdateKind::Always);
    let Some(system) = looked_at(environments) else { return vec![] };
    let has = |process: &&sysinfo::Process| {
        let starts =
            |variable: &std::ffi::OsString| variable.as_encoded_bytes().starts_with(wanted.as_bytes());
        process.environ().iter().any(starts)
    };
    let alive = system.processes().values().filter(has);
    let alive = alive.filter(|process| process.status() != sysinfo::ProcessStatus::Zombie);
    alive.filter_map(|process| i32::try_from(process.pid().as_u32()).ok()).collect()
}

#[cfg(all(test, any(target_os = "linux", target_os = "macos")))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn live_descendants_of_a_process_are_found_without_the_process() {
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
    fn marked_processes_are_killed_even_after_leaving_their_parent() {
        let run = format!("test-{}", std::process::id());
        let mut shell = Command::new("sh");
        let started =
            shell.args(["-c", "sleep 60 >/dev/null 2>&1 & echo $!"]).env(MARK, format!("{run}.1.1")).output();
        let pid: i32 = String::from_utf8(started.unwrap().stdout).unwrap().trim().parse().unwrap();
        assert_eq!(marked(&format!("{run}.")), [pid]);
        assert!(marked(&format!("{run}.2.")).is_empty());
        // A process that is just exiting may be counted again.
        assert!(kill_marked(&format!("{run}.")) >= 1);
        assert!((0..10_000).any(|_| marked(&format!("{run}.")).is_empty()));
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
