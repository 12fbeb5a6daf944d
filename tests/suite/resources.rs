//! Resources are named `server|uri`, listed from what is known, and read from the server every time.

use satchel_tests::{Fake, Home};
use serde_json::json;

#[tokio::test]
async fn resources_are_listed_with_their_server_and_read_every_time() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--resources"]);
    let without = Fake::new(&home, "without");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry(), "without": without.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;

    let listed = client.call("list_mcp_resources", json!({})).await;
    let text = listed.text();
    for part in ["fake|fake://note/1", "fake|fake://note/{id}", "fake|ui://fake/view"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let all = listed.value().to_string();
    assert!(
        !all.contains(r#":"ui://fake/view""#) && !all.contains(r#"\"ui://fake/view"#),
        "rewritten everywhere: {all}"
    );

    for n in 0..2 {
        let read = client.call("read_mcp_resource", json!({ "uri": "fake|fake://note/1" })).await;
        let read = read.raw();
        assert!(read.contains(&format!("read {n} of fake://note/1")), "never from a cache: {read}");
    }
    let filled = client.call("read_mcp_resource", json!({ "uri": "fake|fake://note/77" })).await;
    let filled = filled.raw();
    assert!(filled.contains("of fake://note/77"), "{filled}");
}

#[tokio::test]
async fn a_resource_that_cannot_be_read_is_an_error_in_words() {
    let home = Home::empty();
    let without = Fake::new(&home, "without");
    home.write_config(&json!({ "mcpServers": { "without": without.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    for (uri, part) in
        [("nobody|x://y", "nobody"), ("no-separator", "server|uri"), ("without|x://y", "resources/read")]
    {
        let complaint = client.call("read_mcp_resource", json!({ "uri": uri })).await.complaint();
        assert!(complaint.contains(part), "{uri}: {complaint}");
    }
}

#[tokio::test]
async fn long_resources_and_lists_are_cut_and_read_on() {
    let home = Home::empty();
    let [fake, other] =
        ["fake", "other"].map(|name| Fake::new(&home, name).behaving(&["--resources"]).entry());
    home.write_config(&json!({
        "resultCap": { "default": 100_000, "small": 20 },
        "mcpServers": { "fake": fake, "other": other },
    }));
    let hub = home.start_hub().await;
    let (client, patient) = (hub.client("small").await, hub.client("patient").await);
    crate::offered(&client, "fake:echo").await;
    crate::offered(&client, "other:echo").await;

    let read = client.call("read_mcp_resource", json!({ "uri": "fake|fake://note/1" })).await.value();
    let block = &read["content"][0]["resource"];
    let mut whole = block["text"].as_str().unwrap_or_default().to_owned();
    assert!(whole.len() <= 20 && block["uri"] == "fake://note/1", "{read}");
    let mut next = read["_meta"]["dev.satchel/cut"]["next"].as_str().map(str::to_owned);
    while let Some(uri) = next.take() {
        let page = client.call("read_mcp_resource", json!({ "uri": uri })).await.value();
        whole.push_str(page["content"][0]["text"].as_str().unwrap_or_default());
        next = page["content"][1]["text"].as_str().and_then(|note| note.split('"').nth(1)).map(str::to_owned);
    }
    assert_eq!(whole, "read 0 of fake://note/1");

    let listed = client.call("list_mcp_resources", json!({})).await;
    assert!(listed.text().contains("Narrow the list with server or query"), "{}", listed.text());
    let list = async |arguments| patient.call("list_mcp_resources", arguments).await.text();
    let all = list(json!({})).await;
    assert!(all.contains("fake|fake://note/1") && all.contains("other|fake://note/1"), "{all}");
    let one = list(json!({ "server": "other", "query": "note/1" })).await;
    assert!(one.contains("other|fake://note/1") && !one.contains("fake|") && !one.contains("ui://"), "{one}");
    let refused = patient.call("list_mcp_resources", json!({ "server": "none" })).await.complaint();
    assert!(refused.contains("There is no server \"none\""), "{refused}");
}
