//! S3: pages of strangers in a real browser, against the port for clients. Whatever they send, with whichever token:
//! nothing changes, and nothing of an answer can be read. Also where the browser takes the port for their own.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use satchel_tests::{Connection, Fake, Home, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{desktop::Desktop, page::Page};

/// Tries everything from within a page.
const ATTACKS: &str = include_str!("hostile_page.js");
/// A name of this computer that the port is not meant for, as of a page whose name was bound to it anew.
const REBOUND: &str = "rebound.localhost";

/// Serves a page of a stranger, and whatever else it is asked for as carelessly as can be. Writes down what came.
struct Careless {
    port: u16,
    came: Arc<Mutex<BTreeSet<String>>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Careless {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("a listener has an address").port();
        let came: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let book = came.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, book.clone()));
            }
        });
        Self { port, came, serving }
    }

    /// Gives the port back.
    async fn stop(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }
}

async fn serve(mut stream: TcpStream, came: Arc<Mutex<BTreeSet<String>>>) -> Option<()> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let field = |name: &str| {
                head.lines().find_map(|line| {
                    line.split_once(": ")
                        .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                        .map(|(_, value)| value)
                })
            };
            let length: usize = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                break (head.to_owned(), length);
            }
        }
    };
    let by = head.split_once("by=").map_or("page", |(_, rest)| rest.split(['&', ' ']).next().unwrap_or(rest));
    if length > 0 {
        came.lock().expect("no holder panics").insert(by.to_owned());
    }
    let (kind, body) = match by {
        "script" => ("text/javascript", "window.strange = 1"),
        "style" => ("text/css", ":root { --strange: 1 }"),
        "image" => ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"),
        "events" => ("text/event-stream", "data: x\n\n"),
        _ => ("text/html", "<!doctype html><title>page</title><body>of a stranger</body>"),
    };
    let origin = head
        .lines()
        .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case("origin")));
    let open = format!(
        "access-control-allow-origin: {}\r\naccess-control-allow-credentials: true\r\n\
         access-control-allow-headers: authorization, content-type\r\naccess-control-allow-methods: PUT, DELETE, PATCH",
        origin.map_or("*", |(_, origin)| origin)
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\n{open}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.ok()
}

/// What of a hub could have changed by what it was asked.
async fn state(home: &Home, fake: &Fake) -> Value {
    let mut all = vec![json!(home.config_text()), json!(fake.ledger().lines())];
    for words in [&["clients", "--json"][..], &["secrets", "list", "--json"]] {
        all.push(home.satchel(words).await.json());
    }
    let history = home.satchel(&["history", "--json"]).await.json();
    all.push(json!([history["calls"], history["sessions"]]));
    // What a server weighs, and when it will sleep, changes by itself.
    let list = home.satchel(&["list", "--json"]).await.json();
    let of = |server: &Value| {
        json!(
            ["name", "enabled", "startup", "held", "unseen", "runs", "sandbox", "starts", "calls"]
                .map(|part| &server[part])
        )
    };
    all.push(list["servers"].as_array().into_iter().flatten().map(of).collect());
    let trail = home.satchel(&["audit", "trail", "--json"]).await.json();
    let deeds = trail.as_array().into_iter().flatten().filter(|record| record["kind"] != "denied");
    all.push(deeds.cloned().collect());
    Value::Array(all)
}

/// What a page can try, tried.
async fn attack(page: &Page, port: u16, host: &str, tokens: &[&str]) -> Value {
    let base = format!("http://{host}:{port}");
    page.run_async(ATTACKS, vec![json!(base), json!(tokens)]).await
}

#[tokio::test]
async fn a_page_in_a_browser_changes_nothing_and_reads_nothing() {
    let desktop = Desktop::with_servers(json!({})).await;
    let home = &desktop.home;
    let fake = Fake::new(home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let page = desktop.open_browser().await;
    // The port is a stranger's first: the browser goes on taking it for his when it has become ours.
    let before_us = Careless::start().await;
    let port = before_us.port;
    let rebound = format!("http://{REBOUND}:{port}");
    page.go(&format!("{rebound}/")).await;
    page.says("body", "of a stranger").await;
    before_us.stop().await;
    let hub = home.start_hub_at(port).await;
    let connection = hub.connection("editor").await;
    let client = satchel_tests::Client::open(&connection, "2025-11-25").await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "works" })).await.text(), "works");
    eventually("the call is written down and counted", async || {
        let history = home.satchel(&["history", "--json"]).await.json();
        history["calls"][0]["tokens"].is_u64().then_some(())
    })
    .await;
    let token = bearer(&connection);
    let guess = format!("{}x", &token[..token.len() - 1]);
    let tokens = ["", guess.as_str(), token.as_str()];
    let before = state(home, &fake).await;

    // As its own page, the browser lets it read. What it reads is that it may not come in.
    let found = attack(&page, port, REBOUND, &tokens).await;
    println!("measured: rebound: {}", found["tried"]);
    let texts: Vec<&str> =
        found["texts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(!texts.is_empty(), "the browser reached the port under the other name: {found}");
    let refusal = |text: &&str| text.starts_with("403 ") || text.starts_with("frame ");
    let served = |text: &&str| {
        !refusal(text) || !(text.len() < 8 || text.contains("serves only requests to 127.0.0.1"))
    };
    assert_eq!(texts.iter().filter(|text| served(text)).count(), 0, "{texts:#?}");
    assert_eq!(state(home, &fake).await, before, "from {rebound}");

    let stranger = Careless::start().await;
    let file = home.file("page.html");
    std::fs::write(&file, "<!doctype html><body>of a stranger</body>").expect("the home can be written to");
    for from in [
        format!("http://127.0.0.1:{}/", stranger.port),
        format!("http://localhost:{}/", stranger.port),
        format!("http://{REBOUND}:{}/", stranger.port),
        format!("file://{}", file.display()),
    ] {
        page.go(&from).await;
        page.says("body", "of a stranger").await;
        for host in ["127.0.0.1", "localhost"] {
            let found = attack(&page, port, host, &tokens).await;
            println!("measured: from {from} to {host}: {}", found["tried"]);
            assert!(found["tried"].as_u64() > Some(500), "{found}");
            assert_eq!((&found["read"], &found["texts"]), (&json!([]), &json!([])), "from {from} to {host}");
        }
        assert_eq!(state(home, &fake).await, before, "from {from}");
    }
    // And nobody was locked out by it.
    assert_eq!(client.execute("fake:echo", json!({ "text": "still" })).await.text(), "still");
    page.close().await;
}

/// Where a port is careless, the same page reads, and what it sends arrives.
#[tokio::test]
async fn planted_a_careless_port_is_read_and_reached_by_the_same_page() {
    let desktop = Desktop::with_servers(json!({})).await;
    let page = desktop.open_browser().await;
    let (stranger, careless) = (Careless::start().await, Careless::start().await);
    page.go(&format!("http://127.0.0.1:{}/", stranger.port)).await;
    page.says("body", "of a stranger").await;
    let found = attack(&page, careless.port, "127.0.0.1", &["", "guess"]).await;
    let read = found["read"].to_string();
    for way in [
        "fetch cors GET",
        "fetch cors POST application/json",
        "fetch DELETE",
        "xhr",
        "image",
        "script",
        "style",
        "events",
    ] {
        assert!(read.contains(&format!("\"{way}\"")), "{way}: {read}");
    }
    let came = careless.came.lock().expect("no holder panics").clone();
    for way in ["form-text/plain", "form-multipart/form-data", "beacon", "post-no-cors", "post-cors", "xhr"] {
        assert!(came.contains(way), "{way}: {came:?}");
    }
    page.close().await;
}

fn bearer(connection: &Connection) -> String {
    connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned()
}
