//! Who may come in at the endpoint: known tokens, from this computer, and nobody through a browser's back door.

use reqwest::{Method, RequestBuilder, StatusCode, header::HeaderValue};
use satchel_tests::{Client, Connection, Fake, Home};
use serde_json::{Value, json};

/// A valid first request, for the test to break.
fn hello(connection: &Connection, method: Method) -> RequestBuilder {
    let http = satchel_tests::plain_http();
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
async fn each_client_has_its_own_token_and_a_new_one_replaces_no_other() {
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

/// A request of the stateless revision, with the headers that repeat its contents.
async fn stateless(connection: &Connection, method: &str, params: Value) -> (u16, Value) {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "mine",
    });
    let mut request =
        with_token(connection).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if let Some(name) = params["name"].as_str() {
        request = request.header("mcp-name", name);
    }
    let body = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
    let response = request.body(body.to_string()).send().await.expect("the endpoint answers");
    let status = response.status().as_u16();
    let body = response.text().await.expect("an answer has a body");
    // The last event of a stream, or the single response.
    let last = body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(&body);
    (status, serde_json::from_str(last).unwrap_or_else(|_| panic!("{status} {body}")))
}

#[tokio::test]
async fn a_client_of_the_stateless_revision_is_served_without_a_session() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("modern").await;

    let (status, discovered) = stateless(&connection, "server/discover", json!({})).await;
    assert_eq!((status, &discovered["id"]), (200, &json!("a")));
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["result"]["resultType"], "complete");

    let (_, listed) = stateless(&connection, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 4);
    assert!(
        listed["result"]["ttlMs"].as_u64().is_some() && listed["result"]["cacheScope"] == "private",
        "{listed}"
    );

    let call = json!({
        "name": "execute_mcp_tool",
        "arguments": { "tool_path": "toolbox:encode_base64", "arguments": { "text": "hello" } },
    });
    let (_, called) = stateless(&connection, "tools/call", call.clone()).await;
    assert!(called["result"].to_string().contains("aGVsbG8="), "{called}");
    assert_eq!(called["result"]["resultType"], "complete");

    let (status, refused) = stateless(&connection, "ping", json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!(-32601)));
    let unnamed = with_token(&connection).header("mcp-protocol-version", "2026-07-28").body(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
        .to_string(),
    );
    let response = unnamed.send().await.unwrap();
    assert_eq!(response.status(), 400);
    assert!(response.text().await.unwrap().contains("-32020"), "its method stands in no header");
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
async fn a_session_survives_the_hub_until_its_client_ends_it() {
    let home = Home::empty();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let open = async || {
        let opened = with_token(&connection).send().await.unwrap();
        opened.headers()["mcp-session-id"].clone()
    };
    let (kept, ended) = (open().await, open().await);
    let end =
        hello(&connection, Method::DELETE).header("authorization", &connection.headers["Authorization"]);
    assert!(status(end.header("mcp-session-id", &ended)).await.is_success());
    hub.kill().await;

    // The second restart shows that a session that was opened again is kept as well.
    for _ in 0..2 {
        let hub = home.start_hub().await;
        let (own, other) = (hub.connection("one").await, hub.connection("two").await);
        let lists = async |connection: &Connection, session: &HeaderValue| {
            status(with_token(connection).header("mcp-session-id", session).body(list.clone())).await
        };
        assert_eq!(lists(&other, &kept).await, 404, "another client's token");
        assert_eq!(lists(&own, &kept).await, 200);
        assert_eq!(lists(&own, &ended).await, 404, "its client has ended it");
        let elsewhere = Connection { url: format!("{}/server/x", own.url), headers: own.headers.clone() };
        assert_eq!(lists(&elsewhere, &kept).await, 404, "it was opened at another address");
        hub.kill().await;
    }
}

#[tokio::test]
async fn the_port_for_clients_gives_no_say_over_the_hub() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let client = Client::open(&connection, "2025-11-25").await;
    for method in ["satchel/quit", "request", "servers/add"] {
        let error = client.request(method, json!({})).await.outcome.unwrap_err();
        assert_eq!(error.code, -32601, "{method}");
    }
    let base = connection.url.trim_end_matches("/mcp").to_owned();
    for path in ["/request", "/events", "/api/status", "/.well-known/oauth-protected-resource", "/"] {
        let elsewhere = Connection { url: format!("{base}{path}"), headers: connection.headers.clone() };
        assert_eq!(status(with_token(&elsewhere)).await, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_of_an_app_comes_in_where_a_person_allowed_its_origin_for_that_client() {
    const APP: &str = "app://notes.example";
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": {}, "origins": { APP: "notes" } }));
    let hub = home.start_hub().await;
    let (notes, other) = (hub.connection("notes").await, hub.connection("other").await);
    let from =
        |connection: &Connection, origin: &str| with_token(connection).header("origin", origin.to_owned());
    let response = from(&notes, APP).send().await.unwrap();
    assert_eq!(
        (response.status(), &response.headers()["access-control-allow-origin"]),
        (StatusCode::OK, &APP.parse().unwrap())
    );
    for (connection, origin) in
        [(&other, APP), (&notes, "app://other.example"), (&notes, "https://evil.example"), (&notes, "null")]
    {
        let response = from(connection, origin).send().await.unwrap();
        assert_eq!(response.status(), 403, "{origin}");
        assert!(
            response.text().await.unwrap().contains("\\\"origins\\\""),
            "the refusal says how to allow one"
        );
    }
    assert_eq!(status(hello(&notes, Method::POST).header("origin", APP)).await, 401, "without its token");
    let asked = |origin: &'static str| {
        let preflight =
            satchel_tests::plain_http().request(Method::OPTIONS, &notes.url).header("origin", origin);
        preflight.header("access-control-request-method", "POST")
    };
    assert_eq!(
        (status(asked(APP)).await, status(asked("app://other.example")).await),
        (StatusCode::NO_CONTENT, StatusCode::FORBIDDEN)
    );
}

#[tokio::test]
async fn a_slash_at_the_end_is_the_same_address_and_an_unknown_one_names_those_there_are() {
    let home = Home::with_servers(json!({ "fake": Fake::new(&Home::empty(), "fake").entry() }));
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let at = |path: &str| Connection {
        url: format!("{}{path}", connection.url.trim_end_matches("/mcp")),
        headers: connection.headers.clone(),
    };
    for path in ["/mcp/", "/mcp//", "/mcp/direct/", "/mcp/?x=1"] {
        assert_eq!(status(with_token(&at(path))).await, 200, "{path}");
    }
    let response = with_token(&at("/mpc")).send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert!(response.text().await.unwrap().contains("/mcp/direct"), "it says which there are");
}

/// S4: every path and every method, without a token, with a wrong one, and with a revoked one.
#[tokio::test]
async fn no_address_serves_a_request_without_a_valid_token() {
    let home = Home::with_servers(json!({ "one": Fake::new(&Home::empty(), "one").entry() }));
    let hub = home.start_hub().await;
    let (good, revoked) = (hub.connection("good").await, hub.connection("revoked").await);
    home.satchel(&["disconnect", "revoked"]).await.succeeded();
    let base = good.url.trim_end_matches("/mcp").to_owned();
    let paths = [
        "/mcp",
        "/mcp/",
        "/mcp/direct",
        "/mcp/server/one",
        "/mcp/server/none",
        "/sse",
        "/messages",
        "/messages?sessionId=x",
    ];
    let others = [
        "/",
        "/health",
        "/metrics",
        "/request",
        "/events",
        "/api/status",
        "/mcp/server/",
        "/favicon.ico",
        "/.well-known/x",
    ];
    let wrong = Connection {
        url: String::new(),
        headers: [("Authorization".to_owned(), "Bearer sat_wrong".to_owned())].into(),
    };
    let mut asked = 0;
    for path in paths.iter().chain(&others) {
        for method in ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "MCP"] {
            let method = Method::from_bytes(method.as_bytes()).expect("it is a method");
            for headers in [None, Some(&wrong.headers), Some(&revoked.headers)] {
                let connection = Connection { url: format!("{base}{path}"), headers: [].into() };
                let mut request = hello(&connection, method.clone());
                for (name, value) in headers.into_iter().flatten() {
                    request = request.header(name, value);
                }
                let response = request.send().await.expect("the endpoint answers");
                let status = response.status().as_u16();
                assert!([401, 403, 404, 429].contains(&status), "{method} {path}: {status}");
                let said = response.text().await.expect("an answer can be read");
                assert!(!said.contains("result") && !said.contains("toolbox"), "{method} {path}: {said}");
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 17 * 9 * 3);
    // The same with a valid token is served: the refusals are about the token.
    assert_eq!(status(with_token(&good)).await, 200);
}

/// S5: a revoked token opens nothing any more and its open connections end; nobody else notices.
#[tokio::test]
async fn connections_end_when_their_token_is_revoked() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let (one, two) = (hub.connection("one").await, hub.connection("two").await);
    let mut streams = Vec::new();
    for connection in [&one, &two] {
        let opened = with_token(connection).send().await.expect("the endpoint answers");
        let session = opened.headers()["mcp-session-id"].clone();
        let token = &connection.headers["Authorization"];
        let current =
            hello(connection, Method::GET).header("authorization", token).header("mcp-session-id", session);
        let old = Connection { url: connection.url.replace("/mcp", "/sse"), headers: [].into() };
        let old = hello(&old, Method::GET).header("authorization", token);
        let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
            "notifications": { "toolsListChanged": true },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            } } });
        let modern = with_token(connection).header("mcp-protocol-version", "2026-07-28");
        let modern = modern.header("mcp-method", "subscriptions/listen").body(listen.to_string());
        for request in [current, old, modern] {
            let stream = request.send().await.expect("the endpoint answers");
            assert_eq!(stream.status(), 200);
            assert_eq!(stream.headers()["content-type"], "text/event-stream");
            streams.push(stream);
        }
    }
    let theirs = streams.split_off(3);
    home.satchel(&["disconnect", "one"]).await.succeeded();
    for mut stream in streams {
        let ending = async { while let Ok(Some(_)) = stream.chunk().await {} };
        tokio::time::timeout(std::time::Duration::from_secs(30), ending).await.expect("the stream ends");
    }
    assert_eq!(status(with_token(&one)).await, 401);
    assert_eq!(status(with_token(&two)).await, 200);
    for mut stream in theirs {
        let waited = tokio::time::timeout(std::time::Duration::from_millis(200), async {
            while let Ok(Some(_)) = stream.chunk().await {}
        });
        assert!(waited.await.is_err(), "another client's stream goes on");
    }
}
