//! Calls are taken back at random moments: no late answer reaches anybody else, and nothing is left in flight.

use std::{collections::HashSet, sync::Arc, time::Duration};

use satchel_tests::{Client, eventually};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    journal::Outcome,
    measured, random, sized,
};

const CALLERS: usize = 16;

/// R22, cancel: 0 wrong deliveries, nothing left in flight.
#[tokio::test]
async fn cancelled_calls_leave_nothing_behind_and_affect_no_other() {
    let mut arena = Arena::new().await;
    let ledger = arena.ledger("servers");
    let names = ["a".to_owned(), "b".to_owned()];
    for name in &names {
        arena.add(
            name,
            Chaos::mode("jitter").with("ms", 60).writing(&ledger).field("requestTimeout", json!(30)),
        );
    }
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let (seed, mut generator) = random();
    let cancels_each = sized(200, 10_000) / CALLERS;
    let connection = Arc::new(hub.connection("fickle").await);
    let mut callers = JoinSet::new();
    for at in 0..CALLERS {
        let client = Client::open(&connection, "2025-11-25").await;
        let (mut random, names) = (generator.fork(), names.clone());
        callers.spawn(async move {
            let mut cancelled = 0;
            let mut kept = 0;
            for call in 0..cancels_each {
                let path = format!("{}:echo", names[random.usize(..names.len())]);
                let nonce = format!("{at}-{call}");
                let calling = client.execute(&path, json!({ "text": nonce }));
                // Over HTTP most clients cancel by closing the connection.
                match tokio::time::timeout(Duration::from_millis(random.u64(0..70)), calling).await {
                    Err(_) => cancelled += 1,
                    Ok(answer) => {
                        assert_eq!(answer.text(), nonce);
                        kept += 1;
                    }
                }
                if call % 10 == 9 {
                    let answer = client.execute(&path, json!({ "text": format!("{nonce} kept") })).await;
                    assert_eq!(Outcome::of(&answer), Outcome::Result, "{answer:?}");
                    assert_eq!(answer.text(), format!("{nonce} kept"), "a late answer reached the next call");
                    kept += 1;
                }
            }
            (cancelled, kept)
        });
    }
    let done = callers.join_all().await;
    let cancelled: usize = done.iter().map(|(cancelled, _)| cancelled).sum();
    let kept: usize = done.iter().map(|(_, kept)| kept).sum();
    assert!(cancelled > CALLERS * cancels_each / 4, "hardly any call was taken back: {cancelled}");
    eventually("nothing is in flight", async || {
        let status = hub.status().await;
        let servers = status["servers"].as_array().expect("a snapshot has servers");
        servers.iter().all(|server| server["in_flight"].as_u64().unwrap_or(0) == 0).then_some(())
    })
    .await;
    let ran = ledger.events("exec");
    let ids: HashSet<_> = ran.iter().map(|line| (line["pid"].as_u64(), line["rpc_id"].as_u64())).collect();
    assert_eq!(ids.len(), ran.len(), "an id was used twice on one connection");
    let told = ledger.events("notification");
    let told = told.iter().filter(|line| line["method"] == "notifications/cancelled").count();
    measured!("cancel storm: seed {seed}, {cancelled} taken back, {kept} kept, servers told {told} times");
    assert!(told > 0, "servers are told");
}
