//! Answers faces' requests about registries: which registries are asked and when, what they list, and what of it is
//! installed.

use std::{collections::BTreeMap, sync::Arc};

use satchel_entry::template::Template;
use serde_json::Value;

use super::{Hub, apply, instances};
use crate::{
    catalog::brand,
    clock::now_ms,
    config::Config,
    icons,
    intake::{
        house::Hand,
        install::{self, registries, shelf, unknown_listing},
        provenance, update,
    },
    listings::{
        Listings, Registry,
        products::Product,
        registry_http::Url,
        shelf::{self, Shelf},
    },
    model::{
        Code, ToolPath,
        audit::AuditKind,
        control::{Change, Refusal},
        listings::{
            AskRegistries, InstallAsk, InstallPlan, Installed, InstalledServer, ListedServer, ListedServers,
            RegistryState, ServerDetails,
        },
        request::{GetListed, InstallListed, ListInstalled, SearchListed},
    },
    secrets::Secret,
};

/// Maximum number of servers in one answer.
const MOST: usize = 500;

pub(super) async fn search_listed(hub: &Hub, wanted: SearchListed) -> Result<ListedServers, Refusal> {
    ask(hub, wanted.ask).await?;
    search(hub, &wanted)
}

pub(super) async fn listed_server(hub: &Hub, wanted: GetListed) -> Result<ServerDetails, Refusal> {
    ask(hub, AskRegistries::IfDue).await?;
    details(hub, &wanted.name, wanted.version.as_deref())
}

pub(super) async fn plan(hub: &Hub, wanted: InstallAsk) -> Result<InstallPlan, Refusal> {
    if !is_bundled(hub, &wanted) {
        ask(hub, AskRegistries::IfDue).await?;
    }
    let plan = install::plan(hub, &wanted).await?;
    pictures(hub, &shelf(hub), std::slice::from_ref(&plan.server));
    Ok(plan)
}

/// Is it about a server of the bundled list? No registry is asked for those.
fn is_bundled(hub: &Hub, wanted: &InstallAsk) -> bool {
    match &wanted.server {
        Some(server) => {
            provenance::of(&hub.config(), server).is_some_and(|source| source.registry == shelf::OWN)
        }
        None => shelf(hub).bundled_package(&wanted.name).is_some(),
    }
}

pub(super) async fn install(hub: &Hub, wanted: InstallListed) -> Result<Installed, Refusal> {
    let mut installed = Box::pin(install::carry_out(hub, &wanted.ask, &wanted.seen)).await?;
    follow(hub)?;
    let server = installed.server.as_str();
    installed.held =
        hub.servers().get(server).is_some_and(|known| known.held) || known(hub).withdrawn(server).is_some();
    Ok(installed)
}

pub(super) async fn list_installed(
    hub: &Hub,
    wanted: ListInstalled,
) -> Result<Vec<InstalledServer>, Refusal> {
    ask(hub, wanted.ask).await?;
    installed(hub)
}

fn known(hub: &Hub) -> &Listings {
    &hub.inner.configured.entries.listings
}

async fn with_tokens(hub: &Hub) -> Result<Vec<Registry>, Refusal> {
    let config = hub.config();
    let mut all = Vec::new();
    for source in config.registries() {
        let Ok(url) = Url::parse(&source.url) else { continue };
        let mut token = None;
        if let Some(written) = &source.token {
            let name = Template::parse(written).secrets().next().map(ToOwned::to_owned);
            token = match name {
                Some(name) => {
                    let read = hub.inner.around.secrets.get(&name).await?;
                    hub.did(
                        AuditKind::SecretRead,
                        "satchel",
                        &name,
                        format!("for the registry {}", source.url),
                    );
                    read
                }
                None => Some(Secret::new(written.clone())),
            };
        }
        all.push(Registry { url, token });
    }
    Ok(all)
}

async fn ask(hub: &Hub, when: AskRegistries) -> Result<(), Refusal> {
    let due = |waits| known(hub).is_due(&registries(&hub.config()), now_ms(), waits);
    match when {
        AskRegistries::Never => {}
        AskRegistries::Now => refresh(hub, true, true).await?,
        AskRegistries::IfDue if due(true) => refresh(hub, true, false).await?,
        AskRegistries::Meanwhile if due(false) && !hub.inner.options.passive => {
            let asking = hub.clone();
            hub.inner.life.spawn(async move { refresh(&asking, false, false).await });
        }
        AskRegistries::IfDue | AskRegistries::Meanwhile => {}
    }
    Ok(())
}

async fn refresh(hub: &Hub, waits: bool, always: bool) -> Result<(), Refusal> {
    let registries = with_tokens(hub).await?;
    let reading = known(hub).refresh(&registries, now_ms, waits, always);
    // Shutdown does not wait for a registry.
    let changed = tokio::select! {
        changed = reading => changed,
        () = hub.inner.life.end().cancelled() => false,
    };
    hub.inner.faces.changed();
    if changed {
        follow(hub)?;
    }
    Ok(())
}

/// The number by which windows notice that [`installed`] may say something else.
pub(super) fn mark(hub: &Hub) -> u64 {
    known(hub).mark()
}

/// Stops servers that their registry has deleted from being started.
fn follow(hub: &Hub) -> Result<(), Refusal> {
    let config = hub.config();
    let keeps = |server: &str| provenance::of(&config, server).is_some_and(|source| source.keep);
    let deleted = installed(hub)?.into_iter().filter(|one| one.status == "deleted" && !keeps(&one.server));
    let why = |one: InstalledServer| {
        let said = one.status_message.map(|text| format!(": {text}")).unwrap_or_default();
        let why = format!("its registry has deleted {} {}{said}", one.name, one.version);
        (one.server, why)
    };
    let withdrawn: BTreeMap<String, String> = deleted.map(why).collect();
    for server in known(hub).set_withdrawn(withdrawn.clone()) {
        hub.did(AuditKind::Held, "satchel", &server, withdrawn.get(&server).cloned().unwrap_or_default());
        let known = hub.servers().get(server.as_str()).cloned();
        if let Some(known) = known {
            known.upstream.log().hub(&withdrawn[&server]);
            instances::rest(hub, &known.upstream, &known.instances);
        }
    }
    Ok(())
}

pub(super) async fn keep_deleted(hub: &Hub, server: &str) -> Result<(), Refusal> {
    let config = hub.config();
    let mut entry = config.entry(server).cloned().ok_or_else(|| Refusal::unknown_server(server))?;
    let Some(source) = entry.get_mut(provenance::KEY).and_then(Value::as_object_mut) else {
        let message = format!("\"{server}\" was not installed from a registry");
        return Err(Refusal::new(Code::NotFromARegistry, message, ""));
    };
    source.insert("keep".into(), true.into());
    let change = Change::Put { name: server.to_owned(), entry, replace: true, rules: vec![] };
    apply::ask(hub, change, Hand::of(hub)).await?;
    follow(hub)?;
    hub.did_here(AuditKind::Consent, server, "keeps running although its registry has deleted it");
    Ok(())
}

fn search(hub: &Hub, wanted: &SearchListed) -> Result<ListedServers, Refusal> {
    let shelf = shelf(hub);
    let SearchListed { query, all, limit, offset, filter, ask: _ } = wanted;
    let (mut servers, total) = shelf.find(query, *all, filter, *offset, (*limit).min(MOST));
    let here = provenance::all(&hub.config());
    for server in &mut servers {
        let same = |(_, source): &&(String, provenance::Provenance)| {
            source.name == server.name && source.registry == server.registry
        };
        server.installed = here.iter().find(same).map(|(name, _)| name.clone());
    }
    pictures(hub, &shelf, &servers);
    let registries = states(hub);
    let refused = registries.iter().map(|one| one.refused.len()).sum();
    Ok(ListedServers { servers, total, known: shelf.offered(), refused, registries })
}

/// Has the pictures of what is shown fetched meanwhile, where a person allowed pictures; one batch at a time.
fn pictures(hub: &Hub, shelf: &Shelf, servers: &[ListedServer]) {
    if hub.inner.options.passive || !hub.config().shows_pictures() {
        return;
    }
    let chosen = |server: &ListedServer| {
        let document = shelf.source(&server.name, None).ok()?.release.value();
        Some((server.name.clone(), icons::choose(&document)?))
    };
    let chosen: Vec<_> = servers.iter().filter_map(chosen).collect();
    let Some(turn) = known(hub).begin_pictures().filter(|_| !chosen.is_empty()) else { return };
    let hub = hub.clone();
    hub.clone().inner.life.spawn(async move {
        tokio::select! {
            () = super::icons::learn_listed(&hub, &chosen) => {}
            () = hub.inner.life.end().cancelled() => {}
        }
        drop(turn);
    });
}

/// Servers of these names or packages are here already, switched on or not.
struct Here {
    config: Arc<Config>,
    origins: Vec<(String, provenance::Provenance)>,
}

impl Here {
    fn of(hub: &Hub) -> Self {
        let config = hub.config();
        Self { origins: provenance::all(&config), config }
    }

    fn has(&self, name: &str, package: Option<&str>) -> bool {
        let runs = |entry: &Value| package.is_some_and(|package| runs(entry, package));
        let is_it = |server: &str| server == name || self.config.entry(server).is_some_and(runs);
        self.origins.iter().any(|(_, source)| source.name == name)
            || self.config.servers().keys().any(|server| is_it(server.as_str()))
    }

    /// Does a server's name, command or address have one of these names in it?
    fn goes_by(&self, names: &[String]) -> bool {
        let has = |text: &str| names.iter().any(|name| brand::identifies(text, name));
        let runs = |entry: &Value| {
            let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            args.chain(entry.get("command")).chain(entry.get("url")).filter_map(Value::as_str).any(has)
        };
        let servers = self.config.servers();
        servers
            .keys()
            .any(|server| has(server.as_str()) || self.config.entry(server.as_str()).is_some_and(runs))
    }
}

/// A server that fits the query and is not here. Where tools were found: only one that the query names as a product, while
/// nothing here goes by that name.
pub(super) fn suggested(hub: &Hub, query: &str, found: &[ToolPath]) -> Option<String> {
    let here = Here::of(hub);
    let named = known(hub).products().named(query);
    let is_named = !named.is_empty();
    let is_absent = |(product, names): &(&Product, Vec<String>)| {
        let is_here = here.has(&product.id, product.package.as_deref());
        !is_here && (found.is_empty() || is_missed(hub, &here, product, names, found))
    };
    let product = named.into_iter().find(is_absent).map(|(product, _)| product.id.clone());
    if is_named || !found.is_empty() {
        return product;
    }
    let shelf = shelf(hub);
    shelf.suggested(query, |name| here.has(name, shelf.bundled_package(name).as_deref()))
}

fn is_missed(hub: &Hub, here: &Here, product: &Product, names: &[String], found: &[ToolPath]) -> bool {
    !product.generic && !here.goes_by(names) && !hub.catalog().goes_by(names, found.iter())
}

/// Does this entry run this package in any version, or connect to this address?
fn runs(entry: &Value, package: &str) -> bool {
    let is_it = |word: &str| {
        let rest = word.trim_end_matches('/').strip_prefix(package.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '=']))
    };
    let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
    args.chain(entry.get("url")).filter_map(Value::as_str).any(is_it)
}

fn states(hub: &Hub) -> Vec<RegistryState> {
    let state = |registry: &Registry| {
        let kept = known(hub).of(&registry.url);
        RegistryState {
            url: registry.url.to_string().trim_end_matches('/').to_owned(),
            read_ms: kept.known.complete_ms,
            reading: kept.reading,
            trouble: kept.trouble.as_ref().map(ToString::to_string),
            refused: kept.known.refused.clone(),
        }
    };
    let mut states: Vec<RegistryState> = registries(&hub.config()).iter().map(state).collect();
    let config = hub.config();
    let in_force = config.registries();
    let written = config.as_written();
    let waits = written.registries().iter().filter(|source| !in_force.contains(source));
    states.extend(waits.map(|source| RegistryState {
        url: source.url.clone(),
        trouble: Some("nobody has accepted it yet: `satchel approve --settings` does".into()),
        ..RegistryState::default()
    }));
    states
}

fn details(hub: &Hub, name: &str, version: Option<&str>) -> Result<ServerDetails, Refusal> {
    let shelf = shelf(hub);
    let source = shelf.source(name, version).map_err(|near| unknown_listing(name, version, &near))?;
    let mut details = shelf.details(&source);
    let here = provenance::all(&hub.config());
    let same =
        |(_, one): &&(String, provenance::Provenance)| one.name == name && one.registry == source.registry;
    details.server.installed = here.iter().find(same).map(|(server, _)| server.clone());
    pictures(hub, &shelf, std::slice::from_ref(&details.server));
    Ok(details)
}

/// Installed servers and their state in their registries.
fn installed(hub: &Hub) -> Result<Vec<InstalledServer>, Refusal> {
    let shelf = shelf(hub);
    let config = hub.config();
    Ok(provenance::all(&config)
        .into_iter()
        .map(|(server, source)| update::state(&shelf, server, &source))
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::runs;

    #[test]
    fn a_package_is_known_in_every_version_and_an_address_with_or_without_its_last_slash() {
        for (entry, package, expected) in [
            (json!({ "command": "npx", "args": ["-y", "@a/b@1.0.0"] }), "@a/b", true),
            (json!({ "command": "uvx", "args": ["a==1.0"] }), "a", true),
            (json!({ "command": "npx", "args": ["-y", "@a/bc"] }), "@a/b", false),
            (json!({ "url": "https://mcp.linear.app/mcp/" }), "https://mcp.linear.app/mcp", true),
            (json!({ "url": "https://mcp.linear.app/mcp2" }), "https://mcp.linear.app/mcp", false),
            (json!({}), "a", false),
        ] {
            assert_eq!(runs(&entry, package), expected, "{entry}");
        }
    }
}
