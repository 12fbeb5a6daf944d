//! The hub ends in order with many servers, some of them stubborn: all gone, and those that flush get their time.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    measured, sized,
};

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

/// R21, stop: all gone within the bound; servers that flush get their time.
#[tokio::test]
async fn many_servers_end_with_the_hub_and_get_their_time_to_flush() {
    let mut arena = Arena::new().await;
    let servers = sized(12, 50);
    let names: Vec<String> = (0..servers).map(|at| format!("s{at}")).collect();
    let ledger = arena.ledger("servers");
    for (at, name) in names.iter().enumerate() {
        let chaos = STUBBORN.get(at).map_or_else(Chaos::new, |mode| Chaos::mode(mode));
        arena.add(name, chaos.writing(&ledger));
    }
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
    assert!(arena.server_processes().len() >= servers);

    let begin = tokio::time::Instant::now();
    let ended = tokio::time::timeout(Duration::from_secs(60), hub.terminate()).await;
    let took = begin.elapsed();
    assert_eq!(ended.expect("the hub ends"), Some(0));
    arena.gone("the hub ended", Arena::everything).await;
    let flushed = ledger.events("flushed").len();
    measured!("stopping: {servers} servers, 10 stubborn, {took:.2?}, flushed {flushed} of 2");
    assert_eq!(flushed, 2, "servers that flush when asked to end had the time for it");
}
