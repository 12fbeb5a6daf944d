//! Types for an examination: each finding with its verdict and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Code, listings::MissingRuntime, request::StoreKind};

/// Everything that was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Examination {
    /// One finding for each thing.
    pub findings: Vec<DoctorFinding>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DoctorFinding {
    /// What kind of thing.
    pub about: Examined,
    /// The thing, as people name it: `server github`.
    pub subject: String,
    /// How it is.
    pub verdict: Health,
    /// What was found.
    pub message: String,
    /// What to do about it; empty where nothing is to be done.
    pub action: String,
    /// What was found, in parts, so that a face can say it in its own language.
    #[serde(flatten)]
    pub what: Diagnosis,
}

impl DoctorFinding {
    /// A finding that says what its diagnosis does.
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

    /// The same with what to do about it.
    #[must_use]
    pub fn with_action(self, action: impl Into<String>) -> Self {
        Self { action: action.into(), ..self }
    }

    /// What was found and what to do, in one line.
    pub fn sentence(&self) -> String {
        match self.action.is_empty() {
            true => self.message.clone(),
            false => format!("{}. {}", self.message.trim_end_matches('.'), self.action),
        }
    }
}

/// What kinds of things are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Examined {
    /// The configuration file.
    Configuration,
    /// How tools are searched.
    Search,
    /// The hub itself.
    Hub,
    /// Where clients connect.
    Port,
    /// A program that starts servers.
    Runtime,
    /// Where secrets are stored.
    Secrets,
    /// Another program's files.
    Client,
    /// A profile.
    Profile,
    /// A folder with a profile of its own.
    Folder,
    /// A server.
    Server,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Fine,
    /// Worth knowing, but nothing is broken by it.
    Note,
    /// Something does not work because of it.
    Wrong,
}

/// What was found: a code with what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Diagnosis {
    /// The configuration is in order.
    ConfigRead {
        /// Where it is.
        file: String,
        /// How many servers it has.
        servers: usize,
    },
    /// The configuration cannot be understood.
    ConfigDamaged {
        /// Where it is.
        file: String,
        /// The line, and what is wrong there.
        why: String,
    },
    /// There is no configuration yet.
    ConfigAbsent {
        /// Where it will be.
        file: String,
    },
    /// The configuration cannot be read.
    ConfigUnreadable {
        /// Where it is.
        file: String,
        /// Why.
        why: String,
    },
    /// Searches go by words; the configuration says so.
    SearchByWords,
    /// Searches go by words; a variable of the environment says so.
    SearchByWordsHere {
        /// Its name.
        variable: String,
    },
    /// A named model helps searches.
    SearchWithService {
        /// Its name.
        model: String,
        /// Where it is asked.
        url: String,
    },
    /// The model on this computer helps searches.
    SearchWithModel {
        /// Its file.
        file: String,
    },
    /// The model is missing.
    SearchWithoutModel,
    /// No hub runs.
    HubAbsent,
    /// A hub is there and cannot be asked.
    HubUnreachable {
        /// Why.
        why: String,
    },
    /// A hub runs.
    HubRuns {
        /// Its process.
        pid: u32,
        /// Where it listens.
        url: Option<String>,
    },
    /// The hub has a notice.
    Noticed {
        /// Of what kind.
        notice: Code,
        /// In English.
        why: String,
    },
    /// No client can connect.
    PortClosed,
    /// Clients connect at the usual port.
    PortUsual {
        /// The port.
        port: u16,
        /// The address.
        url: String,
    },
    /// Clients connect at another port.
    PortOther {
        /// The usual one.
        usual: u16,
        /// The address.
        url: String,
    },
    /// A program that starts servers.
    Runtime {
        /// Is it there?
        program: Whereabouts,
        /// How it is installed here, where it is not.
        install: Option<MissingRuntime>,
    },
    /// A client has our entry and has asked nothing yet.
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
        /// Servers of ours that it starts by itself as well.
        doubled: Vec<String>,
    },
    /// A client needs a person.
    ClientTroubled {
        /// The client's id.
        client: String,
        /// Of what kind the trouble is: `unreadable`, `vanished`, `edited` and the like.
        trouble: String,
        /// In English.
        why: String,
    },
    /// A profile, or that of a folder, cannot be used.
    ProfileDamaged {
        /// Why, in English.
        why: String,
    },
    /// A profile names servers that are not here.
    ProfileUnknown {
        /// Their names.
        servers: Vec<String>,
    },
    /// Secrets can be stored and read.
    SecretsKept {
        /// Where.
        store: StoreKind,
        /// How many there are.
        count: usize,
    },
    /// The keychain does not answer.
    SecretsSilent {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The store cannot be used.
    SecretsUnusable {
        /// The kind of trouble.
        trouble: Option<Code>,
        /// In English.
        why: String,
    },
    /// A server.
    ServerSeen {
        /// What it does, in English.
        doing: String,
        /// The credentials and variables that it lacks, without its own name before them.
        lacks: Vec<String>,
        /// Those of them that are variables of the environment.
        variables: Vec<String>,
        /// Where its program or address is.
        program: Whereabouts,
        /// What else is worth knowing.
        also: Option<ServerAside>,
    },
}

/// Where a program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Whereabouts {
    /// At this path or address.
    At(String),
    /// In Satchel itself.
    BuiltIn,
    /// This file may not be executed.
    NotExecutable(String),
    /// Nowhere.
    Missing {
        /// What was looked for.
        command: String,
        /// Programs of the same family that are there.
        instead: Vec<String>,
        /// Where it was looked for.
        looked: Vec<String>,
    },
}

impl Whereabouts {
    /// Can it be started, as far as can be seen from outside?
    pub fn is_there(&self) -> bool {
        match self {
            Self::At(_) | Self::BuiltIn => true,
            Self::NotExecutable(_) | Self::Missing { .. } => false,
        }
    }
}

/// What else is worth knowing of a server that works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ServerAside {
    /// It has neither tools nor resources.
    OffersNothing,
    /// The newest version of this package runs.
    Floats(String),
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConfigRead { file, servers } => write!(f, "{file}; servers: {servers}"),
            Self::ConfigDamaged { file, why } => write!(f, "{file}, {why}"),
            Self::ConfigAbsent { file } => {
                write!(f, "{file} does not exist yet; it is made at the first start")
            }
            Self::ConfigUnreadable { file, why } => write!(f, "cannot read {file}: {why}"),
            Self::SearchByWords => {
                f.write_str("by words alone; meaning is switched off in the configuration")
            }
            Self::SearchByWordsHere { variable } => {
                write!(f, "by words alone; meaning is switched off by {variable}")
            }
            Self::SearchWithService { model, url } => {
                write!(f, "by words and by meaning, with {model} at {url}")
            }
            Self::SearchWithModel { file } => write!(f, "by words and by meaning, with the model {file}"),
            Self::SearchWithoutModel => {
                f.write_str("by words alone; the model that helps by meaning is missing")
            }
            Self::HubAbsent => f.write_str("none runs; start one with `satchel serve`"),
            Self::HubRuns { pid, url: Some(url) } => write!(f, "runs as process {pid} at {url}"),
            Self::HubRuns { pid, url: None } => write!(f, "runs as process {pid}"),
            Self::PortClosed => f.write_str("nothing listens: clients cannot reach Satchel"),
            Self::PortUsual { port, url } => write!(f, "{port}, at {url}"),
            Self::PortOther { usual, url } => write!(f, "{url}; the usual port is {usual}"),
            Self::Runtime { program, .. } => program.fmt(f),
            Self::ClientWaits { file, .. } => {
                write!(f, "connected in {file}, and no request has come from it yet")
            }
            Self::ClientConnected { file, doubled } if doubled.is_empty() => write!(f, "connected in {file}"),
            Self::ClientConnected { file, doubled } => {
                let doubled = doubled.join(", ");
                write!(f, "connected in {file}; it also starts by itself what Satchel has: {doubled}")
            }
            Self::HubUnreachable { why }
            | Self::Noticed { why, .. }
            | Self::ClientTroubled { why, .. }
            | Self::ProfileDamaged { why }
            | Self::SecretsUnusable { why, .. } => f.write_str(why),
            Self::ProfileUnknown { servers } => {
                write!(f, "names servers that are not here: {}", servers.join(", "))
            }
            Self::SecretsKept { store, count } => write!(f, "{count} stored in the {}", store.as_str()),
            Self::SecretsSilent { seconds } => {
                write!(f, "the keychain did not answer within {seconds} s")
            }
            Self::ServerSeen { doing, program, also, .. } => {
                write!(f, "{doing}; {program}")?;
                match also {
                    None => Ok(()),
                    Some(ServerAside::OffersNothing) => {
                        write!(f, "; it offers neither tools nor resources ({})", Code::NoTools.as_str())
                    }
                    Some(ServerAside::Floats(package)) => {
                        write!(f, "; the newest version of {package} runs, reviewed or not")
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
            Self::NotExecutable(file) => write!(f, "{file} may not be executed"),
            Self::Missing { command, instead, looked } => {
                write!(f, "{command} was not found in PATH")?;
                if !instead.is_empty() {
                    write!(f, "; found instead: {}", instead.join(", "))?;
                }
                write!(f, "; looked in {}", looked.join(", "))
            }
        }
    }
}
