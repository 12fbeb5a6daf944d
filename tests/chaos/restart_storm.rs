//! Servers that die at once, after the handshake or a moment later: each is started a few times and then left alone
//! with its reason, and nobody else notices.

use std::time::Duration;

use satchel_tests::eventually;
use serde_json::{Value, json};

use crate::{
    arena::{Arena, Chaos},
    control::Control,
    measured,
    processes::processor_time,
    sized,
};

const DYING: [&str; 3] = ["exit_on_start", "exit_after_init", "crash_loop"];

/// R8, restart storm: at most 5 starts a minute each, then left alone with the reason; a healthy neighbour answers.
#[tokio::test]
async fn servers_that_cannot_live_are_left_alone_with_their_reason() {
    let mut arena = Arena::new().await;
    let count = sized(6, 50);
    let names: Vec<String> = (0..count).map(|at| format!("d{at}")).collect();
    for (at, name) in names.iter().enumerate() {
        arena.add(name, Chaos::mode(DYING[at % DYING.len()]).field("startup", json!("eager")));
    }
    arena.add_entry("absent", json!({ "command": "no-such-program-anywhere", "startup": "eager" }));
    arena.add("future", Chaos::mode("version_future").field("startup", json!("eager")));
    arena.add("healthy", Chaos::new());
    let hub = arena.open().await;
    let control = Control::of(&arena.home);
    let client = hub.client("one").await;
    let views = async || -> Vec<Value> {
        let status = control.wish(json!({ "do": "status" })).await.expect("the hub runs");
        status["servers"].as_array().expect("a snapshot has servers").clone()
    };
    eventually("every dying server is left alone", async || {
        let answer = client.execute("healthy:echo", json!({ "text": "x" })).await;
        assert_eq!(answer.text(), "x", "the healthy one is served all the time");
        let broken = |view: &&Value| view["state"] == "broken";
        (views().await.iter().filter(broken).count() >= count + 2).then_some(())
    })
    .await;
    let starts = |views: &[Value]| -> Vec<(String, u64)> {
        let start = |view: &Value| {
            (view["name"].as_str().unwrap_or_default().to_owned(), view["starts"].as_u64().unwrap_or(0))
        };
        views.iter().filter(|view| view["name"] != "healthy").map(start).collect()
    };
    let before = views().await;
    for view in before.iter().filter(|view| view["name"].as_str().is_some_and(|name| name.starts_with('d'))) {
        let message = view["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && view["code"].is_string(), "it says why: {view}");
        if message.contains("chaos") {
            assert!(message.contains("exit code 1"), "{view}");
        }
    }
    let most = starts(&before).iter().map(|(_, starts)| *starts).max().unwrap_or(0);
    assert!((1..=5).contains(&most), "at most five starts: {:?}", starts(&before));
    let seconds = sized(3, 60);
    let time = processor_time(hub.pid);
    tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    let share = (processor_time(hub.pid) - time) / seconds as f64 * 100.0;
    measured!(
        "restart storm: {count} dying servers, at most {most} starts each, then {share:.1} % of a processor"
    );
    assert_eq!(starts(&views().await), starts(&before), "and no more starts");
    assert!(share < 5.0, "the hub is busy with nothing: {share:.1} %");
}
