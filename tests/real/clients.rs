//! The official clients: SDKs of both generations and the Inspector. Each does the same errands.

use satchel_tests::{Connection, Home, Protected, browser, protected, repository};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::house::{House, authorization, installed, negotiated, node};

const FOUR: [&str; 4] = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];

/// A call of a meta-tool, and what its result must contain.
struct Errand {
    tool: &'static str,
    arguments: Value,
    expected: &'static str,
}

/// Calls to every server, and every meta-tool.
fn errands(house: &House) -> Vec<Errand> {
    let meta = |tool, arguments, expected| Errand { tool, arguments, expected };
    let execute = |tool_path: &str, arguments: Value, expected| {
        meta("execute_mcp_tool", json!({ "tool_path": tool_path, "arguments": arguments }), expected)
    };
    let entity =
        json!({ "name": "Ada", "entityType": "person", "observations": ["wrote the first program"] });
    let thought =
        json!({ "thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    let noon = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    vec![
        meta("discover_mcp_tools", json!({ "query": "commit log of a git repository" }), "git:git_log"),
        execute("everything:echo", json!({ "message": "is anybody there" }), "Echo: is anybody there"),
        execute("everything:get-structured-content", json!({ "location": "Chicago" }), "structuredContent"),
        execute(
            "filesystem:read_text_file",
            json!({ "path": house.home.file("files/hello.txt") }),
            "hello from a file",
        ),
        // The second client finds her there already.
        execute("memory:create_entities", json!({ "entities": [entity] }), "entities"),
        execute("memory:read_graph", json!({}), "wrote the first program"),
        execute("sequential-thinking:sequentialthinking", thought, "thoughtHistoryLength"),
        execute("git:git_log", json!({ "repo_path": house.home.file("repository") }), "first entry"),
        execute("time:convert_time", noon, "21:00"),
        execute("fetch:fetch", json!({ "url": house.page }), "a page of this test"),
        meta("list_mcp_resources", json!({}), "memory|memory://knowledge-graph"),
        meta(
            "read_mcp_resource",
            json!({ "uri": "everything|demo://resource/static/document/architecture.md" }),
            "Architecture",
        ),
        meta(
            "read_mcp_resource",
            json!({ "uri": "memory|memory://knowledge-graph" }),
            "wrote the first program",
        ),
    ]
}

#[tokio::test]
async fn every_official_sdk_finds_four_tools_and_gets_its_errands_done() {
    let house = House::build().await;
    let hub = house.open().await;
    let errands = errands(&house);
    let python = || {
        let mut command = house.home.command(installed("python/bin/python"));
        command.arg(repository().join("tests/real/drivers/python_sdk.py"));
        command
    };
    let script = |name: &str| script(&house.home, name);
    for (name, mode, driver) in [
        ("python", "auto", python()),
        ("python", "legacy", python()),
        ("typescript", "auto", script("typescript_client.mjs")),
        ("typescript", "legacy", script("typescript_client.mjs")),
        ("typescript v1", "its only one", script("typescript_sdk_v1.mjs")),
    ] {
        let who = format!("{name}, mode {mode}");
        let client = who.replace([' ', ','], "-");
        let connection = hub.connection(&client).await;
        let seen = drive(driver, &connection, mode, calls(&errands), None).await;
        let revision = if mode == "auto" { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(seen["revision"], revision, "{who}");
        assert_eq!(negotiated(&house.home, &client).await, revision, "{who}");
        assert_eq!(seen["tools"], json!(FOUR), "{who}");
        for (errand, result) in errands.iter().zip(seen["results"].as_array().expect("a list of results")) {
            satisfied(&who, errand, result);
        }
    }
}

#[tokio::test]
async fn official_sdks_of_both_eras_run_a_script() {
    let house = House::build().await;
    let hub = house.open().await;
    let script = "const { entities } = await servers.memory.create_entities({ entities: [{ name: input, entityType: 'person', observations: ['wrote it'] }] }).then(() => servers.memory.read_graph({})); const noon = await servers.time.convert_time({ source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }); return { known: entities.some((one) => one.name === input), at: noon.target.datetime.slice(11, 16) };";
    let python = || {
        let mut command = house.home.command(installed("python/bin/python"));
        command.arg(repository().join("tests/real/drivers/python_sdk.py"));
        command
    };
    for (name, mode, driver) in [
        ("python", "auto", python()),
        ("python", "legacy", python()),
        ("typescript", "auto", self::script(&house.home, "typescript_client.mjs")),
        ("typescript", "legacy", self::script(&house.home, "typescript_client.mjs")),
    ] {
        let client = format!("{name}-{mode}");
        let connection = hub.connection(&client).await;
        house.home.satchel(&["surface", &client, "script"]).await.succeeded();
        let calls = json!([{ "name": "run_mcp_script", "arguments": { "script": script, "input": client } }]);
        let seen = drive(driver, &connection, mode, calls, None).await;
        let revision = if mode == "auto" { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(seen["revision"], revision, "{client}");
        assert_eq!(seen["tools"], json!(["discover_mcp_tools", "run_mcp_script"]), "{client}");
        let said = seen["results"][0]["content"][0]["text"].as_str().unwrap_or_default();
        let value: Value = serde_json::from_str(said).unwrap_or_else(|_| panic!("{client}: {seen}"));
        assert_eq!(value, json!({ "known": true, "at": "21:00" }), "{client}");
    }
}

/// A server that needs a sign-in, after its sign-in has ended.
async fn signed_out() -> (Home, Protected) {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    home.write_config(&json!({ "mcpServers": { "hosted": { "url": server.url() } } }));
    (home, server)
}

/// A9: in both eras. Clients that show pages continue afterwards.
#[tokio::test]
async fn every_official_client_gets_the_sign_in_and_those_with_pages_continue() {
    let (home, server) = signed_out().await;
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.sign_in("hosted").await;
    home.satchel(&["logout", "hosted"]).await.succeeded();
    let pages = server.pages().await;
    let arguments = json!({ "tool_path": "hosted:echo", "arguments": { "text": "x" } });
    let calls = json!([{ "name": "execute_mcp_tool", "arguments": arguments }]);
    let python = || {
        let mut command = home.command(installed("python/bin/python"));
        command.arg(repository().join("tests/real/drivers/python_sdk.py"));
        command
    };
    for (name, mode, driver) in [
        ("python", "auto", python()),
        ("python", "legacy", python()),
        ("typescript", "auto", script(&home, "typescript_client.mjs")),
        ("typescript", "legacy", script(&home, "typescript_client.mjs")),
        ("typescript v1", "its only one", script(&home, "typescript_sdk_v1.mjs")),
    ] {
        let connection = hub.connection(&format!("{name}-{mode}").replace(' ', "-")).await;
        let seen = drive(driver, &connection, mode, calls.clone(), None).await;
        let told = &seen["results"][0];
        let words = told.to_string();
        assert_eq!(told["isError"], true, "{name}, {mode}: {words}");
        assert!(words.contains("satchel login hosted"), "{name}, {mode}: {words}");
    }
    let history = home.satchel(&["history", "export", "--json"]).await.json();
    let calls_of_hosted = history.as_array().into_iter().flatten().filter(|call| call["server"] == "hosted");
    let outcomes: Vec<_> = calls_of_hosted.map(|call| call["outcome"].clone()).collect();
    assert_eq!(outcomes, vec![json!("not_sent"); 5], "{history}");
    assert_eq!(server.pages().await, pages, "no page was opened by itself");
    for mode in ["auto", "legacy"] {
        let connection = hub.connection(&format!("shows-{mode}")).await;
        let driver = script(&home, "typescript_client.mjs");
        let seen = drive(driver, &connection, mode, calls.clone(), Some(browser())).await;
        let told = &seen["results"][0];
        assert!(told["isError"] != true && told.to_string().contains("echo:x"), "{mode}: {told}");
        home.satchel(&["logout", "hosted"]).await.succeeded();
    }
}

#[tokio::test]
async fn the_inspector_finds_four_tools_and_gets_its_errands_done() {
    let house = House::build().await;
    let hub = house.open().await;
    for (era, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let client = format!("inspector-{era}");
        let connection = hub.connection(&client).await;
        let listed =
            inspect(&house.home, &connection, &["--protocol-era", era, "--method", "tools/list"]).await;
        let tools = listed["tools"].as_array().expect("a list of tools");
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, FOUR, "{era}");
        let called = ["--protocol-era", era, "--method", "tools/call", "--tool-name", "execute_mcp_tool"];
        let echo =
            ["--tool-arg", "tool_path=everything:echo", "--tool-arg", r#"arguments={"message":"hello"}"#];
        let said = inspect(&house.home, &connection, &[&called[..], &echo[..]].concat()).await;
        assert!(said.to_string().contains("Echo: hello"), "{era}: {said}");
        assert_eq!(negotiated(&house.home, &client).await, revision, "{era}");
    }
    let connection = hub.connection("inspector").await;
    for errand in errands(&house) {
        let mut arguments =
            vec!["--method".to_owned(), "tools/call".into(), "--tool-name".into(), errand.tool.into()];
        for (name, value) in errand.arguments.as_object().expect("arguments are an object") {
            // Text as it is, anything else as JSON.
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            arguments.extend(["--tool-arg".into(), format!("{name}={value}")]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        satisfied("inspector", &errand, &inspect(&house.home, &connection, &arguments).await);
    }
}

#[track_caller]
fn satisfied(who: &str, errand: &Errand, result: &Value) {
    let Errand { tool, arguments, expected } = errand;
    assert_ne!(result["isError"], true, "{who}: {tool} {arguments}: {result}");
    let text = result.to_string();
    assert!(text.contains(expected), "{who}: {tool} {arguments} lacks {expected}: {text}");
}

/// A driver in JavaScript. Passed as text, so that its imports resolve where the packages are.
pub(crate) fn script(home: &Home, name: &str) -> Command {
    let source = std::fs::read_to_string(repository().join("tests/real/drivers").join(name));
    let mut command = home.command(node());
    command.current_dir(installed("")).args(["--input-type=module", "--eval"]);
    command.arg(source.expect("the driver can be read"));
    command
}

/// The errands as calls.
fn calls(errands: &[Errand]) -> Value {
    errands.iter().map(|errand| json!({ "name": errand.tool, "arguments": errand.arguments })).collect()
}

/// Passes a driver its plan and returns its observations.
async fn drive(
    mut driver: Command,
    connection: &Connection,
    mode: &str,
    calls: Value,
    browser: Option<[String; 2]>,
) -> Value {
    let (url, headers) = (&connection.url, &connection.headers);
    let plan = json!({ "url": url, "headers": headers, "mode": mode, "calls": calls, "browser": browser });
    driver
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = driver.spawn().expect("the driver can be started");
    let mut stdin = child.stdin.take().expect("its standard input is a pipe");
    stdin.write_all(plan.to_string().as_bytes()).await.expect("the driver reads its plan");
    drop(stdin);
    read_json(child.wait_with_output().await)
}

async fn inspect(home: &Home, connection: &Connection, arguments: &[&str]) -> Value {
    let mut command = home.command(node());
    command.arg(installed("node_modules/.bin/mcp-inspector")).args([
        "--cli",
        &connection.url,
        "--transport",
        "http",
    ]);
    command.args(["--header", &format!("Authorization: {}", authorization(connection))]).args(arguments);
    // It restarts itself as plain `node`, which must be the same one.
    if let Some(directory) = node().parent().filter(|directory| directory.is_absolute()) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", directory.display()));
    }
    read_json(command.output().await)
}

#[track_caller]
fn read_json(output: std::io::Result<std::process::Output>) -> Value {
    let output = output.expect("the program can be run");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&stdout).unwrap_or_else(|error| {
        panic!("{error} in the output of a program that ended with {}: {stdout}\n{stderr}", output.status)
    })
}
