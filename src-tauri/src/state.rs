//! The hub's state for window and tray: one value, sent as a whole at every change.

use std::sync::Arc;

use satchel_core::model::{Snapshot, control::Refusal};
use serde::{Serialize, Serializer};

/// Has a value for unknown: what has not been reported is neither zero nor fine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "hub", rename_all = "snake_case")]
pub(crate) enum HubState {
    /// Being opened.
    Opening,
    /// Serving.
    Open {
        #[serde(serialize_with = "inner")]
        #[cfg_attr(test, ts(type = "Snapshot"))]
        snapshot: Arc<Snapshot>,
        /// The last refused switch, until one succeeds.
        refused: Option<Refused>,
    },
    /// Another program uses this data directory.
    Held { pid: Option<u32>, url: Option<String> },
    /// It could not be opened.
    Stopped { message: String },
}

/// A server's switch that was refused, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Refused {
    pub(crate) server: String,
    #[cfg_attr(test, ts(type = "Refusal"))]
    pub(crate) refusal: Refusal,
}

impl HubState {
    /// The snapshot of a serving hub.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            HubState::Open { snapshot, .. } => Some(snapshot),
            HubState::Opening | HubState::Held { .. } | HubState::Stopped { .. } => None,
        }
    }

    /// The endpoint's address, whichever process serves there.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        match self {
            HubState::Open { snapshot, .. } => snapshot.endpoint.as_deref(),
            HubState::Held { url, .. } => url.as_deref(),
            HubState::Opening | HubState::Stopped { .. } => None,
        }
    }
}

fn inner<S: Serializer>(snapshot: &Arc<Snapshot>, serializer: S) -> Result<S::Ok, S::Error> {
    snapshot.as_ref().serialize(serializer)
}
