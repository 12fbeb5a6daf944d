//! HTTP+SSE, the transport of 2024-11-05, for older clients (`2024-11-05/basic/transports.mdx`): `GET /sse` opens a
//! stream and names the address for messages; answers come on the stream.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::{Body, Bytes},
    http::{Method, Response, StatusCode, request::Parts},
};
use futures_util::{StreamExt, stream};
use satchel_core::hub::Scope;
use satchel_mcp::{ErrorObject, Message, RawObject, envelope, era::Era, errors, sse};

use crate::{
    exchange::{self, Answer},
    http::{self, App, Place},
    params::Params,
    reply,
    session::{Menu, Session},
    surface::{Surface, folder_of},
};

const STREAM: &str = "/sse";
const MESSAGES: &str = "/messages";

/// Is this one of the two paths of that transport?
pub(crate) fn is_path(path: &str) -> bool {
    path == STREAM || path == MESSAGES
}

pub(crate) async fn answer(
    app: &Arc<App>,
    client: String,
    usual: Surface,
    parts: &Parts,
    body: Body,
) -> Response<Body> {
    match (parts.uri.path(), &parts.method) {
        (STREAM, &Method::GET) => open(app, client, usual, parts),
        (MESSAGES, &Method::POST) => take(app, &client, parts, body).await,
        _ => {
            let message = "/sse is the older transport: GET /sse opens a stream, and messages go to the address that it names; \
                           clients of Streamable HTTP use /mcp";
            reply::error(
                StatusCode::METHOD_NOT_ALLOWED,
                None,
                ErrorObject::new(errors::INVALID_REQUEST, message),
            )
        }
    }
}

fn open(app: &Arc<App>, client: String, usual: Surface, parts: &Parts) -> Response<Body> {
    if !http::accepts_events(&parts.headers) {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "a GET must accept text/event-stream");
        return reply::error(StatusCode::NOT_ACCEPTABLE, None, error);
    }
    // The client declares its capabilities in `initialize`, after the session exists.
    let owner = client.clone();
    let scope = Scope::default().naming(folder_of(parts.uri.path(), &parts.headers));
    let place = Place { surface: usual, usual: true, scope };
    let session = Session::new(client, Era::FIRST, place, Menu::default(), &RawObject::new(), true);
    let name = match app.sessions.open(session) {
        Ok(name) => name,
        Err(error) => return http::not_opened(&error, None),
    };
    let Some(session) = app.sessions.get(&name, &owner) else {
        return reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let place = sse::SseEvent {
        event: Some("endpoint".to_owned()),
        ..sse::SseEvent::message(format!("{MESSAGES}?sessionId={name}"))
    };
    let first = stream::once(async move { Ok::<_, Infallible>(Bytes::from(place.to_wire())) });
    let ends = vec![session.ended.clone(), app.stopping()];
    reply::events(Body::from_stream(first.chain(session.notifications.read(None, ends))))
}

async fn take(app: &Arc<App>, client: &str, parts: &Parts, body: Body) -> Response<Body> {
    let name = parts.uri.query().and_then(|query| {
        query.split('&').find_map(|pair| pair.strip_prefix("sessionId=").map(ToOwned::to_owned))
    });
    let session = name.as_ref().and_then(|name| app.sessions.get(name, client));
    let (Some(name), Some(session)) = (name, session.filter(|session| session.one_stream)) else {
        let error = ErrorObject::new(errors::INVALID_REQUEST, "unknown session; reopen the stream");
        return reply::error(StatusCode::NOT_FOUND, None, error);
    };
    let bytes = match http::read_body(body, app.hub.request_bytes()).await {
        Ok(bytes) => bytes,
        Err(response) => return *response,
    };
    let text = match http::text_of(&parts.headers, &bytes) {
        Ok(text) => text,
        Err(refused) => return *refused,
    };
    match Message::parse_bounded(text) {
        Ok(Message::Notification { method, params }) => {
            http::notified(app, &session, &method, &Params::of(params.as_deref()));
        }
        Ok(Message::Response { id, outcome }) => session.answered(id.as_ref(), outcome),
        Ok(Message::Request { id, method, params }) => {
            let (app, session) = (app.clone(), session.clone());
            let tracker = app.tracker.clone();
            tracker.spawn(async move {
                request(&app, &name, &session, Message::Request { id, method, params }).await;
            });
        }
        Err(error) => match envelope::id_of_request(text) {
            // Answers come on the stream.
            Some(id) => session.notifications.push(Message::error(Some(id), http::fault(&error)).to_json()),
            None => return reply::error(StatusCode::BAD_REQUEST, None, http::fault(&error)),
        },
    }
    reply::empty(StatusCode::ACCEPTED)
}

/// Handles a request; the response goes to the session's stream.
async fn request(app: &Arc<App>, name: &str, session: &Arc<Session>, message: Message) {
    let Message::Request { id, method, params } = message else { return };
    let params = Params::of(params.as_deref());
    if method == "initialize" {
        let scope = session.scope.clone();
        let place = Place { surface: session.look(&app.hub), usual: true, scope };
        let opened = http::open(app, session.client.to_string(), place, &params, true).await;
        let outcome = opened.map_err(|(_, error)| error).map(|(opened, result)| {
            app.sessions.replace(name, opened.in_place_of(session));
            if let Some(session) = app.sessions.get(name, &session.client) {
                http::follow(app, &session);
            }
            result
        });
        session.notifications.push(Message::Response { id: Some(id), outcome }.to_json());
        return;
    }
    session.look(&app.hub);
    let hub = &session.hub(&app.hub);
    let request = exchange::SessionRequest { hub, session, id, method: &method, params, events: true };
    match request.answer(&app.tracker).await {
        Answer::Done(message) => session.notifications.push(message.to_json()),
        Answer::List(id, list) => session.notifications.push(reply::list_text(&id, &list)),
        Answer::Stream(_) => {}
    }
}
