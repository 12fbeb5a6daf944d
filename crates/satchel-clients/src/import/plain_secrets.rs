//! Finds plain-text credentials in an entry and replaces them with references once they are in the keychain.

use std::{collections::BTreeSet, ops::Range};

use satchel_entry::{
    credential::{self, CredentialSign, FieldKind, after_scheme, in_arguments},
    placeholder::{PROJECT_FOLDER, Placeholder, is_folder_of_editor},
    template::{Scanned, literal, scan, to_secret},
};
use serde_json::{Map, Value, json};

use super::{FoundEntry, Target, TransportKind, Words, omitted::is_kept};
use crate::document::fingerprint;

/// In place of any credential, where servers are compared.
const ANY: &str = "${secret}";

/// The locations of plain-text credentials, for example `env.API_KEY` or `args[3]`.
pub(super) fn plain(target: &Target) -> Vec<String> {
    let mut fields: Vec<String> = spots(target).into_iter().map(|spot| spot.field).collect();
    fields.dedup();
    fields
}

struct FieldSpot {
    field: String,
    /// What the credential belongs to, for its name.
    label: String,
    at: FieldPath,
}

enum FieldPath {
    Env(String),
    /// A part of an argument, in bytes.
    Arg(usize, Range<usize>),
    Header(String),
    /// A part of the address, in bytes.
    Url(Range<usize>),
    /// The whole address.
    Address,
}

fn spots(target: &Target) -> Vec<FieldSpot> {
    match target {
        Target::Program { args, env, .. } => {
            let variables = env.iter().filter(|(name, value)| is_one(name, value, FieldKind::Variable));
            let variables = variables.map(|(name, _)| FieldSpot {
                field: format!("env.{name}"),
                label: name.clone(),
                at: FieldPath::Env(name.clone()),
            });
            variables.chain(arguments(args)).collect()
        }
        Target::Address { url, headers } => {
            let headers = headers.iter().filter(|(name, value)| is_one(name, value, FieldKind::Header));
            let headers = headers.map(|(name, _)| FieldSpot {
                field: format!("headers.{name}"),
                label: name.clone(),
                at: FieldPath::Header(name.clone()),
            });
            headers.chain(in_address(url)).collect()
        }
    }
}

fn is_one(name: &str, value: &Value, place: FieldKind) -> bool {
    value.as_str().is_some_and(|text| credential::of(name, text, place).is_credential())
}

/// Is the value a plain-text credential?
pub(super) fn is_secret(name: &str, value: &Value) -> bool {
    is_one(name, value, FieldKind::Field)
}

/// Does it contain a plain-text credential, judged by field names?
pub(super) fn holds_credential(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| is_secret(name, value) || holds_credential(value))
        }
        Value::Array(items) => items.iter().any(holds_credential),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Every plain-text credential in a document, judged by names of fields, flags and parts of addresses.
pub fn credentials_in(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    gather(value, &mut found);
    found
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let text = value.as_str().unwrap_or_default();
                found.extend(parts(text, credential::parts(name, text, FieldKind::Field)));
                gather(value, found);
            }
        }
        Value::Array(items) => {
            let args: Vec<String> =
                items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect();
            found.extend(in_arguments(&args).into_iter().map(|one| args[one.at][one.range].to_owned()));
            items.iter().for_each(|item| gather(item, found));
        }
        Value::String(text) => found.extend(parts(text, credential::parts("", text, FieldKind::Field))),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn parts(text: &str, parts: Vec<credential::CredentialPart>) -> impl Iterator<Item = String> {
    parts.into_iter().map(|part| text[part.range].to_owned())
}

fn after_flag(arg: &str) -> &str {
    match arg.strip_prefix('-').and_then(|flag| flag.split_once('=')) {
        Some((_, value)) => value,
        None => arg,
    }
}

fn arguments(args: &[String]) -> impl Iterator<Item = FieldSpot> {
    in_arguments(args).into_iter().map(|one| FieldSpot {
        field: format!("args[{}]", one.at),
        label: one.label,
        at: FieldPath::Arg(one.at, one.range),
    })
}

fn in_address(url: &str) -> impl Iterator<Item = FieldSpot> {
    credential::parts("url", url, FieldKind::Field).into_iter().map(|part| {
        let label = part.label.unwrap_or_else(|| "url".into());
        let field = match part.evidence {
            CredentialSign::Password => "url.userinfo".to_owned(),
            _ if label == "path" => "url.path".to_owned(),
            _ => format!("url.query.{label}"),
        };
        FieldSpot { field, label, at: FieldPath::Url(part.range) }
    })
}

/// These, and those declared as credentials despite their names.
fn all_spots(target: &Target, declared: &[String], words: Words) -> Vec<FieldSpot> {
    let mut all = spots(target);
    if words == Words::Described {
        // A description says that the whole argument is one: what it is made of stands in no file either.
        all.retain(|spot| !(matches!(spot.at, FieldPath::Arg(..)) && declared.contains(&spot.field)));
    }
    for field in declared {
        if all.iter().any(|spot| spot.field == *field) {
            continue;
        }
        let at = if field == "url" {
            all.retain(|spot| !matches!(spot.at, FieldPath::Url(_)));
            FieldPath::Address
        } else if let Some(name) = field.strip_prefix("env.") {
            FieldPath::Env(name.to_owned())
        } else if let Some(name) = field.strip_prefix("headers.") {
            FieldPath::Header(name.to_owned())
        } else if let Some(Ok(index)) =
            field.strip_prefix("args[").and_then(|rest| rest.strip_suffix(']')).map(str::parse)
        {
            let Target::Program { args, .. } = target else { continue };
            let Some(arg) = args.get(index) else { continue };
            FieldPath::Arg(index, arg.len() - after_flag(arg).len()..arg.len())
        } else {
            continue;
        };
        let label = match (&at, target) {
            (FieldPath::Arg(at, _), Target::Program { args, .. }) => {
                let flag =
                    at.checked_sub(1).and_then(|before| args.get(before)).filter(|arg| arg.starts_with('-'));
                flag.map_or_else(|| format!("argument-{at}"), |flag| flag.trim_matches(['-', '=']).to_owned())
            }
            _ => field.trim_start_matches("env.").trim_start_matches("headers.").to_owned(),
        };
        all.push(FieldSpot { field: field.clone(), label, at });
    }
    all
}

/// A credential to be stored in the keychain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Its name there.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The Satchel entry for a server, and its credentials. Inputs that a person has to supply are listed in `needs`.
pub fn into_config(server: &FoundEntry, name: &str) -> (Map<String, Value>, Vec<Moved>, Vec<String>) {
    let mut target = server.target.clone();
    let spots = all_spots(&target, &server.secret_fields, server.words);
    let moved = take_out(&mut target, labelled(spots), name);
    let mut needs = Vec::new();
    let from_strangers = Strangers {
        server: name,
        words: server.words,
        program: server.transport == TransportKind::Stdio,
        moved: &moved,
    };
    let is_program = matches!(target, Target::Program { .. });
    let mut own = |text: &str, label: &str| {
        let text = match server.words {
            Words::Own => ours(text, name, label),
            Words::Pasted => from_strangers.text(text, label),
            Words::Described => return from_strangers.text(text, label),
        };
        // What a program is does not depend on a project.
        let text = if is_program && label != "command" { in_project(&text) } else { text };
        needs.extend(placeholders_in(&text));
        text
    };
    let mut entry = Map::new();
    match target {
        Target::Program { command, args, env, cwd, env_file: _ } => {
            entry.insert("command".into(), own(&command, "command").into());
            let args = args.iter().map(|arg| own(arg, "args"));
            entry.insert(
                "args".into(),
                match server.unwrap {
                    // It fills in the entry's variables itself, so that their values stand on no command line.
                    Some(_) => args.map(|arg| left_to_program(arg, name, &env)).collect(),
                    None => args.collect(),
                },
            );
            let mut env: Map<String, Value> = env
                .iter()
                .map(|(key, value)| (key.clone(), own(value.as_str().unwrap_or_default(), key).into()))
                .collect();
            for key in &server.keychain_env {
                env.insert(key.clone(), to_secret(&secret_name(name, key)).into());
            }
            if !env.is_empty() {
                entry.insert("env".into(), Value::Object(env));
            }
            if let Some(cwd) = cwd {
                entry.insert("cwd".into(), own(&cwd, "cwd").into());
            }
        }
        Target::Address { url, headers } => {
            if server.transport == TransportKind::Sse {
                entry.insert("type".into(), "sse".into());
            }
            entry.insert("url".into(), own(&url, "url").into());
            if !headers.is_empty() {
                let headers: Map<String, Value> = headers
                    .iter()
                    .map(|(key, value)| (key.clone(), own(value.as_str().unwrap_or_default(), key).into()))
                    .collect();
                entry.insert("headers".into(), Value::Object(headers));
            }
        }
    }
    if !server.enabled || !needs.is_empty() {
        entry.insert("enabled".into(), false.into());
    }
    if let Some(ms) = server.timeout_ms {
        entry.insert("requestTimeout".into(), json!(format!("{ms}ms")));
    }
    for (key, value) in &server.unknown {
        if !entry.contains_key(key) && is_kept(server, key, value) {
            entry.insert(key.clone(), value.clone());
        }
    }
    (entry, moved, needs)
}

/// Words for the project's folder that are written without braces: of JetBrains and Zed.
const UNBRACED: [(&str, &str); 2] =
    [("$PROJECT_DIR$", "${PROJECT_DIR}"), ("$ZED_WORKTREE_ROOT", "${ZED_WORKTREE_ROOT}")];

/// The folder of the session in place of editors' words for the project's folder. `.` is no folder of a session without one.
fn in_project(text: &str) -> String {
    let text = UNBRACED.iter().fold(text.to_owned(), |text, (word, braced)| text.replace(word, braced));
    let mut out = String::with_capacity(text.len());
    for part in scan(&text, |_| true) {
        match part {
            Scanned::Text(text) => out.push_str(text),
            Scanned::Placeholder { whole, inside } => {
                let name = inside.strip_prefix("env:").unwrap_or(inside);
                let (name, default) = name.split_once(":-").unwrap_or((name, "."));
                let default =
                    if matches!(default, "." | "./") { String::new() } else { format!(":-{default}") };
                match is_folder_of_editor(name) && !out.ends_with('$') {
                    true => out.push_str(&format!("${{{PROJECT_FOLDER}{default}}}")),
                    false => out.push_str(whole),
                }
            }
        }
    }
    out
}

/// References to the entry's own variables, for the program to read.
fn left_to_program(text: String, server: &str, env: &Map<String, Value>) -> String {
    env.keys().fold(text, |text, name| {
        let plain = format!("$${{{name}}}");
        let text = text.replace(&format!("${{{name}}}"), &plain);
        let text = text.replace(&format!("${{env:{name}}}"), &plain);
        text.replace(&to_secret(&secret_name(server, name)), &plain)
    })
}

/// Replaces plain-text credentials in a Satchel entry by references. Unknown parts of the entry stay as they are.
pub fn take_credentials(entry: &mut Map<String, Value>, name: &str) -> Vec<Moved> {
    let texts = |value: Option<&Value>| match value {
        Some(Value::Array(items)) => {
            items.iter().map(|one| one.as_str().unwrap_or_default().into()).collect()
        }
        _ => vec![],
    };
    let fields = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let address = ["url", "serverUrl", "httpUrl"].into_iter().find(|key| entry.contains_key(*key));
    let mut target = match address {
        Some(key) => Target::Address {
            url: entry[key].as_str().unwrap_or_default().to_owned(),
            headers: fields(entry.get("headers")),
        },
        None => Target::Program {
            command: String::new(),
            args: texts(entry.get("args")),
            env: fields(entry.get("env")),
            cwd: None,
            env_file: None,
        },
    };
    let spots = labelled(spots(&target));
    let mut moved = take_out(&mut target, spots, name);
    if let Some(secret) = entry.get_mut("oauth").and_then(|oauth| oauth.get_mut("clientSecret"))
        && is_secret("clientSecret", secret)
        && let Some(value) = secret.as_str().map(ToOwned::to_owned)
    {
        let name = secret_name(name, "clientSecret");
        *secret = to_secret(&name).into();
        moved.push(Moved { name, value });
    }
    match target {
        Target::Program { args, env, .. } => {
            if let Some(Value::Array(items)) = entry.get_mut("args") {
                // Values that are not strings stay as they are.
                let changed = items.iter_mut().zip(args).filter(|(item, _)| item.is_string());
                changed.for_each(|(item, arg)| *item = arg.into());
            }
            if entry.contains_key("env") {
                entry.insert("env".into(), Value::Object(env));
            }
        }
        Target::Address { url, headers } => {
            if let Some(key) = address {
                entry.insert(key.into(), url.into());
            }
            if entry.contains_key("headers") {
                entry.insert("headers".into(), Value::Object(headers));
            }
        }
    }
    moved
}

/// Each with a label of its own.
fn labelled(spots: Vec<FieldSpot>) -> Vec<(FieldPath, String)> {
    let mut labels = BTreeSet::new();
    let mut labelled = Vec::new();
    for FieldSpot { label, at, .. } in spots {
        let numbered = (2..).map(|number| format!("{label}-{number}"));
        let mut wanted = std::iter::once(label.clone()).chain(numbered);
        let free = wanted.find(|label| labels.insert(label.clone())).expect("numbers do not end");
        labelled.push((at, free));
    }
    labelled
}

/// Replaces these credentials by references to names of their own, and returns them.
fn take_out(target: &mut Target, spots: Vec<(FieldPath, String)>, server: &str) -> Vec<Moved> {
    // From the end, so that parts before it stay where they were found.
    let mut moved = Vec::new();
    for (at, label) in spots.into_iter().rev() {
        let name = secret_name(server, &label);
        moved.extend(put_reference(target, &at, &name).map(|value| Moved { name, value }));
    }
    moved.reverse();
    moved
}

/// The target with the same text in place of every credential, to compare it with one whose credentials were taken out.
pub(super) fn without_credentials(target: &Target) -> Target {
    let mut target = target.clone();
    for spot in spots(&target).into_iter().rev() {
        put(&mut target, &spot.at, ANY);
    }
    target
}

/// The same of references, in other programs' files and in Satchel's configuration: what both write differently for the same
/// becomes equal.
pub(super) fn without_references(text: &str) -> String {
    let plain = scan(text, |_| true).into_iter().map(|part| match part {
        Scanned::Text(text) => text.to_owned(),
        Scanned::Placeholder { whole, inside } => match inside.split_once(':') {
            Some(("secret" | "input" | "cmd" | "file", _)) => ANY.to_owned(),
            Some(("host", id)) => of_other_program(id),
            Some(("env", name)) => format!("${{{name}}}"),
            _ => whole.to_owned(),
        },
    });
    plain.collect()
}

/// Third parties' texts, translated to Satchel's configuration.
struct Strangers<'a> {
    server: &'a str,
    words: Words,
    program: bool,
    moved: &'a [Moved],
}

impl Strangers<'_> {
    /// Text stays literal. In a pasted text, references become new secrets of this server without a value.
    fn text(&self, text: &str, label: &str) -> String {
        let (mut out, mut plain) = (String::with_capacity(text.len()), String::new());
        for part in scan(text, |_| true) {
            let read = match part {
                Scanned::Text(text) => Err(text),
                Scanned::Placeholder { whole, inside } => self.reference(inside, whole, label),
            };
            match read {
                Ok(reference) => {
                    out.push_str(&literal(&std::mem::take(&mut plain)));
                    out.push_str(&reference);
                }
                Err(text) => plain.push_str(text),
            }
        }
        out + &literal(&plain)
    }

    /// The permitted reference, or the text.
    fn reference<'a>(&self, inside: &'a str, whole: &'a str, label: &str) -> Result<String, &'a str> {
        // Inserted by Satchel a moment ago.
        if inside
            .strip_prefix("secret:")
            .is_some_and(|name| self.moved.iter().any(|moved| moved.name == name))
        {
            return Ok(whole.to_owned());
        }
        if self.words == Words::Described {
            return Err(whole);
        }
        if let Some((_, default)) = inside.split_once(":-") {
            return Err(default);
        }
        let (kind, id) = inside.split_once(':').unwrap_or(("env", inside));
        let is_home = matches!(id, "HOME" | "USERPROFILE");
        match kind {
            "host" => Ok(of_other_program(id)),
            "env" if is_home && self.program => Ok("${HOME}".to_owned()),
            "cmd" | "file" => Ok(to_secret(&secret_name(self.server, label))),
            "env" | "input" | "secret" if is_name(id) => Ok(to_secret(&secret_name(self.server, id))),
            _ => Err(whole),
        }
    }
}

/// A placeholder of an editor or a bundle, in the configuration.
fn of_other_program(id: &str) -> String {
    match Placeholder::of(id) {
        Some(Placeholder::Home) => "${HOME}".to_owned(),
        Some(Placeholder::Separator) => std::path::MAIN_SEPARATOR.to_string(),
        _ => format!("${{{id}}}"),
    }
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

/// The placeholders of other programs in a text of the configuration. Only a person can say what they are here.
fn placeholders_in(text: &str) -> Vec<String> {
    let unknown = scan(text, |_| true).into_iter().filter_map(|part| match part {
        Scanned::Placeholder { whole, inside } => {
            Placeholder::of(inside)?.meaning().map(|_| whole.to_owned())
        }
        Scanned::Text(_) => None,
    });
    unknown.collect()
}

/// Placeholders in Satchel's form. What only the other program can look up becomes a secret to set.
fn ours(text: &str, server: &str, label: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in scan(text, |_| true) {
        let (whole, inside) = match part {
            Scanned::Text(text) => {
                out.push_str(text);
                continue;
            }
            Scanned::Placeholder { whole, inside } => (whole, inside),
        };
        match inside.split_once(':') {
            Some(("input" | "secret", id)) => out.push_str(&to_secret(&secret_name("", id))),
            Some(("cmd" | "file", _)) => out.push_str(&to_secret(&secret_name(server, label))),
            Some(("host", id)) => out.push_str(&of_other_program(id)),
            _ => out.push_str(whole),
        }
    }
    out
}

/// The name of a server's credential: letters, digits, `_`, `-` and `.`.
pub fn secret_name(server: &str, label: &str) -> String {
    let whole = if server.is_empty() { label.to_owned() } else { format!("{server}.{label}") };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = whole.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    // Different names must not become equal by dropping invalid characters.
    match name == whole {
        true => name,
        false => format!("{name}-{}", &fingerprint(whole.as_bytes())[..6]),
    }
}

/// Replaces the credential by a reference and returns it.
fn put_reference(target: &mut Target, at: &FieldPath, secret: &str) -> Option<String> {
    put(target, at, &to_secret(secret))
}

/// Replaces the credential by a text and returns it.
fn put(target: &mut Target, at: &FieldPath, reference: &str) -> Option<String> {
    match (target, at) {
        (Target::Program { env, .. }, FieldPath::Env(name)) => swap(env.get_mut(name)?, reference),
        (Target::Address { headers, .. }, FieldPath::Header(name)) => swap(headers.get_mut(name)?, reference),
        (Target::Program { args, .. }, FieldPath::Arg(index, part)) => {
            let arg = args.get_mut(*index)?;
            let value = arg.get(part.clone())?.to_owned();
            arg.replace_range(part.clone(), reference);
            Some(value)
        }
        (Target::Address { url, .. }, FieldPath::Url(part)) => {
            let value = url.get(part.clone())?.to_owned();
            url.replace_range(part.clone(), reference);
            Some(value)
        }
        (Target::Address { url, .. }, FieldPath::Address) => {
            Some(std::mem::replace(url, reference.to_owned()))
        }
        _ => None,
    }
}

/// Leaves the scheme before a credential unchanged.
fn swap(value: &mut Value, reference: &str) -> Option<String> {
    let text = value.as_str()?.to_owned();
    let secret = after_scheme(&text);
    let scheme = &text[..text.len() - secret.len()];
    *value = format!("{scheme}{reference}").into();
    Some(secret.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use satchel_entry::credential::{self, CredentialExample};

    #[track_caller]
    fn check(args: &[&str], after: &[&str], taken: &[(&str, &str)]) {
        let Value::Object(mut entry) = json!({ "command": "x", "args": args }) else { unreachable!() };
        let moved = take_credentials(&mut entry, "a");
        assert_eq!(entry["args"], json!(after));
        let moved: Vec<_> = moved.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        assert_eq!(moved, taken);
    }

    #[test]
    fn an_editors_folder_becomes_that_of_the_session() {
        for (text, expected) in [
            ("--root=${workspaceFolder}/src", "--root=${project}/src"),
            ("$ZED_WORKTREE_ROOT/src", "${project}/src"),
            ("$PROJECT_DIR$/src", "${project}/src"),
            ("$PROJECT_DIR", "$PROJECT_DIR"),
            ("${CLAUDE_PROJECT_DIR:-.}", "${project}"),
            ("${env:CLAUDE_PROJECT_DIR:-/srv}", "${project:-/srv}"),
            ("$${workspaceFolder}", "$${workspaceFolder}"),
            ("${workspaceFolderBasename}${HOME}", "${workspaceFolderBasename}${HOME}"),
        ] {
            assert_eq!(in_project(text), expected, "{text}");
        }
    }

    /// The table that every room is tested with.
    #[test]
    fn what_leaves_the_file_has_the_verdict_of_every_room() {
        let mut rows = 0;
        for CredentialExample { name, value, is_credential } in credential::examples() {
            rows += 1;
            let Value::Object(mut entry) = json!({ "command": "x", "env": { name: value } }) else {
                unreachable!()
            };
            let moved = take_credentials(&mut entry, "a");
            assert_eq!(!moved.is_empty(), is_credential, "{name}={value}");
            let kept = entry["env"].to_string();
            assert_eq!(kept.contains(&Value::from(value).to_string()), !is_credential, "{kept}");
        }
        assert!(rows >= 120, "{rows}");
    }

    #[test]
    fn only_the_credential_leaves_an_argument() {
        check(
            &["postgresql://me:s3cret@db.example/shop?sslmode=require"],
            &["postgresql://me:${secret:a.password}@db.example/shop?sslmode=require"],
            &[("a.password", "s3cret")],
        );
        check(
            &["--token=abc", "--url=redis://:pw@h", "https://h/mcp?apiKey=k&x=1"],
            &[
                "--token=${secret:a.token}",
                "--url=redis://:${secret:a.password}@h",
                "https://h/mcp?apiKey=${secret:a.apiKey}&x=1",
            ],
            &[("a.token", "abc"), ("a.password", "pw"), ("a.apiKey", "k")],
        );
        check(
            &["run", "-e", "GITHUB_TOKEN=ghp", "-e", "LEVEL=debug", "--env=API_KEY=k"],
            &[
                "run",
                "-e",
                "GITHUB_TOKEN=${secret:a.GITHUB_TOKEN}",
                "-e",
                "LEVEL=debug",
                "--env=API_KEY=${secret:a.API_KEY}",
            ],
            &[("a.GITHUB_TOKEN", "ghp"), ("a.API_KEY", "k")],
        );
        check(
            &[
                "mcp-remote",
                "https://h/sse",
                "--header",
                "Authorization: Bearer abc",
                "--header",
                "X-Team:blue",
            ],
            &[
                "mcp-remote",
                "https://h/sse",
                "--header",
                "Authorization: Bearer ${secret:a.Authorization}",
                "--header",
                "X-Team:blue",
            ],
            &[("a.Authorization", "abc")],
        );
        check(
            &["--from", "mysql://u:one@h/a", "--to", "mysql://u:two@h/b?password=three"],
            &[
                "--from",
                "mysql://u:${secret:a.password}@h/a",
                "--to",
                "mysql://u:${secret:a.password-2}@h/b?password=${secret:a.password-3}",
            ],
            &[("a.password", "one"), ("a.password-2", "two"), ("a.password-3", "three")],
        );
        for args in [
            &["--token-file", "/run/token", "--header", "Authorization:${AUTH}", "--with", "keyring==25.0"][..],
            &[
                "git+ssh://git@host/repo",
                "--password",
                "--verbose",
                "postgres://me:${PASSWORD}@h",
                "https://h/?key=",
            ],
        ] {
            check(args, args, &[]);
        }
    }

    #[test]
    fn credentials_leave_an_entry_of_our_own_and_nothing_else_of_it_changes() {
        for (before, after, taken) in [
            (
                json!({ "command": "x", "args": ["--api-key", "k-1", 7, "postgres://u:pw@h/db"], "env": { "A": "b", "TOKEN": "t" }, "mine": [1] }),
                json!({ "command": "x", "args": ["--api-key", "${secret:a.api-key}", 7, "postgres://u:${secret:a.password}@h/db"], "env": { "A": "b", "TOKEN": "${secret:a.TOKEN}" }, "mine": [1] }),
                vec!["t", "k-1", "pw"],
            ),
            (
                json!({ "serverUrl": "https://h/mcp", "headers": { "Authorization": "Bearer z" }, "oauth": { "clientSecret": "s" } }),
                json!({ "serverUrl": "https://h/mcp", "headers": { "Authorization": "Bearer ${secret:a.Authorization}" }, "oauth": { "clientSecret": "${secret:a.clientSecret}" } }),
                vec!["z", "s"],
            ),
            (
                json!({ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${secret:T}" } }),
                json!({ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${secret:T}" } }),
                vec![],
            ),
        ] {
            let Value::Object(mut entry) = before else { unreachable!() };
            let moved = take_credentials(&mut entry, "a");
            assert_eq!(Value::Object(entry), after);
            assert_eq!(moved.iter().map(|one| one.value.as_str()).collect::<Vec<_>>(), taken);
        }
    }
}
