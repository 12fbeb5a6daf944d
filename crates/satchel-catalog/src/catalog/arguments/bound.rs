//! Estimates the cost of validating arguments before doing it, because references can reach one schema by exponentially
//! many paths. Counts each pair of schema and value once.

use std::collections::HashMap;

use serde_json::Value;

/// Maximum number of steps of a check; about a few milliseconds.
pub(super) const STEPS: u64 = 50_000;
/// Maximum number of pairs of schema and value examined to estimate that.
const PAIRS: usize = 20_000;
/// Maximum nesting of schemas, with references followed.
const DEPTH: usize = 256;

/// Keywords whose schemas apply to the value itself.
const HERE: &[&str] =
    &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords whose schema applies to each item or property.
const WITHIN: &[&str] = &[
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
];

/// Is checking this value against this schema cheap enough to do it inline? Also `false` if that cannot be determined.
pub(super) fn is_small(schema: &Value, value: &Value) -> bool {
    let mut count = Count { root: schema, known: HashMap::new(), visited: 0 };
    count.steps(schema, value, 0).is_some_and(|steps| steps <= STEPS)
}

struct Count<'a> {
    root: &'a Value,
    /// By the addresses of both; `None` while being counted, which ends recursion.
    known: HashMap<(usize, usize), Option<u64>>,
    visited: usize,
}

impl<'a> Count<'a> {
    fn steps(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keywords) = schema else { return Some(1) };
        let pair = (std::ptr::from_ref(schema).addr(), std::ptr::from_ref(value).addr());
        if let Some(known) = self.known.get(&pair) {
            return Some(known.unwrap_or(1));
        }
        self.visited += 1;
        if depth > DEPTH || self.visited > PAIRS || keywords.contains_key("$dynamicRef") {
            return None;
        }
        self.known.insert(pair, None);
        let mut steps = 1 + keywords.len() as u64;
        let mut add = |more: u64| steps = steps.saturating_add(more);
        if let Some(reference) = keywords.get("$ref") {
            let pointer = reference.as_str()?.strip_prefix('#')?;
            let target = self.root.pointer(&pointer.replace("%25", "%"))?;
            add(self.steps(target, value, depth + 1)?);
        }
        for keyword in HERE {
            match keywords.get(*keyword) {
                Some(Value::Array(schemas)) => {
                    for schema in schemas {
                        add(self.steps(schema, value, depth + 1)?);
                    }
                }
                Some(Value::Object(schemas)) if keyword.starts_with("depend") => {
                    for schema in schemas.values() {
                        add(self.steps(schema, value, depth + 1)?);
                    }
                }
                Some(schema) => add(self.steps(schema, value, depth + 1)?),
                None => {}
            }
        }
        if let (Some(Value::Array(options)), false) = (keywords.get("enum"), value.is_null()) {
            add(options.len() as u64);
        }
        if let (Some(_), Value::String(text)) = (keywords.get("pattern"), value) {
            add(text.len() as u64 / 16);
        }
        let children: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
        };
        for keyword in WITHIN {
            if let Some(schema) = keywords.get(*keyword) {
                for child in &children {
                    add(self.steps(schema, child, depth + 1)?);
                }
            }
        }
        if let Some(Value::Array(schemas)) = keywords.get("prefixItems").or(keywords.get("items")) {
            for (schema, child) in schemas.iter().zip(&children) {
                add(self.steps(schema, child, depth + 1)?);
            }
        }
        if let (Some(Value::Object(schemas)), Value::Object(fields)) = (keywords.get("properties"), value) {
            for (name, child) in fields {
                if let Some(schema) = schemas.get(name) {
                    add(self.steps(schema, child, depth + 1)?);
                }
            }
        }
        if let (Some(Value::Object(schemas)), Value::Object(fields)) =
            (keywords.get("patternProperties"), value)
        {
            for schema in schemas.values() {
                for (name, child) in fields {
                    add(1 + name.len() as u64 / 16);
                    add(self.steps(schema, child, depth + 1)?);
                }
            }
        }
        if keywords.get("uniqueItems").is_some() {
            add(64 * children.len() as u64);
        }
        self.known.insert(pair, Some(steps));
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each level refers to the next one twice.
    fn doubling(levels: usize, way: impl Fn(Value) -> Value) -> Value {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            definitions.insert(format!("d{level}"), way(next));
        }
        definitions.insert(format!("d{levels}"), json!({ "type": "string" }));
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions })
    }

    #[test]
    fn validation_that_could_take_forever_is_detected_in_advance() {
        let both = |next: Value| json!({ "anyOf": [next, next] });
        assert!(is_small(&doubling(8, both), &json!({ "a": 1 })));
        assert!(!is_small(&doubling(60, both), &json!({ "a": 1 })), "two to the sixtieth");
        assert!(is_small(&doubling(60, both), &json!({ "b": 1 })), "of which nothing is given");
        let mut nested = json!(1);
        for _ in 0..60 {
            nested = json!({ "x": nested });
        }
        let tree = json!({ "$ref": "#/$defs/n", "$defs": { "n": { "anyOf": [
            { "properties": { "x": { "$ref": "#/$defs/n" } } }, { "properties": { "x": { "$ref": "#/$defs/n" } } },
        ] } } });
        assert!(!is_small(&tree, &nested));
        assert!(
            is_small(&json!({ "$ref": "#" }), &nested),
            "what leads to itself has nothing more to look at"
        );
        assert!(!is_small(&json!({ "$ref": "https://example.com/x.json" }), &json!({})));
        assert!(!is_small(&json!({ "$ref": "#/nowhere" }), &json!({})));
        let rows = |count: usize| {
            json!((0..count).map(|row| json!({ "row": row, "name": "x" })).collect::<Vec<_>>())
        };
        let table = json!({ "items": { "properties": { "row": { "type": "integer" }, "name": { "type": "string" } } } });
        assert!(is_small(&table, &rows(2_000)));
        assert!(!is_small(&table, &rows(60_000)));
    }
}
