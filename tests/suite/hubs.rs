//! The hub as a process: one per home, and nothing is left behind when it ends, however it ends.

use satchel_tests::{Fake, Home, eventually, host_of, process};
use serde_json::{Value, json};

/// Configures a server that does not exit when asked, with a helper that ignores signals.
fn stubborn(home: &Home) {
    let fake = Fake::new(home, "stubborn").behaving(&["--ignore-eof", "--grandchild"]);
    let toolbox = json!({ "command": "satchel", "args": ["toolbox"] });
    home.write_config(&json!({ "mcpServers": { "stubborn": fake.entry(), "toolbox": toolbox } }));
}

async fn nothing_left(home: &Home) {
    let mut left = Vec::new();
    eventually("every process of this home is gone", async || {
        left = home.processes();
        left.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn killing_the_hub_leaves_no_process_behind() {
    let home = Home::empty();
    stubborn(&home);
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    client.execute("stubborn:echo", json!({ "text": "x" })).await.text();
    client.execute("toolbox:hash_text", json!({ "text": "x" })).await.text();
    let running: Vec<String> = home.processes().into_iter().map(|process| process.command).collect();
    for part in ["fake-mcp-server", "sleep 600", "toolbox"] {
        assert!(running.iter().any(|command| command.contains(part)), "{part} runs: {running:?}");
    }
    hub.kill().await;
    nothing_left(&home).await;
}

#[tokio::test]
async fn a_polite_end_lets_calls_finish_and_leaves_nothing_behind() {
    let home = Home::empty();
    stubborn(&home);
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let end = home.file("end");
    let arguments = json!({ "ms": 120_000, "until": end });
    let call =
        tokio::task::JoinSet::from_iter([
            async move { client.execute("stubborn:sleep", arguments).await.text() },
        ]);
    eventually("the call is under way", async || {
        (hub.server("stubborn").await["in_flight"] == 1).then_some(())
    })
    .await;
    let address = host_of(&hub.url).to_owned();
    let (ended, ()) = tokio::join!(hub.terminate(), async {
        // It ends while the hub waits for it.
        eventually("the hub takes no more connections", async || {
            tokio::net::TcpStream::connect(&address).await.is_err().then_some(())
        })
        .await;
        std::fs::write(end, "").expect("the home can be written to");
    });
    assert_eq!(ended, Some(0));
    assert!(call.join_all().await[0].starts_with("pid "), "a call under way is answered");
    nothing_left(&home).await;
    assert!(!home.file("data/hub.json").exists(), "nothing says that a hub runs");
}

#[tokio::test]
async fn the_address_file_names_the_hub_and_its_socket_is_private() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let address: Value = serde_json::from_slice(&std::fs::read(home.file("data/hub.json")).unwrap()).unwrap();
    assert_eq!((&address["pid"], &address["url"]), (&json!(hub.pid), &json!(hub.url)));
    let socket = std::fs::metadata(address["socket"].as_str().unwrap()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&socket.permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_second_hub_in_one_home_names_the_first() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let second = home.satchel(&["serve", "--port", "0", "--json"]).await;
    second.failed_with(1);
    assert!(second.stderr.contains(&hub.pid.to_string()) && second.stderr.contains(&hub.url), "{second:?}");
    assert!(process::is_alive(hub.pid));
    hub.client("one").await;
}

#[tokio::test]
async fn a_hub_that_was_killed_does_not_keep_the_next_one_out() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    hub.kill().await;
    let hub = home.start_hub().await;
    let again = satchel_tests::Connection { url: hub.url.clone(), headers: connection.headers };
    satchel_tests::Client::open(&again, "2025-11-25").await;
}

#[tokio::test]
async fn the_hub_listens_to_this_computer_only() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let port = hub.url.split(':').next_back().unwrap().split('/').next().unwrap();
    let port: u16 = port.parse().unwrap();
    // The kernel's table: local address and port in hexadecimal, state 0A is listening.
    let listening: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (address, local_port) = fields.get(1)?.split_once(':')?;
            let ours = *fields.get(3)? == "0A" && u16::from_str_radix(local_port, 16) == Ok(port);
            ours.then(|| address.to_owned())
        })
        .collect();
    assert!(!listening.is_empty());
    let loopback = ["0100007F", "00000000000000000000000001000000"];
    assert!(listening.iter().all(|address| loopback.contains(&address.as_str())), "{listening:?}");
}
