//! Servers that speak HTTP: used like any other, with the headers the configuration gives them.

use satchel_tests::{Home, odd};
use serde_json::json;

#[tokio::test]
async fn a_hosted_server_is_called_and_its_results_are_unchanged() {
    let home = Home::empty();
    let fake = home.start_http_server(&["--resources"]).await;
    home.write_config(&json!({ "mcpServers": { "far": { "type": "http", "url": fake.url } } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "far:echo").await;
    for (which, sent) in odd::RESULTS {
        assert_eq!(client.execute("far:odd", json!({ "which": which })).await.raw(), *sent, "{which}");
    }
    let read = client.call("read_mcp_resource", json!({ "uri": "far|fake://note/1" })).await;
    let read = read.raw();
    assert!(read.contains("of fake://note/1"), "{read}");
}

#[tokio::test]
async fn a_hosted_server_gets_its_headers_and_a_missing_one_is_explained() {
    let home = Home::empty();
    let fake = home.start_http_server(&["--require-header", "Authorization: Bearer let-me-in"]).await;
    let good =
        json!({ "url": fake.url, "headers": { "Authorization": "Bearer ${SATCHEL_TEST_NONE:-let-me-in}" } });
    home.write_config(&json!({ "mcpServers": { "good": good, "bad": { "url": fake.url } } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    assert_eq!(client.execute("good:echo", json!({ "text": "in" })).await.text(), "in");
    let complaint = client.execute("bad:echo", json!({ "text": "in" })).await.complaint();
    assert!(complaint.contains("bad") && complaint.contains("needs a sign-in"), "{complaint}");
}

#[tokio::test]
async fn a_hosted_server_that_is_gone_is_explained_and_found_again() {
    let home = Home::empty();
    // A port that was free a moment ago; nobody listens there.
    let gone = home.start_http_server(&[]).await.url;
    home.write_config(&json!({ "mcpServers": { "far": { "url": gone } } }));
    let hub = home.start_hub().await;
    let complaint = hub.client("one").await.execute("far:echo", json!({})).await.complaint();
    assert!(complaint.contains("far"), "{complaint}");
    assert!(hub.status().await.to_string().contains("unreachable"));
}
