//! Reads servers from other programs' files into one form. Lenient, and without side effects: no variable is expanded,
//! no command is run, no server is contacted.

mod badge;
mod command_line;
mod entry;
mod merge;
mod naming;
mod omitted;
mod paste;
mod plain_secrets;
mod sign_ins;
mod switches;
mod synonyms;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

pub use merge::{Candidate, Existing, Origin, candidates, is_same};
pub use omitted::omitted;
pub use paste::{PasteError, read_pasted, read_text};
pub use plain_secrets::{Moved, credentials_in, into_config, secret_name, take_credentials};
pub use satchel_entry::slips;
pub use sign_ins::left_behind;
use switches::Switches;

use super::{
    connect::format_of,
    document::{Document, DocumentError, read_bytes},
    machine::Machine,
    references::References,
    table::{self, Client, PerProject, Shape},
};
use crate::{
    edit::{Format, SyntaxError, container},
    model::{left::LeftCause, remark::RemarkKind},
    platform::{Environment, Platform},
};

/// A server's transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// A program's standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older transport with server-sent events.
    Sse,
}

/// A remote server behind a local forwarder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unwrap {
    /// The forwarder, for example `mcp-remote`.
    pub via: String,
    /// The remote server's transport.
    pub transport: TransportKind,
    /// Its address.
    pub url: String,
    /// Its headers.
    pub headers: Map<String, Value>,
}

/// The origin of a server's texts, which determines how `${…}` in them is treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Words {
    /// A client's own file on this computer: its references are the user's own, and are translated.
    #[default]
    Own,
    /// A pasted text, possibly written by someone else: references become new secrets to ask for, without access to
    /// existing ones.
    Pasted,
    /// A description by third parties: literal text without references.
    Described,
}

/// A server in another program's file, in a common form.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundEntry {
    /// Its name there.
    pub name: String,
    /// Its transport.
    pub transport: TransportKind,
    /// Is it enabled there?
    pub enabled: bool,
    /// The program or the address, with everything around it.
    #[serde(flatten)]
    pub target: Target,
    /// The timeout of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Allowed tools; an empty list allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_allow: Option<Vec<String>>,
    /// Denied tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_deny: Vec<String>,
    /// Tools that run there without asking; `*` for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auto_approve: Vec<String>,
    /// Placeholders in canonical form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
    /// Where plain-text credentials are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secret_fields: Vec<String>,
    /// The remote server, if this program only forwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwrap: Option<Unwrap>,
    /// Variables whose values are in the client's keychain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keychain_env: Vec<String>,
    /// `local` if it applies to one project only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// That project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Projects in which it is disabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_in_projects: Vec<String>,
    /// Unknown fields, unchanged.
    #[serde(skip)]
    pub unknown: Map<String, Value>,
    /// Settings beside its entry that have no effect in Satchel.
    #[serde(skip)]
    pub remarks: Vec<RemarkKind>,
    /// The origin of its texts.
    #[serde(skip)]
    pub words: Words,
}

/// Where a server runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Target {
    /// A local program.
    #[serde(rename_all = "camelCase")]
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables.
        env: Map<String, Value>,
        /// Its working directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// A file with variables, which is named and never read.
        #[serde(skip_serializing_if = "Option::is_none")]
        env_file: Option<String>,
    },
    /// A hosted server.
    Address {
        /// The address.
        url: String,
        /// Its headers.
        headers: Map<String, Value>,
    },
}

/// The warning about something of this name that has to be an object.
pub fn not_an_object(name: &str) -> String {
    format!("\"{name}\" is not an object")
}

/// An entry that Satchel cannot use, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// A code, for example `url-without-type`.
    pub reason: String,
}

impl Skipped {
    /// Why, as a sentence of any language.
    pub fn cause(&self) -> LeftCause {
        let (word, what) = self.reason.split_once(':').unwrap_or((&self.reason, ""));
        match word {
            "not-an-object" => LeftCause::NotAnObject,
            "no-command-or-url" => LeftCause::NoTarget,
            "command-and-url" => LeftCause::TwoTargets,
            "url-without-type" => LeftCause::NoType,
            "invalid-url" => LeftCause::NotHttp,
            "unsupported-transport" => LeftCause::Transport { name: what.into() },
            "unsupported-url-scheme" => LeftCause::Scheme { scheme: what.into() },
            "host-internal" => LeftCause::Internal { part: what.into() },
            "enablement-only" => LeftCause::SwitchOnly,
            other => LeftCause::SettingsOnly { entry: other.into() },
        }
    }
}

/// The content of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Contents {
    /// Servers, in the file's order.
    pub servers: Vec<FoundEntry>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// A file that may contain servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The client it belongs to.
    pub client: &'static Client,
    /// The file.
    pub path: PathBuf,
    /// `user`, `project`, `user-legacy` and so on.
    pub scope: String,
    /// The keys to the servers.
    pub key: Vec<String>,
    /// The client whose entry format it uses.
    pub like: &'static Client,
}

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not text.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It is damaged.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
}

impl Source {
    /// A client's user files that exist.
    pub fn of_user(client: &'static Client, machine: &Machine) -> Vec<Self> {
        let own = machine.all_paths(&client.paths).into_iter().map(|path| Self {
            client,
            path,
            scope: "user".into(),
            key: client.key.clone(),
            like: client,
        });
        let further = client.also_read.iter().flat_map(|also| {
            machine.all_paths(&also.paths).into_iter().map(|path| Self {
                client,
                path,
                scope: also.scope.clone(),
                key: also.key.clone().unwrap_or_else(|| client.key.clone()),
                like: also.like.as_deref().and_then(table::client).unwrap_or(client),
            })
        });
        let mut found: Vec<Self> = own.chain(further).filter(|source| source.path.is_file()).collect();
        found.dedup_by(|a, b| a.path == b.path && a.key == b.key);
        found
    }

    /// A client's files in one project that exist.
    pub fn of_project(client: &'static Client, project: &Path) -> Vec<Self> {
        let machine = Machine { environment: Environment::new::<String, String>(Platform::current(), []) };
        client
            .project_files
            .iter()
            .flat_map(|file| {
                let template = project.join(&file.path).to_string_lossy().into_owned();
                machine.paths(&template).into_iter().map(|path| Self {
                    client,
                    path,
                    scope: "project".into(),
                    key: file.key.clone(),
                    like: file.like.as_deref().and_then(table::client).unwrap_or(client),
                })
            })
            .filter(|source| source.path.is_file())
            .collect()
    }

    /// Any file, parsed as if it belonged to this client.
    pub fn of_file(client: &'static Client, path: &Path) -> Vec<Self> {
        let in_projects = client.project_files.iter().map(|file| (&file.key, file.like.as_deref()));
        let further = client.also_read.iter();
        let further = further.filter_map(|also| Some((also.key.as_ref()?, also.like.as_deref())));
        let mut all: Vec<Self> = Vec::new();
        for (key, like) in [(&client.key, None)].into_iter().chain(further).chain(in_projects) {
            if all.iter().all(|known| known.key != *key) {
                all.push(Self {
                    client,
                    path: path.to_owned(),
                    scope: "file".into(),
                    key: key.clone(),
                    like: like.and_then(table::client).unwrap_or(client),
                });
            }
        }
        all
    }

    /// Reads the file. A missing file is empty.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read(&self, platform: Platform) -> Result<Contents, ReadError> {
        let bytes = read_bytes(&self.path)?.unwrap_or_default();
        let text = Document::decode(&bytes)?.text;
        let document = format_of(self.client, &self.path).read(&text)?;
        Ok(self.contents(&document, platform))
    }

    /// Parses a document.
    pub fn contents(&self, document: &Value, platform: Platform) -> Contents {
        let reader = FileReader {
            client: self.like,
            windows: platform == Platform::Windows,
            excluded: excluded(self.like, document),
            switches: Switches::of(&self.like.entry, document),
        };
        let mut contents = Contents::default();
        let mut found = false;
        for key in &self.like.entry.alt_keys {
            if let Some(inside) = container(document, key)
                && !is_entry(inside, &self.like.entry)
            {
                reader.all(inside, key, &mut contents);
                found = true;
            }
        }
        if let Some(inside) = container(document, &self.key) {
            let inside = without_inner(inside, &self.key, &self.like.entry, found);
            reader.all(&inside, &self.key, &mut contents);
        }
        if let Some(path) = &self.client.entry.extras {
            beside(document, path, &mut contents);
        }
        if let Some(projects) = &self.like.per_project {
            reader.projects(document, projects, &mut contents);
        }
        contents
    }
}

/// Some clients store a server's name and state beside its entry.
fn beside(document: &Value, path: &[String], contents: &mut Contents) {
    let Some(Value::Object(extras)) = container(document, path) else { return };
    for server in &mut contents.servers {
        let Some(extra) = extras.get(&server.name) else { continue };
        let text = |key: &str| extra.get(key).and_then(Value::as_str);
        server.enabled &= text("state").is_none_or(|state| state == "enabled");
        if let Some(label) = text("label").filter(|label| !label.trim().is_empty()) {
            server.name = label.to_owned();
        }
    }
}

/// Parses a pasted block by one client's rules.
fn read_with(client: &Client, shape_client: &Client, inside: &Value) -> Contents {
    let windows = Platform::current() == Platform::Windows;
    let reader =
        FileReader { client: shape_client, windows, excluded: vec![], switches: Switches::default() };
    let mut contents = Contents::default();
    reader.all(inside, &client.key, &mut contents);
    contents
}

fn excluded(client: &Client, document: &Value) -> Vec<String> {
    let path = client.entry.excluded_path.as_deref();
    let list = path.and_then(|path| container(document, path)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// A map of servers has no program or address of its own.
fn is_entry(value: &Value, shape: &Shape) -> bool {
    let fields = [Some(&shape.command), shape.type_field.as_ref(), shape.url.first()];
    fields
        .into_iter()
        .flatten()
        .any(|field| matches!(value.get(field), Some(Value::String(_) | Value::Array(_))))
}

/// The container without the other container nested in it.
fn without_inner(inside: &Value, key: &[String], shape: &Shape, found: bool) -> Value {
    let mut inside = inside.clone();
    if let (true, Value::Object(map)) = (found, &mut inside) {
        for other in &shape.alt_keys {
            if let Some((last, before)) = other.split_last()
                && before == key
            {
                map.shift_remove(last);
            }
        }
    }
    inside
}

struct FileReader<'a> {
    client: &'a Client,
    windows: bool,
    excluded: Vec<String>,
    switches: Switches,
}

impl FileReader<'_> {
    fn all(&self, inside: &Value, key: &[String], contents: &mut Contents) {
        match inside {
            Value::Object(map) => {
                for (name, entry) in map {
                    self.one(name, entry, contents);
                }
            }
            // Some clients use maps in project files where their own file has a list, and vice versa.
            Value::Array(items) if self.client.entry.list => {
                for (index, item) in items.iter().enumerate() {
                    let shape = &self.client.entry;
                    let fields = [shape.name_field.as_deref(), shape.name_fallback.as_deref(), Some("name")];
                    let name = fields.into_iter().flatten().find_map(|field| item.get(field)?.as_str());
                    self.one(name.unwrap_or(&format!("server-{}", index + 1)), item, contents);
                }
            }
            Value::Null => {}
            Value::Array(_) => {
                contents.warnings.push(format!("\"{}\" is a list, not an object", key.join(".")))
            }
            _ => contents.warnings.push(not_an_object(&key.join("."))),
        }
    }

    fn one(&self, name: &str, entry: &Value, contents: &mut Contents) {
        let Value::Object(fields) = entry else {
            contents.skipped.push(Skipped { name: name.into(), reason: "not-an-object".into() });
            contents.warnings.push(not_an_object(name));
            return;
        };
        let mut references = References::of(&self.client.references, self.windows);
        match entry::read(&self.client.entry, name, fields, &mut references) {
            Ok(mut found) => {
                found.enabled &= !self.excluded.iter().any(|excluded| excluded == name);
                self.switches.apply(&mut found);
                contents.servers.push(found);
            }
            Err(reason) => contents.skipped.push(Skipped { name: name.into(), reason }),
        }
    }

    fn projects(&self, document: &Value, about: &PerProject, contents: &mut Contents) {
        let Some(Value::Object(projects)) = container(document, &about.key) else { return };
        for (project, inside) in projects {
            let off = inside.get(&about.disabled).and_then(Value::as_array);
            for name in off.into_iter().flatten().filter_map(Value::as_str) {
                for server in contents.servers.iter_mut().filter(|server| server.name == name) {
                    server.disabled_in_projects.push(project.clone());
                }
            }
        }
        for (project, inside) in projects {
            let Some(servers) = container(inside, &about.servers) else { continue };
            let mut local = Contents::default();
            self.all(servers, &about.servers, &mut local);
            contents.servers.extend(local.servers.into_iter().map(|server| FoundEntry {
                scope: Some("local".into()),
                project: Some(project.clone()),
                ..server
            }));
            contents.skipped.extend(local.skipped);
            contents.warnings.extend(local.warnings);
        }
    }
}

/// Parses a text of any format, for callers without a file.
pub(super) fn any_format(text: &str) -> Result<Value, SyntaxError> {
    let start = text.trim_start();
    if start.starts_with(['{', '"']) || start.starts_with("//") || start.starts_with("/*") {
        let braces = if start.starts_with('"') { format!("{{{text}}}") } else { text.to_owned() };
        // The reader passes it over: clients write such texts, and people mean a path of Windows.
        if let Some((line, column)) = slips::single_backslash(text) {
            return Err(SyntaxError { line, column, message: slips::Spoilt::Backslash.advice().to_owned() });
        }
        return Format::Json.read(&braces);
    }
    if let Some(rest) = start.strip_prefix('[') {
        let is_list = rest.trim_start().starts_with(['{', '[', '"', ']']);
        return match Format::Toml.read(text) {
            Err(_) if is_list => Format::Json.read(text),
            read => read,
        };
    }
    let looks_like_toml = text.lines().any(|line| line.trim_start().starts_with('[') && line.contains(']'));
    if looks_like_toml { Format::Toml.read(text) } else { Format::Yaml.read(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(server: &FoundEntry) -> String {
        Value::Object(into_config(server, &server.name).0).to_string()
    }

    #[test]
    fn nothing_that_strangers_refer_to_is_given_to_them() {
        let block = r#"{"mcpServers": {"s": {"url": "https://e.example/?x=${GITHUB_TOKEN}", "headers": {
            "A": "${env:AWS_KEY}", "B": "${secret:OTHER}", "C": "${input:pat}", "D": "${X:-a}", "E": "${Y:-$}{HOME}"}}}}"#;
        let mut server = read_pasted(block).unwrap().remove(0);
        let pasted = entry(&server);
        for wanted in [
            "x=${secret:s.GITHUB_TOKEN}",
            "${secret:s.AWS_KEY}",
            "${secret:s.OTHER}",
            "${secret:s.pat}",
            r#""D":"a""#,
            r#""E":"$${HOME}""#,
        ] {
            assert!(pasted.contains(wanted), "{wanted}: {pasted}");
        }
        server.words = Words::Described;
        server.target = Target::Address {
            url: "https://e.example/?x=${GITHUB_TOKEN}".into(),
            headers: Map::from_iter([("B".to_owned(), "${secret:OTHER}".into())]),
        };
        let described = entry(&server);
        assert!(
            described.contains("x=$${GITHUB_TOKEN}") && described.contains("$${secret:OTHER}"),
            "{described}"
        );
    }

    #[test]
    fn settings_beside_an_entry_count() {
        let source = Source::of_file(table::client("witsy").unwrap(), Path::new("settings.json"));
        let source = source.into_iter().find(|source| source.key == ["mcpServers"]).unwrap();
        let text = r#"{"mcp": {"servers": [], "mcpServersExtra": {"mcp-1": {"label": "files", "state": "disabled"}}},
            "mcpServers": {"mcp-1": {"command": "npx", "args": ["files"]}, "b": {"command": "x"}}}"#;
        let contents = source.contents(&Format::Json.read(text).unwrap(), Platform::Linux);
        let seen: Vec<_> =
            contents.servers.iter().map(|server| (server.name.as_str(), server.enabled)).collect();
        assert_eq!(seen, [("files", false), ("b", true)]);
    }
}
