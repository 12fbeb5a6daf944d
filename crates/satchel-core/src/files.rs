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

/// So many files are flushed side by side.
const FLUSHED_AT_A_TIME: usize = 16;
/// How long each further try waits for a program that holds a file: about a second altogether.
const PAUSES_MS: [u64; 7] = [10, 20, 40, 80, 160, 320, 400];

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

    /// The lists of every server as last seen.
    pub fn catalogs(&self) -> PathBuf {
        self.data.join("catalogs")
    }

    /// What was approved of every server.
    pub fn approvals(&self) -> PathBuf {
        self.data.join("approvals")
    }

    /// What went wrong with servers last.
    pub fn failures(&self) -> PathBuf {
        self.data.join("failures")
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

/// Whatever this process makes from now on is its user's alone, also where a library makes it. A program says so first.
pub fn keep_new_files_private() {
    #[cfg(unix)]
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
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
/// only, unless it existed with other rights. A symbolic link is followed, so that it stays one; what is made a link
/// while we write leads nowhere.
///
/// # Errors
/// Whatever the file system says; `path` is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_where(path, None, bytes).map(drop)
}

/// Replaces many files as [`replace`] does. All of them are on disk when it returns; several are flushed at a time, because
/// each would wait for the same disk, and their directory once.
///
/// # Errors
/// For each what [`replace`] says; the others are written.
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

/// Like [`replace`], where the file has exactly these bytes, or there is none. Says whether it was so. What another program
/// writes at the same moment stays, and is no longer what was known; where the file system cannot exchange two files at
/// once, between a look and a renaming it is lost.
///
/// # Errors
/// As [`replace`].
pub fn replace_known(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    replace_where(path, Some(before), after)
}

/// Removes `path` where it has exactly these bytes. Says whether it was so; otherwise it stays.
///
/// # Errors
/// Whatever the file system says.
pub fn remove_known(path: &Path, before: &[u8]) -> io::Result<bool> {
    let spot = Spot::of(path)?;
    let aside = temporary_name(&spot);
    spot.take(&aside)?;
    let holds = || io::Result::Ok(spot.read(aside.as_ref())?.as_deref() == Some(before));
    // Where it is another one, it is gone no longer than it takes to see that.
    let is_known = holds()? && !spot.is_being_written(aside.as_ref()) && holds()?;
    // Where there is another one by now, that is the latest.
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

/// `known` is what must be there, where that matters.
fn replace_where(path: &Path, known: Option<Option<&[u8]>>, bytes: &[u8]) -> io::Result<bool> {
    let (replaced, spot) = replace_unsettled(path, known, bytes)?;
    if replaced {
        spot.settle();
    }
    Ok(replaced)
}

/// The same; that the new file has the name is not on disk before its place is settled.
fn replace_unsettled(path: &Path, known: Option<Option<&[u8]>>, bytes: &[u8]) -> io::Result<(bool, Spot)> {
    let unwritable =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    let spot = Spot::of(path).map_err(unwritable)?;
    let temporary = temporary_name(&spot);
    let replaced = || {
        // Not held open: Windows and network drives refuse to put a file in the place of an open one.
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
    /// The bytes of a plain file beside it; a device has none that end.
    fn read(&self, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
        let there = self.open(name).map(Some).or_else(absent)?;
        let there = there.filter(|file| file.metadata().is_ok_and(|about| about.is_file()));
        let bytes = there.map(|mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        bytes.transpose()
    }

    /// Puts `ours`, which is in `name`, in the place of what is known. What turns out to be another program's latest write
    /// is put back.
    fn put_known(&self, name: &str, known: &[u8], ours: &[u8]) -> io::Result<bool> {
        // Most often it is seen here, and nobody ever sees ours.
        if self.is_being_written(&self.name) || self.read(&self.name)?.as_deref() != Some(known) {
            return Ok(false);
        }
        if !self.exchange(name)? {
            return self.put(name).map(|()| true);
        }
        let is_known = || io::Result::Ok(self.read(name.as_ref())?.as_deref() == Some(known));
        // Where it is another one already, ours stands there no longer than it takes to see that. Whoever had opened it
        // before may still be writing; what is closed stays as it is read then.
        if is_known()? && !self.is_being_written(name.as_ref()) && is_known()? {
            self.remove(name);
            return Ok(true);
        }
        // Where it is gone there is nothing to exchange with.
        self.exchange(name).map(drop).or_else(|_| self.put(name))?;
        // Ours may have been written over meanwhile: then that is the latest.
        let latest = self.is_being_written(name.as_ref())
            || self.read(name.as_ref())?.is_some_and(|bytes| bytes != ours);
        if latest {
            self.exchange(name)?;
        }
        Ok(false)
    }
}

/// A name in a directory that stays the same one, whatever happens to the path that led to it.
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
        // Part by part: a link that has come since is not followed.
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

    /// Like [`Self::put`], where there is nothing. Says whether it was so.
    fn put_new(&self, name: &str) -> io::Result<bool> {
        match renaming::renamed(&self.dir, name, &self.name, renaming::How::IfFree)? {
            renaming::Renamed::Done => return Ok(true),
            renaming::Renamed::Taken => return Ok(false),
            renaming::Renamed::Unable => {}
        }
        let free = self.open(&self.name).map(Some).or_else(absent)?.is_none();
        if free { self.put(name).map(|()| true) } else { Ok(false) }
    }

    /// Exchanges the two at once; `false` where this file system cannot.
    fn exchange(&self, name: &str) -> io::Result<bool> {
        let exchanged = renaming::renamed(&self.dir, name, &self.name, renaming::How::Exchange)?;
        Ok(exchanged == renaming::Renamed::Done)
    }

    /// Whether a program that we may look into has it open to write to it.
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
            // The last two bits say how: 0 is to read.
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

    /// The renaming itself must survive a power loss too. Not every file system can do this; then it is best effort.
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

/// Renaming with a condition, in one step of the system: on Linux with any of its libraries, and on macOS.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod renaming {
    use std::{ffi::OsStr, io, os::fd::AsFd};

    use rustix::{
        fs::{RenameFlags, renameat_with},
        io::Errno,
    };

    #[derive(Clone, Copy)]
    pub(super) enum How {
        /// Only where nothing has the new name.
        IfFree,
        /// Each gets the other's name.
        Exchange,
    }

    #[derive(Debug, PartialEq, Eq)]
    pub(super) enum Renamed {
        Done,
        /// Something has the new name.
        Taken,
        /// This file system has no such step.
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

/// Renames a file or a directory. Where another program holds it open for a moment, as editors, scanners and indexers do on
/// Windows, it is tried again for about a second.
///
/// # Errors
/// Whatever the file system says; nothing was renamed then.
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

/// Does another program hold the file at this moment? Windows says so in three ways, the first of which may have other
/// reasons too.
fn is_hindered(platform: Platform, error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    platform == Platform::Windows
        && matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION))
}

/// Where a path leads: a directory without any link in its path, and a name in it.
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

/// The bytes of a plain file of at most `most` bytes. What is no plain file, such as a pipe that nobody writes to or a
/// device that never ends, is refused without waiting for it.
///
/// # Errors
/// Whatever the file system says; [`io::ErrorKind::FileTooLarge`], and [`io::ErrorKind::Unsupported`] for what is no file.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let plain = |about: fs::Metadata| match about.is_file() {
        false => Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file")),
        true if about.len() > most => Err(too_large(most)),
        true => Ok(()),
    };
    // Opening a device may already do something.
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

/// Opens a file of ours to write to its end: made where it is missing, for this user only. A link in its place, or anything
/// else that is no file, is refused.
///
/// # Errors
/// Whatever the file system says.
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
    rename(path, &aside)?;
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

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_neither_waited_for_nor_written_to() {
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
    fn what_another_writes_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        fs::write(&path, "one").unwrap();
        let spot = Spot::of(&path).unwrap();
        // As if it came between our last look and the exchange.
        for (now, after) in [("one", "ours"), ("two", "two")] {
            fs::write(&path, now).unwrap();
            fs::write(dir.path().join("new"), "ours").unwrap();
            assert_eq!(spot.put_known("new", b"one", b"ours").unwrap(), after == "ours");
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
            let _ = fs::remove_file(dir.path().join("new"));
        }
        // It has it open, and goes on writing.
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
