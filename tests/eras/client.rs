//! A raw client of either era that answers what it is asked, and remembers the questions.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use reqwest::{
    Method, RequestBuilder,
    header::{ACCEPT, CONTENT_TYPE, HeaderName},
};
use satchel_tests::{Connection, Events, RpcError, plain_http};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// Maximum time to wait, so that a failing test reports it instead of hanging.
const LIMIT: Duration = Duration::from_secs(60);
/// A question that is repeated for ever would otherwise never end.
const ROUNDS: usize = 8;
const META: &str = "io.modelcontextprotocol";

/// The family of revisions a client uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Era {
    /// 2025-11-25: a session, and requests in both directions.
    Legacy,
    /// 2026-07-28: every request is independent.
    Modern,
}

pub(crate) struct Client {
    http: reqwest::Client,
    connection: Connection,
    era: Era,
    session: Option<String>,
    ids: AtomicU64,
    capabilities: Value,
    /// Declines every form.
    declines: bool,
    /// Receives every page that its user should visit.
    pages: Option<tokio::sync::mpsc::UnboundedSender<String>>,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) outcome: Result<Value, RpcError>,
    /// Notifications that came with it, in order.
    pub(crate) notes: Vec<Value>,
    /// The questions that came first: `method` and `params`.
    pub(crate) questions: Vec<Value>,
}

/// The response to one message, as it arrives.
pub(crate) struct Reply {
    pub(crate) id: Value,
    /// Its session.
    session: Option<String>,
    source: Source,
}

enum Source {
    Events(Events),
    One(Option<String>),
}

impl Era {
    pub(crate) const fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

/// Every capability a client can have.
fn capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": { "listChanged": true } })
}

/// This client's answer to a question.
fn answer_to(question: &Value) -> Value {
    match question["method"].as_str() {
        Some("elicitation/create") if question["params"]["mode"] == "url" => json!({ "action": "accept" }),
        Some("elicitation/create") => {
            let mut content = json!({ "username": "ada", "email": "ada@example.com" });
            let asked = question["params"]["requestedSchema"]["properties"].as_object();
            for (name, field) in asked.into_iter().flatten() {
                if let Some(proposed) = field.get("default") {
                    content[name] = proposed.clone();
                } else if field["type"] == "boolean" {
                    content[name] = json!(true);
                }
            }
            json!({ "action": "accept", "content": content })
        }
        Some("sampling/createMessage") => json!({
            "role": "assistant", "content": { "type": "text", "text": "said by the model" },
            "model": "a model", "stopReason": "endTurn",
        }),
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///home/ada/work", "name": "work" }] }),
        _ => panic!("nobody can answer {question}"),
    }
}

impl Client {
    /// A client that has not sent anything yet.
    pub(crate) fn new(connection: Connection, era: Era) -> Self {
        Self {
            http: plain_http(),
            connection,
            era,
            session: None,
            ids: AtomicU64::new(1),
            capabilities: capabilities(),
            declines: false,
            pages: None,
        }
    }

    /// The same client, whose user declines everything.
    pub(crate) fn that_declines(self) -> Self {
        Self { declines: true, ..self }
    }

    /// The same client, which shows pages to its user.
    pub(crate) fn showing(self, pages: tokio::sync::mpsc::UnboundedSender<String>) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// The same client, which also supports these extensions.
    pub(crate) fn with_extensions(mut self, extensions: Value) -> Self {
        self.capabilities["extensions"] = extensions;
        self
    }

    fn answer_to(&self, question: &Value) -> Value {
        if let (Some(pages), Some(page)) = (&self.pages, question["params"]["url"].as_str()) {
            pages.send(page.to_owned()).expect("the test listens");
        }
        match question["method"].as_str() {
            Some("elicitation/create") if self.declines => json!({ "action": "decline" }),
            _ => answer_to(question),
        }
    }

    /// Begins a session, if the era has sessions, and returns the server's information.
    pub(crate) async fn open(&mut self) -> Value {
        if self.era == Era::Modern {
            return self.request("server/discover", json!({})).await.result().clone();
        }
        let hello = json!({
            "protocolVersion": self.era.revision(), "capabilities": self.capabilities,
            "clientInfo": { "name": "eras", "version": "1" },
        });
        let mut reply = self.send("initialize", hello).await;
        self.session = reply.session.take();
        assert!(self.session.is_some(), "a session begins at {}", self.connection.url);
        let opened = reply.next().await.expect("initialize is answered");
        self.notify("notifications/initialized", json!({})).await;
        opened["result"].clone()
    }

    pub(crate) const fn era(&self) -> Era {
        self.era
    }

    /// Calls a tool and answers its questions.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Told {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Sends a request, answers questions on the way, and waits for the result.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Told {
        let mut told = Told { outcome: Ok(Value::Null), notes: Vec::new(), questions: Vec::new() };
        let mut attempt = params.clone();
        for _ in 0..ROUNDS {
            let mut reply = self.send(method, attempt).await;
            let result = match self.outcome(&mut reply, &mut told).await {
                Ok(result) => result,
                Err(error) => return Told { outcome: Err(error), ..told },
            };
            if self.era == Era::Legacy || result["resultType"] != "input_required" {
                return Told { outcome: Ok(result), ..told };
            }
            let requests = result["inputRequests"].as_object().cloned().unwrap_or_default();
            let answers =
                requests.iter().map(|(key, question)| (key.clone(), self.answer_to(question))).collect();
            told.questions.extend(requests.into_iter().map(|(_, question)| question));
            attempt = params.clone();
            attempt["inputResponses"] = Value::Object(answers);
            if !result["requestState"].is_null() {
                attempt["requestState"] = result["requestState"].clone();
            }
        }
        panic!("{method} {params} still asks after {ROUNDS} rounds: {:?}", told.questions);
    }

    /// Sends a request that asks nothing; returns its result as it was on the wire, or the error.
    pub(crate) async fn raw(&self, method: &str, params: Value) -> Result<String, Value> {
        #[derive(Deserialize)]
        struct Message {
            result: Option<Box<RawValue>>,
            error: Option<Value>,
        }
        let mut reply = self.send(method, params).await;
        loop {
            let text = reply.next_text().await.unwrap_or_else(|| panic!("no answer to {method}"));
            let message: Message =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            match (message.result, message.error) {
                (Some(result), _) => return Ok(result.get().to_owned()),
                (None, Some(error)) => return Err(error),
                (None, None) => {}
            }
        }
    }

    /// Sends a request and leaves reading the response to the caller.
    pub(crate) async fn send(&self, method: &str, mut params: Value) -> Reply {
        let id = json!(self.ids.fetch_add(1, Ordering::Relaxed));
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta[format!("{META}/protocolVersion")] = json!(self.era.revision());
            meta[format!("{META}/clientCapabilities")] = self.capabilities.clone();
            meta[format!("{META}/clientInfo")] = json!({ "name": "eras", "version": "1" });
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = tokio::time::timeout(LIMIT, self.post(&body).send()).await;
        let response = response.unwrap_or_else(|_| panic!("nothing comes back for {body}"));
        let response = response.unwrap_or_else(|error| panic!("no answer to {body}: {error}"));
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let session = header(HeaderName::from_static("mcp-session-id"));
        let kind = header(CONTENT_TYPE);
        let source = if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            Source::Events(Events::new(response))
        } else {
            let status = response.status();
            let text = response.text().await.expect("the body can be read");
            assert!(text.starts_with('{'), "HTTP {status} for {body}: {text}");
            Source::One(Some(text))
        };
        Reply { id, session, source }
    }

    /// Sends a notification.
    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.deliver(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Cancels a request, as the era does it.
    pub(crate) async fn cancel(&self, reply: Reply) {
        match self.era {
            Era::Legacy => {
                self.notify("notifications/cancelled", json!({ "requestId": reply.id })).await;
            }
            Era::Modern => drop(reply),
        }
    }

    /// Opens the stream for list changes, without any resource.
    pub(crate) async fn listen_to_lists(&self) -> Reply {
        match self.era {
            Era::Modern => {
                let wanted = json!({ "toolsListChanged": true });
                let mut stream = self.send("subscriptions/listen", json!({ "notifications": wanted })).await;
                let first = stream.next().await.expect("the stream begins");
                assert_eq!(first["params"]["notifications"], wanted, "{first}");
                stream
            }
            Era::Legacy => self.stream().await,
        }
    }

    async fn stream(&self) -> Reply {
        let request = self.prepare(Method::GET).header(ACCEPT, "text/event-stream");
        let response = request.send().await.expect("the endpoint answers");
        assert_eq!(response.status(), 200, "the stream of a session opens");
        Reply { id: Value::Null, session: None, source: Source::Events(Events::new(response)) }
    }

    /// Opens the stream for list changes, with updates of one resource.
    pub(crate) async fn listen(&self, resource: &str) -> Reply {
        match self.era {
            Era::Modern => {
                let wanted = json!({
                    "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                    "resourceSubscriptions": [resource],
                });
                let mut stream = self.send("subscriptions/listen", json!({ "notifications": wanted })).await;
                let first = stream.next().await.expect("the stream begins");
                assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
                stream
            }
            Era::Legacy => {
                let stream = self.stream().await;
                let subscribed = self.request("resources/subscribe", json!({ "uri": resource })).await;
                subscribed.result();
                stream
            }
        }
    }

    /// Reads to the end of a response, and answers the requests in it.
    async fn outcome(&self, reply: &mut Reply, told: &mut Told) -> Result<Value, RpcError> {
        loop {
            let Some(message) = reply.next().await else {
                panic!("the stream ended without an answer, after {told:?}");
            };
            match (message.get("method"), message.get("id")) {
                (Some(_), None) => told.notes.push(message),
                (Some(method), Some(id)) => {
                    let question = json!({ "method": method, "params": message["params"] });
                    self.deliver(&json!({ "jsonrpc": "2.0", "id": id, "result": self.answer_to(&question) }))
                        .await;
                    told.questions.push(question);
                }
                (None, _) => {
                    assert!(message["id"] == reply.id || message["id"].is_null(), "{message}");
                    return match message.get("error") {
                        Some(error) => {
                            Err(serde_json::from_value(error.clone()).expect("an error has its fields"))
                        }
                        None => Ok(message["result"].clone()),
                    };
                }
            }
        }
    }

    /// Answers a request from the other side.
    pub(crate) async fn answer(&self, question: &Value) {
        let result = self.answer_to(question);
        self.deliver(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    }

    async fn deliver(&self, body: &Value) {
        let response = self.post(body).send().await.expect("the endpoint answers");
        assert_eq!(response.status(), 202, "accepted: {body}");
    }

    fn post(&self, body: &Value) -> RequestBuilder {
        let mut request = self.prepare(Method::POST).header(CONTENT_TYPE, "application/json");
        request = request.header(ACCEPT, "application/json, text/event-stream");
        if self.era == Era::Modern {
            request = request.header("mcp-method", body["method"].as_str().unwrap_or_default());
            let params = &body["params"];
            let named = params["name"].as_str().or(params["uri"].as_str()).or(params["taskId"].as_str());
            if let Some(name) = named {
                request = request.header("mcp-name", name);
            }
        }
        request.body(body.to_string())
    }

    fn prepare(&self, method: Method) -> RequestBuilder {
        let mut request = self.http.request(method, &self.connection.url);
        for (name, value) in &self.connection.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.session.is_some() || self.era == Era::Modern {
            request = request.header("mcp-protocol-version", self.era.revision());
        }
        request
    }
}

impl Reply {
    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let text = self.next_text().await?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    /// The next message as it was written.
    async fn next_text(&mut self) -> Option<String> {
        let events = match &mut self.source {
            Source::One(message) => return message.take(),
            Source::Events(events) => events,
        };
        let event = tokio::time::timeout(LIMIT, events.next()).await;
        event.unwrap_or_else(|_| panic!("nothing more comes on the stream of {}", self.id))
    }

    /// The next notification of a method, and those that came before it.
    pub(crate) async fn until(&mut self, method: &str) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let Some(message) = self.next().await else { panic!("no {method} came, but {before:?}") };
            if message["method"] == method {
                return (message, before);
            }
            before.push(message);
        }
    }
}

impl Told {
    /// The result; panics on an error.
    #[track_caller]
    pub(crate) fn result(&self) -> &Value {
        self.outcome.as_ref().unwrap_or_else(|error| panic!("an error instead of a result: {error:?}"))
    }

    /// The text of a tool's result.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        let result = self.result();
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
    }
}
