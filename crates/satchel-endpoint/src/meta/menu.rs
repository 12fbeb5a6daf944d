//! What clients list: the four definitions, and a line that says what is behind them.

use satchel_core::{
    catalog::{Catalog, SUBJECTS},
    hub::Hub,
};
use serde_json::{Value, json};

use super::{DISCOVER, EXECUTE, LIMIT, LIST_RESOURCES, MOST, READ_RESOURCE};

/// Bytes of the line that names the servers, so that all four definitions together stay below 450 tokens.
const SERVERS: usize = 400;

/// The definitions as clients list them. `servers` is what [`servers`] said when the session began.
pub(crate) fn definitions(servers: &[String]) -> Value {
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
    let behind = match servers {
        [] => String::new(),
        servers => format!(" Servers: {}.", servers.join("; ")),
    };
    json!([
        {
            "name": DISCOVER,
            "title": "Discover tools",
            "description": format!("Find tools by what they do, to call with {EXECUTE}.{behind}"),
            "inputSchema": object(json!({
                "query": { "type": "string", "description": "what the tool should do, in a few words" },
                "limit": { "type": "integer", "default": LIMIT, "minimum": 1, "maximum": MOST },
                "server": { "type": "string", "description": "only this server" },
                "detail": { "type": "string", "enum": ["brief", "full"], "description": "full adds JSON Schemas" }
            }), json!(["query"])),
            "annotations": { "readOnlyHint": true, "openWorldHint": false }
        },
        {
            "name": EXECUTE,
            "title": "Execute a tool",
            "description": format!("Call a tool found with {DISCOVER}."),
            "inputSchema": object(json!({
                "tool_path": { "type": "string", "description": "a found tool, server:tool" },
                "arguments": { "type": "object", "description": "as its signature says" }
            }), json!(["tool_path"]))
        },
        {
            "name": LIST_RESOURCES,
            "title": "List resources",
            "description": "List resources of all servers as server|uri.",
            "inputSchema": object(json!({}), json!([])),
            "annotations": { "readOnlyHint": true, "openWorldHint": false }
        },
        {
            "name": READ_RESOURCE,
            "title": "Read a resource",
            "description": "Read a resource, or more of a cut result.",
            "inputSchema": object(json!({ "uri": { "type": "string", "description": "server|uri" } }), json!(["uri"])),
            "annotations": { "readOnlyHint": true }
        }
    ])
}

/// The servers a client can use, each with what it deals with as far as there is room. Made of names alone: what
/// servers say of themselves at length has no place in a description of ours.
pub(crate) fn servers(hub: &Hub) -> Vec<String> {
    let snapshot = hub.snapshot();
    let catalog = hub.catalog();
    let enabled = snapshot.servers.iter().filter(|server| server.enabled && hub.shows(&server.name));
    lines(enabled.map(|server| (server.name.as_str(), catalog.subjects(&server.name))))
}

/// The four definitions for these servers: what a client pays for before it asks anything.
pub fn menu(catalog: &Catalog) -> Value {
    let servers = catalog.servers().keys();
    definitions(&lines(servers.map(|server| (server.as_str(), catalog.subjects(server.as_str())))))
}

fn lines<'a>(servers: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let all: Vec<(&str, &[String])> = servers.collect();
    let with = |subjects: usize| -> Vec<String> {
        let line = |(name, known): &(&str, &[String])| match &known[..known.len().min(subjects)] {
            [] => (*name).to_owned(),
            known => format!("{name} ({})", known.join(", ")),
        };
        all.iter().map(line).collect()
    };
    let size = |lines: &[String]| lines.iter().map(|line| line.len() + 2).sum::<usize>();
    let fitting = (0..=SUBJECTS).rev().map(with).find(|lines| size(lines) <= SERVERS);
    fitting.unwrap_or_else(|| {
        let names = with(0);
        let mut kept = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if size(&kept) + name.len() + 2 > SERVERS {
                kept.push(format!("and {} more", names.len() - at));
                break;
            }
            kept.push(name.clone());
        }
        kept
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use satchel_core::{
        catalog::{Offer, validate},
        tokens,
    };
    use satchel_mcp::Raw;

    use super::*;

    fn offer(tools: &[&str]) -> Arc<Offer> {
        let raw = |name: &&str| {
            let definition = json!({ "name": name, "inputSchema": { "type": "object" } });
            Raw::from_string(definition.to_string()).unwrap()
        };
        Arc::new(Offer { tools: validate::tools(tools.iter().map(raw).collect()).0, ..Offer::default() })
    }

    #[test]
    fn servers_are_named_with_what_they_deal_with() {
        let forge =
            offer(&["get_pull_request", "create_issue", "list_issues", "fork_forge_repository", "help"]);
        let catalog = Catalog::new([("forge".parse().unwrap(), forge)].into());
        let servers = ["forge", "new"].map(|name| (name, catalog.subjects(name)));
        let lines = lines(servers.into_iter());
        assert_eq!(lines, ["forge (issue, pull request, fork repository)", "new"]);
    }

    #[test]
    fn the_menu_stays_small_whatever_is_behind_it() {
        let known =
            ["github", "filesystem", "slack-workspace", "postgres", "linear", "browser", "kubernetes"];
        let name = |at: usize| match known.get(at) {
            Some(name) => (*name).to_owned(),
            None => format!("{}-{at}", known[at % known.len()]),
        };
        let tools =
            ["create_issue", "search_code", "list_pull_requests", "read_text_file", "execute_sql_query"];
        let counts = [0, 1, 7, 15, 30, 100];
        let texts = counts.map(|count| {
            let servers = (0..count).map(|at| (name(at).parse().unwrap(), offer(&tools)));
            menu(&Catalog::new(servers.collect())).to_string()
        });
        let tokens = tokens::count_here(&texts).unwrap();
        assert!(tokens.iter().all(|tokens| *tokens <= 450), "{tokens:?} tokens for {counts:?} servers");
    }
}
