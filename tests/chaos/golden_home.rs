//! Homes of released versions open unchanged. Each version leaves one in the fixtures before its successor comes.

use std::{fs, path::Path};

use satchel_tests::{Client, Connection};
use serde_json::json;

use crate::{
    arena::{Arena, fixture},
    control::Control,
    measured,
};

/// The token of its one client; the home contains only its hash.
const TOKEN: &str = "sat_golden-home-of-version-0-1";

/// R18, upgrade: nothing is lost.
#[tokio::test]
async fn a_home_of_version_0_1_opens_unchanged() {
    let arena = Arena::new().await;
    let copied = copy(&fixture("home-0.1"), arena.home.path());
    assert!(copied >= 4, "the fixture is there: {copied} files");
    let config = arena.home.config_text();
    let hub = arena.home.start_hub().await;
    assert_eq!(arena.home.config_text(), config, "opening changes nothing");
    let status = Control::of(&arena.home).request(json!({ "do": "status" })).await.expect("the hub runs");
    assert_eq!(status["notices"], json!([]), "nothing was set aside");
    let toolbox = &status["servers"].as_array().expect("a snapshot has servers")[0];
    assert_eq!(
        (&toolbox["name"], &toolbox["starts"]),
        (&json!("toolbox"), &json!(0)),
        "known without a start"
    );
    assert!(toolbox["tools"].as_u64() > Some(5), "{toolbox}");
    let headers = [("Authorization".to_owned(), format!("Bearer {TOKEN}"))].into();
    let client = Client::open(&Connection { url: hub.url.clone(), headers }, "2025-11-25").await;
    let hash = client.execute("toolbox:hash_text", json!({ "text": "hello" })).await.text();
    assert!(hash.contains("2cf24dba5fb0a30e26e83b2ac5b9e29e"), "{hash}");
    measured!("golden home of 0.1: {copied} files, opens unchanged");
}

fn copy(from: &Path, to: &Path) -> usize {
    let mut copied = 0;
    for entry in fs::read_dir(from).expect("the fixture is there").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).expect("a home can be written");
            copied += copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a home can be written");
            copied += 1;
        }
    }
    copied
}
