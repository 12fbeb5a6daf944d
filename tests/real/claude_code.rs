//! Claude Code, from its own package, with a scripted model instead of a real one: no login, no network.

use std::process::Stdio;

use satchel_tests::{Home, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Child,
};

use crate::house::{House, installed, node};

#[tokio::test]
async fn claude_code_discovers_and_executes() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("claude-code").await;
    let home = &house.home;
    let server = json!({ "type": "http", "url": connection.url, "headers": connection.headers });
    std::fs::write(home.file("claude.json"), json!({ "mcpServers": { "hub": server } }).to_string())
        .expect("the home can be written to");
    let hello = json!({ "tool_path": "everything:echo", "arguments": { "message": "said by a model" } });
    let (_model, address) = start_model(
        home,
        &json!({ "calls": [
            { "name": "mcp__hub__discover_mcp_tools", "arguments": { "query": "echo a message" } },
            { "name": "mcp__hub__execute_mcp_tool", "arguments": hello },
        ] }),
    )
    .await;

    let mut command = home.command(node());
    command
        .arg(installed("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"))
        .args(["-p", "go", "--strict-mcp-config", "--output-format", "json", "--allowedTools", "mcp__hub"])
        .args(["--mcp-config".into(), home.file("claude.json")])
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
    let seen: Value = serde_json::from_str(words).unwrap_or_else(|error| panic!("{error}: {words}"));
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
    let results: Vec<String> =
        seen["results"].as_array().expect("results").iter().map(Value::to_string).collect();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].contains("everything:echo"), "{}", results[0]);
    assert!(results[1].contains("Echo: said by a model"), "{}", results[1]);
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
