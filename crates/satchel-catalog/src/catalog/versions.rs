//! Tracks when each tool appeared and changed, and compares a new list with the known one. No clock: the time is passed
//! in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ToolEntry;

/// Number of removed tools remembered, in case they return.
const GONE: usize = 500;

/// The history of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Number of its definitions so far.
    pub number: u32,
    /// When it was first seen, in milliseconds since the Unix epoch.
    pub first_ms: u64,
    /// When its definition last changed.
    #[serde(default)]
    pub changed_ms: Option<u64>,
    /// The hash of its present definition.
    print: u64,
    /// Since when it is not offered.
    #[serde(default)]
    gone_ms: Option<u64>,
}

/// All tools of a server, by their own names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Versions(BTreeMap<String, Version>);

impl Versions {
    /// A tool by its own name.
    pub fn get(&self, name: &str) -> Option<&Version> {
        self.0.get(name)
    }

    /// Is each of these tools known in its present form?
    pub fn cover(&self, tools: &[ToolEntry]) -> bool {
        let is_known = |tool: &ToolEntry| {
            self.get(&tool.name).is_some_and(|known| known.gone_ms.is_none() && known.print == print(tool))
        };
        tools.iter().all(is_known)
    }

    /// Updates the history with a newly read list.
    #[must_use]
    pub fn followed_by(&self, tools: &[ToolEntry], now_ms: u64) -> Self {
        let mut all = self.clone();
        for version in all.0.values_mut() {
            version.gone_ms.get_or_insert(now_ms);
        }
        for tool in tools {
            let print = print(tool);
            let version = all.0.entry(tool.name.clone()).or_insert(Version {
                number: 1,
                first_ms: now_ms,
                changed_ms: None,
                print,
                gone_ms: None,
            });
            version.gone_ms = None;
            if version.print != print {
                version.number = version.number.saturating_add(1);
                (version.changed_ms, version.print) = (Some(now_ms), print);
            }
        }
        all.forget_longest_gone();
        all
    }

    fn forget_longest_gone(&mut self) {
        let gone = self.0.iter().filter_map(|(name, version)| Some((version.gone_ms?, name.clone())));
        let mut gone: Vec<(u64, String)> = gone.collect();
        gone.sort();
        for (_, name) in gone.iter().take(gone.len().saturating_sub(GONE)) {
            self.0.remove(name);
        }
    }
}

fn print(tool: &ToolEntry) -> u64 {
    tool.number()
}

/// The differences between two tool lists, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    /// New tools.
    pub added: Vec<&'a str>,
    /// Removed tools.
    pub removed: Vec<&'a str>,
    /// Tools with a changed definition.
    pub changed: Vec<&'a str>,
}

impl<'a> Diff<'a> {
    /// Compares two tool lists.
    pub fn of(before: &'a [ToolEntry], now: &'a [ToolEntry]) -> Self {
        let by_name = |tools: &'a [ToolEntry]| -> BTreeMap<&'a str, &'a ToolEntry> {
            tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
        };
        let (known, wanted) = (by_name(before), by_name(now));
        let mut diff = Self::default();
        for tool in now {
            match known.get(tool.name.as_str()) {
                None => diff.added.push(&tool.name),
                Some(known) if known.raw.get() != tool.raw.get() => diff.changed.push(&tool.name),
                Some(_) => {}
            }
        }
        let names = before.iter().map(|tool| tool.name.as_str());
        diff.removed = names.filter(|name| !wanted.contains_key(name)).collect();
        diff
    }

    /// Is there no difference?
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl std::fmt::Display for Diff<'_> {
    /// `2 added (a, b), 1 removed (c)`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Maximum number of names listed.
        const NAMES: usize = 10;
        let parts = [("added", &self.added), ("removed", &self.removed), ("changed", &self.changed)];
        let part = |(what, names): (&str, &Vec<&str>)| {
            let some = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
            let more = if names.len() > NAMES { ", …" } else { "" };
            format!("{} {what} ({some}{more})", names.len())
        };
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty()).map(part);
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use satchel_mcp::{Raw, RawObject};

    use super::*;

    fn tools(definitions: &[(&str, &str)]) -> Vec<ToolEntry> {
        let tool = |(name, description): &(&str, &str)| {
            let definition = serde_json::json!({ "name": name, "description": description });
            let raw = Raw::from_string(definition.to_string()).unwrap();
            ToolEntry::new((*name).to_owned(), &RawObject::parse(&raw).unwrap(), raw)
        };
        definitions.iter().map(tool).collect()
    }

    #[test]
    fn a_tool_keeps_its_first_day_and_counts_its_changes() {
        let said = |versions: &Versions, name: &str| {
            versions.get(name).map(|known| (known.number, known.first_ms, known.changed_ms))
        };
        let first = Versions::default().followed_by(&tools(&[("a", "x"), ("b", "x")]), 1);
        let second = first.followed_by(&tools(&[("a", "y"), ("c", "x")]), 2);
        let third = second.followed_by(&tools(&[("b", "x"), ("a", "y"), ("c", "z")]), 3);
        assert_eq!(said(&third, "a"), Some((2, 1, Some(2))));
        assert_eq!(said(&third, "b"), Some((1, 1, None)), "it was away and came back as it was");
        assert_eq!(said(&third, "c"), Some((2, 2, Some(3))));
        assert!(third.cover(&tools(&[("a", "y")])) && !third.cover(&tools(&[("a", "z")])));
        assert!(!second.cover(&tools(&[("b", "x")])) && !first.cover(&tools(&[("d", "x")])));
    }

    #[test]
    fn only_recently_removed_tools_are_remembered() {
        let mut versions = Versions::default();
        for at in 0..2 * GONE as u64 {
            versions = versions.followed_by(&tools(&[(&format!("tool{at}"), "x")]), at);
        }
        assert_eq!(versions.0.len(), GONE + 1);
        assert!(versions.get("tool1").is_none() && versions.get(&format!("tool{}", GONE + 5)).is_some());
    }

    #[test]
    fn a_difference_names_added_removed_and_changed_tools() {
        let (before, now) =
            (tools(&[("a", "x"), ("b", "x"), ("c", "x")]), tools(&[("c", "y"), ("a", "x"), ("d", "x")]));
        let diff = Diff::of(&before, &now);
        assert_eq!(diff, Diff { added: vec!["d"], removed: vec!["b"], changed: vec!["c"] });
        assert_eq!(diff.to_string(), "1 added (d), 1 removed (b), 1 changed (c)");
        assert!(Diff::of(&before, &before).is_empty() && !diff.is_empty());
    }
}
