//! Switching a server off hides and stops it; switching it on shows it again at once, from what is known.

use satchel_tests::{Fake, Home, eventually, process};
use serde_json::json;

use crate::offered;

#[tokio::test]
async fn off_hides_and_stops_and_on_shows_at_once() {
    let home = Home::empty();
    let (fake, other) = (Fake::new(&home, "fake"), Fake::new(&home, "other"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry(), "other": other.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    client.execute("fake:echo", json!({ "text": "x" })).await.text();
    let pid = *fake.ledger().starts().last().expect("it was started");

    home.satchel(&["disable", "fake"]).await.succeeded();
    assert!(!client.paths("echo").await.contains(&"fake:echo".to_owned()), "hidden");
    eventually("its process ends", async || (!process::is_alive(pid)).then_some(())).await;
    hub.until("fake", "off").await;
    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("fake") && complaint.contains("off"), "{complaint}");
    assert!(complaint.contains("satchel enable fake"), "it says what to do: {complaint}");
    offered(&client, "other:echo").await;

    let starts = fake.ledger().starts().len();
    home.satchel(&["enable", "fake"]).await.succeeded();
    assert!(client.paths("echo").await.contains(&"fake:echo".to_owned()), "shown at once");
    assert_eq!(fake.ledger().starts().len(), starts, "without starting it");
    assert_eq!(client.execute("fake:echo", json!({ "text": "again" })).await.text(), "again");
}

#[tokio::test]
async fn a_call_under_way_ends_in_words_when_its_server_is_switched_off() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let call = tokio::task::JoinSet::from_iter([{
        let client = client.clone();
        async move { client.execute("fake:sleep", json!({ "ms": 600_000 })).await.complaint() }
    }]);
    eventually("the call is under way", async || (hub.server("fake").await["in_flight"] == 1).then_some(()))
        .await;
    home.satchel(&["disable", "fake"]).await.succeeded();
    let complaint = call.join_all().await.remove(0);
    assert!(complaint.contains("fake"), "{complaint}");
}

#[tokio::test]
async fn unknown_fields_stay_in_the_file() {
    let home = Home::empty();
    let text = r#"{"$schema":"https://example.com/s.json","zebra":[1,{"b":2,"a":1}],"mcpServers":{"b":{"command":"satchel","args":["toolbox"],"autoApprove":["x"],"note":null},"a":{"command":"satchel","args":["toolbox"],"type":"stdio"}},"theme":{"x":1e2}}"#;
    home.write_config_text(text);
    let _hub = home.start_hub().await;
    home.satchel(&["disable", "b"]).await.succeeded();
    assert_eq!(home.config()["mcpServers"]["b"]["enabled"], false);
    home.satchel(&["enable", "b"]).await.succeeded();
    let before: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(home.config().to_string(), before.to_string(), "every field, in its order");
}
