//! Damaged output, thousands of ways: what can be delivered is, what cannot ends with an explicit error, and the next
//! call works.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known, run_fixture},
    journal::Outcome,
    measured,
    processes::memory,
    random, sized,
};

const SERVERS: usize = 16;

#[derive(Debug, Clone, Deserialize)]
struct Case {
    i: usize,
    class: String,
    expect: String,
    nonce: String,
}

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Delivered,
    /// A good result with another text.
    Other,
    Failed,
}

/// R9, malformed output: everything deliverable is delivered, the rest is an explicit error, 0 hangs.
#[tokio::test]
async fn deliverable_output_is_delivered_and_the_rest_is_an_explicit_error() {
    let mut arena = Arena::new().await;
    let (seed, _) = random();
    let count = sized(500, 5_000);
    let corpus = arena.home.file("corpus.jsonl");
    let path = corpus.to_str().expect("temporary paths are UTF-8").to_owned();
    let arguments = ["--n", &count.to_string(), "--seed", &seed.to_string(), "--out", &path];
    let (code, said) = run_fixture("gen_stdout_corpus.py", &arguments).await;
    assert_eq!(code, 0, "{said}");
    // A good case at the end, between two damaged ones: it shows that the tool still answers, and keeps the hub from
    // pausing a tool after three failures in a row.
    let mut text = std::fs::read_to_string(&corpus).expect("the corpus was written");
    text.push_str(&format!("{}\n", good_case(count)));
    std::fs::write(&corpus, &text).expect("the home can be written");
    let cases: Vec<Case> =
        text.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();

    let names: Vec<String> = (0..SERVERS).map(|at| format!("c{at}")).collect();
    for name in &names {
        arena.add(name, Chaos::running("corpus_server.py").arg("--corpus", &path).era("legacy"));
    }
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    let client = hub.client("corpus").await;
    let before = memory(hub.pid);
    let cases = Arc::new(cases);
    let mut shards = JoinSet::new();
    for (shard, name) in names.into_iter().enumerate() {
        let (client, cases) = (client.clone(), cases.clone());
        shards.spawn(async move {
            let mut fates = Vec::new();
            for case in cases[..cases.len() - 1].iter().skip(shard).step_by(SERVERS) {
                let answer = client.execute(&format!("{name}:case"), json!({ "n": case.i })).await;
                let fate = match Outcome::of(&answer) {
                    Outcome::Result if answer.raw().contains(&format!("OK-{}", case.nonce)) => {
                        Fate::Delivered
                    }
                    Outcome::Result => Fate::Other,
                    Outcome::Error | Outcome::Unknown | Outcome::Refused => Fate::Failed,
                };
                assert!(answer.outcome.as_ref().is_err() || !answer.raw().contains("FORGED"), "{case:?}");
                fates.push((case.clone(), fate, format!("{:?}", answer.outcome)));
                let echo = client.execute(&format!("{name}:echo"), json!({ "text": case.nonce })).await;
                assert_eq!(echo.text(), case.nonce, "right after {case:?}");
                let good = client.execute(&format!("{name}:case"), json!({ "n": cases.len() - 1 })).await;
                assert!(good.text().starts_with("OK-"), "right after {case:?}: {good:?}");
            }
            fates
        });
    }
    let fates: Vec<(Case, Fate, String)> = shards.join_all().await.concat();
    let grown = memory(hub.pid) - before;
    assert_eq!(fates.len(), count, "every case was tried");
    let mut counted: BTreeMap<(String, Fate), usize> = BTreeMap::new();
    for (case, fate, _) in &fates {
        *counted.entry((case.expect.clone(), *fate)).or_default() += 1;
    }
    let wrong: Vec<_> = fates.iter().filter(|(case, fate, _)| !as_expected(case, *fate)).collect();
    measured!("damaged output: seed {seed}, {count} cases, {counted:?}, the hub grew by {grown:.1} MiB");
    assert!(wrong.is_empty(), "{} cases, the first: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    for expected in ["deliver", "no_deliver", "either"] {
        assert!(fates.iter().any(|(case, _, _)| case.expect == expected), "no case is for {expected}");
    }
    assert!(grown <= 64.0, "the hub grew by {grown:.1} MiB");
}

fn as_expected(case: &Case, fate: Fate) -> bool {
    match case.expect.as_str() {
        "deliver" => fate == Fate::Delivered,
        // The corpus counts a message over several lines as lost; the hub joins the lines, which is better for the
        // caller.
        "no_deliver" if case.class == "pretty_printed" => fate != Fate::Other,
        "no_deliver" => fate == Fate::Failed,
        "either" => true,
        other => panic!("no expectation is called {other}"),
    }
}

fn good_case(number: usize) -> Value {
    let answer = r#"{"jsonrpc":"2.0","id":@@ID@@,"result":{"content":[{"type":"text","text":"OK-good"}]}}"#;
    let bytes = STANDARD.encode(format!("{answer}\n"));
    json!({ "i": number, "class": "good", "expect": "deliver", "nonce": "good", "b64": bytes })
}

#[test]
fn planted_wrong_fates_are_caught() {
    let case = |class: &str, expect: &str| Case {
        i: 0,
        class: class.to_owned(),
        expect: expect.to_owned(),
        nonce: "n".to_owned(),
    };
    assert!(as_expected(&case("bom", "deliver"), Fate::Delivered));
    for fate in [Fate::Failed, Fate::Other] {
        assert!(!as_expected(&case("bom", "deliver"), fate));
    }
    for fate in [Fate::Delivered, Fate::Other] {
        assert!(!as_expected(&case("utf16", "no_deliver"), fate));
    }
    assert!(as_expected(&case("utf16", "no_deliver"), Fate::Failed));
}
