//! Parses the configuration file and answers what it says. Keeps what it does not understand, and skips an invalid
//! entry or setting alone.

mod edited;

use std::{collections::BTreeMap, io, path::Path};

use satchel_mcp::{Raw, limits};
use serde_json::{Map, Value, json};

pub use super::settings::{
    DEBUG_STATUS, EMBEDDING, EmbeddingSource, HISTORY, History, NEW_SERVERS, OFFICIAL_REGISTRY,
    OTLP_ENDPOINT, PICTURES, REGISTRIES, RESULT_CAP, RegistrySource, SEARCH, SearchModel, TOOL_DEFAULTS,
    TOOL_RULES,
};
use super::{
    guarded::{Guarded, Switches},
    keys::{Keys, ServerKey, SettingKey},
    profiles::Profiles,
    reader::{ConfigReader, OrListed},
    rules::{Defaults, ToolRule},
};
use crate::edit::without_comments;
use crate::files;
use crate::model::{ServerConfig, ServerName, pinned::PinnedTool};

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Key of the servers.
pub const SERVERS: &str = SettingKey::Servers.key();
/// Key in a server's entry of where it was installed from.
pub const SOURCE: &str = ServerKey::Source.key();
/// About what the clients with the lowest limits accept in one result.
const USUAL_RESULT_CAP: usize = 100_000;
/// The command that always means the running Satchel program.
pub const OWN_COMMAND: &str = "satchel";

/// A fault in the configuration file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ConfigError {
    /// Starts at 1.
    pub line: usize,
    /// Starts at 1, in characters.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// Reads the configuration file. Never blocks: if the path is a named pipe, it is not read.
///
/// # Errors
/// Any I/O error, including invalid UTF-8.
pub fn text_of(file: &Path) -> io::Result<String> {
    String::from_utf8(files::read_plain(file, LARGEST)?).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not valid UTF-8 ({})", error.utf8_error()))
    })
}

/// A valid configuration: the text, the parsed document and the settings.
#[derive(Debug, Clone)]
pub struct Config {
    text: String,
    document: Value,
    servers: BTreeMap<ServerName, ServerConfig>,
    faults: BTreeMap<String, ConfigError>,
    rule_faults: Vec<ConfigError>,
    setting_faults: Vec<ConfigError>,
    request_bytes: usize,
    history: History,
    debug_status: bool,
    otlp_endpoint: Option<String>,
    embedding: Option<EmbeddingSource>,
    meaning: bool,
    search_model: SearchModel,
    suggests: bool,
    rules: Vec<ToolRule>,
    tool_defaults: Defaults,
    holds_new_servers: bool,
    registries: Vec<RegistrySource>,
    pictures: bool,
    pinned_tools: Vec<PinnedTool>,
    profiles: Profiles,
    sockets: BTreeMap<String, String>,
    origins: BTreeMap<String, String>,
    /// Rules in the file that nobody has accepted; only their restrictions are in effect.
    unaccepted: Option<(Vec<ToolRule>, Defaults)>,
    /// What the file says, where something else is in effect.
    written: Option<Box<Guarded>>,
    /// The caps that were accepted, where the file has others.
    accepted_caps: Option<BTreeMap<String, u64>>,
    /// Where servers were installed from, where the file says otherwise and nobody has accepted that.
    accepted_sources: BTreeMap<String, Value>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            text: String::new(),
            document: Value::Object(Map::new()),
            servers: BTreeMap::new(),
            faults: BTreeMap::new(),
            rule_faults: Vec::new(),
            setting_faults: Vec::new(),
            request_bytes: limits::BODY_BYTES,
            history: History::default(),
            debug_status: true,
            otlp_endpoint: None,
            embedding: None,
            meaning: true,
            search_model: SearchModel::default(),
            suggests: true,
            rules: Vec::new(),
            tool_defaults: Defaults::default(),
            holds_new_servers: false,
            registries: RegistrySource::usual(),
            pictures: false,
            pinned_tools: Vec::new(),
            profiles: Profiles::default(),
            sockets: BTreeMap::new(),
            origins: BTreeMap::new(),
            unaccepted: None,
            written: None,
            accepted_caps: None,
            accepted_sources: BTreeMap::new(),
        }
    }
}

/// Compares the settings, not the text.
impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.document == other.document && self.servers == other.servers && self.faults == other.faults
    }
}

impl Config {
    /// The initial configuration: only the built-in server, so that the first call needs nothing else.
    pub fn first() -> Self {
        let toolbox = json!({ "command": OWN_COMMAND, "args": ["toolbox"] });
        let empty = Self::default();
        let first = empty.edited(|servers| drop(servers.insert("toolbox".into(), toolbox)));
        first.expect("the built-in configuration is valid")
    }

    /// Parses a configuration. An empty text is an empty configuration.
    ///
    /// # Errors
    /// [`ConfigError`] with the position of the first fault. Faults in servers' entries, in rules and in settings are no
    /// errors: see [`Config::faults`], [`Config::rule_faults`] and [`Config::setting_faults`].
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let written = text;
        let text = &*without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
        if text.trim().is_empty() {
            return Ok(Self { text: written.to_owned(), ..Self::default() });
        }
        let reader = ConfigReader { text };
        // Check the syntax of the whole document first, so that a syntax error has the right position.
        let document: Value = serde_json::from_str(text).map_err(|error| reader.syntax(&error))?;
        let holds_new_servers = document.get(NEW_SERVERS).and_then(Value::as_str) == Some("hold");
        let mut config = Self { text: written.to_owned(), document, holds_new_servers, ..Self::default() };
        let root = reader.object(text, "the configuration")?;
        reader.has_its_block(&root)?;
        let mut of_entries = Vec::new();
        for (key, value) in root {
            if key == SERVERS {
                (config.servers, config.faults, of_entries) = reader.servers(value)?;
            } else {
                config.read_setting(&reader, &key, value);
            }
        }
        // The last rule counts: those of `toolRules` are the person's own.
        config.rules.splice(0..0, of_entries);
        for name in config.servers.keys().filter(|name| name.in_path() != name.as_str()) {
            config.rules = ToolRule::as_in_paths(config.rules, name);
        }
        Ok(config)
    }

    /// Reads one of the settings beside the servers. An unknown key stays in the file. One with a fault is listed in `setting_faults`, and means the most
    /// cautious of what could have been meant until it is corrected.
    fn read_setting<'a>(&mut self, reader: &ConfigReader<'a>, key: &str, value: &'a Raw) {
        let faults = &mut self.setting_faults;
        let Some(known) = SettingKey::of(key) else { return };
        match known {
            // Read before.
            SettingKey::Servers => {}
            SettingKey::MaxRequest => {
                self.request_bytes = reader.request_bytes(value).or_listed(faults, limits::BODY_BYTES);
            }
            SettingKey::History => self.history = reader.history(value, faults),
            SettingKey::OtlpEndpoint => self.otlp_endpoint = reader.collector(value).or_listed(faults, None),
            SettingKey::Embedding => self.embedding = reader.embedding(value).or_listed(faults, None),
            SettingKey::Search => {
                (self.meaning, self.suggests, self.search_model) = reader.search(value, faults);
            }
            SettingKey::DebugStatus => self.debug_status = reader.switch(key, value).or_listed(faults, false),
            SettingKey::Pictures => self.pictures = reader.switch(key, value).or_listed(faults, false),
            SettingKey::Sockets => self.sockets = reader.sockets(value, faults),
            SettingKey::Origins => self.origins = reader.origins(value, faults),
            SettingKey::ResultCap => reader.caps(value).or_listed(faults, ()),
            SettingKey::ToolRules => self.rules = reader.rules(value, &mut self.rule_faults),
            SettingKey::ToolDefaults => {
                self.tool_defaults = reader.tool_defaults(value, &mut self.rule_faults)
            }
            // Without one of them, another registry could decide what a name means.
            SettingKey::Registries => {
                self.registries = reader.registries(value).or_listed(faults, Vec::new())
            }
            SettingKey::NewServers => {
                if !matches!(value.get(), "\"offer\"" | "\"hold\"") {
                    self.holds_new_servers = true;
                    let message = format!("\"{NEW_SERVERS}\" must be \"offer\" or \"hold\"");
                    faults.push(reader.at(value.get(), message));
                }
            }
            SettingKey::PinnedTools => self.pinned_tools = reader.pinned_tools(value, faults),
            SettingKey::Profiles | SettingKey::ActiveProfile | SettingKey::FolderProfiles => {
                let read = self.profiles.read(key, value, &|part, message| reader.at(part, message));
                read.or_listed(faults, ());
            }
        }
    }

    /// The text to write to disk: the user's own formatting, except where something was changed.
    pub fn to_text(&self) -> &str {
        &self.text
    }

    /// All valid server entries.
    pub fn servers(&self) -> &BTreeMap<ServerName, ServerConfig> {
        &self.servers
    }

    /// Faults of invalid server entries, by name. The entries stay in the file.
    pub fn faults(&self) -> &BTreeMap<String, ConfigError> {
        &self.faults
    }

    /// Faults of invalid rules and defaults. Stricter ones are in effect in their place; they stay in the file.
    pub fn rule_faults(&self) -> &[ConfigError] {
        &self.rule_faults
    }

    /// Faults in settings beside the servers: each means the most cautious of what could have been meant.
    pub fn setting_faults(&self) -> &[ConfigError] {
        &self.setting_faults
    }

    /// A server's entry as written, including unknown fields.
    pub fn entry(&self, name: &str) -> Option<&Value> {
        self.document.get(SERVERS)?.get(name)
    }

    /// A setting as written, by key.
    pub fn setting(&self, key: &str) -> Option<&Value> {
        self.document.get(key)
    }

    /// Maximum size of a client's request, in bytes.
    pub fn request_bytes(&self) -> usize {
        self.request_bytes
    }

    /// What is recorded, and for how long.
    pub fn history(&self) -> History {
        self.history
    }

    /// Is the debug status enabled?
    pub fn debug_status(&self) -> bool {
        self.debug_status
    }

    /// Sockets for single clients: the path of each, which may begin with `~/`.
    pub fn sockets(&self) -> &BTreeMap<String, String> {
        &self.sockets
    }

    /// Clients that live in the page of an app, by its origin.
    pub fn origins(&self) -> &BTreeMap<String, String> {
        &self.origins
    }

    /// The OpenTelemetry endpoint, for builds that can export.
    pub fn otlp_endpoint(&self) -> Option<&str> {
        self.otlp_endpoint.as_deref()
    }

    /// The embedding service, if one is configured.
    pub fn embedding(&self) -> Option<&EmbeddingSource> {
        self.embedding.as_ref()
    }

    /// Is search by meaning enabled?
    pub fn searches_by_meaning(&self) -> bool {
        self.meaning
    }

    /// The built-in model to search by meaning with.
    pub fn search_model(&self) -> SearchModel {
        self.search_model
    }

    /// May search results suggest servers from the catalog if no tool matches?
    pub fn suggests_servers(&self) -> bool {
        self.suggests
    }

    /// The tool rules.
    pub fn tool_rules(&self) -> &[ToolRule] {
        &self.rules
    }

    /// The defaults for tools that no rule matches.
    pub fn tool_defaults(&self) -> &Defaults {
        &self.tool_defaults
    }

    /// Are the definitions of a new server held back until a person reviews them?
    pub fn holds_new_servers(&self) -> bool {
        self.holds_new_servers
    }

    /// The registries, in the order in which they are queried.
    pub fn registries(&self) -> &[RegistrySource] {
        &self.registries
    }

    /// May servers' icons be fetched?
    pub fn shows_pictures(&self) -> bool {
        self.pictures
    }

    /// The pinned tools, in the order of the file.
    pub fn pinned_tools(&self) -> &[PinnedTool] {
        &self.pinned_tools
    }

    /// The profiles, and who uses them.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Rules in the file that nobody has accepted: only their restrictions are in effect.
    pub fn unaccepted_rules(&self) -> Option<(&[ToolRule], &Defaults)> {
        self.unaccepted.as_ref().map(|(rules, defaults)| (rules.as_slice(), defaults))
    }

    /// The same configuration with every setting in effect, accepted or not.
    pub fn as_written(&self) -> Self {
        Self::parse(self.to_text()).unwrap_or_else(|_| self.clone())
    }

    /// What the file says, where something else is in effect.
    pub(super) fn written(&self) -> Option<&Guarded> {
        self.written.as_deref()
    }

    /// Where a server was installed from, as written by Satchel.
    pub fn source_of(&self, server: &str) -> Option<&Value> {
        match self.accepted_sources.get(server) {
            Some(accepted) => Some(accepted).filter(|source| !source.is_null()),
            None => self.entry(server)?.get(SOURCE),
        }
    }

    /// The same configuration with only what was accepted, or restricts, in effect. `servers` are those of which
    /// something else is in effect than what is written.
    pub(super) fn with_guarded(
        mut self,
        accepted: Config,
        servers: BTreeMap<String, Switches>,
        written: Guarded,
    ) -> Self {
        self.accepted_caps = Some(accepted.result_caps());
        self.holds_new_servers |= accepted.holds_new_servers;
        self.pictures &= accepted.pictures;
        self.debug_status &= accepted.debug_status;
        self.history = History { learn: self.history.learn && accepted.history.learn, ..accepted.history };
        self.embedding = self.embedding.and(accepted.embedding);
        self.otlp_endpoint = self.otlp_endpoint.and(accepted.otlp_endpoint);
        self.registries.retain(|named| accepted.registries.contains(named));
        self.sockets.retain(|client, path| accepted.sockets.get(client) == Some(path));
        self.origins.retain(|origin, client| accepted.origins.get(origin) == Some(client));
        self.profiles = self.profiles.under(&accepted.profiles);
        let mut in_force = accepted.rules;
        for name in self.servers.keys().filter(|name| name.in_path() != name.as_str()) {
            in_force = ToolRule::as_in_paths(in_force, name);
        }
        let rules = std::mem::replace(&mut self.rules, in_force);
        let defaults = std::mem::replace(&mut self.tool_defaults, accepted.tool_defaults);
        self.unaccepted = Some((rules, defaults));
        for (name, Switches { enabled, startup, keep_calls, exact_results, share, source, tools }) in servers
        {
            if let Some((known, _)) = self.servers.get_key_value(name.as_str()) {
                self.rules.splice(0..0, tools.rules(known));
            }
            if let Some(server) = self.servers.get_mut(name.as_str()) {
                *server =
                    ServerConfig { enabled, startup, keep_calls, exact_results, share, ..server.clone() };
            }
            self.accepted_sources.insert(name, source);
        }
        self.written = Some(Box::new(written));
        self
    }

    /// The size limits of results as written, by client; the default is under "".
    pub(super) fn result_caps(&self) -> BTreeMap<String, u64> {
        let cap = |value: &Value| value.as_u64().map(|cap| if cap == 0 { u64::MAX } else { cap });
        let mut caps = BTreeMap::from([(String::new(), USUAL_RESULT_CAP as u64)]);
        match self.document.get(RESULT_CAP) {
            Some(Value::Object(named)) => {
                let named = named.iter().filter_map(|(client, value)| Some((client, cap(value)?)));
                let name = |client: &String| if client == "default" { String::new() } else { client.clone() };
                caps.extend(named.map(|(client, cap)| (name(client), cap)));
            }
            Some(value) => caps.extend(cap(value).map(|cap| (String::new(), cap))),
            None => {}
        }
        caps
    }

    /// The size limit of a result for this client, in bytes of text; 0 means no limit.
    pub fn result_cap(&self, client: &str) -> usize {
        let cap_in = |caps: &BTreeMap<String, u64>| caps.get(client).or_else(|| caps.get("")).copied();
        let (written, accepted) = (self.result_caps(), self.accepted_caps.as_ref());
        let cap = cap_in(&written).into_iter().chain(accepted.and_then(cap_in)).min();
        match cap {
            Some(u64::MAX) => 0,
            cap => usize::try_from(cap.unwrap_or(USUAL_RESULT_CAP as u64)).unwrap_or(usize::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_are_two_servers_and_of_two_that_look_the_same_one_is_refused() {
        let text = "{\"mcpServers\": {\"Git\": {\"command\": \"x\"}, \"git\": {\"command\": \"x\"}, \"caf\u{e9}\": {\"command\": \"x\"}, \"cafe\u{301}\": {\"command\": \"x\"}}}";
        let config = Config::parse(text).unwrap();
        let faults: Vec<&ConfigError> = config.faults().values().collect();
        assert!(matches!(faults[..], [fault] if fault.message.contains("looks like")), "{faults:?}");
        assert_eq!(config.servers().len(), 3);
    }

    #[test]
    fn a_rule_for_a_server_with_a_separator_in_its_name_is_found_under_its_paths() {
        let text =
            r#"{"toolRules": [{"tool": "a:b:*", "permit": "off"}], "mcpServers": {"a:b": {"command": "x"}}}"#;
        let config = Config::parse(text).unwrap();
        let rules = config.tool_rules();
        assert!(rules.iter().any(|rule| rule.is_for("a%3Ab:x") && rule.is_for_all_of("a:b")));
        assert!(!rules.iter().any(|rule| rule.is_for_all_of("a")));
    }

    #[test]
    fn an_empty_file_is_an_empty_configuration_and_the_first_one_has_the_toolbox() {
        assert!(Config::parse(" \n").unwrap().servers().is_empty());
        assert!(Config::parse("\u{feff}{}").unwrap().servers().is_empty());
        assert_eq!(Config::first().servers().keys().map(ServerName::as_str).collect::<Vec<_>>(), ["toolbox"]);
    }
}
