//! What clients list: the four definitions, and a line that says what is behind them.

use std::collections::HashMap;

use satchel_core::{
    catalog::{Offer, search},
    hub::Hub,
};
use serde_json::{Value, json};

use super::{DISCOVER, EXECUTE, LIMIT, LIST_RESOURCES, MOST, READ_RESOURCE};

/// Bytes of the line that names the servers, so that all four definitions together stay below 450 tokens.
const SERVERS: usize = 400;
/// So many subjects of a server are named where there is room.
const SUBJECTS: usize = 3;

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
    let enabled = snapshot.servers.iter().filter(|server| server.enabled);
    lines(enabled.map(|server| (server.name.as_str(), catalog.offer(&server.name).map(|offer| &**offer))))
}

/// The four definitions for these servers: what a client pays for before it asks anything.
pub fn menu<'a>(servers: impl Iterator<Item = (&'a str, Option<&'a Offer>)>) -> Value {
    definitions(&lines(servers))
}

fn lines<'a>(servers: impl Iterator<Item = (&'a str, Option<&'a Offer>)>) -> Vec<String> {
    let all: Vec<(&str, Vec<String>)> = servers
        .map(|(name, offer)| (name, offer.map(|offer| subjects(name, offer)).unwrap_or_default()))
        .collect();
    let with = |subjects: usize| -> Vec<String> {
        let line = |(name, known): &(&str, Vec<String>)| match &known[..known.len().min(subjects)] {
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

/// What a server's tools deal with, most of them first.
fn subjects(server: &str, offer: &Offer) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for tool in offer.tools.iter().filter(|tool| tool.for_models) {
        let Some((subject, key)) = search::subject(&tool.name, server) else { continue };
        let place = *places.entry(key).or_insert_with(|| {
            counts.push((subject, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
    }
    // Stable: of two as frequent, the one that the server lists first.
    counts.sort_by(|(_, a), (_, b)| b.cmp(a));
    counts.into_iter().map(|(subject, _)| subject).take(SUBJECTS).collect()
}

#[cfg(test)]
mod tests {
    use satchel_core::{catalog::validate, tokens};
    use satchel_mcp::Raw;

    use super::*;

    fn offer(tools: &[&str]) -> Offer {
        let raw = |name: &&str| {
            let definition = json!({ "name": name, "inputSchema": { "type": "object" } });
            Raw::from_string(definition.to_string()).unwrap()
        };
        Offer { tools: validate::tools(tools.iter().map(raw).collect()).0, ..Offer::default() }
    }

    #[test]
    fn servers_are_named_with_what_they_deal_with() {
        let forge =
            offer(&["get_pull_request", "create_issue", "list_issues", "fork_forge_repository", "help"]);
        let lines = lines([("forge", Some(&forge)), ("new", None)].into_iter());
        assert_eq!(lines, ["forge (issue, pull request, fork repository)", "new"]);
    }

    #[test]
    fn the_menu_stays_small_whatever_is_behind_it() {
        let servers = |count: usize| -> Vec<(String, Offer)> {
            let name = |at: usize| {
                let known = [
                    "github",
                    "filesystem",
                    "slack-workspace",
                    "postgres",
                    "linear",
                    "browser",
                    "kubernetes",
                ];
                if at < known.len() {
                    known[at].to_owned()
                } else {
                    format!("{}-{at}", known[at % known.len()])
                }
            };
            let tools =
                ["create_issue", "search_code", "list_pull_requests", "read_text_file", "execute_sql_query"];
            (0..count).map(|at| (name(at), offer(&tools))).collect()
        };
        let counts = [0, 1, 7, 15, 30, 100];
        let texts = counts.map(|count| {
            let all = servers(count);
            menu(all.iter().map(|(name, offer)| (name.as_str(), Some(offer)))).to_string()
        });
        let tokens = tokens::count_here(&texts).unwrap();
        assert!(tokens.iter().all(|tokens| *tokens <= 450), "{tokens:?} tokens for {counts:?} servers");
    }
}
