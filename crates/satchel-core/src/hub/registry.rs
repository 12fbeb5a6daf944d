//! Reconciles running servers with the configuration: adds, changes and removes only what differs.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Hub, credential::Declined, profiles, refresh};
use crate::{
    calls::slots::Slots,
    catalog::disk,
    config::Config,
    files::file_stem,
    model::{Code, Notice, ServerConfig, ServerName, Startup, TransportConfig},
    review::{Accepted, Opening},
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
    /// When a person last said no to a question for a value of it.
    pub(super) declined: Declined,
    /// It is not started: its entry is not what a person accepted.
    pub(super) held: bool,
    /// Ends the tasks that serve this server's lists.
    end: CancellationToken,
}

impl Hub {
    /// Makes the servers follow `config`.
    pub(super) async fn reconcile(&self, config: Config, accepted: Accepted<'_>) {
        let (config, accepted_here) = (Arc::new(config), accepted);
        let before = self.inner.configured.replace(config.clone());
        profiles::follow(self, &before);
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
        let mut coming = Vec::new();
        for (name, wanted) in config.servers() {
            let accepted = accepted.covers(name);
            let known = self.servers().get(name).map(|known| known.config.clone());
            match known {
                Some(known) if known == *wanted => {}
                Some(known) if known.transport == wanted.transport && known.sandbox == wanted.sandbox => {
                    self.adjust(name, wanted);
                }
                known => {
                    // What another hand changed ends before it is judged. What a person changed is replaced at once
                    // afterwards, and is seen all the time.
                    if known.is_some() && !accepted {
                        self.remove(name);
                    }
                    coming.push(self.coming(name, wanted, accepted));
                    continue;
                }
            }
            if accepted {
                self.accept_launch(name).await;
                self.follow_launch(name).await;
            }
        }
        let openings = coming.iter().map(|(opening, _)| opening.clone()).collect();
        let held = self.open_approvals(openings).await;
        let mut startable = Vec::new();
        for ((Opening { name, config, .. }, kept), held) in coming.into_iter().zip(held) {
            self.add(&name, &config, kept, held);
            if !held {
                startable.push((name, config.transport));
            }
        }
        // Only now all are known that may have a claim on a secret.
        let granted = self.settle_secrets(accepted_here).await;
        self.follow_launches(&granted).await;
        self.publish_catalog().await;
        // Last, because there may be many: what they are asked for the first time goes on while the hub is there already.
        for (name, transport) in startable {
            self.look_soon(&name, &transport).await;
            self.learn(&name);
        }
        self.inner.faces.changed();
    }

    /// A server that is about to be added, and what was kept of its lists.
    fn coming(
        &self,
        name: &ServerName,
        config: &ServerConfig,
        accepted: bool,
    ) -> (Opening, Result<Option<disk::Kept>, String>) {
        let lists = disk::read(&self.catalog_file(name));
        let kept = lists.as_ref().ok().and_then(|lists| lists.as_ref().map(|lists| lists.pinned));
        (Opening { name: name.clone(), config: config.clone(), kept, accepted }, lists)
    }

    /// Puts a server into the place of the one of that name, if there is one: nobody sees a moment without either.
    fn add(
        &self,
        name: &ServerName,
        config: &ServerConfig,
        kept: Result<Option<disk::Kept>, String>,
        held: bool,
    ) {
        let before = self.servers().get(name).cloned();
        if let Some(before) = before {
            self.forget_tasks(name, &before);
        }
        let setup = setup_of(&config.transport);
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
        let number = self.inner.servers.number();
        let started = self.as_started(name, config, held);
        let last_failure = self.kept_failure(name, &setup);
        let around = self.inner.around.clone();
        let upstream =
            Upstream::new(name.clone(), number, started, self.preflight(name), last_failure, around);
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
            declined: Declined::default(),
            end: self.inner.life.end().child_token(),
        };
        refresh::follow(self, name, &registered.upstream, setup, registered.end.clone());
        if let Some(before) = self.inner.servers.insert(name.clone(), registered) {
            self.close(before);
        }
    }

    /// An entry as its upstream gets it.
    fn as_started(&self, name: &ServerName, config: &ServerConfig, held: bool) -> ServerConfig {
        let mut started = config.clone();
        // One command starts only what it asks for; and nobody needs what no profile in use has.
        let unwanted = || self.inner.options.passive || profiles::is_unused(self, name);
        if started.startup == Startup::Eager && unwanted() {
            started.startup = Startup::KeepAlive;
        }
        started.enabled &= !held;
        started
    }

    /// Lets a server be started that nothing is held back of any more, and keeps it from being started where something is.
    pub(super) async fn follow_launch(&self, name: &ServerName) {
        self.follow_launches(std::slice::from_ref(name)).await;
    }

    /// The same for several, with one catalog.
    async fn follow_launches(&self, names: &[ServerName]) {
        let follow = |name| Some((name, self.hold_or_let_go(name)?));
        let followed: Vec<_> = names.iter().filter_map(follow).collect();
        if followed.is_empty() {
            return;
        }
        self.publish_catalog().await;
        for (name, (held, transport)) in followed {
            if !held {
                self.look_soon(name, &transport).await;
                self.learn(name);
            }
        }
        self.inner.faces.changed();
    }

    /// `None` where nothing is different from before.
    fn hold_or_let_go(&self, name: &ServerName) -> Option<(bool, TransportConfig)> {
        let hold = |known: &mut Registered| {
            // Judged by the entry that would be started, which may be another one by now.
            let held = self.inner.review.holds_start(name, &known.config);
            if known.held == held {
                return None;
            }
            known.held = held;
            known.upstream.configure(self.as_started(name, &known.config, held));
            Some((held, known.config.transport.clone()))
        };
        self.inner.servers.change(name, hold)?
    }

    fn adjust(&self, name: &ServerName, config: &ServerConfig) {
        self.inner.servers.change(name, |known| {
            known.config = config.clone();
            known.upstream.configure(self.as_started(name, config, known.held));
        });
        self.learn(name);
    }

    fn remove(&self, name: &ServerName) {
        if let Some(removed) = self.inner.servers.remove(name) {
            self.forget_tasks(name, &removed);
            self.close(removed);
        }
    }

    /// Ends what is done for a server's lists, and what its clients own there.
    fn forget_tasks(&self, name: &ServerName, server: &Registered) {
        server.end.cancel();
        self.calls().owned.forget(name);
    }

    fn close(&self, server: Registered) {
        self.inner.life.spawn(async move { server.upstream.close().await });
    }

    /// Wakes a server whose lists were never read, once, so that it can be found. In a passive hub only what the
    /// command needs is started.
    pub(super) fn learn(&self, name: &ServerName) {
        if !self.inner.options.passive && self.is_unread(name) {
            let (hub, name) = (self.clone(), name.clone());
            self.inner.life.spawn(async move { hub.read_first(&name).await });
        }
    }

    /// Reads the lists of every server that was never read, for a command that shows them without a running hub.
    pub(super) async fn learn_all(&self) {
        let names: Vec<ServerName> =
            self.servers().keys().filter(|name| self.is_unread(name)).cloned().collect();
        let reading = names.into_iter().map(|name| {
            let hub = self.clone();
            self.inner.life.spawn(async move { hub.read_first(&name).await })
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
            let _turn = self.inner.servers.learning.acquire().await;
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
