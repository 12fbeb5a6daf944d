//! Reconciles running servers with the configuration: adds, changes and removes only what differs.

use std::sync::Arc;

use super::{
    Hub, approved, failures, launch, lists, profiles, publish, refresh,
    servers::{Declined, Registered, RegisteredServer},
};
use crate::{
    calls::slots::Slots,
    catalog::disk,
    config::Config,
    model::{Code, Notice, ServerConfig, ServerName},
    review::{Accepted, Opening},
    upstream::{Upstream, setup_of},
};

/// Calls in flight on one server, and how many of them each client can always have.
const CALLS_PER_SERVER: usize = 64;
const CALLS_OF_CLIENT: usize = 8;

/// Makes the servers follow `config`.
pub(super) async fn reconcile(hub: &Hub, config: Config, accepted: Accepted<'_>) {
    let (config, accepted_here) = (Arc::new(config), accepted);
    let before = hub.inner.configured.replace(config.clone());
    profiles::follow(hub, &before);
    for name in before.servers().keys() {
        if !config.servers().contains_key(name) {
            remove(hub, name);
            hub.offers().remove(name);
            // One whose entry became wrong is expected back.
            if !config.faults().contains_key(name.as_str()) {
                let _ = std::fs::remove_file(lists::catalog_file(hub, name));
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
                // What another hand changed ends before it is judged. What a person changed is replaced at once
                // afterwards, and is seen all the time.
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
    // Only now all are known that may have a claim on a secret.
    let granted = approved::settle_secrets(hub, accepted_here).await;
    launch::follow_launches(hub, &granted).await;
    // Only now: what a person just added waits for its secrets for a moment, which is nothing to be told.
    waiting.iter().for_each(|name| say_held(hub, name));
    publish::publish_catalog(hub).await;
    // Last, because there may be many: what they are asked for the first time goes on while the hub is there already.
    for (name, transport) in startable {
        launch::look_soon(hub, &name, &transport).await;
        launch::learn(hub, &name);
    }
    hub.inner.faces.changed();
}

/// A server that is about to be added, and what was kept of its lists.
fn coming(
    hub: &Hub,
    name: &ServerName,
    config: &ServerConfig,
    accepted: bool,
) -> (Opening, Result<Option<disk::Kept>, String>) {
    let lists = disk::read(&lists::catalog_file(hub, name));
    let kept = lists.as_ref().ok().and_then(|lists| lists.as_ref().map(|lists| lists.pinned));
    (Opening { name: name.clone(), config: config.clone(), kept, accepted }, lists)
}

/// Puts a server into the place of the one of that name, if there is one: nobody sees a moment without either.
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
            // The hub before ended before it had counted.
            if offer.tokens.get().is_none() {
                refresh::keep(hub, name, offer);
            }
        }
        // What another setup offered says nothing about this one.
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
        held,
        config: config.clone(),
        calls: Slots::new(CALLS_PER_SERVER, CALLS_OF_CLIENT),
        declined: Declined::default(),
        end: hub.inner.life.end().child_token(),
    };
    refresh::follow(hub, name, &registered.upstream, setup, registered.end.clone());
    if let Some(before) = hub.inner.servers.insert(name.clone(), registered.into()) {
        close(hub, before);
    }
}

/// Its log says why it is not started, where it is not.
fn say_held(hub: &Hub, name: &ServerName) {
    if hub.inner.review.refuses_start(name).is_none() {
        return;
    }
    if let Some(server) = hub.servers().get(name) {
        server
            .upstream
            .log()
            .hub("not started: its entry is not what was approved; look at it with `satchel approvals`");
    }
}

fn adjust(hub: &Hub, name: &ServerName, config: &ServerConfig) {
    hub.inner.servers.change(name, |known| {
        known.config = config.clone();
        known.upstream.configure(launch::as_started(hub, name, config, known.held));
    });
    launch::learn(hub, name);
}

fn remove(hub: &Hub, name: &ServerName) {
    if let Some(removed) = hub.inner.servers.remove(name) {
        forget_tasks(hub, name, &removed);
        close(hub, removed);
    }
}

/// Ends what is done for a server's lists, and what its clients own there.
fn forget_tasks(hub: &Hub, name: &ServerName, server: &Registered) {
    server.end.cancel();
    hub.calls().owned.forget(name);
}

fn close(hub: &Hub, server: Registered) {
    hub.inner.life.spawn(async move { server.upstream.close().await });
}
