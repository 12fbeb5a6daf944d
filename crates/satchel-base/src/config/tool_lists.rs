//! Lists of tools in a server's entry, in other programs' words: they switch off what they do not allow or what they exclude.
//! Reads no entry of another program's file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    keys::{Keys, ServerKey},
    rules::ToolRule,
};
use crate::model::{ServerName, name::TOOL_SEPARATOR, nature::Permit};

/// The lists by their keys. A list that allows all tools counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ToolLists(BTreeMap<String, BTreeSet<String>>);

const ALLOW: [ServerKey; 5] = [
    ServerKey::IncludeTools,
    ServerKey::EnabledTools,
    ServerKey::AllowedTools,
    ServerKey::AvailableTools,
    ServerKey::Tools,
];

impl ToolLists {
    /// Their keys.
    pub(super) const KEYS: [ServerKey; 8] = [
        ALLOW[0],
        ALLOW[1],
        ALLOW[2],
        ALLOW[3],
        ALLOW[4],
        ServerKey::ExcludeTools,
        ServerKey::DisabledTools,
        ServerKey::ToolsDisabled,
    ];

    /// Adds a list. Some programs write several names into one.
    pub(super) fn add<'a>(&mut self, key: ServerKey, names: impl Iterator<Item = &'a str>) {
        let names = names.flat_map(|names| names.split(',')).map(|name| name.trim().to_owned());
        let names: BTreeSet<String> = names.filter(|name| !name.is_empty()).collect();
        let is_all = ALLOW.contains(&key) && names.contains("*");
        if !names.is_empty() && !is_all {
            self.0.insert(key.key().to_owned(), names);
        }
    }

    /// Those of an entry; one that is no list is left out.
    pub(super) fn in_entry(entry: &Value) -> Self {
        let mut lists = Self::default();
        for key in Self::KEYS {
            let list = entry.get(key.key()).and_then(Value::as_array);
            lists.add(key, list.into_iter().flatten().filter_map(Value::as_str));
        }
        lists
    }

    /// The rules that say the same.
    pub(super) fn rules(&self, server: &ServerName) -> Vec<ToolRule> {
        let path = |tool: &str| format!("{}{TOOL_SEPARATOR}{tool}", server.in_path());
        let off = |tool: String, except| ToolRule {
            tool,
            except,
            permit: Some(Permit::Off),
            ..ToolRule::default()
        };
        let of_list = |(key, names): (&String, &BTreeSet<String>)| {
            let paths: Vec<String> = names.iter().map(|name| path(name)).collect();
            match ServerKey::of(key).is_some_and(|key| ALLOW.contains(&key)) {
                true => vec![off(path("*"), paths)],
                false => paths.into_iter().map(|path| off(path, vec![])).collect(),
            }
        };
        self.0.iter().flat_map(of_list).collect()
    }

    /// Does the list under this key permit more in `next`?
    pub(super) fn is_loosened_by(&self, key: ServerKey, next: &Self) -> bool {
        let Some(before) = self.0.get(key.key()) else { return false };
        let Some(after) = next.0.get(key.key()) else { return true };
        if ALLOW.contains(&key) { !after.is_subset(before) } else { !before.is_subset(after) }
    }
}
