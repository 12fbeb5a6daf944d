//! A switch in the tray or the window changes what clients see, and every face follows.

use satchel_tests::{Fake, Home};
use serde_json::json;

use crate::{app::until_offered, desktop::Desktop, page::switch};

#[tokio::test]
async fn the_tray_hides_a_server_from_clients_and_shows_it_again() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    icon.line("Satchel is on").await;
    assert_eq!(icon.line("toolbox").await.ticked, Some(true));

    icon.click("toolbox").await;
    until_offered(&client, "toolbox", false).await;
    icon.until("toolbox", |line| line.ticked == Some(false)).await;
    assert_eq!(desktop.home.config()["mcpServers"]["toolbox"]["enabled"], false);

    icon.click("toolbox").await;
    until_offered(&client, "toolbox", true).await;
    icon.until("toolbox", |line| line.ticked == Some(true)).await;
}

#[tokio::test]
async fn the_windows_switch_hides_a_server_from_clients_and_the_tray_follows() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    page.says("[data-server=toolbox]", "8 tools").await;
    page.has(&switch("toolbox"), "aria-checked", "true").await;
    page.has(&switch("toolbox"), "aria-label", "toolbox, available to clients").await;

    page.click(&switch("toolbox")).await;
    until_offered(&client, "toolbox", false).await;
    page.has(&switch("toolbox"), "aria-checked", "false").await;
    page.says("[data-server=toolbox]", "Off · hidden from clients").await;
    icon.until("toolbox", |line| line.ticked == Some(false)).await;

    icon.click("toolbox").await;
    page.has(&switch("toolbox"), "aria-checked", "true").await;
    until_offered(&client, "toolbox", true).await;
    page.close().await;
}

#[tokio::test]
async fn a_profile_chosen_in_the_tray_or_the_window_is_what_clients_see() {
    let home = Home::empty();
    let toolbox = json!({ "command": "satchel", "args": ["toolbox"] });
    let servers = json!({ "fake": Fake::new(&home, "fake").entry(), "toolbox": toolbox });
    home.write_config(&json!({ "mcpServers": servers }));
    let desktop = Desktop::around(home).await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "fake", true).await;
    assert!(!icon.text().await.contains("Profile"), "{}", icon.text().await);

    desktop.home.satchel(&["profile", "add", "Few", "toolbox"]).await.succeeded();
    icon.line("Profile: Everything").await;
    assert_eq!(icon.line("Everything").await.ticked, Some(true));
    icon.click("Few").await;
    until_offered(&client, "fake", false).await;
    until_offered(&client, "toolbox", true).await;
    icon.until("Few", |line| line.ticked == Some(true)).await;
    assert_eq!(icon.line("Everything").await.ticked, Some(false));
    page.says("[data-server=fake]", "Not in profile").await;
    assert_eq!(page.run("return document.querySelector('header select').value").await, "Few");

    page.run(
        "const select = document.querySelector('header select');
         select.value = '';
         select.dispatchEvent(new Event('change', { bubbles: true }));",
    )
    .await;
    until_offered(&client, "fake", true).await;
    icon.line("Profile: Everything").await;
    icon.until("Few", |line| line.ticked == Some(false)).await;
    assert!(desktop.home.config().get("activeProfile").is_none());
    page.close().await;
}

#[tokio::test]
async fn a_call_is_seen_in_the_window_and_the_tray() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;

    page.click("[data-server=toolbox] .name a").await;
    let made = client.execute("toolbox:generate_uuid", json!({})).await;
    assert_ne!(made.value()["isError"], true, "{}", made.text());
    page.says("[data-server=toolbox]", "Running").await;
    page.says(".numbers", "1\ncall in 24 h").await;
    page.find("[data-server=toolbox] svg[aria-label='1 call in the last 24 hours']").await;
    icon.line("toolbox — awake").await;
    page.close().await;
}

#[tokio::test]
async fn a_pause_in_the_tray_refuses_calls_until_it_is_ended_there() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    icon.line("Satchel is on").await;
    icon.click("Until Tomorrow").await;
    icon.line("Satchel is paused").await;
    let refused = client.execute("toolbox:generate_uuid", json!({})).await;
    assert!(refused.complaint().contains("paused"), "{refused:?}");
    assert!(!icon.text().await.contains("Until Tomorrow"), "{}", icon.text().await);

    icon.click("Resume").await;
    icon.line("Satchel is on").await;
    let made = client.execute("toolbox:generate_uuid", json!({})).await;
    assert_ne!(made.value()["isError"], true, "{}", made.text());
}

#[tokio::test]
async fn the_menu_grows_and_shrinks_in_place() {
    let home = Home::empty();
    let servers: serde_json::Map<_, _> = (0..14)
        .map(|at| {
            let name = format!("s{at:02}");
            let entry = Fake::new(&home, &name).with("enabled", json!(at % 2 == 0)).entry();
            (name, entry)
        })
        .collect();
    home.write_config(&json!({ "mcpServers": servers }));
    let desktop = Desktop::around(home).await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    icon.line("2 more in the window…").await;
    assert_eq!(icon.line("s11").await.ticked, Some(false));
    assert!(!icon.text().await.contains("s12"), "{}", icon.text().await);

    for gone in ["s00", "s01", "s02"] {
        desktop.home.satchel(&["remove", gone]).await.succeeded();
    }
    icon.line("s13").await;
    let settled = async || (!icon.text().await.contains("s02")).then_some(());
    satchel_tests::eventually("the last of them is gone from the menu", settled).await;
    let menu = icon.text().await;
    assert!(!menu.contains("s00") && !menu.contains("more in the window"), "{menu}");
    let names = menu.lines().filter_map(|line| line.trim_start_matches(['✓', ' ']).split(' ').next());
    let names: Vec<&str> = names.filter(|name| name.starts_with('s') && name.len() == 3).collect();
    assert!(names.is_sorted() && names.len() == 11, "{menu}");
    // Menu items are reused, and a click applies to the server the item shows.
    icon.click("s13").await;
    icon.until("s13", |line| line.ticked == Some(true)).await;
    assert_ne!(desktop.home.config()["mcpServers"]["s13"]["enabled"], false);
}

#[tokio::test]
async fn a_server_that_needs_a_person_leads_to_the_window() {
    let broken = json!({ "command": "satchel-test-no-such-program", "startup": "eager" });
    let desktop = Desktop::with_servers(json!({ "broken_one": broken })).await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    icon.click("broken_one: could not start…").await;
    page.says(".pane", "broken_one could not start").await;
    page.says(".pane", "satchel-test-no-such-program").await;
    page.has("nav .waiting", "title", "1 needs you").await;
    page.close().await;
}

#[tokio::test]
async fn the_icon_changes_its_shape_when_something_needs_a_person() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    icon.line("Satchel is on").await;
    assert_eq!(icon.title().await, "Satchel");
    let at_rest = icon.picture().await;
    let broken = json!({ "command": "satchel-test-no-such-program", "startup": "eager" });
    desktop.home.edit_config(|config| config["mcpServers"]["broken"] = broken);
    satchel_tests::eventually("the new entry can be approved", async || {
        (desktop.home.satchel_agreeing(&["approve", "broken"]).await.code == Some(0)).then_some(())
    })
    .await;
    icon.line("broken: could not start…").await;
    let changed = async || (icon.picture().await != at_rest).then_some(());
    satchel_tests::eventually("the icon is another", changed).await;
}

#[tokio::test]
async fn the_endpoints_address_can_be_copied_from_the_tray() {
    let desktop = Desktop::new().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    icon.until("Copy Endpoint Address", |line| line.enabled).await;
    icon.click("Copy Endpoint Address").await;
    page.click("header button.primary").await;
    let pasted = page.paste("textarea").await;
    let running = std::fs::read_to_string(desktop.home.file("data/hub.json")).unwrap();
    let running: serde_json::Value = serde_json::from_str(&running).unwrap();
    assert_eq!(pasted, running["url"]);
    page.close().await;
}

#[tokio::test]
async fn a_server_added_in_the_window_serves_clients() {
    let desktop = Desktop::with_servers(json!({})).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    page.says("main", "Nothing in the satchel yet").await;
    let fake = Fake::new(&desktop.home, "fake");
    page.click("main .empty button:last-of-type").await;
    page.write("textarea", &json!({ "mcpServers": { "fake": fake.entry() } }).to_string()).await;
    page.agree("dialog").await;
    until_offered(&client, "fake", true).await;
    page.says("[data-server=fake]", "tools").await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "hello" })).await.text(), "hello");
    page.close().await;
}
