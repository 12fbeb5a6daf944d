//! The settings of one server: the shape of an entry in `mcpServers`.

use std::{collections::BTreeMap, time::Duration};

use satchel_entry::template::names_secret;
use serde::{Deserialize, Serialize};

use super::oauth::OAuth;

/// Default idle time after which a server is stopped.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(180);
/// Default timeout for the handshake and for each page of a list.
pub const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout of a request without progress.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Default age at which the lists of a running server are read again.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// Minimum of that interval.
pub const REFRESH_INTERVAL_FLOOR: Duration = Duration::from_secs(1);
/// Minimum request timeout.
pub const REQUEST_TIMEOUT_FLOOR: Duration = Duration::from_secs(5);

/// When a server is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Startup {
    /// On the first call; stops when idle.
    #[default]
    Lazy,
    /// On the first call; keeps running, and restarts if it exits.
    KeepAlive,
    /// With the hub; keeps running, and restarts if it exits.
    Eager,
    /// Only on request of a person.
    Manual,
}

/// Which callers share one running instance of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Share {
    /// All: there is one instance.
    All,
    /// The sessions of one client.
    Client,
    /// None: each session has its own.
    Session,
    /// The sessions in one folder.
    Project,
}

impl Share {
    /// As written in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Client => "client",
            Self::Session => "session",
            Self::Project => "project",
        }
    }

    /// A number that grows with how many callers share an instance. An entry that does not say leaves servers that keep
    /// something open unshared, so `all` is more than that.
    pub fn breadth(share: Option<Self>) -> u64 {
        match share {
            Some(Self::Session) => 0,
            Some(Self::Client) => 1,
            Some(Self::Project) => 2,
            None => 3,
            Some(Self::All) => 4,
        }
    }
}

/// Which family of protocol revisions to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum EraSetting {
    /// Detected at the first connection and remembered.
    #[default]
    Auto,
    /// Sessions opened by `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// Stateless requests: revisions from 2026-07-28 on.
    Modern,
}

/// How to reach a server. Values may contain `${VAR}`, `${VAR:-default}` and `${secret:NAME}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A local process that speaks over standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Additional environment variables.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// A Streamable HTTP endpoint.
    Http {
        /// Its address.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
        /// Sign-in settings.
        oauth: Box<OAuth>,
    },
}

impl TransportConfig {
    /// The arguments that contain a reference to a secret. Whoever may list processes can read them.
    pub fn secret_arguments(&self) -> Vec<&str> {
        let args = match self {
            TransportConfig::Stdio { args, .. } => args.as_slice(),
            TransportConfig::Http { .. } => &[],
        };
        args.iter().map(String::as_str).filter(|arg| names_secret(arg)).collect()
    }

    /// All texts that may contain a reference.
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

    /// The texts in which `${project}` is the folder of a session: arguments, variables and the working directory of a
    /// program. What a program is cannot depend on a folder that a client names.
    pub fn project_texts(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = match self {
            TransportConfig::Stdio { command: _, args, env, cwd } => Some((args, env, cwd)),
            TransportConfig::Http { .. } => None,
        };
        texts.into_iter().flat_map(|(args, env, cwd)| args.iter_mut().chain(env.values_mut()).chain(cwd))
    }
}

/// What a sandboxed server may access beyond what every program needs. Linux has its own sandbox; a container works
/// wherever podman or Docker is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Sandbox {
    /// Files and directories it may read: absolute paths, or paths that begin with `~/`.
    #[serde(default)]
    pub read: Vec<String>,
    /// Files and directories it may change, in the same form.
    #[serde(default)]
    pub write: Vec<String>,
    /// May it access the network?
    #[serde(default)]
    pub network: bool,
    /// The container that is its sandbox, instead of the system's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub container: Option<ContainerSandbox>,
}

/// A container to run a server in. Its command is looked up in the image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// How to reach it.
    pub transport: TransportConfig,
    /// May clients use it?
    pub enabled: bool,
    /// When it is started.
    pub startup: Startup,
    /// Which family of protocol revisions to use.
    pub era: EraSetting,
    /// Timeout for the handshake without any sign of life, and for each page of a list.
    pub discovery_timeout: Duration,
    /// How often its lists are read again while it is running, even without a change notification.
    pub refresh_interval: Duration,
    /// Idle time after which it is stopped.
    pub idle_timeout: Duration,
    /// Timeout of a request without progress, if the entry has one.
    pub request_timeout: Option<Duration>,
    /// The same for individual tools, by name.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Are the arguments and results of its calls stored in the history?
    pub keep_calls: bool,
    /// Are its results passed through byte for byte, including invisible characters?
    pub exact_results: bool,
    /// Its sandbox, if it runs in one.
    pub sandbox: Option<Sandbox>,
    /// Who shares an instance, if the entry says so.
    pub share: Option<Share>,
}
