//! Protocol revisions and the two families they form (`2026-07-28/basic/versioning.mdx`).

/// Revisions opened by `initialize`, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The first stateless revision.
pub const MODERN: &str = "2026-07-28";
/// The revision of a client that sends no `MCP-Protocol-Version` header (`2025-06-18/basic/transports.mdx`).
pub const ASSUMED: &str = "2025-03-26";
/// The `_meta` key by which every modern request names its revision.
pub const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// The revision for the response to `initialize`: the requested one if supported, otherwise the newest.
pub fn negotiate(requested: &str) -> &'static str {
    LEGACY.iter().find(|revision| **revision == requested).copied().unwrap_or(LEGACY[0])
}

/// Is this a supported revision that opens with `initialize`?
pub fn is_legacy(revision: &str) -> bool {
    LEGACY.contains(&revision)
}

/// Does this revision have batches? Only one ever did (`2025-03-26/basic/index.mdx`).
pub fn has_batches(revision: &str) -> bool {
    revision == "2025-03-26"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_revision_is_taken_and_an_unknown_one_gets_our_newest() {
        for (requested, answer) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("x", "2025-11-25"),
        ] {
            assert_eq!(negotiate(requested), answer);
        }
    }
}
