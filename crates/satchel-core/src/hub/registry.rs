//! Reconciles running servers with the configuration: adds, changes and removes only what differs.

use std::sync::Arc;

use super::{
    Hub, approved, failures, fresh_lists, instances, instantiate, launch, pinned_tools, profiles, publish,
    refresh,
    servers::{Declined, Registered, RegisteredServer},
    sharing,
};
use crate::{
    calls::slots::Slots,
    catalog::disk,
    config::Config,
    model::{Code, Notice, ServerConfig, ServerName},
    review::{Accepted, Opening},
    upstream::{Upstream, setup_of},
};

/// Concurrent calls on one server, and the share reserved for each client.
const CALLS_PER_SERVER: usize = 64;
const CALLS_OF_CLIENT: usize = 8;

/// Updates the servers to match `config`.
pub(super) async fn reconcile(hub: &Hub, config: Config, accepted: Accepted<'_>) {
    let (config, accepted_here) = (Arc::new(config), accepted);
    let before = hub.inner.configured.replace(config.clone());
    match hub.inner.configured.accepted.held(&config, &hub.places().config_file) {
        Some(held) => hub.notice(held),
        None => hub.clear_notice(Code::SettingsHeld),
    }
    profiles::follow(hub, &before);
    pinned_tools::follow(hub, &before);
    for name in before.servers().keys() {
        if !config.servers().contains_key(name) {
            remove(hub, name);
            hub.offers().remove(name);
            // A server with a newly invalid entry is expected to return.
            if !config.faults().contains_key(name.as_str()) {
                let _ = std::fs::remove_file(fresh_lists::catalog_file(hub, name));
                let _ = std::fs::remove_dir_all(hub.places().sandbox(name.as_str()));
                failures::forget_failure(hub, name);
            }
        }
    }
    let mut opening = Vec::new();
    for (name, wanted) in config.servers() {
        let accepted = accepted.covers(name);
        let known = hub.servers().get(name).map(|known| known.config.clone());
        match known {
            Some(known) if known == *wanted => {}
            Some(known) if known.transport == wanted.transport && known.sandbox == wanted.sandbox => {
                adjust(hub, name, wanted);
            }
            known => {
                // A server changed outside Satchel stops before the new entry is judged. One that a person changed is
                // replaced in one step and stays visible.
                if known.is_some() && !accepted {
                    remove(hub, name);
                }
                opening.push(coming(hub, name, wanted, accepted));
                continue;
            }
        }
        if accepted {
            approved::accept_launch(hub, name).await;
            launch::follow_launch(hub, name).await;
        }
    }
    let openings = opening.iter().map(|(opening, _)| opening.clone()).collect();
    let held = approved::open_approvals(hub, openings).await;
    let mut startable = Vec::new();
    let mut waiting = Vec::new();
    for ((Opening { name, config, .. }, kept), held) in opening.into_iter().zip(held) {
        add(hub, &name, &config, kept, held);
        if held {
            waiting.push(name);
        } else {
            startable.push((name, config.transport));
        }
    }
    // Only now is every claim on a secret known.
    let granted = approved::settle_secrets(hub, accepted_here).await;
    launch::follow_launches(hub, &granted).await;
    // Only now, because a server that a person just added briefly waits for its secrets, which is not worth reporting.
    waiting.iter().for_each(|name| say_held(hub, name));
    publish::publish_catalog(hub).await;
    // Last, because there may be many: the first requests to them continue while the hub is already usable.
    for (name, transport) in startable {
        launch::look_soon(hub, &name, &transport).await;
        launch::learn(hub, &name);
    }
    hub.inner.configured.following.due.notify_one();
    hub.inner.faces.changed();
}

/// Is the server registered with its entry in `config`, and not held back? False while that entry is still to be
/// judged, and for an invalid one.
pub(super) fn is_accepted(hub: &Hub, config: &Config, name: &str) -> bool {
    let servers = hub.servers();
    let known = servers.get(name).filter(|known| !known.held);
    let same = |known: &ServerConfig, wanted: &ServerConfig| {
        known.transport == wanted.transport && known.sandbox == wanted.sandbox
    };
    known.is_some_and(|known| config.servers().get(name).is_some_and(|wanted| same(&known.config, wanted)))
}

/// A server to be added, with its stored lists.
fn coming(
    hub: &Hub,
    name: &ServerName,
    config: &ServerConfig,
    accepted: bool,
) -> (Opening, Result<Option<disk::Kept>, String>) {
    let lists = disk::read(&fresh_lists::catalog_file(hub, name));
    let kept = lists.as_ref().ok().and_then(|lists| lists.as_ref().map(|lists| lists.pinned));
    (Opening { name: name.clone(), config: config.clone(), kept, accepted }, lists)
}

/// Adds or replaces a server in one step, so that it is never missing in between.
fn add(
    hub: &Hub,
    name: &ServerName,
    config: &ServerConfig,
    kept: Result<Option<disk::Kept>, String>,
    held: bool,
) {
    let before = hub.servers().get(name).cloned();
    if let Some(before) = before {
        forget_tasks(hub, name, &before);
    }
    let setup = setup_of(&config.transport);
    match kept {
        Ok(Some(disk::Kept { offer, .. })) if offer.setup == setup => {
            let offer = Arc::new(offer);
            hub.offers().insert(name.clone(), offer.clone());
            // The previous run stopped before counting.
            if offer.tokens.get().is_none() {
                refresh::keep(hub, name, offer);
            }
        }
        // Lists of a different entry do not apply.
        Ok(_) => {
            hub.offers().remove(name);
        }
        Err(trouble) => hub.notice(Notice::new(Code::SetAside, trouble)),
    }
    let number = hub.inner.servers.number();
    let started = launch::as_started(hub, name, config, held);
    let last_failure = failures::kept_failure(hub, name, &setup);
    let around = hub.inner.around.clone();
    let upstream =
        Upstream::new(name.clone(), number, started, launch::preflight(hub, name), last_failure, around);
    let registered = RegisteredServer {
        upstream,
        sharing: sharing::of(config, hub.offers().get(name).map(|offer| &**offer)),
        instances: Arc::default(),
        instance: None,
        held,
        config: config.clone(),
        calls: Slots::new(CALLS_PER_SERVER, CALLS_OF_CLIENT),
        declined: Declined::default(),
        unread: Arc::default(),
        end: hub.inner.life.end().child_token(),
    };
    refresh::follow(hub, name, &registered.upstream, setup, registered.end.clone());
    let wants_folders = registered.sharing.wants_folders();
    if let Some(before) = hub.inner.servers.insert(name.clone(), registered.into()) {
        close(hub, before);
    }
    if wants_folders {
        // Sessions that are open are asked now.
        hub.inner.clients.chosen();
    }
}

/// Logs why a held server is not started.
fn say_held(hub: &Hub, name: &ServerName) {
    if hub.inner.review.refuses_start(name).is_none() {
        return;
    }
    if let Some(server) = hub.servers().get(name) {
        server
            .upstream
            .log()
            .hub("not started: its entry differs from what was approved; review it with `satchel approvals`");
    }
}

fn adjust(hub: &Hub, name: &ServerName, config: &ServerConfig) {
    let offer = hub.offers().get(name).cloned();
    let before = hub.inner.servers.change(name, |known| {
        known.config = config.clone();
        known.upstream.configure(launch::as_started(hub, name, config, known.held));
        std::mem::replace(&mut known.sharing, sharing::of(config, offer.as_deref())).share
    });
    if hub.servers().get(name).is_some_and(|known| known.sharing.wants_folders()) {
        hub.inner.clients.chosen();
    }
    if let Some(before) = before {
        instantiate::follow(hub, name, before);
    }
    launch::learn(hub, name);
}

fn remove(hub: &Hub, name: &ServerName) {
    if let Some(removed) = hub.inner.servers.remove(name) {
        forget_tasks(hub, name, &removed);
        close(hub, removed);
    }
}

/// Ends the tasks for a server's lists, and drops its clients' state.
fn forget_tasks(hub: &Hub, name: &ServerName, server: &Registered) {
    server.end.cancel();
    hub.calls().owned.forget(name);
}

fn close(hub: &Hub, server: Registered) {
    instances::end_all(hub, server.instances.shut());
    hub.inner.life.spawn(async move { server.upstream.close().await });
}
