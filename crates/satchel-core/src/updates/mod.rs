//! Newer versions of the program itself: looked for, fetched, checked, installed, and taken back.
//!
//! Decides nothing about when: faces ask, because they know whether a person agreed and whether a call runs. Starts nothing by
//! itself, and sends nothing but the request for the list of the newest version.
//!
//! Files below a directory of its own: what was fetched (`fetched/`), the trial of a version that was just installed
//! (`trial.json`, see [`trial`]), and versions that did not start (`refused.json`).

pub mod installed;
pub mod moving;
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
    listings::{reading::Fault, registry_http},
};
use offer::{NewVersion, Unusable, UpdateSource};

/// Maximum size of the update manifest, in bytes.
const LARGEST_LIST: usize = 256 << 10;
/// Maximum size of an installer, in bytes.
const LARGEST_FILE: usize = 300 << 20;

/// Why no update is available.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The manifest or the installer could not be fetched.
    #[error("cannot fetch {what}: {why}")]
    Fetching {
        /// The manifest or the installer.
        what: &'static str,
        /// The error.
        why: Fault,
    },
    /// The download must not be installed.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// It could not be stored.
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

/// A downloaded installer with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The version it installs.
    pub version: Version,
    /// Its release notes.
    pub notes: String,
    /// Its path.
    pub file: PathBuf,
}

/// Looks for a version newer than `own` for this platform, such as `windows-x86_64`. Ignores versions that failed
/// to start here before.
///
/// # Errors
/// [`UpdateError`]
pub async fn look(
    source: &UpdateSource,
    own: &Version,
    target: &str,
    dir: &Path,
) -> Result<Option<NewVersion>, UpdateError> {
    let list = registry_http::bundle(source.address(), LARGEST_LIST).await;
    let list = list.map_err(|why| UpdateError::Fetching { what: "the list of the newest version", why })?;
    let offer = offer::read(&list, own, target)?;
    Ok(offer.filter(|offer| !trial::is_refused(dir, &offer.version)))
}

/// Downloads the update and verifies its signature. An earlier download is reused after verifying it again.
///
/// # Errors
/// [`UpdateError`]; nothing is left on disk then.
pub async fn fetch(source: &UpdateSource, offer: NewVersion, dir: &Path) -> Result<Ready, UpdateError> {
    let into = dir.join("fetched");
    let file = into.join(&offer.file);
    let bytes = registry_http::bundle(&offer.url, LARGEST_FILE).await;
    let bytes = bytes.map_err(|why| UpdateError::Fetching { what: "the new version", why })?;
    let kept = tokio::task::spawn_blocking({
        let (source, offer, file) = (source.clone(), offer.clone(), file.clone());
        move || {
            source.check(&offer, &bytes)?;
            // Only the newest is useful.
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
