//! What the hub says of costs is measured: tokens of definitions, memory of process trees.

use satchel_tests::{Fake, Home, eventually};
use serde_json::json;

#[tokio::test]
async fn tokens_are_counted_once_and_known_after_a_restart() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let tokens =
        eventually("its tokens are counted", async || hub.server("fake").await["tokens"].as_u64()).await;
    // A definition has some words at least, and is no novel.
    let tools = hub.server("fake").await["tools"].as_u64().expect("its tools are known");
    assert!((tools * 10..tools * 1000).contains(&tokens), "{tokens} tokens for {tools} tools");
    hub.terminate().await;
    let hub = home.start_hub().await;
    assert_eq!(hub.server("fake").await["tokens"], tokens);
}

#[tokio::test]
async fn a_running_servers_whole_tree_is_measured() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--grandchild"]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    let usage = eventually("its processes are measured", async || {
        let usage = hub.server("fake").await["usage"].clone();
        (usage["memory_bytes"].as_u64()? > 0).then_some(usage)
    })
    .await;
    assert!(usage["processes"].as_u64().is_some_and(|processes| processes >= 1), "{usage}");
    let status = hub.status().await;
    assert!(status["avoided"]["formula"].as_str().is_some_and(|formula| !formula.is_empty()), "{status}");
}
