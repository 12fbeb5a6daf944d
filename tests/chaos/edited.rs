//! S8, S9 and S33: what a person accepted is started as it was accepted. An agent that writes the configuration file gets
//! nothing else started, neither at once nor after a restart. S10: looking at other programs' files does nothing.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use satchel_tests::{Fake, Home, Hub, eventually, program};
use serde_json::{Value, json};

use crate::{arena::Arena, arena::known, control::Control, measured, random};

/// Servers, each with a change of its own.
const SERVERS: usize = 66;
/// Ways to change what runs, or what is connected to.
const WAYS: usize = 11;

fn name(number: usize) -> String {
    format!("s{number:02}")
}

/// A valid entry, before or after this change.
fn entry(home: &Home, number: usize, hosted: &str, changed: bool) -> Value {
    let way = number % WAYS;
    let this = |of: usize, before: &str, after: &str| {
        let text = if changed && way == of { after } else { before };
        text.to_owned()
    };
    let place = |name: &str| home.file(name).to_str().expect("it is plain").to_owned();
    if matches!(way, 0 | 1) {
        let key = this(0, "${SATCHEL_KEY:-a}", "${SATCHEL_KEY:-b}");
        let url = format!("{hosted}?{}", this(1, "team=a", "team=b"));
        return json!({ "url": url, "headers": { "X-Key": key }, "idleTimeout": 1 });
    }
    let fake = Fake::new(home, &name(number))
        .behaving(&["yes", &format!("server@1.2.{}", this(2, "3", "4"))])
        .behaving(&[&format!("mcp/fetch@sha256:01{}", this(3, "2", "3")), &this(4, "safe", "sage")])
        .env(&this(5, "NOTE_A", "NOTE_B"), "x")
        .env("KEY", &this(6, "${SATCHEL_KEY:-a}", "${SATCHEL_KEY:-b}"))
        .env("MODE", &this(7, "plain", "plain "))
        .with("cwd", json!(place(&this(8, "one", "two"))))
        .with("idleTimeout", json!(1));
    let mut entry = fake.entry();
    entry["command"] = json!(place(&this(9, "program", "progrbm")));
    if way == 10 {
        let open = [place("."), env!("CARGO_MANIFEST_DIR").to_owned(), target()];
        entry["sandbox"] = json!({ "read": open, "write": open, "network": changed });
    }
    entry
}

fn target() -> String {
    satchel_tests::target_directory().to_str().expect("it is plain").to_owned()
}

fn write(home: &Home, hosted: &str, changed: bool) {
    let servers: serde_json::Map<String, Value> =
        (0..SERVERS).map(|number| (name(number), entry(home, number, hosted, changed))).collect();
    home.write_config(&json!({ "mcpServers": servers }));
}

fn furnish(home: &Home) {
    for directory in ["one", "two"] {
        std::fs::create_dir(home.file(directory)).expect("the home can be written to");
    }
    for link in ["program", "progrbm"] {
        std::os::unix::fs::symlink(program("fake-mcp-server"), home.file(link)).expect("a link can be made");
    }
}

/// How often any of the programs was started.
fn starts(home: &Home) -> usize {
    (0..SERVERS).map(|number| Fake::new(home, &name(number)).ledger().starts().len()).sum()
}

/// The servers in the hub's status, once all of them match.
async fn all(control: &Control, what: &str, like: impl Fn(&Value) -> bool) -> Vec<Value> {
    eventually(what, async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let views = status["servers"].as_array().expect("a snapshot has servers").clone();
        (views.len() == SERVERS && views.iter().all(&like)).then_some(views)
    })
    .await
}

async fn nothing_starts(home: &Home, hub: &Hub<'_>, before: usize) {
    let control = Control::of(home);
    let views = all(&control, "every changed entry waits for a look", |view| view["held"] == 1).await;
    assert!(views.iter().all(|view| view["starts"] == 0 && view["pid"].is_null()), "{views:#?}");
    let client = hub.client("one").await;
    for number in 0..SERVERS {
        let path = format!("{}:echo", name(number));
        let complaint = client.execute(&path, json!({ "text": "x" })).await.complaint();
        assert!(complaint.contains("held back") && complaint.contains("configuration file"), "{complaint}");
    }
    for number in [0, WAYS - 1] {
        let ran = home.satchel(&["restart", &name(number)]).await;
        ran.failed_with(1);
        assert!(ran.stderr.contains("held back"), "{ran:?}");
    }
    let views = all(&control, "and still does", |view| view["held"] == 1).await;
    assert!(views.iter().all(|view| view["starts"] == 0), "{views:#?}");
    assert_eq!(starts(home), before, "no program was started");
}

#[tokio::test]
async fn an_accepted_entry_is_not_started_after_another_program_changed_it() {
    let arena = Arena::new().await;
    let home = &arena.home;
    furnish(home);
    let hosted = home.start_http_server(&[]).await;
    home.write_config(&json!({ "mcpServers": {} }));
    let hub = home.start_hub().await;
    let control = Control::of(home);
    for number in 0..SERVERS {
        let entry = entry(home, number, &hosted.url, false);
        let put = json!({ "do": "change", "change": "put", "name": name(number), "entry": entry, "replace": false });
        control.request(put).await.expect("the hub runs");
    }
    let names: Vec<String> = (0..SERVERS).map(name).collect();
    known(home, &names).await;
    let client = hub.client("one").await;
    for number in 0..WAYS {
        let path = format!("{}:echo", name(number));
        assert_eq!(client.execute(&path, json!({ "text": "works" })).await.text(), "works", "{path}");
    }
    // What a person changes through Satchel, and changes that do not affect the launch, need no approval.
    assert!(starts(home) >= SERVERS * (WAYS - 2) / WAYS);
    home.edit_config(|config| config["mcpServers"]["s00"]["keepCalls"] = json!(true));
    all(&control, "nothing is held back", |view| view["held"] == 0).await;
    let before = starts(home);

    write(home, &hosted.url, true);
    nothing_starts(home, &hub, before).await;
    measured!("{SERVERS} changes of one byte each in {WAYS} places: {SERVERS} wait, started 0");
    hub.terminate().await;
    let hub = home.start_hub_asking().await;
    nothing_starts(home, &hub, before).await;

    // An entry restored to its approved contents needs no approval.
    home.edit_config(|config| {
        config["mcpServers"]["s02"] = entry(home, 2, &hosted.url, false);
    });
    let client = hub.client("one").await;
    eventually("it is as it was", async || (hub.server("s02").await["held"] == 0).then_some(())).await;
    assert_eq!(client.execute("s02:echo", json!({ "text": "again" })).await.text(), "again");
    // The review shows what would run; approving exactly that starts it.
    let shown = home.satchel(&["approvals", "s03"]).await.stdout;
    assert!(shown.contains("launch s03") && shown.contains("sha256:013"), "{shown}");
    home.satchel_agreeing(&["approve", "s03"]).await.succeeded();
    assert_eq!(client.execute("s03:echo", json!({ "text": "now" })).await.text(), "now");
    let log = home.satchel(&["audit", "--json"]).await.json();
    let approved = log.as_array().into_iter().flatten().filter(|record| record["kind"] == "approval");
    assert!(approved.into_iter().any(|record| record["detail"].to_string().contains("launch")), "{log}");
}

/// The same changes are started where the hub is told to trust the file: the test above can fail.
#[tokio::test]
async fn planted_the_same_changes_are_started_where_the_file_is_trusted() {
    let arena = Arena::new().await;
    let home = &arena.home;
    furnish(home);
    let hosted = home.start_http_server(&[]).await;
    write(home, &hosted.url, false);
    let hub = home.start_hub().await;
    let names: Vec<String> = (0..SERVERS).map(name).collect();
    known(home, &names).await;
    let before = starts(home);
    hub.terminate().await;
    write(home, &hosted.url, true);
    let hub = home.start_hub().await;
    eventually("most of them are started as they are now", async || {
        (starts(home) >= before + SERVERS * (WAYS - 3) / WAYS).then_some(())
    })
    .await;
    drop(hub);
}

/// What an agent, or the author of a project, could have written into another program's file.
pub(crate) fn hostile(number: usize, canary: &str, url: &str, random: &mut fastrand::Rng) -> String {
    let long = "a".repeat(random.usize(1..200_000));
    let entries = [
        json!({ "command": "sh", "args": ["-c", format!("touch {canary}")] }),
        json!({ "command": format!("touch {canary}"), "args": [] }),
        json!({ "command": "touch", "args": [canary] }),
        json!({ "command": "${SHELL}", "args": ["-c", format!("$(touch {canary})")] }),
        json!({ "url": url, "headers": { "Authorization": "Bearer ${HOME}" } }),
        json!({ "url": format!("{url}?${{HOME}}"), "type": "sse" }),
        json!({ "url": "file:///etc/passwd" }),
        json!({ "url": "\\\\server\\share\\mcp" }),
        json!({ "command": "\\\\server\\share\\run.exe" }),
        json!({ "command": "../../../bin/sh", "args": ["-c", format!("touch {canary}")], "cwd": "/" }),
        json!({ "command": long, "args": [long.clone()] }),
        json!({ "command": "npx", "args": ["-c", format!("touch {canary}")], "env": { "NODE_OPTIONS": "--require=/x" } }),
    ];
    let entry = &entries[number % entries.len()];
    let name = ["a", "toolbox", "A\u{202e}b", "\u{200b}", "../x", "satchel", ""][number % 7];
    let block = json!({ "mcpServers": { name: entry } }).to_string();
    match number % 6 {
        0 => format!("\u{feff}{block}"),
        1 => block.replacen("{\"mcpServers\"", "{\"MCPSERVERS\": {}, \"mcpServers\"", 1),
        2 => block.replacen("\"mcpServers\":", "\"mcpServers\": {}, \"mcpServers\":", 1),
        3 => format!("// {canary}\n{block}"),
        4 => block[..block.len() - random.usize(0..4)].to_owned(),
        _ => block,
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the counting listener ends with the test's runtime")]
async fn looking_at_two_hundred_hostile_files_starts_connects_and_reads_nothing() {
    const FILES: usize = 200;
    let arena = Arena::new().await;
    let home = &arena.home;
    home.write_config(&json!({ "mcpServers": {} }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.satchel_reading(&["secrets", "set", "TOKEN"], "value\n").await.succeeded();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it has one"));
    let connects = Arc::new(AtomicUsize::new(0));
    let counted = connects.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let canary = home.file("canary");
    let canary = canary.to_str().expect("it is plain");
    let (seed, mut random) = random();
    let project = home.file("project");
    let file = project.join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
    let (mut read, mut servers) = (0, 0);
    for number in 0..FILES {
        let text = hostile(number, canary, &url, &mut random);
        let _ = std::fs::remove_file(&file);
        if number % 10 == 9 {
            // Through a link to another place.
            let elsewhere = home.file("elsewhere.json");
            std::fs::write(&elsewhere, text).expect("the home can be written to");
            std::os::unix::fs::symlink(&elsewhere, &file).expect("a link can be made");
        } else {
            std::fs::write(&file, text).expect("the home can be written to");
        }
        let place = project.to_str().expect("it is plain");
        let ran = home.satchel(&["import", "--dry-run", "--json", "--project", place]).await;
        if ran.code == Some(0) {
            read += 1;
            servers += ran.json()["servers"].as_array().map_or(0, Vec::len);
        }
    }
    let (connected, exists) = (connects.load(Ordering::Relaxed), std::path::Path::new(canary).exists());
    let status = hub.status().await;
    let log = home.satchel(&["audit", "--json"]).await.json();
    let records: Vec<&Value> = log.as_array().into_iter().flatten().collect();
    let of = |kind: &str| records.iter().filter(|record| record["kind"] == kind).count();
    measured!(
        "{FILES} files, seed {seed}: read {read} with {servers} servers; started {}, connects {connected}, secrets read {}",
        of("started"),
        of("secret_read")
    );
    assert!(read >= FILES / 2 && servers >= FILES / 2, "they were looked at");
    assert_eq!((connected, exists, of("started"), of("secret_read")), (0, false, 0, 0), "{log}");
    assert_eq!(status["servers"], json!([]));
    // The trace works: once approved, the same files do act.
    std::fs::write(&file, hostile(0, canary, &url, &mut random)).expect("the home can be written to");
    home.satchel(&["add", "acting", "--", "sh", "-c", &format!("touch {canary}")]).await.succeeded();
    home.satchel(&["add", "calling", "--url", &url]).await.succeeded();
    eventually("the spies notice", async || {
        (std::path::Path::new(canary).exists() && connects.load(Ordering::Relaxed) > 0).then_some(())
    })
    .await;
}
