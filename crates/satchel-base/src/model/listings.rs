//! Types for searching, showing and installing registry entries. All texts come from strangers and were cleaned of
//! invisible characters.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::caution::Caution;

/// Whether to query the registries before answering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AskRegistries {
    /// If it is due; the answer waits for it.
    #[default]
    IfDue,
    /// In the background, if it is due; the answer is what is known now.
    Meanwhile,
    /// Always.
    Now,
    /// Not at all.
    Never,
}

/// What to install or update.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallAsk {
    /// The name in the registry or in the bundled list. Empty for an update.
    pub name: String,
    /// The installed server to update.
    #[serde(default)]
    pub server: Option<String>,
    /// The version; `None` for the one on offer.
    #[serde(default)]
    pub version: Option<String>,
    /// The [`ListedWay::id`], if there are several.
    #[serde(default)]
    pub way: Option<String>,
    /// Inputs by [`Input::id`] or its last part. `accept.…` is a person's `yes` to a consent of the plan.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))]
    pub answers: BTreeMap<String, Value>,
}

/// Filter and sort order of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ListingFilter {
    /// Only servers that can run there.
    pub place: Option<ListedPlace>,
    /// Only servers for this runtime.
    pub language: Option<ListedLanguage>,
    /// Only servers that need no key or account, by their description.
    pub without_key: bool,
    /// Only servers from registries, not the bundled list.
    pub from_registries: bool,
    /// The sort order.
    pub sort: ListingSort,
}

/// Where a server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListedPlace {
    /// Hosted, at an address.
    Hosted,
    /// On this computer.
    Computer,
}

/// The runtime of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListedLanguage {
    /// Node.js, from npm.
    Javascript,
    /// Python, from PyPI.
    Python,
    /// .NET, from NuGet.
    Dotnet,
    /// A container engine.
    Container,
    /// A bundle (MCPB) with its own dependencies.
    Bundle,
}

/// The sort order of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ListingSort {
    /// Best match first.
    #[default]
    Best,
    /// Most recently published first.
    Newest,
    /// By name.
    Name,
}

/// The answer to [`super::request::SearchListed`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ListedServers {
    /// The servers, best first.
    pub servers: Vec<ListedServer>,
    /// Total number of matches.
    pub total: usize,
    /// Total number of servers on offer, regardless of the search.
    pub known: usize,
    /// Number of registry entries that could not be read.
    pub refused: usize,
    /// The state of every registry.
    pub registries: Vec<RegistryState>,
}

/// The state of a registry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RegistryState {
    /// Its address.
    pub url: String,
    /// When it was last read completely, in milliseconds since the Unix epoch.
    pub read_ms: Option<u64>,
    /// It is being read right now.
    pub reading: bool,
    /// Why the last read failed.
    pub trouble: Option<String>,
    /// Entries that could not be read, by name, and why.
    pub refused: BTreeMap<String, String>,
}

/// A server that can be added.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ListedServer {
    /// Its name in the registry.
    pub name: String,
    /// Its title, if it can be displayed.
    pub title: Option<String>,
    /// Its description.
    pub description: String,
    /// The version on offer.
    pub version: String,
    /// Its publisher: the namespace, which a registry grants to the owner of the account or domain.
    pub publisher: String,
    /// Its source: a registry's address, or `satchel` for the bundled list.
    pub registry: String,
    /// `active`, `deprecated` or `deleted`.
    #[cfg_attr(feature = "typescript", ts(type = r#""active" | "deprecated" | "deleted""#))]
    pub status: String,
    /// The reason for the status, as plain text.
    pub status_message: Option<String>,
    /// Its repository, if that is a web address.
    pub repository: Option<String>,
    /// Its website, if that is a web address.
    pub website: Option<String>,
    /// When this version was published, as RFC 3339.
    pub published: Option<String>,
    /// Number of versions.
    pub versions: usize,
    /// The ways to run it, hosted ones first.
    pub ways: Vec<ListedWay>,
    /// What a person should know of it.
    pub remarks: Vec<Caution>,
    /// The name of the installed server that came from here.
    pub installed: Option<String>,
    /// Its tools and tokens, if measured.
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ListedFigures {
    /// Its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub license: Option<String>,
    /// Stars of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub stars: Option<u64>,
    /// How often it was downloaded, over whatever time its source counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ListedWay {
    /// `remote`, `npm`, `pypi`, `oci`, `mcpb` or `nuget`, with a number if there are several.
    pub id: String,
    /// The command line or address, with `{…}` for inputs.
    pub runs: String,
    /// The ids of its required inputs.
    pub needs: Vec<String>,
    /// Why it is not offered, if so.
    pub refused: Option<String>,
    /// The same, in parts.
    #[serde(default)]
    pub why: Vec<Caution>,
}

/// The answer to [`super::request::GetListed`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerDetails {
    /// The server, as in the list.
    #[serde(flatten)]
    pub server: ListedServer,
    /// All versions, newest first, each with its status.
    pub releases: Vec<(String, String)>,
    /// The publisher's instructions for after the installation. Displayed only, never run.
    pub afterwards: Vec<String>,
}

/// An input of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Input {
    /// The key of the answer, for example `env.API_KEY`.
    pub id: String,
    /// What it is.
    pub description: String,
    /// It is required.
    pub required: bool,
    /// It is a credential: stored in the keychain and never displayed.
    pub secret: bool,
    /// `string`, `number`, `boolean` or `filepath`.
    pub format: String,
    /// The default value; never set for a credential.
    pub default: Option<String>,
    /// A sample value.
    pub placeholder: Option<String>,
    /// The allowed values; empty for any.
    pub choices: Vec<String>,
    /// It takes several values.
    pub repeated: bool,
}

/// Something that needs a person's explicit consent beyond the installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Consent {
    /// The key of the answer, `accept.…`; the answer is `yes`.
    pub id: String,
    /// What the person consents to.
    pub says: String,
    /// The same, in parts.
    #[serde(default)]
    pub why: Option<Caution>,
}

/// What an installation or update would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstallPlan {
    /// The server, as in the list.
    #[serde(flatten)]
    pub server: ListedServer,
    /// Its name after the installation.
    pub called: String,
    /// The [`ListedWay::id`]; empty if one has to be chosen first.
    pub way: String,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The exact command line or address, without credentials.
    pub runs: Vec<String>,
    /// Environment variables, without credentials.
    pub env: BTreeMap<String, String>,
    /// Headers of every request, without credentials.
    pub headers: BTreeMap<String, String>,
    /// All inputs.
    pub inputs: Vec<Input>,
    /// The ids of required inputs without an answer.
    pub missing: Vec<String>,
    /// The consents that are still missing.
    pub consents: Vec<Consent>,
    /// The program that has to be installed first, where it is not here.
    pub runtime: Option<MissingRuntime>,
    /// Of an update: the version that is installed.
    pub from: Option<String>,
    /// For an update: other changes, in sentences.
    pub changes: Vec<String>,
    /// The publisher's instructions for after the installation. Displayed only, never run.
    pub afterwards: Vec<String>,
    /// The fingerprint of this plan. Installing requires it, so that a person's consent applies to exactly this plan.
    pub seen: String,
}

/// The result of an installation or update.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Installed {
    /// Its name in Satchel.
    pub server: String,
    /// The version.
    pub version: String,
    /// Number of credentials stored in the keychain.
    pub secrets: usize,
    /// A person has to review it before it is started.
    pub held: bool,
}

/// An installed server and its state in its registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InstalledServer {
    /// Its name in Satchel.
    pub server: String,
    /// Its name in the registry.
    pub name: String,
    /// The installed version.
    pub version: String,
    /// The newer version on offer, if any.
    pub newer: Option<String>,
    /// `active`, `deprecated` or `deleted`; `unknown` if the registry does not list it.
    #[cfg_attr(feature = "typescript", ts(type = r#""active" | "deprecated" | "deleted" | "unknown""#))]
    pub status: String,
    /// The reason for the status, as plain text.
    pub status_message: Option<String>,
    /// What else there is to know.
    pub remarks: Vec<Caution>,
    /// A person lets it go on although its registry has deleted it.
    #[serde(default)]
    pub kept: bool,
}
