//! The hub is killed without warning, under load, again and again: nothing of it or its servers is left, no file is
//! torn, and the next hub starts.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    measured,
    processes::{Signal, signal},
    random, sized,
};

const SERVERS: usize = 20;
const STUBBORN: [&str; 5] = ["grandchild", "npx_chain", "ignore_sigterm", "ignore_eof", "slow_shutdown"];

/// R4, kill -9 of the hub: 0 processes left within 5 s, 0 torn files, no stale lock, the next start is ready.
#[tokio::test]
async fn a_killed_hub_leaves_no_process_no_torn_file_and_no_lock() {
    let mut arena = Arena::new().await;
    let names: Vec<String> = (0..SERVERS).map(|at| format!("s{at}")).collect();
    for (at, name) in names.iter().enumerate() {
        let chaos = STUBBORN.get(at).map_or_else(Chaos::new, |mode| Chaos::mode(mode));
        arena.add(name, chaos);
    }
    let (seed, mut random) = random();
    let rounds = sized(5, 200);
    let mut slowest = Duration::ZERO;
    let mut hub = arena.open().await;
    known(&arena.home, &names).await;
    let config = arena.home.config_text();
    for round in 0..rounds {
        let client = Arc::new(hub.client("one").await);
        let mut woken = JoinSet::new();
        for name in names.clone() {
            let client = client.clone();
            woken
                .spawn(async move { client.execute(&format!("{name}:echo"), json!({ "text": name })).await });
        }
        woken.join_all().await.iter().for_each(|answer| assert!(answer.outcome.is_ok(), "{answer:?}"));
        let running = arena.server_processes().len();
        assert!(running >= SERVERS, "all servers and their helpers run: {running}");

        // Load that is still going on when the hub dies; nobody waits for its answers.
        let load: Vec<_> = names
            .iter()
            .map(|name| {
                let mut call = arena.home.command(satchel_tests::program("satchel"));
                call.args(["call", &format!("{name}:sleep"), r#"{"ms": 2000}"#]);
                call.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                call.spawn().expect("satchel can be started")
            })
            .take(random.usize(0..4))
            .collect();
        tokio::time::sleep(Duration::from_millis(random.u64(0..300))).await;
        let killed = hub.pid;
        signal(killed, Signal::KILL);
        hub.kill().await;
        drop(load);
        let took = arena.gone(&format!("kill -9 of the hub in round {round}"), Arena::everything).await;
        slowest = slowest.max(took);
        assert_eq!(arena.home.config_text(), config, "the configuration is as it was");
        hub = arena.home.start_hub().await;
    }
    assert_eq!(hub.client("one").await.execute("s9:echo", json!({ "text": "x" })).await.text(), "x");
    measured!("kill -9 of the hub: seed {seed}, {rounds} rounds, 0 left, slowest {slowest:.2?}");
}
