//! jq programs over a JSON document.
//!
//! jq is a whole programming language: a program can run for ever or fill the memory, and no evaluator in
//! this process could be stopped from outside. So a child process evaluates ([`worker`]); here it is started,
//! given its input, watched and, when its time is over, killed.

mod evaluate;
pub(crate) mod worker;

use std::{
    io::{self, Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Complaint, Tool, ToolAnswer, at_most, parse, schema};

const DOCUMENT_LIMIT: usize = 4 * 1024 * 1024;
const PROGRAM_LIMIT: usize = 16 * 1024;
/// How long a program may run.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// How much longer to wait for the child process, because a busy machine starts it slowly.
const GRACE: Duration = Duration::from_secs(7);

pub(super) const TOOL: Tool = Tool {
    name: "query_json",
    title: "Query JSON",
    description: "Runs a jq program over a JSON document and answers with its results, one per line.",
    example: r#"{"json": {"users": [{"name": "Ada", "age": 36}]}, "program": ".users[] | select(.age > 30) | .name"}"#,
    input_schema,
    output_schema,
    repeatable: true,
    slow: true,
    call,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    json: Value,
    program: String,
}

/// Input of the child process.
#[derive(Serialize, Deserialize)]
struct QueryTask {
    document: String,
    program: String,
}

/// Output of the child process.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    /// The results, each as JSON, and whether some were left out.
    Results { values: Vec<String>, truncated: bool },
    /// The program or the document is invalid.
    Wrong { message: String },
    /// The program ran for too long.
    OutOfTime,
    /// The program needed too much memory.
    OutOfMemory,
}

fn input_schema() -> Value {
    schema(
        &["json", "program"],
        json!({
            "json": {"description": "The document: JSON, or a string that contains JSON."},
            "program": {"type": "string", "description": "A jq program, for example \".items | length\"."},
        }),
    )
}

fn output_schema() -> Value {
    schema(
        &["values", "truncated"],
        json!({
            "values": {"type": "array", "description": "The program's results, in order."},
            "truncated": {"type": "boolean", "description": "There were more results than are given."},
        }),
    )
}

fn call(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Arguments { json, program } = parse(arguments)?;
    let document = match json {
        Value::String(text) => text,
        other => other.to_string(),
    };
    at_most("json", &document, DOCUMENT_LIMIT)?;
    at_most("program", &program, PROGRAM_LIMIT)?;
    match run(&QueryTask { document, program }) {
        Ok(report) => conclude(report),
        Err(wrong) => Err(Complaint(format!("The query could not be run: {wrong}."))),
    }
}

fn conclude(report: Report) -> Result<ToolAnswer, Complaint> {
    match report {
        Report::Results { values, truncated } => {
            let mut text = values.join("\n");
            if values.is_empty() {
                text = "No results.".into();
            }
            if truncated {
                text.push_str("\n(There are more; narrow the program, for example with limit(100; …).)");
            }
            // jq has values that JSON has not, such as raw byte strings; those stay text.
            let value =
                |text: &String| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
            let values: Vec<Value> = values.iter().map(value).collect();
            Ok(ToolAnswer { text, structured: json!({"values": values, "truncated": truncated}) })
        }
        Report::Wrong { message } => Err(Complaint(message)),
        Report::OutOfTime => Err(Complaint::new(format!(
            "The program was stopped after {} seconds. Make it do less, for example with limit(100; …).",
            TIME_LIMIT.as_secs()
        ))),
        Report::OutOfMemory => Err(Complaint::new(format!(
            "The program was stopped because it used more than {} MB of memory. Make it keep less at once.",
            worker::MEMORY_LIMIT / (1024 * 1024)
        ))),
    }
}

/// Evaluates `task` in a child process that has exited when this returns.
fn run(task: &QueryTask) -> io::Result<Report> {
    let mut child = start()?;
    let (mut input, output) = match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => (input, output),
        (_, _) => return Err(io::Error::other("the evaluating process has no pipes")),
    };
    let task = serde_json::to_vec(task)?;
    let (sender, receiver) = mpsc::channel();
    // The thread ends at the latest when the child is killed below, because that closes both pipes.
    thread::spawn(move || {
        // A child that exits early reports why by its status; the broken pipe adds nothing.
        let _ = input.write_all(&task);
        drop(input);
        let mut said = Vec::new();
        let read = output.take(worker::REPORT_LIMIT).read_to_end(&mut said);
        // The receiver is gone after the timeout.
        let _ = sender.send(read.map(|_| said));
    });
    match receiver.recv_timeout(TIME_LIMIT + GRACE) {
        Ok(said) => conclusion(&mut child, &said?),
        Err(_) => {
            end(&mut child)?;
            Ok(Report::OutOfTime)
        }
    }
}

/// The child's report, or what its exit status means if it wrote none.
fn conclusion(child: &mut Child, said: &[u8]) -> io::Result<Report> {
    let status = end(child)?;
    let wrong = || Report::Wrong {
        message: format!("The program broke the evaluator ({status}). Does it recurse too deeply?"),
    };
    Ok(serde_json::from_slice(said).unwrap_or_else(|_| wrong()))
}

/// Kills the child if it has not exited, and waits for it, so that it does not stay a zombie.
fn end(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    // A child that exits by itself may be gone already.
    let _ = child.kill();
    child.wait()
}

fn start() -> io::Result<Child> {
    let program: PathBuf = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(["toolbox", crate::QUERY]);
    // jq programs can read the environment, so it is empty.
    command.env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    hide_console(&mut command);
    command.spawn()
}

#[cfg(windows)]
fn hide_console(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NO_WINDOW);
}

#[cfg(not(windows))]
fn hide_console(_: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_given_as_text_and_as_values() {
        let values = vec![r#"{"a":1}"#.to_owned(), "\"x\"".to_owned(), "NaN".to_owned()];
        let answer = conclude(Report::Results { values, truncated: true }).unwrap();
        assert!(answer.text.starts_with("{\"a\":1}\n\"x\"\nNaN\n(There are more"), "{}", answer.text);
        assert_eq!(answer.structured, json!({"values": [{"a": 1}, "x", "NaN"], "truncated": true}));
    }

    #[test]
    fn an_empty_result_is_reported() {
        let answer = conclude(Report::Results { values: vec![], truncated: false }).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.structured),
            ("No results.", json!({"values": [], "truncated": false}))
        );
    }

    #[test]
    fn a_document_or_program_over_its_limit_is_refused_before_anything_is_started() {
        for arguments in [
            json!({"json": "1".repeat(DOCUMENT_LIMIT + 1), "program": "."}),
            json!({"json": 1, "program": " ".repeat(PROGRAM_LIMIT + 1)}),
        ] {
            let Complaint(text) = call(arguments).unwrap_err();
            assert!(text.contains("at most"), "{text}");
        }
    }
}
