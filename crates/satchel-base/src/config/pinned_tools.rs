//! The pinned tools of the configuration: a list of [`PinnedTool`]s. Reads and changes it. Pure.

use satchel_mcp::Raw;
use serde_json::{Map, Value, json};

use super::{Config, ConfigError, change::ChangeError, keys::SettingKey, reader::ConfigReader};
use crate::model::{
    ToolPath,
    name::in_path,
    pinned::{MOST, PinnedTool},
};

/// Key of the pinned tools.
pub const PINNED_TOOLS: &str = SettingKey::PinnedTools.key();

impl<'a> ConfigReader<'a> {
    /// Parses each independently. An invalid one is in no list.
    pub(super) fn pinned_tools(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> Vec<PinnedTool> {
        let list: Result<Vec<&'a Raw>, _> = serde_json::from_str(value.get());
        let Ok(list) = list else {
            faults.push(self.at(value.get(), format!("\"{PINNED_TOOLS}\" must be a list of tools")));
            return Vec::new();
        };
        let one = |raw: &'a Raw| {
            let read = serde_json::from_str::<PinnedTool>(raw.get()).ok();
            let usable = read.filter(|pin| pin.tool.parse::<ToolPath>().is_ok());
            if usable.is_none() {
                let message = format!(
                    "each of \"{PINNED_TOOLS}\" needs a \"tool\" as server:tool, and may have a \"client\" and a \"profile\""
                );
                faults.push(self.at(raw.get(), message));
            }
            usable
        };
        list.into_iter().filter_map(one).collect()
    }
}

/// Pins a tool. Pinning it again changes nothing.
pub(super) fn pinned(config: &Config, pin: &PinnedTool) -> Result<Config, ChangeError> {
    pin.tool.parse::<ToolPath>()?;
    if let Some(profile) = pin.profile.as_ref().filter(|name| !config.profiles().has(name)) {
        return Err(ChangeError::UnknownProfile(profile.clone()));
    }
    if config.pinned_tools().contains(pin) {
        return Ok(config.clone());
    }
    // A list has the tools that are pinned for every client, and its own.
    let beside = |known: &&PinnedTool| {
        let is_for_all = known.client.is_none() && known.profile.is_none();
        is_for_all || (&known.client, &known.profile) == (&pin.client, &pin.profile)
    };
    if config.pinned_tools().iter().filter(beside).count() >= MOST {
        return Err(ChangeError::TooManyPinned);
    }
    if config.setting(PINNED_TOOLS).is_some_and(|block| !block.is_array()) {
        return Err(ChangeError::Invalid(format!("\"{PINNED_TOOLS}\" must be a list of tools")));
    }
    Ok(config.edited_whole(|root| {
        let block = root.entry(PINNED_TOOLS).or_insert_with(|| Value::Array(Vec::new()));
        if let Some(block) = block.as_array_mut() {
            block.push(json!(pin));
        }
    })?)
}

/// Unpins a tool for those that it was pinned for.
pub(super) fn unpinned(config: &Config, pin: &PinnedTool) -> Result<Config, ChangeError> {
    if !config.pinned_tools().contains(pin) {
        return Err(ChangeError::NotPinned(pin.tool.clone()));
    }
    Ok(config.edited_whole(|root| retain(root, |known| *known != *pin))?)
}

/// Removes the pins of a removed server, which would apply to the next one of this name.
pub(super) fn without_server(root: &mut Map<String, Value>, server: &str) {
    let own = format!("{}:", in_path(server));
    retain(root, |pin| !pin.tool.starts_with(&own));
}

/// Removes the pins of a removed profile.
pub(super) fn without_profile(root: &mut Map<String, Value>, profile: &str) {
    retain(root, |pin| pin.profile.as_deref() != Some(profile));
}

/// Follows a profile to its new name.
pub(super) fn follow_profile(root: &mut Map<String, Value>, was: &str, name: &str) {
    let pins = root.get_mut(PINNED_TOOLS).and_then(Value::as_array_mut).into_iter().flatten();
    let profiles = pins.filter_map(|pin| pin.get_mut("profile"));
    profiles.filter(|profile| profile.as_str() == Some(was)).for_each(|profile| *profile = json!(name));
}

/// Invalid ones stay.
fn retain(root: &mut Map<String, Value>, keeps: impl Fn(&PinnedTool) -> bool) {
    let Some(pins) = root.get_mut(PINNED_TOOLS).and_then(Value::as_array_mut) else { return };
    let read = |pin: &Value| serde_json::from_value::<PinnedTool>(pin.clone()).ok();
    pins.retain(|pin| read(pin).is_none_or(|pin| keeps(&pin)));
    if pins.is_empty() {
        root.shift_remove(PINNED_TOOLS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::change::apply,
        model::{control::Change, profiles::Profile},
    };

    fn pin(tool: &str) -> PinnedTool {
        PinnedTool { tool: tool.into(), ..PinnedTool::default() }
    }

    fn changed(config: &Config, pin: PinnedTool, pinned: bool) -> Result<Config, ChangeError> {
        apply(config, &Change::PinTool { pin, pinned })
    }

    #[test]
    fn a_tool_is_pinned_for_all_a_client_or_a_profile_and_unpinned_again() {
        let text = r#"{"profiles": {"work": {"servers": ["a"]}}, "mcpServers": {"a": {"command": "x"}}}"#;
        let first = Config::parse(text).unwrap();
        let pins = [
            pin("a:x"),
            PinnedTool { client: Some("cursor".into()), ..pin("a:x") },
            PinnedTool { profile: Some("work".into()), ..pin("a:y") },
        ];
        let all = pins.iter().fold(first.clone(), |config, pin| changed(&config, pin.clone(), true).unwrap());
        assert_eq!(all.pinned_tools(), pins);
        assert_eq!(changed(&all, pins[1].clone(), true).unwrap().to_text(), all.to_text());
        let back = pins.iter().fold(all, |config, pin| changed(&config, pin.clone(), false).unwrap());
        assert_eq!(back.to_text(), text);
        assert_eq!(changed(&back, pin("a:x"), false), Err(ChangeError::NotPinned("a:x".into())));
        let unknown = PinnedTool { profile: Some("gone".into()), ..pin("a:x") };
        assert_eq!(changed(&first, unknown, true), Err(ChangeError::UnknownProfile("gone".into())));
        assert!(matches!(changed(&first, pin("no path"), true), Err(ChangeError::Name(_))));
    }

    #[test]
    fn no_list_gets_more_than_twenty() {
        let of = |client: Option<&str>, at: usize| PinnedTool {
            client: client.map(Into::into),
            ..pin(&format!("a:t{at}"))
        };
        let mut config = Config::parse("{}").unwrap();
        for at in 0..MOST - 1 {
            config = changed(&config, of(None, at), true).unwrap();
        }
        config = changed(&config, of(Some("cursor"), 90), true).unwrap();
        config = changed(&config, of(Some("zed"), 91), true).unwrap();
        assert_eq!(changed(&config, of(Some("cursor"), 92), true), Err(ChangeError::TooManyPinned));
        config = changed(&config, of(None, 93), true).unwrap();
        assert_eq!(changed(&config, of(None, 94), true), Err(ChangeError::TooManyPinned));
    }

    #[test]
    fn an_invalid_one_is_reported_alone_and_stays_in_the_file() {
        let text =
            r#"{"pinnedTools": ["a:x", {"tool": "none"}, {"tool": "a:x"}, {"tool": "a:y", "who": 1}]}"#;
        let config = Config::parse(text).unwrap();
        assert_eq!((config.pinned_tools(), config.setting_faults().len()), (&[pin("a:x")][..], 3));
        let gone = changed(&config, pin("a:x"), false).unwrap();
        assert!(gone.pinned_tools().is_empty() && gone.to_text().contains(r#"{"tool": "a:y", "who": 1}"#));
        let whole = Config::parse(r#"{"pinnedTools": {"tool": "a:x"}}"#).unwrap();
        assert_eq!(whole.setting_faults().len(), 1);
        assert!(matches!(changed(&whole, pin("a:x"), true), Err(ChangeError::Invalid(_))));
    }

    #[test]
    fn pins_go_with_their_server_and_follow_their_profile() {
        let text = r#"{"profiles": {"work": {"servers": ["a"]}}, "mcpServers": {"a": {"command": "x"}, "ab": {"command": "x"}},
            "pinnedTools": [{"tool": "a:x"}, {"tool": "ab:x", "profile": "work"}]}"#;
        let config = Config::parse(text).unwrap();
        let config = apply(&config, &Change::Remove { name: "a".into() }).unwrap();
        let of = |profile: &str| PinnedTool { profile: Some(profile.into()), ..pin("ab:x") };
        assert_eq!(config.pinned_tools(), [of("work")]);
        let profile = Profile { servers: vec!["ab".into()], ..Profile::default() };
        let renamed = Change::PutProfile { name: "job".into(), was: Some("work".into()), profile };
        let config = apply(&config, &renamed).unwrap();
        assert_eq!(config.pinned_tools(), [of("job")]);
        let config = apply(&config, &Change::RemoveProfile { name: "job".into() }).unwrap();
        assert!(!config.to_text().contains("pinnedTools"), "{}", config.to_text());
    }
}
