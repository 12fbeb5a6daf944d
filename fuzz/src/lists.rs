//! Lists of tools: the good ones stay, each bad one has a reason, and a fingerprint tells two definitions apart whenever
//! a reader could, and never otherwise.

use satchel_core::{
    catalog::validate,
    trust::{Fingerprint, clean, fingerprint::Tree, inspect},
};
use satchel_mcp::Raw;
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(items) = serde_json::from_slice::<Vec<Box<Raw>>>(data) else { return };
    let count = items.len();
    for raw in &items {
        let tree = Tree::of(raw);
        assert_eq!(Fingerprint::of("tool", raw), Fingerprint::of_tree("tool", &tree));
        let _ = (tree.readable(), inspect::is_alarming(&tree));
        let cleaned = clean::raw(raw);
        assert_eq!(clean::raw(&cleaned).get(), cleaned.get(), "cleaned twice, it is the same");
        if let Some(value) = unambiguous(raw) {
            let pretty =
                serde_json::to_string_pretty(&value).ok().and_then(|text| Raw::from_string(text).ok());
            let pretty = pretty.expect("what was read can be written");
            // A number can be written in several ways, and each has its own fingerprint.
            if !has_numbers(&value) {
                assert_eq!(
                    Fingerprint::of("tool", raw),
                    Fingerprint::of("tool", &pretty),
                    "white space says nothing"
                );
            }
        }
    }
    for (at, one) in items.iter().enumerate().take(8) {
        for other in items.iter().skip(at + 1).take(8) {
            if let (Some(a), Some(b)) = (unambiguous(one), unambiguous(other))
                && a != b
            {
                assert_ne!(Fingerprint::of("tool", one), Fingerprint::of("tool", other), "{one} and {other}");
            }
        }
    }
    let (tools, skipped) = validate::tools(items);
    assert_eq!(tools.len() + skipped.len(), count, "every tool is kept or has a reason");
    for tool in tools {
        let _ = (tool.signature(), tool.summary(80), tool.nature(), tool.param_headers(), tool.skeleton());
    }
}

/// Parses JSON that every parser reads alike: no key twice.
fn unambiguous(raw: &Raw) -> Option<Value> {
    fn whole(tree: &Tree) -> bool {
        match tree {
            Tree::Object(fields) => fields.iter().all(|(_, value)| whole(value)),
            Tree::List(items) => items.iter().all(whole),
            Tree::Text(_) | Tree::Literal(_) => true,
            Tree::Opaque(_) => false,
        }
    }
    if !whole(&Tree::of(raw)) {
        return None;
    }
    serde_json::from_str(raw.get()).ok()
}

fn has_numbers(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(has_numbers),
        Value::Object(fields) => fields.values().any(has_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
