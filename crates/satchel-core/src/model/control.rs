//! Types of the control channel: configuration changes, tools as faces list them, and refusals. Requests are in
//! [`super::request`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Code, Startup, caution::Caution, profiles::Profile, server::Era};

/// The header of a request for which a person was asked at the terminal of whoever sends it. Says nothing by itself: the
/// hub looks whether there is such a terminal.
pub const ASKED: &str = "satchel-asked";

/// Stands in an entry that is edited where a secret is written out in the configuration. Where it still stands
/// afterwards, the secret stays.
pub const HIDDEN: &str = "••••••••";

/// One change of the configuration, from whichever face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Adds a server, or replaces its transport where it exists and `replace` says so.
    Add {
        /// Its name.
        name: String,
        /// The program or the address.
        target: Target,
        /// When it is started.
        startup: Option<Startup>,
        /// In which family of revisions it is spoken to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        era: Option<Era>,
        /// Replace an existing entry of that name instead of refusing.
        replace: bool,
    },
    /// Adds a server with its whole entry, as it stands in the configuration, unknown fields included.
    Put {
        /// Its name.
        name: String,
        /// The entry, an object.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        entry: serde_json::Value,
        /// Replace an existing entry of that name instead of refusing.
        replace: bool,
        /// Rules over its tools that come with it, as they stand in the configuration.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, type = "unknown[]"))]
        rules: Vec<serde_json::Value>,
    },
    /// Replaces a server's whole entry by what a person made of the answer to [`super::request::GetEntry`].
    Edit {
        /// Its name.
        name: String,
        /// The entry, an object; [`HIDDEN`] keeps the text that was there.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        entry: serde_json::Value,
    },
    /// Adds a server that is set up as another one is.
    Duplicate {
        /// The other one.
        name: String,
        /// The new one's name.
        to: String,
    },
    /// Removes a server.
    Remove {
        /// Its name.
        name: String,
    },
    /// Lets clients use a server, or hides and stops it.
    SetEnabled {
        /// Its name.
        name: String,
        /// The choice.
        enabled: bool,
    },
    /// Says whether a tool may be called, or leaves it to what it does.
    SetPermit {
        /// `server:tool`, in which `*` stands for anything and `?` for one character.
        tool: String,
        /// Only for clients of this name; all without one.
        #[serde(default)]
        client: Option<String>,
        /// The choice; `None` takes the rule away.
        permit: Option<super::nature::Permit>,
    },
    /// Keeps the arguments and results of a server's calls in the history from now on, or no longer.
    SetKeepCalls {
        /// Its name.
        name: String,
        /// The choice.
        keep: bool,
    },
    /// Puts a server in a sandbox, or takes it out. It is started anew.
    SetSandbox {
        /// Its name.
        name: String,
        /// What is left to it; `None` ends the sandbox.
        sandbox: Option<super::server::Sandbox>,
    },
    /// Ranks tools by what was used after similar searches, and remembers that, or neither.
    SetLearning {
        /// The choice.
        learn: bool,
    },
    /// Lets pictures of servers be fetched from where the servers say they are, or not.
    SetPictures {
        /// The choice.
        show: bool,
    },
    /// Makes a profile count for every client that has no other. Starts nothing.
    UseProfile {
        /// Its name; `None` for everything.
        name: Option<String>,
    },
    /// Adds a profile, or changes one.
    PutProfile {
        /// Its name from now on.
        name: String,
        /// Its name so far; `None` for a new one.
        #[serde(default)]
        was: Option<String>,
        /// What it consists of.
        profile: Profile,
    },
    /// Removes a profile that nobody uses.
    RemoveProfile {
        /// Its name.
        name: String,
    },
    /// Binds a project folder, with everything in it, to a profile.
    BindFolder {
        /// Its absolute path.
        folder: String,
        /// The profile's name; `None` takes the binding away.
        profile: Option<String>,
    },
    /// Writes a setting of another setup that a person takes. No face can ask for it.
    #[serde(skip)]
    TakeSetting {
        /// Its key in the configuration.
        key: String,
        /// Its value; `None` takes it out.
        value: Option<serde_json::Value>,
    },
}

/// Where a server added by a face is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A program to start.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables added to its environment.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// An address to connect to.
    Url {
        /// The address.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// How a client connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Connection {
    /// The endpoint's address.
    pub url: String,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, String>,
}

/// Ranked tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToolList {
    /// The tools, best first.
    pub tools: Vec<ToolLine>,
    /// How many matched in all.
    pub total: usize,
}

/// How much a caller has to know to call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// A few plain values.
    #[default]
    Simple,
    /// Several values, or an object within.
    Moderate,
    /// Many values, objects within objects, or rules that a signature cannot say.
    Complex,
}

impl Complexity {
    /// As it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Complexity::Simple => "simple",
            Complexity::Moderate => "moderate",
            Complexity::Complex => "complex",
        }
    }
}

/// One tool as faces list it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToolLine {
    /// `server:tool`.
    pub tool_path: String,
    /// The server's description, shortened to its first sentences.
    pub description: String,
    /// The compact call signature.
    pub signature: String,
    /// Tokens (o200k_base) of its definition; `None` until counted.
    pub tokens: Option<usize>,
    /// What it does: `reading`, `searching`, `writing`, `deleting`, `sending`, `running`, `converting` or `other`; or
    /// what a rule of the configuration says. Told by its definition, checked by nobody.
    #[serde(default)]
    pub category: String,
    /// How much a caller has to know to call it.
    #[serde(default)]
    pub complexity: Complexity,
    /// How many definitions it has had since it is known; 0 where that is not known.
    #[serde(default)]
    pub version: u32,
    /// When it was first seen, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub first_seen_ms: Option<u64>,
    /// When its definition last changed.
    #[serde(default)]
    pub changed_ms: Option<u64>,
    /// Why it was found, where something was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it does, as far as is known.
    pub nature: super::nature::Nature,
    /// Whether clients may call it.
    pub permit: super::nature::Permit,
    /// The rule that says so.
    pub rule: String,
}

/// Why a request was refused. Carried as JSON `{"code", "message", "action"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[error("{message}")]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it; empty where the message says it.
    #[serde(default)]
    pub action: String,
    /// The same as the message, in parts that a face can say in its own language; empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Caution>>"))]
    pub why: Vec<Caution>,
}

impl Refusal {
    /// A refusal for this reason.
    pub fn new(code: Code, message: impl Into<String>, action: impl Into<String>) -> Self {
        Self { code, message: message.into(), action: action.into(), why: vec![] }
    }

    /// A refusal for this reason, in the words of a caution.
    pub fn because(code: Code, caution: Caution, action: impl Into<String>) -> Self {
        Self { why: vec![caution.clone()], ..Self::new(code, caution.text, action) }
    }

    /// There is no server of this name.
    pub fn unknown_server(name: &str) -> Self {
        Self::new(Code::UnknownServer, format!("there is no server \"{name}\""), "See `satchel list`.")
    }

    /// What happened and what to do about it, as one text.
    pub fn sentence(&self) -> String {
        match self.action.as_str() {
            "" => self.message.clone(),
            action => format!("{}. {action}", self.message.trim_end_matches('.')),
        }
    }
}
