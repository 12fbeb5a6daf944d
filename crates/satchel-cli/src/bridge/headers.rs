//! Computes the HTTP headers of a message. Pure.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use satchel_mcp::{Message, RawObject, era};

use super::exchange::Link;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// The revision in a message; `None` for revisions that open with `initialize`.
pub(super) fn own_revision(message: &Message) -> Option<String> {
    let (Message::Request { params, .. } | Message::Notification { params, .. }) = message else {
        return None;
    };
    let params = RawObject::parse(params.as_deref()?).ok()?;
    params.read::<RawObject>("_meta")?.text(era::VERSION_META)
}

/// The headers for `message` on `link`.
pub(super) fn of(link: &Link, message: &Message) -> Vec<(&'static str, String)> {
    match own_revision(message) {
        Some(revision) => modern(message, revision),
        // This request opens the session.
        None if is_opening(message) => vec![],
        None => of_session(link),
    }
}

/// The headers of every request in a session.
pub(super) fn of_session(link: &Link) -> Vec<(&'static str, String)> {
    let session = link.session.clone().map(|session| (SESSION, session));
    let revision = link.revision.clone().map(|revision| (VERSION, revision));
    session.into_iter().chain(revision).collect()
}

/// Is this the request that opens a session?
pub(super) fn is_opening(message: &Message) -> bool {
    matches!(message, Message::Request { method, .. } if method == "initialize")
        && own_revision(message).is_none()
}

fn modern(message: &Message, revision: String) -> Vec<(&'static str, String)> {
    let mut headers = vec![(VERSION, revision)];
    if let Message::Request { method, params, .. } | Message::Notification { method, params } = message {
        headers.push(("mcp-method", encoded(method)));
        let key = match method.as_str() {
            "tools/call" | "prompts/get" => Some("name"),
            "resources/read" => Some("uri"),
            method if method.starts_with("tasks/") => Some("taskId"),
            _ => None,
        };
        let params = params.as_deref().and_then(|params| RawObject::parse(params).ok());
        if let Some(name) = key.and_then(|key| params?.text(key)) {
            headers.push(("mcp-name", encoded(&name)));
        }
    }
    headers
}

/// Encodes a value for a header (`2026-07-28/basic/transports/streamable-http.mdx#value-encoding`).
fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value;
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    match plain && !looks_encoded {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Endpoint;

    fn check(message: &str, expected: &[(&str, &str)]) {
        let endpoint = Endpoint::at("http://127.0.0.1:1/mcp".into(), &Default::default()).unwrap();
        let link = Link {
            generation: 1,
            endpoint,
            session: Some("s1".into()),
            revision: Some("2025-06-18".into()),
            token_file: None,
        };
        let headers = of(&link, &Message::parse(message).unwrap());
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(headers, expected, "{message}");
    }

    #[test]
    fn a_legacy_message_names_its_session_and_revision_but_the_first_one_cannot() {
        let session = [("mcp-session-id", "s1"), ("mcp-protocol-version", "2025-06-18")];
        check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, &session);
        check(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &session);
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, &session);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, &[]);
    }

    #[test]
    fn a_modern_message_names_itself_in_its_headers_too() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let version = ("mcp-protocol-version", "2026-07-28");
        for (method, params, name) in [
            ("tools/list", "", None),
            ("tools/call", r#","name":"get_weather""#, Some("get_weather")),
            ("prompts/get", r#","name":" padded ""#, Some("=?base64?IHBhZGRlZCA=?=")),
            ("tools/call", r#","name":"Hello, 世界""#, Some("=?base64?SGVsbG8sIOS4lueVjA==?=")),
            ("tools/call", r#","name":"=?base64?literal?=""#, Some("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")),
            ("resources/read", r#","uri":"file:///a b""#, Some("file:///a b")),
            ("tasks/get", r#","taskId":"t1""#, Some("t1")),
        ] {
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta}{params}}}}}"#);
            let mut expected = vec![version, ("mcp-method", method)];
            expected.extend(name.map(|name| ("mcp-name", name)));
            check(&message, &expected);
        }
    }
}
