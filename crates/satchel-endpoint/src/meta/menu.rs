//! The definitions of the four meta-tools, with a line about what they reach.

use satchel_core::{
    catalog::{Catalog, SUBJECTS},
    hub::Hub,
};
use serde_json::{Value, json};

use super::{DISCOVER, EXECUTE, LIMIT, LIST_RESOURCES, MOST, READ_RESOURCE};

/// Token budget of the line that lists servers, estimated conservatively, so that all four definitions together stay
/// below 450.
const SERVERS: usize = 88;
/// The part reserved for saying that there are more.
const MORE: usize = 5;

/// Keeps a tool visible in a client that hides tools until they are searched for (Claude Code): searching for the
/// search tool would be one step too many.
pub(crate) const STAYS: &str = "anthropic/alwaysLoad";

/// The definitions as clients list them. `servers` is the result of [`servers`] when the session began.
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
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
            "_meta": { STAYS: true }
        },
        {
            "name": EXECUTE,
            "title": "Execute a tool",
            "description": format!("Call a tool found with {DISCOVER}."),
            "inputSchema": object(json!({
                "tool_path": { "type": "string", "description": "a found tool, server:tool" },
                "arguments": { "type": "object", "description": "as its signature says" }
            }), json!(["tool_path"])),
            "_meta": { STAYS: true }
        },
        {
            "name": LIST_RESOURCES,
            "title": "List resources",
            "description": "List resources of all servers as server|uri.",
            "inputSchema": {
                "type": "object",
                "properties": { "server": { "type": "string" }, "query": { "type": "string" } }
            },
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

/// Declares the arguments of a call as a text with JSON, for clients that let their model fill no object without named
/// properties. Both forms are taken from all clients.
pub(crate) fn take_arguments_as_text(definitions: &mut Value) {
    let tools = definitions.as_array_mut().into_iter().flatten();
    for tool in tools.filter(|tool| tool["name"] == EXECUTE) {
        tool["inputSchema"]["properties"]["arguments"] =
            json!({ "type": "string", "description": "a JSON object, as its signature says" });
    }
}

/// The servers a client can use, with their subjects as far as there is room. Consists of names only: servers' own
/// descriptions have no place in Satchel's.
pub(crate) fn servers(hub: &Hub) -> Vec<String> {
    let (names, catalog) = (hub.enabled_servers(), hub.catalog());
    lines(names.iter().map(|name| (name.as_str(), catalog.subjects(name))))
}

/// The four definitions for these servers, which every session pays for.
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
    // Plus one separator each.
    let size = |lines: &[String]| lines.iter().map(|line| cost(line) + 1).sum::<usize>();
    let fitting = (0..=SUBJECTS).rev().map(with).find(|lines| size(lines) <= SERVERS);
    fitting.unwrap_or_else(|| {
        let names = with(0);
        let mut kept = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if size(&kept) + cost(name) + 1 > SERVERS - MORE {
                kept.push(format!("and {} more", names.len() - at));
                break;
            }
            kept.push(name.clone());
        }
        kept
    })
}

/// Estimates a text's tokens: natural words have few, other strings many for their length.
fn cost(text: &str) -> usize {
    let kind = |c: char| match c {
        'a'..='z' => Kind::Letter,
        'A'..='Z' => Kind::Capital,
        '0'..='9' => Kind::Digit,
        ' ' => Kind::Blank,
        '!'..='~' => Kind::Mark,
        '\u{80}'..='\u{5ff}' => Kind::Foreign,
        _ => Kind::Sign,
    };
    let chars: Vec<(char, Kind)> = text.chars().map(|c| (c, kind(c))).collect();
    chars.chunk_by(|(_, a), (_, b)| a == b).map(of_one_kind).sum()
}

/// A character class for a tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Capital,
    Digit,
    Blank,
    Mark,
    Foreign,
    Sign,
}

fn of_one_kind(run: &[(char, Kind)]) -> usize {
    /// Words of most languages have no longer runs of consonants.
    const CONSONANTS: usize = 3;
    let is_vowel = |(c, _): &(char, Kind)| "aeiouy".contains(*c);
    match run.first().map(|(_, kind)| kind) {
        // It belongs to the following word.
        None | Some(Kind::Blank) => 0,
        Some(Kind::Letter) if run.split(is_vowel).any(|part| part.len() > CONSONANTS) => {
            run.len().div_ceil(2)
        }
        Some(Kind::Letter) => run.len().div_ceil(4),
        Some(Kind::Capital | Kind::Foreign) => run.len().div_ceil(2),
        Some(Kind::Digit) => run.len().div_ceil(3),
        Some(Kind::Mark) => run.len(),
        Some(Kind::Sign) => run.len() * 2,
    }
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
    fn arguments_may_be_declared_as_a_text() {
        let mut fitted = definitions(&[]);
        take_arguments_as_text(&mut fitted);
        let arguments = "/1/inputSchema/properties/arguments";
        assert_eq!(fitted.pointer(arguments).unwrap()["type"], "string");
        *fitted.pointer_mut(arguments).unwrap() = definitions(&[]).pointer(arguments).unwrap().clone();
        assert_eq!(fitted, definitions(&[]), "nothing else is changed");
    }

    #[test]
    fn the_menu_stays_small_with_any_catalog() {
        let known =
            ["github", "filesystem", "slack-workspace", "postgres", "linear", "browser", "kubernetes"];
        let name = |at: usize| match known.get(at) {
            Some(name) => (*name).to_owned(),
            None => format!("{}-{at}", known[at % known.len()]),
        };
        let tools =
            ["create_issue", "search_code", "list_pull_requests", "read_text_file", "execute_sql_query"];
        let counts = [0, 1, 7, 15, 30, 100];
        // Strings that are not words cost more tokens for their length.
        let mixed = |at: usize| format!("x{:x}Q", (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let foreign = |at: usize| format!("天气服务器与数据库{at}");
        let symbols = |at: usize| format!("~$%^{at}&*=+");
        let consonants = |at: usize| {
            let letter =
                |place: u32| char::from(b"bcdfghjklmnpqrstvwxz"[(at * 7919 + 31) / 3usize.pow(place) % 20]);
            (0..7).map(letter).collect::<String>()
        };
        let accented = |at: usize| format!("größenänderungsprüfung-сервер-данных-{at}");
        let names: [&dyn Fn(usize) -> String; 6] =
            [&name, &mixed, &foreign, &symbols, &consonants, &accented];
        for (kind, name) in names.iter().enumerate() {
            let texts = counts.map(|count| {
                let servers = (0..count).map(|at| (name(at).parse().unwrap(), offer(&tools)));
                menu(&Catalog::new(servers.collect())).to_string()
            });
            let tokens = tokens::count_here(&texts).unwrap();
            assert!(
                tokens.iter().all(|tokens| *tokens <= 450),
                "{kind}: {tokens:?} tokens for {counts:?} servers"
            );
        }
    }
}
