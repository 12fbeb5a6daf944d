//! Detects the protocol family of a request, and what its answer must carry.

use serde_json::{Map, Value, json};

/// Revisions that open with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Revisions with self-describing requests.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// How long a client may cache what never changes while this process runs: an hour.
const TTL_MS: u64 = 3_600_000;

/// A JSON-RPC error.
#[derive(Debug, PartialEq)]
pub(crate) struct RequestError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl RequestError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("there is no method \"{method}\" here"))
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }
}

/// The era of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Opened by `initialize`.
    Legacy,
    /// Describes itself in `_meta`.
    Modern,
}

impl Era {
    /// Detects the era from the request itself: both can be used over one pipe.
    pub(crate) fn of(params: &Value) -> Result<Self, RequestError> {
        let meta = &params["_meta"];
        let Some(requested) = meta.get(PROTOCOL_VERSION) else { return Ok(Era::Legacy) };
        if !requested.as_str().is_some_and(|version| MODERN.contains(&version)) {
            return Err(RequestError {
                code: -32022,
                message: "this protocol version is not supported".into(),
                data: Some(json!({"supported": MODERN, "requested": requested})),
            });
        }
        if !meta[CLIENT_CAPABILITIES].is_object() {
            return Err(RequestError::params(format!(
                "_meta must carry \"{CLIENT_CAPABILITIES}\" as an object"
            )));
        }
        Ok(Era::Modern)
    }

    /// Adds this era's required fields to a result, and cache hints if the method has them.
    pub(crate) fn dress(self, mut result: Map<String, Value>, cacheable: bool) -> Value {
        if self == Era::Modern {
            result.insert("resultType".into(), "complete".into());
            result.insert("_meta".into(), json!({SERVER_INFO: server_info()}));
            if cacheable {
                result.insert("ttlMs".into(), TTL_MS.into());
                result.insert("cacheScope".into(), "public".into());
            }
        }
        Value::Object(result)
    }
}

/// The server info, in the form of both eras.
pub(crate) fn server_info() -> Value {
    json!({"name": "satchel-toolbox", "title": "Toolbox", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_era_is_read_from_the_request() {
        let modern = json!({"_meta": {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}}});
        assert_eq!(Era::of(&modern), Ok(Era::Modern));
        for legacy in [Value::Null, json!({}), json!({"_meta": {"progressToken": 1}})] {
            assert_eq!(Era::of(&legacy), Ok(Era::Legacy));
        }
        let future = json!({"_meta": {PROTOCOL_VERSION: "2999-01-01", CLIENT_CAPABILITIES: {}}});
        let refusal = Era::of(&future).unwrap_err();
        assert_eq!(refusal.code, -32022);
        assert_eq!(refusal.data, Some(json!({"supported": ["2026-07-28"], "requested": "2999-01-01"})));
        let bare = json!({"_meta": {PROTOCOL_VERSION: "2026-07-28"}});
        assert_eq!(Era::of(&bare).unwrap_err().code, -32602);
    }
}
