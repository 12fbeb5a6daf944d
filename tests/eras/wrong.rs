//! What is no good request is refused with the status and the code that its revision has for it, and nothing else
//! suffers (`2025-11-25/basic/transports.mdx`, `2026-07-28/basic/index.mdx#error-codes`).

use reqwest::Method;
use satchel_tests::{Connection, Home, plain_http};
use serde_json::{Value, json};

/// Who sends it: nobody yet, a client with a session of that revision, or a client of the stateless family.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Stranger,
    Session(&'static str),
    Stateless,
}

/// The status, and the error's code, or 0 without an error.
type Verdict = (u16, i64);

struct Door {
    http: reqwest::Client,
    connection: Connection,
}

struct Sent {
    status: u16,
    body: String,
}

impl Sent {
    fn verdict(&self) -> Verdict {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        (self.status, body["error"]["code"].as_i64().unwrap_or_default())
    }
}

impl Door {
    async fn send(&self, method: Method, body: impl Into<reqwest::Body>, headers: &[(&str, &str)]) -> Sent {
        let mut request = self.http.request(method, &self.connection.url).body(body.into());
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        // A given header replaces the usual one; an empty one removes it.
        let usual = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        let usual = usual.into_iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
        for (name, value) in usual.chain(headers.iter().copied()).filter(|(_, value)| !value.is_empty()) {
            request = request.header(name, value);
        }
        let response = request.send().await.expect("the endpoint answers");
        let status = response.status().as_u16();
        let stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let body = if stream { String::new() } else { response.text().await.expect("a body") };
        Sent { status, body }
    }

    async fn session(&self, revision: &str) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
        let mut request = self.http.post(&self.connection.url).header("content-type", "application/json");
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        let opened = request.body(hello.to_string()).send().await.expect("the endpoint answers");
        let session = opened.headers()["mcp-session-id"].to_str().expect("a name").to_owned();
        let agreed: Value = serde_json::from_str(&opened.text().await.expect("a body")).expect("JSON");
        assert_eq!(agreed["result"]["protocolVersion"], revision);
        session
    }

    async fn try_as(&self, from: From, body: impl Into<reqwest::Body>, more: &[(&str, &str)]) -> Sent {
        let session = match from {
            From::Session(revision) => self.session(revision).await,
            From::Stranger | From::Stateless => String::new(),
        };
        let mut headers: Vec<(&str, &str)> = match from {
            From::Stranger => vec![],
            From::Session(_) => vec![("mcp-session-id", &session)],
            From::Stateless => vec![("mcp-protocol-version", "2026-07-28")],
        };
        headers.retain(|(name, _)| !more.iter().any(|(given, _)| given == name));
        headers.extend(more);
        self.send(Method::POST, body, &headers).await
    }
}

const NEWEST: From = From::Session("2025-11-25");
const BATCHING: From = From::Session("2025-03-26");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A request of the stateless family with these parameters beside its metadata.
fn stateless(method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{meta}}}}}"#)
}

async fn door<'home>(hub: &satchel_tests::Hub<'home>) -> Door {
    Door { http: plain_http(), connection: hub.connection("wrong").await }
}

#[tokio::test]
async fn an_invalid_message_is_refused_in_every_revision() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}"#, "[".repeat(100_000));
    let mut wrong = Vec::new();
    for (body, expected) in [
        ("", (400, -32700)),
        ("{", (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {"#, (400, -32700)),
        ("<html>", (400, -32700)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#, (400, -32700)),
        (&deep, (400, -32600)),
        ("null", (400, -32600)),
        ("7", (400, -32600)),
        (r#""ping""#, (400, -32600)),
        ("{}", (400, -32600)),
        (r#"{"id":1,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1}"#, (202, 0)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, (400, -32600)),
    ] {
        for from in [NEWEST, BATCHING, From::Stateless] {
            let expected = match (from, expected) {
                // There, clients send no responses.
                (From::Stateless, (202, 0)) => (400, -32600),
                _ => expected,
            };
            let came = door.try_as(from, body.to_owned(), &[]).await.verdict();
            if came != expected {
                let body: String = body.chars().take(80).collect();
                wrong.push(format!("{from:?}: {body}: {came:?} instead of {expected:?}"));
            }
        }
    }
    let latin =
        door.try_as(NEWEST, &b"{\"jsonrpc\":\"2.0\",\"id\":\"\xe4\",\"method\":\"ping\"}"[..], &[]).await;
    assert_eq!(latin.verdict(), (400, -32700));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(door.try_as(NEWEST, PING, &[]).await.verdict(), (200, 0), "nothing else suffers");
}

#[tokio::test]
async fn every_id_comes_back_unchanged() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    for id in
        ["0", "1", "-1", "1.5", "9007199254740993", "18446744073709551615", r#""""#, r#""1""#, r#""é \" \n""#]
    {
        let legacy = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let modern = stateless("tools/list", "").replace("\"id\":1", &format!("\"id\":{id}"));
        let method = [("mcp-method", "tools/list")];
        for (from, body, more) in [(NEWEST, legacy, &[][..]), (From::Stateless, modern, &method[..])] {
            let sent = door.try_as(from, body, more).await;
            assert_eq!(sent.verdict(), (200, 0), "{from:?} {id}: {}", sent.body);
            let came: Value = serde_json::from_str(&sent.body).expect("JSON");
            assert_eq!(came["id"].to_string(), serde_json::from_str::<Value>(id).unwrap().to_string());
            assert!(came["result"].is_object(), "{}", sent.body);
        }
    }
}

#[tokio::test]
async fn arrays_of_messages_are_for_the_one_revision_that_has_them() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    let two = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"id":2},
        {"jsonrpc":"2.0","id":"3","method":"nothing"}]"#;
    let sent = door.try_as(BATCHING, two, &[]).await;
    assert_eq!(sent.status, 200);
    let answers: Value = serde_json::from_str(&sent.body).expect("JSON");
    let seen: Vec<_> =
        answers.as_array().expect("an array").iter().map(|one| (&one["id"], &one["error"]["code"])).collect();
    assert_eq!(
        seen,
        [(&json!(1), &Value::Null), (&Value::Null, &json!(-32600)), (&json!("3"), &json!(-32601))]
    );

    let notes = r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    assert_eq!(door.try_as(BATCHING, notes, &[]).await.verdict(), (202, 0));
    let alone = format!("[{PING}]");
    for (from, body, expected) in [
        (BATCHING, "[]", (400, -32600)),
        (BATCHING, "[", (400, -32700)),
        (From::Session("2024-11-05"), &alone, (400, -32600)),
        (From::Session("2025-06-18"), &alone, (400, -32600)),
        (NEWEST, &alone, (400, -32600)),
        (From::Stateless, &alone, (400, -32600)),
        (From::Stranger, &alone, (400, -32600)),
    ] {
        assert_eq!(door.try_as(from, body.to_owned(), &[]).await.verdict(), expected, "{from:?}: {body}");
    }
    // A request that begins a session must be alone in its body.
    let hello =
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#;
    let sent = door.try_as(BATCHING, hello, &[]).await;
    assert!(sent.body.contains("-32600"), "{}", sent.body);
}

#[tokio::test]
async fn headers_that_are_missing_or_say_something_else_are_refused() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    let list = stateless("tools/list", "");
    let call = stateless("tools/call", r#""name":"discover_mcp_tools","arguments":{"query":"x"}"#);
    let named = |name: &'static str| [("mcp-method", "tools/call"), ("mcp-name", name)];
    let old = list.replace("2026-07-28", "2025-11-25");
    let unknown = list.replace("2026-07-28", "2099-01-01");
    let listing = ("mcp-method", "tools/list");
    let mut wrong = Vec::new();
    for (from, body, more, expected) in [
        (From::Stateless, list.as_str(), &[listing][..], (200, 0)),
        (From::Stateless, &list, &[("mcp-method", "tools/list"), ("accept", "")], (200, 0)),
        (From::Stateless, &list, &[listing, ("mcp-session-id", "made-up")], (200, 0)),
        (From::Stateless, &list, &[], (400, -32020)),
        (From::Stateless, &list, &[("mcp-method", "tools/call")], (400, -32020)),
        (From::Stateless, &list, &[("mcp-method", "TOOLS/LIST")], (400, -32020)),
        (From::Stateless, &list, &[listing, ("mcp-protocol-version", "")], (400, -32020)),
        (From::Stateless, &list, &[listing, ("mcp-protocol-version", "2025-11-25")], (400, -32020)),
        (From::Stateless, &old, &[listing], (400, -32020)),
        (From::Stateless, &unknown, &[listing, ("mcp-protocol-version", "2099-01-01")], (400, -32022)),
        (From::Stateless, &old, &[listing, ("mcp-protocol-version", "2025-11-25")], (400, -32022)),
        (From::Stateless, PING, &[("mcp-protocol-version", "2099-01-01")], (400, -32022)),
        (From::Stateless, PING, &[], (400, -32602)),
        (From::Stateless, &call, &named("discover_mcp_tools"), (200, 0)),
        (From::Stateless, &call, &named("=?base64?ZGlzY292ZXJfbWNwX3Rvb2xz?="), (200, 0)),
        (From::Stateless, &call, &named("something_else"), (400, -32020)),
        (From::Stateless, &call, &[("mcp-method", "tools/call")], (400, -32020)),
        (From::Stateless, &stateless("tools/call", ""), &named("x"), (400, -32602)),
        (From::Stateless, &stateless("no/such", ""), &[("mcp-method", "no/such")], (404, -32601)),
        (From::Stateless, &stateless("no/such", ""), &[], (404, -32601)),
        (From::Stateless, &stateless("ping", ""), &[("mcp-method", "ping")], (404, -32601)),
        (From::Stateless, &stateless("initialize", ""), &[("mcp-method", "initialize")], (404, -32601)),
        (From::Stateless, &stateless("resources/subscribe", r#""uri":"x""#), &[], (404, -32601)),
        (From::Stateless, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, &[], (202, 0)),
        (From::Stateless, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &[], (400, -32600)),
        (NEWEST, PING, &[], (200, 0)),
        (NEWEST, PING, &[("mcp-protocol-version", "2025-11-25")], (200, 0)),
        (NEWEST, PING, &[("mcp-protocol-version", "2099-01-01")], (400, -32022)),
        (NEWEST, PING, &[("accept", "application/json")], (200, 0)),
        (NEWEST, r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, &[], (200, -32601)),
        (
            NEWEST,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            &[],
            (200, -32602),
        ),
        (NEWEST, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, &[], (200, -32602)),
        (
            NEWEST,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
            &[],
            (200, -32602),
        ),
        (From::Stranger, PING, &[], (400, -32000)),
        (From::Stranger, PING, &[("mcp-session-id", "made-up")], (404, -32001)),
        (From::Stranger, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, &[], (400, -32602)),
        (From::Stranger, r#"{"jsonrpc":"2.0","method":"initialize"}"#, &[], (400, -32000)),
    ] {
        let sent = door.try_as(from, body.to_owned(), more).await;
        if sent.verdict() != expected {
            wrong
                .push(format!("{from:?} {more:?} {body}\n  {expected:?}, not {} {}", sent.status, sent.body));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));

    let sent =
        door.try_as(From::Stateless, unknown, &[listing, ("mcp-protocol-version", "2099-01-01")]).await;
    let refusal: Value = serde_json::from_str(&sent.body).expect("JSON");
    assert_eq!(refusal["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2099-01-01" }));
}

#[tokio::test]
async fn content_that_is_not_json_or_too_large_is_refused() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    for (kind, expected) in [
        ("application/json", (200, 0)),
        ("application/json; charset=utf-8", (200, 0)),
        ("Application/JSON", (200, 0)),
        ("text/plain", (415, -32600)),
        ("application/jsonp", (415, -32600)),
        ("multipart/form-data", (415, -32600)),
        ("", (415, -32600)),
    ] {
        let sent = door.try_as(NEWEST, PING, &[("content-type", kind)]).await;
        assert_eq!(sent.verdict(), expected, "{kind}");
    }
    let large =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(20 << 20));
    assert_eq!(door.try_as(NEWEST, large, &[]).await.verdict(), (413, -32600));
    assert_eq!(door.try_as(NEWEST, PING, &[]).await.verdict(), (200, 0), "nothing else suffers");
}

#[tokio::test]
async fn methods_of_http_are_those_of_the_revision() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    let session = door.session("2025-11-25").await;
    let events = ("accept", "text/event-stream");
    let mut wrong = Vec::new();
    for (method, headers, expected) in [
        (Method::PUT, &[][..], 405),
        (Method::PATCH, &[], 405),
        (Method::GET, &[("mcp-protocol-version", "2026-07-28"), events], 405),
        (Method::DELETE, &[("mcp-protocol-version", "2026-07-28")], 405),
        (Method::GET, &[("mcp-protocol-version", "2099-01-01"), events], 400),
        (Method::GET, &[events], 400),
        (Method::GET, &[("mcp-session-id", "made-up"), events], 404),
        (Method::GET, &[("mcp-session-id", &session), ("accept", "application/json")], 406),
        (Method::GET, &[("mcp-session-id", &session), events], 200),
        (Method::DELETE, &[], 400),
        (Method::DELETE, &[("mcp-session-id", "made-up")], 404),
        (Method::DELETE, &[("mcp-session-id", &session)], 204),
        (Method::GET, &[("mcp-session-id", &session), events], 404),
    ] {
        let sent = door.send(method.clone(), "", headers).await;
        if sent.status != expected {
            wrong.push(format!("{method} {headers:?}: {} instead of {expected}", sent.status));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_revision_is_agreed_on_or_another_one_offered() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let door = door(&hub).await;
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
        let sent = door.try_as(From::Stranger, hello.to_string(), &[]).await;
        let opened: Value = serde_json::from_str(&sent.body).expect("JSON");
        assert_eq!(opened["result"]["protocolVersion"], agreed, "{asked}: {opened}");
    }
}
