//! What people do with Satchel from beginning to end, in the real window, each looked at from the client's side too.

use fantoccini::key::Key;
use satchel_tests::{Client, Connection, Fake, Home, eventually};
use serde_json::{Value, json};

use crate::{app::until_offered, desktop::Desktop, page::switch};

const CANARY: &str = "canary-51c0-4a7e-9d33";
const WINDSURF: &str = ".codeium/windsurf/mcp_config.json";

/// A settings file of an installed editor.
fn installed(home: &Home, text: &str) -> std::path::PathBuf {
    let file = home.file(WINDSURF);
    std::fs::create_dir_all(file.parent().expect("it lies in a directory")).expect("it can be made");
    std::fs::write(&file, text).expect("the home can be written to");
    file
}

/// A client that connects with the entry in the editor's settings.
async fn editor(file: &std::path::Path) -> Client {
    let text = std::fs::read_to_string(file).expect("the settings are text");
    let settings: Value = serde_json::from_str(&text).expect("the settings are JSON");
    let entry = &settings["mcpServers"]["satchel"];
    let said = |value: &Value| value.as_str().expect("the entry is whole").to_owned();
    let headers = [("Authorization".to_owned(), said(&entry["headers"]["Authorization"]))].into();
    Client::open(&Connection { url: said(&entry["serverUrl"]), headers }, "2025-11-25").await
}

#[tokio::test]
async fn a_server_is_added_gets_its_credential_is_called_counted_and_hidden_again() {
    let desktop = Desktop::with_servers(json!({})).await;
    let _keyring = desktop.start_keyring().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    page.says("main", "Nothing in the satchel yet").await;
    let fake = Fake::new(&desktop.home, "fake").env("TOKEN", "${secret:TOKEN}");
    page.click("main .empty button:last-of-type").await;
    page.write("textarea", &json!({ "mcpServers": { "fake": fake.entry() } }).to_string()).await;
    page.agree("dialog").await;

    // It needs a credential, which is asked for there and goes into the keychain; the call wakes it.
    page.write("dialog input[type=password]", CANARY).await;
    page.click("dialog form button[type=submit]").await;
    page.click("dialog .end button").await;
    until_offered(&client, "fake", true).await;
    let about = client.execute("fake:about", json!({ "env": ["TOKEN"] })).await.text();
    assert_eq!(serde_json::from_str::<Value>(&about).expect("it tells JSON")["env"]["TOKEN"], CANARY);

    // The call appears under Activity, without its arguments and result.
    page.run("location.hash = '#/activity'").await;
    page.says(".calls, [role=list]", "about").await;
    let shown = page.run("return document.documentElement.outerHTML").await.to_string();
    assert!(!shown.contains(CANARY), "the window shows no secret");
    page.run("location.hash = '#/savings'").await;
    page.says("main .sum", "").await;
    let counted = async || {
        let said = page.run("return document.querySelector('main .sum')?.innerText ?? ''").await;
        said.as_str().is_some_and(|said| said.chars().any(|c| ('1'..='9').contains(&c))).then_some(())
    };
    eventually("the savings are no longer nothing", counted).await;

    page.run("location.hash = '#/servers/fake'").await;
    page.click(&switch("fake")).await;
    until_offered(&client, "fake", false).await;
    page.says("[data-server=fake]", "Off · hidden from clients").await;
    page.close().await;
}

#[tokio::test]
async fn an_app_is_connected_sees_the_chosen_tools_and_is_restored() {
    let home = Home::empty();
    let before = "{\n    \"mcpServers\": {}\n}";
    let file = installed(&home, before);
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    page.run("location.hash = '#/clients/windsurf'").await;
    page.says(".pane pre, [role=region]", "satchel").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "what is shown is not yet written");
    page.click(".act button.primary").await;
    eventually("the entry is written", async || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("satchel")).then_some(())
    })
    .await;
    let client = editor(&file).await;
    until_offered(&client, "toolbox", true).await;
    page.says(".pane, [data-pane]", "Connected").await;
    page.says(".pane, [data-pane]", "Last request").await;

    page.click("[role=switch][aria-label$='sees toolbox']").await;
    until_offered(&client, "toolbox", false).await;
    page.click("[role=switch][aria-label$='sees toolbox']").await;
    until_offered(&client, "toolbox", true).await;

    page.click("button[title='Removes Satchel’s entry from its file.']").await;
    eventually("the settings are as they were", async || {
        (std::fs::read_to_string(&file).ok()? == before).then_some(())
    })
    .await;
    page.close().await;
}

#[tokio::test]
async fn servers_are_brought_a_client_is_connected_and_a_tool_is_tried_by_keyboard_alone() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("API_TOKEN", CANARY);
    let before = json!({ "mcpServers": { "fake": fake.entry() } }).to_string();
    let file = installed(&home, &before);
    let desktop = Desktop::around(home).await;
    let _keyring = desktop.start_keyring().await;
    let page = desktop.open_first(&[]).await;
    page.says("h1", "These servers are already on your computer").await;
    page.tab_to("Bring 1 server").await;
    page.press(Key::Enter).await;
    page.says("h1", "Connect the clients you work in").await;

    // Both changes are shown before they are made, without the keys in the file.
    page.tab_to("See change: ").await;
    page.press(Key::Enter).await;
    page.says("[role=region][aria-label='What Connect will write']", "serverUrl").await;
    page.tab_to("Take these servers out").await;
    page.press(Key::Space).await;
    page.says("[role=region][aria-label='What will be taken out of its settings']", "API_TOKEN").await;
    let shown = page.run("return document.documentElement.outerHTML").await.to_string();
    assert!(!shown.contains(CANARY), "the window shows no secret");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "what is shown is not yet written");
    page.tab_to("Connect 1 client").await;
    page.press(Key::Enter).await;
    page.says("h1", "Ask one of them to use a tool").await;
    let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let names: Vec<&String> = written["mcpServers"].as_object().expect("they are there").keys().collect();
    assert_eq!(names, ["satchel"]);

    page.tab_to("Run current_time here").await;
    page.press(Key::Enter).await;
    page.says("h1", "It works").await;
    page.tab_to("Open Satchel").await;
    page.press(Key::Enter).await;
    page.find("[data-server=fake]").await;
    until_offered(&editor(&file).await, "fake", true).await;
    page.tab_to("fake").await;
    page.press(Key::Enter).await;
    page.find("[role=tablist]").await;
    page.tab_to("Overview").await;
    page.press(Key::Right).await;
    page.says("main", "echo").await;
    page.tab_to("echo").await;
    page.press(Key::Enter).await;
    page.says("main h2", "echo").await;
    page.tab_to("text").await;
    page.type_here("by keys").await;
    page.tab_to("Run").await;
    page.press(Key::Enter).await;
    page.says("[data-out]", "by keys").await;
    page.close().await;
}

#[tokio::test]
async fn the_first_minute_opens_by_itself_and_needs_no_mouse() {
    let home = Home::empty();
    let file = installed(&home, "{\n    \"mcpServers\": {}\n}");
    let desktop = Desktop::around(home).await;
    let page = desktop.open_first(&[]).await;
    page.says("h1", "Start with a few servers").await;
    page.tab_to("Continue").await;
    page.press(Key::Enter).await;
    page.says("h1", "Connect the clients you work in").await;
    page.tab_to("See change: ").await;
    page.press(Key::Enter).await;
    page.says("main", "serverUrl").await;
    page.tab_to("Connect 1 client").await;
    page.press(Key::Enter).await;
    page.says("h1", "Ask one of them to use a tool").await;

    let client = editor(&file).await;
    let made = client.execute("toolbox:generate_uuid", json!({})).await;
    assert_ne!(made.value()["isError"], true, "{}", made.text());
    page.says("h1", "It works").await;
    page.says("main", "generate_uuid in toolbox worked").await;
    page.tab_to("Open Satchel").await;
    page.press(Key::Enter).await;
    page.find("[data-server=toolbox]").await;
    page.close().await;
}
