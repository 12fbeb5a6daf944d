//! The configuration file: what is edited by hand is taken over, what is wrong is named, what ran goes on.

use satchel_tests::{Fake, Home, Hub, eventually, process};
use serde_json::{Value, json};

use crate::offered;

/// The process that currently answers a server's calls.
async fn pid_of(hub: &Hub<'_>, server: &str) -> u32 {
    let pid = hub.server(server).await["pid"].as_u64().expect("it has a process");
    u32::try_from(pid).expect("a process id is small")
}

/// A thousand entries with a secret each: every one is accepted and its approval on disk by the time the hub is ready.
#[tokio::test]
async fn a_thousand_entries_are_accepted_before_the_hub_listens() {
    const ENTRIES: usize = 1000;
    let home = Home::empty();
    let entry = |at: usize| json!({ "command": "no-such-program", "startup": "manual", "env": { "T": format!("${{secret:T{at}}}") } });
    let servers: serde_json::Map<String, Value> =
        (0..ENTRIES).map(|at| (format!("server-{at}"), entry(at))).collect();
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    hub.kill().await;
    let records: Vec<_> = home
        .files()
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().contains("approvals/server-"))
        .collect();
    assert_eq!(records.len(), ENTRIES);
    let unfit = records.iter().find(|(_, bytes)| {
        let record: Value = serde_json::from_slice(bytes).expect("a record is whole");
        !(record.to_string().contains("\"launch\"") && record.to_string().contains("\"secret\""))
    });
    assert_eq!(unfit.map(|(path, _)| path), None);
}

#[tokio::test]
async fn an_edit_touches_only_what_it_changes() {
    let home = Home::empty();
    let [kept, edited, removed] = ["kept", "edited", "removed"].map(|name| Fake::new(&home, name));
    let servers = json!({ "kept": kept.entry(), "edited": edited.entry(), "removed": removed.entry() });
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    for name in ["kept", "edited", "removed"] {
        client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await.text();
    }
    let (kept_pid, edited_pid, removed_pid) =
        (pid_of(&hub, "kept").await, pid_of(&hub, "edited").await, pid_of(&hub, "removed").await);

    home.edit_config(|config| {
        let servers = config["mcpServers"].as_object_mut().unwrap();
        servers["edited"]["env"]["GREETING"] = json!("new");
        servers.shift_remove("removed");
        servers.insert("added".into(), Fake::new(&home, "added").entry());
    });

    // Another program wrote it: nothing of it runs before a person approves it.
    for name in ["added", "edited"] {
        hub.waits(name).await;
        home.satchel_agreeing(&["approve", name]).await.succeeded();
    }
    offered(&client, "added:echo").await;
    for pid in [edited_pid, removed_pid] {
        eventually("what was changed or removed is stopped", async || {
            (!process::is_alive(pid)).then_some(())
        })
        .await;
    }
    let about = client.execute("edited:about", json!({ "env": ["GREETING"] })).await.text();
    assert!(about.contains(r#""GREETING":"new""#), "{about}");
    let complaint = client.execute("removed:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("removed"), "{complaint}");
    assert_eq!(pid_of(&hub, "kept").await, kept_pid, "the others go on");
    assert_eq!(kept.ledger().starts().len(), 1);
}

#[tokio::test]
async fn a_broken_file_changes_nothing_and_is_named_by_line_and_column() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let good = home.config_text();
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    client.execute("fake:echo", json!({ "text": "x" })).await.text();
    let pid = pid_of(&hub, "fake").await;

    home.write_config_text("{\n  \"mcpServers\": {\n    \"fake\": { \"command\": }\n  }\n}\n");
    let notices = eventually("the mistake is reported", async || {
        let notices = hub.status().await["notices"].clone();
        notices.to_string().contains("config_invalid").then_some(notices)
    })
    .await;
    let words = notices.to_string();
    for part in ["line 3", "column 26", "expected value"] {
        assert!(words.contains(part), "{part} is missing in {words}");
    }
    assert_eq!(client.execute("fake:echo", json!({ "text": "still" })).await.text(), "still");
    assert_eq!(pid_of(&hub, "fake").await, pid);
    // A change by a command must not overwrite the person's half-finished edit.
    home.satchel(&["disable", "fake"]).await.failed_with(1);
    assert!(home.config_text().contains("\"command\": }"));

    home.write_config_text(&good);
    eventually("the report is taken back", async || {
        hub.status().await["notices"].as_array().is_some_and(Vec::is_empty).then_some(())
    })
    .await;
    assert_eq!(pid_of(&hub, "fake").await, pid);
}

#[tokio::test]
async fn a_hub_that_starts_with_a_broken_file_says_so_and_takes_the_repaired_one() {
    let home = Home::empty();
    home.write_config_text("{ \"mcpServers\": { \"a\": ");
    let hub = home.start_hub().await;
    let notices = hub.status().await["notices"].to_string();
    assert!(notices.contains("line 1"), "{notices}");
    assert_eq!(home.config_text(), "{ \"mcpServers\": { \"a\": ", "the file is left as it is");

    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    hub.waits("fake").await;
    home.satchel_agreeing(&["approve", "fake"]).await.succeeded();
    offered(&hub.client("one").await, "fake:echo").await;
}

#[tokio::test]
async fn references_are_filled_in_and_an_undefined_one_is_asked_for() {
    let home = Home::empty();
    let filled = Fake::new(&home, "filled")
        .behaving(&["${SATCHEL_TEST_NONE:-by default}"])
        .env("HOME_OF_IT", "${HOME}/x")
        .env("EMPTY", "${SATCHEL_TEST_NONE:-}")
        .with("cwd", json!(home.path()));
    let needy = Fake::new(&home, "needy").env("KEY", "${SATCHEL_TEST_UNDEFINED}");
    home.write_config(&json!({ "mcpServers": { "filled": filled.entry(), "needy": needy.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let about = client.execute("filled:about", json!({ "env": ["HOME_OF_IT", "EMPTY"] })).await.text();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["env"]["HOME_OF_IT"], json!(home.path().join("x")));
    assert_eq!(about["env"]["EMPTY"], "");
    assert_eq!(about["args"].as_array().unwrap().last().unwrap(), "by default");
    assert_eq!(about["cwd"], json!(home.path()));

    let complaint = client.execute("needy:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("needy") && complaint.contains("SATCHEL_TEST_UNDEFINED"), "{complaint}");
    let needy_now = hub.until("needy", "needs_credential").await;
    assert_eq!(needy_now["names"], json!(["SATCHEL_TEST_UNDEFINED"]));
    assert!(needy.ledger().lines().is_empty(), "it is never started with an empty string instead");
}

#[tokio::test]
async fn an_empty_file_removes_no_servers() {
    let home = Home::empty();
    let [a, b] = ["a", "b"].map(|name| Fake::new(&home, name));
    home.write_config(&json!({ "mcpServers": { "a": a.entry(), "b": b.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    client.execute("a:echo", json!({ "text": "x" })).await.text();
    let pid = pid_of(&hub, "a").await;

    // Some editors empty the file for a moment; a change at that time keeps the previous contents.
    home.write_config_text("");
    home.satchel(&["disable", "b"]).await.succeeded();
    let config = home.config();
    assert_eq!(config["mcpServers"]["a"], a.entry());
    assert_eq!(config["mcpServers"]["b"]["enabled"], false);
    assert_eq!(client.execute("a:echo", json!({ "text": "x" })).await.text(), "x");
    assert_eq!(pid_of(&hub, "a").await, pid, "it was not even stopped");
}
