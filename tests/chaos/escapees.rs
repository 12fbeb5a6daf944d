//! Helpers of a server that try to get away (own session, double fork, empty environment) are gone with it, by
//! whichever way it ends.

use satchel_tests::eventually;
use serde_json::json;

use crate::{
    arena::{Arena, Chaos},
    control::Control,
    measured, nightly,
    processes::Process,
    soaking,
};

const WAYS: [&str; 5] = ["setsid", "double_fork", "daemon", "scrubbed", "vanished"];
const ENDS: [&str; 6] = ["idle", "restart", "disable", "remove", "quit", "kill"];

/// R5, no escapees: whatever a helper does to get away, 0 are left after every way in which its server can end.
#[tokio::test]
async fn no_helper_outlives_its_server() {
    let mut ended = 0;
    // Every commit sees the two ways in which most servers end.
    let ends = if soaking() { &ENDS[..] } else { &ENDS[4..] };
    let rounds = nightly(1, 20, 50);
    for _ in 0..rounds {
        for end in ends {
            ended += every_way(end).await;
        }
    }
    measured!("escapees: {ended} helpers ended, 0 left");
    assert_eq!(ended, WAYS.len() * ends.len() * rounds);
}

/// One server for each way to escape, all ended in this way; how many helpers there were.
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
            "restart" => control.wish(json!({ "do": "restart", "server": way })).await,
            "disable" => {
                control
                    .wish(json!({ "do": "change", "change": "set_enabled", "name": way, "enabled": false }))
                    .await
            }
            "remove" => control.wish(json!({ "do": "change", "change": "remove", "name": way })).await,
            _ => None,
        };
    }
    match end {
        "quit" => assert_eq!(hub.terminate().await, Some(0)),
        // The hub itself, without warning.
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
        let status = control.wish(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        views.iter().all(|view| view["state"] == state).then_some(())
    })
    .await;
}

fn escaped(arena: &Arena) -> Vec<Process> {
    arena.server_processes().into_iter().filter(|process| process.command.contains("chaos-escapee")).collect()
}
