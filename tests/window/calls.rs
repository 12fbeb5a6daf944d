//! A call looked at in the real window: kept from then on, read, and its session as a waterfall; and what the doctor finds.

use satchel_tests::eventually;
use serde_json::{Value, json};

use crate::{app::until_offered, desktop::Desktop, page::Page};

/// The newest call, once there are `count`.
async fn newest(page: &Page, count: usize) -> Value {
    let ask = json!({ "request": { "do": "activity", "limit": 50, "server": "toolbox" } });
    eventually("the call is in the history", async || {
        let found = page.invoke("request", ask.clone()).await.ok()?;
        let calls = found["calls"].as_array()?.clone();
        (calls.len() == count).then(|| calls[0]["id"].clone())
    })
    .await
}

#[tokio::test]
async fn storing_calls_is_offered_where_none_are_and_a_call_leads_to_its_session() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    client.execute("toolbox:hash_text", json!({ "text": "before" })).await;
    let first = newest(&page, 1).await;
    page.run(&format!("location.hash = '#/activity/{first}'")).await;
    page.says("[data-pane]", "were not kept").await;
    page.click("[data-pane] .empty button").await;
    page.says("[data-pane]", "Calls of toolbox are kept from now on").await;

    client.execute("toolbox:hash_text", json!({ "text": "afterwards" })).await;
    let second = newest(&page, 2).await;
    page.run(&format!("location.hash = '#/activity/{second}'")).await;
    page.says("[data-pane] pre", "\"text\": \"afterwards\"").await;
    page.click("[data-pane] .act button:nth-child(2)").await;
    page.says("dialog h1", "The session, call by call").await;
    page.says("dialog ol", "hash_text").await;
    page.close().await;
}

#[tokio::test]
async fn the_doctor_is_in_the_window_and_only_our_own_places_are_opened() {
    let desktop = Desktop::new().await;
    let page = desktop.open_window(&[]).await;
    page.run("location.hash = '#/settings/doctor'").await;
    page.says("main", "Configuration file").await;
    page.says("main", "Server toolbox").await;
    for place in [
        json!({ "server_log": "../../../../etc/passwd" }),
        json!("/etc/passwd"),
        json!({ "file": "/etc/passwd" }),
    ] {
        assert!(page.invoke("open_place", json!({ "place": place })).await.is_err(), "{place}");
    }
    page.close().await;
}
