//! Detects the protocol family of a request, and what its answer must carry.

use satchel_mcp::{
    era::{Era, VERSION_META},
    errors,
    meta::{CAPABILITIES, SERVER},
};
use serde_json::{Map, Value, json};

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

/// Detects the era from the request itself: both kinds can be used over one pipe. Requests of a session name no revision.
pub(crate) fn of(params: &Value) -> Result<Era, RequestError> {
    let meta = &params["_meta"];
    let Some(requested) = meta.get(VERSION_META) else { return Ok(Era::SESSION) };
    let era = requested.as_str().and_then(Era::of).filter(|era| era.is_stateless());
    let era = era.ok_or_else(|| RequestError {
        code: errors::UNSUPPORTED_PROTOCOL_VERSION,
        message: "this protocol version is not supported".into(),
        data: Some(json!({"supported": Era::stateless_revisions(), "requested": requested})),
    })?;
    match meta[CAPABILITIES].is_object() {
        true => Ok(era),
        false => Err(RequestError::params(format!("_meta must carry \"{CAPABILITIES}\" as an object"))),
    }
}

/// Adds this era's required fields to a result, and cache hints if the method has them.
pub(crate) fn dress(era: Era, mut result: Map<String, Value>, cacheable: bool) -> Value {
    if era.is_stateless() {
        result.insert("resultType".into(), "complete".into());
        result.insert("_meta".into(), json!({SERVER: server_info()}));
        if cacheable {
            result.insert("ttlMs".into(), TTL_MS.into());
            result.insert("cacheScope".into(), "public".into());
        }
    }
    Value::Object(result)
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
        let named = |revision: &str| json!({"_meta": {VERSION_META: revision, CAPABILITIES: {}}});
        for revision in Era::stateless_revisions() {
            assert_eq!(of(&named(revision)).map(Era::revision), Ok(revision));
        }
        for session in [Value::Null, json!({}), json!({"_meta": {"progressToken": 1}})] {
            assert_eq!(of(&session), Ok(Era::SESSION));
        }
        let refusal = of(&named("2999-01-01")).unwrap_err();
        assert_eq!(refusal.code, -32022);
        let expected = json!({"supported": Era::stateless_revisions(), "requested": "2999-01-01"});
        assert_eq!(refusal.data, Some(expected));
        let bare = json!({"_meta": {VERSION_META: Era::STATELESS.revision()}});
        assert_eq!(of(&bare).unwrap_err().code, -32602);
    }
}
