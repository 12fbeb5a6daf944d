//! Types for installable servers as faces show them before anything runs.
//!
//! Texts for people come by language (`en`, `de`). Figures are only there where somebody measured them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::control::Target;

/// A text by language.
pub type Texts = BTreeMap<String, String>;

/// Search results in the bundled list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listing {
    /// The day the bundled list was made, as `2026-11-21`.
    pub made: String,
    /// The tokenizer used for all figures.
    pub tokenizer: String,
    /// The servers, best first.
    pub entries: Vec<Listed>,
}

/// One server that can be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listed {
    /// Its name after it is added.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Its publisher, self-reported.
    pub publisher: String,
    /// What it does, in one sentence.
    pub about: Texts,
    /// What it is for: `code`, `data`, `browser`, `docs`, `ops`, `files`.
    pub topics: Vec<String>,
    /// What runs, or where it connects. `{NAME}` stands for an input.
    pub target: Target,
    /// The inputs it needs.
    pub needs: Vec<Need>,
    /// The required runtime: `node` or `uv`.
    pub runtime: Option<String>,
    /// Its home page.
    pub home: Option<String>,
    /// Its licence according to its package registry, if stated.
    #[serde(default)]
    pub license: Option<String>,
    /// Measurements; `None` if measuring requires an account.
    pub measured: Option<Measured>,
    /// Its tools at the time of the measurement.
    pub tools: Vec<ListedTool>,
}

/// An input that a person has to give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Need {
    /// Its placeholder's name in the target.
    pub name: String,
    /// What it is.
    pub kind: NeedKind,
    /// The label of the input.
    pub label: Texts,
    /// Is it optional?
    pub optional: bool,
    /// Where to get one.
    pub get: Option<String>,
}

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// Stored in the keychain; the configuration contains only its name.
    Secret,
    /// Stored in the configuration.
    Text,
    /// The path of a directory on this computer.
    Folder,
}

/// Measurements of a server's definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Measured {
    /// Number of tools.
    pub tools: usize,
    /// Tokens of their definitions as one list.
    pub tokens: usize,
    /// The version that was measured.
    pub version: String,
    /// The date.
    pub on: String,
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// The beginning of its description.
    pub about: String,
    /// The effect that the server declares.
    pub kind: Claim,
}

/// The effect that a server declares for a tool. Not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Read-only.
    Reads,
    /// Adds or changes.
    Writes,
    /// May delete. The protocol assumes this for a tool that changes things and declares nothing else.
    Deletes,
    /// Not declared.
    Unstated,
}
