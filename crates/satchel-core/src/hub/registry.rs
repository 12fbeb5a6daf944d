//! Which servers there are: makes the running ones follow the configuration, and touches only what changed.

use std::sync::{Arc, PoisonError, atomic::Ordering};

use tokio_util::sync::CancellationToken;

use super::{Hub, refresh, slots::Slots};
use crate::{
    catalog::disk,
    config::Config,
    files::file_stem,
    model::{Code, Notice, ServerConfig, ServerName, Startup, TransportConfig},
    review::Accepted,
    upstream::{Upstream, setup_of},
};

/// Calls in flight on one server, and how many of them each client can always have.
const CALLS_PER_SERVER: usize = 64;
const CALLS_OF_CLIENT: usize = 8;

/// One configured server.
#[derive(Debug, Clone)]
pub(super) struct Registered {
    pub(super) upstream: Upstream,
    pub(super) config: ServerConfig,
    pub(super) calls: Slots,
    /// It is not started: its entry is not what a person accepted.
    pub(super) held: bool,
    /// Ends the tasks that serve this server's lists.
    end: CancellationToken,
}

impl Hub {
    /// Makes the servers follow `config`.
    pub(super) async fn reconcile(&self, config: Config, accepted: Accepted<'_>) {
        let (config, accepted_here) = (Arc::new(config), accepted);
        let before = self.inner.config.send_replace(config.clone());
        for name in before.servers().keys() {
            if !config.servers().contains_key(name) {
                self.remove(name);
                self.offers().remove(name);
                // One whose entry became wrong is expected back.
                if !config.faults().contains_key(name.as_str()) {
                    let _ = std::fs::remove_file(self.catalog_file(name));
                    self.forget_failure(name);
                }
            }
        }
        for (name, wanted) in config.servers() {
            let accepted = accepted.covers(name);
            let known = self.servers().get(name).map(|known| known.config.clone());
            match known {
                Some(known) if known == *wanted => {}
                Some(known) if known.transport == wanted.transport && known.sandbox == wanted.sandbox => {
                    self.adjust(name, wanted);
                }
                Some(_) => {
                    self.remove(name);
                    self.add(name, wanted, accepted).await;
                    continue;
                }
                None => {
                    self.add(name, wanted, accepted).await;
                    continue;
                }
            }
            if accepted {
                self.accept_launch(name).await;
                self.follow_launch(name).await;
            }
        }
        // Only now all are known that may have a claim on a secret.
        for name in self.settle_secrets(accepted_here).await {
            self.follow_launch(&name).await;
        }
        self.publish_catalog().await;
        self.inner.compose.notify_one();
    }

    async fn add(&self, name: &ServerName, config: &ServerConfig, accepted: bool) {
        let setup = setup_of(&config.transport);
        let kept = disk::read(&self.catalog_file(name));
        let pinned = kept.as_ref().ok().and_then(|kept| kept.as_ref().map(|kept| kept.pinned));
        let held = self.open_approvals(name, config, pinned, accepted).await;
        match kept {
            Ok(Some(disk::Kept { offer, .. })) if offer.setup == setup => {
                let offer = Arc::new(offer);
                self.offers().insert(name.clone(), offer.clone());
                // The hub before ended before it had counted.
                if offer.tokens.get().is_none() {
                    refresh::keep(self, name, offer);
                }
            }
            // What another setup offered says nothing about this one.
            Ok(_) => {
                self.offers().remove(name);
            }
            Err(trouble) => self.notice(Notice::new(Code::SetAside, trouble)),
        }
        let number = self.inner.numbers.fetch_add(1, Ordering::Relaxed);
        let started = self.as_started(config, held);
        let last_failure = self.kept_failure(name, &setup);
        let around = self.inner.around.clone();
        let upstream = Upstream::new(name.clone(), number, started, self.gate(name), last_failure, around);
        if held {
            upstream
                .log()
                .hub("not started: its entry is not what was approved; look at it with `satchel approvals`");
        }
        let registered = Registered {
            upstream,
            held,
            config: config.clone(),
            calls: Slots::new(CALLS_PER_SERVER, CALLS_OF_CLIENT),
            end: self.inner.end.child_token(),
        };
        refresh::follow(self, name, &registered.upstream, setup, registered.end.clone());
        self.inner.servers.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), registered);
        if !held {
            self.look_soon(name, &config.transport).await;
        }
        self.learn(name);
    }

    /// An entry as its upstream gets it.
    fn as_started(&self, config: &ServerConfig, held: bool) -> ServerConfig {
        let mut started = config.clone();
        // One command starts only what it asks for.
        if self.inner.options.passive && started.startup == Startup::Eager {
            started.startup = Startup::KeepAlive;
        }
        started.enabled &= !held;
        started
    }

    /// Lets a server be started that nothing is held back of any more, and keeps it from being started where something is.
    pub(super) async fn follow_launch(&self, name: &ServerName) {
        let Some((held, transport)) = self.hold_or_let_go(name) else { return };
        self.publish_catalog().await;
        if !held {
            self.look_soon(name, &transport).await;
            self.learn(name);
        }
        self.inner.compose.notify_one();
    }

    /// `None` where nothing is different from before.
    fn hold_or_let_go(&self, name: &ServerName) -> Option<(bool, TransportConfig)> {
        let mut servers = self.inner.servers.write().unwrap_or_else(PoisonError::into_inner);
        let known = servers.get_mut(name)?;
        // Judged by the entry that would be started, which may be another one by now.
        let held = self.inner.review.holds_start(name, &known.config);
        if known.held == held {
            return None;
        }
        known.held = held;
        known.upstream.configure(self.as_started(&known.config, held));
        Some((held, known.config.transport.clone()))
    }

    fn adjust(&self, name: &ServerName, config: &ServerConfig) {
        let mut servers = self.inner.servers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = servers.get_mut(name) {
            known.config = config.clone();
            known.upstream.configure(self.as_started(config, known.held));
        }
        drop(servers);
        self.learn(name);
    }

    fn remove(&self, name: &ServerName) {
        let removed = self.inner.servers.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(removed) = removed {
            removed.end.cancel();
            self.inner.owned.forget(name);
            self.inner.tracker.spawn(async move { removed.upstream.close().await });
        }
    }

    /// Wakes a server whose lists were never read, once, so that it can be found. In a passive hub only what the
    /// command needs is started.
    pub(super) fn learn(&self, name: &ServerName) {
        if !self.inner.options.passive && self.is_unread(name) {
            let (hub, name) = (self.clone(), name.clone());
            self.inner.tracker.spawn(async move { hub.read_first(&name).await });
        }
    }

    /// Reads the lists of every server that was never read, for a command that shows them without a running hub.
    pub(super) async fn learn_all(&self) {
        let names: Vec<ServerName> =
            self.servers().keys().filter(|name| self.is_unread(name)).cloned().collect();
        let reading = names.into_iter().map(|name| {
            let hub = self.clone();
            self.inner.tracker.spawn(async move { hub.read_first(&name).await })
        });
        for read in reading.collect::<Vec<_>>() {
            let _ = read.await;
        }
    }

    /// Never a server that only a person starts.
    fn is_unread(&self, name: &ServerName) -> bool {
        let wanted = |server: &Registered| {
            server.config.enabled && !server.held && server.config.startup != Startup::Manual
        };
        self.servers().get(name).is_some_and(wanted) && !self.offers().contains_key(name)
    }

    async fn read_first(&self, name: &ServerName) {
        let Some(server) = self.servers().get(name).cloned() else { return };
        let reading = async {
            let _turn = self.inner.learning.acquire().await;
            if let Ok(lease) = server.upstream.lease().await {
                // What is wrong with it is told by its state.
                let _ = self.first_lists(name, &server.upstream, lease).await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = server.end.cancelled() => {}
        }
    }

    pub(super) fn catalog_file(&self, name: &ServerName) -> std::path::PathBuf {
        self.places().catalogs().join(format!("{}.json", file_stem(name.as_str())))
    }
}
