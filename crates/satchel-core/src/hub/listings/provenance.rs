//! Where an installed server came from: kept beside its entry, so that an update, a warning or an end finds it again.

use std::collections::BTreeMap;

use satchel_mcp::Raw;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{config::Config, listings::page::Release, trust::Fingerprint};

/// The key beside an entry.
pub(super) const KEY: &str = "source";

/// Where it came from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Provenance {
    /// The address of the registry.
    pub(super) registry: String,
    /// Its name there.
    pub(super) name: String,
    /// The version that was installed.
    pub(super) version: String,
    /// Which way of several.
    pub(super) way: String,
    /// What is run or reached: `npm NAME`, or the host of an address.
    pub(super) package: String,
    /// What the registry said is run then.
    pub(super) digest: String,
    /// What was given, but for credentials.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) answers: BTreeMap<String, Value>,
    /// A person lets it go on although the registry has deleted it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) keep: bool,
}

/// Of one entry, where it came from a registry.
pub(super) fn of(config: &Config, server: &str) -> Option<Provenance> {
    let written = config.entry(server)?.get(KEY)?;
    Provenance::deserialize(written).ok()
}

/// Of all entries.
pub(super) fn all(config: &Config) -> Vec<(String, Provenance)> {
    let names = config.servers().keys();
    names.filter_map(|name| Some((name.to_string(), of(config, name.as_str())?))).collect()
}

/// Stands for what a release runs: the same release with other contents has another one.
pub(super) fn digest(release: &Release) -> String {
    let value = release.value();
    let runs = json!([value.get("packages"), value.get("remotes")]);
    let raw: Box<Raw> = serde_json::value::to_raw_value(&runs).expect("a JSON value always serializes");
    Fingerprint::of("listing", &raw).to_string()
}
