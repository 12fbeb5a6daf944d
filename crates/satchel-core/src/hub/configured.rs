//! Holds the configuration in force, the queue of changes, the settings that a person accepted, and removed entries.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::{apply::Asked, settings::AcceptedSettings};
use crate::{config::Config, files::Places, icons::Icons, intake::house::Entries, setup::Following};

/// The configuration in effect.
#[derive(Debug)]
pub(super) struct Configured {
    in_force: watch::Sender<Arc<Config>>,
    changes: mpsc::Sender<Asked>,
    pub(super) accepted: AcceptedSettings,
    pub(super) entries: Entries,
    pub(super) following: Following,
    /// Icons of servers, if allowed.
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

    /// Subscribes to the configuration in effect.
    pub(super) fn follow(&self) -> watch::Receiver<Arc<Config>> {
        self.in_force.subscribe()
    }

    /// For `registry` only: replaces the configuration in effect and returns the previous one.
    pub(super) fn replace(&self, config: Arc<Config>) -> Arc<Config> {
        // An entry says which version is installed.
        self.entries.listings.touch();
        self.in_force.send_replace(config)
    }

    /// Queues a change.
    ///
    /// # Errors
    /// Returns the change if the hub is stopping.
    pub(super) async fn ask(&self, asked: Asked) -> Result<(), Asked> {
        self.changes.send(asked).await.map_err(|error| error.0)
    }
}
