//! A hub that is started from a dock or a menu has a bare `PATH`; its servers are found where the user's shell finds them.

use std::os::unix::fs::symlink;

use satchel_tests::{Fake, Home, program};
use serde_json::json;

/// The path that a desktop gives to what it starts.
const BARE: &str = "/usr/bin:/bin";

fn at_home(home: &Home, profile: &str) {
    std::fs::create_dir(home.file("tools")).expect("the home can be written to");
    symlink(program("fake-mcp-server"), home.file("tools/my-own-server")).expect("a link can be made");
    std::fs::write(home.file(".bash_profile"), profile).expect("the home can be written to");
    let fake = Fake::new(home, "mine").with("command", json!("my-own-server"));
    home.write_config(&json!({ "mcpServers": { "mine": fake.entry() } }));
}

#[tokio::test]
async fn a_server_is_found_where_the_login_shell_finds_it() {
    let home = Home::empty();
    // Start-up files may print anything.
    at_home(&home, "echo welcome back\nexport PATH=\"$HOME/tools:$PATH\"\n");
    let hub = home.start_hub_with(&[("PATH", BARE), ("SHELL", "/bin/bash")]).await;
    let client = hub.client("one").await;
    assert_eq!(client.execute("mine:echo", json!({ "text": "found" })).await.text(), "found");
    // What it starts itself is found in the same places.
    let about = client.execute("mine:about", json!({ "env": ["PATH"] })).await.text();
    let about: serde_json::Value = serde_json::from_str(&about).expect("it tells JSON");
    let tools = home.file("tools");
    assert!(about["env"]["PATH"].as_str().unwrap_or_default().contains(tools.to_str().unwrap()), "{about}");
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_search_path() {
    let home = Home::empty();
    at_home(&home, "");
    let hub = home.start_hub_with(&[("PATH", BARE), ("SHELL", "/bin/bash")]).await;
    let client = hub.client("one").await;
    let complaint = client.execute("mine:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("my-own-server was not found"), "{complaint}");
    let doctor = home.satchel(&["doctor"]).await;
    assert!(doctor.stdout.contains("my-own-server") && doctor.stdout.contains("/usr/bin"), "{doctor:?}");
}
