//! Claude Code, from its own package, with a scripted model instead of a real one: no login, no network.

use std::process::Stdio;

use satchel_tests::{Connection, Home, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
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

/// The model writes one script, which calls two servers and returns only the last line.
#[tokio::test]
async fn claude_code_runs_a_script() {
    let house = House::build().await;
    let hub = house.open().await;
    let connection = hub.connection("claude-in-tests").await;
    house.home.satchel(&["surface", "claude-in-tests", "script"]).await.succeeded();
    let script = "const [said, log] = await Promise.all([servers.everything.echo({ message: input }), call('git:git_log', { repo_path: '.' }).catch((error) => error.name)]); return `${said} ${typeof log}`;";
    let calls = json!([
        { "name": "mcp__hub__discover_mcp_tools", "arguments": { "query": "echo a message" } },
        { "name": "mcp__hub__run_mcp_script", "arguments": { "script": script, "input": "said by a script" } },
    ]);
    let seen = talk(&house.home, &connection, &calls, &json!({})).await;
    let mut tools: Vec<_> = seen["tools"].as_array().expect("a list of tools").iter().collect();
    tools.sort_by_key(|tool| tool.to_string());
    assert_eq!(tools, ["mcp__hub__discover_mcp_tools", "mcp__hub__run_mcp_script"]);
    let results = results(&seen);
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].contains("everything:echo"), "{}", results[0]);
    assert!(results[1].contains("Echo: said by a script string"), "{}", results[1]);
    assert_eq!(negotiated(&house.home, "claude-in-tests").await, "2026-07-28");
}

/// With only what `connect` writes into its settings, and with its own way of hiding tools from the model: the two
/// that find and call all others stay visible.
#[tokio::test]
async fn claude_code_uses_the_entry_that_connecting_writes() {
    let house = House::build().await;
    let _hub = house.open().await;
    let settings = house.home.file(".claude.json");
    std::fs::write(&settings, "{}").expect("the home can be written to");
    house.home.satchel(&["connect", "claude-code"]).await.succeeded();
    house.home.satchel(&["surface", "claude-code", "router"]).await.succeeded();
    let hello = json!({ "tool_path": "everything:echo", "arguments": { "message": "said by a model" } });
    let calls = json!([
        { "name": "mcp__satchel__discover_mcp_tools", "arguments": { "query": "echo a message" } },
        { "name": "mcp__satchel__execute_mcp_tool", "arguments": hello },
    ]);
    let (_model, address) = start_model(&house.home, &json!({ "calls": calls })).await;
    let mut command = claude(&house.home, &address);
    command.args(["--allowedTools", "mcp__satchel"]);
    let seen = last_words(command).await;
    let tools = seen["tools"].to_string();
    assert!(tools.contains("discover_mcp_tools") && tools.contains("execute_mcp_tool"), "{tools}");
    let results = results(&seen);
    assert!(results.len() == 2 && results[1].contains("Echo: said by a model"), "{results:?}");
    assert_eq!(negotiated(&house.home, "claude-code").await, "2026-07-28");
    let clients = house.home.satchel(&["clients", "--json"]).await.json();
    let state =
        clients["clients"].as_array().expect("clients").iter().find(|client| client["id"] == "claude-code");
    assert_eq!(state.expect("it is here")["state"], "connected");
}

/// Claude Code uses 2026-07-28 and the server asks during a call, as in 2025-11-25.
#[tokio::test]
async fn claude_code_answers_the_question_of_a_server_of_the_older_era() {
    let house = House::build().await;
    let hub = house.open().await;
    let mut connection = hub.connection("claude-in-tests").await;
    connection.url.push_str("/server/everything");
    let calls = json!([{ "name": "mcp__hub__trigger-elicitation-request", "arguments": {} }]);
    // No person is present; a hook answers.
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "Elicitation", "action": "accept", "content": { "name": "Ada" },
    } });
    let hook = json!({ "type": "command", "command": format!("echo '{answer}'") });
    let settings = json!({ "hooks": { "Elicitation": [{ "matcher": "", "hooks": [hook] }] } });
    let seen = talk(&house.home, &connection, &calls, &settings).await;
    let results = results(&seen);
    assert!(results.len() == 1 && results[0].contains("Name: Ada"), "{results:?}");
}

/// Lets the model make its calls and returns its last words.
async fn talk(home: &Home, connection: &Connection, calls: &Value, settings: &Value) -> Value {
    let server = json!({ "type": "http", "url": connection.url, "headers": connection.headers });
    let write = |name: &str, value: Value| {
        std::fs::write(home.file(name), value.to_string()).expect("the home can be written to");
    };
    write("claude.json", json!({ "mcpServers": { "hub": server } }));
    write("settings.json", settings.clone());
    let (_model, address) = start_model(home, &json!({ "calls": calls })).await;
    let mut command = claude(home, &address);
    command
        .args(["--strict-mcp-config", "--allowedTools", "mcp__hub"])
        .args(["--mcp-config".into(), home.file("claude.json")])
        .args(["--settings".into(), home.file("settings.json")])
        // Otherwise it hides tools from the model until the model searches for them.
        .env("ENABLE_TOOL_SEARCH", "false");
    last_words(command).await
}

/// The program, which only contacts this model.
fn claude(home: &Home, model: &str) -> Command {
    let mut command = home.command(node());
    command
        .arg(installed("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"))
        .args(["-p", "go", "--output-format", "json"])
        .env("ANTHROPIC_BASE_URL", model)
        .env("ANTHROPIC_API_KEY", "not-a-key")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    command
}

async fn last_words(mut command: Command) -> Value {
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

/// Starts the model stand-in; its address ends with the home.
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
