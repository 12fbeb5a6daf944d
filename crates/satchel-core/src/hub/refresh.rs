//! Keeps what servers offer up to date: reads their lists when they connect and when they say that one changed.
//! Never wakes a server, and keeps the last known lists when reading fails.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Hub;
use crate::{
    catalog::{Catalog, Offer, disk, fetch, tokens},
    model::ServerName,
    upstream::{
        Upstream,
        breaker::{Breaker, DISCOVERY},
    },
};

/// Changes within this time are one.
const DEBOUNCE: Duration = Duration::from_millis(250);
/// How long after a failure the lists are asked for again, unless the breaker says longer.
const AGAIN: Duration = Duration::from_secs(2);
/// How long a caller waits for a server's first lists.
const FIRST_LISTS: Duration = Duration::from_secs(60);

/// Starts the tasks that follow one server.
pub(super) fn follow(
    hub: &Hub,
    name: &ServerName,
    upstream: &Upstream,
    setup: String,
    end: CancellationToken,
) {
    let reader = Reader { hub: hub.clone(), name: name.clone(), upstream: upstream.clone(), setup };
    let ended = end.clone();
    hub.inner.tracker.spawn(async move {
        tokio::select! {
            () = reader.run() => {}
            () = ended.cancelled() => {}
        }
    });
    let (hub, mut seen) = (hub.clone(), upstream.watch());
    let tracker = hub.inner.tracker.clone();
    tracker.spawn(async move {
        loop {
            tokio::select! {
                changed = seen.changed() => if changed.is_err() { return },
                () = end.cancelled() => return,
            }
            hub.inner.compose.notify_one();
        }
    });
}

struct Reader {
    hub: Hub,
    name: ServerName,
    upstream: Upstream,
    setup: String,
}

impl Reader {
    async fn run(self) {
        let mut breaker = Breaker::new(DISCOVERY);
        loop {
            self.upstream.dirty().marked().await;
            if self.upstream.seen().connected.is_some() && self.hub.offers().contains_key(&self.name) {
                tokio::time::sleep(DEBOUNCE).await;
            }
            while let Err(pause) = breaker.permit(Instant::now()) {
                tokio::time::sleep(pause).await;
            }
            let lists = self.upstream.dirty().take();
            let Some((link, hello)) = self.upstream.seen().connected else { continue };
            let known = self.hub.offers().get(&self.name).cloned();
            let read = fetch::offer(&link, &hello, &self.setup, lists, known.as_deref()).await;
            // A server that died tells so by itself, and is read anew when it is back.
            breaker.record(read.is_ok() || link.ended().is_some(), Instant::now());
            match read {
                Ok(offer) => self.install(offer),
                Err(error) => {
                    self.upstream.log().hub(&format!("could not read its lists: {error}"));
                    tokio::select! {
                        () = tokio::time::sleep(AGAIN) => self.upstream.dirty().mark(lists),
                        _ = link.wait_ended() => {}
                    }
                }
            }
        }
    }

    fn install(&self, offer: Offer) {
        for reason in &offer.skipped {
            self.upstream.log().hub(&format!("left out {reason}"));
        }
        let offer = Arc::new(offer);
        self.hub.install(&self.name, offer.clone());
        keep(&self.hub, &self.name, offer);
    }
}

/// Keeps an offer for the next start. Tracked, so that a hub that ends right after it learned something has it on disk.
pub(super) fn keep(hub: &Hub, name: &ServerName, offer: Arc<Offer>) {
    let keeping = Keeping { hub: hub.clone(), name: name.clone(), offer };
    hub.inner.tracker.spawn(async move { keeping.run().await });
}

/// Puts an offer on disk, at once and again when its tokens are counted.
struct Keeping {
    hub: Hub,
    name: ServerName,
    offer: Arc<Offer>,
}

impl Keeping {
    async fn run(self) {
        self.write().await;
        if self.hub.inner.options.passive {
            return;
        }
        let program = self.hub.inner.options.own_program.clone();
        let counting = async {
            // One at a time: each loads the whole encoding.
            let _turn = self.hub.inner.counting.acquire().await;
            tokens::count(&program, &self.offer).await
        };
        let counted = tokio::select! {
            counted = counting => counted,
            () = self.hub.inner.end.cancelled() => return,
        };
        match counted {
            Ok(()) => {
                self.hub.inner.compose.notify_one();
                self.write().await;
            }
            Err(error) => tracing::warn!(server = %self.name, %error, "its tools have no token counts"),
        }
    }

    async fn write(&self) {
        // A newer list may have come meanwhile; it is the one to keep.
        let newest = self.hub.offers().get(&self.name).is_some_and(|known| Arc::ptr_eq(known, &self.offer));
        if !newest {
            return;
        }
        let (path, offer) = (self.hub.catalog_file(&self.name), self.offer.clone());
        let written = tokio::task::spawn_blocking(move || disk::write(&path, &offer)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(server = %self.name, %error, "cannot keep the tool list");
        }
    }
}

impl Hub {
    fn install(&self, name: &ServerName, offer: Arc<Offer>) {
        self.offers().insert(name.clone(), offer);
        self.publish_catalog();
        self.inner.compose.notify_one();
    }

    /// The catalog is what clients see: the offers of servers that are switched on.
    pub(super) fn publish_catalog(&self) {
        let config = self.inner.config.borrow().clone();
        let enabled = |name: &ServerName| config.servers().get(name).is_some_and(|server| server.enabled);
        let offers = self
            .offers()
            .iter()
            .filter(|(name, _)| enabled(name))
            .map(|(name, offer)| (name.clone(), offer.clone()))
            .collect();
        self.inner.catalog.send_replace(Catalog::new(offers));
    }

    /// Waits until a server's lists have been read once; false where that takes too long.
    pub(super) async fn wait_for_offer(&self, name: &ServerName) -> bool {
        let mut catalog = self.inner.catalog.subscribe();
        let known = catalog.wait_for(|catalog| catalog.offer(name.as_str()).is_some());
        tokio::time::timeout(FIRST_LISTS, known).await.is_ok_and(|known| known.is_ok())
    }
}
