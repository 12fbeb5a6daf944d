//! The ledger against the wire, with real servers and a real client: what it says a session cost are the tokens of the
//! bytes that the official Python SDK sent and received.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Stdio,
};

use satchel_tests::{Connection, Home, repository};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::io::AsyncWriteExt;

use crate::house::{House, installed};

#[derive(Deserialize)]
struct Exchange {
    request: String,
    response: String,
}

type Fields = BTreeMap<String, Box<RawValue>>;

#[tokio::test]
async fn the_ledger_counts_the_bytes_that_the_python_client_saw() {
    let house = House::build().await;
    let hub = house.open().await;
    for mode in ["auto", "legacy"] {
        let client = format!("wire-{mode}");
        let exchanges = drive(&house, &hub.connection(&client).await, mode).await;
        let mut wire = Wire::default();
        for exchange in &exchanges {
            wire.read(exchange);
        }
        assert!(wire.calls > 8 && !wire.definitions.is_empty(), "{mode}: the wire was captured");
        let spent = wire.spent(&house.home).await;
        house.home.satchel(&["stats", "--json"]).await.json();
        let page = house.home.satchel(&["history", "--client", &client, "--json"]).await.json();
        let sessions = page["sessions"].as_array().expect("a list of sessions");
        assert_eq!(sessions.len(), 1, "{mode}: {page}");
        assert_eq!(sessions[0]["counted"], true, "{mode}: {page}");
        assert_eq!(sessions[0]["spent"], spent, "{mode}");
        println!("{mode}: without {}, spent {spent}, net {}", sessions[0]["without"], sessions[0]["net"]);
    }
}

/// Calls to every server, every tool of the hub, and one that must fail.
fn calls(house: &House) -> Value {
    let execute = |path: &str, arguments: Value| json!({ "name": "execute_mcp_tool", "arguments": { "tool_path": path, "arguments": arguments } });
    let thought =
        json!({ "thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    json!([
        { "name": "discover_mcp_tools", "arguments": { "query": "commit log of a git repository" } },
        { "name": "discover_mcp_tools", "arguments": { "query": "read a file", "detail": "full", "limit": 3 } },
        execute("everything:echo", json!({ "message": "is anybody there \u{1F9F0}" })),
        execute("filesystem:read_text_file", json!({ "path": house.home.file("files/hello.txt") })),
        execute("memory:read_graph", json!({})),
        execute("sequential-thinking:sequentialthinking", thought),
        execute("git:git_log", json!({ "repo_path": house.home.file("repository") })),
        execute("time:get_current_time", json!({ "timezone": "UTC" })),
        execute("fetch:fetch", json!({ "url": house.page })),
        execute("git:no_such_tool", json!({})),
        { "name": "list_mcp_resources", "arguments": {} },
        { "name": "read_mcp_resource", "arguments": { "uri": "memory|memory://knowledge-graph" } },
    ])
}

async fn drive(house: &House, connection: &Connection, mode: &str) -> Vec<Exchange> {
    let plan = json!({
        "url": connection.url, "headers": connection.headers, "mode": mode, "calls": calls(house),
    });
    let mut command = house.home.command(installed("python/bin/python"));
    command.arg(repository().join("tests/real/drivers/python_wire.py"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the driver can be started");
    let mut stdin = child.stdin.take().expect("its standard input is a pipe");
    stdin.write_all(plan.to_string().as_bytes()).await.expect("the driver reads its plan");
    drop(stdin);
    let output = child.wait_with_output().await.expect("the driver ends");
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said()))
}

/// Texts on the wire, by the part of the ledger they belong to.
#[derive(Default)]
struct Wire {
    definitions: BTreeSet<String>,
    plus: Vec<(&'static str, String)>,
    minus: Vec<String>,
    calls: usize,
}

impl Wire {
    fn read(&mut self, exchange: &Exchange) {
        let request = fields(&exchange.request);
        let Some(result) = result_in(&exchange.response) else { return };
        match request["method"].get() {
            r#""tools/list""# => {
                self.definitions.insert(fields(&result)["tools"].get().to_owned());
            }
            r#""tools/call""# => self.call(&fields(request["params"].get()), &fields(&result)),
            _ => {}
        }
    }

    fn call(&mut self, params: &Fields, result: &Fields) {
        self.calls += 1;
        let (name, arguments) = (params["name"].get(), params["arguments"].get());
        let (inner, content) = (fields(arguments), result["content"].get().to_owned());
        self.plus.push(("wrapping", format!(r#"{{"name":{name},"arguments":{arguments}}}"#)));
        let text = |key: &str| -> String { serde_json::from_str(inner[key].get()).expect("a text") };
        let refused = result.get("_meta").is_some_and(|meta| meta.get().contains("dev.satchel/outcome"));
        match name {
            r#""discover_mcp_tools""# if inner.contains_key("detail") => {
                self.plus.push(("describe", content))
            }
            r#""discover_mcp_tools""# | r#""list_mcp_resources""# => self.plus.push(("find", content)),
            _ if refused => self.plus.push(("wrapping", content)),
            r#""execute_mcp_tool""# => {
                let path = text("tool_path");
                let (_, tool) = path.split_once(':').expect("a path names server and tool");
                self.minus.push(format!(
                    r#"{{"name":{},"arguments":{}}}"#,
                    json!(tool),
                    inner["arguments"].get()
                ));
            }
            _ => {
                let path = text("uri");
                let (_, uri) = path.split_once('|').expect("a path names server and address");
                self.minus.push(format!(r#"{{"uri":{}}}"#, json!(uri)));
            }
        }
    }

    async fn spent(&self, home: &Home) -> Value {
        let parts: Vec<(&str, i64, &str)> = self
            .definitions
            .iter()
            .map(|text| ("definitions", 1, text.as_str()))
            .chain(self.plus.iter().map(|(part, text)| (*part, 1, text.as_str())))
            .chain(self.minus.iter().map(|text| ("wrapping", -1, text.as_str())))
            .collect();
        let counts = home.tokens(&parts.iter().map(|(_, _, text)| *text).collect::<Vec<_>>()).await;
        let mut spent = BTreeMap::from(["definitions", "find", "describe", "wrapping"].map(|part| (part, 0)));
        for ((part, sign, _), tokens) in parts.iter().zip(counts) {
            *spent.entry(*part).or_default() += sign * tokens;
        }
        json!(spent)
    }
}

fn fields(json: &str) -> Fields {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The result in a body, which is JSON or a stream of events.
fn result_in(body: &str) -> Option<String> {
    let result =
        |json: &str| Some(serde_json::from_str::<Fields>(json).ok()?.remove("result")?.get().to_owned());
    result(body).or_else(|| body.lines().filter_map(|line| line.strip_prefix("data:")).find_map(result))
}
