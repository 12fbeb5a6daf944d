//! Types for faces about other programs: which are installed, what we would write into their files, and which servers
//! those contain.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{caution::Caution, remark::Remark};

/// Where servers are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// Every client's files, and a project's.
    Everywhere {
        /// The project's directory.
        #[serde(default)]
        project: Option<PathBuf>,
    },
    /// One client's.
    Client(String),
    /// A file that is read as one of this client's.
    ClientFile {
        /// The client.
        client: String,
        /// The file.
        path: PathBuf,
    },
    /// A block, a command line or an address.
    Text(String),
    /// A file: a bundle, a `server.json`, or a file like those of clients.
    File(PathBuf),
}

/// What a client speaks to us over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// It asks the endpoint itself.
    Http,
    /// It starts `satchel bridge`.
    Bridge,
}

/// What a client sees of us.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// What suits it by what is known of it.
    #[default]
    Auto,
    /// Four tools to find and call all others.
    Router,
    /// All tools under flat names.
    Direct,
    /// One tool that runs scripts, which call all others, and one to find them.
    Script,
}

/// Every client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientList {
    /// Those that are here first.
    pub clients: Vec<KnownClient>,
}

/// One client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KnownClient {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `A`, `B` (not tested) or `C` (a person pastes).
    pub tier: String,
    /// How sure we are of where its file is: `probe`, `source`, `doc`, `secondary`, `recall` or `unknown`.
    pub confidence: String,
    /// Is it on this computer?
    pub installed: bool,
    /// What shows that.
    pub sign: Option<String>,
    /// The file our entry is in, or would be.
    pub file: Option<String>,
    /// How it stands.
    #[serde(flatten)]
    pub state: ClientState,
    /// Servers that it starts by itself although we have them too.
    pub duplicates: Vec<Duplicate>,
    /// What the user chose.
    pub surface: Surface,
    /// What it sees now: `router` or `direct`.
    pub effective: Surface,
    /// Why.
    pub reason: String,
    /// What is hidden from it: servers, and tools as `server:tool`.
    pub hidden: Vec<String>,
    /// The profile it is bound to; `None` for whichever is active.
    pub profile: Option<String>,
    /// What to do after connecting.
    pub after_connect: Option<String>,
}

/// How a client stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ClientState {
    /// It has no entry of ours.
    NotConnected,
    /// It has, and has not asked us anything since.
    Added,
    /// It has asked.
    Connected {
        /// When it asked first, in milliseconds since the Unix epoch.
        since_ms: u64,
    },
    /// Something happened to our entry.
    NeedsYou {
        /// `vanished`, `edited`, `moved` or `unreadable`.
        what: String,
        /// In one sentence.
        message: String,
    },
    /// It keeps its servers where only a person can put one.
    Paste,
}

/// A server that is started twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Duplicate {
    /// What it is called there.
    pub there: String,
    /// What it is called with us.
    pub here: String,
}

/// What was written, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClientChange {
    /// The client's id.
    pub client: String,
    /// Its name.
    pub name: String,
    /// Was it written?
    pub done: bool,
    /// Every file.
    pub files: Vec<FileChange>,
    /// What to do next.
    pub next: Option<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// What to paste, where no file is written.
    pub snippet: Option<String>,
}

/// What became of our entries and tokens when all clients were left.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Departure {
    /// Each client that had something of ours.
    pub changes: Vec<ClientChange>,
    /// Each one that could not be changed, and why.
    pub troubles: Vec<Left>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileChange {
    /// Which.
    pub path: String,
    /// `added`, `unchanged`, `restored`, `removed`, `deleted` or `gone`.
    pub what: String,
    /// What our entry is called in it.
    pub entry: String,
    /// The change, line by line.
    pub diff: String,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Undone {
    /// In one sentence.
    pub what: String,
    /// Whether every file is again exactly what it was, and what stayed where not.
    pub remarks: Vec<String>,
}

/// The servers in other programs' files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Findings {
    /// Each once, wherever it was found.
    pub servers: Vec<FoundServer>,
    /// Entries that are no servers for us.
    pub skipped: Vec<Left>,
    /// Files that could not be read, and why.
    pub troubles: Vec<Left>,
}

/// One server in other programs' files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FoundServer {
    /// What it would be called with us.
    pub name: String,
    /// The command line or the address, with references instead of credentials.
    pub runs: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// Is it on there?
    pub enabled: bool,
    /// Where it was found, as `client: file`.
    pub places: Vec<String>,
    /// What it is called with us already.
    pub known: Option<String>,
    /// The names of credentials that would go into the keychain.
    pub secrets: Vec<String>,
    /// What has to be said before it can run.
    pub needs: Vec<Need>,
    /// The remote address it only passes on to, which we could ask directly.
    pub remote: Option<String>,
    /// What a person should know.
    pub warnings: Vec<Caution>,
    /// What of its entry has no effect here, and what to do about it.
    #[serde(default)]
    pub omitted: Vec<Remark>,
}

/// Something that has to be said before a server can run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "NeededAnswer"))]
pub struct Need {
    /// What the answer is filed under.
    pub id: String,
    /// What it is.
    pub description: String,
    /// It is a credential.
    pub secret: bool,
    /// `filepath`, `directory`, `number` or `boolean`; anything else is a text.
    #[serde(default)]
    pub format: String,
    /// What it may be; anything where there is none.
    #[serde(default)]
    pub choices: Vec<String>,
    /// What it is without an answer. Of a credential never said.
    #[serde(default)]
    pub default: Option<String>,
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Left {
    /// Where it is.
    pub place: String,
    /// Why.
    pub reason: String,
}

/// What came in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Imported {
    /// Names of servers.
    pub added: Vec<String>,
    /// Those that were here already.
    pub known: Vec<String>,
    /// How many credentials went into the keychain.
    pub secrets: usize,
    /// What did not come, and why.
    pub left: Vec<Left>,
    /// What of the entries that came has no effect here and what to do about it, and which have another name and why.
    #[serde(default)]
    pub remarks: Vec<Remark>,
    /// What was taken out of the client's own file.
    pub taken_out: Vec<String>,
    /// How that changed its files, without credentials.
    #[serde(default)]
    pub changes: Vec<FileChange>,
}
