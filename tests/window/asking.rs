//! A call that a rule wants a person asked about: the window comes up by itself.

use satchel_tests::{Client, Home};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{app::until_offered, desktop::Desktop};

const TOOL: &str = "toolbox:generate_uuid";

async fn desktop() -> Desktop {
    let home = Home::empty();
    home.write_config(&json!({
        "toolRules": [{ "tool": TOOL, "permit": "ask" }],
        "mcpServers": { "toolbox": { "command": "satchel", "args": ["toolbox"] } },
    }));
    Desktop::around(home).await
}

fn call(client: &Client) -> JoinHandle<satchel_tests::Answer> {
    let client = client.clone();
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    tokio::spawn(async move { client.execute(TOOL, json!({})).await })
}

#[tokio::test]
async fn a_hidden_window_comes_up_to_ask() {
    let desktop = desktop().await;
    let _app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    assert!(!desktop.shows_satchel().await);
    let called = call(&client);
    satchel_tests::eventually("the window comes up", async || desktop.shows_satchel().await.then_some(()))
        .await;
    // Somebody answers at the terminal as well.
    let ask = desktop.home.satchel(&["asks", "--json"]).await.json()["asks"][0]["id"].to_string();
    desktop.home.satchel(&["answer", &ask, "no"]).await.succeeded();
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
}
