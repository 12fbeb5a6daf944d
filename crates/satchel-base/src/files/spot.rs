//! Reads, creates, renames and exchanges files in one directory, which on Linux stays the same whatever happens to its
//! path.

#[cfg(not(target_os = "linux"))]
use std::fs::OpenOptions;
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

#[cfg(not(target_os = "linux"))]
use super::rename::rename;

pub(super) fn absent<T>(error: io::Error) -> io::Result<Option<T>> {
    if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

impl Spot {
    /// The content of a regular file beside it; devices are refused.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
        let there = self.open(name).map(Some).or_else(absent)?;
        let there = there.filter(|file| file.metadata().is_ok_and(|about| about.is_file()));
        let bytes = there.map(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        bytes.transpose()
    }

    /// Replaces the known content by `ours`, which is in `name`. Another program's concurrent write is restored.
    pub(super) fn put_known(&self, name: &str, known: &[u8], ours: &[u8]) -> io::Result<bool> {
        // Usually detected here, before the new content is visible.
        if self.is_being_written(&self.name) || self.read(&self.name)?.as_deref() != Some(known) {
            return Ok(false);
        }
        if !self.exchange(name)? {
            return self.put(name).map(|()| true);
        }
        let is_known = || io::Result::Ok(self.read(name.as_ref())?.as_deref() == Some(known));
        // If it is a different file, the new content is visible only for the moment of this check. A program that had
        // opened it before may still be writing; whatever is closed is compared as read then.
        if is_known()? && !self.is_being_written(name.as_ref()) && is_known()? {
            self.remove(name);
            return Ok(true);
        }
        // If it is gone, there is nothing to exchange with.
        self.exchange(name).map(drop).or_else(|_| self.put(name))?;
        // The new content may have been overwritten in the meantime: that is the latest.
        let latest = self.is_being_written(name.as_ref())
            || self.read(name.as_ref())?.is_some_and(|bytes| bytes != ours);
        if latest {
            self.exchange(name)?;
        }
        Ok(false)
    }
}

/// A name in an open directory, which stays the same whatever happens to its path.
#[cfg(target_os = "linux")]
pub(super) struct Spot {
    dir: std::os::fd::OwnedFd,
    pub(super) name: std::ffi::OsString,
}

#[cfg(target_os = "linux")]
impl Spot {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        use nix::{
            fcntl::{OFlag, open, openat},
            sys::stat::Mode,
        };
        let (parent, name) = resolved(path)?;
        let only = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut dir = open("/", only, Mode::empty())?;
        // Component by component: a link created since is not followed.
        for part in parent.components() {
            if let std::path::Component::Normal(part) = part {
                dir = openat(&dir, part, only, Mode::empty())?;
            }
        }
        Ok(Self { dir, name })
    }

    pub(super) fn name(&self) -> &str {
        self.name.to_str().unwrap_or("file")
    }

    pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
        use nix::{
            fcntl::{OFlag, openat},
            sys::stat::Mode,
        };
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&self.dir, name, flags, Mode::empty())?))
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        use nix::{
            fcntl::{OFlag, openat},
            sys::stat::Mode,
        };
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&self.dir, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?))
    }

    pub(super) fn put(&self, name: &str) -> io::Result<()> {
        Ok(nix::fcntl::renameat(&self.dir, name, &self.dir, self.name.as_os_str())?)
    }

    /// Moves it to another name.
    pub(super) fn take(&self, name: &str) -> io::Result<()> {
        Ok(nix::fcntl::renameat(&self.dir, self.name.as_os_str(), &self.dir, name)?)
    }

    /// Like [`Self::put`], if nothing exists. Returns whether that was so.
    pub(super) fn put_new(&self, name: &str) -> io::Result<bool> {
        match renaming::renamed(&self.dir, name, &self.name, renaming::How::IfFree)? {
            renaming::Renamed::Done => return Ok(true),
            renaming::Renamed::Taken => return Ok(false),
            renaming::Renamed::Unable => {}
        }
        let free = self.open(&self.name).map(Some).or_else(absent)?.is_none();
        if free { self.put(name).map(|()| true) } else { Ok(false) }
    }

    /// Exchanges the two atomically; `false` if the file system does not support it.
    fn exchange(&self, name: &str) -> io::Result<bool> {
        let exchanged = renaming::renamed(&self.dir, name, &self.name, renaming::How::Exchange)?;
        Ok(exchanged == renaming::Renamed::Done)
    }

    /// Does a visible process have it open for writing?
    pub(super) fn is_being_written(&self, name: &OsStr) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Ok(about) = self.open(name).and_then(|file| file.metadata()) else { return false };
        let listed = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        let writes = |open: &fs::DirEntry, process: &Path| {
            let named = fs::read_link(open.path()).is_ok_and(|path| path.ends_with(name));
            let same = |other: fs::Metadata| (other.dev(), other.ino()) == (about.dev(), about.ino());
            let info = || fs::read_to_string(process.join("fdinfo").join(open.file_name())).ok();
            let flags = |info: String| {
                let line = info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim().to_owned();
                u32::from_str_radix(&line, 8).ok()
            };
            // The last two bits are the access mode: 0 is read-only.
            named && fs::metadata(open.path()).is_ok_and(same) && info().and_then(flags).unwrap_or(0) & 3 != 0
        };
        let processes = listed(Path::new("/proc")).map(|entry| entry.path());
        let mut numbered = processes.filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.parse::<u32>().is_ok())
        });
        numbered.any(|process| listed(&process.join("fd")).any(|open| writes(&open, &process)))
    }

    pub(super) fn remove(&self, name: &str) {
        let _ = nix::unistd::unlinkat(&self.dir, name, nix::unistd::UnlinkatFlags::NoRemoveDir);
    }

    /// Syncs the directory, so that the rename survives a power failure. Best effort, because not every file system
    /// supports it.
    pub(super) fn settle(&self) {
        use nix::{
            fcntl::{OFlag, openat},
            sys::stat::Mode,
        };
        let opened = openat(&self.dir, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY, Mode::empty());
        let _ = opened.map(|dir| File::from(dir).sync_all());
    }
}

/// A name in a directory.
#[cfg(not(target_os = "linux"))]
pub(super) struct Spot {
    dir: PathBuf,
    pub(super) name: std::ffi::OsString,
}

#[cfg(not(target_os = "linux"))]
impl Spot {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let (dir, name) = resolved(path)?;
        Ok(Self { dir, name })
    }

    pub(super) fn name(&self) -> &str {
        self.name.to_str().unwrap_or("file")
    }

    pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.dir.join(name))
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.dir.join(name))
    }

    pub(super) fn put(&self, name: &str) -> io::Result<()> {
        rename(&self.dir.join(name), &self.dir.join(&self.name))
    }

    pub(super) fn take(&self, name: &str) -> io::Result<()> {
        rename(&self.dir.join(&self.name), &self.dir.join(name))
    }

    #[cfg(target_os = "macos")]
    pub(super) fn put_new(&self, name: &str) -> io::Result<bool> {
        match renaming::renamed(&File::open(&self.dir)?, name, &self.name, renaming::How::IfFree)? {
            renaming::Renamed::Done => Ok(true),
            renaming::Renamed::Taken => Ok(false),
            renaming::Renamed::Unable => self.put_where_free(name),
        }
    }

    #[cfg(not(target_os = "macos"))]
    pub(super) fn put_new(&self, name: &str) -> io::Result<bool> {
        self.put_where_free(name)
    }

    fn put_where_free(&self, name: &str) -> io::Result<bool> {
        let free = self.open(&self.name).map(Some).or_else(absent)?.is_none();
        if free { self.put(name).map(|()| true) } else { Ok(false) }
    }

    #[cfg(target_os = "macos")]
    fn exchange(&self, name: &str) -> io::Result<bool> {
        let exchanged =
            renaming::renamed(&File::open(&self.dir)?, name, &self.name, renaming::How::Exchange)?;
        Ok(exchanged == renaming::Renamed::Done)
    }

    #[cfg(not(target_os = "macos"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
    fn exchange(&self, _name: &str) -> io::Result<bool> {
        Ok(false)
    }

    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(super) fn is_being_written(&self, _name: &OsStr) -> bool {
        false
    }

    pub(super) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.dir.join(name));
    }

    pub(super) fn settle(&self) {
        #[cfg(unix)]
        let _ = File::open(&self.dir).and_then(|dir| dir.sync_all());
    }
}

/// Atomic conditional renames: on Linux with any libc, and on macOS.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod renaming {
    use std::{ffi::OsStr, io, os::fd::AsFd};

    use rustix::{
        fs::{RenameFlags, renameat_with},
        io::Errno,
    };

    #[derive(Clone, Copy)]
    pub(super) enum How {
        /// Only if the new name is unused.
        IfFree,
        /// Exchange both names.
        Exchange,
    }

    #[derive(Debug, PartialEq, Eq)]
    pub(super) enum Renamed {
        Done,
        /// The new name is used.
        Taken,
        /// Not supported by this file system.
        Unable,
    }

    pub(super) fn renamed(dir: impl AsFd, from: &str, to: &OsStr, how: How) -> io::Result<Renamed> {
        let flags = match how {
            How::IfFree => RenameFlags::NOREPLACE,
            How::Exchange => RenameFlags::EXCHANGE,
        };
        match renameat_with(&dir, from, &dir, to, flags) {
            Ok(()) => Ok(Renamed::Done),
            Err(Errno::EXIST) => Ok(Renamed::Taken),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(Renamed::Unable),
            Err(error) => Err(error.into()),
        }
    }
}

/// Resolves a path to a directory without links, and a name in it.
fn resolved(path: &Path) -> io::Result<(PathBuf, std::ffi::OsString)> {
    let nowhere = || io::Error::from(io::ErrorKind::InvalidInput);
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(_) => {
            let path = std::path::absolute(path)?;
            if fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink()) {
                return Err(io::Error::new(io::ErrorKind::NotFound, "it is a dangling link"));
            }
            fs::canonicalize(path.parent().ok_or_else(nowhere)?)?.join(path.file_name().ok_or_else(nowhere)?)
        }
    };
    Ok((path.parent().ok_or_else(nowhere)?.to_owned(), path.file_name().ok_or_else(nowhere)?.to_owned()))
}

#[cfg(all(test, any(target_os = "linux", target_os = "macos")))]
mod tests {
    use super::*;

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn a_renaming_with_a_condition_is_one_step() {
        use renaming::{How, Renamed, renamed};
        let home = tempfile::tempdir().unwrap();
        let dir = File::open(home.path()).unwrap();
        let text = |name: &str| fs::read_to_string(home.path().join(name)).unwrap_or_default();
        fs::write(home.path().join("a"), "a").unwrap();
        fs::write(home.path().join("b"), "b").unwrap();
        assert_eq!(renamed(&dir, "a", OsStr::new("b"), How::IfFree).unwrap(), Renamed::Taken);
        assert_eq!((text("a"), text("b")), ("a".into(), "b".into()));
        assert_eq!(renamed(&dir, "a", OsStr::new("b"), How::Exchange).unwrap(), Renamed::Done);
        assert_eq!((text("a"), text("b")), ("b".into(), "a".into()));
        assert_eq!(renamed(&dir, "a", OsStr::new("c"), How::IfFree).unwrap(), Renamed::Done);
        assert_eq!((text("a"), text("c")), (String::new(), "b".into()));
        assert!(renamed(&dir, "a", OsStr::new("b"), How::Exchange).is_err(), "there is nothing to exchange");
    }
}
