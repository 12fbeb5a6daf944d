//! Decides whether a server may be started, with what of its packages, and wakes it to learn what it offers.

use std::{collections::BTreeSet, pin::Pin, sync::Arc};

use super::{
    Hub, lists, profiles, publish,
    servers::{Registered, RegisteredServer},
};
use crate::{
    config::expand::{Template, Values},
    model::{ServerConfig, ServerName, Startup, TransportConfig, audit::AuditKind},
    platform::Environment,
    registry::fetched::{self, Fetched},
    tasks::Panicked,
    upstream::{Preflight, environment},
};

struct Variables<'a>(&'a Environment);

impl Values for Variables<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
    fn secret(&self, _name: &str) -> Option<String> {
        None
    }
}

/// An entry as its upstream gets it.
pub(super) fn as_started(hub: &Hub, name: &ServerName, config: &ServerConfig, held: bool) -> ServerConfig {
    let mut started = config.clone();
    // One command starts only what it asks for; and nobody needs what no profile in use has.
    let unwanted = || hub.inner.options.passive || profiles::is_unused(hub, name);
    if started.startup == Startup::Eager && unwanted() {
        started.startup = Startup::KeepAlive;
    }
    started.enabled &= !held;
    started
}

/// Lets a server be started that nothing is held back of any more, and keeps it from being started where something is.
pub(super) async fn follow_launch(hub: &Hub, name: &ServerName) {
    follow_launches(hub, std::slice::from_ref(name)).await;
}

/// The same for several, with one catalog.
pub(super) async fn follow_launches(hub: &Hub, names: &[ServerName]) {
    let follow = |name| Some((name, hold_or_let_go(hub, name)?));
    let followed: Vec<_> = names.iter().filter_map(follow).collect();
    if followed.is_empty() {
        return;
    }
    publish::publish_catalog(hub).await;
    for (name, (held, transport)) in followed {
        if !held {
            look_soon(hub, name, &transport).await;
            learn(hub, name);
        }
    }
    hub.inner.faces.changed();
}

/// `None` where nothing is different from before.
fn hold_or_let_go(hub: &Hub, name: &ServerName) -> Option<(bool, TransportConfig)> {
    let hold = |known: &mut RegisteredServer| {
        // Judged by the entry that would be started, which may be another one by now.
        let held = hub.inner.review.holds_start(name, &known.config);
        if known.held == held {
            return None;
        }
        known.held = held;
        known.upstream.configure(as_started(hub, name, &known.config, held));
        Some((held, known.config.transport.clone()))
    };
    hub.inner.servers.change(name, hold)?
}

/// Wakes a server whose lists were never read, once, so that it can be found. In a passive hub only what the
/// command needs is started.
pub(super) fn learn(hub: &Hub, name: &ServerName) {
    if !hub.inner.options.passive && is_unread(hub, name) {
        let (owned, name) = (hub.clone(), name.clone());
        hub.inner.life.spawn(async move { read_first(&owned, &name).await });
    }
}

/// Reads the lists of every server that was never read, for a command that shows them without a running hub.
pub(super) async fn learn_all(hub: &Hub) {
    let names: Vec<ServerName> = hub.servers().keys().filter(|name| is_unread(hub, name)).cloned().collect();
    let reading = names.into_iter().map(|name| {
        let owned = hub.clone();
        hub.inner.life.spawn(async move { read_first(&owned, &name).await })
    });
    for read in reading.collect::<Vec<_>>() {
        let _ = read.await;
    }
}

/// Never a server that only a person starts.
fn is_unread(hub: &Hub, name: &ServerName) -> bool {
    let wanted = |server: &Registered| {
        server.config.enabled && !server.held && server.config.startup != Startup::Manual
    };
    hub.servers().get(name).is_some_and(wanted) && !hub.offers().contains_key(name)
}

async fn read_first(hub: &Hub, name: &ServerName) {
    let Some(server) = hub.servers().get(name).cloned() else { return };
    let reading = async {
        let _turn = hub.inner.servers.learning.acquire().await;
        if let Ok(lease) = server.upstream.lease().await {
            // What is wrong with it is told by its state.
            let _ = lists::first_lists(hub, name, &server.upstream, lease).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = server.end.cancelled() => {}
    }
}

/// What is asked whenever this server is started.
pub(super) fn preflight(hub: &Hub, name: &ServerName) -> Preflight {
    let (owned, name) = (hub.clone(), name.clone());
    Preflight(Arc::new(move |transport| {
        let (owned, name, transport) = (owned.clone(), name.clone(), transport.clone());
        Box::pin(async move {
            if let Some(why) = withdrawn(&owned, &name) {
                return Err(why);
            }
            match fetched::is_kept(&transport) {
                true => look_at_packages(&owned, &name, transport).await,
                false => Ok(()),
            }
        })
    }))
}

/// Looks at what is here already, without waiting for a start. One command sees it at once.
pub(super) async fn look_soon(hub: &Hub, name: &ServerName, transport: &TransportConfig) {
    if !fetched::is_kept(transport) {
        return;
    }
    if hub.inner.options.passive {
        return look_again(hub, name, transport).await;
    }
    let (owned, name, transport) = (hub.clone(), name.clone(), transport.clone());
    hub.inner.life.spawn(async move {
        // One after the other: a hub begins with all of its servers.
        let _turn = owned.inner.servers.looking.acquire().await;
        look_again(&owned, &name, &transport).await;
    });
}

/// Looks at what is here now: what was wrong may have been put right.
pub(super) async fn look_again(hub: &Hub, name: &ServerName, transport: &TransportConfig) {
    // What is held back is told where it is found, and whoever wants the server started is told as well.
    let _ = look_at_packages(hub, name, transport.clone()).await;
    follow_launch_again(hub, name).await;
}

/// Following looks at packages in turn, which follows.
fn follow_launch_again<'a>(
    hub: &'a Hub,
    name: &'a ServerName,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(follow_launch(hub, name))
}

/// Compares what is here with what is remembered, and remembers what is new.
///
/// # Errors
/// Why it may not be started.
async fn look_at_packages(hub: &Hub, name: &ServerName, transport: TransportConfig) -> Result<(), String> {
    let owned = hub.clone();
    let fetched = hub.inner.life.tracker().spawn_blocking(move || fetched(&owned, &transport)).await;
    let fetched = fetched.map_err(|_| Panicked.to_string())?;
    let looked = hub.inner.review.look_at_packages(name, &fetched).await;
    if let Some(why) = looked.held.as_ref().filter(|_| looked.is_news) {
        tell_look(hub, name, AuditKind::Held, "satchel", format!("held back: {why}"));
    }
    for line in looked.fetched {
        tell_look(hub, name, AuditKind::Started, "", line);
    }
    looked.held.map_or(Ok(()), Err)
}

fn tell_look(hub: &Hub, name: &ServerName, kind: AuditKind, who: &str, line: String) {
    if let Some(server) = hub.servers().get(name) {
        server.upstream.log().hub(&line);
    }
    hub.did(kind, who, name.as_str(), line);
}

/// What this server's launcher has here for this entry.
pub(super) fn fetched(hub: &Hub, transport: &TransportConfig) -> Vec<Fetched> {
    let given = environment::passed_on(&hub.inner.around.environment);
    fetched::packages(&with_variables(hub, transport), |name| given.variable(name))
}

/// The entry as it is started, but for secrets: they say nothing of packages.
fn with_variables(hub: &Hub, transport: &TransportConfig) -> TransportConfig {
    let mut transport = transport.clone();
    if let TransportConfig::Stdio { args, env, .. } = &mut transport {
        let variables = Variables(&hub.inner.around.environment);
        for text in args.iter_mut().chain(env.values_mut()) {
            *text = Template::parse(text).fill(&variables, &mut BTreeSet::new());
        }
    }
    transport
}

/// Credentials changed: servers that wait for some look again.
pub(super) fn renew(hub: &Hub) {
    let servers: Vec<_> =
        hub.servers().iter().map(|(name, known)| (name.clone(), known.upstream.clone())).collect();
    for (name, upstream) in servers {
        upstream.renew();
        learn(hub, &name);
    }
}

/// Why a server is not started any more; `None` where its registry has nothing against it.
fn withdrawn(hub: &Hub, server: &ServerName) -> Option<String> {
    let why = hub.inner.configured.entries.listings.withdrawn(server.as_str())?;
    Some(format!(
        "{why}; `satchel uninstall {server}` removes it, `satchel update {server} --keep` lets it go on"
    ))
}
