//! A tool list as clients received it: stored once, counted under its hash. Counts nothing and writes nothing to the database.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

/// The first bytes of a text's SHA-256.
pub type Hash = [u8; 16];

/// The definitions of one list. Reports of the same list share one value.
#[derive(Debug)]
pub struct Definitions {
    json: Arc<str>,
    at: Range<usize>,
    hash: OnceLock<Hash>,
}

impl Definitions {
    /// The definitions at this byte range of a shared text.
    pub fn within(json: Arc<str>, at: Range<usize>) -> Self {
        Self { json, at, hash: OnceLock::new() }
    }

    /// The array as it was sent.
    pub fn text(&self) -> &str {
        self.json.get(self.at.clone()).unwrap_or_default()
    }

    /// The array as clients pass it to models.
    pub(super) fn compact(&self) -> Arc<str> {
        compact(self.text())
    }

    /// The hash of its compact text, computed once.
    pub(super) fn hash(&self) -> Hash {
        *self.hash.get_or_init(|| hash(&self.compact()))
    }
}

impl From<&str> for Definitions {
    fn from(json: &str) -> Self {
        Self::within(json.into(), 0..json.len())
    }
}

impl PartialEq for Definitions {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.text() == other.text()
    }
}

/// Definitions as clients pass them to models: parsed and reserialized, without the server's white space and escapes.
/// A list is processed one definition at a time: as one tree, some megabytes would take ten times as much memory.
pub(super) fn compact(json: &str) -> Arc<str> {
    let anew = |json: &str| serde_json::from_str::<Value>(json).map(|value| value.to_string());
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) else {
        return anew(json).map_or_else(|_| json.into(), Into::into);
    };
    let mut list = String::with_capacity(json.len());
    list.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            list.push(',');
        }
        match anew(item.get()) {
            Ok(item) => list.push_str(&item),
            // For example nested too deeply for the parser.
            Err(_) => return json.into(),
        }
    }
    list.push(']');
    list.into()
}

pub(super) fn hash(text: &str) -> Hash {
    let whole = Sha256::digest(text.as_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&whole[..16]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_made_compact_as_a_whole_would_be() {
        for json in [
            r#" [ {"a" : 1.0, "b":[1, 2e3] , "k":"\u0065"}, null,"x" ] "#,
            "[]",
            r#"{"name" : "one"}"#,
            r#"[{"big":123456789012345678901234567890}]"#,
        ] {
            let whole = serde_json::from_str::<Value>(json).unwrap().to_string();
            assert_eq!(&*compact(json), whole, "{json}");
        }
        for unreadable in ["llll", "[1,", "[1] 2"] {
            assert_eq!(&*compact(unreadable), unreadable);
        }
    }

    #[test]
    fn definitions_within_a_result_are_those_alone() {
        let result: Arc<str> = r#"{"tools":[ {"name":"a"} ],"x":1}"#.into();
        let definitions = Definitions::within(result.clone(), 9..25);
        assert_eq!(
            (definitions.text(), &*definitions.compact()),
            (r#"[ {"name":"a"} ]"#, r#"[{"name":"a"}]"#)
        );
        assert_eq!(definitions.hash(), hash(r#"[{"name":"a"}]"#));
        assert_eq!(Arc::strong_count(&result), 2, "it is not copied");
    }
}
