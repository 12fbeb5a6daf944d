//! Reads the list of the newest version, and verifies the signature of an installer. Both have the forms of Tauri's own
//! updater, so its signer makes them.

use std::{collections::BTreeMap, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use minisign_verify::{PublicKey, Signature};
use semver::Version;
use serde::Deserialize;

use crate::listings::registry_http::{Url, is_this_computer};

/// Maximum length of release notes, in characters.
const NOTES: usize = 4_000;

/// The update address and the signing key, both compiled into a release.
#[derive(Clone)]
pub struct UpdateSource {
    address: Url,
    key: PublicKey,
}

/// Why an update must not be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not an update manifest: an error page, or another format.
    #[error("the update manifest cannot be read: {0}")]
    Unreadable(String),
    /// Not available for this platform.
    #[error("version {0} is not available for this platform ({1})")]
    NotForUs(Version, String),
    /// Not https: the content could be changed in transit.
    #[error("{0} is not an https address")]
    NotEncrypted(String),
    /// It has no valid signature.
    #[error("version {0} is not signed")]
    Unsigned(Version),
    /// Signed by someone else, or modified.
    #[error("version {0} is not signed by the makers of Satchel, or was changed since")]
    NotOurs(Version),
    /// An old file with a valid signature, offered under a new version.
    #[error("the file offered as version {0} is signed under the name {1}")]
    Renamed(Version, String),
}

/// An offered version. Nothing is verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVersion {
    /// Newer than this program.
    pub version: Version,
    /// Its release notes, in Markdown.
    pub notes: String,
    pub(super) url: Url,
    /// The last segment of the address: a plain file name.
    pub(super) file: String,
    signature: String,
}

#[derive(Deserialize)]
struct NewestVersion {
    version: Version,
    #[serde(default)]
    notes: String,
    platforms: BTreeMap<String, Platform>,
}

#[derive(Deserialize)]
struct Platform {
    #[serde(default)]
    signature: String,
    url: String,
}

impl UpdateSource {
    /// Parses the compiled-in values. The key is the public file of Tauri's signer as base64, or just its key line.
    ///
    /// # Errors
    /// What is wrong, for whoever builds the release.
    pub fn new(address: &str, key: &str) -> Result<Self, String> {
        let address =
            Url::parse(address).map_err(|error| format!("the update address is invalid: {error}"))?;
        if !is_safe(&address) {
            return Err(format!("the update address is not https: {address}"));
        }
        let key = key.trim();
        let text = STANDARD.decode(key).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let read =
            text.and_then(|text| PublicKey::decode(&text).ok()).or_else(|| PublicKey::from_base64(key).ok());
        Ok(Self { address, key: read.ok_or("the update key is not a minisign key")? })
    }

    pub(super) fn address(&self) -> &Url {
        &self.address
    }

    /// Verifies that these bytes are signed as this version.
    pub(super) fn check(&self, offer: &NewVersion, bytes: &[u8]) -> Result<(), Unusable> {
        let unsigned = || Unusable::Unsigned(offer.version.clone());
        let text = STANDARD.decode(offer.signature.trim()).map_err(|_| unsigned())?;
        let text = String::from_utf8(text).map_err(|_| unsigned())?;
        let signature = Signature::decode(&text).map_err(|_| unsigned())?;
        // The comment is signed too, so the file name in it can be trusted from here on.
        let checked = self.key.verify(bytes, &signature, false);
        checked.map_err(|_| Unusable::NotOurs(offer.version.clone()))?;
        let signed =
            signature.trusted_comment().split('\t').find_map(|part| part.trim().strip_prefix("file:"));
        let signed = signed.unwrap_or_default();
        let of_version = format!("_{}_", offer.version);
        if signed != offer.file || !signed.contains(&of_version) {
            return Err(Unusable::Renamed(offer.version.clone(), signed.to_owned()));
        }
        Ok(())
    }
}

impl fmt::Debug for UpdateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateSource").field("address", &self.address.as_str()).finish_non_exhaustive()
    }
}

/// Parses the manifest; `None` unless the version is newer than `own`.
pub(super) fn read(list: &[u8], own: &Version, target: &str) -> Result<Option<NewVersion>, Unusable> {
    let unreadable = |error: serde_json::Error| Unusable::Unreadable(error.to_string());
    let NewestVersion { version, notes, mut platforms } = serde_json::from_slice(list).map_err(unreadable)?;
    // Build metadata after a `+` does not make a version newer.
    if version.cmp_precedence(own).is_le() {
        return Ok(None);
    }
    let ours = platforms.remove(target);
    let Platform { signature, url } =
        ours.ok_or_else(|| Unusable::NotForUs(version.clone(), target.to_owned()))?;
    let url = Url::parse(&url).map_err(|error| Unusable::Unreadable(format!("\"url\": {error}")))?;
    if !is_safe(&url) {
        return Err(Unusable::NotEncrypted(url.to_string()));
    }
    if signature.trim().is_empty() {
        return Err(Unusable::Unsigned(version));
    }
    let file = url.path_segments().and_then(Iterator::last).unwrap_or_default().to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if file.is_empty() || file.starts_with('.') || file.len() > 200 || !file.chars().all(plain) {
        return Err(Unusable::Unreadable(format!("{url} names no file")));
    }
    Ok(Some(NewVersion { version, notes: notes.chars().take(NOTES).collect(), url, file, signature }))
}

/// Only a server on this computer may be unencrypted.
fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_this_computer(url))
}
