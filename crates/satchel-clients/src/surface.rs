//! Chooses the surface that a client gets, and says why.

use super::{
    seen::{Cut, Fact, Facts, ListChanges, ToolSearch},
    table::Client,
};
use crate::model::clients::Surface;

/// The surface in effect: the user's choice, or what suits the client. Never [`Surface::Auto`]. The reason is for
/// people.
pub fn effective(
    client: Option<&Client>,
    chosen: Surface,
    tools: impl FnOnce() -> usize,
) -> (Surface, String) {
    match (chosen, client) {
        (Surface::Router, _) => (Surface::Router, "chosen".into()),
        (Surface::Direct, _) => (Surface::Direct, "chosen".into()),
        (Surface::Script, _) => (Surface::Script, "chosen".into()),
        (Surface::Auto, None) => (
            Surface::Router,
            "nothing is known of this client, so it gets four tools that find all others".into(),
        ),
        (Surface::Auto, Some(client)) => of_client(client, tools()),
    }
}

fn of_client(client: &Client, tools: usize) -> (Surface, String) {
    let (name, facts) = (client.title(), Facts::of_client(&client.id));
    let defers = matches!(facts.tool_search(), Some(ToolSearch::Defers(_)));
    if defers && facts.has(&Fact::ListChanges(ListChanges::Heard)) {
        let reason = format!("{name} loads tool definitions by itself only when it needs them");
        return (Surface::Direct, reason);
    }
    if let Some(limit) = facts.tool_limit()
        && tools > limit
    {
        return (Surface::Router, format!("{name} takes {limit} tools, and there are {tools}"));
    }
    (Surface::Router, format!("{name} would load every tool's definition into each conversation"))
}

/// The size limit of a result for a client, in bytes; 0 means none. A client that cuts by itself gets what it keeps, unless
/// the configuration sets a limit.
pub fn result_cap(client: &str, configured: usize, is_set: bool) -> usize {
    match Facts::of_client(client).cut().and_then(Cut::cap).filter(|_| !is_set) {
        Some(own) if configured == 0 => own,
        Some(own) => own.min(configured),
        None => configured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn a_client_that_keeps_definitions_back_by_itself_sees_all_tools() {
        let check = |id: &str, chosen, tools, surface, part: &str| {
            let (effective, reason) = effective(table::client(id), chosen, || tools);
            assert!(effective == surface && reason.contains(part), "{id}: {effective:?}, {reason}");
        };
        check("claude-code", Surface::Auto, 900, Surface::Direct, "Claude Code loads");
        check("claude-code", Surface::Router, 900, Surface::Router, "chosen");
        check("cursor", Surface::Auto, 900, Surface::Router, "Cursor takes 80 tools");
        check("cursor", Surface::Auto, 10, Surface::Router, "Cursor would load");
        check("cursor", Surface::Direct, 900, Surface::Direct, "chosen");
        check("claude-code", Surface::Script, 900, Surface::Script, "chosen");
        check("nobody", Surface::Auto, 0, Surface::Router, "nothing is known");
    }

    #[test]
    fn a_client_that_cuts_results_gets_what_it_keeps() {
        let cap = result_cap;
        assert_eq!(cap("codex", 100_000, false), 8_000);
        assert_eq!(cap("codex", 100_000, true), 100_000, "a person has chosen it");
        assert_eq!(cap("codex", 0, true), 0);
        assert_eq!(cap("cursor", 100_000, false), 100_000);
        assert_eq!(cap("nobody", 100_000, false), 100_000);
    }
}
