//! How clients may come: so many connections, heads and bodies that arrive in time. Just within a limit is served; just
//! beyond it is refused with a reason; nobody else notices.

use std::time::Duration;

use satchel_tests::{Client, Connection, eventually, host_of};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    arena::{Arena, Chaos, known, run_fixture},
    measured, soaking,
};

/// From the goal sheet.
const PER_CLIENT: usize = 64;
const IN_ALL: usize = 512;
/// No response here takes as long.
const BOUND: Duration = Duration::from_secs(60);

/// S6: fifteen attacks on an endpoint, each beside a client that keeps calling.
#[tokio::test]
async fn attacks_on_the_port_affect_no_other_client_and_leave_nothing_behind() {
    let arena = Arena::alone().await;
    let hub = arena.open().await;
    let connection = hub.connection("one").await;
    let token = connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned();
    let port = connection.url.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port");
    let (pid, scale) = (hub.pid.to_string(), if soaking() { "1.0" } else { "0.1" });
    // Speed is measured in a soak; here this only limits the waiting.
    let (hold, patience) = if soaking() { ("10", "500") } else { ("2", "10000") };
    let mut arguments = vec!["--port", port, "--token", &token, "--hub-pid", &pid, "--json"];
    arguments.extend(["--scale", scale, "--hold", hold, "--good-p99-ms", patience]);
    let (code, said) = run_fixture("inbound_abuse.py", &arguments).await;
    let line = said.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{said}"));
    let found: Value = serde_json::from_str(line).expect("it says what it found as JSON");
    let attacks = found["attacks"].as_array().expect("a list");
    for attack in attacks {
        measured!("{attack}");
    }
    assert_eq!((code, &found["ok"]), (0, &json!(true)), "{found:#}");
    assert!(attacks.len() >= 15, "{}", attacks.len());
}

/// A connection that sends requests as bytes.
struct Line {
    stream: TcpStream,
    head: String,
    body: String,
}

impl Line {
    async fn open(connection: &Connection) -> Self {
        let host = host_of(&connection.url);
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" },
            },
        })
        .to_string();
        let mut head = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", body.len());
        head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        for (name, value) in &connection.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let stream = TcpStream::connect(host).await.expect("the endpoint listens");
        Self { stream, head: head + "\r\n", body }
    }

    async fn send(&mut self, text: &str) {
        // A hub that has closed it says why in its response.
        let _ = self.stream.write_all(text.as_bytes()).await;
    }

    /// Status and body of the next response; status 0 if the connection ended without one.
    async fn answer(&mut self) -> (u16, String) {
        let mut read = Vec::new();
        let reading = async {
            loop {
                let text = String::from_utf8_lossy(&read).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head.lines().find_map(|line| {
                        line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                    });
                    if body.len() >= length.unwrap_or(0) {
                        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
                        return (status.unwrap_or(0), body.to_owned());
                    }
                }
                let mut some = [0; 4096];
                match self.stream.read(&mut some).await {
                    Ok(0) | Err(_) => return (0, text),
                    Ok(count) => read.extend_from_slice(&some[..count]),
                }
            }
        };
        timeout(BOUND, reading).await.expect("an answer or an end comes")
    }

    async fn ask(&mut self) -> (u16, String) {
        let text = format!("{}{}", self.head, self.body);
        self.send(&text).await;
        self.answer().await
    }
}

#[tokio::test]
async fn a_client_may_have_sixty_four_connections_and_no_more() {
    let mut arena = Arena::new().await;
    arena.add("silent", Chaos::mode("hang_call").field("requestTimeout", json!(120)));
    let hub = arena.open().await;
    known(&arena.home, &["silent".to_owned()]).await;
    let (many, one) = (hub.connection("many").await, hub.connection("one").await);
    // Each of them has activity.
    let client = Client::open(&many, "2025-11-25").await;
    let mut held = JoinSet::new();
    for _ in 0..PER_CLIENT {
        let client = client.clone();
        held.spawn(async move { client.execute("silent:echo", json!({ "text": "x" })).await });
    }
    eventually("every call is in flight", async || {
        (hub.server("silent").await["in_flight"].as_u64() == Some(PER_CLIENT as u64)).then_some(())
    })
    .await;
    let (status, reason) = Line::open(&many).await.ask().await;
    assert_eq!(status, 429, "{reason}");
    let reason: Value = serde_json::from_str(&reason).expect("the reason is JSON");
    assert_eq!(reason["error"]["data"]["outcome"], "not_sent", "{reason}");
    let said = reason["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("64 connections"), "{said}");
    assert_eq!(Line::open(&one).await.ask().await.0, 200, "another client has its own");
    held.shutdown().await;
    eventually("there is room for another", async || {
        (Line::open(&many).await.ask().await.0 == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_oldest_idle_connection_is_closed_for_a_new_one() {
    let arena = Arena::new().await;
    let hub = arena.open().await;
    let many = hub.connection("many").await;
    let mut lines = Vec::new();
    for at in 0..PER_CLIENT {
        let mut line = Line::open(&many).await;
        assert_eq!(line.ask().await.0, 200, "connection {at}");
        lines.push(line);
    }
    // Not at once: the oldest could just be about to be used again.
    eventually("one more is served", async || (Line::open(&many).await.ask().await.0 == 200).then_some(()))
        .await;
    assert_eq!(lines[0].answer().await.0, 0, "the oldest is closed");
    assert_eq!(lines[1].ask().await.0, 200, "the others were not");
}

#[tokio::test]
async fn idle_connections_do_not_starve_other_clients() {
    let arena = Arena::new().await;
    let hub = arena.open().await;
    let connection = hub.connection("one").await;
    let mut idle = Vec::new();
    for _ in 0..IN_ALL + 20 {
        idle.push(Line::open(&connection.without_headers()).await);
    }
    let mut line = Line::open(&connection).await;
    assert_eq!(line.ask().await.0, 200);
    let (status, _) = idle.pop().expect("the latest").ask().await;
    assert_eq!(status, 401, "the latest of them is served as well, as far as it goes");
    assert_eq!(line.ask().await.0, 200, "a client's connection does not give way");
}

/// Of the same client: neither another client's share nor its own closed connections may keep it out.
#[tokio::test]
async fn short_lived_connections_do_not_starve_other_clients() {
    let arena = Arena::new().await;
    let hub = arena.open().await;
    let connection = hub.connection("one").await;
    let mut flood = JoinSet::new();
    for _ in 0..8 {
        let connection = connection.clone();
        flood.spawn(async move {
            for _ in 0..if soaking() { 5_000 } else { 500 } {
                let mut line = Line::open(&connection).await;
                let text = format!("{}{}", line.head, line.body);
                line.send(&text).await;
            }
        });
    }
    let mut answers = Vec::new();
    while !flood.is_empty() {
        answers.push(Line::open(&connection).await.ask().await);
        while let Some(ended) = flood.try_join_next() {
            ended.expect("it came and went");
        }
    }
    measured!("{} answers beside a flood", answers.len());
    let failed: Vec<_> = answers.iter().filter(|(status, _)| *status != 200).collect();
    assert!(failed.is_empty(), "{} of {}: {:?}", failed.len(), answers.len(), failed[0]);
}

#[tokio::test]
async fn a_head_has_ten_seconds_and_a_kept_connection_far_longer() {
    let mut arena = Arena::new().await;
    arena.add("s", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["s".to_owned()]).await;
    let connection = hub.connection("one").await;
    let mut kept = Line::open(&connection).await;
    assert_eq!(kept.ask().await.0, 200);
    let (begin, mut endless) = loop {
        // One that takes most of its time, and one that never ends.
        let (mut slow, mut endless) = (Line::open(&connection).await, Line::open(&connection).await);
        let begin = Instant::now();
        let (head, body) = (slow.head.clone(), slow.body.clone());
        let parts: Vec<&str> = head.split_inclusive("\r\n").collect();
        let mut sent = 0;
        while begin.elapsed() < Duration::from_secs(6) {
            if sent + 1 < parts.len() {
                slow.send(parts[sent]).await;
                endless.send(parts[sent]).await;
                sent += 1;
            } else {
                endless.send("x-more: 1\r\n").await;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        slow.send(&parts[sent..].concat()).await;
        slow.send(&body).await;
        let took = begin.elapsed();
        let (status, _) = slow.answer().await;
        if status == 200 {
            break (begin, endless);
        }
        // Only where the test itself was late, on a busy computer.
        let late = status == 408 && took > Duration::from_secs(9);
        assert!(late, "a head that arrives in time is served, not {status} after {took:.1?}");
    };
    let refused = async {
        let going_on = begin + BOUND;
        while Instant::now() < going_on {
            if let Ok(answer) = timeout(Duration::from_millis(500), endless.answer()).await {
                return answer;
            }
            endless.send("x-more: 1\r\n").await;
        }
        (0, "nothing".to_owned())
    };
    let (status, reason) = refused.await;
    let took = begin.elapsed();
    measured!("slow head: refused with {status} after {took:.1?}");
    assert_eq!(status, 408, "{reason}");
    assert!(reason.contains("within 10 s"), "{reason}");
    tokio::time::sleep_until(begin + Duration::from_secs(13)).await;
    assert_eq!(kept.ask().await.0, 200, "a connection that was kept for a while is still there");
    let client = hub.client("two").await;
    assert_eq!(client.execute("s:echo", json!({ "text": "meanwhile" })).await.text(), "meanwhile");
}

#[tokio::test]
async fn a_body_has_thirty_seconds() {
    let arena = Arena::new().await;
    let hub = arena.open().await;
    let connection = hub.connection("one").await;
    let mut whole = Line::open(&connection).await;
    let (head, body) = (whole.head.clone(), whole.body.clone());
    whole.send(&head).await;
    whole.send(&body[..20]).await;
    // A soak has the time to test both ends.
    let late = if soaking() { Duration::from_secs(27) } else { Duration::from_secs(3) };
    let mut never = Line::open(&connection).await;
    if soaking() {
        never.send(&head).await;
        never.send(&body[..20]).await;
    }
    tokio::time::sleep(late).await;
    whole.send(&body[20..]).await;
    assert_eq!(whole.answer().await.0, 200);
    if soaking() {
        let (status, reason) = never.answer().await;
        assert_eq!(status, 408, "{reason}");
        assert!(reason.contains("too long to arrive"), "{reason}");
    }
}
