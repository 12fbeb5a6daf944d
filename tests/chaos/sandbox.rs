//! S36: a server in a sandbox works, and gets out of it nowhere; without one it gets out in most places, which shows that
//! the probes are good ones.

use std::{os::unix::fs::PermissionsExt, path::Path};

use satchel_tests::{Client, Home};
use serde_json::{Value, json};

use crate::{
    arena::{Arena, fixture, python},
    measured,
};

const SECRET: &str = "canary-in-the-sandbox";
/// Attempts of the probing server.
const PROBES: usize = 38;

/// Creates files to read, change and delete.
fn furnish(home: &Home) {
    let write = |name: &str, text: &str| {
        let path = home.file(name);
        std::fs::create_dir_all(path.parent().expect("it is below the home")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    };
    write("secret.txt", SECRET);
    write(".ssh/id_ed25519", SECRET);
    for name in ["to-move.txt", "to-empty.txt", "to-remove.txt", ".bashrc", "allowed/there.txt"] {
        write(name, "x");
    }
    write("readable/words.txt", "some words");
    home.write_program("program.sh", &format!("#!/bin/sh\necho {SECRET}\n"));
}

fn entry(home: &Home, port: u16, sandbox: Option<Value>) -> Value {
    let text = |path: &Path| path.to_str().expect("temporary paths are UTF-8").to_owned();
    let common = std::env::temp_dir()
        .join(format!("probe-{}", home.path().file_name().expect("a home has a name").to_string_lossy()));
    let mut entry = json!({
        "command": python(),
        "args": ["-B", fixture("sandbox_probe.py")],
        "env": {
            "PROBE_HOME": text(home.path()),
            "PROBE_ALLOWED": text(&home.file("allowed")),
            "PROBE_READABLE": text(&home.file("readable/words.txt")),
            "PROBE_CONFIG": text(&home.file("config.json")),
            "PROBE_COMMON": text(&common),
            "PROBE_SOCKET": text(&home.file("data/hub.sock")),
            "PROBE_PORT": port.to_string(),
        },
    });
    if let Some(sandbox) = sandbox {
        entry["sandbox"] = sandbox;
    }
    entry
}

async fn said(client: &Client, path: &str) -> Value {
    let text = client.execute(path, json!({})).await.text();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn got_through(said: &Value) -> Vec<&str> {
    let all = said.as_object().expect("by name");
    assert_eq!(all.len(), PROBES);
    all.iter().filter(|(_, through)| **through == true).map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn in_its_sandbox_a_server_works_and_gets_out_nowhere() {
    let arena = Arena::new().await;
    let home = &arena.home;
    furnish(home);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it has one").port();
    let readable = home.file("readable");
    let read = json!([python_itself(), fixture("sandbox_probe.py"), readable]);
    let inside = json!({ "read": read, "write": [home.file("allowed")], "network": false });
    let mut online = inside.clone();
    online["network"] = json!(true);
    home.write_config(&json!({ "mcpServers": {
        "inside": entry(home, port, Some(inside)),
        "online": entry(home, port, Some(online)),
        "free": entry(home, port, None),
    } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    crate::arena::known(home, &["inside".to_owned(), "online".to_owned(), "free".to_owned()]).await;

    let work = said(&client, "inside:work").await;
    assert_eq!(work, json!({ "readable": "some words", "changed": false, "child": "42", "network": false }));
    assert_eq!(std::fs::read_to_string(home.file("allowed/mine.txt")).expect("it was written"), "mine");
    // S21: what a server writes is private to its user.
    let mode = std::fs::metadata(home.file("allowed/mine.txt")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let tried = said(&client, "inside:probe").await;
    measured!("in the sandbox {} of {PROBES} got through", got_through(&tried).len());
    assert_eq!(got_through(&tried), Vec::<&str>::new());

    let work = said(&client, "online:work").await;
    assert_eq!((&work["network"], &work["child"]), (&json!(true), &json!("42")));
    let tried = said(&client, "online:probe").await;
    let network = ["connect", "send a datagram", "listen"];
    assert_eq!(got_through(&tried), network, "the network, and nothing else");

    let tried = said(&client, "free:probe").await;
    let through = got_through(&tried);
    measured!("without it {} of {PROBES} got through; not {:?}", through.len(), {
        let all = tried.as_object().expect("by name");
        all.iter().filter(|(_, through)| **through == false).map(|(name, _)| name).collect::<Vec<_>>()
    });
    assert!(through.len() >= 28, "the probes are none: {tried}");
}

/// Python is not always in a system directory.
fn python_itself() -> String {
    let said =
        std::process::Command::new(python()).args(["-c", "import sys; print(sys.base_prefix)"]).output();
    String::from_utf8(said.expect("python runs").stdout).expect("a path").trim().to_owned()
}
