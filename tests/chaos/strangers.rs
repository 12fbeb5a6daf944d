//! S7: a client that may not see a server tries every name, spelling and borrowed handle that comes to mind. Nothing of
//! the server reaches it, and nothing of it reaches the server; and what is another client's stays that client's.

use satchel_tests::{Client, Connection, Fake, Home, Hub, eventually, plain_http};
use serde_json::{Value, json};

use crate::{measured, sized};

/// Part of the definition of a hidden server's tool, and nowhere else.
const MARK: &str = "quartz-lantern-seventeen";
/// Part of a result of another client.
const RESULT: &str = "a-long-result-of-the-friend";

/// Every spelling of `vault`.
const SPELLINGS: &[&str] = &[
    "vault",
    "VAULT",
    "Vault",
    " vault",
    "vault ",
    "va\u{200b}ult",
    "v\u{0430}ult",
    "\u{202e}tluav",
    "vault\u{0}",
    "%76ault",
    "./vault",
    "../vault",
    "vault/",
    "other/../vault",
    "vault.",
    "vault-",
    "\"vault\"",
    "*",
    "v*",
    "?ault",
    "other:vault",
    "vault\n",
    "ｖault",
];

async fn at(hub: &Hub<'_>, name: &str, path: &str) -> Client {
    let mut connection = hub.connection(name).await;
    connection.url = connection.url.replace("/mcp", path);
    Client::open(&connection, "2025-11-25").await
}

/// Sends a request as another program would; returns status and body.
async fn sent(
    connection: &Connection,
    path: &str,
    session: Option<&str>,
    stateless: bool,
    body: &Value,
) -> (u16, String) {
    let url = connection.url.replace("/mcp", path);
    let mut request = plain_http().post(url).header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream");
    for (name, value) in &connection.headers {
        request = request.header(name, value);
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    if stateless {
        let method = body["method"].as_str().unwrap_or_default();
        request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
        let name = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
        if let Some(name) = name.filter(|name| name.is_ascii() && !name.contains(char::is_control)) {
            request = request.header("mcp-name", name.trim());
        }
    }
    let response = request.body(body.to_string()).send().await.expect("the endpoint answers");
    (response.status().as_u16(), response.text().await.unwrap_or_default())
}

#[tokio::test]
async fn a_client_cannot_reach_what_is_disabled_for_it_in_any_spelling() {
    let home = Home::empty();
    let words = home.file("words");
    std::fs::write(&words, MARK).expect("the home can be written to");
    let vault =
        Fake::new(&home, "vault").behaving(&["--resources", "--words", words.to_str().expect("it is plain")]);
    let other = Fake::new(&home, "other");
    home.write_config(&json!({
        "toolRules": [{ "tool": "vault:*", "client": "stranger", "permit": "off" }],
        "resultCap": 2_000,
        "mcpServers": { "vault": vault.entry(), "other": other.entry() },
    }));
    let hub = home.start_hub().await;
    let friend = hub.client("friend").await;
    eventually("both servers are read", async || {
        let paths = friend.paths("").await;
        ["vault:echo", "other:echo"].iter().all(|path| paths.iter().any(|known| known == path)).then_some(())
    })
    .await;
    assert!(friend.call("discover_mcp_tools", json!({ "query": "vault:echo" })).await.text().contains(MARK));
    let long = format!("{RESULT} {}", "x".repeat(5_000));
    let cut = friend.execute("vault:echo", json!({ "text": long })).await.text();
    let page = cut.split_whitespace().find(|word| word.contains("satchel|result://")).map(str::to_owned);
    let page = page.expect("a long result is cut, and says where it goes on");
    let before = vault.ledger().lines().len();

    let (router, direct) = (hub.client("stranger").await, at(&hub, "stranger", "/mcp/direct").await);
    let connection = hub.connection("stranger").await;
    let mut told: Vec<(String, String)> = Vec::new();
    let mut tell = |case: String, said: String| told.push((case, said));
    for name in SPELLINGS {
        for tool in ["echo", "ECHO", "about"] {
            let path = format!("{name}:{tool}");
            tell(
                format!("execute {path:?}"),
                format!("{:?}", router.execute(&path, json!({ "text": "x" })).await.outcome),
            );
        }
        let uri = format!("{name}|fake://note/1");
        tell(
            format!("read {uri:?}"),
            format!("{:?}", router.call("read_mcp_resource", json!({ "uri": uri })).await.outcome),
        );
        let found = router
            .call("discover_mcp_tools", json!({ "query": "echo", "server": name, "detail": "full" }))
            .await;
        tell(format!("discover in {name:?}"), format!("{:?}", found.outcome));
        let found = router.call("discover_mcp_tools", json!({ "query": format!("{name} echo") })).await;
        tell(format!("discover {name:?}"), format!("{:?}", found.outcome));
        for (method, params) in [
            ("tools/call", json!({ "name": format!("{name}-echo"), "arguments": { "text": "x" } })),
            ("prompts/get", json!({ "name": format!("{name}-greet") })),
            ("resources/read", json!({ "uri": format!("{name}|fake://note/1") })),
            ("resources/subscribe", json!({ "uri": "fake://note/1" })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": format!("{name}-greet") }, "argument": { "name": "a", "value": "" } }),
            ),
        ] {
            tell(format!("{method} {name:?}"), format!("{:?}", direct.request(method, params).await.outcome));
        }
        let slug: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
        });
        let (_, said) = sent(&connection, &format!("/mcp/server/{slug}"), None, false, &hello).await;
        tell(format!("initialize at {name:?}"), said);
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        for (method, params) in [
            ("server/discover", json!({ "_meta": meta })),
            ("tools/list", json!({ "_meta": meta })),
            ("tools/call", json!({ "_meta": meta, "name": "echo", "arguments": { "text": "x" } })),
            ("resources/read", json!({ "_meta": meta, "uri": "fake://note/1" })),
        ] {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let (_, said) = sent(&connection, &format!("/mcp/server/{slug}"), None, true, &body).await;
            tell(format!("{method} at {name:?}"), said);
        }
    }
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        tell(format!("direct {method}"), format!("{:?}", direct.request(method, json!({})).await.outcome));
    }
    let page = page.trim_matches(|c: char| !c.is_alphanumeric());
    assert!(friend.call("read_mcp_resource", json!({ "uri": page })).await.text().contains("xxx"));
    tell(
        format!("page {page}"),
        format!("{:?}", router.call("read_mcp_resource", json!({ "uri": page })).await.outcome),
    );
    let marked = |said: &str| {
        [MARK, RESULT, "xxxxxxxx", "read 0 of", "read 1 of"].iter().any(|mark| said.contains(mark))
    };
    let leaks: Vec<_> = told.iter().filter(|(_, said)| marked(said)).collect();
    measured!("{} cases of a client without the server, {} leaks", told.len(), leaks.len());
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert!(told.len() >= 200, "{}", told.len());
    assert_eq!(vault.ledger().lines().len(), before, "nothing reached the server");
    // The other client is served as before.
    assert_eq!(friend.execute("vault:echo", json!({ "text": "still" })).await.text(), "still");
}

#[tokio::test]
async fn a_session_is_usable_by_its_own_client_only() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let (friend, stranger) = (hub.connection("friend").await, hub.connection("stranger").await);
    let mut tried = 0;
    for path in ["/mcp", "/mcp/direct", "/mcp/server/fake"] {
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
        });
        let mut opening = plain_http().post(friend.url.replace("/mcp", path)).body(hello.to_string());
        opening = opening
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &friend.headers {
            opening = opening.header(name, value);
        }
        let opened = opening.send().await.expect("the endpoint answers");
        let session = opened.headers()["mcp-session-id"].to_str().expect("it is text").to_owned();
        for body in [
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        ] {
            for spelled in
                [session.clone(), session.to_uppercase(), format!(" {session}"), format!("{session} ")]
            {
                let (status, said) = sent(&stranger, path, Some(&spelled), false, &body).await;
                assert!((400..500).contains(&status), "{path} {body}: {status} {said}");
                tried += 1;
            }
        }
        for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
            let mut request = plain_http().request(method.clone(), stranger.url.replace("/mcp", path));
            request = request.header("mcp-session-id", &session).header("accept", "text/event-stream");
            for (name, value) in &stranger.headers {
                request = request.header(name, value);
            }
            let status = request.send().await.expect("the endpoint answers").status();
            assert!(status.is_client_error(), "{path} {method}: {status}");
            tried += 1;
        }
        // It is still there for its owner.
        let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
        let (status, said) = sent(&friend, path, Some(&session), false, &list).await;
        assert_eq!(status, 200, "{path}: {said}");
    }
    measured!("{tried} uses of another client's session, 0 served");
    assert!(tried >= sized(50, 50));
}
