//! Helpers of a server that try to get away (own session, double fork, empty environment) are gone with it, by
//! whichever way it ends.

use std::time::Duration;

use futures_util::future::join_all;
use satchel_tests::eventually;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    arena::{Arena, Chaos},
    control::Control,
    journal::Outcome,
    measured, nightly,
    processes::{Process, Signal, is_subreaper, signal},
    soaking,
};

const WAYS: [&str; 5] = ["setsid", "double_fork", "daemon", "scrubbed", "vanished"];
const ENDS: [&str; 6] = ["idle", "restart", "disable", "remove", "quit", "kill"];

/// R5, no escapees: whatever a helper does to escape, 0 are left after every way in which its server can end.
#[tokio::test]
async fn no_helper_outlives_its_server() {
    let mut ended = 0;
    // Every commit runs the two ways in which most servers end.
    let ends = if soaking() { &ENDS[..] } else { &ENDS[4..] };
    let rounds = nightly(1, 20, 50);
    for _ in 0..rounds {
        // Each with its own hub and servers.
        ended += join_all(ends.iter().map(|end| every_way(end))).await.into_iter().sum::<usize>();
    }
    measured!("escapees: {ended} helpers ended, 0 left");
    assert_eq!(ended, WAYS.len() * ends.len() * rounds);
}

/// Starts a server for each way to escape, and ends all in this way; returns the number of helpers.
async fn every_way(end: &str) -> usize {
    let mut arena = Arena::new().await;
    for way in WAYS {
        let mut server = Chaos::running("escapee_server.py").arg("--mode", way).era("legacy");
        if end == "idle" {
            server = server.field("idleTimeout", json!("5s"));
        }
        arena.add(way, server);
    }
    let hub = arena.open().await;
    let (client, control) = (hub.client("one").await, Control::of(&arena.home));
    for way in WAYS {
        client.execute(&format!("{way}:echo"), json!({ "text": "x" })).await.text();
    }
    let before = eventually("every server's helper runs", async || {
        let escaped = escaped(&arena);
        (escaped.len() == WAYS.len()).then_some(escaped)
    })
    .await;
    for way in WAYS {
        match end {
            "restart" => control.request(json!({ "do": "restart", "server": way })).await,
            "disable" => {
                control
                    .request(
                        json!({ "do": "change", "change": "set_enabled", "name": way, "enabled": false }),
                    )
                    .await
            }
            "remove" => control.request(json!({ "do": "change", "change": "remove", "name": way })).await,
            _ => None,
        };
    }
    match end {
        "quit" => assert_eq!(hub.terminate().await, Some(0)),
        // Kills the hub, without warning.
        "kill" => hub.kill().await,
        "idle" => all_are(&control, "asleep").await,
        // Calls go to the new processes.
        "restart" => {
            for way in WAYS {
                client.execute(&format!("{way}:echo"), json!({ "text": "x" })).await.text();
            }
        }
        _ => all_are(&control, "off").await,
    }
    let left = |arena: &Arena| -> Vec<Process> {
        escaped(arena)
            .into_iter()
            .filter(|process| before.iter().any(|known| known.pid == process.pid))
            .collect()
    };
    arena.gone(&format!("the servers' end by {end}"), left).await;
    WAYS.len()
}

/// Waits until every configured server is in this state.
async fn all_are(control: &Control, state: &str) {
    eventually(&format!("every server is {state}"), async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        views.iter().all(|view| view["state"] == state).then_some(())
    })
    .await;
}

fn escaped(arena: &Arena) -> Vec<Process> {
    arena.server_processes().into_iter().filter(|process| process.command.contains("chaos-escapee")).collect()
}

/// R5: the hub notices the end of a server by waiting for it, not by the end of its output, which a helper holds open.
#[tokio::test]
async fn the_end_of_a_server_is_noticed_although_a_helper_holds_its_output() {
    let mut arena = Arena::new().await;
    let mut entry = Chaos::new().field("requestTimeout", json!(60)).entry(&arena.run);
    let mut words = vec![json!("-c"), json!("sleep 3607 & exec \"$0\" \"$@\""), entry["command"].clone()];
    words.extend(entry["args"].as_array().expect("a list").iter().cloned());
    (entry["command"], entry["args"]) = (json!("sh"), json!(words));
    arena.add_entry("s", entry);
    let hub = arena.open().await;
    let client = hub.client("one").await;
    client.execute("s:echo", json!({ "text": "x" })).await.text();
    let call = tokio::spawn(async move { client.execute("s:sleep", json!({ "ms": 50_000 })).await });
    eventually("the call is in flight", async || (hub.server("s").await["in_flight"] == 1).then_some(()))
        .await;
    let all = arena.server_processes();
    let of = |what: &str| {
        all.iter().find(|process| process.command.contains(what) && !is_subreaper(process)).cloned()
    };
    let (server, helper) =
        (of("chaos_server").expect("the server runs"), of("sleep 3607").expect("its helper runs"));
    let begin = Instant::now();
    signal(server.pid, Signal::KILL);
    let answer = call.await.expect("it does not panic");
    let took = begin.elapsed();
    measured!("a server whose helper holds its output: its end was told after {took:.2?}");
    assert_eq!(Outcome::of(&answer), Outcome::Unknown, "{answer:?}");
    assert!(answer.complaint().contains("signal 9"), "{}", answer.complaint());
    assert!(!soaking() || took <= Duration::from_secs(1), "it took {took:.2?}");
    let left = |arena: &Arena| {
        let mut all = arena.server_processes();
        all.retain(|process| process.pid == helper.pid);
        all
    };
    arena.gone("the server was killed", left).await;
}
