//! An entry that runs whichever version is newest: `satchel pin` has it run one, and another one than before is told. One
//! version with other contents than before is run by nobody, pinned or not.

use std::fs;

use satchel_tests::{Client, Fake, Home, Hub, Registry, eventually};
use serde_json::{Value, json};

use crate::offered;

#[tokio::test]
async fn a_floating_version_is_pinned_to_the_one_fetched_last() {
    let home = Home::empty();
    let npx = |args: serde_json::Value| json!({ "command": "npx", "args": args, "env": { "API_KEY": "s3cr3t-value" } });
    home.write_config(&json!({ "mcpServers": {
        "floats": npx(json!(["-y", "@scope/server", "--port", "3"])),
        "exact": npx(json!(["-y", "@scope/server@1.0.0"])),
        "unknown": npx(json!(["-y", "other"])),
    } }));
    let write = |path: &str, text: &str| {
        let path = home.file(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("the home can be written to");
        fs::write(path, text).expect("the home can be written to");
    };
    write(".npm/_npx/ab12/package.json", r#"{"_npx":{"packages":["@scope/server"]}}"#);
    let came = r#"{"packages":{"node_modules/@scope/server":{"version":"1.2.3"}}}"#;
    write(".npm/_npx/ab12/node_modules/.package-lock.json", came);
    let _hub = home.start_hub().await;

    let pinned = home.satchel(&["pin", "floats"]).await;
    assert!(pinned.succeeded().stdout.contains("runs 1.2.3 of @scope/server"), "{pinned:?}");
    let entry = &home.config()["mcpServers"]["floats"];
    assert_eq!(*entry, npx(json!(["-y", "@scope/server@1.2.3", "--port", "3"])));
    let again = home.satchel(&["pin", "floats"]).await;
    assert!(again.failed_with(1).stderr.contains("already names an exact version"), "{again:?}");
    let exact = home.satchel(&["pin", "exact"]).await;
    assert!(exact.failed_with(1).stderr.contains("already names an exact version"), "{exact:?}");

    let unknown = home.satchel(&["pin", "unknown"]).await;
    assert!(unknown.failed_with(1).stderr.contains("`satchel pin unknown VERSION`"), "{unknown:?}");
    let range = home.satchel(&["pin", "unknown", "^2.0.0"]).await;
    assert!(range.failed_with(1).stderr.contains("not an exact version"), "{range:?}");
    home.satchel(&["pin", "unknown", "2.0.1"]).await.succeeded();
    assert_eq!(home.config()["mcpServers"]["unknown"]["args"], json!(["-y", "other@2.0.1"]));
}

/// S9. Pinning an entry does not approve what another program changed in the rest of it.
#[tokio::test]
async fn pinning_a_held_tool_does_not_approve_it() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    home.write_config(&json!({ "mcpServers": {} }));
    let hub = registry.start_hub().await;
    home.satchel(&["add", "fake", "--", "npx", "-y", TOP]).await.succeeded();
    home.edit_config(|config| config["mcpServers"]["fake"]["args"] = json!(["-y", TOP, "--root", "/"]));
    let before = home.config();
    eventually("it is held back", async || (hub.server("fake").await["held"] == 1).then_some(())).await;
    let refused = home.satchel(&["pin", "fake", "1.2.3"]).await;
    assert!(refused.failed_with(1).stderr.contains("held back"), "{refused:?}");
    assert_eq!(home.config(), before);
}

#[tokio::test]
async fn a_server_that_is_another_version_than_before_is_told_of() {
    let home = Home::empty();
    let version = home.file("version");
    fs::write(&version, "1.2.0").expect("the home can be written to");
    let fake = Fake::new(&home, "fake").behaving(&["--version", version.to_str().expect("it is plain")]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = Client::open(&hub.connection("one").await, "2025-11-25").await;
    offered(&client, "fake:echo").await;
    let told = async || {
        let audited = home.satchel(&["audit", "--json"]).await.json();
        let records = audited.as_array().expect("a list of records").clone();
        records
            .into_iter()
            .find(|record| record["detail"].as_str().is_some_and(|detail| detail.contains("version")))
    };
    assert_eq!(told().await, None, "the first is no other");
    fs::write(&version, "1.3.0").expect("the home can be written to");
    home.satchel(&["restart", "fake"]).await.succeeded();
    let record = eventually("it is told", told).await;
    assert_eq!(record["subject"], "fake", "{record}");
    assert_eq!(record["detail"], "says that it is version 1.3.0; before it was 1.2.0", "{record}");
    let log = home.satchel(&["logs", "fake"]).await;
    assert!(log.succeeded().stdout.contains("says that it is version 1.3.0"), "{log:?}");
}

const TOP: &str = "@scope/server";

async fn works(client: &Client) {
    eventually("it works", async || {
        let answer = client.execute("fake:echo", json!({ "text": "works" })).await;
        answer.raw().contains("\"works\"").then_some(())
    })
    .await;
}

/// The server is held back and does not run, and every interface gives this reason.
async fn is_held(home: &Home, hub: &Hub<'_>, client: &Client, words: &[&str]) {
    eventually("it is held back", async || {
        let server = hub.server("fake").await;
        (server["held"] == 1 && server["pid"].is_null() && server["state"] == "asleep").then_some(())
    })
    .await;
    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    let log = home.satchel(&["logs", "fake"]).await.stdout;
    let audited = home.satchel(&["audit", "--json"]).await.stdout;
    let refused = home.satchel(&["restart", "fake"]).await;
    refused.failed_with(1);
    for text in [&complaint, &log, &audited, &refused.stderr] {
        for word in words {
            assert!(text.contains(word), "{word} in {text}");
        }
    }
    assert!(complaint.contains("held back") && complaint.contains("satchel approve"), "{complaint}");
}

/// S33.
#[tokio::test]
async fn the_same_version_with_other_contents_does_not_run_before_a_person_has_looked() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let fake = Fake::new(&home, "fake");
    let starts = || Fake::new(&home, "fake").ledger().starts().len();
    let entry = registry.entry(fake, "npx", &["-y", "@scope/server@1.2.3"]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    registry.has(&[(TOP, "1.2.3", "first"), ("zod", "3.0.0", "zod")]);
    let hub = registry.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    works(&client).await;
    let log = home.satchel(&["logs", "fake"]).await.stdout;
    assert!(log.contains("@scope/server 1.2.3 was fetched for it, sha512-first"), "{log}");

    // A dependency may be newer, and is recorded as well.
    registry.has(&[(TOP, "1.2.3", "first"), ("zod", "3.1.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;

    // The cache has other contents before the start: they do not run, also after a restart of the hub.
    let words = ["@scope/server 1.2.3 has other contents than before", "sha512-other, before sha512-first"];
    let before = starts();
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.1.0", "newer")]);
    registry.fetch_now();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &words).await;
    assert!(client.paths("fake:echo").await.is_empty(), "nor is it on offer");
    hub.terminate().await;
    let shown = home.satchel(&["approvals", "fake"]).await.stdout;
    assert!(shown.contains("@scope/server 1.2.3"), "also without a hub: {shown}");
    let hub = registry.start_hub().await;
    let client = hub.client("one").await;
    is_held(&home, &hub, &client, &words).await;
    assert_eq!(starts(), before, "nothing of it ran");

    // The review shows both, and a yes starts it.
    let shown = home.satchel(&["approvals", "fake"]).await.stdout;
    assert!(shown.contains("package @scope/server 1.2.3 (held back: it changed)"), "{shown}");
    assert!(shown.contains("sha512-first") && shown.contains("sha512-other"), "{shown}");
    home.satchel_agreeing(&["approve", "fake"]).await.succeeded();
    works(&client).await;

    // If they are fetched during the start, the server is stopped before anybody can use it.
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.0.0", "third")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await;
    let words = ["zod 3.0.0 has other contents than before", "sha512-third, before sha512-zod"];
    is_held(&home, &hub, &client, &words).await;
    assert!(home.processes().iter().all(|process| !process.command.contains("fake-mcp-server")));

    // Once the contents are right again, no approval is needed.
    registry.has(&[(TOP, "1.2.3", "other"), ("zod", "3.1.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;
    assert_eq!(hub.server("fake").await["held"], 0);
}

/// S33. A floating entry may get another version, but not other contents for the same one.
#[tokio::test]
async fn a_floating_version_may_change_and_the_contents_of_one_version_may_not() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let entry = registry.entry(Fake::new(&home, "fake"), "npx", &["-y", TOP]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    registry.has(&[(TOP, "1.2.3", "first")]);
    let hub = registry.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;

    registry.has(&[(TOP, "1.3.0", "newer")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await.succeeded();
    works(&client).await;
    let audited = home.satchel(&["audit", "--json"]).await.stdout;
    assert!(audited.contains("@scope/server 1.3.0 was fetched for it, sha512-newer"), "{audited}");

    registry.has(&[(TOP, "1.2.3", "other")]);
    registry.empty();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &["@scope/server 1.2.3 has other contents", "before sha512-first"]).await;
    // A person may also keep it held back, and pin it to what was seen.
    home.satchel(&["approve", "fake", "--keep", "--yes"]).await.succeeded();
    assert_eq!(hub.server("fake").await["pid"], Value::Null);
}

/// S33.
#[tokio::test]
async fn a_wheel_with_other_contents_does_not_run_either() {
    let home = Home::empty();
    let registry = Registry::of(&home);
    let entry = registry.entry(Fake::new(&home, "fake"), "uvx", &["my-server==1.0.0"]);
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    let about = home.file(".cache/uv/archive-v0/a/my_server-1.0.0.dist-info");
    fs::create_dir_all(&about).expect("the home can be written to");
    let unpacked = |list: &str| fs::write(about.join("RECORD"), list).expect("the home can be written to");
    unpacked("server.py,sha256=first,1\n");
    let hub = registry.start_hub().await;
    let client = hub.client("one").await;
    offered(&client, "fake:echo").await;
    unpacked("server.py,sha256=other,1\n");
    let before = Fake::new(&home, "fake").ledger().starts().len();
    home.satchel(&["restart", "fake"]).await;
    is_held(&home, &hub, &client, &["my_server 1.0.0 has other contents than before"]).await;
    assert_eq!(Fake::new(&home, "fake").ledger().starts().len(), before);
}
