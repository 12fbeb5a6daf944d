//! The whole setup on a second computer: what differs is shown, a person takes it, and secrets go along only sealed.

use satchel_tests::{Home, eventually};
use serde_json::{Value, json};

fn entry(command: &str) -> Value {
    json!({ "command": command, "args": ["--api-key", "canary-5512"], "startup": "manual" })
}

#[tokio::test]
async fn a_person_imports_a_setup_after_seeing_the_differences_and_undoes_it() {
    let (one, two) = (Home::empty(), Home::empty());
    one.write_config(&json!({
        "mcpServers": { "notes": entry("no-such-notes") },
        "profiles": { "work": { "servers": ["notes"] } },
        "toolRules": [{ "tool": "notes:*", "permit": "ask" }],
    }));
    let file = one.file("mine.satchel.json");
    let path = file.to_str().expect("a path of ours is text").to_owned();
    one.satchel(&["setup", "export", &path]).await.succeeded();
    let text = std::fs::read_to_string(&file).expect("it was written");
    assert!(text.contains("notes.api-key") && !text.contains("canary"), "{text}");

    two.write_config(&json!({ "mcpServers": { "other": entry("no-such-other") } }));
    let shown = two.satchel(&["setup", "import", &path, "--dry-run"]).await;
    shown.succeeded();
    for part in ["server notes: new", "profile work: new", "setting toolRules: new"] {
        assert!(shown.stdout.contains(part), "{}", shown.stdout);
    }
    // A program cannot import, and the preview changed nothing.
    two.satchel(&["setup", "import", &path, "--yes"]).await.failed_with(1);
    assert!(two.config()["mcpServers"]["notes"].is_null(), "{}", two.config());
    two.satchel_agreeing(&["setup", "import", &path]).await.succeeded();
    let config = two.config();
    assert_eq!(config["mcpServers"]["notes"]["args"][1], "${secret:notes.api-key}");
    assert_eq!(config["profiles"]["work"]["servers"], json!(["notes"]));
    assert_eq!(config["toolRules"][0]["permit"], "ask");
    assert!(!config["mcpServers"]["other"].is_null(), "what is here only stays");
    let again = two.satchel(&["setup", "import", &path, "--dry-run"]).await;
    assert!(again.stdout.contains("Nothing differs"), "{}", again.stdout);

    two.satchel_agreeing(&["undo"]).await.succeeded();
    let config = two.config();
    assert!(config["mcpServers"]["notes"].is_null() && config["toolRules"].is_null(), "{config}");
}

#[tokio::test]
async fn computers_following_a_folder_show_differences_and_merge_nothing_by_themselves() {
    let (desk, lap, shared) = (Home::empty(), Home::empty(), Home::empty());
    let folder = shared.path().to_str().expect("a path of ours is text").to_owned();
    desk.write_config(&json!({ "mcpServers": { "a": entry("no-such-a"), "b": entry("no-such-b") } }));
    lap.write_config(&json!({ "mcpServers": { "b": entry("another-b") } }));
    let (desk_hub, lap_hub) = (desk.start_hub().await, lap.start_hub().await);
    desk.satchel_agreeing(&["setup", "follow", &folder]).await.succeeded();
    lap.satchel_agreeing(&["setup", "follow", &folder]).await.succeeded();

    let told = |text: &str| text.contains("setup_differs");
    eventually("what differs is told", async || told(&lap_hub.status().await.to_string()).then_some(()))
        .await;
    let seen = lap.satchel(&["setup"]).await;
    assert!(
        seen.stdout.contains("server a: new") && seen.stdout.contains("server b: differs on both sides"),
        "{}",
        seen.stdout
    );
    assert!(lap.config()["mcpServers"]["a"].is_null(), "nothing came by itself");

    let computer = lap.satchel(&["setup", "--json"]).await.json()["others"][0]["computer"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    // Commands that need the folder while the hub reads it wait for that read.
    let take = ["setup", "take", &computer, "a"];
    let looks = futures_util::future::join_all([(); 4].map(|()| lap.satchel(&["setup"])));
    let (looks, took) = tokio::join!(looks, lap.satchel_agreeing(&take));
    took.succeeded();
    assert!(looks.iter().all(|look| look.code == Some(0)), "{looks:?}");
    assert_eq!(lap.config()["mcpServers"]["a"]["command"], "no-such-a");
    lap.satchel_agreeing(&["setup", "keep", &computer, "b"]).await.succeeded();
    eventually("nothing is open any more", async || {
        (!told(&lap_hub.status().await.to_string())).then_some(())
    })
    .await;

    desk.edit_config(|config| config["mcpServers"]["b"]["args"] = json!(["--more"]));
    desk_hub.waits("b").await;
    // Unapproved entries are not shared with other computers.
    let quiet = lap.satchel(&["setup"]).await;
    assert!(quiet.stdout.contains("the same as here"), "{}", quiet.stdout);
    desk.satchel_agreeing(&["approve", "b"]).await.succeeded();
    eventually("a change there is told here", async || {
        told(&lap_hub.status().await.to_string()).then_some(())
    })
    .await;
    let files = shared.files();
    assert!(
        !files.is_empty()
            && files.iter().all(|(_, bytes)| !String::from_utf8_lossy(bytes).contains("canary"))
    );
}
