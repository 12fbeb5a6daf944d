//! Ends the hub's children when the hub dies, however suddenly, from a process outside the hub.
//!
//! Theory of operation: the hub starts a small program ([`satchel_reaper`]) as `watchdog` and holds a pipe to it. It writes a line
//! for every process group that begins (`+123`) or is known to be gone (`-123`), and for every container ([`Orphan`]). The
//! end of the pipe means that the
//! hub is gone; then the watchdog ends every group and container still on its list, and on Linux also everything below its leader (see
//! [`super::subreaper`]) and every process that carries the hub's mark in its environment, wherever it has moved to. It knows nothing else and does nothing else.
//!
//! Windows needs none of this: there a job object closes with the hub.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use tokio::{io::AsyncWriteExt, process::Command, sync::mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[cfg(unix)]
pub(super) use satchel_reaper::processes::{kill_below, kill_group, signal_group};
use satchel_reaper::watchdog::{Orphan, RUN};
pub use satchel_reaper::{
    processes::{MARK, kill_marked},
    watchdog::main,
};

/// The hub's end of the pipe. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Watchdog {
    run: Arc<str>,
    lines: mpsc::UnboundedSender<String>,
    watched: Arc<Mutex<Watched>>,
}

/// What is not known to be gone.
#[derive(Debug, Default)]
struct Watched {
    groups: BTreeSet<u32>,
    /// What was told of each container, by its name.
    containers: BTreeMap<String, String>,
}

impl Watched {
    /// What a watchdog is told that takes another's place.
    fn lines(&self) -> String {
        let groups: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        self.containers.values().fold(groups, |lines, line| lines + line)
    }
}

impl Watchdog {
    /// Starts a watchdog. `run` is unique to this run of the hub. A watchdog that dies is replaced, until `end`.
    pub fn start(program: &Path, run: &str, tracker: &TaskTracker, end: CancellationToken) -> Self {
        keep_no_cores();
        let (lines, mut queue) = mpsc::unbounded_channel::<String>();
        let watched: Arc<Mutex<Watched>> = Arc::default();
        let watchdog = Self { run: run.into(), lines, watched: watched.clone() };
        let (program, run) = (program.to_owned(), run.to_owned());
        tracker.spawn(async move {
            let mut failures = 0u32;
            loop {
                if keep_one(&program, &run, &watched, &mut queue, &end).await {
                    return;
                }
                failures += 1;
                tracing::warn!(failures, "the watchdog ended; starting another");
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(u64::from(failures.min(60)))) => {}
                    () = end.cancelled() => return,
                }
            }
        });
        watchdog
    }

    /// A watchdog without a process, for tests.
    #[cfg(all(test, unix))]
    pub(super) fn of_nobody() -> Self {
        Self { run: "test".into(), lines: mpsc::unbounded_channel().0, watched: Arc::default() }
    }

    /// The mark in the environment of a process of server number `server` in its `generation`.
    pub fn mark(&self, server: u64, generation: u64) -> String {
        format!("{}.{server}.{generation}", self.run)
    }

    /// Kills processes of servers from this run that have escaped their process group. Linux only.
    pub async fn sweep(&self) {
        let marks = format!("{}.", self.run);
        let stragglers = tokio::task::spawn_blocking(move || kill_marked(&marks)).await.unwrap_or(0);
        if stragglers > 0 {
            tracing::info!(stragglers, "ended what servers had left behind");
        }
    }

    /// Is this the process group of a running server?
    pub fn holds(&self, group: u32) -> bool {
        self.watched().groups.contains(&group)
    }

    /// Records a new process group.
    pub fn begins(&self, group: u32) {
        self.watched().groups.insert(group);
        let _ = self.lines.send(format!("+{group}\n"));
    }

    /// Records the end of a process group.
    pub fn gone(&self, group: u32) {
        self.watched().groups.remove(&group);
        let _ = self.lines.send(format!("-{group}\n"));
    }

    /// A container is about to begin.
    pub(super) fn container_begins(&self, orphan: &Orphan) {
        // Texts always serialize.
        let Ok(line) = orphan.begins() else { return };
        self.watched().containers.insert(orphan.name.clone(), line.clone());
        let _ = self.lines.send(line);
    }

    /// A container is gone.
    pub(super) fn container_gone(&self, orphan: &Orphan) {
        self.watched().containers.remove(&orphan.name);
        let _ = self.lines.send(orphan.gone());
    }

    fn watched(&self) -> parking_lot::MutexGuard<'_, Watched> {
        self.watched.lock()
    }
}

/// Disables core dumps, which would write secrets to disk. Inherited by child processes; a server that needs one can
/// raise its own limit again.
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

/// Runs one watchdog process until it is no longer needed (true) or dies (false).
async fn keep_one(
    program: &Path,
    run: &str,
    watched: &Mutex<Watched>,
    queue: &mut mpsc::UnboundedReceiver<String>,
    end: &CancellationToken,
) -> bool {
    if cfg!(windows) {
        end.cancelled().await;
        return true;
    }
    let mut command = Command::new(satchel_reaper::program(program));
    command
        .arg("watchdog")
        .env_clear()
        .env(RUN, run)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // A separate group: Ctrl-C in the terminal must not reach the watchdog.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            tracing::error!(%error, program = %program.display(), "cannot start the watchdog");
            return false;
        }
    };
    let Some(mut pipe) = child.stdin.take() else { return false };
    let known = watched.lock().lines();
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
