//! Reads JSON as text without parsing numbers, so that they stay exactly as written.

use std::{collections::HashMap, ops::ControlFlow};

use serde_json::{Value, value::RawValue};

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

/// The text of each of `nodes`, which are values inside `root`, which was parsed from `json`. Reads the text once,
/// however many nodes there are. Of a duplicate key, the last value counts, as in `root`.
pub fn texts<'a>(json: &'a str, root: &Value, nodes: &[&Value]) -> Vec<Option<&'a str>> {
    let place = |node: &Value| std::ptr::from_ref(node).addr();
    let mut texts: HashMap<usize, Option<&str>> = nodes.iter().map(|node| (place(node), None)).collect();
    walk(json, root, |node, text| {
        if let Some(found) = texts.get_mut(&place(node)) {
            *found = Some(text);
        }
    });
    nodes.iter().map(|node| texts.get(&place(node)).copied().flatten()).collect()
}

/// An array or object whose end is still to come.
struct Unclosed<'v> {
    node: Option<&'v Value>,
    start: usize,
    is_object: bool,
    key: Option<String>,
    item: usize,
}

impl<'v> Unclosed<'v> {
    /// The value that comes next.
    fn next(&self) -> Option<&'v Value> {
        match (self.node?, &self.key) {
            (Value::Object(fields), Some(key)) => fields.get(key),
            (Value::Array(items), None) => items.get(self.item),
            _ => None,
        }
    }
}

/// Reports every value below `root` once with its text, inner ones first.
fn walk<'a, 'v>(json: &'a str, root: &'v Value, mut report: impl FnMut(&'v Value, &'a str)) {
    let mut open: Vec<Unclosed<'v>> = Vec::new();
    let next = |open: &[Unclosed<'v>]| open.last().map_or(Some(root), Unclosed::next);
    let mut end = 0;
    for piece in pieces(json) {
        let start = end;
        end += piece.len();
        match piece {
            "{" | "[" => {
                let node = next(&open);
                open.push(Unclosed { node, start, is_object: piece == "{", key: None, item: 0 });
            }
            "}" | "]" => {
                if let Some(Unclosed { node: Some(node), start, .. }) = open.pop() {
                    report(node, &json[start..end]);
                }
            }
            "," => {
                if let Some(open) = open.last_mut() {
                    open.item += 1;
                    open.key = None;
                }
            }
            ":" => {}
            piece if piece.trim_start().is_empty() => {}
            piece => match open.last_mut() {
                Some(open) if open.is_object && open.key.is_none() => {
                    open.key = serde_json::from_str(piece).ok();
                }
                Some(_) | None => {
                    if let Some(node) = next(&open) {
                        report(node, piece);
                    }
                }
            },
        }
    }
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
    let _ = write_pretty(json, |part| {
        text.push_str(part);
        ControlFlow::<()>::Continue(())
    });
    text
}

/// Like [`pretty`], but hands over one part after the other, until `write` breaks off.
pub fn write_pretty<B>(json: &str, write: impl FnMut(&str) -> ControlFlow<B>) -> ControlFlow<B> {
    write_pieces(pieces(json), write)
}

/// The same for an array of these values.
pub fn write_pretty_array<B>(values: &[&str], write: impl FnMut(&str) -> ControlFlow<B>) -> ControlFlow<B> {
    let items = values.iter().enumerate().flat_map(|(at, value)| {
        let comma = (at > 0).then_some(",");
        comma.into_iter().chain(pieces(value))
    });
    write_pieces(["["].into_iter().chain(items).chain(["]"]), write)
}

fn write_pieces<'a, B>(
    pieces: impl Iterator<Item = &'a str>,
    mut write: impl FnMut(&str) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut depth = 0;
    let mut pieces = pieces.filter(|piece| !piece.trim_start().is_empty()).peekable();
    let mut line = String::from("\n");
    while let Some(piece) = pieces.next() {
        match piece {
            "{" | "[" => {
                write(piece)?;
                if let Some(end) = pieces.next_if(|next| matches!(*next, "}" | "]")) {
                    write(end)?;
                } else {
                    depth += 1;
                    write(indented(&mut line, depth))?;
                }
            }
            "}" | "]" => {
                depth = usize::saturating_sub(depth, 1);
                write(indented(&mut line, depth))?;
                write(piece)?;
            }
            "," => {
                write(",")?;
                write(indented(&mut line, depth))?;
            }
            ":" => write(": ")?,
            piece => write(piece)?,
        }
    }
    ControlFlow::Continue(())
}

/// A line break with an indentation; `line` is reused.
fn indented(line: &mut String, depth: usize) -> &str {
    let length = 1 + depth * 2;
    while line.len() < length {
        line.push_str("  ");
    }
    &line[..length]
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
    fn every_value_is_found_with_its_text_in_one_walk() {
        for json in [JSON, " 1.0 ", "[]", r#"{"a":[{"b":[1,[2,3.0]]},null]}"#] {
            let root: Value = serde_json::from_str(json).unwrap();
            let mut reported = Vec::new();
            walk(json, &root, |node, text| {
                assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *node, "{json}");
                reported.push((node, text));
            });
            let (nodes, expected): (Vec<&Value>, Vec<Option<&str>>) =
                reported.into_iter().map(|(node, text)| (node, Some(text))).unzip();
            assert_eq!(nodes.last(), Some(&&root), "{json}");
            assert_eq!(texts(json, &root, &nodes), expected, "{json}");
        }
        let odd = r#"{"a":{"b":[0.10]},"a":{"b":[1.10]},"":[[],{},"]"],"k\u0065y":1e2}"#;
        let root: Value = serde_json::from_str(odd).unwrap();
        let nodes = ["/a/b/0", "/key", "/a/b/0", ""].map(|pointer| root.pointer(pointer).unwrap());
        assert_eq!(texts(odd, &root, &nodes), [Some("1.10"), Some("1e2"), Some("1.10"), Some(odd)]);
    }

    #[test]
    fn the_walk_takes_as_many_steps_as_there_are_values() {
        for many in [1_000, 100_000] {
            let items = (0..many).map(|at| format!(r#"{{"t":{at}.0}}"#)).collect::<Vec<_>>().join(",");
            let json = format!(r#"{{"items":[{items}]}}"#);
            let root: Value = serde_json::from_str(&json).unwrap();
            let mut steps = 0;
            walk(&json, &root, |_, _| steps += 1);
            assert_eq!(steps, 2 + 2 * many);
        }
    }

    #[test]
    fn an_array_is_written_as_it_would_be_put_together_until_enough_is_written() {
        for values in [&[][..], &["1.0"], &["{\"a\" : [1 ,2]}", " [ ] ", "\"x,\""]] {
            let mut text = String::new();
            let end = write_pretty_array(values, |part| {
                text.push_str(part);
                ControlFlow::<()>::Continue(())
            });
            assert_eq!((text, end), (pretty(&format!("[{}]", values.join(","))), ControlFlow::Continue(())));
        }
        let mut parts = 0;
        let end = write_pretty_array(&["1"; 1_000], |_| {
            parts += 1;
            if parts == 3 { ControlFlow::Break("enough") } else { ControlFlow::Continue(()) }
        });
        assert_eq!((parts, end), (3, ControlFlow::Break("enough")));
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
