//! Types for a tool's effect, its risk, and whether it may be called.

use serde::{Deserialize, Serialize};

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// Yes.
    Allow,
    /// Only after asking a person.
    Ask,
    /// No; it is also hidden.
    Off,
}

impl Permit {
    /// The name used in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Permit::Allow => "allow",
            Permit::Ask => "ask",
            Permit::Off => "off",
        }
    }
}

/// A tool's effect on its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Read-only.
    Reads,
    /// Adds or changes.
    Writes,
    /// May delete, or do something irreversible.
    Deletes,
    /// Neither declared by the server nor evident from its definition.
    #[default]
    Unstated,
}

/// How much care a tool needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// Read-only.
    Safe,
    /// It changes something, or declares nothing and shows no sign of danger.
    #[default]
    Moderate,
    /// It may delete, executes its input, or changes things without declaring how.
    Dangerous,
}

/// What is known about a tool before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Nature {
    /// What it does.
    pub effect: Effect,
    /// The server declares this itself; otherwise it is derived from name, description and schema.
    pub stated: bool,
    /// How much care it needs.
    pub safety: Safety,
    /// It executes commands, code or statements from its arguments.
    pub commands: bool,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
    /// It interacts with the world beyond its own server.
    pub open_world: bool,
    /// It requires a signed-in user.
    pub needs_auth: bool,
    /// It is deprecated.
    pub deprecated: bool,
}
