//! JSON-RPC errors as MCP uses them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The text was not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON was not a valid message.
pub const INVALID_REQUEST: i64 = -32600;
/// The method is not supported.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are invalid.
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// Legacy revisions: nothing at this URI (`2025-11-25/server/resources.mdx`).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// 2025-11-25: the user has to visit some addresses first (`client/elicitation.mdx`).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// 2026-07-28: a header is missing or does not match the body.
pub const HEADER_MISMATCH: i64 = -32020;
/// 2026-07-28: the server needs a capability that the client did not declare.
pub const MISSING_CAPABILITY: i64 = -32021;
/// 2026-07-28: the requested revision is not supported (`basic/index.mdx#error-codes`).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// Satchel's own, in the range reserved for implementations: the hub refused or could not finish a request.
pub const HUB_REFUSED: i64 = -32010;

/// An `error` member. `data` is kept unchanged.
#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ErrorObject {
    /// One of the codes above, or the server's own.
    pub code: i64,
    /// One sentence.
    pub message: String,
    /// Additional data of the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data.
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }
}
