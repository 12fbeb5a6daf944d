//! A document as a tree whose parts know their positions in the text.

use std::ops::Range;

use serde_json::{Map, Value};

/// A value in a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Its byte range.
    pub(super) range: Range<usize>,
    pub(super) kind: NodeKind,
    /// YAML: flow style. JSON always is.
    pub(super) flow: bool,
    /// YAML: has an anchor or is an alias.
    pub(super) shared: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_range: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            NodeKind::Map(members) => {
                let mut map = Map::new();
                for member in members {
                    // Of duplicate keys the last one counts, as in every program that reads such files.
                    map.insert(member.key.clone(), member.value.to_value());
                }
                Value::Object(map)
            }
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(Value::Null))
    }

    /// The value of an item's name field, if the item is a map.
    pub(super) fn text_of(&self, field: &str) -> Option<&str> {
        let NodeKind::Map(members) = &self.kind else { return None };
        let member = members.iter().rfind(|member| member.key == field)?;
        match &member.value.kind {
            NodeKind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}
