//! HTTP responses for MCP answers.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderValue, Response, StatusCode, header},
};
use hyper::body::{Frame, SizeHint};
use satchel_core::catalog::lists::List;
use satchel_mcp::{ErrorObject, Id, Message, Raw, bytes::find_either};

/// Size in bytes from which a result is sent in pieces.
const LARGE: usize = 16 * 1024;

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

/// A JSON-RPC error with an HTTP status.
pub(crate) fn error(status: StatusCode, id: Option<Id>, error: ErrorObject) -> Response<Body> {
    json(status, Message::error(id, error).to_json())
}

/// A message. The text of a large result is sent without copying it.
pub(crate) fn message(status: StatusCode, message: Message) -> Response<Body> {
    match message {
        Message::Response { id: Some(id), outcome: Ok(result) } if is_large_line(&result) => {
            let (before, after) = around(&id);
            let text = Bytes::from(String::from(Box::<str>::from(result)));
            let pieces = Pieces([before.into(), text, Bytes::from_static(after.as_bytes())].into());
            with_type(status, "application/json", Body::new(pieces))
        }
        message => json(status, message.to_json()),
    }
}

/// Shorter ones are faster to copy than to send in pieces, and line breaks must not be sent.
fn is_large_line(result: &Raw) -> bool {
    let bytes = result.get().as_bytes();
    bytes.len() >= LARGE && find_either(b'\n', b'\r', bytes).is_none()
}

/// A list in response to a request. Its text is shared and not copied.
pub(crate) fn list(id: &Id, list: &Arc<List>) -> Response<Body> {
    let (before, after) = around(id);
    let text = Bytes::from_owner(Text(list.json().clone()));
    let pieces = Pieces([before.into(), text, Bytes::from_static(after.as_bytes())].into());
    with_type(StatusCode::OK, "application/json", Body::new(pieces))
}

/// The same as one text.
pub(crate) fn list_text(id: &Id, list: &List) -> String {
    let (before, after) = around(id);
    [before.as_str(), list.json(), after].concat()
}

/// The text around a result, in the order of [`Message::to_json`].
fn around(id: &Id) -> (String, &'static str) {
    // Ids always serialize.
    let id = serde_json::to_string(id).unwrap_or_default();
    (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#), "}")
}

/// A shared text.
struct Text(Arc<str>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A body of known length in several pieces.
struct Pieces(VecDeque<Bytes>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_list_goes_out_as_any_other_answer_would_and_its_text_is_not_copied() {
        let result = r#"{"tools":[{"name":"a"}],"x":"é"}"#;
        let shared = Arc::new(List::new(result));
        for id in [Id::from(7), Id::Text("a\"b".to_owned())] {
            let message = Message::result(id.clone(), Raw::from_string(result.to_owned()).unwrap()).to_json();
            let response = list(&id, &shared);
            let length = response.body().size_hint().exact().unwrap();
            assert_eq!(Arc::strong_count(shared.json()), 2, "the body holds the text itself");
            let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
            assert_eq!((&*body, length), (message.as_bytes(), message.len() as u64));
            assert_eq!(list_text(&id, &shared), message);
        }
    }

    #[tokio::test]
    async fn a_large_result_goes_out_as_a_small_one_would() {
        for broken in ["", "\n", "\r\n"] {
            for length in [1, LARGE - 1, LARGE, 3 * LARGE] {
                let text = format!("{{{broken}\"text\":\"{}é\"}}", "x".repeat(length));
                let answer = Message::result(Id::from(7), Raw::from_string(text).unwrap());
                let expected = answer.to_json();
                let response = message(StatusCode::OK, answer);
                assert_eq!(response.body().size_hint().exact(), Some(expected.len() as u64));
                let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
                assert!(*body == *expected.as_bytes(), "{length} bytes with {broken:?}");
            }
        }
    }
}
