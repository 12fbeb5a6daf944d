//! Reads JSON as text without parsing numbers, so that they stay exactly as written.

use serde_json::value::RawValue;

use crate::object;

/// The text of the value at a JSON pointer (RFC 6901); `None` if it does not exist, or a key on the path is a
/// duplicate.
pub fn at<'a>(json: &'a str, pointer: &str) -> Option<&'a str> {
    let mut found = json.trim();
    for part in parts(pointer) {
        found = child(found, &part)?;
    }
    Some(found)
}

/// Replaces the value at a JSON pointer; everything else stays as written. `None` as for [`at`].
pub fn with(json: &str, pointer: &str, value: &str) -> Option<String> {
    let place = at(json, pointer)?;
    let start = place.as_ptr().addr() - json.as_ptr().addr();
    Some([&json[..start], value, &json[start + place.len()..]].concat())
}

/// Removes white space between tokens.
pub fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for piece in pieces(json) {
        if !piece.trim_start().is_empty() {
            text.push_str(piece);
        }
    }
    text
}

/// Formats on several lines, for people.
pub fn pretty(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut pieces = pieces(json).filter(|piece| !piece.trim_start().is_empty()).peekable();
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(piece) = pieces.next() {
        match piece {
            "{" | "[" => {
                text.push_str(piece);
                if let Some(end) = pieces.next_if(|next| matches!(*next, "}" | "]")) {
                    text.push_str(end);
                } else {
                    depth += 1;
                    line(&mut text, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push_str(piece);
            }
            "," => {
                text.push(',');
                line(&mut text, depth);
            }
            ":" => text.push_str(": "),
            piece => text.push_str(piece),
        }
    }
    text
}

/// Punctuation, strings, white space and everything else, in order.
pub(crate) fn pieces(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let first = *rest.as_bytes().first()?;
        let length = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => {
                let mut escaped = false;
                let end = rest.bytes().skip(1).position(|byte| {
                    let ends = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            b' ' | b'\t' | b'\r' | b'\n' => {
                rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
            }
            _ => rest.find(['{', '}', '[', ']', ',', ':', '"', ' ', '\t', '\r', '\n']).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

fn parts(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
}

fn child<'a>(json: &'a str, part: &str) -> Option<&'a str> {
    if json.starts_with('{') {
        let fields = object::fields(json).ok()?;
        return fields.into_iter().find(|(name, _)| name == part).map(|(_, value)| value.get());
    }
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    items.get(part.parse::<usize>().ok()?).map(|value| value.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#" {"a" : [1.10, {"b/c": 12345678901234567890123, "d":"x\" , y"}], "e":{} } "#;

    #[test]
    fn numbers_are_found_and_replaced_as_they_were_written() {
        assert_eq!(at(JSON, "/a/0"), Some("1.10"));
        assert_eq!(at(JSON, "/a/1/b~1c"), Some("12345678901234567890123"));
        assert_eq!(at(JSON, "/a/2"), None);
        assert_eq!(at(JSON, "").map(str::len), Some(JSON.len() - 2));
        assert_eq!(at(r#"{"a":1,"a":2}"#, "/a"), None);
        assert_eq!(with(JSON, "/a/0", "\"1.10\"").unwrap(), JSON.replace("1.10", "\"1.10\""));
    }

    #[test]
    fn only_white_space_changes_between_the_ways_to_write() {
        let compacted = r#"{"a":[1.10,{"b/c":12345678901234567890123,"d":"x\" , y"}],"e":{}}"#;
        assert_eq!(compact(JSON), compacted);
        let wanted = "{\n  \"a\": [\n    1.10,\n    {\n      \"b/c\": 12345678901234567890123,\n      \"d\": \"x\\\" , y\"\n    }\n  ],\n  \"e\": {}\n}";
        assert_eq!(pretty(JSON), wanted);
        assert_eq!(compact(&pretty(JSON)), compacted);
        for odd in ["", "\"open", "1", "]}", "{\"a\\"] {
            assert_eq!(compact(odd), odd);
        }
    }
}
