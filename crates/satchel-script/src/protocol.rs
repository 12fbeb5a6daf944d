//! What the hub and the script's process tell each other: one JSON value a line, over standard input and output. The hub
//! believes nothing that comes from there: every bound that matters is checked on its side again.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What the hub tells the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToScript {
    /// Run this; the first line, and said once.
    Run(Task),
    /// A call ended.
    Settled {
        /// Which one.
        id: u32,
        /// Its value, or the words of its failure.
        end: Settlement,
    },
}

/// How a call ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// With this value.
    Value(Box<RawValue>),
    /// With these words, which the script gets as an exception.
    Failure(String),
}

/// What the process tells the hub.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromScript {
    /// It is sealed and waits for its script.
    Ready,
    /// The script calls a tool.
    Call(Call),
    /// The script is over, and so is the process.
    Done(End),
}

/// A script and what it is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The body of an async function.
    pub script: String,
    /// Its one parameter, `input`.
    pub input: Box<RawValue>,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    /// Names it within this run.
    pub id: u32,
    /// The tool, as `server:tool`.
    pub path: String,
    /// Its arguments, an object.
    pub arguments: Box<RawValue>,
}

/// How a script ended.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    /// What it returned, where it returned anything; or why it did not come so far.
    pub outcome: Result<Option<Box<RawValue>>, Wrong>,
    /// What it logged.
    #[serde(default)]
    pub logs: Logs,
}

/// What a script logged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// Its lines.
    pub lines: Vec<String>,
    /// Whether there were more.
    pub cut: bool,
}

/// Why a script has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// It is no program, or threw something that it did not catch.
    #[error("{0}")]
    Thrown(String),
    /// It waits for something that nothing can bring about.
    #[error("the script waits for a promise that nothing settles")]
    Stuck,
    /// It used up what it may use.
    #[error("{0}")]
    Bound(Bound),
}

/// What a script may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Memory, in bytes.
    Memory(usize),
    /// Computing time, in seconds.
    Computing(u64),
    /// Time in all, without the time people took to answer, in seconds.
    Time(u64),
    /// Calls.
    Calls(u32),
    /// The value it returns, in bytes.
    Output(usize),
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MIB: usize = 1024 * 1024;
        match self {
            Bound::Memory(bytes) => write!(f, "the script used more than {} MiB of memory", bytes / MIB),
            Bound::Computing(seconds) => write!(f, "the script computed for more than {seconds} s"),
            Bound::Time(seconds) => write!(f, "the script took more than {seconds} s"),
            Bound::Calls(calls) => write!(f, "the script made more than {calls} calls"),
            Bound::Output(bytes) => write!(f, "the script returned more than {} MiB", bytes / MIB),
        }
    }
}
