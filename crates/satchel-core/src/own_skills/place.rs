//! A skill in an agent's folder: written there as a whole or not at all, compared with what was written, and taken out
//! again. Never replaces what it did not write, and follows no link below the agent's folder.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    folder::{self, SkillFile},
    shelf::{Row, row},
};
use crate::files;

/// Folders that programs fill when a script of the skill is used.
const CACHE: &str = "__pycache__";
/// Maximum number of names that are compared in a folder.
const ENTRIES: usize = 10_000;
/// Maximum number of differences that are told.
const TOLD: usize = 20;

/// What lies where a skill was given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyState {
    /// Exactly what was written.
    AsGiven,
    /// Nothing.
    Gone,
    /// Something else: the paths that differ.
    Changed(Vec<String>),
}

/// Why a skill was not given.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something of this name is there that Satchel did not write.
    #[error("{0} is there already, and Satchel did not write it")]
    Taken(PathBuf),
    /// It is another skill by now than the one that a person approved.
    #[error("it is not what a person approved")]
    Unapproved,
    /// The files cannot be written.
    #[error("{path} cannot be written: {error}")]
    Files {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The directories that have to be created for a skill in this folder, the outermost first.
pub(super) fn missing(agents: &Path) -> Vec<PathBuf> {
    let missing = agents.ancestors().take_while(|directory| !directory.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Writes a skill into an agent's folder, where nothing of its name may be.
pub(super) fn write(agents: &Path, name: &str, files: &[SkillFile]) -> Result<(), PlaceError> {
    let target = agents.join(name);
    let told = |path: &Path| {
        let path = path.to_owned();
        move |error| PlaceError::Files { path, error }
    };
    if is_there(&target) {
        return Err(PlaceError::Taken(target));
    }
    files::create_private_dir(agents).map_err(told(agents))?;
    // Agents watch the folder, and leave out what begins with a dot.
    let unfinished = agents.join(format!(".{name}.satchel-unfinished"));
    // Of a run that was killed.
    remove_all(&unfinished).map_err(told(&unfinished))?;
    let done = write_all(&unfinished, files).map_err(told(&unfinished)).and_then(|()| {
        // Another program may have been quicker. Renaming replaces an empty directory at most.
        match is_there(&target) {
            true => Err(PlaceError::Taken(target.clone())),
            false => files::rename(&unfinished, &target).map_err(told(&target)),
        }
    });
    if done.is_err() {
        let _ = remove_all(&unfinished);
    }
    done
}

fn write_all(directory: &Path, files: &[SkillFile]) -> io::Result<()> {
    files::create_private_dir(directory)?;
    for file in files {
        let path = folder::below(directory, &file.path);
        if let Some(parent) = path.parent() {
            files::create_private_dir(parent)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if file.program { 0o700 } else { 0o600 });
        let mut out = options.open(&path)?;
        out.write_all(&file.bytes)?;
        out.sync_all()?;
        if files::read_plain(&path, file.bytes.len() as u64)? != file.bytes {
            return Err(io::Error::other(format!("{} is not as it was written", file.path)));
        }
    }
    Ok(())
}

/// Compares a folder with what was written there.
pub(super) fn standing(directory: &Path, rows: &[Row]) -> CopyState {
    match fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return CopyState::Gone,
        Ok(about) if about.is_dir() => {}
        // A link, a file, or something that cannot be looked at.
        Ok(_) | Err(_) => return CopyState::Changed(vec![".".to_owned()]),
    }
    let mut changed: BTreeSet<String> =
        rows.iter().filter(|row| !is_as_written(directory, row)).map(|row| row.path.clone()).collect();
    let known: BTreeSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
    let mut left = ENTRIES;
    added(directory, "", &known, &mut left, &mut changed);
    match changed.is_empty() {
        true => CopyState::AsGiven,
        false => CopyState::Changed(changed.into_iter().take(TOLD).collect()),
    }
}

fn is_as_written(directory: &Path, known: &Row) -> bool {
    let path = folder::below(directory, &known.path);
    // No part of the path may be a link.
    let inside = path.ancestors().take_while(|part| *part != directory);
    let is_link = |part: &Path| fs::symlink_metadata(part).is_ok_and(|about| about.is_symlink());
    if inside.into_iter().any(is_link) {
        return false;
    }
    files::read_plain(&path, known.size).is_ok_and(|bytes| row(&known.path, &bytes, known.program) == *known)
}

/// Adds what was not written, except what scripts leave behind when they are used.
fn added(
    directory: &Path,
    below: &str,
    known: &BTreeSet<&str>,
    left: &mut usize,
    changed: &mut BTreeSet<String>,
) {
    let Ok(entries) = fs::read_dir(directory) else {
        changed.insert(below.to_owned());
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let has_known =
            || known.iter().any(|known| known.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('/')));
        match is_dir {
            true if name == CACHE && is_cache(&entry.path()) => {}
            true if has_known() => added(&entry.path(), &path, known, left, changed),
            false if known.contains(path.as_str()) => {}
            true | false => drop(changed.insert(path)),
        }
    }
}

/// Is there nothing in it but compiled files?
fn is_cache(directory: &Path) -> bool {
    let is_compiled = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.path().extension().is_some_and(|ending| ending == "pyc")
    };
    fs::read_dir(directory)
        .is_ok_and(|entries| entries.flatten().take(ENTRIES).all(|entry| is_compiled(&entry)))
}

/// Removes what was written, which must stand there as given, and the directories that were created for it, as far as they
/// are empty.
pub(super) fn take(directory: &Path, rows: &[Row], made: &[PathBuf]) -> io::Result<()> {
    let mut inside: BTreeSet<PathBuf> = BTreeSet::new();
    for row in rows {
        let path = folder::below(directory, &row.path);
        absent(fs::remove_file(&path))?;
        inside.extend(
            path.ancestors().skip(1).take_while(|part| part.starts_with(directory)).map(Path::to_owned),
        );
    }
    // The innermost first.
    for path in inside.iter().rev() {
        let cache = path.join(CACHE);
        if fs::symlink_metadata(&cache).is_ok_and(|about| about.is_dir()) && is_cache(&cache) {
            absent(fs::remove_dir_all(&cache))?;
        }
        absent(fs::remove_dir(path))?;
    }
    for path in made.iter().rev() {
        // Somebody uses it by now.
        if fs::remove_dir(path).is_err() {
            break;
        }
    }
    Ok(())
}

fn absent(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Removes a directory of ours, or what stands in its place.
pub(super) fn remove_all(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
