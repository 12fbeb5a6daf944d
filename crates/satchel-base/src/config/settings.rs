//! Holds the settings beside the servers: their keys, their types, and how each is read. A fault in one is reported
//! alone.

use std::collections::BTreeMap;

use satchel_mcp::{Raw, limits, object::fields};

use super::{
    file::ConfigError,
    keys::{HistoryKey, Keys, SearchKey, SettingKey},
    reader::{ConfigReader, OrListed, kind},
    rules::{Defaults, ToolRule},
};

/// Key of the maximum request size, in MiB.
pub(super) const MAX_REQUEST: &str = SettingKey::MaxRequest.key();
/// Key of the settings for recording.
pub const HISTORY: &str = SettingKey::History.key();
/// Key of the OpenTelemetry endpoint that traces are exported to.
pub const OTLP_ENDPOINT: &str = SettingKey::OtlpEndpoint.key();
/// The key of origins of apps, each for one client.
pub(super) const ORIGINS: &str = SettingKey::Origins.key();
/// The key of sockets for single clients.
pub(super) const SOCKETS: &str = SettingKey::Sockets.key();
/// Key of the embedding service.
pub const EMBEDDING: &str = SettingKey::Embedding.key();
/// Key of the search settings.
pub const SEARCH: &str = SettingKey::Search.key();
/// Key of the switch for the debug status.
pub const DEBUG_STATUS: &str = SettingKey::DebugStatus.key();
/// Key of the limit above which results are cut, in bytes of text: a number, or one for each client and `default`; 0
/// means no limit.
pub const RESULT_CAP: &str = SettingKey::ResultCap.key();
/// Key of the tool rules: a list of [`ToolRule`]s.
pub const TOOL_RULES: &str = SettingKey::ToolRules.key();
/// Key of the defaults for tools that no rule matches: [`Defaults`].
pub const TOOL_DEFAULTS: &str = SettingKey::ToolDefaults.key();
/// Key of whether a new server's definitions are available before review: `"offer"` or `"hold"`.
pub const NEW_SERVERS: &str = SettingKey::NewServers.key();
/// Key of the registries: a list of addresses, each with a token if it requires one.
pub const REGISTRIES: &str = SettingKey::Registries.key();
/// The default registry.
pub const OFFICIAL_REGISTRY: &str = "https://registry.modelcontextprotocol.io";
/// Key of the switch for fetching servers' icons.
pub const PICTURES: &str = SettingKey::Pictures.key();
/// Replaces a number of days in `history` that cannot be read, so that nothing is deleted.
const ALL_DAYS: u32 = 36_500;

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
    pub(super) fn usual() -> Vec<Self> {
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

impl<'a> ConfigReader<'a> {
    /// Parses each rule independently. An invalid one is replaced by one that restricts whatever it could be about.
    pub(super) fn rules(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> Vec<ToolRule> {
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

    pub(super) fn tool_defaults(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> Defaults {
        serde_json::from_str(value.get()).unwrap_or_else(|error| {
            let why = without_position(&error);
            faults.push(self.at(value.get(), format!("\"{TOOL_DEFAULTS}\" cannot be used: {why}")));
            Defaults::in_place_of(value)
        })
    }

    pub(super) fn caps(&self, value: &'a Raw) -> Result<(), ConfigError> {
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

    pub(super) fn request_bytes(&self, value: &Raw) -> Result<usize, ConfigError> {
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
    pub(super) fn history(&self, block: &'a Raw, faults: &mut Vec<ConfigError>) -> History {
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
            // Stays in the file, like every unknown field.
            let Some(known) = HistoryKey::of(&key) else { continue };
            match known {
                HistoryKey::Record => history.record = self.switch(&key, value).or_listed(faults, false),
                HistoryKey::Learn => history.learn = self.switch(&key, value).or_listed(faults, false),
                HistoryKey::Days => history.days = number().or_listed(faults, ALL_DAYS),
                HistoryKey::Megabytes => {
                    let bytes = number().map(|megabytes| u64::from(megabytes) * 1024 * 1024);
                    history.bytes = bytes.or_listed(faults, u64::MAX);
                }
            }
        }
        history
    }

    /// Clients, by the origin of the app whose page each lives in. One with a fault is not allowed.
    pub(super) fn origins(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> BTreeMap<String, String> {
        let all = self.object(value.get(), &format!("\"{ORIGINS}\"")).or_listed(faults, Vec::new());
        let mut origins = BTreeMap::new();
        for (origin, value) in all {
            let client = self.text_of(&origin, value).and_then(|client| match is_origin(&origin) {
                true if !client.trim().is_empty() => Ok(client),
                _ => {
                    let message = format!(
                        "\"{ORIGINS}\" names the origin of an app (\"app://notes.example\", without a path) and the client \
                         that it is for, but has {origin:?}: {client:?}"
                    );
                    Err(self.at(value.get(), message))
                }
            });
            if let Some(client) = client.map(Some).or_listed(faults, None) {
                origins.insert(origin, client);
            }
        }
        origins
    }

    /// Whole paths, by the client that each socket is for. One with a fault is not opened.
    pub(super) fn sockets(&self, value: &'a Raw, faults: &mut Vec<ConfigError>) -> BTreeMap<String, String> {
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

    pub(super) fn collector(&self, value: &Raw) -> Result<Option<String>, ConfigError> {
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
    pub(super) fn search(&self, block: &'a Raw, faults: &mut Vec<ConfigError>) -> (bool, bool, SearchModel) {
        let Ok(fields) =
            self.object(block.get(), &format!("\"{SEARCH}\"")).map_err(|fault| faults.push(fault))
        else {
            return (false, false, SearchModel::default());
        };
        let (mut meaning, mut suggests, mut model) = (true, true, SearchModel::default());
        for (key, value) in fields {
            let Some(known) = SearchKey::of(&key) else { continue };
            match known {
                SearchKey::Meaning => meaning = self.switch(&key, value).or_listed(faults, false),
                SearchKey::Suggest => suggests = self.switch(&key, value).or_listed(faults, false),
                SearchKey::Model => {
                    model = self.search_model(value).or_listed(faults, SearchModel::default());
                }
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

    pub(super) fn embedding(&self, value: &'a Raw) -> Result<Option<EmbeddingSource>, ConfigError> {
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

    pub(super) fn registries(&self, value: &'a Raw) -> Result<Vec<RegistrySource>, ConfigError> {
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
}

/// The error's text without its position, which counts from the start of a part of the file.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line").next().unwrap_or(&text).to_owned()
}

/// Is it an origin as programs send it: a scheme and a host, without a path, and none that stands for all or none?
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_host = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '?' | '#' | '@' | '*');
    !scheme.is_empty() && scheme.chars().all(is_word) && !host.is_empty() && host.chars().all(is_host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Parses a configuration that has no fault in any setting.
    fn faultless(text: &str) -> Result<Config, ConfigError> {
        let config = Config::parse(text)?;
        config.setting_faults().first().cloned().map_or(Ok(config), Err)
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
    fn an_origin_is_for_one_client_and_stands_for_no_other() {
        let origins = |value: &str| {
            let config = faultless(&format!(r#"{{"mcpServers": {{}}, "origins": {value}}}"#));
            config.map(|config| config.origins().clone())
        };
        let expected = BTreeMap::from([("app://notes.example".to_owned(), "notes".to_owned())]);
        assert_eq!(origins(r#"{"app://notes.example": "notes"}"#).unwrap(), expected);
        for origin in ["vscode-webview://1a2b", "chrome-extension://abc", "http://localhost:3000"] {
            assert!(origins(&format!(r#"{{"{origin}": "x"}}"#)).is_ok(), "{origin}");
        }
        for wrong in [
            "*",
            "null",
            "",
            "app://",
            "https://*",
            "https://a.example/",
            "https://a@b",
            "a.example",
            "https://a b",
        ] {
            assert!(origins(&format!(r#"{{"{wrong}": "x"}}"#)).is_err(), "{wrong}");
        }
        for value in [r#"{"app://a": ""}"#, r#"{"app://a": ["x"]}"#, r#"["app://a"]"#] {
            assert!(origins(value).is_err(), "{value}");
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
}
