//! Servers that cannot be used: what is told of them, for how long, and what a person can do about it.

use satchel_tests::{Fake, Home, eventually, program};
use serde_json::{Value, json};

/// Waits until a server's failure is reported while nothing of it runs or is being started.
async fn failed(hub: &satchel_tests::Hub<'_>, name: &str) -> Value {
    eventually(&format!("{name} is told to have failed"), async || {
        let server = hub.server(name).await;
        let rests =
            ["asleep", "broken", "needs_credential"].contains(&server["state"].as_str().unwrap_or_default());
        (rests && !server["last_failure"].is_null()).then_some(server)
    })
    .await
}

#[tokio::test]
async fn a_failed_start_is_reported_until_dismissed_also_after_a_restart() {
    let script = "echo >&2; echo 'Error: no API key' >&2; echo '    at f (x.js:1:1)' >&2; echo 'Node.js v22.1.0' >&2; exit 1";
    let home = Home::with_servers(json!({
        "bad": { "command": "sh", "args": ["-c", script] },
        "never": { "command": "sh", "startup": "manual" },
    }));
    let hub = home.start_hub().await;
    let why = "Error: no API key (the process ended with exit code 1)";
    assert_eq!(failed(&hub, "bad").await["last_failure"]["message"], why);
    hub.terminate().await;
    let hub = home.start_hub().await;
    assert_eq!(failed(&hub, "bad").await["last_failure"]["message"], why);
    let listed = home.satchel(&["list"]).await;
    assert!(listed.succeeded().stdout.contains("Asleep; its last start failed"), "{listed:?}");
    assert!(listed.stdout.contains("! bad: ") && listed.stdout.contains("Not started yet"), "{listed:?}");
    let doctor = home.satchel(&["doctor"]).await;
    doctor.failed_with(1);
    assert!(doctor.stdout.contains("WRONG  server bad: Asleep; its last start failed"), "{doctor:?}");

    home.satchel(&["dismiss", "bad"]).await.succeeded();
    eventually("it is not told any more", async || {
        hub.server("bad").await["last_failure"].is_null().then_some(())
    })
    .await;
    home.satchel(&["doctor"]).await.succeeded();
    home.satchel(&["dismiss", "nobody"]).await.failed_with(1);
}

#[tokio::test]
async fn a_hosted_server_that_needs_a_sign_in_is_not_ready() {
    let home = Home::empty();
    let hosted = home.start_http_server(&["--require-header", "X-Key: right"]).await;
    home.write_config(&json!({ "mcpServers": { "far": { "url": hosted.url } } }));
    let hub = home.start_hub().await;
    let server = hub.until("far", "needs_sign_in").await;
    assert_eq!(server["sign_in"]["sign_in"], "signed_out", "{server}");
    let listed = home.satchel(&["list"]).await;
    assert!(
        listed.stdout.contains("! far: Signed out") || listed.stdout.contains("Needs a sign-in"),
        "{listed:?}"
    );
    // It does not need a sign-in.
    let login = home.satchel(&["login", "far", "--no-browser"]).await;
    login.failed_with(4);
    assert!(
        login.stderr.contains("names no place to sign in") && login.stderr.contains("headers"),
        "{login:?}"
    );
}

/// If the user configures a header, the hub does not suggest signing in.
#[tokio::test]
async fn a_refused_token_in_a_header_is_reported_as_such() {
    let home = Home::empty();
    let hosted = home.start_http_server(&["--require-header", "Authorization: Bearer right"]).await;
    let headers = json!({ "Authorization": "Bearer wrong" });
    let never = json!({ "url": hosted.url, "oauth": false });
    home.write_config(
        &json!({ "mcpServers": { "far": { "url": hosted.url, "headers": headers }, "never": never } }),
    );
    let hub = home.start_hub().await;
    for name in ["far", "never"] {
        let server = failed(&hub, name).await;
        assert_eq!(
            (&server["state"], &server["last_failure"]["code"]),
            (&json!("needs_credential"), &json!("http_401"))
        );
        assert!(server["sign_in"].is_null(), "{server}");
        home.satchel(&["login", name]).await.failed_with(1);
    }
    let listed = home.satchel(&["list"]).await;
    assert!(listed.stdout.contains("Needs a sign-in or a credential: it answered HTTP 401"), "{listed:?}");
}

/// A failure after the handshake is reported as well, and cleared once the server works.
#[tokio::test]
async fn one_that_ends_soon_after_its_start_has_failed_until_it_works() {
    let home = Home::empty();
    let fake = Fake::new(&home, "brief").behaving(&["--crash-after", "0"]);
    home.write_config(&json!({ "mcpServers": { "brief": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    super::offered(&client, "brief:echo").await;
    client.execute("brief:echo", json!({ "text": "x" })).await.complaint();
    let told = eventually("its end is told", async || {
        let server = hub.server("brief").await;
        (server["last_failure"]["during"] == "run").then_some(server)
    })
    .await;
    assert!(told["last_failure"]["message"].as_str().is_some_and(|why| why.contains("ended")), "{told}");
}

/// A launcher that downloads may be silent for longer than any server.
#[cfg(unix)]
#[tokio::test]
async fn a_silent_download_may_take_as_long_as_it_progresses() {
    let home = Home::empty();
    let busy = "end=$(( $(date +%s) + 4 ))\nwhile [ $(date +%s) -lt $end ]; do :; done";
    let npx = home.write_program("npx", &format!("#!/bin/sh\n{busy}\nexec \"$@\"\n"));
    let mut entry = Fake::new(&home, "slow").with("discoveryTimeout", json!(1)).entry();
    let fake = program("fake-mcp-server").to_str().expect("it is plain").to_owned();
    entry["args"].as_array_mut().expect("it has arguments").insert(0, json!(fake));
    entry["command"] = json!(npx);
    home.write_config(&json!({ "mcpServers": { "slow": entry } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    super::offered(&client, "slow:echo").await;
    let server = hub.server("slow").await;
    assert_eq!((&server["starts"], &server["last_failure"]), (&json!(1), &Value::Null));
}
