//! Identifies the client of a request by its bearer token alone.

use axum::{
    body::Body,
    http::{HeaderMap, Response, header},
};
use futures_util::StreamExt;
use satchel_core::hub::Hub;

/// The client, if there is exactly one `Authorization` header with a valid token.
pub(crate) fn client(hub: &Hub, headers: &HeaderMap) -> Option<String> {
    hub.client_of(bearer(headers)?)
}

/// The bearer token of a request (RFC 6750 section 2.1), if there is exactly one.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (one, more) = (all.next()?, all.next());
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    if more.is_some() || !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    Some(token.trim())
}

/// Ends a stream when its token is revoked. Other responses are complete by then.
pub(crate) fn ends_with(hub: &Hub, headers: &HeaderMap, response: Response<Body>) -> Response<Body> {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind != Some("text/event-stream") {
        return response;
    }
    let token = bearer(headers).unwrap_or_default().to_owned();
    let (hub, mut choices) = (hub.clone(), hub.watch_choices());
    let revoked = async move {
        while hub.client_of(&token).is_some() {
            if choices.changed().await.is_err() {
                return;
            }
        }
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(revoked))))
}
