//! A tool that a person tries in the real window: by the keyboard alone, by the rules of any client, and with whatever a
//! server answers.

use fantoccini::key::Key;
use satchel_tests::{Fake, Home, LEGACY, eventually, fixture};
use serde_json::json;

use crate::{
    app::until_offered,
    asking::live,
    desktop::Desktop,
    hostile::{nothing_happened, watch},
    page::Page,
};

const RUN: &str = "[data-run]";
const OUT: &str = "[data-out]";

/// The page of a tool, once its form is there.
async fn tool(page: &Page, server: &str, tool: &str) {
    page.run(&format!("location.hash = '#/servers/{server}/tools/{tool}'")).await;
    page.says("main h2", tool).await;
    page.find(RUN).await;
}

#[tokio::test]
async fn a_tool_is_tried_by_keyboard_alone_and_recorded_as_a_call_of_the_window() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    until_offered(&desktop.client("editor").await, "toolbox", true).await;
    page.run("location.hash = '#/servers/toolbox/tools'; document.querySelector('main')?.focus()").await;
    page.says("main", "hash_text").await;
    page.tab_to("hash_text").await;
    page.press(Key::Enter).await;
    page.says("main h2", "hash_text").await;
    page.find(RUN).await;
    eventually("the field of the text has the focus", async || {
        let name = "return document.activeElement.matches('textarea, input.box') && document.activeElement.labels[0]?.innerText";
        if page.run(name).await == "text" {
            return Some(());
        }
        page.press(Key::Tab).await;
        None
    })
    .await;
    page.run("return document.activeElement.id = 'here'").await;
    page.write("#here", "abc").await;
    page.tab_to("Run").await;
    page.press(Key::Enter).await;
    page.says(OUT, "ba7816bf").await;
    let focused = page.run("return document.activeElement.matches('[data-run]')").await;
    assert_eq!(focused, true, "whoever pressed it is still there");
    let call = eventually("the call is written down", async || {
        let history = desktop.home.satchel(&["history", "--json"]).await.json();
        history["calls"].as_array()?.iter().find(|call| call["client"] == "Satchel window").cloned()
    })
    .await;
    assert_eq!(
        (&call["server"], &call["tool"], &call["outcome"]),
        (&json!("toolbox"), &json!("hash_text"), &json!("ok"))
    );
    page.says("[data-facts]", "token").await;
    page.close().await;
}

#[tokio::test]
async fn a_tool_that_a_rule_asks_about_asks_in_the_page_and_in_no_other_window() {
    let desktop = crate::asking::desktop().await;
    let page = desktop.open_window(&[]).await;
    until_offered(&desktop.client("editor").await, "toolbox", true).await;
    for (button, outcome) in [(".answers button:nth-of-type(1)", OUT), (".aside button", "[role=alert]")] {
        tool(&page, "toolbox", "generate_uuid").await;
        page.click(RUN).await;
        page.says("main .prompt h1", "Satchel window wants to run generate_uuid").await;
        let button = format!("main .prompt [data-answers] {button}");
        // A second window has had the time to open by then.
        live(&page, &button).await;
        page.to_first_and_only().await;
        page.click(&button).await;
        page.find(&format!("main {outcome}")).await;
        if outcome != OUT {
            page.says("main [role=alert]", "did not allow").await;
        }
    }
    page.close().await;
}

#[tokio::test]
async fn a_call_shows_progress_and_can_be_cancelled_while_its_server_continues() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let desktop = Desktop::around(home).await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "fake", true).await;
    tool(&page, "fake", "sleep").await;
    page.write("main .form input.box", "600000").await;
    page.click(RUN).await;
    eventually("the call has come to the server", async || {
        (fake.ledger().count("call sleep") == 1).then_some(())
    })
    .await;
    page.click("main .acts button:nth-of-type(2)").await;
    page.says("main [role=alert]", "Cancelled").await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "x" })).await.text(), "x");
    tool(&page, "fake", "progress").await;
    page.click(RUN).await;
    page.find(OUT).await;
    page.close().await;
}

#[tokio::test]
async fn pictures_and_sounds_are_shown_and_no_content_of_a_result_runs_or_loads() {
    let desktop = Desktop::with_servers(json!({ "legacy": fixture(LEGACY) })).await;
    let page = desktop.open_window(&[]).await;
    until_offered(&desktop.client("editor").await, "legacy", true).await;
    watch(&page).await;
    tool(&page, "legacy", "test_image_content").await;
    page.click(RUN).await;
    page.find(&format!("{OUT} img")).await;
    eventually("the picture is drawn", async || {
        let wide = page.run("return document.querySelector('[data-out] img').naturalWidth").await;
        (wide.as_u64()? > 0).then_some(())
    })
    .await;
    tool(&page, "legacy", "test_audio_content").await;
    page.click(RUN).await;
    page.find(&format!("{OUT} audio, {OUT} p")).await;
    tool(&page, "legacy", "test_multiple_content_types").await;
    page.click(RUN).await;
    page.find(&format!("{OUT} img")).await;
    nothing_happened(&page, "results").await;
    for address in ["https://example.com/", "file:///etc/passwd", ""] {
        let refusal = page.invoke("open_page", json!({ "page": address })).await;
        assert_eq!(refusal.expect_err("no result names it")["code"], "not_opened", "{address}");
    }
    page.close().await;
}
