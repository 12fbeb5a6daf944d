//! Profiles: what each one allows, and which one applies to a client. Pure.
//!
//! A profile only narrows: what a server runs, and what was approved of it, is decided elsewhere and before. Other hands may
//! narrow what clients see; what shows more waits for a person.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use satchel_mcp::{Raw, object::all_fields};

use super::{ConfigError, rules::matches};
use crate::model::{
    characters,
    name::{TOOL_SEPARATOR, in_path},
    profiles::Profile,
};

/// Key of the profiles.
pub const PROFILES: &str = "profiles";
/// Key of the name of the active profile.
pub const ACTIVE_PROFILE: &str = "activeProfile";
/// Key of the folder bindings: a profile for each absolute path.
pub const FOLDER_PROFILES: &str = "folderProfiles";
/// Maximum length of a name, in characters.
const LONGEST: usize = 64;
/// Interfaces use this name for having no profile.
const EVERYTHING: &str = "everything";

/// The profiles of a configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profiles {
    all: BTreeMap<String, Arc<Filter>>,
    faults: BTreeMap<String, ConfigError>,
    active: Option<String>,
    folders: BTreeMap<String, Result<String, ConfigError>>,
    /// The block of folders has a fault, so that any folder may have had a profile.
    folders_unread: bool,
}

/// The facts that determine which profiles apply to a client.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looking<'a> {
    /// The profile that a person bound the client to.
    pub bound: Option<&'a str>,
    /// The profile named in the client's endpoint address.
    pub named: Option<&'a str>,
    /// The folders that the client reports as roots.
    pub folders: &'a [String],
}

/// The profiles that apply to a client; something is visible only if all of them let it through.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lens(Vec<Glass>);

/// What makes a profile apply to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChosenBy {
    Binding,
    Address,
    Folder,
    Active,
}

#[derive(Debug, Clone)]
struct Glass {
    name: String,
    chosen_by: ChosenBy,
    /// The profile, or why it is missing or invalid, in which case nothing passes.
    filter: Result<Arc<Filter>, String>,
}

/// Equal if the same passes, whatever made the profile apply.
impl PartialEq for Glass {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.filter) == (&other.name, &other.filter)
    }
}

/// A valid profile, prepared for lookups, which every request of a client makes for each server.
#[derive(Debug, PartialEq, Eq)]
pub struct Filter {
    profile: Profile,
    servers: BTreeSet<String>,
}

impl Profiles {
    /// The valid profiles.
    pub fn all(&self) -> &BTreeMap<String, Arc<Filter>> {
        &self.all
    }

    /// The invalid profiles, each with its fault.
    pub fn faults(&self) -> &BTreeMap<String, ConfigError> {
        &self.faults
    }

    /// The active profile, which applies to clients without their own; `None` for none.
    pub fn active(&self) -> Option<&str> {
        self.active.as_deref()
    }

    /// The folder bindings, or why one is ignored.
    pub fn folders(&self) -> &BTreeMap<String, Result<String, ConfigError>> {
        &self.folders
    }

    /// Does a profile of this name exist, valid or not?
    pub fn has(&self, name: &str) -> bool {
        self.all.contains_key(name) || self.faults.contains_key(name)
    }

    /// The profiles that apply to a client. A client cannot escape the profile that a person bound it to, neither by
    /// its address nor by its roots; roots count only for unbound clients.
    pub fn lens(&self, who: &Looking<'_>) -> Lens {
        let by = |name, chosen_by| Some((name, chosen_by));
        let usual = || {
            let folder = self.of_folders(who.folders).map(|name| (name, ChosenBy::Folder));
            folder.or_else(|| Some((self.active()?, ChosenBy::Active)))
        };
        let (first, second) = match (who.bound, who.named) {
            (Some(bound), named) => (
                by(bound, ChosenBy::Binding),
                named.filter(|named| *named != bound).map(|named| (named, ChosenBy::Address)),
            ),
            (None, Some(named)) => (by(named, ChosenBy::Address), None),
            (None, None) => (usual(), None),
        };
        Lens(first.into_iter().chain(second).map(|(name, chosen_by)| self.glass(name, chosen_by)).collect())
    }

    /// Can anyone use the server, given the profiles that clients are bound to? Clients in bound folders count.
    pub fn may_use<'a>(&'a self, server: &str, bound: impl Iterator<Item = &'a str>) -> bool {
        let Some(active) = self.active() else { return true };
        let folders = self.folders.values().filter_map(|profile| profile.as_deref().ok());
        let mut named = bound.chain(folders).chain([active]);
        named.any(|name| self.all.get(name).is_some_and(|profile| profile.lets_in(server)))
    }

    /// Would `next` let any client see more?
    pub(super) fn are_widened_by(&self, next: &Self) -> bool {
        let is_wider = |(name, filter): (&String, &Arc<Filter>)| match self.all.get(name) {
            Some(known) => !known.has_all_of(filter.profile()),
            None => self.faults.contains_key(name),
        };
        let is_unbound = |(folder, profile): (&String, &Result<String, _>)| {
            next.folders.get(folder).and_then(|next| next.as_ref().ok()) != profile.as_ref().ok()
        };
        next.all.iter().any(is_wider)
            || (self.active.is_some() && self.active != next.active)
            || self.folders.iter().any(is_unbound)
    }

    /// These, except where they would let a client see more than the accepted ones.
    pub(super) fn under(mut self, accepted: &Self) -> Self {
        for (name, filter) in &mut self.all {
            let known = accepted.all.get(name).filter(|known| !known.has_all_of(filter.profile()));
            if let Some(known) = known {
                *filter = known.clone();
            }
        }
        self.active = accepted.active.clone().or(self.active);
        self.folders.extend(accepted.folders.clone());
        let used = self.active.iter().chain(self.folders.values().flatten());
        let gone = used.filter_map(|name| Some((name.clone(), accepted.all.get(name)?.clone())));
        for (name, filter) in gone.collect::<Vec<_>>() {
            if !self.has(&name) {
                self.all.insert(name, filter);
            }
        }
        self
    }

    /// The profile of the first of these folders that has one; of nested folders, the innermost.
    fn of_folders(&self, stated: &[String]) -> Option<&str> {
        if self.folders_unread && !stated.is_empty() {
            return Some("");
        }
        stated.iter().find_map(|folder| {
            let around = self.folders.iter().filter(|(bound, _)| is_within(folder, bound));
            let (_, profile) = around.max_by_key(|(bound, _)| parts(bound).len())?;
            // An invalid binding still shows that not everything is meant to be visible.
            Some(profile.as_deref().unwrap_or_default())
        })
    }

    fn glass(&self, name: &str, chosen_by: ChosenBy) -> Glass {
        let filter = self.all.get(name).cloned().ok_or_else(|| match self.faults.get(name) {
            Some(fault) => format!("the profile \"{name}\" cannot be used: {fault}"),
            None if name.is_empty() => "its folder has a profile that cannot be used".to_owned(),
            None => format!("there is no profile \"{name}\""),
        });
        Glass { name: name.to_owned(), chosen_by, filter }
    }

    /// Parses one of the three fields; `None` for any other. `at` creates an error at a piece of the text.
    pub(super) fn read(
        &mut self,
        key: &str,
        value: &Raw,
        at: &dyn Fn(&str, String) -> ConfigError,
    ) -> Result<(), ConfigError> {
        match key {
            PROFILES => self.read_all(value, at),
            FOLDER_PROFILES => self.read_folders(value, at),
            ACTIVE_PROFILE => {
                let name: Result<Option<String>, _> = serde_json::from_str(value.get());
                let wrong = |_| {
                    at(value.get(), format!("\"{ACTIVE_PROFILE}\" must be the name of a profile, or null"))
                };
                // Something was meant to be active: no profile has such a name, so nothing passes.
                self.active = Some(value.get().chars().take(LONGEST).collect());
                self.active = name.map_err(wrong)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Parses each entry independently.
    fn read_all(&mut self, block: &Raw, at: &dyn Fn(&str, String) -> ConfigError) -> Result<(), ConfigError> {
        let entries = all_fields(block.get())
            .map_err(|_| at(block.get(), format!("\"{PROFILES}\" must be an object of profiles")))?;
        for (name, entry) in entries {
            if self.all.remove(&name).is_some() || self.faults.contains_key(&name) {
                let message = format!("the profile \"{name}\" occurs twice; keep one of them");
                self.faults.insert(name, at(entry.get(), message));
                continue;
            }
            match profile_of(&name, entry.get()) {
                Ok(profile) => drop(self.all.insert(name, Arc::new(Filter::of(profile)))),
                Err(why) => drop(self.faults.insert(name, at(entry.get(), why))),
            }
        }
        Ok(())
    }

    fn read_folders(
        &mut self,
        block: &Raw,
        at: &dyn Fn(&str, String) -> ConfigError,
    ) -> Result<(), ConfigError> {
        let entries = all_fields(block.get()).map_err(|_| {
            self.folders_unread = true;
            at(block.get(), format!("\"{FOLDER_PROFILES}\" must be an object: a profile for each folder"))
        })?;
        for (folder, value) in entries {
            let profile: Result<String, _> = serde_json::from_str(value.get());
            let profile = match profile {
                _ if self.folders.contains_key(&folder) => Err("occurs twice; keep one of them"),
                _ if !is_absolute(&folder) => Err("must be an absolute path"),
                Err(_) => Err("must have the name of a profile"),
                Ok(name) => Ok(name),
            };
            let profile = profile.map_err(|why| at(value.get(), format!("the folder \"{folder}\" {why}")));
            self.folders.insert(folder, profile);
        }
        Ok(())
    }
}

impl Lens {
    /// Does any profile apply?
    pub fn narrows(&self) -> bool {
        !self.0.is_empty()
    }

    /// The names of the profiles.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|glass| glass.name.as_str())
    }

    /// Why nothing can pass, if so: the profile is missing or empty.
    pub fn is_shut(&self) -> Option<String> {
        self.0.iter().find_map(|glass| match &glass.filter {
            Err(why) => Some(why.clone()),
            Ok(filter) if filter.servers.is_empty() => {
                Some(format!("the profile \"{}\" has no servers", glass.name))
            }
            Ok(_) => None,
        })
    }

    /// What a person can do to let more pass, as the end of a sentence.
    pub fn way_out(&self) -> &'static str {
        let shut = self.0.iter().find(|glass| glass.filter.is_err());
        match shut.or(self.0.first()).map(|glass| glass.chosen_by) {
            Some(ChosenBy::Binding) => {
                "bind this client to another profile with `satchel profile bind`, or to none with `satchel profile unbind`"
            }
            Some(ChosenBy::Address) => "name another profile in the address that this client connects to",
            Some(ChosenBy::Folder) => {
                "bind its folder to another profile with `satchel profile bind --folder`, or to none with `satchel profile unbind --folder`"
            }
            Some(ChosenBy::Active) | None => {
                "choose another profile, in Satchel or with `satchel profile use`"
            }
        }
    }

    /// Why a server does not pass; `None` if it does.
    pub fn keeps_out(&self, server: &str) -> Option<String> {
        self.refusal(|filter| filter.lets_in(server))
    }

    /// Why a tool does not pass, by its own name on its server; `None` if it does.
    pub fn keeps_out_tool(&self, server: &str, tool: &str) -> Option<String> {
        self.refusal(|filter| filter.lets_through(server, tool))
    }

    fn refusal(&self, passes: impl Fn(&Filter) -> bool) -> Option<String> {
        self.0.iter().find_map(|glass| match &glass.filter {
            Err(why) => Some(why.clone()),
            Ok(filter) if passes(filter) => None,
            Ok(_) => Some(format!("it is not in the profile \"{}\"", glass.name)),
        })
    }
}

impl Filter {
    fn of(profile: Profile) -> Self {
        Self { servers: profile.servers.iter().cloned().collect(), profile }
    }

    /// The profile's content.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Does it include the server?
    pub fn lets_in(&self, server: &str) -> bool {
        self.servers.contains(server)
    }

    /// Does it include this tool of the server?
    pub fn lets_through(&self, server: &str, tool: &str) -> bool {
        let paths = [in_path(server), server.into()].map(|server| format!("{server}{TOOL_SEPARATOR}{tool}"));
        let is_meant = |pattern: &String| paths.iter().any(|path| matches(pattern, path));
        let Profile { only, except, .. } = &self.profile;
        let mut only = only.iter().filter(|pattern| may_be_for(pattern, server)).peekable();
        self.lets_in(server) && !except.iter().any(is_meant) && (only.peek().is_none() || only.any(is_meant))
    }

    /// Does it include everything that `other` does? Patterns are compared conservatively.
    pub fn has_all_of(&self, other: &Profile) -> bool {
        let left_out: BTreeSet<&String> = other.except.iter().collect();
        let Profile { only, except, .. } = &self.profile;
        other.servers.iter().all(|server| self.lets_in(server))
            && except.iter().all(|pattern| left_out.contains(pattern))
            && (other.only == *only || only.is_empty())
    }
}

impl Profile {
    /// Checks the profile and its name.
    ///
    /// # Errors
    /// A sentence about the first fault.
    pub fn check(&self, name: &str) -> Result<(), String> {
        check_name(name)?;
        let is_path = |pattern: &&String| pattern.contains([TOOL_SEPARATOR, '*']);
        match self.only.iter().chain(&self.except).find(|pattern| !is_path(pattern)) {
            Some(pattern) => Err(format!(
                "\"{pattern}\" in the profile \"{name}\" must be a path of tools, such as \"server:get_*\""
            )),
            None => Ok(()),
        }
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.trim() != name {
        return Err("a profile needs a name without leading or trailing whitespace".to_owned());
    }
    if name.chars().count() > LONGEST || name.contains(|c: char| c.is_control() || c == '/' || c == '\\') {
        return Err(format!(
            "the name of a profile has at most {LONGEST} characters, and no slash or control character"
        ));
    }
    if characters::hides(name) || !characters::posing(name).is_empty() {
        return Err(format!(
            "the name \"{}\" has characters that are not seen or look like others; write it without",
            characters::spelled(name)
        ));
    }
    if name.eq_ignore_ascii_case(EVERYTHING) {
        return Err(format!("\"{name}\" is reserved; choose another name"));
    }
    Ok(())
}

fn profile_of(name: &str, entry: &str) -> Result<Profile, String> {
    let profile: Profile = serde_json::from_str(entry).map_err(|error| {
        let text = error.to_string();
        format!("the profile \"{name}\" cannot be used: {}", text.split(" at line").next().unwrap_or(&text))
    })?;
    profile.check(name)?;
    Ok(profile)
}

/// Could the pattern match a tool of this server?
fn may_be_for(pattern: &str, server: &str) -> bool {
    let of_path = pattern.split_once(TOOL_SEPARATOR).is_none_or(|(of, _)| matches(of, &in_path(server)));
    let as_written = pattern.strip_prefix(server).is_some_and(|rest| rest.starts_with(TOOL_SEPARATOR));
    of_path || as_written
}

/// Is it absolute on any system? A client on Windows reports its folders in Windows form.
fn is_absolute(folder: &str) -> bool {
    folder.starts_with('/') || folder.starts_with("\\\\") || has_drive(folder)
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\')
}

fn is_within(folder: &str, bound: &str) -> bool {
    parts(folder).starts_with(&parts(bound))
}

/// The components of a folder's path. Paths with drive letters and backslashes are compared without case.
fn parts(path: &str) -> Vec<String> {
    let windows = has_drive(path) || path.starts_with("\\\\");
    let path = if windows { path.to_lowercase().replace('\\', "/") } else { path.to_owned() };
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            // `..` must not let a path escape its folder.
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;

    fn profiles(value: &serde_json::Value) -> Profiles {
        Config::parse(&value.to_string()).unwrap().profiles().clone()
    }

    fn profile(value: serde_json::Value) -> Filter {
        Filter::of(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_profile_lets_through_what_its_servers_have_but_for_what_is_named() {
        let plain = profile(json!({ "servers": ["git", "notes"] }));
        let some = profile(json!({ "servers": ["git", "notes"], "only": ["git:get_*", "git:log"] }));
        let less = profile(json!({ "servers": ["git", "a:b"], "except": ["*:delete_*", "a:b:pay"] }));
        let both = profile(json!({ "servers": ["git"], "only": ["*:get_*"], "except": ["git:get_secret"] }));
        for (profile, server, tool, passes) in [
            (&plain, "git", "push", true),
            (&plain, "bank", "pay", false),
            (&some, "git", "get_file", true),
            (&some, "git", "log", true),
            (&some, "git", "push", false),
            (&some, "notes", "anything", true),
            (&less, "git", "push", true),
            (&less, "git", "delete_branch", false),
            (&less, "a:b", "pay", false),
            (&less, "a:b", "read", true),
            (&both, "git", "get_file", true),
            (&both, "git", "get_secret", false),
            (&both, "git", "push", false),
            (&Filter::of(Profile::default()), "git", "push", false),
        ] {
            assert_eq!(profile.lets_through(server, tool), passes, "{profile:?} {server} {tool}");
        }
        // A pattern does not include a server.
        assert!(!profile(json!({ "only": ["git:*"] })).lets_through("git", "push"));
    }

    #[test]
    fn the_client_s_own_profile_counts_before_its_address_its_folders_and_the_active_one() {
        let all = profiles(&json!({
            "profiles": { "a": { "servers": ["x"] }, "b": { "servers": ["x", "y"] }, "c": { "servers": ["z"] } },
            "activeProfile": "c",
            "folderProfiles": { "/work": "a", "/work/web": "b", "C:\\Code": "a" },
        }));
        let folders = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let names = |bound, named, stated: &[&str]| {
            let folders = folders(stated);
            all.lens(&Looking { bound, named, folders: &folders }).names().collect::<Vec<_>>().join("+")
        };
        for (bound, named, stated, expected) in [
            (None, None, &[][..], "c"),
            (None, None, &["/other", "/workshop"], "c"),
            (None, None, &["/work/web/ui"], "b"),
            (None, None, &["/work/web/../cli"], "a"),
            (None, None, &["/other", "/work"], "a"),
            (None, None, &["c:/code/project"], "a"),
            (None, Some("b"), &["/work"], "b"),
            (Some("a"), None, &["/work/web"], "a"),
            (Some("a"), Some("b"), &[], "a+b"),
            (Some("a"), Some("a"), &[], "a"),
        ] {
            assert_eq!(names(bound, named, stated), expected, "{bound:?} {named:?} {stated:?}");
        }
        let lens = all.lens(&Looking { bound: Some("a"), named: Some("b"), folders: &[] });
        assert_eq!((lens.keeps_out("x"), lens.keeps_out("y").is_some()), (None, true));
    }

    #[test]
    fn a_profile_that_is_not_there_lets_nothing_through_and_says_so() {
        let all = profiles(&json!({
            "profiles": { "empty": {}, "bad": { "servers": 7 } },
            "folderProfiles": { "/lost": 7 },
        }));
        for (name, said) in [
            ("gone", "there is no profile \"gone\""),
            ("bad", "the profile \"bad\" cannot be used: line 1"),
            ("empty", "the profile \"empty\" has no servers"),
        ] {
            let lens = all.lens(&Looking { named: Some(name), ..Looking::default() });
            assert!(lens.narrows() && lens.keeps_out("x").is_some(), "{name}");
            assert!(lens.is_shut().unwrap().contains(said), "{:?}", lens.is_shut());
        }
        let folders = ["/lost/here".to_owned()];
        let lens = all.lens(&Looking { folders: &folders, ..Looking::default() });
        assert!(lens.is_shut().is_some() && lens.keeps_out("x").is_some());
        let free = Profiles::default().lens(&Looking::default());
        assert!(!free.narrows() && free.keeps_out_tool("x", "y").is_none() && free.is_shut().is_none());
    }

    #[test]
    fn one_bad_entry_hides_no_good_one_and_stays_where_it_is() {
        let text = r#"{"profiles": {
            "good": {"servers": ["a"]}, "typo": {"server": ["a"]}, "Everything": {}, "a/b": {},
            "pattern": {"servers": ["a"], "only": ["get"]}, "twice": {}, "twice": {}, "ü": {}},
            "folderProfiles": {"/a": "good", "relative": "good", "/b": 3}, "mcpServers": {}}"#;
        let config = Config::parse(text).unwrap();
        let all = config.profiles();
        assert_eq!(all.all().keys().collect::<Vec<_>>(), ["good", "ü"]);
        let faults: Vec<_> = all.faults().iter().map(|(name, fault)| (name.as_str(), fault.line)).collect();
        assert_eq!(faults, [("Everything", 2), ("a/b", 2), ("pattern", 3), ("twice", 3), ("typo", 2)]);
        let folders: Vec<_> = all.folders().values().map(Result::is_ok).collect();
        assert_eq!(folders, [true, false, false]);
        for wrong in [r#"{"profiles": []}"#, r#"{"activeProfile": 7}"#, r#"{"folderProfiles": "x"}"#] {
            assert_eq!(Config::parse(wrong).unwrap().setting_faults().len(), 1, "{wrong}");
        }
        assert_eq!(Config::parse(r#"{"activeProfile": null}"#).unwrap().profiles().active(), None);
    }

    #[test]
    fn a_server_in_no_active_profile_is_unused() {
        let mut value = json!({
            "profiles": { "a": { "servers": ["x"] }, "b": { "servers": ["y"] }, "c": { "servers": ["z"] } },
            "folderProfiles": { "/work": "b" },
        });
        let used = |value: &serde_json::Value, bound: &[&str]| {
            let all = profiles(value);
            let used =
                ["x", "y", "z"].into_iter().filter(|server| all.may_use(server, bound.iter().copied()));
            used.collect::<String>()
        };
        assert_eq!(used(&value, &[]), "xyz", "without an active profile everything is in use");
        value["activeProfile"] = json!("a");
        assert_eq!(used(&value, &[]), "xy");
        assert_eq!(used(&value, &["c", "gone"]), "xyz");
        value["activeProfile"] = json!("gone");
        assert_eq!(used(&value, &[]), "y");
    }

    #[test]
    fn a_profile_is_within_another_that_lets_all_of_it_through() {
        let wide = profile(json!({ "servers": ["a", "b"], "except": ["a:x"] }));
        for (value, within) in [
            (json!({ "servers": ["a"], "except": ["a:x"] }), true),
            (json!({ "servers": ["a"], "except": ["a:x", "a:y"], "only": ["a:*"] }), true),
            (json!({ "servers": ["a"] }), false),
            (json!({ "servers": ["c"], "except": ["a:x"] }), false),
        ] {
            assert_eq!(wide.has_all_of(profile(value.clone()).profile()), within, "{value}");
        }
    }
}
