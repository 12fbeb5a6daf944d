//! R23, a panic: a part of the hub fails in a way nobody thought of. The hub lives, that part begins afresh, whoever
//! waited is told, and no report holds a secret.
//!
//! A part fails where the file that names it lies in the directory of faults; it takes the file away, so a test sees that
//! it really failed.

use std::path::PathBuf;

use satchel_tests::{Client, Connection, eventually, program};
use serde_json::{Value, json};

use crate::{
    arena::{Arena, Chaos, Launched, known},
    control::Control,
    journal::Outcome,
    measured,
};

/// In the server's environment, in calls and in results.
const CANARY: &str = "canary-of-the-panics-5f1e";

struct Faults(PathBuf);

impl Faults {
    fn plant(&self, part: &str) {
        std::fs::write(self.0.join(part), "").expect("the home can be written");
    }

    async fn struck(&self, part: &str) {
        eventually(&format!("the part \"{part}\" failed"), async || (!self.is_planted(part)).then_some(()))
            .await;
    }

    fn is_planted(&self, part: &str) -> bool {
        self.0.join(part).exists()
    }
}

async fn launch(arena: &Arena) -> (Launched, Faults) {
    let faults = Faults(arena.home.file("faults"));
    std::fs::create_dir(&faults.0).expect("the home can be written");
    let hub = arena
        .launch(&program("satchel"), &["serve", "--port", "0", "--json", "--trust-config"], |command| {
            command.env("SATCHEL_FAULTS", &faults.0);
        })
        .await;
    (hub, faults)
}

async fn works(client: &Client, server: &str) {
    eventually(&format!("{server} answers"), async || {
        let answer = client.execute(&format!("{server}:echo"), json!({ "text": CANARY })).await;
        (Outcome::of(&answer) == Outcome::Result && answer.text() == CANARY).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_part_that_panics_begins_afresh_and_nothing_else_notices() {
    let mut arena = Arena::new().await;
    for name in ["s", "other"] {
        arena.add(name, Chaos::new().env("CANARY", CANARY));
    }
    arena.configure();
    let (hub, faults) = launch(&arena).await;
    known(&arena.home, &["s".to_owned(), "other".to_owned()]).await;
    let (client, control) = (arena.client("one").await, Control::of(&arena.home));
    works(&client, "s").await;
    works(&client, "other").await;

    // The server's supervisor, reader and writer: the call says whether it may have run.
    for part in ["server", "output", "input"] {
        faults.plant(part);
        // A call to a server that answered just before tells its supervisor nothing.
        eventually(&format!("the part \"{part}\" failed"), async || {
            let answer = client.execute("s:echo", json!({ "text": CANARY })).await;
            let outcome = Outcome::of(&answer);
            measured!("panic of \"{part}\": the call came to {outcome:?}");
            assert_ne!(outcome, Outcome::Error, "{part}: {answer:?}");
            (!faults.is_planted(part)).then_some(())
        })
        .await;
        works(&client, "other").await;
        works(&client, "s").await;
    }

    // The list reader: lists are known afterwards as before.
    faults.plant("lists");
    control.request(json!({ "do": "restart", "server": "s" })).await.expect("the hub runs");
    faults.struck("lists").await;
    works(&client, "s").await;
    known(&arena.home, &["s".to_owned()]).await;

    // The tasks that answer a client, and the command line.
    faults.plant("request");
    let once = client.clone();
    let told =
        tokio::spawn(async move { once.execute("other:echo", json!({ "text": CANARY })).await.text() }).await;
    assert!(told.is_err(), "it was no answer: {told:?}");
    faults.struck("request").await;
    let client = arena.client("one").await;
    works(&client, "other").await;
    faults.plant("request");
    let asking = control.clone();
    let told = tokio::spawn(async move { asking.request(json!({ "do": "status" })).await }).await;
    assert!(told.is_err(), "it was refused: {told:?}");
    faults.struck("request").await;
    arena.home.satchel(&["list"]).await.succeeded();

    // The tasks that change the configuration, and watch its file.
    faults.plant("change");
    let refused = arena.home.satchel(&["disable", "other"]).await;
    refused.failed_with(1);
    assert!(refused.stderr.contains("an internal error occurred in Satchel"), "{refused:?}");
    faults.struck("change").await;
    arena.home.satchel(&["disable", "other"]).await.succeeded();
    // Between the file and the approval: what was added is not held back.
    faults.plant("written");
    let server = program("fake-mcp-server").display().to_string();
    arena.home.satchel(&["add", "added", "--", &server]).await.failed_with(1);
    faults.struck("written").await;
    works(&client, "added").await;
    faults.plant("file");
    arena.home.edit_config(|config| config["mcpServers"]["other"]["enabled"] = json!(true));
    faults.struck("file").await;
    arena.home.edit_config(|config| config["mcpServers"]["late"] = config["mcpServers"]["s"].clone());
    eventually("the new entry can be approved", async || {
        (arena.home.satchel_agreeing(&["approve", "late"]).await.code == Some(0)).then_some(())
    })
    .await;
    known(&arena.home, &["late".to_owned()]).await;
    works(&client, "late").await;

    // The tasks that show the state, and record calls.
    let calls = async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers").clone();
        let view = views.into_iter().find(|view| view["name"] == "late").unwrap_or(Value::Null);
        view["calls"].as_u64().unwrap_or(0)
    };
    let before = calls().await;
    let _window = control.follow().await;
    faults.plant("snapshot");
    works(&client, "late").await;
    faults.struck("snapshot").await;
    works(&client, "late").await;
    eventually("the state is shown again", async || (calls().await > before + 1).then_some(())).await;
    faults.plant("ledger");
    works(&client, "late").await;
    faults.struck("ledger").await;
    works(&client, "late").await;
    eventually("calls are recorded again", async || {
        let history = arena.home.satchel(&["history", "--json"]).await;
        history.succeeded().stdout.contains("late").then_some(())
    })
    .await;

    // The task that stores habits: they are stored nevertheless.
    let learned = || {
        let text = std::fs::read_to_string(arena.home.file("data/habits.json")).unwrap_or_default();
        let file: Value = serde_json::from_str(&text).unwrap_or_default();
        file["habits"].to_string().contains("s:echo")
    };
    assert!(!learned(), "nobody has searched yet");
    client.paths("echo").await;
    faults.plant("learning");
    works(&client, "s").await;
    faults.struck("learning").await;
    eventually("what was learned is written", async || learned().then_some(())).await;

    // The task that sends notifications to clients.
    let connection = control.request(json!({ "do": "connect", "client": "two", "ephemeral": true })).await;
    let mut connection: Connection =
        serde_json::from_value(connection.expect("the hub runs")).expect("a connection");
    connection.url += "/direct";
    let direct = Client::open(&connection, "2025-11-25").await;
    let mut notes = direct.listen().await;
    faults.plant("notifications");
    arena.home.satchel(&["disable", "late"]).await.succeeded();
    notes.next("notifications/tools/list_changed").await;
    faults.struck("notifications").await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    arena.home.satchel(&["enable", "late"]).await.succeeded();
    notes.next("notifications/tools/list_changed").await;

    assert!(std::path::Path::new(&format!("/proc/{}", hub.pid)).exists(), "it is still the same hub");
    let logs: String = std::fs::read_dir(arena.home.file("logs"))
        .expect("a hub has logs")
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect();
    assert!(logs.contains("Satchel panicked here"), "a panic is reported: {logs}");
    assert!(!logs.contains("planted") && !logs.contains(CANARY), "and not what it was about: {logs}");
}
