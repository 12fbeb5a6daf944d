//! Clients of the stateless revision 2026-07-28: every request says by itself what it needs, and the headers repeat it.
//!
//! Checked here, in the order the specification gives: revision, metadata, method, headers. What a request then does is
//! the same as for legacy clients ([`crate::downstream`]); only the shape of its answer differs.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Response, StatusCode},
};
use futures_util::{StreamExt, stream};
use satchel_mcp::{ErrorObject, Id, Message, Raw, RawObject, era, errors, headers, sse};
use serde_json::{json, value::to_raw_value};

use crate::{
    downstream::{self, Answer},
    http::{App, VERSION, keep_alive},
    meta, reply,
    session::Session,
};

const CAPABILITIES_META: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_META: &str = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION_META: &str = "io.modelcontextprotocol/subscriptionId";
/// The names of servers in our tool descriptions may change within this time.
const FRESH_MS: u64 = 60_000;

/// Does the request speak a revision of the stateless family? Legacy ones name theirs in the header only, if at all.
pub(crate) fn speaks(message: &Message, http: &HeaderMap) -> bool {
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_str(), params.as_deref())
        }
        Message::Response { .. } => ("", None),
    };
    let named = http.get(VERSION).and_then(|value| value.to_str().ok());
    let in_body = meta_of(params).get(era::VERSION_META).is_some();
    if method == "initialize" {
        // The legacy handshake names its revision itself; one that does not is a removed method of this family.
        return in_body
            && params.is_none_or(|raw| {
                RawObject::parse(raw).is_ok_and(|all| all.get("protocolVersion").is_none())
            });
    }
    method == "server/discover" || in_body || named.is_some_and(|revision| !era::is_legacy(revision))
}

/// Answers one message.
pub(crate) async fn answer(
    app: &Arc<App>,
    client: &str,
    message: Message,
    http: &HeaderMap,
) -> Response<Body> {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { .. } => return reply::empty(StatusCode::ACCEPTED),
        Message::Response { .. } => {
            let error =
                ErrorObject::new(errors::INVALID_REQUEST, "this revision has no answers from clients");
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
    };
    if let Err((status, error)) = check(&method, params.as_deref(), http) {
        return reply::error(status, Some(id), error);
    }
    match method.as_str() {
        "server/discover" => {
            app.hub.client_seen(client, None);
            complete(
                id,
                raw(&json!({
                    "supportedVersions": [era::MODERN],
                    "capabilities": { "tools": {} },
                    "instructions": meta::INSTRUCTIONS,
                    "ttlMs": FRESH_MS,
                    "cacheScope": "private",
                })),
            )
        }
        "subscriptions/listen" => listen(app, &id),
        _ => {
            let servers = downstream::visible_servers(&app.hub);
            let session = Arc::new(Session::new(client.to_owned(), era::MODERN, servers));
            let list = method == "tools/list";
            match downstream::answer(&app.hub, &session, id, &method, params.as_deref(), true).await {
                Answer::Done(message) => reply::json(StatusCode::OK, finish(message, list).to_json()),
                Answer::Stream(notes) => {
                    reply::events(Body::from_stream(stream::unfold(notes, |mut notes| async {
                        let message = finish(notes.next().await?, false);
                        Some((event(&message), notes))
                    })))
                }
            }
        }
    }
}

fn complete(id: Id, result: Box<Raw>) -> Response<Body> {
    reply::json(StatusCode::OK, finish(Message::result(id, result), false).to_json())
}

/// Everything that is wrong with a request before it is looked at, with the status it is refused under.
fn check(method: &str, params: Option<&Raw>, http: &HeaderMap) -> Result<(), (StatusCode, ErrorObject)> {
    let bad = |code: i64, message: String| (StatusCode::BAD_REQUEST, ErrorObject::new(code, message));
    let meta = meta_of(params);
    let Some(asked) = meta.text(era::VERSION_META) else {
        return Err(bad(errors::INVALID_PARAMS, format!("_meta needs \"{}\"", era::VERSION_META)));
    };
    same(http, VERSION, &asked)?;
    if asked != era::MODERN {
        let (status, error) = bad(
            errors::UNSUPPORTED_PROTOCOL_VERSION,
            format!("protocol revision {asked} is not supported here"),
        );
        return Err((status, error.with_data(&json!({ "supported": [era::MODERN], "requested": asked }))));
    }
    if !meta.get(CAPABILITIES_META).is_some_and(|value| value.get().starts_with('{')) {
        return Err(bad(errors::INVALID_PARAMS, format!("_meta needs an object \"{CAPABILITIES_META}\"")));
    }
    if !matches!(method, "server/discover" | "tools/list" | "tools/call" | "subscriptions/listen") {
        let error = ErrorObject::new(errors::METHOD_NOT_FOUND, format!("there is no method {method}"));
        return Err((StatusCode::NOT_FOUND, error));
    }
    same(http, "mcp-method", method)?;
    if let Some(key) = headers::named_by(method) {
        let named = params.and_then(|params| RawObject::parse(params).ok()?.text(key));
        let Some(named) = named else {
            return Err(bad(errors::INVALID_PARAMS, format!("{method} needs \"{key}\"")));
        };
        same(http, "mcp-name", &named)?;
    }
    Ok(())
}

/// A header must be there once and say what the body says.
fn same(http: &HeaderMap, header: &str, expected: &str) -> Result<(), (StatusCode, ErrorObject)> {
    let mut all = http.get_all(header).iter();
    let (one, more) = (all.next(), all.next());
    let given = one.filter(|_| more.is_none()).and_then(|value| headers::decode(value.to_str().ok()?.trim()));
    if given.as_deref() == Some(expected) {
        return Ok(());
    }
    let message = format!("the header {header} must be there once and say {expected:?}, as the body does");
    Err((StatusCode::BAD_REQUEST, ErrorObject::new(errors::HEADER_MISMATCH, message)))
}

fn meta_of(params: Option<&Raw>) -> RawObject {
    let meta = params.and_then(|params| RawObject::parse(RawObject::parse(params).ok()?.get("_meta")?).ok());
    meta.unwrap_or_default()
}

/// A result as this revision has it. What a server wrote itself stays.
fn finish(message: Message, list: bool) -> Message {
    let Message::Response { id, outcome } = message else { return message };
    let outcome = match outcome {
        Ok(result) => Ok(finished(&result, list)),
        // Not used in this revision (`basic/index.mdx#error-codes`).
        Err(error) if error.code == errors::RESOURCE_NOT_FOUND => {
            Err(ErrorObject { code: errors::INVALID_PARAMS, ..error })
        }
        Err(error) => Err(error),
    };
    Message::Response { id, outcome }
}

fn finished(result: &Raw, list: bool) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(result) else { return result.to_owned() };
    let absent = |fields: &RawObject, key: &str| fields.get(key).is_none();
    let set = |fields: &mut RawObject, key: &str, value: serde_json::Value| {
        if absent(fields, key) {
            fields.set(key, raw(&value));
        }
    };
    set(&mut fields, "resultType", json!("complete"));
    if list {
        set(&mut fields, "ttlMs", json!(FRESH_MS));
        set(&mut fields, "cacheScope", json!("private"));
    }
    let mut meta = fields.get("_meta").and_then(|meta| RawObject::parse(meta).ok()).unwrap_or_default();
    set(
        &mut meta,
        SERVER_META,
        json!({ "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") }),
    );
    fields.set("_meta", meta.to_raw());
    fields.to_raw()
}

/// A stream for news. Our own list of tools does not change, so nothing is promised; the stream stays open until either
/// side ends it.
fn listen(app: &Arc<App>, id: &Id) -> Response<Body> {
    let tag = json!({ SUBSCRIPTION_META: id });
    let acknowledged = raw(&json!({ "_meta": tag, "notifications": {} }));
    let first = Message::notification("notifications/subscriptions/acknowledged", Some(acknowledged));
    let last = Message::result(id.clone(), raw(&json!({ "resultType": "complete", "_meta": tag })));
    let stream = stream::once(async move { event(&first) })
        .chain(keep_alive(vec![app.stopping()]))
        .chain(stream::once(async move { event(&last) }));
    reply::events(Body::from_stream(stream))
}

fn event(message: &Message) -> Result<Bytes, Infallible> {
    Ok(Bytes::from(sse::Event::message(message.to_json()).to_wire()))
}

fn raw(value: &serde_json::Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(params: &str) -> Message {
        Message::parse(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))
            .unwrap()
    }

    fn refusal(method: &str, params: &str, http: &[(&'static str, &str)]) -> Option<(u16, i64)> {
        let mut map = HeaderMap::new();
        for (name, value) in http {
            map.append(*name, value.parse().unwrap());
        }
        let params = Raw::from_string(params.to_owned()).unwrap();
        check(method, Some(&params), &map).err().map(|(status, error)| (status.as_u16(), error.code))
    }

    const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    #[test]
    fn a_request_is_refused_for_the_first_thing_that_is_wrong() {
        let version = ("mcp-protocol-version", "2026-07-28");
        let listing = ("mcp-method", "tools/list");
        let with = |meta: &str| format!(r#"{{"_meta":{meta},"name":"é"}}"#);
        let good = with(META);
        let old = good.replace("2026-07-28", "1900-01-01");
        let calling = ("mcp-method", "tools/call");
        for (method, params, http, expected) in [
            ("tools/list", good.as_str(), &[version, listing][..], None),
            ("tools/list", "{}", &[version, listing][..], Some((400, -32602))),
            (
                "tools/list",
                &with(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#),
                &[version, listing][..],
                Some((400, -32602)),
            ),
            ("tools/list", &good, &[listing][..], Some((400, -32020))),
            ("tools/list", &good, &[version, version, listing][..], Some((400, -32020))),
            (
                "tools/list",
                &good,
                &[("mcp-protocol-version", "2025-11-25"), listing][..],
                Some((400, -32020)),
            ),
            ("tools/list", &old, &[("mcp-protocol-version", "1900-01-01"), listing][..], Some((400, -32022))),
            ("tools/list", &good, &[version][..], Some((400, -32020))),
            ("tools/list", &good, &[version, calling][..], Some((400, -32020))),
            ("ping", &good, &[version][..], Some((404, -32601))),
            ("tools/call", &good, &[version, calling][..], Some((400, -32020))),
            ("tools/call", &good, &[version, calling, ("mcp-name", "=?base64?w6k=?=")][..], None),
            ("tools/call", &good, &[version, calling, ("mcp-name", "e")][..], Some((400, -32020))),
        ] {
            assert_eq!(refusal(method, params, http), expected, "{method} {params} {http:?}");
        }
    }

    #[test]
    fn the_family_is_told_by_header_body_or_method_and_initialize_is_always_legacy() {
        let mut named = HeaderMap::new();
        named.insert(VERSION, "2025-11-25".parse().unwrap());
        assert!(!speaks(&request("{}"), &named) && !speaks(&request("{}"), &HeaderMap::new()));
        assert!(speaks(&request(&format!(r#"{{"_meta":{META}}}"#)), &HeaderMap::new()));
        named.insert(VERSION, "2026-07-28".parse().unwrap());
        assert!(speaks(&request("{}"), &named));
        let initialize = Message::request(1, "initialize", None);
        assert!(!speaks(&initialize, &named));
        assert!(speaks(&Message::request(1, "server/discover", None), &HeaderMap::new()));
        let removed = Raw::from_string(format!(r#"{{"_meta":{META}}}"#)).unwrap();
        assert!(speaks(&Message::request(1, "initialize", Some(removed)), &named));
        let both = Raw::from_string(format!(r#"{{"protocolVersion":"2025-06-18","_meta":{META}}}"#)).unwrap();
        assert!(!speaks(&Message::request(1, "initialize", Some(both)), &named));
    }

    #[test]
    fn a_servers_result_gets_what_the_revision_needs_and_keeps_what_it_had() {
        let raw = Raw::from_string(r#"{"content":[],"_meta":{"a":1.0},"x":2}"#.into()).unwrap();
        let done = finished(&raw, false);
        assert!(
            done.get()
                .starts_with(r#"{"content":[],"_meta":{"a":1.0,"io.modelcontextprotocol/serverInfo":{"#)
        );
        assert!(done.get().ends_with(r#","x":2,"resultType":"complete"}"#), "{}", done.get());
        assert!(finished(&raw, true).get().contains(r#""ttlMs":60000,"cacheScope":"private""#));
    }
}
