//! Checks the packages that launchers fetched. A package seen for the first time is recorded with its digest; if the
//! same version later has other contents, the server is not started before a person has looked. Another version counts
//! as another package: an entry without a pinned version is meant to follow new ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Entry, Review, ReviewError, Unwritten};
use crate::{
    model::{ServerName, approvals::Kind},
    registry::fetched::{self, Fetched},
    trust::{Fingerprint, Item, clean, fingerprint::Tree},
};

/// Number of digest characters shown in a sentence.
const SHORT: usize = 20;

/// Packages as recorded, without those that have no digest. Several registries' packages of the same name and version
/// are merged, with all digests.
fn items<'a>(packages: impl Iterator<Item = &'a Fetched>) -> Vec<Item> {
    let mut digests: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (package, digest) in packages.filter_map(|one| Some((one, one.digest.as_deref()?))) {
        let build = Some(&package.build).filter(|build| !build.is_empty());
        let build = build.map(|build| format!(" ({build})")).unwrap_or_default();
        let name = format!("{} {}{build}", package.name, package.version);
        digests.entry(name).or_default().insert(digest);
    }
    let item = |(name, digests): (String, BTreeSet<&str>)| {
        let digest = digests.into_iter().collect::<Vec<_>>().join(" ");
        let fields = [("digest", &digest), ("package", &name)];
        let tree = Tree::Object(fields.map(|(key, text)| (key.to_owned(), Tree::Text(text.clone()))).into());
        let print = Fingerprint::of_tree(Kind::Package.as_str(), &tree);
        Item {
            kind: Kind::Package,
            name,
            print,
            text: clean::visible(&digest),
            alarming: false,
            sought: false,
            definition: None,
        }
    };
    digests.into_iter().map(item).collect()
}

/// Why a server is not started because of its packages; `None` if it may start.
pub(super) fn because(entry: &Entry) -> Option<String> {
    let mut held = entry.held_packages();
    let first = held.next()?;
    let before = short(entry.record.before(first).unwrap_or_default());
    let more = match held.count() {
        0 => String::new(),
        more => format!(", like {more} more of its packages"),
    };
    Some(format!(
        "{} has other contents than before, under the same version ({}, before {before}){more}; nobody has approved that",
        clean::visible(&first.name),
        short(&first.text)
    ))
}

fn short(digest: &str) -> String {
    match digest.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &digest[..end]),
        None => digest.to_owned(),
    }
}

/// The result of comparing fetched packages with the record.
#[derive(Debug, Default)]
pub struct Looked {
    /// Why the server may not be started.
    pub held: Option<String>,
    /// It is newly held back for this reason.
    pub is_new: bool,
    /// Packages fetched for the first time, as text.
    pub fetched: Vec<String>,
}

impl Review {
    /// Compares fetched packages with the record, and records new ones.
    pub async fn look_at_packages(self: &Arc<Self>, name: &ServerName, fetched: &[Fetched]) -> Looked {
        let all = items(fetched.iter());
        let asked_for: BTreeSet<String> =
            items(fetched.iter().filter(|one| one.asked_for)).into_iter().map(|item| item.name).collect();
        let look = move |entry: &mut Entry| {
            let before = because(entry);
            let record = entry.record.clone();
            entry.packages = all.iter().filter(|item| record.holds_package(item)).cloned().collect();
            let held = because(entry);
            if held.is_some() {
                return Looked { is_new: held != before, held, fetched: Vec::new() };
            }
            if all.iter().all(|item| record.knows(item.kind, &item.name)) {
                return Looked::default();
            }
            let new = Arc::make_mut(&mut entry.record).remember(&all);
            let new = new.into_iter().filter(|item| asked_for.contains(&item.name));
            let line =
                |item: &Item| format!("{} was fetched for it, {}", clean::visible(&item.name), item.text);
            Looked { fetched: new.map(line).collect(), ..Looked::default() }
        };
        match self.change(name, Unwritten::Kept, look).await {
            Ok(looked) => looked,
            // The server was removed in the meantime.
            Err(ReviewError::Unknown(_)) => Looked::default(),
            // On an internal error, nothing is started.
            Err(error) => Looked { held: Some(error.to_string()), is_new: true, fetched: Vec::new() },
        }
    }

    /// The digest of this version, as first seen or approved.
    pub fn remembered(&self, server: &ServerName, package: &str, version: &str) -> Option<String> {
        let is_it = |(name, _): &(&str, &str)| {
            let Some((name, release)) = name.split_once(' ') else { return false };
            let release = release.split_once(' ').map_or(release, |(release, _)| release);
            release == version && fetched::is_called(package, name)
        };
        let entry = self.entry(server)?;
        entry.record.packages().find(is_it).map(|(_, digest)| digest.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_remembered_by_name_version_and_build() {
        let package = |name: &str, build: &str, digest: Option<&str>| Fetched {
            name: name.into(),
            version: "1.0".into(),
            build: build.into(),
            digest: digest.map(ToOwned::to_owned),
            asked_for: false,
        };
        let fetched = [
            package("a", "", Some("sha512-b")),
            package("a", "", Some("sha512-a")),
            package("b", "linux", Some("sha256:c")),
            package("c", "", None),
        ];
        let remembered = items(fetched.iter());
        let told: Vec<(&str, &str)> =
            remembered.iter().map(|item| (item.name.as_str(), item.text.as_str())).collect();
        assert_eq!(told, [("a 1.0", "sha512-a sha512-b"), ("b 1.0 (linux)", "sha256:c")]);
        assert_ne!(items(fetched[..1].iter())[0].print, remembered[0].print);
    }
}
