//! Types for an examination: each finding with its verdict and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Code, listings::MissingRuntime, request::StoreKind};

/// The result of `satchel doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Examination {
    /// One finding for each thing examined.
    pub findings: Vec<DoctorFinding>,
}

/// A finding about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoctorFinding {
    /// The kind of thing.
    pub about: Examined,
    /// The thing, for people: `server github`.
    pub subject: String,
    /// Its health.
    pub verdict: Health,
    /// The finding, as text.
    pub message: String,
    /// What to do about it; empty if nothing.
    pub action: String,
    /// The finding as data, so that the window can phrase it in its own language.
    #[serde(flatten)]
    pub what: Diagnosis,
}

impl DoctorFinding {
    /// A finding whose message is its diagnosis.
    pub fn new(about: Examined, subject: impl Into<String>, verdict: Health, what: Diagnosis) -> Self {
        Self {
            about,
            subject: subject.into(),
            verdict,
            message: what.to_string(),
            action: String::new(),
            what,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_action(self, action: impl Into<String>) -> Self {
        Self { action: action.into(), ..self }
    }

    /// The message and the action in one line.
    pub fn sentence(&self) -> String {
        match self.action.is_empty() {
            true => self.message.clone(),
            false => format!("{}. {}", self.message.trim_end_matches('.'), self.action),
        }
    }
}

/// The kinds of things that are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Examined {
    /// The configuration file.
    Configuration,
    /// Tool search.
    Search,
    /// The hub itself.
    Hub,
    /// The port that clients connect to.
    Port,
    /// Where programs are looked for.
    SearchPath,
    /// A launcher of servers.
    Runtime,
    /// Where secrets are stored.
    Secrets,
    /// Another program's files.
    Client,
    /// A profile.
    Profile,
    /// A folder that is bound to a profile.
    Folder,
    /// A server.
    Server,
}

/// The health of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It works.
    Fine,
    /// Worth knowing, but nothing is broken.
    Note,
    /// It keeps something from working.
    Wrong,
}

/// A finding as data: a code with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Diagnosis {
    /// The configuration is valid.
    ConfigRead {
        /// Where it is.
        file: String,
        /// How many servers it has.
        servers: usize,
    },
    /// The configuration is invalid.
    ConfigDamaged {
        /// Where it is.
        file: String,
        /// The line and the fault.
        why: String,
    },
    /// The configuration is valid but for rules over tools.
    RulesInvalid {
        /// Where it is.
        file: String,
        /// The line and the fault of each.
        why: Vec<String>,
    },
    /// The configuration is valid but for settings beside the servers.
    SettingsInvalid {
        /// Where it is.
        file: String,
        /// The line and the fault of each.
        why: Vec<String>,
    },
    /// There is no configuration file yet.
    ConfigAbsent {
        /// Where it will be created.
        file: String,
    },
    /// The configuration cannot be read.
    ConfigUnreadable {
        /// Where it is.
        file: String,
        /// Why.
        why: String,
    },
    /// Search uses words only, because the configuration says so.
    SearchByWords,
    /// Search uses words only, because an environment variable says so.
    SearchByWordsHere {
        /// Its name.
        variable: String,
    },
    /// Search uses an embedding service.
    SearchWithService {
        /// Its model.
        model: String,
        /// Its address.
        url: String,
    },
    /// Search uses the local sentence model.
    SearchWithModel {
        /// Its file.
        file: String,
    },
    /// The sentence model is missing.
    SearchWithoutModel,
    /// The multilingual model was chosen and is missing.
    SearchWithoutMultilingual {
        /// Where its file belongs.
        file: String,
    },
    /// No hub is running.
    HubAbsent,
    /// A hub is running but does not answer.
    HubUnreachable {
        /// Why.
        why: String,
    },
    /// A hub is running.
    HubRuns {
        /// Its process id.
        pid: u32,
        /// Where it listens.
        url: Option<String>,
    },
    /// The hub reports a notice.
    Noticed {
        /// Its code.
        notice: Code,
        /// Its message, in English.
        why: String,
    },
    /// Nothing listens for clients.
    PortClosed,
    /// The default port is in use by Satchel.
    PortUsual {
        /// The port.
        port: u16,
        /// The address.
        url: String,
    },
    /// Another port than the default is in use.
    PortOther {
        /// The default port.
        usual: u16,
        /// The address.
        url: String,
    },
    /// Where programs are looked for.
    SearchPath {
        /// The directories, in order.
        dirs: Vec<String>,
    },
    /// A launcher of servers.
    Runtime {
        /// Where it is.
        program: Whereabouts,
        /// How it is installed here, where it is not.
        install: Option<MissingRuntime>,
    },
    /// A client has Satchel's entry and has made no request yet.
    ClientWaits {
        /// The client's file.
        file: String,
        /// What to do there.
        next: Option<String>,
    },
    /// A client is connected.
    ClientConnected {
        /// The client's file.
        file: String,
        /// Servers of Satchel that it also starts itself.
        doubled: Vec<String>,
    },
    /// A client's connection needs attention.
    ClientTroubled {
        /// The client's id.
        client: String,
        /// The kind of trouble: `unreadable`, `vanished`, `edited` and so on.
        trouble: String,
        /// The message, in English.
        why: String,
    },
    /// A client's file has a token, and only this user can read it.
    TokenPrivate {
        /// The file.
        file: String,
        /// Its permission bits before Satchel took them from others, in octal.
        before: String,
    },
    /// A client's file has a token, and other accounts of the computer can use it.
    TokenReadable {
        /// The file.
        file: String,
        /// Its permission bits, in octal.
        mode: String,
        /// The client's id.
        client: String,
        /// The person wants it so.
        chosen: bool,
    },
    /// A profile, or a folder's binding to one, is invalid.
    ProfileDamaged {
        /// Why, in English.
        why: String,
    },
    /// A profile names servers that do not exist.
    ProfileUnknown {
        /// Their names.
        servers: Vec<String>,
    },
    /// Secrets can be stored and read.
    SecretsKept {
        /// Where.
        store: StoreKind,
        /// The number of secrets.
        count: usize,
    },
    /// The keychain does not respond.
    SecretsSilent {
        /// The timeout, in seconds.
        seconds: u64,
    },
    /// The secret store cannot be used.
    SecretsUnusable {
        /// The code, if there is one.
        trouble: Option<Code>,
        /// The message, in English.
        why: String,
    },
    /// A configured server.
    ServerSeen {
        /// Its state, in English.
        doing: String,
        /// The credentials and variables it lacks, without the server's own name as prefix.
        lacks: Vec<String>,
        /// Those of them that are environment variables.
        variables: Vec<String>,
        /// Where its program is, or its address.
        program: Whereabouts,
        /// A further remark.
        also: Option<ServerAside>,
        /// Tools that were left out, each with the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        left_out: Option<Vec<String>>,
    },
}

/// Where a program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Whereabouts {
    /// At this path or address.
    At(String),
    /// Part of Satchel.
    BuiltIn,
    /// This file is not executable.
    NotExecutable(String),
    /// The command is a path, and there is no such file.
    Absent(String),
    /// Not found.
    Missing {
        /// The command that was searched for.
        command: String,
        /// Related programs that were found.
        instead: Vec<String>,
    },
}

impl Whereabouts {
    /// Can it probably be started?
    pub fn is_there(&self) -> bool {
        match self {
            Self::At(_) | Self::BuiltIn => true,
            Self::NotExecutable(_) | Self::Absent(_) | Self::Missing { .. } => false,
        }
    }
}

/// A remark on a server that works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ServerAside {
    /// It offers neither tools nor resources.
    OffersNothing,
    /// It runs the newest version of this package, whichever that is.
    Floats(String),
    /// These arguments contain a secret, and every program of the computer can read arguments.
    SecretArguments(Vec<String>),
    /// Its last words name these variables, which the environment of the hub has and servers do not get.
    VariablesHere(Vec<String>),
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConfigRead { file, servers } => write!(f, "{file}; servers: {servers}"),
            Self::ConfigDamaged { file, why } => write!(f, "{file}, {why}"),
            Self::RulesInvalid { file, why } | Self::SettingsInvalid { file, why } => {
                write!(f, "{file}, {}", why.join("; "))
            }
            Self::ConfigAbsent { file } => {
                write!(f, "{file} does not exist yet; the first start creates it")
            }
            Self::ConfigUnreadable { file, why } => write!(f, "cannot read {file}: {why}"),
            Self::SearchByWords => {
                f.write_str("by words only; the configuration turns search by meaning off")
            }
            Self::SearchByWordsHere { variable } => {
                write!(f, "by words only; {variable} turns search by meaning off")
            }
            Self::SearchWithService { model, url } => {
                write!(f, "by words and by meaning, with {model} at {url}")
            }
            Self::SearchWithModel { file } => write!(f, "by words and by meaning, with the model {file}"),
            Self::SearchWithoutModel => {
                f.write_str("by words only; the model for search by meaning is missing")
            }
            Self::SearchWithoutMultilingual { file } => {
                write!(f, "by words only; the multilingual model is missing: {file}")
            }
            Self::HubAbsent => f.write_str("not running; start one with `satchel serve`"),
            Self::HubRuns { pid, url: Some(url) } => write!(f, "runs as process {pid} at {url}"),
            Self::HubRuns { pid, url: None } => write!(f, "runs as process {pid}"),
            Self::PortClosed => f.write_str("not listening: clients cannot reach Satchel"),
            Self::PortUsual { port, url } => write!(f, "{port}, at {url}"),
            Self::PortOther { usual, url } => write!(f, "{url}; the usual port is {usual}"),
            Self::SearchPath { dirs } => f.write_str(&dirs.join(", ")),
            Self::Runtime { program, .. } => program.fmt(f),
            Self::ClientWaits { file, .. } => {
                write!(f, "connected in {file}; no request from it yet")
            }
            Self::ClientConnected { file, doubled } if doubled.is_empty() => write!(f, "connected in {file}"),
            Self::ClientConnected { file, doubled } => {
                let doubled = doubled.join(", ");
                write!(f, "connected in {file}; it also starts these servers itself: {doubled}")
            }
            Self::TokenPrivate { file, before } => write!(
                f,
                "{file} is readable by your account alone, because it has a token; before, others could use it ({before})"
            ),
            Self::TokenReadable { file, mode, chosen, .. } => {
                write!(f, "{file} has a token, and is readable by other accounts of this computer ({mode})")?;
                if *chosen { f.write_str("; it was connected with --keep-mode") } else { Ok(()) }
            }
            Self::HubUnreachable { why }
            | Self::Noticed { why, .. }
            | Self::ClientTroubled { why, .. }
            | Self::ProfileDamaged { why }
            | Self::SecretsUnusable { why, .. } => f.write_str(why),
            Self::ProfileUnknown { servers } => {
                write!(f, "names missing servers: {}", servers.join(", "))
            }
            Self::SecretsKept { store, count } => write!(f, "{count} stored in the {}", store.as_str()),
            Self::SecretsSilent { seconds } => {
                write!(f, "the keychain did not answer within {seconds} s")
            }
            Self::ServerSeen { doing, program, also, left_out, .. } => {
                let program = program.to_string();
                // A failed start says it already.
                match doing.contains(&program) {
                    true => f.write_str(doing)?,
                    false => write!(f, "{doing}; {program}")?,
                }
                if let Some(reasons) = left_out {
                    let what = if reasons.len() == 1 { "definition is" } else { "definitions are" };
                    write!(f, "; {} {what} left out: {}", reasons.len(), reasons.join("; "))?;
                }
                match also {
                    None => Ok(()),
                    Some(ServerAside::OffersNothing) => {
                        write!(f, "; it offers neither tools nor resources ({})", Code::NoTools.as_str())
                    }
                    Some(ServerAside::SecretArguments(arguments)) => write!(
                        f,
                        "; a secret is on its command line, which every program of this computer can read: {}",
                        arguments.join(" ")
                    ),
                    Some(ServerAside::VariablesHere(names)) => write!(
                        f,
                        "; your environment has {}, which servers get only where their entry names it",
                        names.join(", ")
                    ),
                    Some(ServerAside::Floats(package)) => {
                        write!(f, "; it runs the newest version of {package}, reviewed or not")
                    }
                }
            }
        }
    }
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => f.write_str(place),
            Self::BuiltIn => f.write_str("part of Satchel"),
            Self::NotExecutable(file) => write!(f, "{file} is not executable"),
            Self::Absent(file) => write!(f, "{file} does not exist"),
            Self::Missing { command, instead } => {
                write!(f, "{command} was not found in PATH")?;
                match instead.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; found instead: {}", instead.join(", ")),
                }
            }
        }
    }
}
