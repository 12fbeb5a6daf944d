//! Types of the control channel: configuration changes, tools as faces list them, and refusals. Requests are in
//! [`super::request`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Code, Startup, caution::Caution, pinned::PinnedTool, profiles::Profile, server::EraSetting};

/// The header of a request that a person confirmed at the caller's terminal. It proves nothing by itself: the hub
/// checks that the caller has such a terminal.
pub const ASKED: &str = "satchel-asked";

/// Placeholder for a secret in an entry that is being edited. Where it remains, the stored secret is kept.
pub const HIDDEN: &str = "••••••••";

/// A change to the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Adds a server. With `replace`, replaces the transport of an existing one.
    Add {
        /// Its name.
        name: String,
        /// The program or the address.
        target: Target,
        /// When it is started.
        startup: Option<Startup>,
        /// Which family of protocol revisions to use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        era: Option<EraSetting>,
        /// Replace an existing entry of that name instead of refusing.
        replace: bool,
    },
    /// Adds a server with its complete configuration entry, including unknown fields.
    Put {
        /// Its name.
        name: String,
        /// The entry, an object.
        #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))]
        entry: serde_json::Value,
        /// Replace an existing entry of that name instead of refusing.
        replace: bool,
        /// Tool rules to add with it, in configuration format.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, type = "unknown[]"))]
        rules: Vec<serde_json::Value>,
    },
    /// Replaces a server's complete entry with an edited version of what [`super::request::GetEntry`] returned.
    Edit {
        /// Its name.
        name: String,
        /// The entry, an object; [`HIDDEN`] stands for the existing value.
        #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))]
        entry: serde_json::Value,
    },
    /// Adds a copy of a server under a new name.
    Duplicate {
        /// The server to copy.
        name: String,
        /// The new name.
        to: String,
    },
    /// Removes a server.
    Remove {
        /// Its name.
        name: String,
    },
    /// Enables a server, or disables it: stops it and hides it from clients.
    SetEnabled {
        /// Its name.
        name: String,
        /// The new value.
        enabled: bool,
    },
    /// Sets whether a tool may be called, or removes that rule.
    SetPermit {
        /// `server:tool`; `*` matches anything, `?` one character.
        tool: String,
        /// Only for this client; `None` for all.
        #[serde(default)]
        client: Option<String>,
        /// The permission; `None` removes the rule.
        permit: Option<super::nature::Permit>,
    },
    /// Turns storing the arguments and results of a server's calls in the history on or off.
    SetKeepCalls {
        /// Its name.
        name: String,
        /// The new value.
        keep: bool,
    },
    /// Sets who shares an instance of a server. Instances that are shared otherwise end.
    SetShare {
        /// Its name.
        name: String,
        /// Who shares one; `None` leaves it to Satchel.
        share: Option<super::server::Share>,
    },
    /// Runs a server in a sandbox, or without one. Restarts it.
    SetSandbox {
        /// Its name.
        name: String,
        /// What the sandbox allows; `None` removes the sandbox.
        sandbox: Option<super::server::Sandbox>,
    },
    /// Turns learning from searches on or off: both the ranking and the recording.
    SetLearning {
        /// The new value.
        learn: bool,
    },
    /// Turns fetching servers' icons on or off.
    SetPictures {
        /// The new value.
        show: bool,
    },
    /// Pins a tool, or unpins it: a pinned one is listed beside Satchel's own at `/mcp`.
    PinTool {
        /// The tool, and whose lists have it.
        pin: PinnedTool,
        /// The new value.
        pinned: bool,
    },
    /// Switches the active profile, which applies to every client without its own. Starts nothing.
    UseProfile {
        /// Its name; `None` for no profile.
        name: Option<String>,
    },
    /// Adds or changes a profile.
    PutProfile {
        /// Its new name.
        name: String,
        /// Its present name; `None` for a new profile.
        #[serde(default)]
        was: Option<String>,
        /// Its content.
        profile: Profile,
    },
    /// Removes an unused profile.
    RemoveProfile {
        /// Its name.
        name: String,
    },
    /// Binds a project folder and its subfolders to a profile.
    BindFolder {
        /// Its absolute path.
        folder: String,
        /// The profile's name; `None` removes the binding.
        profile: Option<String>,
    },
    /// Applies a setting from another setup that a person accepted. Not available over the control channel.
    #[serde(skip)]
    TakeSetting {
        /// Its key in the configuration.
        key: String,
        /// Its value; `None` removes it.
        value: Option<serde_json::Value>,
    },
}

/// Where a new server runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Target {
    /// A local program.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Additional environment variables.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// A hosted server.
    Url {
        /// The address.
        url: String,
        /// Headers sent with every request.
        headers: BTreeMap<String, String>,
    },
}

/// What a client needs to connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Connection {
    /// The endpoint's address.
    pub url: String,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, String>,
}

/// Search results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolList {
    /// The tools, best first.
    pub tools: Vec<ToolLine>,
    /// Total number of matches.
    pub total: usize,
}

/// How complex the arguments of a tool are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// A few scalar values.
    #[default]
    Simple,
    /// Several values, or one nested object.
    Moderate,
    /// Many values, deeply nested objects, or constraints that a signature cannot express.
    Complex,
}

impl Complexity {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Complexity::Simple => "simple",
            Complexity::Moderate => "moderate",
            Complexity::Complex => "complex",
        }
    }
}

/// One tool in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolLine {
    /// `server:tool`.
    pub tool_path: String,
    /// The server's description, cut to its first sentences.
    pub description: String,
    /// The compact call signature.
    pub signature: String,
    /// Tokens (o200k_base) of its definition; `None` until counted.
    pub tokens: Option<usize>,
    /// What it does: `reading`, `searching`, `writing`, `deleting`, `sending`, `running`, `converting` or `other`; or
    /// the category from a rule. Derived from its definition and not verified.
    #[serde(default)]
    pub category: String,
    /// How complex its arguments are.
    #[serde(default)]
    pub complexity: Complexity,
    /// Number of definitions seen so far; 0 if unknown.
    #[serde(default)]
    pub version: u32,
    /// When it was first seen, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub first_seen_ms: Option<u64>,
    /// When its definition last changed, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub changed_ms: Option<u64>,
    /// Why it matched, for a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it does, as far as known.
    pub nature: super::nature::Nature,
    /// Whether clients may call it.
    pub permit: super::nature::Permit,
    /// The rule that decides this.
    pub rule: String,
    /// The default behind it, if no rule of the user decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub usual: Option<super::nature::UsualRule>,
}

/// Why a request was refused. Serialized as `{"code", "message", "action"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[error("{message}")]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it; empty if the message says it.
    #[serde(default)]
    pub action: String,
    /// The same as the message, in parts that a face can say in its own language; empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Caution>>"))]
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

    /// A file cannot be read or written.
    pub fn unwritable(error: impl std::fmt::Display) -> Self {
        Self::new(Code::Unwritable, error.to_string(), "")
    }

    /// There is no server of this name.
    pub fn unknown_server(name: &str) -> Self {
        Self::new(Code::UnknownServer, format!("there is no server \"{name}\""), "See `satchel list`.")
    }

    /// The message and the action as one text.
    pub fn sentence(&self) -> String {
        match self.action.as_str() {
            "" => self.message.clone(),
            action => format!("{}. {action}", self.message.trim_end_matches('.')),
        }
    }
}
