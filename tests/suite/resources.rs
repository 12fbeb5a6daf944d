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
