//! The control channel as bytes: one request, one answer, over the running hub's socket. Much cheaper than a command.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use satchel_tests::Home;
use serde_json::Value;

/// A running hub's control channel.
#[derive(Clone)]
pub(crate) struct Control {
    socket: PathBuf,
}

impl Control {
    /// As given in the address file.
    pub(crate) fn of(home: &Home) -> Self {
        let address = std::fs::read(home.file("data/hub.json")).expect("a running hub has an address file");
        let address: Value = serde_json::from_slice(&address).expect("it is JSON");
        Self { socket: address["socket"].as_str().expect("with a socket").into() }
    }

    /// Sends a request; `None` if the hub went away before it answered. Panics on a refusal.
    pub(crate) async fn request(&self, request: Value) -> Option<Value> {
        let socket = self.socket.clone();
        let asked = tokio::task::spawn_blocking(move || ask(&socket, &request.to_string()));
        let answer = asked.await.expect("asking does not panic")?;
        assert!(answer.get("ok").is_some(), "the hub refused: {answer}");
        Some(answer["ok"].clone())
    }
}

impl Control {
    /// Follows the snapshot, as a window does, until the result is dropped: the hub composes none without a follower.
    pub(crate) async fn follow(&self) -> UnixStream {
        let socket = self.socket.clone();
        let following = tokio::task::spawn_blocking(move || {
            let mut stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.write_all(b"GET /events HTTP/1.1\r\nhost: satchel\r\n\r\n")?;
            // The response begins once the subscription is active.
            stream.read_exact(&mut [0; 12])?;
            std::io::Result::Ok(stream)
        });
        following.await.expect("asking does not panic").expect("the hub runs")
    }
}

/// HTTP/1.0, so that the end of the response is the end of the connection.
fn ask(socket: &Path, body: &str) -> Option<Value> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let head =
        format!("POST /request HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}
