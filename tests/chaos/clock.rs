//! R14, time: somebody sets the computer's clock while the hub runs, by an hour or by years, forwards and back. No call is
//! taken for late, none is lost from the statistics, no server falls asleep or is started again, and nothing spins.

use std::{path::PathBuf, process::Command, time::Duration};

use satchel_tests::{eventually, program};
use serde_json::{Value, json};

use crate::{
    arena::{Arena, Chaos, fixture, known},
    control::Control,
    measured,
    processes::processor_time,
    sized,
};

const HOUR: i64 = 3_600;
const YEAR: i64 = 365 * 24 * HOUR;

/// A wall clock for one program, offset from the computer's by a value in a file.
struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    fn new(arena: &Arena) -> Self {
        let library = arena.home.file("clock.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(fixture("clock.c")).arg("-ldl");
        assert!(compiler.status().expect("there is a C compiler, as for every Rust program").success());
        let clock = Self { library, file: arena.home.file("clock") };
        clock.set(0);
        clock
    }

    fn set(&self, seconds: i64) {
        use std::{fs::OpenOptions, os::unix::fs::FileExt};
        let mut open = OpenOptions::new();
        let file = open.create(true).truncate(false).write(true).open(&self.file);
        file.expect("the home can be written").write_all_at(&seconds.to_ne_bytes(), 0).expect("it is a file");
    }

    fn of(&self, command: &mut tokio::process::Command) {
        command.env("LD_PRELOAD", &self.library).env("CHAOS_CLOCK", &self.file);
    }
}

#[tokio::test]
async fn a_clock_that_is_set_disturbs_nothing() {
    let mut arena = Arena::new().await;
    let clock = Clock::new(&arena);
    for name in ["a", "b"] {
        arena.add(name, Chaos::new().field("requestTimeout", json!(20)).field("idleTimeout", json!("1h")));
    }
    arena.configure();
    let serve = ["serve", "--port", "0", "--json", "--trust-config"];
    let hub = arena.launch(&program("satchel"), &serve, |command| clock.of(command)).await;
    known(&arena.home, &["a".to_owned(), "b".to_owned()]).await;
    let client = arena.client("one").await;
    let mut made = 0;
    for name in ["a", "b"] {
        client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await.text();
        made += 1;
    }
    let started = starts(&arena).await;
    let mut jumps = vec![HOUR, -HOUR, 0, 10 * YEAR, 0, -10 * YEAR, 0];
    jumps = jumps.repeat(sized(1, 5));
    for seconds in &jumps {
        // In flight while the clock is set.
        let (under_way, before) = (client.clone(), processor_time(hub.pid));
        let end = arena.home.file("end");
        let arguments = json!({ "ms": 120_000, "until": end });
        let call = tokio::spawn(async move { under_way.execute("a:sleep", arguments).await });
        eventually("the call is in flight", async || {
            (view(&arena, "a").await["in_flight"] == 1).then_some(())
        })
        .await;
        clock.set(*seconds);
        std::fs::write(&end, "").expect("the home can be written to");
        let answer = call.await.expect("it does not panic");
        assert!(
            answer.outcome.is_ok() && answer.text().contains("slept"),
            "clock at {seconds} s: {answer:?}"
        );
        std::fs::remove_file(&end).expect("it was written");
        assert_eq!(client.execute("b:echo", json!({ "text": "on" })).await.text(), "on");
        made += 2;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let worked = processor_time(hub.pid) - before;
        assert!(worked < 1.5, "clock at {seconds} s: {worked:.1} s of work");
        // The hub shows its own clock: the test needs a clock that really moved.
        eventually(
            &format!("the call is of the time that the clock shows, {seconds} s from here"),
            async || {
                let seen = newest(&arena).await["time_ms"].as_i64()?;
                ((seen / 1_000 - now() - seconds).abs() < 120).then_some(())
            },
        )
        .await;
    }
    assert_eq!(starts(&arena).await, started, "no server was started again");
    for name in ["a", "b"] {
        assert_eq!(view(&arena, name).await["state"], "ready", "nor fell asleep");
    }
    eventually("every call is in the statistics", async || {
        let stats = arena.home.satchel(&["stats", "--json"]).await.json();
        let totals = &stats["totals"];
        assert!(
            totals["took"]["median_ms"].as_f64().is_some_and(|ms| (0.0..60_000.0).contains(&ms)),
            "{stats}"
        );
        (totals["calls"].as_u64() == Some(made)).then_some(())
    })
    .await;
    measured!("clock: set {} times, {made} calls, none late and none lost", jumps.len());
    drop(hub);
}

async fn view(arena: &Arena, name: &str) -> Value {
    let status = Control::of(&arena.home).request(json!({ "do": "status" })).await.expect("the hub runs");
    let servers = status["servers"].as_array().expect("a snapshot has servers");
    servers.iter().find(|server| server["name"] == name).expect("it is configured").clone()
}

async fn starts(arena: &Arena) -> Vec<Value> {
    vec![view(arena, "a").await["starts"].clone(), view(arena, "b").await["starts"].clone()]
}

/// The most recently recorded call.
async fn newest(arena: &Arena) -> Value {
    let history = arena.home.satchel(&["history", "--json"]).await.json();
    let calls = history["calls"].as_array().expect("there is a history");
    calls.iter().max_by_key(|call| call["id"].as_i64()).expect("with calls").clone()
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("it is later than 1970").as_secs()).expect("and not that late")
}
