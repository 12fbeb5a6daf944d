//! The trial of a version that was just installed: it has to serve once, within three starts, or the one before it comes back.
//!
//! A file says which version is tried and how often it began. It is written before the program does anything else, so that
//! whatever ends it early counts.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::files;

/// Maximum number of starts without ever serving.
const STARTS: u32 = 3;
/// Number of failed versions that are remembered.
const REMEMBERED: usize = 8;
/// Maximum size of the files here, in bytes.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Trial {
    version: Version,
    /// The directory of the previous version.
    kept: PathBuf,
    starts: u32,
}

/// How to continue this start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Normally.
    Usual,
    /// On trial; [`passed`] ends the trial.
    Tried,
    /// It started too often without serving: restore the version in this directory.
    GoBack(PathBuf),
}

/// Announces the trial of a version before it is installed.
///
/// # Errors
/// If that cannot be written; the version must not be installed then.
pub fn announce(dir: &Path, version: &Version, kept: &Path) -> io::Result<()> {
    files::create_private_dir(dir)?;
    write(&file(dir), &Trial { version: version.clone(), kept: kept.to_owned(), starts: 0 })
}

/// Counts this start of version `own`.
pub fn begin(dir: &Path, own: &Version) -> Start {
    let Some(mut trial) = read::<Trial>(&file(dir)) else { return Start::Usual };
    if trial.version != *own {
        // The installer was cancelled, or another version was installed since.
        end(dir);
        return Start::Usual;
    }
    if trial.starts >= STARTS {
        refuse(dir, own);
        end(dir);
        return Start::GoBack(trial.kept);
    }
    trial.starts += 1;
    match write(&file(dir), &trial) {
        Ok(()) => Start::Tried,
        Err(error) => {
            // Uncounted starts would never end the trial.
            tracing::warn!("the trial of version {own} ends: {error}");
            end(dir);
            Start::Usual
        }
    }
}

/// Ends the trial successfully and deletes the previous version.
pub fn passed(dir: &Path) {
    if let Some(trial) = read::<Trial>(&file(dir)) {
        end(dir);
        let _ = fs::remove_dir_all(trial.kept);
    }
}

/// Did this version fail to start here?
pub(super) fn is_refused(dir: &Path, version: &Version) -> bool {
    refused(dir).contains(version)
}

/// The versions that failed to start here, the latest last.
pub fn refused(dir: &Path) -> Vec<Version> {
    read(&dir.join("refused.json")).unwrap_or_default()
}

fn refuse(dir: &Path, version: &Version) {
    let mut all = refused(dir);
    all.retain(|other| other != version);
    all.push(version.clone());
    let first = all.len().saturating_sub(REMEMBERED);
    if let Err(error) = write(&dir.join("refused.json"), &all[first..]) {
        tracing::warn!("version {version} may be offered again: {error}");
    }
}

pub(super) fn end(dir: &Path) {
    let _ = fs::remove_file(file(dir));
}

fn file(dir: &Path) -> PathBuf {
    dir.join("trial.json")
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&files::read_plain(path, LARGEST).ok()?).ok()
}

fn write<T: Serialize + ?Sized>(path: &Path, value: &T) -> io::Result<()> {
    files::replace(path, &serde_json::to_vec(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Version = Version::new(1, 3, 0);

    #[test]
    fn a_version_that_never_serves_goes_back_at_its_fourth_start_and_is_not_offered_again() {
        let home = tempfile::tempdir().unwrap();
        let (dir, kept) = (home.path().join("updates"), home.path().join("kept"));
        assert_eq!(begin(&dir, &NEW), Start::Usual, "nothing is tried");
        announce(&dir, &NEW, &kept).unwrap();
        for _ in 0..3 {
            assert_eq!(begin(&dir, &NEW), Start::Tried);
        }
        assert_eq!(begin(&dir, &NEW), Start::GoBack(kept));
        assert!(is_refused(&dir, &NEW) && !is_refused(&dir, &Version::new(1, 3, 1)));
        assert_eq!(begin(&dir, &NEW), Start::Usual, "a way back that failed is not tried for ever");
    }

    #[test]
    fn a_version_that_serves_once_stays() {
        let home = tempfile::tempdir().unwrap();
        let (dir, kept) = (home.path().join("updates"), home.path().join("kept"));
        fs::create_dir(&kept).unwrap();
        announce(&dir, &NEW, &kept).unwrap();
        assert_eq!(begin(&dir, &NEW), Start::Tried);
        passed(&dir);
        assert!(!kept.exists(), "what was kept is gone");
        for _ in 0..4 {
            assert_eq!(begin(&dir, &NEW), Start::Usual);
        }
        assert!(!is_refused(&dir, &NEW));
    }

    #[test]
    fn an_installer_that_was_cancelled_is_forgotten_by_the_old_version() {
        let home = tempfile::tempdir().unwrap();
        announce(home.path(), &NEW, &home.path().join("kept")).unwrap();
        assert_eq!(begin(home.path(), &Version::new(1, 2, 3)), Start::Usual);
        assert_eq!(begin(home.path(), &NEW), Start::Usual);
    }

    #[test]
    fn a_damaged_file_stops_no_start() {
        let home = tempfile::tempdir().unwrap();
        for text in ["", "{", r#"{"version":"x"}"#] {
            fs::write(file(home.path()), text).unwrap();
            assert_eq!(begin(home.path(), &NEW), Start::Usual, "{text}");
        }
        fs::write(home.path().join("refused.json"), "no").unwrap();
        assert!(refused(home.path()).is_empty());
    }
}
