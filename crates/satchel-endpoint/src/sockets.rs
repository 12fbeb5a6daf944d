//! Unix sockets for single clients, as the configuration names them: for a container, which is given its socket and nothing
//! else of this computer. MCP alone is spoken there, and only with that client's token. The control channel, which has all
//! say, is another socket.
//!
//! Theory of operation: one task follows the configuration and opens and closes sockets by it. Whatever stands at a path
//! stays there, unless it is a socket that nobody listens at any more.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{body::Body, extract::Request};
use satchel_core::{
    config::Config,
    hub::Hub,
    model::{Code, Notice},
    platform::Environment,
    upstream::{ancestry::Caller, peer::Peer},
};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    connection::{self, Answers, Connections},
    http::OnlyFor,
};

/// Out of descriptors, for example: trying again at once would only burn the processor.
const AGAIN: Duration = Duration::from_millis(200);

/// A socket that is listened at; closed and taken away when dropped.
#[derive(Debug)]
struct ClientSocket {
    path: PathBuf,
    stop: CancellationToken,
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        self.stop.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Listens where the configuration says, until `stop`. `places` is the number of connections of each socket.
pub(crate) async fn follow(
    hub: Hub,
    answers: Answers,
    places: usize,
    stop: CancellationToken,
    tracker: TaskTracker,
) {
    let home = Environment::of_this_process().home();
    let mut config = hub.watch_config();
    let mut sockets: BTreeMap<String, ClientSocket> = BTreeMap::new();
    loop {
        let wanted = wanted(&config.borrow_and_update(), home.as_deref());
        sockets.retain(|client, socket| wanted.get(client) == Some(&socket.path));
        for (client, path) in wanted {
            if sockets.contains_key(&client) {
                continue;
            }
            match bind(&path).await {
                Ok(listener) => {
                    tracing::info!(client, path = %path.display(), "serving one client at a socket");
                    let (answers, stop) = (only_for(&client, answers.clone()), stop.child_token());
                    tracker.spawn(accept(listener, answers, places, stop.clone(), tracker.clone()));
                    sockets.insert(client, ClientSocket { path, stop });
                }
                Err(error) => {
                    let message =
                        format!("cannot open the socket of {client} at {}: {error}", path.display());
                    tracing::warn!("{message}");
                    hub.notice(Notice::new(Code::SocketNotOpened, message));
                }
            }
        }
        tokio::select! {
            changed = config.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

/// The same answers, for this client alone.
fn only_for(client: &str, answers: Answers) -> Answers {
    let only = OnlyFor(client.into());
    Arc::new(move |mut request: Request<Body>| {
        request.extensions_mut().insert(only.clone());
        answers(request)
    })
}

fn wanted(config: &Config, home: Option<&Path>) -> BTreeMap<String, PathBuf> {
    let whole = |path: &String| match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(path),
    };
    config.sockets().iter().map(|(client, path)| (client.clone(), whole(path))).collect()
}

/// Only this user may open it. A container sees the directory that is mounted, so that it may outlive a hub.
async fn bind(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
    if let Some(directory) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something else is there"));
        }
        Ok(_) if UnixStream::connect(path).await.is_ok() => {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens there"));
        }
        // Left behind by a hub that was killed.
        Ok(_) => std::fs::remove_file(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Accepts connections until `stop`, which ends them too.
async fn accept(
    listener: UnixListener,
    answers: Answers,
    places: usize,
    stop: CancellationToken,
    tracker: TaskTracker,
) {
    let connections = Arc::new(Connections::new(places));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return connections.end(),
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection at a socket");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
        match connections.enter(Peer::Process(Caller::of(peer))).await {
            Some(place) => {
                tracker.spawn(connection::carry(stream, answers.clone(), place));
            }
            None => {
                tracker.spawn(async move {
                    let message = format!("{places} connections are open; close some first");
                    connection::refuse(stream, "503 Service Unavailable", &message).await;
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_socket_without_a_listener_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("below/box.sock");
        let first = bind(&path).await.unwrap();
        assert_eq!(bind(&path).await.unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        let _second = bind(&path).await.unwrap();
        let file = home.path().join("notes.txt");
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(bind(&file).await.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
