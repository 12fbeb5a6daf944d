//! What the launchers of servers fetched. Whatever is seen for the first time is remembered with its digest; one version of
//! a package has the same contents for ever, and where it has others, nothing of the server is started before a person has
//! looked. Another version is another package: an entry that lets its launcher choose is meant to run those.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Hub, trusted::Entry};
use crate::{
    model::{ServerName, TransportConfig, approvals::Kind, trail::DeedKind},
    registry::fetched::{self, Fetched},
    trust::{Fingerprint, Item, approvals, clean, fingerprint::Tree},
    upstream::{Gate, environment},
};

/// Of a digest, in a sentence.
const SHORT: usize = 20;

/// As they are remembered, without those whose contents nothing tells from others. What several registries deliver under
/// one name and version is one, with the digests of all.
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
        Item { kind: Kind::Package, name, print, text: clean::visible(&digest), alarming: false }
    };
    digests.into_iter().map(item).collect()
}

/// Why a server is not started, for whoever wants it; `None` where that is not because of its packages.
pub(super) fn because(entry: &Entry) -> Option<String> {
    let mut held = entry.held_packages();
    let first = held.next()?;
    let before = short(entry.record.before(first).unwrap_or_default());
    let more = match held.count() {
        0 => String::new(),
        more => format!(", and so has {more} more of its packages"),
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

impl Hub {
    /// What is asked whenever this server is started.
    pub(super) fn gate(&self, name: &ServerName) -> Gate {
        let (hub, name) = (self.clone(), name.clone());
        Gate(Arc::new(move |transport| hub.look_at_packages(&name, transport)))
    }

    /// Looks at what is here already, without waiting for a start. One command sees it at once.
    pub(super) fn look_soon(&self, name: &ServerName, transport: &TransportConfig) {
        if !fetched::is_kept(transport) {
            return;
        }
        let (hub, name, transport) = (self.clone(), name.clone(), transport.clone());
        let look = move || hub.look(&name, &transport);
        match self.inner.options.passive {
            true => look(),
            false => drop(self.inner.tracker.spawn_blocking(look)),
        }
    }

    /// A person wants it started: what was wrong may have been put right.
    pub(super) async fn look_again(&self, name: &ServerName, transport: &TransportConfig) {
        if !self.holds_packages(name) {
            return;
        }
        let (hub, name, transport) = (self.clone(), name.clone(), transport.clone());
        let _ = self.inner.tracker.spawn_blocking(move || hub.look(&name, &transport)).await;
    }

    fn look(&self, name: &ServerName, transport: &TransportConfig) {
        // What is held back is told where it is found, and whoever wants the server started is told as well.
        let _ = self.look_at_packages(name, transport);
        self.follow_launch(name);
    }

    /// Is it not started because of what its launcher fetched?
    pub(super) fn holds_packages(&self, name: &ServerName) -> bool {
        self.trusted().get(name).is_some_and(|entry| entry.held_packages().next().is_some())
    }

    /// What this server's launcher has here for this entry.
    fn fetched(&self, transport: &TransportConfig) -> Vec<Fetched> {
        let given = environment::passed_on(self.inner.around.environment.clone());
        fetched::packages(transport, |name| given.get(name).cloned())
    }

    /// Compares what is here with what is remembered, and remembers what is new.
    ///
    /// # Errors
    /// Why it may not be started.
    fn look_at_packages(&self, name: &ServerName, transport: &TransportConfig) -> Result<(), String> {
        let fetched = self.fetched(transport);
        let (asked_for, all) = (items(fetched.iter().filter(|one| one.asked_for)), items(fetched.iter()));
        let mut trusted = self.trusted();
        let Some(entry) = trusted.get_mut(name) else { return Ok(()) };
        let known = entry.held_packages().next().is_some();
        entry.packages = all.iter().filter(|item| entry.record.holds_package(item)).cloned().collect();
        let because = because(entry);
        let mut told = Vec::new();
        match &because {
            Some(because) if !known => {
                told.push((DeedKind::Held, "satchel", format!("held back: {because}")))
            }
            Some(_) => {}
            None => {
                let new = entry.record.remember(&all);
                let fetched =
                    new.iter().filter(|item| asked_for.iter().any(|one| one.name == item.name)).map(|item| {
                        let line =
                            format!("{} was fetched for it, {}", clean::visible(&item.name), item.text);
                        (DeedKind::Started, "", line)
                    });
                told.extend(fetched);
                if !new.is_empty() {
                    let written = approvals::write(&self.approvals_file(name), &entry.record);
                    // Tried again with the next list.
                    entry.unwritten = written.is_err();
                }
            }
        }
        drop(trusted);
        for (kind, who, line) in told {
            if let Some(server) = self.servers().get(name) {
                server.upstream.log().hub(&line);
            }
            self.did(kind, who, name.as_str(), line);
        }
        because.map_or(Ok(()), Err)
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
