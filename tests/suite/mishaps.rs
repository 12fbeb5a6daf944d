//! What goes wrong is said in words that name the server and what to do; nothing hangs.

use satchel_tests::{Fake, Home, eventually, program};
use serde_json::{Value, json};

use crate::offered;

#[tokio::test]
async fn an_unknown_path_is_answered_with_the_nearest_ones() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:progress").await;
    for (wrong, near) in [("fake:progres", "fake:progress"), ("fak:echo", "fake:echo")] {
        let complaint = client.execute(wrong, json!({})).await.complaint();
        assert!(complaint.contains(near), "{wrong}: {complaint}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why_and_affects_no_other() {
    let home = Home::empty();
    let dying = Fake::new(&home, "dying").behaving(&["--exit-early", "3"]);
    let absent = json!({ "command": "no-such-program-anywhere" });
    let servers =
        json!({ "dying": dying.entry(), "absent": absent, "fine": Fake::new(&home, "fine").entry() });
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let complaint = client.execute("dying:echo", json!({})).await.complaint();
    assert!(complaint.contains("dying") && complaint.contains("told to exit early"), "{complaint}");
    let complaint = client.execute("absent:echo", json!({})).await.complaint();
    assert!(complaint.contains("no-such-program-anywhere") && complaint.contains("not found"), "{complaint}");
    assert_eq!(client.execute("fine:echo", json!({ "text": "x" })).await.text(), "x");

    eventually("the dying one is left alone", async || {
        let _ = client.execute("dying:echo", json!({})).await.complaint();
        (hub.server("dying").await["state"] == "broken").then_some(())
    })
    .await;
    let starts = dying.ledger().starts().len();
    client.execute("dying:echo", json!({})).await.complaint();
    assert_eq!(dying.ledger().starts().len(), starts, "a broken server is not started by every call");
    let log = home.satchel(&["status", "--json"]).await.json();
    assert!(log.to_string().contains("exited_early"), "{log}");
}

#[tokio::test]
async fn a_crash_during_a_call_is_reported_and_the_call_not_repeated() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let complaint = client.execute("fake:crash", json!({})).await.complaint();
    assert!(complaint.contains("fake"), "{complaint}");
    assert_eq!(fake.ledger().count("crash in crash"), 1, "it may have done its work: never again by itself");
    assert_eq!(client.execute("fake:echo", json!({ "text": "back" })).await.text(), "back");
}

#[tokio::test]
async fn a_server_that_prints_nonsense_or_asks_for_roots_works_all_the_same() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--banner", "--needs-roots"]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let roots = client.execute("fake:roots", json!({})).await.text();
    assert_ne!(roots, "nobody answered", "its question was answered");
}

#[tokio::test]
async fn a_servers_standard_error_is_in_its_own_log() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    eventually("a log of that server has its line", async || {
        let mut logs = home.files().into_iter().filter(|(path, _)| path.starts_with(home.file("logs")));
        logs.any(|(path, bytes)| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.contains("fake") && String::from_utf8_lossy(&bytes).contains("fake server fake started")
        })
        .then_some(())
    })
    .await;
}

#[tokio::test]
async fn tools_that_come_later_and_unannounced_are_found() {
    let home = Home::empty();
    let (file, fresh) = (home.file("late.json"), home.file("late.json.new"));
    let write = |tools: Value| {
        let answers = json!([
            { "method": "initialize", "key": null, "result": {
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "late", "version": "1" },
            } },
            { "method": "tools/list", "key": null, "result": { "tools": tools } },
            { "method": "tools/call", "key": "scene", "result": { "content": [{ "type": "text", "text": "cube" }] } },
        ]);
        std::fs::write(&fresh, answers.to_string()).expect("the home can be written to");
        std::fs::rename(&fresh, &file).expect("the home can be written to");
    };
    write(json!([]));
    home.write_config(&json!({ "mcpServers": {
        "late": { "command": program("verbatim-mcp-server"), "args": [file] },
    } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let complaint = client.execute("late:scene", json!({})).await.complaint();
    assert!(complaint.contains("has no tool"), "{complaint}");
    write(
        json!([{ "name": "scene", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }]),
    );
    eventually("its tool is there", async || {
        let answer = client.execute("late:scene", json!({})).await;
        (answer.outcome.is_ok_and(|result| result.get().contains("cube"))).then_some(())
    })
    .await;
}
