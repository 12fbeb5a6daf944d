//! The settings of one server: the shape of an entry in `mcpServers`.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::oauth::OAuth;

/// How long a server may be unused before it is stopped, unless its entry says otherwise.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(180);
/// How long a server may take to say what it is and what it offers, unless its entry says otherwise.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a request may take without progress, unless the entry says otherwise.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the lists of a server that is awake are believed, unless its entry says otherwise.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// The shortest time for that.
pub const REFRESH_INTERVAL_FLOOR: Duration = Duration::from_secs(1);
/// The shortest request timeout that is obeyed.
pub const REQUEST_TIMEOUT_FLOOR: Duration = Duration::from_secs(5);

/// When a server is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Startup {
    /// At the first call; stopped when idle.
    #[default]
    Lazy,
    /// At the first call; then kept, and started again if it ends.
    KeepAlive,
    /// With the hub; then kept, and started again if it ends.
    Eager,
    /// Only by a person.
    Manual,
}

/// In which family of protocol revisions a server is spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// Whichever it speaks; asked once, and remembered.
    #[default]
    Auto,
    /// Sessions, opened by `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// Requests that stand alone: revisions from 2026-07-28 on.
    Modern,
}

/// How to reach a server. Values may hold `${VAR}`, `${VAR:-default}` and `${secret:NAME}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A process that speaks over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables added to its environment.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// An endpoint that speaks Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
        /// What the user says of signing in there.
        oauth: Box<OAuth>,
    },
}

impl TransportConfig {
    /// Every text in which a reference may stand.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (first, list, map, last) = match self {
            TransportConfig::Stdio { command, args, env, cwd } => {
                (command, args.as_slice(), env, cwd.as_ref())
            }
            TransportConfig::Http { url, headers, oauth } => {
                (url, &[][..], headers, oauth.client_secret.as_ref())
            }
        };
        [first].into_iter().chain(list).chain(map.values()).chain(last).map(String::as_str)
    }
}

/// What a server in a sandbox may reach besides what every program needs. The system's own sandbox exists on Linux only;
/// a container is one wherever podman or Docker is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sandbox {
    /// Files and directories that it may read: whole paths, or beginning with `~/`.
    #[serde(default)]
    pub read: Vec<String>,
    /// The same for those that it may change.
    #[serde(default)]
    pub write: Vec<String>,
    /// May it reach the network?
    #[serde(default)]
    pub network: bool,
    /// The container that is its sandbox, instead of the system's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional = nullable))]
    pub container: Option<ContainerSandbox>,
}

/// A container to run a server in. Its command is looked up in the image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ContainerSandbox {
    /// The image. It is fetched only where its digest is part of its name.
    pub image: String,
    /// What runs it.
    #[serde(default)]
    pub engine: ContainerEngine,
}

impl ContainerSandbox {
    /// Is this the name of one image for ever? A tag can be moved to another one.
    pub fn is_pinned(&self) -> bool {
        let digest = self
            .image
            .rsplit_once("sha256:")
            .filter(|(before, _)| before.is_empty() || before.ends_with('@'));
        digest.is_some_and(|(_, hex)| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

/// A program that runs containers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ContainerEngine {
    /// podman where it is installed, else Docker.
    #[default]
    Auto,
    /// podman, which needs no service with all rights.
    Podman,
    /// Docker.
    Docker,
}

/// What the user wants of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// How to reach it.
    pub transport: TransportConfig,
    /// May clients use it?
    pub enabled: bool,
    /// When it is started.
    pub startup: Startup,
    /// In which family of revisions it is spoken to.
    pub era: Era,
    /// How long it may take to say what it is, without any sign of life, and then for each page of its lists.
    pub discovery_timeout: Duration,
    /// How often its lists are read again while it is awake, whether it says that they changed or not.
    pub refresh_interval: Duration,
    /// How long it may be unused before it is stopped.
    pub idle_timeout: Duration,
    /// How long a request may take without progress.
    pub request_timeout: Duration,
    /// The same for calls of single tools.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Are the arguments and results of its calls kept in the history?
    pub keep_calls: bool,
    /// Do its results reach clients to the byte, with characters that nobody sees?
    pub exact_results: bool,
    /// Its sandbox, if it runs in one, and what that allows.
    pub sandbox: Option<Sandbox>,
}
