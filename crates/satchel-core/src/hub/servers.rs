//! Holds the configured servers, what they offer, and the published catalog. Anybody reads; only `registry` adds and
//! removes servers, only `refresh` changes offers, only `publish` replaces the catalog.

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::publish::Publisher;
use crate::{
    calls::slots::Slots,
    catalog::{Catalog, Offer, tokens::Counter},
    model::{ServerConfig, ServerName},
    upstream::Upstream,
};

/// Servers that are started at the same time only to learn what they offer.
const LEARNING: usize = 4;

/// One configured server. Cheap to clone: each call holds it.
#[derive(Debug, Clone)]
pub(super) struct Registered(Arc<RegisteredServer>);

impl From<RegisteredServer> for Registered {
    fn from(server: RegisteredServer) -> Self {
        Self(Arc::new(server))
    }
}

impl Deref for Registered {
    type Target = RegisteredServer;

    fn deref(&self) -> &RegisteredServer {
        &self.0
    }
}

/// What it is.
#[derive(Debug, Clone)]
pub(super) struct RegisteredServer {
    pub(super) upstream: Upstream,
    pub(super) config: ServerConfig,
    pub(super) calls: Slots,
    /// When a person last said no to a question for a value of it.
    pub(super) declined: Declined,
    /// It is not started: its entry is not what a person accepted.
    pub(super) held: bool,
    /// Ends the tasks that serve this server's lists.
    pub(super) end: CancellationToken,
}

/// One question at a time for a server, and when a person last said no to one: who waited meanwhile takes it as well.
pub(super) type Declined = Arc<tokio::sync::Mutex<Option<Instant>>>;

/// The servers. Its locks are taken one at a time and for a moment.
#[derive(Debug)]
pub(super) struct Servers {
    all: RwLock<BTreeMap<ServerName, Registered>>,
    /// Everything ever read, of servers that are off too.
    offers: Mutex<BTreeMap<ServerName, Arc<Offer>>>,
    catalog: watch::Sender<Catalog>,
    pub(super) publisher: Publisher,
    /// Taken while a server is started only to learn what it offers.
    pub(super) learning: Semaphore,
    /// Taken while what launchers fetched is looked at.
    pub(super) looking: Semaphore,
    /// Taken while tokens are counted: each counting process loads the whole encoding.
    pub(super) counting: Arc<Semaphore>,
    /// Counts the tokens of what is offered.
    pub(super) counter: Counter,
    numbers: AtomicU64,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            all: RwLock::default(),
            offers: Mutex::default(),
            catalog: watch::Sender::default(),
            publisher: Publisher::default(),
            learning: Semaphore::new(LEARNING),
            looking: Semaphore::new(1),
            counting: Arc::new(Semaphore::new(1)),
            counter: Counter::default(),
            numbers: AtomicU64::default(),
        }
    }
}

impl Servers {
    pub(super) fn all(&self) -> RwLockReadGuard<'_, BTreeMap<ServerName, Registered>> {
        self.all.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a server in; the one of that name before, if there was one.
    pub(super) fn insert(&self, name: ServerName, server: Registered) -> Option<Registered> {
        self.all.write().unwrap_or_else(PoisonError::into_inner).insert(name, server)
    }

    pub(super) fn remove(&self, name: &ServerName) -> Option<Registered> {
        self.all.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    /// Changes a server that is there; `None` where there is none of that name.
    pub(super) fn change<T>(
        &self,
        name: &ServerName,
        change: impl FnOnce(&mut RegisteredServer) -> T,
    ) -> Option<T> {
        self.all
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .get_mut(name)
            .map(|server| change(Arc::make_mut(&mut server.0)))
    }

    pub(super) fn offers(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Offer>>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the enabled servers offer, as far as it was approved: the whole of it, whoever asks.
    pub(super) fn catalog(&self) -> Catalog {
        self.catalog.borrow().clone()
    }

    pub(super) fn follow_catalog(&self) -> watch::Receiver<Catalog> {
        self.catalog.subscribe()
    }

    /// For `publish` alone: the catalog followed by these offers is what clients see from now on.
    pub(super) fn publish(&self, offers: BTreeMap<ServerName, Arc<Offer>>) {
        let next = self.catalog().followed_by(offers);
        self.catalog.send_replace(next);
    }

    /// A number that no other server of this run had.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}
