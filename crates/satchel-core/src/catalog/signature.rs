//! A tool's call in one line: `create_issue(owner: string, title: string, labels?: string[]) -> {number, url}`.

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

/// Deeper objects are written as `object`.
const NESTING: usize = 2;
/// Longer lists of values are cut.
const VALUES: usize = 8;

/// The signature of a tool by its whole definition.
pub fn of(name: &str, definition: &Raw) -> String {
    let fields = RawObject::parse(definition).unwrap_or_default();
    let schema = |key: &str| fields.get(key).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let input = schema("inputSchema").unwrap_or_default();
    let mut line = format!("{name}({})", members(&input, &input, 0));
    if let Some(output) = schema("outputSchema") {
        line.push_str(" -> ");
        line.push_str(&shape(&output, &output, 0));
    }
    line
}

fn members(schema: &Value, root: &Value, level: usize) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return String::new() };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let member = |(name, schema): (&String, &Value)| {
        let optional = !required.contains(&name.as_str());
        let mark = if optional { "?" } else { "" };
        let default = schema.get("default").filter(|value| is_short(value));
        let default = default.map(|value| format!(" = {value}")).unwrap_or_default();
        format!("{name}{mark}: {}{default}", kind(schema, root, level + 1))
    };
    // What must be given comes first.
    let (needed, rest): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(name, _)| required.contains(&name.as_str()));
    needed.into_iter().chain(rest).map(member).collect::<Vec<_>>().join(", ")
}

/// An output by the names of its fields, which is what a caller needs to know.
fn shape(schema: &Value, root: &Value, level: usize) -> String {
    match resolve(schema, root).get("properties").and_then(Value::as_object) {
        Some(properties) if level < NESTING => {
            format!("{{{}}}", properties.keys().cloned().collect::<Vec<_>>().join(", "))
        }
        _ => kind(schema, root, level),
    }
}

fn kind(schema: &Value, root: &Value, level: usize) -> String {
    let schema = resolve(schema, root);
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let mut shown: Vec<String> = values.iter().take(VALUES).map(Value::to_string).collect();
        if values.len() > VALUES {
            shown.push("…".to_owned());
        }
        return shown.join(" | ");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let mut kinds: Vec<String> = Vec::new();
            for choice in choices {
                let kind = kind(choice, root, level);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            return kinds.join(" | ");
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => one(name, schema, root, level),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| one(name, schema, root, level)).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("properties").is_some() => one("object", schema, root, level),
        _ => "any".to_owned(),
    }
}

fn one(name: &str, schema: &Value, root: &Value, level: usize) -> String {
    match name {
        "array" => {
            let item = schema.get("items").map_or_else(|| "any".to_owned(), |items| kind(items, root, level));
            if item.contains(" | ") { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" if level <= NESTING && schema.get("properties").is_some() => {
            format!("{{{}}}", members(schema, root, level))
        }
        "integer" => "int".to_owned(),
        other => other.to_owned(),
    }
}

/// Follows a reference within the document, one that does not lead back to itself.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut current = schema;
    for _ in 0..8 {
        let target =
            current.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => current = next,
            None => break,
        }
    }
    current
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= 24,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(definition: Value, expected: &str) {
        let raw = serde_json::value::to_raw_value(&definition).unwrap();
        assert_eq!(of("t", &raw), expected);
    }

    #[test]
    fn a_signature_says_what_a_call_needs() {
        use serde_json::json;
        let input = |properties: Value, required: Value| json!({"inputSchema": {"type": "object", "properties": properties, "required": required}});
        check(json!({"inputSchema": {"type": "object"}}), "t()");
        check(
            input(json!({"b": {"type": "boolean", "default": true}, "a": {"type": "string"}}), json!(["a"])),
            "t(a: string, b?: boolean = true)",
        );
        check(
            input(
                json!({"s": {"enum": ["open", "all"]}, "n": {"type": ["integer", "null"]}, "l": {"type": "array", "items": {"type": "string"}}}),
                json!([]),
            ),
            r#"t(s?: "open" | "all", n?: int | null, l?: string[])"#,
        );
        check(
            input(
                json!({"o": {"type": "object", "properties": {"x": {"type": "number"}, "deep": {"type": "object", "properties": {"y": {"type": "object", "properties": {"z": {}}}}}}, "required": ["x"]}}),
                json!(["o"]),
            ),
            "t(o: {x: number, deep?: {y?: object}})",
        );
        check(
            json!({"inputSchema": {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}, "loop": {"$ref": "#/$defs/L"}}, "$defs": {"P": {"type": "string"}, "L": {"$ref": "#/$defs/L"}}},
                   "outputSchema": {"type": "object", "properties": {"number": {}, "url": {}}}}),
            "t(p?: string, loop?: any) -> {number, url}",
        );
        check(
            input(
                json!({"u": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "m": {"type": "array", "items": {"enum": [1, 2]}}}),
                json!(["u"]),
            ),
            "t(u: string | null, m?: (1 | 2)[])",
        );
    }
}
