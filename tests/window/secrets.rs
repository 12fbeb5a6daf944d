//! A secret goes from the command line into the real keychain, and from there to the one server that names it.

use satchel_tests::{Fake, Home, process::Signal};
use serde_json::{Value, json};

use crate::{app::until_offered, desktop::Desktop};

const CANARY: &str = "canary-8d52-41e0-bb1f";

async fn desktop_with_a_server_that_needs_a_token() -> Desktop {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("TOKEN", "${secret:TOKEN}");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    Desktop::around(home).await
}

#[tokio::test]
async fn a_secret_lies_in_the_keychain_and_reaches_its_server() {
    let desktop = desktop_with_a_server_that_needs_a_token().await;
    let _keyring = desktop.start_keyring().await;
    let mut app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("TOKEN"), "{complaint}");

    desktop.home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await.succeeded();
    let listed = desktop.home.satchel(&["secrets", "list", "--json"]).await.json();
    assert_eq!(listed, json!({ "names": ["TOKEN"], "store": "keychain" }));
    let kept = desktop.secret_tool(&["service", "satchel"]).await;
    assert!(kept.contains(&format!("secret = {CANARY}")), "{kept}");

    until_offered(&client, "fake", true).await;
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

    // The connection to a keychain is ended in order, too.
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
    client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    page.says("[data-server=fake]", "Needs TOKEN").await;
    page.click("[data-server=fake] .action").await;
    page.write("input[type=password]", CANARY).await;
    page.click(".pane form button[type=submit]").await;
    until_offered(&client, "fake", true).await;
    let about = client.execute("fake:about", json!({ "env": ["TOKEN"] })).await.text();
    assert_eq!(serde_json::from_str::<Value>(&about).unwrap()["env"]["TOKEN"], CANARY);
    page.close().await;
}
