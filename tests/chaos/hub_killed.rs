//! The hub is killed without warning, under load, again and again: nothing of it or its servers is left, no file is
//! torn, and the next hub starts.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known, python},
    measured,
    processes::{Signal, signal},
    random, sized, soaking,
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
    let (mut slowest, mut slowest_start) = (Duration::ZERO, Duration::ZERO);
    let mut calm_rounds = 0;
    let mut hub = arena.open().await;
    known(&arena.home, &names).await;
    let config = arena.home.config_text();
    for round in 0..rounds {
        let client = Arc::new(hub.client("one").await);
        let counted = recorded(&arena).await;
        let mut woken = JoinSet::new();
        for name in names.clone() {
            let client = client.clone();
            woken
                .spawn(async move { client.execute(&format!("{name}:echo"), json!({ "text": name })).await });
        }
        woken.join_all().await.iter().for_each(|answer| assert!(answer.outcome.is_ok(), "{answer:?}"));
        let running = arena.server_processes().len();
        assert!(running >= SERVERS, "all servers and their helpers run: {running}");

        // In every other round the last call ends longer before the kill than a record may take to be stored.
        let calm = round % 2 == 1;
        if calm {
            tokio::time::sleep(Duration::from_millis(1_200)).await;
        }
        // Load in flight when the hub dies; nobody waits for its answers.
        let load: Vec<_> = names
            .iter()
            .map(|name| {
                let mut call = arena.home.command(satchel_tests::program("satchel"));
                call.args(["call", &format!("{name}:sleep"), r#"{"ms": 2000}"#]);
                call.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                call.spawn().expect("satchel can be started")
            })
            .take(if calm { 0 } else { random.usize(0..4) })
            .collect();
        tokio::time::sleep(Duration::from_millis(random.u64(0..300))).await;
        let killed = hub.pid;
        signal(killed, Signal::KILL);
        hub.kill().await;
        drop(load);
        let took = arena.gone(&format!("kill -9 of the hub in round {round}"), Arena::everything).await;
        slowest = slowest.max(took);
        assert_eq!(arena.home.config_text(), config, "the configuration is as it was");
        assert_eq!(damage(&arena).await, "ok", "the ledger is whole");
        let begin = tokio::time::Instant::now();
        hub = arena.home.start_hub().await;
        slowest_start = slowest_start.max(begin.elapsed());
        if calm {
            assert_eq!(recorded(&arena).await, counted + SERVERS as u64, "round {round}: no record is lost");
            calm_rounds += 1;
        }
    }
    assert!(calm_rounds > 0 && recorded(&arena).await > 0);
    assert_eq!(hub.client("one").await.execute("s9:echo", json!({ "text": "x" })).await.text(), "x");
    measured!(
        "kill -9 of the hub: seed {seed}, {rounds} rounds, 0 left, slowest {slowest:.2?}; ready again after at most \
        {slowest_start:.2?}; {calm_rounds} times no record lost"
    );
    assert!(!soaking() || slowest_start <= Duration::from_secs(3), "a start took {slowest_start:.2?}");
}

/// The number of calls in the statistics.
async fn recorded(arena: &Arena) -> u64 {
    let stats = arena.home.satchel(&["stats", "--json"]).await.json();
    stats["totals"]["calls"].as_u64().expect("a number of calls")
}

/// What SQLite's check finds in a copy of the ledger, so that the original stays as the kill left it.
async fn damage(arena: &Arena) -> String {
    let program = "import shutil, sqlite3, sys, tempfile\n\
        with tempfile.TemporaryDirectory() as copy:\n\
        \x20   for end in ('', '-wal'):\n\
        \x20       try: shutil.copy(sys.argv[1] + end, copy + '/ledger.db' + end)\n\
        \x20       except FileNotFoundError: pass\n\
        \x20   db = sqlite3.connect(copy + '/ledger.db')\n\
        \x20   assert db.execute(\"select count(*) from sqlite_master\").fetchone()[0] > 0\n\
        \x20   print(db.execute('pragma integrity_check').fetchone()[0])";
    let mut command = arena.home.command(python());
    let output = command.args(["-c", program]).arg(arena.home.file("data/ledger.db")).output().await;
    let output = output.expect("python runs");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
}

#[tokio::test]
async fn a_planted_damage_of_the_ledger_is_found() {
    let mut arena = Arena::new().await;
    arena.add("s", Chaos::new());
    let hub = arena.open().await;
    hub.client("one").await.execute("s:echo", json!({ "text": "x" })).await.text();
    assert_eq!(hub.terminate().await, Some(0));
    assert_eq!(damage(&arena).await, "ok");
    let file = arena.home.file("data/ledger.db");
    let mut bytes = std::fs::read(&file).expect("there is a ledger");
    bytes[4_096..].iter_mut().for_each(|byte| *byte = 0x55);
    std::fs::write(&file, bytes).expect("the home can be written");
    assert_ne!(damage(&arena).await, "ok");
}
