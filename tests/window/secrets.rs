//! A secret goes from the command line into the real keychain, and from there to the one server that names it.

use satchel_tests::{Fake, Home, eventually, process::Signal};
use serde_json::{Value, json};

use crate::{
    asking::{YES, call, live},
    desktop::Desktop,
};

const CANARY: &str = "canary-8d52-41e0-bb1f";

async fn desktop_with_a_server_that_needs_a_token() -> Desktop {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("TOKEN", "${secret:TOKEN}");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    Desktop::around(home).await
}

#[tokio::test]
async fn a_secret_is_in_the_keychain_and_reaches_its_server() {
    let desktop = desktop_with_a_server_that_needs_a_token().await;
    let _keyring = desktop.start_keyring().await;
    let mut app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    let waiting = call(&client, "fake:echo", json!({ "text": "x" }));
    eventually("it is asked", async || {
        let asks = desktop.home.satchel(&["asks"]).await.stdout;
        asks.contains("TOKEN").then_some(())
    })
    .await;

    desktop.home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await.succeeded();
    let listed = desktop.home.satchel(&["secrets", "list", "--json"]).await.json();
    assert_eq!(listed, json!({ "names": ["TOKEN"], "store": "keychain", "locked": false }));
    let kept = desktop.secret_tool(&["service", "satchel"]).await;
    assert!(kept.contains(&format!("secret = {CANARY}")), "{kept}");

    assert_eq!(waiting.await.expect("the call ends").text(), "x", "the call went on");
    let about = client.execute("fake:about", json!({ "env": ["TOKEN"] })).await.text();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["env"]["TOKEN"], CANARY);
    let plain = |(path, bytes): &(std::path::PathBuf, Vec<u8>)| {
        let holds = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        holds.then(|| path.clone())
    };
    assert_eq!(
        desktop.home.files().iter().filter_map(plain).collect::<Vec<_>>(),
        Vec::<std::path::PathBuf>::new()
    );

    desktop.home.satchel(&["secrets", "rm", "TOKEN"]).await.succeeded();
    assert!(!desktop.secret_tool(&["service", "satchel"]).await.contains(CANARY));

    // The keychain connection is closed cleanly, too.
    app.signal(Signal::TERM);
    assert_eq!(app.ended().await.code(), Some(0), "{}", desktop.said());
    assert!(!desktop.said().contains("panicked"), "{}", desktop.said());
}

#[tokio::test]
async fn a_missing_credential_is_given_in_the_window() {
    let desktop = desktop_with_a_server_that_needs_a_token().await;
    let _keyring = desktop.start_keyring().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    let waiting = call(&client, "fake:echo", json!({ "text": "x" }));
    page.says("[data-server=fake]", "Needs TOKEN").await;
    page.click("[data-server=fake] .action").await;
    page.write("input[type=password]", CANARY).await;
    page.click(".pane form button[type=submit]").await;
    assert_eq!(waiting.await.expect("the call ends").text(), "x", "the call went on");
    let about = client.execute("fake:about", json!({ "env": ["TOKEN"] })).await.text();
    assert_eq!(serde_json::from_str::<Value>(&about).unwrap()["env"]["TOKEN"], CANARY);
    page.close().await;
}

#[tokio::test]
async fn a_call_waits_until_a_missing_secret_is_typed_into_a_masked_field() {
    let desktop = desktop_with_a_server_that_needs_a_token().await;
    let _keyring = desktop.start_keyring().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    let waiting = call(&client, "fake:about", json!({ "env": ["TOKEN"] }));
    page.to_questions().await;
    page.says("[role=alertdialog] h1", "fake needs a credential").await;
    page.says("[role=alertdialog]", "while working for editor").await;
    page.write("[role=alertdialog] input[type=password]", CANARY).await;
    // It is neither in the visible text nor in the page's markup.
    let shown = page.run("return document.body.innerText + document.documentElement.outerHTML").await;
    assert!(!shown.to_string().contains(CANARY), "{shown}");
    live(&page, YES).await;
    page.click(YES).await;
    let about = waiting.await.expect("the call ends").text();
    assert_eq!(serde_json::from_str::<Value>(&about).expect("JSON")["env"]["TOKEN"], CANARY);
    page.to_first_and_only().await;
    let shown = page.run("return document.documentElement.outerHTML").await;
    assert!(!shown.to_string().contains(CANARY), "{shown}");
    let kept = desktop.secret_tool(&["service", "satchel"]).await;
    assert!(kept.contains(&format!("secret = {CANARY}")), "{kept}");
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    let plain: Vec<_> = desktop.home.files().into_iter().filter(|(_, bytes)| holds(bytes)).collect();
    assert_eq!(plain.iter().map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&std::path::PathBuf>::new());
    assert!(!desktop.said().contains(CANARY));
    page.close().await;
}
