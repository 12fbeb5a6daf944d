//! A call that a rule wants a person asked about: the window comes up by itself and asks, the tray says so, and only a
//! considered yes is one.

use satchel_tests::{Client, Home, eventually};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{app::until_offered, desktop::Desktop};

const TOOL: &str = "toolbox:generate_uuid";
const ALLOW: &str = "[role=alertdialog] .act button:nth-of-type(2)";

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
async fn the_window_asks_and_a_considered_yes_lets_the_call_through() {
    let desktop = desktop().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;

    let called = call(&client);
    page.says("[role=alertdialog] h1", "editor wants to run generate_uuid").await;
    icon.line("editor asks to call toolbox:generate_uuid").await;
    let focused = page.run("return document.activeElement.textContent.trim()").await;
    assert_eq!(focused, "Do not allow", "whoever types on refuses");
    // Until the question could be read the button does nothing.
    let live = format!("return document.querySelector('{ALLOW}').getAttribute('aria-disabled') !== 'true'");
    eventually("the button does something", async || (page.run(&live).await == true).then_some(())).await;
    page.click(ALLOW).await;
    let answer = called.await.expect("the call ends");
    assert_ne!(answer.value()["isError"], true, "{}", answer.text());
    let gone = "return document.querySelector('[role=alertdialog]') === null";
    eventually("the question is gone", async || (page.run(gone).await == true).then_some(())).await;

    let called = call(&client);
    page.says("[role=alertdialog] h1", "editor wants to run generate_uuid").await;
    page.click("[role=alertdialog] [data-no]").await;
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
    page.close().await;
}

#[tokio::test]
async fn a_hidden_window_comes_up_to_ask() {
    let desktop = desktop().await;
    let _app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    assert!(!desktop.shows_satchel().await);
    let called = call(&client);
    eventually("the window comes up", async || desktop.shows_satchel().await.then_some(())).await;
    // Somebody answers at the terminal as well.
    let ask = desktop.home.satchel(&["asks", "--json"]).await.json()["asks"][0]["id"].to_string();
    desktop.home.satchel(&["answer", &ask, "no"]).await.succeeded();
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
}
