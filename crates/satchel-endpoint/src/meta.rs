//! The four meta-tools that stand for everything behind the hub. Their names, parameters and separators are fixed;
//! their descriptions are short, because every client carries them all the time.

use satchel_core::{
    catalog::{Offer, ToolEntry},
    hub::{CallFailure, Hub},
    model::{Place, ServerName},
};
use satchel_mcp::{ErrorObject, Raw, RawObject};
use serde_json::{Value, json, value::to_raw_value};

pub(crate) const DISCOVER: &str = "discover_mcp_tools";
pub(crate) const EXECUTE: &str = "execute_mcp_tool";
pub(crate) const LIST_RESOURCES: &str = "list_mcp_resources";
pub(crate) const READ_RESOURCE: &str = "read_mcp_resource";

pub(crate) const INSTRUCTIONS: &str = "Tools of many servers are reached through here. Find one with discover_mcp_tools, then call it with execute_mcp_tool.";

const LIMIT: usize = 10;
const MOST: usize = 50;
/// A description in a list of found tools.
const SUMMARY: usize = 160;
/// Names of servers in the description of `discover_mcp_tools`.
const NAMES: usize = 240;

/// The definitions as clients list them.
pub(crate) fn definitions(servers: &[String]) -> Value {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
    json!([
        {
            "name": DISCOVER,
            "title": "Discover tools",
            "description": format!("Find tools by what they do. Returns tool_path and call signature for {EXECUTE}.{}", behind(servers)),
            "inputSchema": object(json!({
                "query": { "type": "string", "description": "what the tool should do, in a few words" },
                "limit": { "type": "integer", "default": LIMIT, "minimum": 1, "maximum": MOST },
                "server": { "type": "string", "description": "only this server" },
                "detail": { "type": "string", "enum": ["brief", "full"], "description": "full adds the JSON Schema" }
            }), json!(["query"])),
            "annotations": { "readOnlyHint": true, "openWorldHint": false }
        },
        {
            "name": EXECUTE,
            "title": "Execute a tool",
            "description": format!("Call a tool found with {DISCOVER}; its result comes back unchanged."),
            "inputSchema": object(json!({
                "tool_path": { "type": "string", "description": "server:tool" },
                "arguments": { "type": "object", "description": "as its signature says" }
            }), json!(["tool_path"]))
        },
        {
            "name": LIST_RESOURCES,
            "title": "List resources",
            "description": "List resources and templates of all servers as server|uri.",
            "inputSchema": object(json!({}), json!([])),
            "annotations": { "readOnlyHint": true, "openWorldHint": false }
        },
        {
            "name": READ_RESOURCE,
            "title": "Read a resource",
            "description": "Read one resource.",
            "inputSchema": object(json!({ "uri": { "type": "string", "description": "server|uri" } }), json!(["uri"])),
            "annotations": { "readOnlyHint": true }
        }
    ])
}

fn behind(servers: &[String]) -> String {
    let mut names = String::new();
    for (at, server) in servers.iter().enumerate() {
        if names.len() + server.len() > NAMES {
            names.push_str(&format!(" and {} more", servers.len() - at));
            break;
        }
        names.push_str(if at == 0 { "" } else { ", " });
        names.push_str(server);
    }
    if names.is_empty() { String::new() } else { format!(" Servers: {names}.") }
}

/// `discover_mcp_tools`: from the catalog alone; starts nothing.
pub(crate) fn discover(hub: &Hub, arguments: &RawObject) -> Box<Raw> {
    let Some(query) = arguments.text("query") else {
        return fault("discover_mcp_tools needs a query: what the tool should do, in a few words");
    };
    let server = arguments.text("server").filter(|server| !server.is_empty());
    let limit = arguments.read::<f64>("limit").map_or(LIMIT, |limit| limit.clamp(1.0, MOST as f64) as usize);
    let full = arguments.text("detail").as_deref() == Some("full");
    if let Some(server) = &server
        && let Some(fault) = unusable(hub, server)
    {
        return fault;
    }
    let catalog = hub.catalog();
    let found = catalog.find(&query, server.as_deref());
    let tools: Vec<Value> =
        found.iter().take(limit).map(|(server, tool)| describe(server, tool, full)).collect();
    let mut answer = RawObject::new();
    put(&mut answer, "tools", &tools);
    if found.len() > limit {
        put(&mut answer, "more", &(found.len() - limit));
    }
    if found.is_empty() {
        put(&mut answer, "hint", &nothing_found(hub, server.as_deref()));
    }
    text(answer.to_raw().get(), false)
}

fn describe(server: &ServerName, tool: &ToolEntry, full: bool) -> Value {
    let mut entry = json!({ "tool_path": format!("{server}:{}", tool.name), "signature": tool.signature() });
    let description = if full { tool.description.clone() } else { tool.summary(SUMMARY) };
    if !description.is_empty() {
        entry["description"] = json!(description);
    }
    if full {
        let raw = qualified(server, &tool.raw, "");
        let definition = RawObject::parse(&raw).unwrap_or_default();
        for key in ["inputSchema", "outputSchema", "annotations", "_meta"] {
            if let Some(value) = definition.read::<Value>(key) {
                entry[key] = value;
            }
        }
    }
    entry
}

/// Why nothing was found, and what to try.
fn nothing_found(hub: &Hub, server: Option<&str>) -> String {
    let snapshot = hub.snapshot();
    let usable = |view: &&satchel_core::model::ServerView| {
        view.enabled && server.is_none_or(|server| view.name == server)
    };
    let silent: Vec<String> = snapshot
        .servers
        .iter()
        .filter(usable)
        .filter(|view| view.tools.is_none())
        .map(|view| format!("{} ({})", view.name, view.state.name()))
        .collect();
    let names: Vec<&str> = snapshot.servers.iter().filter(usable).map(|view| view.name.as_str()).collect();
    let mut hint = match names.as_slice() {
        [] => "No server is switched on in Satchel.".to_owned(),
        names => format!(
            "No tool fits. Try other words, or an empty query with one of these servers: {}.",
            names.join(", ")
        ),
    };
    if !silent.is_empty() {
        hint.push_str(&format!(" Not read yet: {}.", silent.join(", ")));
    }
    hint
}

/// A server that was named but cannot be used.
fn unusable(hub: &Hub, server: &str) -> Option<Box<Raw>> {
    let snapshot = hub.snapshot();
    match snapshot.servers.iter().find(|view| view.name == server) {
        None => {
            let names: Vec<&str> =
                snapshot.servers.iter().filter(|view| view.enabled).map(|view| view.name.as_str()).collect();
            Some(fault(&format!("There is no server \"{server}\". Servers: {}.", names.join(", "))))
        }
        Some(view) if !view.enabled => {
            Some(fault(&format!("\"{server}\" is switched off. Switch it on in Satchel to use it.")))
        }
        Some(view) if view.tools.is_none() && view.state.needs_you() => {
            let sentence = view.state.sentence(Place::Computer, 0);
            Some(fault(&format!("\"{server}\" cannot be used. {sentence}.")))
        }
        Some(_) => None,
    }
}

/// The path and arguments of `execute_mcp_tool`. Models often write the arguments as a JSON string; that is taken too.
pub(crate) fn execute_arguments(arguments: &RawObject) -> Result<(String, Box<Raw>), String> {
    let path = arguments.text("tool_path").ok_or(
        "execute_mcp_tool needs a tool_path of the form server:tool; find one with discover_mcp_tools",
    )?;
    let fault = || "\"arguments\" must be an object, as the tool's signature says".to_owned();
    let given = match arguments.get("arguments") {
        None => return Ok((path, RawObject::new().to_raw())),
        Some(raw) if raw.get() == "null" => return Ok((path, RawObject::new().to_raw())),
        Some(raw) => raw.to_owned(),
    };
    if given.get().starts_with('{') {
        return Ok((path, given));
    }
    let text: String = serde_json::from_str(given.get()).map_err(|_| fault())?;
    if text.trim().is_empty() {
        return Ok((path, RawObject::new().to_raw()));
    }
    let inner = Raw::from_string(text.trim().to_owned()).map_err(|_| fault())?;
    if inner.get().starts_with('{') { Ok((path, inner)) } else { Err(fault()) }
}

/// `list_mcp_resources`: from the catalog alone.
pub(crate) fn list_resources(hub: &Hub) -> Box<Raw> {
    let catalog = hub.catalog();
    let all = |pick: fn(&Offer) -> &[satchel_core::catalog::ResourceEntry], key: &str| -> Vec<Box<Raw>> {
        let of = |(server, offer): (&ServerName, &std::sync::Arc<Offer>)| {
            pick(offer).iter().map(|entry| qualified(server, &entry.raw, key)).collect::<Vec<_>>()
        };
        catalog.servers().iter().flat_map(of).collect()
    };
    let mut answer = RawObject::new();
    put(&mut answer, "resources", &all(|offer| &offer.resources, "uri"));
    let templates = all(|offer| &offer.templates, "uriTemplate");
    if !templates.is_empty() {
        put(&mut answer, "resourceTemplates", &templates);
    }
    text(answer.to_raw().get(), false)
}

/// A definition with its own URI under `key`, and that of its user interface (`_meta.ui.resourceUri`), written as
/// `server|uri`. Everything else stays as the server wrote it.
fn qualified(server: &ServerName, raw: &Raw, key: &str) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(raw) else { return raw.to_owned() };
    let path = |uri: String| format!("{server}|{uri}");
    if let Some(uri) = fields.text(key) {
        put(&mut fields, key, &path(uri));
    }
    if let Some(mut meta) = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()) {
        if let Some(mut ui) = meta.get("ui").and_then(|ui| RawObject::parse(ui).ok())
            && let Some(uri) = ui.text("resourceUri")
        {
            put(&mut ui, "resourceUri", &path(uri));
            meta.set("ui", ui.to_raw());
        }
        // The key that earlier versions of the extension used.
        if let Some(uri) = meta.text("ui/resourceUri") {
            put(&mut meta, "ui/resourceUri", &path(uri));
        }
        fields.set("_meta", meta.to_raw());
    }
    fields.to_raw()
}

/// The contents of a resource as the content of a tool's result. What the server added stays.
pub(crate) fn resource_content(result: &Raw) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(result) else { return fault("the server's answer is no resource") };
    let contents: Vec<Box<Raw>> = fields.read("contents").unwrap_or_default();
    fields.remove("contents");
    let block = |item: Box<Raw>| {
        let mut block = RawObject::new();
        put(&mut block, "type", &"resource");
        block.set("resource", item);
        block.to_raw()
    };
    let mut answer = RawObject::new();
    put(&mut answer, "content", &contents.into_iter().map(block).collect::<Vec<_>>());
    for (key, value) in fields.iter() {
        answer.set(key, value.to_owned());
    }
    answer.to_raw()
}

/// A call that failed on our side, as text for the model and as data for programs.
pub(crate) fn failure(failure: &CallFailure) -> Box<Raw> {
    let message = format!("{}. {}", failure.message.trim_end_matches('.'), failure.action);
    let mut meta = json!({ "dev.satchel/outcome": failure.outcome });
    if let Some(server) = &failure.server {
        meta["dev.satchel/server"] = json!(server);
    }
    if let Some(code) = failure.code {
        meta["dev.satchel/code"] = json!(code);
    }
    raw(&json!({ "content": [{ "type": "text", "text": message.trim() }], "isError": true, "_meta": meta }))
}

/// A resource that its server would not give.
pub(crate) fn unreadable(server: &ServerName, error: &ErrorObject) -> Box<Raw> {
    let message = format!("\"{server}\" could not read this resource: {error}");
    let meta = json!({ "dev.satchel/outcome": "upstream_error", "dev.satchel/server": server });
    raw(&json!({ "content": [{ "type": "text", "text": message }], "isError": true, "_meta": meta }))
}

/// A request to a meta-tool that makes no sense. Nothing was sent anywhere.
pub(crate) fn fault(message: &str) -> Box<Raw> {
    let meta = json!({ "dev.satchel/outcome": "not_sent" });
    raw(&json!({ "content": [{ "type": "text", "text": message }], "isError": true, "_meta": meta }))
}

fn text(text: &str, is_error: bool) -> Box<Raw> {
    raw(&json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

fn put(object: &mut RawObject, key: &str, value: &impl serde::Serialize) {
    object.put(key, value).expect("JSON values always serialize");
}

fn raw(value: &Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> RawObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn arguments_are_taken_as_an_object_or_as_its_text() {
        let check = |json: &str, expected: Result<&str, ()>| {
            let got = execute_arguments(&object(json));
            assert_eq!(got.as_ref().map(|(_, raw)| raw.get()).map_err(|_| ()), expected, "{json}");
        };
        check(r#"{"tool_path":"a:b","arguments":{"z":1.0,"a":2}}"#, Ok(r#"{"z":1.0,"a":2}"#));
        check(r#"{"tool_path":"a:b","arguments":" {\"z\":1.0} "}"#, Ok(r#"{"z":1.0}"#));
        check(r#"{"tool_path":"a:b"}"#, Ok("{}"));
        check(r#"{"tool_path":"a:b","arguments":null}"#, Ok("{}"));
        check(r#"{"tool_path":"a:b","arguments":[1]}"#, Err(()));
        check(r#"{"tool_path":"a:b","arguments":"not json"}"#, Err(()));
        check(r#"{"arguments":{}}"#, Err(()));
    }

    #[test]
    fn addresses_of_resources_are_qualified_and_nothing_else_changes() {
        let server: ServerName = "s".parse().unwrap();
        let raw = Raw::from_string(
            r#"{"uri":"x://1","z":1.0,"_meta":{"k":1,"ui":{"resourceUri":"ui://a","csp":{}},"ui/resourceUri":"ui://a"}}"#.into(),
        )
        .unwrap();
        assert_eq!(
            qualified(&server, &raw, "uri").get(),
            r#"{"uri":"s|x://1","z":1.0,"_meta":{"k":1,"ui":{"resourceUri":"s|ui://a","csp":{}},"ui/resourceUri":"s|ui://a"}}"#
        );
    }

    #[test]
    fn the_contents_of_a_resource_become_content_unchanged() {
        let raw = Raw::from_string(r#"{"contents":[{"uri":"x","text":"t","k":1.0}],"_meta":{"a":1}}"#.into())
            .unwrap();
        assert_eq!(
            resource_content(&raw).get(),
            r#"{"content":[{"type":"resource","resource":{"uri":"x","text":"t","k":1.0}}],"_meta":{"a":1}}"#
        );
    }

    #[test]
    fn long_lists_of_servers_are_cut() {
        let many: Vec<String> = (0..100).map(|at| format!("server-{at}")).collect();
        let text = behind(&many);
        assert!(text.len() < NAMES + 40 && text.contains("more."), "{text}");
        assert_eq!(behind(&[]), "");
    }
}
