//! A hosted server whose every answer a test decides: real HTTP at a free port, and a list of what was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

/// More than any test sends.
const BODY_LIMIT: usize = 4 << 20;
const SESSION: &str = "mcp-session-id";

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) http: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The message; `null` if there is none.
    pub(crate) message: Value,
    /// How many requests with this method came before.
    pub(crate) before: usize,
}

type Answer = dyn Fn(&Asked) -> Option<Response> + Send + Sync;

/// The server. Ends with the test.
pub(crate) struct Station {
    pub(crate) url: String,
    port: u16,
    shared: Arc<Shared>,
    serving: Option<JoinHandle<()>>,
}

struct Shared {
    answer: Box<Answer>,
    asked: Mutex<VecDeque<Asked>>,
    era: Speaks,
}

/// The families of revisions a station supports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speaks {
    Legacy,
    Modern,
    Both,
}

impl Asked {
    pub(crate) fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A successful response to it.
    pub(crate) fn result(&self, result: &Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": self.message["id"], "result": result });
        with_body(StatusCode::OK, &body)
    }

    /// An error response to it.
    pub(crate) fn error(&self, status: u16, code: i64, message: &str) -> Response {
        let error = json!({ "code": code, "message": message });
        let body = json!({ "jsonrpc": "2.0", "id": self.message["id"], "error": error });
        with_body(StatusCode::from_u16(status).expect("a status"), &body)
    }
}

/// A response with only a status and headers.
pub(crate) fn status(status: u16, headers: &[(&'static str, &str)]) -> Response {
    let mut response = StatusCode::from_u16(status).expect("a status").into_response();
    for (name, value) in headers {
        response.headers_mut().insert(*name, value.parse().expect("a header's value"));
    }
    response
}

/// A response that breaks off.
pub(crate) fn broken() -> Response {
    let pieces = futures_util::stream::iter([
        Ok("{\"jsonrpc\"".to_owned()),
        Err(std::io::Error::other("the connection breaks")),
    ]);
    let mut response = Response::new(Body::from_stream(pieces));
    response.headers_mut().insert("content-type", "application/json".parse().expect("a header's value"));
    response
}

/// A response that begins at once and continues when released.
pub(crate) fn held(answer: Response, release: Arc<Notify>) -> Response {
    let (parts, body) = answer.into_parts();
    let whole = futures_util::stream::once(async move {
        release.notified().await;
        to_bytes(body, BODY_LIMIT).await
    });
    Response::from_parts(parts, Body::from_stream(whole))
}

fn with_body(status: StatusCode, body: &Value) -> Response {
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

/// A tool's result.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl Station {
    /// A server with one tool, `work`. Requests for which `answer` returns `None` get an ordinary response.
    pub(crate) async fn start(
        era: Speaks,
        answer: impl Fn(&Asked) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a listener has an address").port();
        let shared = Arc::new(Shared { answer: Box::new(answer), asked: Mutex::default(), era });
        let url = format!("http://127.0.0.1:{port}/mcp");
        let mut station = Self { url, port, shared, serving: None };
        station.serve(listener);
        station
    }

    fn serve(&mut self, listener: TcpListener) {
        let router = Router::new().fallback(handle).with_state(self.shared.clone());
        self.serving = Some(tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        }));
    }

    /// Stops accepting connections.
    pub(crate) async fn close(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            let _ = serving.await;
        }
    }

    /// Accepts connections again, at the same address.
    pub(crate) async fn open(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await;
        self.serve(listener.expect("the port is still free"));
    }

    /// Every request, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("nobody panicked").iter().cloned().collect()
    }

    /// How many requests had this method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.asked().iter().filter(|asked| asked.method() == method).count()
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

async fn handle(State(station): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let before = {
        let asked = station.asked.lock().expect("nobody panicked");
        asked.iter().filter(|asked| asked.message["method"] == message["method"]).count()
    };
    let path = parts.uri.path().to_owned();
    let asked = Asked { http: parts.method, path, headers: parts.headers, message, before };
    station.asked.lock().expect("nobody panicked").push_back(asked.clone());
    let mut response = (station.answer)(&asked).unwrap_or_else(|| usual(station.era, &asked));
    if response.headers().contains_key("x-never") {
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    // A kept-alive connection would outlive a closed station.
    response.headers_mut().insert("connection", "close".parse().expect("a header's value"));
    response
}

/// No response at all.
pub(crate) fn never() -> Response {
    status(200, &[("x-never", "1")])
}

fn usual(era: Speaks, asked: &Asked) -> Response {
    if asked.http != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let modern = asked.header("mcp-protocol-version") == "2026-07-28";
    let whole = |mut result: Value| {
        if modern {
            result["resultType"] = json!("complete");
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        asked.result(&result)
    };
    match asked.method() {
        _ if modern && era == Speaks::Legacy => asked.error(400, -32000, "Bad Request: no session"),
        "initialize" if era == Speaks::Modern => asked.error(400, -32022, "only 2026-07-28"),
        "initialize" => {
            let mut response = asked.result(&json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "station", "version": "1" },
            }));
            let session = format!("session-{}", asked.before + 1);
            response.headers_mut().insert(SESSION, session.parse().expect("a header's value"));
            response
        }
        "server/discover" => {
            whole(json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }))
        }
        "tools/list" => whole(json!({ "tools": [{ "name": "work", "inputSchema": { "type": "object" } }] })),
        "tools/call" => whole(text("done")),
        "subscriptions/listen" => asked.error(404, -32601, "no such method"),
        "" => StatusCode::BAD_REQUEST.into_response(),
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        _ => asked.error(if modern { 404 } else { 200 }, -32601, "no such method"),
    }
}
