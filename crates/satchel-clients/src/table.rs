//! The table of known clients, as data: `table.json`. A new client is one entry there, with sample files beside the
//! tests.

use std::{collections::BTreeSet, sync::OnceLock};

use satchel_entry::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    edit::Format,
    seen::{Library, Observation},
};

/// How well a client's file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// Location and format are documented or verified: the file is edited.
    A,
    /// Known from third parties: edited only if the file or its folder exists, and reported as untested.
    B,
    /// No file that can be edited safely: a person pastes.
    C,
}

/// The source of a fact, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Verified by running the client.
    Probe,
    /// Its source code.
    Source,
    /// Its documentation.
    Doc,
    /// Third parties.
    Secondary,
    /// Memory.
    Recall,
    /// None.
    Unknown,
}

/// How Satchel is added to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By editing its file.
    Edit,
    /// By a person, with a text to paste.
    Paste,
}

/// The transport of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Streamable HTTP to the endpoint.
    Http,
    /// The client starts `satchel bridge`.
    Stdio,
}

/// A list per operating system.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerOs {
    /// On all systems.
    pub all: Vec<String>,
    /// On Linux.
    pub linux: Vec<String>,
    /// On macOS.
    pub macos: Vec<String>,
    /// On Windows.
    pub windows: Vec<String>,
}

/// Signs that a client is installed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signs {
    /// Files or directories on all systems.
    pub all: Vec<String>,
    /// On Linux.
    pub linux: Vec<String>,
    /// On macOS.
    pub macos: Vec<String>,
    /// On Windows.
    pub windows: Vec<String>,
    /// Programs in PATH.
    pub commands: Vec<String>,
    /// An extension of VS Code or its forks, as `publisher.name`.
    #[serde(rename = "vscodeExtension")]
    pub extension: Option<String>,
}

/// How a client treats an address without a type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Untyped {
    /// Streamable HTTP.
    #[default]
    Http,
    /// The older transport with server-sent events.
    Sse,
    /// It ignores the entry.
    Skip,
    /// It does not support addresses.
    Unsupported,
}

/// Where a file switches tools of all servers on and off, as `SERVER_TOOL`; `*` matches anything.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSwitches {
    /// Objects that map names to `true`, `false`, `"allow"` or `"deny"`.
    pub keys: Vec<String>,
    /// Objects of agents by name, which may have such objects too.
    pub agents: Vec<String>,
}

/// The format of an entry.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct Shape {
    /// Entries are in a list instead of a map.
    pub list: bool,
    /// The field with an entry's name, for a list.
    pub name_field: Option<String>,
    /// The alternative name field.
    pub name_fallback: Option<String>,
    /// The field with the transport type.
    #[serde(rename = "type")]
    pub type_field: Option<String>,
    /// Types that mean a program.
    pub stdio_types: Vec<String>,
    /// Types that mean Streamable HTTP.
    pub http_types: Vec<String>,
    /// Types that mean server-sent events.
    pub sse_types: Vec<String>,
    /// Types that mean a part of the client itself.
    pub host_internal_types: Vec<String>,
    /// The field with the program.
    pub command: String,
    /// Program and arguments are one list.
    pub command_is_array: bool,
    /// The program may be an object with path, arguments and variables.
    pub nested_command: bool,
    /// The field with the arguments.
    pub args: String,
    /// For a program, they are in the address field, separated by spaces.
    pub stdio_args_in_url: bool,
    /// The field with the variables.
    pub env: String,
    /// The field with names of variables to pass on.
    pub env_vars: Option<String>,
    /// An empty variable is passed on from the environment.
    pub empty_env_means_inherit: bool,
    /// The field with variables whose values are in the client's keychain.
    pub keychain_env: Option<String>,
    /// The field with the working directory.
    pub cwd: String,
    /// The fields with the address; the first existing one counts.
    pub url: Vec<String>,
    /// The address field that always means Streamable HTTP.
    pub http_url_key: Option<String>,
    /// What an address without a type means.
    pub url_without_type: Untyped,
    /// The fields with headers, as dotted paths; the first existing one counts.
    pub headers: Vec<String>,
    /// The field that maps headers to variables.
    pub env_headers: Option<String>,
    /// The field with the variable that contains the bearer token.
    pub bearer_env: Option<String>,
    /// The field with the bearer token itself.
    pub api_key_bearer: Option<String>,
    /// The field that disables the entry.
    pub disabled_field: Option<String>,
    /// The field that enables it.
    pub enabled_field: Option<String>,
    /// A field with the value "enabled" or "disabled".
    pub state_field: Option<String>,
    /// The path of a list of disabled entries elsewhere in the file.
    pub excluded_path: Option<Vec<String>>,
    /// Where the file switches tools on and off.
    pub tool_switches: Option<ToolSwitches>,
    /// The path of an object elsewhere in the file with entries' state and display name.
    pub extras: Option<Vec<String>>,
    /// An entry with nothing but a switch refers to another file.
    pub enablement_only: bool,
    /// What an entry with nothing but settings refers to.
    pub settings_only: Option<String>,
    /// The field with the timeout of a call.
    pub timeout_field: Option<String>,
    /// It is in seconds instead of milliseconds.
    pub timeout_in_seconds: bool,
    /// The field with allowed tools.
    pub tools_allow: Option<String>,
    /// An empty list of them allows none.
    pub empty_allows_none: bool,
    /// The field with denied tools.
    pub tools_deny: Option<String>,
    /// The field with tools that run without asking.
    pub auto_approve: Option<String>,
    /// The object that may contain the transport fields.
    pub nested_transport: Option<String>,
    /// Alternative locations of entries in the same file.
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

/// Another file that a client reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// Its scope, for example `user-legacy`.
    pub scope: String,
    /// Its paths.
    pub paths: PerOs,
    /// The keys to its entries, if different.
    pub key: Option<Vec<String>>,
    /// The client whose entry format it uses, if different.
    pub like: Option<String>,
}

/// A file in a project.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// Its path within the project.
    pub path: String,
    /// The keys to its entries.
    pub key: Vec<String>,
    /// The client whose entry format it uses, if different.
    pub like: Option<String>,
}

/// Project-specific entries in the user's file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerProject {
    /// The keys to the projects.
    pub key: Vec<String>,
    /// The keys from a project to its entries.
    pub servers: Vec<String>,
    /// A project's field with the names of disabled user servers.
    pub disabled: String,
}

/// Where a client reads skills of the person.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkillFolders {
    /// The folder that skills are given to, as its maker documents it.
    pub folder: PerOs,
    /// Other folders that it reads.
    #[serde(default)]
    pub also_reads: Vec<String>,
}

/// A supported client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Client {
    /// Its id, for example `claude-code`.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// How well it is known.
    pub tier: Tier,
    /// How the location of its file is known.
    pub evidence: Evidence,
    /// Candidates for the user's file: the first existing one counts; if none exists, the first is created.
    #[serde(default)]
    pub paths: PerOs,
    /// Every existing candidate is written, because it is unknown which one is read.
    #[serde(default)]
    pub write_all: bool,
    /// Additional files that are written if they exist.
    #[serde(default)]
    pub also_write: PerOs,
    /// The file format.
    pub format: Format,
    /// The content of a new file besides the entries.
    #[serde(default)]
    pub new_file: Option<Value>,
    /// What the client does with a file that it cannot parse.
    #[serde(default)]
    pub on_syntax_error: Option<String>,
    /// The keys to the entries.
    pub key: Vec<String>,
    /// The entry format.
    pub entry: Shape,
    /// The placeholder syntaxes it supports, by their names in `references.rs`.
    #[serde(default)]
    pub references: Vec<String>,
    /// Where it reads skills, if its maker documents that.
    #[serde(default)]
    pub skills: Option<SkillFolders>,
    /// How Satchel is added.
    pub connect: Method,
    /// The preferred transport.
    pub transport: Transport,
    /// The entry for HTTP.
    #[serde(default)]
    pub http: Option<Value>,
    /// The entry for the bridge.
    #[serde(default)]
    pub stdio: Option<Value>,
    /// Files in which it stores sign-ins in plain text: named to the user, never read.
    #[serde(default)]
    pub token_files: PerOs,
    /// Its own command for adding servers, if that is the documented way.
    #[serde(default)]
    pub own_command: Option<OwnCommand>,
    /// Signs that it is installed.
    #[serde(default)]
    pub detect: Signs,
    /// Additional files with entries.
    #[serde(default)]
    pub also_read: Vec<Also>,
    /// Files in a project.
    #[serde(default)]
    pub project_files: Vec<ProjectFile>,
    /// Project-specific entries in the user's file.
    #[serde(default)]
    pub per_project: Option<PerProject>,
    /// When a change takes effect.
    #[serde(default)]
    pub reload: Option<String>,
    /// What the user has to do next.
    #[serde(default)]
    pub after_connect: Option<String>,
    /// What it was seen to do.
    #[serde(default)]
    pub seen: Vec<Observation>,
}

/// A client's own command for adding servers. `${NAME}` is the entry's name; the entry is passed as JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCommand {
    /// The program, searched in PATH.
    pub program: String,
    /// The arguments that add the entry on standard input.
    pub add: Vec<String>,
    /// The arguments that remove it.
    pub remove: Vec<String>,
}

const TEXT: &str = include_str!("table.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    clients: Vec<Client>,
    libraries: Vec<Library>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| serde_json::from_str(TEXT).expect("the table is checked by a test"))
}

/// All clients, in display order.
pub fn clients() -> &'static [Client] {
    &table().clients
}

/// Libraries and other programs that connect by hand, of which only what they do is known.
pub fn libraries() -> &'static [Library] {
    &table().libraries
}

/// The variables that determine where clients' files and programs are.
pub fn variables() -> BTreeSet<String> {
    let usual = ["PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"].map(ToOwned::to_owned);
    let mut names = BTreeSet::from(usual);
    names.extend(Template::parse(TEXT).variables().map(ToOwned::to_owned));
    // Placeholders for Satchel's own values are not variables.
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
    /// Its name without the part in parentheses: "Claude Code" of "Claude Code (CLI, IDE extension)".
    pub fn title(&self) -> &str {
        self.name.split(" (").next().unwrap_or(&self.name)
    }

    /// The name field, if entries are in a list.
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
