//! `satchel preflight`: whether a job can begin, by the exit code.

use satchel_tests::{Fake, Home};
use serde_json::json;

#[tokio::test]
async fn a_job_learns_before_it_begins_what_is_missing() {
    let home = Home::empty();
    let (ready, off) = (Fake::new(&home, "ready"), Fake::new(&home, "off").with("enabled", json!(false)));
    home.write_config(&json!({ "mcpServers": { "ready": ready.entry(), "off": off.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("editor").await;
    crate::offered(&client, "ready:sleep").await;
    let check = async |text: &str| {
        std::fs::write(home.file("job"), text).expect("the home can be written");
        home.satchel(&["preflight", home.file("job").to_str().expect("a test's path is text")]).await
    };
    let good = check("ready # all of it\nready:sleep\n").await;
    assert!(good.succeeded().stdout.contains("Ready: 2 names"), "{}", good.stdout);
    let bad = check("[\"off\", \"gone\", \"ready:nothing\", \"ready:sleep\"]").await;
    let said = &bad.failed_with(1).stdout;
    for reason in [
        "off: it is switched off",
        "gone: there is no such server",
        "ready:nothing: the server has no such tool",
    ] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    assert!(!said.contains("ready:sleep"), "{said}");
    check("# nothing").await.failed_with(2);
    home.satchel(&["preflight", "no-such-profile"]).await.failed_with(2);
    home.satchel(&["profile", "add", "work", "ready"]).await.succeeded();
    home.satchel(&["preflight", "work"]).await.succeeded();
}
