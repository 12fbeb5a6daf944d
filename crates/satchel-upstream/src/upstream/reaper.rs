//! Makes the hub a subreaper: processes that lose their parent become its children, so that what a server started is
//! found below the hub. Linux only.
//!
//! Theory of operation: what the hub adopted ends as a zombie of the hub, and nobody waits for it. So some time after a
//! child's end the reaper looks for zombies that are still there, and takes them away. Who waits for a child of their own
//! does so at once.

#[cfg(target_os = "linux")]
use std::time::Duration;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A zombie of this age has no waiting parent.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(60);

/// Adopts orphans until `end`.
#[cfg(target_os = "linux")]
pub fn start(tracker: &TaskTracker, end: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let adopting = nix::sys::prctl::set_child_subreaper(true).map_err(std::io::Error::from);
    let ended = adopting.and_then(|()| signal(SignalKind::child()));
    let mut ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            tracing::warn!(%error, "what servers leave behind cannot be followed");
            return;
        }
    };
    tracker.spawn(async move {
        loop {
            tokio::select! {
                ended = ended.recv() => if ended.is_none() { return },
                () = end.cancelled() => return,
            }
            let before = tokio::task::spawn_blocking(zombies).await.unwrap_or_default();
            tokio::select! {
                () = tokio::time::sleep(PATIENCE) => {}
                () = end.cancelled() => return,
            }
            let _ = tokio::task::spawn_blocking(move || reap(&before)).await;
        }
    });
}

/// Other systems give orphans to the first process.
#[cfg(not(target_os = "linux"))]
pub fn start(_tracker: &TaskTracker, _end: CancellationToken) {}

/// Dead children of this process that nobody waited for, by id and start time.
#[cfg(target_os = "linux")]
fn zombies() -> Vec<(i32, u64)> {
    let own = std::process::id();
    let look_at = |pid: i32| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
        let is_ours = *fields.first()? == "Z" && fields.get(1)?.parse() == Ok(own);
        is_ours.then_some((pid, fields.get(19)?.parse().ok()?))
    };
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    entries.flatten().filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(target_os = "linux")]
fn reap(before: &[(i32, u64)]) {
    use nix::{
        sys::wait::{WaitPidFlag, waitpid},
        unistd::Pid,
    };
    for (pid, _) in zombies().into_iter().filter(|zombie| before.contains(zombie)) {
        // An error means that someone waited for it after all.
        let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_a_child_that_was_dead_before_is_taken_away() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let dead = || zombies().into_iter().find(|(zombie, _)| *zombie == pid);
        let zombie = std::iter::repeat_with(dead).take(100_000).find_map(|dead| dead).unwrap();
        reap(&[]);
        assert!(dead().is_some(), "it has not been there for long");
        reap(&[(pid, zombie.1 + 1)]);
        assert!(dead().is_some(), "another one of that id");
        reap(&[zombie]);
        assert!(dead().is_none());
        assert!(child.wait().is_err(), "nobody is left to wait for");
    }
}
