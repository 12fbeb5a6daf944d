//! Servers' icons: selected from what a server declares, fetched over guarded HTTP, re-encoded and cached. Fetches nothing unless
//! the hub asks, which it does only if a person allowed pictures.

mod choice;
mod picture;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use sha2::{Digest, Sha256};

pub use choice::{IconSource, choose};
use picture::redrawn;

use url::Url;

use crate::{
    files,
    upstream::oauth::{address::Zone, guarded_http::GuardedHttp},
};

/// Maximum size of a fetched icon, in bytes.
const FETCHED: usize = 512 * 1024;
/// Maximum size of a stored, re-encoded icon, in bytes.
const KEPT: u64 = 64 * 1024;
/// Maximum number of stored icons.
const MOST: usize = 500;
/// Of those, the most of servers that are only listed: more would be those of a list that somebody scrolled through.
const LISTED: usize = 100;

/// The icons of servers.
#[derive(Debug)]
pub struct Icons {
    dir: PathBuf,
    known: Mutex<KnownIcons>,
}

#[derive(Debug, Default)]
struct KnownIcons {
    /// As data URLs, by server name.
    shown: BTreeMap<String, Arc<str>>,
    /// The source of each server's icon.
    sources: BTreeMap<String, String>,
    /// Sources that failed since the hub started.
    failed: BTreeSet<String>,
}

impl Icons {
    /// The icons stored in this data directory. Reads none yet.
    pub fn new(data: &Path) -> Self {
        Self { dir: data.join("icons"), known: Mutex::default() }
    }

    /// All icons by server name, as data URLs.
    pub fn all(&self) -> BTreeMap<String, String> {
        self.known().shown.iter().map(|(name, picture)| (name.clone(), picture.to_string())).collect()
    }

    /// A mark that changes with every change.
    pub fn mark(&self) -> String {
        let known = self.known();
        let mut hash = Sha256::new();
        for (name, source) in &known.sources {
            hash.update(name);
            hash.update(source);
        }
        hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Deletes all icons, on disk too. Returns whether there were any.
    pub fn clear(&self) -> bool {
        let before = std::mem::take(&mut *self.known());
        // If it cannot be removed, it is not read any more.
        let removed = std::fs::remove_dir_all(&self.dir).is_ok();
        removed || !before.sources.is_empty()
    }

    /// Keeps only the icons of these servers.
    pub fn retain(&self, is_there: impl Fn(&str) -> bool) {
        let mut known = self.known();
        known.shown.retain(|name, _| is_listed(name) || is_there(name));
        known.sources.retain(|name, _| is_listed(name) || is_there(name));
    }

    /// Makes room for the pictures of listed servers where there are many. What is kept on disk stays.
    pub fn make_room(&self) {
        let mut known = self.known();
        if known.shown.keys().filter(|name| is_listed(name)).count() >= LISTED {
            known.shown.retain(|name, _| !is_listed(name));
            known.sources.retain(|name, _| !is_listed(name));
        }
    }

    /// Fetches a server's icon if it is missing. `server` is the address of a hosted one. Returns whether the
    /// displayed icons changed.
    pub async fn learn(&self, name: &str, chosen: &IconSource, server: Option<&str>) -> bool {
        let source = chosen.source();
        {
            let known = self.known();
            let same = known.sources.get(name).is_some_and(|known| known == source);
            if same || known.failed.contains(source) || known.shown.len() >= MOST {
                return false;
            }
        }
        let picture = match self.picture(chosen, server).await {
            Ok(picture) => picture,
            Err(why) => {
                tracing::debug!(server = name, why, "a server's icon is not shown");
                self.known().failed.insert(source.to_owned());
                return false;
            }
        };
        let shown = format!("data:image/png;base64,{}", BASE64.encode(&picture));
        let mut known = self.known();
        known.sources.insert(name.to_owned(), source.to_owned());
        known.shown.insert(name.to_owned(), shown.into());
        true
    }

    async fn picture(&self, chosen: &IconSource, server: Option<&str>) -> Result<Vec<u8>, String> {
        let hash = Sha256::digest(chosen.source());
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let file = self.dir.join(format!("{name}.png"));
        let kept = file.clone();
        let there = tokio::task::spawn_blocking(move || files::read_plain(&kept, KEPT).ok()).await;
        if let Ok(Some(kept)) = there {
            return Ok(kept);
        }
        let bytes = match chosen {
            IconSource::Data { bytes, .. } => bytes.clone(),
            IconSource::Address(address) => fetched(address, server).await?,
        };
        let dir = self.dir.clone();
        let drawn = tokio::task::spawn_blocking(move || {
            let drawn = redrawn(&bytes)?;
            if drawn.len() as u64 > KEPT {
                return Err("it is too large after re-encoding".to_owned());
            }
            let keep = files::create_own_dir(&dir).and_then(|()| files::replace(&file, &drawn));
            if let Err(error) = keep {
                tracing::warn!(%error, "cannot store an icon");
            }
            Ok(drawn)
        });
        drawn.await.map_err(|error| error.to_string())?
    }

    fn known(&self) -> MutexGuard<'_, KnownIcons> {
        self.known.lock()
    }
}

/// Names in registries have a slash, which those of servers here cannot have.
fn is_listed(name: &str) -> bool {
    name.contains('/')
}

/// https only, and no private network unless the server is in it.
async fn fetched(address: &str, server: Option<&str>) -> Result<Vec<u8>, String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let door = match server.and_then(|server| Url::parse(server).ok()) {
        Some(server) => GuardedHttp::of(&server).await?,
        None => GuardedHttp::to(Zone::Public)?,
    };
    door.bytes(&url, FETCHED).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> IconSource {
        let mut png = std::io::Cursor::new(Vec::new());
        image::DynamicImage::new_rgba8(8, 8).write_to(&mut png, image::ImageFormat::Png).unwrap();
        IconSource::Data { source: "data:small".into(), bytes: png.into_inner() }
    }

    #[tokio::test]
    async fn a_picture_is_drawn_once_kept_and_forgotten_where_none_is_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let icons = Icons::new(dir.path());
        let before = icons.mark();
        assert!(icons.learn("a", &small(), None).await && !icons.learn("a", &small(), None).await);
        assert!(icons.all()["a"].starts_with("data:image/png;base64,") && icons.mark() != before);
        let again = Icons::new(dir.path());
        assert!(again.learn("b", &small(), None).await);
        again.retain(|name| name != "b");
        assert!(again.all().is_empty());
        icons.clear();
        assert!(icons.all().is_empty() && !dir.path().join("icons").exists());
    }

    #[tokio::test]
    async fn icons_on_private_addresses_are_not_fetched_for_public_servers() {
        for address in [
            "https://127.0.0.1:1/x.png",
            "https://10.0.0.1/x.png",
            "http://example.com/x.png",
            "file:///etc/passwd",
        ] {
            let refused = fetched(address, None).await.unwrap_err();
            assert!(!refused.is_empty() && !refused.contains("cannot be reached"), "{address}: {refused}");
        }
        let dir = tempfile::tempdir().unwrap();
        let icons = Icons::new(dir.path());
        let inside = IconSource::Address("https://192.168.1.1/x.png".into());
        assert!(!icons.learn("a", &inside, Some("https://8.8.8.8/mcp")).await && icons.all().is_empty());
    }
}
