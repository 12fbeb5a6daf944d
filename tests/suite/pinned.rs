//! An entry that runs whichever version is newest: `satchel pin` has it run one, and another one than before is told.

use std::fs;

use satchel_tests::{Client, Fake, Home, eventually};
use serde_json::json;

use crate::offered;

#[tokio::test]
async fn what_floats_is_pinned_to_what_was_fetched_last() {
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
    write(".npm/_npx/ab12/node_modules/@scope/server/package.json", r#"{"version":"1.2.3"}"#);
    let _hub = home.start_hub().await;

    let pinned = home.satchel(&["pin", "floats"]).await;
    assert!(pinned.succeeded().stdout.contains("runs 1.2.3 of @scope/server"), "{pinned:?}");
    let entry = &home.config()["mcpServers"]["floats"];
    assert_eq!(*entry, npx(json!(["-y", "@scope/server@1.2.3", "--port", "3"])));
    let again = home.satchel(&["pin", "floats"]).await;
    assert!(again.failed_with(1).stderr.contains("exactly already"), "{again:?}");
    let exact = home.satchel(&["pin", "exact"]).await;
    assert!(exact.failed_with(1).stderr.contains("exactly already"), "{exact:?}");

    let unknown = home.satchel(&["pin", "unknown"]).await;
    assert!(unknown.failed_with(1).stderr.contains("`satchel pin unknown VERSION`"), "{unknown:?}");
    let range = home.satchel(&["pin", "unknown", "^2.0.0"]).await;
    assert!(range.failed_with(1).stderr.contains("no exact version"), "{range:?}");
    home.satchel(&["pin", "unknown", "2.0.1"]).await.succeeded();
    assert_eq!(home.config()["mcpServers"]["unknown"]["args"], json!(["-y", "other@2.0.1"]));
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
        let trail = home.satchel(&["audit", "trail", "--json"]).await.json();
        let records = trail.as_array().expect("a list of records").clone();
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
