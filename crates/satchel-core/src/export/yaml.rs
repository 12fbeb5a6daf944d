//! Writes JSON values as block YAML. All strings are double-quoted, with escapes that YAML shares with JSON, so that
//! none can be read as a number, a tag or a boolean.

use serde_json::Value;

/// Writes one document.
pub(super) fn write(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

fn block(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                indent(depth, text);
                text.push_str(&format!("{}:", Value::from(name.as_str())));
                below(value, depth + 1, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                indent(depth, text);
                text.push('-');
                match is_block(item) {
                    true => {
                        text.push(' ');
                        block(item, depth + 1, text);
                    }
                    false => text.push_str(&format!(" {item}\n")),
                }
            }
        }
        plain => text.push_str(&format!("{plain}\n")),
    }
}

fn below(value: &Value, depth: usize, text: &mut String) {
    match is_block(value) {
        true => {
            text.push('\n');
            block(value, depth, text);
        }
        false => text.push_str(&format!(" {value}\n")),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The first field or item of an item follows its hyphen.
fn indent(depth: usize, text: &mut String) {
    if text.is_empty() || text.ends_with('\n') {
        text.push_str(&"  ".repeat(depth));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::edit::Format;

    #[test]
    fn written_text_parses_to_the_same_value() {
        let value = json!({
            "a": {"b": [1, "yes", "- x: #", {"c": [], "d": {}, "e": null}, ["f", ["g"]]]},
            "line\nend": "tab\tquote\"", "ü": true
        });
        let text = write(&value);
        assert_eq!(Format::Yaml.read(&text).unwrap(), value, "{text}");
    }
}
