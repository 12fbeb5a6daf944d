//! Reads the servers' entries one by one, so that an invalid one keeps no other from being used.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use satchel_entry::slips::is_address;
use satchel_mcp::{Raw, object::all_fields};

use super::{
    file::{ConfigError, SERVERS},
    keys::{Keys, ServerKey},
    reader::{ConfigReader, kind},
    rules::ToolRule,
    tool_lists::ToolLists,
};
use crate::model::{
    ServerConfig, ServerName, Startup, TransportConfig, characters,
    oauth::{OAuth, Resource},
    server::{
        ContainerEngine, ContainerSandbox, DISCOVERY_TIMEOUT, EraSetting, IDLE_TIMEOUT, REFRESH_INTERVAL,
        REFRESH_INTERVAL_FLOOR, REQUEST_TIMEOUT_FLOOR, Sandbox, Share,
    },
};

type Servers = (BTreeMap<ServerName, ServerConfig>, BTreeMap<String, ConfigError>, Vec<ToolRule>);

/// Maximum number of servers. Each has a task, a log and files of its own; people have some dozens.
const MOST_SERVERS: usize = 5_000;
/// A larger number is in milliseconds.
const LARGEST_IN_SECONDS: Duration = Duration::from_secs(3600);

impl<'a> ConfigReader<'a> {
    /// Parses each entry independently.
    pub(super) fn servers(&self, block: &'a Raw) -> Result<Servers, ConfigError> {
        let all = all_fields(block.get());
        let all = all.map_err(|_| {
            self.at(block.get(), format!("\"{SERVERS}\" must be an object, but is {}", kind(block.get())))
        })?;
        let (mut servers, mut faults, mut spots) = (BTreeMap::new(), BTreeMap::new(), HashMap::new());
        let mut rules = Vec::new();
        let count = all.len();
        for (at, (name, entry)) in all.into_iter().enumerate() {
            if at == MOST_SERVERS {
                let left = count - at;
                let message = format!(
                    "at most {MOST_SERVERS} servers are used; this one and those behind it ({left} in all) are not"
                );
                faults.insert(name, self.at(entry.get(), message));
                break;
            }
            // Parsers disagree on which duplicate counts.
            if servers.remove(name.as_str()).is_some() || faults.contains_key(&name) {
                let message = format!("\"{name}\" occurs twice; keep one of them");
                faults.insert(name, self.at(entry.get(), message));
                continue;
            }
            let parsed = name.parse::<ServerName>().map_err(|error| self.at(entry.get(), error.to_string()));
            let read = |parsed: ServerName| {
                let (server, tools) = (self.server(&name, entry)?, self.tools_of(&parsed, entry)?);
                Ok((parsed, server, tools))
            };
            match parsed.and_then(read) {
                Ok((parsed, server, tools)) => {
                    rules.extend(tools);
                    spots.insert(parsed.clone(), entry);
                    servers.insert(parsed, server);
                }
                Err(fault) => drop(faults.insert(name, fault)),
            }
        }
        self.refuse_imitations(&spots, &mut servers, &mut faults);
        Ok((servers, faults, rules))
    }

    /// Of two names that look the same, the one in plain letters is the original, wherever it stands in the file.
    fn refuse_imitations(
        &self,
        spots: &HashMap<ServerName, &Raw>,
        servers: &mut BTreeMap<ServerName, ServerConfig>,
        faults: &mut BTreeMap<String, ConfigError>,
    ) {
        let mut originals: HashMap<String, &ServerName> = HashMap::new();
        for name in servers.keys() {
            let known = originals.entry(characters::skeleton(name.as_str())).or_insert(name);
            let posing = |name: &ServerName| (characters::imitations(name.as_str()), name.as_str().len());
            if posing(name) < posing(known) {
                *known = name;
            }
        }
        let imitation = |name: &ServerName| {
            let original = originals.get(&characters::skeleton(name.as_str()))?;
            original.looks_like(name).then(|| (name.clone(), original.to_string()))
        };
        let imitations: Vec<_> = servers.keys().filter_map(imitation).collect();
        for (name, original) in imitations {
            let message =
                format!("the name \"{name}\" looks like \"{original}\" and is another; write it differently");
            let part = spots.get(&name).map_or("", |entry| entry.get());
            faults.insert(name.to_string(), self.at(part, message));
            servers.remove(&name);
        }
    }

    fn server(&self, name: &str, entry: &'a Raw) -> Result<ServerConfig, ConfigError> {
        let entry_fields = self.object(entry.get(), &format!("the entry of \"{name}\""))?;
        let field = |wanted: &[ServerKey]| {
            let is_wanted = |key: &str| ServerKey::of(key).is_some_and(|key| wanted.contains(&key));
            entry_fields.iter().find(|(key, _)| is_wanted(key)).map(|(key, value)| (key.as_str(), *value))
        };
        let text =
            |wanted: &[ServerKey]| field(wanted).map(|(key, value)| self.text_of(key, value)).transpose();
        let switch = |key: ServerKey| field(&[key]).map(|(key, value)| self.switch(key, value)).transpose();

        // A program with its arguments, as some programs write it.
        let listed = field(&[ServerKey::Command]).filter(|(_, value)| value.get().starts_with('['));
        let mut line = match listed {
            Some((key, value)) => self.list(key, value)?,
            None => Vec::new(),
        };
        let command = match listed {
            Some(_) => Some(if line.is_empty() { String::new() } else { line.remove(0) }),
            None => text(&[ServerKey::Command])?,
        };
        // Other programs' documentation also uses these keys.
        let url = text(&[ServerKey::Url, ServerKey::ServerUrl, ServerKey::HttpUrl])?;
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
            (Some(command), None) if is_address(command.trim()) => {
                let message = format!(
                    "the \"command\" of \"{name}\" is an address; write it as \"url\", and leave \"command\" and \"args\" out"
                );
                return Err(self.at(entry.get(), message));
            }
            (Some(command), None) => {
                let args =
                    field(&[ServerKey::Args]).map_or(Ok(Vec::new()), |(key, value)| self.list(key, value))?;
                let env =
                    field(&[ServerKey::Env]).or_else(|| field(&[ServerKey::Environment, ServerKey::Envs]));
                TransportConfig::Stdio {
                    command,
                    args: line.into_iter().chain(args).collect(),
                    env: env.map_or(Ok(BTreeMap::new()), |(key, value)| self.map(key, value))?,
                    cwd: text(&[ServerKey::Cwd])?,
                }
            }
            (None, Some(url)) => {
                let known = ["http://", "https://", "${"].iter().any(|start| url.starts_with(start));
                if !known {
                    let message = format!("the \"url\" of \"{name}\" must begin with http:// or https://");
                    return Err(self.at(entry.get(), message));
                }
                let headers = field(&[ServerKey::Headers])
                    .map_or(Ok(BTreeMap::new()), |(key, value)| self.map(key, value))?;
                let oauth = field(&[ServerKey::OAuth])
                    .map_or(Ok(OAuth::default()), |(_, value)| self.oauth(value))?;
                TransportConfig::Http { url, headers, oauth: Box::new(oauth) }
            }
        };
        let enabled =
            switch(ServerKey::Enabled)?.unwrap_or(true) && !switch(ServerKey::Disabled)?.unwrap_or(false);
        let startup = field(&[ServerKey::Startup]).map_or(Ok(Startup::Lazy), |(_, value)| {
            serde_json::from_str(value.get()).map_err(|_| {
                self.at(
                    value.get(),
                    "\"startup\" must be \"lazy\", \"keep-alive\", \"eager\" or \"manual\"".to_owned(),
                )
            })
        })?;
        let era = field(&[ServerKey::Era]).map_or(Ok(EraSetting::Auto), |(_, value)| {
            serde_json::from_str(value.get()).map_err(|_| {
                self.at(value.get(), "\"era\" must be \"auto\", \"legacy\" or \"modern\"".to_owned())
            })
        })?;
        let share = field(&[ServerKey::Share]).map(|(_, value)| self.share(value)).transpose()?;
        let keep_calls = switch(ServerKey::KeepCalls)?.unwrap_or(false);
        let exact_results = switch(ServerKey::ExactResults)?.unwrap_or(false);
        let sandbox =
            field(&[ServerKey::Sandbox]).map_or(Ok(None), |(key, value)| self.sandbox(key, value))?;
        if sandbox.is_some() && matches!(transport, TransportConfig::Http { .. }) {
            let message = format!("\"sandbox\" is for programs, and \"{name}\" has a \"url\"");
            return Err(self.at(entry.get(), message));
        }
        let duration =
            |key: ServerKey| field(&[key]).map(|(key, value)| self.duration(key, value)).transpose();
        Ok(ServerConfig {
            transport,
            enabled,
            startup,
            era,
            discovery_timeout: duration(ServerKey::DiscoveryTimeout)?
                .unwrap_or(DISCOVERY_TIMEOUT)
                .max(REQUEST_TIMEOUT_FLOOR),
            refresh_interval: duration(ServerKey::RefreshInterval)?
                .unwrap_or(REFRESH_INTERVAL)
                .max(REFRESH_INTERVAL_FLOOR),
            idle_timeout: duration(ServerKey::IdleTimeout)?.unwrap_or(IDLE_TIMEOUT),
            request_timeout: duration(ServerKey::RequestTimeout)?
                .or(duration(ServerKey::ToolTimeoutSec)?)
                .or(field(&[ServerKey::Timeout])
                    .map(|(key, value)| self.other_timeout(key, value))
                    .transpose()?)
                .map(|timeout| timeout.max(REQUEST_TIMEOUT_FLOOR)),
            tool_timeouts: field(&[ServerKey::ToolTimeouts]).map_or(
                Ok(BTreeMap::new()),
                |(key, value)| {
                    self.object(value.get(), &format!("\"{key}\""))?
                        .into_iter()
                        .map(|(tool, value)| {
                            let timeout = self.duration(&tool, value)?.max(REQUEST_TIMEOUT_FLOOR);
                            Ok((tool, timeout))
                        })
                        .collect()
                },
            )?,
            keep_calls,
            exact_results,
            sandbox,
            share,
        })
    }

    /// What other programs call `timeout`: a number is in seconds in some and in milliseconds in others. No call takes an
    /// hour, and none is given less than a second.
    fn other_timeout(&self, key: &str, value: &'a Raw) -> Result<Duration, ConfigError> {
        let time = self.duration(key, value)?;
        let is_number = !value.get().starts_with('"');
        Ok(if is_number && time > LARGEST_IN_SECONDS { time / 1000 } else { time })
    }

    /// The rules that stand for the lists of tools in a server's entry.
    fn tools_of(&self, name: &ServerName, entry: &'a Raw) -> Result<Vec<ToolRule>, ConfigError> {
        let mut lists = ToolLists::default();
        for (key, value) in self.object(entry.get(), "the entry")? {
            let known = ServerKey::of(&key).filter(|known| ToolLists::KEYS.contains(known));
            // Under that word, other programs also write what is no list of names.
            let is_list =
                value.get().strip_prefix('[').is_some_and(|items| items.trim_start().starts_with('"'));
            let is_other = |known: &ServerKey| *known == ServerKey::Tools && !is_list;
            if let Some(known) = known.filter(|known| !is_other(known)) {
                lists.add(known, self.list(&key, value)?.iter().map(String::as_str));
            }
        }
        Ok(lists.rules(name))
    }

    /// A word; `true` shares it with all, `false` with no other session.
    fn share(&self, value: &'a Raw) -> Result<Share, ConfigError> {
        match value.get() {
            "true" => Ok(Share::All),
            "false" => Ok(Share::Session),
            text => serde_json::from_str(text).map_err(|_| {
                self.at(text, "\"share\" must be \"all\", \"client\", \"session\" or \"project\"".to_owned())
            }),
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use serde_json::json;

    use crate::{config::Config, model::nature::Permit};

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
        assert_eq!(config.request_timeout, Some(REQUEST_TIMEOUT_FLOOR));
        assert_eq!(seconds(config.tool_timeouts.get("slow")), Some(300));
        assert_eq!(seconds(config.tool_timeouts.get("hasty")), Some(5));
        assert_eq!(server(r#"{"command": "x"}"#).request_timeout, None);
        let wrong = fault(r#"{"command": "x", "toolTimeouts": {"a": "soon"}}"#);
        assert!(wrong.message.contains("\"a\" must be a number of seconds"));
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
    fn other_programs_words_mean_the_same_here() {
        let read =
            server(r#"{"command": ["npx", "-y", "x"], "environment": {"REGION": "eu"}, "timeout": 90000}"#);
        let TransportConfig::Stdio { command, args, env, .. } = read.transport else { panic!() };
        assert_eq!((command.as_str(), args.as_slice()), ("npx", &["-y".to_owned(), "x".to_owned()][..]));
        assert_eq!(env["REGION"], "eu");
        assert_eq!(read.request_timeout, Some(Duration::from_secs(90)));
        for timeout in ["\"timeout\": 90", "\"tool_timeout_sec\": 90", "\"timeout\": \"90s\""] {
            let read = server(&format!(r#"{{"command": "x", {timeout}}}"#));
            assert_eq!(read.request_timeout, Some(Duration::from_secs(90)), "{timeout}");
        }
        let own = server(r#"{"command": "x", "timeout": 5000, "requestTimeout": "2m"}"#);
        assert_eq!(own.request_timeout, Some(Duration::from_secs(120)));
    }

    #[test]
    fn more_servers_than_anybody_has_are_left_out_with_one_fault() {
        let entry = |at: usize| format!(r#""s{at}": {{"command": "x"}}"#);
        let text = |count: usize| {
            format!(r#"{{"mcpServers": {{{}}}}}"#, (0..count).map(entry).collect::<Vec<_>>().join(","))
        };
        let all = Config::parse(&text(MOST_SERVERS)).unwrap();
        assert_eq!((all.servers().len(), all.faults().len()), (MOST_SERVERS, 0));
        let more = Config::parse(&text(MOST_SERVERS + 3)).unwrap();
        assert_eq!((more.servers().len(), more.faults().len()), (MOST_SERVERS, 1));
        assert!(more.faults()["s5000"].to_string().contains("3 in all"), "{}", more.faults()["s5000"]);
    }

    #[test]
    fn lists_of_tools_in_an_entry_are_rules_and_the_persons_own_come_last() {
        let rules = |entry: &str| {
            let text = format!(
                r#"{{"mcpServers": {{"x": {entry}}}, "toolRules": [{{"tool": "x:rm", "permit": "ask"}}]}}"#
            );
            let rules = Config::parse(&text).unwrap().tool_rules().to_vec();
            let own = rules.last().unwrap();
            assert_eq!((own.tool.as_str(), own.permit), ("x:rm", Some(Permit::Ask)), "{entry}");
            rules[..rules.len() - 1]
                .iter()
                .map(|rule| {
                    assert_eq!(rule.permit, Some(Permit::Off));
                    format!("{} but {}", rule.tool, rule.except.join(","))
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(rules(r#"{"command": "y", "includeTools": ["a", "b"]}"#), ["x:* but x:a,x:b"]);
        assert_eq!(rules(r#"{"command": "y", "enabled_tools": ["a,b"]}"#), ["x:* but x:a,x:b"]);
        assert_eq!(rules(r#"{"command": "y", "excludeTools": ["a"]}"#), ["x:a but "]);
        assert_eq!(rules(r#"{"command": "y", "disabledTools": ["a"]}"#), ["x:a but "]);
        assert_eq!(rules(r#"{"command": "y", "available_tools": ["a"]}"#), ["x:* but x:a"]);
        assert_eq!(rules(r#"{"command": "y", "tools": [ "a"]}"#), ["x:* but x:a"]);
        for none in [r#"["*"]"#, "[]", r#"{"a": {}}"#, r#"[{"name": "a"}]"#, "true"] {
            assert!(rules(&format!(r#"{{"command": "y", "tools": {none}}}"#)).is_empty(), "{none}");
        }
        assert_eq!(rules(r#"{"command": "y", "allowedTools": ["*"]}"#), [""; 0]);
        assert_eq!(rules(r#"{"command": "y"}"#), [""; 0]);
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
        assert_eq!(floor, Some(REQUEST_TIMEOUT_FLOOR));
    }

    #[test]
    fn an_entry_that_is_wrong_keeps_no_other_from_being_used_and_stays_to_the_byte() {
        let good = r#""@scope/pkg": {"command": "x"}, "io.github.user/server": {"url": "http://y"}, "a:b": {"command": "z"}"#;
        let long = "n".repeat(300);
        for bad in [
            "\"bad\": 5",
            "\"bad\":null",
            "\"bad\" : [ 1.50 ]",
            "\"bad\": {\"command\" :[\"x\", {}]}",
            "\"bad\": {\"command\" :[]}",
            "\"bad\": {\"command\": \"https://x.example/mcp\"}",
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
}
