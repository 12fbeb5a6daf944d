//! Chooses the instance of a server for a caller, and makes it where the caller has none of its own yet. Each instance is
//! started by its first call, sleeps by its own idle time, and ends with the session that it belongs to. One that needs a
//! folder runs in no other than its session's.

use std::{sync::Arc, time::Duration};

use super::{
    Hub,
    context::CallContext,
    failure::CallFailure,
    instances::{self, Callers, Instance, MOST, NoInstance, Owner},
    launch,
    project::{self, NoFolder},
    refresh,
    scope::SessionMark,
    servers::{Registered, RegisteredServer},
};
use crate::{
    model::{Code, ServerConfig, ServerName, Startup, TransportConfig, server::Share},
    upstream::{Roots, setup_of},
};

/// The server as this caller uses it: with an instance of its own, where not all share one.
///
/// # Errors
/// A [`CallFailure`] if all instances have calls in flight, or the server needs a folder and the caller works in none.
pub(super) async fn own(
    hub: &Hub,
    name: &ServerName,
    server: &Registered,
) -> Result<Registered, CallFailure> {
    let sharing = server.sharing;
    let folder = match sharing.is_by_folder() {
        true => project::folder(hub).await,
        false => Err(NoFolder::Unnamed),
    };
    if let Err(why) = &folder
        && sharing.needs_folder()
    {
        return Err(without_folder(name, why));
    }
    let Some(owner) = instances::owner(hub, sharing, folder.ok()) else { return Ok(server.clone()) };
    let waits_for_a_person = server.config.startup == Startup::Manual && !server.upstream.is_connected();
    if waits_for_a_person || hub.inner.around.ending.has_begun() {
        return Ok(server.clone());
    }
    let session = hub.context.scope.session();
    let of = server.instances.of(&owner, |others| make(hub, name, server, &owner, others));
    let (instance, gone) = match of {
        Ok(found) => found,
        Err(NoInstance::Ending) => return Ok(server.clone()),
        Err(NoInstance::Busy) => return Err(busy(name)),
    };
    if let Some(gone) = gone {
        let whose = gone.owner.told();
        gone.upstream.log().hub(&format!(
            "ended: at most {MOST} instances run at a time, and {whose}'s was unused for longest"
        ));
        instances::end(hub, gone);
    }
    // What all in a folder share and keeps nothing open may sleep.
    let stays = owner.client().is_some() || sharing.keeps.is_some();
    if let Some(session) = session.filter(|session| stays && instance.attend(session)) {
        instance.upstream.configure(as_run(server, &instance));
        follow_session(hub, name, server, &instance, session);
    }
    Ok(with(server, instance))
}

/// The same, if the caller's instance exists already.
pub(super) fn present(hub: &Hub, server: &Registered) -> Option<Registered> {
    match instances::known_owner(hub, server.sharing) {
        Some(owner) => Some(with(server, server.instances.find(&owner)?)),
        None => (!server.sharing.needs_folder()).then(|| server.clone()),
    }
}

/// A server's entry changed, or who shares it: its instances follow.
pub(super) fn follow(hub: &Hub, name: &ServerName, before: Share) {
    let Some(server) = hub.servers().get(name).cloned() else { return };
    if server.sharing.share != before || !server.config.enabled || server.held {
        return instances::end_all(hub, server.instances.take_all());
    }
    for instance in server.instances.all() {
        instance.upstream.configure(as_run(&server, &instance));
    }
}

fn with(server: &Registered, instance: Arc<Instance>) -> Registered {
    let upstream = instance.upstream.clone();
    RegisteredServer { upstream, instance: Some(instance), ..RegisteredServer::clone(server) }.into()
}

fn make(hub: &Hub, name: &ServerName, server: &Registered, owner: &Owner, others: bool) -> Instance {
    let roots = roots_of(hub, owner);
    // It outlives the caller's request.
    let hub = &hub.with(CallContext::default());
    let number = hub.inner.servers.number();
    let mark = match owner.is_session() {
        true => format!("{} {number}", owner.told()),
        false => owner.told(),
    };
    let config = run_as(server, owner, others, false);
    let around = hub.inner.around.clone();
    let preflight = launch::preflight(hub, name);
    let upstream = server.upstream.another(name.clone(), (number, roots), config, preflight, &mark, around);
    let end = server.end.child_token();
    let setup = setup_of(&server.config.transport);
    refresh::follow_instance(hub, name, &upstream, setup, end.clone());
    Instance::new(owner.clone(), number, upstream, others, end)
}

/// The folders that an instance may know: its own, or those of its session. Several sessions of a client may work in others.
fn roots_of(hub: &Hub, owner: &Owner) -> Roots {
    let folder = owner.folder.clone();
    let own = move || folder.as_deref().map(|folder| vec![project::uri_of(folder)]);
    match owner.callers {
        Callers::InFolder | Callers::Client(_) => Roots(Arc::new(own)),
        Callers::Session(..) => {
            let listed = hub.context.scope.listed();
            let uris = move || Some(listed.get()?.iter().map(|folder| project::uri_of(folder)).collect());
            Roots(Arc::new(move || uris().or_else(&own)))
        }
    }
}

/// An instance's entry in the form that its upstream uses.
fn as_run(server: &RegisteredServer, instance: &Instance) -> ServerConfig {
    run_as(server, &instance.owner, instance.beside_others, instance.is_attended())
}

fn run_as(server: &RegisteredServer, owner: &Owner, others: bool, attended: bool) -> ServerConfig {
    let mut config = server.config.clone();
    if let Some(folder) = &owner.folder {
        project::put(&mut config, folder);
    }
    config.enabled &= !server.held;
    // Only a call starts it, however the shared one is started.
    config.startup = Startup::Lazy;
    if attended {
        // What a session has open stays while the session is connected.
        config.idle_timeout = Duration::MAX;
    }
    if let Some(option) = server.sharing.beside_others.filter(|_| others)
        && let TransportConfig::Stdio { args, .. } = &mut config.transport
        && !args.iter().any(|arg| arg == option)
    {
        args.push(option.to_owned());
    }
    config
}

/// When the session ends, its instance ends; one that its client shares may then sleep.
fn follow_session(
    hub: &Hub,
    name: &ServerName,
    server: &Registered,
    instance: &Arc<Instance>,
    session: &Arc<SessionMark>,
) {
    let (hub, name, all) = (hub.with(CallContext::default()), name.clone(), server.instances.clone());
    let (instance, session) = (instance.clone(), session.clone());
    hub.inner.life.tracker().clone().spawn(async move {
        tokio::select! {
            () = session.ended() => {}
            () = instance.end.cancelled() => return,
            () = hub.inner.life.end().cancelled() => return,
        }
        if instance.owner.is_session() {
            instance.upstream.log().hub("ended with its session");
            all.remove(&instance);
            instances::end(&hub, instance);
        } else if instance.leave(&session)
            && let Some(server) = hub.servers().get(&name).cloned()
        {
            instance.upstream.configure(as_run(&server, &instance));
        }
    });
}

/// The failure of a call to a server that needs a folder.
fn without_folder(server: &ServerName, why: &NoFolder) -> CallFailure {
    let message = format!("\"{server}\" runs in the folder of a session, and this one has none: {why}");
    let action = "Open a folder in the client, name one (`satchel bridge --project DIR`, or the address /mcp/project/DIR), \
                  or write a default into the entry: ${project:-/path}.";
    CallFailure::not_sent(Some(server), Some(Code::ConfigInvalid), message, action.to_owned())
}

pub(super) fn busy(name: &ServerName) -> CallFailure {
    let message = format!("\"{name}\" has {MOST} instances, and all of them have calls in flight");
    let action =
        "Try again when one is answered, or let more callers share an instance (\"share\" in its entry).";
    CallFailure::not_sent(Some(name), None, message, action.to_owned())
}
