//! Types for faces about other programs: which are installed, what we would write into their files, and which servers
//! those contain.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{caution::Caution, left::Left, remark::Remark};

/// Where to look for servers to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// All clients' files, and those of a project.
    Everywhere {
        /// The project's directory.
        #[serde(default)]
        project: Option<PathBuf>,
    },
    /// One client's files.
    Client(String),
    /// A file in the format of this client.
    ClientFile {
        /// The client.
        client: String,
        /// The file.
        path: PathBuf,
    },
    /// A pasted block, command line or address.
    Text(String),
    /// A file: a bundle, a `server.json`, or a client's configuration.
    File(PathBuf),
}

/// How a client connects to Satchel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Streamable HTTP to the endpoint.
    Http,
    /// It starts `satchel bridge`.
    Bridge,
}

/// Which tools a client sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Chosen by what is known about the client.
    #[default]
    Auto,
    /// Four meta-tools that find and call all others.
    Router,
    /// Every tool, under a flat name.
    Direct,
    /// One tool that runs scripts, which can call all others, and one that finds tools.
    Script,
}

/// Every client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientList {
    /// Installed clients first.
    pub clients: Vec<KnownClient>,
}

/// One client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KnownClient {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// `A`, `B` (not tested) or `C` (a person pastes).
    pub tier: String,
    /// How well the location of its file is known: `probe`, `source`, `doc`, `secondary`, `recall` or `unknown`.
    pub confidence: String,
    /// Is it installed on this computer?
    pub installed: bool,
    /// The evidence that it is installed.
    pub sign: Option<String>,
    /// The file that contains Satchel's entry, or would.
    pub file: Option<String>,
    /// Its connection state.
    #[serde(flatten)]
    pub state: ClientState,
    /// Servers that it also starts itself.
    pub duplicates: Vec<Duplicate>,
    /// The surface the user chose.
    pub surface: Surface,
    /// The surface in effect: `router` or `direct`.
    pub effective: Surface,
    /// Why that surface is in effect.
    pub reason: String,
    /// What is hidden from it: servers, and tools as `server:tool`.
    pub hidden: Vec<String>,
    /// The profile it is bound to; `None` if the active profile applies.
    pub profile: Option<String>,
    /// What to do after connecting.
    pub after_connect: Option<String>,
}

/// A client's connection state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ClientState {
    /// It has no Satchel entry.
    NotConnected,
    /// It has an entry, and has made no request since it was added.
    Added,
    /// It has made a request.
    Connected {
        /// When it made its first request, in milliseconds since the Unix epoch.
        since_ms: u64,
    },
    /// Something is wrong with Satchel's entry.
    NeedsYou {
        /// `vanished`, `edited`, `moved` or `unreadable`.
        what: String,
        /// A sentence for people.
        message: String,
    },
    /// It has no Satchel entry and can get none: its file cannot be read.
    Unreadable {
        /// A sentence for people.
        message: String,
    },
    /// Its configuration cannot be written by other programs; a person has to paste the entry.
    Paste,
}

/// A server that the client also starts itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Duplicate {
    /// Its name in the client's configuration.
    pub there: String,
    /// Its name in Satchel.
    pub here: String,
}

/// A change to a client's configuration, made or previewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientChange {
    /// The client's id.
    pub client: String,
    /// Its name.
    pub name: String,
    /// Was it written?
    pub done: bool,
    /// The changed files.
    pub files: Vec<FileChange>,
    /// What the user has to do next.
    pub next: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The text to paste, if no file is written.
    pub snippet: Option<String>,
}

/// The result of removing Satchel from all clients.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Departure {
    /// The change to each client that had an entry or a token.
    pub changes: Vec<ClientChange>,
    /// Clients that could not be changed, and why.
    pub troubles: Vec<Left>,
}

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// `added`, `unchanged`, `restored`, `removed`, `deleted` or `gone`.
    pub what: String,
    /// The name of Satchel's entry in it.
    pub entry: String,
    /// The change as a line diff.
    pub diff: String,
}

/// What was undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Undone {
    /// In one sentence.
    pub what: String,
    /// Whether every file is exactly what it was before; if not, what remains.
    pub remarks: Vec<String>,
}

/// Servers found in other programs' files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Findings {
    /// Each server once, even if several files contain it.
    pub servers: Vec<FoundServer>,
    /// Entries that Satchel cannot use, and why.
    pub skipped: Vec<Left>,
    /// Files that could not be read, and why.
    pub troubles: Vec<Left>,
    /// The fingerprint of what the servers run. An import that names another one is refused.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub seen: String,
}

/// One server found in other programs' files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundServer {
    /// Its name after the import.
    pub name: String,
    /// The command line or the address, with references instead of credentials.
    pub runs: String,
    /// The same, each word by itself: the program and its arguments, or the address alone.
    #[serde(default)]
    pub words: Vec<String>,
    /// The variables or headers it sets, as `NAME=value`; of a credential only the name.
    #[serde(default)]
    pub sets: Vec<String>,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// Is it enabled there?
    pub enabled: bool,
    /// Is it enabled there, and will be off here until a person corrects its entry? Absent if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub switched_off: Option<bool>,
    /// Where it was found, as `client: file`.
    pub places: Vec<String>,
    /// Its name in Satchel, if it has been added already.
    pub known: Option<String>,
    /// Names of the credentials that the import would move to the keychain.
    pub secrets: Vec<String>,
    /// Inputs it needs before it can run.
    pub needs: Vec<Need>,
    /// The remote address that it only forwards to, to which Satchel can connect directly.
    pub remote: Option<String>,
    /// What a person should know.
    pub warnings: Vec<Caution>,
    /// What of its entry has no effect here, and what to do about it.
    #[serde(default)]
    pub omitted: Vec<Remark>,
}

/// An input that a server needs before it can run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NeededAnswer"))]
pub struct Need {
    /// The key of the answer.
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

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Imported {
    /// Names of the servers that were added.
    pub added: Vec<String>,
    /// Those of them that wait for approval, because nobody was asked about what they run.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub waiting: Vec<String>,
    /// Names of those that already existed.
    pub known: Vec<String>,
    /// How many credentials went into the keychain.
    pub secrets: usize,
    /// What was not imported, and why.
    pub left: Vec<Left>,
    /// Remarks on the imported entries: parts without effect, and changed names with the reason.
    #[serde(default)]
    pub remarks: Vec<Remark>,
    /// Names of the servers that were removed from the client's own file.
    pub taken_out: Vec<String>,
    /// The resulting changes to its files, with credentials left out.
    #[serde(default)]
    pub changes: Vec<FileChange>,
}
