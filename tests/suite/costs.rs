//! What the hub says of costs is measured: tokens of definitions, memory of process trees.

use satchel_tests::{Fake, Home, eventually};
use serde_json::json;

#[tokio::test]
async fn tokens_are_counted_once_and_known_after_a_restart() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    let tokens =
        eventually("its tokens are counted", async || hub.server("fake").await["tokens"].as_u64()).await;
    // A plausible size for a definition.
    let tools = hub.server("fake").await["tools"].as_u64().expect("its tools are known");
    assert!((tools * 10..tools * 1000).contains(&tokens), "{tokens} tokens for {tools} tools");
    hub.terminate().await;
    let hub = home.start_hub().await;
    assert_eq!(hub.server("fake").await["tokens"], tokens);
}

/// One runs per awake server.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn helper_processes_are_small() {
    let home = Home::empty();
    home.write_config(&json!({ "mcpServers": { "fake": Fake::new(&home, "fake").entry() } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    let pid = hub.server("fake").await["pid"].as_u64().expect("it runs");
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).expect("it runs");
    assert!(program.ends_with("satchel-reaper"), "{}", program.display());
    let memory = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("Linux tells it");
    let dirty = memory.lines().find_map(|line| line.strip_prefix("Private_Dirty:")).expect("Linux tells it");
    let kilobytes: u64 = dirty.trim().trim_end_matches(" kB").parse().expect("it is a number");
    assert!(kilobytes < 400, "{memory}");
}

#[tokio::test]
async fn a_running_servers_whole_tree_is_measured() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").behaving(&["--grandchild"]);
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    hub.client("one").await.execute("fake:echo", json!({ "text": "x" })).await.text();
    let usage = eventually("its processes are measured", async || {
        let usage = hub.server("fake").await["usage"].clone();
        (usage["memory_bytes"].as_u64()? > 0).then_some(usage)
    })
    .await;
    assert!(usage["processes"].as_u64().is_some_and(|processes| processes >= 1), "{usage}");
    let status = hub.status().await;
    assert!(status["avoided"]["formula"].as_str().is_some_and(|formula| !formula.is_empty()), "{status}");
}

#[tokio::test]
async fn savings_from_sharing_are_stored() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").with("startup", json!("keep-alive"));
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    for name in ["one", "two", "three"] {
        hub.client(name).await.execute("fake:echo", json!({ "text": "x" })).await.text();
    }
    let sharing = eventually("it was measured for a while", async || {
        let sharing = home.satchel(&["stats", "--json"]).await.json()["sharing"].clone();
        (sharing["most_processes"].as_u64() >= Some(2)).then_some(sharing)
    })
    .await;
    // Two of the three clients would each have their own process.
    let (saved, used) = (sharing["processes"].as_f64(), sharing["used_processes"].as_f64());
    assert!(saved >= used.map(|used| used * 1.5) && used > Some(0.5), "{sharing}");
    assert!(sharing["measured_hours"].as_f64() > Some(0.0), "{sharing}");
    assert!(sharing["memory_bytes"].as_u64() > Some(0), "{sharing}");
    let words = home.satchel(&["stats"]).await.succeeded().stdout.clone();
    assert!(words.contains("Sharing saved "), "{words}");
    hub.terminate().await;
    let kept = home.satchel(&["stats", "--json"]).await.json()["sharing"].clone();
    assert_eq!(kept["most_processes"], sharing["most_processes"]);
}
