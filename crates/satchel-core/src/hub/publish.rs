//! Publishes the catalog. Whoever changes something that clients see requests a publication and waits for one that
//! began afterwards; a single task makes them in order, so an older catalog never replaces a newer one.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Hub;
use crate::{
    catalog::{Offer, overrides},
    config::{Config, rules::ToolRule},
    model::{ServerName, audit::AuditKind},
    tasks::{caught, may_fail_here},
    trust::First,
};

/// Counts requests and publications.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    asked: watch::Sender<u64>,
    made: watch::Sender<u64>,
}

impl Publisher {
    /// Resolves when the present state has been published, or the publisher has ended.
    async fn published(&self, end: &CancellationToken) {
        let mut number = 0;
        self.asked.send_modify(|asked| {
            *asked += 1;
            number = *asked;
        });
        let mut made = self.made.subscribe();
        tokio::select! {
            _ = made.wait_for(|made| *made >= number) => {}
            () = end.cancelled() => {}
        }
    }

    /// Publishes on request until the end. Requests that arrive meanwhile share one publication.
    async fn run<F: Future<Output = ()>>(&self, end: &CancellationToken, make: impl Fn() -> F) {
        let mut asked = self.asked.subscribe();
        loop {
            tokio::select! {
                wanted = asked.wait_for(|asked| *asked > *self.made.borrow()) => if wanted.is_err() { return },
                () = end.cancelled() => return,
            }
            let number = *asked.borrow_and_update();
            if caught(make()).await.is_err() {
                tracing::error!("cannot build the catalog; clients keep the previous one");
            }
            self.made.send_replace(number);
        }
    }
}

/// Publishes the catalog: the offers of enabled servers, as far as approved. When this resolves, clients see it.
pub(super) async fn publish_catalog(hub: &Hub) {
    hub.inner.servers.publisher.published(hub.inner.life.end()).await;
}

pub(super) async fn keep_publishing(hub: &Hub) {
    hub.inner.servers.publisher.run(hub.inner.life.end(), || publish(hub)).await;
}

async fn publish(hub: &Hub) {
    may_fail_here("catalog");
    let config = hub.config();
    let enabled = |name: &ServerName| config.servers().get(name).is_some_and(|server| server.enabled);
    let offers = hub.offers().clone().into_iter().filter(|(name, _)| enabled(name));
    let mut seen = BTreeMap::new();
    // Restrictions of unaccepted rules apply immediately.
    let unaccepted = config.unaccepted_rules().into_iter().flat_map(|(rules, _)| rules);
    let hides: Vec<ToolRule> = unaccepted.filter(|rule| rule.hide).cloned().collect();
    for (name, offer) in offers {
        let judged = judged(hub, &name, &offer, &config).await;
        // A server whose start is held back offers nothing.
        if !hub.servers().get(&name).is_some_and(|known| known.held) {
            let ruled = overrides::applied(&name, &judged, config.tool_rules());
            let ruled = overrides::applied(&name, &ruled, &hides);
            seen.insert(name, ruled);
        }
    }
    hub.inner.servers.publish(seen);
}

/// The approved part of an offer. Reports what is newly held back.
async fn judged(hub: &Hub, name: &ServerName, offer: &Arc<Offer>, config: &Config) -> Arc<Offer> {
    let first = if config.holds_new_servers() { First::Held } else { First::Offered };
    let (judged, newly_held) = hub.inner.review.judge(name, offer, first).await;
    for held in newly_held {
        hub.did(AuditKind::Held, "satchel", name.as_str(), held.entry);
        if let Some(server) = hub.servers().get(name) {
            server.upstream.log().hub(&held.line);
        }
    }
    judged
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        time::Duration,
    };

    use super::*;

    /// Two concurrent publishers, with random delays.
    #[tokio::test(start_paused = true)]
    async fn a_published_catalog_contains_its_change_and_no_older_one_follows() {
        let (publisher, end) = (Arc::new(Publisher::default()), CancellationToken::new());
        let tracker = tokio_util::task::TaskTracker::new();
        let (known, seen) = (Arc::new(AtomicU64::new(0)), watch::Sender::new(0));
        let made = {
            let (publisher, end, known, seen) = (publisher.clone(), end.clone(), known.clone(), seen.clone());
            tracker.spawn(async move {
                let make = || async {
                    let now = known.load(Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(7 * (now % 5))).await;
                    assert!(now % 11 != 3, "planted");
                    assert!(*seen.borrow() <= now);
                    seen.send_replace(now);
                };
                publisher.run(&end, make).await;
            })
        };
        let changing = |pause: u64| {
            let (publisher, end, known, seen) = (publisher.clone(), end.clone(), known.clone(), seen.clone());
            tracker.spawn(async move {
                for _ in 0..50 {
                    let mine = known.fetch_add(1, Ordering::Relaxed) + 1;
                    publisher.published(&end).await;
                    // The next request makes up for a failed one.
                    assert!(
                        *seen.borrow() >= mine || mine % 11 == 3 || known.load(Ordering::Relaxed) % 11 == 3
                    );
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
            })
        };
        let (one, other) = (changing(3), changing(4));
        one.await.unwrap();
        other.await.unwrap();
        publisher.published(&end).await;
        assert_eq!(*seen.borrow(), 100);
        end.cancel();
        made.await.unwrap();
        publisher.published(&end).await;
    }
}
