//! The arguments of a tool, as far as they tell what it does: their names, descriptions and permitted values.

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

use super::words;

/// Nesting of alternatives.
const DEPTH: usize = 4;

/// An argument of a tool.
#[derive(Debug, Default)]
pub(super) struct Argument {
    /// Its words, with `_` between them.
    pub(super) name: String,
    /// Its description, in lower case.
    pub(super) text: String,
    /// The words of each permitted value.
    pub(super) values: Vec<Vec<String>>,
    /// It may be any text, or a list of texts.
    pub(super) free: bool,
}

/// All arguments, including those of alternatives.
pub(super) fn arguments(schema: &RawObject) -> Vec<Argument> {
    let mut found = Vec::new();
    gather(schema, 0, &mut found);
    found
}

fn gather(schema: &RawObject, depth: usize, found: &mut Vec<Argument>) {
    if depth > DEPTH {
        return;
    }
    let properties = schema.get("properties").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default();
    for (key, raw) in properties.iter() {
        found.push(argument(key, raw));
    }
    for one in alternatives(schema) {
        gather(&one, depth + 1, found);
    }
}

fn argument(key: &str, raw: &Raw) -> Argument {
    let fields = RawObject::parse(raw).unwrap_or_default();
    let kinds = fields.get("type").map(Raw::get).unwrap_or_default().to_owned();
    let mut values = Vec::new();
    permitted(&fields, 0, &mut values);
    let mut text = fields.text("description").unwrap_or_default().to_lowercase();
    for one in alternatives(&fields) {
        text.push_str(&one.text("description").unwrap_or_default().to_lowercase());
    }
    let of_text = kinds.is_empty() || kinds.contains("string") || kinds.contains("array");
    Argument { name: words(key).join("_"), text, free: of_text && values.is_empty(), values }
}

/// The values of `enum` and `const`, also of alternatives and items.
fn permitted(fields: &RawObject, depth: usize, values: &mut Vec<Vec<String>>) {
    if depth > DEPTH {
        return;
    }
    let listed: Vec<Value> = fields.read("enum").unwrap_or_default();
    values.extend(listed.iter().filter_map(|value| Some(words(value.as_str()?))));
    values.extend(fields.text("const").map(|value| words(&value)));
    for one in alternatives(fields) {
        permitted(&one, depth + 1, values);
    }
    if let Some(items) = fields.get("items").and_then(|raw| RawObject::parse(raw).ok()) {
        permitted(&items, depth + 1, values);
    }
}

fn alternatives(fields: &RawObject) -> Vec<RawObject> {
    let of = |key: &str| fields.get(key).and_then(|raw| serde_json::from_str::<Vec<&Raw>>(raw.get()).ok());
    let all = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(of).flatten();
    all.filter_map(|raw| RawObject::parse(raw).ok()).collect()
}
