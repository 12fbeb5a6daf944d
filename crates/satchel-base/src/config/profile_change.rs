//! Changes profiles in the text of the configuration. Pure; bindings of clients are stored elsewhere.

use serde_json::{Map, Value, json};

use super::{
    Config,
    change::ChangeError,
    pinned_tools,
    profiles::{ACTIVE_PROFILE, FOLDER_PROFILES, PROFILES},
};
use crate::model::profiles::Profile;

/// Switches the active profile; `None` for none.
pub(super) fn used(config: &Config, name: Option<&str>) -> Result<Config, ChangeError> {
    if let Some(name) = name {
        known(config, name)?;
    }
    Ok(config.edited_whole(|root| match name {
        Some(name) => drop(root.insert(ACTIVE_PROFILE.into(), json!(name))),
        None => drop(root.shift_remove(ACTIVE_PROFILE)),
    })?)
}

/// Adds a profile, or changes and possibly renames the one called `was`.
pub(super) fn put(
    config: &Config,
    name: &str,
    was: Option<&str>,
    profile: &Profile,
) -> Result<Config, ChangeError> {
    profile.check(name).map_err(ChangeError::Invalid)?;
    if let Some(was) = was {
        written(config, was)?;
    }
    if was != Some(name) && config.profiles().has(name) {
        return Err(ChangeError::ProfileExists(name.to_owned()));
    }
    Ok(config.edited_whole(|root| {
        let all = root.entry(PROFILES).or_insert_with(|| Value::Object(Map::new()));
        let Some(all) = all.as_object_mut() else { return };
        if let Some(was) = was.filter(|was| *was != name) {
            all.shift_remove(was);
        }
        all.insert(name.to_owned(), entry_of(profile));
        let Some(was) = was.filter(|was| *was != name) else { return };
        pinned_tools::follow_profile(root, was, name);
        let is_meant = |value: &&mut Value| value.as_str() == Some(was);
        let folders = root.get_mut(FOLDER_PROFILES).and_then(Value::as_object_mut);
        for value in folders.into_iter().flat_map(Map::values_mut).filter(is_meant) {
            *value = json!(name);
        }
        if let Some(active) = root.get_mut(ACTIVE_PROFILE).filter(is_meant) {
            *active = json!(name);
        }
    })?)
}

/// Its JSON in the file.
fn entry_of(profile: &Profile) -> Value {
    let mut entry = Map::new();
    entry.insert("servers".into(), json!(profile.servers));
    for (key, patterns) in [("only", &profile.only), ("except", &profile.except)] {
        if !patterns.is_empty() {
            entry.insert(key.into(), json!(patterns));
        }
    }
    Value::Object(entry)
}

/// Removes an unused profile. Removing one in use would change what its users see.
pub(super) fn removed(config: &Config, name: &str) -> Result<Config, ChangeError> {
    written(config, name)?;
    let profiles = config.profiles();
    let in_use = |by: String| Err(ChangeError::ProfileInUse { name: name.to_owned(), by });
    if profiles.active() == Some(name) {
        return in_use("it is the active one".to_owned());
    }
    let bound = |(_, profile): &(&String, &Result<String, _>)| profile.as_deref().ok() == Some(name);
    if let Some((folder, _)) = profiles.folders().iter().find(bound) {
        return in_use(format!("the folder {folder} is bound to it"));
    }
    Ok(config.edited_whole(|root| {
        if let Some(all) = root.get_mut(PROFILES).and_then(Value::as_object_mut) {
            all.shift_remove(name);
        }
        pinned_tools::without_profile(root, name);
    })?)
}

/// Binds a folder, or removes its binding.
pub(super) fn folder_bound(
    config: &Config,
    folder: &str,
    profile: Option<&str>,
) -> Result<Config, ChangeError> {
    if let Some(profile) = profile {
        known(config, profile)?;
    } else if !config.profiles().folders().contains_key(folder) {
        return Err(ChangeError::Invalid(format!("the folder {folder} is bound to no profile")));
    }
    let after = config.edited_whole(|root| {
        let folders = root.entry(FOLDER_PROFILES).or_insert_with(|| Value::Object(Map::new()));
        let Some(folders) = folders.as_object_mut() else { return };
        match profile {
            Some(profile) => drop(folders.insert(folder.to_owned(), json!(profile))),
            None => drop(folders.shift_remove(folder)),
        }
        if folders.is_empty() {
            root.shift_remove(FOLDER_PROFILES);
        }
    })?;
    match after.profiles().folders().get(folder) {
        Some(Err(fault)) => Err(fault.clone().into()),
        Some(Ok(_)) | None => Ok(after),
    }
}

fn known(config: &Config, name: &str) -> Result<(), ChangeError> {
    match config.profiles().faults().get(name) {
        Some(fault) => Err(fault.clone().into()),
        None => written(config, name),
    }
}

/// Does the profile exist? Invalid ones count too, so that they can be corrected or removed.
fn written(config: &Config, name: &str) -> Result<(), ChangeError> {
    let there = config.profiles().has(name).then_some(());
    there.ok_or_else(|| ChangeError::UnknownProfile(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(names: &[&str]) -> Profile {
        Profile { servers: names.iter().map(ToString::to_string).collect(), ..Profile::default() }
    }

    #[test]
    fn a_profile_is_put_used_renamed_and_taken_out_and_the_rest_of_the_file_stays() {
        let text = "{\n  // mine\n  \"mcpServers\": {},\n  \"other\": 1\n}\n";
        let config = Config::parse(text).unwrap();
        let config = put(&config, "a", None, &servers(&["x"])).unwrap();
        let config = folder_bound(&used(&config, Some("a")).unwrap(), "/work", Some("a")).unwrap();
        let config = put(&config, "b", Some("a"), &servers(&["x", "y"])).unwrap();
        let all = config.profiles();
        assert_eq!(all.all().keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!((all.active(), all.folders()["/work"].as_deref()), (Some("b"), Ok("b")));
        assert!(config.to_text().contains("// mine") && config.to_text().contains("\"other\": 1"));
        for by in ["active", "/work"] {
            let refused =
                removed(&if by == "active" { config.clone() } else { used(&config, None).unwrap() }, "b");
            assert!(refused.unwrap_err().to_string().contains(by), "{by}");
        }
        let unbound = folder_bound(&used(&config, None).unwrap(), "/work", None).unwrap();
        let gone = removed(&unbound, "b").unwrap();
        assert!(gone.profiles().all().is_empty() && !gone.to_text().contains("folderProfiles"));
    }

    #[test]
    fn nonsense_is_refused() {
        let config = Config::parse(r#"{"profiles": {"a": {"servers": ["x"]}, "bad": 7}}"#).unwrap();
        let unknown = || Err(ChangeError::UnknownProfile("gone".into()));
        assert_eq!(used(&config, Some("gone")), unknown());
        assert_eq!(removed(&config, "gone"), unknown());
        assert_eq!(put(&config, "new", Some("gone"), &servers(&[])), unknown());
        assert_eq!(folder_bound(&config, "/work", Some("gone")), unknown());
        assert!(used(&config, Some("bad")).is_err() && removed(&config, "bad").is_ok());
        assert!(put(&config, "bad", Some("bad"), &servers(&["x"])).unwrap().profiles().faults().is_empty());
        assert!(matches!(put(&config, "a", None, &servers(&[])), Err(ChangeError::ProfileExists(_))));
        assert!(put(&config, "everything", None, &servers(&[])).is_err());
        assert!(folder_bound(&config, "here", Some("a")).is_err());
        assert!(folder_bound(&config, "/never", None).is_err());
    }
}
