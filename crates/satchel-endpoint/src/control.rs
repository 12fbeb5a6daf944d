//! The control channel between faces and a running hub: HTTP over a Unix socket that only this user can open, or over a
//! named pipe.
//!
//! Who connects is told by the system, not by the request. Whatever a server started gets no answer at all; what it asks
//! for is decided by the hub, which is told where it comes from ([`Origin`]). A connection belongs to the process that
//! opened it: each request is looked at anew, and refused where that process has ended.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use axum::{
    Extension, Json, Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, DefaultBodyLimit, Request, State, connect_info::Connected},
    http::StatusCode,
    middleware::{self, Next},
    response::IntoResponse,
    routing::{get, post},
    serve::IncomingStream,
};
use futures_util::stream;
#[cfg(any(windows, test))]
use satchel_core::hub::PIPES;
use satchel_core::{
    ancestry::Caller,
    hub::Hub,
    model::{
        Code, Origin,
        control::{ASKED, Refusal},
        request::Reply,
    },
    tasks::{caught, may_fail_here},
};
use satchel_mcp::sse;
use serde_json::Value;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{ServeError, api, reply};

/// Allows arguments as large as over the endpoint, escaped in a request.
const REQUEST_BYTES: usize = 2 * satchel_mcp::limits::BODY_BYTES;

/// Timeout of identifying the caller.
const LOOKING: Duration = Duration::from_secs(5);

/// The process that opened a connection.
#[derive(Debug, Clone, Copy)]
struct Peer(Caller);

#[cfg(unix)]
impl Connected<IncomingStream<'_, tokio::net::UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, tokio::net::UnixListener>) -> Self {
        Self(Caller::of(stream.io().peer_cred().ok().and_then(|peer| peer.pid())))
    }
}

/// Reading the process id behind a pipe would require an unsafe call.
#[cfg(windows)]
impl Connected<IncomingStream<'_, pipe::Pipes>> for Peer {
    fn connect_info(_: IncomingStream<'_, pipe::Pipes>) -> Self {
        Self(Caller::Unknown)
    }
}

#[derive(Clone)]
pub(crate) struct Channel {
    pub(crate) hub: Hub,
    pub(crate) stop: CancellationToken,
}

fn router(hub: &Hub, stop: &CancellationToken) -> Router {
    Router::new()
        .route("/request", post(handle))
        .route("/events", get(events))
        .merge(api::routes())
        .layer(DefaultBodyLimit::max(REQUEST_BYTES))
        .layer(middleware::from_fn_with_state(hub.clone(), admit))
        .with_state(Channel { hub: hub.clone(), stop: stop.clone() })
}

/// Determines the origin of a request, and refuses callers that an MCP server started.
async fn admit(
    State(hub): State<Hub>,
    ConnectInfo(Peer(caller)): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> axum::response::Response {
    let asked = request.headers().contains_key(ASKED);
    // Reading about a process may take as long as that process likes.
    let looked = tokio::task::spawn_blocking(move || hub.origin_of(caller, asked));
    let unseen =
        || Refusal::new(Code::UnknownOrigin, "the caller could not be identified in time", "Try again.");
    let origin = match tokio::time::timeout(LOOKING, looked).await {
        Ok(Ok(origin)) => origin,
        Ok(Err(_)) | Err(_) => Err(unseen()),
    };
    match origin {
        Ok(origin) => {
            request.extensions_mut().insert(origin);
            next.run(request).await
        }
        Err(refusal) => refused(StatusCode::FORBIDDEN, refusal),
    }
}

async fn handle(
    State(channel): State<Channel>,
    Extension(origin): Extension<Origin>,
    body: Bytes,
) -> axum::response::Response {
    let message: Value = match serde_json::from_slice(&body) {
        Ok(message) => message,
        Err(error) => {
            let message = format!("the request is not valid JSON: {error}");
            return refused(StatusCode::BAD_REQUEST, Refusal::new(Code::BadRequest, message, ""));
        }
    };
    let handled = caught(async {
        may_fail_here("request");
        channel.hub.handle(message, &origin).await
    });
    match handled.await {
        Err(panicked) => {
            let refusal = Refusal::new(Code::Panicked, panicked.to_string(), "");
            refused(StatusCode::INTERNAL_SERVER_ERROR, refusal)
        }
        Ok(Ok(answer)) => Json(Reply::Ok(answer)).into_response(),
        Ok(Err(refusal)) if refusal.code == Code::BadRequest => refused(StatusCode::BAD_REQUEST, refusal),
        Ok(Err(refusal)) => refused(StatusCode::UNPROCESSABLE_ENTITY, refusal),
    }
}

/// A refusal on the channel.
pub(crate) fn refused(status: StatusCode, refusal: Refusal) -> axum::response::Response {
    (status, Json(Reply::<Value>::Refusal(refusal))).into_response()
}

/// The snapshot, now and after every change.
async fn events(State(channel): State<Channel>) -> axum::response::Response {
    let mut watch = channel.hub.watch();
    watch.mark_changed();
    let stream = stream::unfold((watch, channel.stop), |(mut watch, stop)| async {
        tokio::select! {
            changed = watch.changed() => changed.ok()?,
            () = stop.cancelled() => return None,
        }
        let snapshot = serde_json::to_string(&**watch.borrow_and_update()).ok()?;
        let event = sse::SseEvent::message(snapshot).to_wire();
        Some((Ok::<_, Infallible>(Bytes::from(event)), (watch, stop)))
    });
    reply::events(Body::from_stream(stream)).into_response()
}

/// Opens the channel and returns its address.
#[cfg(unix)]
pub(crate) fn open(
    hub: &Hub,
    stop: &CancellationToken,
    tracker: &TaskTracker,
) -> Result<PathBuf, ServeError> {
    use std::os::unix::fs::PermissionsExt;
    let path = socket_path(&hub.places().data).map_err(|error| control_error(&hub.places().data, error))?;
    // The data directory is locked, so an existing socket belongs to a hub that is gone.
    if std::fs::remove_file(&path).is_err() && path.is_dir() {
        let _ = satchel_core::files::set_aside(&path);
    }
    let listener = tokio::net::UnixListener::bind(&path)
        .and_then(|listener| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            Ok(listener)
        })
        .map_err(|error| control_error(&path, error))?;
    let (router, stopped) = (router(hub, stop), stop.clone());
    let (socket, data) = (path.clone(), hub.places().data.clone());
    tracker.spawn(async move {
        let serving = axum::serve(listener, router.into_make_service_with_connect_info::<Peer>())
            .with_graceful_shutdown(async move { stopped.cancelled().await });
        if let Err(error) = serving.await {
            tracing::error!(%error, "the control channel closed");
        }
        remove_socket(&socket, &data);
    });
    Ok(path)
}

fn control_error(path: &Path, error: io::Error) -> ServeError {
    ServeError::Control { path: path.display().to_string(), error }
}

/// In the data directory; or, if that path exceeds the limit for sockets (108 bytes on Linux, 104 on macOS), in a new
/// temporary directory. The address file contains it.
#[cfg(unix)]
fn socket_path(data: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    const LONGEST: usize = 100;
    let beside = data.join("hub.sock");
    if beside.as_os_str().len() <= LONGEST {
        return Ok(beside);
    }
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let dir = std::env::temp_dir().join(format!("satchel-{name}"));
    // Fails if it exists: others could have created it in advance.
    std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir.join("hub.sock"))
}

/// Removes the socket and its directory, if one was created.
#[cfg(unix)]
fn remove_socket(socket: &Path, data: &Path) {
    let _ = std::fs::remove_file(socket);
    if let Some(dir) = socket.parent().filter(|dir| *dir != data) {
        let _ = std::fs::remove_dir(dir);
    }
}

/// An unpredictable pipe name: all accounts of a computer share one namespace, and the first to create a name owns it.
/// The address file, which only this user can read, contains it.
#[cfg(any(windows, test))]
fn pipe_name() -> io::Result<String> {
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{PIPES}satchel-{name}"))
}

/// Opens the channel and returns its address. With the default security descriptor, only its creator and
/// administrators can open a named pipe for writing.
#[cfg(windows)]
pub(crate) fn open(
    hub: &Hub,
    stop: &CancellationToken,
    tracker: &TaskTracker,
) -> Result<PathBuf, ServeError> {
    let path = pipe_name().map_err(|error| control_error(Path::new(PIPES), error))?;
    let pipes = pipe::Pipes::new(&path).map_err(|error| control_error(Path::new(&path), error))?;
    let (router, stopped) = (router(hub, stop), stop.clone());
    tracker.spawn(async move {
        let serving = axum::serve(pipes, router.into_make_service_with_connect_info::<Peer>())
            .with_graceful_shutdown(async move { stopped.cancelled().await });
        if let Err(error) = serving.await {
            tracing::error!(%error, "the control channel closed");
        }
    });
    Ok(path.into())
}

#[cfg(windows)]
mod pipe {
    //! A named pipe as something that accepts connections.
    use std::{io, time::Duration};

    use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

    pub(super) struct Pipes {
        name: String,
        next: NamedPipeServer,
    }

    impl Pipes {
        pub(super) fn new(name: &str) -> io::Result<Self> {
            let next =
                ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).create(name)?;
            Ok(Self { name: name.to_owned(), next })
        }
    }

    impl axum::serve::Listener for Pipes {
        type Io = NamedPipeServer;
        type Addr = String;

        async fn accept(&mut self) -> (Self::Io, Self::Addr) {
            loop {
                let connected = self.next.connect().await;
                let fresh = ServerOptions::new().reject_remote_clients(true).create(&self.name);
                match (connected, fresh) {
                    (Ok(()), Ok(fresh)) => {
                        return (std::mem::replace(&mut self.next, fresh), self.name.clone());
                    }
                    _ => tokio::time::sleep(Duration::from_millis(200)).await,
                }
            }
        }

        fn local_addr(&self) -> io::Result<Self::Addr> {
            Ok(self.name.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_share_the_name_of_a_pipe() {
        let (one, other) = (pipe_name().unwrap(), pipe_name().unwrap());
        assert_ne!(one, other);
        assert!(one.strip_prefix(r"\\.\pipe\satchel-").is_some_and(|random| random.len() == 32), "{one}");
    }
}
