//! A hub whose servers all sleep costs next to nothing.

use std::time::Duration;

use satchel_tests::{Client, eventually};
use serde_json::json;

use crate::{
    arena::{Arena, Chaos, known},
    control::Control,
    measured,
    processes::{memory, processor_time, switches},
    sized, soaking,
};

const SERVERS: usize = 20;
/// Counting tokens takes a process for each, so every commit has fewer servers.
const FEW_SERVERS: usize = 6;

/// Whatever lifetime a server declares for its lists, they are read again only when it announces a change.
#[tokio::test]
async fn lists_that_hold_for_no_time_are_kept_and_neither_wake_a_server_nor_keep_it_awake() {
    let mut arena = Arena::new().await;
    let ledger = arena.ledger("brief");
    let brief = Chaos::running("chaos_server.py").era("modern").writing(&ledger);
    arena.add("brief", brief.field("idleTimeout", json!("2s")));
    let hub = arena.open().await;
    known(&arena.home, &["brief".to_owned()]).await;
    let mut connection = hub.connection("one").await;
    connection.url += "/direct";
    let client = Client::open(&connection, "2025-11-25").await;
    let lists = ledger.events("list").len();
    assert!(lists > 0, "its lists were read");
    // More often than it would take to keep it awake.
    let mut asked = 0;
    eventually("it sleeps although its tools are asked for all the time", async || {
        let tools = client.request("tools/list", json!({})).await.value();
        assert!(!tools["tools"].as_array().expect("a list").is_empty(), "{tools}");
        asked += 1;
        (hub.server("brief").await["state"] == "asleep").then_some(())
    })
    .await;
    for _ in 0..20 {
        client.request("tools/list", json!({})).await.value();
        assert_eq!(hub.server("brief").await["state"], "asleep", "nor do they wake it");
    }
    measured!("lists: asked for {} times, read {} times", asked + 20, ledger.events("list").len());
    assert_eq!(ledger.events("list").len(), lists, "they were read once");
}

#[tokio::test]
async fn an_idle_hub_uses_no_processor_and_little_memory() {
    let mut arena = Arena::new().await;
    let servers = sized(FEW_SERVERS, SERVERS);
    let names: Vec<String> = (0..servers).map(|at| format!("s{at}")).collect();
    for name in &names {
        arena.add(name, Chaos::new().field("idleTimeout", json!("500ms")));
    }
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let control = Control::of(&arena.home);
    eventually("every server sleeps", async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers");
        // Tool definitions are counted in the background after they were read.
        views.iter().all(|view| view["state"] == "asleep" && view["tokens"].is_u64()).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(arena.server_processes().is_empty(), "nothing runs for a server that sleeps");
    let seconds = sized(10, 60);
    let (time, woken) = (processor_time(hub.pid), switches(hub.pid));
    tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    let share = (processor_time(hub.pid) - time) / seconds as f64 * 100.0;
    let woken = switches(hub.pid).saturating_sub(woken) as f64 / seconds as f64;
    measured!(
        "idle hub, {servers} sleeping servers: {share:.2} % of one processor over {seconds} s, {woken:.1} switches a second, {:.1} MiB",
        memory(hub.pid)
    );
    // Linux counts processor time in hundredths of a second; two of them in 10 s are too few to fail a slow machine.
    let most = if soaking() { 0.2 } else { 0.5 };
    assert!(share <= most, "an idle hub used {share:.2} % of a processor");
}
