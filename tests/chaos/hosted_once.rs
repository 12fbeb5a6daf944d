//! A call over HTTP runs at most once, whatever happens to its answer; where it provably did not run and a retry is
//! safe, its caller sees success.

use std::{collections::BTreeMap, sync::Arc};

use satchel_tests::Client;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, known},
    journal::{Journal, Outcome},
    measured, sized,
};

/// What a caller may be told, and how often the call may have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// It ran and the caller cannot know: `unknown`.
    RanUnknown,
    /// It did not run, and a retry is safe: success, exactly once.
    Success,
    /// It did not run on the server; the caller gets a failure or success, and it never runs twice.
    AtMostOnce,
}

/// Modes of `chaos_http.py` that concern this promise. Those in [`STATELESS`] belong to servers of the newer
/// revisions.
const MODES: &[(&str, Promise)] = &[
    ("exec_then_500", Promise::RanUnknown),
    ("exec_then_503", Promise::RanUnknown),
    ("reset_after_exec", Promise::RanUnknown),
    ("reset_mid_body", Promise::RanUnknown),
    ("sse_reset", Promise::RanUnknown),
    ("hang", Promise::RanUnknown),
    ("reset_before", Promise::AtMostOnce),
    ("flap_5xx", Promise::AtMostOnce),
    ("stale_keepalive", Promise::AtMostOnce),
    ("s429:times=1", Promise::Success),
    ("session_404:after=7", Promise::Success),
    ("header_mismatch_once", Promise::Success),
];
const STATELESS: [&str; 1] = ["header_mismatch_once"];
/// Concurrent calls per entry, so that most are sent before the first failure makes the hub pause the tool.
const BURST: usize = 10;

/// R3, at most once over HTTP: no key runs twice; what provably did not run is retried and succeeds.
#[tokio::test]
async fn a_call_runs_at_most_once_and_safe_retries_succeed() {
    // A new hub per round: a failed tool is paused, so a round needs a third as many servers as calls.
    for _ in 0..sized(1, 10) {
        round(100).await;
    }
}

async fn round(wanted: usize) {
    let mut arena = Arena::new().await;
    let hosted = arena.host().await;
    for (mode, promise) in MODES {
        for name in entries(mode, *promise, wanted) {
            let era = if STATELESS.contains(mode) { "modern" } else { "legacy" };
            let mut entry = hosted.entry_of(era, mode);
            if *mode != "hang" {
                // A busy machine must not count as a failing server.
                entry["requestTimeout"] = json!(60);
            }
            arena.add_entry(&name, entry);
        }
    }
    let hub = arena.open().await;
    let journal = Arc::new(Journal::new(arena.home.file("callers.jsonl")));
    let mut storms = JoinSet::new();
    for (mode, promise) in MODES {
        let names = entries(mode, *promise, wanted);
        if *mode != "flap_5xx" {
            known(&arena.home, &names).await;
        }
        let client = hub.client(&entry_name(mode, 0)).await;
        storms.spawn(storm(mode, *promise, names, client, journal.clone(), wanted));
    }
    let told: BTreeMap<&str, BTreeMap<Outcome, usize>> = storms.join_all().await.into_iter().collect();
    for (mode, outcomes) in &told {
        measured!("once over HTTP: {mode}: {outcomes:?}");
    }
    let verdict = journal.judge(&hosted.ledger).await;
    verdict.clean(wanted * MODES.len());
    let executed: BTreeMap<String, usize> =
        hosted.ledger.events("exec").iter().fold(BTreeMap::new(), |mut counted, line| {
            let key = line["key"].as_str().unwrap_or_default();
            *counted.entry(key.rsplitn(3, '-').nth(2).unwrap_or_default().to_owned()).or_default() += 1;
            counted
        });
    for (mode, promise) in MODES {
        let ran = executed.get(*mode).copied().unwrap_or(0);
        let reached = reached(&told[mode]);
        match promise {
            Promise::RanUnknown | Promise::Success => assert_eq!(ran, reached, "{mode}: {:?}", told[mode]),
            Promise::AtMostOnce => assert!(ran <= reached, "{mode}: {ran} executions of {reached}"),
        }
    }
}

/// Calls servers of one mode until enough calls were really attempted; returns what the callers were told.
async fn storm(
    mode: &'static str,
    promise: Promise,
    names: Vec<String>,
    client: Client,
    journal: Arc<Journal>,
    wanted: usize,
) -> (&'static str, BTreeMap<Outcome, usize>) {
    let mut outcomes = BTreeMap::new();
    let mut burst = 0;
    while reached(&outcomes) < wanted {
        assert!(burst < names.len() * 40, "{mode}: {outcomes:?} after {burst} bursts");
        let mut calls = JoinSet::new();
        for at in 0..BURST {
            let (client, journal) = (client.clone(), journal.clone());
            let key = format!("{mode}-{burst}-{at}");
            // Calls expected to succeed are made one by one: such a server counts its requests.
            let entry = if promise == Promise::Success { at } else { burst };
            let path = format!("{}:write_once", names[entry % names.len()]);
            calls.spawn(async move {
                journal.issue(&key);
                let answer = client.execute(&path, json!({ "key": key })).await;
                let outcome = Outcome::of(&answer);
                journal.done(&key, outcome);
                (key, outcome, answer.outcome.map(|result| result.get().to_owned()))
            });
        }
        for (key, outcome, answer) in calls.join_all().await {
            let fits = match promise {
                // Refused: the tool is paused, because the calls before failed.
                Promise::RanUnknown => matches!(outcome, Outcome::Unknown | Outcome::Refused),
                Promise::Success => outcome == Outcome::Result,
                Promise::AtMostOnce => true,
            };
            assert!(fits, "{mode} {key}: {outcome:?}, {answer:?}");
            *outcomes.entry(outcome).or_default() += 1;
        }
        burst += 1;
    }
    (mode, outcomes)
}

/// The servers of one mode. After three failures a tool is paused, so each is good for one burst; there are more than
/// enough.
fn entries(mode: &str, promise: Promise, wanted: usize) -> Vec<String> {
    let count = if promise == Promise::Success { BURST } else { wanted / 3 };
    (0..count).map(|at| entry_name(mode, at)).collect()
}

/// The number of calls really attempted.
fn reached(outcomes: &BTreeMap<Outcome, usize>) -> usize {
    outcomes.iter().filter(|(outcome, _)| **outcome != Outcome::Refused).map(|(_, count)| count).sum()
}

fn entry_name(mode: &str, at: usize) -> String {
    format!("{}-{at}", mode.replace([':', '='], "-"))
}
