//! The process of a script: what it is left with. What scripts do in it is shown beside the engine and in `eras`.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use satchel_tests::{Fake, Home, eventually, process, program, repository};
use serde_json::{Value, json};

fn start() -> Child {
    let mut command = Command::new(program("satchel"));
    command
        .arg("script-runner")
        .env("SECRET_OF_THE_PERSON", "x")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().expect("it starts")
}

fn say(child: &mut Child, word: &Value) {
    let input = child.stdin.as_mut().expect("it listens");
    writeln!(input, "{word}").expect("it listens");
}

fn heard(output: &mut impl BufRead) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).expect("it speaks");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
}

/// Runs a script that calls nothing, and returns its outcome.
fn end_of(script: &str) -> Value {
    let mut child = start();
    let mut output = BufReader::new(child.stdout.take().expect("it speaks"));
    assert_eq!(heard(&mut output), "ready");
    say(&mut child, &json!({ "run": { "script": script, "input": null } }));
    let end = heard(&mut output)["done"].take();
    assert!(child.wait().expect("it ends").success());
    end
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_of_a_script_is_sealed_before_it_reads_one() {
    let mut child = start();
    let mut output = BufReader::new(child.stdout.take().expect("it speaks"));
    assert_eq!(heard(&mut output), "ready");
    let about =
        |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).expect("it is there");
    let status = about("status");
    for line in ["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
        assert!(status.contains(line), "{line}: {status}");
    }
    let limits = about("limits");
    let open_files = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    assert_eq!(open_files.split_whitespace().nth(3), Some("3"), "{open_files}");
    say(&mut child, &json!({ "run": { "script": "return await call('a:b')", "input": null } }));
    assert_eq!(heard(&mut output)["call"]["path"], "a:b");
    say(&mut child, &json!({ "settled": { "id": 1, "end": { "value": { "x": 1 } } } }));
    assert_eq!(heard(&mut output)["done"]["outcome"], json!({ "Ok": { "x": 1 } }));
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn exhausted_memory_or_stack_is_an_error_and_not_a_crash() {
    let corpus = repository().join("crates/satchel-script/tests/escapes.txt");
    let corpus = std::fs::read_to_string(corpus).expect("the corpus is there");
    let cases = corpus.split("@@ ").skip(1).filter_map(|case| case.split_once('\n'));
    let takes_all = |expected: &str| {
        ["! the script used", "! RangeError", "! the script returned"]
            .iter()
            .any(|told| expected.starts_with(told))
    };
    let mut tried = 0;
    for (expected, script) in
        cases.filter(|(expected, script)| takes_all(expected) && !script.contains("call("))
    {
        let told = end_of(script)["outcome"].to_string();
        assert!(told.starts_with(r#"{"Err":"#), "{script} expected {expected}: {told}");
        tried += 1;
    }
    assert!(tried >= 30, "{tried}");
}

/// All scripts that end soon, and a few of those that compute for ever: each of those takes five seconds of processor
/// time.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn scripts_that_want_out_leave_the_hub_and_its_neighbours_as_they_were() {
    const ENDLESS: usize = 2;
    let corpus = repository().join("crates/satchel-script/tests/escapes.txt");
    let corpus = std::fs::read_to_string(corpus).expect("the corpus is there");
    let (endless, mut cases): (Vec<_>, Vec<_>) = corpus
        .split("@@ ")
        .skip(1)
        .filter_map(|case| case.split_once('\n'))
        .partition(|(expected, _)| expected.starts_with("! the script computed"));
    cases.extend(endless.into_iter().take(ENDLESS));
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let neighbour = hub.client("neighbour").await;
    let said = neighbour.execute("fake:echo", json!({ "text": "before" })).await.text();
    hub.connection("wild").await;
    home.satchel(&["surface", "wild", "script"]).await.succeeded();
    let client = hub.client("wild").await;
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.pid)).expect("the hub runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number")
    };
    let mut settled = 0;
    for (number, (expected, script)) in cases.iter().enumerate() {
        let told = client.call("run_mcp_script", json!({ "script": script })).await.value();
        assert!(told["isError"].is_boolean() && !told.to_string().contains("ESCAPED"), "{script}: {told}");
        if expected.starts_with("! the script") {
            assert_eq!(told["isError"], true, "{script}: {told}");
        }
        if number == cases.len() / 3 {
            settled = resident();
        }
    }
    let grown = resident().saturating_sub(settled);
    assert!(grown < 48 * 1024, "the hub grew by {grown} kB from {settled} kB");
    let again = neighbour.execute("fake:echo", json!({ "text": "before" })).await.text();
    assert_eq!(again, said);
    // The last one may still be ending.
    eventually("one process is kept warm, the others are gone", async || {
        let left = process::descendants(hub.pid);
        (left.iter().filter(|one| one.command.contains("script-runner")).count() <= 1).then_some(())
    })
    .await;
}
