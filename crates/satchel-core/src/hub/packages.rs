//! What the launchers of servers fetched. Whatever is seen for the first time is remembered with its digest; one version of
//! a package has the same contents for ever, and where it has others, nothing of the server is started before a person has
//! looked. Another version is another package: an entry that lets its launcher choose is meant to run those.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::json;

use super::{Hub, fulfil::unknown_server, trusted::Entry};
use crate::{
    config::expand::{Template, Values},
    model::{
        ServerName, TransportConfig,
        approvals::Kind,
        control::{Change, Refusal},
        package::{PackageView, Pinned},
        trail::DeedKind,
    },
    registry::{
        fetched::{self, Fetched},
        pinning,
    },
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

struct Variables<'a>(&'a HashMap<String, String>);

impl Values for Variables<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
    fn secret(&self, _name: &str) -> Option<String> {
        None
    }
}

/// The one version that is here.
fn one_of(versions: &[String], package: &str, server: &str) -> Result<String, Refusal> {
    let (code, message) = match versions {
        [version] => return Ok(version.clone()),
        [] => ("version_unknown", format!("which version of {package} was fetched is not known here")),
        several => {
            ("versions_several", format!("several versions of {package} are here ({})", several.join(", ")))
        }
    };
    Err(Refusal::new(code, message, format!("Name one: `satchel pin {server} VERSION`.")))
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
        if self.inner.options.passive {
            return self.look(&name, &transport);
        }
        self.inner.tracker.spawn(async move {
            // One after the other: a hub begins with all of its servers.
            let _turn = hub.inner.looking.acquire().await;
            hub.look_again(&name, &transport).await;
        });
    }

    /// Looks at what is here now: what was wrong may have been put right.
    pub(super) async fn look_again(&self, name: &ServerName, transport: &TransportConfig) {
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

    /// What a server's launcher fetches for it; `None` where it fetches nothing that has versions.
    pub(super) async fn package(&self, server: &str) -> Result<Option<PackageView>, Refusal> {
        let (name, transport) = self.configured(server)?;
        let (floats, kept) = (pinning::floating(&transport).is_some(), fetched::is_kept(&transport));
        let asked_for = fetched::asked_for(&transport).filter(|(_, version)| floats || version.is_some());
        let Some(((package, version), example)) = asked_for.zip(pinning::example(&transport)) else {
            return Ok(None);
        };
        let digest = version.as_ref().and_then(|version| self.remembered(&name, &package, version));
        let fetched = if floats { self.versions(transport).await } else { Vec::new() };
        Ok(Some(PackageView { package, version, digest, fetched, kept, example }))
    }

    /// Has a server run one version of its package, and no other.
    pub(super) async fn pin(&self, server: &str, version: Option<String>) -> Result<Pinned, Refusal> {
        let (name, transport) = self.configured(server)?;
        let package = pinning::floating(&transport).ok_or_else(|| {
            let message = format!(
                "{server} fetches no package, or names its version exactly already; nothing was changed"
            );
            Refusal::new("pinned_already", message, "")
        })?;
        // Who pins it has not looked at what another hand made of the rest.
        self.refuse_held_entry(&name)?;
        // What was fetched last is what ran. Any other version is what whoever names it accepts.
        let accepts = version.is_none() || self.is_for_a_person();
        let version = match version {
            Some(version) => version,
            None => one_of(&self.versions(transport.clone()).await, &package, server)?,
        };
        let args = pinning::pinned(&transport, &version).ok_or_else(|| {
            let message = format!("\"{version}\" is no exact version of {package}");
            Refusal::new("no_version", message, "Name one like 1.2.3, or a whole digest of an image.")
        })?;
        let mut entry = self.entry_to_edit(server)?;
        entry["args"] = json!(args);
        super::apply::ask(self, Change::Edit { name: server.to_owned(), entry }, accepts).await?;
        Ok(Pinned { package, version })
    }

    fn configured(&self, server: &str) -> Result<(ServerName, TransportConfig), Refusal> {
        let config = self.inner.config.borrow().clone();
        let known = config.servers().get_key_value(server).ok_or_else(|| unknown_server(server))?;
        Ok((known.0.clone(), known.1.transport.clone()))
    }

    async fn versions(&self, transport: TransportConfig) -> Vec<String> {
        let hub = self.clone();
        let read = move || fetched::versions(&transport, &hub.fetched(&transport)).into_iter().collect();
        self.inner.tracker.spawn_blocking(read).await.unwrap_or_default()
    }

    /// The contents of this version, as they were when it was first seen or approved.
    fn remembered(&self, server: &ServerName, package: &str, version: &str) -> Option<String> {
        let trusted = self.trusted();
        let is_it = |(name, _): &(&str, &str)| {
            let Some((name, release)) = name.split_once(' ') else { return false };
            let release = release.split_once(' ').map_or(release, |(release, _)| release);
            release == version && fetched::is_called(package, name)
        };
        trusted.get(server)?.record.packages().find(is_it).map(|(_, digest)| digest.to_owned())
    }

    /// What this server's launcher has here for this entry.
    fn fetched(&self, transport: &TransportConfig) -> Vec<Fetched> {
        let given = environment::passed_on(self.inner.around.environment.clone());
        fetched::packages(&self.with_variables(transport), |name| given.get(name).cloned())
    }

    /// The entry as it is started, but for secrets: they say nothing of packages.
    fn with_variables(&self, transport: &TransportConfig) -> TransportConfig {
        let mut transport = transport.clone();
        if let TransportConfig::Stdio { args, env, .. } = &mut transport {
            let variables = Variables(&self.inner.around.environment);
            for text in args.iter_mut().chain(env.values_mut()) {
                *text = Template::parse(text).fill(&variables, &mut BTreeSet::new());
            }
        }
        transport
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
        let before = because(entry);
        entry.packages = all.iter().filter(|item| entry.record.holds_package(item)).cloned().collect();
        let held = because(entry);
        let mut told = Vec::new();
        match &held {
            Some(_) if held == before => {}
            Some(why) => told.push((DeedKind::Held, "satchel", format!("held back: {why}"))),
            None => {
                let new = entry.record.remember(&all);
                if !new.is_empty() {
                    let written = approvals::write(&self.approvals_file(name), &entry.record);
                    // Tried again with the next list.
                    entry.unwritten = written.is_err();
                }
                let runs = |item: &&Item| asked_for.iter().any(|one| one.name == item.name);
                told.extend(new.into_iter().filter(runs).map(|item| {
                    let line = format!("{} was fetched for it, {}", clean::visible(&item.name), item.text);
                    (DeedKind::Started, "", line)
                }));
            }
        }
        drop(trusted);
        for (kind, who, line) in told {
            if let Some(server) = self.servers().get(name) {
                server.upstream.log().hub(&line);
            }
            self.did(kind, who, name.as_str(), line);
        }
        held.map_or(Ok(()), Err)
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
