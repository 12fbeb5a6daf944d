//! Types for the whole setup as one file: how it differs, and which parts a person takes over.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{approvals::Part, clients::Left};

/// What a part of a setup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupPart {
    /// A server's entry.
    Server,
    /// A profile.
    Profile,
    /// A setting of the configuration.
    Setting,
    /// What a person chose for a client.
    Client,
}

/// How a part of another setup stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupStanding {
    /// It is not here.
    New,
    /// It is otherwise there, and here as it was when both were the same.
    Changed,
    /// It is gone there, and here as it was when both were the same.
    Removed,
    /// It is otherwise there and here, and nobody knows which is meant.
    Conflict,
}

/// A part that is otherwise in another setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SetupDifference {
    /// Its kind and name, for example `server:github`.
    pub id: String,
    /// Its kind.
    pub part: SetupPart,
    /// Its name.
    pub name: String,
    /// How it stands to ours.
    pub standing: SetupStanding,
    /// From ours to theirs, as JSON.
    pub diff: Vec<Part>,
    /// What a person should know before it is taken.
    pub warnings: Vec<String>,
    /// Names exactly these two; anything else is refused.
    pub seen: String,
}

/// What differs between a setup and ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SetupReview {
    /// The computer that wrote it.
    pub computer: String,
    /// When, in milliseconds since the Unix epoch.
    pub written_ms: u64,
    /// Its parts that are otherwise here.
    pub differences: Vec<SetupDifference>,
    /// How many of its parts are the same here.
    pub same: usize,
    /// Has it secrets, sealed under a passphrase?
    pub sealed: bool,
}

/// Where a setup is read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetupSource {
    /// A file.
    File(PathBuf),
    /// What this computer wrote into the followed folder.
    Computer(String),
}

/// A difference that a person saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SetupChoice {
    /// [`SetupDifference::id`].
    pub id: String,
    /// [`SetupDifference::seen`].
    pub seen: String,
}

/// What went into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WrittenSetup {
    /// The file.
    pub path: String,
    /// How many servers.
    pub servers: usize,
    /// How many other parts.
    pub others: usize,
    /// How many secrets, sealed.
    pub secrets: usize,
    /// What did not go in, and why.
    pub left: Vec<Left>,
}

/// What was taken of a setup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TakenSetup {
    /// The parts, by their ids.
    pub taken: Vec<String>,
    /// How many secrets were stored.
    pub secrets: usize,
    /// What was not taken, and why.
    pub left: Vec<Left>,
}

/// The folder that is followed, and what other computers wrote there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FollowedSetup {
    /// The folder; `None` where none is followed.
    pub folder: Option<String>,
    /// How this computer is called there.
    pub computer: String,
    /// The other computers.
    pub others: Vec<SetupReview>,
    /// What cannot be read or written there.
    pub troubles: Vec<Left>,
}
