//! A server's setup in the real window: edited as it stands in the file, without a secret ever coming into the page, and
//! pinned to one version of its package.

use satchel_tests::{Fake, Registry, eventually};
use serde_json::{Value, json};

use crate::{app::until_offered, desktop::Desktop, page::switch};

const CANARY: &str = "canary-8d20-44f1-b7c6";

#[tokio::test]
async fn editing_an_entry_keeps_its_secrets_hidden_and_unchanged() {
    let desktop = Desktop::with_servers(json!({})).await;
    let fake = Fake::new(&desktop.home, "fake").env("A_TOKEN", CANARY).env("LEVEL", "low");
    desktop.home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "fake", true).await;
    // While the server is being reconfigured, it reports nothing.
    let environment = async || {
        let about = client.execute("fake:about", json!({ "env": ["A_TOKEN", "LEVEL"] })).await.text();
        Some(serde_json::from_str::<Value>(&about).ok()?["env"].clone())
    };
    assert_eq!(environment().await, Some(json!({ "A_TOKEN": CANARY, "LEVEL": "low" })));

    page.run("location.hash = '#/servers/fake/setup'").await;
    page.says(".pane pre", "••••••••").await;
    page.click(".pane section[aria-labelledby$='-entry'] h3 button").await;
    let write = "const area = document.querySelector('.pane section textarea:not([rows=\"2\"])'); \
                 area.value = area.value.replace('\"low\"', '\"high\"'); \
                 area.dispatchEvent(new Event('input', { bubbles: true })); return area.value;";
    let written = page.run(write).await.to_string();
    assert!(written.contains("high") && !written.contains(CANARY), "{written}");
    page.click(".pane section[aria-labelledby$='-entry'] .hands button.primary").await;
    eventually("it runs with what was written", async || {
        (environment().await? == json!({ "A_TOKEN": CANARY, "LEVEL": "high" })).then_some(())
    })
    .await;
    page.says(".pane pre", "\"high\"").await;
    let shown = page.run("return document.documentElement.outerHTML").await.to_string();
    assert!(!shown.contains(CANARY), "the page never had the secret");
    page.close().await;
}

/// S33.
#[tokio::test]
async fn a_package_that_floats_is_pinned_with_one_button_and_other_contents_of_it_wait_for_a_look() {
    let desktop = Desktop::with_servers(json!({})).await;
    let registry = Registry::of(&desktop.home);
    let mut entry = registry.entry(Fake::new(&desktop.home, "fake"), "npx", &["-y", "@scope/server"]);
    entry["command"] = json!(desktop.home.file("bin/npx"));
    desktop.home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    registry.has(&[("@scope/server", "1.2.3", "first")]);
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "fake", true).await;
    page.run("location.hash = '#/servers/fake'").await;
    page.says(".pane .floats", "Pin to 1.2.3").await;
    page.click(".pane .floats button").await;
    page.says(".pane .facts", "1.2.3 · no other version runs").await;
    page.says(".pane .facts", "sha512-first").await;
    let args = desktop.home.config()["mcpServers"]["fake"]["args"].clone();
    assert_eq!(args[1], "@scope/server@1.2.3", "{args}");
    until_offered(&client, "fake", true).await;

    registry.has(&[("@scope/server", "1.2.3", "other")]);
    registry.fetch_now();
    desktop.home.satchel(&["restart", "fake"]).await;
    page.says(".pane .who", "contents changed").await;
    page.run("location.hash = '#/servers/fake/tools'").await;
    page.says(".pane .boxes", "changed without a new version").await;
    page.says(".pane .boxes", "Package @scope/server 1.2.3").await;
    page.says(".pane .boxes del", "sha512-first").await;
    page.says(".pane .boxes ins", "sha512-other").await;
    page.agree(".pane .boxes").await;
    until_offered(&client, "fake", true).await;
    page.run("location.hash = '#/servers/fake'").await;
    page.says(".pane .facts", "sha512-other").await;
    page.close().await;
}

#[tokio::test]
async fn a_table_of_toml_is_understood_and_added() {
    let desktop = Desktop::with_servers(json!({})).await;
    let page = desktop.open_window(&[]).await;
    page.says("main", "Nothing in the satchel yet").await;
    page.click("main .empty button:last-of-type").await;
    page.find("dialog textarea").await;
    page.run(
        "const area = document.querySelector('dialog textarea'); \
         area.value = '[mcp_servers.docs]\\nurl = \"http://127.0.0.1:9/mcp\"\\n'; \
         area.dispatchEvent(new Event('input', { bubbles: true }));",
    )
    .await;
    page.says("dialog", "http://127.0.0.1:9/mcp").await;
    page.agree("dialog").await;
    page.find(&switch("docs")).await;
    page.close().await;
}

#[tokio::test]
async fn a_server_that_was_removed_comes_back_as_it_was() {
    let desktop = Desktop::with_servers(json!({})).await;
    let fake = Fake::new(&desktop.home, "fake").env("A_TOKEN", CANARY);
    desktop.home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "fake", true).await;
    page.run("location.hash = '#/servers/fake'").await;
    page.click(".pane .hands button[aria-haspopup]").await;
    page.click("[role=menuitem]:last-of-type").await;
    page.click("dialog button.danger").await;
    until_offered(&client, "fake", false).await;
    page.says("main", "Nothing in the satchel yet").await;
    // The list becomes empty a moment before the page receives its answer.
    page.find("button[title='Ctrl Z']").await;
    page.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true }))").await;
    until_offered(&client, "fake", true).await;
    eventually("it has what it had", async || {
        let about = client.execute("fake:about", json!({ "env": ["A_TOKEN"] })).await.text();
        (serde_json::from_str::<Value>(&about).ok()?["env"]["A_TOKEN"] == CANARY).then_some(())
    })
    .await;
    page.close().await;
}
