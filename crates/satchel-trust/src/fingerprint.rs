//! Fingerprints a definition over everything that can reach a client, independent of formatting.
//!
//! Order of keys, white space and the spelling of a string (`"\u0061"` or `"a"`) do not matter; anything else does.
//! Hidden characters are part of it, also where they are never shown.

use std::fmt;

use satchel_mcp::{Raw, object::fields};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::clean;

/// Parts nested deeper are compared as written.
const DEPTH: usize = 100;

/// The fingerprint of a definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of a definition of this kind.
    pub fn of(kind: &str, raw: &Raw) -> Self {
        Self::of_tree(kind, &Tree::of(raw))
    }

    /// The same for a parsed definition.
    pub fn of_tree(kind: &str, tree: &Tree) -> Self {
        let mut hash = Sha256::new();
        let mut put = |bytes: &[u8]| hash.update(bytes);
        length_and_bytes(kind.as_bytes(), &mut put);
        tree.put(&mut put);
        Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// In hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Fingerprint {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A parsed definition in canonical order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// Sorted by key.
    Object(Vec<(String, Tree)>),
    /// In the original order.
    List(Vec<Tree>),
    /// A string, unescaped.
    Text(String),
    /// A number, `true`, `false` or `null`, as written.
    Literal(String),
    /// Ambiguous JSON (a duplicate key, half of a surrogate pair), as written.
    Opaque(String),
}

impl Tree {
    /// Parses a definition.
    pub fn of(raw: &Raw) -> Self {
        Self::at_depth(raw, 0)
    }

    fn at_depth(raw: &Raw, depth: usize) -> Self {
        let text = raw.get();
        let opaque = || Tree::Opaque(text.to_owned());
        if depth > DEPTH {
            return opaque();
        }
        match text.trim_start().as_bytes().first() {
            Some(b'{') => match fields(text) {
                Ok(mut fields) => {
                    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
                    let part = |(key, value): (String, &Raw)| (key, Self::at_depth(value, depth + 1));
                    Tree::Object(fields.into_iter().map(part).collect())
                }
                Err(_) => opaque(),
            },
            Some(b'[') => match serde_json::from_str::<Vec<&Raw>>(text) {
                Ok(items) => {
                    Tree::List(items.into_iter().map(|item| Self::at_depth(item, depth + 1)).collect())
                }
                Err(_) => opaque(),
            },
            Some(b'"') => serde_json::from_str(text).map_or_else(|_| opaque(), Tree::Text),
            _ => Tree::Literal(text.trim().to_owned()),
        }
    }

    /// Every part starts with its type and length, so that different trees never yield the same bytes.
    fn put(&self, put: &mut impl FnMut(&[u8])) {
        match self {
            Tree::Object(fields) => {
                put(b"o");
                put(&(fields.len() as u64).to_be_bytes());
                for (key, value) in fields {
                    length_and_bytes(key.as_bytes(), put);
                    value.put(put);
                }
            }
            Tree::List(items) => {
                put(b"l");
                put(&(items.len() as u64).to_be_bytes());
                items.iter().for_each(|item| item.put(put));
            }
            Tree::Text(text) => {
                put(b"t");
                length_and_bytes(text.as_bytes(), put);
            }
            Tree::Literal(text) => {
                put(b"n");
                length_and_bytes(text.as_bytes(), put);
            }
            Tree::Opaque(text) => {
                put(b"x");
                length_and_bytes(text.as_bytes(), put);
            }
        }
    }

    /// Calls `see` with every text, including keys, and its path.
    pub fn texts(&self, see: &mut impl FnMut(&str, &str)) {
        self.texts_below(&mut String::new(), see);
    }

    fn texts_below(&self, place: &mut String, see: &mut impl FnMut(&str, &str)) {
        let length = place.len();
        match self {
            Tree::Object(fields) => {
                for (key, value) in fields {
                    push_key(place, key);
                    see(place, key);
                    value.texts_below(place, see);
                    place.truncate(length);
                }
            }
            Tree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    push_key(place, &at.to_string());
                    item.texts_below(place, see);
                    place.truncate(length);
                }
            }
            Tree::Text(text) | Tree::Opaque(text) => see(place, text),
            Tree::Literal(_) => {}
        }
    }

    /// One line per value, with its path, for people. Hidden characters are escaped.
    pub fn readable(&self) -> String {
        let mut lines = Vec::new();
        self.lines_below("", &mut lines);
        lines.join("\n")
    }

    fn lines_below(&self, place: &str, lines: &mut Vec<String>) {
        let line = |value: &str| match place {
            "" => clean::visible(value),
            place => format!("{place}: {}", clean::visible(value)),
        };
        let below = |key: &str| match place {
            "" => clean::visible(key),
            place => format!("{place}.{}", clean::visible(key)),
        };
        match self {
            Tree::Object(fields) if fields.is_empty() => lines.push(line("{}")),
            Tree::List(items) if items.is_empty() => lines.push(line("[]")),
            Tree::Object(fields) => {
                for (key, value) in fields {
                    value.lines_below(&below(key), lines);
                }
            }
            Tree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.lines_below(&below(&(at + 1).to_string()), lines);
                }
            }
            Tree::Text(text) | Tree::Literal(text) | Tree::Opaque(text) => lines.push(line(text)),
        }
    }
}

fn push_key(place: &mut String, key: &str) {
    if !place.is_empty() {
        place.push('.');
    }
    place.push_str(key);
}

fn length_and_bytes(bytes: &[u8], put: &mut impl FnMut(&[u8])) {
    put(&(bytes.len() as u64).to_be_bytes());
    put(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(json: &str) -> Fingerprint {
        Fingerprint::of("tool", &Raw::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn how_a_definition_is_written_down_does_not_matter() {
        let one = r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string"},"ä":{}}},"n":1.0}"#;
        for same in [
            r#"{"n":1.0,"inputSchema":{"properties":{"\u00e4":{},"x":{"type":"string"}},"type":"object"},"name":"a"}"#,
            "{ \"name\" : \"\\u0061\",\n \"n\": 1.0, \"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"},\"ä\":{}}}}",
        ] {
            assert_eq!(print(one), print(same), "{same}");
        }
    }

    /// S26: reordering lists and definitions never changes their fingerprint.
    #[test]
    fn a_thousand_definitions_written_in_another_order_are_the_same() {
        fn written(tree: &serde_json::Value, random: &mut fastrand::Rng) -> String {
            match tree {
                serde_json::Value::Object(fields) => {
                    let mut fields: Vec<_> = fields.iter().collect();
                    random.shuffle(&mut fields);
                    let space = if random.bool() { " " } else { "" };
                    let field = |(key, value): &(&String, &serde_json::Value), random: &mut fastrand::Rng| {
                        format!("{}:{space}{}", serde_json::Value::from(key.as_str()), written(value, random))
                    };
                    let parts: Vec<String> = fields.iter().map(|one| field(one, random)).collect();
                    format!("{{{}}}", parts.join(&format!(",{space}")))
                }
                serde_json::Value::Array(items) => {
                    let parts: Vec<String> = items.iter().map(|item| written(item, random)).collect();
                    format!("[{}]", parts.join(","))
                }
                plain => plain.to_string(),
            }
        }
        let mut random = fastrand::Rng::with_seed(26);
        for number in 0..1_000 {
            let tool = serde_json::json!({
                "name": format!("tool_{number}"), "title": "T", "description": "Finds \u{e4}.\n",
                "inputSchema": {"type": "object", "required": ["a", "b"], "properties": {
                    "a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "integer", "default": number}}},
                "annotations": {"readOnlyHint": true, "title": "A"}, "_meta": {"k": [1, {"l": null, "m": "n"}]},
            });
            let before = print(&tool.to_string());
            assert_eq!(before, print(&written(&tool, &mut random)));
            let other = tool.to_string().replacen("\"T\"", "\"t\"", 1);
            assert_ne!(before, print(&other));
        }
    }

    #[test]
    fn everything_else_does() {
        let all = [
            r#"{"name":"a"}"#,
            r#"{"name":"A"}"#,
            r#"{"name":"a","title":""}"#,
            r#"{"name":"a","title":null}"#,
            r#"{"name":"a","x":[1,2]}"#,
            r#"{"name":"a","x":[2,1]}"#,
            r#"{"name":"a","x":["1",2]}"#,
            r#"{"name":"a","x":[12]}"#,
            r#"{"name":"a","x":[[1],2]}"#,
            r#"{"name":"a","x":1}"#,
            r#"{"name":"a","x":1.0}"#,
            r#"{"name":"a","x":"1"}"#,
            r#"{"name":"a","x":true}"#,
            r#"{"name":"a","x":{"y":1}}"#,
            r#"{"name":"a","x":{"y":1,"y":1}}"#,
            r#"{"name":"a","x":{"y":1,"y":2}}"#,
            r#"{"name":"a","x":"\u200b"}"#,
            r#"{"name":"a","x":"\ud800"}"#,
            r#"{"name":"a","x":"\ud801"}"#,
            r#"{"name":"a","x":""}"#,
            r#"{"name":"a","_meta":{"org.example/hint":"x"}}"#,
            r#"{"name":"a","icons":[{"src":"x"}]}"#,
            r#"{"name":"a","annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"a","annotations":{"readOnlyHint":false}}"#,
        ];
        let prints: std::collections::BTreeSet<_> = all.iter().map(|json| print(json)).collect();
        assert_eq!(prints.len(), all.len());
        let raw = Raw::from_string(all[0].to_owned()).unwrap();
        assert_ne!(Fingerprint::of("prompt", &raw), print(all[0]), "of another kind it is something else");
    }

    #[test]
    fn any_change_of_one_byte_of_a_text_is_another_fingerprint() {
        let json = r#"{"name":"a","description":"Find issues.","inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"what","enum":["x"],"default":"x"}}},"outputSchema":{"type":"object"},"title":"T","annotations":{"title":"A"},"_meta":{"k":"v"}}"#;
        let before = print(json);
        let mut seen = 0;
        for at in 0..json.len() {
            if !json.as_bytes()[at].is_ascii_alphanumeric() {
                continue;
            }
            let mut other = json.as_bytes().to_vec();
            other[at] = if other[at] == b'z' { b'y' } else { b'z' };
            if let Ok(raw) = Raw::from_string(String::from_utf8(other).unwrap()) {
                assert_ne!(Fingerprint::of("tool", &raw), before, "byte {at}");
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_person_reads_one_line_a_value() {
        let json = r#"{"name":"a","description":"one\u200btwo","inputSchema":{"type":"object","properties":{},"required":["x","y"]}}"#;
        let tree = Tree::of(&Raw::from_string(json.to_owned()).unwrap());
        assert_eq!(
            tree.readable(),
            "description: one⟨U+200B⟩two\ninputSchema.properties: {}\ninputSchema.required.1: x\ninputSchema.required.2: y\ninputSchema.type: object\nname: a"
        );
    }
}
