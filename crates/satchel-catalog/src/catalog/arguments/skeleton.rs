//! Generates example arguments: the required fields with placeholders by type.

use std::cell::Cell;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Maximum nesting of schemas and references: a recursive one has no end.
const DEPTH: usize = 12;
/// Maximum number of items in a list.
const ITEMS: u64 = 50;
/// Maximum number of values in a skeleton.
const VALUES: usize = 2_000;
const PLACEHOLDER: &str = "…";

/// The required parameters.
pub(super) fn of(schema: &Value) -> Value {
    Writer::of(schema).value(schema, 0)
}

/// The given values without invalid ones, plus what is missing.
pub(super) fn filled(schema: &Value, given: &Value, validator: &Validator) -> Value {
    let wanted = of(schema);
    let (Some(given), Some(wanted)) = (given.as_object(), wanted.as_object()) else { return wanted };
    let properties = schema.get("properties").and_then(Value::as_object);
    // Those that a fault's path starts with are invalid; the others are fine.
    let whole = Value::Object(given.clone());
    let mut faulty: Vec<String> = Vec::new();
    for error in validator.iter_errors(&whole) {
        let path = error.instance_path().as_str();
        faulty.extend(path.split('/').nth(1).map(|part| part.replace("~1", "/").replace("~0", "~")));
    }
    let writer = Writer::of(schema);
    let mut filled = Map::new();
    for (name, value) in given {
        let known = properties.and_then(|properties| properties.get(name));
        if !faulty.contains(name) && (known.is_some() || properties.is_none()) {
            filled.insert(name.clone(), value.clone());
        } else if let Some(known) = known {
            filled.insert(name.clone(), writer.value(known, 1));
        }
    }
    for (name, value) in wanted {
        filled.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(filled)
}

struct Writer<'a> {
    root: &'a Value,
    left: Cell<usize>,
}

impl<'a> Writer<'a> {
    fn of(root: &'a Value) -> Self {
        Self { root, left: Cell::new(VALUES) }
    }

    fn value(&self, schema: &'a Value, depth: usize) -> Value {
        let left = self.left.get();
        if depth > DEPTH || left == 0 {
            return Value::Null;
        }
        self.left.set(left - 1);
        let schema = self.resolve(schema);
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        for key in ["enum", "examples"] {
            if let Some(value) = schema.get(key).and_then(Value::as_array).and_then(|values| values.first()) {
                return value.clone();
            }
        }
        for key in ["anyOf", "oneOf"] {
            let choices = schema.get(key).and_then(Value::as_array);
            if let Some(first) = choices.and_then(|choices| choices.first())
                && schema.get("properties").is_none()
            {
                return self.value(first, depth + 1);
            }
        }
        match self.kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" | "number" => number(schema),
            "boolean" => json!(false),
            "null" => Value::Null,
            _ => text(schema),
        }
    }

    fn kind(&self, schema: &'a Value) -> &'a str {
        let named = match schema.get("type") {
            Some(Value::Array(names)) => names.first(),
            other => other,
        };
        match named.and_then(Value::as_str) {
            Some(name) => name,
            None if schema.get("properties").is_some() || schema.get("allOf").is_some() => "object",
            None if schema.get("items").is_some() => "array",
            None => "string",
        }
    }

    fn object(&self, schema: &'a Value, depth: usize) -> Value {
        let mut object = Map::new();
        // Requirements beside the properties: all of `allOf`, the first of `anyOf` and `oneOf`.
        let list =
            |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let first = |key: &'a str| list(key).first();
        let parts = std::iter::once(schema)
            .chain(list("allOf"))
            .chain(first("anyOf"))
            .chain(first("oneOf"))
            .map(|part| self.resolve(part));
        let own = schema.get("properties").and_then(Value::as_object);
        for part in parts.collect::<Vec<_>>() {
            let properties = part.get("properties").and_then(Value::as_object);
            let required = part.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                let known =
                    properties.and_then(|all| all.get(name)).or_else(|| own.and_then(|all| all.get(name)));
                let value = known.map_or_else(|| json!(PLACEHOLDER), |known| self.value(known, depth + 1));
                object.entry(name.to_owned()).or_insert(value);
            }
        }
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(ITEMS) as usize;
        for (name, known) in own.into_iter().flatten() {
            if object.len() < least && !object.contains_key(name) {
                object.insert(name.clone(), self.value(known, depth + 1));
            }
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        for number in 1.. {
            if object.len() >= least {
                break;
            }
            let value = others.map_or_else(|| json!(PLACEHOLDER), |others| self.value(others, depth + 1));
            object.insert(format!("name{number}"), value);
        }
        Value::Object(object)
    }

    fn array(&self, schema: &'a Value, depth: usize) -> Value {
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            return Value::Array(items.iter().map(|item| self.value(item, depth + 1)).collect());
        }
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, ITEMS);
        let item =
            || schema.get("items").map_or_else(|| json!(PLACEHOLDER), |item| self.value(item, depth + 1));
        Value::Array((0..least).map(|_| item()).collect())
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut current = schema;
        for _ in 0..DEPTH {
            let reference = current.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
            match reference.and_then(|pointer| self.root.pointer(pointer)) {
                Some(next) => current = next,
                None => break,
            }
        }
        current
    }
}

fn number(schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound.floor() + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound.ceil() - 1.0));
    let mut number = least.unwrap_or(0.0).min(most.unwrap_or(f64::MAX));
    if let Some(step) = step {
        number = (number / step).ceil() * step;
    }
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

fn text(schema: &Value) -> Value {
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1_000) as usize;
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    if most == 0 { json!("") } else { json!(PLACEHOLDER.repeat(least.max(1))) }
}
