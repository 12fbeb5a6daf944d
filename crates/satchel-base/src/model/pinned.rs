//! Types for pinned tools: those that clients list beside Satchel's own at `/mcp`.

use serde::{Deserialize, Serialize};

/// Maximum number of pinned tools that one client lists.
pub const MOST: usize = 20;

/// A pinned tool, and whose lists have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct PinnedTool {
    /// Its path, with its own name on its server.
    pub tool: String,
    /// Only in this client's lists; `None` for every client's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub client: Option<String>,
    /// Only where this profile applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub profile: Option<String>,
}

/// A pinned tool as faces show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PinnedView {
    /// The tool, and whose lists have it.
    pub pin: PinnedTool,
    /// Its path as lists show it; `None` if no server offers it at present.
    pub path: Option<String>,
}
