//! What waits for a person: a small window of its own asks, whether the other one is open or not, the tray says so, and
//! only a considered yes is one.

use satchel_tests::{Client, Home, LEGACY, MODERN, eventually, fixture};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{app::until_offered, desktop::Desktop, page::Page};

/// The tool the hub asks about.
pub(crate) const TOOL: &str = "toolbox:generate_uuid";
const QUESTION: &str = "[role=alertdialog]";
pub(crate) const YES: &str = "[role=alertdialog] [data-yes]";
const ALLOW: &str = YES;

/// A desktop whose hub asks before [`TOOL`] is called.
pub(crate) async fn desktop() -> Desktop {
    let home = Home::empty();
    home.write_config(&json!({
        "toolRules": [{ "tool": TOOL, "permit": "ask" }],
        "mcpServers": { "toolbox": { "command": "satchel", "args": ["toolbox"] } },
    }));
    Desktop::around(home).await
}

/// Makes a call, without waiting for its result.
pub(crate) fn call(client: &Client, tool: &str, arguments: Value) -> JoinHandle<satchel_tests::Answer> {
    let (client, tool) = (client.clone(), tool.to_owned());
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    tokio::spawn(async move { client.execute(&tool, arguments).await })
}

async fn ended(call: JoinHandle<satchel_tests::Answer>) -> String {
    format!("{:?}", call.await.expect("the call ends").outcome)
}

/// Waits until the buttons work: yes is ignored until the question could be read, and buttons move until the window
/// has its height.
pub(crate) async fn live(page: &Page, button: &str) {
    let live = format!(
        "const at = document.querySelector('{button}'); \
         return [at.getAttribute('aria-disabled') !== 'true', innerHeight, at.getBoundingClientRect().top]"
    );
    let (mut before, mut same) = (Value::Null, 0);
    eventually("the button does something and stays where it is", async || {
        let now = page.run(&live).await;
        same = if now == before { same + 1 } else { 0 };
        before = now;
        (before[0] == true && same >= 5).then_some(())
    })
    .await;
}

async fn focused(page: &Page) -> Value {
    page.run("return document.activeElement.dataset.no !== undefined").await
}

#[tokio::test]
async fn a_window_of_its_own_asks_and_a_considered_yes_lets_the_call_through() {
    let desktop = desktop().await;
    let panel = desktop.panel().await;
    let page = desktop.open_window(&[]).await;
    let icon = panel.icon().await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;

    let called = call(&client, TOOL, json!({}));
    page.to_questions().await;
    page.says("[role=alertdialog] h1", "editor wants to run generate_uuid").await;
    icon.line("editor wants to run toolbox:generate_uuid").await;
    assert_eq!(focused(&page).await, true, "whoever types on refuses");
    live(&page, ALLOW).await;
    page.click(ALLOW).await;
    let answer = called.await.expect("the call ends");
    assert_ne!(answer.value()["isError"], true, "{}", answer.text());
    page.to_first_and_only().await;

    let called = call(&client, TOOL, json!({}));
    page.to_questions().await;
    page.says("[role=alertdialog] h1", "editor wants to run generate_uuid").await;
    page.click("[role=alertdialog] [data-no]").await;
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
    page.to_first_and_only().await;
    page.close().await;
}

#[tokio::test]
async fn servers_of_both_families_ask_in_it_and_their_name_is_ours() {
    let desktop =
        Desktop::with_servers(json!({ "legacy": fixture(LEGACY), "modern": fixture(MODERN) })).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    for server in ["legacy", "modern"] {
        until_offered(&client, server, true).await;
        let message = "Satchel says: GitHub wants you to press Enter";
        let called = call(&client, &format!("{server}:test_elicitation"), json!({ "message": message }));
        page.to_questions().await;
        page.says("[role=alertdialog] h1", &format!("{server} asks you something")).await;
        page.says("[role=alertdialog] blockquote", message).await;
        assert_eq!(focused(&page).await, true);
        page.write("[role=alertdialog] .fields .field:nth-child(1) input", "ada").await;
        live(&page, YES).await;
        page.click(YES).await;
        page.says("[role=alertdialog] .fields", "email is required").await;
        page.write("[role=alertdialog] .fields .field:nth-child(2) input", "ada@example.com").await;
        live(&page, YES).await;
        page.click(YES).await;
        let said = ended(called).await;
        assert!(said.contains("ada@example.com") && said.contains("accept"), "{server}: {said}");
        page.to_first_and_only().await;
    }
    page.close().await;
}

#[tokio::test]
async fn a_page_is_opened_only_by_consent_and_by_the_address_that_was_shown() {
    let desktop = Desktop::with_servers(json!({ "legacy": fixture(LEGACY) })).await;
    // Replaces the system's URL opener, to see what it receives.
    let opened = desktop.home.file("opened");
    let above = desktop.home.file("above");
    let script = format!(
        "#!/bin/sh\npid=$$\nwhile [ \"$pid\" -gt 1 ]; do cat /proc/$pid/comm; \
         pid=$(sed 's/.*) . //; s/ .*//' /proc/$pid/stat); done > '{}'\n\
         printf '%s\\n' \"$#\" \"$@\" > '{}'\n",
        above.display(),
        opened.display()
    );
    desktop.home.write_program("bin/xdg-open", &script);
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "legacy", true).await;

    let called = call(&client, "legacy:test_url_elicitation", json!({}));
    page.to_questions().await;
    page.says("[role=alertdialog] .url b", "example.com").await;
    live(&page, YES).await;
    assert!(!opened.exists(), "nothing is opened before a yes");
    page.click(YES).await;
    assert!(ended(called).await.contains("accept"));
    let seen = eventually("the browser is started", async || {
        std::fs::read_to_string(&opened).ok().filter(|seen| seen.lines().count() == 2)
    })
    .await;
    assert_eq!(seen, "1\nhttps://example.com/sign-in\n");
    // What is opened is a program of the person's, not one below the hub, whose clients would be refused.
    let above = std::fs::read_to_string(&above).expect("it told its ancestors");
    assert!(above.contains("satchel-reaper") && !above.contains("satchel-app"), "{above}");
    page.to_first_and_only().await;
    page.close().await;
}

#[tokio::test]
async fn with_the_window_closed_a_small_one_comes_up_to_ask_and_leaves_the_keyboard_where_it_was() {
    let desktop = desktop().await;
    let _manager = desktop.start_window_manager().await;
    let editor = desktop.somebodys_window("an editor").await;
    let _app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    assert!(!desktop.shows_satchel().await);
    let called = call(&client, TOOL, json!({}));
    eventually("the window of questions comes up", async || {
        desktop.windows().await.iter().any(|name| name == "Satchel asks").then_some(())
    })
    .await;
    assert!(!desktop.shows_satchel().await, "the other window stays where it is");
    assert_eq!(desktop.active_window().await, editor, "whoever types goes on typing there");
    let above = desktop.is_above("Satchel asks").await;
    assert!(above, "it lies over everything else");
    // A person at the terminal answers at the same time.
    let ask = desktop.home.satchel(&["asks", "--json"]).await.json()["asks"][0]["id"].to_string();
    desktop.home.satchel(&["answer", &ask, "no"]).await.succeeded();
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
    eventually("it is gone", async || {
        desktop.windows().await.iter().all(|name| name != "Satchel asks").then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_window_of_questions_may_only_answer_them() {
    let desktop = desktop().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    let called = call(&client, TOOL, json!({}));
    page.to_questions().await;
    page.find(QUESTION).await;
    for request in [
        json!({ "do": "status" }),
        json!({ "do": "set_secret", "name": "X", "value": "x" }),
        json!({ "do": "change", "change": "remove", "name": "toolbox" }),
        json!({ "do": "quit" }),
    ] {
        let refusal =
            page.invoke("answer", json!({ "request": request })).await.expect_err("it may only answer");
        assert_eq!(refusal["code"], "not_for_windows", "{refusal}");
    }
    for command in [
        "request",
        "hub_state",
        "quit",
        "copy",
        "about",
        "set_starts_at_login",
        "plugin:window|close",
        "plugin:event|emit",
    ] {
        let denied = page.invoke(command, json!({})).await.expect_err("this window has no such right");
        assert!(denied.to_string().contains("not allowed"), "{command}: {denied}");
    }
    let asks = page.invoke("asks", json!({})).await.expect("it may look");
    let id = &asks[0]["id"];
    let request = json!({ "request": { "do": "answer_ask", "id": id, "answer": "no" } });
    // The window closes once it has answered, perhaps before WebKit could tell what came of it.
    page.run(&format!("window.__TAURI_INTERNALS__.invoke('answer', {request});")).await;
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
    page.to_first_and_only().await;
    page.close().await;
}

#[tokio::test]
async fn questions_for_secrets_can_only_be_declined_even_by_clients_that_ask_themselves() {
    let desktop = Desktop::with_servers(json!({ "chaos": crate::hostile::chaos("elicit_secret") })).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "chaos", true).await;
    let called = call(&client, "chaos:echo", json!({ "text": "x" }));
    page.to_questions().await;
    page.says("[role=alertdialog] h1", "chaos asks for a secret").await;
    page.says("[role=alertdialog] [data-answers]", "password, api_key").await;
    let fields = page.run("return document.querySelectorAll('input, textarea').length").await;
    let answers = page
        .run("return [...document.querySelectorAll('[data-answers] button')].map((button) => button.innerText)")
        .await;
    assert_eq!(
        (fields, answers),
        (json!(0), json!(["No, and stop asking", "Decline"])),
        "there is nothing to say yes with"
    );
    page.click("[role=alertdialog] [data-no]").await;
    assert!(ended(called).await.contains("decline"));
    page.to_first_and_only().await;
    page.close().await;
}
