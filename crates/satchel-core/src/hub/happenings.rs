//! Tells whoever listens what happens, and keeps count of how lists are read.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use satchel_mcp::RawObject;
use tokio::sync::broadcast;

use super::{Hub, view};
use crate::{
    catalog::{Offer, versions::Diff},
    model::{
        ServerName, TransportConfig,
        control::Refusal,
        happening::{DebugServer, DebugStatus, Discovery, Happening},
        trail::DeedKind,
    },
    trust::clean,
};

/// A listener that is further behind misses what is older.
const BACKLOG: usize = 1024;

/// What happened so far, and who wants to know what will.
#[derive(Debug)]
pub(super) struct Happenings {
    told: broadcast::Sender<Happening>,
    discoveries: Mutex<BTreeMap<ServerName, Discovery>>,
}

impl Default for Happenings {
    fn default() -> Self {
        Self { told: broadcast::Sender::new(BACKLOG), discoveries: Mutex::default() }
    }
}

impl Hub {
    /// Follows what happens from now on.
    pub fn happenings(&self) -> broadcast::Receiver<Happening> {
        self.inner.happenings.told.subscribe()
    }

    pub(super) fn tell(&self, happening: Happening) {
        // Nobody listens most of the time.
        let _ = self.inner.happenings.told.send(happening);
    }

    pub(super) fn tell_discovery(&self, server: &ServerName, took: Duration, error: Option<String>) {
        let mut discoveries =
            self.inner.happenings.discoveries.lock().unwrap_or_else(PoisonError::into_inner);
        let discovery = discoveries.entry(server.clone()).or_default();
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let server = server.to_string();
        let happening = match error {
            None => {
                discovery.completed += 1;
                discovery.last_ms = Some(crate::clock::now_ms());
                discovery.last_took_ms = Some(took_ms);
                Happening::DiscoveryCompleted { server, took_ms }
            }
            Some(message) => {
                discovery.failed += 1;
                discovery.last_error = Some(message.clone());
                Happening::DiscoveryFailed { server, message }
            }
        };
        drop(discoveries);
        self.tell(happening);
    }

    /// What is different between two offers of a server.
    pub(super) fn tell_tools(&self, server: &ServerName, before: Option<&Offer>, now: &Offer) {
        let diff = Diff::of(before.map(|before| before.tools.as_slice()).unwrap_or_default(), &now.tools);
        if diff.is_empty() {
            return;
        }
        {
            let mut discoveries =
                self.inner.happenings.discoveries.lock().unwrap_or_else(PoisonError::into_inner);
            let discovery = discoveries.entry(server.clone()).or_default();
            discovery.added += diff.added.len() as u64;
            discovery.removed += diff.removed.len() as u64;
            discovery.changed += diff.changed.len() as u64;
        }
        // The first list is no change.
        if before.is_some()
            && let Some(registered) = self.servers().get(server)
        {
            registered.upstream.log().hub(&clean::visible(&format!("its tools changed: {diff}")));
        }
        let name = |tool: &&str| (server.to_string(), (*tool).to_owned());
        for (server, tool) in diff.added.iter().map(name) {
            self.tell(Happening::ToolRegistered { server, tool });
        }
        for (server, tool) in diff.changed.iter().map(name) {
            self.tell(Happening::ToolChanged { server, tool });
        }
        for (server, tool) in diff.removed.iter().map(name) {
            self.tell(Happening::ToolRemoved { server, tool });
        }
    }

    /// A server that runs whichever version is newest says that it is another one than before.
    pub(super) fn tell_version(&self, server: &ServerName, before: Option<&Offer>, now: &Offer) {
        let version = |offer: &Offer| {
            let info = RawObject::parse(&offer.hello.as_ref()?.server_info).ok()?;
            info.text("version")
        };
        let (Some(before), Some(now)) = (before.and_then(version), version(now)) else { return };
        if before != now {
            let told = clean::visible(&format!("says that it is version {now}; before it was {before}"));
            self.did(DeedKind::Started, "", server.as_str(), &*told);
            if let Some(registered) = self.servers().get(server) {
                registered.upstream.log().hub(&told);
            }
        }
    }

    /// The inside of this hub.
    ///
    /// # Errors
    /// A [`Refusal`] where the configuration switches it off.
    pub fn debug_status(&self) -> Result<DebugStatus, Refusal> {
        if !self.inner.config.borrow().debug_status() {
            let message = "the debug status is switched off";
            let action = "Set \"debugStatus\": true in the configuration, or remove it.";
            return Err(Refusal::new("switched_off", message, action));
        }
        let mut status = DebugStatus {
            pid: std::process::id(),
            free_calls: self.inner.calls.free(),
            ..DebugStatus::default()
        };
        let servers: Vec<_> =
            self.servers().iter().map(|(name, server)| (name.clone(), server.clone())).collect();
        let discoveries =
            self.inner.happenings.discoveries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (name, server) in servers {
            let seen = server.upstream.seen();
            let offer = self.offers().get(&name).cloned();
            let transport = match &server.config.transport {
                TransportConfig::Stdio { .. } => "stdio",
                TransportConfig::Http { .. } => "http",
            };
            let tools = offer.as_ref().map(|offer| offer.tools.len());
            let state = view::state(&seen, &server.config.transport).name().to_owned();
            if server.config.enabled {
                *status.tools_by_transport.entry(transport.to_owned()).or_default() += tools.unwrap_or(0);
            }
            *status.servers_by_state.entry(state.clone()).or_default() += 1;
            status.servers.push(DebugServer {
                name: name.to_string(),
                transport: transport.to_owned(),
                state,
                pid: seen.pid,
                revision: seen.connected.as_ref().map(|(_, hello)| hello.revision.clone()),
                tools,
                skipped: offer.as_ref().map_or(0, |offer| offer.skipped.len()),
                starts: seen.starts,
                restarts: seen.restarts,
                failures: seen.failures,
                discovery: discoveries.get(&name).cloned().unwrap_or_default(),
            });
        }
        Ok(status)
    }
}
