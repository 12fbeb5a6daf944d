//! Which client is asking: by its bearer token, from nothing else.

use axum::http::{HeaderMap, header};
use satchel_core::hub::Hub;

/// The client, where there is exactly one `Authorization` header with a token of ours.
pub(crate) fn client(hub: &Hub, headers: &HeaderMap) -> Option<String> {
    hub.client_of(bearer(headers)?)
}

/// The bearer token of a request (RFC 6750 section 2.1), where it names exactly one.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (one, more) = (all.next()?, all.next());
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    if more.is_some() || !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    Some(token.trim())
}
