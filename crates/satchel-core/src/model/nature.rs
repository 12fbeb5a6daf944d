//! Types for a tool's effect, its risk, and whether it may be called.

use serde::{Deserialize, Serialize};

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// It may.
    Allow,
    /// Once a person has said so.
    Ask,
    /// It may not, and is in no list.
    Off,
}

impl Permit {
    /// As it is written in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Permit::Allow => "allow",
            Permit::Ask => "ask",
            Permit::Off => "off",
        }
    }
}

/// What a tool does to what it is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It adds or changes.
    Writes,
    /// It may delete, or do what cannot be undone.
    Deletes,
    /// Neither its server nor its words say it.
    #[default]
    Unstated,
}

/// How careful one has to be with a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// It changes nothing.
    Safe,
    /// It changes something, or says nothing of it and gives no sign of danger.
    #[default]
    Moderate,
    /// It may delete, carries out what it is given, or changes things without saying how.
    Dangerous,
}

/// What is known of a tool before it is called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Nature {
    /// What it does.
    pub effect: Effect,
    /// Its server says so itself; otherwise its name, description and schema suggest it.
    pub stated: bool,
    /// How careful one has to be with it.
    pub safety: Safety,
    /// It carries out commands, code or statements that it is given.
    pub commands: bool,
    /// Twice is the same as once.
    pub idempotent: bool,
    /// It reaches beyond its own server.
    pub open_world: bool,
    /// It works only for somebody who is signed in.
    pub needs_auth: bool,
    /// There is something newer.
    pub deprecated: bool,
}
