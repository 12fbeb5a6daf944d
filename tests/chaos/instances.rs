//! Two hubs never share a data directory, however close their starts; a port that somebody else has is said so.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    task::JoinSet,
};

use crate::{arena::Arena, measured, sized};

/// R17, two instances: never two writers.
#[tokio::test]
async fn of_hubs_started_at_once_one_runs_and_the_others_name_it() {
    let races = sized(10, 100);
    for race in 0..races {
        let arena = Arena::new().await;
        arena.home.write_config(&json!({ "mcpServers": {} }));
        let mut starting = JoinSet::new();
        for _ in 0..3 {
            let mut command = arena.home.command(satchel_tests::program("satchel"));
            command
                .args(["serve", "--port", "0", "--json", "--trust-config"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut process = command.spawn().expect("satchel can be started");
            starting.spawn(async move {
                let stdout = process.stdout.take().expect("its standard output is a pipe");
                let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
                match line {
                    Some(line) => (Some((line, process)), String::new()),
                    None => {
                        let output = process.wait_with_output().await.expect("it can be waited for");
                        assert_eq!(output.status.code(), Some(1), "race {race}: {output:?}");
                        (None, String::from_utf8_lossy(&output.stderr).into_owned())
                    }
                }
            });
        }
        let ended = starting.join_all().await;
        let running: Vec<&String> = ended.iter().filter_map(|(ran, _)| Some(&ran.as_ref()?.0)).collect();
        assert_eq!(running.len(), 1, "race {race}: {running:?}");
        let ready: Value = serde_json::from_str(running[0]).expect("its line is JSON");
        let address: Value = serde_json::from_slice(
            &std::fs::read(arena.home.file("data/hub.json")).expect("it has an address"),
        )
        .expect("JSON");
        assert_eq!(address["pid"], ready["pid"], "race {race}: the address is the winner's");
        for (_, words) in ended.iter().filter(|(ran, _)| ran.is_none()) {
            assert!(words.contains(&ready["pid"].to_string()), "race {race}: the loser names it: {words}");
        }
    }
    measured!("instances: {races} races of 3, always exactly one");
}

/// R17, port taken: reported, and its owner gets no token.
#[tokio::test]
async fn a_port_of_another_program_is_refused_loudly_and_gets_no_token() {
    let arena = Arena::new().await;
    arena.configure();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let heard = tokio::spawn(async move { listener.accept().await });
    let refused = arena.home.satchel(&["serve", "--port", &port.to_string(), "--json"]).await;
    refused.failed_with(1);
    assert!(refused.stderr.contains(&port.to_string()), "{refused:?}");
    // A hub at another port; clients get its address, never the other program's.
    let hub = arena.home.start_hub().await;
    assert!(!hub.url.contains(&format!(":{port}/")));
    assert_eq!(hub.connection("editor").await.url, hub.url);
    assert!(!heard.is_finished(), "nobody spoke to the other program");
    heard.abort();
}
