//! Estimates the baseline for clients that search tool definitions themselves instead of putting all of them before the
//! model: tool names, plus the definitions of the tools they used.

/// A tool's name in such a client.
pub fn name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}
