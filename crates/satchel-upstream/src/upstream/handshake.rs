//! Detects a server's revision: `initialize` of the legacy revisions (`2025-11-25/basic/lifecycle.mdx`), or
//! `server/discover` of the stateless ones (`2026-07-28/server/discover.mdx`).

use std::time::Duration;

use satchel_mcp::{ErrorObject, Raw, RawObject, era::Era, errors, meta};
use serde_json::{json, value::to_raw_value};

use super::{
    lifecycle::Failure,
    link::{CallError, Dialect, Link},
};
use crate::model::{Code, cause::FailureCause};

/// A server's self-description. The raw parts are unchanged.
#[derive(Debug, Clone)]
pub struct Hello {
    /// The negotiated revision.
    pub era: Era,
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

/// A failed handshake.
#[derive(Debug)]
pub(super) struct HandshakeRefused {
    /// The failure to report.
    pub(super) failure: Failure,
    /// The server may speak the other era.
    pub(super) try_other: bool,
    /// It responded as if the endpoint did not accept POST: it may use the older transport HTTP+SSE.
    pub(super) no_post: bool,
}

impl HandshakeRefused {
    /// One after which no other way is tried.
    pub(super) fn final_one(failure: Failure) -> Self {
        Self { failure, try_other: false, no_post: false }
    }
}

/// The hub's client capabilities: everything that some client may support.
fn capabilities() -> serde_json::Value {
    json!({
        "roots": { "listChanged": true },
        "sampling": {},
        "elicitation": { "form": {}, "url": {} },
        // Clients without user interfaces for apps get their tools and text results (`extensions/apps/overview.mdx`).
        "extensions": { meta::APPS: { "mimeTypes": ["text/html;profile=mcp-app"] } },
    })
}

fn client_info() -> serde_json::Value {
    json!({ "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") })
}

/// Requests the newest revision with sessions; the server may answer with an older one.
pub(super) async fn initialize(link: &Link, wait: Duration) -> Result<Hello, HandshakeRefused> {
    let params = json!({
        "protocolVersion": Era::SESSION.revision(),
        "capabilities": capabilities(),
        "clientInfo": client_info(),
    });
    let result = link.request("initialize", to_raw_value(&params).ok(), wait).await;
    let result = result.map_err(|error| HandshakeRefused {
        try_other: speaks_newer(&error),
        no_post: answered_status(&error).is_some_and(|status| matches!(status, 400 | 404 | 405)),
        failure: refused(&error),
    })?;
    let hello = read(&result).map_err(HandshakeRefused::final_one)?;
    link.speak(Dialect::Session(hello.era));
    link.notify("notifications/initialized", None);
    Ok(hello)
}

/// Asks a stateless server for its self-description. Opens nothing.
pub(super) async fn discover(link: &Link, wait: Duration) -> Result<Hello, HandshakeRefused> {
    let (Ok(client), Ok(capabilities)) = (to_raw_value(&client_info()), to_raw_value(&capabilities())) else {
        return Err(HandshakeRefused::final_one(failure(
            Code::HandshakeRefused,
            "a request could not be written",
        )));
    };
    let speak = |era| {
        let (client, capabilities) = (client.clone(), capabilities.clone());
        link.speak(Dialect::Stateless { era, client, capabilities });
    };
    speak(Era::STATELESS);
    let older = |why: &str| HandshakeRefused {
        failure: failure(
            Code::ProtocolVersion,
            format!("it speaks no revision that Satchel supports: {why}"),
        )
        .because(FailureCause::Revision { said: why.to_owned() }),
        try_other: true,
        no_post: false,
    };
    let mut answer = link.request("server/discover", None, wait).await;
    if let Err(CallError::Answered(error)) = &answer
        && let Some(era) = would_take(error)
    {
        speak(era);
        answer = link.request("server/discover", None, wait).await;
    }
    let result = match answer {
        Ok(result) => result,
        Err(error) => {
            // A gateway with a list of methods forbids one that it does not know.
            let unauthorized =
                matches!(answered_status(&error), Some(401)) || matches!(error, CallError::SignIn(_));
            let unreachable = matches!(&error, CallError::Ended(_, super::Outcome::NotSent));
            let failure = match &error {
                CallError::Answered(_)
                | CallError::Rejected(..)
                | CallError::Ended(..)
                | CallError::SignIn(_) => refused(&error),
                CallError::Overdue(_) => failure(Code::HandshakeTimeout, error.to_string()),
                CallError::TimedOut(seconds, _) => overdue("server/discover", *seconds),
            };
            return Err(HandshakeRefused {
                failure,
                try_other: !unauthorized && !unreachable,
                no_post: false,
            });
        }
    };
    let fields = RawObject::parse(&result).map_err(|_| older("its answer is no object"))?;
    let spoken: Vec<String> = fields.read("supportedVersions").unwrap_or_default();
    let Some(era) = Era::newest_stateless(&spoken) else { return Err(older(&spoken.join(", "))) };
    speak(era);
    let server_info = meta::of(&fields).remove(meta::SERVER);
    Ok(Hello {
        era,
        server_info: server_info.unwrap_or_else(|| RawObject::new().to_raw()),
        capabilities: capabilities_of(&fields),
        instructions: fields.text("instructions"),
    })
}

/// Parameters of a stateless request on the connection of a session. Servers of both families answer them there, and some
/// have their newest extensions in the stateless revisions only.
pub fn in_stateless_words(params: Option<&Raw>) -> Option<Box<Raw>> {
    let mut fields = params.map_or_else(|| Ok(RawObject::new()), RawObject::parse).ok()?;
    let (client, own) = (to_raw_value(&client_info()).ok()?, to_raw_value(&capabilities()).ok()?);
    meta::complete_request(&mut fields, Era::STATELESS, &client, &own);
    Some(fields.to_raw())
}

/// What a server with a session would declare in the stateless revisions; `None` if it has none of them.
pub async fn declared_apart(link: &Link, wait: Duration) -> Option<RawObject> {
    let result = link.request("server/discover", in_stateless_words(None), wait).await.ok()?;
    let fields = RawObject::parse(&result).ok()?;
    let spoken: Vec<String> = fields.read("supportedVersions").unwrap_or_default();
    Era::newest_stateless(&spoken).map(|_| capabilities_of(&fields))
}

/// The revision in which a server that rejected ours is asked once more: the newest that it lists as supported, which may
/// be the same one (`2026-07-28/basic/versioning.mdx#protocol-version-negotiation`).
fn would_take(error: &ErrorObject) -> Option<Era> {
    let data = error.data.as_deref().and_then(|data| RawObject::parse(data).ok()).unwrap_or_default();
    let supported: Vec<String> = data.read("supported").unwrap_or_default();
    (error.code == errors::UNSUPPORTED_PROTOCOL_VERSION).then(|| Era::newest_stateless(&supported)).flatten()
}

/// A response to `initialize` that only a stateless server gives: unknown method, or missing `_meta` fields.
fn speaks_newer(error: &CallError) -> bool {
    let CallError::Answered(answer) = error else { return false };
    matches!(
        answer.code,
        errors::UNSUPPORTED_PROTOCOL_VERSION
            | errors::METHOD_NOT_FOUND
            | errors::HEADER_MISMATCH
            | errors::INVALID_PARAMS
            | errors::INVALID_REQUEST
    )
}

/// The HTTP status, if a server rejected a request with one instead of a JSON-RPC error.
pub fn answered_status(error: &CallError) -> Option<u16> {
    match error {
        CallError::Answered(answer) | CallError::Rejected(answer, _) => http_status(answer),
        CallError::TimedOut(..) | CallError::Overdue(_) | CallError::Ended(..) | CallError::SignIn(_) => None,
    }
}

fn capabilities_of(fields: &RawObject) -> RawObject {
    fields.get("capabilities").and_then(|raw| RawObject::parse(raw).ok()).unwrap_or_default()
}

fn read(result: &Raw) -> Result<Hello, Failure> {
    let nonsense = |what: &str| {
        failure(Code::HandshakeRefused, format!("its answer to initialize {what}"))
            .because(FailureCause::Unusable { method: "initialize".to_owned() })
    };
    let fields = RawObject::parse(result).map_err(|_| nonsense("is no object"))?;
    let revision = fields.text("protocolVersion").ok_or_else(|| nonsense("names no protocolVersion"))?;
    let Some(era) = Era::of(&revision).filter(|era| !era.is_stateless()) else {
        let message = format!("it speaks protocol revision {revision:?}, which is not supported");
        let cause = FailureCause::Revision { said: revision };
        return Err(failure(Code::ProtocolVersion, message).because(cause));
    };
    let empty = || RawObject::new();
    Ok(Hello {
        era,
        server_info: fields.get("serverInfo").map_or_else(|| empty().to_raw(), ToOwned::to_owned),
        capabilities: capabilities_of(&fields),
        instructions: fields.text("instructions"),
    })
}

fn refused(error: &CallError) -> Failure {
    let revision = |message: String, answer: &ErrorObject| {
        failure(Code::ProtocolVersion, message)
            .because(FailureCause::Revision { said: answer.message.clone() })
    };
    match error {
        CallError::Answered(answer) if answer.code == errors::UNSUPPORTED_PROTOCOL_VERSION => {
            revision(format!("it refused Satchel's protocol revisions: {}", answer.message), answer)
        }
        CallError::Rejected(answer, _) | CallError::Answered(answer) if http_status(answer).is_some() => {
            let code = match http_status(answer) {
                Some(401) => Code::Http401,
                Some(403) => Code::Http403,
                Some(404 | 405) => Code::Http404,
                _ => Code::HandshakeRefused,
            };
            Failure { cause: error.cause(), ..failure(code, answer.message.clone()) }
        }
        // The stateless revisions have no `initialize` (`2026-07-28/basic/versioning.mdx`).
        CallError::Answered(answer) if answer.code == errors::METHOD_NOT_FOUND => {
            let message = format!(
                "it does not know initialize and may speak only newer protocol revisions: {}",
                answer.message
            );
            revision(message, answer)
        }
        CallError::Answered(answer) | CallError::Rejected(answer, _) => {
            failure(Code::HandshakeRefused, format!("it refused to initialize: {answer}"))
                .because(FailureCause::Refused { said: answer.to_string() })
        }
        CallError::TimedOut(seconds, _) => overdue("initialize", *seconds),
        CallError::Overdue(_) => failure(Code::HandshakeTimeout, error.to_string()),
        CallError::SignIn(need) => failure(need.code, need.message.clone()),
        CallError::Ended(reason, _) => {
            Failure { cause: reason.cause.clone(), ..failure(Code::ExitedEarly, reason.message.clone()) }
        }
    }
}

fn overdue(method: &str, seconds: u64) -> Failure {
    failure(Code::HandshakeTimeout, format!("it did not answer {method} within {seconds} s"))
        .because(FailureCause::NoAnswer { method: Some(method.to_owned()), seconds, wrote: None })
}

/// The status of a rejection that came as HTTP, not as JSON-RPC.
fn http_status(error: &ErrorObject) -> Option<u16> {
    RawObject::parse(error.data.as_deref()?).ok()?.read("httpStatus")
}

pub(super) fn failure(code: Code, message: impl Into<String>) -> Failure {
    Failure::new(code, message)
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
    fn why_a_handshake_failed_is_told_in_parts() {
        use super::super::{EndReason, Outcome};
        let http = || FailureCause::Http { status: 403, said: Some("no".into()), retry_seconds: None };
        let answer = |message: &str| {
            let data = json!({ "httpStatus": 403 });
            ErrorObject::new(errors::INTERNAL_ERROR, message).with_data(&data)
        };
        let error = CallError::Rejected(answer("it answered HTTP 403 Forbidden: no"), Box::new(http()));
        let failure = refused(&error);
        assert_eq!((failure.code, failure.cause.as_deref()), (Code::Http403, Some(&http())));
        // A server's own error with such a status is in its message only.
        let failure = refused(&CallError::Answered(answer("odd")));
        assert_eq!((failure.code, failure.cause), (Code::Http403, None));
        let said = |code| *refused(&CallError::Answered(ErrorObject::new(code, "no"))).cause.unwrap();
        assert_eq!(said(errors::METHOD_NOT_FOUND), FailureCause::Revision { said: "no".into() });
        assert!(
            matches!(said(errors::INTERNAL_ERROR), FailureCause::Refused { said } if said.contains("no"))
        );
        let late = refused(&CallError::TimedOut(30, Outcome::Unknown));
        let cause = FailureCause::NoAnswer { method: Some("initialize".into()), seconds: 30, wrote: None };
        assert_eq!(late.cause.as_deref(), Some(&cause));
        let ended = EndReason::new("it closed its input", FailureCause::InputClosed);
        let ended = refused(&CallError::Ended(ended, Outcome::NotSent));
        assert_eq!(
            (ended.message.as_str(), ended.cause.as_deref()),
            ("it closed its input", Some(&FailureCause::InputClosed))
        );
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
