//! Signals when the configuration file may have changed. Reading and judging it is the hub's part.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;

/// How long a file must stay unchanged before it is read: editors write in several steps.
pub const SETTLE: Duration = Duration::from_millis(100);
/// Maximum number of symbolic links on the way to a file, as in Linux.
const LINKS: usize = 40;

/// Watches a file until dropped.
#[derive(Debug)]
pub struct FileWatch {
    watcher: notify::RecommendedWatcher,
    changed: Arc<Notify>,
    /// The watched file; `None` for a folder.
    file: Option<PathBuf>,
    /// The names of the file and of what its links lead to.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    dirs: BTreeSet<PathBuf>,
    /// A change was signalled and not yet returned, because the wait was cancelled.
    unsettled: bool,
}

impl FileWatch {
    /// Watches `file`, which need not exist and may be a symbolic link. Watches directories, because replacing a file by
    /// renaming would end a watch on the file itself.
    ///
    /// # Errors
    /// If the operating system cannot watch, for example because its limit of watches is reached.
    pub fn new(file: &Path) -> notify::Result<Self> {
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
        })?;
        let (file, dirs) = (Some(file.to_owned()), BTreeSet::new());
        let mut watch = Self { watcher, changed, file, names, dirs, unsettled: false };
        watch.follow_links()?;
        Ok(watch)
    }

    /// Watches the direct content of a folder, which must exist.
    ///
    /// # Errors
    /// As for [`Self::new`].
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
        Ok(Self { watcher, changed, file: None, names: Arc::default(), dirs, unsettled: false })
    }

    /// Waits for the next change, until the file has settled. Cancelling it loses no change.
    pub async fn changed(&mut self) {
        if !self.unsettled {
            self.changed.notified().await;
            self.unsettled = true;
        }
        while tokio::time::timeout(SETTLE, self.changed.notified()).await.is_ok() {}
        if let Err(error) = self.follow_links() {
            tracing::warn!(%error, "cannot watch what the configuration file links to; edits there take effect after a restart");
        }
        self.unsettled = false;
    }

    /// Watches where the file's links lead now.
    fn follow_links(&mut self) -> notify::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let places = places_of(file);
        *locked(&self.names) =
            places.iter().filter_map(|place| place.file_name()).map(ToOwned::to_owned).collect();
        let dirs: BTreeSet<PathBuf> =
            places.iter().filter_map(|place| place.parent()).map(ToOwned::to_owned).collect();
        for gone in self.dirs.difference(&dirs) {
            // A removed directory is no longer watched anyway.
            let _ = self.watcher.unwatch(gone);
        }
        self.dirs.retain(|dir| dirs.contains(dir));
        for dir in dirs {
            if !self.dirs.contains(&dir) {
                self.watcher.watch(&dir, RecursiveMode::NonRecursive)?;
                self.dirs.insert(dir);
            }
        }
        Ok(())
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
        let mut watch = FileWatch::new(&file).unwrap();

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
}
