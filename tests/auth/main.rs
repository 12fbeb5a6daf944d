//! Signing in to hosted servers, as a person does it: the command line, a browser that nobody looks at, a real keychain,
//! and servers that bend every rule (`kit/`).

#![allow(clippy::disallowed_methods, reason = "tests wait for their tasks by joining them")]

mod conformance;
mod kit;
mod lasting;
mod oracle;
mod person;

use serde_json::Value;

use kit::Kit;

/// Concurrent cases; each waits for processes most of the time.
const AT_ONCE: &str = "6";

/// A1, A6, and in them A4 (fifty calls, one refresh), A9 (what a call's error says) and A11 (two accounts): every case
/// ends as required, and nothing is sent to a party that failed the checks. Some cases have tokens that live for
/// seconds: one that fails beside others on a busy computer runs once more by itself, and must pass.
#[tokio::test]
async fn every_case_ends_as_required() {
    let soak = std::env::var_os("SATCHEL_SOAK").is_some_and(|value| !value.is_empty() && value != "0");
    let eras: &[&str] = if soak { &["dual", "legacy", "modern"] } else { &["dual"] };
    for era in eras {
        let kit = Kit::new();
        let cases = play(&kit, era, &["-j", AT_ONCE]).await;
        assert!(cases.len() >= 84, "{} cases were played", cases.len());
        let failed: Vec<&Value> = cases.iter().filter(|case| case["pass"] != true).collect();
        println!("measured: {} of {} cases, era {era}", cases.len() - failed.len(), cases.len());
        for case in failed {
            println!("once more by itself: {}: {}", case["case"], case["failed"]);
            let name = case["case"].as_str().expect("a case has a name");
            let alone = play(&kit, era, &["-j", "1", "--only", name]).await;
            assert!(alone.len() == 1 && alone[0]["pass"] == true, "{name}: {}", alone[0]["failed"]);
        }
    }
}

/// Plays cases and returns the results.
async fn play(kit: &Kit, era: &str, more: &[&str]) -> Vec<Value> {
    let results = kit.home.file("results.json");
    let written = results.to_str().expect("temporary paths are UTF-8");
    let driver = kit.driver();
    let mut arguments = vec!["--driver", &driver, "--timeout", "60", "--json", written, "--era", era];
    arguments.extend(more);
    let said = kit.run("run_cases.py", &arguments).await;
    let read = std::fs::read(&results).unwrap_or_else(|error| panic!("no results ({error}): {said}"));
    serde_json::from_slice(&read).expect("the results are JSON")
}

/// A2: a third-party authorization server.
#[tokio::test]
async fn a_real_authorization_server_signs_in_and_stays_so() {
    let kit = Kit::new();
    let (driver, node) = (kit.driver(), conformance::node());
    let said = kit.run("run_real.py", &["--driver", &driver, "--node", &node]).await;
    let passed = said.lines().filter(|line| line.starts_with("pass ")).count();
    println!("measured: {passed} of 12 checks with a real authorization server");
    assert!(passed == 12 && !said.contains("FAIL"), "{said}");
}
