//! Servers sleep until they are called, are shared by all who call, and sleep again when nobody does.

use satchel_tests::{Fake, Home, eventually, process};
use serde_json::json;
use tokio::task::JoinSet;

use crate::offered;

#[tokio::test]
async fn twenty_clients_at_once_wake_one_process_and_it_sleeps_again() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--slow-start", "400"]).with("idleTimeout", json!(2));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let (hub, ledger) = (home.start_hub().await, fake.ledger());
    let mut clients = Vec::new();
    for n in 0..20 {
        clients.push(hub.client(&format!("client-{n}")).await);
    }
    // It starts once so that its tools are known; the scenario begins when it sleeps.
    offered(&clients[0], "fake:sleep").await;
    hub.until("fake", "asleep").await;
    let before = ledger.starts().len();

    let mut calls = JoinSet::new();
    for client in clients.clone() {
        calls.spawn(async move { client.execute("fake:sleep", json!({ "ms": 300 })).await.text() });
    }
    let mut answers = calls.join_all().await;
    answers.dedup();
    let pid = *ledger.starts().last().expect("it was started");
    assert_eq!(ledger.starts().len(), before + 1, "one start for twenty callers");
    assert_eq!(answers, [format!("pid {pid}")], "all were answered by that one process");

    let asleep = hub.until("fake", "asleep").await;
    assert_eq!(asleep["pid"], json!(null));
    assert!(!process::is_alive(pid), "a sleeping server has no process");

    let path = "fake:echo".to_owned();
    assert!(clients[3].paths("echo").await.contains(&path), "its tools are known while it sleeps");
    assert_eq!(ledger.starts().len(), before + 1, "and asking for them starts nothing");

    assert_eq!(clients[7].execute("fake:echo", json!({ "text": "awake?" })).await.text(), "awake?");
    assert_eq!(ledger.starts().len(), before + 2, "the next call wakes it");
}

#[tokio::test]
async fn a_call_that_lasts_longer_than_the_idle_time_is_not_cut_off() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").with("idleTimeout", json!(0.5));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let pid = client.execute("fake:sleep", json!({ "ms": 2_000 })).await.text();
    let starts = fake.ledger().starts();
    assert_eq!(pid, format!("pid {}", starts.last().expect("it was started")));
    assert_eq!(fake.ledger().count("slept"), 1);
    hub.until("fake", "asleep").await;
}

#[tokio::test]
async fn after_a_restart_of_the_hub_everything_is_known_and_nothing_is_started() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--resources"]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    let resources = client.call("list_mcp_resources", json!({})).await.text();
    assert!(resources.contains("fake|fake://note/1"), "{resources}");
    hub.terminate().await;
    let before = fake.ledger().starts().len();

    let hub = home.start_hub().await;
    let client = hub.client("two").await;
    assert!(client.paths("echo").await.contains(&"fake:echo".to_owned()));
    assert_eq!(client.call("list_mcp_resources", json!({})).await.text(), resources);
    let listed = home.satchel(&["tools", "echo", "--json"]).await.json();
    assert!(listed.to_string().contains("fake:echo"), "{listed}");
    let server = hub.server("fake").await;
    assert_eq!((&server["state"], &server["tools"]), (&json!("asleep"), &json!(8)));
    assert_eq!(fake.ledger().starts().len(), before, "nothing was started for that");
}

#[tokio::test]
async fn an_eager_server_runs_without_being_called_and_comes_back_after_a_crash() {
    let home = Home::empty();
    let eager = Fake::new(&home, "eager").with("startup", json!("eager")).with("idleTimeout", json!(0.2));
    let manual = Fake::new(&home, "manual").with("startup", json!("manual"));
    home.write_config(&json!({ "mcpServers": { "eager": eager.entry(), "manual": manual.entry() } }));
    let hub = home.start_hub().await;

    let first = hub.until("eager", "ready").await["pid"].as_u64().expect("a running server has a process");
    process::signal(u32::try_from(first).expect("a process id is small"), process::Signal::KILL);
    eventually("another process takes its place", async || {
        let server = hub.server("eager").await;
        let now = server["pid"].as_u64();
        (server["state"] == "ready" && now.is_some_and(|pid| pid != first)).then_some(())
    })
    .await;
    assert_eq!(manual.ledger().lines(), Vec::<String>::new(), "a manual one waits for a person");
}

#[tokio::test]
async fn a_server_may_add_tools_while_it_runs_and_they_wait_for_a_look() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--tools", "3"]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:extra_3").await;
    assert!(!client.paths("extra").await.contains(&"fake:extra_4".to_owned()));

    assert_eq!(client.execute("fake:grow", json!({})).await.text(), "grown");
    crate::approvals::approve_once_held(&home, "fake", "extra_4").await;
    offered(&client, "fake:extra_4").await;
    assert_eq!(client.execute("fake:extra_4", json!({})).await.text(), "extra_4");
}

#[tokio::test]
async fn calls_run_in_parallel_and_progress_reaches_only_its_caller() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let slow = client.clone();
    let mut calls = JoinSet::new();
    let arguments = json!({ "ms": 120_000, "until": home.file("end") });
    calls.spawn(async move { slow.execute("fake:sleep", arguments).await.text() });
    eventually("the slow call is under way", async || {
        (hub.server("fake").await["in_flight"] == 1).then_some(())
    })
    .await;
    let params = json!({
        "name": "execute_mcp_tool", "arguments": { "tool_path": "fake:progress", "arguments": {} },
        "_meta": { "progressToken": "mine" },
    });
    let answer = client.request("tools/call", params).await;
    assert_eq!(answer.text(), "done");
    let steps: Vec<_> = answer.notes.iter().map(|note| note["params"]["progress"].clone()).collect();
    assert_eq!(steps, [1, 2, 3]);
    assert!(answer.notes.iter().all(|note| note["params"]["progressToken"] == "mine"), "{:?}", answer.notes);
    assert_eq!(hub.server("fake").await["in_flight"], 1, "the slow call still runs");
    std::fs::write(home.file("end"), "").expect("the home can be written to");
    assert!(calls.join_next().await.expect("one call").expect("it ended").starts_with("pid "));
}
