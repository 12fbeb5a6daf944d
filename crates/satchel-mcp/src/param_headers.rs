//! Arguments that a tool wants repeated in headers: `x-mcp-header` in its schema
//! (`2026-07-28/basic/transports/streamable-http.mdx#schema-extension`).

use std::collections::HashSet;

use serde_json::Value;

use crate::headers;

const KEY: &str = "x-mcp-header";
/// The largest integer that every implementation represents exactly.
const SAFE: i64 = (1 << 53) - 1;
/// Maximum nesting of a schema that is searched.
const DEPTH: usize = 32;

/// An argument that is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// `Mcp-Param-…`, as spelled in the schema.
    pub header: String,
    /// The keys that lead to the argument.
    pub path: Vec<String>,
}

/// The arguments that a tool wants repeated.
///
/// # Errors
/// What is wrong with the schema; such a tool may not be used over HTTP.
pub fn wanted(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    if count(schema, 0) != found.len() {
        return Err(format!("{KEY} stands where no argument can be reached by its name alone"));
    }
    let mut seen = HashSet::new();
    match found.iter().find(|param| !seen.insert(param.header.to_ascii_lowercase())) {
        Some(twice) => Err(format!("two arguments want the header {}", twice.header)),
        None => Ok(found),
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) -> Result<(), String> {
    if path.len() > DEPTH {
        return Ok(());
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(wanted) = property.get(KEY) {
            let token = wanted.as_str().filter(|name| is_token(name));
            let token =
                token.ok_or_else(|| format!("{wanted} of \"{name}\" cannot be part of a header's name"))?;
            if !matches!(property.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean"))
            {
                return Err(format!("\"{name}\" is no string, integer or boolean and cannot be a header"));
            }
            found.push(ParamHeader { header: format!("Mcp-Param-{token}"), path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// Counts all schemas with the key. A property of that name does not count.
fn count(schema: &Value, depth: usize) -> usize {
    if depth > DEPTH * 2 {
        return 0;
    }
    match schema {
        Value::Object(fields) => {
            let named =
                |key: &str| matches!(key, "properties" | "$defs" | "definitions" | "patternProperties");
            let below = fields.iter().map(|(key, value)| match value {
                Value::Object(schemas) if named(key) => {
                    schemas.values().map(|schema| count(schema, depth + 1)).sum()
                }
                _ if matches!(key.as_str(), "default" | "const" | "enum" | "examples") => 0,
                _ => count(value, depth + 1),
            });
            below.sum::<usize>() + usize::from(fields.contains_key(KEY))
        }
        Value::Array(items) => items.iter().map(|item| count(item, depth + 1)).sum(),
        _ => 0,
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The encoded headers of one call.
pub fn of_call(wanted: &[ParamHeader], arguments: &Value) -> Vec<(String, String)> {
    let header = |param: &ParamHeader| {
        let text = text_of(value_at(param, arguments)?)?;
        Some((param.header.clone(), headers::encode(&text)))
    };
    wanted.iter().filter_map(header).collect()
}

/// Does a header match the arguments? `given` is the encoded header value; integers are compared as numbers.
pub fn agrees(param: &ParamHeader, arguments: &Value, given: Option<&str>) -> bool {
    let value = value_at(param, arguments).filter(|value| !value.is_null());
    let (Some(value), Some(given)) = (value, given) else { return value.is_none() && given.is_none() };
    let Some(given) = headers::decode(given.trim()) else { return false };
    match value {
        // As floats, different large integers would be equal.
        Value::Number(number) if number.as_i64().is_some() && given.parse::<i64>().is_ok() => {
            number.as_i64() == given.parse().ok()
        }
        Value::Number(number) => {
            let number = number.as_f64();
            number.is_some() && given.parse::<f64>().ok() == number
        }
        value => text_of(value).is_some_and(|text| text == given),
    }
}

fn value_at<'a>(param: &ParamHeader, arguments: &'a Value) -> Option<&'a Value> {
    param.path.iter().try_fold(arguments, |value, key| value.get(key))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Number(number) => {
            // To a schema, 42.0 is the integer 42.
            let whole = number.as_i64().or_else(|| {
                number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() <= SAFE as f64).map(|n| n as i64)
            });
            whole.map(|number| number.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_repeated_by_their_path_and_encoded() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "x-mcp-header": {"type": "string"},
        }});
        let wanted = wanted(&schema).unwrap();
        let call = json!({"region": "Zürich", "deep": {"n": 42.0}});
        assert_eq!(
            of_call(&wanted, &call),
            [
                ("Mcp-Param-Region".into(), "=?base64?WsO8cmljaA==?=".into()),
                ("Mcp-Param-N".into(), "42".into())
            ]
        );
        assert!(of_call(&wanted, &json!({})).is_empty());
        for (given, good) in [(Some("42"), true), (Some("42.0"), true), (Some("43"), false), (None, false)] {
            assert_eq!(agrees(&wanted[1], &call, given), good, "{given:?}");
        }
        assert!(agrees(&wanted[0], &json!({}), None) && !agrees(&wanted[0], &json!({}), Some("x")));
        assert!(agrees(&wanted[0], &json!({"region": null}), None));
    }

    #[test]
    fn a_schema_that_breaks_a_rule_is_refused() {
        let with = |property: Value| json!({"properties": {"a": property}});
        for schema in [
            with(json!({"type": "string", "x-mcp-header": ""})),
            with(json!({"type": "string", "x-mcp-header": "a b"})),
            with(json!({"type": "string", "x-mcp-header": 1})),
            with(json!({"type": "number", "x-mcp-header": "A"})),
            with(json!({"type": "object", "x-mcp-header": "A"})),
            with(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"oneOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}),
        ] {
            assert!(wanted(&schema).is_err(), "{schema}");
        }
    }
}
