//! Watches over the hub's children from outside: when the hub dies, however suddenly, they are ended.
//!
//! Theory of operation: the hub starts its own program once more as `warden` and holds a pipe to it. It writes a line
//! for every process group that begins (`+123`) or is known to be gone (`-123`). The end of the pipe means that the
//! hub is gone; then the warden ends every group still on its list, and on Linux also every process that carries the
//! hub's mark in its environment, wherever it has moved to. It knows nothing else and does nothing else.
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

    /// The mark of a process started for server number `server` in its `generation`.
    pub fn mark(&self, server: u64, generation: u64) -> String {
        format!("{}.{server}.{generation}", self.run)
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

/// Ends every process whose mark begins with `prefix`, and says how many there were. Repeats until none is left, so
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
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| Some(*pid) != ourselves)
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| {
                bytes.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
            })
        })
        .collect()
}
