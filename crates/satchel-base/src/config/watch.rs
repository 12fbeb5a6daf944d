//! Signals when the configuration file may have changed. Reading and judging it is the hub's part.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;

/// How long a file must stay unchanged before it is read: editors write in several steps.
pub const SETTLE: Duration = Duration::from_millis(100);
/// Interval of looking at a file that the operating system does not watch.
const LOOK: Duration = Duration::from_secs(2);
const UNWATCHED: &str = "cannot watch the configuration file; looking at it every two seconds instead";
/// Maximum number of symbolic links on the way to a file, as in Linux.
const LINKS: usize = 40;

/// Watches a file until dropped.
#[derive(Debug)]
pub struct FileWatch {
    /// `None` if the operating system refuses one.
    watcher: Option<notify::RecommendedWatcher>,
    /// How the file last looked, while the operating system does not watch all of its places.
    seen: Option<Look>,
    changed: Arc<Notify>,
    /// The watched file; `None` for a folder.
    file: Option<PathBuf>,
    /// The names of the file and of what its links lead to.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    dirs: BTreeSet<PathBuf>,
    /// A change was signalled and not yet returned, because the wait was cancelled.
    unsettled: bool,
}

/// Length and date of the real file; nothing where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look(Option<(u64, Option<SystemTime>)>);

impl Look {
    fn at(file: &Path) -> Self {
        Self(std::fs::metadata(file).ok().map(|about| (about.len(), about.modified().ok())))
    }
}

impl FileWatch {
    /// Watches `file`, which need not exist and may be a symbolic link. Watches directories, because replacing a file by
    /// renaming would end a watch on the file itself. If the operating system cannot watch, for example because editors have
    /// used up its limit of watches, the file is looked at every two seconds.
    pub fn new(file: &Path) -> Self {
        let changed = Arc::new(Notify::new());
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let (wake, known) = (changed.clone(), names.clone());
        let is_ours =
            move |path: &PathBuf| path.file_name().is_some_and(|name| locked(&known).contains(name));
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) if event.kind.is_access() => {}
            Ok(event) => {
                // An event without paths means that events were lost: check the file.
                if event.paths.is_empty() || event.paths.iter().any(&is_ours) {
                    wake.notify_one();
                }
            }
            Err(_) => wake.notify_one(),
        });
        Self::with(file, watcher, changed, names)
    }

    fn with(
        file: &Path,
        watcher: notify::Result<notify::RecommendedWatcher>,
        changed: Arc<Notify>,
        names: Arc<Mutex<BTreeSet<OsString>>>,
    ) -> Self {
        let (watcher, error) = match watcher {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(error)),
        };
        let (seen, dirs) = (error.is_some().then(|| Look::at(file)), BTreeSet::new());
        let file = Some(file.to_owned());
        let mut watch = Self { watcher, seen, changed, file, names, dirs, unsettled: false };
        match error {
            Some(error) => tracing::warn!(%error, "{UNWATCHED}"),
            None => watch.follow_links(),
        }
        watch
    }

    /// Watches the direct content of a folder, which must exist.
    ///
    /// # Errors
    /// If the operating system cannot watch, for example because its limit of watches is reached.
    pub fn of_folder(folder: &Path) -> notify::Result<Self> {
        let changed = Arc::new(Notify::new());
        let wake = changed.clone();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
                Ok(event) if event.kind.is_access() => {}
                Ok(_) | Err(_) => wake.notify_one(),
            })?;
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        let dirs = BTreeSet::from([folder.to_owned()]);
        let (watcher, names) = (Some(watcher), Arc::default());
        Ok(Self { watcher, seen: None, changed, file: None, names, dirs, unsettled: false })
    }

    /// Waits for the next change, until the file has settled. Cancelling it loses no change.
    pub async fn changed(&mut self) {
        if !self.unsettled {
            self.signalled().await;
            self.unsettled = true;
        }
        while tokio::time::timeout(SETTLE, self.changed.notified()).await.is_ok() {}
        self.follow_links();
        self.unsettled = false;
    }

    /// Waits for a signal of the operating system, or, where it does not watch, until the file looks different.
    async fn signalled(&mut self) {
        while let (Some(file), Some(seen)) = (&self.file, &mut self.seen) {
            if tokio::time::timeout(LOOK, self.changed.notified()).await.is_ok() {
                return;
            }
            let now = Look::at(file);
            if std::mem::replace(seen, now.clone()) != now {
                return;
            }
        }
        self.changed.notified().await;
    }

    /// Watches where the file's links lead now; looks at the file itself where that fails.
    fn follow_links(&mut self) {
        let Some(file) = self.file.clone() else { return };
        match self.watch_links(&file) {
            Ok(true) => self.seen = None,
            Ok(false) => {}
            Err(error) => {
                if self.seen.is_none() {
                    tracing::warn!(%error, "{UNWATCHED}");
                }
                self.seen = Some(Look::at(&file));
            }
        }
    }

    /// Returns false without a watcher.
    fn watch_links(&mut self, file: &Path) -> notify::Result<bool> {
        let Some(watcher) = &mut self.watcher else { return Ok(false) };
        let places = places_of(file);
        *locked(&self.names) =
            places.iter().filter_map(|place| place.file_name()).map(ToOwned::to_owned).collect();
        let dirs: BTreeSet<PathBuf> =
            places.iter().filter_map(|place| place.parent()).map(ToOwned::to_owned).collect();
        for gone in self.dirs.difference(&dirs) {
            // A removed directory is no longer watched anyway.
            let _ = watcher.unwatch(gone);
        }
        self.dirs.retain(|dir| dirs.contains(dir));
        for dir in dirs {
            if !self.dirs.contains(&dir) {
                watcher.watch(&dir, RecursiveMode::NonRecursive)?;
                self.dirs.insert(dir);
            }
        }
        Ok(true)
    }
}

fn locked(names: &Mutex<BTreeSet<OsString>>) -> std::sync::MutexGuard<'_, BTreeSet<OsString>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file, each link on the way to the real file, and the real file.
fn places_of(file: &Path) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::from([file.to_owned()]);
    let mut place = file.to_owned();
    while places.len() < LINKS
        && let Ok(target) = std::fs::read_link(&place)
    {
        place = place.parent().unwrap_or(Path::new("/")).join(target);
        if !places.insert(place.clone()) {
            break;
        }
    }
    places.extend(std::fs::canonicalize(file));
    places
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// Far more than a change needs to be noticed.
    const PATIENCE: Duration = Duration::from_secs(20);

    async fn noticed(watch: &mut FileWatch, what: &str) {
        let noticed = tokio::time::timeout(PATIENCE, watch.changed()).await;
        assert!(noticed.is_ok(), "{what}");
    }

    #[tokio::test]
    async fn an_edit_of_what_a_link_leads_to_is_noticed_also_after_the_link_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (home, dot, other) = (dir.path().join("home"), dir.path().join("dot"), dir.path().join("other"));
        for dir in [&home, &dot, &other] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(dot.join("satchel.json"), "{}").unwrap();
        fs::write(other.join("mine.json"), "{}").unwrap();
        let file = home.join("config.json");
        symlink("../dot/satchel.json", &file).unwrap();
        let mut watch = FileWatch::new(&file);

        fs::write(dot.join("satchel.json"), "{ }").unwrap();
        noticed(&mut watch, "an edit in place").await;
        fs::write(dot.join("new"), "{  }").unwrap();
        fs::rename(dot.join("new"), dot.join("satchel.json")).unwrap();
        noticed(&mut watch, "an edit by renaming").await;
        symlink("../other/mine.json", home.join("link")).unwrap();
        fs::rename(home.join("link"), &file).unwrap();
        noticed(&mut watch, "another link").await;
        fs::write(other.join("mine.json"), "{ }").unwrap();
        noticed(&mut watch, "an edit of what the new link leads to").await;
    }

    /// Every editor takes watches, and the system has a limit of them for each user.
    #[tokio::test(start_paused = true)]
    async fn a_file_that_the_system_does_not_watch_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.json");
        let refused = || Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        let mut watch = FileWatch::with(&file, refused(), Arc::default(), Arc::default());
        for text in ["{}", "{ }", ""] {
            let quiet = tokio::time::timeout(PATIENCE, watch.changed()).await;
            assert!(quiet.is_err(), "nothing changed before {text:?}");
            fs::write(&file, text).unwrap();
            noticed(&mut watch, text).await;
        }
        fs::remove_file(&file).unwrap();
        noticed(&mut watch, "it is gone").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_whose_directory_comes_later_is_looked_at_until_it_can_be_watched() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("later/config.json");
        let mut watch = FileWatch::new(&file);
        fs::create_dir(dir.path().join("later")).unwrap();
        fs::write(&file, "{}").unwrap();
        noticed(&mut watch, "its directory").await;
        assert_eq!(watch.seen, None, "it can be watched now");
    }
}
