//! Servers that die at once, after the handshake or a moment later: each is started a few times and then left alone
//! with its reason, and nobody else notices.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use satchel_tests::{Client, eventually};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    arena::{Arena, Chaos},
    control::Control,
    measured, nightly,
    processes::processor_time,
    sized, soaking,
};

const DYING: [&str; 3] = ["exit_on_start", "exit_after_init", "crash_loop"];
/// Starts of one server within a minute.
const STARTS: u64 = 5;

/// R8, restart storm: at most 5 starts a minute each, then none, with the reason shown; a healthy neighbour answers.
#[tokio::test]
async fn servers_that_cannot_live_are_left_alone_with_their_reason() {
    let mut arena = if soaking() { Arena::alone().await } else { Arena::new().await };
    let count = sized(6, 50);
    arena.add("healthy", Chaos::new());
    let hub = arena.open().await;
    let control = Control::of(&arena.home);
    let client = hub.client("one").await;
    let calm = Pace::start(&client);
    tokio::time::sleep(Duration::from_secs(nightly(1, 10, 60) as u64)).await;
    let calm = calm.end().await;

    let begun = Instant::now();
    let paced = Pace::start(&client);
    let names: Vec<String> = (0..count).map(|at| format!("d{at}")).collect();
    let eager = |mode: &str| Chaos::mode(mode).field("startup", json!("eager")).entry(&arena.run);
    arena.home.edit_config(|config| {
        let servers = &mut config["mcpServers"];
        for (at, name) in names.iter().enumerate() {
            servers[name] = eager(DYING[at % DYING.len()]);
        }
        servers["absent"] = json!({ "command": "no-such-program-anywhere", "startup": "eager" });
        servers["future"] = eager("version_future");
    });
    eventually("the new entries are known", async || hub.waits("future").await.eq("new_entry").then_some(()))
        .await;
    arena.home.satchel_agreeing(&["approve", "--all"]).await.succeeded();
    let views = async || -> Vec<Value> {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        views.iter().filter(|view| view["name"] != "healthy").cloned().collect()
    };
    let mut starts = Starts::default();
    eventually("every dying server is left alone", async || {
        let seen = views().await;
        starts.note(begun.elapsed(), &seen);
        (seen.iter().filter(|view| view["state"] == "broken").count() == count + 2).then_some(())
    })
    .await;
    let before = views().await;
    assert_eq!(before.len(), count + 2);
    for view in before.iter().filter(|view| view["name"].as_str().is_some_and(|name| name.starts_with('d'))) {
        let message = view["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && view["code"].is_string(), "it says why: {view}");
        if message.contains("chaos") {
            assert!(message.contains("exit code 1"), "{view}");
        }
    }
    // Longer than a soak; servers that must run are tried again.
    let seconds = nightly(3, 60, 600);
    let watched = Instant::now();
    while watched.elapsed() < Duration::from_secs(seconds as u64) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        starts.note(begun.elapsed(), &views().await);
    }
    let paced = paced.end().await;
    // No calls and no followers: what the hub does now it does by itself.
    let (time, watched) = (processor_time(hub.pid), Instant::now());
    tokio::time::sleep(Duration::from_secs(nightly(3, 30, 60) as u64)).await;
    let share = (processor_time(hub.pid) - time) / watched.elapsed().as_secs_f64() * 100.0;
    let most = starts.most_in_a_minute();
    measured!(
        "restart storm: {count} dying servers, at most {most} starts a minute over {seconds} s, then {share:.1} % of a \
        processor; p99 of the healthy one {:.1?} of {} calls, {:.1?} of {} before",
        slowest_hundredth(&paced),
        paced.len(),
        slowest_hundredth(&calm),
        calm.len()
    );
    assert!((1..=STARTS).contains(&most), "at most five starts a minute: {:?}", starts.of);
    for once in ["absent", "future"] {
        assert!(starts.first_minute(once) <= 1, "trying {once} again cannot help: {:?}", starts.of[once]);
    }
    assert!(share < 5.0, "the hub is busy with nothing: {share:.1} %");
}

/// The number of starts of each server, over time.
#[derive(Default)]
struct Starts {
    of: BTreeMap<String, Vec<(Duration, u64)>>,
}

impl Starts {
    fn note(&mut self, at: Duration, views: &[Value]) {
        for view in views {
            let (name, starts) = (view["name"].as_str().unwrap_or_default(), view["starts"].as_u64());
            let seen = self.of.entry(name.to_owned()).or_default();
            let starts = starts.unwrap_or(0);
            if seen.last().is_none_or(|(_, last)| *last != starts) {
                seen.push((at, starts));
            }
        }
    }

    /// The most starts of one server within any minute.
    fn most_in_a_minute(&self) -> u64 {
        let minute = Duration::from_secs(60);
        let of_one = |seen: &Vec<(Duration, u64)>| {
            let before = |at: Duration| {
                seen.iter().rfind(|(then, _)| *then + minute < at).map_or(0, |(_, starts)| *starts)
            };
            seen.iter().map(|(at, starts)| starts - before(*at)).max().unwrap_or(0)
        };
        self.of.values().map(of_one).max().unwrap_or(0)
    }

    fn first_minute(&self, name: &str) -> u64 {
        let seen = self.of.get(name).into_iter().flatten();
        seen.filter(|(at, _)| *at < Duration::from_secs(60)).map(|(_, starts)| *starts).max().unwrap_or(0)
    }
}

/// Calls of the healthy server, 20 a second, each of which must work.
struct Pace {
    over: Arc<AtomicBool>,
    calling: tokio::task::JoinHandle<Vec<Duration>>,
}

impl Pace {
    fn start(client: &Client) -> Self {
        let (over, client) = (Arc::new(AtomicBool::new(false)), client.clone());
        let ended = over.clone();
        let calling = tokio::spawn(async move {
            let mut took = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let begin = Instant::now();
                let answer = client.execute("healthy:echo", json!({ "text": "x" })).await;
                assert_eq!(answer.text(), "x", "the healthy one is served all the time");
                took.push(begin.elapsed());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            took
        });
        Self { over, calling }
    }

    async fn end(self) -> Vec<Duration> {
        self.over.store(true, Ordering::Relaxed);
        let took = self.calling.await.expect("every call works");
        assert!(!took.is_empty(), "it was called");
        took
    }
}

fn slowest_hundredth(took: &[Duration]) -> Duration {
    let mut took = took.to_vec();
    took.sort();
    took[took.len() * 99 / 100]
}

#[test]
fn planted_a_server_that_is_started_too_often_is_noticed() {
    let mut starts = Starts::default();
    let view = |count: u64| [json!({ "name": "d", "starts": count })];
    for (second, count) in [(0, 0), (1, 1), (20, 5), (70, 6), (75, 9)] {
        starts.note(Duration::from_secs(second), &view(count));
    }
    assert_eq!(
        starts.most_in_a_minute(),
        8,
        "four of them until the twentieth second, four after the seventieth"
    );
    assert_eq!(starts.first_minute("d"), 5);
}
