//! Binds the port on loopback and shuts down in order.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use satchel_core::{
    clients::told,
    files::Places,
    hub::{Hub, USUAL_PORT},
    model::{Code, Notice},
    upstream::peer::Peer,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::{unconstrained, yield_now},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[cfg(unix)]
use crate::sockets;
use crate::{
    address_file::AddressFile,
    connection::{self, Answers, Connections},
    control, http, otlp,
};

/// Number of ports tried after the default one, so that clients' configurations may stay valid.
const FALLBACKS: u16 = 9;
/// Length of the accept queue; systems may limit it. Connections beyond it are dropped, and clients retry only after
/// seconds.
const WAITING: u32 = 4_096;
/// Maximum number of connections accepted before other tasks run.
const AT_A_TURN: usize = connection::CONNECTIONS;
/// Maximum number of header fields.
pub(crate) const HEADERS: usize = 100;
/// Maximum size of a request's head, in bytes.
pub(crate) const HEADER_BYTES: usize = 32 * 1024;
/// How long shutdown waits for calls in flight. Servers give them less and then stop, so that each call gets its
/// response in time; anything else is aborted.
const DRAIN: Duration = Duration::from_millis(1_500);

/// Why serving failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is unavailable.
    #[error("cannot listen on port {port}: {error}")]
    Port {
        /// The port.
        port: u16,
        /// Why.
        error: io::Error,
    },
    /// The control channel cannot be opened.
    #[error("cannot open the control channel at {path}: {error}")]
    Control {
        /// Its path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The address file cannot be written.
    #[error("{0}")]
    Address(io::Error),
}

/// A running endpoint.
#[derive(Debug)]
pub struct Endpoint {
    url: String,
    hub: Hub,
    app: Arc<http::App>,
    stop: CancellationToken,
    tracker: TaskTracker,
    _address: AddressFile,
}

/// A bound port. Connections wait until it is served.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    /// For clients that resolve localhost to ::1. Without IPv6, or if the port is taken there, they use 127.0.0.1.
    also: Option<TcpListener>,
    number: u16,
    /// It replaces this port, which another program has taken.
    instead_of: Option<u16>,
}

/// Binds a loopback port: with `None`, the one that clients were told, the default one, or another if these are taken;
/// otherwise exactly this one, where 0 means any. Done before the hub is opened, which takes a moment with many servers, so that clients that start with
/// the computer wait instead of being refused.
///
/// # Errors
/// [`ServeError::Port`] if it is unavailable.
pub fn listen(port: Option<u16>, places: &Places) -> Result<Port, ServeError> {
    let (listener, number, instead_of) = bind(port, told::port(&places.data))?;
    let also = listen_at((Ipv6Addr::LOCALHOST, number).into()).ok();
    Ok(Port { listener, also, number, instead_of })
}

/// Serves `hub` at a port. Opens the control channel and writes the address file.
///
/// # Errors
/// [`ServeError`] if something cannot be opened or bound; nothing is served then.
pub async fn serve(hub: &Hub, port: Result<Port, ServeError>) -> Result<Endpoint, ServeError> {
    let Port { listener, also, number, instead_of } = port?;
    if let Some(taken) = instead_of {
        let message = format!("port {taken} is taken by another program; serving on port {number}");
        tracing::warn!("{message}");
        hub.notice(Notice::new(Code::PortTaken, message));
    }
    let url = format!("http://127.0.0.1:{number}/mcp");
    let (stop, tracker) = (CancellationToken::new(), TaskTracker::new());
    let app = Arc::new(http::App::new(hub.clone(), number, stop.clone(), tracker.clone()));
    let socket = control::open(hub, &stop, &tracker)?;
    let answers = http::answers(app.clone());
    let places = connection::places(hub.descriptors().limit);
    let connections = Arc::new(Connections::new(places));
    for listener in [Some(listener), also].into_iter().flatten() {
        let (answers, connections) = (answers.clone(), connections.clone());
        tracker.spawn(accept(listener, answers, connections, stop.clone(), tracker.clone()));
    }
    #[cfg(unix)]
    tracker.spawn(sockets::follow(hub.clone(), answers, places, stop.clone(), tracker.clone()));
    let address = AddressFile::write(hub.places(), &url, &socket).map_err(ServeError::Address)?;
    hub.set_endpoint(Some(url.clone()));
    otlp::begin(hub, &stop, &tracker);
    tracing::info!(url, "serving");
    Ok(Endpoint { url, hub: hub.clone(), app, stop, tracker, _address: address })
}

impl Endpoint {
    /// The address for clients.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Stops accepting, lets calls in flight finish for a while, then aborts the rest.
    pub async fn shutdown(self) {
        self.hub.set_endpoint(None);
        self.stop.cancel();
        self.tracker.close();
        // Idle notification streams end immediately; calls may finish.
        let drained = tokio::time::timeout(DRAIN, self.tracker.wait()).await;
        self.app.sessions.close_all();
        self.app.parked.clear();
        if drained.is_err() {
            tracing::warn!("aborted calls in flight");
        }
    }
}

/// The listener, its port, and the port that it replaces. `told`: where clients expect it.
fn bind(port: Option<u16>, told: Option<u16>) -> Result<(TcpListener, u16, Option<u16>), ServeError> {
    let listen = |port| {
        let listener = listen_at((Ipv4Addr::LOCALHOST, port).into())?;
        let port = listener.local_addr()?.port();
        Ok::<_, io::Error>((listener, port))
    };
    let wanted = port.or(told).unwrap_or(USUAL_PORT);
    let mut last = match listen(wanted) {
        Ok((listener, port)) => return Ok((listener, port, None)),
        Err(error) => error,
    };
    if port.is_none() {
        for port in (USUAL_PORT..=USUAL_PORT + FALLBACKS).filter(|port| *port != wanted).chain([0]) {
            match listen(port) {
                Ok((listener, port)) => return Ok((listener, port, Some(wanted))),
                Err(error) => last = error,
            }
        }
    }
    Err(ServeError::Port { port: wanted, error: last })
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Outside Windows, this allows reusing the port of the previous hub immediately. On Windows, it would let two
    // programs listen on the same port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

async fn accept(
    listener: TcpListener,
    answers: Answers,
    connections: Arc<Connections>,
    stop: CancellationToken,
    tracker: TaskTracker,
) {
    let admit = async |stream: TcpStream, theirs: SocketAddr| {
        let _ = stream.set_nodelay(true);
        let peer = stream.local_addr().map_or(Peer::Unknown, |ours| Peer::Tcp { theirs, ours });
        match connections.enter(peer).await {
            Some(place) => {
                tracker.spawn(connection::carry(stream, answers.clone(), place));
            }
            None => {
                let places = connections.places();
                tracker.spawn(async move {
                    let message = format!("{places} connections are open; close some first");
                    connection::refuse(stream, "503 Service Unavailable", &message).await;
                });
            }
        }
    };
    // Accepts all waiting connections together: one at a time, a flood would fill the queue.
    let letting_in = unconstrained(async {
        let mut at_this_turn = 0;
        loop {
            match listener.accept().await {
                Ok((stream, theirs)) => admit(stream, theirs).await,
                Err(error) => {
                    // Out of file descriptors, for example: retrying immediately would only waste CPU.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
            at_this_turn += 1;
            if at_this_turn == AT_A_TURN {
                at_this_turn = 0;
                yield_now().await;
            }
        }
    });
    tokio::select! {
        () = letting_in => {}
        () = stop.cancelled() => connections.end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_starts_before_the_hub_waits() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        let port = listen(Some(0), &places).unwrap();
        let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, port.number)).await;
        assert!(connected.is_ok(), "nothing is served yet");
        assert!(matches!(listen(Some(port.number), &places), Err(ServeError::Port { .. })), "it is ours");
    }

    #[tokio::test]
    async fn the_port_that_clients_were_told_is_taken_again_while_it_is_free() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        std::fs::create_dir_all(&places.data).unwrap();
        let before = listen(Some(0), &places).unwrap();
        let number = before.number;
        told::tell(&places.data, "cursor", &format!("http://127.0.0.1:{number}/mcp")).unwrap();
        let moved = listen(None, &places).unwrap();
        assert_ne!(moved.number, number);
        assert_eq!(moved.instead_of, Some(number), "the notice names the port that clients expect");
        drop((before, moved));
        let again = listen(None, &places).unwrap();
        assert_eq!((again.number, again.instead_of), (number, None));
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn thousands_may_wait_to_be_let_in() {
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let most = most.trim().parse::<u32>().unwrap().min(WAITING);
        let listener = listen_at((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = listener.local_addr().unwrap();
        for at in 0..most {
            let connecting = tokio::time::timeout(Duration::from_secs(60), TcpStream::connect(address)).await;
            // It waits on although its client has gone.
            drop(connecting.unwrap_or_else(|_| panic!("{at} wait and no more")).unwrap());
        }
    }
}
