//! From the search to the end: installed, called, outdated, updated, taken back, withdrawn.

use satchel_tests::eventually;
use serde_json::{Value, json};

use crate::kit::Kit;

const LEDGER: &str = "io.github.adalovelace/ledger";

#[tokio::test]
async fn a_server_is_installed_called_updated_and_rolled_back() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    kit.says("ada-ledger-mcp@1.1.0", "Adds numbers up");
    kit.says("ada-ledger-mcp@1.2.0", "Adds numbers up and subtracts them");
    kit.install(&["io.github.adalovelace/ledger@1.1.0"]).await.succeeded();
    let entry = || kit.home.config()["mcpServers"]["ledger"].clone();
    assert_eq!(entry()["args"], json!(["-y", "ada-ledger-mcp@1.1.0"]));
    let source = &entry()["source"];
    assert_eq!(
        (&source["name"], &source["version"], &source["registry"]),
        (&json!(LEDGER), &json!("1.1.0"), &json!(kit.mock.url))
    );
    let client = hub.client("one").await;
    assert_eq!(client.execute("ledger:echo", json!({ "text": "in" })).await.text(), "in");
    assert_eq!(kit.launched()[0], ["npx", "-y", "ada-ledger-mcp@1.1.0"]);
    let found = kit.search(&["ledger"]).await;
    assert_eq!(found["servers"][0]["installed"], "ledger");

    let outdated = kit.home.satchel(&["outdated", "--json"]).await.json();
    assert_eq!(
        (&outdated[0]["version"], &outdated[0]["newer"]),
        (&json!("1.1.0"), &json!("1.2.0")),
        "and no release candidate"
    );
    let plan = kit.home.satchel(&["update", "ledger", "--dry-run", "--json"]).await.json();
    assert_eq!(plan["changes"], json!(["no longer ada-ledger-mcp@1.1.0", "now ada-ledger-mcp@1.2.0"]));
    let silent = kit.home.satchel(&["update", "ledger"]).await;
    assert!(silent.failed_with(2).stderr.contains("--yes"), "{silent:?}");
    assert_eq!(entry()["args"], json!(["-y", "ada-ledger-mcp@1.1.0"]), "nothing changes before a yes");

    let updated = kit.home.satchel_agreeing(&["update", "ledger"]).await;
    assert!(updated.succeeded().stdout.contains("now ada-ledger-mcp@1.2.0"), "{updated:?}");
    assert_eq!(
        (&entry()["args"], &entry()["source"]["version"]),
        (&json!(["-y", "ada-ledger-mcp@1.2.0"]), &json!("1.2.0"))
    );
    kit.home.satchel(&["restart", "ledger"]).await.succeeded();
    eventually("what changed waits for approval", async || {
        let held = kit.home.satchel(&["approvals", "ledger", "--json"]).await.json();
        held.to_string().contains("subtracts").then_some(())
    })
    .await;
    // What was approved stays in force until then.
    assert_eq!(client.execute("ledger:echo", json!({ "text": "in" })).await.text(), "in");

    kit.home.satchel_agreeing(&["undo"]).await.succeeded();
    assert_eq!(
        (&entry()["args"], &entry()["source"]["version"]),
        (&json!(["-y", "ada-ledger-mcp@1.1.0"]), &json!("1.1.0"))
    );
    eventually("it is as it was", async || {
        let answer = client.execute("ledger:echo", json!({ "text": "again" })).await;
        let is_whole = answer.outcome.is_ok() && answer.text() == "again";
        is_whole.then_some(())
    })
    .await;
    kit.home.satchel(&["uninstall", LEDGER]).await.succeeded();
    assert_eq!(kit.home.config()["mcpServers"], json!({}));
}

/// The bundled list is a source like any other, though no registry is asked for it.
#[tokio::test]
async fn a_bundled_server_is_updated_to_the_version_that_a_newer_list_has() {
    let kit = Kit::new().await;
    let _hub = kit.hub().await;
    kit.install(&["fetch"]).await.succeeded();
    assert_eq!(kit.mock.requests().await, Vec::<Value>::new(), "no registry is asked");
    let entry = || kit.home.config()["mcpServers"]["fetch"].clone();
    let pinned = entry();
    let source = &pinned["source"];
    assert_eq!((&source["registry"], &source["name"]), (&json!("satchel"), &json!("fetch")));
    let version = source["version"].as_str().expect("it is pinned").to_owned();
    assert_eq!(pinned["args"], json!([format!("mcp-server-fetch@{version}")]));
    // As an older Satchel wrote it.
    kit.home.edit_config(|older| {
        older["mcpServers"]["fetch"]["args"] = json!(["mcp-server-fetch@2020.1.1"]);
        older["mcpServers"]["fetch"]["source"]["version"] = json!("2020.1.1");
    });
    let outdated = eventually("the older entry is read", async || {
        let outdated = kit.home.satchel(&["outdated", "--json"]).await.json();
        (outdated[0]["version"] == "2020.1.1").then_some(outdated)
    })
    .await;
    assert_eq!((&outdated[0]["newer"], &outdated[0]["remarks"]), (&json!(version), &json!([])));
    let updated = kit.home.satchel_agreeing(&["update", "fetch"]).await;
    assert!(updated.succeeded().stdout.contains(&format!("now mcp-server-fetch@{version}")), "{updated:?}");
    assert_eq!(entry(), pinned);
    kit.home.satchel_agreeing(&["undo"]).await.succeeded();
    assert_eq!(entry()["args"], json!(["mcp-server-fetch@2020.1.1"]));
}

#[tokio::test]
async fn a_server_deleted_by_its_registry_is_stopped_and_not_removed() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    kit.install(&[LEDGER]).await.succeeded();
    let client = hub.client("one").await;
    client.execute("ledger:echo", json!({ "text": "in" })).await.text();
    kit.mock.does(json!({ "status": [LEDGER, "deleted", "malware"] })).await;
    let told = kit.home.satchel(&["outdated", "--fresh", "--json"]).await.json();
    assert_eq!((&told[0]["status"], &told[0]["status_message"]), (&json!("deleted"), &json!("malware")));
    hub.until("ledger", "asleep").await;
    let complaint = client.execute("ledger:echo", json!({ "text": "in" })).await.complaint();
    assert!(complaint.contains("malware"), "{complaint}");
    assert!(!complaint.contains("approve"), "a review cannot help: {complaint}");
    assert_eq!(kit.launched().len(), 1, "it is not started anew");
    assert!(kit.home.config()["mcpServers"]["ledger"].is_object(), "it is not removed");
    let program = kit.home.satchel(&["update", "ledger", "--keep"]).await;
    assert!(program.failed_with(1).stderr.contains("needs a person"), "{program:?}");
    kit.home.satchel_agreeing(&["update", "ledger", "--keep"]).await.succeeded();
    kit.home.satchel(&["restart", "ledger"]).await.succeeded();
    eventually("it goes on after a yes", async || (kit.launched().len() > 1).then_some(())).await;
}

#[tokio::test]
async fn another_package_and_other_contents_are_not_taken_over() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    kit.install(&["io.github.cedar-labs/h-swap@1.0.0"]).await.succeeded();
    let before = kit.home.config();
    let swapped = kit.home.satchel(&["update", "h-swap", "--yes"]).await;
    assert!(swapped.failed_with(1).stderr.contains("another package"), "{swapped:?}");
    let told = kit.home.satchel(&["outdated", "--json"]).await.json();
    assert!(told[0]["remarks"].to_string().contains("another package"), "{told}");
    kit.mock
        .does(
            json!({ "mutate": ["io.github.cedar-labs/h-swap", "1.0.0", { "packages": [{ "registryType": "npm",
            "identifier": "evil", "version": "1.0.0", "transport": { "type": "stdio" } }] }] }),
        )
        .await;
    // No date changes, as an honest publisher would not: a fresh read of the registry shows it.
    std::fs::remove_dir_all(kit.home.file("data/listings")).unwrap_or_default();
    hub.terminate().await;
    let _hub = kit.hub().await;
    let told = kit.home.satchel(&["outdated", "--fresh", "--json"]).await.json();
    assert!(told[0]["remarks"].to_string().contains("changed in place"), "{told}");
    assert_eq!(kit.home.config()["mcpServers"], before["mcpServers"]);
}

/// A hosted server that needs a sign-in is added, and says so.
#[tokio::test]
async fn a_hosted_server_that_needs_a_sign_in_says_so() {
    let kit = Kit::new().await;
    let hub = kit.hub().await;
    let asked = kit.install(&["com.example.acme/calendar"]).await;
    assert!(asked.failed_with(1).stderr.contains("accept.inside"), "{asked:?}");
    kit.install(&["com.example.acme/calendar", "--set", "accept.inside=yes"]).await.succeeded();
    kit.home.satchel(&["restart", "calendar"]).await.succeeded();
    let state: Value = eventually("it wants a sign-in", async || {
        let server = hub.server("calendar").await;
        (server["state"] == "needs_sign_in" || server.to_string().contains("sign in")).then_some(server)
    })
    .await;
    assert!(state["state"] != "ready", "{state}");
    assert_eq!(kit.launched().len(), 0, "nothing is spawned");
}

/// A tag can move: the digest is pinned, and no credential is on a command line.
#[tokio::test]
async fn an_image_is_pinned_to_its_digest_when_it_is_installed() {
    let kit = Kit::new().await;
    let digest = format!("sha256:{}", "ab".repeat(32));
    let script = format!(
        "#!/bin/sh\necho \"$@\" >>\"$HOME/docker.log\"\ncase \"$1\" in image) echo docker.io/adalovelace/calendar@{digest} ;; esac\n"
    );
    kit.home.write_program("bin/docker", &script);
    let _hub = kit.hub().await;
    kit.home.satchel_reading(&["secrets", "use-file"], "correct horse battery\n").await.succeeded();
    let source = format!("source={}", kit.home.path().display());
    let words = ["io.github.adalovelace/calendar", "--set", &source, "--set", "TOKEN=canary-1"];
    kit.plan(&words).await.succeeded();
    assert!(!kit.home.file("docker.log").exists(), "a look fetches nothing");
    kit.install(&words).await.succeeded();
    let entry = kit.home.config()["mcpServers"]["calendar"].clone();
    let args: Vec<&str> =
        entry["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let image = format!("docker.io/adalovelace/calendar@{digest}");
    assert_eq!(args.last(), Some(&image.as_str()), "{entry}");
    assert!(args.windows(2).any(|pair| pair == ["-e", "TOKEN"]), "{entry}");
    assert!(entry["env"]["TOKEN"].as_str().is_some_and(|text| text.starts_with("${secret:")), "{entry}");
    let log = std::fs::read_to_string(kit.home.file("docker.log")).expect("it was asked");
    assert!(log.starts_with("pull docker.io/adalovelace/calendar:1.2.6") && !log.contains("canary"), "{log}");
}
