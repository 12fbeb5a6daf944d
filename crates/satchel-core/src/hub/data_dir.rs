//! Guards the data directory: one hub per directory by a lock, the run's id, and cleanup of what an earlier run left
//! behind.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{Hub, HubOptions};
use crate::{
    files::{self, Places},
    model::{Code, Notice},
    secrets::Secret,
    upstream::watchdog,
};

/// How long a command waits for another command that briefly has the hub open.
const COMMAND_PATIENCE: Duration = Duration::from_secs(5);
/// How long a permanent hub waits for such commands: on a busy computer there may be several.
const HUB_PATIENCE: Duration = Duration::from_secs(30);

/// Maximum size of the address file, in bytes.
const ADDRESS: u64 = 64 * 1024;
/// How long to wait for the passphrase of the encrypted secrets file: its file may be a pipe.
const PASSPHRASE_PATIENCE: Duration = Duration::from_secs(10);

/// How many times in a row a serving hub's lock must be found held before it counts.
const LOOKS: u32 = 3;

/// Why a hub could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another hub uses this data directory.
    #[error("{}", held(*.pid, .url.as_deref(), .data))]
    HeldBy {
        /// Its process id, if known.
        pid: Option<u32>,
        /// Its endpoint, if known.
        url: Option<String>,
        /// The directory.
        data: PathBuf,
    },
    /// The directories cannot be created or locked.
    #[error(transparent)]
    Files(io::Error),
}

fn held(pid: Option<u32>, url: Option<&str>, data: &std::path::Path) -> String {
    let who =
        pid.map_or_else(|| "another Satchel".to_owned(), |pid| format!("Satchel with process id {pid}"));
    let at = url.map(|url| format!(", serving at {url}")).unwrap_or_default();
    format!("{who} is using {}{at}", data.display())
}

/// The addresses of a running hub: written by the endpoint, read by the command line and the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningHub {
    /// Its process id.
    pub pid: u32,
    /// Its MCP endpoint.
    pub url: String,
    /// Its control channel: a Unix socket, or a named pipe.
    pub socket: PathBuf,
}

/// The namespace of named pipes on Windows, shared by all accounts of the computer.
pub const PIPES: &str = r"\\.\pipe\";

impl RunningHub {
    /// Reads the address file. The hub in it may have exited.
    pub fn read(places: &Places) -> Option<Self> {
        serde_json::from_slice(&files::read_plain(&places.address_file(), ADDRESS).ok()?).ok()
    }

    fn is_pipe(&self) -> bool {
        self.socket.to_string_lossy().starts_with(PIPES)
    }

    /// Could someone else be behind its control channel? Once a hub exits, another account can create a pipe of the
    /// same name and would receive secrets. It cannot lock a file of this user, though: while that is locked, the pipe
    /// belongs to this user's hub. A socket is safe, because only this user can access its directory.
    pub fn is_deserted(&self, places: &Places) -> bool {
        if !self.is_pipe() {
            return false;
        }
        let Ok(file) = files::open_plain(&places.lock_file()) else { return true };
        // A shared lock, so that two checks at the same time do not mistake each other for a hub.
        !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

pub(super) async fn lock(options: &HubOptions) -> Result<File, OpenError> {
    let patience = if options.passive { COMMAND_PATIENCE } else { HUB_PATIENCE };
    lock_within(&options.places, patience).await
}

async fn lock_within(places: &Places, patience: Duration) -> Result<File, OpenError> {
    let path = places.lock_file();
    // A pipe would be waited for.
    let _ = files::set_odd_aside(&path);
    let mut open = OpenOptions::new();
    open.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    let file = open.open(&path).map_err(|error| {
        let message = format!("cannot open {}: {error}", path.display());
        OpenError::Files(io::Error::new(error.kind(), message))
    })?;
    let deadline = tokio::time::Instant::now() + patience;
    let mut looks = 0;
    loop {
        looks += 1;
        match file.try_lock() {
            Ok(()) => {
                // The address of a killed hub would mislead clients of the control channel, and make a process that
                // waits for this lock give up.
                let _ = std::fs::remove_file(places.address_file());
                let _ = files::set_odd_aside(&places.address_file());
                return Ok(file);
            }
            Err(TryLockError::Error(error)) => return Err(OpenError::Files(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let running = RunningHub::read(places);
        // A short-lived command or a starting hub holds the lock without an address. With a pipe's address, a process
        // may hold it briefly to check for a hub. On a busy computer, a killed hub, or a process that it was just starting,
        // may hold it for seconds.
        let serves = match &running {
            Some(running) if running.is_pipe() => looks >= LOOKS,
            Some(running) => accepts(&running.socket).await,
            None => false,
        };
        if serves || tokio::time::Instant::now() >= deadline {
            let (pid, url) = running.map(|running| (running.pid, running.url)).unzip();
            return Err(OpenError::HeldBy { pid, url, data: places.data.clone() });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Does a process listen on this socket? If that cannot be told, yes.
#[cfg(unix)]
async fn accepts(socket: &std::path::Path) -> bool {
    let nobody = [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused];
    tokio::net::UnixStream::connect(socket)
        .await
        .map_or_else(|error| !nobody.contains(&error.kind()), |_| true)
}

#[cfg(not(unix))]
async fn accepts(_socket: &std::path::Path) -> bool {
    true
}

/// Removes temporary files of interrupted writes. Called under the lock, so nothing else writes here.
pub(super) fn clear_leftovers(places: &Places) {
    let config = &places.config_file;
    // The file may be a link; writes go to its target's directory.
    let config = std::fs::canonicalize(config).unwrap_or_else(|_| config.clone());
    if let (Some(dir), Some(name)) = (config.parent(), config.file_name().and_then(|name| name.to_str())) {
        files::clear_temporaries(dir, Some(name));
    }
    for dir in [&places.data, &places.catalogs(), &places.approvals(), &places.failures()] {
        files::clear_temporaries(dir, None);
    }
}

/// The same beside other programs' files, where leftovers may contain a token.
pub(super) fn clear_leftovers_of_others(written: impl IntoIterator<Item = PathBuf>) {
    for file in written {
        let file = std::fs::canonicalize(&file).unwrap_or(file);
        if let (Some(dir), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) {
            files::clear_temporaries(dir, Some(name));
        }
    }
}

#[derive(Serialize, Deserialize)]
struct RunRecord {
    run: String,
}

/// Names this run, and kills processes left by an earlier run whose watchdog was killed too.
pub(super) fn begin_run(places: &Places) -> Result<String, OpenError> {
    let file = places.data.join("run.json");
    if let Some(before) =
        files::read_data(&file).ok().and_then(|bytes| serde_json::from_slice::<RunRecord>(&bytes).ok())
        && !before.run.is_empty()
    {
        let left = watchdog::kill_marked(&format!("{}.", before.run));
        if left > 0 {
            tracing::warn!(left, "killed processes left over from an earlier run");
        }
    }
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| OpenError::Files(io::Error::other(error)))?;
    let run: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let bytes = serde_json::to_vec(&RunRecord { run: run.clone() })
        .map_err(|error| OpenError::Files(error.into()))?;
    files::replace(&file, &bytes).map_err(OpenError::Files)?;
    Ok(run)
}

/// Opens the encrypted file with a passphrase from a file named by the environment, for unattended systems: for
/// example a systemd credential.
pub(super) async fn open_vault(hub: &Hub) {
    let Some(path) = std::env::var_os("SATCHEL_PASSPHRASE_FILE") else { return };
    let (send, read) = tokio::sync::oneshot::channel();
    // A thread of its own, which may wait longer than the hub does.
    std::thread::spawn(move || drop(send.send(std::fs::read_to_string(path))));
    let read = match tokio::time::timeout(PASSPHRASE_PATIENCE, read).await {
        Ok(read) => read.unwrap_or_else(|gone| Err(io::Error::other(gone))),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "nothing came from it for 10 seconds")),
    };
    let opened = match read {
        Ok(text) => {
            let passphrase = Secret::new(text.trim_end_matches(['\n', '\r']));
            hub.inner.around.secrets.unlock(passphrase).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = opened {
        let message = format!("cannot open the encrypted secrets file with SATCHEL_PASSPHRASE_FILE: {error}");
        hub.notice(Notice::new(Code::VaultLocked, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(dir.path());
        places.create().unwrap();
        (dir, places)
    }

    #[tokio::test(start_paused = true)]
    async fn a_hub_waits_for_the_commands_that_come_first_and_not_for_another_hub() {
        let (_dir, places) = home();
        let command = lock_within(&places, HUB_PATIENCE).await.unwrap();
        let ends = async move {
            tokio::time::sleep(Duration::from_secs(20)).await;
            drop(command);
        };
        let (hub, ()) = tokio::join!(lock_within(&places, HUB_PATIENCE), ends);
        let hub = hub.unwrap();
        let socket = places.data.join("hub.sock");
        #[cfg(unix)]
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let running = RunningHub { pid: 7, url: "http://127.0.0.1:1/mcp".into(), socket };
        files::replace(&places.address_file(), &serde_json::to_vec(&running).unwrap()).unwrap();
        let before = tokio::time::Instant::now();
        let refused = lock_within(&places, HUB_PATIENCE).await.unwrap_err();
        assert!(matches!(refused, OpenError::HeldBy { pid: Some(7), .. }), "{refused}");
        assert_eq!(before, tokio::time::Instant::now(), "a hub that serves is not waited for");
        drop(hub);
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn a_killed_hub_that_the_system_has_not_cleared_away_is_waited_for() {
        let (_dir, places) = home();
        let killed = lock_within(&places, HUB_PATIENCE).await.unwrap();
        let socket = places.data.join("hub.sock");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        let stale = RunningHub { pid: 7, url: "http://127.0.0.1:1/mcp".into(), socket };
        files::replace(&places.address_file(), &serde_json::to_vec(&stale).unwrap()).unwrap();
        let cleared = async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            drop(killed);
        };
        let (hub, ()) = tokio::join!(lock_within(&places, HUB_PATIENCE), cleared);
        hub.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_pipe_is_trusted_only_while_a_hub_of_ours_runs() {
        let (_dir, places) = home();
        let at = |socket: &str| RunningHub { pid: 7, url: String::new(), socket: PathBuf::from(socket) };
        let (pipe, socket) = (at(r"\\.\pipe\satchel-00"), at("/home/u/hub.sock"));
        assert!(pipe.is_deserted(&places), "no hub ever ran here");
        let hub = lock_within(&places, HUB_PATIENCE).await.unwrap();
        assert!(!pipe.is_deserted(&places));
        drop(hub);
        assert!(pipe.is_deserted(&places), "the hub is gone, and its name is anybody's");
        assert!(!socket.is_deserted(&places), "nobody else can enter its directory");
    }

    #[tokio::test(start_paused = true)]
    async fn checking_for_a_running_hub_does_not_block_a_start() {
        let (_dir, places) = home();
        let stale = RunningHub { pid: 7, url: String::new(), socket: PathBuf::from(r"\\.\pipe\satchel-00") };
        drop(lock_within(&places, HUB_PATIENCE).await.unwrap());
        files::replace(&places.address_file(), &serde_json::to_vec(&stale).unwrap()).unwrap();
        let asking = File::open(places.lock_file()).unwrap();
        asking.try_lock_shared().unwrap();
        assert!(stale.is_deserted(&places), "two may ask at once");
        let asked = async move {
            tokio::time::sleep(Duration::from_millis(60)).await;
            drop(asking);
        };
        let (hub, ()) = tokio::join!(lock_within(&places, HUB_PATIENCE), asked);
        hub.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_gives_up_after_a_while() {
        let (_dir, places) = home();
        let _other = lock_within(&places, COMMAND_PATIENCE).await.unwrap();
        let refused = lock_within(&places, COMMAND_PATIENCE).await.unwrap_err();
        assert!(matches!(refused, OpenError::HeldBy { pid: None, .. }), "{refused}");
    }
}
