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

#[tokio::test]
async fn a_server_on_this_computer_is_not_reached_through_a_proxy() {
    let home = Home::empty();
    let fake = home.start_http_server(&["--require-header", "Authorization: Bearer local-key"]).await;
    home.write_config(&json!({ "mcpServers": {
        "near": { "url": fake.url, "headers": { "Authorization": "Bearer local-key" } } } }));
    // A proxy that takes connections and never answers.
    let proxy = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let address = format!("http://{}", proxy.local_addr().expect("it is bound"));
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    let variables: Vec<_> = names.iter().map(|name| (*name, address.as_str())).collect();
    let hub = home.start_hub_with(&variables).await;
    let client = hub.client("one").await;
    assert_eq!(client.execute("near:echo", json!({ "text": "in" })).await.text(), "in");
    drop(hub);
    // Had one come, it would wait here.
    let came = std::future::poll_fn(|context| std::task::Poll::Ready(proxy.poll_accept(context).is_ready()));
    assert!(!came.await, "nothing was sent to the proxy");
}
