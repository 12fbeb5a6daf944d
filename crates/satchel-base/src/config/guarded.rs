//! Settings that weaken or strengthen protection: rules over tools, the policy for new servers, and addresses that
//! texts are sent to or servers come from. A change from outside that tightens them applies at once; one that loosens
//! them waits for approval. Pure.

use serde_json::{Map, Value, json};

use super::{
    Config,
    file::{EMBEDDING, NEW_SERVERS, OTLP_ENDPOINT, PICTURES, REGISTRIES, TOOL_DEFAULTS, TOOL_RULES},
};
use crate::model::{control::Change, nature::Permit};

const KEYS: [&str; 7] =
    [TOOL_RULES, TOOL_DEFAULTS, NEW_SERVERS, EMBEDDING, OTLP_ENDPOINT, REGISTRIES, PICTURES];

/// The guarded settings of a configuration, as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guarded(Map<String, Value>);

impl Guarded {
    /// Those of this configuration file.
    pub fn of(config: &Config) -> Self {
        let value = |key: &&str| Some(((*key).to_owned(), config.document().get(*key)?.clone()));
        Self(KEYS.iter().filter_map(value).collect())
    }

    /// Parses stored settings; `None` if they are invalid.
    pub fn from_value(value: Value) -> Option<Self> {
        let Value::Object(fields) = value else { return None };
        let known = fields.keys().all(|key| KEYS.contains(&key.as_str()));
        let kept = Self(fields);
        (known && kept.as_config().is_some()).then_some(kept)
    }

    /// The form that is stored and displayed.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A configuration with these settings and nothing else.
    fn as_config(&self) -> Option<Config> {
        Config::parse(&self.to_value().to_string()).ok()
    }

    /// Applies a change that a person made through Satchel.
    pub fn after(&self, change: &Change) -> Self {
        let changed = self.as_config().and_then(|config| super::change::apply(&config, change).ok());
        match (change, changed) {
            (
                Change::SetPermit { .. } | Change::SetPictures { .. } | Change::TakeSetting { .. },
                Some(config),
            ) => Self::of(&config),
            _ => self.clone(),
        }
    }

    /// Does `next` only add restrictions? Then it needs no approval.
    pub fn is_tightened_by(&self, next: &Guarded) -> bool {
        let (Some(before), Some(after)) = (self.as_config(), next.as_config()) else { return false };
        // A value that cannot be read says nothing about what is meant; until it is corrected, the cautious one applies.
        if !after.setting_faults().is_empty() {
            return false;
        }
        let address = |key: &str| next.0.get(key).is_none() || next.0.get(key) == self.0.get(key);
        let defaults = self.0.get(TOOL_DEFAULTS) == next.0.get(TOOL_DEFAULTS);
        let holds = after.holds_new_servers() || !before.holds_new_servers();
        let fewer = after.registries().iter().all(|named| before.registries().contains(named));
        let pictures = before.shows_pictures() || !after.shows_pictures();
        let off_before = before.tool_rules().iter().any(|rule| rule.permit == Some(Permit::Off));
        // The last matching rule counts, so all present rules must occur in the same order.
        let mut known = before.tool_rules().iter().peekable();
        let stricter = after.tool_rules().iter().all(|rule| {
            if known.peek() == Some(&rule) {
                known.next();
                return true;
            }
            // It stands in for an invalid rule, and only restricts.
            if rule.invalid {
                return true;
            }
            let rewrites = rule.rename.is_some()
                || rule.description.is_some()
                || rule.category.is_some()
                || !rule.annotations.is_empty();
            let permits = match rule.permit {
                None | Some(Permit::Off) => true,
                Some(Permit::Ask) => !off_before,
                Some(Permit::Allow) => false,
            };
            !rewrites && permits
        });
        address(EMBEDDING)
            && address(OTLP_ENDPOINT)
            && defaults
            && fewer
            && holds
            && pictures
            && stricter
            && known.peek().is_none()
    }
}

impl Config {
    /// The settings in effect for this file, given what a person accepted: the stricter of both for rules, the
    /// accepted ones for addresses.
    pub fn under(&self, accepted: &Guarded) -> Config {
        if Guarded::of(self) == *accepted {
            return self.clone();
        }
        let before = accepted.as_config().unwrap_or_default();
        let holds = self.holds_new_servers() || before.holds_new_servers();
        let embedding = self.embedding().and(before.embedding()).cloned();
        let collector = self.otlp_endpoint().and(before.otlp_endpoint()).map(ToOwned::to_owned);
        self.clone().with_guarded(before, holds, embedding, collector)
    }
}

/// The settings formatted for a diff.
pub fn readable(guarded: &Guarded) -> String {
    if guarded.is_empty() {
        return String::new();
    }
    serde_json::to_string_pretty(&json!(guarded.to_value())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(value: &Value) -> Config {
        Config::parse(&value.to_string()).unwrap()
    }

    fn guarded(value: &Value) -> Guarded {
        Guarded::of(&config(value))
    }

    #[test]
    fn only_restrictions_need_no_approval() {
        let off = json!({ "tool": "a:x", "permit": "off" });
        let ask = json!({ "tool": "a:y", "permit": "ask" });
        let allow = json!({ "tool": "*", "permit": "allow" });
        let hide = json!({ "tool": "a:z", "hide": true });
        let rename = json!({ "tool": "a:z", "rename": "w" });
        let rules = |list: &[&Value]| json!({ "toolRules": list });
        let there = json!({ "embedding": { "url": "http://127.0.0.1:1", "model": "m" } });
        for (before, after, tighter) in [
            (json!({}), json!({}), true),
            (json!({}), rules(&[&off]), true),
            (json!({}), rules(&[&ask, &hide]), true),
            (json!({}), rules(&[&allow]), false),
            (json!({}), rules(&[&rename]), false),
            (rules(&[&off]), json!({}), false),
            (rules(&[&off]), rules(&[&off, &hide]), true),
            (rules(&[&off]), rules(&[&off, &ask]), false),
            (rules(&[&off, &ask]), rules(&[&ask, &off]), false),
            (json!({ "newServers": "hold" }), json!({}), false),
            (json!({ "newServers": "hold" }), json!({ "newServers": "offer" }), false),
            (json!({}), json!({ "newServers": "hold" }), true),
            (json!({}), there.clone(), false),
            (there.clone(), json!({}), true),
            (json!({}), json!({ "toolDefaults": { "deletes": "allow" } }), false),
            (json!({}), json!({ "otlpEndpoint": "http://127.0.0.1:4318" }), false),
            (json!({}), json!({ "pictures": true }), false),
            (json!({ "pictures": true }), json!({}), true),
            (json!({}), json!({ "registries": [] }), true),
            (json!({}), json!({ "registries": [{ "url": "https://r.example" }] }), false),
            (json!({ "registries": [{ "url": "https://r.example" }] }), json!({}), false),
        ] {
            assert_eq!(guarded(&before).is_tightened_by(&guarded(&after)), tighter, "{before} → {after}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_read_is_not_accepted_and_loosens_nothing() {
        let before = json!({ "newServers": "hold", "registries": [{ "url": "https://r.example" }] });
        for (key, value) in [
            ("newServers", json!("ofer")),
            ("pictures", json!("yes")),
            ("embedding", json!("here")),
            ("otlpEndpoint", json!(7)),
            ("registries", json!([{ "url": "https://r.example" }, "https://other.example"])),
        ] {
            let mut after = before.clone();
            after[key] = value;
            assert!(!guarded(&before).is_tightened_by(&guarded(&after)), "{after}");
            let forced = config(&after).under(&guarded(&before));
            assert!(forced.holds_new_servers() && !forced.shows_pictures(), "{after}");
            assert_eq!((forced.embedding(), forced.otlp_endpoint()), (None, None), "{after}");
            let registries = if key == "registries" { 0 } else { 1 };
            assert_eq!(forced.registries().len(), registries, "{after}");
        }
    }

    #[test]
    fn of_unaccepted_changes_only_the_stricter_ones_apply() {
        let accepted = guarded(&json!({
            "toolRules": [{ "tool": "a:x", "permit": "off" }, { "tool": "a:hidden", "hide": true }],
            "newServers": "hold",
        }));
        let file = config(&json!({
            "toolRules": [
                { "tool": "*", "permit": "allow" },
                { "tool": "a:y", "permit": "ask" },
                { "tool": "a:z", "description": "Call this first." },
            ],
            "embedding": { "url": "http://127.0.0.1:1", "model": "m" },
            "otlpEndpoint": "http://127.0.0.1:4318",
        }));
        let forced = file.under(&accepted);
        assert!(forced.holds_new_servers());
        assert_eq!((forced.embedding(), forced.otlp_endpoint()), (None, None));
        assert!(forced.tool_rules().iter().all(|rule| rule.description.is_none()));
        assert!(Guarded::of(&forced) == Guarded::of(&file), "the file stays as it is");
        assert_eq!(file.under(&Guarded::of(&file)), file);
    }

    #[test]
    fn setting_a_rule_does_not_accept_other_changes_in_the_file() {
        let accepted = Guarded::default();
        let change = Change::SetPermit { tool: "a:x".into(), client: None, permit: Some(Permit::Allow) };
        let after = accepted.after(&change);
        assert_eq!(after, guarded(&json!({ "toolRules": [{ "tool": "a:x", "permit": "allow" }] })));
        assert_eq!(Guarded::from_value(after.to_value()), Some(after));
        assert_eq!(Guarded::from_value(json!({ "mcpServers": {} })), None);
        assert_eq!(Guarded::from_value(json!([])), None);
    }
}
