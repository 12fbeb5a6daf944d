//! The embedded server as a process: a jq program can do it no harm.
#![allow(clippy::unwrap_used, reason = "all of it is a test")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

struct Toolbox {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Toolbox {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_satchel"));
        command.arg("toolbox").env("IS_SEEN", "yes").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, input, output: BufReader::new(output) }
    }

    fn query(&mut self, json: Value, program: &str) -> Value {
        let params = json!({"name": "query_json", "arguments": {"json": json, "program": program}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].take()
    }

    fn complaint(&mut self, json: Value, program: &str) -> String {
        let result = self.query(json, program);
        assert_eq!(result["isError"], true, "{program}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_query_is_answered_and_sees_no_environment() {
    let mut toolbox = Toolbox::start();
    let result =
        toolbox.query(json!({"users": [{"name": "Ada"}]}), ".users[].name, (env | has(\"IS_SEEN\"))");
    assert_eq!(result["structuredContent"], json!({"values": ["Ada", false], "truncated": false}));
    let as_text = toolbox.query(json!("[1, 2]"), "add");
    assert_eq!(as_text["structuredContent"]["values"], json!([3]));
}

#[test]
fn endless_greedy_and_recursive_programs_are_stopped_and_the_server_continues() {
    let mut toolbox = Toolbox::start();
    let deep = "[".repeat(200_000);
    for (json, program, part) in [
        (json!(1), "def f: f; f", "stopped"),
        (json!(1), "[range(1e12)] | length", "stopped"),
        (json!(1), "def f: [f]; f", "broke the evaluator"),
        (json!(deep), ".", "broke the evaluator"),
        (json!(1), "halt", "broke the evaluator"),
    ] {
        let text = toolbox.complaint(json, program);
        assert!(text.contains(part), "{program}: {text}");
    }
    assert_eq!(toolbox.query(json!(1), ". + 1")["structuredContent"]["values"], json!([2]));
}

#[test]
fn a_slow_query_delays_no_other_call() {
    let mut toolbox = Toolbox::start();
    let params = json!({"name": "query_json", "arguments": {"json": 1, "program": "def f: f; f"}});
    for request in [
        json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": params}),
        json!({"jsonrpc": "2.0", "id": "quick", "method": "ping"}),
    ] {
        writeln!(toolbox.input, "{request}").unwrap();
    }
    let mut lines = toolbox.output.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["id"], "quick");
    assert_eq!(lines.next().unwrap()["id"], "slow");
}

#[test]
fn the_server_ends_with_its_input() {
    let Toolbox { mut process, input, mut output } = Toolbox::start();
    drop(input);
    assert!(process.wait().unwrap().success());
    assert_eq!(output.read_line(&mut String::new()).unwrap(), 0);
}
