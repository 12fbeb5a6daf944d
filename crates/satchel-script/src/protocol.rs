//! The protocol between the hub and a script's process: one JSON value per line over standard input and output. The hub trusts
//! nothing it receives and enforces every limit itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Appends a message as one line. A raw value may contain line breaks between its tokens, which are replaced by
/// blanks.
///
/// # Errors
/// If it cannot be serialized; nothing is appended then.
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

/// Messages from the hub to the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToScript {
    /// Run this; the first line, sent once.
    Run(Task),
    /// A call finished.
    Settled {
        /// Its id.
        id: u32,
        /// Its value, or the message of its failure.
        end: Settlement,
    },
}

/// The result of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// A value.
    Value(Box<RawValue>),
    /// A failure, which the script receives as an exception.
    Failure(String),
}

/// Messages from the process to the hub.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromScript {
    /// It is sealed and waits for its script.
    Ready,
    /// The script calls a tool.
    Call(CallRequest),
    /// The script has ended, and the process ends.
    Done(End),
}

/// A script and its input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// The body of an async function.
    pub script: String,
    /// Its only parameter, `input`.
    pub input: Box<RawValue>,
}

/// A tool call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallRequest {
    /// Identifies it in this run.
    pub id: u32,
    /// The tool, as `server:tool`.
    pub path: String,
    /// Its arguments, an object.
    pub arguments: Box<RawValue>,
}

/// The result of a script.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    /// Its return value, if any; or why it failed.
    pub outcome: Result<Option<Box<RawValue>>, Wrong>,
    /// What it logged.
    #[serde(default)]
    pub logs: Logs,
    /// Number of calls it did not await.
    #[serde(default)]
    pub left: usize,
}

/// A script's log output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// Its lines.
    pub lines: Vec<String>,
    /// There was more.
    pub cut: bool,
}

/// Why a script has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// A syntax error or an uncaught exception.
    #[error("{0}")]
    Thrown(String),
    /// It waits for a promise that can never settle.
    #[error("the script waits for a promise that never settles")]
    Stuck,
    /// It exceeded a limit.
    #[error("{0}")]
    Bound(Bound),
}

/// The limits of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Memory, in bytes.
    Memory(usize),
    /// CPU time, in seconds.
    Computing(u64),
    /// Total time in seconds, excluding people's answers.
    Time(u64),
    /// Number of calls.
    Calls(u32),
    /// Size of the return value, in bytes.
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
    fn a_message_is_one_line_whatever_its_value_contains() {
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
