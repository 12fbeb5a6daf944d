//! An MCP server inside the test's own process: one HTTP endpoint on loopback, JSON answers, no sessions. Speaks the
//! legacy revisions. Counts nothing and checks nothing that a test does not ask for.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// The largest request that a test makes, in bytes.
const LARGEST: usize = 1024 * 1024;

/// A running server. It ends when this is dropped.
pub(super) struct TestServer {
    address: SocketAddr,
    state: Arc<State>,
    _end: DropGuard,
}

/// What it offers and what it was asked.
struct State {
    tools: Mutex<Vec<Value>>,
    called: Mutex<Vec<Value>>,
    /// Its skills, with whether it lists each; it declares them if there are any.
    skills: Mutex<Vec<(Value, bool)>>,
    /// The texts of resources, by address.
    files: Mutex<BTreeMap<String, String>>,
    /// Answers to `slow` wait for a permit each.
    slow: Semaphore,
    /// Nothing is answered but errors.
    down: AtomicBool,
}

impl TestServer {
    /// Starts one that offers these tools, resource `note://one` and prompt `greet`.
    pub(super) async fn start(tools: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            tools: Mutex::new(tools),
            called: Mutex::default(),
            skills: Mutex::default(),
            files: Mutex::default(),
            slow: Semaphore::new(0),
            down: AtomicBool::new(false),
        });
        let end = CancellationToken::new();
        let (serving, ended, tracker) = (state.clone(), end.clone(), TaskTracker::new());
        let connections = tracker.clone();
        tracker.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = ended.cancelled() => return,
                };
                let (Ok((stream, _)), state, ended) = (accepted, serving.clone(), ended.clone()) else {
                    continue;
                };
                connections.spawn(async move {
                    tokio::select! {
                        _ = serve(stream, &state) => {}
                        () = ended.cancelled() => {}
                    }
                });
            }
        });
        Self { address, state, _end: end.drop_guard() }
    }

    /// Its entry in the configuration.
    pub(super) fn entry(&self) -> Value {
        json!({ "url": format!("http://{}/mcp", self.address) })
    }

    /// Offers other tools from now on, and tells nobody.
    pub(super) fn offer(&self, tools: Vec<Value>) {
        *self.state.tools.lock() = tools;
    }

    /// Has these skills from now on, and these texts.
    pub(super) fn teach(&self, skills: Vec<(Value, bool)>, files: &[(&str, &str)]) {
        *self.state.skills.lock() = skills;
        *self.state.files.lock() =
            files.iter().map(|(uri, text)| ((*uri).to_owned(), (*text).to_owned())).collect();
    }

    /// The parameters of the calls that came, in order.
    pub(super) fn called(&self) -> Vec<Value> {
        self.state.called.lock().clone()
    }

    /// Answers only with errors, or as usual again.
    pub(super) fn set_down(&self, down: bool) {
        self.state.down.store(down, Ordering::Relaxed);
    }

    /// Lets one call of `slow` be answered.
    pub(super) fn go_on(&self) {
        self.state.slow.add_permits(1);
    }
}

/// A tool that takes a text. What it is called decides what it answers: see [`answer`].
pub(super) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    })
}

/// The same with annotations.
pub(super) fn annotated(name: &str, description: &str, annotations: Value) -> Value {
    let mut tool = tool(name, description);
    tool["annotations"] = annotations;
    tool
}

async fn serve(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some((head, body)) = read_request(&mut stream, &mut buffer).await? {
        let answer = match (head.starts_with("POST "), serde_json::from_slice::<Value>(&body)) {
            (true, Ok(message)) => answer(state, &message).await,
            _ => None,
        };
        let response = match answer {
            _ if state.down.load(Ordering::Relaxed) => {
                "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".into()
            }
            Some(answer) => {
                let body = answer.to_string();
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                )
            }
            None if head.starts_with("POST ") => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".into(),
            None => "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".into(),
        };
        stream.write_all(response.as_bytes()).await?;
    }
    Ok(())
}

/// The head and body of the next request; `None` where the connection was closed.
async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> std::io::Result<Option<(String, Vec<u8>)>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim().parse::<usize>().ok())
                .unwrap_or(0);
            let whole = end + 4 + length;
            if buffer.len() >= whole {
                let body = buffer[end + 4..whole].to_vec();
                buffer.drain(..whole);
                return Ok(Some((head, body)));
            }
        }
        assert!(buffer.len() < LARGEST, "a test makes no such request");
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

/// The answer to a message; `None` for notifications.
async fn answer(state: &State, message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str()? {
        "initialize" => {
            let mut capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
            if !state.skills.lock().is_empty() {
                capabilities["extensions"] = json!({ "io.modelcontextprotocol/skills": {} });
            }
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": capabilities,
                "serverInfo": { "name": "test", "version": "1" },
            })
        }
        "skills/list" => {
            let skills = state.skills.lock();
            let listed = skills.iter().filter(|(_, listed)| *listed).map(|(entry, _)| entry);
            json!({ "skills": listed.collect::<Vec<_>>() })
        }
        "skills/get" => {
            let skills = state.skills.lock();
            let Some((entry, _)) = skills.iter().find(|(entry, _)| entry["uri"] == params["uri"]) else {
                let error = json!({ "code": -32602, "message": "no such skill" });
                return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            };
            json!({ "skill": entry })
        }
        "ping" => json!({}),
        "tools/list" => json!({ "tools": *state.tools.lock() }),
        "resources/list" => json!({ "resources": [{ "uri": "note://one", "name": "one" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            let text = state.files.lock().get(uri).cloned().unwrap_or_else(|| "a note".to_owned());
            json!({ "contents": [{ "uri": uri, "text": text }] })
        }
        "prompts/list" => json!({ "prompts": [{ "name": "greet" }] }),
        "prompts/get" => {
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "hello" } }] })
        }
        "tools/call" => {
            state.called.lock().push(params.clone());
            call(state, params).await
        }
        method => {
            let error = json!({ "code": -32601, "message": format!("no method {method}") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// `fails` answers with a tool's own error, `slow` when it is let go on, every other tool with its arguments.
async fn call(state: &State, params: &Value) -> Value {
    let said = |text: &str| json!([{ "type": "text", "text": text }]);
    match params["name"].as_str() {
        Some("fails") => json!({ "content": said("it went wrong"), "isError": true }),
        Some("slow") => {
            if let Ok(permit) = state.slow.acquire().await {
                permit.forget();
            }
            json!({ "content": said("at last") })
        }
        _ => json!({ "content": said(&params["arguments"].to_string()) }),
    }
}
