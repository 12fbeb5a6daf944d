//! Records where an installed server came from, beside its entry, so that an update, a warning or a deletion in the registry
//! finds it again.

use std::collections::BTreeMap;

use satchel_mcp::Raw;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    config::{Config, file},
    listings::page::Release,
    trust::Fingerprint,
};

/// The key within an entry.
pub const KEY: &str = file::SOURCE;

/// The origin of an installed server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The registry's address.
    pub registry: String,
    /// Its name there.
    pub name: String,
    /// The installed version.
    pub version: String,
    /// The [`ListedWay::id`](satchel_base::model::listings::ListedWay::id).
    pub way: String,
    /// What runs or is connected to: `npm NAME`, or the host of an address.
    pub package: String,
    /// The digest of what the registry said would run.
    pub digest: String,
    /// Inputs other than credentials.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, Value>,
    /// A person decided to keep it running although the registry has deleted it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// The origin of one entry, if it came from a registry.
pub fn of(config: &Config, server: &str) -> Option<Provenance> {
    Provenance::deserialize(config.source_of(server)?).ok()
}

/// The origins of all entries.
pub fn all(config: &Config) -> Vec<(String, Provenance)> {
    let names = config.servers().keys();
    names.filter_map(|name| Some((name.to_string(), of(config, name.as_str())?))).collect()
}

/// The digest of what a release runs; changes if the release's content is replaced.
pub(crate) fn digest(release: &Release) -> String {
    let value = release.value();
    let runs = json!([value.get("packages"), value.get("remotes")]);
    let raw: Box<Raw> = serde_json::value::to_raw_value(&runs).expect("a JSON value always serializes");
    Fingerprint::of("listing", &raw).to_string()
}
