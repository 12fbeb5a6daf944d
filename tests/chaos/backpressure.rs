//! Whoever does not read, or asks without waiting, is refused clearly; memory stays bounded and others are served.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_tests::{Client, eventually, host_of};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinSet, time::Instant};

use crate::{
    arena::{Arena, Chaos, known},
    journal::Outcome,
    measured, nightly,
    processes::memory,
    sized, soaking,
};

/// The limit of the goal sheet, in MiB.
const MOST_GROWTH: f64 = 128.0;

/// R12, backpressure: memory is bounded, and excess calls are refused as not sent.
#[tokio::test]
async fn a_server_that_never_reads_costs_bounded_memory_and_its_callers_get_errors() {
    let mut arena = Arena::new().await;
    let names = ["deaf".to_owned(), "fine".to_owned()];
    arena.add("deaf", Chaos::mode("stdin_never_read")).add("fine", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let connection = hub.connection("crowd").await;
    let before = memory(hub.pid);
    // Long arguments, so that the pipe fills.
    let text = Arc::new("x".repeat(20_000));
    // Before the load starts, which keeps this program so busy that a new connection would authenticate too late.
    let fine = Client::open(&hub.connection("calm").await, "2025-11-25").await;
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::open(&connection, "2025-11-25").await);
    }
    let mut calls = JoinSet::new();
    for client in clients {
        // More at once would only be too many connections.
        for _ in 0..20 {
            let (client, text) = (client.clone(), text.clone());
            calls.spawn(async move {
                let mut told = Vec::new();
                for _ in 0..sized(1, 25) {
                    let answer = client.execute("deaf:echo", json!({ "text": *text })).await;
                    told.push((Outcome::of(&answer), answer));
                }
                told
            });
        }
    }
    assert_eq!(fine.execute("fine:echo", json!({ "text": "meanwhile" })).await.text(), "meanwhile");
    let peak = memory(hub.pid) - before;
    let mut told: BTreeMap<Outcome, usize> = BTreeMap::new();
    for (outcome, answer) in calls.join_all().await.into_iter().flatten() {
        assert!(matches!(outcome, Outcome::Refused | Outcome::Unknown), "{outcome:?}: {answer:?}");
        *told.entry(outcome).or_default() += 1;
    }
    measured!("backpressure, deaf server: {told:?}, the hub grew by {peak:.1} MiB");
    assert!(told.get(&Outcome::Refused).copied().unwrap_or(0) > 0, "what is too much is refused: {told:?}");
    assert!(peak <= MOST_GROWTH, "the hub grew by {peak:.1} MiB");
    assert_eq!(fine.execute("fine:echo", json!({ "text": "after" })).await.text(), "after");
}

/// R12, backpressure: likewise for a client that sends without waiting; it recovers.
#[tokio::test]
async fn a_client_that_floods_requests_is_refused_as_busy() {
    let mut arena = Arena::new().await;
    arena.add("slow", Chaos::new().field("requestTimeout", json!(60)));
    let hub = arena.open().await;
    known(&arena.home, &["slow".to_owned()]).await;
    let before = memory(hub.pid);
    // All at once, and each sends again as soon as it has its answer; a client has its own connections. Their calls
    // take longer than the hub waits for a slot while none is released.
    const CLIENTS: usize = 4;
    const AT_ONCE: usize = 50;
    let requests = nightly(CLIENTS * AT_ONCE, 20_000, 1_000_000);
    let begun = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for at in 0..CLIENTS {
        let client = hub.client(&format!("greedy-{at}")).await;
        for _ in 0..AT_ONCE {
            let (client, begun) = (client.clone(), begun.clone());
            callers.spawn(async move {
                let (mut results, mut refused) = (0, 0);
                while begun.fetch_add(1, Ordering::Relaxed) < requests {
                    let answer = client.execute("slow:sleep", json!({ "ms": 12_000 })).await;
                    match Outcome::of(&answer) {
                        Outcome::Result => results += 1,
                        Outcome::Refused => refused += 1,
                        other => panic!("every call ends clearly: {other:?}, {answer:?}"),
                    }
                }
                (results, refused)
            });
        }
    }
    let mut peak: f64 = 0.0;
    let (mut results, mut refused) = (0, 0);
    let mut look = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            done = callers.join_next() => {
                let Some(done) = done else { break };
                let (some, others) = done.expect("no caller panics");
                (results, refused) = (results + some, refused + others);
            }
            _ = look.tick() => peak = peak.max(memory(hub.pid) - before),
        }
    }
    let over = Instant::now();
    let again = hub.client("next").await.execute("slow:echo", json!({ "text": "recovered" })).await;
    let took = over.elapsed();
    assert_eq!(again.text(), "recovered");
    measured!(
        "backpressure, greedy clients: {results} results, {refused} refused, the hub grew by {peak:.1} MiB, \
        the next call took {took:.2?}"
    );
    assert_eq!(results + refused, requests, "every call ended");
    assert!(results > 0 && refused > 0, "{results} results, {refused} refused");
    assert!(peak <= MOST_GROWTH, "the hub grew by {peak:.1} MiB");
    assert!(!soaking() || took <= Duration::from_secs(2), "it recovers: {took:.2?}");
}

/// R12, backpressure: likewise for a client that never reads.
#[tokio::test]
async fn a_client_that_never_reads_its_stream_costs_bounded_memory() {
    let mut arena = Arena::new().await;
    arena.add("flood", Chaos::mode("progress_flood").with("n", sized(4_000, 300_000)));
    arena.add("fine", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["flood".to_owned(), "fine".to_owned()]).await;
    let connection = hub.connection("deaf").await;
    let opened = Client::open(&connection, "2025-11-25").await;
    let before = memory(hub.pid);
    // The request of a real client, over a socket that is then never read.
    let mut sockets = Vec::new();
    let session = session_of(&connection).await;
    for id in 0..4 {
        let body = json!({
            "jsonrpc": "2.0", "id": format!("deaf-{id}"), "method": "tools/call",
            "params": {
                "name": "execute_mcp_tool",
                "arguments": { "tool_path": "flood:echo", "arguments": { "text": "x" } },
                "_meta": { "progressToken": id },
            },
        });
        let mut socket = TcpStream::connect(host_of(&connection.url)).await.expect("the endpoint listens");
        let head = head_of(&connection, Some(&session), body.to_string().len());
        socket.write_all(format!("{head}{body}").as_bytes()).await.expect("it takes the request");
        sockets.push(socket);
    }
    eventually("the server was called", async || {
        (hub.server("flood").await["calls"].as_u64() >= Some(4)).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let grown = memory(hub.pid) - before;
    measured!("backpressure, client that never reads: the hub grew by {grown:.1} MiB");
    assert!(grown <= MOST_GROWTH, "the hub grew by {grown:.1} MiB");
    assert_eq!(opened.execute("fine:echo", json!({ "text": "meanwhile" })).await.text(), "meanwhile");
    drop(sockets);
    eventually("nothing is in flight", async || {
        (hub.server("flood").await["in_flight"].as_u64().unwrap_or(0) == 0).then_some(())
    })
    .await;
}

fn head_of(connection: &satchel_tests::Connection, session: Option<&str>, length: usize) -> String {
    let mut head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", host_of(&connection.url));
    for (name, value) in &connection.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(session) = session {
        head.push_str(&format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n"));
    }
    head.push_str("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
    head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
    head
}

/// Opens a session by hand, to know its id.
async fn session_of(connection: &satchel_tests::Connection) -> String {
    use tokio::io::AsyncReadExt;
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "deaf", "version": "1" } },
    })
    .to_string();
    let mut socket = TcpStream::connect(host_of(&connection.url)).await.expect("the endpoint listens");
    socket
        .write_all(format!("{}{body}", head_of(connection, None, body.len())).as_bytes())
        .await
        .expect("sent");
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut buffer = [0u8; 4096];
        let count = socket.read(&mut buffer).await.expect("it answers");
        assert!(count > 0, "the endpoint closed the connection");
        answer.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&answer).into_owned();
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
    line.and_then(|line| line.split_once(':')).expect("it names the session").1.trim().to_owned()
}
