//! Claude Code, from its own package, with a scripted model instead of a real one: no login, no network.

use std::process::Stdio;

use satchel_tests::{Connection, Home, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Child,
};

use crate::house::{House, installed, negotiated, node};

#[tokio::test]
async fn claude_code_discovers_and_executes() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("claude-in-tests").await;
    let hello = json!({ "tool_path": "everything:echo", "arguments": { "message": "said by a model" } });
    let calls = json!([
        { "name": "mcp__hub__discover_mcp_tools", "arguments": { "query": "echo a message" } },
        { "name": "mcp__hub__execute_mcp_tool", "arguments": hello },
    ]);
    let seen = talk(&house.home, &connection, &calls, &json!({})).await;
    let mut tools: Vec<_> = seen["tools"].as_array().expect("a list of tools").iter().collect();
    tools.sort_by_key(|tool| tool.to_string());
    assert_eq!(
        tools,
        [
            "mcp__hub__discover_mcp_tools",
            "mcp__hub__execute_mcp_tool",
            "mcp__hub__list_mcp_resources",
            "mcp__hub__read_mcp_resource",
        ]
    );
    let results = results(&seen);
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].contains("everything:echo"), "{}", results[0]);
    assert!(results[1].contains("Echo: said by a model"), "{}", results[1]);
    assert_eq!(negotiated(&house.home, "claude-in-tests").await, "2026-07-28");
}

/// Claude Code speaks 2026-07-28 and the server asks in the middle of a call, as 2025-11-25 has it.
#[tokio::test]
async fn claude_code_answers_the_question_of_a_server_of_the_older_era() {
    let house = House::build().await;
    let hub = house.open().await;
    let mut connection = hub.connection("claude-in-tests").await;
    connection.url.push_str("/server/everything");
    let calls = json!([{ "name": "mcp__hub__trigger-elicitation-request", "arguments": {} }]);
    // Nobody sits before it; a hook answers for them.
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "Elicitation", "action": "accept", "content": { "name": "Ada" },
    } });
    let hook = json!({ "type": "command", "command": format!("echo '{answer}'") });
    let settings = json!({ "hooks": { "Elicitation": [{ "matcher": "", "hooks": [hook] }] } });
    let seen = talk(&house.home, &connection, &calls, &settings).await;
    let results = results(&seen);
    assert!(results.len() == 1 && results[0].contains("Name: Ada"), "{results:?}");
}

/// Lets the model make its calls; its last words.
async fn talk(home: &Home, connection: &Connection, calls: &Value, settings: &Value) -> Value {
    let server = json!({ "type": "http", "url": connection.url, "headers": connection.headers });
    let write = |name: &str, value: Value| {
        std::fs::write(home.file(name), value.to_string()).expect("the home can be written to");
    };
    write("claude.json", json!({ "mcpServers": { "hub": server } }));
    write("settings.json", settings.clone());
    let (_model, address) = start_model(home, &json!({ "calls": calls })).await;
    let mut command = home.command(node());
    command
        .arg(installed("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"))
        .args(["-p", "go", "--strict-mcp-config", "--output-format", "json", "--allowedTools", "mcp__hub"])
        .args(["--mcp-config".into(), home.file("claude.json")])
        .args(["--settings".into(), home.file("settings.json")])
        .env("ANTHROPIC_BASE_URL", address)
        .env("ANTHROPIC_API_KEY", "not-a-key")
        // Otherwise it hides tools from the model until the model searches for them.
        .env("ENABLE_TOOL_SEARCH", "false")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let output = command.output().await.expect("Claude Code can be started");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&stdout)
        .unwrap_or_else(|error| panic!("{error}: {stdout}{}", String::from_utf8_lossy(&output.stderr)));
    let words = report["result"].as_str().unwrap_or_else(|| panic!("no last words: {report}"));
    serde_json::from_str(words).unwrap_or_else(|error| panic!("{error}: {words}"))
}

/// What the calls returned, each as text.
fn results(seen: &Value) -> Vec<String> {
    seen["results"].as_array().expect("results").iter().map(Value::to_string).collect()
}

/// Starts the stand-in for the model; its address ends with the home.
async fn start_model(home: &Home, plan: &Value) -> (Child, String) {
    let mut command = home.command(node());
    command.arg(repository().join("tests/real/drivers/scripted_model.mjs"));
    let mut model =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the model can be started");
    let mut stdin = model.stdin.take().expect("its standard input is a pipe");
    stdin.write_all(plan.to_string().as_bytes()).await.expect("the model reads its plan");
    drop(stdin);
    let stdout = model.stdout.take().expect("its standard output is a pipe");
    let line =
        BufReader::new(stdout).lines().next_line().await.ok().flatten().expect("it says where it listens");
    let ready: Value = serde_json::from_str(&line).expect("it says so as JSON");
    (model, ready["url"].as_str().expect("an address").to_owned())
}
