//! Types for installable servers as faces show them before anything runs.
//!
//! Texts for people come by language (`en`, `de`). Figures are only there where somebody measured them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::control::Target;

/// A text by language.
pub type Texts = BTreeMap<String, String>;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listing {
    /// The day the list was made, as `2026-11-21`.
    pub made: String,
    /// The tokenizer all figures were counted with.
    pub tokenizer: String,
    /// The servers, best first.
    pub entries: Vec<Listed>,
}

/// One server that can be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listed {
    /// Its name once it is added.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Who publishes it, as they call themselves.
    pub publisher: String,
    /// What it does, in one sentence.
    pub about: Texts,
    /// What it is for: `code`, `data`, `browser`, `docs`, `ops`, `files`.
    pub topics: Vec<String>,
    /// What runs or where it connects. `{NAME}` stands for what is needed.
    pub target: Target,
    /// What a person has to give it.
    pub needs: Vec<Need>,
    /// What has to be installed: `node` or `uv`.
    pub runtime: Option<String>,
    /// Its own page.
    pub home: Option<String>,
    /// Its licence, as its package's registry names it; `None` where that names none.
    #[serde(default)]
    pub license: Option<String>,
    /// What was measured; `None` where nobody could without an account.
    pub measured: Option<Measured>,
    /// Its tools as it told them when it was measured.
    pub tools: Vec<ListedTool>,
}

/// Something a person has to give a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Need {
    /// The name that stands for it in the target.
    pub name: String,
    /// What it is.
    pub kind: NeedKind,
    /// What to ask for.
    pub label: Texts,
    /// May it be left out?
    pub optional: bool,
    /// Where a person gets one.
    pub get: Option<String>,
}

/// What has to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// Goes to the keychain; the configuration holds only its name.
    Secret,
    /// Stands in the configuration.
    Text,
    /// A place on this computer.
    Path,
}

/// What a server's definitions were found to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measured {
    /// How many tools it offered.
    pub tools: usize,
    /// Tokens of their definitions as one list.
    pub tokens: usize,
    /// Which version it was.
    pub version: String,
    /// When.
    pub on: String,
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// The beginning of its description.
    pub about: String,
    /// What the server says it does.
    pub kind: Claim,
}

/// What a server says a tool does. Nobody checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// It changes nothing.
    Reads,
    /// It adds or changes.
    Writes,
    /// It may delete, which is also what the protocol assumes where a tool that changes things does not say.
    Deletes,
    /// It says nothing.
    Unstated,
}
