//! No room on the disk, no descriptors left: calls go on, what cannot be kept is refused clearly, nothing is torn, and
//! with room again everything works without a restart.
//!
//! The limits are the kernel's on file size and descriptors, set on the running hub from outside: they need no rights,
//! and a write beyond them fails in the middle like one on a full disk.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use satchel_tests::{eventually, program};
use serde_json::json;

use crate::{
    arena::{Arena, Chaos, Launched, known},
    control::Control,
    journal::Outcome,
    measured, sized,
};

/// Starts a hub that gets an error from a failed write instead of the signal.
async fn launch(arena: &Arena) -> Launched {
    let serve =
        format!("trap '' XFSZ; exec '{}' serve --port 0 --json --trust-config", program("satchel").display());
    arena.launch("/bin/sh".as_ref(), &["-c", &serve], |_| {}).await
}

/// Sets a soft limit of a running process; returns the previous one.
fn limit(pid: u32, resource: Resource, current: Option<u64>) -> Option<u64> {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process id is small"));
    let maximum = prlimit(pid, resource, rustix::process::getrlimit(resource)).expect("it is our process");
    let changed = Rlimit { current, maximum: maximum.maximum };
    prlimit(pid, resource, changed).expect("it is our process");
    maximum.current
}

/// R15, disk full: calls continue, nothing is torn, and with space again everything works without a restart.
#[tokio::test]
async fn with_a_full_disk_calls_go_on_and_changes_are_refused_clearly() {
    let mut arena = Arena::new().await;
    arena.add("s", Chaos::new()).add("sleeping", Chaos::new().field("idleTimeout", json!("500ms")));
    arena.configure();
    let hub = launch(&arena).await;
    known(&arena.home, &["s".to_owned(), "sleeping".to_owned()]).await;
    let client = arena.client("one").await;
    client.execute("s:echo", json!({ "text": "before" })).await.text();
    let config = arena.home.config_text();
    let rounds = sized(2, 30);
    for round in 0..rounds {
        // First nothing can be written, then a little, so that files break off in the middle.
        let room = [0, 100, 4_096][round % 3];
        let before = limit(hub.pid, Resource::Fsize, Some(room));
        for name in ["s", "sleeping"] {
            let answer = client.execute(&format!("{name}:echo"), json!({ "text": "full" })).await;
            assert_eq!(answer.text(), "full", "calls go on, also to a server that has to be started");
        }
        let long = "x".repeat(5_000);
        let refused = arena.home.satchel(&["add", "more", "--", "program", &long]).await;
        refused.failed_with(1);
        assert!(refused.stderr.contains("config.json"), "it says what cannot be written: {refused:?}");
        assert_eq!(arena.home.config_text(), config, "the configuration is as it was");
        if room == 0 {
            arena.home.satchel(&["connect", "--print", "--client", "late", "--json"]).await.failed_with(1);
        }
        limit(hub.pid, Resource::Fsize, before);
        arena.home.satchel(&["add", "more", "--", "program", &long]).await.succeeded();
        arena.home.satchel(&["remove", "more"]).await.succeeded();
        assert_eq!(
            arena.home.config()["mcpServers"],
            serde_json::from_str::<serde_json::Value>(&config).unwrap()["mcpServers"]
        );
        arena.home.write_config_text(&config);
    }
    client.execute("s:echo", json!({ "text": "after" })).await.text();
    measured!("full disk: {rounds} times full and free again, 0 torn, the hub went on");
}

/// R15, no descriptors: calls fail clearly, the hub continues, and recovers.
#[tokio::test]
async fn without_descriptors_calls_end_clearly_and_work_again_later() {
    let mut arena = Arena::new().await;
    let names: Vec<String> = (0..12).map(|at| format!("s{at}")).collect();
    for name in &names {
        arena.add(name, Chaos::new().field("idleTimeout", json!("300ms")));
    }
    arena.configure();
    let hub = launch(&arena).await;
    known(&arena.home, &names).await;
    let client = arena.client("one").await;
    let control = Control::of(&arena.home);
    eventually("every server sleeps", async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        views.iter().all(|view| view["state"] == "asleep").then_some(())
    })
    .await;
    let open = std::fs::read_dir(format!("/proc/{}/fd", hub.pid)).expect("the hub runs").count() as u64;
    // Room for one more process's pipes, not for twelve.
    let before = limit(hub.pid, Resource::Nofile, Some(open + 8));
    let mut calls = tokio::task::JoinSet::new();
    for name in names.clone() {
        let client = client.clone();
        calls.spawn(async move {
            Outcome::of(&client.execute(&format!("{name}:sleep"), json!({ "ms": 500 })).await)
        });
    }
    // New connections wait in the system's queue until there are descriptors.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    limit(hub.pid, Resource::Nofile, before);
    let told = calls.join_all().await;
    let worked = told.iter().filter(|outcome| **outcome == Outcome::Result).count();
    measured!("no descriptors: {worked} of {} calls worked meanwhile, all ended clearly", told.len());
    // The tool itself never fails, and a failure of the hub says whether the call may have run.
    assert!(!told.contains(&Outcome::Error), "{told:?}");
    for name in &names {
        eventually(&format!("{name} works again"), async || {
            let answer = client.execute(&format!("{name}:echo"), json!({ "text": "again" })).await;
            (Outcome::of(&answer) == Outcome::Result).then_some(())
        })
        .await;
    }
}
