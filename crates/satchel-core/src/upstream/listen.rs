//! Keeps a server's subscriptions up to date: list changes, and the resources that clients watch.
//!
//! A legacy server tells of lists by itself and is asked for each resource (`resources/subscribe`); a stateless one
//! answers one long request with a stream of notifications (`2026-07-28/basic/patterns/subscriptions.mdx`).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::{json, value::to_raw_value};
use tokio::sync::watch;

use super::{
    dirty::Dirty,
    link::{CallError, Event, Link},
};

/// How long after a stream of notifications ended another is asked for.
const REOPEN: Duration = Duration::from_secs(5);
/// A stream of notifications is quiet for long; this only bounds one wait of many.
const QUIET: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a server may take to take in that a resource is watched.
const ANSWER: Duration = Duration::from_secs(30);

/// How a stream of notifications came to its end.
enum StreamEnd {
    /// The server will not have it.
    Refused,
    /// It broke off, or the server ended it.
    Lost,
    /// Somebody wants other notifications.
    Changed,
}

/// Until the connection ends or nobody can want notifications any more.
pub(super) async fn run(link: Link, dirty: Arc<Dirty>, mut wanted: watch::Receiver<BTreeSet<String>>) {
    let ended = link.clone();
    let listening = async {
        if link.is_modern() {
            stream(&link, &dirty, &mut wanted).await;
        } else {
            ask(&link, &dirty, &mut wanted).await;
        }
    };
    tokio::select! {
        () = listening => {}
        _ = ended.wait_ended() => {}
    }
}

/// Waits until it is known what resources the server has: one that is held back is not asked for.
async fn looked_at(dirty: &Dirty) {
    while dirty.fresh(Dirty::bit("resources")).await.is_err() {
        tokio::time::sleep(REOPEN).await;
    }
}

async fn ask(link: &Link, dirty: &Dirty, wanted: &mut watch::Receiver<BTreeSet<String>>) {
    let mut told = BTreeSet::new();
    loop {
        if !wanted.borrow().is_empty() {
            looked_at(dirty).await;
        }
        let now = wanted.borrow_and_update().clone();
        let changes = now.difference(&told).map(|uri| ("resources/subscribe", uri));
        for (method, uri) in changes.chain(told.difference(&now).map(|uri| ("resources/unsubscribe", uri))) {
            // A server that cannot do that says so; what it does not tell cannot be passed on.
            let _ = link.request(method, to_raw_value(&json!({ "uri": uri })).ok(), ANSWER).await;
        }
        told = now;
        if wanted.changed().await.is_err() {
            return;
        }
    }
}

async fn stream(link: &Link, dirty: &Dirty, wanted: &mut watch::Receiver<BTreeSet<String>>) {
    let mut looked = false;
    loop {
        let mut resources = wanted.borrow_and_update().clone();
        looked |= resources.is_empty();
        if !looked {
            resources.clear();
        }
        let mut filter = json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
        });
        if !resources.is_empty() {
            filter["resourceSubscriptions"] = json!(resources);
        }
        let params = to_raw_value(&json!({ "notifications": filter })).ok();
        let end = match link.start("subscriptions/listen", params, ANSWER).await {
            Err(_) => return,
            Ok(mut call) => loop {
                tokio::select! {
                    event = call.next(QUIET) => match event {
                        Event::Final(Err(CallError::Answered(_) | CallError::SignIn(_))) => break StreamEnd::Refused,
                        Event::Final(_) => break StreamEnd::Lost,
                        Event::Question { .. } | Event::Note { .. } => {}
                    },
                    () = looked_at(dirty), if !looked => {
                        looked = true;
                        break StreamEnd::Changed;
                    }
                    // Another filter needs another request; dropping this one takes it back.
                    changed = wanted.changed() => match changed {
                        Ok(()) => {
                            looked = false;
                            break StreamEnd::Changed;
                        }
                        Err(_) => return,
                    },
                }
            },
        };
        let pause = match end {
            StreamEnd::Changed => continue,
            StreamEnd::Lost => Some(REOPEN),
            // It has no such stream. Somebody who wants a resource is a reason to try again.
            StreamEnd::Refused => None,
        };
        tokio::select! {
            () = tokio::time::sleep(pause.unwrap_or(QUIET)) => {}
            changed = wanted.changed() => if changed.is_err() { return },
        }
    }
}
