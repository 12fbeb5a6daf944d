//! Asks the app that already runs to show its window, over the hub's control channel. Needed where a desktop has no
//! session bus; where it has one, the plugin for single instances has asked before.

use std::{io, path::Path, time::Duration};

use satchel_core::{
    files::Places,
    hub::RunningHub,
    model::request::{Request, ShowWindow},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long the running app may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of the response.
const RESPONSE_BYTES: u64 = 64 * 1024;

/// Does an app with these directories run, and has it been asked to show its window? With `hidden`, it is not asked.
pub(crate) async fn is_shown(places: &Places, hidden: bool, link: Option<String>) -> bool {
    let Some(hub) = RunningHub::read(places) else { return false };
    let request = ShowWindow { link, dry_run: hidden };
    match tokio::time::timeout(PATIENCE, ask(&hub.socket, &request)).await {
        Ok(Ok(done)) => done,
        // Left behind by a killed hub, or too busy to answer.
        Ok(Err(_)) | Err(_) => false,
    }
}

#[cfg(unix)]
async fn ask(socket: &Path, request: &ShowWindow) -> io::Result<bool> {
    exchange(tokio::net::UnixStream::connect(socket).await?, request).await
}

/// Windows needs no session bus.
#[cfg(not(unix))]
fn ask(_socket: &Path, _request: &ShowWindow) -> std::future::Ready<io::Result<bool>> {
    std::future::ready(Err(io::ErrorKind::Unsupported.into()))
}

/// One HTTP request, and whether its status is 200.
#[cfg_attr(not(unix), allow(dead_code))]
async fn exchange(
    mut channel: impl AsyncRead + AsyncWrite + Unpin,
    request: &ShowWindow,
) -> io::Result<bool> {
    let body = request.to_message().map_err(io::Error::other)?.to_string();
    let head = format!(
        "POST /request HTTP/1.1\r\nhost: hub\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    channel.write_all(head.as_bytes()).await?;
    channel.write_all(body.as_bytes()).await?;
    let mut response = Vec::new();
    channel.take(RESPONSE_BYTES).read_to_end(&mut response).await?;
    Ok(response.starts_with(b"HTTP/1.1 200 "))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answered(response: &'static str) -> (bool, String) {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let hub = async move {
            let mut asked = Vec::new();
            while !asked.ends_with(b"}") {
                theirs.read_buf(&mut asked).await.unwrap();
            }
            theirs.write_all(response.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&asked).into_owned()
        };
        let request = ShowWindow { link: Some("satchel:install?name=a".into()), dry_run: false };
        let (done, asked) = tokio::join!(exchange(ours, &request), hub);
        (done.unwrap(), asked)
    }

    #[tokio::test]
    async fn only_an_app_that_agrees_counts() {
        let (done, asked) = answered("HTTP/1.1 200 OK\r\n\r\n{}").await;
        assert!(done);
        let (head, body) = asked.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
        assert!(body.contains(r#""link":"satchel:install?name=a""#), "{body}");
        assert!(!answered("HTTP/1.1 422 Unprocessable Entity\r\n\r\n{}").await.0);
        assert!(!answered("").await.0);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_socket_without_a_server_is_no_app() {
        let wanted = ShowWindow { link: None, dry_run: true };
        assert!(ask(Path::new("/nowhere/control.sock"), &wanted).await.is_err());
    }
}
