//! Corrects results that strict clients reject as a whole: where a list or an object is empty, PHP writes the other one;
//! others write null for what they leave out, or one block for a list of one. Touches only fields that the protocol
//! defines, and only where they are wrong: a result without a fault keeps its bytes.

use satchel_mcp::{Raw, RawObject, era::Era};
use serde_json::value::to_raw_value;

use super::{
    mending::{Mended, mend},
    repair::is_empty_list,
};

/// Members of a block or a resource that may be left out, and are objects.
const OBJECTS: [&str; 2] = ["_meta", "annotations"];
/// The same for texts and numbers.
const VALUES: [&str; 5] = ["mimeType", "title", "description", "size", "name"];

/// The result of this method as the protocol has it; `None` if it is right. In some revisions, structured content may be any
/// value.
pub fn corrected(method: &str, era: Era, result: &Raw) -> Option<Box<Raw>> {
    let is_looked_at =
        method == "completion/complete" || method == "tools/call" && !result.get().contains("\"content\"");
    if !is_looked_at && !may_be_wrong(result.get()) && !lacks_a_type(method, result.get()) {
        return None;
    }
    let mut fields = RawObject::parse(result).ok()?;
    let mut changed = without_empty(&mut fields, &["_meta"], &[]);
    changed |= match method {
        "tools/call" => tool(&mut fields, era),
        "prompts/get" => prompt(&mut fields),
        "resources/read" => each(&mut fields, "contents", |mut item| {
            without_empty(&mut item, &OBJECTS, &VALUES).then_some(item)
        }),
        "completion/complete" => completion(&mut fields),
        _ => false,
    };
    changed.then(|| fields.to_raw())
}

/// The parameters of a question with a schema that models and forms can read; `None` if they are right.
pub fn corrected_question(method: &str, params: &Raw) -> Option<Box<Raw>> {
    const SCHEMA: &str = "requestedSchema";
    if method != "elicitation/create" {
        return None;
    }
    let mut fields = RawObject::parse(params).ok()?;
    let Ok(Mended::Changed(schema)) = mend(fields.get(SCHEMA)?) else { return None };
    fields.set(SCHEMA, schema);
    Some(fields.to_raw())
}

/// Cheap, because most results are right and some are large.
fn may_be_wrong(text: &str) -> bool {
    /// Lists of the protocol, in whose place an object or null may stand.
    const LISTS: [&str; 4] = ["\"content\"", "\"contents\"", "\"messages\"", "\"values\""];
    let is_no_list = |key: &str| {
        text.match_indices(key).any(|(at, _)| {
            let after = text[at + key.len()..].trim_start();
            let value = after.strip_prefix(':').map(str::trim_start).unwrap_or_default();
            let first = value.strip_prefix('[').map_or(value, str::trim_start);
            value.starts_with(['{', 'n']) || first.starts_with('"')
        })
    };
    text.contains("[]") || text.contains("null") || LISTS.iter().any(|key| is_no_list(key))
}

/// May a block of this result not say what it is? A type that stands elsewhere only costs a closer look.
fn lacks_a_type(method: &str, text: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get") && !text.contains("\"type\"")
}

/// Removes these members where they are null, and the objects among them where they are an empty list.
fn without_empty(fields: &mut RawObject, objects: &[&str], values: &[&str]) -> bool {
    let mut changed = false;
    for key in objects {
        let is_wrong = |value: &Raw| value.get() == "null" || is_empty_list(value);
        if fields.get(key).is_some_and(is_wrong) {
            changed |= fields.remove(key).is_some();
        }
    }
    for key in values {
        if fields.get(key).is_some_and(|value| value.get() == "null") {
            changed |= fields.remove(key).is_some();
        }
    }
    changed
}

fn tool(fields: &mut RawObject, era: Era) -> bool {
    let mut changed = without_empty(fields, &[], &["isError"]) | from_the_first_revision(fields);
    if !era.has_any_output() && fields.get("structuredContent").is_some_and(is_empty_list) {
        fields.put("structuredContent", &RawObject::new());
        changed = true;
    }
    // Of a result that says nothing else, such as the beginning of a task.
    let is_plain = |key: &str| matches!(key, "structuredContent" | "isError" | "_meta");
    if fields.get("content").is_none() && fields.iter().all(|(key, _)| is_plain(key)) {
        fields.put("content", &Vec::<Box<Raw>>::new());
        changed = true;
    }
    changed |= texts_as_blocks(fields);
    changed | each(fields, "content", block)
}

/// Maximum number of values in a completion.
const MOST_VALUES: usize = 100;

/// The member that results had before there were revisions.
const FIRST: &str = "toolResult";

fn from_the_first_revision(fields: &mut RawObject) -> bool {
    if fields.get("content").is_some() {
        return false;
    }
    let Some(result) = fields.remove(FIRST) else { return false };
    match RawObject::parse(&result) {
        Ok(object) if fields.get("structuredContent").is_none() => {
            fields.set("structuredContent", object.to_raw());
            fields.put("content", &Vec::<Box<Raw>>::new());
        }
        _ => {
            let text =
                serde_json::from_str::<String>(result.get()).unwrap_or_else(|_| result.get().to_owned());
            fields.put("content", &text);
        }
    }
    true
}

/// What a block is that does not say it, by its members.
fn kind_of(fields: &RawObject) -> Option<&'static str> {
    let has = |key: &str| fields.get(key).is_some();
    let media = fields.text("mimeType").unwrap_or_default();
    match () {
        () if has("text") => Some("text"),
        () if has("resource") => Some("resource"),
        () if has("data") && media.starts_with("image/") => Some("image"),
        () if has("data") && media.starts_with("audio/") => Some("audio"),
        () if has("uri") && has("name") => Some("resource_link"),
        () => None,
    }
}

/// A text, or texts, in the place of blocks.
fn texts_as_blocks(fields: &mut RawObject) -> bool {
    let content = fields.get("content").map(Raw::get).unwrap_or_default();
    let one = || serde_json::from_str::<String>(content).map(|text| vec![text]).ok();
    let texts = one().or_else(|| serde_json::from_str::<Vec<String>>(content).ok());
    let Some(texts) = texts.filter(|texts| !texts.is_empty()) else { return false };
    let block = |text: String| {
        let mut block = RawObject::new();
        block.put("type", "text");
        block.put("text", &text);
        block.to_raw()
    };
    fields.put("content", &texts.into_iter().map(block).collect::<Vec<_>>());
    true
}

/// A corrected block; `None` if it is right.
fn block(mut fields: RawObject) -> Option<RawObject> {
    let mut changed = without_empty(&mut fields, &OBJECTS, &VALUES);
    if fields.get("type").is_none_or(is_null)
        && let Some(kind) = kind_of(&fields)
    {
        fields.put("type", kind);
        changed = true;
    }
    if fields.text("type").as_deref() == Some("text") && fields.get("text").is_some_and(is_null) {
        fields.put("text", "");
        changed = true;
    }
    let inner = fields.get("resource").and_then(|raw| RawObject::parse(raw).ok());
    if let Some(mut inner) = inner
        && without_empty(&mut inner, &OBJECTS, &VALUES)
    {
        fields.set("resource", inner.to_raw());
        changed = true;
    }
    changed.then_some(fields)
}

fn is_null(raw: &Raw) -> bool {
    raw.get() == "null"
}

/// The content of a message is one block; what has several becomes several messages.
fn prompt(fields: &mut RawObject) -> bool {
    let mut changed = without_empty(fields, &[], &["description"]) | as_list(fields, "messages");
    let Some(messages) = fields.read::<Vec<Box<Raw>>>("messages") else { return changed };
    let mut whole = Vec::with_capacity(messages.len());
    for raw in messages {
        let Ok(mut message) = RawObject::parse(&raw) else {
            whole.push(raw);
            continue;
        };
        let blocks = message.read::<Vec<Box<Raw>>>("content");
        let split = blocks.is_some();
        for content in blocks.or_else(|| Some(vec![message.get("content")?.to_owned()])).unwrap_or_default() {
            let mended = RawObject::parse(&content).ok().and_then(block);
            changed |= split || mended.is_some();
            message.set("content", mended.map_or(content, |fields| fields.to_raw()));
            whole.push(message.to_raw());
        }
    }
    if changed {
        fields.put("messages", &whole);
    }
    changed
}

fn completion(fields: &mut RawObject) -> bool {
    let Some(mut inner) = fields.get("completion").and_then(|raw| RawObject::parse(raw).ok()) else {
        return false;
    };
    let mut changed = without_empty(&mut inner, &[], &["total", "hasMore"]) | as_list(&mut inner, "values");
    // Clients that check it reject a longer list as a whole (`2025-11-25/schema.mdx#completeresult`).
    let mut values: Vec<Box<Raw>> = inner.read("values").unwrap_or_default();
    if values.len() > MOST_VALUES {
        if inner.get("total").is_none() {
            inner.put("total", &u64::try_from(values.len()).unwrap_or(u64::MAX));
        }
        values.truncate(MOST_VALUES);
        inner.put("values", &values);
        inner.put("hasMore", &true);
        changed = true;
    }
    if changed {
        fields.set("completion", inner.to_raw());
    }
    changed
}

/// Corrects the items of a list, which it makes one first.
fn each(fields: &mut RawObject, key: &str, correct: impl Fn(RawObject) -> Option<RawObject>) -> bool {
    let mut changed = as_list(fields, key);
    let Some(mut items) = fields.read::<Vec<Box<Raw>>>(key) else { return changed };
    for item in &mut items {
        if let Some(corrected) = RawObject::parse(item).ok().and_then(&correct) {
            *item = corrected.to_raw();
            changed = true;
        }
    }
    if changed {
        fields.put(key, &items);
    }
    changed
}

/// What stands in place of a list: nothing, one item, or the items by their numbers.
fn as_list(fields: &mut RawObject, key: &str) -> bool {
    let Some(raw) = fields.get(key) else { return false };
    let items = match RawObject::parse(raw) {
        Ok(object) => {
            let is_numbered = object.iter().enumerate().all(|(at, (name, _))| name == at.to_string());
            match is_numbered {
                true => object.iter().map(|(_, item)| item.to_owned()).collect(),
                false => vec![raw.to_owned()],
            }
        }
        Err(_) if is_null(raw) => vec![],
        Err(_) => return false,
    };
    let Ok(list) = to_raw_value(&items) else { return false };
    fields.set(key, list);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<Raw> {
        Raw::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn what_strict_clients_reject_is_corrected_and_nothing_else() {
        let text = r#"{"type":"text","text":"a"}"#;
        for (method, wrong, right) in [
            ("tools/call", r#"{"content":[],"_meta":[]}"#, r#"{"content":[]}"#),
            ("tools/call", r#"{"content":TEXT,"isError":null}"#, r#"{"content":[TEXT]}"#),
            ("tools/call", r#"{"content":{"0":TEXT,"1":TEXT},"x":[]}"#, r#"{"content":[TEXT,TEXT],"x":[]}"#),
            ("tools/call", r#"{"content":{}}"#, r#"{"content":[]}"#),
            ("tools/call", r#"{}"#, r#"{"content":[]}"#),
            ("tools/call", r#"{"content": "a"}"#, r#"{"content":[TEXT]}"#),
            ("tools/call", r#"{"content":[{"text":"a"}]}"#, r#"{"content":[{"text":"a","type":"text"}]}"#),
            (
                "tools/call",
                r#"{"content":[{"data":"x","mimeType":"image/png"},{"uri":"a:b","name":"b"},{"odd":1}]}"#,
                r#"{"content":[{"data":"x","mimeType":"image/png","type":"image"},{"uri":"a:b","name":"b","type":"resource_link"},{"odd":1}]}"#,
            ),
            ("tools/call", r#"{"toolResult":{"a":1}}"#, r#"{"structuredContent":{"a":1},"content":[]}"#),
            ("tools/call", r#"{"toolResult":"a","isError":false}"#, r#"{"isError":false,"content":[TEXT]}"#),
            ("tools/call", r#"{"toolResult":[1]}"#, r#"{"content":[{"type":"text","text":"[1]"}]}"#),
            ("tools/call", r#"{"content":["a"],"isError":true}"#, r#"{"content":[TEXT],"isError":true}"#),
            (
                "tools/call",
                r#"{"content":null,"structuredContent":{}}"#,
                r#"{"content":[],"structuredContent":{}}"#,
            ),
            (
                "tools/call",
                r#"{"structuredContent":{"a":null}}"#,
                r#"{"structuredContent":{"a":null},"content":[]}"#,
            ),
            (
                "tools/call",
                r#"{"content":[{"type":"text","text":null,"annotations":[],"_meta":null}]}"#,
                r#"{"content":[{"type":"text","text":""}]}"#,
            ),
            (
                "tools/call",
                r#"{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":null,"text":"null"}}]}"#,
                r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":"null"}}]}"#,
            ),
            (
                "prompts/get",
                r#"{"description":null,"messages":{"0":{"role":"user","content":[TEXT,TEXT]}}}"#,
                r#"{"messages":[{"role":"user","content":TEXT},{"role":"user","content":TEXT}]}"#,
            ),
            (
                "resources/read",
                r#"{"contents":{"uri":"a:b","text":"x","mimeType":null}}"#,
                r#"{"contents":[{"uri":"a:b","text":"x"}]}"#,
            ),
            (
                "completion/complete",
                r#"{"completion":{"values":{},"total":null}}"#,
                r#"{"completion":{"values":[]}}"#,
            ),
        ] {
            let (wrong, right) = (wrong.replace("TEXT", text), right.replace("TEXT", text));
            let corrected = corrected(method, Era::SESSION, &raw(&wrong)).unwrap();
            assert_eq!(corrected.get(), right, "{method} {wrong}");
        }
        let values = |count: usize| vec![r#""v""#; count].join(",");
        let long = format!(r#"{{"completion":{{"values":[{}]}}}}"#, values(150));
        let cut = format!(r#"{{"completion":{{"values":[{}],"total":150,"hasMore":true}}}}"#, values(100));
        let corrected_long = corrected("completion/complete", Era::SESSION, &raw(&long)).unwrap();
        assert_eq!(corrected_long.get(), cut);
        assert!(corrected("completion/complete", Era::SESSION, &raw(&cut)).is_none());
        let list = r#"{"content":[],"structuredContent":[]}"#;
        let object = corrected("tools/call", Era::SESSION, &raw(list)).unwrap();
        assert_eq!(object.get(), list.replace(":[]}", ":{}}"));
        assert!(corrected("tools/call", Era::STATELESS, &raw(list)).is_none(), "there it may be a list");
        for (method, right) in [
            (
                "tools/call",
                r#"{"content":[{"type":"text","text":"null [] {}"}],"structuredContent":{"a":[],"b":null}}"#,
            ),
            ("tools/call", r#"{"content":7,"x":null}"#),
            ("tools/call", r#"{"content":[],"structuredContent":null}"#),
            ("prompts/get", r#"{"messages":[{"role":"user","content":{"type":"text","text":"null"}}]}"#),
            ("tasks/get", r#"{"taskId":null}"#),
            ("tools/call", r#"{"task":{"taskId":"1"}}"#),
        ] {
            assert!(corrected(method, Era::SESSION, &raw(right)).is_none(), "{method} {right}");
        }
    }

    #[test]
    fn a_question_asks_with_a_schema_that_clients_can_read() {
        let wrong =
            raw(r#"{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"int"}}}}"#);
        let right = corrected_question("elicitation/create", &wrong).unwrap();
        assert!(right.get().contains(r#"{"type":"integer"}"#), "{right}");
        assert!(corrected_question("elicitation/create", &right).is_none());
        assert!(corrected_question("sampling/createMessage", &wrong).is_none());
    }
}
