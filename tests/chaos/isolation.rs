//! One hostile server of twenty does not slow the other nineteen down.

use std::{sync::Arc, time::Duration};

use satchel_tests::{Client, Hub};
use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    arena::{Arena, Chaos, known},
    measured,
    processes::memory,
    sized, soaking,
};

const NEIGHBOURS: usize = 19;
/// The limit of the goal sheet for the p99 of the neighbours' calls, relative to the same calls undisturbed.
const MOST: f64 = 1.5;
/// Other programs share the machine: a ratio above the limit is measured again before it counts.
const TRIES: usize = 3;
const ROUNDS: usize = 12;
const FEW_ROUNDS: usize = 1;

/// Each floods in its own way when called.
const HOSTILE: &[(&str, &[(&str, &str)])] = &[
    ("huge_line", &[("bytes", "20000000")]),
    ("endless_line", &[("bytes", "60000000")]),
    ("stderr_flood", &[("lines", "50000")]),
    ("progress_flood", &[("n", "50000")]),
    ("log_flood", &[("n", "20000")]),
    ("many_tools", &[("n", "5000")]),
    ("stdin_never_read", &[]),
];

/// The same for hosted servers; the mode is part of the address.
const HOSTILE_HOSTED: &[&str] = &["gzip_bomb", "sse_huge_event:bytes=60000000"];

/// R11, isolation: no call to the neighbours fails, and their p99 is at most 1.5 times the undisturbed one.
#[tokio::test]
async fn one_hostile_server_of_twenty_does_not_slow_the_others() {
    let chosen = if soaking() { HOSTILE } else { &HOSTILE[1..2] };
    let hosted = if soaking() { HOSTILE_HOSTED } else { &[] };
    let nothing: &[(&str, &str)] = &[];
    for (mode, parameters) in chosen.iter().copied().chain(hosted.iter().map(|mode| (*mode, nothing))) {
        // Times are meaningful only where nothing else runs; every commit checks only that the neighbours answer.
        let mut arena = if soaking() { Arena::alone().await } else { Arena::new().await };
        let neighbours: Vec<String> = (0..NEIGHBOURS).map(|at| format!("n{at}")).collect();
        for name in &neighbours {
            arena.add(name, Chaos::new());
        }
        let hostile =
            parameters.iter().fold(Chaos::mode(mode), |chaos, (name, value)| chaos.with(name, value));
        let host = match HOSTILE_HOSTED.contains(&mode) {
            true => Some(arena.host().await),
            false => None,
        };
        match &host {
            Some(host) => arena.add_entry("hostile", host.entry(mode)),
            None => arena.add("hostile", hostile),
        };
        let hub = arena.open().await;
        known(&arena.home, &neighbours).await;
        let client = hub.client("neighbour").await;
        // All are awake: the test measures calls, not starts.
        for name in &neighbours {
            client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await.text();
        }
        let mut ratios = Vec::new();
        let before = memory(hub.pid);
        for _ in 0..if soaking() { TRIES } else { 1 } {
            let (peace, war) = compare(&hub, &client, &neighbours).await;
            let ratio = war.as_secs_f64() / peace.as_secs_f64();
            measured!("isolation, {mode}: p99 {peace:.2?} in peace, {war:.2?} beside it, ratio {ratio:.2}");
            ratios.push(ratio);
            if ratio <= MOST {
                break;
            }
        }
        let grown = memory(hub.pid) - before;
        measured!("isolation, {mode}: the hub grew by {grown:.0} MiB");
        assert!(!soaking() || ratios.last().is_some_and(|ratio| *ratio <= MOST), "{mode}: {ratios:?}");
        assert!(grown <= 128.0, "{mode}: the hub grew by {grown:.0} MiB");
    }
}

/// The p99 of the neighbours' calls, undisturbed and beside the hostile server, in turns so that other load on the
/// machine affects both.
async fn compare(hub: &Hub<'_>, client: &Client, neighbours: &[String]) -> (Duration, Duration) {
    let neighbours = Arc::new(neighbours.to_vec());
    let (mut peace, mut war) = (Vec::new(), Vec::new());
    for _ in 0..sized(FEW_ROUNDS, ROUNDS) {
        peace.extend(calls(client, &neighbours).await);
        let stranger = hub.client("stranger").await;
        let attack = tokio::spawn(async move {
            // Its outcome does not matter.
            let call = stranger.execute("hostile:echo", json!({ "text": "x" }));
            let _ = tokio::time::timeout(Duration::from_secs(2), call).await;
        });
        war.extend(calls(client, &neighbours).await);
        attack.abort();
        let _ = attack.await;
    }
    (slowest_hundredth(peace), slowest_hundredth(war))
}

async fn calls(client: &Client, neighbours: &Arc<Vec<String>>) -> Vec<Duration> {
    let mut callers = JoinSet::new();
    for part in 0..4 {
        let (client, neighbours) = (client.clone(), neighbours.clone());
        callers.spawn(async move {
            let mut times = Vec::new();
            for at in 0..100 {
                let name = &neighbours[(at * 4 + part) % neighbours.len()];
                let begin = Instant::now();
                let answer = client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await;
                times.push(begin.elapsed());
                assert_eq!(answer.text(), "x", "a neighbour's call fails");
            }
            times
        });
    }
    callers.join_all().await.concat()
}

fn slowest_hundredth(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() * 99 / 100]
}
