//! Who may come in at the endpoint: known tokens, from this computer, and nobody through a browser's back door.

use reqwest::{Method, RequestBuilder, StatusCode};
use satchel_tests::{Client, Connection, Home};
use serde_json::{Value, json};

/// A request like a client's first one, to be spoiled by the test.
fn hello(connection: &Connection, method: Method) -> RequestBuilder {
    let http = reqwest::Client::builder().no_proxy().build().expect("a plain client can be built");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    let request = http.request(method, &connection.url).header("content-type", "application/json");
    request.header("accept", "application/json, text/event-stream").body(body.to_string())
}

fn with_token(connection: &Connection) -> RequestBuilder {
    let named = connection.headers.iter();
    named.fold(hello(connection, Method::POST), |request, (name, value)| request.header(name, value))
}

async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.expect("the endpoint answers").status()
}

#[tokio::test]
async fn without_a_known_token_there_is_no_answer() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    assert_eq!(status(with_token(&connection)).await, 200);

    let response = hello(&connection, Method::POST).send().await.unwrap();
    assert_eq!(response.status(), 401);
    let body = response.text().await.unwrap();
    assert!(body.contains("satchel connect"), "the body says how to get one: {body}");

    for wrong in ["Bearer ", "Bearer wrong", "Basic eDp5", "Bearer ä"] {
        let request = hello(&connection, Method::POST).header("authorization", wrong);
        assert_eq!(status(request).await, 401, "{wrong}");
    }
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(status(hello(&connection, method)).await, 401);
    }
}

#[tokio::test]
async fn a_new_token_replaces_nobody_elses_and_each_client_has_its_own() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let (one, two) = (hub.connection("one").await, hub.connection("two").await);
    assert_ne!(one.headers, two.headers);
    assert_eq!(status(with_token(&one)).await, 200);
    assert_eq!(status(with_token(&two)).await, 200);
    hub.terminate().await;

    let hub = home.start_hub().await;
    let again = Connection { url: hub.url.clone(), headers: one.headers };
    assert_eq!(status(with_token(&again)).await, 200, "a token outlives the hub");
}

#[tokio::test]
async fn foreign_pages_and_foreign_names_are_turned_away() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    for origin in ["https://evil.example", "http://127.0.0.1.evil.example", "null", "file://"] {
        assert_eq!(status(with_token(&connection).header("origin", origin)).await, 403, "Origin: {origin}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        let refused = status(with_token(&connection).header("host", host)).await;
        assert!([403, 421].contains(&refused.as_u16()), "Host: {host} gave {refused}");
    }
    let port = connection.url.split(':').next_back().unwrap().split('/').next().unwrap();
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        let request = with_token(&connection).header("host", format!("{name}:{port}"));
        assert_eq!(status(request.header("origin", format!("http://{name}:{port}"))).await, 200, "{name}");
    }
}

#[tokio::test]
async fn a_client_of_the_next_era_is_told_to_fall_back() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("modern").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let probe =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
    let request = with_token(&connection).header("mcp-protocol-version", "2026-07-28");
    let response =
        request.header("mcp-method", "server/discover").body(probe.to_string()).send().await.unwrap();
    let (status, body) = (response.status(), response.text().await.unwrap());
    assert!(status.is_client_error() && status != 401 && status != 403, "{status} {body}");
    // These three say "modern": a client that reads one of them would not fall back.
    let code = serde_json::from_str::<Value>(&body).map_or(json!(null), |body| body["error"]["code"].clone());
    assert!(![-32020, -32021, -32022].iter().any(|modern| code == *modern), "{status} {body}");
}

#[tokio::test]
async fn a_session_ends_when_the_client_says_so_and_an_unknown_one_is_not_found() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let unknown = with_token(&connection).header("mcp-session-id", "no-such-session").body(list.clone());
    assert_eq!(status(unknown).await, 404, "so that the client opens a new one");

    let opened = with_token(&connection).send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].clone();
    let known = || with_token(&connection).header("mcp-session-id", &session);
    assert_eq!(status(known().body(list.clone())).await, 200);
    let token = &connection.headers["Authorization"];
    let end = hello(&connection, Method::DELETE).header("authorization", token);
    assert!(status(end.header("mcp-session-id", &session)).await.is_success());
    assert_eq!(status(known().body(list)).await, 404);
}

#[tokio::test]
async fn the_port_for_clients_gives_no_say_over_the_hub() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let client = Client::open(&connection, "2025-11-25").await;
    for method in ["satchel/quit", "wish", "servers/add"] {
        let error = client.request(method, json!({})).await.outcome.unwrap_err();
        assert_eq!(error.code, -32601, "{method}");
    }
    let base = connection.url.trim_end_matches("/mcp").to_owned();
    for path in ["/wish", "/events", "/api/status", "/.well-known/oauth-protected-resource", "/"] {
        let elsewhere = Connection { url: format!("{base}{path}"), headers: connection.headers.clone() };
        assert_eq!(status(with_token(&elsewhere)).await, 404, "{path}");
    }
}
