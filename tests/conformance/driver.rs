//! The other side of the suite: it is the server, and the hub's client half is what it looks at. This program starts a
//! hub that knows the suite's server, and does through it what a scenario wants to see.

#[allow(dead_code, reason = "the eras' tests use more of it")]
#[path = "../eras/client.rs"]
mod client;

use satchel_tests::Home;
use serde_json::{Value, json};

use client::{Client, Era};

/// The name of the suite's server here.
const SERVER: &str = "suite";

/// Runs the scenario named in the environment against the server at this address.
pub(crate) async fn run(url: &str) {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    // A client of the older family repeats nothing in headers, so that headers at the server come from the hub.
    let era = match variable("MCP_CONFORMANCE_PROTOCOL_VERSION").as_str() {
        _ if scenario.starts_with("http-") => Era::Legacy,
        "2026-07-28" => Era::Modern,
        _ => Era::Legacy,
    };
    let context: Value = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let home = Home::with_servers(json!({ SERVER: { "url": url } }));
    let hub = home.start_hub().await;
    let mut connection = hub.connection("suite").await;
    connection.url = format!("{}/server/{SERVER}", connection.url);
    let mut client = Client::new(connection, era);
    client.open().await;
    match scenario.as_str() {
        "initialize" => {}
        "sep-2322-client-request-state" => one_beside_the_other(&client).await,
        "json-schema-2020-12-preservation" => send_schema_back(&client).await,
        _ => everything(&client, &context).await,
    }
}

async fn items(client: &Client, method: &str, key: &str) -> Vec<Value> {
    let told = client.request(method, json!({})).await;
    told.outcome.ok().and_then(|result| result[key].as_array().cloned()).unwrap_or_default()
}

async fn tools(client: &Client) -> Vec<Value> {
    items(client, "tools/list", "tools").await
}

/// Calls every tool, reads every resource, gets every prompt.
async fn everything(client: &Client, context: &Value) {
    let tools = tools(client).await;
    let given = context["toolCalls"].as_array().cloned().unwrap_or_default();
    for call in &given {
        let _ = client.call(call["name"].as_str().unwrap_or_default(), call["arguments"].clone()).await;
    }
    for tool in tools.iter().filter(|_| given.is_empty()) {
        let name = tool["name"].as_str().unwrap_or_default();
        let _ = client.call(name, arguments(&tool["inputSchema"])).await;
    }
    for resource in items(client, "resources/list", "resources").await {
        let _ = client.request("resources/read", json!({ "uri": resource["uri"] })).await;
    }
    for prompt in items(client, "prompts/list", "prompts").await {
        let _ = client.request("prompts/get", json!({ "name": prompt["name"], "arguments": {} })).await;
    }
}

/// A value for every argument.
fn arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("object") => json!({}),
        Some("array") => json!([]),
        _ => json!("text"),
    };
    properties.iter().map(|(name, schema)| (name.clone(), value(schema))).collect()
}

/// A pending call, another one, and then the first response.
async fn one_beside_the_other(client: &Client) {
    let names: Vec<String> =
        tools(client).await.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect();
    for name in names.iter().filter(|name| !name.contains("unrelated")) {
        let beside = async {
            for other in names.iter().filter(|name| name.contains("unrelated")) {
                let _ = client.call(other, json!({})).await;
            }
        };
        let (told, ()) = tokio::join!(client.call(name, json!({})), beside);
        let _ = told;
    }
}

/// Passes the schema from the hub as an argument.
async fn send_schema_back(client: &Client) {
    let tools = tools(client).await;
    let taking = tools.iter().find(|tool| tool["inputSchema"]["properties"].get("schema").is_some());
    let shown = tools.iter().find(|tool| tool["inputSchema"].get("$defs").is_some());
    if let (Some(taking), Some(shown)) = (taking, shown) {
        let name = taking["name"].as_str().unwrap_or_default();
        let _ = client.call(name, json!({ "schema": shown["inputSchema"] })).await;
    }
}
