//! Applies configured rules to a server's tools: hides, renames or redescribes them.

use std::{collections::HashSet, sync::Arc};

use satchel_mcp::{Plain, Raw, RawObject};

use super::{Offer, ToolEntry};
use crate::{config::rules::ToolRule, model::ServerName};

/// The `_meta` key of a tool's category.
pub(super) const CATEGORY: &str = "dev.satchel/category";

/// Applies the rules to an offer; returns it unchanged if none matches any of its tools.
pub fn applied(server: &ServerName, offer: &Arc<Offer>, rules: &[ToolRule]) -> Arc<Offer> {
    let path = |tool: &ToolEntry| format!("{}:{}", server.in_path(), tool.name);
    let touched = |tool: &ToolEntry| rules.iter().any(|rule| rule.is_for(&path(tool)));
    if !offer.tools.iter().any(touched) {
        return offer.clone();
    }
    let mut names: HashSet<String> = offer.tools.iter().map(|tool| tool.name.clone()).collect();
    let seen = |tool: &ToolEntry| {
        let path = path(tool);
        let rules: Vec<&ToolRule> = rules.iter().filter(|rule| rule.is_for(&path)).collect();
        if rules.is_empty() {
            return Some(tool.clone());
        }
        (!rules.iter().any(|rule| rule.hide)).then(|| edited(tool, &rules, &mut names))
    };
    let tools = offer.tools.iter().filter_map(seen).collect();
    Arc::new(Offer { tools, ..(**offer).clone() })
}

/// Applies the rules to a tool; of contradicting rules, the later one takes precedence.
fn edited(tool: &ToolEntry, rules: &[&ToolRule], names: &mut HashSet<String>) -> ToolEntry {
    let Ok(mut fields) = RawObject::parse(&tool.raw) else { return tool.clone() };
    let mut name = tool.name.clone();
    for rule in rules {
        // Taking another tool's name would hide that tool.
        if let Some(wanted) = rule.rename.as_ref().filter(|wanted| names.insert((*wanted).clone())) {
            name.clone_from(wanted);
            fields.put("name", wanted);
        }
        if let Some(description) = &rule.description {
            fields.put("description", description);
        }
        for (key, value) in &rule.annotations {
            within(&mut fields, "annotations", key, value);
        }
        if let Some(category) = &rule.category {
            within(&mut fields, "_meta", CATEGORY, category);
        }
    }
    let raw: Box<Raw> = fields.to_raw();
    let mut seen = ToolEntry::new(name, &fields, raw);
    seen.own_name = (seen.name != tool.name).then(|| tool.name.clone());
    seen
}

fn within(fields: &mut RawObject, key: &str, name: &str, value: &impl Plain) {
    let inner = fields.get(key).and_then(|raw| RawObject::parse(raw).ok());
    let mut inner = inner.unwrap_or_default();
    inner.put(name, value);
    fields.set(key, inner.to_raw());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalog::validate;

    fn offer() -> Arc<Offer> {
        let tool = |name: &str| {
            let definition = json!({ "name": name, "description": "As it was.", "inputSchema": { "type": "object" }, "z": 1.5 });
            Raw::from_string(definition.to_string()).unwrap()
        };
        let tools = ["create", "delete", "search"].map(tool).into();
        Arc::new(Offer { tools: validate::tools(tools).0, ..Offer::default() })
    }

    fn seen(rules: Value) -> Vec<Value> {
        let rules: Vec<ToolRule> = serde_json::from_value(rules).unwrap();
        let offer = applied(&"s".parse().unwrap(), &offer(), &rules);
        offer.tools.iter().map(|tool| serde_json::from_str(tool.raw.get()).unwrap()).collect()
    }

    #[test]
    fn an_offer_without_rules_is_unchanged() {
        let offer = offer();
        let rule: Vec<ToolRule> =
            serde_json::from_value(json!([{ "tool": "other:*", "hide": true }])).unwrap();
        assert!(Arc::ptr_eq(&applied(&"s".parse().unwrap(), &offer, &rule), &offer));
    }

    #[test]
    fn rules_hide_rename_and_describe() {
        let tools = seen(json!([
            { "tool": "*:delete*", "hide": true },
            { "tool": "s:search", "rename": "find", "description": "Finds.", "category": "reading" },
            { "tool": "s:*", "annotations": { "readOnlyHint": true } },
        ]));
        assert_eq!(
            tools,
            [
                json!({ "name": "create", "description": "As it was.", "inputSchema": { "type": "object" }, "z": 1.5, "annotations": { "readOnlyHint": true } }),
                json!({ "name": "find", "description": "Finds.", "inputSchema": { "type": "object" }, "z": 1.5,
                    "_meta": { "dev.satchel/category": "reading" }, "annotations": { "readOnlyHint": true } }),
            ]
        );
        let rules: Vec<ToolRule> =
            serde_json::from_value(json!([{ "tool": "s:search", "rename": "find" }])).unwrap();
        let renamed = applied(&"s".parse().unwrap(), &offer(), &rules);
        assert_eq!(renamed.tool("find").and_then(|tool| tool.own_name.as_deref()), Some("search"));
    }

    #[test]
    fn a_name_that_is_taken_is_not_given_again() {
        let tools = seen(json!([{ "tool": "s:*", "rename": "create" }]));
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["create", "delete", "search"]);
    }
}
