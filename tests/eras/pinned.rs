//! Pinned tools: clients of both eras list them beside Satchel's own at `/mcp`, as they are at `/mcp/direct`, and call them
//! like there.

use satchel_tests::{Client as Raw, Fake, Home, Hub, eventually};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era},
    pairs::client_at,
};

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];
const CHANGED: &str = "notifications/tools/list_changed";

async fn listed(client: &Client) -> Vec<Value> {
    let told = client.request("tools/list", json!({})).await;
    told.result()["tools"].as_array().expect("a list of tools").clone()
}

async fn names(client: &Client) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    listed(client).await.iter().map(name).filter(|name| !name.contains("_mcp_")).collect()
}

async fn until_read(hub: &Hub<'_>, path: &str) {
    let client: Raw = hub.client("reader").await;
    eventually("its tools are known", async || {
        client.paths(path).await.contains(&path.to_owned()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_pinned_tool_is_listed_and_called_as_at_the_address_of_all_tools() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    until_read(&hub, "fake:echo").await;
    let mut watching = vec![];
    for era in BOTH {
        let mut client = client_at(&hub, "", era).await;
        client.open().await;
        assert!(names(&client).await.is_empty(), "{era:?}");
        let refused = client.call("fake-echo", json!({ "text": "x" })).await;
        let refusal = refused.outcome.expect_err("it is not pinned");
        assert!(refusal.message.contains("Unknown tool"), "{era:?}: {refusal:?}");
        let stream = client.listen_to_lists().await;
        watching.push((era, client, stream));
    }

    home.satchel(&["pin-tool", "fake:echo"]).await.succeeded();
    for (era, client, stream) in &mut watching {
        stream.until(CHANGED).await;
        let mut direct = client_at(&hub, "/direct", *era).await;
        direct.open().await;
        let there = listed(&direct).await.into_iter().find(|tool| tool["name"] == "fake-echo").unwrap();
        let here = listed(client).await;
        assert_eq!(here.len(), 5, "{era:?}: {here:?}");
        let mut pinned = here[4].clone();
        assert_eq!(pinned["_meta"]["anthropic/alwaysLoad"], true, "{era:?}: {pinned}");
        match there.get("_meta") {
            Some(meta) => pinned["_meta"] = meta.clone(),
            None => drop(pinned.as_object_mut().unwrap().remove("_meta")),
        }
        assert_eq!(pinned, there, "{era:?}");
        let result = client.call("fake-echo", json!({ "text": "x" })).await;
        assert_eq!(result.result()["content"][0]["text"], "x", "{era:?}");
    }

    for (command, left) in [
        (["disable", "fake"], &[][..]),
        (["enable", "fake"], &["fake-echo"]),
        (["unpin-tool", "fake:echo"], &[]),
        (["pin-tool", "fake:echo"], &["fake-echo"]),
    ] {
        home.satchel(&command).await.succeeded();
        for (era, client, stream) in &mut watching {
            stream.until(CHANGED).await;
            assert_eq!(names(client).await, left, "{era:?}: {command:?}");
        }
    }
    // It obeys what every tool obeys.
    home.satchel(&["rule", "fake:echo", "off"]).await.succeeded();
    for (era, client, stream) in &mut watching {
        stream.until(CHANGED).await;
        assert!(names(client).await.is_empty(), "{era:?}");
        let refused = client.call("fake-echo", json!({ "text": "x" })).await;
        let told = refused.result()["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!(refused.result()["isError"] == true && told.contains("switched off"), "{era:?}: {told}");
    }
}
