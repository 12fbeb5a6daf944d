//! What was found and then used is found a little sooner by similar words, until somebody forgets it or switches it off.

use satchel_tests::{Client, Fake, Home, eventually};
use serde_json::{Value, json};

const SEARCH: &str = "say a text back to me";

/// Two servers that offer the same tools, so that they match equally well.
fn twins(home: &Home) -> Value {
    json!({ "alpha": Fake::new(home, "alpha").entry(), "beta": Fake::new(home, "beta").entry() })
}

async fn both(client: &Client) {
    crate::offered(client, "alpha:echo").await;
    crate::offered(client, "beta:echo").await;
}

/// The first two tools of a search, which are the twins.
async fn first(client: &Client, search: &str) -> String {
    let paths = client.paths(search).await;
    assert!(
        paths[..2].contains(&"alpha:echo".into()) && paths[..2].contains(&"beta:echo".into()),
        "{paths:?}"
    );
    paths[0].clone()
}

#[tokio::test]
async fn a_used_tool_ranks_higher_until_habits_are_deleted() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": twins(&home) }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    both(&client).await;
    assert_eq!(first(&client, SEARCH).await, "alpha:echo");
    for _ in 0..3 {
        client.execute("beta:echo", json!({ "text": "x" })).await.text();
    }
    assert_eq!(first(&client, SEARCH).await, "beta:echo");
    assert_eq!(first(&client, "say some text back").await, "beta:echo", "similar words");
    assert_eq!(first(&hub.client("two").await, SEARCH).await, "beta:echo", "of whoever asks here");
    assert_eq!(first(&client, "echo").await, "alpha:echo", "other words");
    // Words with too little in common with the tool no longer lead to it.
    assert_eq!(client.paths("sleep").await[0], "alpha:sleep");

    let said = home.satchel(&["tools", SEARCH, "--explain"]).await.succeeded().stdout.clone();
    assert!(said.contains("used 3 times after similar searches"), "{said}");
    assert!(said.find("beta:echo") < said.find("alpha:echo"), "{said}");

    hub.terminate().await;
    let hub = home.start_hub().await;
    let client = hub.client("three").await;
    both(&client).await;
    assert_eq!(first(&client, SEARCH).await, "beta:echo", "a restart forgets nothing");

    home.satchel(&["history", "learn", "off"]).await.succeeded();
    assert_eq!(first(&client, SEARCH).await, "alpha:echo");
    home.satchel(&["history", "learn", "on"]).await.succeeded();
    assert_eq!(first(&client, SEARCH).await, "beta:echo");

    home.satchel(&["history", "forget"]).await.succeeded();
    assert_eq!(first(&client, SEARCH).await, "alpha:echo");
    assert!(!home.file("data/habits.json").exists());
    client.execute("beta:echo", json!({ "text": "x" })).await.text();
    assert_eq!(first(&client, SEARCH).await, "beta:echo", "it learns anew");
    eventually("it is written", async || home.file("data/habits.json").exists().then_some(())).await;
    let text = std::fs::read_to_string(home.file("data/habits.json")).expect("it can be read");
    assert!(!text.contains("say") && !text.contains("text"), "no words of a search are in it: {text}");
    home.satchel_agreeing(&["history", "clear"]).await.succeeded();
    assert_eq!(first(&client, SEARCH).await, "alpha:echo", "the history is deleted with all that came of it");
    assert!(!home.file("data/habits.json").exists());
}

#[tokio::test]
async fn failed_or_unsearched_calls_teach_nothing() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": twins(&home) }));
    let hub = home.start_hub().await;
    let (client, other) = (hub.client("one").await, hub.client("two").await);
    both(&client).await;
    first(&client, SEARCH).await;
    // Another client did not search for it; and a failed call teaches nothing.
    other.execute("beta:echo", json!({ "text": "x" })).await.text();
    client.execute("beta:echo", json!({ "text": { "no": "text" } })).await.complaint();
    client.execute("beta:odd", json!({ "which": "nothing" })).await.complaint();
    assert_eq!(first(&client, SEARCH).await, "alpha:echo");
    home.edit_config(|config| config["history"] = json!({ "record": false }));
    // Another hand's change waits for a person, once the hub has read it.
    eventually("nothing is recorded any more", async || {
        home.satchel_agreeing(&["approve", "--settings"]).await;
        let config = home.satchel(&["stats", "--json"]).await.json();
        client.execute("beta:echo", json!({ "text": "x" })).await.text();
        let after = home.satchel(&["stats", "--json"]).await.json();
        (config["totals"]["calls"] == after["totals"]["calls"]).then_some(())
    })
    .await;
    home.satchel(&["history", "forget"]).await.succeeded();
    first(&client, SEARCH).await;
    client.execute("beta:echo", json!({ "text": "x" })).await.text();
    assert_eq!(first(&client, SEARCH).await, "alpha:echo", "where nothing is recorded nothing is learned");
}

#[tokio::test]
async fn a_damaged_file_is_moved_aside_and_reported() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": twins(&home) }));
    std::fs::create_dir_all(home.file("data")).expect("the home can be written to");
    std::fs::write(home.file("data/habits.json"), "{\"format\": 1, \"habi").expect("it can be written");
    let hub = home.start_hub().await;
    let status = hub.status().await;
    assert!(status["notices"].to_string().contains("habits.json.damaged-"), "{status}");
    let client = hub.client("one").await;
    both(&client).await;
    assert_eq!(first(&client, SEARCH).await, "alpha:echo");
    home.satchel_agreeing(&["history", "clear"]).await.succeeded();
    let left = home.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains("habits.json"));
    assert_eq!(left.count(), 0, "what was set aside is deleted too");
}
