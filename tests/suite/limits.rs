//! How much a client may send: just under a limit works, just over it is refused with a reason, and the next request
//! is served as if nothing had been.

use satchel_tests::{Connection, Home, eventually, host_of};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const MIB: usize = 1024 * 1024;

/// Sends a request as bytes, so that nothing is added; returns status and body.
async fn send(connection: &Connection, headers: &[(String, String)], body: &str) -> (u16, String) {
    let host = host_of(&connection.url);
    let mut head = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    head += &format!("content-length: {}\r\n", body.len());
    for (name, value) in connection.headers.iter().chain(headers.iter().map(|(name, value)| (name, value))) {
        head += &format!("{name}: {value}\r\n");
    }
    let stream = TcpStream::connect(host).await.expect("the endpoint listens");
    let (mut reading, mut writing) = stream.into_split();
    let message = format!("{head}\r\n{body}");
    // A refusal may come before everything is read.
    let (_, answer) = tokio::join!(
        async {
            let _ = writing.write_all(message.as_bytes()).await;
        },
        async {
            let mut answer = Vec::new();
            let _ = reading.read_to_end(&mut answer).await;
            String::from_utf8_lossy(&answer).into_owned()
        }
    );
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
}

/// The first request of a session with additional parameters.
fn hello(added: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"x","version":"1"}},"added":{added}}}}}"#
    )
}

fn hello_of(bytes: usize) -> String {
    let frame = hello("\"\"").len();
    hello(&format!("\"{}\"", "x".repeat(bytes - frame)))
}

#[tokio::test]
async fn a_body_may_be_four_mebibytes_or_as_large_as_the_configuration_says() {
    let home = Home::with_servers(json!({}));
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    assert_eq!(send(&connection, &[], &hello_of(4 * MIB)).await.0, 200);
    let (status, reason) = send(&connection, &[], &hello_of(4 * MIB + 1)).await;
    assert_eq!(status, 413);
    assert!(reason.contains("4 MiB") && reason.contains("maxRequestMiB"), "{reason}");

    home.edit_config(|config| config["maxRequestMiB"] = json!(5));
    eventually("the new limit holds", async || {
        (send(&connection, &[], &hello_of(4 * MIB + 1)).await.0 == 200).then_some(())
    })
    .await;
    assert_eq!(send(&connection, &[], &hello_of(5 * MIB)).await.0, 200);
    assert_eq!(send(&connection, &[], &hello_of(5 * MIB + 1)).await.0, 413);
}

#[tokio::test]
async fn a_message_may_nest_up_to_the_parsers_limit() {
    let home = Home::with_servers(json!({}));
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    // The message and its parameters are two levels.
    let nested = |levels: usize| hello(&format!("{}{}", "[".repeat(levels - 2), "]".repeat(levels - 2)));
    assert_eq!(send(&connection, &[], &nested(128)).await.0, 200);
    let (status, reason) = send(&connection, &[], &nested(129)).await;
    assert_eq!(status, 400);
    assert!(reason.contains("error"), "{reason}");
    assert_eq!(send(&connection, &[], &nested(1_000_000)).await.0, 400);
    assert_eq!(send(&connection, &[], &hello("1")).await.0, 200, "the next one is served");
}

#[tokio::test]
async fn headers_are_bounded_in_number_and_size() {
    let home = Home::with_servers(json!({}));
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    // `send` itself writes five fields and the token.
    let fields = |count: usize| (6..count).map(|at| (format!("x-{at}"), "y".to_owned())).collect::<Vec<_>>();
    assert_eq!(send(&connection, &fields(100), &hello("1")).await.0, 200);
    assert_eq!(send(&connection, &fields(101), &hello("1")).await.0, 431);
    let long = |bytes: usize| [("x-long".to_owned(), "y".repeat(bytes))];
    assert_eq!(send(&connection, &long(31 * 1024), &hello("1")).await.0, 200);
    assert_eq!(send(&connection, &long(33 * 1024), &hello("1")).await.0, 431);
    assert_eq!(send(&connection, &[], &hello("1")).await.0, 200, "the next one is served");
}
