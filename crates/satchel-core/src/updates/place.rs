//! Replaces this version by another one, and restores the one before. The program has to exit at once afterwards.
//!
//! macOS: the bundle is exchanged by two renames beside it. Windows: our installer does it, and what it replaces is
//! copied before. Other systems have package managers.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use semver::Version;
use tokio::{process::Command, time::timeout};

use super::{Ready, trial};
use crate::{files, platform::Platform};

/// Timeout for a tool of the system that unpacks or copies.
const TOOL: Duration = Duration::from_secs(120);
/// Maximum number of files beside the program on Windows that are kept for a rollback; the installer writes about ten.
const FILES: usize = 64;

/// What to start after this program has exited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successor {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<&'static str>,
}

/// Installs the update into `place`, the directory that [`super::installed::Installed`] names. With `again`, the new
/// version is started; `dir` is the directory of updates.
///
/// # Errors
/// Why nothing was changed.
pub async fn install(
    place: &Path,
    platform: Platform,
    ready: &Ready,
    dir: &Path,
    again: bool,
) -> io::Result<Option<Successor>> {
    match platform {
        Platform::MacOs => {
            let kept = beside(place, "previous");
            trial::announce(dir, &ready.version, &kept)?;
            let installed = exchange(place, &ready.file, &kept).await;
            let program = installed.inspect_err(|_| trial::end(dir))?;
            Ok(again.then_some(Successor { program, arguments: vec![] }))
        }
        Platform::Windows => {
            let kept = dir.join("kept");
            keep(place, &kept)?;
            trial::announce(dir, &ready.version, &kept)?;
            // Silent, as an update, and restarting at the end if requested.
            let mut arguments = vec!["/S", "/UPDATE"];
            arguments.extend(again.then_some("/R"));
            Ok(Some(Successor { program: ready.file.clone(), arguments }))
        }
        Platform::Linux => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "packages are replaced by their manager"))
        }
    }
}

/// Restores the previous version and returns how to start it.
///
/// # Errors
/// Why the present version stays.
pub fn go_back(place: &Path, platform: Platform, program: &Path, kept: &Path) -> io::Result<Successor> {
    match platform {
        Platform::MacOs => {
            if !kept.is_dir() {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    "the previous version is no longer stored",
                ));
            }
            let refused = beside(place, "refused");
            let _ = fs::remove_dir_all(&refused);
            swap(place, kept, &refused)?;
            let _ = fs::remove_dir_all(&refused);
        }
        Platform::Windows => put_back(kept, place)?,
        Platform::Linux => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "packages are replaced by their manager"));
        }
    }
    Ok(Successor { program: program.to_owned(), arguments: vec![] })
}

/// Unpacks the new bundle beside the running one, and swaps them. Returns the new program.
async fn exchange(bundle: &Path, archive: &Path, kept: &Path) -> io::Result<PathBuf> {
    let unpacked = beside(bundle, "new");
    let _ = fs::remove_dir_all(&unpacked);
    fs::create_dir(&unpacked)?;
    let exchanged = async {
        unpack(archive, &unpacked).await?;
        let new = bundle_in(&unpacked)?;
        let _ = fs::remove_dir_all(kept);
        swap(bundle, &new, kept)
    };
    let exchanged = exchanged.await;
    let _ = fs::remove_dir_all(&unpacked);
    exchanged?;
    Ok(bundle.join(PROGRAM))
}

/// The program in a bundle.
pub(super) const PROGRAM: &str = "Contents/MacOS/satchel-app";

/// Uses the system's tool, which preserves links and permissions. The archive's signature has been verified.
async fn unpack(archive: &Path, into: &Path) -> io::Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-xpzf").arg(archive).arg("-C").arg(into);
    run(tar, "unpack").await
}

/// Runs one of the system's tools, which is to `verb`; an error carries the first line that the tool wrote.
pub(super) async fn run(mut tool: Command, verb: &str) -> io::Result<()> {
    tool.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(TOOL, tool.output()).await;
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, format!("it took too long to {verb}"));
    let output = output.map_err(late)??;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("cannot {verb}: {}", said.lines().next().unwrap_or_default())))
}

/// The only bundle in an archive.
fn bundle_in(dir: &Path) -> io::Result<PathBuf> {
    let bundles = fs::read_dir(dir)?.take(FILES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut bundles = bundles.filter(|path| path.join(PROGRAM).is_file());
    bundles.next().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it contains no Satchel bundle"))
}

/// Moves `old` to `kept`, and `new` to `old`. If the second step fails, the first is reverted.
pub(super) fn swap(old: &Path, new: &Path, kept: &Path) -> io::Result<()> {
    fs::rename(old, kept)?;
    fs::rename(new, old).inspect_err(|_| {
        let _ = fs::rename(kept, old);
    })
}

/// A hidden path beside the bundle, so that a rename stays on one file system.
pub(super) fn beside(bundle: &Path, what: &str) -> PathBuf {
    let name = bundle.file_name().unwrap_or_default().to_string_lossy();
    bundle.with_file_name(format!(".{name}.{what}"))
}

/// Copies the files of a directory.
fn keep(place: &Path, kept: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(kept);
    files::create_private_dir(kept)?;
    for file in plain_files(place)? {
        if let Some(name) = file.file_name() {
            fs::copy(&file, kept.join(name))?;
        }
    }
    Ok(())
}

/// Copies the files back. A running program can be renamed but not overwritten or deleted; the next installer cleans
/// up.
fn put_back(kept: &Path, place: &Path) -> io::Result<()> {
    let files = plain_files(kept)?;
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the previous version is no longer stored"));
    }
    let mark = crate::clock::now_ms();
    for (number, file) in files.iter().enumerate() {
        let Some(name) = file.file_name() else { continue };
        let there = place.join(name);
        if there.exists() {
            fs::rename(&there, place.join(format!("satchel-old-{mark}-{number}.exe")))?;
        }
        fs::copy(file, &there)?;
    }
    Ok(())
}

fn plain_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path()));
    let old = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("satchel-old-"))
    };
    let files: Vec<PathBuf> = entries.filter(|path| path.is_file() && !old(path)).take(FILES + 1).collect();
    if files.len() > FILES {
        return Err(io::Error::other(format!("there are more than {FILES} files in {}", dir.display())));
    }
    Ok(files)
}

/// This program's version.
///
/// # Panics
/// Never: a crate's version is valid.
pub fn own_version() -> Version {
    Version::parse(env!("CARGO_PKG_VERSION")).expect("cargo takes no crate without a version")
}
