//! What all servers of a hub share: directories, secrets, sign-ins, and where their notifications and records go.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use super::{
    container::Engines, ending::Ending, environment::SearchPath, oauth::accounts::Accounts, peer::Peers,
    watchdog::Watchdog,
};
use crate::{
    files::Places,
    model::ServerName,
    platform::{Environment, descriptors::Descriptors},
    secrets::Secrets,
    stats::audit::AuditSink,
};

/// State shared by all upstreams of a hub.
#[derive(Debug)]
pub struct Surroundings {
    /// The directories, for logs.
    pub places: Places,
    /// The secret store.
    pub secrets: Secrets,
    /// The sign-ins.
    pub accounts: Accounts,
    /// The program to start where the configuration says `satchel`.
    pub own_program: PathBuf,
    /// Knows every process.
    pub watchdog: Watchdog,
    /// The hub's own environment at its start.
    pub environment: Environment,
    /// Whose the connections of clients are.
    pub peers: Peers,
    /// How many files the hub may have open, and its servers.
    pub descriptors: Descriptors,
    /// Where programs are searched.
    pub search_path: SearchPath,
    /// What runs containers.
    pub engines: Engines,
    /// Shutdown waits for its tasks.
    pub tracker: TaskTracker,
    /// Whether the hub is shutting down.
    pub ending: Ending,
    /// Server notifications that belong to no call. A slow receiver misses the oldest.
    pub notifications: broadcast::Sender<ServerNotification>,
    /// Records every start and every secret that is read.
    pub audit: AuditSink,
}

/// A server notification that belongs to no call.
#[derive(Debug, Clone)]
pub struct ServerNotification {
    /// The server.
    pub server: ServerName,
    /// The number of the instance that sent it, if it is one that not all callers share.
    pub instance: Option<u64>,
    /// Its method.
    pub method: Arc<str>,
    /// Its parameters, unchanged.
    pub params: Option<Arc<str>>,
}
