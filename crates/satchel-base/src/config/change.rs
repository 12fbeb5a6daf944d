//! Applies one change to the configuration: `apply(&Config, Change) -> Config`. Pure; rejects invalid changes.

use serde_json::{Map, Value, json};

use super::{
    Config, ConfigError,
    file::{HISTORY, PICTURES, SERVERS, TOOL_RULES},
    hidden, pinned_tools, profile_change as profiles,
};
use crate::model::{
    ServerName,
    control::{Change, Target},
    name::{NameError, in_path},
    nature::Permit,
    pinned::MOST,
    server::Sandbox,
};

/// Why a change was refused. The configuration is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// No server has that name.
    #[error("there is no server \"{0}\"")]
    Unknown(String),
    /// A server with that name exists.
    #[error("there is already a server \"{0}\"; remove it first, or replace it")]
    Exists(String),
    /// The name is written with letters that only look like those of another server's.
    #[error(
        "the name \"{name}\" looks like that of the server \"{other}\" and is another; choose one that does not"
    )]
    Alike {
        /// The new name.
        name: String,
        /// The server that it looks like.
        other: String,
    },
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No profile has that name.
    #[error("there is no profile \"{0}\"")]
    UnknownProfile(String),
    /// A profile with that name exists.
    #[error("there is already a profile \"{0}\"")]
    ProfileExists(String),
    /// The profile is in use: removing it would change what its users see.
    #[error("the profile \"{name}\" is in use: {by}")]
    ProfileInUse {
        /// Its name.
        name: String,
        /// Its users.
        by: String,
    },
    /// A list has as many pinned tools as it may have.
    #[error("a client lists at most {MOST} pinned tools, and so many are pinned already")]
    TooManyPinned,
    /// The tool is not pinned, or for others.
    #[error("\"{0}\" is not pinned like that")]
    NotPinned(String),
    /// The resulting configuration would be invalid.
    #[error("{0}")]
    Invalid(String),
}

impl From<ConfigError> for ChangeError {
    fn from(error: ConfigError) -> Self {
        ChangeError::Invalid(error.message)
    }
}

/// Applies a change. Everything the change does not name stays as it is, including unknown fields.
///
/// # Errors
/// [`ChangeError`] if the change cannot be applied.
pub fn apply(config: &Config, change: &Change) -> Result<Config, ChangeError> {
    let there = |name: &str| config.servers().contains_key(name) || config.faults().contains_key(name);
    let known = |name: &str| -> Result<(), ChangeError> {
        match config.faults().get(name) {
            Some(fault) => Err(fault.clone().into()),
            None if there(name) => Ok(()),
            None => Err(ChangeError::Unknown(name.to_owned())),
        }
    };
    // A faulty entry can still be corrected or removed.
    let written = |name: &str| there(name).then_some(()).ok_or_else(|| ChangeError::Unknown(name.to_owned()));
    // A name that may stand beside the others.
    let fresh = |name: &str| -> Result<(), ChangeError> {
        let parsed: ServerName = name.parse()?;
        let in_other_case = |other: &ServerName| {
            !there(name) && other.as_str().to_lowercase() == parsed.as_str().to_lowercase()
        };
        let other = config.servers().keys().find(|other| parsed.looks_like(other) || in_other_case(other));
        let alike =
            |other: &ServerName| ChangeError::Alike { name: name.to_owned(), other: other.to_string() };
        other.map_or(Ok(()), |other| Err(alike(other)))
    };
    match change {
        Change::Add { .. } => apply(config, &as_put(change.clone())),
        Change::Put { name, entry, replace, rules } => {
            fresh(name)?;
            if there(name) && !replace {
                return Err(ChangeError::Exists(name.clone()));
            }
            if !entry.is_object() {
                return Err(ChangeError::Invalid(format!("the entry of \"{name}\" must be an object")));
            }
            Ok(config.edited_whole(|root| {
                let servers = root.entry(SERVERS).or_insert_with(|| Value::Object(Map::new()));
                if let Some(servers) = servers.as_object_mut() {
                    servers.insert(name.clone(), entry.clone());
                }
                if !rules.is_empty() {
                    let block = root.entry(TOOL_RULES).or_insert_with(|| Value::Array(Vec::new()));
                    if let Some(block) = block.as_array_mut() {
                        // Importing twice adds no duplicates.
                        block.retain(|rule| !rules.contains(rule));
                        block.extend(rules.iter().cloned());
                    }
                }
            })?)
        }
        Change::Edit { name, entry } => {
            written(name)?;
            if !entry.is_object() {
                return Err(ChangeError::Invalid(format!("the entry of \"{name}\" must be an object")));
            }
            let whole = hidden::unhidden(config.entry(name), entry).map_err(ChangeError::Invalid)?;
            Ok(config.edited(|servers| {
                if let Some(old) = servers.get_mut(name) {
                    *old = whole;
                }
            })?)
        }
        Change::Duplicate { name, to } => {
            known(name)?;
            fresh(to)?;
            if there(to) {
                return Err(ChangeError::Exists(to.clone()));
            }
            Ok(config.edited(|servers| {
                if let Some(entry) = servers.get(name).cloned() {
                    servers.insert(to.clone(), entry);
                }
            })?)
        }
        Change::Remove { name } => {
            written(name)?;
            Ok(config.edited_whole(|root| {
                if let Some(servers) = root.get_mut(SERVERS).and_then(Value::as_object_mut) {
                    servers.shift_remove(name);
                }
                without_rules_of(root, name);
                pinned_tools::without_server(root, name);
            })?)
        }
        Change::SetEnabled { name, enabled } => {
            known(name)?;
            Ok(config.edited(|servers| {
                if let Some(entry) = servers.get_mut(name).and_then(Value::as_object_mut) {
                    // Other programs use the opposite; two contradictory switches would be confusing.
                    entry.shift_remove("disabled");
                    if *enabled {
                        entry.shift_remove("enabled");
                    } else {
                        entry.insert("enabled".into(), Value::Bool(false));
                    }
                }
            })?)
        }
        Change::SetPermit { tool, client, permit } => permitted(config, tool, client.as_deref(), *permit),
        Change::SetKeepCalls { name, keep } => {
            known(name)?;
            Ok(config.edited(|servers| {
                if let Some(entry) = servers.get_mut(name).and_then(Value::as_object_mut) {
                    if *keep {
                        entry.insert("keepCalls".into(), Value::Bool(true));
                    } else {
                        entry.shift_remove("keepCalls");
                    }
                }
            })?)
        }
        Change::SetShare { name, share } => {
            known(name)?;
            Ok(config.edited(|servers| {
                if let Some(entry) = servers.get_mut(name).and_then(Value::as_object_mut) {
                    match share {
                        Some(share) => drop(entry.insert("share".into(), json!(share))),
                        None => drop(entry.shift_remove("share")),
                    }
                }
            })?)
        }
        Change::SetSandbox { name, sandbox } => {
            known(name)?;
            Ok(config.edited(|servers| {
                if let Some(entry) = servers.get_mut(name).and_then(Value::as_object_mut) {
                    match sandbox {
                        Some(sandbox) if *sandbox == Sandbox::default() => {
                            entry.insert("sandbox".into(), Value::Bool(true));
                        }
                        Some(sandbox) => {
                            entry.insert("sandbox".into(), json!(sandbox));
                        }
                        None => {
                            entry.shift_remove("sandbox");
                        }
                    }
                }
            })?)
        }
        Change::SetLearning { learn } => Ok(config.edited_in(HISTORY, |history| {
            history.insert("learn".into(), Value::Bool(*learn));
        })?),
        Change::SetPictures { show } => Ok(config.edited_whole(|root| match show {
            true => drop(root.insert(PICTURES.into(), Value::Bool(true))),
            false => drop(root.shift_remove(PICTURES)),
        })?),
        Change::PinTool { pin, pinned: true } => pinned_tools::pinned(config, pin),
        Change::PinTool { pin, pinned: false } => pinned_tools::unpinned(config, pin),
        Change::UseProfile { name } => profiles::used(config, name.as_deref()),
        Change::PutProfile { name, was, profile } => profiles::put(config, name, was.as_deref(), profile),
        Change::RemoveProfile { name } => profiles::removed(config, name),
        Change::TakeSetting { key, value } => Ok(config.edited_whole(|root| match value {
            Some(value) => drop(root.insert(key.clone(), value.clone())),
            None => drop(root.shift_remove(key)),
        })?),
        Change::BindFolder { folder, profile } => profiles::folder_bound(config, folder, profile.as_deref()),
    }
}

/// Removes the rules for tools of a removed server, which would apply to the next one of this name.
pub(super) fn without_rules_of(root: &mut Map<String, Value>, server: &str) {
    let own = format!("{}:", in_path(server));
    let is_own = |rule: &Value| rule["tool"].as_str().is_some_and(|tool| tool.starts_with(&own));
    let Some(rules) = root.get_mut(TOOL_RULES).and_then(Value::as_array_mut) else { return };
    rules.retain(|rule| !is_own(rule));
    if rules.is_empty() {
        root.shift_remove(TOOL_RULES);
    }
}

/// Appends the rule, so that it takes precedence, and removes an earlier one for the same tool and client that only
/// sets a permission.
fn permitted(
    config: &Config,
    tool: &str,
    client: Option<&str>,
    permit: Option<Permit>,
) -> Result<Config, ChangeError> {
    let mut wanted = Map::new();
    wanted.insert("tool".into(), json!(tool));
    if let Some(client) = client {
        wanted.insert("client".into(), json!(client));
    }
    let replaced = |rule: &Value| {
        let mut rule = rule.clone();
        let permits = rule.as_object_mut().is_some_and(|fields| fields.shift_remove("permit").is_some());
        permits && rule.as_object() == Some(&wanted)
    };
    if config.setting(TOOL_RULES).is_some_and(|block| !block.is_array()) {
        return Err(ChangeError::Invalid(format!("\"{TOOL_RULES}\" must be a list of rules")));
    }
    Ok(config.edited_whole(|root| {
        let block = root.entry(TOOL_RULES).or_insert_with(|| Value::Array(Vec::new()));
        let Some(rules) = block.as_array_mut() else { return };
        rules.retain(|rule| !replaced(rule));
        if let Some(permit) = permit {
            let mut rule = wanted.clone();
            rule.insert("permit".into(), json!(permit));
            rules.push(Value::Object(rule));
        }
        if rules.is_empty() {
            root.shift_remove(TOOL_RULES);
        }
    })?)
}

/// A server to add, with its complete entry. Other changes stay as they are.
pub fn as_put(change: Change) -> Change {
    let Change::Add { name, target, startup, era, replace } = change else { return change };
    let mut entry = entry_of(target);
    entry.extend(startup.map(|startup| ("startup".to_owned(), json!(startup))));
    entry.extend(era.map(|era| ("era".to_owned(), json!(era))));
    Change::Put { name, entry: Value::Object(entry), replace, rules: Vec::new() }
}

fn entry_of(target: Target) -> Map<String, Value> {
    let fields = match target {
        Target::Command { command, args, env, cwd } => vec![
            ("command", json!(command)),
            ("args", json!(args)),
            ("env", json!(Some(env).filter(|env| !env.is_empty()))),
            ("cwd", json!(cwd)),
        ],
        Target::Url { url, headers } => {
            vec![("url", json!(url)), ("headers", json!(Some(headers).filter(|headers| !headers.is_empty())))]
        }
    };
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::control::HIDDEN;

    fn add(name: &str, replace: bool) -> Change {
        let target =
            Target::Command { command: "npx".into(), args: vec!["-y".into()], env: [].into(), cwd: None };
        Change::Add { name: name.into(), target, startup: None, era: None, replace }
    }

    #[test]
    fn off_and_on_again_leaves_the_file_as_it_was() {
        let text = "{\n  \"z\": 1,\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"mine\": [\n        1\n      ]\n    }\n  }\n}\n";
        let config = Config::parse(text).unwrap();
        let set = |config: &Config, enabled| {
            apply(config, &Change::SetEnabled { name: "a".into(), enabled }).unwrap()
        };
        let off = set(&config, false);
        assert!(!off.servers()["a"].enabled);
        assert_eq!(set(&off, true).to_text(), text);
    }

    #[test]
    fn a_switch_in_the_other_programs_words_is_understood() {
        let config = Config::parse(r#"{"mcpServers":{"a":{"command":"x","disabled":true}}}"#).unwrap();
        let on = apply(&config, &Change::SetEnabled { name: "a".into(), enabled: true }).unwrap();
        assert!(on.servers()["a"].enabled);
    }

    #[test]
    fn learning_is_a_switch_of_the_history() {
        let config = Config::parse(r#"{"history":{"days":7,"other":1},"mcpServers":{}}"#).unwrap();
        assert!(config.history().learn && Config::default().history().learn);
        let off = apply(&config, &Change::SetLearning { learn: false }).unwrap();
        assert_eq!((off.history().learn, off.history().days), (false, 7));
        assert!(off.to_text().contains("\"other\":1"));
        assert!(apply(&off, &Change::SetLearning { learn: true }).unwrap().history().learn);
        assert!(!apply(&Config::default(), &Change::SetLearning { learn: false }).unwrap().history().learn);
    }

    #[test]
    fn a_rule_about_a_tool_takes_the_place_of_the_one_before_it() {
        let config = Config::parse(r#"{"toolRules":[{"tool":"a:b","hide":true}]}"#).unwrap();
        let set = |config: &Config, client: Option<&str>, permit| {
            let client = client.map(ToOwned::to_owned);
            apply(config, &Change::SetPermit { tool: "a:b".into(), client, permit }).unwrap()
        };
        let asked = set(&set(&config, Some("x"), Some(Permit::Allow)), None, Some(Permit::Ask));
        let off = set(&asked, None, Some(Permit::Off));
        let permits = |config: &Config| -> Vec<_> {
            config.tool_rules().iter().map(|rule| (rule.client.clone(), rule.permit)).collect()
        };
        assert_eq!(
            permits(&off),
            [(None, None), (Some("x".into()), Some(Permit::Allow)), (None, Some(Permit::Off))]
        );
        assert_eq!(set(&set(&off, None, None), Some("x"), None), config);
        let from_nothing = set(&Config::default(), None, Some(Permit::Off));
        assert_eq!(set(&from_nothing, None, None).tool_rules(), []);
    }

    #[test]
    fn an_edited_entry_keeps_hidden_values_and_so_does_a_copy() {
        let text = r#"{"mcpServers":{"a":{"command":"x","env":{"A_TOKEN":"kept","B":"1"},"mine":[1]}}}"#;
        let config = Config::parse(text).unwrap();
        let edit = |entry: Value| apply(&config, &Change::Edit { name: "a".into(), entry });
        let edited =
            edit(json!({ "command": "y", "env": { "B": "2", "A_TOKEN": HIDDEN }, "mine": [1] })).unwrap();
        assert_eq!(
            edited.entry("a"),
            Some(&json!({ "command": "y", "env": { "B": "2", "A_TOKEN": "kept" }, "mine": [1] }))
        );
        for nonsense in [
            json!([]),
            json!({}),
            json!({ "command": "y", "env": { "C_TOKEN": HIDDEN } }),
            json!({ "command": "y", "args": [HIDDEN] }),
            json!({ "command": "y", "idleTimeout": "soon" }),
        ] {
            assert!(matches!(edit(nonsense.clone()), Err(ChangeError::Invalid(_))), "{nonsense}");
        }
        let copied = apply(&config, &Change::Duplicate { name: "a".into(), to: "b".into() }).unwrap();
        assert_eq!(copied.entry("b"), config.entry("a"));
        for (name, to) in [("a", "a"), ("a", "x\ny"), ("c", "d")] {
            let refused = apply(&config, &Change::Duplicate { name: name.into(), to: to.into() });
            assert!(refused.is_err(), "{name} {to}");
        }
    }

    #[test]
    fn an_entry_that_is_wrong_can_be_corrected_and_taken_out() {
        let config = Config::parse(r#"{"mcpServers": {"a": 5, "b": {"command": "x"}}}"#).unwrap();
        assert_eq!(apply(&config, &add("a", false)), Err(ChangeError::Exists("a".into())));
        let switched = apply(&config, &Change::SetEnabled { name: "a".into(), enabled: false });
        assert!(matches!(switched, Err(ChangeError::Invalid(why)) if why.contains("must be an object")));
        let entry = json!({ "command": "y" });
        let corrected = apply(&config, &Change::Edit { name: "a".into(), entry }).unwrap();
        assert_eq!((corrected.servers().len(), corrected.faults().len()), (2, 0));
        let gone = apply(&config, &Change::Remove { name: "a".into() }).unwrap();
        assert_eq!(gone.to_text(), r#"{"mcpServers": {"b": {"command": "x"}}}"#);
    }

    #[test]
    fn rules_over_a_server_alone_go_with_it() {
        let text = r#"{"mcpServers": {"a": {"command": "x"}, "ab": {"command": "y"}}, "toolRules": [
            {"tool": "a:*", "except": ["a:read"], "permit": "off"}, {"tool": "a:write", "permit": "allow"},
            {"tool": "ab:write", "permit": "off"}, {"tool": "*:delete", "permit": "off"}]}"#;
        let config = Config::parse(text).unwrap();
        let left =
            |name: &str, config: &Config| apply(config, &Change::Remove { name: name.into() }).unwrap();
        let gone = left("a", &config);
        assert_eq!(gone.tool_rules().len(), 2, "{}", gone.to_text());
        assert!(!gone.to_text().contains("a:read") && gone.to_text().contains("ab:write"));
        let only = Config::parse(
            r#"{"mcpServers": {"a": {"command": "x"}}, "toolRules": [{"tool": "a:b", "hide": true}]}"#,
        );
        assert!(!left("a", &only.unwrap()).to_text().contains("toolRules"));
    }

    #[test]
    fn adding_and_removing() {
        let config = apply(&Config::default(), &add("a", false)).unwrap();
        assert!(config.servers().contains_key("a"));
        assert_eq!(apply(&config, &add("a", false)), Err(ChangeError::Exists("a".into())));
        assert!(apply(&config, &add("a", true)).is_ok());
        let gone = apply(&config, &Change::Remove { name: "a".into() }).unwrap();
        assert!(gone.servers().is_empty());
        assert_eq!(apply(&gone, &Change::Remove { name: "a".into() }), Err(ChangeError::Unknown("a".into())));
        assert!(matches!(apply(&config, &add("a\tb", false)), Err(ChangeError::Name(_))));
    }
}
