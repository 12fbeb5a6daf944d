//! The hub ends in order with many servers, some of them stubborn: all gone in time, those that flush get their time,
//! and whoever waits for an answer is told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    arena::{Arena, Chaos, known},
    journal::Outcome,
    measured, sized, soaking,
};

/// A service manager may wait longer, a desktop that logs out does not.
const BOUND: Duration = Duration::from_secs(5);

const STUBBORN: [&str; 10] = [
    "ignore_sigterm",
    "ignore_eof",
    "slow_shutdown",
    "grandchild",
    "npx_chain",
    "ignore_sigterm",
    "ignore_eof",
    "slow_shutdown",
    "grandchild",
    "npx_chain",
];

/// R21, stop: all exit within the limit; servers that flush get their time; calls in flight are answered.
#[tokio::test]
async fn many_servers_end_with_the_hub_and_get_their_time_to_flush() {
    // The limit is meaningful only where nothing else runs.
    let mut arena = if soaking() { Arena::alone().await } else { Arena::new().await };
    let servers = sized(12, 50);
    let mut names: Vec<String> = (0..servers).map(|at| format!("s{at}")).collect();
    let ledger = arena.ledger("servers");
    for (at, name) in names.iter().enumerate() {
        let chaos = STUBBORN.get(at).map_or_else(Chaos::new, |mode| Chaos::mode(mode));
        arena.add(name, chaos.writing(&ledger));
    }
    // One flushes for longer than the limit, which shows that the others did not flush by chance.
    let late = arena.ledger("late");
    arena.add("late", Chaos::mode("slow_shutdown").with("ms", 60_000).writing(&late));
    for name in ["brief", "endless"] {
        arena.add(name, Chaos::new().field("requestTimeout", json!(60)));
    }
    names.extend(["late", "brief", "endless"].map(str::to_owned));
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let client = hub.client("one").await;
    let mut woken = JoinSet::new();
    for name in names.clone() {
        let client = client.clone();
        woken.spawn(
            async move { client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await.text() },
        );
    }
    woken.join_all().await;
    assert!(arena.server_processes().len() >= names.len());
    let mut calls = JoinSet::new();
    let answered = Arc::new(AtomicUsize::new(0));
    for (name, ms) in [("endless", 50_000), ("brief", 2_000)] {
        let (client, counter) = (client.clone(), answered.clone());
        calls.spawn(async move {
            let answer = client.execute(&format!("{name}:sleep"), json!({ "ms": ms })).await;
            counter.fetch_add(1, Ordering::Relaxed);
            (name, Outcome::of(&answer), answer)
        });
        // On a busy machine the brief one may be over before anybody sees it.
        satchel_tests::eventually("the call is in flight, or answered", async || {
            let in_flight = hub.server(name).await["in_flight"].as_u64() == Some(1);
            (in_flight || answered.load(Ordering::Relaxed) > 0).then_some(())
        })
        .await;
    }

    let begin = Instant::now();
    let ended = tokio::time::timeout(Duration::from_secs(60), hub.terminate()).await;
    let took = begin.elapsed();
    assert_eq!(ended.expect("the hub ends"), Some(0));
    arena.gone("the hub ended", Arena::everything).await;
    let (flushed, never) = (ledger.events("flushed").len(), late.events("flushed").len());
    let told = calls.join_all().await;
    measured!("stopping: {servers} servers, 10 stubborn, {took:.2?}, flushed {flushed} of 2");
    assert_eq!(flushed, 2, "servers that flush when asked to end had the time for it");
    assert_eq!(never, 0, "one that takes longer than the bound was not waited for");
    for (name, outcome, answer) in told {
        let fits = outcome == Outcome::Unknown || (name == "brief" && outcome == Outcome::Result);
        assert!(fits, "{name}: {outcome:?}, {answer:?}");
    }
    assert!(!soaking() || took <= BOUND, "it took {took:.2?}");
}
