//! Adds a token to every request: the suite sends none, and the hub answers nobody without.
//!
//! Everything else passes as it is, and ends when its other side ends: a stream that the client closes is closed to
//! the hub.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderName, HeaderValue, StatusCode, Uri,
        header::{HOST, ORIGIN},
    },
    response::{IntoResponse, Response},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use satchel_tests::Connection;
use tokio::net::TcpListener;

struct Proxy {
    http: Client<HttpConnector, Body>,
    connection: Connection,
    /// The proxy's own address, `:PORT`, and the hub's.
    own: String,
    hub: String,
}

/// Listens on a free port until the program ends; returns the address to use instead of the connection's.
pub(crate) async fn start(connection: &Connection) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("a listener has an address").port();
    let target: Uri = connection.url.parse().expect("the hub's address is one");
    let proxy = Proxy {
        http: Client::builder(TokioExecutor::new()).build_http(),
        connection: connection.clone(),
        own: format!(":{port}"),
        hub: format!(":{}", target.port_u16().expect("the hub's address has a port")),
    };
    let router = Router::new().fallback(forward).with_state(Arc::new(proxy));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://127.0.0.1:{port}{}", target.path())
}

async fn forward(State(proxy): State<Arc<Proxy>>, mut request: Request) -> Response {
    for (name, value) in &proxy.connection.headers {
        let name: HeaderName = name.parse().expect("a header's name");
        request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a header's value"));
    }
    // A right host names this proxy and is rewritten to the hub; a wrong one stays wrong.
    for name in [HOST, ORIGIN] {
        let value = request.headers().get(&name).and_then(|value| value.to_str().ok());
        if let Some(value) = value.map(|value| value.replace(&proxy.own, &proxy.hub)) {
            request.headers_mut().insert(name, value.parse().expect("a port makes no difference"));
        }
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let uri = format!("http://127.0.0.1{}{path}", proxy.hub);
    *request.uri_mut() = uri.parse().expect("another host makes no difference");
    match proxy.http.request(request).await {
        Ok(response) => response.map(Body::new),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}
