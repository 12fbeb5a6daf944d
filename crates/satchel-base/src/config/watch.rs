//! Signals when the configuration file may have changed. Reading and judging it is the hub's part.

use std::{path::Path, sync::Arc, time::Duration};

use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;

/// How long a file must stay unchanged before it is read: editors write in several steps.
pub const SETTLE: Duration = Duration::from_millis(100);

/// Watches a file until dropped.
#[derive(Debug)]
pub struct FileWatch {
    _watcher: notify::RecommendedWatcher,
    changed: Arc<Notify>,
}

impl FileWatch {
    /// Watches `file`, which need not exist. Watches its directory, because replacing a file by renaming
    /// would end a watch on the file itself.
    ///
    /// # Errors
    /// If the operating system cannot watch, for example because its limit of watches is reached.
    pub fn new(file: &Path) -> notify::Result<Self> {
        let changed = Arc::new(Notify::new());
        let (wake, name) = (changed.clone(), file.file_name().map(ToOwned::to_owned));
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
                Ok(event) if event.kind.is_access() => {}
                Ok(event) => {
                    // An event without paths means that events were lost: check the file.
                    if event.paths.is_empty()
                        || event.paths.iter().any(|path| path.file_name() == name.as_deref())
                    {
                        wake.notify_one();
                    }
                }
                Err(_) => wake.notify_one(),
            })?;
        let real = std::fs::canonicalize(file).ok();
        let dirs = [Some(file), real.as_deref()].into_iter().flatten().filter_map(Path::parent);
        let dirs: std::collections::BTreeSet<_> = dirs.collect();
        for dir in dirs {
            watcher.watch(dir, RecursiveMode::NonRecursive)?;
        }
        Ok(Self { _watcher: watcher, changed })
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
        Ok(Self { _watcher: watcher, changed })
    }

    /// Waits for the next change, until the file has settled.
    pub async fn changed(&self) {
        self.changed.notified().await;
        while tokio::time::timeout(SETTLE, self.changed.notified()).await.is_ok() {}
    }
}
