//! Servers that not all callers share, with real processes: each session has its own, and none is left when it ends.

use satchel_tests::{Fake, Home, eventually, process};
use serde_json::json;

use crate::offered;

#[tokio::test]
async fn each_session_has_a_process_of_its_own_which_stays_and_ends_with_it() {
    let home = Home::empty();
    let own = Fake::new(&home, "own").with("share", json!("session")).with("idleTimeout", json!(0.5));
    let shared = Fake::new(&home, "shared").with("idleTimeout", json!(0.5));
    home.write_config(&json!({ "mcpServers": { "own": own.entry(), "shared": shared.entry() } }));
    let hub = home.start_hub().await;
    let (one, two, other) = (hub.client("one").await, hub.client("one").await, hub.client("other").await);
    offered(&one, "own:sleep").await;
    offered(&one, "shared:sleep").await;
    // Started once so that their tools are known.
    hub.until("own", "asleep").await;
    let call =
        async |client: &satchel_tests::Client| client.execute("own:sleep", json!({ "ms": 1 })).await.text();
    let pids = [call(&one).await, call(&two).await, call(&other).await];
    assert!(pids[0] != pids[1] && pids[1] != pids[2] && pids[0] != pids[2], "{pids:?}");

    one.execute("shared:sleep", json!({ "ms": 1 })).await.text();
    hub.until("shared", "asleep").await;
    assert_eq!(
        [call(&one).await, call(&two).await, call(&other).await],
        pids,
        "they did not sleep meanwhile"
    );

    let pid = |text: &str| text.trim_start_matches("pid ").parse::<u32>().expect("a process id");
    two.quit().await;
    eventually("its process ends", async || (!process::is_alive(pid(&pids[1]))).then_some(())).await;
    assert!(process::is_alive(pid(&pids[0])) && process::is_alive(pid(&pids[2])));
    let logged = home.satchel(&["logs", "own"]).await.stdout;
    assert!(logged.contains("[one ") && logged.contains("ended with its session"), "{logged}");
    let status = home.satchel(&["status"]).await;
    assert!(status.stdout.contains("own: Each session has an instance of its own."), "{}", status.stdout);
    hub.terminate().await;
    assert!(pids.iter().all(|text| !process::is_alive(pid(text))), "none is left");
}
