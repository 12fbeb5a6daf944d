//! `discover_mcp_tools`: from the catalog alone; starts nothing.

use satchel_core::{
    catalog::{Aids, answer::Asked},
    hub::Hub,
    model::{Place, ServerView},
    stats::event::Visit,
};
use satchel_mcp::{Raw, RawObject};

use super::{LIMIT, MOST, fault, text};

/// Tools that fit, or why there are none.
pub(crate) async fn discover(hub: &Hub, visit: &Visit, arguments: &RawObject) -> Box<Raw> {
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
    let asked = Asked { query: &query, server: server.as_deref(), limit, full, aids: Aids::default() };
    let mut answer = hub.search(visit, &asked).await;
    if answer.tools.is_empty() {
        answer.hint = Some(nothing_found(hub, server.as_deref()));
    }
    text(&serde_json::to_string(&answer).expect("a JSON value always serializes"), false)
}

/// Why nothing was found, and what to try.
fn nothing_found(hub: &Hub, server: Option<&str>) -> String {
    let snapshot = hub.snapshot();
    let usable = |view: &&ServerView| {
        view.enabled && hub.shows(&view.name) && server.is_none_or(|server| view.name == server)
    };
    let silent: Vec<String> = snapshot
        .servers
        .iter()
        .filter(usable)
        .filter(|view| view.tools.is_none())
        .map(|view| format!("{} ({})", view.name, view.state.name()))
        .collect();
    let names: Vec<&str> = snapshot.servers.iter().filter(usable).map(|view| view.name.as_str()).collect();
    let mut hint = match names.as_slice() {
        [] => "No server is switched on in Satchel.".to_owned(),
        names => format!(
            "No tool fits. Try other words, or an empty query with one of these servers: {}.",
            names.join(", ")
        ),
    };
    if !silent.is_empty() {
        hint.push_str(&format!(" Not read yet: {}.", silent.join(", ")));
    }
    hint
}

/// A server that was named but cannot be used.
fn unusable(hub: &Hub, server: &str) -> Option<Box<Raw>> {
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
        Some(view) if view.tools.is_none() && view.state.needs_you() => {
            let sentence = view.state.sentence(Place::Computer, 0);
            Some(fault(&format!("\"{server}\" cannot be used. {sentence}.")))
        }
        Some(_) => None,
    }
}
