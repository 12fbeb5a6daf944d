//! The protocol between the hub and a script's process: one JSON value per line over standard input and output. The hub trusts
//! nothing it receives and enforces every limit itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Puts a word on its way as one line. A raw value may stand on several lines, as its server or client wrote it; line
/// breaks are only between its parts there, where a blank says the same.
///
/// # Errors
/// Where it cannot be written; nothing is on its way then.
pub fn put_line(word: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = to.len();
    if let Err(error) = serde_json::to_writer(&mut *to, word) {
        to.truncate(start);
        return Err(error);
    }
    for byte in &mut to[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    to.push(b'\n');
    Ok(())
}

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
    Call(CallRequest),
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
pub struct CallRequest {
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
    /// How many calls it began and did not wait for.
    #[serde(default)]
    pub left: usize,
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
    #[error("the script waits for a promise that never settles")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_line_whatever_its_value_looks_like() {
        let value =
            RawValue::from_string("{\r\n  \"a\": [\n1.0, \"b\\nc\"\n]\n}".to_owned()).expect("it is JSON");
        let word = ToScript::Settled { id: 1, end: Settlement::Value(value) };
        let mut line = b"before\n".to_vec();
        put_line(&word, &mut line).expect("it can be written");
        let line = String::from_utf8(line).expect("a text");
        let lines: Vec<&str> = line.lines().collect();
        assert_eq!(lines.len(), 2, "{line}");
        let value: serde_json::Value = serde_json::from_str(lines[1]).expect("it is JSON");
        assert_eq!(value["settled"]["end"]["value"], serde_json::json!({ "a": [1.0, "b\nc"] }));
    }
}
