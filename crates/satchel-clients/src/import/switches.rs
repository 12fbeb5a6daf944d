//! Reads a client's allow and deny lists for all servers (`SERVER_TOOL` with `*` and `?`) and turns them into rules for
//! one server. Where single agents of the client override them, the lists are reported and not applied.

use serde_json::Value;

use super::FoundEntry;
use crate::{model::remark::RemarkKind, table::Shape};

/// The tool switches of one file.
#[derive(Debug, Default)]
pub(super) struct Switches {
    all: Vec<Switch>,
    of_agents: Vec<Switch>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Switch {
    /// The client's tool name, with `*` and `?`.
    pattern: String,
    on: bool,
}

impl Switches {
    /// The switches in a client's document.
    pub(super) fn of(shape: &Shape, document: &Value) -> Self {
        let Some(places) = &shape.tool_switches else { return Self::default() };
        let agents = places.agents.iter().filter_map(|key| document.get(key)?.as_object());
        Self {
            all: places.keys.iter().flat_map(|key| switches(document.get(key))).collect(),
            of_agents: agents
                .flat_map(|agents| agents.values())
                .flat_map(|agent| places.keys.iter().flat_map(|key| switches(agent.get(key))))
                .collect(),
        }
    }

    /// Applies the switches to a server.
    pub(super) fn apply(&self, server: &mut FoundEntry) {
        let begin = begin_of(&server.name);
        let of_agents: Vec<_> = self.of_agents.iter().flat_map(|switch| tools_of(switch, &begin)).collect();
        let switches: Vec<_> = self.all.iter().flat_map(|switch| tools_of(switch, &begin)).collect();
        if !of_agents.is_empty() {
            server.remarks.push(RemarkKind::AgentSwitches);
        }
        for (switch, tools) in switches.iter().filter(|(switch, _)| !switch.on) {
            let meets = |(other, also): &&(&Switch, String)| other.on && may_meet(tools, also);
            if of_agents.iter().any(|agent| meets(&agent)) {
                continue;
            }
            // The longer pattern is more specific and takes precedence.
            let longer = |(other, _): &&(&Switch, String)| other.pattern.len() > switch.pattern.len();
            let except: Vec<String> =
                switches.iter().filter(meets).filter(longer).map(|(_, tools)| tools.clone()).collect();
            match (tools.as_str(), &server.tools_allow) {
                ("*", None) => server.tools_allow = Some(except),
                _ => {
                    let off = |tool: String| RemarkKind::OffWithMore { tool, with: tools.clone() };
                    server.remarks.extend(except.into_iter().map(off));
                    server.tools_deny.push(tools.clone());
                }
            }
        }
    }
}

fn switches(block: Option<&Value>) -> impl Iterator<Item = Switch> {
    let fields = block.and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(pattern, value)| {
        let on = match value {
            Value::Bool(on) => *on,
            Value::String(word) if word == "deny" => false,
            Value::String(word) if word == "allow" => true,
            _ => return None,
        };
        Some(Switch { pattern: pattern.clone(), on })
    })
}

/// The prefix of a server's tool names there.
fn begin_of(server: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    server.chars().map(plain).chain(['_']).collect()
}

/// The tools of the server with this prefix that a switch matches.
fn tools_of<'a>(switch: &'a Switch, begin: &str) -> Vec<(&'a Switch, String)> {
    rests(&switch.pattern, begin).into_iter().map(|rest| (switch, rest)).collect()
}

/// What remains of a pattern after matching the prefix. A `*` can match several lengths of it.
fn rests(pattern: &str, begin: &str) -> Vec<String> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut places = vec![0];
    for c in begin.chars() {
        let mut next: Vec<usize> = Vec::new();
        for place in places {
            let stars = pattern[place..].iter().take_while(|c| **c == '*').count();
            if stars > 0 {
                next.push(place);
            }
            if pattern.get(place + stars).is_some_and(|p| *p == c || *p == '?') {
                next.push(place + stars + 1);
            }
        }
        next.sort_unstable();
        next.dedup();
        places = next;
    }
    let rests = places.into_iter().map(|place| pattern[place..].iter().collect::<String>());
    rests.filter(|rest| !rest.is_empty()).collect()
}

/// Can one tool match both? Compares the text before the first `*` or `?`.
fn may_meet(one: &str, other: &str) -> bool {
    let fixed = |pattern: &str| pattern.split(['*', '?']).next().unwrap_or_default().to_owned();
    let (one, other) = (fixed(one), fixed(other));
    one.starts_with(&other) || other.starts_with(&one)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        import::{Source, omitted},
        platform::Platform,
        table,
    };

    /// What stays on, what is off, and the remarks for the server `my gh`.
    #[track_caller]
    fn check(rest: Value, allow: Option<&[&str]>, deny: &[&str], remarks: usize) {
        let client = table::client("opencode").unwrap();
        let source =
            Source { client, path: "x".into(), scope: "user".into(), key: client.key.clone(), like: client };
        let mut document = json!({ "mcp": { "my gh": { "type": "local", "command": ["npx", "gh"] } } });
        document.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let server = source.contents(&document, Platform::Linux).servers.remove(0);
        let allowed: Option<Vec<&str>> =
            server.tools_allow.as_ref().map(|tools| tools.iter().map(String::as_str).collect());
        let found = (allowed.as_deref(), server.tools_deny.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found, (allow, deny.to_vec()), "{rest}");
        assert_eq!(omitted(&server).len(), remarks, "{rest}: {:?}", omitted(&server));
    }

    #[test]
    fn tools_that_a_file_switches_off_there_are_off_here() {
        check(
            json!({ "tools": { "my_gh_delete": false, "my_gh_read": true, "write": false } }),
            None,
            &["delete"],
            0,
        );
        check(json!({ "tools": { "my_gh_delete_*": false } }), None, &["delete_*"], 0);
        check(json!({ "tools": { "*_delete": false } }), None, &["*_delete", "delete"], 0);
        for all in ["my_gh_*", "my_gh*", "my*", "*", "m?_gh_*"] {
            check(json!({ "tools": { all: false } }), Some(&[]), &[], 0);
        }
        for other in ["other_delete", "my_ghost_delete", "bash", "my_gh", "my_gh_"] {
            check(json!({ "tools": { other: false } }), None, &[], 0);
        }
        check(json!({ "tools": { "my_gh_*": false, "my_gh_read": true } }), Some(&["read"]), &[], 0);
        check(
            json!({ "permission": { "my_gh_*": "ask", "my_gh_rm": "deny", "edit": "deny" } }),
            None,
            &["rm"],
            0,
        );
    }

    #[test]
    fn servers_that_only_single_agents_have_are_reported() {
        let agent = |on: bool| json!({ "docs": { "tools": { "my_gh_*": on } } });
        check(json!({ "tools": { "my_gh_*": false }, "agent": agent(true) }), None, &[], 1);
        check(json!({ "tools": { "my_gh_rm": false }, "mode": agent(false) }), None, &["rm"], 1);
        check(json!({ "tools": { "my_gh_r*": false, "my_gh_read": true } }), None, &["r*"], 1);
        check(json!({ "agent": { "docs": { "tools": { "write": false } } } }), None, &[], 0);
    }
}
