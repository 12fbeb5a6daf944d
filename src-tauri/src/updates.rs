//! Newer versions of this program: when they are looked for, and when they are installed. What is told, fetched and checked, and how
//! it takes the place of this one, is `satchel_core::updates`.
//!
//! Theory of operation: one task looks while a person wants it, at once and then daily, and fetches what is newer. It is
//! installed when this program has ended, on a person's word or at Quit: never while a call runs or a question waits, and never
//! when the computer ends us.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use satchel_core::{
    clock,
    model::{Code, ServerState, control::Refusal},
    platform::Platform,
    updates::{
        self, Ready, UpdateError,
        installed::{Installed, Manager},
        offer::UpdateSource,
        place::{self, Successor},
        trial::{self, Start},
    },
};
use semver::Version;
use serde::Serialize;
use tauri::{AppHandle, Manager as _};
use tokio::sync::{Mutex, Notify, watch};

use crate::{
    choices::{Chosen, LookForUpdates},
    serving::Serving,
    state::HubState,
    tasks::Tasks,
};

/// Interval of looking for updates.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The update address and the signing key, compiled into a release. A build without them looks for no updates.
const ADDRESS: Option<&str> = option_env!("SATCHEL_UPDATE_ADDRESS");
const KEY: Option<&str> = option_env!("SATCHEL_UPDATE_KEY");

/// How this program is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplacedBy {
    Itself,
    Apt,
    Rpm,
    Pacman,
    Nix,
    Homebrew,
    Scoop,
    /// Manually.
    Hand,
}

/// The state of updates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "standing", rename_all = "snake_case")]
pub(crate) enum Standing {
    /// Not checked.
    #[default]
    Unknown,
    /// Being checked or downloaded.
    Looking,
    /// None available at that time, in milliseconds since the Unix epoch.
    Newest {
        #[cfg_attr(test, ts(type = "number"))]
        at_ms: u64,
    },
    /// Available, to be installed by other means.
    Newer { version: String, notes: String },
    /// Downloaded and verified.
    Ready { version: String, notes: String },
    /// Installed as soon as nothing runs.
    Waiting { version: String },
    /// Checking, downloading or installing failed.
    Failed { message: String, action: String },
}

/// What the window shows about updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct UpdatesView {
    /// This build has an update address.
    pub(crate) known: bool,
    pub(crate) by: ReplacedBy,
    pub(crate) now: Standing,
    /// The last version that failed to start here and was rolled back.
    pub(crate) taken_back: Option<String>,
}

/// A handle to the updates.
#[derive(Clone)]
pub(crate) struct Updates(Arc<UpdatesState>);

struct UpdatesState {
    source: Option<UpdateSource>,
    installed: Installed,
    platform: Platform,
    program: PathBuf,
    dir: PathBuf,
    own: Version,
    now: watch::Sender<Standing>,
    ready: parking_lot::Mutex<Option<Ready>>,
    /// Limits checks to one at a time.
    looks: Mutex<()>,
    wanted: Notify,
    /// A person asked to install and restart.
    again: AtomicBool,
    /// The system is shutting down, so there is no time.
    hurried: AtomicBool,
}

impl Updates {
    /// For this program, whose update files are below `data`.
    pub(crate) fn of_this_program(program: PathBuf, data: PathBuf) -> Self {
        let source = ADDRESS.zip(KEY).and_then(|(address, key)| {
            UpdateSource::new(address, key)
                .inspect_err(|why| tracing::error!("no newer versions: {why}"))
                .ok()
        });
        let platform = Platform::current();
        let installed = Installed::of(&program, platform, |file| std::path::Path::new(file).exists());
        Self::new(source, installed, platform, program, data.join("updates"), place::own_version())
    }

    fn new(
        source: Option<UpdateSource>,
        installed: Installed,
        platform: Platform,
        program: PathBuf,
        dir: PathBuf,
        own: Version,
    ) -> Self {
        let (now, _) = watch::channel(Standing::default());
        let ready = parking_lot::Mutex::default();
        let (looks, wanted) = (Mutex::default(), Notify::new());
        let (again, hurried) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(UpdatesState {
            source,
            installed,
            platform,
            program,
            dir,
            own,
            now,
            ready,
            looks,
            wanted,
            again,
            hurried,
        }))
    }

    /// Called first at every start: restores the previous version if this one has started three times without serving.
    /// Returns what to start instead.
    pub(crate) fn begin(&self) -> Option<Successor> {
        let Start::GoBack(kept) = trial::begin(&self.0.dir, &self.0.own) else { return None };
        let Installed::ByItself(place) = &self.0.installed else { return None };
        let back = place::go_back(place, self.0.platform, &self.0.program, &kept);
        back.inspect_err(|error| tracing::error!("version {} stays: {error}", self.0.own)).ok()
    }

    pub(crate) fn view(&self) -> UpdatesView {
        UpdatesView {
            known: self.0.source.is_some(),
            by: match &self.0.installed {
                Installed::ByItself(_) => ReplacedBy::Itself,
                Installed::By(Manager::Apt) => ReplacedBy::Apt,
                Installed::By(Manager::Rpm) => ReplacedBy::Rpm,
                Installed::By(Manager::Pacman) => ReplacedBy::Pacman,
                Installed::By(Manager::Nix) => ReplacedBy::Nix,
                Installed::By(Manager::Homebrew) => ReplacedBy::Homebrew,
                Installed::By(Manager::Scoop) => ReplacedBy::Scoop,
                Installed::Unknown => ReplacedBy::Hand,
            },
            now: self.0.now.borrow().clone(),
            taken_back: trial::refused(&self.0.dir).last().map(ToString::to_string),
        }
    }

    /// Checks now, and downloads an update that this program may install itself.
    pub(crate) async fn look(&self) {
        let Some(source) = &self.0.source else { return };
        let _one = self.0.looks.lock().await;
        if matches!(*self.0.now.borrow(), Standing::Ready { .. } | Standing::Waiting { .. }) {
            return;
        }
        self.0.now.send_replace(Standing::Looking);
        let now = self.found(source).await.unwrap_or_else(|error| {
            tracing::info!("no newer version: {error}");
            Standing::Failed { message: error.to_string(), action: error.action().to_owned() }
        });
        self.0.now.send_replace(now);
    }

    async fn found(&self, source: &UpdateSource) -> Result<Standing, UpdateError> {
        let inner = &self.0;
        let Some(offer) = updates::look(source, &inner.own, &target(), &inner.dir).await? else {
            return Ok(Standing::Newest { at_ms: clock::now_ms() });
        };
        let (version, notes) = (offer.version.to_string(), offer.notes.clone());
        if !matches!(inner.installed, Installed::ByItself(_)) {
            return Ok(Standing::Newer { version, notes });
        }
        let ready = updates::fetch(source, offer, &inner.dir).await?;
        *self.ready() = Some(ready);
        Ok(Standing::Ready { version, notes })
    }

    fn ready(&self) -> parking_lot::MutexGuard<'_, Option<Ready>> {
        self.0.ready.lock()
    }

    /// The setting for looking for updates has changed.
    pub(crate) fn wake(&self) {
        self.0.wanted.notify_one();
    }

    /// Shuts down as soon as nothing runs, and starts the new version.
    ///
    /// # Errors
    /// If there is nothing to install.
    pub(crate) fn install(&self, tasks: &Tasks, serving: &Serving) -> Result<(), Refusal> {
        let version = match &*self.ready() {
            Some(ready) => ready.version.to_string(),
            None => {
                return Err(Refusal::new(
                    Code::NoUpdate,
                    "there is no newer version to install",
                    Code::NoUpdate.action(),
                ));
            }
        };
        if !self.0.again.swap(true, Ordering::Relaxed) {
            self.0.now.send_replace(Standing::Waiting { version });
            let (states, serving) = (serving.state(), serving.clone());
            tasks.spawn(async move {
                quiet(states).await;
                serving.quit().await;
            });
        }
        Ok(())
    }

    /// The system is shutting down: a downloaded update is installed another time.
    pub(crate) fn hurry(&self) {
        self.0.hurried.store(true, Ordering::Relaxed);
    }

    /// Installs a downloaded update after everything has ended, and returns what to start. `unasked`: the user wants
    /// updates without being asked each time; `again`: someone started this program in the meantime.
    pub(crate) async fn finish(&self, unasked: bool, again: bool) -> Option<Successor> {
        let asked = self.0.again.load(Ordering::Relaxed);
        if self.0.hurried.load(Ordering::Relaxed) || !(asked || unasked) {
            return None;
        }
        let Installed::ByItself(place) = &self.0.installed else { return None };
        let ready = self.ready().take()?;
        let again = asked || again;
        match place::install(place, self.0.platform, &ready, &self.0.dir, again).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!("version {} is not installed: {error}", ready.version);
                // A requested start happens, with this version.
                again.then(|| Successor { program: self.0.program.clone(), arguments: vec![] })
            }
        }
    }
}

/// Checks regularly if enabled, and ends a trial when this version serves.
pub(crate) async fn follow(app: AppHandle, serving: Serving) {
    let updates = app.state::<Updates>().inner().clone();
    let mut states = serving.state();
    let serves = |state: &HubState| matches!(state, HubState::Open { .. } | HubState::Held { .. });
    if states.wait_for(serves).await.is_err() {
        return;
    }
    let dir = updates.0.dir.clone();
    if tokio::task::spawn_blocking(move || trial::passed(&dir)).await.is_err() {
        tracing::warn!("the trial of this version goes on");
    }
    loop {
        if app.state::<Chosen>().get().updates == LookForUpdates::On {
            updates.look().await;
        }
        tokio::select! {
            () = tokio::time::sleep(DAY) => {}
            () = updates.0.wanted.notified() => {}
        }
    }
}

/// Waits until no call runs and no question waits.
async fn quiet(mut states: watch::Receiver<HubState>) {
    // An error means that the hub has stopped.
    let _ = states.wait_for(|state| !is_busy(state)).await;
}

fn is_busy(state: &HubState) -> bool {
    state.snapshot().is_some_and(|snapshot| {
        let calls = |state: &ServerState| matches!(state, ServerState::Ready { in_flight: 1.., .. });
        !snapshot.asks.is_empty() || snapshot.servers.iter().any(|server| calls(&server.state))
    })
}

/// This platform's name in the update manifest.
fn target() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    format!("{system}-{}", std::env::consts::ARCH)
}

/// Starts the successor without waiting for it.
pub(crate) fn start(next: &Successor) {
    let mut command = std::process::Command::new(&next.program);
    command.args(&next.arguments).stdin(Stdio::null());
    if let Err(error) = command.spawn() {
        tracing::error!("cannot start {}: {error}", next.program.display());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use satchel_core::model::Snapshot;

    use super::*;
    use crate::{notices::tests::ask, tray::testing};

    fn open(snapshot: Snapshot) -> HubState {
        HubState::Open { snapshot: Arc::new(snapshot), refused: None }
    }

    fn calling(in_flight: usize) -> HubState {
        let state = ServerState::Ready { in_flight, sleeps_at_ms: None };
        open(Snapshot { servers: vec![testing::server("git", state)], ..Snapshot::default() })
    }

    #[tokio::test(start_paused = true)]
    async fn an_update_waits_for_calls_and_questions() {
        let (sender, states) = watch::channel(calling(2));
        let mut waiting = std::pin::pin!(quiet(states));
        assert!(tokio::time::timeout(DAY, &mut waiting).await.is_err(), "two calls run");
        sender.send_replace(open(Snapshot { asks: vec![ask(1)], ..Snapshot::default() }));
        assert!(tokio::time::timeout(DAY, &mut waiting).await.is_err(), "a question waits");
        sender.send_replace(calling(0));
        waiting.await;
    }

    fn updates(home: &std::path::Path) -> Updates {
        let place = home.join("Satchel");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("satchel-app.exe"), "old").unwrap();
        let program = place.join("satchel-app.exe");
        let installed = Installed::ByItself(place);
        Updates::new(None, installed, Platform::Windows, program, home.join("updates"), Version::new(1, 2, 3))
    }

    fn fetched(updates: &Updates, home: &std::path::Path) {
        let ready =
            Ready { version: Version::new(1, 3, 0), notes: String::new(), file: home.join("setup.exe") };
        *updates.ready() = Some(ready);
    }

    #[tokio::test]
    async fn a_ready_update_is_installed_at_exit_if_wanted() {
        let home = tempfile::tempdir().unwrap();
        let updates = updates(home.path());
        assert_eq!(updates.finish(true, false).await, None, "nothing is ready");
        fetched(&updates, home.path());
        assert_eq!(updates.finish(false, false).await, None, "nobody wants it");
        let next = updates.finish(true, false).await.unwrap();
        assert_eq!((next.program, next.arguments), (home.path().join("setup.exe"), vec!["/S", "/UPDATE"]));
        fetched(&updates, home.path());
        let next = updates.finish(true, true).await.unwrap();
        assert_eq!(next.arguments, ["/S", "/UPDATE", "/R"], "somebody has started it meanwhile");
    }

    #[tokio::test]
    async fn nothing_is_installed_while_the_computer_ends_us() {
        let home = tempfile::tempdir().unwrap();
        let updates = updates(home.path());
        fetched(&updates, home.path());
        updates.hurry();
        assert_eq!(updates.finish(true, true).await, None);
    }

    #[tokio::test]
    async fn a_version_that_never_serves_is_replaced_by_the_one_before() {
        let home = tempfile::tempdir().unwrap();
        let old = updates(home.path());
        fetched(&old, home.path());
        old.finish(true, false).await.unwrap();
        // Simulates the installer.
        let program = home.path().join("Satchel/satchel-app.exe");
        std::fs::write(&program, "new").unwrap();
        let installed = old.0.installed.clone();
        let dir = home.path().join("updates");
        let start = || {
            let version = Version::new(1, 3, 0);
            let installed = installed.clone();
            Updates::new(None, installed, Platform::Windows, program.clone(), dir.clone(), version)
        };
        for _ in 0..3 {
            assert_eq!(start().begin(), None);
        }
        let back = start().begin().unwrap();
        assert_eq!(
            (back.program.clone(), std::fs::read_to_string(&back.program).unwrap()),
            (program.clone(), "old".to_owned())
        );
        assert_eq!(start().view().taken_back.as_deref(), Some("1.3.0"));
    }
}
