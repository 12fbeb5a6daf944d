//! S2: every combination of Host, Origin and credential, and of methods, content types, preflights and places of a token.
//! Legal requests are served, nothing else is, and no answer opens the door to a page.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::{
    arena::{Arena, fixture, python, run_fixture},
    measured, sized,
};

/// The combinations for one path.
const CASES: u64 = 9_501;
/// Flaws that a fake hub can be given.
const FLAWS: &[&str] = &[
    "no_host",
    "no_origin",
    "no_token",
    "cors",
    "text_plain",
    "query_token",
    "prefix_host",
    "suffix_origin",
    "abs_target",
];

async fn matrix(arguments: &[&str]) -> Value {
    let (_, said) = run_fixture("rebind_matrix.py", &[arguments, &["--json"]].concat()).await;
    serde_json::from_str(said.trim()).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[tokio::test]
async fn every_path_needs_a_token_and_the_right_host() {
    let mut arena = Arena::new().await;
    arena.add("one", crate::arena::Chaos::new());
    let hub = arena.open().await;
    let connection = hub.connection("matrix").await;
    let token = connection.headers["Authorization"].trim_start_matches("Bearer ").to_owned();
    let port = connection.url.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port");
    // A page of ours could only come from this very port, where there is none.
    let own = ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"].map(|name| format!("http://{name}:{port}"));
    let mut usual = vec!["--port", port, "--token", &token];
    own.iter().for_each(|origin| usual.extend(["--allow-origin", origin]));
    let all = [
        ("/mcp", false),
        ("/mcp/direct", false),
        ("/mcp/server/one", false),
        ("/mcp", true),
        ("/mcp/direct", true),
        ("/mcp/server/one", true),
    ];
    for (path, legacy) in &all[..sized(4, all.len())] {
        let mut arguments = usual.clone();
        arguments.extend(["--path", path]);
        if *legacy {
            arguments.push("--legacy");
        }
        let found = matrix(&arguments).await;
        measured!("{path}, legacy {legacy}: {found}");
        assert_eq!(
            (&found["failures"], found["cases"].as_u64()),
            (&0.into(), Some(CASES)),
            "{path}: {found}"
        );
    }
    // The transport of 2024-11-05: requests go to the address of an open stream. The stream's own address accepts
    // none, so nothing at all is served there.
    let mut stream = satchel_tests::plain_http().get(connection.url.replace("/mcp", "/sse"));
    for (header, value) in &connection.headers {
        stream = stream.header(header, value);
    }
    let mut stream = stream.header("accept", "text/event-stream").send().await.expect("the endpoint answers");
    assert_eq!(stream.status(), 200);
    let first = stream.chunk().await.expect("it can be read").expect("it says an address");
    let first = String::from_utf8(first.to_vec()).expect("events are UTF-8");
    let messages = first.lines().find_map(|line| line.strip_prefix("data: ")).expect("an address").to_owned();
    for (path, legal) in [(messages.as_str(), true), ("/sse", false)] {
        let mut arguments = usual.clone();
        arguments.extend(["--path", path, "--legacy"]);
        let found = matrix(&arguments).await;
        measured!("{}: {found}", path.split('?').next().unwrap_or(path));
        let refused = found["first"].as_array().expect("a list");
        let only_legal = refused.iter().all(|case| case["why"] == "legal request refused");
        assert_eq!(
            (refused.is_empty(), only_legal, found["cases"].as_u64()),
            (legal, true, Some(CASES)),
            "{found}"
        );
        assert_eq!(found["failures"], refused.len(), "{found}");
    }
    drop(stream);
    // The many failed attempts lock nobody out.
    let client = hub.client("matrix").await;
    assert!(client.request("tools/list", serde_json::json!({})).await.outcome.is_ok());
}

#[tokio::test]
async fn every_flaw_of_a_door_is_found() {
    for flaw in [""].iter().chain(FLAWS) {
        let mut command = tokio::process::Command::new(python());
        command.arg(fixture("stub_hub.py")).args(["--token", "a-token-of-the-test"]);
        if !flaw.is_empty() {
            command.args(["--flaw", flaw]);
        }
        let mut stub = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().expect("python runs");
        let stdout = stub.stdout.take().expect("its standard output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
        let ready: Value = serde_json::from_str(&line.expect("it says where it is")).expect("as JSON");
        let port = ready["port"].to_string();
        let found = matrix(&["--port", &port, "--token", "a-token-of-the-test", "--quick"]).await;
        let failures = found["failures"].as_u64().expect("a number");
        assert_eq!(failures == 0, flaw.is_empty(), "{flaw:?}: {found}");
    }
}
