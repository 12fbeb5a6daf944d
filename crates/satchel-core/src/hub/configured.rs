//! Holds the configuration in force, the queue of changes, the settings that a person accepted, and removed entries.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::{apply::Asked, server_entry::Entries, settings::AcceptedSettings};
use crate::{config::Config, files::Places, icons::Icons, setup::Following};

/// What the hub is configured to do.
#[derive(Debug)]
pub(super) struct Configured {
    in_force: watch::Sender<Arc<Config>>,
    changes: mpsc::Sender<Asked>,
    pub(super) accepted: AcceptedSettings,
    pub(super) entries: Entries,
    pub(super) following: Following,
    /// Pictures of servers, where they are allowed.
    pub(super) icons: Icons,
}

impl Configured {
    pub(super) fn new(
        places: &Places,
        in_force: watch::Sender<Arc<Config>>,
        changes: mpsc::Sender<Asked>,
    ) -> Self {
        Self {
            in_force,
            changes,
            accepted: AcceptedSettings::new(places),
            entries: Entries::new(&places.data),
            following: Following::open(&places.data),
            icons: Icons::new(&places.data),
        }
    }

    pub(super) fn now(&self) -> Arc<Config> {
        self.in_force.borrow().clone()
    }

    /// Follows what is in force.
    pub(super) fn follow(&self) -> watch::Receiver<Arc<Config>> {
        self.in_force.subscribe()
    }

    /// For `registry` alone: from now on this is in force. Answers what was before.
    pub(super) fn replace(&self, config: Arc<Config>) -> Arc<Config> {
        self.in_force.send_replace(config)
    }

    /// Has a change made when it is its turn.
    ///
    /// # Errors
    /// The change comes back where the hub is ending.
    pub(super) async fn ask(&self, asked: Asked) -> Result<(), Asked> {
        self.changes.send(asked).await.map_err(|error| error.0)
    }
}
