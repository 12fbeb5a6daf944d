//! The table of known clients, as data: `table.json`. A new client is one entry there, with sample files beside the
//! tests.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::edit::Format;

/// How well a client's file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// Place and shape are documented or were seen: the file is edited.
    A,
    /// Known from third parties: edited only where the file or its folder exists, and said to be untested.
    B,
    /// No file that could be edited safely: a person pastes.
    C,
}

/// Where a fact comes from, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Seen by running the client.
    Probe,
    /// Its source text.
    Source,
    /// Its documentation.
    Doc,
    /// Somebody else's word.
    Secondary,
    /// Memory.
    Recall,
    /// Nothing.
    Unknown,
}

/// How a client is told about us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By editing its file.
    Edit,
    /// By a person, with a text to paste.
    Paste,
}

/// What a client's connection to us speaks over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// It asks our endpoint itself.
    Http,
    /// It starts `satchel bridge`.
    Stdio,
}

/// A list per operating system.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerOs {
    /// On all of them.
    pub all: Vec<String>,
    /// On Linux.
    pub linux: Vec<String>,
    /// On macOS.
    pub macos: Vec<String>,
    /// On Windows.
    pub windows: Vec<String>,
}

/// What shows that a client is installed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signs {
    /// Files or directories on every system.
    pub all: Vec<String>,
    /// On Linux.
    pub linux: Vec<String>,
    /// On macOS.
    pub macos: Vec<String>,
    /// On Windows.
    pub windows: Vec<String>,
    /// Programs in the search path.
    pub commands: Vec<String>,
    /// An extension of VS Code and its relatives, as `publisher.name`.
    #[serde(rename = "vscodeExtension")]
    pub extension: Option<String>,
}

/// What a client does with an address that has no type beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Untyped {
    /// Streamable HTTP.
    #[default]
    Http,
    /// The older transport with server-sent events.
    Sse,
    /// It leaves the entry out.
    Skip,
    /// It knows no addresses.
    Unsupported,
}

/// Where a file switches tools of all servers on and off, by `SERVER_TOOL`; `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSwitches {
    /// Objects with `true`, `false`, `"allow"` or `"deny"` for each name.
    pub keys: Vec<String>,
    /// Objects with the client's agents by name, which may have such objects of their own.
    pub agents: Vec<String>,
}

/// How an entry is read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct Shape {
    /// Entries lie in a list, not in a map.
    pub list: bool,
    /// The field with an entry's name, where they lie in a list.
    pub name_field: Option<String>,
    /// What names it otherwise.
    pub name_fallback: Option<String>,
    /// The field that says which transport.
    #[serde(rename = "type")]
    pub type_field: Option<String>,
    /// Words for a program.
    pub stdio_types: Vec<String>,
    /// Words for Streamable HTTP.
    pub http_types: Vec<String>,
    /// Words for server-sent events.
    pub sse_types: Vec<String>,
    /// Words for parts of the client itself.
    pub host_internal_types: Vec<String>,
    /// The program.
    pub command: String,
    /// The program and its arguments are one list.
    pub command_is_array: bool,
    /// The program may be an object with path, arguments and variables.
    pub nested_command: bool,
    /// The arguments.
    pub args: String,
    /// Of a program they stand in the address field, divided by spaces.
    pub stdio_args_in_url: bool,
    /// The variables.
    pub env: String,
    /// A list of variables that are passed on.
    pub env_vars: Option<String>,
    /// An empty variable is passed on.
    pub empty_env_means_inherit: bool,
    /// A list of variables whose values the client keeps in the keychain.
    pub keychain_env: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The address; the first that is there counts.
    pub url: Vec<String>,
    /// The address field that always means Streamable HTTP.
    pub http_url_key: Option<String>,
    /// What an address without a type means.
    pub url_without_type: Untyped,
    /// The headers, as paths with dots; the first that is there counts.
    pub headers: Vec<String>,
    /// A map from headers to variables.
    pub env_headers: Option<String>,
    /// The variable with the bearer token.
    pub bearer_env: Option<String>,
    /// The bearer token itself.
    pub api_key_bearer: Option<String>,
    /// A switch that turns the entry off.
    pub disabled_field: Option<String>,
    /// A switch that turns it on.
    pub enabled_field: Option<String>,
    /// A word that is "enabled" or "disabled".
    pub state_field: Option<String>,
    /// A list elsewhere in the file with the names of entries that are off.
    pub excluded_path: Option<Vec<String>>,
    /// Where the file switches tools of all servers on and off.
    pub tool_switches: Option<ToolSwitches>,
    /// An object elsewhere in the file that says of entries, by name, whether they are on and what they are called.
    pub extras: Option<Vec<String>>,
    /// An entry with nothing but a switch belongs to another file.
    pub enablement_only: bool,
    /// What an entry with nothing but settings is.
    pub settings_only: Option<String>,
    /// The time a call may take.
    pub timeout_field: Option<String>,
    /// In seconds instead of milliseconds.
    pub timeout_in_seconds: bool,
    /// Only these tools.
    pub tools_allow: Option<String>,
    /// An empty list of them means none at all.
    pub empty_allows_none: bool,
    /// Not these tools.
    pub tools_deny: Option<String>,
    /// Tools that run without a question.
    pub auto_approve: Option<String>,
    /// The object that transport fields may also lie in.
    pub nested_transport: Option<String>,
    /// Other places in the same file where entries lie.
    pub alt_keys: Vec<Vec<String>>,
}

impl Default for Shape {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            list: false,
            name_field: None,
            name_fallback: None,
            type_field: None,
            stdio_types: words(&["stdio"]),
            http_types: words(&["http", "streamable-http", "streamableHttp"]),
            sse_types: words(&["sse"]),
            host_internal_types: vec![],
            command: "command".into(),
            command_is_array: false,
            nested_command: false,
            args: "args".into(),
            stdio_args_in_url: false,
            env: "env".into(),
            env_vars: None,
            empty_env_means_inherit: false,
            keychain_env: None,
            cwd: "cwd".into(),
            url: words(&["url"]),
            http_url_key: None,
            url_without_type: Untyped::Http,
            headers: words(&["headers"]),
            env_headers: None,
            bearer_env: None,
            api_key_bearer: None,
            disabled_field: None,
            enabled_field: None,
            state_field: None,
            excluded_path: None,
            tool_switches: None,
            extras: None,
            enablement_only: false,
            settings_only: None,
            timeout_field: None,
            timeout_in_seconds: false,
            tools_allow: None,
            empty_allows_none: false,
            tools_deny: None,
            auto_approve: None,
            nested_transport: None,
            alt_keys: vec![],
        }
    }
}

/// Another file a client reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// What kind of file, for example `user-legacy`.
    pub scope: String,
    /// Where.
    pub paths: PerOs,
    /// The keys to its entries, where they are others.
    pub key: Option<Vec<String>>,
    /// The client whose entries its entries look like, where it is another.
    pub like: Option<String>,
}

/// A file inside a project.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// Below the project.
    pub path: String,
    /// The keys to its entries.
    pub key: Vec<String>,
    /// The client whose entries its entries look like, where it is another.
    pub like: Option<String>,
}

/// Entries that hold for one project only, kept in the user's file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerProject {
    /// The keys to the projects.
    pub key: Vec<String>,
    /// The keys from a project to its entries.
    pub servers: Vec<String>,
    /// The field of a project with the names of the user's servers that are off there.
    pub disabled: String,
}

/// One client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Client {
    /// Its id, for example `claude-code`.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// How well it is known.
    pub tier: Tier,
    /// How we know where its file is.
    pub evidence: Evidence,
    /// The user's file: candidates, the first that exists counts, else the first is made.
    #[serde(default)]
    pub paths: PerOs,
    /// Every candidate that exists is written, because it cannot be told which one is read.
    #[serde(default)]
    pub write_all: bool,
    /// Files that are written too where they exist.
    #[serde(default)]
    pub also_write: PerOs,
    /// How the file is written.
    pub format: Format,
    /// What a new file holds beside the entries.
    #[serde(default)]
    pub new_file: Option<Value>,
    /// What the client does with a file that it cannot read.
    #[serde(default)]
    pub on_syntax_error: Option<String>,
    /// The literal keys to the entries.
    pub key: Vec<String>,
    /// How entries are read.
    pub entry: Shape,
    /// The placeholders it fills, by their names in `references.rs`.
    #[serde(default)]
    pub references: Vec<String>,
    /// How it is told about us.
    pub connect: Method,
    /// What it should speak over.
    pub transport: Transport,
    /// The entry that makes it ask our endpoint.
    #[serde(default)]
    pub http: Option<Value>,
    /// The entry that makes it start the bridge.
    #[serde(default)]
    pub stdio: Option<Value>,
    /// Where it keeps sign-ins to servers in plain text: files to be named to a person, and never read.
    #[serde(default)]
    pub token_files: PerOs,
    /// Its own program for adding servers, where that is the documented way.
    #[serde(default)]
    pub own_command: Option<OwnCommand>,
    /// What shows that it is there.
    #[serde(default)]
    pub detect: Signs,
    /// Further files with entries.
    #[serde(default)]
    pub also_read: Vec<Also>,
    /// Files inside a project.
    #[serde(default)]
    pub project_files: Vec<ProjectFile>,
    /// Entries for one project in the user's file.
    #[serde(default)]
    pub per_project: Option<PerProject>,
    /// When a change takes effect.
    #[serde(default)]
    pub reload: Option<String>,
    /// What the user has to do next.
    #[serde(default)]
    pub after_connect: Option<String>,
    /// Does it follow when the list of tools changes?
    #[serde(default)]
    pub list_changed: Option<bool>,
    /// Does it keep tool definitions back by itself until they are needed?
    #[serde(default)]
    pub defers_tools: bool,
    /// The most tools it takes.
    #[serde(default)]
    pub tool_limit: Option<usize>,
}

/// A client's own program for adding servers. `${NAME}` stands for the entry's name; the entry goes in as JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCommand {
    /// Looked up in the search path.
    pub program: String,
    /// Adds the entry that is on standard input.
    pub add: Vec<String>,
    /// Removes it.
    pub remove: Vec<String>,
}

const TEXT: &str = include_str!("table.json");

#[derive(Deserialize)]
struct Table {
    clients: Vec<Client>,
}

/// All clients, in the order in which they are shown.
pub fn clients() -> &'static [Client] {
    static TABLE: OnceLock<Vec<Client>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table: Table = serde_json::from_str(TEXT).expect("the table is checked by a test");
        table.clients
    })
}

/// The variables that say where clients' files are, and where programs are found.
pub fn variables() -> std::collections::BTreeSet<&'static str> {
    let mut names: std::collections::BTreeSet<&str> =
        ["PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"].into();
    for piece in TEXT.split("${").skip(1) {
        let end = piece.find([':', '}']).unwrap_or(0);
        names.insert(&piece[..end]);
    }
    // What we put into entries is no variable.
    for ours in ["URL", "URL_LOCALHOST", "TOKEN", "BRIDGE", "BRIDGE_ARGS", "NAME", "UUID"] {
        names.remove(ours);
    }
    names
}

/// The client with this id.
pub fn client(id: &str) -> Option<&'static Client> {
    clients().iter().find(|client| client.id == id)
}

impl Client {
    /// Its name without what it comes as: "Claude Code" of "Claude Code (CLI, IDE extension)".
    pub fn title(&self) -> &str {
        self.name.split(" (").next().unwrap_or(&self.name)
    }

    /// The field that names an entry, where entries lie in a list.
    pub fn list(&self) -> Option<&str> {
        self.entry.list.then(|| self.entry.name_field.as_deref().unwrap_or("name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_can_be_read_and_every_client_can_be_told_about_us() {
        let all = clients();
        let ids: BTreeSet<&str> = all.iter().map(|client| client.id.as_str()).collect();
        assert_eq!(ids.len(), all.len(), "an id is there once");
        for client in all {
            if client.connect == Method::Edit {
                let template = match client.transport {
                    Transport::Http => &client.http,
                    Transport::Stdio => &client.stdio,
                };
                assert!(template.is_some(), "{} has no entry to write", client.id);
                assert!(client.paths != PerOs::default(), "{} has no file", client.id);
            } else {
                assert_eq!(client.tier, Tier::C, "{} cannot be edited", client.id);
            }
            assert!(super::super::references::known(&client.references), "{}", client.id);
        }
        assert!(all.iter().filter(|client| client.tier == Tier::A).count() >= 25);
    }
}
