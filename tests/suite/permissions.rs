//! Rules say whether a tool may be called; where they want a person asked, nothing happens before one has said yes.

use std::time::Duration;

use satchel_tests::{Answer, Client, Fake, Home, Hub, eventually};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::offered;

fn configure(home: &Home, rules: Value) -> Fake {
    let fake = Fake::new(home, "fake").behaving(&["--resources", "--tools", "1"]);
    home.write_config(&json!({ "toolRules": rules, "mcpServers": { "fake": fake.entry() } }));
    fake
}

async fn at(hub: &Hub<'_>, client: &str, path: &str) -> Client {
    let mut connection = hub.connection(client).await;
    connection.url = connection.url.replace("/mcp", path);
    Client::open(&connection, "2025-11-25").await
}

async fn listed(client: &Client, method: &str) -> String {
    format!("{:?}", client.request(method, json!({})).await.outcome)
}

#[tokio::test]
async fn disabled_tools_are_unlisted_and_refused_for_all_or_for_one_client() {
    let home = Home::empty();
    let rules = json!([
        { "tool": "fake:about", "permit": "off" },
        { "tool": "fake:ech*", "client": "tw?", "permit": "off" },
    ]);
    let fake = configure(&home, rules);
    let hub = home.start_hub().await;
    offered(&hub.client("one").await, "fake:echo").await;
    for (name, tool, is_off) in
        [("one", "about", true), ("two", "about", true), ("one", "echo", false), ("two", "echo", true)]
    {
        let (router, direct, alone) = (
            at(&hub, name, "/mcp").await,
            at(&hub, name, "/mcp/direct").await,
            at(&hub, name, "/mcp/server/fake").await,
        );
        let flat = format!("fake-{tool}");
        let path = format!("fake:{tool}");
        let there = [
            router.paths("").await.contains(&path),
            router.paths(tool).await.contains(&path),
            listed(&direct, "tools/list").await.contains(&format!("\"{flat}\"")),
            listed(&alone, "tools/list").await.contains(&format!("\"{tool}\"")),
        ];
        assert_eq!(there, [!is_off; 4], "{name} {tool}");
        let before = fake.ledger().count(&format!("call {tool}"));
        let arguments = json!({ "text": "x" });
        let answers = [
            router.execute(&path, if tool == "about" { json!({}) } else { arguments.clone() }).await,
            direct.call(&flat, arguments.clone()).await,
            alone.call(tool, arguments).await,
        ];
        for answer in &answers {
            if is_off {
                let complaint = answer.complaint();
                assert!(complaint.contains("switched off") && complaint.contains(": off"), "{complaint}");
            } else {
                assert_eq!(answer.text(), "x");
            }
        }
        let came = fake.ledger().count(&format!("call {tool}")) - before;
        assert_eq!(came, if is_off { 0 } else { 3 }, "{name} {tool}");
    }
    let history = home.satchel(&["history", "--json"]).await.json().to_string();
    assert!(history.contains("denied"), "{history}");
    // A person at the command line is not a client, but a disabled tool is disabled for everybody.
    home.satchel(&["call", "fake:about"]).await.failed_with(1);
    home.satchel(&["call", "fake:echo", r#"{"text":"x"}"#]).await.succeeded();
    // Once the rule is removed, the tool is available at once.
    home.satchel_agreeing(&["rule", "fake:about", "usual"]).await.succeeded();
    offered(&hub.client("two").await, "fake:about").await;
}

#[tokio::test]
async fn a_server_switched_off_for_a_client_appears_nowhere_to_it() {
    let home = Home::empty();
    let (fake, other) = (Fake::new(&home, "fake").behaving(&["--resources"]), Fake::new(&home, "other"));
    home.write_config(&json!({
        "toolRules": [{ "tool": "fake:*", "client": "stranger", "permit": "off" }],
        "mcpServers": { "fake": fake.entry(), "other": other.entry() },
    }));
    let hub = home.start_hub().await;
    let friend = hub.client("friend").await;
    offered(&friend, "fake:echo").await;
    offered(&friend, "other:echo").await;
    assert!(friend.call("list_mcp_resources", json!({})).await.text().contains("fake://note/1"));
    let stranger = hub.client("stranger").await;
    let direct = at(&hub, "stranger", "/mcp/direct").await;
    let mut said = vec![stranger.opened.to_string(), listed(&stranger, "tools/list").await];
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        said.push(listed(&direct, method).await);
    }
    for arguments in [
        json!({ "query": "" }),
        json!({ "query": "echo", "detail": "full" }),
        json!({ "query": "no such thing" }),
        json!({ "query": "echo", "server": "nowhere" }),
    ] {
        said.push(format!("{:?}", stranger.call("discover_mcp_tools", arguments).await.outcome));
    }
    said.push(stranger.call("list_mcp_resources", json!({})).await.text());
    said.push(stranger.execute("other:ecko", json!({})).await.complaint());
    for text in said {
        assert!(!text.contains("fake"), "{text}");
    }
    let alone = hub.connection("stranger").await;
    let refused = [
        stranger.execute("fake:echo", json!({ "text": "x" })).await,
        stranger.execute("FAKE:echo", json!({ "text": "x" })).await,
        stranger.execute("fake-echo", json!({ "text": "x" })).await,
        stranger.call("read_mcp_resource", json!({ "uri": "fake|fake://note/1" })).await,
        direct.call("fake-echo", json!({ "text": "x" })).await,
        direct.request("resources/read", json!({ "uri": "fake://note/1" })).await,
        direct.request("resources/subscribe", json!({ "uri": "fake://note/1" })).await,
    ];
    for answer in &refused {
        answer.complaint();
    }
    let opening = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    let mut request = satchel_tests::plain_http()
        .post(alone.url.replace("/mcp", "/mcp/server/fake"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(opening.to_string());
    for (name, value) in &alone.headers {
        request = request.header(name, value);
    }
    let opened = request.send().await.expect("the endpoint answers").text().await.expect("it can be read");
    assert!(opened.contains("switched off"), "{opened}");
    let ledger = fake.ledger();
    assert_eq!((ledger.count("call echo"), other.ledger().count("call echo")), (0, 0));
}

#[tokio::test]
async fn without_anyone_to_ask_the_answer_is_no_with_a_reason() {
    let home = Home::empty();
    let fake = configure(
        &home,
        json!([{ "tool": "fake:extra_1", "annotations": { "readOnlyHint": false, "destructiveHint": true } }]),
    );
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:extra_1").await;
    let complaint = client.execute("fake:extra_1", json!({})).await.complaint();
    assert!(complaint.contains("no user is there to be asked"), "{complaint}");
    assert_eq!(fake.ledger().count("call extra_1"), 0);
    // What is not dangerous is called as always, and so is what a person calls by hand.
    client.execute("fake:about", json!({})).await.text();
    home.satchel(&["call", "fake:extra_1", "{}"]).await.succeeded();
    assert_eq!(fake.ledger().count("call extra_1"), 1);
    let tools = home.satchel(&["tools", "--json"]).await.json();
    let extra =
        tools["tools"].as_array().unwrap().iter().find(|tool| tool["tool_path"] == "fake:extra_1").unwrap();
    assert_eq!(
        (&extra["permit"], &extra["nature"]["safety"], &extra["rule"]),
        (&json!("ask"), &json!("dangerous"), &json!("tools that delete: ask first"))
    );
}

/// A call that waits, and the prompt about it.
pub(crate) async fn asked(home: &Home, client: &Client, tool: &str) -> (JoinHandle<Answer>, Value) {
    let (calling, path) = (client.clone(), tool.to_owned());
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    let call = tokio::spawn(async move { calling.execute(&path, json!({ "text": "x" })).await });
    let ask = eventually("it is asked", async || {
        home.satchel(&["asks", "--json"]).await.json()["asks"].get(0).cloned()
    })
    .await;
    (call, ask)
}

pub(crate) async fn said(home: &Home, ask: &Value, word: &str) {
    let id = ask["id"].to_string();
    eventually("the word is taken once the question could be read", async || {
        (home.satchel_agreeing(&["answer", &id, word]).await.code == Some(0)).then_some(())
    })
    .await;
}

pub(crate) async fn answered(call: JoinHandle<Answer>) -> Answer {
    tokio::time::timeout(Duration::from_secs(100), call).await.expect("it ends").expect("it does not fail")
}

#[tokio::test]
async fn a_person_is_asked_and_the_word_goes_as_far_as_it_says() {
    let home = Home::empty();
    let fake = configure(&home, json!([{ "tool": "fake:echo", "permit": "ask" }]));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;

    let (call, ask) = asked(&home, &client, "fake:echo").await;
    assert_eq!(
        (&ask["client"], &ask["server"], &ask["tool"], &ask["rule"], &ask["arguments"]),
        (
            &json!("one"),
            &json!("fake"),
            &json!("echo"),
            &json!("fake:echo: ask"),
            &json!([{ "title": "text", "value": "x" }])
        )
    );
    assert_eq!(fake.ledger().count("call echo"), 0, "nothing happens before the answer");
    assert_eq!(hub.status().await["asks"][0]["id"], ask["id"]);
    said(&home, &ask, "no").await;
    assert!(answered(call).await.complaint().contains("did not allow"));
    home.satchel(&["answer", &ask["id"].to_string(), "yes"]).await.failed_with(1);

    let (call, ask) = asked(&home, &client, "fake:echo").await;
    said(&home, &ask, "yes").await;
    assert_eq!(answered(call).await.text(), "x");
    assert_eq!(fake.ledger().count("call echo"), 1);

    let (call, ask) = asked(&home, &client, "fake:echo").await;
    said(&home, &ask, "session").await;
    assert_eq!(answered(call).await.text(), "x");
    assert_eq!(client.execute("fake:echo", json!({ "text": "y" })).await.text(), "y", "no second question");

    let other = hub.client("two").await;
    let (call, ask) = asked(&home, &other, "fake:echo").await;
    assert_eq!(ask["client"], "two", "one client's session is not the other's");
    said(&home, &ask, "always").await;
    assert_eq!(answered(call).await.text(), "x");
    assert_eq!(other.execute("fake:echo", json!({ "text": "y" })).await.text(), "y");
    let rules = home.config()["toolRules"].clone();
    assert_eq!(rules[1], json!({ "tool": "fake:echo", "client": "two", "permit": "allow" }), "{rules}");

    let third = hub.client("three").await;
    let (call, ask) = asked(&home, &third, "fake:echo").await;
    said(&home, &ask, "mute").await;
    answered(call).await.complaint();
    let muted = third.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    assert!(muted.contains("muted questions"), "{muted}");
    assert_eq!(fake.ledger().count("call echo"), 5);

    let calls = home.satchel(&["history", "--json"]).await.json();
    let is_call = |call: &&Value| call["kind"] == "call";
    let id = calls["calls"].as_array().unwrap().iter().rfind(is_call).unwrap()["id"].to_string();
    let first = home.satchel(&["history", "show", &id, "--json"]).await.json();
    assert_eq!(first["rule"], "fake:echo: ask", "{first}");

    // Who asked what, by which rule, with which answer: exactly, and in a format for other programs.
    let audit = home.satchel(&["history", "export", "--since", "1h", "--json"]).await.json();
    let of = |client: &str| -> Vec<(String, String)> {
        let lines = audit.as_array().expect("lines").iter();
        let calls = lines.filter(|line| line["kind"] == "call" && line["client"] == client);
        calls
            .map(|line| {
                (line["rule"].as_str().unwrap().to_owned(), line["outcome"].as_str().unwrap().to_owned())
            })
            .collect()
    };
    let pair = |rule: &str, outcome: &str| (format!("fake:echo{rule}"), outcome.to_owned());
    assert_eq!(
        of("one"),
        [
            pair(": ask", "not_sent"),
            pair(": ask; allowed once", "ok"),
            pair(": ask; allowed for this session", "ok"),
            pair(": ask; allowed for this session", "ok"),
        ]
    );
    assert_eq!(of("two"), [pair(": ask; allowed from now on", "ok"), pair(" for two: allow", "ok")]);
    let table = home.satchel(&["history", "export", "--csv"]).await.stdout;
    let head = table.lines().next().unwrap_or_default();
    assert!(head.starts_with("id,time_ms,client") && table.contains("fake:echo for two: allow"), "{table}");
}
