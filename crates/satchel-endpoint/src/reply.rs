//! Answers as they go over HTTP.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use satchel_mcp::{ErrorObject, Id, Message};

/// A JSON body.
pub(crate) fn json(status: StatusCode, body: String) -> Response<Body> {
    with_type(status, "application/json", Body::from(body))
}

/// A stream of events.
pub(crate) fn events(body: Body) -> Response<Body> {
    let mut response = with_type(StatusCode::OK, "text/event-stream", body);
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// No body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A JSON-RPC error under an HTTP status.
pub(crate) fn error(status: StatusCode, id: Option<Id>, error: ErrorObject) -> Response<Body> {
    json(status, Message::error(id, error).to_json())
}

fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
