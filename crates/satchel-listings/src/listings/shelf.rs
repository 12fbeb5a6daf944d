//! All installable servers, from registries and the bundled list, as one immutable value that is rebuilt when a source
//! changes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    facets::{Facets, may_run},
    judge,
    known::{Known, offered},
    page::Release,
    search::{Card, Index},
    ways,
};
use crate::{
    config::file::{OFFICIAL_REGISTRY, OWN_COMMAND},
    model::{
        caution::CautionCode,
        control::Target,
        listing::{Listed, NeedKind},
        listings::{ListedFigures, ListedServer, ListingFilter, ListingSort, NameProof, ServerDetails},
    },
    registry::{self, server_json::Status},
};

/// The source name of the bundled list.
pub const OWN: &str = "satchel";

/// Everything on offer.
#[derive(Debug, Default)]
pub struct Shelf {
    /// The registries in query order.
    registries: Vec<Arc<Known>>,
    bundled: Vec<Listed>,
    /// Bundled servers by what they run.
    packages: HashMap<String, usize>,
    entries: Vec<ShelfEntry>,
    facets: Vec<Facets>,
    index: Index,
}

#[derive(Debug)]
enum ShelfEntry {
    Bundled(usize),
    Release { registry: usize, name: String },
}

/// A server on offer and its source.
#[derive(Debug, Clone)]
pub struct Source {
    /// The registry's address, or [`OWN`].
    pub registry: String,
    /// The release.
    pub release: Release,
    /// Its displayable form.
    pub shown: ListedServer,
}

impl Shelf {
    /// Computes what these registries offer.
    pub fn of(registries: Vec<Arc<Known>>) -> Self {
        let mut bundled = registry::find("").entries;
        // Built-in servers are always configured.
        bundled.retain(|one| !is_built_in(one));
        let packages: HashMap<String, usize> =
            bundled.iter().enumerate().filter_map(|(at, one)| Some((package_of(one)?, at))).collect();
        let (mut entries, mut cards, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        let mut facets = Vec::new();
        let mut named: HashMap<&str, usize> = HashMap::new();
        for (at, known) in registries.iter().enumerate() {
            let firsts = known.firsts();
            for (name, releases) in known.servers() {
                // If several registries have a name, the first one counts.
                let Some(release) = offered(releases).filter(|_| !named.contains_key(name)) else { continue };
                named.insert(name, at);
                let twin =
                    firsts.get(&name.to_lowercase()).map(|(_, first)| *first).filter(|first| *first != name);
                let shown = judge::look(release, twin);
                let value = release.value();
                if !shown.doubtful && release.status == Status::Active {
                    hidden.extend(packages_of(&value).filter_map(|package| packages.get(&package)));
                }
                let title = shown.title.as_deref().unwrap_or_else(|| name.rsplit('/').next().unwrap_or(name));
                facets.push(Facets::of(&value, &release.published, title));
                cards.push(card(name, release, shown, may_run(&value)));
                entries.push(ShelfEntry::Release { registry: at, name: name.to_owned() });
            }
        }
        for (at, one) in bundled.iter().enumerate().filter(|(at, _)| !hidden.contains(&at)) {
            facets.push(Facets::of(&bundled_document(one), "", &one.title).bundled());
            cards.push(bundled_card(one));
            entries.push(ShelfEntry::Bundled(at));
        }
        drop(named);
        let index = Index::of(cards);
        Self { registries, bundled, packages, entries, facets, index }
    }

    /// Was it computed from exactly these lists?
    pub fn is_of(&self, registries: &[Arc<Known>]) -> bool {
        let same = |(one, other): (&Arc<Known>, &Arc<Known>)| Arc::ptr_eq(one, other);
        self.registries.len() == registries.len() && self.registries.iter().zip(registries).all(same)
    }

    /// Number of servers on offer.
    pub fn offered(&self) -> usize {
        self.index.offered()
    }

    /// Search results from `offset` on, and the total number.
    pub fn find(
        &self,
        query: &str,
        all: bool,
        filter: &ListingFilter,
        offset: usize,
        limit: usize,
    ) -> (Vec<ListedServer>, usize) {
        let mut found = self.index.find(query, all);
        found.retain(|at| self.facets[*at].meets(filter));
        match filter.sort {
            ListingSort::Best => {}
            ListingSort::Newest => {
                found.sort_by(|a, b| self.facets[*b].published.cmp(&self.facets[*a].published));
            }
            ListingSort::Name => found.sort_by(|a, b| self.facets[*a].title.cmp(&self.facets[*b].title)),
        }
        let part = found.iter().skip(offset).take(limit);
        (part.filter_map(|at| self.shown(&self.entries[*at])).collect(), found.len())
    }

    /// The name of a server that matches every word of this request and is not here yet. Limited to plain names, because
    /// models read it and third parties write the rest.
    pub fn suggested(&self, query: &str, is_here: impl Fn(&str) -> bool) -> Option<String> {
        let found = self.index.find_all_words(query);
        let name = found.into_iter().map(|at| match &self.entries[at] {
            ShelfEntry::Bundled(at) => self.bundled[*at].id.clone(),
            ShelfEntry::Release { name, .. } => name.clone(),
        });
        let is_plain = |name: &String| {
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_');
            name.len() <= 80 && name.chars().all(fits)
        };
        name.take(3).find(|name| is_plain(name) && !is_here(name))
    }

    /// Command or address of a bundled server, without its version.
    pub fn bundled_package(&self, id: &str) -> Option<String> {
        bundled_package(self.bundled.iter().find(|listed| listed.id == id)?)
    }

    /// A server by name, in one version or the one on offer.
    ///
    /// # Errors
    /// Similar names.
    pub fn source(&self, name: &str, version: Option<&str>) -> Result<Source, Vec<String>> {
        if let Some(listed) = self.bundled.iter().find(|listed| listed.id == name) {
            let release = bundled_release(listed);
            if version.is_none_or(|version| version == release.version) {
                let shown = bundled_shown(listed, &release);
                return Ok(Source { registry: OWN.to_owned(), release, shown });
            }
        }
        for known in &self.registries {
            if let Some(source) = source_in(known, name, version) {
                return Ok(source);
            }
        }
        let near =
            self.find(name.rsplit('/').next().unwrap_or(name), false, &ListingFilter::default(), 0, 3).0;
        Err(near.into_iter().map(|server| server.name).collect())
    }

    /// The same in one registry only.
    pub fn source_at(&self, registry: &str, name: &str, version: Option<&str>) -> Option<Source> {
        if registry == OWN {
            return self.source(name, version).ok().filter(|source| source.registry == OWN);
        }
        let known = self.registries.iter().find(|known| known.url == registry)?;
        source_in(known, name, version)
    }

    /// All details of a server.
    pub fn details(&self, source: &Source) -> ServerDetails {
        let known = self.registries.iter().find(|known| known.url == source.registry);
        let word = |status: Status| status_word(status).to_owned();
        let releases = known.map_or(&[][..], |known| known.releases(&source.release.name));
        let releases = releases.iter().map(|release| (release.version.clone(), word(release.status)));
        ServerDetails {
            releases: releases.collect(),
            afterwards: afterwards(&source.release),
            server: source.shown.clone(),
        }
    }

    fn shown(&self, entry: &ShelfEntry) -> Option<ListedServer> {
        match entry {
            ShelfEntry::Bundled(at) => {
                let listed = &self.bundled[*at];
                Some(bundled_shown(listed, &bundled_release(listed)))
            }
            ShelfEntry::Release { registry, name } => {
                let known = &self.registries[*registry];
                let mut shown = source_in(known, name, None)?.shown;
                let value = offered(known.releases(name))?.value();
                let same = packages_of(&value).find_map(|package| self.packages.get(&package));
                shown.measured = same.and_then(|at| self.bundled[*at].measured.clone());
                Some(shown)
            }
        }
    }
}

/// Is it a part of Satchel, and so there already?
pub(super) fn is_built_in(one: &Listed) -> bool {
    matches!(&one.target, Target::Command { command, .. } if command == OWN_COMMAND)
}

/// What a bundled server runs or connects to, without its version.
pub(super) fn bundled_package(listed: &Listed) -> Option<String> {
    let value = bundled_document(listed);
    let first = |key: &str| value.get(key).and_then(|list| list.get(0));
    let text = |of: Option<&Value>, key: &str| Some(of?.get(key)?.as_str()?.to_owned());
    text(first("packages"), "identifier").or_else(|| text(first("remotes"), "url"))
}

fn source_in(known: &Known, name: &str, version: Option<&str>) -> Option<Source> {
    let releases = known.releases(name);
    let release = match version {
        None => offered(releases)?,
        Some(version) => releases.iter().find(|release| release.version == version)?,
    };
    let mut shown = listed(release, judge::look(release, known.first_of_its_letters(name)));
    if judge::gives_orders(release) {
        shown.remarks.push(CautionCode::ReadsLikeOrder.into());
    }
    shown.registry.clone_from(&known.url);
    shown.proof = proof(&known.url, name);
    shown.versions = releases.len();
    Some(Source { registry: known.url.clone(), release: release.clone(), shown })
}

fn listed(release: &Release, shown: judge::CleanedTexts) -> ListedServer {
    ListedServer {
        name: release.name.clone(),
        title: shown.title,
        description: shown.description,
        version: judge::plain(&release.version).0,
        publisher: release.name.split('/').next().unwrap_or_default().to_owned(),
        status: status_word(release.status).to_owned(),
        status_message: release.message.as_deref().map(|text| judge::plain(text).0),
        repository: shown.repository,
        website: shown.website,
        published: Some(release.published.clone()).filter(|time| !time.is_empty()),
        ways: release.read().map(|document| ways::listed(&document)).unwrap_or_default(),
        remarks: shown.remarks,
        figures: release.figures.clone(),
        ..ListedServer::default()
    }
}

/// Who checks names in a registry is known of the official one alone.
fn proof(registry: &str, name: &str) -> NameProof {
    match registry == OFFICIAL_REGISTRY {
        true if name.starts_with("io.github.") => NameProof::Account,
        true => NameProof::Domain,
        false => NameProof::Unknown,
    }
}

/// The status in the registries' form.
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Deprecated => "deprecated",
        Status::Deleted => "deleted",
    }
}

fn card(name: &str, release: &Release, shown: judge::CleanedTexts, runs: bool) -> Card {
    let title = shown.title.unwrap_or_default();
    Card {
        name: name.to_owned(),
        texts: vec![(8.0, title), (3.0, shown.description)],
        behind: shown.doubtful || !runs || release.status == Status::Deprecated,
        deleted: release.status == Status::Deleted,
    }
}

fn bundled_card(one: &Listed) -> Card {
    let texts = [(8.0, one.title.clone()), (3.0, one.publisher.clone())];
    let about = one.about.values().map(|text| (3.0, text.clone()));
    let topics = one.topics.iter().map(|topic| (4.0, topic.clone()));
    let tools = one.tools.iter().flat_map(|tool| [(2.0, tool.name.clone()), (1.0, tool.about.clone())]);
    let texts = texts.into_iter().chain(about).chain(topics).chain(tools).collect();
    Card { name: one.id.clone(), texts, behind: false, deleted: false }
}

/// The publisher's instructions for after an installation, as plain text.
pub fn afterwards(release: &Release) -> Vec<String> {
    let value = release.value();
    let packages = value.get("packages").and_then(Value::as_array).into_iter().flatten();
    let instructions = packages
        .filter_map(|package| package.get("postInstallInstructions").and_then(Value::as_array))
        .flatten();
    let text = |one: &Value| match one {
        Value::String(text) => judge::plain(text).0,
        other => {
            let parts =
                ["description", "command"].iter().filter_map(|key| other.get(*key).and_then(Value::as_str));
            judge::plain(&parts.collect::<Vec<_>>().join(": ")).0
        }
    };
    instructions
        .map(text)
        .filter(|text| !text.is_empty())
        .take(10)
        .map(|text| text.chars().take(500).collect())
        .collect()
}

/// The identity of what an entry runs: `npm NAME`, `pypi NAME`, or an address.
fn packages_of(document: &Value) -> impl Iterator<Item = String> {
    let list = |key: &str| document.get(key).and_then(Value::as_array).into_iter().flatten();
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let packages =
        list("packages").map(move |one| format!("{} {}", text(one, "registryType"), text(one, "identifier")));
    packages.chain(list("remotes").map(move |one| text(one, "url").trim_end_matches('/').to_owned()))
}

fn package_of(listed: &Listed) -> Option<String> {
    packages_of(&bundled_document(listed)).next()
}

fn bundled_release(listed: &Listed) -> Release {
    let document = bundled_document(listed);
    let version = document.get("version").and_then(Value::as_str).unwrap_or_default().to_owned();
    Release {
        name: listed.id.clone(),
        version,
        status: Status::Active,
        message: None,
        latest: true,
        published: String::new(),
        updated: String::new(),
        figures: ListedFigures { license: listed.license.clone(), ..ListedFigures::default() },
        document: document.to_string().into(),
    }
}

fn bundled_shown(listed: &Listed, release: &Release) -> ListedServer {
    let about = listed.about.get("en").or_else(|| listed.about.values().next()).cloned().unwrap_or_default();
    ListedServer {
        name: listed.id.clone(),
        title: Some(listed.title.clone()),
        description: about,
        // A hosted server has no version that is known here.
        version: match listed.target {
            Target::Command { .. } => release.version.clone(),
            Target::Url { .. } => String::new(),
        },
        publisher: listed.publisher.clone(),
        registry: OWN.to_owned(),
        status: "active".to_owned(),
        website: listed.home.clone(),
        versions: 1,
        ways: release.read().map(|document| ways::listed(&document)).unwrap_or_default(),
        measured: listed.measured.clone(),
        proof: NameProof::Bundled,
        figures: release.figures.clone(),
        ..ListedServer::default()
    }
}

/// A bundled entry in the form of a registry's description.
fn bundled_document(listed: &Listed) -> Value {
    let needs: BTreeMap<&str, Value> = listed
        .needs
        .iter()
        .map(|need| {
            let label = need.label.get("en").cloned().unwrap_or_default();
            let (secret, folder) = (need.kind == NeedKind::Secret, need.kind == NeedKind::Folder);
            let about = json!({ "description": label, "isRequired": !need.optional, "isSecret": secret,
                "format": if folder { "directory" } else { "string" } });
            (need.name.as_str(), about)
        })
        .collect();
    let input = |text: &str| {
        let used = needs.iter().filter(|(name, _)| text.contains(&format!("{{{name}}}")));
        let variables: serde_json::Map<String, Value> =
            used.map(|(name, about)| ((*name).to_owned(), about.clone())).collect();
        json!({ "value": text, "variables": variables })
    };
    let named = |(name, text): (&String, &String)| {
        let mut input = input(text);
        input["name"] = json!(name);
        input
    };
    let mut document =
        json!({ "name": listed.id, "title": listed.title, "description": "", "version": "1.0.0" });
    match &listed.target {
        Target::Url { url, headers } => {
            document["remotes"] = json!([{ "type": "streamable-http", "url": url,
                "variables": input(url)["variables"], "headers": headers.iter().map(named).collect::<Vec<_>>() }]);
        }
        Target::Command { command, args, env, .. } => {
            let kind = match command.as_str() {
                "npx" => "npm",
                "uvx" => "pypi",
                other => other,
            };
            let is_package = |arg: &&String| !arg.starts_with('-');
            let at = args.iter().position(|arg| is_package(&arg)).unwrap_or(args.len());
            let package = args.get(at).map(String::as_str).unwrap_or_default();
            let (name, version) = package
                .char_indices()
                .skip(1)
                .find(|(_, c)| *c == '@')
                .map_or((package, ""), |(at, _)| (&package[..at], &package[at + 1..]));
            let word = |text: &String| {
                let mut input = input(text);
                input["type"] = json!("positional");
                input
            };
            let before: Vec<Value> = args[..at].iter().filter(|arg| *arg != "-y").map(word).collect();
            let after: Vec<Value> = args.iter().skip(at + 1).map(word).collect();
            document["version"] = json!(version);
            document["packages"] = json!([{ "registryType": kind, "identifier": name, "version": version,
                "runtimeArguments": before, "packageArguments": after,
                "environmentVariables": env.iter().map(named).collect::<Vec<_>>() }]);
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{plan::Way, server_json::Answers};

    #[test]
    fn every_server_that_comes_with_satchel_can_be_installed_as_it_was_measured() {
        let all = registry::find("").entries;
        let mut seen = 0;
        for listed in all.iter().filter(|listed| listed.id != "toolbox") {
            let document = bundled_release(listed).read().unwrap_or_else(|| panic!("{}", listed.id));
            let (_, choice) = ways::ways(&document).remove(0);
            let give = |need: &crate::model::listing::Need| {
                let value = if need.kind == NeedKind::Folder { "/given" } else { "given" };
                (need.name.clone(), json!(value))
            };
            let answers: Answers = listed.needs.iter().map(give).collect();
            let reviewed = ways::review(&document, choice, &answers, None);
            let reviewed = reviewed.unwrap_or_else(|why| panic!("{}: {why}", listed.id));
            let filled = |text: &str| {
                listed.needs.iter().fold(text.to_owned(), |text, need| {
                    let value = if need.kind == NeedKind::Folder { "/given" } else { "given" };
                    text.replace(&format!("{{{}}}", need.name), value)
                })
            };
            match (&listed.target, &reviewed.plan.way) {
                (Target::Command { command, args, .. }, Way::Stdio(run)) => {
                    let args: Vec<String> = args.iter().map(|arg| filled(arg)).collect();
                    assert_eq!((command, &args), (&run.command, &run.args), "{}", listed.id);
                }
                (Target::Url { url, .. }, Way::Http { url: is, .. }) => assert_eq!(&filled(url), is),
                other => panic!("{}: {other:?}", listed.id),
            }
            seen += 1;
        }
        assert!(seen >= 20, "{seen}");
    }

    /// Optional inputs without a value omit their parts and nothing else.
    #[test]
    fn a_bundled_server_gets_its_variables_and_headers_with_and_without_what_is_optional() {
        for listed in registry::find("").entries.iter().filter(|listed| listed.id != "toolbox") {
            let document = bundled_release(listed).read().unwrap_or_else(|| panic!("{}", listed.id));
            for all in [true, false] {
                let given: Vec<_> = listed.needs.iter().filter(|need| all || !need.optional).collect();
                let value = |need: &crate::model::listing::Need| {
                    if need.kind == NeedKind::Folder { "/given" } else { "given" }
                };
                let answers: Answers =
                    given.iter().map(|need| (need.name.clone(), json!(value(need)))).collect();
                let (_, choice) = ways::ways(&document).remove(0);
                let reviewed = ways::review(&document, choice, &answers, None);
                let reviewed = reviewed.unwrap_or_else(|why| panic!("{}: {why}", listed.id));
                assert_eq!(reviewed.plan.missing, Vec::<String>::new(), "{}", listed.id);
                let filled = |texts: &BTreeMap<String, String>| -> serde_json::Map<String, Value> {
                    let fill = |text: &String| {
                        given.iter().fold(text.clone(), |text, need| {
                            text.replace(&format!("{{{}}}", need.name), value(need))
                        })
                    };
                    let texts = texts.iter().map(|(name, text)| (name.clone(), fill(text)));
                    texts
                        .filter(|(_, text)| !text.contains('{'))
                        .map(|(name, text)| (name, json!(text)))
                        .collect()
                };
                match (&listed.target, &reviewed.plan.way) {
                    (Target::Command { env, .. }, Way::Stdio(run)) => {
                        assert_eq!(filled(env), run.env, "{}", listed.id);
                    }
                    (Target::Url { headers: wanted, .. }, Way::Http { headers, .. }) => {
                        assert_eq!(&filled(wanted), headers, "{}", listed.id);
                    }
                    other => panic!("{}: {other:?}", listed.id),
                }
            }
        }
    }

    #[test]
    fn a_request_whose_words_a_server_all_has_is_told_of_it_until_it_is_here() {
        let shelf = Shelf::of(vec![]);
        assert_eq!(shelf.suggested("playwright browser", |_| false).as_deref(), Some("playwright"));
        assert_eq!(shelf.suggested("playwright browser", |name| name == "playwright"), None);
        assert_eq!(shelf.suggested("tell me a joke", |_| false), None);
        assert_eq!(shelf.bundled_package("fetch").as_deref(), Some("mcp-server-fetch"));
    }

    #[test]
    fn without_any_registry_the_list_that_comes_along_is_there_and_works() {
        let shelf = Shelf::of(vec![]);
        let (found, total) = shelf.find("github", false, &ListingFilter::default(), 0, 5);
        assert!(total >= 1 && found[0].name == "github" && found[0].registry == OWN, "{found:?}");
        assert!(shelf.source("github", None).is_ok());
        assert!(shelf.source("io.github.nobody/github", None).unwrap_err().contains(&"github".to_owned()));
    }
}
