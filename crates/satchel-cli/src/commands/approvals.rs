//! `approvals` and `approve`: shows what waits for approval and records a person's decision.

mod group;
pub(super) mod text;

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        approvals::{ApprovalItem, ApprovalList, Seen, ServerApprovals},
        request::{self, ApproveSettings, Done, KeepHeld, ListApprovals, LookedAt},
    },
};

use self::text::{As, Rest, items_shown, settings_shown, shown};
use super::done;
use crate::{
    Usage,
    args::Approve,
    output::{say, say_aside, say_json},
    reach::{Reached, once, reach},
    terminal,
};

pub(crate) async fn list(
    places: &Places,
    server: Option<String>,
    each: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let by = if each { As::Each } else { As::Groups };
    let list: ApprovalList = once(places, ListApprovals { server }).await?;
    if json {
        say_json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    if list.servers.is_empty() && list.settings.is_none() {
        say("Nothing is waiting for approval.");
    }
    if let Some(change) = &list.settings {
        say(settings_shown(change).and(""));
    }
    for (at, server) in list.servers.iter().enumerate() {
        if at > 0 {
            say("");
        }
        say(shown(server, by, Rest::Whole));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn approve(places: &Places, approve: Approve, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let outcome = match (approve.settings, approve.all) {
        (true, _) => accept_settings(&hub, &approve, json).await,
        (false, true) => decide_all(&hub, &approve, json).await,
        (false, false) => decide(&hub, approve, json).await,
    };
    hub.leave().await;
    outcome
}

/// Accepts all settings of the configuration file.
async fn accept_settings(hub: &Reached, approve: &Approve, json: bool) -> anyhow::Result<ExitCode> {
    let list: ApprovalList = hub.ask(ListApprovals { server: None }).await?;
    let Some(change) = list.settings else {
        return done("No settings in the configuration file are waiting for approval.", &Done {}, json);
    };
    if terminal::is_there() {
        say_aside(settings_shown(&change));
        if !approve.yes && !terminal::agrees("Accept these settings?")? {
            return done("Nothing was changed.", &Done {}, json);
        }
    }
    hub.ask_for_person(ApproveSettings { fingerprint: change.fingerprint }).await?;
    done("Accepted: the settings of the configuration file.", &Done {}, json)
}

/// Decides on everything that is held back, with one question.
async fn decide_all(hub: &Reached, approve: &Approve, json: bool) -> anyhow::Result<ExitCode> {
    let list: ApprovalList = hub.ask(ListApprovals { server: None }).await?;
    let waits = |server: &ServerApprovals| server.items.iter().any(|item| item.held.is_some());
    let servers: Vec<ServerApprovals> = list.servers.into_iter().filter(waits).collect();
    if servers.is_empty() {
        return done("Nothing is waiting for approval.", &Done {}, json);
    }
    if terminal::is_there() {
        for server in &servers {
            say_aside(shown(server, As::Groups, Rest::Folded));
        }
        let verb = if approve.keep { "Keep back" } else { "Approve" };
        let of = if servers.len() == 1 { "1 server" } else { &format!("{} servers", servers.len()) };
        if !approve.yes && !terminal::agrees(&format!("{verb} all of this, of {of}?"))? {
            return done("Nothing was changed.", &Done {}, json);
        }
    }
    let mut count = 0;
    for server in servers {
        let held = server.items.iter().filter(|item| item.held.is_some());
        let items: Vec<Seen> = held.map(seen).collect();
        count += items.len();
        say_of(hub, server.server, items, approve.keep).await?;
    }
    let verb = if approve.keep { "Kept back" } else { "Approved" };
    done(&format!("{verb}: {}.", counted(count)), &Done {}, json)
}

/// Decides on these definitions.
async fn say_of(hub: &Reached, server: String, items: Vec<Seen>, keep: bool) -> anyhow::Result<Done> {
    match keep {
        true => hub.ask_for_person(KeepHeld { server, items }).await,
        false => hub.ask_for_person(request::Approve { server, items }).await,
    }
}

fn seen(item: &ApprovalItem) -> Seen {
    Seen { kind: item.kind, name: item.name.clone(), fingerprint: item.fingerprint.clone() }
}

async fn decide(hub: &Reached, approve: Approve, json: bool) -> anyhow::Result<ExitCode> {
    let name = approve.server.clone().unwrap_or_default();
    let list: ApprovalList = hub.ask(ListApprovals { server: Some(name.clone()) }).await?;
    let found = list.servers.into_iter().next();
    let named = |item: &&ApprovalItem| match approve.resources {
        true => group::reason(item).is_some(),
        false => approve.names.is_empty() || approve.names.contains(&item.name),
    };
    let held = found.iter().flat_map(|server| &server.items).filter(|item| item.held.is_some());
    let meant: Vec<&ApprovalItem> = held.filter(named).collect();
    if let Some(missing) = approve.names.iter().find(|name| !meant.iter().any(|item| item.name == **name)) {
        let message = format!("\"{}\" holds back nothing named \"{missing}\"", name);
        return Err(Usage(message).into());
    }
    let looked = approve.names.is_empty()
        && !approve.resources
        && found.as_ref().is_some_and(|server| server.unseen.is_some());
    if meant.is_empty() && !looked {
        return done(&format!("\"{name}\" has nothing to review."), &Done {}, json);
    }
    // Without an interactive terminal, the hub decides whether it needs a person.
    if terminal::is_there() {
        // Named definitions are shown in full.
        let by = if approve.names.is_empty() { As::Groups } else { As::Each };
        if !meant.is_empty() {
            say_aside(items_shown(&name, meant.iter().copied(), by, Rest::Folded));
        }
        let verb = if approve.keep { "Keep back" } else { "Approve" };
        let question = format!("{verb} {} of \"{}\"?", counted(meant.len()), name);
        if !approve.yes && !terminal::agrees(&question)? {
            return done("Nothing was changed.", &Done {}, json);
        }
    }
    let items: Vec<Seen> = meant.iter().map(|item| seen(item)).collect();
    let server = name;
    if !items.is_empty() {
        say_of(hub, server.clone(), items, approve.keep).await?;
    }
    if looked && !approve.keep {
        hub.ask_for_person(LookedAt { server }).await?;
    }
    let verb = if approve.keep { "Kept back" } else { "Approved" };
    done(&format!("{verb}: {}.", counted(meant.len())), &Done {}, json)
}

fn counted(count: usize) -> String {
    match count {
        0 => "what it offers".to_owned(),
        1 => "1 definition".to_owned(),
        many => format!("{many} definitions"),
    }
}
