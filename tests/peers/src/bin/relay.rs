//! The bound: one HTTP endpoint, one stdio child, nothing else. It checks no token, keeps no session and records nothing;
//! of a message it reads what routing needs, and passes the rest on as text. `peers-relay PORT COMMAND ARGUMENTS…`

use std::{
    collections::HashMap,
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Context;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{Response, StatusCode},
    routing::post,
    serve::ListenerExt,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpListener,
    process::{ChildStdin, ChildStdout, Command},
    sync::{Mutex as Turn, oneshot},
};

const BUFFER: usize = 64 * 1024;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

struct Relay {
    stdin: Turn<ChildStdin>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<String>>>,
    next: AtomicU64,
}

impl Relay {
    fn waiting<T>(&self, work: impl FnOnce(&mut HashMap<u64, oneshot::Sender<String>>) -> T) -> T {
        work(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn send(&self, line: String) -> std::io::Result<()> {
        self.stdin.lock().await.write_all(line.as_bytes()).await
    }
}

fn answer(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert("content-type", axum::http::HeaderValue::from_static("application/json"));
    headers.insert("mcp-session-id", axum::http::HeaderValue::from_static("relay"));
    response
}

async fn handle(State(relay): State<Arc<Relay>>, body: Bytes) -> Response<Body> {
    let Ok(message) = serde_json::from_slice::<Message<'_>>(&body) else {
        return answer(StatusCode::BAD_REQUEST, String::new());
    };
    let method = message.method.map_or("null", RawValue::get);
    let params = message.params.map_or("{}", RawValue::get);
    let Some(id) = message.id else {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params}}}\n");
        let status = relay.send(line).await.map_or(StatusCode::BAD_GATEWAY, |()| StatusCode::ACCEPTED);
        return answer(status, String::new());
    };
    let own = relay.next.fetch_add(1, Ordering::Relaxed);
    let (sender, receiver) = oneshot::channel();
    relay.waiting(|waiting| waiting.insert(own, sender));
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{own},\"method\":{method},\"params\":{params}}}\n");
    if relay.send(line).await.is_err() {
        return answer(StatusCode::BAD_GATEWAY, String::new());
    }
    let Ok(line) = receiver.await else { return answer(StatusCode::BAD_GATEWAY, String::new()) };
    let Ok(back) = serde_json::from_str::<Message<'_>>(&line) else {
        return answer(StatusCode::BAD_GATEWAY, line);
    };
    let (key, value) = match back.result {
        Some(result) => ("result", result.get()),
        None => ("error", back.error.map_or("null", RawValue::get)),
    };
    answer(StatusCode::OK, format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{key}\":{value}}}", id.get()))
}

/// Hands each answer of the server to who waits for it.
async fn read(relay: Arc<Relay>, mut lines: Lines<BufReader<ChildStdout>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        let id = serde_json::from_str::<Message<'_>>(&line)
            .ok()
            .and_then(|message| message.id?.get().parse().ok());
        let waiting = id.and_then(|id: u64| relay.waiting(|waiting| waiting.remove(&id)));
        if let Some(sender) = waiting {
            // An error means that the caller has gone.
            let _ = sender.send(line);
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "peers-relay PORT COMMAND ARGUMENTS…";
    let port: u16 = arguments.next().context(usage)?.parse().context(usage)?;
    let mut child = Command::new(arguments.next().context(usage)?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = Turn::new(child.stdin.take().context("the server has no standard input")?);
    let stdout = child.stdout.take().context("the server has no standard output")?;
    let relay = Arc::new(Relay { stdin, waiting: Mutex::default(), next: AtomicU64::new(1) });
    let reading = read(relay.clone(), BufReader::with_capacity(BUFFER, stdout).lines());
    let listener = TcpListener::bind(("127.0.0.1", port)).await?.tap_io(|stream| {
        // Without it, each answer waits for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
    });
    let router =
        Router::new().route("/mcp", post(handle)).layer(DefaultBodyLimit::disable()).with_state(relay);
    tokio::select! {
        served = axum::serve(listener, router).into_future() => served?,
        () = reading => {}
    }
    Ok(())
}
