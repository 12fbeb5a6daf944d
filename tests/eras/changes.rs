//! What changes between calls: lists, and resources that somebody watches.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    client::{Era, Reply},
    pairs::{Pair, with_every_pair},
};

const WATCHED: &str = "test://watched-resource";

/// Every message of a stream of the newer era names its stream.
#[track_caller]
fn belongs_to(message: &Value, stream: &Reply, era: Era) {
    if era == Era::Modern {
        let tag = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(tag, &stream.id, "{message}");
    }
}

/// Calls a tool that changes something until a notification comes: the hub may start listening a moment after the
/// server's first response.
async fn heard(pair: &Pair, stream: &mut Reply, tool: &str, method: &str) -> Value {
    for _ in 0..20 {
        pair.client.call(tool, json!({})).await.result();
        if let Ok((message, _)) = tokio::time::timeout(Duration::from_secs(3), stream.until(method)).await {
            return message;
        }
    }
    panic!("nobody hears of {method}")
}

#[tokio::test]
async fn a_changed_list_is_heard_of() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let mut stream = pair.client.listen(WATCHED).await;
        for (tool, method) in [
            ("test_trigger_tool_change", "notifications/tools/list_changed"),
            ("test_trigger_prompt_change", "notifications/prompts/list_changed"),
            ("test_trigger_resource_change", "notifications/resources/list_changed"),
        ] {
            let message = heard(&pair, &mut stream, tool, method).await;
            belongs_to(&message, &stream, pair.client.era());
        }
    })
    .await;
}

#[tokio::test]
async fn a_watched_resource_that_changes_is_heard_of() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let mut stream = pair.client.listen(WATCHED).await;
        for _ in 0..2 {
            let updated = "notifications/resources/updated";
            let message = heard(&pair, &mut stream, "test_update_watched_resource", updated).await;
            assert_eq!(message["params"]["uri"], WATCHED);
            belongs_to(&message, &stream, pair.client.era());
        }
    })
    .await;
}

#[tokio::test]
async fn an_unsubscribed_resource_sends_no_updates() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        if pair.client.era() == Era::Modern {
            return;
        }
        let mut stream = pair.client.listen(WATCHED).await;
        pair.client.request("resources/unsubscribe", json!({ "uri": WATCHED })).await.result();
        pair.client.call("test_update_watched_resource", json!({})).await.result();
        pair.client.call("test_trigger_tool_change", json!({})).await.result();
        let (_, before) = stream.until("notifications/tools/list_changed").await;
        let updates = before.iter().filter(|message| message["method"] == "notifications/resources/updated");
        assert_eq!(updates.count(), 0, "{before:?}");
    })
    .await;
}
