//! Who manages the hub is told apart: a person at a terminal, a program, and what a server started.

use satchel_tests::{Fake, Home, eventually, program};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use crate::offered;

/// Sends a message to the hub's socket, as any program of the same user can, and claims that a person was asked.
async fn raw(home: &Home, message: Value) -> (u16, String) {
    let mut stream = UnixStream::connect(home.file("data/hub.sock")).await.expect("the hub listens");
    let body = message.to_string();
    let request = format!(
        "POST /request HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\nSatchel-Asked: terminal\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("it answers");
    (text[9..12].parse().expect("a status"), text)
}

async fn log(home: &Home) -> Vec<(String, String, String, String)> {
    let records = home.satchel(&["audit", "--json"]).await.json();
    let text = |record: &Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let of = |record: &Value| ["kind", "who", "subject", "detail"].map(|key| text(record, key)).into();
    records.as_array().into_iter().flatten().map(of).collect()
}

/// CVE-2025-54135, CVE-2026-30615, from the inside.
#[tokio::test]
async fn nothing_that_a_server_started_manages_the_hub() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "github": Fake::new(&home, "github").entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    home.satchel(&["restart", "github"]).await;
    offered(&client, "github:echo").await;
    let stolen = hub.connection("one").await;
    let stolen = json!({ "url": stolen.url, "headers": stolen.headers });
    std::fs::write(home.file("stolen.json"), stolen.to_string()).expect("a file");
    let (satchel, attacker) = (program("satchel"), program("self-approver"));
    for how in ["child", "daemon", "killer"] {
        let report = home.file(&format!("{how}.json"));
        let words = [&attacker, home.path(), &satchel, &report].map(|path| path.to_str().expect("plain"));
        let [attacker, place, satchel, written] = words;
        home.satchel(&["add", how, "--", attacker, how, place, satchel, written]).await.succeeded();
        home.satchel(&["restart", how]).await;
        let said = eventually(&format!("the {how} has tried"), async || {
            serde_json::from_str::<Value>(&std::fs::read_to_string(&report).ok()?).ok()
        })
        .await;
        for words in ["approve", "status", "bridge"].into_iter().filter(|words| !said[words].is_null()) {
            assert_eq!(said[words]["code"], 1, "{how} {words}: {said}");
            assert!(
                said[words]["stderr"].to_string().contains("MCP server that Satchel runs"),
                "{how}: {said}"
            );
        }
        for attempt in ["raw_read", "raw_approve", "raw_connect", "as_client"] {
            assert_eq!(said[attempt]["status"], "403", "{how} {attempt}: {said}");
            assert!(said[attempt]["text"].to_string().contains("from_a_server"), "{how} {attempt}: {said}");
        }
        assert_eq!(hub.server("github").await["unseen"], "new", "{how}: nobody has looked at it");
        home.satchel(&["remove", how]).await.succeeded();
    }
    let log = log(&home).await;
    assert!(!log.iter().any(|(kind, ..)| kind == "approval"), "{log:?}");
    let refused = |(kind, who, _, why): &&(String, String, String, String)| {
        kind == "denied" && who.starts_with("program self-approver (pid ") && why == "started by a server"
    };
    // A server that exits is started again, and tries again.
    assert!(log.iter().filter(refused).count() >= 9, "{log:?}");
    let with_a_token = |(kind, who, subject, why): &&(String, String, String, String)| {
        let detail = "started by a server, with the token of one";
        let whose = who.starts_with("program self-approver (pid ");
        kind == "denied" && whose && subject == "the port for clients" && why == detail
    };
    assert!(log.iter().filter(with_a_token).count() >= 3, "{log:?}");
}

#[tokio::test]
async fn loosening_a_protection_needs_a_person_and_tightening_does_not() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    let mut entry = fake.entry();
    entry["sandbox"] = json!({ "read": ["/usr"], "network": false });
    home.write_config(&json!({
        "toolRules": [{ "tool": "fake:about", "permit": "off" }],
        "mcpServers": { "fake": fake.entry(), "sandboxed": entry },
    }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    home.satchel(&["hide", "one", "fake:echo"]).await.succeeded();

    // Every way a program has: the command line with and without a flag, and the socket itself.
    for words in [
        &["approve", "fake"][..],
        &["approve", "fake", "--yes"],
        &["rule", "fake:about", "allow"],
        &["rule", "fake:about", "ask"],
        &["rule", "fake:about", "usual"],
        &["rule", "*", "ask"],
        &["rule", "new:tool", "allow"],
        &["show", "one", "fake:echo"],
        &["sandbox", "sandboxed", "off"],
        &["sandbox", "sandboxed", "on", "--read", "/usr", "--network"],
        &["sandbox", "sandboxed", "on", "--read", "/"],
        &["sandbox", "sandboxed", "on", "--container", "node:22"],
        &["sandbox", "fake", "on", "--container", "node:22"],
        &["history", "clear"],
    ] {
        let ran = home.satchel(&[words, &["--json"]].concat()).await;
        ran.failed_with(1);
        assert!(ran.stderr.contains(r#""code":"needs_person""#), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("in a terminal, or use the window"), "{words:?}: {ran:?}");
        // No means no, and so does silence.
        let declined = home.satchel_typing(words, "\n").await;
        assert!(
            declined.stdout.contains("othing was changed") || words[0] == "approve" && words.len() == 3,
            "{declined:?}"
        );
    }
    for request in [
        json!({ "do": "looked_at", "server": "fake" }),
        json!({ "do": "approve", "server": "fake", "items": [] }),
        json!({ "do": "answer_ask", "id": 1, "answer": "once" }),
        json!({ "do": "answer_ask", "id": 1, "answer": "always" }),
        json!({ "do": "answer_question", "id": 1, "answer": { "action": "accept", "content": {} } }),
        json!({ "do": "resume" }),
        json!({ "do": "change", "change": "edit", "name": "sandboxed", "entry": { "command": "x" } }),
        json!({ "do": "change", "change": "put", "name": "sandboxed", "entry": { "command": "x" }, "replace": true }),
        json!({ "do": "change", "change": "set_permit", "tool": "fake:about", "permit": "allow" }),
    ] {
        let (status, text) = raw(&home, request.clone()).await;
        assert!(status == 422 && text.contains("needs_person"), "{request}: {text}");
    }
    assert_eq!(raw(&home, json!({ "do": "status" })).await.0, 200, "reading is open");

    for words in [
        &["rule", "fake:about", "off"][..],
        &["rule", "fake:grow", "off"],
        &["rule", "walled:*", "ask"],
        &["hide", "one", "fake:grow"],
        &["sandbox", "sandboxed", "on"],
        &["sandbox", "fake", "on"],
        &["disable", "fake"],
        &["enable", "fake"],
        &["history", "forget"],
    ] {
        home.satchel(words).await.succeeded();
    }
    for words in
        [&["rule", "fake:grow", "usual"][..], &["sandbox", "fake", "off"], &["show", "one", "fake:grow"]]
    {
        home.satchel_agreeing(words).await.succeeded();
    }
    let log = log(&home).await;
    let by = |detail: &str| {
        let found = log.iter().find(|(kind, .., said)| kind == "policy" && said == detail);
        found.map(|(_, who, ..)| who.split(" (pid").next().unwrap_or_default()).unwrap_or_default()
    };
    assert_eq!(by("sandbox on"), "program satchel", "{log:?}");
    assert_eq!(by("sandbox off"), "person at a terminal", "{log:?}");
    assert_eq!(by("rule: as usual"), "person at a terminal", "{log:?}");
    home.satchel_agreeing(&["history", "clear"]).await.succeeded();
}

#[tokio::test]
async fn without_a_hub_the_same_holds_for_the_command_itself() {
    let home = Home::empty();
    home.write_config(&json!({
        "toolRules": [{ "tool": "fake:about", "permit": "off" }],
        "mcpServers": { "fake": Fake::new(&home, "fake").entry() },
    }));
    let refused = home.satchel(&["rule", "fake:about", "allow"]).await;
    assert!(refused.failed_with(1).stderr.contains("in a terminal, or use the window"), "{refused:?}");
    home.satchel_agreeing(&["rule", "fake:about", "allow"]).await.succeeded();
    assert_eq!(home.config()["toolRules"][0]["permit"], "allow");
    let mut marked = home.command(program("satchel"));
    marked.args(["list"]).env("SATCHEL_TREE", "1.2.3");
    let ended = marked.output().await.expect("it can be started");
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("MCP server that Satchel runs"));
}

#[tokio::test]
async fn a_programs_change_to_an_approved_server_waits_for_approval() {
    let home = Home::empty();
    let (fake, other) = (Fake::new(&home, "fake"), Fake::new(&home, "other"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    home.satchel_agreeing(&["approve", "fake"]).await.succeeded();
    let entry = other.entry();
    let program = entry["command"].as_str().expect("a program").to_owned();
    let arguments: Vec<String> = serde_json::from_value(entry["args"].clone()).expect("words");
    let mut words = vec!["add", "fake", "--replace", "--", &program];
    words.extend(arguments.iter().map(String::as_str));
    home.satchel(&words).await.succeeded();
    let complaint = client.execute("fake:about", json!({})).await.complaint();
    assert!(complaint.contains("held back"), "{complaint}");
    // Removed and added again, it still waits.
    home.satchel(&["remove", "fake"]).await.succeeded();
    words.retain(|word| *word != "--replace");
    home.satchel(&words).await.succeeded();
    client.execute("fake:about", json!({})).await.complaint();
    assert!(other.ledger().starts().is_empty(), "nothing of it ran");
    home.satchel_agreeing(&["approve", "fake"]).await.succeeded();
    eventually("it runs", async || {
        client.execute("fake:about", json!({})).await;
        (!other.ledger().starts().is_empty()).then_some(())
    })
    .await;
}
