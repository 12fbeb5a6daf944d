//! Events for live listeners, and the diagnostics that a hub reports about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cause::{FailureCause, if_known};

/// A live event. Events are not stored: a listener that connects later misses them; the snapshot and the history are
/// complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HubEvent {
    /// A server offers a new tool.
    ToolRegistered {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A tool's definition changed.
    ToolChanged {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A tool is no longer offered.
    ToolRemoved {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A server's lists were read.
    DiscoveryCompleted {
        /// The server.
        server: String,
        /// How long that took, in milliseconds.
        took_ms: u64,
    },
    /// A server's lists could not be read.
    DiscoveryFailed {
        /// The server.
        server: String,
        /// Why.
        message: String,
        /// The same in parts, where it has some.
        #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
        cause: Option<FailureCause>,
    },
    /// A server changed its state.
    ServerState {
        /// The server.
        server: String,
        /// The new state's name, as in the snapshot.
        state: String,
    },
    /// A call finished.
    Call {
        /// The client.
        client: String,
        /// The server; empty if unknown.
        server: String,
        /// The tool, or the name of a meta-tool.
        tool: String,
        /// Its outcome, as in the history.
        outcome: String,
        /// How long it took, in milliseconds.
        took_ms: f64,
    },
}

/// Internals of the hub.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DebugStatus {
    /// The hub's own process.
    pub pid: u32,
    /// Number of available tools by transport: `stdio` or `http`.
    pub tools_by_transport: BTreeMap<String, usize>,
    /// Number of servers by the name of their state.
    pub servers_by_state: BTreeMap<String, usize>,
    /// How many more calls may be started now.
    pub free_calls: usize,
    /// Every server.
    pub servers: Vec<DebugServer>,
}

/// Internals of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DebugServer {
    /// Its name.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// Its state's name.
    pub state: String,
    /// Its process id.
    pub pid: Option<u32>,
    /// Its protocol revision, while connected.
    pub revision: Option<String>,
    /// Number of its tools, if its list was read.
    pub tools: Option<usize>,
    /// Number of tools that were left out.
    pub skipped: usize,
    /// How often it was started.
    pub starts: u64,
    /// Starts that followed a failure.
    pub restarts: u64,
    /// Consecutive failed starts.
    pub failures: u32,
    /// Statistics on reading its lists.
    pub discovery: Discovery,
}

/// Statistics on reading a server's lists since the hub started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Discovery {
    /// Number of successes.
    pub completed: u64,
    /// Number of failures.
    pub failed: u64,
    /// When it last succeeded, in milliseconds since the Unix epoch.
    pub last_ms: Option<u64>,
    /// How long that took, in milliseconds.
    pub last_took_ms: Option<u64>,
    /// Number of tools that were added, over all reads; the first read counts every tool.
    #[serde(default)]
    pub added: u64,
    /// Number of tools that were removed.
    #[serde(default)]
    pub removed: u64,
    /// Number of tools whose definition changed.
    #[serde(default)]
    pub changed: u64,
    /// The last error.
    pub last_error: Option<String>,
}
