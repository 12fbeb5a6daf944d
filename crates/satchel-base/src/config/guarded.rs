//! Compares two configurations by the table of keys: a change from outside that loosens a protection waits for approval, all
//! others apply at once. Of a change that waits, the parts that restrict apply. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    Config,
    change::without_rules_of,
    file::SERVERS,
    keys::{HistoryKey, Keys, Loosens, ServerKey, SettingKey},
    rules::{Defaults, ToolRule},
    settings::History,
    tool_lists::ToolLists,
};
use crate::model::{
    ServerConfig, Startup,
    control::Change,
    nature::{AskedIn, Permit},
    server::Share,
};

/// What a configuration says that may loosen a protection, as written. What an entry runs is not part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guarded {
    settings: Map<String, Value>,
    servers: BTreeMap<String, Switches>,
}

/// What of an entry is in effect besides what runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Switches {
    #[serde(skip_serializing_if = "is_true")]
    pub(super) enabled: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) startup: Startup,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) keep_calls: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) exact_results: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<Share>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) source: Value,
    /// The lists of tools in the entry.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) tools: ToolLists,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            enabled: true,
            startup: Startup::default(),
            keep_calls: false,
            exact_results: false,
            share: None,
            source: Value::Null,
            tools: ToolLists::default(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_true(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Switches {
    fn of(server: &ServerConfig, entry: Option<&Value>) -> Self {
        let ServerConfig {
            enabled,
            startup,
            keep_calls,
            exact_results,
            share,
            // The approval of the entry covers these.
            transport: _,
            sandbox: _,
            // These restrict nothing.
            era: _,
            discovery_timeout: _,
            refresh_interval: _,
            idle_timeout: _,
            request_timeout: _,
            tool_timeouts: _,
        } = server;
        let source = entry.and_then(|entry| entry.get(ServerKey::Source.key())).cloned();
        Self {
            enabled: *enabled,
            startup: *startup,
            keep_calls: *keep_calls,
            exact_results: *exact_results,
            share: *share,
            source: source.unwrap_or_default(),
            tools: entry.map(ToolLists::in_entry).unwrap_or_default(),
        }
    }

    fn measured(&self, key: ServerKey) -> Option<Measure> {
        match key {
            ServerKey::Enabled => Some(Measure::Switch(self.enabled)),
            ServerKey::Disabled => Some(Measure::Switch(!self.enabled)),
            ServerKey::Startup => Some(Measure::Switch(self.startup != Startup::Manual)),
            ServerKey::KeepCalls => Some(Measure::Switch(self.keep_calls)),
            ServerKey::ExactResults => Some(Measure::Switch(self.exact_results)),
            ServerKey::Share => Some(Measure::Amount(Share::breadth(self.share))),
            ServerKey::Source => Some(Measure::Switch(self.keeps_deleted())),
            ServerKey::Command
            | ServerKey::Args
            | ServerKey::Env
            | ServerKey::Cwd
            | ServerKey::Url
            | ServerKey::ServerUrl
            | ServerKey::HttpUrl
            | ServerKey::Headers
            | ServerKey::OAuth
            | ServerKey::Sandbox
            | ServerKey::Era
            | ServerKey::DiscoveryTimeout
            | ServerKey::RefreshInterval
            | ServerKey::IdleTimeout
            | ServerKey::RequestTimeout
            | ServerKey::Timeout
            | ServerKey::ToolTimeoutSec
            | ServerKey::ToolTimeouts
            | ServerKey::Environment
            | ServerKey::Envs
            // Compared with all other rules.
            | ServerKey::IncludeTools
            | ServerKey::EnabledTools
            | ServerKey::AllowedTools
            | ServerKey::AvailableTools
            | ServerKey::Tools
            | ServerKey::ExcludeTools
            | ServerKey::DisabledTools
            | ServerKey::ToolsDisabled => None,
        }
    }

    fn is_loosened_by(&self, key: ServerKey, next: &Self) -> bool {
        let both = self.measured(key).zip(next.measured(key));
        self.tools.is_loosened_by(key, &next.tools)
            || both.is_some_and(|(before, after)| is_loosened(key.loosens(), &before, &after))
    }

    /// What is in effect if only `self` was accepted and `wanted` is written.
    fn in_effect(&self, wanted: &Self) -> Self {
        let kept = |key| self.is_loosened_by(key, wanted);
        Self {
            enabled: wanted.enabled && !kept(ServerKey::Enabled),
            startup: if kept(ServerKey::Startup) { self.startup } else { wanted.startup },
            keep_calls: if kept(ServerKey::KeepCalls) { self.keep_calls } else { wanted.keep_calls },
            exact_results: wanted.exact_results && !kept(ServerKey::ExactResults),
            share: if kept(ServerKey::Share) { self.share } else { wanted.share },
            source: if kept(ServerKey::Source) { self.source.clone() } else { wanted.source.clone() },
            tools: if ToolLists::KEYS.into_iter().any(kept) { &self.tools } else { &wanted.tools }.clone(),
        }
    }

    /// Does a server stay that its registry has deleted?
    fn keeps_deleted(&self) -> bool {
        self.source.get("keep") == Some(&Value::Bool(true))
    }

    /// This after a change of the entry from `before` to `after`: what the change left alone stays as it was accepted.
    fn following(&self, before: &Self, after: &Self) -> Self {
        fn next<T: Clone + PartialEq>(known: &T, before: &T, after: &T) -> T {
            if before == after { known.clone() } else { after.clone() }
        }
        Self {
            enabled: next(&self.enabled, &before.enabled, &after.enabled),
            startup: next(&self.startup, &before.startup, &after.startup),
            keep_calls: next(&self.keep_calls, &before.keep_calls, &after.keep_calls),
            exact_results: next(&self.exact_results, &before.exact_results, &after.exact_results),
            share: next(&self.share, &before.share, &after.share),
            source: next(&self.source, &before.source, &after.source),
            tools: next(&self.tools, &before.tools, &after.tools),
        }
    }
}

/// A value that can be compared with an earlier one.
#[derive(Debug, PartialEq)]
enum Measure {
    Switch(bool),
    Amount(u64),
    Places(BTreeSet<String>),
    /// By name; the default is under "".
    Caps(BTreeMap<String, u64>),
}

impl Measure {
    /// Is there anything in it that `before` did not have?
    fn exceeds(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::Switch(after), Self::Switch(before)) => *after && !before,
            (Self::Amount(after), Self::Amount(before)) => after > before,
            (Self::Places(after), Self::Places(before)) => !after.is_subset(before),
            (Self::Caps(after), Self::Caps(before)) => {
                after.keys().chain(before.keys()).any(|name| cap_in(after, name) > cap_in(before, name))
            }
            (Self::Switch(_) | Self::Amount(_) | Self::Places(_) | Self::Caps(_), _) => true,
        }
    }
}

fn cap_in(caps: &BTreeMap<String, u64>, name: &str) -> u64 {
    caps.get(name).or_else(|| caps.get("")).copied().unwrap_or(u64::MAX)
}

fn is_loosened(loosens: Loosens, before: &Measure, after: &Measure) -> bool {
    match loosens {
        Loosens::More => after.exceeds(before),
        Loosens::Less => before.exceeds(after),
        Loosens::Either => before != after,
        // Compared elsewhere, or not at all.
        Loosens::Never | Loosens::Entry | Loosens::Rules | Loosens::Profiles | Loosens::Within => false,
    }
}

fn of_history(key: HistoryKey, history: History) -> Measure {
    match key {
        HistoryKey::Record => Measure::Switch(history.record),
        HistoryKey::Learn => Measure::Switch(history.learn),
        HistoryKey::Days => Measure::Amount(history.days.into()),
        HistoryKey::Megabytes => Measure::Amount(history.bytes),
    }
}

/// The values of a setting, each with what loosens it. Empty for what is not compared by its amount.
fn measured(key: SettingKey, config: &Config) -> Vec<(Loosens, Measure)> {
    let places = |places: BTreeSet<String>| Some(Measure::Places(places));
    let one = match key {
        SettingKey::History => {
            let history = config.history();
            return HistoryKey::ALL.iter().map(|key| (key.loosens(), of_history(*key, history))).collect();
        }
        SettingKey::OtlpEndpoint => {
            places(config.otlp_endpoint().map(ToOwned::to_owned).into_iter().collect())
        }
        SettingKey::Embedding => places(
            config.embedding().map(|source| format!("{} {}", source.url, source.model)).into_iter().collect(),
        ),
        SettingKey::DebugStatus => Some(Measure::Switch(config.debug_status())),
        SettingKey::ResultCap => Some(Measure::Caps(config.result_caps())),
        SettingKey::NewServers => Some(Measure::Switch(config.holds_new_servers())),
        SettingKey::Registries => {
            let named = |one: &super::file::RegistrySource| json!([one.url, one.token]).to_string();
            places(config.registries().iter().map(named).collect())
        }
        SettingKey::Pictures => Some(Measure::Switch(config.shows_pictures())),
        SettingKey::Sockets => {
            places(config.sockets().iter().map(|(client, path)| json!([client, path]).to_string()).collect())
        }
        SettingKey::Origins => places(
            config.origins().iter().map(|(origin, client)| json!([origin, client]).to_string()).collect(),
        ),
        SettingKey::Servers
        | SettingKey::Search
        | SettingKey::MaxRequest
        | SettingKey::ToolRules
        | SettingKey::ToolDefaults
        | SettingKey::PinnedTools
        | SettingKey::Profiles
        | SettingKey::ActiveProfile
        | SettingKey::FolderProfiles => None,
    };
    one.map(|measure| (key.loosens(), measure)).into_iter().collect()
}

/// The settings that may loosen something.
fn guarded_settings() -> impl Iterator<Item = &'static str> {
    let is_guarded = |key: &&SettingKey| match key {
        SettingKey::Servers | SettingKey::Search | SettingKey::MaxRequest | SettingKey::PinnedTools => false,
        SettingKey::History
        | SettingKey::OtlpEndpoint
        | SettingKey::Embedding
        | SettingKey::DebugStatus
        | SettingKey::ResultCap
        | SettingKey::ToolRules
        | SettingKey::ToolDefaults
        | SettingKey::NewServers
        | SettingKey::Registries
        | SettingKey::Pictures
        | SettingKey::Sockets
        | SettingKey::Origins
        | SettingKey::Profiles
        | SettingKey::ActiveProfile
        | SettingKey::FolderProfiles => true,
    };
    SettingKey::ALL.iter().filter(is_guarded).map(|key| key.key())
}

/// What versions guarded that did not look at servers' entries.
const FIRST_GUARDED: [SettingKey; 7] = [
    SettingKey::ToolRules,
    SettingKey::ToolDefaults,
    SettingKey::NewServers,
    SettingKey::Embedding,
    SettingKey::OtlpEndpoint,
    SettingKey::Registries,
    SettingKey::Pictures,
];

const PROFILE_KEYS: [SettingKey; 3] =
    [SettingKey::Profiles, SettingKey::ActiveProfile, SettingKey::FolderProfiles];

impl Guarded {
    /// What this configuration says, accepted or not.
    pub fn of(config: &Config) -> Self {
        if let Some(written) = config.written() {
            return written.clone();
        }
        let value = |key: &'static str| Some((key.to_owned(), config.setting(key)?.clone()));
        let server = |(name, server): (&crate::model::ServerName, &ServerConfig)| {
            (name.to_string(), Switches::of(server, config.entry(name.as_str())))
        };
        Self {
            settings: guarded_settings().filter_map(value).collect(),
            servers: config.servers().iter().map(server).collect(),
        }
    }

    /// Parses what was stored; `None` if it is invalid.
    pub fn from_value(value: Value) -> Option<Self> {
        let Value::Object(mut settings) = value else { return None };
        let servers = settings.shift_remove(SERVERS).map(serde_json::from_value).transpose().ok()?;
        let known = settings.keys().all(|key| guarded_settings().any(|known| known == key));
        let kept = Self { settings, servers: servers.unwrap_or_default() };
        (known && kept.as_config().is_some()).then_some(kept)
    }

    /// Completes what a version stored that knew fewer keys by what was in effect then.
    #[must_use]
    pub fn completed_by(mut self, before: Self) -> Self {
        let first = |key: &String| FIRST_GUARDED.iter().any(|known| known.key() == key);
        self.settings.extend(before.settings.into_iter().filter(|(key, _)| !first(key)));
        self.servers = before.servers;
        self
    }

    /// The form that is stored and displayed.
    pub fn to_value(&self) -> Value {
        let mut whole = self.settings.clone();
        let servers: Map<String, Value> = self
            .servers
            .iter()
            .filter(|(_, switches)| **switches != Switches::default())
            .map(|(name, switches)| (name.clone(), json!(switches)))
            .collect();
        if !servers.is_empty() {
            whole.insert(SERVERS.into(), Value::Object(servers));
        }
        Value::Object(whole)
    }

    /// A configuration with these settings and nothing else.
    fn as_config(&self) -> Option<Config> {
        Config::parse(&Value::Object(self.settings.clone()).to_string()).ok()
    }

    fn switches(&self, server: &str) -> Switches {
        self.servers.get(server).cloned().unwrap_or_default()
    }

    /// This, after `next` was accepted. What is no longer written is remembered: written again, it loosens.
    #[must_use]
    pub fn and(&self, next: &Self) -> Self {
        let mut all = next.clone();
        for (name, switches) in &self.servers {
            all.servers.entry(name.clone()).or_insert_with(|| switches.clone());
        }
        let key = SettingKey::Profiles.key();
        if let Some(Value::Object(known)) = self.settings.get(key)
            && let Value::Object(there) = all.settings.entry(key).or_insert_with(|| json!({}))
        {
            for (name, profile) in known {
                there.entry(name.clone()).or_insert_with(|| profile.clone());
            }
        }
        all.servers.retain(|_, switches| *switches != Switches::default());
        all
    }

    /// The part of this that `wanted` speaks of.
    #[must_use]
    pub fn beside(&self, wanted: &Self) -> Self {
        let mut part = self.clone();
        part.servers = wanted.servers.keys().map(|name| (name.clone(), self.switches(name))).collect();
        let key = SettingKey::Profiles.key();
        let named = wanted.settings.get(key).and_then(Value::as_object);
        if let Some(Value::Object(profiles)) = part.settings.get_mut(key) {
            profiles.retain(|name, _| named.is_some_and(|named| named.contains_key(name)));
            if profiles.is_empty() && named.is_none() {
                part.settings.shift_remove(key);
            }
        }
        part
    }

    /// Is everything that `wanted` says accepted?
    pub fn accepts(&self, wanted: &Self) -> bool {
        self.beside(wanted) == *wanted
    }

    /// What `wanted` says otherwise: keys of settings, and names of servers.
    pub fn waiting(&self, wanted: &Self) -> (BTreeSet<String>, BTreeSet<String>) {
        let known = self.beside(wanted);
        let keys = known.settings.keys().chain(wanted.settings.keys());
        let settings = keys.filter(|key| known.settings.get(*key) != wanted.settings.get(*key)).cloned();
        let servers =
            wanted.servers.iter().filter(|(name, switches)| known.servers.get(*name) != Some(switches));
        (settings.collect(), servers.map(|(name, _)| name.clone()).collect())
    }

    /// Does `next` loosen nothing? Then it needs no approval.
    pub fn is_tightened_by(&self, next: &Self) -> bool {
        let (Some(before), Some(after)) = (self.as_config(), next.as_config()) else { return false };
        // A value that cannot be read says nothing about what is meant; until it is corrected, the cautious one applies.
        if !after.setting_faults().is_empty() {
            return false;
        }
        let same = |key: &&SettingKey| {
            let pairs = measured(**key, &before).into_iter().zip(measured(**key, &after));
            pairs.into_iter().all(|((loosens, before), (_, after))| !is_loosened(loosens, &before, &after))
        };
        let server = |(name, next): (&String, &Switches)| {
            let known = self.switches(name);
            ServerKey::ALL.iter().all(|key| !known.is_loosened_by(*key, next))
        };
        SettingKey::ALL.iter().all(|key| same(&key))
            && are_stricter(before.tool_rules(), after.tool_rules())
            && permit_no_more(before.tool_defaults(), after.tool_defaults())
            && !before.profiles().are_widened_by(after.profiles())
            && next.servers.iter().all(server)
    }

    /// What is accepted after a change made through Satchel, which turned `before` into `after`. `by_person`: a person
    /// made it, or the hub itself.
    #[must_use]
    pub fn after(&self, change: &Change, before: &Config, after: &Config, by_person: bool) -> Self {
        let (old, new) = (Self::of(before), Self::of(after));
        let mut next = self.clone();
        match change {
            Change::SetPermit { .. } | Change::SetPictures { .. } | Change::SetLearning { .. } => {
                let changed = self.as_config().and_then(|config| super::change::apply(&config, change).ok());
                if let Some(config) = changed {
                    next.settings = Self::of(&config).settings;
                }
            }
            Change::SetEnabled { name, enabled } => {
                next.servers.insert(name.clone(), Switches { enabled: *enabled, ..self.switches(name) });
            }
            Change::SetKeepCalls { name, keep } => {
                next.servers.insert(name.clone(), Switches { keep_calls: *keep, ..self.switches(name) });
            }
            Change::SetShare { name, share } => {
                next.servers.insert(name.clone(), Switches { share: *share, ..self.switches(name) });
            }
            Change::UseProfile { .. } => {
                next.take_over(SettingKey::ActiveProfile, &Self::default(), &new);
                next.take_profiles(&old, &new);
            }
            Change::PutProfile { .. } | Change::RemoveProfile { .. } | Change::BindFolder { .. } => {
                next.take_profiles(&old, &new);
            }
            Change::Add { name, .. } | Change::Put { name, .. } | Change::Edit { name, .. } => {
                let (known, was, is) = (self.switches(name), old.switches(name), new.switches(name));
                let followed = known.following(&was, &is);
                // Satchel itself writes where a server came from.
                let source = followed.source.clone();
                let accepted = if by_person { followed } else { Switches { source, ..known } };
                next.servers.insert(name.clone(), accepted);
            }
            Change::Duplicate { name, to } => {
                next.servers.insert(to.clone(), self.switches(name));
            }
            Change::Remove { name } => {
                next.servers.remove(name);
                without_rules_of(&mut next.settings, name);
            }
            Change::TakeSetting { key, .. } => {
                let value = new.settings.get(key).filter(|_| by_person);
                match value {
                    Some(value) => drop(next.settings.insert(key.clone(), value.clone())),
                    None if by_person => drop(next.settings.shift_remove(key)),
                    None => {}
                }
            }
            Change::SetSandbox { .. } | Change::PinTool { .. } => {}
        }
        next
    }

    fn take_profiles(&mut self, old: &Self, new: &Self) {
        PROFILE_KEYS.iter().for_each(|key| self.take_over(*key, old, new));
    }

    /// Takes over what differs between `old` and `new` in a setting, and nothing else of it.
    fn take_over(&mut self, key: SettingKey, old: &Self, new: &Self) {
        let key = key.key();
        let (old, new) = (old.settings.get(key), new.settings.get(key));
        let fields = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
        match (fields(old), fields(new)) {
            (old, new) if old.is_some() || new.is_some() => {
                let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                let mut known = fields(self.settings.get(key)).unwrap_or_default();
                for name in old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)) {
                    match new.get(name) {
                        Some(value) => drop(known.insert(name.clone(), value.clone())),
                        None => drop(known.shift_remove(name)),
                    }
                }
                match known.is_empty() {
                    true => drop(self.settings.shift_remove(key)),
                    false => drop(self.settings.insert(key.to_owned(), Value::Object(known))),
                }
            }
            _ if old != new => match new {
                Some(value) => drop(self.settings.insert(key.to_owned(), value.clone())),
                None => drop(self.settings.shift_remove(key)),
            },
            _ => {}
        }
    }
}

/// Are all rules of before still there, in their order, and does each other one only restrict?
fn are_stricter(before: &[ToolRule], after: &[ToolRule]) -> bool {
    let off_before = before.iter().any(|rule| rule.permit == Some(Permit::Off));
    // The last matching rule counts, so all present rules must occur in the same order.
    let mut known = before.iter().peekable();
    let stricter = after.iter().all(|rule| {
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
            || !rule.annotations.is_empty()
            || rule.consent == Some(AskedIn::Client);
        let permits = match rule.permit {
            None | Some(Permit::Off) => true,
            Some(Permit::Ask) => !off_before,
            Some(Permit::Allow) => false,
        };
        !rewrites && permits
    });
    stricter && known.peek().is_none()
}

/// Do the defaults permit at most what they permitted before?
fn permit_no_more(before: &Defaults, after: &Defaults) -> bool {
    // Without a value, reading and writing are allowed; of what deletes or is unknown, some asks.
    let within = |before: Option<Permit>, after: Option<Permit>, usual: Option<Permit>| match after.or(usual)
    {
        after if after == before.or(usual) => true,
        Some(Permit::Off) => true,
        Some(Permit::Ask) => before != Some(Permit::Off),
        Some(Permit::Allow) => false,
        None => before == Some(Permit::Allow),
    };
    let destructive = |defaults: &Defaults| defaults.destructive.or(defaults.writes);
    let allowed = Some(Permit::Allow);
    within(before.reads, after.reads, allowed)
        && within(before.writes, after.writes, allowed)
        && within(destructive(before), destructive(after), allowed)
        && within(before.deletes, after.deletes, None)
        && within(before.unstated, after.unstated, None)
        && (after.consent == before.consent || after.consent == Some(AskedIn::Window))
}

impl Config {
    /// The configuration in effect for this file, given what a person accepted: of both, what restricts more.
    pub fn under(&self, accepted: &Guarded) -> Config {
        let wanted = Guarded::of(self);
        if accepted.accepts(&wanted) {
            return self.clone();
        }
        let before = accepted.as_config().unwrap_or_default();
        let in_effect = |(name, wanted): (&String, &Switches)| {
            let known = accepted.switches(name);
            let forced = known.in_effect(wanted);
            (forced != *wanted).then(|| (name.clone(), forced))
        };
        let servers = wanted.servers.iter().filter_map(in_effect).collect();
        self.clone().with_guarded(before, servers, wanted)
    }
}

/// The settings formatted for a diff.
pub fn readable(guarded: &Guarded) -> String {
    match guarded.to_value() {
        Value::Object(fields) if fields.is_empty() => String::new(),
        value => serde_json::to_string_pretty(&value).unwrap_or_default(),
    }
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
            (json!({}), rules(&[&json!({ "tool": "*", "consent": "window" })]), true),
            (json!({}), rules(&[&json!({ "tool": "*", "consent": "client" })]), false),
            (json!({}), json!({ "toolDefaults": { "consent": "client" } }), false),
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
            (json!({}), json!({ "origins": { "app://a": "x" } }), false),
            (json!({ "origins": { "app://a": "x" } }), json!({ "origins": { "app://a": "y" } }), false),
            (json!({ "origins": { "app://a": "x" } }), json!({}), true),
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
            "origins": { "app://a": "x" },
        }));
        let forced = file.under(&accepted);
        assert!(forced.origins().is_empty() && file.origins().len() == 1);
        assert!(forced.holds_new_servers());
        assert_eq!((forced.embedding(), forced.otlp_endpoint()), (None, None));
        assert!(forced.tool_rules().iter().all(|rule| rule.description.is_none()));
        assert!(Guarded::of(&forced) == Guarded::of(&file), "the file stays as it is");
        assert_eq!(file.under(&Guarded::of(&file)), file);
    }

    #[test]
    fn setting_a_rule_does_not_accept_other_changes_in_the_file() {
        let accepted = Guarded::default();
        let file = config(&json!({ "pictures": true, "mcpServers": {} }));
        let change = Change::SetPermit { tool: "a:x".into(), client: None, permit: Some(Permit::Allow) };
        let written = super::super::change::apply(&file, &change).unwrap();
        let after = accepted.after(&change, &file, &written, true);
        assert_eq!(after, guarded(&json!({ "toolRules": [{ "tool": "a:x", "permit": "allow" }] })));
        assert_eq!(Guarded::from_value(after.to_value()), Some(after));
        assert_eq!(Guarded::from_value(json!({ "search": {} })), None);
        assert_eq!(Guarded::from_value(json!([])), None);
    }

    /// One loosening of each key, as another program would write it.
    fn loosenings() -> Vec<(&'static str, Value, Value)> {
        let server = |switches: Value| {
            let mut entry = json!({ "command": "x" });
            entry.as_object_mut().unwrap().extend(switches.as_object().unwrap().clone());
            json!({ "mcpServers": { "a": entry } })
        };
        let profile = |profile: Value| json!({ "profiles": { "p": profile } });
        let p = || json!({ "servers": ["a"] });
        let off = json!({ "tool": "a:x", "permit": "off" });
        let rule = |rule: Value| json!({ "toolRules": [rule] });
        let defaults = |name: &str, permit: &str| json!({ "toolDefaults": { name: permit } });
        let registry = |registry: Value| json!({ "registries": [registry] });
        let service = |url: &str, model: &str| json!({ "embedding": { "url": url, "model": model } });
        vec![
            ("otlpEndpoint", json!({}), json!({ "otlpEndpoint": "http://127.0.0.1:4318" })),
            ("embedding", json!({}), service("http://127.0.0.1:1", "m")),
            ("embedding.url", service("http://127.0.0.1:1", "m"), service("http://127.0.0.1:2", "m")),
            ("embedding.model", service("http://127.0.0.1:1", "m"), service("http://127.0.0.1:1", "n")),
            ("debugStatus", json!({ "debugStatus": false }), json!({})),
            ("resultCap", json!({}), json!({ "resultCap": 0 })),
            ("resultCap", json!({ "resultCap": 10 }), json!({ "resultCap": { "zed": 20, "default": 10 } })),
            ("newServers", json!({ "newServers": "hold" }), json!({})),
            ("registries", json!({}), registry(json!({ "url": "https://r.example" }))),
            (
                "registries[].url",
                registry(json!({ "url": "https://r.example" })),
                registry(json!({ "url": "https://s.example" })),
            ),
            (
                "registries[].token",
                registry(json!({ "url": "https://r.example" })),
                registry(json!({ "url": "https://r.example", "token": "${secret:X}" })),
            ),
            ("pictures", json!({}), json!({ "pictures": true })),
            ("sockets", json!({}), json!({ "sockets": { "zed": "/x" } })),
            ("sockets", json!({ "sockets": { "zed": "/x" } }), json!({ "sockets": { "zed": "/y" } })),
            ("origins", json!({}), json!({ "origins": { "app://a": "zed" } })),
            ("history.record", json!({}), json!({ "history": { "record": false } })),
            ("history.record", json!({ "history": { "record": false } }), json!({})),
            ("history.learn", json!({ "history": { "learn": false } }), json!({})),
            ("history.days", json!({}), json!({ "history": { "days": 1 } })),
            ("history.days", json!({}), json!({ "history": { "days": 0 } })),
            ("history.megabytes", json!({}), json!({ "history": { "megabytes": 1 } })),
            ("mcpServers.*.enabled", server(json!({ "enabled": false })), server(json!({}))),
            (
                "mcpServers.*.disabled",
                server(json!({ "disabled": true })),
                server(json!({ "disabled": false })),
            ),
            (
                "mcpServers.*.startup",
                server(json!({ "startup": "manual" })),
                server(json!({ "startup": "eager" })),
            ),
            ("mcpServers.*.keepCalls", server(json!({})), server(json!({ "keepCalls": true }))),
            ("mcpServers.*.keepCalls", server(json!({ "keepCalls": true })), server(json!({}))),
            ("mcpServers.*.exactResults", server(json!({})), server(json!({ "exactResults": true }))),
            ("mcpServers.*.share", server(json!({})), server(json!({ "share": "all" }))),
            (
                "mcpServers.*.share",
                server(json!({ "share": "session" })),
                server(json!({ "share": "client" })),
            ),
            (
                "mcpServers.*.source",
                server(json!({ "source": { "name": "a" } })),
                server(json!({ "source": { "name": "a", "keep": true } })),
            ),
            ("mcpServers.*.includeTools", server(json!({ "includeTools": ["x"] })), server(json!({}))),
            (
                "mcpServers.*.enabled_tools",
                server(json!({ "enabled_tools": ["x"] })),
                server(json!({ "enabled_tools": ["x", "y"] })),
            ),
            ("mcpServers.*.allowedTools", server(json!({ "allowedTools": ["x"] })), server(json!({}))),
            (
                "mcpServers.*.excludeTools",
                server(json!({ "excludeTools": ["x", "y"] })),
                server(json!({ "excludeTools": ["x"] })),
            ),
            ("mcpServers.*.disabled_tools", server(json!({ "disabled_tools": ["x"] })), server(json!({}))),
            ("mcpServers.*.disabledTools", server(json!({ "disabledTools": ["x"] })), server(json!({}))),
            ("mcpServers.*.available_tools", server(json!({ "available_tools": ["x"] })), server(json!({}))),
            ("mcpServers.*.tools", server(json!({ "tools": ["x"] })), server(json!({ "tools": ["*"] }))),
            ("activeProfile", json!({ "profiles": { "p": p() }, "activeProfile": "p" }), profile(p())),
            (
                "folderProfiles",
                json!({ "profiles": { "p": p() }, "folderProfiles": { "/w": "p" } }),
                profile(p()),
            ),
            ("profiles", profile(p()), profile(json!({ "servers": ["a", "b"] }))),
            ("profiles.*.servers", profile(p()), profile(json!({ "servers": ["b"] }))),
            ("profiles.*.only", profile(json!({ "servers": ["a"], "only": ["a:x"] })), profile(p())),
            ("profiles.*.except", profile(json!({ "servers": ["a"], "except": ["a:x"] })), profile(p())),
            ("toolRules", rule(off.clone()), json!({})),
            ("toolRules[].tool", rule(off.clone()), rule(json!({ "tool": "a:y", "permit": "off" }))),
            (
                "toolRules[].except",
                rule(off.clone()),
                rule(json!({ "tool": "a:x", "except": ["a:x"], "permit": "off" })),
            ),
            ("toolRules[].hide", rule(json!({ "tool": "a:x", "hide": true })), json!({})),
            ("toolRules[].rename", json!({}), rule(json!({ "tool": "a:x", "rename": "y" }))),
            ("toolRules[].description", json!({}), rule(json!({ "tool": "a:x", "description": "y" }))),
            (
                "toolRules[].annotations",
                json!({}),
                rule(json!({ "tool": "a:x", "annotations": { "readOnlyHint": true } })),
            ),
            ("toolRules[].category", json!({}), rule(json!({ "tool": "a:x", "category": "y" }))),
            (
                "toolRules[].client",
                rule(off),
                rule(json!({ "tool": "a:x", "permit": "off", "client": "zed" })),
            ),
            ("toolRules[].permit", json!({}), rule(json!({ "tool": "a:x", "permit": "allow" }))),
            ("toolRules[].consent", json!({}), rule(json!({ "tool": "a:x", "consent": "client" }))),
            ("toolDefaults", defaults("reads", "off"), json!({})),
            ("toolDefaults.reads", defaults("reads", "ask"), json!({})),
            ("toolDefaults.writes", defaults("writes", "off"), defaults("writes", "ask")),
            ("toolDefaults.destructive", defaults("destructive", "ask"), json!({})),
            ("toolDefaults.deletes", json!({}), defaults("deletes", "allow")),
            ("toolDefaults.unstated", json!({}), defaults("unstated", "allow")),
            ("toolDefaults.consent", defaults("consent", "window"), defaults("consent", "client")),
        ]
    }

    #[test]
    fn each_key_that_can_loosen_waits_and_its_way_back_does_too_or_restricts() {
        let loosenings = loosenings();
        for (key, before, after) in &loosenings {
            let (accepted, wanted) = (guarded(before), guarded(after));
            assert!(!accepted.is_tightened_by(&wanted), "{key}: {before} → {after}");
            // Of what waits nothing is in effect. Of places, only those that both name are.
            let forced = config(after).under(&accepted);
            let within = |one: &Config, other: &Config| {
                let pairs = |key| measured(key, one).into_iter().zip(measured(key, other));
                let is_within =
                    |((_, one), (_, other)): ((Loosens, Measure), (Loosens, Measure))| match (one, other) {
                        (Measure::Places(one), Measure::Places(other)) => one.is_subset(&other),
                        (one, other) => one == other,
                    };
                let mut keys = SettingKey::ALL.iter().filter(|key| **key != SettingKey::ResultCap);
                let caps = |config: &Config| ["zed", "other"].map(|client| config.result_cap(client));
                let settings = keys.all(|key| pairs(*key).all(is_within)) && caps(one) == caps(other);
                let servers = one.servers() == other.servers() && one.profiles() == other.profiles();
                settings && servers && one.source_of("a") == other.source_of("a")
            };
            let same = |one: &Config, other: &Config| {
                // The caps are those of the file; what is in effect is asked for each client.
                let mut keys = SettingKey::ALL.iter().filter(|key| **key != SettingKey::ResultCap);
                let caps = |config: &Config| ["zed", "other"].map(|client| config.result_cap(client));
                let settings =
                    keys.all(|key| measured(*key, one) == measured(*key, other)) && caps(one) == caps(other);
                let servers = one.servers() == other.servers() && one.profiles() == other.profiles();
                settings && servers && one.source_of("a") == other.source_of("a")
            };
            assert!(within(&forced, &config(before)), "{key}: {before} → {after}: {forced:#?}");
            assert_eq!(Guarded::of(&forced), wanted, "the file stays as it is");
            assert!(accepted.and(&wanted).accepts(&wanted), "{key}");
            let stored = accepted.and(&wanted);
            let again = Guarded::from_value(stored.to_value()).unwrap();
            assert!(again.accepts(&wanted) && same(&config(after).under(&again), &config(after)), "{key}");
        }
        for (key, loosens) in super::super::keys::rows() {
            let judged = match loosens {
                Loosens::Never | Loosens::Entry | Loosens::Within => false,
                Loosens::More | Loosens::Less | Loosens::Either | Loosens::Rules | Loosens::Profiles => true,
            };
            assert!(!judged || loosenings.iter().any(|(tried, ..)| *tried == key), "{key} is not tried");
        }
    }

    #[test]
    fn what_restricts_or_restricts_nothing_applies_at_once() {
        let entry = |switches: Value| {
            let mut entry = json!({ "command": "x" });
            entry.as_object_mut().unwrap().extend(switches.as_object().unwrap().clone());
            json!({ "mcpServers": { "a": entry } })
        };
        for (before, after) in [
            (entry(json!({})), entry(json!({ "enabled": false }))),
            (entry(json!({})), json!({ "mcpServers": {} })),
            (entry(json!({ "exactResults": true })), entry(json!({}))),
            (entry(json!({})), entry(json!({ "startup": "manual" }))),
            (entry(json!({})), entry(json!({ "startup": "eager", "requestTimeout": "9s", "era": "legacy" }))),
            (entry(json!({})), entry(json!({ "source": { "name": "a" } }))),
            (entry(json!({})), entry(json!({ "includeTools": ["x"], "excludeTools": ["y"] }))),
            (entry(json!({ "includeTools": ["x", "y"] })), entry(json!({ "includeTools": ["x"] }))),
            (json!({}), json!({ "debugStatus": false, "history": { "learn": false }, "resultCap": 100 })),
            (json!({}), json!({ "toolDefaults": { "reads": "off", "writes": "ask", "deletes": "ask" } })),
            (json!({ "toolDefaults": { "deletes": "allow" } }), json!({})),
            (json!({}), json!({ "profiles": { "p": { "servers": ["a"] } }, "activeProfile": "p" })),
            (
                json!({ "profiles": { "p": { "servers": ["a", "b"] } } }),
                json!({ "profiles": { "p": { "servers": ["a"] } } }),
            ),
            (json!({ "sockets": { "zed": "/x" } }), json!({})),
            (json!({}), json!({ "search": { "meaning": false } })),
        ] {
            assert!(guarded(&before).is_tightened_by(&guarded(&after)), "{before} → {after}");
        }
    }

    #[test]
    fn removing_first_and_writing_again_loosens_no_less() {
        let off = json!({ "mcpServers": { "a": { "command": "x", "enabled": false } } });
        let on = json!({ "mcpServers": { "a": { "command": "x" } } });
        let narrow = json!({ "profiles": { "p": { "servers": ["a"] } } });
        let wide = json!({ "profiles": { "p": { "servers": ["a", "b"] } } });
        for (before, after) in [(off, on), (narrow, wide)] {
            let gone = guarded(&json!({ "mcpServers": {} }));
            assert!(guarded(&before).is_tightened_by(&gone));
            let accepted = guarded(&before).and(&gone);
            assert!(accepted.accepts(&gone), "nothing waits meanwhile");
            assert!(!accepted.is_tightened_by(&guarded(&after)), "{before} → {after}");
        }
    }

    #[test]
    fn a_change_through_satchel_accepts_what_it_changes_and_nothing_else() {
        let server = |switches: Value| {
            let mut entry = json!({ "command": "x" });
            entry.as_object_mut().unwrap().extend(switches.as_object().unwrap().clone());
            json!({ "mcpServers": { "a": entry } })
        };
        let made = |accepted: &Guarded, file: &Value, change: Change, by_person| {
            let file = config(file);
            let after = super::super::change::apply(&file, &change).unwrap();
            let accepted = accepted.after(&change, &file, &after, by_person);
            let accepted = match accepted.is_tightened_by(&Guarded::of(&after)) {
                true => accepted.and(&Guarded::of(&after)),
                false => accepted,
            };
            (accepted.accepts(&Guarded::of(&after)), after.under(&accepted))
        };
        let enable = || Change::SetEnabled { name: "a".into(), enabled: true };
        let off = guarded(&server(json!({ "enabled": false })));
        let (accepted, forced) = made(&off, &server(json!({ "enabled": false })), enable(), true);
        assert!(accepted && forced.servers()["a"].enabled);
        // The file said so before, and nobody had accepted it.
        let (accepted, forced) = made(&off, &server(json!({})), enable(), true);
        assert!(accepted && forced.servers()["a"].enabled);
        // Another program's change waits on, beside a person's.
        let (accepted, forced) = made(&off, &server(json!({ "exactResults": true })), enable(), true);
        assert!(!accepted && forced.servers()["a"].enabled && !forced.servers()["a"].exact_results);
        let entry = |switches: Value| server(switches)["mcpServers"]["a"].clone();
        let put = |switches: Value, replace| Change::Put {
            name: "a".into(),
            entry: entry(switches),
            replace,
            rules: vec![],
        };
        let none = json!({ "mcpServers": {} });
        let exact = json!({ "exactResults": true });
        assert!(made(&Guarded::default(), &none, put(exact.clone(), false), true).0);
        assert!(!made(&Guarded::default(), &none, put(exact.clone(), false), false).0, "a program's");
        let waiting = server(exact.clone());
        assert!(!made(&Guarded::default(), &waiting, put(exact, true), true).0, "it was not changed");
        // Its rules go with a server.
        let with_rule = json!({
            "mcpServers": { "a": { "command": "x" } }, "toolRules": [{ "tool": "a:x", "permit": "off" }],
        });
        let (accepted, _) =
            made(&guarded(&with_rule), &with_rule, Change::Remove { name: "a".into() }, false);
        assert!(accepted, "nothing waits");
        let active = json!({ "profiles": { "p": { "servers": [] } }, "activeProfile": "p" });
        let (accepted, forced) = made(&guarded(&active), &active, Change::UseProfile { name: None }, false);
        assert!(accepted && forced.profiles().active().is_none());
    }

    #[test]
    fn what_a_version_accepted_that_guarded_less_is_completed() {
        let old = Guarded::from_value(json!({ "newServers": "hold" })).unwrap();
        let before = guarded(&json!({
            "mcpServers": { "a": { "command": "x", "exactResults": true } },
            "history": { "days": 7 }, "pictures": true,
        }));
        let all = old.completed_by(before);
        let expected = json!({
            "newServers": "hold", "history": { "days": 7 }, "mcpServers": { "a": { "exactResults": true } },
        });
        assert_eq!(all.to_value(), expected, "pictures were not accepted");
    }
}
