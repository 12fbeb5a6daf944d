//! Reads, stores, searches and judges registries. Contacts none before a person first searches; queries stay on this
//! computer.
//!
//! # Theory of operation
//! [`Listings`] is a handle; what it knows of a registry is an immutable [`known::Known`], replaced whole after a reading
//! that came to its end, and written to one file each. A reading runs in whoever asks for it, one at a time. Dropping the
//! handle ends nothing and loses nothing.

pub mod facets;
pub mod figures;
pub mod judge;
pub mod known;
mod mentioned;
pub mod page;
pub mod products;
pub mod reading;
pub mod registry_http;
pub mod search;
pub mod shelf;
pub mod stamp;
pub mod versions;
pub mod ways;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};

use self::{
    known::Known,
    products::Products,
    reading::{Fault, Reading},
    registry_http::Url,
    shelf::Shelf,
};
use crate::{clock::now_ms, files, secrets::Secret};

/// Minimum interval of automatic queries to a registry.
pub const EVERY_MS: u64 = 60 * 60 * 1000;
/// The same after a failure, if nobody waits for it.
const AGAIN_MS: u64 = 5 * 60 * 1000;

/// A registry to query.
#[derive(Debug, Clone)]
pub struct Registry {
    /// Its address, without `/v0.1`.
    pub url: Url,
    /// Its token.
    pub token: Option<Secret>,
}

/// The stored lists of all registries.
#[derive(Debug)]
pub struct Listings {
    directory: PathBuf,
    kept: Mutex<BTreeMap<String, KnownRegistry>>,
    /// The shelf computed last.
    shelf: Mutex<Option<Arc<Shelf>>>,
    /// The bundled servers by the names that requests use, once one is asked about.
    products: OnceLock<Products>,
    /// Installed servers that their registry has deleted, by local name, and why.
    withdrawn: Mutex<Option<Arc<BTreeMap<String, String>>>>,
    /// Limits reading to one at a time.
    turn: tokio::sync::Mutex<()>,
    /// Pictures of listed servers are fetched for one answer at a time.
    pictures: Arc<tokio::sync::Mutex<()>>,
    /// See [`Listings::mark`].
    mark: AtomicU64,
}

/// The stored list of one registry, and the result of the last reading.
#[derive(Debug, Clone, Default)]
pub struct KnownRegistry {
    /// The list.
    pub known: Arc<Known>,
    /// Why the last reading failed.
    pub trouble: Option<Fault>,
    /// When it was made.
    pub tried_ms: u64,
    /// It is being read.
    pub reading: bool,
}

impl KnownRegistry {
    /// Is a query due? `waits`: a user is waiting, so a retry is worthwhile.
    fn is_due(&self, now_ms: u64, waits: bool) -> bool {
        let since = |ms: u64| now_ms.abs_diff(ms);
        let busy_ms = match &self.trouble {
            Some(Fault::Busy(seconds)) => seconds.saturating_mul(1000),
            Some(_) if !waits => AGAIN_MS,
            _ => 0,
        };
        let read = self.known.complete_ms.is_some_and(|ms| since(ms) < EVERY_MS) && self.trouble.is_none();
        !read && (self.trouble.is_none() || since(self.tried_ms) >= busy_ms)
    }
}

impl Listings {
    /// For this data directory. Reads nothing yet.
    pub fn new(data: &Path) -> Self {
        Self {
            directory: data.join("listings"),
            kept: Mutex::default(),
            shelf: Mutex::default(),
            products: OnceLock::new(),
            withdrawn: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            pictures: Arc::default(),
            mark: AtomicU64::new(now_ms()),
        }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, KnownRegistry>> {
        self.kept.lock()
    }

    fn file(&self, url: &Url) -> PathBuf {
        self.directory.join(format!("{}.json", files::file_stem(key(url))))
    }

    /// The stored list of this registry. Loads its file if necessary.
    pub fn of(&self, url: &Url) -> KnownRegistry {
        if let Some(kept) = self.kept().get(key(url)) {
            return kept.clone();
        }
        let known = Arc::new(Known::load(&self.file(url), key(url)));
        let kept = KnownRegistry { known, ..KnownRegistry::default() };
        self.kept().entry(key(url).to_owned()).or_insert(kept).clone()
    }

    /// The servers of these registries.
    pub fn shelf(&self, registries: &[Registry]) -> Arc<Shelf> {
        let known: Vec<Arc<Known>> = registries.iter().map(|registry| self.of(&registry.url).known).collect();
        let mut shelf = self.shelf.lock();
        match shelf.as_ref().filter(|shelf| shelf.is_of(&known)) {
            Some(shelf) => shelf.clone(),
            None => shelf.insert(Arc::new(Shelf::of(known))).clone(),
        }
    }

    /// The bundled servers as requests name them. Independent of all registries. Takes some milliseconds the first time.
    pub fn products(&self) -> &Products {
        self.products.get_or_init(Products::read)
    }

    /// Why this installed server is no longer started: its registry has deleted it.
    pub fn withdrawn(&self, server: &str) -> Option<String> {
        self.known_withdrawn().get(server).cloned()
    }

    /// Read from the file the first time; the lock is not held meanwhile.
    fn known_withdrawn(&self) -> Arc<BTreeMap<String, String>> {
        if let Some(known) = &*self.withdrawn.lock() {
            return known.clone();
        }
        let read = Arc::new(read_withdrawn(&self.withdrawn_file()));
        self.withdrawn.lock().get_or_insert(read).clone()
    }

    /// Replaces the set of such servers. Returns those that are new.
    pub fn set_withdrawn(&self, now: BTreeMap<String, String>) -> Vec<String> {
        let before = self.known_withdrawn();
        if *before == now {
            return vec![];
        }
        let fresh = now.keys().filter(|server| !before.contains_key(*server)).cloned().collect();
        let text = serde_json::to_string(&now).unwrap_or_default();
        let kept = files::create_own_dir(&self.directory)
            .and_then(|()| files::replace(&self.withdrawn_file(), text.as_bytes()));
        if let Err(error) = kept {
            tracing::warn!(%error, "cannot store which servers a registry has deleted");
        }
        *self.withdrawn.lock() = Some(Arc::new(now));
        fresh
    }

    fn withdrawn_file(&self) -> PathBuf {
        self.directory.join("withdrawn.json")
    }

    /// A number that changes with what may be said of installed servers: their registries' lists, and the configuration.
    /// Not the same after a restart.
    pub fn mark(&self) -> u64 {
        self.mark.load(Ordering::Relaxed)
    }

    /// Changes the mark.
    pub fn touch(&self) {
        self.mark.fetch_add(1, Ordering::Relaxed);
    }

    /// Claims the fetching of pictures until the result is dropped; `None` if it is claimed already.
    pub fn begin_pictures(&self) -> Option<tokio::sync::OwnedMutexGuard<()>> {
        self.pictures.clone().try_lock_owned().ok()
    }

    /// Is a query of any of them due?
    pub fn is_due(&self, registries: &[Registry], now_ms: u64, waits: bool) -> bool {
        registries.iter().any(|registry| self.of(&registry.url).is_due(now_ms, waits))
    }

    /// Queries the registries that are due, or all if `always`. Returns whether anything changed.
    pub async fn refresh(
        &self,
        registries: &[Registry],
        now: fn() -> u64,
        waits: bool,
        always: bool,
    ) -> bool {
        let begun = now();
        let _turn = self.turn.lock().await;
        let mut changed = false;
        for registry in registries {
            let kept = self.of(&registry.url);
            // Another caller may have queried it while this one waited for its turn.
            let asked_meanwhile = kept.tried_ms >= begun;
            if !asked_meanwhile && (always || kept.is_due(now(), waits)) {
                changed |= self.read(registry, kept.known, now).await;
            }
        }
        changed
    }

    async fn read(&self, registry: &Registry, known: Arc<Known>, now: fn() -> u64) -> bool {
        let reading = Marked::new(self, key(&registry.url));
        let begun = now();
        let mut pages = Reading::of(&known, begun);
        let read = registry_http::read(&registry.url, registry.token.as_ref(), &mut pages).await;
        drop(reading);
        let (after, trouble) = match read {
            Ok(()) => (Some(pages.complete(&known, begun)), None),
            Err(fault) => (pages.broken(&known, &fault), Some(fault)),
        };
        if let Some(fault) = &trouble {
            tracing::info!(registry = registry.url.as_str(), %fault, "a registry could not be read");
        }
        let changed = trouble.is_none();
        let after = after.map(Arc::new);
        if let Some(after) = &after
            && let Err(error) = after.save(&self.file(&registry.url))
        {
            tracing::warn!(%error, "cannot store a registry's list");
        }
        let kept = KnownRegistry { known: after.unwrap_or(known), trouble, tried_ms: now(), reading: false };
        self.kept().insert(key(&registry.url).to_owned(), kept);
        self.touch();
        changed
    }
}

/// An address in canonical form.
fn key(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

fn read_withdrawn(file: &Path) -> BTreeMap<String, String> {
    let bytes = files::read_plain(file, 1 << 20).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// A registry that is being read, until dropped.
struct Marked<'a> {
    listings: &'a Listings,
    url: &'a str,
}

impl<'a> Marked<'a> {
    fn new(listings: &'a Listings, url: &'a str) -> Self {
        listings.kept().entry(url.to_owned()).or_default().reading = true;
        Self { listings, url }
    }
}

impl Drop for Marked<'_> {
    fn drop(&mut self) {
        if let Some(kept) = self.listings.kept().get_mut(self.url) {
            kept.reading = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_asked_once_an_hour_and_again_where_it_was_in_vain() {
        let read = |ms| Arc::new(Known { complete_ms: Some(ms), ..Known::default() });
        let minute = 60 * 1000;
        for (kept, now_ms, waits, due) in [
            (KnownRegistry::default(), 0, false, true),
            (KnownRegistry { known: read(0), ..KnownRegistry::default() }, 59 * minute, true, false),
            (KnownRegistry { known: read(0), ..KnownRegistry::default() }, 61 * minute, false, true),
            // A clock that was set back must not keep a list from being read for years.
            (KnownRegistry { known: read(600 * minute), ..KnownRegistry::default() }, 0, false, true),
            (
                KnownRegistry { trouble: Some(Fault::NoList), tried_ms: 0, ..KnownRegistry::default() },
                minute,
                false,
                false,
            ),
            (
                KnownRegistry { trouble: Some(Fault::NoList), tried_ms: 0, ..KnownRegistry::default() },
                minute,
                true,
                true,
            ),
            (
                KnownRegistry { trouble: Some(Fault::NoList), tried_ms: 0, ..KnownRegistry::default() },
                6 * minute,
                false,
                true,
            ),
            (
                KnownRegistry { trouble: Some(Fault::Busy(600)), tried_ms: 0, ..KnownRegistry::default() },
                minute,
                true,
                false,
            ),
        ] {
            assert_eq!(kept.is_due(now_ms, waits), due, "{kept:?}");
        }
    }
}
