//! R14, time: the hub is held still for a while, as when the computer sleeps. Afterwards nothing is taken for a timeout
//! that was none, nothing fires in a burst, and everything goes on.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    control::Control,
    journal::Outcome,
    measured, nightly,
    processes::{self, Signal, processor_time},
};

#[tokio::test]
async fn a_hub_that_was_held_still_goes_on_as_if_nothing_had_been() {
    let mut arena = Arena::new().await;
    let names: Vec<String> = (0..4).map(|at| format!("s{at}")).collect();
    for name in &names {
        arena.add(name, Chaos::new().field("requestTimeout", json!(5)));
    }
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let seconds = nightly(8, 60, 1_800);
    let client = hub.client("one").await.waiting(Duration::from_secs(seconds as u64 + 60));
    for name in &names {
        client.execute(&format!("{name}:echo"), json!({ "text": "awake" })).await.text();
    }
    // Answered while the hub is suspended, long after their timeout: the hub lost the time, not the servers.
    let mut calls = JoinSet::new();
    for name in &names {
        let (client, path) = (client.clone(), format!("{name}:sleep"));
        calls.spawn(async move { client.execute(&path, json!({ "ms": 3_000 })).await });
    }
    let control = Control::of(&arena.home);
    satchel_tests::eventually("every call is in flight", async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        views.iter().all(|view| view["in_flight"].as_u64() == Some(1)).then_some(())
    })
    .await;
    processes::signal(hub.pid, Signal::STOP);
    tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    let before = processor_time(hub.pid);
    processes::signal(hub.pid, Signal::CONT);
    let answers = calls.join_all().await;
    let good = answers.iter().filter(|answer| Outcome::of(answer) == Outcome::Result).count();
    measured!("held still for {seconds} s: {good} of {} calls came to their answers", answers.len());
    assert_eq!(good, answers.len(), "{answers:?}");
    for name in &names {
        assert_eq!(client.execute(&format!("{name}:echo"), json!({ "text": "on" })).await.text(), "on");
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let worked = processor_time(hub.pid) - before;
    measured!("held still: {worked:.2} s of work in the 2 s after it");
    assert!(worked < 1.0, "{worked} s of work after it");
}
