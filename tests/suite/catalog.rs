//! What is known of every tool: what it does, since when, and when it changed; and how that stays true.

use satchel_tests::{Fake, Home, eventually};
use serde_json::{Value, json};

async fn tool(home: &Home, path: &str) -> Option<Value> {
    let list = home.satchel(&["tools", "--json"]).await.json();
    list["tools"].as_array()?.iter().find(|tool| tool["tool_path"] == path).cloned()
}

async fn inside(home: &Home, server: &str) -> Value {
    let status = home.satchel(&["status", "--debug", "--json"]).await.json();
    let servers = status["servers"].as_array().cloned().unwrap_or_default();
    servers.into_iter().find(|one| one["name"] == server).unwrap_or_default()
}

#[tokio::test]
async fn an_unannounced_change_is_found_and_every_tool_keeps_its_history() {
    let home = Home::empty();
    let words = home.file("words");
    let fake = Fake::new(&home, "fake")
        .behaving(&["--words", words.to_str().expect("paths are UTF-8")])
        .with("refreshInterval", json!("1s"))
        .with("startup", json!("keep-alive"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    let before = tool(&home, "fake:echo").await.expect("it is listed");
    assert_eq!(
        (&before["version"], &before["changed_ms"], &before["category"], &before["complexity"]),
        (&json!(1), &Value::Null, &json!("other"), &json!("simple")),
        "{before}"
    );
    assert!(before["first_seen_ms"].as_u64().is_some_and(|ms| ms > 1_600_000_000_000), "{before}");

    std::fs::write(&words, "Says a text back, twice if need be.").expect("the home can be written to");
    crate::approvals::approve_once_held(&home, "fake", "echo").await;
    let after = eventually("it is offered as it is now", async || {
        tool(&home, "fake:echo").await.filter(|tool| tool["version"] == 2)
    })
    .await;
    assert_eq!(after["first_seen_ms"], before["first_seen_ms"]);
    assert!(after["changed_ms"].as_u64() >= before["first_seen_ms"].as_u64(), "{after}");
    let discovery = inside(&home, "fake").await["discovery"].clone();
    let tools = hub.server("fake").await["tools"].clone();
    assert_eq!(
        (&discovery["added"], &discovery["changed"], &discovery["removed"]),
        (&tools, &json!(1), &json!(0)),
        "{discovery}"
    );
    let log = home.satchel(&["logs", "fake"]).await.succeeded().stdout.clone();
    assert!(log.contains("its tools changed: 1 changed (echo)"), "{log}");
    let long = home.satchel(&["tools", "--long"]).await.succeeded().stdout.clone();
    assert!(long.contains("KNOWN SINCE") && long.contains("(version 2)"), "{long}");

    hub.terminate().await;
    let _hub = home.start_hub().await;
    let again = tool(&home, "fake:echo").await.expect("it is listed");
    for field in ["version", "first_seen_ms", "changed_ms"] {
        assert_eq!(again[field], after[field], "a restart forgets nothing of {field}");
    }
}

#[tokio::test]
async fn reading_lists_again_wakes_no_server() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").with("refreshInterval", json!("1s")).with("idleTimeout", json!("4s"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    eventually("it is read again while it is awake", async || {
        client.execute("fake:echo", json!({ "text": "x" })).await.text();
        let read = inside(&home, "fake").await["discovery"]["completed"].as_u64();
        (read >= Some(2)).then_some(())
    })
    .await;
    hub.until("fake", "asleep").await;
    let (read, starts) =
        (inside(&home, "fake").await["discovery"]["completed"].clone(), fake.ledger().starts().len());
    // Three times as long as lists are cached.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(inside(&home, "fake").await["discovery"]["completed"], read);
    assert_eq!(fake.ledger().starts().len(), starts);
}
