//! What belongs to one call: how far it is, what it logs, and that it can be given up.

use std::sync::Arc;

use satchel_tests::{Home, eventually};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    client::{Era, Told},
    pairs::{client_at, with_every_pair},
    station::{Asked, Speaks, Station, held, text},
};

/// The parameters of the notifications of one method, in order.
fn notes<'told>(told: &'told Told, method: &str) -> Vec<&'told Value> {
    told.notes.iter().filter(|note| note["method"] == method).map(|note| &note["params"]).collect()
}

#[tokio::test]
async fn progress_comes_in_order_with_the_clients_own_token_before_the_result() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        // A text and a number: the token comes back unchanged.
        for token in [json!("how far"), json!(7)] {
            let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": token } });
            let told = pair.client.request("tools/call", params).await;
            let steps = notes(&told, "notifications/progress");
            let tokens: Vec<_> = steps.iter().map(|step| &step["progressToken"]).collect();
            assert_eq!(tokens, [&token; 3], "{steps:?}");
            let values: Vec<_> = steps.iter().filter_map(|step| step["progress"].as_f64()).collect();
            assert_eq!(values, [0.0, 50.0, 100.0]);
            assert_eq!(steps[1]["message"], "Half of it");
            assert_eq!(steps[1]["total"].as_f64(), Some(100.0));
            assert_eq!(told.text(), "Done.");
        }
    })
    .await;
}

#[tokio::test]
async fn without_a_token_no_progress_comes() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_tool_with_progress", json!({})).await;
        assert_eq!(notes(&told, "notifications/progress"), Vec::<&Value>::new());
        assert_eq!(told.text(), "Done.");
    })
    .await;
}

#[tokio::test]
async fn a_call_cancelled_by_the_client_is_cancelled_at_the_server() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        // A word of its own per pair, since some share their server.
        let word = pair.name.replace([' ', ','], "-");
        let params = json!({
            "name": "test_cancellation", "arguments": { "name": word }, "_meta": { "progressToken": "begun" },
        });
        let mut reply = pair.client.send("tools/call", params).await;
        // The server has received the call once it reports progress.
        reply.until("notifications/progress").await;
        pair.client.cancel(reply).await;
        eventually("the server hears of it", async || {
            let told = pair.client.call("test_cancelled_calls", json!({})).await;
            told.text().split(' ').any(|name| name == word).then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_servers_log_messages_arrive_when_requested() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        // A server of the newer era logs if the call asks for it, an older one always.
        let (tool, first, expected) = match pair.server {
            Era::Legacy => ("test_tool_with_logging", "Tool execution started", 3),
            Era::Modern => ("test_logging_tool", "The call asked for this.", 1),
        };
        let mut logged = Vec::new();
        match pair.client.era() {
            Era::Legacy => {
                let mut stream = pair.client.listen("test://watched-resource").await;
                pair.client.request("logging/setLevel", json!({ "level": "debug" })).await.result();
                let told = pair.client.call(tool, json!({})).await;
                logged.extend(notes(&told, "notifications/message").into_iter().cloned());
                // In a session it may come on either stream.
                while logged.len() < expected {
                    logged.push(stream.until("notifications/message").await.0["params"].take());
                }
            }
            // The fixture logs on the session's stream, which does not say which call a message belongs to.
            Era::Modern if pair.name.contains("legacy-http") => return,
            Era::Modern => {
                let meta = json!({ "io.modelcontextprotocol/logLevel": "debug" });
                let params = json!({ "name": tool, "_meta": meta });
                let told = pair.client.request("tools/call", params).await;
                logged.extend(notes(&told, "notifications/message").into_iter().cloned());
            }
        }
        assert_eq!(logged.len(), expected, "{logged:?}");
        assert!(logged.iter().all(|entry| entry["logger"] == "fixture"), "{logged:?}");
        assert_eq!(logged[0]["data"], first);
    })
    .await;
}

#[tokio::test]
async fn a_stateless_call_without_a_log_level_gets_no_log_messages() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        if pair.client.era() == Era::Legacy {
            return;
        }
        let tool = if pair.server == Era::Legacy { "test_tool_with_logging" } else { "test_logging_tool" };
        let told = pair.client.call(tool, json!({})).await;
        assert_eq!(notes(&told, "notifications/message"), Vec::<&Value>::new());
        told.result();
    })
    .await;
}

#[tokio::test]
async fn the_response_to_a_long_call_begins_before_the_server_answers() {
    let release = Arc::new(Notify::new());
    let held_back = release.clone();
    let station = Station::start(Speaks::Both, move |asked: &Asked| {
        let is_call = asked.method() == "tools/call";
        is_call.then(|| held(asked.result(&text("at last")), held_back.clone()))
    })
    .await;
    let home = Home::with_servers(json!({ "far": { "url": station.url } }));
    let hub = home.start_hub().await;
    for era in [Era::Legacy, Era::Modern] {
        let mut client = client_at(&hub, "/server/far", era).await;
        client.open().await;
        // Returns when the response has begun.
        let mut reply = client.send("tools/call", json!({ "name": "work", "arguments": {} })).await;
        release.notify_one();
        let mut last = Value::Null;
        while let Some(message) = reply.next().await {
            last = message;
        }
        assert_eq!(last["result"]["content"][0]["text"], "at last", "{era:?}: {last}");
    }
}
