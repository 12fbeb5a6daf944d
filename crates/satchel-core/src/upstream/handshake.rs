//! Opens a session with a server: `initialize`, then `notifications/initialized` (`2025-11-25/basic/lifecycle.mdx`).

use std::time::Duration;

use satchel_mcp::{ErrorObject, Raw, RawObject, era, errors};
use serde_json::json;

use super::{
    lifecycle::Failure,
    link::{CallError, Link},
};
use crate::model::Code;

/// What a server said of itself. The raw parts are as it wrote them.
#[derive(Debug, Clone)]
pub struct Hello {
    /// The revision both sides speak now.
    pub revision: String,
    /// Its `serverInfo`.
    pub server_info: Box<Raw>,
    /// Its `capabilities`.
    pub capabilities: RawObject,
    /// Its `instructions`.
    pub instructions: Option<String>,
}

impl Hello {
    /// Does it offer this list: `tools`, `resources` or `prompts`?
    pub fn offers(&self, list: &str) -> bool {
        self.capabilities.get(list).is_some_and(|value| value.get() != "null" && value.get() != "false")
    }
}

/// Asks for our newest legacy revision; the server may answer with an older one.
pub(super) async fn handshake(link: &Link, wait: Duration) -> Result<Hello, Failure> {
    let params = json!({
        "protocolVersion": era::LEGACY[0],
        "capabilities": {},
        "clientInfo": { "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") },
    });
    let params = serde_json::value::to_raw_value(&params).ok();
    let result = link.request("initialize", params, wait).await.map_err(|error| refused(&error))?;
    let hello = read(&result)?;
    link.notify("notifications/initialized", None);
    Ok(hello)
}

fn read(result: &Raw) -> Result<Hello, Failure> {
    let nonsense = |what: &str| failure(Code::HandshakeRefused, format!("its answer to initialize {what}"));
    let fields = RawObject::parse(result).map_err(|_| nonsense("is no object"))?;
    let revision = fields.text("protocolVersion").ok_or_else(|| nonsense("names no protocolVersion"))?;
    if !era::is_legacy(&revision) {
        let message = format!("it speaks protocol revision {revision:?}, which is not supported");
        return Err(failure(Code::ProtocolVersion, message));
    }
    let empty = || RawObject::new();
    Ok(Hello {
        revision,
        server_info: fields.get("serverInfo").map_or_else(|| empty().to_raw(), ToOwned::to_owned),
        capabilities: fields
            .get("capabilities")
            .and_then(|raw| RawObject::parse(raw).ok())
            .unwrap_or_default(),
        instructions: fields.text("instructions"),
    })
}

fn refused(error: &CallError) -> Failure {
    match error {
        CallError::Answered(answer) if answer.code == errors::UNSUPPORTED_PROTOCOL_VERSION => {
            failure(Code::ProtocolVersion, format!("it refused our protocol revisions: {}", answer.message))
        }
        CallError::Answered(answer) if http_status(answer).is_some() => {
            let code = match http_status(answer) {
                Some(401) => Code::Http401,
                Some(403) => Code::Http403,
                Some(404 | 405) => Code::Http404,
                _ => Code::HandshakeRefused,
            };
            failure(code, answer.message.clone())
        }
        // The stateless revisions have no `initialize` (`2026-07-28/basic/versioning.mdx`).
        CallError::Answered(answer) if answer.code == errors::METHOD_NOT_FOUND => {
            let message = format!(
                "it does not know initialize and may speak only newer protocol revisions: {}",
                answer.message
            );
            failure(Code::ProtocolVersion, message)
        }
        CallError::Answered(answer) => {
            failure(Code::HandshakeRefused, format!("it refused to initialize: {answer}"))
        }
        CallError::TimedOut(seconds, _) => {
            failure(Code::HandshakeTimeout, format!("it did not answer initialize within {seconds} s"))
        }
        CallError::Ended(reason, _) => failure(Code::ExitedEarly, reason.clone()),
    }
}

/// The status of a refusal that came as HTTP, not as JSON-RPC.
fn http_status(error: &ErrorObject) -> Option<u16> {
    RawObject::parse(error.data.as_deref()?).ok()?.read("httpStatus")
}

pub(super) fn failure(code: Code, message: impl Into<String>) -> Failure {
    Failure { code, message: message.into(), missing: vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_initialize_speaks_another_revision() {
        let refusal = |code| refused(&CallError::Answered(ErrorObject::new(code, "no"))).code;
        assert_eq!(refusal(errors::METHOD_NOT_FOUND), Code::ProtocolVersion);
        assert_eq!(refusal(errors::UNSUPPORTED_PROTOCOL_VERSION), Code::ProtocolVersion);
        assert_eq!(refusal(errors::INTERNAL_ERROR), Code::HandshakeRefused);
    }

    #[test]
    fn an_answer_is_read_with_what_it_has_and_refused_with_a_reason() {
        let read_text = |json: &str| read(&Raw::from_string(json.to_owned()).unwrap());
        let hello = read_text(r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"x":1},"serverInfo":{"name":"a","y":2}}"#).unwrap();
        assert!(hello.offers("tools") && !hello.offers("resources"));
        assert_eq!(hello.server_info.get(), r#"{"name":"a","y":2}"#);
        assert!(read_text(r#"{"protocolVersion":"2024-11-05"}"#).is_ok(), "sloppy but usable");
        for (json, code) in [
            ("[]", Code::HandshakeRefused),
            ("{}", Code::HandshakeRefused),
            (r#"{"protocolVersion":"1999-01-01"}"#, Code::ProtocolVersion),
        ] {
            assert_eq!(read_text(json).unwrap_err().code, code);
        }
    }
}
