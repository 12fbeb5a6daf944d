//! Clients that would lose tools or arguments get lists and calls that they take; all others see no difference.

use satchel_tests::{Client, Home, Hub, eventually, python};
use serde_json::{Value, json};

/// A server of two tools that returns the arguments of a call, and a link.
const SERVER: &str = r#"
import json, sys
TOOLS = [{"name": "now", "inputSchema": {"type": "object"}},
         {"name": "find", "inputSchema": {"type": "object", "required": ["_since"], "properties": {
             "_since": {"type": "string"}, "most": {"type": "integer"}, "page": {"type": "string", "format": "uri"}}}}]
for line in sys.stdin:
    request = json.loads(line)
    params = request.get("params") or {}
    if "id" in request:
        result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
                  "ping": {}, "tools/list": {"tools": TOOLS},
                  "tools/call": {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))},
                                             {"type": "text", "text": "more"},
                                             {"type": "resource_link", "uri": "note://1", "name": "one"}]}}.get(request["method"])
        body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
"#;

async fn client_at(hub: &Hub<'_>, name: &str, path: &str) -> Client {
    let mut connection = hub.connection(name).await;
    connection.url = connection.url.replace("/mcp", path);
    Client::open(&connection, "2025-11-25").await
}

/// What a client gets as the schema of a tool; null if it is not listed.
async fn schema(client: &Client, tool: &str) -> Value {
    let listed = client.request("tools/list", json!({})).await.value();
    let tools = listed["tools"].as_array().expect("there is a list");
    let found = tools.iter().find(|listed| listed["name"] == tool);
    found.map(|found| found["inputSchema"].clone()).unwrap_or_default()
}

fn block(result: &Value, at: usize) -> &str {
    result["content"][at]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_client_that_would_lose_tools_gets_those_it_takes_and_others_get_what_the_server_said() {
    let home = Home::empty();
    let script = home.write_program("odd.py", SERVER);
    home.write_config(&json!({ "mcpServers": { "s": { "command": python(), "args": [script] } } }));
    let hub = home.start_hub().await;
    let other = client_at(&hub, "agent", "/mcp/direct").await;
    let crewai = client_at(&hub, "crewai", "/mcp/direct").await;
    let smolagents = client_at(&hub, "smolagents", "/mcp/direct").await;
    eventually("the tools are listed", async || schema(&other, "s-now").await.is_object().then_some(()))
        .await;
    let find = json!({ "type": "object", "required": ["_since"], "properties": {
        "_since": { "type": "string" }, "most": { "type": "integer" }, "page": { "type": "string", "format": "uri" } } });
    let now = json!({ "type": "object" });
    assert_eq!([schema(&other, "s-find").await, schema(&other, "s-now").await], [find.clone(), now.clone()]);
    let fitted = json!({ "type": "object", "required": ["since"], "properties": {
        "since": { "type": "string" }, "most": { "type": "integer" }, "page": { "type": "string" } } });
    assert_eq!([schema(&crewai, "s-find").await, schema(&crewai, "s-now").await], [fitted, now]);
    let empty = json!({ "type": "object", "properties": {} });
    assert_eq!([schema(&smolagents, "s-find").await, schema(&smolagents, "s-now").await], [find, empty]);

    // Names and nulls go back to what the server takes; links and further texts stay where they are read.
    let given = crewai.call("s-find", json!({ "since": "a", "most": null })).await.value();
    assert_eq!((block(&given, 0), block(&given, 2)), (r#"{"_since": "a"}"#, "Resource one: note://1"));
    let given = other.call("s-find", json!({ "since": "a", "most": null })).await.value();
    assert_eq!(block(&given, 0), r#"{"since": "a", "most": null}"#);
    assert_eq!(given["content"][2]["type"], "resource_link");
    let given = smolagents.call("s-now", json!({})).await.value();
    assert_eq!(block(&given, 0), "{}\nmore");

    // A server's own address is the same for all.
    let [own, others] = ["crewai", "agent"].map(|name| client_at(&hub, name, "/mcp/server/s"));
    let (own, others) = (own.await, others.await);
    assert_eq!(
        own.request("tools/list", json!({})).await.raw(),
        others.request("tools/list", json!({})).await.raw()
    );
    let arguments = json!({ "name": "find", "arguments": { "_since": "a", "most": null } });
    let [own, others] =
        [own.request("tools/call", arguments.clone()).await, others.request("tools/call", arguments).await];
    assert_eq!(own.raw(), others.raw());
}

#[tokio::test]
async fn the_four_tools_take_a_call_in_each_form_that_clients_can_send() {
    let home = Home::empty();
    let script = home.write_program("odd.py", SERVER);
    let entry = json!({ "command": python(), "args": [script] });
    let mut exact = entry.clone();
    exact["exactResults"] = json!(true);
    home.write_config(&json!({ "mcpServers": { "s": entry, "exact": exact } }));
    let hub = home.start_hub().await;
    let [crewai, kernel, other] = ["crewai", "semantic-kernel", "agent"].map(|name| hub.client(name));
    let (crewai, kernel, other) = (crewai.await, kernel.await, other.await);
    for (client, declared) in [(&crewai, "string"), (&kernel, "object"), (&other, "object")] {
        let schema = schema(client, "execute_mcp_tool").await;
        assert_eq!(schema["properties"]["arguments"]["type"], declared);
    }
    crate::offered(&other, "s:find").await;
    let wanted = r#"{"_since": "a"}"#;
    let call = json!({ "tool_path": "s:find", "arguments": { "_since": "a" } });
    assert_eq!(block(&other.call("execute_mcp_tool", call.clone()).await.value(), 0), wanted);
    let nested = json!({ "tool_path": "s:find", "arguments": call });
    assert_eq!(block(&kernel.call("execute_mcp_tool", nested.clone()).await.value(), 0), wanted);
    assert!(other.call("execute_mcp_tool", nested).await.complaint().contains("_since"));
    let text = json!({ "tool_path": "s:find", "arguments": r#"{"_since":"a"}"# });
    assert_eq!(block(&crewai.call("execute_mcp_tool", text).await.value(), 0), wanted);
    // Exact results are the same for all.
    let link = |client: &Client, server: &str| {
        let arguments = json!({ "_since": "a" });
        let (client, path) = (client.clone(), format!("{server}:find"));
        async move { client.execute(&path, arguments).await.value()["content"][2]["type"].clone() }
    };
    assert_eq!([link(&crewai, "s").await, link(&other, "s").await], ["text", "resource_link"]);
    assert_eq!([link(&crewai, "exact").await, link(&other, "exact").await], ["resource_link"; 2]);
}
