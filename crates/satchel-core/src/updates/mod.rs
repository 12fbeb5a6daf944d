//! Newer versions of the program itself: looked for, fetched, checked, installed, and taken back.
//!
//! Decides nothing about when: faces ask, because they know whether a person agreed and whether a call runs. Starts nothing by
//! itself, and sends nothing but the request for the list of the newest version.
//!
//! Files below a directory of its own: what was fetched (`fetched/`), the trial of a version that was just installed
//! (`trial.json`, see [`trial`]), and versions that did not start (`refused.json`).

pub mod installed;
pub mod offer;
pub mod place;
pub mod trial;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use semver::Version;

use crate::{
    files,
    listings::{door, reading::Fault},
};
use offer::{NewVersion, Unusable, UpdateSource};

/// The largest list of the newest version that is read, in bytes.
const LARGEST_LIST: usize = 256 << 10;
/// The largest installer that is fetched, in bytes.
const LARGEST_FILE: usize = 300 << 20;

/// Why there is no newer version to install.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The list or the installer could not be fetched.
    #[error("cannot fetch {what}: {why}")]
    Fetching {
        /// The list or the installer.
        what: &'static str,
        /// What went wrong.
        why: Fault,
    },
    /// What was fetched must not be installed.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// It could not be kept on this computer.
    #[error("cannot store the new version: {0}")]
    Files(#[from] io::Error),
}

impl UpdateError {
    /// What a person can do about it.
    pub fn action(&self) -> &'static str {
        match self {
            UpdateError::Fetching { .. } => "Check the connection; Satchel looks again tomorrow.",
            UpdateError::Unusable(_) => {
                "Nothing was installed. Report it to the makers of Satchel, and get the next version from \
                 its releases page."
            }
            UpdateError::Files(_) => {
                "Free some disk space, or check the permissions of Satchel's data directory."
            }
        }
    }
}

/// An installer that was fetched, with the signature of this program's makers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// Of what it installs.
    pub version: Version,
    /// What is new in it.
    pub notes: String,
    /// Where it lies.
    pub file: PathBuf,
}

/// Is there a version newer than `own` for this kind of computer, such as `windows-x86_64`? One that did not start here before
/// is none.
///
/// # Errors
/// [`UpdateError`]
pub async fn look(
    source: &UpdateSource,
    own: &Version,
    target: &str,
    dir: &Path,
) -> Result<Option<NewVersion>, UpdateError> {
    let list = door::bundle(source.address(), LARGEST_LIST).await;
    let list = list.map_err(|why| UpdateError::Fetching { what: "the list of the newest version", why })?;
    let offer = offer::read(&list, own, target)?;
    Ok(offer.filter(|offer| !trial::is_refused(dir, &offer.version)))
}

/// Fetches what was offered and checks whose it is. What was fetched before is used again, once it is checked again.
///
/// # Errors
/// [`UpdateError`]; nothing is left on the disk then.
pub async fn fetch(source: &UpdateSource, offer: NewVersion, dir: &Path) -> Result<Ready, UpdateError> {
    let into = dir.join("fetched");
    let file = into.join(&offer.file);
    let bytes = door::bundle(&offer.url, LARGEST_FILE).await;
    let bytes = bytes.map_err(|why| UpdateError::Fetching { what: "the new version", why })?;
    let kept = tokio::task::spawn_blocking({
        let (source, offer, file) = (source.clone(), offer.clone(), file.clone());
        move || {
            source.check(&offer, &bytes)?;
            // Only the newest is of use.
            let _ = fs::remove_dir_all(&into);
            files::create_private_dir(&into)?;
            files::replace(&file, &bytes)?;
            Ok::<(), UpdateError>(())
        }
    });
    kept.await.map_err(io::Error::other)??;
    Ok(Ready { version: offer.version, notes: offer.notes, file })
}

#[cfg(test)]
mod tests;
