//! Each checker is shown a planted fault, and must find it: a test that cannot fail proves nothing.

use std::process::Stdio;

use serde_json::json;

use crate::{
    arena::{Arena, MARK, python, run_fixture},
    journal::{Journal, Outcome, judge},
    processes,
};

/// Judges one call of `write_once` with key `k`, from the servers' and the callers' records.
async fn verdict(executions: &[&str], told: &[Outcome]) -> crate::journal::Verdict {
    let arena = Arena::new().await;
    let journal = Journal::new(arena.home.file("callers.jsonl"));
    // An honest call beside it, so that the run did some work.
    journal.issue("honest");
    journal.done("honest", Outcome::Result);
    journal.issue("k");
    told.iter().for_each(|outcome| journal.done("k", *outcome));
    let ledger = arena.ledger("servers");
    let line = |key: &&str| json!({ "ev": "exec", "tool": "write_once", "key": key }).to_string() + "\n";
    let text: String = [&["honest"], executions].concat().iter().map(line).collect();
    std::fs::write(ledger.path(), text).expect("the ledger can be written");
    judge(ledger.path(), journal.path()).await
}

fn caught(verdict: &crate::journal::Verdict) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| verdict.clean(2))).is_err()
}

#[tokio::test]
async fn planted_faults_in_executions_and_reports_are_caught() {
    use Outcome::{Error, Refused, Result, Unknown};
    for (executions, told) in [
        (&["k"][..], &[Result][..]),
        (&["k"], &[Unknown]),
        (&[], &[Unknown]),
        (&[], &[Refused]),
        (&[], &[Error]),
    ] {
        assert!(!caught(&verdict(executions, told).await), "{executions:?} {told:?} is honest");
    }
    for (fault, executions, told) in [
        ("run twice", &["k", "k"][..], &[Result][..]),
        ("lost", &["k"], &[]),
        ("answered twice", &["k"], &[Result, Result]),
        ("invented", &[], &[Result]),
        ("refused but run", &["k"], &[Refused]),
        ("said to have failed but run", &["k"], &[Error]),
        ("not asked for", &["k", "stranger"], &[Result]),
    ] {
        assert!(caught(&verdict(executions, told).await), "not caught: {fault}");
    }
}

#[tokio::test]
async fn a_run_that_did_nothing_fails() {
    let arena = Arena::new().await;
    let journal = Journal::new(arena.home.file("callers.jsonl"));
    let ledger = arena.ledger("servers");
    std::fs::write(ledger.path(), "").unwrap();
    assert!(caught(&judge(ledger.path(), journal.path()).await));
}

#[tokio::test]
async fn planted_processes_are_found_wherever_they_went() {
    let arena = Arena::new().await;
    assert_eq!(arena.server_processes(), []);
    let sleeper = "import time; time.sleep(60)";
    let spawn = |scrubbed: bool, argument: &str| {
        let mut command = tokio::process::Command::new(python());
        command.args(["-c", sleeper, argument]).stdin(Stdio::null()).kill_on_drop(true);
        if scrubbed {
            command.env_clear()
        } else {
            command.env(MARK, &arena.run)
        };
        command.process_group(0).spawn().expect("python runs")
    };
    let strays = [spawn(false, "plain"), spawn(true, &arena.run), spawn(true, "unrelated")];
    let pids: Vec<u32> = strays.iter().filter_map(tokio::process::Child::id).collect();
    let found = satchel_tests::eventually("the strays are found", async || {
        let found: Vec<u32> = arena.server_processes().iter().map(|process| process.pid).collect();
        (found.len() >= 2).then_some(found)
    })
    .await;
    assert_eq!(found, pids[..2], "by environment, by command line, and nobody else");
    // The check waits its time and then fails.
    let audit = std::panic::AssertUnwindSafe(arena.gone("a planted stray", Arena::server_processes));
    assert!(futures_panic(audit).await, "a stray process fails the audit");
    let (code, said) = run_fixture("proc_audit.py", &["--run-id", &arena.run, "--expect-none"]).await;
    assert_eq!(code, 1, "{said}");
}

/// Does it panic?
async fn futures_panic<F: Future>(future: std::panic::AssertUnwindSafe<F>) -> bool {
    let mut future = Box::pin(future.0);
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Err(_) => std::task::Poll::Ready(true),
            Ok(std::task::Poll::Ready(_)) => std::task::Poll::Ready(false),
            Ok(std::task::Poll::Pending) => std::task::Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_planted_zombie_is_found() {
    let arena = Arena::new().await;
    // A parent that never waits for its child.
    let program = "import os, time\nif os.fork() == 0: os._exit(0)\ntime.sleep(60)";
    let mut parent = arena.home.command(python());
    let parent = parent.args(["-c", program]).spawn().expect("python runs");
    let pid = parent.id().expect("it runs");
    let zombies = satchel_tests::eventually("the zombie is found", async || {
        let zombies = processes::zombies_of(pid);
        (!zombies.is_empty()).then_some(zombies)
    })
    .await;
    assert_eq!(zombies.len(), 1);
}
