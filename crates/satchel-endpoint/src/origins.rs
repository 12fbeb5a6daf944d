//! Clients that live in the page of an app: their requests carry its origin, which a person may allow for one client
//! (`origins` in the configuration). Every other page stays out ([`crate::guard`]), and such a client needs its token.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header, request::Parts},
};
use satchel_core::hub::Hub;

use crate::reply;

/// What such a client may send besides what every page may.
const SENT: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, \
                    mcp-name";
/// How long its program may keep the answer to a preflight request, in seconds.
const KEPT: HeaderValue = HeaderValue::from_static("600");

/// The origin of a request, if it is allowed for some client.
pub(crate) fn configured(hub: &Hub, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
    hub.client_of_origin(origin.to_str().ok()?).map(|_| origin.clone())
}

/// Is it allowed for this client?
pub(crate) fn is_of(hub: &Hub, origin: &HeaderValue, client: &str) -> bool {
    origin.to_str().ok().and_then(|origin| hub.client_of_origin(origin)).is_some_and(|owner| owner == client)
}

/// The answer to a preflight request, which has no token.
pub(crate) fn preflight(parts: &Parts, origin: &HeaderValue) -> Option<Response<Body>> {
    let asks = parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if parts.method != Method::OPTIONS || !asks {
        return None;
    }
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let mut put = |name: HeaderName, value: HeaderValue| response.headers_mut().insert(name, value);
    put(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    put(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    put(header::ACCESS_CONTROL_MAX_AGE, KEPT);
    // Pages need it for addresses of this computer.
    put(HeaderName::from_static("access-control-allow-private-network"), HeaderValue::from_static("true"));
    Some(readable(response, origin))
}

/// A response that the page of this origin may read.
pub(crate) fn readable(mut response: Response<Body>, origin: &HeaderValue) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    response
}
