//! The known entries of one registry: an immutable value, kept in one file. Selects the release of a server to offer,
//! by a rule that does not depend on the order of arrival.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{page::Release, stamp, versions};
use crate::{files, registry::server_json::Status};

/// Maximum number of releases of one registry; a larger list is rejected.
const MOST: usize = 200_000;
/// Maximum number of refusals stored.
const REFUSALS: usize = 1_000;
/// Maximum size of the file.
const LARGEST: u64 = 256 * 1024 * 1024;
/// Overlap between readings: changes may become visible a little later than their time stamp.
const MARGIN_MS: u64 = 60 * 60 * 1000;

/// The stored list of a registry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Its address.
    pub url: String,
    /// When it was last read completely, in milliseconds since the Unix epoch.
    pub complete_ms: Option<u64>,
    /// The latest time stamp in it, as RFC 3339.
    #[serde(default)]
    pub(super) newest: String,
    /// By name, newest first.
    #[serde(default)]
    pub(super) releases: BTreeMap<String, Vec<Release>>,
    /// Entries that could not be read, and why.
    #[serde(default)]
    pub refused: BTreeMap<String, String>,
    /// The last ETag, if the list was one page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<PageTag>,
    /// A list that was too long for one reading, as far as it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<Partial>>,
}

/// The ETag of a page, and the request it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageTag {
    pub(super) query: String,
    pub(super) tag: String,
}

/// A partially read list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// The releases read.
    pub releases: Vec<Release>,
    /// Entries that could not be read.
    pub refused: BTreeMap<String, String>,
    /// The cursor of the next page.
    pub cursor: String,
}

impl Known {
    /// Loads a registry's list; empty if there is no readable file.
    pub fn load(file: &Path, url: &str) -> Self {
        let bytes = files::read_plain(file, LARGEST).ok();
        let known = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        known
            .filter(|known| known.url == url)
            .unwrap_or_else(|| Self { url: url.to_owned(), ..Self::default() })
    }

    /// Stores it.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        if let Some(directory) = file.parent() {
            files::create_own_dir(directory)?;
        }
        files::replace(file, serde_json::to_string(self).map_err(io::Error::other)?.as_bytes())
    }

    /// Merges a complete reading.
    #[must_use]
    pub fn with(&self, releases: Vec<Release>, refused: BTreeMap<String, String>, now_ms: u64) -> Self {
        let mut known = Self { complete_ms: Some(now_ms), partial: None, ..self.clone() };
        let mut count: usize = known.releases.values().map(Vec::len).sum();
        for release in releases {
            known.refused.remove(&format!("{}@{}", release.name, release.version));
            if release.updated > known.newest {
                known.newest.clone_from(&release.updated);
            }
            let of_name = known.releases.entry(release.name.clone()).or_default();
            of_name.retain(|other| {
                let same = other.version == release.version;
                count -= usize::from(same);
                !same
            });
            if count < MOST {
                of_name.push(release);
                count += 1;
            }
        }
        known.refused.extend(refused);
        while known.refused.len() > REFUSALS {
            known.refused.pop_last();
        }
        for of_name in known.releases.values_mut() {
            of_name.sort_by(|a, b| versions::compare(&b.version, &a.version).then(b.version.cmp(&a.version)));
        }
        known.releases.retain(|_, of_name| !of_name.is_empty());
        known
    }

    /// The time from which to request changes; `None` to request everything.
    pub fn since(&self, now_ms: u64) -> Option<String> {
        let complete_ms = self.complete_ms?;
        // A wrong clock on either side must not hide anything.
        let newest = stamp::to_ms(&self.newest).unwrap_or(complete_ms);
        Some(stamp::of_ms(newest.min(complete_ms).min(now_ms).saturating_sub(MARGIN_MS)))
    }

    /// All servers by name, with their releases, newest first.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &[Release])> {
        self.releases.iter().map(|(name, releases)| (name.as_str(), releases.as_slice()))
    }

    /// The releases of a server, newest first.
    pub fn releases(&self, name: &str) -> &[Release] {
        self.releases.get(name).map_or(&[], Vec::as_slice)
    }

    /// The earliest server of those whose names differ only in case, and since when it is listed, by its name in lower
    /// case.
    pub(super) fn firsts(&self) -> HashMap<String, (&str, &str)> {
        let mut firsts: HashMap<String, (&str, &str)> = HashMap::new();
        for (name, releases) in self.servers() {
            let Some(since) = releases.iter().map(|release| release.published.as_str()).min() else {
                continue;
            };
            let first = firsts.entry(name.to_lowercase()).or_insert((since, name));
            *first = (*first).min((since, name));
        }
        firsts
    }

    /// An earlier server whose name differs only in case, if there is one.
    pub fn first_of_its_letters(&self, name: &str) -> Option<&str> {
        let since = |releases: &[Release]| releases.iter().map(|release| release.published.clone()).min();
        let own = since(self.releases(name))?;
        // Names have ASCII letters only.
        let others = self.servers().filter(|(other, _)| *other != name && other.eq_ignore_ascii_case(name));
        let earlier = others.filter_map(|(other, releases)| Some((since(releases)?, other)));
        earlier.min().filter(|(first, other)| (first, *other) < (&own, name)).map(|(_, other)| other)
    }
}

/// The release on offer: the newest of those that the registry calls latest; otherwise the newest that is not a
/// pre-release. A deleted one only if there is no other.
pub fn offered(releases: &[Release]) -> Option<&Release> {
    let newest = |wanted: &dyn Fn(&Release) -> bool| {
        let wanted = releases.iter().filter(|release| wanted(release));
        wanted.max_by(|a, b| versions::compare(&a.version, &b.version))
    };
    let there = |release: &Release| release.status != Status::Deleted;
    newest(&|release| there(release) && release.latest)
        .or_else(|| newest(&|release| there(release)))
        .or_else(|| newest(&|release| release.latest))
        .or_else(|| newest(&|_| true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::listings::ListedFigures;

    /// `1.0.0* d`: the version, whether it is latest, its status.
    fn release(name: &str, line: &str) -> Release {
        let (version, status) = line.split_once(' ').unwrap_or((line, ""));
        Release {
            name: name.to_owned(),
            version: version.trim_end_matches('*').to_owned(),
            status: match status {
                "d" => Status::Deleted,
                "old" => Status::Deprecated,
                _ => Status::Active,
            },
            message: None,
            latest: version.ends_with('*'),
            published: String::new(),
            updated: "2026-01-01T00:00:00Z".to_owned(),
            figures: ListedFigures::default(),
            document: "{}".into(),
        }
    }

    #[test]
    fn one_release_is_offered_by_one_rule() {
        for (lines, expected) in [
            (&["1.0.0", "1.1.0", "2.0.0-rc.1", "1.2.0*"][..], "1.2.0"),
            (&["1.0.0*", "0.9.0*"], "1.0.0"),
            (&["0.9.0*", "1.0.0*"], "1.0.0"),
            (&["1.0.0", "2.0.0-rc.1"], "1.0.0"),
            (&["2.0.0-rc.1"], "2.0.0-rc.1"),
            (&["1.0.0", "1.1.0* d"], "1.0.0"),
            (&["1.0.0 d", "1.1.0* d"], "1.1.0"),
            (&["1.0.0 old", "1.1.0* old"], "1.1.0"),
        ] {
            let releases: Vec<Release> = lines.iter().map(|line| release("a/b", line)).collect();
            assert_eq!(offered(&releases).unwrap().version, expected, "{lines:?}");
        }
        assert_eq!(offered(&[]), None);
    }

    #[test]
    fn a_release_that_comes_again_replaces_only_its_predecessor() {
        let first = Known::default().with(
            vec![release("a/b", "1.0.0*"), release("a/c", "1.0.0*")],
            [("a/d@1".to_owned(), "why".to_owned()), ("a/b@2.0.0".to_owned(), "why".to_owned())].into(),
            1_800_000_000_000,
        );
        let then = first.with(
            vec![release("a/b", "1.0.0 d"), release("a/b", "2.0.0*")],
            BTreeMap::new(),
            1_900_000_000_000,
        );
        let versions: Vec<&str> =
            then.releases("a/b").iter().map(|release| release.version.as_str()).collect();
        assert_eq!((versions, then.releases("a/c").len()), (vec!["2.0.0", "1.0.0"], 1));
        assert_eq!((then.releases("a/b")[1].status, then.refused.len()), (Status::Deleted, 1));
        assert_eq!(first.releases("a/b").len(), 1, "what was known before is as it was");
    }

    #[test]
    fn changes_are_asked_for_from_a_moment_on_that_no_clock_can_hide() {
        let known = |updated: &str, ms| {
            let mut one = release("a/b", "1.0.0*");
            one.updated = updated.to_owned();
            Known::default().with(vec![one], BTreeMap::new(), ms)
        };
        let ms = stamp::to_ms("2026-05-01T12:00:00Z").unwrap();
        for (updated, now_ms, expected) in [
            ("2026-05-01T10:00:00Z", ms, "2026-05-01T09:00:00Z"),
            ("2099-05-01T10:00:00Z", ms, "2026-05-01T11:00:00Z"),
            ("", ms, "2026-05-01T11:00:00Z"),
            ("2099-05-01T10:00:00Z", ms - 86_400_000, "2026-04-30T11:00:00Z"),
        ] {
            assert_eq!(known(updated, ms).since(now_ms).as_deref(), Some(expected), "{updated}");
        }
        assert_eq!(Known::default().since(ms), None);
    }

    #[test]
    fn of_names_that_differ_in_their_capitals_the_first_is_meant() {
        let at =
            |name: &str, published: &str| Release { published: published.into(), ..release(name, "1.0.0*") };
        let known = Known::default().with(
            vec![
                at("io.x/Ledger", "2026-02-01T00:00:00Z"),
                at("io.x/ledger", "2026-01-01T00:00:00Z"),
                at("io.x/b", ""),
            ],
            BTreeMap::new(),
            1,
        );
        assert_eq!(known.first_of_its_letters("io.x/Ledger"), Some("io.x/ledger"));
        assert_eq!(known.first_of_its_letters("io.x/ledger"), None);
        assert_eq!(known.first_of_its_letters("io.x/b"), None);
        let firsts: Vec<&str> = known.firsts().values().map(|(_, first)| *first).collect();
        assert!(firsts.contains(&"io.x/ledger") && !firsts.contains(&"io.x/Ledger"), "{firsts:?}");
    }

    #[test]
    fn a_file_of_another_registry_or_a_damaged_one_is_nothing_known() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("below/known.json");
        let known = Known { url: "https://a".into(), ..Known::default() }.with(
            vec![release("a/b", "1.0.0*")],
            BTreeMap::new(),
            7,
        );
        known.save(&file).unwrap();
        assert_eq!(Known::load(&file, "https://a"), known);
        assert_eq!(Known::load(&file, "https://b").complete_ms, None);
        std::fs::write(&file, b"{\"url\": \"https://a\", \"releases\": 7}").unwrap();
        assert_eq!(Known::load(&file, "https://a").complete_ms, None);
    }
}
