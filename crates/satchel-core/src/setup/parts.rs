//! Splits a setup into parts that can be compared alone: servers, profiles, settings and choices for clients.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde_json::{Map, Value, json};

use super::Agreed;
use crate::{
    clients::{
        import::{Moved, take_credentials},
        ledger::Choices,
    },
    config::{Config, file, pinned_tools, profiles},
    model::setup::{SetupPart, SetupStanding},
};

/// Settings that are part of a setup; all others belong to one computer.
const SETTINGS: [&str; 13] = [
    file::HISTORY,
    file::OTLP_ENDPOINT,
    file::EMBEDDING,
    file::SEARCH,
    file::RESULT_CAP,
    file::TOOL_RULES,
    file::TOOL_DEFAULTS,
    file::NEW_SERVERS,
    file::REGISTRIES,
    file::PICTURES,
    pinned_tools::PINNED_TOOLS,
    profiles::ACTIVE_PROFILE,
    profiles::FOLDER_PROFILES,
];

/// Identifies a part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId {
    /// Its kind. Parts are applied in this order: a profile names servers, a setting names a profile.
    pub part: SetupPart,
    /// Its name.
    pub name: String,
}

impl PartId {
    fn new(part: SetupPart, name: impl Into<String>) -> Self {
        Self { part, name: name.into() }
    }

    /// The encrypted secrets, which are one part.
    pub fn secrets() -> Self {
        Self::new(SetupPart::Secrets, "secrets")
    }
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            SetupPart::Server => "server",
            SetupPart::Profile => "profile",
            SetupPart::Setting => "setting",
            SetupPart::Client => "client",
            SetupPart::Secrets => "sealed",
        };
        write!(f, "{part}:{}", self.name)
    }
}

impl FromStr for PartId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (part, name) = text.split_once(':').ok_or(())?;
        let part = match part {
            "server" => SetupPart::Server,
            "profile" => SetupPart::Profile,
            "setting" => SetupPart::Setting,
            "client" => SetupPart::Client,
            "sealed" => SetupPart::Secrets,
            _ => return Err(()),
        };
        Ok(Self::new(part, name))
    }
}

/// The parts of a setup.
pub type Parts = BTreeMap<PartId, Value>;

/// This computer's setup in portable form, and what was removed from it.
#[derive(Debug, Default, PartialEq)]
pub struct Portable {
    /// Its parts, with references in place of credentials.
    pub parts: Parts,
    /// The removed credentials.
    pub moved: Vec<Moved>,
}

impl Portable {
    /// This computer's setup. Invalid entries are left out, because their secrets cannot be recognized.
    pub fn of(config: &Config, choices: &BTreeMap<String, Choices>) -> Self {
        let (mut parts, mut moved) = (Parts::new(), Vec::new());
        for name in config.servers().keys() {
            let Some(Value::Object(entry)) = config.entry(name.as_str()) else { continue };
            let mut entry = entry.clone();
            without_switches(&mut entry);
            moved.extend(take_credentials(&mut entry, name.as_str()));
            parts.insert(PartId::new(SetupPart::Server, name.as_str()), Value::Object(entry));
        }
        for (name, filter) in config.profiles().all() {
            parts.insert(PartId::new(SetupPart::Profile, name), json!(filter.profile()));
        }
        for (key, value) in SETTINGS.iter().filter_map(|key| Some((*key, config.setting(key)?))) {
            parts.insert(PartId::new(SetupPart::Setting, key), value.clone());
        }
        for (client, choices) in choices.iter().filter(|(_, choices)| **choices != Choices::default()) {
            parts.insert(PartId::new(SetupPart::Client, client), json!(choices));
        }
        Self { parts, moved }
    }
}

/// Whether a server is on is decided on each computer.
fn without_switches(entry: &mut Map<String, Value>) {
    for key in ["enabled", "disabled"] {
        entry.shift_remove(key);
    }
}

/// Is it a setting that is part of a setup?
pub(super) fn is_setting(key: &str) -> bool {
    SETTINGS.contains(&key)
}

/// How another setup's part compares with the local one; `None` if no decision is needed. `agreed` is the last common
/// state; without one, a missing part does not count as removed.
pub fn difference(
    id: &PartId,
    ours: Option<&Value>,
    theirs: Option<&Value>,
    agreed: Option<&Agreed>,
) -> Option<SetupStanding> {
    if ours == theirs {
        return None;
    }
    let Some(agreed) = agreed else {
        return match (ours, theirs) {
            (_, None) => None,
            (None, Some(_)) => Some(SetupStanding::New),
            (Some(_), Some(_)) => Some(SetupStanding::Conflict),
        };
    };
    if agreed.is(id, theirs) {
        // They will receive the local version.
        return None;
    }
    Some(match (ours, theirs) {
        (None, Some(_)) if agreed.is(id, None) => SetupStanding::New,
        (Some(_), None) if agreed.is(id, ours) => SetupStanding::Removed,
        (Some(_), Some(_)) if agreed.is(id, ours) => SetupStanding::Changed,
        _ => SetupStanding::Conflict,
    })
}

/// The parts by kind, as written to the file.
pub(super) fn blocks(parts: &Parts) -> Map<String, Value> {
    let block = |part: SetupPart| -> Map<String, Value> {
        let own = parts.iter().filter(|(id, _)| id.part == part);
        own.map(|(id, value)| (id.name.clone(), value.clone())).collect()
    };
    BLOCKS.iter().map(|(key, part)| ((*key).to_owned(), Value::Object(block(*part)))).collect()
}

/// Parses parts by kind; values that are not objects are left out.
pub(super) fn parts_of(blocks: &Map<String, Value>) -> Parts {
    let of = |(key, part): &(&str, SetupPart)| {
        let block = blocks.get(*key).and_then(Value::as_object).cloned().unwrap_or_default();
        let part = *part;
        block.into_iter().map(move |(name, mut value)| {
            if let (SetupPart::Server, Some(entry)) = (part, value.as_object_mut()) {
                without_switches(entry);
            }
            (PartId::new(part, name), value)
        })
    };
    let known = |(id, value): &(PartId, Value)| match id.part {
        SetupPart::Setting => is_setting(&id.name),
        SetupPart::Server | SetupPart::Profile | SetupPart::Client => value.is_object(),
        // Not in any block: encrypted beside them.
        SetupPart::Secrets => false,
    };
    BLOCKS.iter().flat_map(of).filter(known).collect()
}

const BLOCKS: [(&str, SetupPart); 4] = [
    ("servers", SetupPart::Server),
    ("profiles", SetupPart::Profile),
    ("settings", SetupPart::Setting),
    ("clients", SetupPart::Client),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> PartId {
        "server:a".parse().unwrap()
    }

    #[test]
    fn a_change_of_the_other_computer_is_offered_and_a_change_of_both_is_a_conflict() {
        use SetupStanding::{Changed, Conflict, New, Removed};
        let value = |text: &str| (!text.is_empty()).then(|| json!(text));
        // Local, remote, last common state (`None`: no common state).
        for (ours, theirs, agreed, expected) in [
            ("x", "x", Some(""), None),
            ("", "y", None, Some(New)),
            ("x", "", None, None),
            ("x", "y", None, Some(Conflict)),
            ("", "y", Some(""), Some(New)),
            ("x", "", Some(""), None),
            ("x", "y", Some(""), Some(Conflict)),
            ("x", "y", Some("x"), Some(Changed)),
            ("x", "y", Some("y"), None),
            ("x", "y", Some("z"), Some(Conflict)),
            ("x", "", Some("x"), Some(Removed)),
            ("x", "", Some("z"), Some(Conflict)),
            ("", "y", Some("y"), None),
            ("", "y", Some("x"), Some(Conflict)),
        ] {
            let agreed = agreed.map(|text| {
                let mut agreed = Agreed::default();
                agreed.settle(&id(), value(text).as_ref());
                agreed
            });
            let found = difference(&id(), value(ours).as_ref(), value(theirs).as_ref(), agreed.as_ref());
            assert_eq!(found, expected, "{ours:?} {theirs:?} {agreed:?}");
        }
    }

    #[test]
    fn a_setup_has_every_part_and_no_credential() {
        let config = Config::parse(
            &json!({
                "mcpServers": { "a": { "command": "x", "env": { "TOKEN": "canary-1" }, "mine": 1 }, "bad": 7 },
                "profiles": { "p": { "servers": ["a"] } },
                "activeProfile": "p",
                "maxRequestMiB": 9,
                "toolRules": [{ "tool": "a:*", "permit": "ask" }],
            })
            .to_string(),
        )
        .unwrap();
        let chosen = Choices { hidden: ["a:b".to_owned()].into(), ..Choices::default() };
        let choices = [("cursor".to_owned(), chosen), ("zed".to_owned(), Choices::default())].into();
        let Portable { parts, moved } = Portable::of(&config, &choices);
        let ids: Vec<String> = parts.keys().map(ToString::to_string).collect();
        assert_eq!(
            ids,
            ["server:a", "profile:p", "setting:activeProfile", "setting:toolRules", "client:cursor"]
        );
        assert!(!json!(parts.values().collect::<Vec<_>>()).to_string().contains("canary"));
        assert_eq!((moved[0].name.as_str(), moved[0].value.as_str()), ("a.TOKEN", "canary-1"));
        assert_eq!(parts_of(&blocks(&parts)), parts, "a file says the same");
    }
}
