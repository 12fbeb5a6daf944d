//! A server from a registry in the real window: found, shown as text, installed with what it needs, updated.

use std::process::Stdio;

use satchel_tests::{eventually, python, repository, target_directory};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::desktop::Desktop;

async fn registry(desktop: &Desktop) -> (Child, String) {
    let mut command = desktop.home.command(python());
    let server = repository().join("tests/registry/server.py");
    command
        .arg(server)
        .env("PYTHONPYCACHEPREFIX", target_directory().join("tmp/python"))
        .stdout(Stdio::piped());
    let mut process = command.spawn().expect("python starts");
    let stdout = process.stdout.take().expect("its output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
    let ready: Value = serde_json::from_str(&line.expect("it says where it listens")).expect("it is JSON");
    (process, ready["url"].as_str().expect("it has an address").to_owned())
}

#[tokio::test]
async fn a_server_of_a_registry_is_found_installed_and_updated_in_the_window() {
    let desktop = Desktop::with_servers(json!({})).await;
    let (_registry, url) = registry(&desktop).await;
    desktop.home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": url }] }));
    desktop.home.trust_config().await;
    desktop.home.satchel(&["install", "--yes", "io.github.adalovelace/ledger@1.1.0"]).await.succeeded();
    let page = desktop.open_window(&[]).await;
    desktop.home.satchel_reading(&["secrets", "use-file"], "correct horse battery\n").await.succeeded();
    page.run("location.hash = '#/catalog'").await;
    page.says("section[aria-label='From registries'] h2", "272 known").await;
    page.write("input[type=search], .search input", "h-script").await;
    page.says("section[aria-label='From registries'] li", "<script>alert(2)</script>").await;
    let elements =
        "return document.querySelectorAll('section[aria-label=\"From registries\"] :is(script, img)').length";
    assert_eq!(page.run(elements).await, json!(0), "a description is text");

    page.run("location.hash = '#/catalog/io.github.brook-tools%2Fweather'").await;
    page.says(".pane dl", "npx -y brook-tools-weather-mcp@1.0.6").await;
    page.says(".pane dl", "REGION=eu").await;
    assert_eq!(
        page.run("return document.querySelector('.pane button[type=submit]').disabled").await,
        json!(true)
    );
    page.write(".pane input[type=password]", "canary-61b2").await;
    page.click(".pane button[type=submit]").await;
    eventually("it is installed", async || {
        let entry = desktop.home.config()["mcpServers"]["weather"].clone();
        entry["env"]["API_KEY"].as_str().is_some_and(|text| text.starts_with("${secret:")).then_some(())
    })
    .await;

    eventually("the window goes to it", async || {
        (page.run("return location.hash").await == json!("#/servers/weather")).then_some(())
    })
    .await;
    page.run("location.hash = '#/servers/ledger'").await;
    page.says("section[aria-label='Update']", "Version 1.2.0 is available. You have 1.1.0.").await;
    page.click("section[aria-label='Update'] button").await;
    page.says("section[aria-label='Update']", "now ada-ledger-mcp@1.2.0").await;
    page.click("section[aria-label='Update'] button.primary").await;
    eventually("it is updated", async || {
        let args = desktop.home.config()["mcpServers"]["ledger"]["args"].clone();
        (args == json!(["-y", "ada-ledger-mcp@1.2.0"])).then_some(())
    })
    .await;

    // And back, from the bar that offers it.
    page.click("[data-undo] button").await;
    eventually("the update is taken back", async || {
        let args = desktop.home.config()["mcpServers"]["ledger"]["args"].clone();
        (args == json!(["-y", "ada-ledger-mcp@1.1.0"])).then_some(())
    })
    .await;
    page.says("section[aria-label='Update']", "Version 1.2.0 is available. You have 1.1.0.").await;
    page.close().await;
}
