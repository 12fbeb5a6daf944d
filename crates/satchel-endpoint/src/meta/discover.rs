//! `discover_mcp_tools`: searches the catalog; starts no server.

use std::time::Duration;

use satchel_core::{
    catalog::{
        Aids,
        answer::{Answer, Asked},
    },
    hub::Hub,
    model::{ServerState, ServerView, shell},
    stats::event::Visit,
};
use satchel_mcp::{Raw, RawObject};

use super::{LIMIT, MOST, fault, text};

/// How long a search without results waits for lists that are being read.
const READING: Duration = Duration::from_secs(2);

/// Matching tools, or why there are none. `types`: with result types, for scripts.
pub(crate) async fn discover(hub: &Hub, visit: &Visit, arguments: &RawObject, types: bool) -> Box<Raw> {
    let Some(query) = arguments.text("query") else {
        return fault("discover_mcp_tools needs a query: what the tool should do, in a few words");
    };
    let server = arguments.text("server").filter(|server| !server.is_empty());
    let limit = arguments.read::<f64>("limit").map_or(LIMIT, |limit| limit.clamp(1.0, MOST as f64) as usize);
    let full = arguments.text("detail").as_deref() == Some("full");
    if let Some(server) = &server
        && let Some(fault) = unusable(hub, server)
    {
        return fault;
    }
    let asked = Asked { query: &query, server: server.as_deref(), limit, full, types, aids: Aids::default() };
    let mut answer = search(hub, visit, &asked).await;
    let mut hints: Vec<String> = answer.hint.take().into_iter().collect();
    if answer.tools.is_empty() {
        hints = vec![nothing_found(hub, server.as_deref())];
    }
    // A new server would not be in the profile either.
    let kept_out = answer.tools.is_empty() && hub.lens().is_shut().is_some();
    if server.is_none()
        && !kept_out
        && let Some(name) = hub.suggested_server(&query, &answer).await
    {
        let unless = if answer.tools.is_empty() { "The" } else { "If none of these fits, the" };
        hints.push(format!("{unless} user can add {name} from Satchel's catalog."));
    }
    answer.hint = (!hints.is_empty()).then(|| hints.join(" "));
    text(&serde_json::to_string(&answer).expect("a JSON value always serializes"), false)
}

/// Repeats the search while nothing is found and lists are being read: a client's first search often comes before the
/// servers are ready.
async fn search(hub: &Hub, visit: &Visit, asked: &Asked<'_>) -> Answer {
    let mut catalog = hub.watch_catalog();
    let mut answer = hub.search(visit, asked).await;
    let until_found = async {
        // Otherwise a list read between the search and this check would be missed.
        while answer.tools.is_empty()
            && (is_reading(hub, asked.server) || catalog.has_changed().unwrap_or_default())
            && catalog.changed().await.is_ok()
        {
            answer = hub.search(visit, asked).await;
        }
    };
    // The last result counts, whether in time or not.
    let _ = tokio::time::timeout(READING, until_found).await;
    if answer.tools.is_empty() && catalog.has_changed().unwrap_or_default() {
        answer = hub.search(visit, asked).await;
    }
    answer
}

fn is_reading(hub: &Hub, server: Option<&str>) -> bool {
    hub.snapshot().servers.iter().any(|view| is_usable(hub, server, view) && will_be_read(view))
}

/// Are its lists read, or about to be without further action?
fn will_be_read(view: &ServerView) -> bool {
    if view.tools.is_some() || view.not_started.is_some() {
        return false;
    }
    match view.state {
        ServerState::Starting { .. } | ServerState::Ready { .. } => true,
        // Not started yet: a new hub reads the lists of one server after the other.
        ServerState::Asleep => view.starts == 0,
        ServerState::Off
        | ServerState::Stopping
        | ServerState::BackingOff { .. }
        | ServerState::Broken { .. }
        | ServerState::NeedsCredential { .. }
        | ServerState::NeedsSignIn { .. }
        | ServerState::Invalid { .. } => false,
    }
}

fn is_usable(hub: &Hub, server: Option<&str>, view: &ServerView) -> bool {
    view.enabled && hub.shows(&view.name) && server.is_none_or(|server| view.name == server)
}

/// Why nothing was found, and what to try.
fn nothing_found(hub: &Hub, server: Option<&str>) -> String {
    let snapshot = hub.snapshot();
    let usable: Vec<&ServerView> =
        snapshot.servers.iter().filter(|view| is_usable(hub, server, view)).collect();
    let silent: Vec<String> = usable
        .iter()
        .filter(|view| view.tools.is_none())
        .map(|view| match view.not_started {
            Some(waits) => format!("{} ({})", view.name, waits.sentence()),
            None if matches!(view.state, ServerState::NeedsSignIn { .. }) => {
                format!("{} (needs a sign-in: `satchel login {}`)", view.name, shell::word(&view.name))
            }
            None => format!("{} ({})", view.name, view.state.name()),
        })
        .collect();
    // A server with only prompts or resources has no tools to search.
    let has_tools = |view: &&&ServerView| view.tools.is_some_and(|tools| tools > 0);
    let names: Vec<&str> = usable.iter().filter(has_tools).map(|view| view.name.as_str()).collect();
    let mut hint = match names.as_slice() {
        [] if usable.is_empty() => match (hub.lens().is_shut(), hub.lens().narrows()) {
            (Some(why), _) => {
                format!("No tools are available: {why}. The user can {}.", hub.lens().way_out())
            }
            (None, true) => "No server of the active profile is switched on in Satchel.".to_owned(),
            (None, false) => "No server is switched on in Satchel.".to_owned(),
        },
        [] => "No server has tools.".to_owned(),
        names => format!(
            "No tool matches. Try other words, or an empty query with one of these servers: {}.",
            names.join(", ")
        ),
    };
    if !silent.is_empty() {
        hint.push_str(&format!(" Not read yet: {}.", silent.join(", ")));
    }
    hint
}

/// The error for a named server that is unavailable.
pub(super) fn unusable(hub: &Hub, server: &str) -> Option<Box<Raw>> {
    let snapshot = hub.snapshot();
    let mut shown = snapshot.servers.iter().filter(|view| hub.shows(&view.name));
    match shown.clone().find(|view| view.name == server) {
        None => {
            let names: Vec<&str> =
                shown.by_ref().filter(|view| view.enabled).map(|view| view.name.as_str()).collect();
            Some(fault(&format!("There is no server \"{server}\". Servers: {}.", names.join(", "))))
        }
        Some(view) if !view.enabled => {
            Some(fault(&format!("\"{server}\" is switched off. Switch it on in Satchel to use it.")))
        }
        Some(view) if view.tools.is_none() && (view.is_troubled() || view.not_started.is_some()) => {
            let sentence = view.sentence(satchel_core::clock::now_ms());
            Some(fault(&format!("\"{server}\" cannot be used. {sentence}.")))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use satchel_core::model::approvals::NotStarted;
    use serde_json::json;

    use super::*;

    /// A server whose lists have not been read.
    fn unread(state: &str) -> ServerView {
        let view = json!({
            "name": "a", "title": null, "place": "computer", "enabled": true, "startup": "lazy", "state": state,
            "in_flight": 0, "sleeps_at_ms": null, "since_ms": 0, "phase": "starting",
            "pid": null, "tools": null, "tokens": null, "resources": null, "skipped": [], "runs": "a",
            "idle_timeout_seconds": 180, "starts": 0, "calls": 0, "wake_ms": null,
            "usage": { "processes": null, "memory_bytes": null, "cpu_percent": null, "restarts": 0, "noise": 0 },
        });
        serde_json::from_value(view).expect("it is as the hub shows it")
    }

    #[test]
    fn a_search_waits_for_lists_that_come_by_themselves_and_for_no_person() {
        for (state, waits) in [("asleep", true), ("starting", true), ("ready", true), ("off", false)] {
            assert_eq!(will_be_read(&unread(state)), waits, "{state}");
        }
        assert!(!will_be_read(&ServerView { tools: Some(0), ..unread("ready") }), "it is read");
        assert!(
            !will_be_read(&ServerView { starts: 1, ..unread("asleep") }),
            "it was started and is asleep again"
        );
        for held in [NotStarted::NewEntry, NotStarted::ChangedEntry, NotStarted::Secret] {
            assert!(!will_be_read(&ServerView { not_started: Some(held), ..unread("asleep") }), "{held:?}");
        }
    }
}
