//! Typed client of a running hub: its control channel, and its MCP endpoint for the bridge. The only module here that knows HTTP.
//! Leaves retries to callers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use satchel_core::{
    files::Places,
    hub::RunningHub,
    model::{
        control::{ASKED, Refusal},
        request::{CallTool, GetStatus, Reply, Request, WaitForSignIn},
    },
};

/// Timeout of a request, which may include starting a server.
const REQUEST_TIME: Duration = Duration::from_secs(150);
/// Timeout of a call; the hub itself ends calls without progress much earlier.
const CALL_TIME: Duration = Duration::from_secs(3600);
/// Timeout of the first response.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// Why a running hub did not answer a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// Nothing listens at the address.
    #[error("no hub answers at {}", .0.display())]
    Unreachable(PathBuf),
    /// The hub refused the request.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The hub disconnected or sent an unexpected response.
    #[error("the hub did not answer as expected: {0}")]
    Failed(String),
}

/// The control channel of a running hub.
#[derive(Debug, Clone)]
pub(crate) struct Control {
    http: reqwest::Client,
    pub(crate) address: RunningHub,
}

impl Control {
    /// Connects to the hub with these directories; `None` if none is running.
    ///
    /// # Errors
    /// [`ControlError::Failed`] if a hub is running but does not answer.
    pub(crate) async fn find(places: &Places) -> Result<Option<Self>, ControlError> {
        let Some(address) = RunningHub::read(places).filter(|hub| !hub.is_deserted(places)) else {
            return Ok(None);
        };
        let control = Self::at(address)?;
        match control.send(&GetStatus {}, HELLO_TIME, false).await {
            Ok(_) | Err(ControlError::Refused(_)) => Ok(Some(control)),
            // Left behind by a killed hub.
            Err(ControlError::Unreachable(_)) => Ok(None),
            Err(failed @ ControlError::Failed(_)) => Err(failed),
        }
    }

    fn at(address: RunningHub) -> Result<Self, ControlError> {
        let builder = connected_to(client(), &address.socket);
        let http = builder.build().map_err(|wrong| ControlError::Failed(chain(&wrong)))?;
        Ok(Self { http, address })
    }

    /// Sends a request and waits for its answer. `asked`: a person at this terminal confirmed it.
    pub(crate) async fn ask<R: Request>(&self, request: &R, asked: bool) -> Result<R::Answer, ControlError> {
        self.send(request, time_of::<R>(), asked).await
    }

    async fn send<R: Request>(
        &self,
        request: &R,
        time: Duration,
        asked: bool,
    ) -> Result<R::Answer, ControlError> {
        let failed = |wrong: reqwest::Error| ControlError::Failed(chain(&wrong.without_url()));
        let message = request.to_message().map_err(|wrong| ControlError::Failed(chain(&wrong)))?;
        let mut post =
            self.http.post("http://hub/request").header(CONTENT_TYPE, "application/json").timeout(time);
        if asked {
            post = post.header(ASKED, "terminal");
        }
        let response =
            post.body(message.to_string()).send().await.map_err(|wrong| match wrong.is_connect() {
                true => ControlError::Unreachable(self.address.socket.clone()),
                false => failed(wrong),
            })?;
        let status = response.status();
        let body = response.bytes().await.map_err(failed)?;
        match serde_json::from_slice(&body) {
            Ok(Reply::Ok(answer)) => Ok(answer),
            Ok(Reply::Refusal(refusal)) => Err(refusal.into()),
            Err(wrong) => Err(ControlError::Failed(format!(
                "HTTP {status}: {wrong}; the hub may be of a different version"
            ))),
        }
    }
}

fn time_of<R: Request>() -> Duration {
    // It waits for a call or a person.
    let waits = [CallTool::METHOD, WaitForSignIn::METHOD].contains(&R::METHOD);
    if waits { CALL_TIME } else { REQUEST_TIME }
}

#[cfg(unix)]
fn connected_to(builder: reqwest::ClientBuilder, socket: &Path) -> reqwest::ClientBuilder {
    builder.unix_socket(socket)
}

#[cfg(windows)]
fn connected_to(builder: reqwest::ClientBuilder, socket: &Path) -> reqwest::ClientBuilder {
    builder.windows_named_pipe(socket.as_os_str())
}

/// Does anybody listen at this socket?
#[cfg(unix)]
pub(crate) async fn probe(socket: &Path) -> std::io::Result<()> {
    tokio::net::UnixStream::connect(socket).await.map(drop)
}

/// There are none.
#[cfg(windows)]
#[expect(clippy::unused_async, reason = "elsewhere, connecting waits")]
pub(crate) async fn probe(_socket: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("clients' own sockets exist on Linux and macOS only"))
}

/// The settings shared by both connections to the hub: no proxy, no redirects.
fn client() -> reqwest::ClientBuilder {
    // Required for building a client. Fails if one is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Nothing here is encrypted, so system certificates are neither needed nor loaded.
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only(std::iter::empty::<reqwest::Certificate>())
}

/// The MCP endpoint of a running hub.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    http: reqwest::Client,
    url: String,
    headers: HeaderMap,
}

/// Why a message got no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostError {
    /// The hub has not received it.
    #[error("{0}")]
    NotSent(String),
    /// The hub may have received it.
    #[error("{0}")]
    Lost(String),
}

/// The start of a response; the body is read in pieces.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    response: reqwest::Response,
}

impl Endpoint {
    /// The endpoint at `url`, used with these headers.
    pub(crate) fn at(url: String, headers: &BTreeMap<String, String>) -> Result<Self, PostError> {
        Self::over(client(), url, headers)
    }

    /// The same over a client's own socket.
    pub(crate) fn at_socket(
        socket: &Path,
        url: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<Self, PostError> {
        Self::over(connected_to(client(), socket), url, headers)
    }

    fn over(
        client: reqwest::ClientBuilder,
        url: String,
        headers: &BTreeMap<String, String>,
    ) -> Result<Self, PostError> {
        let not_sent = |wrong: &dyn std::error::Error| PostError::NotSent(chain(wrong));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|wrong| not_sent(&wrong))?;
            map.insert(name, HeaderValue::from_str(value).map_err(|wrong| not_sent(&wrong))?);
        }
        // If the hub is silent for this long during a call, it will not respond any more.
        let http = client.read_timeout(CALL_TIME).build().map_err(|wrong| not_sent(&wrong))?;
        Ok(Self { http, url, headers: map })
    }

    /// Sends one message.
    pub(crate) async fn post(
        &self,
        headers: &[(&str, String)],
        body: String,
    ) -> Result<HttpAnswer, PostError> {
        let mut request = self
            .http
            .post(&self.url)
            .headers(self.headers.clone())
            .header("accept", "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        self.send(request.body(body)).await
    }

    /// Opens the stream for unsolicited messages.
    pub(crate) async fn listen(&self, headers: &[(&str, String)]) -> Result<HttpAnswer, PostError> {
        let mut request =
            self.http.get(&self.url).headers(self.headers.clone()).header("accept", "text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        self.send(request).await
    }

    /// Ends a session.
    pub(crate) async fn end(&self, headers: &[(&str, String)]) -> Result<HttpAnswer, PostError> {
        let mut request = self.http.delete(&self.url).headers(self.headers.clone());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        self.send(request).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<HttpAnswer, PostError> {
        let response =
            request.send().await.map_err(|wrong| match wrong.is_connect() || wrong.is_builder() {
                true => PostError::NotSent(chain(&wrong)),
                false => PostError::Lost(chain(&wrong)),
            })?;
        Ok(HttpAnswer { response })
    }
}

impl HttpAnswer {
    /// The HTTP status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Is the body a stream of server-sent events?
    pub(crate) fn is_stream(&self) -> bool {
        self.header(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// A header, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The length of the body in bytes, where it is known.
    pub(crate) fn length(&self) -> Option<usize> {
        self.response.content_length().and_then(|length| usize::try_from(length).ok())
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Vec<u8>>, PostError> {
        let piece =
            self.response.chunk().await.map_err(|wrong| PostError::Lost(chain(&wrong.without_url())))?;
        Ok(piece.map(|bytes| bytes.to_vec()))
    }

    /// The remaining body, of at most `limit` bytes.
    pub(crate) async fn whole(mut self, limit: usize) -> Result<Vec<u8>, PostError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            if whole.len() + piece.len() > limit {
                return Err(PostError::Lost(format!("the hub's answer is larger than {limit} bytes")));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}

/// An error with its causes, which HTTP clients nest.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[tokio::test]
    async fn a_missing_damaged_or_stale_address_means_that_no_hub_runs() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        fs::create_dir_all(&places.data).unwrap();
        let stale = serde_json::json!({
            "pid": 1,
            "url": "http://127.0.0.1:1/mcp",
            "socket": home.path().join("gone.sock"),
        });
        let pipe =
            serde_json::json!({ "pid": 1, "url": "http://127.0.0.1:1/mcp", "socket": r"\\.\pipe\satchel-0" });
        for text in [
            None,
            Some("{".to_owned()),
            Some("{}".to_owned()),
            Some(stale.to_string()),
            Some(pipe.to_string()),
        ] {
            if let Some(text) = text {
                fs::write(places.address_file(), text).unwrap();
            }
            assert!(Control::find(&places).await.unwrap().is_none());
        }
    }
}
