//! Watches over the hub's children from outside: when the hub dies, however suddenly, they are ended.
//!
//! Theory of operation: the hub starts its own program once more as `warden` and holds a pipe to it. It writes a line
//! for every process group that begins (`+123`) or is known to be gone (`-123`). The end of the pipe means that the
//! hub is gone; then the warden ends every group still on its list, and on Linux also everything below its leader (see
//! [`super::leash`]) and every process that carries the hub's mark in its environment, wherever it has moved to. It knows nothing else and does nothing else.
//!
//! Windows needs none of this: there a job object closes with the hub.

use std::{
    collections::BTreeSet,
    io::BufRead,
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, process::Command, sync::mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The environment variable that marks every process started for a server: `<run>.<server number>.<generation>`.
pub const MARK: &str = "SATCHEL_TREE";
/// Tells the warden whose children to end.
const RUN: &str = "SATCHEL_RUN";

/// The hub's end of the pipe. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Warden {
    run: Arc<str>,
    lines: mpsc::UnboundedSender<String>,
    groups: Arc<Mutex<BTreeSet<u32>>>,
}

impl Warden {
    /// Starts one. `run` is unique to this run of the hub. A warden that dies is replaced, until `end`.
    pub fn start(program: &Path, run: &str, tracker: &TaskTracker, end: CancellationToken) -> Self {
        keep_no_cores();
        let (lines, mut queue) = mpsc::unbounded_channel::<String>();
        let groups: Arc<Mutex<BTreeSet<u32>>> = Arc::default();
        let warden = Self { run: run.into(), lines, groups: groups.clone() };
        let (program, run) = (program.to_owned(), run.to_owned());
        tracker.spawn(async move {
            let mut failures = 0u32;
            loop {
                if keep_one(&program, &run, &groups, &mut queue, &end).await {
                    return;
                }
                failures += 1;
                tracing::warn!(failures, "the warden ended; starting another");
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(u64::from(failures.min(60)))) => {}
                    () = end.cancelled() => return,
                }
            }
        });
        warden
    }

    /// One that watches over nothing.
    #[cfg(all(test, unix))]
    pub(super) fn of_nobody() -> Self {
        Self { run: "test".into(), lines: mpsc::unbounded_channel().0, groups: Arc::default() }
    }

    /// The mark of a process started for server number `server` in its `generation`.
    pub fn mark(&self, server: u64, generation: u64) -> String {
        format!("{}.{server}.{generation}", self.run)
    }

    /// Ends whatever was started for a server in this run of the hub and has moved out of reach. On Linux only.
    pub(crate) async fn sweep(&self) {
        let marks = format!("{}.", self.run);
        let stragglers = tokio::task::spawn_blocking(move || kill_marked(&marks)).await.unwrap_or(0);
        if stragglers > 0 {
            tracing::info!(stragglers, "ended what servers had left behind");
        }
    }

    /// Is this the process group of a server that runs?
    pub fn holds(&self, group: u32) -> bool {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).contains(&group)
    }

    /// A process group began.
    pub fn begins(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).insert(group);
        let _ = self.lines.send(format!("+{group}\n"));
    }

    /// A process group is gone.
    pub fn gone(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).remove(&group);
        let _ = self.lines.send(format!("-{group}\n"));
    }
}

/// What a process had in its memory when it crashed, secrets too, would lie on the disk. Holds for whatever is started from
/// here as well; a server that is to leave one can raise its own limit again.
fn keep_no_cores() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let kept =
            getrlimit(Resource::RLIMIT_CORE).and_then(|(_, most)| setrlimit(Resource::RLIMIT_CORE, 0, most));
        if let Err(error) = kept {
            tracing::warn!(%error, "the system may write a copy of the memory to the disk after a crash");
        }
    }
}

/// Runs one warden process until it is no longer needed (true) or it ends by itself (false).
async fn keep_one(
    program: &Path,
    run: &str,
    groups: &Mutex<BTreeSet<u32>>,
    queue: &mut mpsc::UnboundedReceiver<String>,
    end: &CancellationToken,
) -> bool {
    if cfg!(windows) {
        end.cancelled().await;
        return true;
    }
    let mut command = Command::new(program);
    command
        .arg("warden")
        .env_clear()
        .env(RUN, run)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Its own group: a Ctrl-C in the terminal must reach the hub and leave the warden at its post.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            tracing::error!(%error, program = %program.display(), "cannot start the warden");
            return false;
        }
    };
    let Some(mut pipe) = child.stdin.take() else { return false };
    let known: String = {
        let groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.iter().map(|group| format!("+{group}\n")).collect()
    };
    if pipe.write_all(known.as_bytes()).await.is_err() {
        return false;
    }
    loop {
        let line = tokio::select! {
            line = queue.recv() => line,
            () = end.cancelled() => None,
            _ = child.wait() => return false,
        };
        let Some(line) = line else { break };
        if pipe.write_all(line.as_bytes()).await.is_err() {
            return false;
        }
    }
    drop(pipe);
    let _ = child.wait().await;
    true
}

/// The warden's own life: what `<program> warden` does.
pub fn main() -> ExitCode {
    let run = std::env::var(RUN).unwrap_or_default();
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<u32>().ok())) {
            (Some("+"), Some(group)) => {
                groups.insert(group);
            }
            (Some("-"), Some(group)) => {
                groups.remove(&group);
            }
            _ => {}
        }
    }
    for group in groups {
        kill_below(group, None);
        kill_group(group);
    }
    // A run without a name would match every mark there is.
    if !run.is_empty() {
        kill_marked(&format!("{run}."));
    }
    ExitCode::SUCCESS
}

/// Ends a process group at once. One that is gone already is fine.
#[cfg(unix)]
pub(super) fn kill_group(group: u32) {
    signal_group(group, nix::sys::signal::Signal::SIGKILL);
}

/// Sends a signal to a group; true where the group exists.
#[cfg(unix)]
pub(super) fn signal_group(group: u32, signal: impl Into<Option<nix::sys::signal::Signal>>) -> bool {
    use nix::{sys::signal::killpg, unistd::Pid};
    // 0 and 1 would mean our own group and everybody.
    match i32::try_from(group) {
        Ok(group) if group > 1 => killpg(Pid::from_raw(group), signal).is_ok(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn kill_group(_group: u32) {}

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
pub(super) fn kill_below(root: u32, spared: Option<u32>) {
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
pub(super) fn kill_below(_root: u32, _spared: Option<u32>) {}

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
    // What emptied its environment, and has not left its parent or its leash.
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
