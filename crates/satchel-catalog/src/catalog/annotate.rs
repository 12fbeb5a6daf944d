//! Classifies a tool by its own definition: what it changes, and how much a caller must know to use it. For display and
//! sorting only; permissions do not depend on it.

use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

use super::{ToolEntry, entry::shorten, overrides, search};
use crate::model::control::Complexity;

/// Number of parameters above which a tool is not simple, and above which it is complex.
const SOME: usize = 3;
const MANY: usize = 8;
/// The same for nested objects and lists.
const NESTED: usize = 1;
const DEEP: usize = 2;
/// Maximum length of a category, in characters.
const LONGEST: usize = 40;
/// Maximum depth that is examined.
const DEPTH: usize = 8;

impl ToolEntry {
    /// Its category: from a rule, otherwise from its annotations, otherwise from the verb in its name.
    pub fn category(&self) -> String {
        let fields = RawObject::parse(&self.raw).unwrap_or_default();
        let within =
            |object: &RawObject, key: &str| object.get(key).and_then(|raw| RawObject::parse(raw).ok());
        let ruled = within(&fields, "_meta").and_then(|meta| meta.text(overrides::CATEGORY));
        let ruled = ruled.map(|text| shorten(&text, LONGEST));
        let by_verb = || search::kind(&self.name, &self.description);
        let annotated = within(&fields, "annotations").and_then(|annotations| {
            let says = |key: &str| annotations.get(key).map(Raw::get) == Some("true");
            match (says("readOnlyHint"), says("destructiveHint")) {
                // Searching is a form of reading.
                (true, _) => Some(if by_verb() == "searching" { "searching" } else { "reading" }),
                // A destructive tool may still be named for what it does.
                (false, true) if ["reading", "searching", "other"].contains(&by_verb()) => Some("deleting"),
                (false, _) => None,
            }
        });
        ruled.unwrap_or_else(|| annotated.unwrap_or_else(by_verb).to_owned())
    }

    /// How complex its arguments are.
    pub fn complexity(&self) -> Complexity {
        let schema = self.input_schema().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let schema = schema.unwrap_or_default();
        let parameters = schema.get("properties").and_then(Value::as_object).map_or(0, |all| all.len());
        // The arguments object itself does not count as nesting.
        let depth = depth(&schema, 0).saturating_sub(1);
        if parameters > MANY || depth > DEEP || self.needs_schema() {
            Complexity::Complex
        } else if parameters > SOME || depth >= NESTED {
            Complexity::Moderate
        } else {
            Complexity::Simple
        }
    }
}

/// Nesting of objects and lists of objects. A list of scalars is as simple as a scalar.
fn depth(schema: &Value, within: usize) -> usize {
    if within > DEPTH {
        return within;
    }
    let deeper = |schema: &Value| depth(schema, within + 1);
    let own = schema.get("properties").and_then(Value::as_object);
    let inner = own.into_iter().flat_map(|all| all.values()).map(deeper).max().unwrap_or(0);
    let items = schema.get("items").map_or(0, deeper).saturating_sub(1);
    let ways = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    let ways = ways.flatten().map(|way| depth(way, within + 1)).max().unwrap_or(0);
    (usize::from(own.is_some()) + inner).max(items).max(ways)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(definition: Value) -> ToolEntry {
        let raw = Raw::from_string(definition.to_string()).unwrap();
        let fields = RawObject::parse(&raw).unwrap();
        ToolEntry::new(fields.text("name").unwrap_or_default(), &fields, raw)
    }

    #[test]
    fn a_tool_is_classified_by_its_rule_its_annotations_or_its_verb() {
        for (definition, category) in [
            (json!({ "name": "list_issues" }), "reading"),
            (json!({ "name": "searchCode" }), "searching"),
            (json!({ "name": "create_issue" }), "writing"),
            (json!({ "name": "delete_branch" }), "deleting"),
            (json!({ "name": "send_mail" }), "sending"),
            (json!({ "name": "run_query" }), "running"),
            (json!({ "name": "weather" }), "other"),
            (json!({ "name": "weather", "description": "Get the weather of a city." }), "reading"),
            (json!({ "name": "weather", "annotations": { "readOnlyHint": true } }), "reading"),
            (json!({ "name": "find_all", "annotations": { "readOnlyHint": true } }), "searching"),
            (json!({ "name": "tidy", "annotations": { "destructiveHint": true } }), "deleting"),
            (json!({ "name": "update_page", "annotations": { "destructiveHint": true } }), "writing"),
            (json!({ "name": "x", "_meta": { "dev.satchel/category": "mine" } }), "mine"),
        ] {
            assert_eq!(tool(definition.clone()).category(), category, "{definition}");
        }
    }

    #[test]
    fn the_schema_decides_whether_a_tool_is_complex() {
        let text = || json!({ "type": "string" });
        let flat = |count: usize| {
            let properties =
                (0..count).map(|at| (format!("p{at}"), text())).collect::<serde_json::Map<_, _>>();
            json!({ "type": "object", "properties": properties })
        };
        let holding = |inner: Value| json!({ "type": "object", "properties": { "a": inner } });
        let list = |inner: Value| json!({ "type": "array", "items": inner });
        for (schema, complexity) in [
            (json!({ "type": "object" }), Complexity::Simple),
            (flat(3), Complexity::Simple),
            (holding(list(text())), Complexity::Simple),
            (flat(4), Complexity::Moderate),
            (holding(flat(1)), Complexity::Moderate),
            (flat(9), Complexity::Complex),
            (holding(holding(holding(flat(2)))), Complexity::Complex),
        ] {
            let tool = tool(json!({ "name": "t", "inputSchema": schema }));
            assert_eq!(tool.complexity(), complexity, "{schema}");
        }
    }
}
