//! Where things lie on disk, and how a file is replaced whole.
//!
//! A reader sees the old file or the new one, never half of either, whenever the power goes.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// The directories of one Satchel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The configuration, the one file that people edit.
    pub config_file: PathBuf,
    /// What the hub remembers: catalogs, tokens, the address of a running hub.
    pub data: PathBuf,
    /// Logs of the hub and of every server.
    pub logs: PathBuf,
}

/// This user has no home directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find a home directory; set SATCHEL_HOME to a directory for Satchel's files")]
pub struct NoHome;

impl Places {
    /// `$SATCHEL_HOME` where set, else the operating system's usual directories.
    pub fn from_environment() -> Result<Self, NoHome> {
        match std::env::var_os("SATCHEL_HOME").filter(|home| !home.is_empty()) {
            Some(home) => Ok(Self::below(&std::path::absolute(&home).unwrap_or_else(|_| home.into()))),
            None => {
                let dirs = directories::ProjectDirs::from("", "", "satchel").ok_or(NoHome)?;
                let data = dirs.data_local_dir().to_owned();
                Ok(Self {
                    config_file: dirs.config_dir().join("config.json"),
                    logs: dirs.state_dir().map_or_else(|| data.join("logs"), |state| state.join("logs")),
                    data,
                })
            }
        }
    }

    /// Everything below one directory.
    pub fn below(home: &Path) -> Self {
        Self { config_file: home.join("config.json"), data: home.join("data"), logs: home.join("logs") }
    }

    /// Makes the directories, readable by this user only.
    pub fn create(&self) -> io::Result<()> {
        let config = self.config_file.parent().map(ToOwned::to_owned);
        for dir in [
            config.as_deref(),
            Some(&self.data),
            Some(&self.logs),
            Some(&self.catalogs()),
            Some(&self.approvals()),
            Some(&self.server_logs()),
        ]
        .into_iter()
        .flatten()
        {
            create_private_dir(dir).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot create {}: {error}", dir.display()))
            })?;
        }
        Ok(())
    }

    /// The lists of every server as last seen.
    pub fn catalogs(&self) -> PathBuf {
        self.data.join("catalogs")
    }

    /// What was approved of every server.
    pub fn approvals(&self) -> PathBuf {
        self.data.join("approvals")
    }

    /// One log a server.
    pub fn server_logs(&self) -> PathBuf {
        self.logs.join("servers")
    }

    /// The log of one server.
    pub fn server_log(&self, server: &str) -> PathBuf {
        self.server_logs().join(format!("{}.log", file_stem(server)))
    }

    /// Where a running hub can be reached.
    pub fn address_file(&self) -> PathBuf {
        self.data.join("hub.json")
    }

    /// Held by the running hub for as long as it lives.
    pub fn lock_file(&self) -> PathBuf {
        self.data.join("hub.lock")
    }

    /// The last configuration that was good.
    pub fn last_good_config(&self) -> PathBuf {
        self.data.join("config.last-good.json")
    }
}

/// A directory that only this user can enter.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A name as part of a file name: letters, digits, `.`, `-` and `_` stay, everything else is written as `%XX`,
/// so two names never share a file, also where the file system ignores case.
pub fn file_stem(name: &str) -> String {
    use std::fmt::Write as _;
    let mut stem = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => stem.push(byte as char),
            b'.' if !stem.is_empty() => stem.push('.'),
            _ => {
                let _ = write!(stem, "%{byte:02x}");
            }
        }
    }
    stem
}

/// Replaces `path` whole: written beside it, flushed to disk, renamed over it. The file is readable by this user
/// only, unless it existed with other rights. A symbolic link is followed, so that it stays one.
///
/// # Errors
/// Whatever the file system says; `path` is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let temporary =
        dir.join(format!(".{name}.{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    let written = write_new(&temporary, bytes, &path).and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())));
    }
    // The rename itself must survive a power loss too. Not every file system can do this; then it is best effort.
    #[cfg(unix)]
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(())
}

/// Removes what a write of ours that was cut off left in `dir`: files named like the temporary ones of [`replace`], of
/// the file `of` or of any. Only whoever holds the lock may do this, because another hub may be writing just now.
pub fn clear_temporaries(dir: &Path, of: Option<&str>) {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_ours = |name: &str| {
        let Some(inner) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")) else {
            return false;
        };
        let mut parts = inner.rsplitn(3, '.');
        let (counter, process, file) = (parts.next(), parts.next(), parts.next());
        counter.is_some_and(number)
            && process.is_some_and(number)
            && file.is_some_and(|file| of.is_none_or(|of| of == file))
    };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_ours) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Moves something that cannot be read out of the way, without ever covering what was moved before. Its new place.
///
/// # Errors
/// Whatever the file system says; `path` is then where it was.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut aside = path.with_file_name(format!("{name}.damaged-{seconds}"));
    let mut again = 2;
    while fs::symlink_metadata(&aside).is_ok() {
        aside = path.with_file_name(format!("{name}.damaged-{seconds}-{again}"));
        again += 1;
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Removes a file, and everything that was set aside under its name.
///
/// # Errors
/// Whatever the file system says; a part of it may be left.
pub fn remove_with_asides(path: &Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fs::remove_file(path))?;
    remove_asides(path)
}

/// Removes what was set aside under this file's name.
///
/// # Errors
/// Whatever the file system says; a part of it may be left.
pub fn remove_asides(path: &Path) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let is_aside = |other: &str| {
        let number = other.strip_prefix(name).and_then(|rest| rest.strip_prefix(".damaged-"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_aside) && !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn write_new(temporary: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(temporary)?;
    if let Ok(existing) = fs::metadata(like) {
        let _ = file.set_permissions(existing.permissions());
    }
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_cut_off_writes_left_is_cleared_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(dir.path().join(name), name).unwrap();
        let names = || {
            let mut names: Vec<_> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        for name in
            [".a.json.12.3.tmp", ".b.json.12.3.tmp", ".a.json.tmp", ".a.json.x.3.tmp", "a.json", "notes.tmp"]
        {
            write(name);
        }
        clear_temporaries(dir.path(), Some("a.json"));
        assert_eq!(names(), [".a.json.tmp", ".a.json.x.3.tmp", ".b.json.12.3.tmp", "a.json", "notes.tmp"]);
        clear_temporaries(dir.path(), None);
        assert_eq!(names(), [".a.json.tmp", ".a.json.x.3.tmp", "a.json", "notes.tmp"]);
        clear_temporaries(&dir.path().join("absent"), None);
    }

    #[test]
    fn what_is_set_aside_covers_nothing_that_was_set_aside_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let mut places = std::collections::BTreeSet::new();
        for text in ["one", "two", "three"] {
            fs::write(&path, text).unwrap();
            let aside = set_aside(&path).unwrap();
            assert_eq!(fs::read_to_string(&aside).unwrap(), text);
            places.insert(aside);
        }
        assert_eq!((places.len(), path.exists()), (3, false));
        fs::write(dir.path().join("a.json.damaged-by-hand"), "").unwrap();
        fs::write(dir.path().join("ba.json.damaged-1"), "").unwrap();
        remove_with_asides(&path).unwrap();
        assert!(places.iter().all(|place| !place.exists()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "what others named is not ours");
        assert!(set_aside(&path).is_err(), "there is nothing to move");
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("link.json"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn two_names_never_share_a_file() {
        let names = ["GitHub", "github", "git hub", "git%20hub", "..", "日本", "a.b"];
        let stems: std::collections::HashSet<_> =
            names.iter().map(|name| file_stem(name).to_lowercase()).collect();
        assert_eq!(stems.len(), names.len(), "{stems:?}");
        assert!(stems.iter().all(|stem| !stem.starts_with('.') && !stem.contains('/')));
    }
}
