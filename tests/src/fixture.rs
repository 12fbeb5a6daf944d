//! The conformance suite's fixture server from a test's side.

use serde_json::{Value, json};

use crate::{FakeHttp, Home, fake::listening, program};

/// Every revision with `initialize`, in the fixture's format.
pub const LEGACY: &str = "2024-11-05,2025-03-26,2025-06-18,2025-11-25";
/// The revision without sessions.
pub const MODERN: &str = "2026-07-28";

/// The `mcpServers` entry of a stdio fixture that supports these revisions.
pub fn fixture(revisions: &str) -> Value {
    json!({ "command": program("fixture-mcp-server"), "args": ["--revisions", revisions] })
}

impl Home {
    /// Starts a fixture for Streamable HTTP that supports these revisions.
    pub async fn start_http_fixture(&self, revisions: &str) -> FakeHttp {
        let mut command = self.command(program("fixture-mcp-server"));
        command.args(["--http", "--revisions", revisions]);
        listening(command).await
    }
}
