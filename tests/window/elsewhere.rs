//! Another hub has the data directory: the app says who, and takes over when it is gone.

use crate::{app::until_offered, desktop::Desktop, page::switch};

#[tokio::test]
async fn a_hub_without_a_window_is_named_and_can_be_followed() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let hub = desktop.home.start_hub().await;
    // Even at login, because nothing else would explain why this app shows no servers.
    let page = desktop.open_page(&["--port", "0", "--hidden"]).await;
    page.says("main", "Another Satchel is serving").await;
    page.says("main", &format!("Process {}", hub.pid)).await;
    page.says("main", &hub.url).await;
    let icon = panel.icon().await;
    icon.line("Another Satchel is serving").await;
    // The other hub's clients continue.
    let client = hub.client("editor").await;
    until_offered(&client, "toolbox", true).await;

    hub.terminate().await;
    page.click("main [role=alert] button").await;
    page.find(&switch("toolbox")).await;
    icon.line("Satchel is on").await;
    page.close().await;
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_does_not_end_the_app() {
    let desktop = Desktop::new().await;
    desktop.home.write_config_text("{ \"mcpServers\": { \"a\": ");
    let page = desktop.open_window(&[]).await;
    page.says("main", "config.json").await;
    assert!(page.is_open().await);
    page.close().await;
}
