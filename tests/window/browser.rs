//! S3: pages of strangers in real browsers, against the port for clients. Whatever they send, with whichever token:
//! nothing changes, and nothing of an answer can be read. Also where the browser takes the port for their own.

use satchel_tests::{Client, Connection, Fake, Home, eventually};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    careless::Careless,
    desktop::Desktop,
    makes::{Browser, CHROMIUM, FIREFOX, Make, WEBKIT},
};

/// A name of this computer that the port does not accept, as for a page after DNS rebinding.
const REBOUND: &str = "rebound.localhost";

#[tokio::test]
async fn a_page_in_webkit_changes_nothing_and_reads_nothing() {
    nothing_comes_of_it(&WEBKIT).await;
}

#[tokio::test]
async fn a_page_in_chromium_changes_nothing_and_reads_nothing() {
    nothing_comes_of_it(&CHROMIUM).await;
}

#[tokio::test]
async fn a_page_in_firefox_changes_nothing_and_reads_nothing() {
    nothing_comes_of_it(&FIREFOX).await;
}

async fn nothing_comes_of_it(make: &Make) {
    let began = Instant::now();
    let desktop = Desktop::with_servers(json!({})).await;
    let home = &desktop.home;
    // On a busy machine the browser takes minutes; a server that goes to sleep meanwhile would look changed.
    let fake = Fake::new(home, "fake").with("idleTimeout", json!("2h"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    // A third party has the port first: the browser treats it as that origin after it has become ours.
    let before_us = Careless::start().await;
    let port = before_us.port;
    let rebound = format!("http://{REBOUND}:{port}");
    let browser = make.open(&desktop, &format!("{rebound}/")).await;
    before_us.stop().await;
    let hub = home.start_hub_at(port).await;
    let connection = hub.connection("editor").await;
    let client = Client::open(&connection, "2025-11-25").await;
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

    // The browser lets its own page read the response, which is a refusal.
    let found = browser.attack(&rebound, &tokens).await;
    println!("measured: {}: {rebound} at itself: {}", make.name, found["tried"]);
    assert!(found["tried"].as_u64() > Some(500), "{found}");
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
    for host in ["127.0.0.1", "localhost", REBOUND] {
        let from = format!("http://{host}:{}/", stranger.port);
        browser.go(&from).await;
        reads_nothing(make, &browser, &from, port, &tokens).await;
        assert_eq!(state(home, &fake).await, before, "from {from}");
    }
    browser.close().await;
    let browser = make.open_file(&desktop).await;
    reads_nothing(make, &browser, "a file", port, &tokens).await;
    assert_eq!(state(home, &fake).await, before, "from a file");
    browser.close().await;
    // Nobody was locked out by it.
    assert_eq!(client.execute("fake:echo", json!({ "text": "still" })).await.text(), "still");
    hub.terminate().await;
    let turned_away = turned_away(home).await;
    let took = began.elapsed();
    println!("measured: {}: {turned_away} requests turned away; all of it took {took:.1?}", make.name);
    // All but those that a browser sends only to the page's own origin.
    assert!(turned_away > 5_000, "{turned_away} requests came to the hub and were turned away");
}

/// A third party's page tries everything at the port, by both of its names.
async fn reads_nothing(make: &Make, browser: &Browser, from: &str, port: u16, tokens: &[&str]) {
    for host in ["127.0.0.1", "localhost"] {
        let found = browser.attack(&format!("http://{host}:{port}"), tokens).await;
        println!("measured: {}: from {from} to {host}: {}", make.name, found["tried"]);
        assert!(found["tried"].as_u64() > Some(500), "{found}");
        assert_eq!((&found["read"], &found["texts"]), (&json!([]), &json!([])), "from {from} to {host}");
    }
}

#[tokio::test]
async fn planted_a_careless_port_is_read_and_reached_by_the_same_page_in_webkit() {
    a_careless_port_is_read_and_reached(&WEBKIT).await;
}

#[tokio::test]
async fn planted_a_careless_port_is_read_and_reached_by_the_same_page_in_chromium() {
    a_careless_port_is_read_and_reached(&CHROMIUM).await;
}

#[tokio::test]
async fn planted_a_careless_port_is_read_and_reached_by_the_same_page_in_firefox() {
    a_careless_port_is_read_and_reached(&FIREFOX).await;
}

/// If a port is careless, the same page can read it, and its requests arrive.
async fn a_careless_port_is_read_and_reached(make: &Make) {
    let began = Instant::now();
    let desktop = Desktop::with_servers(json!({})).await;
    let stranger = Careless::start().await;
    let browser = make.open(&desktop, &format!("http://127.0.0.1:{}/", stranger.port)).await;
    reads_and_reaches(&browser, "a server").await;
    browser.close().await;
    let browser = make.open_file(&desktop).await;
    reads_and_reaches(&browser, "a file").await;
    browser.close().await;
    println!("measured: {}: planted, all of it took {:.1?}", make.name, began.elapsed());
}

async fn reads_and_reaches(browser: &Browser, from: &str) {
    let careless = Careless::start().await;
    let found = browser.attack(&format!("http://127.0.0.1:{}", careless.port), &["", "guess"]).await;
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
        assert!(read.contains(&format!("\"{way}\"")), "from {from}: {way}: {read}");
    }
    let came = careless.came();
    for way in ["form-text/plain", "form-multipart/form-data", "beacon", "post-no-cors", "post-cors", "xhr"] {
        assert!(came.contains(way), "from {from}: {way}: {came:?}");
    }
}

/// The parts of a hub's state that the requests could have changed.
async fn state(home: &Home, fake: &Fake) -> Value {
    let mut all = vec![json!(home.config_text()), json!(fake.ledger().lines())];
    for words in [&["clients", "--json"][..], &["secrets", "list", "--json"]] {
        all.push(home.satchel(words).await.json());
    }
    let history = home.satchel(&["history", "--json"]).await.json();
    all.push(json!([history["calls"], history["sessions"]]));
    // A server's memory use, and the time until it sleeps, change by themselves.
    let list = home.satchel(&["list", "--json"]).await.json();
    let of = |server: &Value| {
        json!(
            ["name", "enabled", "startup", "held", "unseen", "runs", "sandbox", "starts", "calls"]
                .map(|part| &server[part])
        )
    };
    all.push(list["servers"].as_array().into_iter().flatten().map(of).collect());
    let log = home.satchel(&["audit", "--json"]).await.json();
    let records = log.as_array().into_iter().flatten().filter(|record| record["kind"] != "denied");
    all.push(records.cloned().collect());
    Value::Array(all)
}

/// The number of requests that the hub reports as refused at its exit.
async fn turned_away(home: &Home) -> u64 {
    let log = home.satchel(&["audit", "--json"]).await.json();
    let denied = log.as_array().into_iter().flatten().filter(|record| record["kind"] == "denied");
    let of = |record: &Value| {
        let (count, _) = record["detail"].as_str()?.split_once(" more requests were turned away")?;
        count.parse::<u64>().ok()
    };
    denied.map(|record| of(record).unwrap_or(1)).sum()
}

fn bearer(connection: &Connection) -> String {
    connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned()
}
