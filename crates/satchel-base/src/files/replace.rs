//! Replaces and removes files atomically. A reader sees the old file or the new one, never half of either, whenever the
//! power goes.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::spot::{Spot, absent};

/// Number of files synced concurrently.
const FLUSHED_AT_A_TIME: usize = 16;

/// Who may read and write a file that replaces another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Who could before; a new file is this user's alone.
    Kept,
    /// This user alone.
    Private,
    /// Who these permission bits of Unix name.
    Bits(u32),
}

/// Replaces `path` atomically: writes beside it, syncs, renames. A new file is accessible to this user only; an
/// existing one keeps its permissions. A symbolic link is followed and stays one; a link created during the write has
/// no effect.
///
/// # Errors
/// Any I/O error; `path` is unchanged then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_where(path, None, bytes, Access::Kept).map(drop)
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
        let (_, spot) = replace_unsettled(path, None, bytes, Access::Kept)?;
        unsettled.entry(path.parent().map(Path::to_owned)).or_insert(spot);
        Ok(())
    };
    let written = files.iter().map(write).collect();
    unsettled.values().for_each(Spot::settle);
    written
}

/// Like [`replace`], if the file has exactly this content, or does not exist. Returns whether it did. A concurrent write
/// by another program is preserved, and reported as a mismatch; on file systems without atomic exchange, a write
/// between check and rename is lost. No moment exists in which the new content has wider access than it should.
///
/// # Errors
/// As for [`replace`].
pub fn replace_known(path: &Path, before: Option<&[u8]>, after: &[u8], access: Access) -> io::Result<bool> {
    replace_where(path, Some(before), after, access)
}

/// The permission bits of a file, where the system has any.
pub fn bits_of(path: &Path) -> Option<u32> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o7777);
    #[cfg(not(unix))]
    {
        let _ = about;
        None
    }
}

/// Changes who may use a file that keeps its content. Does nothing where the system has no permission bits.
///
/// # Errors
/// Any I/O error.
pub fn grant(path: &Path, access: Access) -> io::Result<()> {
    match bits_for(access) {
        Some(bits) if bits_of(path).is_some_and(|now| now != bits) => set_bits(path, bits),
        _ => Ok(()),
    }
}

fn bits_for(access: Access) -> Option<u32> {
    match access {
        Access::Kept => None,
        Access::Private => Some(0o600),
        Access::Bits(bits) => Some(bits),
    }
}

#[cfg(unix)]
fn set_bits(path: &Path, bits: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(bits))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn set_bits(_path: &Path, _bits: u32) -> io::Result<()> {
    Ok(())
}

/// The rights of the new file, given those of the one it replaces.
fn rights_for(access: Access, before: Option<fs::Permissions>) -> Option<fs::Permissions> {
    #[cfg(unix)]
    if let Some(bits) = bits_for(access) {
        return Some(std::os::unix::fs::PermissionsExt::from_mode(bits));
    }
    #[cfg(not(unix))]
    let _ = access;
    before
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
fn replace_where(
    path: &Path,
    known: Option<Option<&[u8]>>,
    bytes: &[u8],
    access: Access,
) -> io::Result<bool> {
    let (replaced, spot) = replace_unsettled(path, known, bytes, access)?;
    if replaced {
        spot.settle();
    }
    Ok(replaced)
}

/// The same, without syncing the directory.
fn replace_unsettled(
    path: &Path,
    known: Option<Option<&[u8]>>,
    bytes: &[u8],
    access: Access,
) -> io::Result<(bool, Spot)> {
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
        if let Some(rights) = rights_for(access, rights) {
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

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use std::fs::{File, OpenOptions};

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
    fn a_file_that_others_could_read_is_replaced_by_one_that_they_cannot_and_back() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        fs::write(&path, "one").unwrap();
        for bits in [0o644, 0o664, 0o640, 0o600] {
            fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
            assert!(replace_known(&path, Some(b"one"), b"two", Access::Private).unwrap());
            assert_eq!(mode(), 0o600);
            assert!(replace_known(&path, Some(b"two"), b"one", Access::Bits(bits)).unwrap());
            assert_eq!(mode(), bits);
            assert_eq!(bits_of(&path), Some(bits));
            assert!(replace_known(&path, Some(b"one"), b"two", Access::Kept).unwrap());
            assert_eq!(mode(), bits);
            grant(&path, Access::Private).unwrap();
            assert_eq!((mode(), fs::read(&path).unwrap()), (0o600, b"two".to_vec()));
            fs::write(&path, "one").unwrap();
        }
    }

    #[test]
    fn a_file_is_replaced_only_as_it_was_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        assert!(!replace_known(&path, Some(b"one"), b"two", Access::Kept).unwrap());
        assert!(!path.exists());
        assert!(replace_known(&path, None, b"one", Access::Kept).unwrap());
        assert!(!replace_known(&path, None, b"two", Access::Kept).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(replace_known(&path, Some(b"one"), b"two", Access::Kept).unwrap());
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
        assert!(!replace_known(&path, Some(b"one"), b"ours", Access::Kept).unwrap());
        assert!(!remove_known(&path, b"one").unwrap());
        other.write_all(b", two").unwrap();
        drop(other);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one, two");
        let reader = File::open(&path).unwrap();
        assert!(
            replace_known(&path, Some(b"one, two"), b"ours", Access::Kept).unwrap(),
            "who only reads it is no hindrance"
        );
        drop(reader);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
