//! Types for searching, showing and installing registry entries. All texts come from strangers and were cleaned of
//! invisible characters.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::caution::Caution;

/// Whether registries are asked before an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AskRegistries {
    /// Where it is time for it; the answer waits.
    #[default]
    IfDue,
    /// Where it is time for it, meanwhile: the answer is what is known now.
    Meanwhile,
    /// In any case.
    Now,
    /// Not at all.
    Never,
}

/// What is to be installed, or updated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InstallAsk {
    /// The name in the registry, or in the list that comes with Satchel. Empty for an update.
    pub name: String,
    /// The installed server that is updated.
    #[serde(default)]
    pub server: Option<String>,
    /// Which version; the one that is offered without it.
    #[serde(default)]
    pub version: Option<String>,
    /// [`ListedWay::id`] of several.
    #[serde(default)]
    pub way: Option<String>,
    /// Inputs by [`Input::id`], or by its last part. `accept.…` is a person's `yes` to what a plan asks.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub answers: BTreeMap<String, Value>,
}

/// What a search is narrowed to, and how its answer is sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ListingFilter {
    /// Only what runs there, in one of its ways.
    pub place: Option<ListedPlace>,
    /// Only what is written in this, in one of its ways.
    pub language: Option<ListedLanguage>,
    /// Only what can be used without a key of one's own, as far as its description says.
    pub without_key: bool,
    /// Only what a registry lists, and not what comes with Satchel.
    pub from_registries: bool,
    /// How it is sorted.
    pub sort: ListingSort,
}

/// Where a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListedPlace {
    /// Somewhere else, at an address.
    Hosted,
    /// On this computer.
    Computer,
}

/// What a package needs to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListedLanguage {
    /// Node.js, from npm.
    Javascript,
    /// Python, from PyPI.
    Python,
    /// .NET, from NuGet.
    Dotnet,
    /// An engine for containers.
    Container,
    /// A bundle that brings its parts along.
    Bundle,
}

/// How servers are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListingSort {
    /// What is meant first.
    #[default]
    Best,
    /// What was published last first.
    Newest,
    /// By name.
    Name,
}

/// The answer to [`super::request::SearchListed`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedServers {
    /// The servers, best first.
    pub servers: Vec<ListedServer>,
    /// How many there are in all.
    pub total: usize,
    /// How many are known and offered, whatever was looked for.
    pub known: usize,
    /// How many entries of registries could not be read.
    pub refused: usize,
    /// Every registry, as far as it is known.
    pub registries: Vec<RegistryState>,
}

/// What is known of a registry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RegistryState {
    /// Its address.
    pub url: String,
    /// When it was read last from beginning to end, in milliseconds since the Unix epoch.
    pub read_ms: Option<u64>,
    /// It is being read right now.
    pub reading: bool,
    /// Why the last reading was in vain.
    pub trouble: Option<String>,
    /// Entries that could not be read, by name, and why.
    pub refused: BTreeMap<String, String>,
}

/// A server that can be added.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedServer {
    /// Its name in the registry.
    pub name: String,
    /// Its name for people, where one can be shown.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// The version that is offered.
    pub version: String,
    /// Who publishes it: the namespace, which a registry gives to whoever owns the account or the domain.
    pub publisher: String,
    /// Where it comes from: a registry's address, or `satchel` for the list that comes with Satchel.
    pub registry: String,
    /// `active`, `deprecated` or `deleted`.
    #[cfg_attr(test, ts(type = r#""active" | "deprecated" | "deleted""#))]
    pub status: String,
    /// Why, as plain text.
    pub status_message: Option<String>,
    /// Its repository, where that is an address of the web.
    pub repository: Option<String>,
    /// Its own page, where that is an address of the web.
    pub website: Option<String>,
    /// When this version was published, as RFC 3339.
    pub published: Option<String>,
    /// How many versions there are.
    pub versions: usize,
    /// What can be done to run it, the hosted first.
    pub ways: Vec<ListedWay>,
    /// What a person should know of it.
    pub remarks: Vec<Caution>,
    /// The name of the installed server that came from here.
    pub installed: Option<String>,
    /// Its tools and their tokens, where somebody measured them.
    pub measured: Option<super::listing::Measured>,
    /// Whether somebody checked that its publisher is who its name says.
    #[serde(default)]
    pub proof: NameProof,
    /// What its source says of it beside its description. Nobody here checked it.
    #[serde(flatten)]
    pub figures: ListedFigures,
}

/// Who checked that a publisher is who a name says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NameProof {
    /// The official registry: only this account at GitHub publishes under its name.
    Account,
    /// The official registry: only the owner of this domain publishes under its name.
    Domain,
    /// Its own registry may have, or not: Satchel does not know its rules.
    #[default]
    Unknown,
    /// It was taken into the list that comes with Satchel by its makers.
    Bundled,
}

/// Figures and facts that a source states of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ListedFigures {
    /// Its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub license: Option<String>,
    /// Stars of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "number"))]
    pub stars: Option<u64>,
    /// How often it was downloaded, over whatever time its source counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "number"))]
    pub downloads: Option<u64>,
}

impl ListedFigures {
    /// Is nothing stated?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A program that has to be installed before a server can run, and how that is done here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MissingRuntime {
    /// The program, for example `uvx`.
    pub program: String,
    /// What it is a part of, for example `uv`.
    pub part_of: String,
    /// The command that installs it on this system, where one is known.
    pub command: Option<String>,
    /// The page that says how.
    pub page: String,
}

impl fmt::Display for MissingRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            Some(command) => write!(f, "Install {} with `{command}`, or see {}.", self.part_of, self.page),
            None => write!(f, "Install {} from {}.", self.part_of, self.page),
        }
    }
}

/// One way to run a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedWay {
    /// `remote`, `npm`, `pypi`, `oci`, `mcpb`, `nuget`; with a number where there are several of a kind.
    pub id: String,
    /// The command line or the address, with `{…}` for what has to be given.
    pub runs: String,
    /// What has to be given, by id.
    pub needs: Vec<String>,
    /// Why it is not offered.
    pub refused: Option<String>,
    /// The same, in parts.
    #[serde(default)]
    pub why: Vec<Caution>,
}

/// The answer to [`super::request::GetListed`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerDetails {
    /// As it is listed.
    #[serde(flatten)]
    pub server: ListedServer,
    /// All versions, newest first, with what the registry says of each.
    pub releases: Vec<(String, String)>,
    /// What its publisher wants to be done afterwards. Shown, and never run.
    pub afterwards: Vec<String>,
}

/// Something to be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Input {
    /// What the answer is filed under, for example `env.API_KEY`.
    pub id: String,
    /// What it is.
    pub description: String,
    /// It must be given.
    pub required: bool,
    /// It is a credential: it goes to the keychain and is shown nowhere.
    pub secret: bool,
    /// `string`, `number`, `boolean` or `filepath`.
    pub format: String,
    /// What it is without an answer. Of a credential never said.
    pub default: Option<String>,
    /// What it looks like.
    pub placeholder: Option<String>,
    /// What it may be.
    pub choices: Vec<String>,
    /// There may be several answers.
    pub repeated: bool,
}

/// Something that only a person can say yes to, besides the installation itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Consent {
    /// The answer's id, `accept.…`; the answer is `yes`.
    pub id: String,
    /// What it means.
    pub says: String,
    /// The same, in parts.
    #[serde(default)]
    pub why: Option<Caution>,
}

/// What an installation or an update would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InstallPlan {
    /// As it is listed.
    #[serde(flatten)]
    pub server: ListedServer,
    /// What it will be called here.
    pub called: String,
    /// The way; empty where one has to be chosen first.
    pub way: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The command line, word for word, or the address; credentials are left out.
    pub runs: Vec<String>,
    /// Variables that the program gets; credentials are left out.
    pub env: BTreeMap<String, String>,
    /// Headers of every request; credentials are left out.
    pub headers: BTreeMap<String, String>,
    /// Everything that can be given.
    pub inputs: Vec<Input>,
    /// What has to be given and was not, by id.
    pub missing: Vec<String>,
    /// What only a person can say yes to, and has not.
    pub consents: Vec<Consent>,
    /// The program that has to be installed first, where it is not here.
    pub runtime: Option<MissingRuntime>,
    /// Of an update: the version that is installed.
    pub from: Option<String>,
    /// Of an update: what else changes, in sentences.
    pub changes: Vec<String>,
    /// What its publisher wants to be done afterwards. Shown, and never run.
    pub afterwards: Vec<String>,
    /// Stands for all of this: who says yes, says it to exactly this.
    pub seen: String,
}

/// What was installed or updated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Installed {
    /// Its name here.
    pub server: String,
    /// The version.
    pub version: String,
    /// How many credentials went to the keychain.
    pub secrets: usize,
    /// A person has to look at it before it is started.
    pub held: bool,
}

/// An installed server and what its registry says by now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InstalledServer {
    /// Its name here.
    pub server: String,
    /// Its name in the registry.
    pub name: String,
    /// The version that runs here.
    pub version: String,
    /// The version that is offered, where it is a newer one.
    pub newer: Option<String>,
    /// `active`, `deprecated` or `deleted`; `unknown` where the registry does not list it.
    #[cfg_attr(test, ts(type = r#""active" | "deprecated" | "deleted" | "unknown""#))]
    pub status: String,
    /// Why, as plain text.
    pub status_message: Option<String>,
    /// What else there is to know.
    pub remarks: Vec<Caution>,
    /// A person lets it go on although its registry has deleted it.
    #[serde(default)]
    pub kept: bool,
}
