//! What a server answers reaches the client as it was written: every field, in its order, every number and escape.
//!
//! Compared are bytes, after taking away what the eras make the hub add or remove (protocol revision 2026-07-28,
//! "Result"). `SATCHEL_CAPTURED` names a directory with more answers, captured from real servers.

use std::{fmt, path::Path};

use satchel_tests::{Connection, Home, Hub, eventually, program};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use crate::{
    answers::{Answer, Script, captured, generated, written},
    client::{Client, Era},
};

/// The fields of an object in their order, with values as written.
#[derive(Debug, PartialEq)]
struct Fields(Vec<(String, String)>);

impl Fields {
    #[track_caller]
    fn of(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// Without the fields of the newer era, on both sides, so that they do not count as a difference.
    fn without_era(self) -> Self {
        let mut fields = self.without("resultType").without("ttlMs").without("cacheScope");
        if let Some(at) = fields.0.iter().position(|(name, _)| name == "_meta") {
            let meta = Self::of(&fields.0[at].1).without("io.modelcontextprotocol/serverInfo");
            if meta.0.is_empty() {
                fields.0.remove(at);
            } else {
                fields.0[at].1 = format!("{meta:?}");
            }
        }
        fields
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push((name, value.get().to_owned()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The request for a response.
fn request(answer: &Answer) -> Value {
    match (answer.method, &answer.key) {
        ("resources/read", Some(uri)) => json!({ "uri": uri }),
        ("completion/complete", _) => {
            json!({ "ref": { "type": "ref/prompt", "name": "odd" }, "argument": { "name": "a", "value": "" } })
        }
        (_, Some(name)) => json!({ "name": name, "arguments": {} }),
        (_, None) => json!({}),
    }
}

/// Is what came what was sent, except for differences between the eras?
fn same(sent: &str, came: &str, server: Era, client: Era) -> bool {
    let (mut sent, came) = (Fields::of(sent), Fields::of(came));
    if (server, client) == (Era::Legacy, Era::Legacy) {
        return sent == came;
    }
    // Before 2026-07-28 it has to be an object; the text beside it has the same value, or becomes it.
    if (server, client) == (Era::Modern, Era::Legacy)
        && let Some(value) =
            sent.get("structuredContent").filter(|value| !value.trim_start().starts_with('{'))
    {
        let text = json!([{ "type": "text", "text": value }]).to_string();
        sent = sent.without("structuredContent");
        for (name, value) in &mut sent.0 {
            if name == "content" && value == "[]" {
                value.clone_from(&text);
            }
        }
    }
    sent.without_era() == came.without_era()
}

/// Configures every script as a server.
fn configure(home: &Home, scripts: &[Script]) {
    let mut servers = json!({});
    for script in scripts {
        let file = home.file(&format!("{}.answers", script.name));
        std::fs::write(&file, script.text()).expect("the home can be written to");
        servers[&script.name] = json!({ "command": program("verbatim-mcp-server"), "args": [file] });
    }
    home.write_config(&json!({ "mcpServers": servers }));
}

async fn client(hub: &Hub<'_>, path: &str, era: Era) -> Client {
    let connection = hub.connection("fidelity").await;
    let url = format!("{}{path}", connection.url);
    let mut client = Client::new(Connection { url, ..connection }, era);
    client.open().await;
    client
}

fn scripts() -> Vec<Script> {
    let mut scripts = vec![written(), generated(1), generated(2)];
    if let Some(directory) = std::env::var_os("SATCHEL_CAPTURED") {
        scripts.extend(captured(Path::new(&directory)));
    }
    let modern: Vec<Script> = match scripts.len() {
        3 => vec![written().modern(), generated(1).modern()],
        _ => vec![written().modern(), generated(1).modern(), generated(3).modern()],
    };
    scripts.extend(modern);
    scripts
}

/// A person reviews what is held back, and approves it: some captured servers tell models more than what they do.
async fn look(home: &Home, scripts: &[Script]) {
    for script in scripts {
        eventually(&format!("{} is looked at", script.name), async || {
            let ran = home.satchel_agreeing(&["approve", &script.name]).await;
            (ran.code == Some(0)).then_some(())
        })
        .await;
    }
}

#[track_caller]
fn nothing(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} answers were changed:\n{}", wrong.len(), wrong.join("\n"));
}

fn difference(what: &str, sent: &str, came: &str) -> String {
    // From a little before the first difference.
    let at =
        sent.bytes().zip(came.bytes()).take_while(|(sent, came)| sent == came).count().saturating_sub(40);
    let part =
        |text: &str| String::from_utf8_lossy(&text.as_bytes()[at..]).chars().take(300).collect::<String>();
    format!("{what}, from byte {at}\n  sent {}\n  came {}", part(sent), part(came))
}

#[tokio::test]
async fn a_servers_own_surface_changes_nothing() {
    let home = Home::empty();
    let scripts = scripts();
    configure(&home, &scripts);
    let hub = home.start_hub().await;
    look(&home, &scripts).await;
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for script in &scripts {
        for era in [Era::Legacy, Era::Modern] {
            let client = client(&hub, &format!("/server/{}", script.name), era).await;
            for answer in &script.answers {
                let what = format!("{era:?} client, {}: {} {:?}", script.name, answer.method, answer.key);
                compared += 1;
                match client.raw(answer.method, request(answer)).await {
                    Ok(came) if same(&answer.result, &came, script.era, era) => {}
                    Ok(came) => wrong.push(difference(&what, &answer.result, &came)),
                    Err(error) => wrong.push(format!("{what}: {error}")),
                }
            }
        }
    }
    println!("{compared} answers of {} servers were compared", scripts.len());
    nothing(&wrong);
}

fn items(list: &str) -> Vec<Box<RawValue>> {
    let list = Fields::of(list);
    serde_json::from_str(list.get("tools").expect("a list of tools")).expect("a list of tools")
}

fn tools_of(script: &Script) -> Vec<Box<RawValue>> {
    let answer = script.answers.iter().find(|answer| answer.method == "tools/list");
    items(&answer.expect("every script has tools").result)
}

/// The tools of all pages.
async fn list_tools(client: &Client) -> Vec<Fields> {
    let (mut listed, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.raw("tools/list", params).await.expect("the tools are listed");
        listed.extend(items(&page).iter().map(|tool| Fields::of(tool.get())));
        match Fields::of(&page).get("nextCursor") {
            Some(next) => params = json!({ "cursor": serde_json::from_str::<Value>(next).expect("JSON") }),
            None => return listed,
        }
    }
}

#[tokio::test]
async fn the_direct_surface_changes_only_names() {
    let home = Home::empty();
    let scripts = scripts();
    configure(&home, &scripts);
    let hub = home.start_hub().await;
    look(&home, &scripts).await;
    let mut wrong = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let client = client(&hub, "/direct", era).await;
        // The servers' lists come one after another.
        let all = scripts.iter().map(|script| tools_of(script).len()).sum::<usize>();
        let mut listed = Vec::new();
        eventually("every tool is listed", async || {
            listed = list_tools(&client).await;
            (listed.len() >= all).then_some(())
        })
        .await;
        for script in &scripts {
            for tool in tools_of(script) {
                // Two servers have this page, and there are no tasks here.
                let page = format!("\"{}|ui://panel\"", script.name);
                let shown = tool.get().replace("\"ui://panel\"", &page);
                let sent = Fields::of(&shown.replace(r#","execution":{"taskSupport":"optional"}"#, ""));
                let name = sent.get("name").expect("a tool has a name").to_owned();
                let sent = sent.without("name");
                let found = listed.iter().any(|came| {
                    came.0.len() == sent.0.len() + 1
                        && came.0.iter().filter(|(field, _)| field != "name").eq(sent.0.iter())
                });
                if !found {
                    wrong.push(format!("{era:?} client: {} of {} is not listed as it is", name, script.name));
                }
            }
        }
    }
    nothing(&wrong);
}

/// A result as the router returns it: structured content without a text is a text too, because no list has its schema.
fn with_text(result: &str) -> String {
    let mut fields = Fields::of(result);
    let content: Vec<Value> =
        fields.get("content").map_or_else(Vec::new, |list| serde_json::from_str(list).expect("a list"));
    let has_text =
        content.iter().any(|block| block["text"].as_str().is_some_and(|text| !text.trim().is_empty()));
    let Some(structured) = fields.get("structuredContent").filter(|_| !has_text).map(ToOwned::to_owned)
    else {
        return result.to_owned();
    };
    let text = serde_json::to_string(&structured).expect("texts always serialize");
    let block = format!(r#"{{"type":"text","text":{text}}}"#);
    let content = match fields.get("content").map(str::trim).filter(|_| !content.is_empty()) {
        Some(list) => format!("{},{block}]", list.trim_end_matches(']')),
        None => format!("[{block}]"),
    };
    match fields.0.iter_mut().find(|(name, _)| name == "content") {
        Some((_, value)) => *value = content,
        None => fields.0.push(("content".to_owned(), content)),
    }
    let fields: Vec<String> = fields.0.iter().map(|(name, value)| format!("{:?}:{value}", name)).collect();
    format!("{{{}}}", fields.join(","))
}

#[tokio::test]
async fn the_router_returns_results_as_they_are() {
    let home = Home::empty();
    let scripts = scripts();
    configure(&home, &scripts);
    let hub = home.start_hub().await;
    let mut wrong = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let client = client(&hub, "", era).await;
        for script in &scripts {
            for answer in script.answers.iter().filter(|answer| answer.method == "tools/call") {
                let tool = answer.key.as_deref().expect("a tool has a name");
                let tool_path = format!("{}:{tool}", script.name);
                let arguments = json!({ "tool_path": tool_path, "arguments": {} });
                let params = json!({ "name": "execute_mcp_tool", "arguments": arguments });
                match client.raw("tools/call", params).await {
                    Ok(came) if same(&with_text(&answer.result), &came, script.era, era) => {}
                    Ok(came) => wrong.push(difference(&tool_path, &answer.result, &came)),
                    Err(error) => wrong.push(format!("{era:?} client, {tool_path}: {error}")),
                }
            }
        }
    }
    nothing(&wrong);
}
