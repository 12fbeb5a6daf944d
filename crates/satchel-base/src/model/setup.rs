//! Types for the whole setup as one file: how it differs, and which parts a person takes over.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{approvals::Part, left::Left};

/// The kinds of parts of a setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupPart {
    /// A server's entry.
    Server,
    /// A profile.
    Profile,
    /// A setting of the configuration.
    Setting,
    /// A user's choices for a client.
    Client,
    /// Values of the file's encrypted secrets that equal parts reference, and that are not stored here.
    Secrets,
}

/// How a part of another setup compares with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupStanding {
    /// It does not exist here.
    New,
    /// It changed there, and not here since both were equal.
    Changed,
    /// It was removed there, and has not changed here since both were equal.
    Removed,
    /// It changed on both sides.
    Conflict,
}

/// A part that differs in another setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SetupDifference {
    /// Its kind and name, for example `server:github`.
    pub id: String,
    /// Its kind.
    pub part: SetupPart,
    /// Its name.
    pub name: String,
    /// How it compares with this setup.
    pub standing: SetupStanding,
    /// The diff from here to there, as JSON.
    pub diff: Vec<Part>,
    /// Where in the diff the rest begins, which may be folded: variables and headers of a server. What comes before says
    /// what runs, where it goes and what it may reach, and is shown whole before a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub folds_from: Option<usize>,
    /// Warnings to show before applying it.
    pub warnings: Vec<String>,
    /// The fingerprint of both versions. Applying is refused if either has changed.
    pub seen: String,
}

/// The differences between another setup and this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SetupReview {
    /// The computer that wrote it.
    pub computer: String,
    /// When it was written, in milliseconds since the Unix epoch.
    pub written_ms: u64,
    /// The parts that differ.
    pub differences: Vec<SetupDifference>,
    /// Number of equal parts.
    pub same: usize,
    /// Number of parts that exist only here, if there are any. They are not differences: nothing is to be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub only_here: Option<usize>,
    /// Does it contain secrets, encrypted with a passphrase?
    pub sealed: bool,
}

/// Selects a setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupSource {
    /// A file.
    File(PathBuf),
    /// The setup of this computer in the followed folder.
    Computer(String),
}

/// A difference that a person reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SetupChoice {
    /// [`SetupDifference::id`].
    pub id: String,
    /// [`SetupDifference::seen`].
    pub seen: String,
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WrittenSetup {
    /// The file.
    pub path: String,
    /// Number of servers.
    pub servers: usize,
    /// Number of other parts.
    pub others: usize,
    /// Number of encrypted secrets.
    pub secrets: usize,
    /// What was left out, and why.
    pub left: Vec<Left>,
}

/// The result of applying a setup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TakenSetup {
    /// The ids of the parts.
    pub taken: Vec<String>,
    /// Number of secrets stored.
    pub secrets: usize,
    /// The servers among them that are new here. They are switched off.
    #[serde(default)]
    pub off: Vec<String>,
    /// Some of the settings loosen a protection, and wait for approval.
    #[serde(default)]
    pub waits: bool,
    /// What was not applied, and why.
    pub left: Vec<Left>,
}

/// The followed folder and the setups in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FollowedSetup {
    /// The folder; `None` if none is followed.
    pub folder: Option<String>,
    /// This computer's name there.
    pub computer: String,
    /// The other computers.
    pub others: Vec<SetupReview>,
    /// Files that cannot be read or written there.
    pub troubles: Vec<Left>,
}
