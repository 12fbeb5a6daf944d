//! Broadcasts events to listeners, and counts how servers' lists are read.

use std::{collections::BTreeMap, time::Duration};

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::broadcast;

use crate::{
    catalog::versions::Diff,
    clock::now_ms,
    model::{
        ServerName,
        event::{Discovery, HubEvent},
    },
    upstream::EndReason,
};

/// Buffer per listener; a slower listener misses the oldest events.
const BACKLOG: usize = 1024;

/// Publishes live events. Unlike the snapshot and the history, they may be incomplete.
#[derive(Debug)]
pub struct Events {
    told: broadcast::Sender<HubEvent>,
    discoveries: Mutex<BTreeMap<ServerName, Discovery>>,
}

impl Default for Events {
    fn default() -> Self {
        Self { told: broadcast::Sender::new(BACKLOG), discoveries: Mutex::default() }
    }
}

impl Events {
    /// Subscribes to events from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<HubEvent> {
        self.told.subscribe()
    }

    /// Does anybody follow what happens?
    pub fn are_heard(&self) -> bool {
        self.told.receiver_count() > 0
    }

    /// Publishes an event.
    pub fn tell(&self, event: HubEvent) {
        // Usually nobody listens.
        let _ = self.told.send(event);
    }

    /// Statistics on reading the servers' lists.
    pub fn discoveries(&self) -> BTreeMap<ServerName, Discovery> {
        self.counts().clone()
    }

    /// Records that a server's lists were read, or failed with `error`.
    pub fn lists_read(&self, server: &ServerName, took: Duration, error: Option<EndReason>) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let name = server.to_string();
        let event = match error {
            None => {
                let mut counts = self.counts();
                let discovery = counts.entry(server.clone()).or_default();
                discovery.completed += 1;
                discovery.last_ms = Some(now_ms());
                discovery.last_took_ms = Some(took_ms);
                HubEvent::DiscoveryCompleted { server: name, took_ms }
            }
            Some(EndReason { message, cause }) => {
                let mut counts = self.counts();
                let discovery = counts.entry(server.clone()).or_default();
                discovery.failed += 1;
                discovery.last_error = Some(message.clone());
                HubEvent::DiscoveryFailed { server: name, message, cause: cause.map(|cause| *cause) }
            }
        };
        self.tell(event);
    }

    /// Publishes the differences between two tool lists of a server.
    pub fn tools_changed(&self, server: &ServerName, diff: &Diff<'_>) {
        {
            let mut counts = self.counts();
            let discovery = counts.entry(server.clone()).or_default();
            discovery.added += diff.added.len() as u64;
            discovery.removed += diff.removed.len() as u64;
            discovery.changed += diff.changed.len() as u64;
        }
        let name = |tool: &&str| (server.to_string(), (*tool).to_owned());
        for (server, tool) in diff.added.iter().map(name) {
            self.tell(HubEvent::ToolRegistered { server, tool });
        }
        for (server, tool) in diff.changed.iter().map(name) {
            self.tell(HubEvent::ToolChanged { server, tool });
        }
        for (server, tool) in diff.removed.iter().map(name) {
            self.tell(HubEvent::ToolRemoved { server, tool });
        }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<ServerName, Discovery>> {
        self.discoveries.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted_and_told_each_as_what_it_was() {
        let events = Events::default();
        let mut heard = events.subscribe();
        let server: ServerName = "s".parse().unwrap();
        events.lists_read(&server, Duration::from_millis(7), None);
        events.lists_read(&server, Duration::from_millis(9), Some("gone".into()));
        let counts = events.discoveries();
        assert_eq!((counts[&server].completed, counts[&server].failed), (1, 1));
        assert_eq!(counts[&server].last_took_ms, Some(7));
        assert_eq!(
            heard.try_recv().unwrap(),
            HubEvent::DiscoveryCompleted { server: "s".into(), took_ms: 7 }
        );
        let failed = HubEvent::DiscoveryFailed { server: "s".into(), message: "gone".into(), cause: None };
        assert_eq!(heard.try_recv().unwrap(), failed);
    }
}
