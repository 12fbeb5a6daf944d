//! Events for live listeners, and the diagnostics that a hub reports about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Something that happened. Whoever was not listening has missed it; the snapshot and the history are complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HubEvent {
    /// A server offers a tool that it did not offer before.
    ToolRegistered {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The definition of a tool is another one.
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
        /// How long that took.
        took_ms: u64,
    },
    /// A server's lists could not be read.
    DiscoveryFailed {
        /// The server.
        server: String,
        /// Why.
        message: String,
    },
    /// A server is in another state.
    ServerState {
        /// The server.
        server: String,
        /// The state's name, as in the snapshot.
        state: String,
    },
    /// A call is over.
    Call {
        /// Who asked.
        client: String,
        /// The server, where it is known.
        server: String,
        /// The tool, or one of the hub's own.
        tool: String,
        /// How it ended, as in the history.
        outcome: String,
        /// How long it took.
        took_ms: f64,
    },
}

/// The inside of a hub.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DebugStatus {
    /// The hub's own process.
    pub pid: u32,
    /// Tools on offer, by the way their servers are reached: `stdio` or `http`.
    pub tools_by_transport: BTreeMap<String, usize>,
    /// Servers by the name of their state.
    pub servers_by_state: BTreeMap<String, usize>,
    /// Calls that may still be started at the same time.
    pub free_calls: usize,
    /// Every server.
    pub servers: Vec<DebugServer>,
}

/// The inside of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DebugServer {
    /// Its name.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// Its state's name.
    pub state: String,
    /// Its process.
    pub pid: Option<u32>,
    /// The revision it speaks, while connected.
    pub revision: Option<String>,
    /// Tools it offers, where its list was read.
    pub tools: Option<usize>,
    /// Tools that were left out.
    pub skipped: usize,
    /// How often it was started.
    pub starts: u64,
    /// Starts that followed a failure.
    pub restarts: u64,
    /// Failed starts in a row.
    pub failures: u32,
    /// How its lists were read.
    pub discovery: Discovery,
}

/// How a server's lists were read since the hub started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Discovery {
    /// Times it worked.
    pub completed: u64,
    /// Times it failed.
    pub failed: u64,
    /// When it last worked, in milliseconds since the Unix epoch.
    pub last_ms: Option<u64>,
    /// How long that took, in milliseconds.
    pub last_took_ms: Option<u64>,
    /// Tools that were there for the first time, of all lists together; the first list is all of them.
    #[serde(default)]
    pub added: u64,
    /// Tools that were gone.
    #[serde(default)]
    pub removed: u64,
    /// Tools with another definition.
    #[serde(default)]
    pub changed: u64,
    /// Why it last failed.
    pub last_error: Option<String>,
}
