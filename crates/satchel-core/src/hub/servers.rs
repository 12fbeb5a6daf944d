//! Holds the configured servers, what they offer, and the published catalog. Anybody reads; only `registry` adds and
//! removes servers, only `refresh` changes offers, only `publish` replaces the catalog.

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    instances::{Instance, Instances},
    publish::Publisher,
    sharing::Sharing,
};
use crate::{
    calls::slots::Slots,
    catalog::{Catalog, Offer, tokens::Counter},
    model::{ServerConfig, ServerName},
    upstream::Upstream,
};

/// Maximum number of servers started at the same time only to read their lists.
const LEARNING: usize = 4;

/// A configured server.
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
    /// The instance that all share; its lists are those of the server. Where a caller has its own, that one.
    pub(super) upstream: Upstream,
    /// Who shares an instance.
    pub(super) sharing: Sharing,
    /// Instances that not all callers share.
    pub(super) instances: Arc<Instances>,
    /// The one that a caller has of its own.
    pub(super) instance: Option<Arc<Instance>>,
    pub(super) config: ServerConfig,
    pub(super) calls: Slots,
    /// When a person last declined to enter a secret for it.
    pub(super) declined: Declined,
    /// Held while it waits to be started again, because its lists could not be read.
    pub(super) unread: Arc<tokio::sync::Mutex<()>>,
    /// Not started, because its entry was not accepted.
    pub(super) held: bool,
    /// Cancels the tasks for this server's lists.
    pub(super) end: CancellationToken,
}

impl RegisteredServer {
    /// Credentials changed.
    pub(super) fn renew(&self) {
        self.upstream.renew();
        self.instances.all().iter().for_each(|instance| instance.upstream.renew());
    }
}

/// Serializes questions for a server's secrets, and holds when a person last declined: callers that waited take that
/// answer too.
pub(super) type Declined = Arc<tokio::sync::Mutex<Option<Instant>>>;

/// The servers. Its locks are held briefly and one at a time.
#[derive(Debug)]
pub(super) struct Servers {
    all: RwLock<BTreeMap<ServerName, Registered>>,
    /// All lists ever read, including those of disabled servers.
    offers: Mutex<BTreeMap<ServerName, Arc<Offer>>>,
    catalog: watch::Sender<Catalog>,
    pub(super) publisher: Publisher,
    /// Held while a server is started only to read its lists.
    pub(super) learning: Semaphore,
    /// Held while fetched packages are checked.
    pub(super) looking: Semaphore,
    /// Held while tokens are counted: one counting process at a time.
    pub(super) counting: Arc<Semaphore>,
    /// Counts tokens of definitions.
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
        self.all.read()
    }

    /// Adds a server and returns the one it replaces.
    pub(super) fn insert(&self, name: ServerName, server: Registered) -> Option<Registered> {
        self.all.write().insert(name, server)
    }

    pub(super) fn remove(&self, name: &ServerName) -> Option<Registered> {
        self.all.write().remove(name)
    }

    /// Changes a server; `None` if there is none of that name.
    pub(super) fn change<T>(
        &self,
        name: &ServerName,
        change: impl FnOnce(&mut RegisteredServer) -> T,
    ) -> Option<T> {
        self.all.write().get_mut(name).map(|server| change(Arc::make_mut(&mut server.0)))
    }

    pub(super) fn offers(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Offer>>> {
        self.offers.lock()
    }

    /// The complete catalog: what the enabled servers offer, as far as approved.
    pub(super) fn catalog(&self) -> Catalog {
        self.catalog.borrow().clone()
    }

    pub(super) fn follow_catalog(&self) -> watch::Receiver<Catalog> {
        self.catalog.subscribe()
    }

    /// For `publish` only: replaces the catalog with these offers.
    pub(super) fn publish(&self, offers: BTreeMap<ServerName, Arc<Offer>>) {
        let next = self.catalog().followed_by(offers);
        self.catalog.send_replace(next);
    }

    /// A number that is unique in this run.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}
