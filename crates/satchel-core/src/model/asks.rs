//! What a person is asked before a call is made.

use serde::{Deserialize, Serialize};

use super::nature::Effect;

/// A call that waits for a person's word. Hidden characters are written out in all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Names it.
    pub id: u64,
    /// Who wants to call.
    pub client: String,
    /// Whose tool it is.
    pub server: String,
    /// The tool, as clients see it.
    pub tool: String,
    /// What it does.
    pub effect: Effect,
    /// Its server says so itself.
    pub stated: bool,
    /// Its arguments, one by one, with the titles of its schema.
    pub arguments: Vec<AskArgument>,
    /// Its arguments as they were written.
    pub json: String,
    /// The rule that wants a person asked.
    pub rule: String,
    /// When it began to wait, in milliseconds since the Unix epoch.
    pub since_ms: u64,
    /// When silence becomes a no, in milliseconds since the Unix epoch.
    pub until_ms: u64,
}

/// One argument as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskArgument {
    /// What it is called.
    pub title: String,
    /// What it says.
    pub value: String,
}

/// The answer to [`super::control::Wish::Asks`]: one of each client before the second of any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskList {
    /// Those that wait.
    pub asks: Vec<Ask>,
}

/// A person's word about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskAnswer {
    /// Yes, this once.
    Once,
    /// Yes, and every time for this client until it has not used it for an hour, or the hub ends.
    Session,
    /// Yes, and from now on: a rule of the configuration says so.
    Always,
    /// No.
    No,
    /// No, and no more questions of this client about this server until the hub ends.
    Mute,
}

impl AskAnswer {
    /// Every answer, for tables and tests.
    pub const ALL: [AskAnswer; 5] =
        [AskAnswer::Once, AskAnswer::Session, AskAnswer::Always, AskAnswer::No, AskAnswer::Mute];

    /// May the call be made?
    pub fn is_yes(self) -> bool {
        match self {
            AskAnswer::Once | AskAnswer::Session | AskAnswer::Always => true,
            AskAnswer::No | AskAnswer::Mute => false,
        }
    }
}
