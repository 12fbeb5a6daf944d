//! What a server answers is what the client gets: every byte, whatever it means.

use satchel_tests::{Client, Fake, Home, odd};
use serde_json::json;

#[tokio::test]
async fn odd_results_arrive_as_they_were_sent() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    for (which, sent) in odd::RESULTS {
        let answer = client.execute("fake:odd", json!({ "which": which })).await;
        assert_eq!(answer.raw(), *sent, "{which}");
    }
}

#[tokio::test]
async fn every_revision_of_the_initialize_family_works() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let connection = hub.connection("old").await;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::open(&connection, revision).await;
        assert_eq!(client.opened["protocolVersion"], revision);
        let (which, sent) = odd::RESULTS[0];
        assert_eq!(client.execute("fake:odd", json!({ "which": which })).await.raw(), sent, "{revision}");
    }
    let client = Client::open(&connection, "1999-01-01").await;
    assert_eq!(client.opened["protocolVersion"], "2025-11-25", "an unknown revision is answered by ours");
}

#[tokio::test]
async fn arguments_reach_the_server_as_they_were_given() {
    let home = Home::empty();
    let mut entry = json!(Fake::new(&home, "fake").entry());
    // Invisible characters in an argument reach the server, and come back here.
    entry["exactResults"] = json!(true);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let text = "line\nbreak \u{1F9F0} \"quoted\" \\ ${HOME} \u{202e}";
    assert_eq!(client.execute("fake:echo", json!({ "text": text })).await.text(), text);
}

#[tokio::test]
async fn the_endpoint_lists_exactly_four_tools_with_short_descriptions() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let listed = client.request("tools/list", json!({})).await.value();
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"]);
    let parameters = |tool: usize| {
        let properties = tools[tool]["inputSchema"]["properties"].as_object();
        properties.map(|all| all.keys().map(String::as_str).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(parameters(0), ["query", "limit", "server", "detail"]);
    assert_eq!(parameters(1), ["tool_path", "arguments"]);
    assert_eq!(parameters(2), ["server", "query"]);
    assert_eq!(parameters(3), ["uri"]);
    assert!(listed.to_string().len() < 4_000, "they are all a client pays for: {listed}");
}

#[tokio::test]
async fn discover_returns_what_the_next_call_needs() {
    let home = Home::empty();
    let [fake, other] = ["fake", "other"].map(|name| Fake::new(&home, name).entry());
    home.write_config(&json!({ "mcpServers": { "fake": fake, "other": other } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::offered(&client, "fake:echo").await;
    crate::offered(&client, "other:echo").await;

    let found = client.call("discover_mcp_tools", json!({ "query": "says a text back", "limit": 1 })).await;
    let text = found.text();
    assert!(text.contains(":echo") && text.contains("Says a text back") && text.contains("text"), "{text}");
    let only = client.call("discover_mcp_tools", json!({ "query": "echo", "server": "other" })).await.text();
    assert!(only.contains("other:echo") && !only.contains("fake:echo"), "{only}");
}
