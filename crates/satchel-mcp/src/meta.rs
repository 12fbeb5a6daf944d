//! Adds and removes fields that only one family of revisions has, by splicing (`2026-07-28/basic/index.mdx#_meta`).
//! Everything else passes unchanged.

use serde_json::{json, value::to_raw_value};

use crate::{
    ErrorObject, Raw, RawObject,
    era::{self, Era},
    errors,
};

/// The client's capabilities, in every request of the stateless revisions.
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The client's info.
pub const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// The requested log level.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The server's info, in every result.
pub const SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// The notification stream that a notification belongs to.
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The extension for tasks.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The task that a message belongs to (`2025-11-25/basic/utilities/tasks.mdx`).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The extension for tools with user interfaces, MCP Apps.
pub const APPS: &str = "io.modelcontextprotocol/ui";
/// The extension for skills.
pub const SKILLS: &str = "io.modelcontextprotocol/skills";
/// Keys that concern only one hop. Other keys, such as the task of a message, are end-to-end.
const BETWEEN_NEIGHBOURS: [&str; 6] =
    [era::VERSION_META, CAPABILITIES, CLIENT, LOG_LEVEL, SERVER, SUBSCRIPTION];

/// The `_meta` of parameters or of a result; empty if there is none.
pub fn of(fields: &RawObject) -> RawObject {
    fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default()
}

/// The task of these parameters or this result.
pub fn related_task(fields: &RawObject) -> Option<String> {
    RawObject::parse(of(fields).get(RELATED_TASK)?).ok()?.text("taskId")
}

/// Removes hop-by-hop metadata from a request's parameters.
pub fn strip(params: &mut RawObject) {
    let Some(raw) = params.get("_meta") else { return };
    let Ok(mut meta) = RawObject::parse(raw) else { return };
    // All keys are removed, so there is no early exit.
    if BETWEEN_NEIGHBOURS.iter().filter(|key| meta.remove(key).is_some()).count() == 0 {
        return;
    }
    if meta.is_empty() {
        params.remove("_meta");
    } else {
        params.set("_meta", meta.to_raw());
    }
}

/// Adds the `_meta` that this stateless revision requires; existing values are kept.
pub fn complete_request(params: &mut RawObject, era: Era, client: &Raw, capabilities: &Raw) {
    let mut meta = of(params);
    for (key, value) in [(CLIENT, client), (CAPABILITIES, capabilities)] {
        if meta.get(key).is_none() {
            meta.set(key, value.to_owned());
        }
    }
    meta.put(era::VERSION_META, &era.revision());
    params.set("_meta", meta.to_raw());
}

/// A server's result for a client of another revision. What the stateless revisions require of results is added when one
/// is sent ([`modern_result`]).
pub fn result_between(result: Box<Raw>, server: Era, client: Era) -> Box<Raw> {
    match server.is_stateless() && !client.is_stateless() {
        true => legacy_result(&result),
        false => result,
    }
}

/// A result without kinds of blocks that this revision does not have, for which its clients reject the whole of it: a link
/// becomes a text, and sound a file.
pub fn blocks_for(client: Era, result: Box<Raw>) -> Box<Raw> {
    match client.has_links() && client.has_audio() {
        true => result,
        false => with_older_blocks(&result, client).unwrap_or(result),
    }
}

fn with_older_blocks(result: &Raw, client: Era) -> Option<Box<Raw>> {
    let older = |block: &Raw| {
        let fields = RawObject::parse(block).ok()?;
        let text = |key: &str| fields.text(key).unwrap_or_default();
        match text("type").as_str() {
            "resource_link" if !client.has_links() => {
                let name = [text("title"), text("name")].into_iter().find(|name| !name.is_empty());
                let about = [name.unwrap_or_default(), text("uri"), text("description")];
                let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty()).collect();
                to_raw_value(&json!({ "type": "text", "text": about.join("\n") })).ok()
            }
            "audio" if !client.has_audio() => {
                let file = json!({ "uri": "audio:", "mimeType": text("mimeType"), "blob": text("data") });
                to_raw_value(&json!({ "type": "resource", "resource": file })).ok()
            }
            _ => None,
        }
    };
    let text = result.get();
    if !text.contains("\"resource_link\"") && !text.contains("\"audio\"") {
        return None;
    }
    let mut fields = RawObject::parse(result).ok()?;
    let mut changed = false;
    let mut replaced = |block: &mut Box<Raw>| {
        if let Some(older) = older(block) {
            *block = older;
            changed = true;
        }
    };
    if let Some(mut blocks) = fields.read::<Vec<Box<Raw>>>("content") {
        blocks.iter_mut().for_each(&mut replaced);
        fields.put("content", &blocks);
    }
    if let Some(mut messages) = fields.read::<Vec<Box<Raw>>>("messages") {
        for message in &mut messages {
            let Ok(mut inside) = RawObject::parse(message) else { continue };
            let Some(mut block) = inside.get("content").map(ToOwned::to_owned) else { continue };
            replaced(&mut block);
            inside.set("content", block);
            *message = inside.to_raw();
        }
        fields.put("messages", &messages);
    }
    changed.then(|| fields.to_raw())
}

/// A server's error for a client of another revision.
pub fn error_between(method: &str, error: ErrorObject, server: Era, client: Era) -> ErrorObject {
    match (server.is_stateless(), client.is_stateless()) {
        (true, false) => legacy_error(method, error),
        (false, true) => modern_error(error),
        _ => error,
    }
}

/// A list as this revision has it.
pub fn list_for(client: Era, key: &str, list: Box<Raw>) -> Box<Raw> {
    match key == "tools" && !client.has_any_output() {
        true => legacy_tools(list),
        false => list,
    }
}

/// Converts a result of a stateless revision to an older one. Cache hints are dropped. Structured content has to be an
/// object there; another value becomes text, unless the result has content already.
fn legacy_result(result: &Raw) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(result) else { return result.to_owned() };
    for key in ["resultType", "ttlMs", "cacheScope"] {
        fields.remove(key);
    }
    strip(&mut fields);
    if fields.get("structuredContent").is_some_and(|value| !value.get().starts_with('{'))
        && let Some(value) = fields.remove("structuredContent")
    {
        let content: Vec<&Raw> = fields.read("content").unwrap_or_default();
        if content.is_empty() {
            // Strings always serialize.
            fields.put("content", &json!([{ "type": "text", "text": value.get() }]));
        }
    }
    fields.to_raw()
}

/// Converts a list of tools to an older revision, where an output schema describes an object
/// (`2025-11-25/schema.mdx#tool`). Clients of those reject the whole list otherwise; without a schema, they take any result.
fn legacy_tools(list: Box<Raw>) -> Box<Raw> {
    const SCHEMA: &str = "outputSchema";
    if !list.get().contains(SCHEMA) {
        return list;
    }
    let Ok(mut fields) = RawObject::parse(&list) else { return list };
    let mut tools: Vec<Box<Raw>> = fields.read("tools").unwrap_or_default();
    let mut changed = false;
    for tool in tools.iter_mut().filter(|tool| tool.get().contains(SCHEMA)) {
        let Ok(mut definition) = RawObject::parse(tool) else { continue };
        let is_of_object = |schema: &Raw| {
            RawObject::parse(schema).is_ok_and(|schema| schema.text("type").as_deref() == Some("object"))
        };
        if definition.get(SCHEMA).is_some_and(|schema| !is_of_object(schema)) {
            definition.remove(SCHEMA);
            *tool = definition.to_raw();
            changed = true;
        }
    }
    if !changed {
        return list;
    }
    // Raw values always serialize.
    fields.put("tools", &tools);
    fields.to_raw()
}

/// How long a client may cache a result, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttl(pub u64);

/// Converts a result to the stateless revisions; the server's own fields are kept. `ttl` for cacheable results.
pub fn modern_result(result: &Raw, server: &Raw, ttl: Option<Ttl>) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(result) else { return result.to_owned() };
    let set = |fields: &mut RawObject, key: &str, value: serde_json::Value| {
        if fields.get(key).is_none()
            && let Ok(raw) = to_raw_value(&value)
        {
            fields.set(key, raw);
        }
    };
    set(&mut fields, "resultType", json!("complete"));
    let complete = fields.text("resultType").as_deref() == Some("complete");
    if let Some(Ttl(ttl)) = ttl.filter(|_| complete) {
        set(&mut fields, "ttlMs", json!(ttl));
        set(&mut fields, "cacheScope", json!("private"));
    }
    let mut meta = of(&fields);
    if meta.get(SERVER).is_none() {
        meta.set(SERVER, server.to_owned());
    }
    fields.set("_meta", meta.to_raw());
    fields.to_raw()
}

/// Is it a request for input (`2026-07-28/basic/patterns/mrtr.mdx`)?
pub fn asks_for_input(result: &Raw) -> bool {
    result.get().contains("input_required")
        && RawObject::parse(result)
            .is_ok_and(|fields| fields.text("resultType").as_deref() == Some("input_required"))
}

/// Converts an error to the codes of the stateless revisions (`2026-07-28/basic/index.mdx#error-codes`).
pub fn modern_error(error: ErrorObject) -> ErrorObject {
    match error.code {
        errors::RESOURCE_NOT_FOUND => ErrorObject { code: errors::INVALID_PARAMS, ..error },
        _ => error,
    }
}

/// Converts a stateless server's error for an older client, which cannot act on errors about the hub's own request.
fn legacy_error(method: &str, error: ErrorObject) -> ErrorObject {
    match error.code {
        errors::INVALID_PARAMS if method == "resources/read" => {
            ErrorObject { code: errors::RESOURCE_NOT_FOUND, ..error }
        }
        errors::HEADER_MISMATCH | errors::MISSING_CAPABILITY | errors::UNSUPPORTED_PROTOCOL_VERSION => {
            ErrorObject { code: errors::INTERNAL_ERROR, ..error }
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn metadata_are_found_however_their_key_is_written() {
        for (params, expected) in [
            (r#"{"a":1}"#, None),
            (r#"{"a":"_meta"}"#, None),
            (r#"{"_meta":{"x":1}}"#, Some("1")),
            (r#"{"\u005fmeta":{"x":2}}"#, Some("2")),
            (r#"{"_met\u0061":{"x":3}}"#, Some("3")),
            (r#"[{"_meta":{"x":4}}]"#, None),
        ] {
            let raw = Raw::from_string(params.to_owned()).unwrap();
            let fields = RawObject::parse(&raw).unwrap_or_default();
            assert_eq!(of(&fields).get("x").map(Raw::get), expected, "{params}");
        }
    }

    #[test]
    fn a_revision_gets_only_blocks_that_it_has() {
        let link = r#"{"type":"resource_link","uri":"a:b","name":"B"}"#;
        let sound = r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#;
        let result = format!(r#"{{"content":[{link},{sound}],"n":1.0}}"#);
        let for_revision =
            |revision: &str| blocks_for(Era::of(revision).unwrap(), raw(&result)).get().to_owned();
        assert_eq!(for_revision("2025-06-18"), result);
        let text = r#"{"type":"text","text":"B\na:b"}"#;
        assert_eq!(for_revision("2025-03-26"), format!(r#"{{"content":[{text},{sound}],"n":1.0}}"#));
        let file = r#"{"type":"resource","resource":{"uri":"audio:","mimeType":"audio/wav","blob":"AA=="}}"#;
        assert_eq!(for_revision("2024-11-05"), format!(r#"{{"content":[{text},{file}],"n":1.0}}"#));
        let prompt = raw(&format!(r#"{{"messages":[{{"role":"user","content":{sound}}}]}}"#));
        let older = blocks_for(Era::FIRST, prompt);
        assert_eq!(older.get(), format!(r#"{{"messages":[{{"role":"user","content":{file}}}]}}"#));
        let plain = r#"{"content":[{"type":"text","text":"\"audio\""}]}"#;
        assert_eq!(blocks_for(Era::FIRST, raw(plain)).get(), plain);
    }

    #[test]
    fn hop_by_hop_metadata_is_removed_and_the_rest_keeps_its_place() {
        let mut params = RawObject::parse(&raw(
            r#"{"name":"a","_meta":{"traceparent":"00-1","io.modelcontextprotocol/logLevel":"debug","x":1.0}}"#,
        ))
        .unwrap();
        strip(&mut params);
        assert_eq!(params.to_raw().get(), r#"{"name":"a","_meta":{"traceparent":"00-1","x":1.0}}"#);
        let mut only =
            RawObject::parse(&raw(r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{}}}"#)).unwrap();
        strip(&mut only);
        assert_eq!(only.to_raw().get(), "{}");
    }

    #[test]
    fn a_request_gets_what_it_must_say_and_keeps_what_it_says() {
        let mut params = RawObject::parse(&raw(
            r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}},"progressToken":1}}"#,
        ))
        .unwrap();
        complete_request(&mut params, Era::STATELESS, &raw(r#"{"name":"h"}"#), &raw("{}"));
        let meta = of(&params);
        assert_eq!(meta.get(CAPABILITIES).unwrap().get(), r#"{"roots":{}}"#);
        assert_eq!(meta.get(CLIENT).unwrap().get(), r#"{"name":"h"}"#);
        assert_eq!(meta.text(era::VERSION_META).as_deref(), Some(Era::STATELESS.revision()));
    }

    #[test]
    fn a_result_changes_family_and_loses_nothing_else() {
        let server = raw(r#"{"name":"s"}"#);
        let written = r#"{"content":[],"x":2,"_meta":{"a":1.0}}"#;
        let modern = modern_result(&raw(written), &server, Some(Ttl(5)));
        assert!(modern.get().contains(r#""resultType":"complete","ttlMs":5,"cacheScope":"private""#));
        assert_eq!(legacy_result(&modern).get(), written);
        let asking = modern_result(&raw(r#"{"resultType":"input_required"}"#), &server, Some(Ttl(5)));
        assert!(!asking.get().contains("ttlMs") && asks_for_input(&asking) && !asks_for_input(&modern));
        assert_eq!(
            legacy_result(&raw(r#"{"structuredContent":[1],"content":[]}"#)).get(),
            r#"{"content":[{"type":"text","text":"[1]"}]}"#
        );
        assert_eq!(
            legacy_result(&raw(r#"{"content":[{"type":"text","text":"one"}],"structuredContent":1}"#)).get(),
            r#"{"content":[{"type":"text","text":"one"}]}"#
        );
    }

    #[test]
    fn older_clients_get_no_output_schema_but_that_of_an_object() {
        let list = |schema: &str| {
            raw(&format!(r#"{{"tools":[{{"name":"a","x":1.0}},{{"name":"b"{schema},"y":2}}],"z":3}}"#))
        };
        for schema in [r#"{"type":"array"}"#, r#"{"anyOf":[{"type":"object"}]}"#, "true"] {
            let legacy = legacy_tools(list(&format!(r#","outputSchema":{schema}"#)));
            assert_eq!(legacy.get(), list("").get(), "{schema}");
        }
        let kept = list(r#","outputSchema":{"type":"object","properties":{}}"#);
        assert_eq!(legacy_tools(kept.clone()).get(), kept.get());
    }

    #[test]
    fn errors_get_the_code_of_the_family() {
        let coded = |code| ErrorObject::new(code, "no");
        assert_eq!(modern_error(coded(-32002)).code, -32602);
        assert_eq!(legacy_error("resources/read", coded(-32602)).code, -32002);
        assert_eq!(legacy_error("tools/call", coded(-32602)).code, -32602);
        assert_eq!(legacy_error("tools/call", coded(-32021)).code, -32603);
        assert_eq!(legacy_error("tools/call", coded(-7)).code, -7);
    }
}
