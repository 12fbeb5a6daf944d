//! Types for the package that a server's launcher fetches, and whether its version is exact.

use serde::{Deserialize, Serialize};

/// The package that a server's launcher fetches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PackageView {
    /// The package as its entry names it.
    pub package: String,
    /// The pinned version; `None` if the newest version runs.
    pub version: Option<String>,
    /// The recorded digest of that version, for example `sha512-…`; `None` if nothing is recorded.
    pub digest: Option<String>,
    /// Without a pinned version: the versions in the launcher's cache.
    pub fetched: Vec<String>,
    /// Can Satchel read the launcher's cache?
    pub kept: bool,
    /// An example of the package pinned to an exact, made-up version.
    pub example: String,
}

/// The result of pinning a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pinned {
    /// The package as its entry named it.
    pub package: String,
    /// The pinned version.
    pub version: String,
}
