//! What the faces ask of a hub: the words of the control channel. Never reachable from the MCP port.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Startup,
    ledger::{ActivityAsk, ReportAsk},
    server::Era,
};

/// The header of a request for which a person was asked at the terminal of whoever sends it. Says nothing by itself: the
/// hub looks whether there is such a terminal.
pub const ASKED: &str = "satchel-asked";

/// One wish of a face. Sent as JSON with the wish's name under `"do"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Wish {
    /// The whole [`super::Snapshot`].
    Status,
    /// Ranked tools; all of them for an empty query. Answer: [`ToolList`].
    Tools {
        /// What to look for.
        query: String,
        /// Only this server's.
        server: Option<String>,
        /// At most so many.
        limit: usize,
    },
    /// Calls a tool; the answer is the server's result as it came.
    Call {
        /// `server:tool`.
        tool_path: String,
        /// Its arguments, an object; or a text that is one, where every digit of its numbers counts. Then the answer is
        /// such a text, too.
        arguments: serde_json::Value,
    },
    /// A change of the configuration; the answer is `{}`.
    Change(Change),
    /// A server's entry as it stands in the configuration, to be edited. Plain text that looks like a secret is
    /// [`HIDDEN`] in it. Answer: the entry.
    Entry {
        /// Which.
        server: String,
    },
    /// The secrets that a server names and no other one does. Answer: `{"names": […]}`.
    OwnSecrets {
        /// Which.
        server: String,
    },
    /// What a server's launcher fetches for it. Answer: [`super::package::PackageView`], or `null` where it fetches nothing.
    Package {
        /// Which.
        server: String,
    },
    /// Has a server run one version of its package. Answer: [`super::package::Pinned`].
    Pin {
        /// Which.
        server: String,
        /// The version; the one that was fetched last where it is `None`.
        version: Option<String>,
    },
    /// Adds a server again that was removed since the hub started, as it was.
    PutBack {
        /// Which.
        server: String,
    },
    /// Starts a server now, or again if it is running.
    Restart {
        /// Which.
        server: String,
    },
    /// Lets a server sleep now, or gives its start up. A call under way is not cut off.
    Rest {
        /// Which.
        server: String,
    },
    /// A person knows of what went wrong last with a server: it is not shown any more.
    DismissFailure {
        /// Which.
        server: String,
    },
    /// Finishes running calls, puts servers to sleep and refuses new calls, until the time named or [`Wish::Resume`].
    Pause {
        /// When it ends by itself, in milliseconds since the Unix epoch.
        until_ms: Option<u64>,
    },
    /// Ends a pause.
    Resume,
    /// Servers that can be added, best first; all of them for an empty query. Answer: [`super::listing::Listing`].
    Listing {
        /// What they should be able to do.
        query: String,
    },
    /// Makes a new bearer token for a client. Answer: [`Connection`].
    Connect {
        /// The client's id, for example `cursor`.
        client: String,
        /// Valid only until the hub ends, and not written to disk.
        ephemeral: bool,
    },
    /// The names of the secrets that are stored. Answer: `{"names": […], "store": "keychain"|"file"}`.
    SecretNames,
    /// Stores a secret.
    SetSecret {
        /// Its name, as in `${secret:NAME}`.
        name: String,
        /// Its value.
        value: String,
    },
    /// Removes a secret.
    RemoveSecret {
        /// Its name.
        name: String,
    },
    /// Chooses the encrypted file as the place of secrets, and makes it if there is none.
    UseVault {
        /// Its passphrase.
        passphrase: String,
    },
    /// Opens the encrypted file for as long as the hub runs.
    UnlockVault {
        /// Its passphrase.
        passphrase: String,
    },
    /// The last lines of a server's log. Answer: `{"path": …, "lines": […]}`.
    Log {
        /// Which server.
        server: String,
        /// How many lines.
        lines: usize,
    },
    /// About other programs: which are here, our entry in their files, the servers in them.
    Clients(super::clients::ClientsWish),
    /// What was called and saved. Answer: [`super::ledger::Report`].
    Report(ReportAsk),
    /// A page of the history. Answer: [`super::ledger::ActivityPage`].
    Activity(ActivityAsk),
    /// How much each server was used in the last day. Answer: [`super::ledger::LastDay`].
    LastDay,
    /// Accepts the settings of the configuration file that wait, named by their fingerprint; the answer is `{}`.
    ApproveSettings {
        /// As it stands in [`super::approvals::SettingsChange`].
        fingerprint: String,
    },
    /// A page of the history as an audit wants it. Answer: [`super::audit::AuditPage`].
    Audit(super::audit::AuditAsk),
    /// A page of the trail. Answer: [`super::trail::TrailPage`].
    Trail(super::trail::TrailAsk),
    /// Checks the whole trail. Answer: [`super::trail::TrailVerdict`].
    VerifyTrail {
        /// An end of it that somebody noted elsewhere.
        #[serde(default)]
        noted: Option<super::trail::TrailHead>,
    },
    /// Everything known of one call. Answer: [`super::ledger::CallDetail`].
    CallDetail {
        /// Its number.
        id: i64,
    },
    /// Calls a tool again, by the same rules as the first time; the answer is the server's result.
    RunAgain {
        /// The call's number in the history.
        id: i64,
        /// Other arguments than the ones that were kept; as for [`Wish::Call`].
        #[serde(default)]
        arguments: Option<serde_json::Value>,
    },
    /// Deletes the history for good, and what was learned from searches. Sums stay, unless `sums` says that they go too.
    DeleteHistory {
        /// Everything, sums included.
        #[serde(default)]
        sums: bool,
    },
    /// Forgets what was learned from searches, and nothing else.
    ForgetHabits,
    /// What there is to look at before clients may use it. Answer: [`super::approvals::ApprovalList`].
    Approvals {
        /// Only of this server.
        server: Option<String>,
    },
    /// A person looked at these definitions, and approves exactly them. One that has changed since is refused, and then
    /// none is approved.
    Approve {
        /// Whose they are.
        server: String,
        /// What was looked at.
        items: Vec<super::approvals::Seen>,
    },
    /// A person looked at what this server has on offer; what is held back stays so.
    LookedAt {
        /// Which.
        server: String,
    },
    /// A person looked at these definitions, and wants them held back.
    KeepHeld {
        /// Whose they are.
        server: String,
        /// What was looked at.
        items: Vec<super::approvals::Seen>,
    },
    /// Calls that wait for a person's word. Answer: [`super::asks::AskList`].
    Asks {
        /// Answer when one waits, or after some seconds.
        wait: bool,
    },
    /// A person's word about a call.
    AnswerAsk {
        /// Which.
        id: u64,
        /// The word.
        answer: super::asks::AskAnswer,
    },
    /// A person's answer to a server's question.
    AnswerQuestion {
        /// Which.
        id: u64,
        /// The answer.
        answer: super::asks::QuestionAnswer,
    },
    /// A person's answer where a value is missing that a server cannot start without: it is stored, and the call that
    /// waits for it goes on.
    AnswerSecret {
        /// Which.
        id: u64,
        /// The value.
        value: String,
    },
    /// Somebody is reading a question right now; it is not taken away meanwhile.
    ReadingAsk {
        /// Which.
        id: u64,
    },
    /// The hub's inside, for whoever looks for a fault. Answer: [`super::happening::DebugStatus`].
    DebugStatus,
    /// Ends the hub.
    Quit,
}

/// Stands in an entry that is edited where a secret is written out in the configuration. Where it still stands
/// afterwards, the secret stays.
pub const HIDDEN: &str = "••••••••";

/// One change of the configuration, from whichever face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
        entry: serde_json::Value,
        /// Replace an existing entry of that name instead of refusing.
        replace: bool,
        /// Rules over its tools that come with it, as they stand in the configuration.
        #[serde(default)]
        rules: Vec<serde_json::Value>,
    },
    /// Replaces a server's whole entry by what a person made of the answer to [`Wish::Entry`].
    Edit {
        /// Its name.
        name: String,
        /// The entry, an object; [`HIDDEN`] keeps the text that was there.
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
        /// The wish.
        enabled: bool,
    },
    /// Says whether a tool may be called, or leaves it to what it does.
    SetPermit {
        /// `server:tool`, in which `*` stands for anything and `?` for one character.
        tool: String,
        /// Only for clients of this name; all without one.
        #[serde(default)]
        client: Option<String>,
        /// The wish; `None` takes the rule away.
        permit: Option<super::nature::Permit>,
    },
    /// Keeps the arguments and results of a server's calls in the history from now on, or no longer.
    SetKeepCalls {
        /// Its name.
        name: String,
        /// The wish.
        keep: bool,
    },
    /// Walls a server in, or no longer. It is started anew.
    SetSandbox {
        /// Its name.
        name: String,
        /// What is left to it; `None` takes the walls down.
        sandbox: Option<super::server::Sandbox>,
    },
    /// Ranks tools by what was used after similar searches, and remembers that, or neither.
    SetLearning {
        /// The wish.
        learn: bool,
    },
}

/// Where a server added by a face is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
pub struct Connection {
    /// The endpoint's address.
    pub url: String,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, String>,
}

/// The answer to [`Wish::Tools`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    /// The tools, best first.
    pub tools: Vec<ToolLine>,
    /// How many matched in all.
    pub total: usize,
}

/// How much a caller has to know to call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Why a wish was not fulfilled. Carried as JSON `{"code", "message", "action"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// A stable name of the reason.
    pub code: String,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it; empty where the message says it.
    #[serde(default)]
    pub action: String,
}

impl Refusal {
    /// A refusal with a code of its own.
    pub fn new(code: impl Into<String>, message: impl Into<String>, action: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), action: action.into() }
    }
}
