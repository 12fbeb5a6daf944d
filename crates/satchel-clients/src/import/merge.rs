//! Merges the same server found in several places into one candidate.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;

use super::{FoundEntry, Target, TransportKind, naming, plain_secrets};
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

/// The identity of a server: its program with arguments, or its address.
pub fn identity(server: &FoundEntry) -> String {
    identity_of(&server.target, server.transport)
}

fn identity_of(target: &Target, transport: TransportKind) -> String {
    match target {
        Target::Program { command, args, .. } => identity_of_program(command, args),
        Target::Address { url, .. } => identity_of_address(url, transport == TransportKind::Sse),
    }
}

/// The existing server that this one is, if any. One whose credentials are in the keychain is recognized by everything
/// else and its name: two accounts of one service differ in their credentials only.
pub fn known<'a>(server: &FoundEntry, existing: &'a BTreeMap<String, String>) -> Option<&'a String> {
    let without = || identity_of(&plain_secrets::without_credentials(&server.target), server.transport);
    let name = || naming::plain(&server.name, server.words).0;
    existing
        .get(&identity(server))
        .or_else(|| existing.get(&without()).filter(|existing| is_same(existing, &name())))
}

/// See [`identity`].
pub fn identity_of_program(command: &str, args: &[String]) -> String {
    let args = args.iter().map(|arg| plain_secrets::without_references(arg));
    let words: Vec<String> = std::iter::once(plain_program(command).to_owned()).chain(args).collect();
    format!("stdio {}", Value::from(words))
}

/// See [`identity`].
pub fn identity_of_address(url: &str, sse: bool) -> String {
    let url = plain_address(&plain_secrets::without_references(url));
    format!("{} {url}", if sse { "sse" } else { "http" })
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

/// One candidate per server, with unique names. `known` has the existing servers by identity; `taken` has the used
/// names.
pub fn candidates(
    found: Vec<(Origin, FoundEntry)>,
    known: &BTreeMap<String, String>,
    taken: impl Fn(&str) -> bool,
) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut by_identity: BTreeMap<String, usize> = BTreeMap::new();
    for (origin, server) in found {
        let identity = identity(&server);
        if let Some(index) = by_identity.get(&identity) {
            let candidate = &mut all[*index];
            candidate.server.enabled |= server.enabled;
            complete(&mut candidate.server, &server);
            candidate.origins.push(origin);
            continue;
        }
        by_identity.insert(identity, all.len());
        let known = self::known(&server, known).cloned();
        let is_taken = |name: &str| taken(name) || all.iter().any(|other| is_same(&other.name, name));
        let (name, renamed) = match &known {
            Some(known) => (known.clone(), None),
            None => free_name(&server, is_taken),
        };
        all.push(Candidate { name, server, origins: vec![origin], known, renamed });
    }
    all
}

/// Fills gaps from the second place.
fn complete(server: &mut FoundEntry, other: &FoundEntry) {
    let add = |mine: &mut serde_json::Map<String, Value>, theirs: &serde_json::Map<String, Value>| {
        for (key, value) in theirs {
            mine.entry(key.clone()).or_insert_with(|| value.clone());
        }
    };
    match (&mut server.target, &other.target) {
        (Target::Program { env, cwd, .. }, Target::Program { env: theirs, cwd: their_cwd, .. }) => {
            add(env, theirs);
            if cwd.is_none() {
                cwd.clone_from(their_cwd);
            }
        }
        (Target::Address { headers, .. }, Target::Address { headers: theirs, .. }) => add(headers, theirs),
        (Target::Program { .. }, Target::Address { .. })
        | (Target::Address { .. }, Target::Program { .. }) => {}
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
        let mine = ["pg".to_owned(), reference("postgres://me:REF@h/a")];
        let existing = [
            (identity_of_program("npx", &mine), "db".to_owned()),
            (identity_of_address(&reference("https://h/mcp?key=REF"), false), "web".to_owned()),
        ];
        let merged = candidates(found("cursor", file), &existing.into(), |name| name != "other");
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
            r#"{"mcpServers": {"files": {"command": "/opt/bin/npx", "args": ["fs"], "env": {"A": "1"}}, "fs": {"command": "uvx"}}}"#,
        ));
        all.extend(found(
            "vscode",
            r#"{"servers": {"github": {"type": "http", "url": "https://api.example.com/mcp"}, "a/b": {"command": "x"}}}"#,
        ));
        let known = [("stdio [\"uvx\"]".to_owned(), "mine".to_owned())].into();
        let merged = candidates(all, &known, |name| name == "a/b");
        let names: Vec<(&str, usize, Option<&str>)> =
            merged.iter().map(|one| (one.name.as_str(), one.origins.len(), one.known.as_deref())).collect();
        assert_eq!(names, [("gh", 2, None), ("fs", 2, None), ("mine", 1, Some("mine")), ("a/b-2", 1, None)]);
        let told = |index: usize| merged[index].renamed.as_ref().map(ToString::to_string);
        assert_eq!((told(0), told(2)), (None, None));
        let why = "the name \"a/b\" was changed to \"a/b-2\" because another server is called \"a/b\", ignoring case";
        assert_eq!(told(3).as_deref(), Some(why));
        assert!(merged[0].server.enabled, "it is on in one of the places");
        match &merged[1].server.target {
            Target::Program { env, .. } => assert_eq!(env["A"], "1"),
            other => panic!("{other:?}"),
        }
    }
}
