//! What the list of the newest version says, and whose an installer is. The list and the signatures have the forms of Tauri's
//! own updater, so its signer makes them.

use std::{collections::BTreeMap, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use minisign_verify::{PublicKey, Signature};
use semver::Version;
use serde::Deserialize;

use crate::listings::door::{Url, is_this_computer};

/// The most characters of what is new that are shown.
const NOTES: usize = 4_000;

/// Where newer versions are told, and by whose key they are signed. Both are built into a release.
#[derive(Clone)]
pub struct UpdateSource {
    address: Url,
    key: PublicKey,
}

/// Why what was told or fetched must not be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not the list of a version: an error page, or one of another form.
    #[error("the update manifest cannot be read: {0}")]
    Unreadable(String),
    /// There is nothing for this kind of computer.
    #[error("version {0} is not available for this platform ({1})")]
    NotForUs(Version, String),
    /// Whoever is on the way could change it.
    #[error("{0} is not an https address")]
    NotEncrypted(String),
    /// It carries no signature, or none that can be read.
    #[error("version {0} is not signed")]
    Unsigned(Version),
    /// Somebody else's, or changed since.
    #[error("version {0} is not signed by the makers of Satchel, or was changed since")]
    NotOurs(Version),
    /// An old file with a good signature under a new version's name.
    #[error("the file offered as version {0} is signed under the name {1}")]
    Renamed(Version, String),
}

/// A newer version, as it was told. Nothing of it is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVersion {
    /// Newer than this program.
    pub version: Version,
    /// What is new, in Markdown.
    pub notes: String,
    pub(super) url: Url,
    /// The last part of the address: a plain file name.
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
    /// What was built into this program. The key is the public file of Tauri's signer as base64, or the line with the key itself.
    ///
    /// # Errors
    /// What is wrong with it, for whoever builds.
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

    /// Are these bytes what the makers signed as this version?
    pub(super) fn check(&self, offer: &NewVersion, bytes: &[u8]) -> Result<(), Unusable> {
        let unsigned = || Unusable::Unsigned(offer.version.clone());
        let text = STANDARD.decode(offer.signature.trim()).map_err(|_| unsigned())?;
        let text = String::from_utf8(text).map_err(|_| unsigned())?;
        let signature = Signature::decode(&text).map_err(|_| unsigned())?;
        // The comment is signed as well, so the name in it is to be believed from here on.
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

/// The version that is told, where it is newer than `own`.
pub(super) fn read(list: &[u8], own: &Version, target: &str) -> Result<Option<NewVersion>, Unusable> {
    let unreadable = |error: serde_json::Error| Unusable::Unreadable(error.to_string());
    let NewestVersion { version, notes, mut platforms } = serde_json::from_slice(list).map_err(unreadable)?;
    // What follows a `+` makes no version newer.
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

/// Only a server on this computer may be without encryption.
fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_this_computer(url))
}
