//! Reads and writes the configuration file. Keeps what it does not understand, reports errors by line and column, and
//! skips an invalid entry alone.

use std::{collections::BTreeMap, fmt, io, path::Path, time::Duration};

use satchel_mcp::{
    Raw, limits,
    object::{all_fields, fields},
};
use serde_json::{Map, Value, json};

use super::{
    profiles::Profiles,
    rules::{Defaults, ToolRule},
};
use crate::edit::{Format, Spot, without_comments};
use crate::files;
use crate::model::{
    ServerConfig, ServerName, Startup, TransportConfig,
    oauth::{OAuth, Resource},
    server::{
        ContainerEngine, ContainerSandbox, DISCOVERY_TIMEOUT, Era, IDLE_TIMEOUT, REFRESH_INTERVAL,
        REFRESH_INTERVAL_FLOOR, REQUEST_TIMEOUT, REQUEST_TIMEOUT_FLOOR, Sandbox,
    },
};

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Key of the servers.
pub const SERVERS: &str = "mcpServers";
/// Key of the maximum request size, in MiB.
const MAX_REQUEST: &str = "maxRequestMiB";
/// Key of the settings for recording.
pub const HISTORY: &str = "history";
/// Key of the OpenTelemetry endpoint that traces are exported to.
pub const OTLP_ENDPOINT: &str = "otlpEndpoint";
/// The key of sockets for single clients.
const SOCKETS: &str = "sockets";
/// Key of the embedding service.
pub const EMBEDDING: &str = "embedding";
/// Key of the search settings.
pub const SEARCH: &str = "search";
/// Key of the switch for the debug status.
pub const DEBUG_STATUS: &str = "debugStatus";
/// Key of the limit above which results are cut, in bytes of text: a number, or one for each client and `default`; 0
/// means no limit.
pub const RESULT_CAP: &str = "resultCap";
/// Key of the tool rules: a list of [`ToolRule`]s.
pub const TOOL_RULES: &str = "toolRules";
/// Key of the defaults for tools that no rule matches: [`Defaults`].
pub const TOOL_DEFAULTS: &str = "toolDefaults";
/// Key of whether a new server's definitions are available before review: `"offer"` or `"hold"`.
pub const NEW_SERVERS: &str = "newServers";
/// Key of the registries: a list of addresses, each with a token if it requires one.
pub const REGISTRIES: &str = "registries";
/// The default registry.
pub const OFFICIAL_REGISTRY: &str = "https://registry.modelcontextprotocol.io";
/// About what the clients with the lowest limits accept in one result.
const USUAL_RESULT_CAP: usize = 100_000;
/// Key of the switch for fetching servers' icons.
pub const PICTURES: &str = "pictures";
/// Replaces a number of days in `history` that cannot be read, so that nothing is deleted.
const ALL_DAYS: u32 = 36_500;
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
    profiles: Profiles,
    sockets: BTreeMap<String, String>,
    /// Rules in the file that nobody has accepted; only their restrictions are in effect.
    unaccepted: Option<(Vec<ToolRule>, Defaults)>,
}

/// The built-in sentence model to search with: `model` of the block `search`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchModel {
    /// all-MiniLM-L6-v2, which installers carry.
    #[default]
    English,
    /// multilingual-e5-small, which is added by hand.
    Multilingual,
}

impl SearchModel {
    /// The model's published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "all-MiniLM-L6-v2",
            Self::Multilingual => "multilingual-e5-small",
        }
    }

    /// The name of the file that contains it.
    pub fn file_name(self) -> String {
        format!("{}.int8", self.name())
    }
}

/// The embedding service for search by meaning: the block `embedding`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSource {
    /// Its address.
    pub url: String,
    /// The model's name there.
    pub model: String,
}

/// A registry of servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySource {
    /// Its address, without `/v0.1` and without a trailing slash.
    pub url: String,
    /// Its token as written: a reference to a secret.
    pub token: Option<String>,
}

impl RegistrySource {
    fn usual() -> Vec<Self> {
        vec![Self { url: OFFICIAL_REGISTRY.to_owned(), token: None }]
    }
}

/// What is recorded, and for how long: the block `history`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// Are calls recorded at all?
    pub record: bool,
    /// Does ranking learn from which tools were used after which searches? Always off if calls are not recorded.
    pub learn: bool,
    /// How many days single calls are stored; totals are stored forever.
    pub days: u32,
    /// Maximum size of the ledger, in bytes.
    pub bytes: u64,
}

impl Default for History {
    fn default() -> Self {
        Self { record: true, learn: true, days: 30, bytes: 200 * 1024 * 1024 }
    }
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
            profiles: Profiles::default(),
            sockets: BTreeMap::new(),
            unaccepted: None,
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
        for (key, value) in root {
            if key == SERVERS {
                (config.servers, config.faults) = reader.servers(value)?;
            } else {
                config.read_setting(&reader, &key, value);
            }
        }
        for name in config.servers.keys().filter(|name| name.in_path() != name.as_str()) {
            config.rules = ToolRule::as_in_paths(config.rules, name);
        }
        Ok(config)
    }

    /// Reads one of the settings beside the servers. One with a fault is listed in `setting_faults`, and means the most
    /// cautious of what could have been meant until it is corrected.
    fn read_setting<'a>(&mut self, reader: &ConfigReader<'a>, key: &str, value: &'a Raw) {
        let faults = &mut self.setting_faults;
        match key {
            MAX_REQUEST => {
                self.request_bytes = reader.request_bytes(value).or_listed(faults, limits::BODY_BYTES);
            }
            HISTORY => self.history = reader.history(value, faults),
            OTLP_ENDPOINT => self.otlp_endpoint = reader.collector(value).or_listed(faults, None),
            EMBEDDING => self.embedding = reader.embedding(value).or_listed(faults, None),
            SEARCH => {
                (self.meaning, self.suggests, self.search_model) = reader.search(value, faults);
            }
            DEBUG_STATUS => self.debug_status = reader.switch(key, value).or_listed(faults, false),
            PICTURES => self.pictures = reader.switch(key, value).or_listed(faults, false),
            SOCKETS => self.sockets = reader.sockets(value, faults),
            RESULT_CAP => reader.caps(value).or_listed(faults, ()),
            TOOL_RULES => self.rules = reader.rules(value, &mut self.rule_faults),
            TOOL_DEFAULTS => self.tool_defaults = reader.tool_defaults(value, &mut self.rule_faults),
            // Without one of them, another registry could decide what a name means.
            REGISTRIES => self.registries = reader.registries(value).or_listed(faults, Vec::new()),
            NEW_SERVERS if !matches!(value.get(), "\"offer\"" | "\"hold\"") => {
                self.holds_new_servers = true;
                let message = format!("\"{NEW_SERVERS}\" must be \"offer\" or \"hold\"");
                faults.push(reader.at(value.get(), message));
            }
            _ => {
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

    /// The parsed document.
    pub(super) fn document(&self) -> &Value {
        &self.document
    }

    /// The same configuration with these guarded settings in effect.
    pub(super) fn with_guarded(
        mut self,
        accepted: Config,
        holds_new_servers: bool,
        embedding: Option<EmbeddingSource>,
        otlp_endpoint: Option<String>,
    ) -> Self {
        let registries = self.registries.iter().filter(|named| accepted.registries.contains(named));
        let registries = registries.cloned().collect();
        self.pictures &= accepted.pictures;
        let mut in_force = accepted.rules;
        for name in self.servers.keys().filter(|name| name.in_path() != name.as_str()) {
            in_force = ToolRule::as_in_paths(in_force, name);
        }
        let rules = std::mem::replace(&mut self.rules, in_force);
        let defaults = std::mem::replace(&mut self.tool_defaults, accepted.tool_defaults);
        self.unaccepted = Some((rules, defaults));
        Self { holds_new_servers, embedding, otlp_endpoint, registries, ..self }
    }

    /// The size limit of a result for this client, in bytes of text; 0 means no limit.
    pub fn result_cap(&self, client: &str) -> usize {
        let cap = |value: &Value| value.as_u64().map(|cap| usize::try_from(cap).unwrap_or(usize::MAX));
        let configured = self.document.get(RESULT_CAP);
        let of_client = configured.and_then(|caps| caps.get(client).or_else(|| caps.get("default")));
        of_client.or(configured).and_then(cap).unwrap_or(USUAL_RESULT_CAP)
    }

    /// Edits the servers as JSON and parses the result, which is refused if it is invalid.
    pub(super) fn edited(&self, edit: impl FnOnce(&mut Map<String, Value>)) -> Result<Self, ConfigError> {
        self.edited_in(SERVERS, edit)
    }

    /// The same for another block.
    pub(super) fn edited_in(
        &self,
        block: &str,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, ConfigError> {
        self.edited_whole(|root| {
            let block = root.entry(block).or_insert_with(|| Value::Object(Map::new()));
            if let Some(fields) = block.as_object_mut() {
                edit(fields);
            }
        })
    }

    /// The same for the whole document.
    pub(super) fn edited_whole(
        &self,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, ConfigError> {
        let mut document = self.document.clone();
        if !document.is_object() {
            document = Value::Object(Map::new());
        }
        if let Some(root) = document.as_object_mut() {
            edit(root);
        }
        let mut after = Self::parse(&changed(&self.text, &mut Vec::new(), &self.document, &document)?)?;
        // Existing faults may remain in the file; a new or changed entry has to be valid.
        let is_new = |(name, fault): &(&String, &ConfigError)| {
            self.faults.get(*name).is_none_or(|known| known.message != fault.message)
                || self.entry(name) != after.entry(name)
        };
        let added = new_fault(&self.rule_faults, &after.rule_faults);
        if let Some(fault) = added.or_else(|| new_fault(&self.setting_faults, &after.setting_faults)) {
            return Err(fault.clone());
        }
        match after.faults.iter().find(is_new).map(|(name, _)| name.clone()) {
            Some(name) => Err(after.faults.remove(&name).expect("it was found there")),
            None => Ok(after),
        }
    }
}

/// The first fault that was not there before.
fn new_fault<'a>(before: &[ConfigError], after: &'a [ConfigError]) -> Option<&'a ConfigError> {
    let mut known: Vec<&str> = before.iter().map(|fault| fault.message.as_str()).collect();
    after.iter().find(|fault| {
        let same = known.iter().position(|message| *message == fault.message);
        same.map(|at| known.swap_remove(at)).is_none()
    })
}

/// What was read, or a cautious value and a line in the list of faults.
trait OrListed<T> {
    fn or_listed(self, faults: &mut Vec<ConfigError>, cautious: T) -> T;
}

impl<T> OrListed<T> for Result<T, ConfigError> {
    fn or_listed(self, faults: &mut Vec<ConfigError>, cautious: T) -> T {
        self.unwrap_or_else(|fault| {
            faults.push(fault);
            cautious
        })
    }
}

/// Changes a text from meaning `old` to meaning `new` without touching anything else.
fn changed(text: &str, way: &mut Vec<String>, old: &Value, new: &Value) -> Result<String, ConfigError> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return Ok(text.to_owned()) };
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = &text[..text.len() - bare.len()];
    let mut text = bare.to_owned();
    let cannot =
        |error: crate::edit::EditError| ConfigError { line: 1, column: 1, message: error.to_string() };
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        let spot = Spot { container: way, list: None, name: key };
        text = Format::Json.take(&text, &spot, 0).map_err(cannot)?.unwrap_or(text);
    }
    for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
        match old.get(key).filter(|before| before.is_object() && value.is_object()) {
            Some(before) => {
                way.push(key.clone());
                text = changed(&text, way, before, value)?;
                way.pop();
            }
            None => {
                let spot = Spot { container: way, list: None, name: key };
                text = Format::Json.put(&text, &spot, value).map_err(cannot)?.text;
            }
        }
    }
    Ok(format!("{mark}{text}"))
}

/// The error's text without its position, which counts from the start of a part of the file.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line").next().unwrap_or(&text).to_owned()
}

/// Holds the text, to turn a byte position into line and column.
struct ConfigReader<'a> {
    text: &'a str,
}

type Fields<'a> = Vec<(String, &'a Raw)>;
type Servers = (BTreeMap<ServerName, ServerConfig>, BTreeMap<String, ConfigError>);

impl<'a> ConfigReader<'a> {
    /// Other programs use other keys; a file with one of those would otherwise be silently ignored.
    fn has_its_block(&self, root: &Fields<'a>) -> Result<(), ConfigError> {
        if root.iter().any(|(key, _)| key == SERVERS) {
            return Ok(());
        }
        let letters = |key: &str| key.replace(['_', '-'], "").to_lowercase();
        let is_meant = |key: &str| {
            ["servers", "contextservers", &SERVERS.to_lowercase()].contains(&letters(key).as_str())
        };
        match root.iter().find(|(key, value)| is_meant(key) && value.get().starts_with('{')) {
            Some((key, value)) => {
                let message = format!(
                    "the servers are under \"{key}\", as in other programs' files; rename it to \"{SERVERS}\""
                );
                Err(self.at(value.get(), message))
            }
            None => Ok(()),
        }
    }

    /// Parses each entry independently.
    fn servers(&self, block: &'a Raw) -> Result<Servers, ConfigError> {
        let all = all_fields(block.get());
        let all = all.map_err(|_| {
            self.at(block.get(), format!("\"{SERVERS}\" must be an object, but is {}", kind(block.get())))
        })?;
        let (mut servers, mut faults) = (BTreeMap::new(), BTreeMap::new());
        for (name, entry) in all {
            // Parsers disagree on which duplicate counts.
            if servers.remove(name.as_str()).is_some() || faults.contains_key(&name) {
                let message = format!("\"{name}\" occurs twice; keep one of them");
                faults.insert(name, self.at(entry.get(), message));
                continue;
            }
            let parsed = name.parse::<ServerName>().map_err(|error| self.at(entry.get(), error.to_string()));
            match parsed.and_then(|parsed| Ok((parsed, self.server(&name, entry)?))) {
                Ok((parsed, server)) => drop(servers.insert(parsed, server)),
                Err(fault) => drop(faults.insert(name, fault)),
            }
        }
        Ok((servers, faults))
    }

    /// Parses each rule independently. An invalid one is replaced by one that restricts whatever it could be about.
    fn rules(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> Vec<ToolRule> {
        let list: Result<Vec<&'a Raw>, _> = serde_json::from_str(value.get());
        let Ok(list) = list else {
            faults.push(self.at(value.get(), format!("\"{TOOL_RULES}\" must be a list of rules")));
            return vec![ToolRule::in_place_of_all()];
        };
        let either = |raw: &'a Raw| {
            self.rule(raw).unwrap_or_else(|fault| {
                faults.push(fault);
                ToolRule::in_place_of(raw)
            })
        };
        list.into_iter().map(either).collect()
    }

    fn rule(&self, raw: &'a Raw) -> Result<ToolRule, ConfigError> {
        let read: Result<ToolRule, _> = serde_json::from_str(raw.get());
        let rule = read.map_err(|error| {
            let why = without_position(&error);
            self.at(raw.get(), format!("a rule of \"{TOOL_RULES}\" is invalid: {why}"))
        })?;
        match rule.fault() {
            Some(fault) => Err(self.at(raw.get(), fault.to_owned())),
            None => Ok(rule),
        }
    }

    fn tool_defaults(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> Defaults {
        serde_json::from_str(value.get()).unwrap_or_else(|error| {
            let why = without_position(&error);
            faults.push(self.at(value.get(), format!("\"{TOOL_DEFAULTS}\" cannot be used: {why}")));
            Defaults::in_place_of(value)
        })
    }

    fn caps(&self, value: &'a Raw) -> Result<(), ConfigError> {
        let wrong = |value: &Raw| {
            let expected =
                "expected a number of bytes, or an object with one for each client and \"default\"";
            self.at(value.get(), format!("\"{RESULT_CAP}\" is {}; {expected}", value.get()))
        };
        let is_number = |value: &Raw| value.get().parse::<u64>().is_ok();
        if is_number(value) {
            return Ok(());
        }
        let caps = fields(value.get()).map_err(|_| wrong(value))?;
        caps.iter().find(|(_, cap)| !is_number(cap)).map_or(Ok(()), |(_, cap)| Err(wrong(cap)))
    }

    fn server(&self, name: &str, entry: &'a Raw) -> Result<ServerConfig, ConfigError> {
        let entry_fields = self.object(entry.get(), &format!("the entry of \"{name}\""))?;
        let field = |wanted: &[&str]| {
            entry_fields
                .iter()
                .find(|(key, _)| wanted.contains(&key.as_str()))
                .map(|(key, value)| (key.as_str(), *value))
        };
        let text = |wanted: &[&str]| field(wanted).map(|(key, value)| self.text_of(key, value)).transpose();
        let switch = |key: &str| field(&[key]).map(|(key, value)| self.switch(key, value)).transpose();

        let command = text(&["command"])?;
        // Other programs' documentation also uses these keys.
        let url = text(&["url", "serverUrl", "httpUrl"])?;
        let transport = match (command, url) {
            (Some(_), Some(_)) => {
                let message = format!("\"{name}\" has both \"command\" and \"url\"; expected one of them");
                return Err(self.at(entry.get(), message));
            }
            (None, None) => {
                let message = format!("\"{name}\" has neither \"command\" nor \"url\"; expected one of them");
                return Err(self.at(entry.get(), message));
            }
            (Some(command), None) if command.trim().is_empty() => {
                return Err(
                    self.at(entry.get(), format!("\"{name}\" has an empty \"command\"; expected a program"))
                );
            }
            (Some(command), None) => TransportConfig::Stdio {
                command,
                args: field(&["args"]).map_or(Ok(Vec::new()), |(key, value)| self.list(key, value))?,
                env: field(&["env"]).map_or(Ok(BTreeMap::new()), |(key, value)| self.map(key, value))?,
                cwd: text(&["cwd"])?,
            },
            (None, Some(url)) => {
                let known = ["http://", "https://", "${"].iter().any(|start| url.starts_with(start));
                if !known {
                    let message = format!("the \"url\" of \"{name}\" must begin with http:// or https://");
                    return Err(self.at(entry.get(), message));
                }
                let headers =
                    field(&["headers"]).map_or(Ok(BTreeMap::new()), |(key, value)| self.map(key, value))?;
                let oauth = field(&["oauth"]).map_or(Ok(OAuth::default()), |(_, value)| self.oauth(value))?;
                TransportConfig::Http { url, headers, oauth: Box::new(oauth) }
            }
        };
        let enabled = switch("enabled")?.unwrap_or(true) && !switch("disabled")?.unwrap_or(false);
        let startup = field(&["startup"]).map_or(Ok(Startup::Lazy), |(_, value)| {
            serde_json::from_str(value.get()).map_err(|_| {
                self.at(
                    value.get(),
                    "\"startup\" must be \"lazy\", \"keep-alive\", \"eager\" or \"manual\"".to_owned(),
                )
            })
        })?;
        let era = field(&["era"]).map_or(Ok(Era::Auto), |(_, value)| {
            serde_json::from_str(value.get()).map_err(|_| {
                self.at(value.get(), "\"era\" must be \"auto\", \"legacy\" or \"modern\"".to_owned())
            })
        })?;
        let keep_calls = switch("keepCalls")?.unwrap_or(false);
        let exact_results = switch("exactResults")?.unwrap_or(false);
        let sandbox = field(&["sandbox"]).map_or(Ok(None), |(key, value)| self.sandbox(key, value))?;
        if sandbox.is_some() && matches!(transport, TransportConfig::Http { .. }) {
            let message = format!("\"sandbox\" is for programs, and \"{name}\" has a \"url\"");
            return Err(self.at(entry.get(), message));
        }
        let duration = |key: &str| field(&[key]).map(|(key, value)| self.duration(key, value)).transpose();
        Ok(ServerConfig {
            transport,
            enabled,
            startup,
            era,
            discovery_timeout: duration("discoveryTimeout")?
                .unwrap_or(DISCOVERY_TIMEOUT)
                .max(REQUEST_TIMEOUT_FLOOR),
            refresh_interval: duration("refreshInterval")?
                .unwrap_or(REFRESH_INTERVAL)
                .max(REFRESH_INTERVAL_FLOOR),
            idle_timeout: duration("idleTimeout")?.unwrap_or(IDLE_TIMEOUT),
            request_timeout: duration("requestTimeout")?
                .unwrap_or(REQUEST_TIMEOUT)
                .max(REQUEST_TIMEOUT_FLOOR),
            tool_timeouts: field(&["toolTimeouts"]).map_or(Ok(BTreeMap::new()), |(key, value)| {
                self.object(value.get(), &format!("\"{key}\""))?
                    .into_iter()
                    .map(|(tool, value)| {
                        let timeout = self.duration(&tool, value)?.max(REQUEST_TIMEOUT_FLOOR);
                        Ok((tool, timeout))
                    })
                    .collect()
            })?,
            keep_calls,
            exact_results,
            sandbox,
        })
    }

    /// `false`, or a block of settings.
    fn oauth(&self, value: &'a Raw) -> Result<OAuth, ConfigError> {
        match value.get() {
            "false" => return Ok(OAuth { never: true, ..OAuth::default() }),
            "true" | "null" => return Ok(OAuth::default()),
            _ => {}
        }
        let mut oauth = OAuth::default();
        for (name, value) in self.object(value.get(), "\"oauth\"")? {
            let wrong =
                |expected: &str| self.at(value.get(), format!("\"{name}\" in \"oauth\" must be {expected}"));
            let text = || self.text_of(&name, value).map(Some);
            match name.as_str() {
                "clientId" | "client_id" => oauth.client_id = text()?,
                "clientSecret" | "client_secret" => oauth.client_secret = text()?,
                "scopes" => oauth.scopes = Some(self.list(&name, value)?),
                "resource" => {
                    oauth.resource = match value.get() {
                        "true" => Resource::Named,
                        "false" => Resource::Off,
                        _ => Resource::Value(self.text_of(&name, value)?),
                    };
                }
                "redirect" => {
                    oauth.redirect = serde_json::from_str(value.get())
                        .map_err(|_| wrong("\"127.0.0.1\" or \"localhost\""))?;
                }
                "port" | "callbackPort" => {
                    let port = value.get().parse().ok().filter(|port| *port > 0);
                    oauth.port = Some(port.ok_or_else(|| wrong("a port from 1 to 65535"))?);
                }
                "authorizeParameters" => oauth.authorize_parameters = self.map(&name, value)?,
                "clientMetadataUrl" => {
                    let document = self.text_of(&name, value)?;
                    // The URL is the client ID itself (draft-ietf-oauth-client-id-metadata-document, section 3).
                    let path = document.strip_prefix("https://").and_then(|rest| rest.split_once('/'));
                    if path.is_none_or(|(host, path)| host.is_empty() || path.is_empty()) {
                        return Err(wrong("an address that begins with https:// and has a path"));
                    }
                    oauth.client_metadata_url = Some(document);
                }
                "issuer" => oauth.issuer = text()?,
                "allowNoPkceAnnouncement" => {
                    oauth.allow_no_pkce_announcement = self.switch(&name, value)?;
                }
                "grant" => {
                    oauth.grant = serde_json::from_str(value.get())
                        .map_err(|_| wrong("\"authorization_code\" or \"client_credentials\""))?;
                }
                // Stays in the file, like every unknown field.
                _ => {}
            }
        }
        Ok(oauth)
    }

    /// The name of an image, or an object with it and the engine that runs it.
    fn container(&self, value: &'a Raw) -> Result<ContainerSandbox, ConfigError> {
        let mut container = ContainerSandbox { image: String::new(), engine: ContainerEngine::Auto };
        if value.get().starts_with('"') {
            container.image = self.text_of("container", value)?;
        } else {
            for (name, value) in self.object(value.get(), "\"container\"")? {
                match name.as_str() {
                    "image" => container.image = self.text_of("image", value)?,
                    "engine" => {
                        container.engine = serde_json::from_str(value.get()).map_err(|_| {
                            let message = "\"engine\" must be \"auto\", \"podman\" or \"docker\"";
                            self.at(value.get(), message.to_owned())
                        })?;
                    }
                    _ => {
                        let message =
                            format!("\"container\" has no \"{name}\"; expected \"image\" or \"engine\"");
                        return Err(self.at(value.get(), message));
                    }
                }
            }
        }
        // A word of a command line. What begins with a hyphen would be an option there.
        let fits = |c: char| c.is_ascii_alphanumeric() || "._/:@-".contains(c);
        let is_name = container.image.chars().all(fits)
            && container.image.starts_with(|c: char| c.is_ascii_alphanumeric());
        is_name.then_some(container).ok_or_else(|| {
            let message = "\"container\" must name an image, such as \"node:22@sha256:…\"";
            self.at(value.get(), message.to_owned())
        })
    }

    /// `true` for a sandbox that allows nothing more, or an object with what it allows.
    fn sandbox(&self, key: &str, value: &'a Raw) -> Result<Option<Sandbox>, ConfigError> {
        if matches!(value.get(), "true" | "false" | "null") {
            return Ok((value.get() == "true").then(Sandbox::default));
        }
        let mut sandbox = Sandbox::default();
        for (name, value) in self.object(value.get(), &format!("\"{key}\""))? {
            match name.as_str() {
                "read" => sandbox.read = self.list("read", value)?,
                "write" => sandbox.write = self.list("write", value)?,
                "network" => sandbox.network = self.switch("network", value)?,
                "container" if value.get() == "null" => {}
                "container" => sandbox.container = Some(self.container(value)?),
                _ => {
                    let message = format!(
                        "\"sandbox\" has no \"{name}\"; expected \"read\", \"write\", \"network\" or \"container\""
                    );
                    return Err(self.at(value.get(), message));
                }
            }
        }
        Ok(Some(sandbox))
    }

    fn request_bytes(&self, value: &Raw) -> Result<usize, ConfigError> {
        const MIB: usize = 1024 * 1024;
        let (least, most) = (limits::BODY_BYTES / MIB, limits::BODY_BYTES_MOST / MIB);
        let asked =
            serde_json::from_str::<usize>(value.get()).ok().filter(|asked| (least..=most).contains(asked));
        asked.map(|asked| asked * MIB).ok_or_else(|| {
            let message = format!("\"{MAX_REQUEST}\" must be a whole number from {least} to {most}");
            self.at(value.get(), message)
        })
    }

    /// With a fault, nothing is recorded or learned that was perhaps not to be, and nothing stored is deleted.
    fn history(&self, block: &'a Raw, faults: &mut Vec<ConfigError>) -> History {
        let Ok(fields) =
            self.object(block.get(), &format!("\"{HISTORY}\"")).map_err(|fault| faults.push(fault))
        else {
            return History { record: false, learn: false, days: ALL_DAYS, bytes: u64::MAX };
        };
        let mut history = History::default();
        for (key, value) in fields {
            let number = || {
                let number = serde_json::from_str::<u32>(value.get()).ok().filter(|number| *number > 0);
                number
                    .ok_or_else(|| self.at(value.get(), format!("\"{key}\" must be a positive whole number")))
            };
            match key.as_str() {
                "record" => history.record = self.switch(&key, value).or_listed(faults, false),
                "learn" => history.learn = self.switch(&key, value).or_listed(faults, false),
                "days" => history.days = number().or_listed(faults, ALL_DAYS),
                "megabytes" => {
                    let bytes = number().map(|megabytes| u64::from(megabytes) * 1024 * 1024);
                    history.bytes = bytes.or_listed(faults, u64::MAX);
                }
                // Stays in the file, like every unknown field.
                _ => {}
            }
        }
        history
    }

    fn object(&self, json: &'a str, what: &str) -> Result<Fields<'a>, ConfigError> {
        fields(json).map_err(|error| {
            if json.trim_start().starts_with('{') {
                // The syntax has been checked, so only duplicate keys get here.
                let message = error.to_string();
                let reason = message.split(" at line").next().unwrap_or(&message);
                self.at(json, format!("{what}: {reason}"))
            } else {
                self.at(json, format!("{what} must be an object, but is {}", kind(json)))
            }
        })
    }

    fn text_of(&self, key: &str, value: &Raw) -> Result<String, ConfigError> {
        serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be a string, but is {}", kind(value.get())))
        })
    }

    /// Whole paths, by the client that each socket is for. One with a fault is not opened.
    fn sockets(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> BTreeMap<String, String> {
        let all = self.object(value.get(), &format!("\"{SOCKETS}\"")).or_listed(faults, Vec::new());
        let is_whole = |path: &str| path.starts_with("~/") || path.starts_with('/');
        let mut sockets = BTreeMap::new();
        for (client, value) in all {
            let path = self.text_of(&client, value).and_then(|path| match is_whole(&path) {
                true if !client.trim().is_empty() => Ok(path),
                _ => {
                    let message = format!(
                        "\"{SOCKETS}\" names a client and the whole path of its socket, but has {client:?}: {path:?}"
                    );
                    Err(self.at(value.get(), message))
                }
            });
            if let Some(path) = path.map(Some).or_listed(faults, None) {
                sockets.insert(client, path);
            }
        }
        sockets
    }

    fn collector(&self, value: &Raw) -> Result<Option<String>, ConfigError> {
        let named: Option<String> = serde_json::from_str(value.get()).unwrap_or_default();
        let url = named.as_deref().map(str::trim);
        match url {
            Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(Some(url.to_owned()))
            }
            None if value.get() == "null" => Ok(None),
            _ => Err(self.at(
                value.get(),
                format!(
                    "\"{OTLP_ENDPOINT}\" must be an address like \"http://127.0.0.1:4318\", but is {}",
                    value.get()
                ),
            )),
        }
    }

    /// Whether to search by meaning, whether to suggest servers, and by which model.
    fn search(&self, block: &'a Raw, faults: &mut Vec<ConfigError>) -> (bool, bool, SearchModel) {
        let Ok(fields) =
            self.object(block.get(), &format!("\"{SEARCH}\"")).map_err(|fault| faults.push(fault))
        else {
            return (false, false, SearchModel::default());
        };
        let (mut meaning, mut suggests, mut model) = (true, true, SearchModel::default());
        for (key, value) in fields {
            match key.as_str() {
                "meaning" => meaning = self.switch(&key, value).or_listed(faults, false),
                "suggest" => suggests = self.switch(&key, value).or_listed(faults, false),
                "model" => model = self.search_model(value).or_listed(faults, SearchModel::default()),
                _ => {}
            }
        }
        (meaning, suggests, model)
    }

    fn search_model(&self, value: &Raw) -> Result<SearchModel, ConfigError> {
        match value.get() {
            "\"english\"" => Ok(SearchModel::English),
            "\"multilingual\"" => Ok(SearchModel::Multilingual),
            _ => {
                let message =
                    format!("the \"model\" of \"{SEARCH}\" must be \"english\" or \"multilingual\"");
                Err(self.at(value.get(), message))
            }
        }
    }

    fn embedding(&self, value: &'a Raw) -> Result<Option<EmbeddingSource>, ConfigError> {
        if value.get() == "null" {
            return Ok(None);
        }
        let fields = self.object(value.get(), &format!("\"{EMBEDDING}\""))?;
        let text = |wanted: &str| {
            let field = fields.iter().find(|(key, _)| key == wanted);
            let text = field.map(|(key, value)| self.text_of(key, value)).transpose()?;
            text.filter(|text| !text.trim().is_empty())
                .ok_or_else(|| self.at(value.get(), format!("\"{EMBEDDING}\" needs a \"{wanted}\"")))
        };
        let source = EmbeddingSource { url: text("url")?, model: text("model")? };
        if !source.url.starts_with("http://") && !source.url.starts_with("https://") {
            let message = format!("the \"url\" of \"{EMBEDDING}\" must begin with http:// or https://");
            return Err(self.at(value.get(), message));
        }
        Ok(Some(source))
    }

    fn registries(&self, value: &'a Raw) -> Result<Vec<RegistrySource>, ConfigError> {
        let list: Vec<&'a Raw> = serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{REGISTRIES}\" must be a list, but is {}", kind(value.get())))
        })?;
        let registry = |raw: &'a Raw| {
            let fields = self.object(raw.get(), &format!("each of \"{REGISTRIES}\""))?;
            let text = |wanted: &str| {
                let field = fields.iter().find(|(key, _)| key == wanted);
                field.map(|(key, value)| self.text_of(key, value)).transpose()
            };
            let url = text("url")?.unwrap_or_default();
            let url = url.trim().trim_end_matches('/').trim_end_matches("/v0.1").to_owned();
            let is_here = ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|here| {
                url.strip_prefix(here).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
            });
            if !url.starts_with("https://") && !is_here {
                let message = format!(
                    "each of \"{REGISTRIES}\" needs a \"url\" that begins with https://; http:// is for this computer only"
                );
                return Err(self.at(raw.get(), message));
            }
            Ok(RegistrySource { url, token: text("token")? })
        };
        list.into_iter().map(registry).collect()
    }

    fn switch(&self, key: &str, value: &Raw) -> Result<bool, ConfigError> {
        serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be true or false, but is {}", kind(value.get())))
        })
    }

    /// A string, or an unquoted number or boolean: `"PORT": 3000` is common and unambiguous.
    fn scalar(&self, what: &str, value: &Raw) -> Result<String, ConfigError> {
        match serde_json::from_str::<Value>(value.get()) {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Number(_) | Value::Bool(_)) => Ok(value.get().to_owned()),
            _ => Err(self.at(value.get(), format!("{what} must be a string, but is {}", kind(value.get())))),
        }
    }

    fn list(&self, key: &str, value: &'a Raw) -> Result<Vec<String>, ConfigError> {
        let items: Vec<&Raw> = serde_json::from_str(value.get()).map_err(|_| {
            self.at(value.get(), format!("\"{key}\" must be a list of strings, but is {}", kind(value.get())))
        })?;
        items.into_iter().map(|item| self.scalar(&format!("each item of \"{key}\""), item)).collect()
    }

    fn map(&self, key: &str, value: &'a Raw) -> Result<BTreeMap<String, String>, ConfigError> {
        self.object(value.get(), &format!("\"{key}\""))?
            .into_iter()
            .map(|(name, value)| Ok((name.clone(), self.scalar(&format!("\"{name}\" in \"{key}\""), value)?)))
            .collect()
    }

    /// Seconds as a number, or a text such as `"90s"`, `"3m"`, `"1h"`, `"500ms"`.
    fn duration(&self, key: &str, value: &Raw) -> Result<Duration, ConfigError> {
        let wrong = || {
            let message =
                format!("\"{key}\" must be a number of seconds, or a text such as \"90s\", \"3m\" or \"1h\"");
            self.at(value.get(), message)
        };
        let seconds = match serde_json::from_str::<Value>(value.get()) {
            Ok(Value::Number(number)) => number.as_f64().ok_or_else(wrong)?,
            Ok(Value::String(text)) => {
                let text = text.trim();
                let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
                let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
                number
                    * match text[digits..].trim() {
                        "ms" => 0.001,
                        "s" | "" => 1.0,
                        "m" | "min" => 60.0,
                        "h" => 3600.0,
                        _ => return Err(wrong()),
                    }
            }
            _ => return Err(wrong()),
        };
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|d| *d <= Duration::from_secs(31_536_000))
            .ok_or_else(wrong)
    }

    /// An error at `part`, which must be a slice of the text.
    fn at(&self, part: &str, message: String) -> ConfigError {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ConfigError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }

    fn syntax(&self, error: &serde_json::Error) -> ConfigError {
        let message = error.to_string();
        let reason = message.split(" at line").next().unwrap_or(&message);
        ConfigError { line: error.line().max(1), column: error.column().max(1), message: reason.to_owned() }
    }
}

fn kind(json: &str) -> impl fmt::Display {
    match json.trim_start().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a configuration that has no fault in any setting.
    fn faultless(text: &str) -> Result<Config, ConfigError> {
        let config = Config::parse(text)?;
        config.setting_faults().first().cloned().map_or(Ok(config), Err)
    }

    fn server(entry: &str) -> ServerConfig {
        let config = Config::parse(&format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)).unwrap();
        config.servers()["x"].clone()
    }

    fn fault(entry: &str) -> ConfigError {
        let config = Config::parse(&format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)).unwrap();
        config.faults()["x"].clone()
    }

    #[test]
    fn how_long_a_request_may_take_has_a_floor_and_may_differ_by_tool() {
        let entry = r#"{"command": "x", "requestTimeout": 1, "toolTimeouts": {"slow": "5m", "hasty": 2}}"#;
        let config = server(entry);
        let seconds = |timeout: Option<&Duration>| timeout.map(Duration::as_secs);
        assert_eq!(config.request_timeout, REQUEST_TIMEOUT_FLOOR);
        assert_eq!(seconds(config.tool_timeouts.get("slow")), Some(300));
        assert_eq!(seconds(config.tool_timeouts.get("hasty")), Some(5));
        assert_eq!(server(r#"{"command": "x"}"#).request_timeout, Duration::from_secs(60));
        let wrong = fault(r#"{"command": "x", "toolTimeouts": {"a": "soon"}}"#);
        assert!(wrong.message.contains("\"a\" must be a number of seconds"));
    }

    #[test]
    fn registries_are_named_by_address_and_the_official_one_is_the_usual() {
        let registries = |text: &str| faultless(text).map(|config| config.registries().to_vec());
        assert_eq!(registries("{}").unwrap()[0].url, OFFICIAL_REGISTRY);
        assert_eq!(registries(r#"{"registries": []}"#).unwrap(), []);
        let named = registries(
            r#"{"registries": [{"url": "https://r.example/v0.1/", "token": "${secret:R}"}, {"url": "http://127.0.0.1:8080"}]}"#,
        )
        .unwrap();
        assert_eq!(
            (named[0].url.as_str(), named[0].token.as_deref()),
            ("https://r.example", Some("${secret:R}"))
        );
        assert_eq!(named[1].url, "http://127.0.0.1:8080");
        for wrong in [
            r#"7"#,
            r#"["https://x"]"#,
            r#"[{}]"#,
            r#"[{"url": "http://r.example"}]"#,
            r#"[{"url": "http://127.0.0.1.r.example"}]"#,
        ] {
            assert!(registries(&format!(r#"{{"registries": {wrong}}}"#)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_sandbox_is_a_switch_or_says_what_is_left_open() {
        let sandbox = |entry: &str| server(&format!(r#"{{"command": "x"{entry}}}"#)).sandbox;
        assert_eq!((sandbox(""), sandbox(r#", "sandbox": false"#)), (None, None));
        assert_eq!(sandbox(r#", "sandbox": true"#), Some(Sandbox::default()));
        let expected = Sandbox { read: vec!["~/notes".into()], network: true, ..Sandbox::default() };
        assert_eq!(sandbox(r#", "sandbox": {"read": ["~/notes"], "network": true}"#), Some(expected));
        let container = |value: &str| {
            let sandbox = sandbox(&format!(r#", "sandbox": {{"container": {value}}}"#));
            sandbox.and_then(|sandbox| sandbox.container).unwrap()
        };
        let image = "ghcr.io/x/y:1".to_owned();
        let auto = ContainerSandbox { image, engine: ContainerEngine::Auto };
        assert_eq!(container(r#""ghcr.io/x/y:1""#), auto);
        let docker = ContainerSandbox { engine: ContainerEngine::Docker, ..auto };
        assert_eq!(container(r#"{"image": "ghcr.io/x/y:1", "engine": "docker"}"#), docker);
        for (entry, said) in [
            (r#"{"command": "x", "sandbox": {"reed": []}}"#, "\"sandbox\" has no \"reed\""),
            (r#"{"command": "x", "sandbox": "on"}"#, "must be an object"),
            (r#"{"command": "x", "sandbox": {"read": "a"}}"#, "list of strings"),
            (r#"{"url": "https://x", "sandbox": true}"#, "is for programs"),
            (r#"{"command": "x", "sandbox": {"container": ""}}"#, "must name an image"),
            (r#"{"command": "x", "sandbox": {"container": "--privileged"}}"#, "must name an image"),
            (r#"{"command": "x", "sandbox": {"container": "a b"}}"#, "must name an image"),
            (r#"{"command": "x", "sandbox": {"container": {"engine": "podman"}}}"#, "must name an image"),
            (
                r#"{"command": "x", "sandbox": {"container": {"image": "a", "engine": "lxc"}}}"#,
                "\"podman\" or",
            ),
            (r#"{"command": "x", "sandbox": {"container": {"picture": "a"}}}"#, "has no \"picture\""),
        ] {
            let error = fault(entry);
            assert!(error.message.contains(said), "{entry}: {error}");
        }
    }

    #[test]
    fn a_socket_is_for_one_client_and_has_a_whole_path() {
        let sockets = |value: &str| {
            let config = faultless(&format!(r#"{{"mcpServers": {{}}, "sockets": {value}}}"#));
            config.map(|config| config.sockets().clone())
        };
        let expected = [("box".to_owned(), "/run/user/1/box.sock".to_owned())].into();
        assert_eq!(sockets(r#"{"box": "/run/user/1/box.sock"}"#).unwrap(), expected);
        assert!(sockets(r#"{"box": "~/box.sock"}"#).is_ok());
        for value in [r#"{"box": "box.sock"}"#, r#"{" ": "/x"}"#, r#""/x""#, r#"{"box": ["/x"]}"#] {
            assert!(sockets(value).is_err(), "{value}");
        }
    }

    #[test]
    fn how_often_lists_are_read_again_has_a_usual_value_and_a_floor() {
        let interval = |field: &str| server(&format!(r#"{{"command": "x"{field}}}"#)).refresh_interval;
        assert_eq!(interval(""), Duration::from_secs(600));
        assert_eq!(interval(r#", "refreshInterval": "1h""#), Duration::from_secs(3600));
        assert_eq!(interval(r#", "refreshInterval": 0"#), REFRESH_INTERVAL_FLOOR);
    }

    #[test]
    fn a_client_document_has_an_https_address_with_a_path() {
        for (document, is_taken) in [
            ("https://example.com/satchel.json", true),
            ("https://example.com/a/b?c", true),
            ("https://example.com/", false),
            ("https://example.com", false),
            ("https:///x", false),
            ("http://example.com/satchel.json", false),
            ("", false),
        ] {
            let text = format!(
                r#"{{"mcpServers": {{"a": {{"url": "https://x.example", "oauth": {{"clientMetadataUrl": "{document}"}}}}}}}}"#
            );
            let config = Config::parse(&text).unwrap();
            let is_server = config.servers().contains_key("a");
            assert_eq!(is_server, is_taken, "{document}");
        }
    }

    #[test]
    fn searching_by_meaning_is_on_unless_it_is_switched_off() {
        let read = |block: &str| faultless(&format!(r#"{{"search": {block}}}"#));
        for (block, expected) in
            [("{}", true), (r#"{"meaning": true, "x": 1}"#, true), (r#"{"meaning": false}"#, false)]
        {
            assert_eq!(read(block).unwrap().searches_by_meaning(), expected, "{block}");
        }
        assert!(Config::default().searches_by_meaning());
        assert!(read(r#"{"meaning": "no"}"#).is_err() && read("false").is_err());
    }

    #[test]
    fn a_search_goes_by_the_english_model_unless_another_is_chosen() {
        let read = |block: &str| faultless(&format!(r#"{{"search": {block}}}"#));
        for (block, expected) in [
            ("{}", SearchModel::English),
            (r#"{"model": "english"}"#, SearchModel::English),
            (r#"{"meaning": true, "model": "multilingual"}"#, SearchModel::Multilingual),
        ] {
            assert_eq!(read(block).unwrap().search_model(), expected, "{block}");
        }
        let refused = read(r#"{"model": "klingon"}"#).unwrap_err().to_string();
        assert!(refused.contains("must be \"english\" or \"multilingual\""), "{refused}");
        assert!(read(r#"{"model": true}"#).is_err());
    }

    #[test]
    fn a_source_of_embeddings_has_an_address_and_a_model() {
        let read = |block: &str| faultless(&format!(r#"{{"embedding": {block}}}"#));
        let named = read(r#"{"url": "http://127.0.0.1:11434", "model": "m", "note": 1}"#).unwrap();
        let source = EmbeddingSource { url: "http://127.0.0.1:11434".into(), model: "m".into() };
        assert_eq!((named.embedding(), Config::default().embedding()), (Some(&source), None));
        assert_eq!(read("null").unwrap().embedding(), None);
        for (block, said) in [
            (r#"{"url": "http://x"}"#, "needs a \"model\""),
            (r#"{"model": "m"}"#, "needs a \"url\""),
            (r#"{"url": "ollama", "model": "m"}"#, "must begin with http://"),
            (r#""http://x""#, "must be an object"),
        ] {
            let error = read(block).unwrap_err();
            assert!(error.message.contains(said), "{block}: {error}");
        }
    }

    #[test]
    fn a_setting_with_a_fault_means_the_most_cautious_and_hides_nothing() {
        let wrong = r#"{
            "resultCap": "lots", "maxRequestMiB": 1, "history": { "record": "no", "days": -1, "megabytes": 50 },
            "otlpEndpoint": 1, "embedding": 1, "search": { "meaning": "no" }, "debugStatus": 1, "pictures": "no",
            "sockets": { "box": "box.sock", "pod": "/run/pod.sock" }, "newServers": "ofer",
            "registries": [{ "url": "https://r.example" }, { "url": "r.example" }],
            "activeProfile": 5, "folderProfiles": [], "profiles": { "a": { "servers": ["x"] } },
            "mcpServers": { "x": { "command": "x" } }
        }"#;
        let config = Config::parse(wrong).unwrap();
        let lines: Vec<usize> = config.setting_faults().iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 6, 6], "{:?}", config.setting_faults());
        assert_eq!(config.servers().len(), 1);
        assert_eq!((config.result_cap("cursor"), config.request_bytes()), (100_000, limits::BODY_BYTES));
        let history = History { record: false, learn: true, days: ALL_DAYS, bytes: 50 * 1024 * 1024 };
        assert_eq!(config.history(), history);
        assert_eq!((config.otlp_endpoint(), config.embedding()), (None, None));
        assert!(!config.searches_by_meaning() && !config.debug_status() && !config.shows_pictures());
        assert_eq!(config.sockets().keys().collect::<Vec<_>>(), ["pod"]);
        assert!(config.holds_new_servers() && config.registries().is_empty());
        assert_eq!(config.profiles().active(), Some("5"));
        let folders = ["/home/me/web".to_owned()];
        let looking = super::super::profiles::Looking { folders: &folders, ..Default::default() };
        assert!(config.profiles().lens(&looking).is_shut().is_some());

        let whole = r#"{"history": [], "search": 1, "sockets": 1, "registries": {}, "profiles": 3}"#;
        let config = Config::parse(whole).unwrap();
        assert_eq!(config.setting_faults().len(), 5);
        assert!(!config.history().record && !config.searches_by_meaning() && !config.suggests_servers());
        assert!(config.sockets().is_empty() && config.registries().is_empty());
    }

    #[test]
    fn a_fault_in_a_setting_stays_and_keeps_nothing_from_being_edited() {
        let config =
            Config::parse(r#"{"resultCap": "lots", "mcpServers": {"x": {"command": "x"}}}"#).unwrap();
        let edited =
            config.edited(|servers| drop(servers.insert("y".into(), json!({ "command": "y" })))).unwrap();
        assert!(edited.to_text().contains(r#""resultCap": "lots""#) && edited.servers().len() == 2);
        let worse = config.edited_whole(|root| drop(root.insert("pictures".into(), json!("no"))));
        assert!(worse.unwrap_err().message.contains("must be true or false"));
    }

    #[test]
    fn larger_requests_are_accepted_where_the_configuration_says_so_within_a_bound() {
        let bytes = |text: &str| faultless(text).map(|config| config.request_bytes() / 1024 / 1024);
        assert_eq!(bytes("{}"), Ok(4));
        for (asked, mib) in [("4", 4), ("64", 64)] {
            assert_eq!(bytes(&format!(r#"{{"maxRequestMiB": {asked}}}"#)), Ok(mib));
        }
        for wrong in ["3", "65", "-1", "4.5", "\"8\"", "null"] {
            let error = bytes(&format!(r#"{{"maxRequestMiB": {wrong}}}"#)).unwrap_err();
            assert_eq!((error.line, error.column), (1, 19), "{wrong}");
            assert!(error.message.contains("from 4 to 64"), "{error}");
        }
    }

    #[test]
    fn blocks_copied_from_readmes_work() {
        let stdio = server(
            r#"{"command": "npx", "args": ["-y", "pkg", 3], "env": {"PORT": 3000, "A": "b"}, "type": "stdio"}"#,
        );
        assert_eq!(
            stdio.transport,
            TransportConfig::Stdio {
                command: "npx".into(),
                args: vec!["-y".into(), "pkg".into(), "3".into()],
                env: [("A".to_owned(), "b".to_owned()), ("PORT".to_owned(), "3000".to_owned())].into(),
                cwd: None,
            }
        );
        assert!(stdio.enabled);
        assert_eq!((stdio.startup, stdio.idle_timeout), (Startup::Lazy, Duration::from_secs(180)));
        let http = server(
            r#"{"type": "http", "url": "https://x.dev/mcp", "headers": {"Authorization": "Bearer ${T}"}}"#,
        );
        assert!(
            matches!(http.transport, TransportConfig::Http { ref url, .. } if url == "https://x.dev/mcp")
        );
        assert!(!server(r#"{"command": "x", "disabled": true}"#).enabled);
    }

    #[test]
    fn durations_are_seconds_or_texts_with_a_unit() {
        let idle =
            |value: &str| server(&format!(r#"{{"command": "x", "idleTimeout": {value}}}"#)).idle_timeout;
        for (value, millis) in
            [("5", 5_000), ("0.5", 500), ("\"3m\"", 180_000), ("\"250ms\"", 250), ("\"1h\"", 3_600_000)]
        {
            assert_eq!(idle(value), Duration::from_millis(millis), "{value}");
        }
        let floor = server(r#"{"command": "x", "requestTimeout": 1}"#).request_timeout;
        assert_eq!(floor, REQUEST_TIMEOUT_FLOOR);
    }

    #[test]
    fn errors_name_line_and_column() {
        let check = |text: &str, place: (usize, usize), part: &str| {
            let error = match Config::parse(text) {
                Ok(config) => config.faults().values().next().cloned().unwrap(),
                Err(error) => error,
            };
            assert_eq!((error.line, error.column), place, "{error}");
            assert!(error.message.contains(part), "{error}");
        };
        check(
            "{\n  \"mcpServers\": {\n    \"a\": 3\n  }\n}",
            (3, 10),
            "\"a\" must be an object, but is a number",
        );
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"args\": \"y\"}}}",
            (2, 9),
            "\"args\" must be a list of strings, but is a string",
        );
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"é\", {}]}}}",
            (1, 53),
            "each item of \"args\"",
        );
        check("{\"mcpServers\": {\"a\": {}}}", (1, 22), "neither \"command\" nor \"url\"");
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"http://y\"}}}", (1, 22), "both");
        check("{\"mcpServers\": {\"a\": {\"url\": \"ftp://y\"}}}", (1, 22), "http://");
        check("{\"mcpServers\": {\"a\\n\": {\"command\": \"x\"}}}", (1, 24), "control character");
        check("{\"mcpServers\": {\"\": {\"command\": \"x\"}}}", (1, 21), "cannot be empty");
        check("{\n// mine\n\"mcpServers\": {},\n\"x\": }", (4, 6), "expected value");
        check(
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
            (1, 45),
            "occurs twice",
        );
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"startup\": \"now\"}}}", (1, 50), "keep-alive");
        check("{\"mcpServers\": {\"a\": {\"command\": \"x\", \"command\": \"y\"}}}", (1, 22), "occurs twice");
        check("[]", (1, 1), "must be an object, but is a list");
        check("{\"mcpServers\": []}", (1, 16), "must be an object, but is a list");
        check("{\"mcpServers\": {}, \"mcpServers\": {}}", (1, 1), "occurs twice");
        check("{\"servers\": {\"a\": {}}}", (1, 13), "rename it to \"mcpServers\"");
        check("{\"mcp_servers\": {}}", (1, 17), "rename it to \"mcpServers\"");
    }

    #[test]
    fn an_entry_that_is_wrong_keeps_no_other_from_being_used_and_stays_to_the_byte() {
        let good = r#""@scope/pkg": {"command": "x"}, "io.github.user/server": {"url": "http://y"}, "a:b": {"command": "z"}"#;
        let long = "n".repeat(300);
        for bad in [
            "\"bad\": 5",
            "\"bad\":null",
            "\"bad\" : [ 1.50 ]",
            "\"bad\": {\"command\" :[\"x\"]}",
            "\"bad\": {\"command\": \"x\",\t\"url\": \"http://y\"}",
            "\"bad\": {\"type\": \"carrier pigeon\"}",
            "\"bad\": {\"url\": \"ws://x\"}",
            "\"bad\": {\"command\": \"x\"}, \"bad\": {\"command\": \"x\"}",
            "\"b\\u0007d\": {\"command\": \"x\"}",
            &format!("\"{long}\": {{\"command\": \"x\"}}"),
            "\"\": {}",
        ] {
            let text = format!("{{\"mcpServers\": {{{good}, // kept\n {bad},}}}}");
            let config = Config::parse(&text).unwrap();
            let names: Vec<_> = config.servers().keys().map(ServerName::as_str).collect();
            assert_eq!(names, ["@scope/pkg", "a:b", "io.github.user/server"], "{bad}");
            assert_eq!(config.faults().len(), 1, "{bad}");
            let edited = config.edited(|servers| {
                servers.insert("new".into(), json!({ "command": "n" }));
                servers.shift_remove("a:b");
            });
            let edited = edited.unwrap();
            assert!(edited.to_text().contains(bad), "{}", edited.to_text());
            assert!(edited.to_text().contains("// kept"), "{}", edited.to_text());
            assert_eq!((edited.servers().len(), edited.faults().len()), (3, 1));
            let spoiled = edited.edited(|servers| drop(servers.insert("worse".into(), json!(1))));
            assert!(spoiled.unwrap_err().message.contains("\"worse\" must be an object"));
        }
    }

    #[test]
    fn names_that_differ_in_case_or_normal_form_are_two_servers() {
        let text = "{\"mcpServers\": {\"Git\": {\"command\": \"x\"}, \"git\": {\"command\": \"x\"}, \"caf\u{e9}\": {\"command\": \"x\"}, \"cafe\u{301}\": {\"command\": \"x\"}}}";
        assert_eq!(Config::parse(text).unwrap().servers().len(), 4);
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
    fn nothing_unknown_is_lost_by_writing_back() {
        let text = r#"{"$schema":"x","z":[1.50,{"b":1,"a":2}],"mcpServers":{"b":{"command":"x","autoApprove":["y"]},"a":{"url":"http://y","note":null}},"other":true}"#;
        let config = Config::parse(text).unwrap();
        assert_eq!(config.to_text(), text);
        let edited = config.edited(|servers| drop(servers.insert("c".into(), json!({ "command": "x" }))));
        assert_eq!(edited.unwrap().to_text(), text.replace("null}}", r#"null}, "c": {"command": "x"}}"#));
        let marked = Config::parse(&format!("\u{feff}{text}")).unwrap();
        let edited = marked.edited(|servers| drop(servers.shift_remove("b"))).unwrap();
        assert!(edited.to_text().starts_with("\u{feff}{") && edited.servers().len() == 1);
    }

    #[test]
    fn an_empty_file_is_an_empty_configuration_and_the_first_one_has_the_toolbox() {
        assert!(Config::parse(" \n").unwrap().servers().is_empty());
        assert!(Config::parse("\u{feff}{}").unwrap().servers().is_empty());
        assert_eq!(Config::first().servers().keys().map(ServerName::as_str).collect::<Vec<_>>(), ["toolbox"]);
    }
}
