//! Decides whether a server may be started, with what of its packages, and wakes it to learn what it offers.

use std::{collections::BTreeSet, pin::Pin, sync::Arc, time::Duration};

use satchel_entry::template::{ProjectUse, Template, Values};

use super::{
    Hub, fresh_lists, instances, profiles, project, publish,
    servers::{Registered, RegisteredServer},
};
use crate::{
    model::{Code, ServerConfig, ServerName, Startup, TransportConfig, audit::AuditKind},
    platform::Environment,
    registry::fetched::{self, Fetched},
    tasks::Panicked,
    upstream::{LeaseError, Preflight, environment},
};

/// The pauses after which a server whose lists could not be read is started again for them: the computer may have been busy or
/// offline.
pub(super) const AGAIN: [Duration; 4] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(20 * 60),
    Duration::from_secs(60 * 60),
];

struct Variables<'a>(&'a Environment);

impl Values for Variables<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
    fn secret(&self, _name: &str) -> Option<String> {
        None
    }
}

/// An entry in the form that its upstream uses.
pub(super) fn as_started(hub: &Hub, name: &ServerName, config: &ServerConfig, held: bool) -> ServerConfig {
    let mut started = config.clone();
    // A command starts only what it needs, and a server in no used profile is not needed.
    let unwanted = || hub.inner.options.passive || profiles::is_unused(hub, name);
    // Without a session there is no folder to run in.
    let needs_folder = || project::uses(config) == ProjectUse::Needed;
    if started.startup == Startup::Eager && (unwanted() || needs_folder()) {
        started.startup = Startup::KeepAlive;
    }
    started.enabled &= !held;
    started
}

/// Allows a server to start when nothing of it is held back any more, or prevents it when something is.
pub(super) async fn follow_launch(hub: &Hub, name: &ServerName) {
    follow_launches(hub, std::slice::from_ref(name)).await;
}

/// The same for several servers, publishing once.
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
    hub.inner.configured.following.due.notify_one();
    hub.inner.faces.changed();
}

/// `None` if nothing changed.
fn hold_or_let_go(hub: &Hub, name: &ServerName) -> Option<(bool, TransportConfig)> {
    let hold = |known: &mut RegisteredServer| {
        // Judge the entry that would start, which may have changed in the meantime.
        let held = hub.inner.review.holds_start(name, &known.config);
        if known.held == held {
            return None;
        }
        known.held = held;
        known.upstream.configure(as_started(hub, name, &known.config, held));
        Some((held, known.config.transport.clone()))
    };
    let changed = hub.inner.servers.change(name, hold)??;
    let others = hub.servers().get(name).map(|known| known.instances.clone());
    if let Some(others) = others.filter(|_| changed.0) {
        instances::end_all(hub, others.take_all());
    }
    Some(changed)
}

/// Starts a server if its lists were never read, so that its tools can be found; again after pauses if that fails. A
/// passive hub starts only what the command needs.
pub(super) fn learn(hub: &Hub, name: &ServerName) {
    if !hub.inner.options.passive && is_unread(hub, name) && !needs_folder(hub, name) {
        let (owned, name) = (hub.clone(), name.clone());
        hub.inner.life.spawn(async move { read_first(&owned, &name, &AGAIN).await });
    }
}

/// Can the next start succeed before a person changes something? A request that changes it calls [`learn`].
fn may_pass(error: &LeaseError) -> bool {
    match error {
        LeaseError::Failed(failure) | LeaseError::Waiting { failure, .. } => !matches!(
            failure.code,
            Code::NeedsCredential | Code::NeedsSignIn | Code::ConfigInvalid | Code::HeldBack | Code::Deleted
        ),
        LeaseError::StillStarting { .. } => true,
        LeaseError::Off | LeaseError::Manual | LeaseError::GivenUp | LeaseError::Closing => false,
    }
}

/// The servers that were never read and run only in the folder of a session.
pub(super) fn unread_in_folders(hub: &Hub) -> Vec<ServerName> {
    let names: Vec<ServerName> = hub.servers().keys().cloned().collect();
    names.into_iter().filter(|name| needs_folder(hub, name) && is_unread(hub, name)).collect()
}

/// It cannot be read without a session.
fn needs_folder(hub: &Hub, name: &ServerName) -> bool {
    hub.servers().get(name).is_some_and(|server| server.sharing.needs_folder())
}

/// Reads the lists of every server that was never read, for a command that shows them without a running hub.
pub(super) async fn learn_all(hub: &Hub) {
    let names: Vec<ServerName> = hub.servers().keys().cloned().collect();
    let names = names.into_iter().filter(|name| is_unread(hub, name) && !needs_folder(hub, name));
    let reading = names.map(|name| {
        let owned = hub.clone();
        hub.inner.life.spawn(async move { read_first(&owned, &name, &[]).await })
    });
    for read in reading.collect::<Vec<_>>() {
        let _ = read.await;
    }
}

/// Excludes servers that only a person starts.
fn is_unread(hub: &Hub, name: &ServerName) -> bool {
    let wanted = |server: &Registered| {
        server.config.enabled && !server.held && server.config.startup != Startup::Manual
    };
    hub.servers().get(name).is_some_and(wanted) && !hub.offers().contains_key(name)
}

/// Starts a server for its lists, and after each of these pauses again. Its state reports the failures.
async fn read_first(hub: &Hub, name: &ServerName, pauses: &[Duration]) {
    let Some(server) = hub.servers().get(name).cloned() else { return };
    let reading = async {
        let mut read = start_to_read(hub, name, &server).await;
        // One at a time for each server.
        let Ok(_alone) = server.unread.try_lock() else { return };
        for pause in pauses {
            if !read.is_err_and(|error| may_pass(&error)) {
                return;
            }
            tokio::time::sleep(*pause).await;
            if !is_unread(hub, name) {
                return;
            }
            read = start_to_read(hub, name, &server).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = server.end.cancelled() => {}
    }
}

async fn start_to_read(hub: &Hub, name: &ServerName, server: &Registered) -> Result<(), LeaseError> {
    let _turn = hub.inner.servers.learning.acquire().await;
    let lease = server.upstream.lease().await?;
    fresh_lists::first_lists(hub, name, &server.upstream, lease).await
}

/// The check before every start of this server.
pub(super) fn preflight(hub: &Hub, name: &ServerName) -> Preflight {
    let (owned, name) = (hub.clone(), name.clone());
    Preflight(Arc::new(move |transport| {
        let (owned, name, transport) = (owned.clone(), name.clone(), transport.clone());
        Box::pin(async move {
            if let Some(why) = withdrawn(&owned, &name) {
                return Err((Code::Deleted, why));
            }
            match fetched::is_kept(&transport) {
                true => look_at_packages(&owned, &name, transport).await.map_err(|why| (Code::HeldBack, why)),
                false => Ok(()),
            }
        })
    }))
}

/// Checks the fetched packages without waiting for a start, so that a command shows the result immediately.
pub(super) async fn look_soon(hub: &Hub, name: &ServerName, transport: &TransportConfig) {
    if !fetched::is_kept(transport) {
        return;
    }
    if hub.inner.options.passive {
        return look_again(hub, name, transport).await;
    }
    let (owned, name, transport) = (hub.clone(), name.clone(), transport.clone());
    hub.inner.life.spawn(async move {
        // One at a time: a hub starts with all of its servers at once.
        let _turn = owned.inner.servers.looking.acquire().await;
        look_again(&owned, &name, &transport).await;
    });
}

/// Checks again: what was wrong may have been fixed.
pub(super) async fn look_again(hub: &Hub, name: &ServerName, transport: &TransportConfig) {
    // What is held back is reported where it is found, and to callers that need the server.
    let _ = look_at_packages(hub, name, transport.clone()).await;
    follow_launch_again(hub, name).await;
}

/// Boxed, because following checks packages, which follows in turn.
fn follow_launch_again<'a>(
    hub: &'a Hub,
    name: &'a ServerName,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(follow_launch(hub, name))
}

/// Compares the fetched packages with the recorded digests, and records new ones.
///
/// # Errors
/// Why the server may not be started.
async fn look_at_packages(hub: &Hub, name: &ServerName, transport: TransportConfig) -> Result<(), String> {
    let owned = hub.clone();
    let fetched = hub.inner.life.tracker().spawn_blocking(move || fetched(&owned, &transport)).await;
    let fetched = fetched.map_err(|_| Panicked.to_string())?;
    let looked = hub.inner.review.look_at_packages(name, &fetched).await;
    if let Some(why) = looked.held.as_ref().filter(|_| looked.is_new) {
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

/// What this server's launcher has fetched for this entry.
pub(super) fn fetched(hub: &Hub, transport: &TransportConfig) -> Vec<Fetched> {
    let given = environment::passed_on(&hub.inner.around.environment);
    fetched::packages(&with_variables(hub, transport), |name| given.variable(name))
}

/// The entry with variables resolved but without secrets, which do not determine packages.
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

/// Credentials changed: servers that wait for one check again.
pub(super) fn renew(hub: &Hub) {
    let servers: Vec<_> = hub.servers().iter().map(|(name, known)| (name.clone(), known.clone())).collect();
    for (name, server) in servers {
        server.renew();
        learn(hub, &name);
    }
}

/// Why a server's registry entry stops it from starting; `None` if nothing does.
fn withdrawn(hub: &Hub, server: &ServerName) -> Option<String> {
    let why = hub.inner.configured.entries.listings.withdrawn(server.as_str())?;
    let server = server.in_shell();
    Some(format!(
        "{why}; `satchel uninstall {server}` removes it, `satchel update {server} --keep` keeps it running"
    ))
}
