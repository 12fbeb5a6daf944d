//! Every caller gets its own answer: clients that all count their requests from 1, servers that answer out of order,
//! twice, under foreign ids and before they are asked.

use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    journal::Outcome,
    measured, random, sized,
};

const CLIENTS: usize = 64;

/// R2, no cross-talk: 0 answers to another caller.
#[tokio::test]
async fn no_answer_reaches_another_caller() {
    let mut arena = Arena::new().await;
    let modes =
        ["duplicate_response", "wrong_id", "response_before_request", "out_of_order", "null_id_error"];
    // Answers are held until four wait; with every client calling, others always come.
    for mode in modes {
        arena.add(mode, Chaos::mode(mode).with("n", 4).field("requestTimeout", json!(60)));
    }
    let hub = arena.open().await;
    let names: Vec<String> = modes.iter().map(|mode| (*mode).to_owned()).collect();
    known(&arena.home, &names).await;
    let (seed, mut generator) = random();
    let connection = hub.connection("crowd").await;
    let calls_each = sized(10_000, 100_000) / CLIENTS;
    let names = Arc::new(names);
    let mut callers = JoinSet::new();
    for at in 0..CLIENTS {
        // A new session, so that its ids are 1, 2, 3… like those of all others.
        let client = satchel_tests::Client::open(&connection, "2025-11-25").await;
        let (names, mut random) = (names.clone(), generator.fork());
        callers.spawn(async move {
            let (mut own, mut failed) = (0, 0);
            for call in 0..calls_each {
                // The last calls leave out the mode that waits for others: at the end there are none.
                let almost_over = call + 5 >= calls_each;
                let name = loop {
                    let name = &names[random.usize(..names.len())];
                    if !(almost_over && name == "out_of_order") {
                        break name;
                    }
                };
                let nonce = format!("{at}-{call}-{:x}", random.u64(..));
                let answer = client.execute(&format!("{name}:echo"), json!({ "text": nonce })).await;
                match Outcome::of(&answer) {
                    Outcome::Result => {
                        assert_eq!(answer.text(), nonce, "an answer reached another caller");
                        own += 1;
                    }
                    Outcome::Error | Outcome::Unknown | Outcome::Refused => failed += 1,
                }
            }
            (own, failed)
        });
    }
    let answered = callers.join_all().await;
    let own: usize = answered.iter().map(|(own, _)| own).sum();
    let failed: usize = answered.iter().map(|(_, failed)| failed).sum();
    measured!(
        "cross-talk: seed {seed}, {CLIENTS} clients, {own} own answers, 0 foreign, {failed} without one"
    );
    assert_eq!(own + failed, calls_each * CLIENTS);
    assert!(own * 100 >= (own + failed) * 99, "calls work at all: {own} of {}", own + failed);
}
