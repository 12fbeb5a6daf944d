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

/// A member of an object, exactly as it is written there.
fn member(raw: &str, name: &str) -> String {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(raw).expect("a result is an object");
    fields.get(name).unwrap_or_else(|| panic!("no {name} in {raw}")).get().to_owned()
}

/// The definitions of the fake servers, as a client connected to each would have them, in one list.
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

/// A client's newest session in the history, once everything in it is counted.
async fn session(home: &Home, client: &str) -> Value {
    // A report waits until everything before it is counted.
    home.satchel(&["stats", "--json"]).await.json();
    let page = home.satchel(&["history", "--client", client, "--json"]).await.json();
    let session = page["sessions"][0].clone();
    assert_eq!(session["counted"], true, "{page}");
    session
}

#[tokio::test]
async fn a_sessions_cost_equals_the_tokens_on_the_wire() {
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
    // A call of a tool that does not exist counts entirely as ours, with the response.
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

/// The result of a request of the stateless revision, exactly as it is on the wire.
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
    // Disabled and enabled again it is asleep, so that the first call starts it.
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
async fn stored_calls_are_a_setting_per_server_and_can_be_deleted_and_repeated() {
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
    // A call with redacted arguments cannot be repeated; with new arguments it can.
    home.satchel(&["history", "again", &id]).await.failed_with(1);
    let again = home.satchel(&["history", "again", &id, r#"{"text":"once more"}"#]).await.json();
    assert!(again.to_string().contains("once more"), "{again}");
    let holds = |needle: &str| {
        let mut files =
            home.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains("ledger.db"));
        files.any(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    assert!(holds("canary-kept") && !holds("canary-before") && !holds("canary-secret"));
    home.satchel_agreeing(&["history", "clear"]).await.succeeded();
    assert!(!holds("canary-kept"));
    let report = home.satchel(&["stats", "--json"]).await.json();
    assert_eq!(report["totals"]["calls"], 3, "sums stay: {report}");
}

/// A client of the control channel, which is a Unix socket.
struct Channel {
    http: reqwest::Client,
}

impl Channel {
    fn of(home: &Home) -> Self {
        let address = std::fs::read(home.file("data/hub.json")).expect("the hub says where it is");
        let address: Value = serde_json::from_slice(&address).expect("it is JSON");
        let socket = address["socket"].as_str().expect("a socket").to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().unix_socket(socket).build();
        Self { http: http.expect("a client can be built") }
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.http.get(format!("http://hub{path}")).send().await.expect("the channel answers");
        (answer.status().as_u16(), answer.text().await.expect("the answer is text"))
    }

    async fn json(&self, path: &str) -> Value {
        let (status, text) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

#[tokio::test]
async fn every_face_tells_the_same_totals() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": {
        "one": Fake::new(&home, "one").entry(), "two": Fake::new(&home, "two").entry(),
    } }));
    let hub = home.start_hub().await;
    for name in ["a", "b"] {
        let client = hub.client(name).await;
        offered(&client, "one:echo").await;
        offered(&client, "two:echo").await;
        client.request("tools/list", json!({})).await.raw();
        for server in ["one", "two", "two"] {
            client.execute(&format!("{server}:echo"), json!({ "text": name })).await.text();
        }
        client.call("execute_mcp_tool", json!({ "tool_path": "one:nothing" })).await.complaint();
    }
    let channel = Channel::of(&home);
    for by in ["client", "server", "tool", "day"] {
        let told = home.satchel(&["stats", "--by", by, "--json"]).await.json();
        assert_eq!(told["totals"]["calls"], 8, "{told}");
        assert_eq!(channel.json(&format!("/api/report?by={by}")).await, told);
        let csv = home.satchel(&["stats", "--by", by, "--csv"]).await.succeeded().stdout.clone();
        assert_eq!(channel.get(&format!("/api/report.csv?by={by}")).await.1, csv);
        same_as_csv(&told, &csv);
    }
    let by_server = home.satchel(&["stats", "--json"]).await.json();
    assert_eq!(channel.json("/api/status").await["report"], by_server);
    // What the window receives unsolicited, and the texts for people.
    let today = channel.json("/api/report?days=1").await;
    let status = hub.status().await;
    assert_eq!(status["ledger"]["net_today"], today["savings"]["net"]);
    assert_eq!(status["ledger"]["calls_hour"], by_server["totals"]["calls"]);
    let words = home.satchel(&["stats"]).await.succeeded().stdout.clone();
    for number in
        [&by_server["savings"]["net"], &by_server["savings"]["without"], &by_server["totals"]["calls"]]
    {
        assert!(words.contains(&number.to_string()), "{number} is not in {words}");
    }
    let (_, metrics) = channel.get("/api/metrics").await;
    assert!(metrics.contains(&format!("satchel_tokens_net {}\n", by_server["savings"]["net"])), "{metrics}");
    let calls = metrics.lines().filter(|line| line.starts_with("satchel_calls_total{"));
    let calls: u64 = calls.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!(calls, 8);
    assert_eq!(channel.get("/api/report?by=nonsense").await.0, 422);
}

/// The last row is the total; the numbers of every row equal those of its line.
fn same_as_csv(report: &Value, csv: &str) {
    let rows: Vec<Vec<&str>> = csv.lines().map(|row| row.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).expect("a column of that name");
    let lines = report["lines"].as_array().expect("lines");
    assert_eq!(rows.len(), lines.len() + 2, "{csv}");
    for (row, line) in rows[1..].iter().zip(lines) {
        assert_eq!(row[column("name")], line["name"].as_str().expect("a name"));
        assert_eq!(row[column("calls")], line["totals"]["calls"].to_string());
        assert_eq!(row[column("result_tokens")], line["totals"]["result_tokens"].to_string());
        assert_eq!(row[column("net")], line["net"].to_string());
    }
    let total = rows.last().expect("a total");
    assert_eq!(total[column("calls")], report["totals"]["calls"].to_string());
    assert_eq!(total[column("without")], report["savings"]["without"].to_string());
    assert_eq!(total[column("with")], report["savings"]["with"].to_string());
    assert_eq!(total[column("net")], report["savings"]["net"].to_string());
}

#[tokio::test]
async fn the_inside_of_a_hub_can_be_looked_at_unless_that_is_switched_off() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    offered(&hub.client("one").await, "fake:echo").await;
    let channel = Channel::of(&home);
    let inside = channel.json("/api/status/debug").await;
    assert_eq!(home.satchel(&["status", "--debug", "--json"]).await.json()["servers"], inside["servers"]);
    let server = &inside["servers"][0];
    assert_eq!((&server["name"], &server["transport"]), (&json!("fake"), &json!("stdio")));
    assert!(server["discovery"]["completed"].as_u64().is_some_and(|times| times > 0), "{inside}");
    assert!(inside["tools_by_transport"]["stdio"].as_u64().is_some_and(|tools| tools > 0), "{inside}");
    home.edit_config(|config| config["debugStatus"] = json!(false));
    eventually("it is switched off", async || {
        (channel.get("/api/status/debug").await.0 == 422).then_some(())
    })
    .await;
    home.satchel(&["status", "--debug"]).await.failed_with(1);
}

#[tokio::test]
async fn followers_receive_every_event() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": {} }));
    let hub = home.start_hub().await;
    let channel = Channel::of(&home);
    let mut events = channel.http.get("http://hub/api/events").send().await.expect("the channel answers");
    let mut heard = String::new();
    let mut until = async |what: &str| {
        while !heard.contains(what) {
            let more = tokio::time::timeout(std::time::Duration::from_secs(120), events.chunk()).await;
            let more = more.unwrap_or_else(|_| panic!("{what} is not in {heard}"));
            let more = more.expect("the stream can be read").expect("the stream stays open");
            heard.push_str(&String::from_utf8_lossy(&more));
        }
    };
    until("listening").await;
    let entry = Fake::new(&home, "fake").entry();
    let command = entry["command"].as_str().expect("it is a program").to_owned();
    let arguments: Vec<String> = serde_json::from_value(entry["args"].clone()).expect("they are texts");
    let mut add = vec!["add", "fake", "--", &command];
    add.extend(arguments.iter().map(String::as_str));
    home.satchel(&add).await.succeeded();
    until(r#"{"event":"server_state","server":"fake","state":"ready"}"#).await;
    until(r#"{"event":"tool_registered","server":"fake","tool":"echo"}"#).await;
    until(r#"{"event":"discovery_completed","server":"fake""#).await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    until(r#"{"event":"call","client":"one","server":"fake","tool":"echo","outcome":"ok""#).await;
}

#[tokio::test]
async fn nothing_is_recorded_while_recording_is_off() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").entry();
    home.write_config(&json!({ "mcpServers": { "fake": fake }, "history": { "record": false } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    let report = home.satchel(&["stats", "--json"]).await.json();
    assert_eq!((&report["totals"]["calls"], &report["savings"]["sessions"]), (&json!(0), &json!(0)));
}
