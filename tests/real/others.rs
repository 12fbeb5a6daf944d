//! Clients beside the official ones, each with a way of its own: a proxy for programs that know only stdio, a command
//! line, another SDK.

use std::process::Stdio;

use satchel_tests::{Connection, Home, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::{
    clients::drive,
    house::{House, authorization, installed, negotiated, node},
};

/// The call that each of them makes.
fn echo() -> Value {
    json!({ "tool_path": "everything:echo", "arguments": { "message": "is anybody there" } })
}

const ANSWER: &str = "Echo: is anybody there";

#[tokio::test]
async fn mcp_remote_carries_a_client_on_stdio_to_the_hub() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("mcp-remote").await;
    let mut remote = Remote::start(&house.home, &connection);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" } });
    let opened = remote.request("initialize", hello).await;
    assert_eq!(opened["result"]["serverInfo"]["name"], "satchel", "{opened}");
    remote.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let listed = remote.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(4), "{listed}");
    let called = json!({ "name": "execute_mcp_tool", "arguments": echo() });
    let answer = remote.request("tools/call", called).await;
    assert!(answer.to_string().contains(ANSWER), "{answer}");
    assert_eq!(negotiated(&house.home, "mcp-remote").await, "2025-11-25");
}

/// The proxy, seen from the program that started it.
struct Remote {
    _process: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Remote {
    fn start(home: &Home, connection: &Connection) -> Self {
        let mut command = home.command(node());
        command
            .arg(installed("node_modules/.bin/mcp-remote"))
            .args([&connection.url, "--allow-http", "--header"])
            .arg(format!("Authorization:{}", authorization(connection)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("mcp-remote can be started");
        let stdin = process.stdin.take().expect("its standard input is a pipe");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        Self { _process: process, stdin, lines: BufReader::new(stdout).lines() }
    }

    async fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).await.expect("it reads");
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params })).await;
        loop {
            let line = self.lines.next_line().await.expect("it can be read").expect("it goes on");
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if message["id"] == method {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn mcporter_lists_and_calls() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("mcporter").await;
    let run = async |arguments: &[&str]| {
        let mut command = house.home.command(node());
        command
            .arg(installed("node_modules/.bin/mcporter"))
            .args(arguments)
            .args(["--http-url", &connection.url, "--allow-http", "--header"])
            .arg(format!("Authorization={}", authorization(&connection)));
        let output = command.output().await.expect("mcporter can be started");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let listed = run(&["list", "--json"]).await;
    for tool in ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"] {
        assert!(listed.contains(tool), "{tool} is missing in {listed}");
    }
    let arguments = echo().to_string();
    let called = run(&["call", "--tool", "execute_mcp_tool", "--args", &arguments, "--output", "json"]).await;
    assert!(called.contains(ANSWER), "{called}");
    assert_eq!(negotiated(&house.home, "mcporter").await, "2025-11-25");
}

#[tokio::test]
async fn fastmcp_lists_and_calls() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("fastmcp").await;
    let mut command = house.home.command(installed("python/bin/python"));
    command.arg(repository().join("tests/real/drivers/fastmcp_client.py"));
    let calls = json!([{ "name": "execute_mcp_tool", "arguments": echo() }]);
    let seen = drive(command, &connection, "auto", calls).await;
    assert_eq!(seen["tools"].as_array().map(Vec::len), Some(4), "{seen}");
    assert!(seen["results"].to_string().contains(ANSWER), "{seen}");
    assert_eq!(negotiated(&house.home, "fastmcp").await, "2026-07-28");
}
