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

/// The pause before a lost notification stream is reopened.
const REOPEN: Duration = Duration::from_secs(5);
/// A notification stream is quiet for long periods; this only bounds one wait of many.
const QUIET: Duration = Duration::from_secs(24 * 60 * 60);
/// Timeout for subscribing to a resource.
const ANSWER: Duration = Duration::from_secs(30);

/// Maximum number of earlier streams kept beside the newest.
const OLDER: usize = 4;

/// Why a notification stream ended.
enum StreamEnd {
    /// The server rejected it.
    Refused,
    /// It broke off, or the server ended it.
    Lost,
    /// Other notifications are wanted.
    Changed,
}

/// Runs until the connection ends or nobody wants notifications any more.
pub(super) async fn run(link: Link, dirty: Arc<Dirty>, mut wanted: watch::Receiver<BTreeSet<String>>) {
    let ended = link.clone();
    let listening = async {
        if link.is_stateless() {
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

/// Waits until the server's resources are known, because held ones are not subscribed to.
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
            // A server that does not support this responds with an error; there is nothing to forward then.
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
    // Streams with an earlier filter, kept until the server has confirmed the newest, so that nothing in between is
    // missed.
    let mut older = vec![];
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
            Ok(mut call) => {
                let taken_in = tokio::time::sleep(ANSWER);
                tokio::pin!(taken_in);
                let end = loop {
                    tokio::select! {
                        event = call.next(QUIET) => match event {
                            Event::Final(Err(CallError::Answered(_) | CallError::Rejected(..) | CallError::SignIn(_))) => break StreamEnd::Refused,
                            Event::Final(_) => break StreamEnd::Lost,
                            Event::Question { .. } | Event::Note { .. } => older.clear(),
                            Event::Silent => {}
                        },
                        // The server sends no confirmation.
                        () = &mut taken_in, if !older.is_empty() => older.clear(),
                        () = looked_at(dirty), if !looked => {
                            looked = true;
                            break StreamEnd::Changed;
                        }
                        // Another filter requires another request; dropping this one cancels it.
                        changed = wanted.changed() => match changed {
                            Ok(()) => {
                                looked = false;
                                break StreamEnd::Changed;
                            }
                            Err(_) => return,
                        },
                    }
                };
                match end {
                    StreamEnd::Changed => {
                        older.truncate(OLDER - 1);
                        older.insert(0, call);
                    }
                    StreamEnd::Lost | StreamEnd::Refused => older.clear(),
                }
                end
            }
        };
        let pause = match end {
            StreamEnd::Changed => continue,
            StreamEnd::Lost => Some(REOPEN),
            // It has no such stream. A newly watched resource is a reason to try again.
            StreamEnd::Refused => None,
        };
        tokio::select! {
            () = tokio::time::sleep(pause.unwrap_or(QUIET)) => {}
            changed = wanted.changed() => if changed.is_err() { return },
        }
    }
}

#[cfg(test)]
mod tests {
    use satchel_mcp::{Message, Raw, era::Era};

    use super::*;
    use crate::upstream::link::{Dialect, Outbox};

    /// Everything that is sent until it is quiet.
    async fn sent(outbox: &mut Outbox) -> Vec<String> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let each = std::iter::from_fn(|| outbox.try_recv().ok());
        // What was never sent needs no cancelling.
        each.filter(|message| message.sent.leaves()).map(|message| message.json.to_string()).collect()
    }

    /// While the filter changes, every notification arrives on at least one of the streams.
    #[tokio::test(start_paused = true)]
    async fn a_stream_is_given_up_when_the_next_one_is_taken_in() {
        let (link, mut outbox) = Link::unheard();
        let nothing = || Raw::from_string("{}".to_owned()).unwrap();
        link.speak(Dialect::Stateless { era: Era::STATELESS, client: nothing(), capabilities: nothing() });
        let (wanted, watched) = watch::channel(BTreeSet::new());
        let tracker = tokio_util::task::TaskTracker::new();
        tracker.spawn(run(link.clone(), Arc::new(Dirty::default()), watched));
        let first = sent(&mut outbox).await;
        assert!(first.len() == 1 && first[0].contains("subscriptions/listen"), "{first:?}");
        wanted.send_replace(["note://1".to_owned()].into());
        let next = sent(&mut outbox).await;
        assert!(!next.is_empty() && next.iter().all(|one| one.contains("subscriptions/listen")), "{next:?}");
        let Ok(Message::Request { id, .. }) = Message::parse(&next[next.len() - 1]) else {
            panic!("{next:?}")
        };
        let taken_in = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}}}"#,
            id.as_ours().unwrap()
        );
        link.incoming(Message::parse(&taken_in).unwrap());
        let given_up = sent(&mut outbox).await;
        assert_eq!(given_up.len(), next.len(), "all but the newest: {given_up:?}");
        assert!(given_up.iter().all(|one| one.contains("notifications/cancelled")), "{given_up:?}");
    }
}
