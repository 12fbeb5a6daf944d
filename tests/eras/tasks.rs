//! Calls that become tasks. The two families have tasks of two kinds (`2025-11-25/basic/utilities/tasks.mdx`, the
//! extension of 2026-07-28): within a family they pass; between families the call is answered when it is done, and
//! nobody is promised a task that cannot be followed.

use satchel_tests::{Home, MODERN, eventually, fixture};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era},
    pairs::client_at,
    station::{Asked, Speaks, Station, text},
};

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A server with tasks of the older kind: `job` may be a task, `long` must be.
async fn older() -> Station {
    Station::start(Speaks::Legacy, |asked: &Asked| {
        let params = &asked.message["params"];
        let task = |status: &str| {
            json!({ "taskId": "t1", "status": status, "ttl": 60000, "pollInterval": 50, "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z" })
        };
        Some(match asked.method() {
            "initialize" => asked.result(&json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {}, "tasks": { "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } } },
                "serverInfo": { "name": "older", "version": "1" },
            })),
            "tools/list" => {
                let tool = |name, support| {
                    json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } })
                };
                asked.result(&json!({ "tools": [tool("job", "optional"), tool("long", "required")] }))
            }
            "tools/call" if params["task"].is_object() => asked.result(&json!({ "task": task("working") })),
            "tools/call" if params["name"] == "long" => asked.error(200, -32601, "only as a task"),
            "tools/call" => asked.result(&text("at once")),
            _ if params["taskId"] == "gone" => asked.error(200, -32602, "no such task"),
            "tasks/get" => asked.result(&task("completed")),
            "tasks/cancel" => asked.result(&task("cancelled")),
            "tasks/list" => asked.result(&json!({ "tasks": [task("completed")] })),
            "tasks/result" => {
                let mut result = text("when it was done");
                result["_meta"] = json!({ RELATED: { "taskId": params["taskId"] } });
                asked.result(&result)
            }
            _ => return None,
        })
    })
    .await
}

async fn opened(mut client: Client) -> (Client, Value) {
    let opened = client.open().await;
    (client, opened)
}

#[tokio::test]
async fn tasks_of_the_older_kind_pass_between_a_client_and_a_server_that_know_them() {
    let station = older().await;
    let home = Home::with_servers(json!({ "far": { "url": station.url } }));
    let hub = home.start_hub().await;
    let (client, hello) = opened(client_at(&hub, "/server/far", Era::Legacy).await).await;
    assert!(hello["capabilities"]["tasks"]["requests"]["tools"]["call"].is_object(), "{hello}");

    let params = json!({ "name": "job", "arguments": {}, "task": { "ttl": 60000 } });
    let begun = client.request("tools/call", params).await;
    assert_eq!(begun.result()["task"]["taskId"], "t1");
    let params = json!({ "taskId": "t1", "_meta": { RELATED: { "taskId": "t1" } } });
    assert_eq!(client.request("tasks/get", params).await.result()["status"], "completed");
    let sent = station.asked().into_iter().rfind(|asked| asked.method() == "tasks/get").expect("it was sent");
    assert_eq!(sent.message["params"]["_meta"][RELATED]["taskId"], "t1", "it says which task it is about");
    let done = client.request("tasks/result", json!({ "taskId": "t1" })).await;
    assert_eq!((done.text(), &done.result()["_meta"][RELATED]["taskId"]), ("when it was done", &json!("t1")));
    assert_eq!(client.request("tasks/list", json!({})).await.result()["tasks"][0]["taskId"], "t1");
    let cancelled = client.request("tasks/cancel", json!({ "taskId": "t1" })).await;
    assert_eq!(cancelled.result()["status"], "cancelled");
    let gone = client.request("tasks/get", json!({ "taskId": "gone" })).await;
    assert_eq!(gone.outcome.unwrap_err().code, -32602);
}

#[tokio::test]
async fn a_tool_that_runs_only_as_a_task_is_waited_for_where_the_client_asks_for_none() {
    let station = older().await;
    let home = Home::with_servers(json!({ "far": { "url": station.url } }));
    let hub = home.start_hub().await;
    for (era, path, tool) in [
        (Era::Legacy, "/server/far", "long"),
        (Era::Modern, "/server/far", "long"),
        (Era::Legacy, "/direct", "far-long"),
        (Era::Modern, "/direct", "far-long"),
    ] {
        let client = client_at(&hub, path, era).await;
        let client = client.with_extensions(json!({ "io.modelcontextprotocol/tasks": {} }));
        let (client, _) = opened(client).await;
        let listed = eventually("it is listed", async || {
            let listed = client.request("tools/list", json!({})).await.result().to_string();
            listed.contains(&format!("\"{tool}\"")).then_some(listed)
        })
        .await;
        assert_eq!(listed.contains("taskSupport"), path != "/direct", "{era:?} at {path}");
        assert_eq!(client.call(tool, json!({})).await.text(), "when it was done", "{era:?} at {path}");
    }
    // A server that does not offer tasks ignores the request for one.
    let (client, _) = opened(client_at(&hub, "/direct", Era::Legacy).await).await;
    let params = json!({ "name": "far-job", "arguments": {}, "task": { "ttl": 60000 } });
    assert_eq!(client.request("tools/call", params).await.text(), "at once");
}

#[tokio::test]
async fn a_client_of_the_newer_kind_is_promised_no_task_of_the_older() {
    let station = older().await;
    let home = Home::with_servers(json!({ "far": { "url": station.url } }));
    let hub = home.start_hub().await;
    let client = client_at(&hub, "/server/far", Era::Modern).await;
    let (client, hello) =
        opened(client.with_extensions(json!({ "io.modelcontextprotocol/tasks": {} }))).await;
    assert!(hello["capabilities"].get("tasks").is_none(), "{hello}");
    assert_eq!(client.call("job", json!({})).await.text(), "at once");
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
        let refused = client.request(method, json!({ "taskId": "t1" })).await.outcome.unwrap_err();
        assert_eq!(refused.code, -32601, "{method}");
        assert_eq!(station.count(method), 0, "{method}");
    }
}

#[tokio::test]
async fn tasks_of_the_newer_kind_pass_to_clients_that_know_them_and_to_no_others() {
    let home = Home::with_servers(json!({ "new": fixture(MODERN) }));
    let hub = home.start_hub().await;
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    let work = json!({ "seconds": 0.1, "label": "it" });
    let (client, _) =
        opened(client_at(&hub, "/server/new", Era::Modern).await.with_extensions(tasks.clone())).await;
    let begun = client.call("slow_compute", work.clone()).await;
    assert_eq!(begun.result()["resultType"], "task", "{begun:?}");
    let task = begun.result()["taskId"].clone();
    let done = eventually("the task is done", async || {
        let state = client.request("tasks/get", json!({ "taskId": task })).await;
        (state.result()["status"] == "completed").then(|| state.result().clone())
    })
    .await;
    assert_eq!(done["result"]["content"][0]["text"], "it took 0.1 s");
    let unknown = client.request("tasks/get", json!({ "taskId": "made-up" })).await.outcome.unwrap_err();
    assert_eq!(unknown.code, -32602);

    // A client of the older family, whatever it declares; and every client where many servers appear as one.
    for (era, path, tool) in [
        (Era::Legacy, "/server/new", "slow_compute"),
        (Era::Legacy, "/direct", "new-slow_compute"),
        (Era::Modern, "/direct", "new-slow_compute"),
    ] {
        let (client, _) = opened(client_at(&hub, path, era).await.with_extensions(tasks.clone())).await;
        let params = json!({ "name": tool, "arguments": work, "task": { "ttl": 1000 } });
        let done = client.request("tools/call", params).await;
        assert_eq!(done.text(), "it took 0.1 s", "{era:?} at {path}");
        let refused = client.request("tasks/get", json!({ "taskId": "x" })).await.outcome.unwrap_err();
        assert_eq!(refused.code, -32601, "{era:?} at {path}");
    }
    let client = client_at(&hub, "", Era::Modern).await.with_extensions(tasks);
    let arguments = json!({ "tool_path": "new:slow_compute", "arguments": work });
    assert_eq!(client.call("execute_mcp_tool", arguments).await.text(), "it took 0.1 s");
}
