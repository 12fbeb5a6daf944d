//! Types for an examination: each finding with its verdict and what to do about it.

use serde::{Deserialize, Serialize};

/// Everything that was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Examination {
    /// One finding for each thing.
    pub findings: Vec<DoctorFinding>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DoctorFinding {
    /// What kind of thing.
    pub about: Examined,
    /// The thing, as people name it: `server github`.
    pub subject: String,
    /// How it is.
    pub verdict: Health,
    /// What was found.
    pub message: String,
    /// What to do about it; empty where nothing is to be done.
    pub action: String,
}

impl DoctorFinding {
    /// What was found and what to do, in one line.
    pub fn sentence(&self) -> String {
        match self.action.is_empty() {
            true => self.message.clone(),
            false => format!("{}. {}", self.message.trim_end_matches('.'), self.action),
        }
    }
}

/// What kinds of things are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Examined {
    /// The configuration file.
    Configuration,
    /// How tools are searched.
    Search,
    /// The hub itself.
    Hub,
    /// Where clients connect.
    Port,
    /// A program that starts servers.
    Runtime,
    /// Where secrets are stored.
    Secrets,
    /// Another program's files.
    Client,
    /// A profile.
    Profile,
    /// A folder with a profile of its own.
    Folder,
    /// A server.
    Server,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Fine,
    /// Worth knowing, but nothing is broken by it.
    Note,
    /// Something does not work because of it.
    Wrong,
}
