//! Merges the same server found in several places into one candidate.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Map, Value, json};

use super::{FoundEntry, Target, naming, plain_secrets};
use crate::model::{
    characters,
    remark::{NameFault, RemarkKind},
};

/// Where a server was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The client's id.
    pub client: String,
    /// The file; empty for a pasted text.
    pub path: PathBuf,
    /// `user`, `project` and so on.
    pub scope: String,
    /// Its name there.
    pub name: String,
}

/// A server, found in one or more places.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name after the import.
    pub name: String,
    /// As in the first place; enabled if any place has it enabled.
    pub server: FoundEntry,
    /// All places.
    pub origins: Vec<Origin>,
    /// Its name in Satchel, if it exists already.
    pub known: Option<String>,
    /// Why its name would change, if so.
    pub renamed: Option<RemarkKind>,
}

/// Existing servers, to recognize those that are found again.
#[derive(Debug, Clone, Default)]
pub struct Existing(BTreeMap<String, Vec<String>>);

impl Existing {
    /// Adds a server by its name.
    pub fn add(&mut self, name: &str, target: &Target) {
        let identity = identity_of(&plain_secrets::without_credentials(target));
        self.0.entry(identity).or_default().push(name.to_owned());
    }

    /// The server that this one is, if any. One whose credentials are in the keychain is recognized by everything else and
    /// its name: two accounts of one service differ in their credentials only.
    pub fn known(&self, server: &FoundEntry) -> Option<&String> {
        let target = plain_secrets::without_credentials(&server.target);
        let names = self.0.get(&identity_of(&target))?;
        if target == server.target
            && let [only] = names.as_slice()
        {
            return Some(only);
        }
        let name = naming::plain(&server.name, server.words).0;
        let numbered = |known: &&String| {
            let number = known.strip_prefix(&name).and_then(|rest| rest.strip_prefix('-'));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        names.iter().find(|known| is_same(known, &name)).or_else(|| names.iter().find(numbered))
    }
}

/// What makes a server another one: its program, arguments, variables and directory, or its address and headers.
fn identity_of(target: &Target) -> String {
    let plain = plain_secrets::without_references;
    match target {
        Target::Program { command, args, env, cwd, .. } => {
            let args: Vec<String> = args.iter().map(|arg| plain(arg)).collect();
            let cwd = cwd.as_deref().map(plain);
            json!(["stdio", plain_program(command), args, plain_values(env), cwd]).to_string()
        }
        Target::Address { url, headers } => {
            let headers: BTreeMap<String, String> =
                plain_values(headers).into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
            // The transport is found out, and some programs do not write it.
            json!(["http", plain_address(&plain(url)), headers]).to_string()
        }
    }
}

/// In the order of their names.
fn plain_values(values: &Map<String, Value>) -> BTreeMap<String, String> {
    let plain = |value: &Value| plain_secrets::without_references(value.as_str().unwrap_or_default());
    values.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
}

/// The bare name of common launchers, which differ only in where they are installed.
fn plain_program(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    match name {
        "npx" | "uvx" | "docker" | "node" | "bunx" | "dnx" => name,
        _ => command,
    }
}

/// With the host in lower case and no trailing slash.
fn plain_address(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}://{}{}{query}", scheme.to_lowercase(), host.to_lowercase(), path.trim_end_matches('/'))
}

/// One candidate per server, with unique names. Two that differ in a variable, a header, the directory or their tools are
/// two servers. `taken` has the used names.
pub fn candidates(
    found: Vec<(Origin, FoundEntry)>,
    existing: &Existing,
    taken: impl Fn(&str) -> bool,
) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut by_identity: BTreeMap<String, usize> = BTreeMap::new();
    for (origin, server) in found {
        let tools = json!([server.tools_allow, server.tools_deny]);
        let identity = format!("{} {} {tools}", identity_of(&server.target), credentials_of(&server.target));
        if let Some(index) = by_identity.get(&identity) {
            let candidate = &mut all[*index];
            candidate.server.enabled |= server.enabled;
            candidate.origins.push(origin);
            continue;
        }
        by_identity.insert(identity, all.len());
        let known = existing.known(&server).cloned();
        let is_taken = |name: &str| taken(name) || all.iter().any(|other| is_same(&other.name, name));
        let (name, renamed) = match &known {
            Some(known) => (known.clone(), None),
            None => free_name(&server, is_taken),
        };
        all.push(Candidate { name, server, origins: vec![origin], known, renamed });
    }
    all
}

/// The texts that comparing replaces, as they are written: two secrets are two accounts.
fn credentials_of(target: &Target) -> String {
    let sorted = |values: &Map<String, Value>| -> BTreeMap<String, Value> {
        values.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect()
    };
    match target {
        Target::Program { args, env, .. } => json!([args, sorted(env)]).to_string(),
        Target::Address { url, headers } => json!([plain_address(url), sorted(headers)]).to_string(),
    }
}

/// Compares names without case, because people may not notice the difference.
pub fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase() || characters::skeleton(one) == characters::skeleton(other)
}

/// A valid, unused name, and why it differs from the server's own.
fn free_name(server: &FoundEntry, taken: impl Fn(&str) -> bool) -> (String, Option<RemarkKind>) {
    let (mut name, mut why) = naming::plain(&server.name, server.words);
    if taken(&name) {
        why.push(NameFault::Taken(name.clone()));
        let mut numbered = (2..).map(|number| format!("{name}-{number}"));
        name = numbered.find(|name| !taken(name)).expect("numbers do not end");
    }
    let renamed = naming::renamed(&server.name, &name, why);
    (name, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{edit::Format, import::Source, platform::Platform, table};

    fn found(client: &str, text: &str) -> Vec<(Origin, FoundEntry)> {
        let client = table::client(client).unwrap();
        let source =
            Source { client, path: "x".into(), scope: "user".into(), key: client.key.clone(), like: client };
        let contents = source.contents(&Format::Json.read(text).unwrap(), Platform::Linux);
        let origin = |name: &str| Origin {
            client: client.id.clone(),
            path: "x".into(),
            scope: "user".into(),
            name: name.to_owned(),
        };
        contents.servers.into_iter().map(|server| (origin(&server.name), server)).collect()
    }

    #[test]
    fn a_server_whose_credential_is_in_the_keychain_is_recognized_by_its_name_and_the_rest() {
        let file = r#"{"mcpServers": {"db": {"command": "npx", "args": ["pg", "postgres://me:pw@h/a"]},
            "other": {"command": "npx", "args": ["pg", "postgres://me:else@h/a"]},
            "web": {"url": "https://h/mcp?key=abc"}}}"#;
        let reference = |text: &str| text.replace("REF", "${secret:x}");
        let mut existing = Existing::default();
        let mine = vec!["pg".to_owned(), reference("postgres://me:REF@h/a")];
        let (env, cwd, env_file) = (Map::new(), None, None);
        existing.add("db", &Target::Program { command: "npx".into(), args: mine, env, cwd, env_file });
        let url = reference("https://h/mcp?key=REF");
        existing.add("web", &Target::Address { url, headers: Map::new() });
        let merged = candidates(found("cursor", file), &existing, |name| name != "other");
        let known: Vec<(&str, Option<&str>)> =
            merged.iter().map(|one| (one.name.as_str(), one.known.as_deref())).collect();
        assert_eq!(known, [("db", Some("db")), ("other", None), ("web", Some("web"))]);
    }

    #[test]
    fn one_server_in_several_places_is_shown_once_and_two_of_one_name_twice() {
        let mut all = found(
            "cursor",
            r#"{"mcpServers": {"gh": {"url": "https://API.example.com/mcp/", "disabled": true}, "fs": {"command": "npx", "args": ["fs"]}}}"#,
        );
        all.extend(found(
            "claude-desktop",
            r#"{"mcpServers": {"files": {"command": "/opt/bin/npx", "args": ["fs"]}, "fs": {"command": "uvx"}}}"#,
        ));
        all.extend(found(
            "vscode",
            r#"{"servers": {"github": {"type": "http", "url": "https://api.example.com/mcp"}, "a/b": {"command": "x"}}}"#,
        ));
        let mut existing = Existing::default();
        let (args, env, cwd, env_file) = (vec![], Map::new(), None, None);
        existing.add("mine", &Target::Program { command: "uvx".into(), args, env, cwd, env_file });
        let merged = candidates(all, &existing, |name| name == "a/b");
        let names: Vec<(&str, usize, Option<&str>)> =
            merged.iter().map(|one| (one.name.as_str(), one.origins.len(), one.known.as_deref())).collect();
        assert_eq!(names, [("gh", 2, None), ("fs", 2, None), ("mine", 1, Some("mine")), ("a/b-2", 1, None)]);
        let told = |index: usize| merged[index].renamed.as_ref().map(ToString::to_string);
        assert_eq!((told(0), told(2)), (None, None));
        let why = "the name \"a/b\" was changed to \"a/b-2\" because another server is called \"a/b\", ignoring case";
        assert_eq!(told(3).as_deref(), Some(why));
        assert!(merged[0].server.enabled, "it is on in one of the places");
    }

    #[test]
    fn two_that_differ_are_two_servers() {
        for (one, other) in [
            (r#""env": {"DB": "test"}"#, r#""env": {"DB": "production"}"#),
            (r#""env": {"DB": "test"}"#, r#""args": ["pg"]"#),
            (r#""env": {"API_KEY": "sk-work-8f2k3j4h5g6"}"#, r#""env": {"API_KEY": "sk-home-9f8e7d6c5b4"}"#),
            (r#""cwd": "/a""#, r#""cwd": "/b""#),
            (r#""includeTools": ["read"]"#, r#""args": ["pg"]"#),
        ] {
            let entry = |rest: &str| match rest.contains("args") {
                true => format!(r#"{{"command": "npx", {rest}}}"#),
                false => format!(r#"{{"command": "npx", "args": ["pg"], {rest}}}"#),
            };
            let file = format!(r#"{{"mcpServers": {{"db": {}, "db2": {}}}}}"#, entry(one), entry(other));
            let mut all = found("cursor", &file);
            assert_eq!(candidates(all.clone(), &Existing::default(), |_| false).len(), 2, "{file}");
            all[1].1 = all[0].1.clone();
            assert_eq!(candidates(all, &Existing::default(), |_| false).len(), 1, "{file}");
        }
        let file = r#"{"mcpServers": {"a": {"url": "https://h/mcp", "headers": {"X-Team": "red"}},
            "b": {"url": "https://h/mcp", "headers": {"X-Team": "blue"}}, "c": {"url": "https://h/mcp/", "headers": {"x-team": "blue"}}}}"#;
        assert_eq!(candidates(found("cursor", file), &Existing::default(), |_| false).len(), 2);
        // What is here with other variables is not the server that was found.
        let mut existing = Existing::default();
        let env = Map::from_iter([("DB".to_owned(), "test".into())]);
        let (args, cwd, env_file) = (vec!["pg".to_owned()], None, None);
        existing.add("db", &Target::Program { command: "npx".into(), args, env, cwd, env_file });
        let file = r#"{"mcpServers": {"db": {"command": "npx", "args": ["pg"], "env": {"DB": "production"}},
            "same": {"command": "/usr/bin/npx", "args": ["pg"], "env": {"DB": "test"}}}}"#;
        let known = candidates(found("cursor", file), &existing, |name| name == "db");
        let known: Vec<_> = known.iter().map(|one| (one.name.as_str(), one.known.as_deref())).collect();
        assert_eq!(known, [("db-2", None), ("db", Some("db"))]);
    }
}
