//! Locations on disk, and atomic replacement of files.
//!
//! A reader sees the old file or the new one, never half of either, whenever the power goes.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::platform::Platform;

/// Number of files synced concurrently.
const FLUSHED_AT_A_TIME: usize = 16;
/// Pauses between attempts while another program holds a file: about a second in total.
const PAUSES_MS: [u64; 7] = [10, 20, 40, 80, 160, 320, 400];

/// The directories of a Satchel installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The configuration file.
    pub config_file: PathBuf,
    /// Persistent state: catalogs, tokens, the address of a running hub.
    pub data: PathBuf,
    /// Logs of the hub and of all servers.
    pub logs: PathBuf,
}

/// The user has no home directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find a home directory; set SATCHEL_HOME to a directory for Satchel's files")]
pub struct NoHome;

impl Places {
    /// `$SATCHEL_HOME` if set, otherwise the operating system's standard directories.
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

    /// Creates the directories, accessible to this user only.
    pub fn create(&self) -> io::Result<()> {
        let config = self.config_file.parent().map(ToOwned::to_owned);
        for dir in [
            config.as_deref(),
            Some(&self.data),
            Some(&self.logs),
            Some(&self.catalogs()),
            Some(&self.approvals()),
            Some(&self.failures()),
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

    /// The cached lists of all servers.
    pub fn catalogs(&self) -> PathBuf {
        self.data.join("catalogs")
    }

    /// The approvals of all servers.
    pub fn approvals(&self) -> PathBuf {
        self.data.join("approvals")
    }

    /// The last failures of servers.
    pub fn failures(&self) -> PathBuf {
        self.data.join("failures")
    }

    /// One log per server.
    pub fn server_logs(&self) -> PathBuf {
        self.logs.join("servers")
    }

    /// The log of one server.
    pub fn server_log(&self, server: &str) -> PathBuf {
        self.server_logs().join(format!("{}.log", file_stem(server)))
    }

    /// The address of a running hub.
    pub fn address_file(&self) -> PathBuf {
        self.data.join("hub.json")
    }

    /// Locked by the running hub.
    pub fn lock_file(&self) -> PathBuf {
        self.data.join("hub.lock")
    }

    /// The last valid configuration.
    pub fn last_good_config(&self) -> PathBuf {
        self.data.join("config.last-good.json")
    }
}

/// Makes everything this process creates from now on private to its user, including files created by libraries. To be
/// called first.
pub fn keep_new_files_private() {
    #[cfg(unix)]
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
}

/// Creates a directory that only this user can access.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Encodes a name for a file name: letters, digits, `.`, `-` and `_` stay, everything else becomes `%XX`. Distinct
/// names never share a file, even on case-insensitive file systems.
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

/// Replaces `path` atomically: writes beside it, syncs, renames. A new file is accessible to this user only; an
/// existing one keeps its permissions. A symbolic link is followed and stays one; a link created during the write has
/// no effect.
///
/// # Errors
/// Any I/O error; `path` is unchanged then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_where(path, None, bytes).map(drop)
}

/// Replaces many files like [`replace`]. All are on disk when it returns; several are synced concurrently, because each
/// would wait for the same disk, and their directory is synced once.
///
/// # Errors
/// As for [`replace`], individually; the others are written.
pub fn replace_all(files: &[(PathBuf, Vec<u8>)]) -> Vec<io::Result<()>> {
    let share = files.len().div_ceil(FLUSHED_AT_A_TIME).max(1);
    std::thread::scope(|scope| {
        let begin = |share| (share, scope.spawn(move || replace_share(share)));
        let shares: Vec<_> = files.chunks(share).map(begin).collect();
        let faulty = |_| Err(io::Error::other("a fault of ours"));
        let joined = shares
            .into_iter()
            .map(|(share, writing)| writing.join().unwrap_or_else(|_| share.iter().map(faulty).collect()));
        joined.flatten().collect()
    })
}

fn replace_share(files: &[(PathBuf, Vec<u8>)]) -> Vec<io::Result<()>> {
    let mut unsettled = BTreeMap::new();
    let write = |(path, bytes): &(PathBuf, Vec<u8>)| {
        let (_, spot) = replace_unsettled(path, None, bytes)?;
        unsettled.entry(path.parent().map(Path::to_owned)).or_insert(spot);
        Ok(())
    };
    let written = files.iter().map(write).collect();
    unsettled.values().for_each(Spot::settle);
    written
}

/// Like [`replace`], if the file has exactly this content, or does not exist. Returns whether it did. A concurrent write
/// by another program is preserved, and reported as a mismatch; on file systems without atomic exchange, a write
/// between check and rename is lost.
///
/// # Errors
/// As for [`replace`].
pub fn replace_known(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    replace_where(path, Some(before), after)
}

/// Removes `path` if it has exactly this content. Returns whether it did; otherwise it stays.
///
/// # Errors
/// Any I/O error.
pub fn remove_known(path: &Path, before: &[u8]) -> io::Result<bool> {
    let spot = Spot::of(path)?;
    let aside = temporary_name(&spot);
    spot.take(&aside)?;
    let holds = || io::Result::Ok(spot.read(aside.as_ref())?.as_deref() == Some(before));
    // If it is a different file, it is missing only for the moment of this check.
    let is_known = holds()? && !spot.is_being_written(aside.as_ref()) && holds()?;
    // If another file exists by now, that is the latest.
    if is_known || !spot.put_new(&aside)? {
        spot.remove(&aside);
    }
    spot.settle();
    Ok(is_known)
}

fn temporary_name(spot: &Spot) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!(".{}.{}.{}.tmp", spot.name(), std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// `known` is the required content, if any.
fn replace_where(path: &Path, known: Option<Option<&[u8]>>, bytes: &[u8]) -> io::Result<bool> {
    let (replaced, spot) = replace_unsettled(path, known, bytes)?;
    if replaced {
        spot.settle();
    }
    Ok(replaced)
}

/// The same, without syncing the directory.
fn replace_unsettled(path: &Path, known: Option<Option<&[u8]>>, bytes: &[u8]) -> io::Result<(bool, Spot)> {
    let unwritable =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    let spot = Spot::of(path).map_err(unwritable)?;
    let temporary = temporary_name(&spot);
    let replaced = || {
        // Not kept open: Windows and network drives refuse to replace an open file.
        let there = spot.open(&spot.name).map(Some).or_else(absent)?;
        let rights = there.and_then(|file| file.metadata().ok()).map(|about| about.permissions());
        if let Some(known) = known
            && spot.read(&spot.name)?.as_deref() != known
        {
            return Ok(false);
        }
        let mut file = spot.create(&temporary)?;
        if let Some(rights) = rights {
            let _ = file.set_permissions(rights);
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        match known {
            None => spot.put(&temporary).map(|()| true),
            Some(None) => spot.put_new(&temporary),
            Some(Some(known)) => spot.put_known(&temporary, known, bytes),
        }
    };
    let replaced: io::Result<bool> = replaced();
    if !matches!(replaced, Ok(true)) {
        spot.remove(&temporary);
    }
    replaced.map(|replaced| (replaced, spot)).map_err(unwritable)
}

fn absent<T>(error: io::Error) -> io::Result<Option<T>> {
    if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

impl Spot {
    /// The content of a regular file beside it; devices are refused.
    fn read(&self, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
        let there = self.open(name).map(Some).or_else(absent)?;
        let there = there.filter(|file| file.metadata().is_ok_and(|about| about.is_file()));
        let bytes = there.map(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        bytes.transpose()
    }

    /// Replaces the known content by `ours`, which is in `name`. Another program's concurrent write is restored.
    fn put_known(&self, name: &str, known: &[u8], ours: &[u8]) -> io::Result<bool> {
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
struct Spot {
    dir: std::os::fd::OwnedFd,
    name: std::ffi::OsString,
}

#[cfg(target_os = "linux")]
impl Spot {
    fn of(path: &Path) -> io::Result<Self> {
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

    fn name(&self) -> &str {
        self.name.to_str().unwrap_or("file")
    }

    fn open(&self, name: &OsStr) -> io::Result<File> {
        use nix::{
            fcntl::{OFlag, openat},
            sys::stat::Mode,
        };
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&self.dir, name, flags, Mode::empty())?))
    }

    fn create(&self, name: &str) -> io::Result<File> {
        use nix::{
            fcntl::{OFlag, openat},
            sys::stat::Mode,
        };
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(File::from(openat(&self.dir, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?))
    }

    fn put(&self, name: &str) -> io::Result<()> {
        Ok(nix::fcntl::renameat(&self.dir, name, &self.dir, self.name.as_os_str())?)
    }

    /// Moves it to another name.
    fn take(&self, name: &str) -> io::Result<()> {
        Ok(nix::fcntl::renameat(&self.dir, self.name.as_os_str(), &self.dir, name)?)
    }

    /// Like [`Self::put`], if nothing exists. Returns whether that was so.
    fn put_new(&self, name: &str) -> io::Result<bool> {
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
    fn is_being_written(&self, name: &OsStr) -> bool {
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

    fn remove(&self, name: &str) {
        let _ = nix::unistd::unlinkat(&self.dir, name, nix::unistd::UnlinkatFlags::NoRemoveDir);
    }

    /// Syncs the directory, so that the rename survives a power failure. Best effort, because not every file system
    /// supports it.
    fn settle(&self) {
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
struct Spot {
    dir: PathBuf,
    name: std::ffi::OsString,
}

#[cfg(not(target_os = "linux"))]
impl Spot {
    fn of(path: &Path) -> io::Result<Self> {
        let (dir, name) = resolved(path)?;
        Ok(Self { dir, name })
    }

    fn name(&self) -> &str {
        self.name.to_str().unwrap_or("file")
    }

    fn open(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.dir.join(name))
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.dir.join(name))
    }

    fn put(&self, name: &str) -> io::Result<()> {
        rename(&self.dir.join(name), &self.dir.join(&self.name))
    }

    fn take(&self, name: &str) -> io::Result<()> {
        rename(&self.dir.join(&self.name), &self.dir.join(name))
    }

    #[cfg(target_os = "macos")]
    fn put_new(&self, name: &str) -> io::Result<bool> {
        match renaming::renamed(&File::open(&self.dir)?, name, &self.name, renaming::How::IfFree)? {
            renaming::Renamed::Done => Ok(true),
            renaming::Renamed::Taken => Ok(false),
            renaming::Renamed::Unable => self.put_where_free(name),
        }
    }

    #[cfg(not(target_os = "macos"))]
    fn put_new(&self, name: &str) -> io::Result<bool> {
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
    fn is_being_written(&self, _name: &OsStr) -> bool {
        false
    }

    fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.dir.join(name));
    }

    fn settle(&self) {
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

/// Renames a file or directory. If another program briefly holds it open, as editors, scanners and indexers do on
/// Windows, retries for about a second.
///
/// # Errors
/// Any I/O error; nothing was renamed then.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let rename = || fs::rename(from, to);
    tried_again(Platform::current(), rename, |pause| {
        #[expect(clippy::disallowed_methods, reason = "whoever writes a file waits for the disk anyway")]
        std::thread::sleep(pause);
    })
}

fn tried_again<T>(
    platform: Platform,
    work: impl Fn() -> io::Result<T>,
    mut wait: impl FnMut(Duration),
) -> io::Result<T> {
    for pause in PAUSES_MS {
        match work() {
            Err(error) if is_hindered(platform, &error) => wait(Duration::from_millis(pause)),
            done => return done,
        }
    }
    work()
}

/// Does another program hold the file? Windows reports that in three ways, the first of which may have other reasons.
fn is_hindered(platform: Platform, error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    platform == Platform::Windows
        && matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION))
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

/// Reads a regular file of at most `most` bytes. Anything else, such as a pipe or an endless device, is refused without
/// blocking.
///
/// # Errors
/// Any I/O error; [`io::ErrorKind::FileTooLarge`], and [`io::ErrorKind::Unsupported`] for anything but a regular file.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let plain = |about: fs::Metadata| match about.is_file() {
        false => Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file")),
        true if about.len() > most => Err(too_large(most)),
        true => Ok(()),
    };
    // Opening a device may have side effects.
    plain(fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY,
    );
    let file = options.open(path)?;
    plain(file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    let text = format!("it is larger than {} MB", most / 1024 / 1024);
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Opens one of Satchel's files for appending; creates it for this user only. Links and anything but regular files are
/// refused.
///
/// # Errors
/// Any I/O error.
pub fn append_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file"));
    }
    Ok(file)
}

/// Removes temporary files that interrupted writes of [`replace`] left in `dir`, for the file `of` or any. Only while
/// holding the lock, because another hub might be writing.
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

/// Moves a damaged file aside, never overwriting an earlier one, and returns the new path.
///
/// # Errors
/// Any I/O error; `path` is unchanged then.
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
    rename(path, &aside)?;
    Ok(aside)
}

/// Removes a file, and everything moved aside under its name.
///
/// # Errors
/// Any I/O error; a part may remain.
pub fn remove_with_asides(path: &Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fs::remove_file(path))?;
    remove_asides(path)
}

/// Removes everything moved aside under this file's name.
///
/// # Errors
/// Any I/O error; a part may remain.
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
    fn many_files_are_replaced_whole_and_one_that_cannot_be_keeps_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = |at: usize| dir.path().join(at.to_string());
        fs::create_dir(path(7)).unwrap();
        let files: Vec<_> = (0..100).map(|at| (path(at), at.to_string().into_bytes())).collect();
        let failed = replace_all(&files).into_iter().map(|written| written.is_err());
        let failed: Vec<usize> =
            (0..100).zip(failed).filter_map(|(at, failed)| failed.then_some(at)).collect();
        assert_eq!(failed, [7]);
        for (path, bytes) in files.iter().filter(|(path, _)| path.is_file()) {
            assert_eq!(fs::read(path).unwrap(), *bytes);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 100, "nothing is left beside them");
        assert!(replace_all(&[]).is_empty());
    }

    #[test]
    fn leftovers_of_interrupted_writes_are_removed_and_nothing_else() {
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
    fn a_file_set_aside_replaces_no_earlier_one() {
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

    #[cfg(unix)]
    #[test]
    fn special_files_are_neither_waited_for_nor_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let kind = |path: &Path| read_plain(path, 10).unwrap_err().kind();
        let link = |name: &str, to: &str| {
            let path = dir.path().join(name);
            std::os::unix::fs::symlink(to, &path).unwrap();
            path
        };
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let piped = link("piped", pipe.to_str().unwrap());
        let endless = link("endless", "/dev/zero");
        for odd in [&pipe, &piped, &endless, dir.path()] {
            assert_eq!(kind(odd), io::ErrorKind::Unsupported, "{}", odd.display());
            assert!(append_private(odd).is_err(), "{}", odd.display());
        }
        let long = dir.path().join("long");
        fs::write(&long, "12345678901").unwrap();
        assert_eq!(kind(&long), io::ErrorKind::FileTooLarge);
        assert_eq!(kind(&dir.path().join("absent")), io::ErrorKind::NotFound);
        assert_eq!(read_plain(&long, 11).unwrap(), b"12345678901");
        let elsewhere = link("elsewhere", "long");
        assert!(append_private(&elsewhere).is_err(), "a log is never somewhere else");
        append_private(&dir.path().join("log")).unwrap().write_all(b"x").unwrap();
    }

    #[test]
    fn a_file_is_replaced_only_as_it_was_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        assert!(!replace_known(&path, Some(b"one"), b"two").unwrap());
        assert!(!path.exists());
        assert!(replace_known(&path, None, b"one").unwrap());
        assert!(!replace_known(&path, None, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(replace_known(&path, Some(b"one"), b"two").unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_file_is_removed_only_as_it_was_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        assert!(remove_known(&path, b"one").is_err(), "there is none");
        fs::write(&path, "one").unwrap();
        assert!(!remove_known(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(remove_known(&path, b"one").unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn concurrent_writes_of_another_program_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, "one").unwrap();
        let spot = Spot::of(&path).unwrap();
        // Simulates a write between the last check and the exchange.
        for (now, after) in [("one", "ours"), ("two", "two")] {
            fs::write(&path, now).unwrap();
            fs::write(dir.path().join("new"), "ours").unwrap();
            assert_eq!(spot.put_known("new", b"one", b"ours").unwrap(), after == "ours");
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
            let _ = fs::remove_file(dir.path().join("new"));
        }
        // It has the file open, and continues writing.
        fs::write(&path, "one").unwrap();
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        assert!(!replace_known(&path, Some(b"one"), b"ours").unwrap());
        assert!(!remove_known(&path, b"one").unwrap());
        other.write_all(b", two").unwrap();
        drop(other);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one, two");
        let reader = File::open(&path).unwrap();
        assert!(
            replace_known(&path, Some(b"one, two"), b"ours").unwrap(),
            "who only reads it is no hindrance"
        );
        drop(reader);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

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

    #[test]
    fn a_file_that_another_program_holds_for_a_moment_is_tried_again_on_windows() {
        let check = |platform, codes: &[i32], tries: usize, done: bool| {
            let (left, waited) =
                (std::cell::RefCell::new(codes.iter()), std::cell::Cell::new(Duration::ZERO));
            let tried = std::cell::Cell::new(0);
            let work = || {
                tried.set(tried.get() + 1);
                left.borrow_mut().next().map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(*code)))
            };
            let result = tried_again(platform, work, |pause| waited.set(waited.get() + pause));
            assert_eq!((tried.get(), result.is_ok()), (tries, done), "{platform:?} {codes:?}");
            waited.get()
        };
        check(Platform::Windows, &[], 1, true);
        check(Platform::Windows, &[5, 32, 33], 4, true);
        check(Platform::Windows, &[2], 1, false);
        check(Platform::Windows, &[32, 2], 2, false);
        let longest = check(Platform::Windows, &[32; 100], PAUSES_MS.len() + 1, false);
        assert_eq!(longest, Duration::from_millis(1030));
        for platform in [Platform::Linux, Platform::MacOs] {
            assert_eq!(check(platform, &[5], 1, false), Duration::ZERO);
        }
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
