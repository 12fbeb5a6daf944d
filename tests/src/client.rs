//! A raw Streamable HTTP client: one request, one answer, every byte as it came.
//!
//! It knows the wire and nothing of the product, so it can say what another program would see.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::Connection;

/// Maximum time for a response, so that a failing test reports it instead of hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// A client with its session. Cheap to clone; clones share the session.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    connection: Connection,
    revision: String,
    session: Option<String>,
    next_id: Arc<AtomicU64>,
    /// The result of `initialize`.
    pub opened: Value,
    limit: Duration,
}

/// The response to one request.
#[derive(Debug)]
pub struct Answer {
    /// The result exactly as it was on the wire, or the error.
    pub outcome: Result<Box<RawValue>, RpcError>,
    /// Notifications that came before it, in order.
    pub notes: Vec<Value>,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// The data.
    #[serde(default)]
    pub data: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    method: Option<String>,
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

/// Notifications that the hub sends unsolicited.
pub struct Notes {
    events: Events,
}

/// An HTTP client without any proxy.
pub fn plain_http() -> reqwest::Client {
    // We use plain HTTP, but a workspace build enables TLS for the same client, which then needs a provider. Another
    // test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a plain client can be built")
}

impl Client {
    /// Opens a session at this revision.
    pub async fn open(connection: &Connection, revision: &str) -> Self {
        let mut client = Self {
            http: plain_http(),
            connection: connection.clone(),
            revision: revision.to_owned(),
            session: None,
            next_id: Arc::new(AtomicU64::new(1)),
            opened: Value::Null,
            limit: LIMIT,
        };
        let hello = json!({
            "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" },
        });
        let (session, answer) = client.send("initialize", hello).await;
        client.session = session;
        client.opened = answer.value();
        client.revision =
            client.opened["protocolVersion"].as_str().expect("a revision is agreed on").to_owned();
        client.notify("notifications/initialized").await;
        client
    }

    /// Raises the limit, for slow responses.
    pub fn waiting(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sends a request and waits for its response.
    pub async fn request(&self, method: &str, params: Value) -> Answer {
        self.send(method, params).await.1
    }

    /// Calls one of the hub's own tools.
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The paths of the tools that match a query, best first.
    pub async fn paths(&self, query: &str) -> Vec<String> {
        let answer = self.call("discover_mcp_tools", json!({ "query": query, "limit": 50 })).await.text();
        let found: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        let tools = found["tools"].as_array().unwrap_or_else(|| panic!("no tools in {answer}"));
        tools.iter().filter_map(|tool| Some(tool["tool"].as_str()?.to_owned())).collect()
    }

    /// Calls a server's tool through the hub.
    pub async fn execute(&self, tool_path: &str, arguments: Value) -> Answer {
        self.call("execute_mcp_tool", json!({ "tool_path": tool_path, "arguments": arguments })).await
    }

    /// Opens the stream for unsolicited messages of the hub.
    pub async fn listen(&self) -> Notes {
        let request = self.prepare(Method::GET).header(ACCEPT, "text/event-stream");
        let response = request.send().await.expect("the endpoint answers");
        assert_eq!(response.status(), 200, "the stream of notifications opens");
        Notes { events: Events::new(response) }
    }

    /// Ends its session, as a client that quits does.
    pub async fn quit(self) {
        let response = self.prepare(Method::DELETE).send().await.expect("the endpoint answers");
        assert!(response.status().is_success(), "the session ends: {}", response.status());
    }

    async fn notify(&self, method: &str) {
        let body = json!({ "jsonrpc": "2.0", "method": method });
        let response = self.post(&body).await;
        assert_eq!(response.status(), 202, "a notification is accepted: {method}");
    }

    async fn send(&self, method: &str, params: Value) -> (Option<String>, Answer) {
        let id = json!(self.next_id.fetch_add(1, Ordering::Relaxed));
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let reading = async {
            let response = self.post(&body).await;
            let header = response.headers().get("mcp-session-id");
            let session = header.map(|value| value.to_str().expect("a session id is text").to_owned());
            (session, read_answer(response, &id).await)
        };
        let answer = tokio::time::timeout(self.limit, reading).await;
        answer.unwrap_or_else(|_| panic!("no answer to {body}"))
    }

    async fn post(&self, body: &Value) -> Response {
        let request = self.prepare(Method::POST).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "application/json, text/event-stream").body(body.to_string());
        request.send().await.unwrap_or_else(|error| panic!("the endpoint does not answer {body}: {error}"))
    }

    fn prepare(&self, method: Method) -> reqwest::RequestBuilder {
        let mut request = self.http.request(method, &self.connection.url);
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request =
                request.header("mcp-session-id", session).header("mcp-protocol-version", &self.revision);
        }
        request
    }
}

impl Answer {
    /// The result as JSON; panics on an error.
    #[track_caller]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.raw()).expect("a raw value is JSON")
    }

    /// The result exactly as it was on the wire; panics on an error.
    #[track_caller]
    pub fn raw(&self) -> &str {
        self.outcome.as_ref().unwrap_or_else(|error| panic!("an error instead of a result: {error:?}")).get()
    }

    /// The text blocks of a tool's result, concatenated.
    #[track_caller]
    pub fn text(&self) -> String {
        text_of(&self.value())
    }

    /// The text of a tool's result that reports a failure, or the message of an error.
    #[track_caller]
    pub fn complaint(&self) -> String {
        match &self.outcome {
            Err(error) => error.message.clone(),
            Ok(_) => {
                let result = self.value();
                assert_eq!(result["isError"], true, "a failure is reported: {result}");
                text_of(&result)
            }
        }
    }
}

fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

impl Notes {
    /// Waits for the next notification of this method.
    pub async fn next(&mut self, method: &str) -> Value {
        let waiting = async {
            loop {
                let event = self.events.next().await.expect("the stream of notifications stays open");
                let message: Value = serde_json::from_str(&event).expect("an event carries JSON");
                if message["method"] == method {
                    return message;
                }
            }
        };
        let found = tokio::time::timeout(LIMIT, waiting).await;
        found.unwrap_or_else(|_| panic!("no {method} came"))
    }
}

async fn read_answer(response: Response, id: &Value) -> Answer {
    let status = response.status();
    let header = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = header.unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    let mut events = Events::new(response);
    if !kind.starts_with("text/event-stream") {
        let body = events.rest().await;
        // A refusal before the request was read does not know its id.
        let id = if status == 429 { &Value::Null } else { id };
        return answer_in(&body, id).unwrap_or_else(|| panic!("HTTP {status} is no answer: {body}"));
    }
    while let Some(event) = events.next().await {
        match answer_in(&event, id) {
            Some(Answer { outcome, .. }) => return Answer { outcome, notes },
            None => notes.push(serde_json::from_str(&event).expect("an event carries JSON")),
        }
    }
    panic!("the stream ended without an answer; notifications were {notes:?}")
}

fn answer_in(text: &str, id: &Value) -> Option<Answer> {
    let message: Message = serde_json::from_str(text).ok()?;
    if message.method.is_some() || message.id != *id {
        return None;
    }
    let outcome = match (message.result, message.error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => panic!("neither a result nor an error: {text}"),
    };
    Some(Answer { outcome, notes: Vec::new() })
}

/// The `data` of server-sent events, one at a time.
pub struct Events {
    response: Response,
    buffer: Vec<u8>,
}

impl Events {
    /// The events of a response.
    pub fn new(response: Response) -> Self {
        Self { response, buffer: Vec::new() }
    }

    /// The next event's data; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            while let Some(end) = find(&self.buffer, b"\n\n") {
                let event: Vec<u8> = self.buffer.drain(..end + 2).collect();
                let event = String::from_utf8(event).expect("events are UTF-8");
                let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
                let data = data.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
                let data = data.collect::<Vec<_>>().join("\n");
                if !data.is_empty() {
                    return Some(data);
                }
            }
            let chunk = self.response.chunk().await.expect("the stream can be read")?;
            self.buffer.extend(chunk.iter().filter(|byte| **byte != b'\r'));
        }
    }

    async fn rest(mut self) -> String {
        while let Some(chunk) = self.response.chunk().await.expect("the body can be read") {
            self.buffer.extend_from_slice(&chunk);
        }
        String::from_utf8(self.buffer).expect("the body is UTF-8")
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

impl Connection {
    /// The same address without headers.
    pub fn without_headers(&self) -> Self {
        Self { url: self.url.clone(), headers: BTreeMap::new() }
    }
}
