//! Types for the package that a server's launcher fetches, and whether its version is exact.

use serde::{Deserialize, Serialize};

/// What a server's launcher fetches for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PackageView {
    /// The package as its entry names it.
    pub package: String,
    /// The one version that runs; `None` where whichever is newest does.
    pub version: Option<String>,
    /// What is remembered of the contents of that version, for example `sha512-…`; `None` where nothing is known of them.
    pub digest: Option<String>,
    /// Where no version is named: those that the launcher has here.
    pub fetched: Vec<String>,
    /// Does the launcher keep what can be read here?
    pub kept: bool,
    /// How the package is named with one exact version, with one that is made up.
    pub example: String,
}

/// The one version that runs from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pinned {
    /// The package as its entry named it.
    pub package: String,
    /// The version that runs from now on.
    pub version: String,
}
