//! The ledger against the wire: what it says a session cost are the tokens of the bytes that went over it, and every
//! face says the same.

use std::collections::BTreeMap;

use satchel_tests::{Client, Connection, Fake, Home, eventually, plain_http};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::offered;

/// Texts on the wire, by the part of the ledger they belong to.
#[derive(Default)]
struct Seen {
    plus: Vec<(&'static str, String)>,
    minus: Vec<(&'static str, String)>,
}

impl Seen {
    async fn spent(&self, home: &Home) -> Value {
        let mut spent: BTreeMap<&str, i64> =
            ["definitions", "find", "describe", "wrapping"].map(|part| (part, 0)).into();
        for (texts, sign) in [(&self.plus, 1), (&self.minus, -1)] {
            let bodies: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            for ((part, _), tokens) in texts.iter().zip(home.tokens(&bodies).await) {
                *spent.entry(part).or_default() += sign * tokens;
            }
        }
        json!(spent)
    }

    /// A meta-tool that the hub answers itself.
    async fn ask(&mut self, client: &Client, part: &'static str, name: &str, arguments: Value) {
        let answer = client.call(name, arguments.clone()).await;
        self.plus.push((part, member(answer.raw(), "content")));
        self.plus.push(("wrapping", request(name, &arguments)));
    }

    /// A call that a server answers.
    async fn execute(&mut self, client: &Client, path: &str, arguments: Value) {
        client.execute(path, arguments.clone()).await.raw();
        let (_, tool) = path.split_once(':').expect("a path names server and tool");
        self.plus.push((
            "wrapping",
            request("execute_mcp_tool", &json!({ "tool_path": path, "arguments": arguments })),
        ));
        self.minus.push(("wrapping", request(tool, &arguments)));
    }
}

fn request(name: &str, arguments: &Value) -> String {
    format!(r#"{{"name":{},"arguments":{arguments}}}"#, json!(name))
}

/// One member of an object, as it is written there.
fn member(raw: &str, name: &str) -> String {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw).expect("a result is an object");
    fields.get(name).unwrap_or_else(|| panic!("no {name} in {raw}")).get().to_owned()
}

/// The definitions of the fake servers, as a client of each would have them, in one list.
async fn without(home: &Home, servers: &[&str]) -> i64 {
    let mut definitions = Vec::new();
    for server in servers {
        let stored: Value = serde_json::from_slice(
            &std::fs::read(home.file(&format!("data/catalogs/{server}.json"))).expect("its list is kept"),
        )
        .expect("it is JSON");
        definitions.extend(stored["tools"].as_array().expect("a list").iter().map(ToString::to_string));
    }
    home.tokens(&[&format!("[{}]", definitions.join(","))]).await[0]
}

/// The newest session of a client, as the history shows it, once everything in it is counted.
async fn session(home: &Home, client: &str) -> Value {
    // A report waits until what came before is counted.
    home.satchel(&["stats", "--json"]).await.json();
    let page = home.satchel(&["history", "--client", client, "--json"]).await.json();
    let session = page["sessions"][0].clone();
    assert_eq!(session["counted"], true, "{page}");
    session
}

#[tokio::test]
async fn what_a_session_cost_are_the_tokens_of_its_bytes_on_the_wire() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": {
        "one": Fake::new(&home, "one").behaving(&["--tools", "30"]).entry(),
        "two": Fake::new(&home, "two").behaving(&["--resources"]).entry(),
    } }));
    let hub = home.start_hub().await;
    let first = hub.client("first").await;
    offered(&first, "one:echo").await;
    offered(&first, "two:echo").await;

    let client = hub.client("measured").await;
    let mut seen = Seen::default();
    for _ in 0..2 {
        let listed = client.request("tools/list", json!({})).await;
        if seen.plus.is_empty() {
            seen.plus.push(("definitions", member(listed.raw(), "tools")));
        }
    }
    seen.ask(&client, "find", "discover_mcp_tools", json!({ "query": "say something \u{1F9F0}" })).await;
    seen.ask(&client, "describe", "discover_mcp_tools", json!({ "query": "echo", "detail": "full" })).await;
    seen.ask(&client, "find", "list_mcp_resources", json!({})).await;
    seen.execute(&client, "one:echo", json!({ "text": "hello" })).await;
    seen.execute(&client, "two:echo", json!({ "text": "x".repeat(5000) })).await;
    // A call of something that is not there: all of it is ours, with the answer.
    let nowhere = json!({ "tool_path": "one:nothing", "arguments": {} });
    let refused = client.call("execute_mcp_tool", nowhere.clone()).await;
    seen.plus.push(("wrapping", member(refused.raw(), "content")));
    seen.plus.push(("wrapping", request("execute_mcp_tool", &nowhere)));

    let session = session(&home, "measured").await;
    assert_eq!(session["spent"], seen.spent(&home).await);
    let expected = without(&home, &["one", "two"]).await;
    assert_eq!(session["without"], expected);
    let spent = session["spent"].as_object().expect("parts").values().filter_map(Value::as_i64).sum::<i64>();
    assert_eq!(session["net"], expected - spent);
    assert_eq!((&session["calls"], &session["searches"]), (&json!(3), &json!(3)));
}

#[tokio::test]
async fn a_client_of_the_stateless_revision_has_sessions_too() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    offered(&hub.client("first").await, "fake:echo").await;
    let connection = hub.connection("modern").await;
    let mut seen = Seen::default();
    let listed = modern(&connection, "tools/list", json!({})).await;
    seen.plus.push(("definitions", member(&listed, "tools")));
    let query = json!({ "query": "echo" });
    let found =
        modern(&connection, "tools/call", json!({ "name": "discover_mcp_tools", "arguments": query })).await;
    seen.plus.push(("find", member(&found, "content")));
    seen.plus.push(("wrapping", request("discover_mcp_tools", &query)));

    let session = session(&home, "modern").await;
    assert_eq!(session["spent"], seen.spent(&home).await);
    assert_eq!((&session["era"], &session["program"]), (&json!("2026-07-28"), &json!("raw 1")));
    let page = home.satchel(&["history", "--client", "modern", "--json"]).await.json();
    assert_eq!(page["sessions"].as_array().map(Vec::len), Some(1), "both requests are one session: {page}");
}

/// The result of one request of the stateless revision, as it is on the wire.
async fn modern(connection: &Connection, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = plain_http()
        .post(&connection.url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = params["name"].as_str() {
        request = request.header("mcp-name", name);
    }
    for (name, value) in &connection.headers {
        request = request.header(name, value);
    }
    let answer = request.body(body.to_string()).send().await.expect("the endpoint answers");
    #[derive(Deserialize)]
    struct Message {
        result: Box<RawValue>,
    }
    let text = answer.text().await.expect("the answer is text");
    let message: Message = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    message.result.get().to_owned()
}

#[tokio::test]
async fn calls_are_in_the_history_after_the_hub_was_killed() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    // Switched off and on it is asleep, so that the first call starts it.
    home.satchel(&["disable", "fake"]).await.succeeded();
    home.satchel(&["enable", "fake"]).await.succeeded();
    hub.until("fake", "asleep").await;
    for _ in 0..20 {
        client.execute("fake:echo", json!({ "text": "x" })).await.text();
    }
    let answer = client.execute("fake:no_such_tool", json!({})).await;
    assert!(!answer.complaint().is_empty());
    eventually("all calls are written", async || {
        let page = home.satchel(&["history", "-n", "100", "--json"]).await.json();
        let calls =
            page["calls"].as_array().map(|calls| calls.iter().filter(|call| call["kind"] == "call").count());
        (calls == Some(21)).then_some(())
    })
    .await;
    hub.kill().await;
    let hub = home.start_hub().await;
    let report = home.satchel(&["stats", "--by", "tool", "--json"]).await.json();
    assert_eq!(
        (&report["totals"]["calls"], &report["totals"]["failures"]),
        (&json!(21), &json!(1)),
        "{report}"
    );
    let page = home.satchel(&["history", "-n", "100", "--json"]).await.json();
    let mut calls = page["calls"].as_array().into_iter().flatten().rev();
    let first = calls.find(|call| call["kind"] == "call").expect("the first call").clone();
    let id = first["id"].to_string();
    let shown = home.satchel(&["history", "show", &id, "--json"]).await.json();
    assert_eq!(shown["line"], first);
    assert!(
        shown["start_ms"].as_f64().is_some_and(|ms| ms > 0.0),
        "the first call started the server: {shown}"
    );
    assert_eq!((&shown["server_era"], &shown["arguments"]), (&json!("2025-11-25"), &Value::Null), "{shown}");
    drop(hub);
}

#[tokio::test]
async fn what_is_kept_of_a_call_is_a_servers_switch_and_can_be_deleted_and_called_again() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    client.execute("fake:echo", json!({ "text": "canary-before" })).await.text();
    home.satchel(&["history", "keep", "fake"]).await.succeeded();
    let arguments = json!({ "text": "canary-kept", "api_key": "canary-secret" });
    client.execute("fake:echo", arguments).await.text();
    let newest = async || home.satchel(&["history", "-n", "1", "--json"]).await.json()["calls"][0].clone();
    let call = eventually("the call is in the history", async || {
        let call = newest().await;
        call["argument"].as_str().is_some_and(|text| text.contains("canary-kept")).then_some(call)
    })
    .await;
    let id = call["id"].to_string();
    let shown = home.satchel(&["history", "show", &id, "--json"]).await.json();
    assert!(shown["result"].as_str().is_some_and(|text| text.contains("canary-kept")), "{shown}");
    // What was hidden cannot be called again; with arguments given it can.
    home.satchel(&["history", "again", &id]).await.failed_with(1);
    let again = home.satchel(&["history", "again", &id, r#"{"text":"once more"}"#]).await.json();
    assert!(again.to_string().contains("once more"), "{again}");
    let holds = |needle: &str| {
        let mut files =
            home.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains("ledger.db"));
        files.any(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    assert!(holds("canary-kept") && !holds("canary-before") && !holds("canary-secret"));
    home.satchel(&["history", "clear"]).await.succeeded();
    assert!(!holds("canary-kept"));
    let report = home.satchel(&["stats", "--json"]).await.json();
    assert_eq!(report["totals"]["calls"], 3, "sums stay: {report}");
}
