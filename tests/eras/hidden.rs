//! What is hidden from one client does not exist for it, whichever way it asks; for another it does.

use satchel_tests::{Home, LEGACY, MODERN, eventually, fixture};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era},
    pairs::client_at,
};

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// A list as text; an error counts as none.
async fn listed(client: &Client, method: &str) -> String {
    client.request(method, json!({})).await.outcome.map(|result| result.to_string()).unwrap_or_default()
}

async fn discovered(client: &Client, arguments: Value) -> String {
    client.call("discover_mcp_tools", arguments).await.text().to_owned()
}

async fn executed(client: &Client, path: &str) -> String {
    client.call("execute_mcp_tool", json!({ "tool_path": path, "arguments": {} })).await.text().to_owned()
}

/// Everything that a client can receive in every way it can ask.
async fn told(client: &Client, direct: &Client) -> String {
    let mut said = vec![listed(client, "tools/list").await];
    for query in ["", "simple text", "old:test_simple_text"] {
        said.push(discovered(client, json!({ "query": query, "limit": 50, "detail": "full" })).await);
    }
    said.push(discovered(client, json!({ "query": "simple", "server": "nowhere" })).await);
    said.push(client.call("list_mcp_resources", json!({})).await.text().to_owned());
    said.push(executed(client, "nowhere:test_simple_text").await);
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        said.push(listed(direct, method).await);
    }
    said.join("\n")
}

#[tokio::test]
async fn a_server_that_is_hidden_from_a_client_does_not_exist_for_it() {
    let home = Home::with_servers(json!({ "old": fixture(LEGACY), "new": fixture(MODERN) }));
    let hub = home.start_hub().await;
    for era in BOTH {
        let name = format!("{era:?}").to_lowercase();
        let (mut client, mut direct) =
            (client_at(&hub, "", era).await, client_at(&hub, "/direct", era).await);
        client.open().await;
        direct.open().await;
        eventually("both servers are read", async || {
            let tools = listed(&direct, "tools/list").await;
            ["old-test_simple_text", "new-test_simple_text"]
                .iter()
                .all(|tool| tools.contains(tool))
                .then_some(())
        })
        .await;
        let mut stream = direct.listen_to_lists().await;

        home.satchel(&["hide", &name, "old"]).await.succeeded();
        stream.until("notifications/tools/list_changed").await;
        // The first session's tools name the servers that existed when it began.
        let mut client = client_at(&hub, "", era).await;
        client.open().await;
        let said = told(&client, &direct).await;
        assert!(said.contains("new:test_simple_text") && said.contains("new-test_simple_text"), "{said}");
        let own = |text: &str| {
            text.lines()
                .find(|line| line.contains("old:") || line.contains("old-") || line.contains("old ("))
                .map(str::to_owned)
        };
        assert_eq!(own(&said), None, "{era:?}");
        let called = executed(&client, "old:test_simple_text").await;
        assert!(called.contains("there is no server"), "{era:?}: {called}");
        let read = client.call("read_mcp_resource", json!({ "uri": "old|test://static-text" })).await;
        let read = read.text();
        assert!(read.contains("there is no server"), "{era:?}: {read}");
        let called = direct.call("old-test_simple_text", json!({})).await.outcome.unwrap_err();
        assert_eq!(called.code, -32602, "{era:?}: {called:?}");
        let itself = client_at(&hub, "/server/old", era).await;
        let refused = match era {
            Era::Legacy => {
                let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
                itself.request("initialize", hello).await
            }
            Era::Modern => {
                itself.request("tools/call", json!({ "name": "test_simple_text", "arguments": {} })).await
            }
        };
        let refused = format!("{:?}", refused.outcome);
        assert!(refused.contains("there is no server"), "{era:?}: {refused}");

        // Another client still sees it.
        let other = hub.client("other").await;
        assert!(other.execute("old:test_simple_text", json!({})).await.text().contains("simple"), "{era:?}");

        home.satchel_agreeing(&["show", &name, "old"]).await.succeeded();
        stream.until("notifications/tools/list_changed").await;
        assert!(executed(&client, "old:test_simple_text").await.contains("simple"), "{era:?}");
    }
}

#[tokio::test]
async fn a_tool_is_hidden_alone() {
    let home = Home::with_servers(json!({ "old": fixture(LEGACY) }));
    let hub = home.start_hub().await;
    for era in BOTH {
        let name = format!("{era:?}").to_lowercase();
        let mut client = client_at(&hub, "", era).await;
        client.open().await;
        assert!(executed(&client, "old:test_simple_text").await.contains("simple"), "{era:?}");
        home.satchel(&["hide", &name, "old:test_simple_text"]).await.succeeded();
        let found = discovered(&client, json!({ "query": "test_simple_text", "limit": 50 })).await;
        assert!(!found.contains("old:test_simple_text") && found.contains("old:test_"), "{era:?}: {found}");
        let called = executed(&client, "old:test_simple_text").await;
        assert!(called.contains("has no tool"), "{era:?}: {called}");
        let mut itself = client_at(&hub, "/server/old", era).await;
        itself.open().await;
        let tools = listed(&itself, "tools/list").await;
        assert!(!tools.contains("\"test_simple_text\"") && tools.contains("test_"), "{era:?}: {tools}");
        let called = itself.call("test_simple_text", json!({})).await;
        assert!(format!("{:?}", called.outcome).contains("Unknown tool"), "{era:?}: {called:?}");
    }
    let refused = home.satchel(&["hide", "legacy", "old:no_such_tool"]).await;
    assert!(refused.failed_with(1).stderr.contains("no_such_tool"), "{refused:?}");
    home.satchel(&["hide", "legacy", "nowhere"]).await.failed_with(1);
}
