//! How much goes through: calls in flight, sizes of answers, rounds of questions, notifications. Just within a limit works; just
//! beyond it ends with a clear refusal that says what became of the call; nobody else notices.

use std::time::Duration;

use satchel_tests::{Answer, Client};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    arena::{Arena, Chaos, known},
    journal::Outcome,
    measured, sized,
};

const MIB: usize = 1024 * 1024;
/// From the goal sheet.
const PER_SERVER: usize = 64;
const IN_ALL: usize = 1_024;
const MESSAGE: usize = 16 * MIB;

/// A server that answers only when this many calls wait: if they are answered, all were let in.
fn company(count: usize) -> Chaos {
    Chaos::mode("out_of_order").with("n", count).field("requestTimeout", json!(120))
}

/// A server that answers nothing for a while.
fn silent() -> Chaos {
    Chaos::mode("hang_call").field("requestTimeout", json!(120))
}

/// Concurrent calls; the answers as they come.
fn calls(client: &Client, server: &str, count: usize) -> JoinSet<Answer> {
    let mut calls = JoinSet::new();
    for at in 0..count {
        let (client, path) = (client.clone(), format!("{server}:echo"));
        calls.spawn(async move { client.execute(&path, json!({ "text": at.to_string() })).await });
    }
    calls
}

/// Many calls over few connections: over HTTP+SSE a request is only acknowledged, and its response comes on the
/// stream, which is returned.
async fn calls_on_one_stream(
    hub: &satchel_tests::Hub<'_>,
    client: &str,
    server: &str,
    count: usize,
) -> satchel_tests::Events {
    let connection = hub.connection(client).await;
    let base = connection.url.trim_end_matches("/mcp").to_owned();
    let http = satchel_tests::plain_http();
    let with_headers = |request: reqwest::RequestBuilder| {
        connection.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    };
    let opened =
        with_headers(http.get(format!("{base}/sse"))).header("accept", "text/event-stream").send().await;
    let mut events = satchel_tests::Events::new(opened.expect("the stream opens"));
    let place = events.next().await.expect("it says where messages go");
    let url = if place.starts_with('/') { format!("{base}{place}") } else { place };
    let send = async |message: serde_json::Value| {
        let posted = with_headers(http.post(&url)).header("content-type", "application/json");
        let taken = posted.body(message.to_string()).send().await.expect("the endpoint answers");
        assert_eq!(taken.status(), 202, "{message}");
    };
    let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello })).await;
    events.next().await.expect("the session opens");
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    for id in 1..=count {
        let arguments = json!({ "tool_path": format!("{server}:echo"), "arguments": { "text": "x" } });
        let call = json!({ "name": "execute_mcp_tool", "arguments": arguments });
        send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call })).await;
    }
    events
}

async fn in_flight(hub: &satchel_tests::Hub<'_>, server: &str, count: usize) {
    satchel_tests::eventually(&format!("{count} calls of {server} are in flight"), async || {
        (hub.server(server).await["in_flight"].as_u64() == Some(count as u64)).then_some(())
    })
    .await;
}

fn all_answered(answers: &[Answer], count: usize) {
    let good = answers.iter().filter(|answer| Outcome::of(answer) == Outcome::Result).count();
    assert_eq!(good, count, "{answers:?}");
}

#[tokio::test]
async fn a_client_has_sixty_four_calls_of_a_server_at_once_and_keeps_no_other_out() {
    let mut arena = Arena::new().await;
    arena.add("company", company(PER_SERVER)).add("silent", silent()).add("fine", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["company", "silent", "fine"].map(str::to_owned)).await;
    let client = hub.client("one").await;
    all_answered(&calls(&client, "company", PER_SERVER).join_all().await, PER_SERVER);

    // A client has fewer connections than calls.
    let held = calls_on_one_stream(&hub, "one", "silent", PER_SERVER).await;
    in_flight(&hub, "silent", PER_SERVER).await;
    let refused = client.execute("silent:echo", json!({ "text": "one more" })).await;
    assert_eq!(Outcome::of(&refused), Outcome::Refused);
    assert!(refused.complaint().contains("busy"), "{}", refused.complaint());
    let other = hub.client("two").await;
    let of_other = calls(&other, "silent", 1);
    in_flight(&hub, "silent", PER_SERVER + 1).await;
    assert_eq!(other.execute("fine:echo", json!({ "text": "beside it" })).await.text(), "beside it");
    drop((held, of_other));
}

#[tokio::test]
async fn clients_that_have_a_thousand_and_twenty_four_calls_at_once_keep_no_other_out() {
    let mut arena = Arena::new().await;
    // A soak fills the hub; every commit a part of it.
    let full = IN_ALL / PER_SERVER;
    let count = sized(2, full);
    let servers: Vec<String> = (0..count).map(|at| format!("silent-{at}")).collect();
    for name in &servers {
        arena.add(name, silent());
    }
    arena.add("fine", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &servers).await;
    let mut held = Vec::new();
    for name in &servers {
        // There are fewer connections than calls.
        held.push(calls_on_one_stream(&hub, &format!("client-of-{name}"), name, PER_SERVER).await);
    }
    for name in &servers {
        in_flight(&hub, name, PER_SERVER).await;
    }
    let late = hub.client("late").await.execute("fine:echo", json!({ "text": "x" })).await;
    measured!("{} calls in flight: the next is {:?}", count * PER_SERVER, Outcome::of(&late));
    // A client with few calls in flight is let in, whatever the others do.
    assert_eq!(late.text(), "x");
}

#[tokio::test]
async fn an_answer_may_have_sixteen_mebibytes_over_every_transport() {
    let mut arena = Arena::new().await;
    let hosted = arena.host().await;
    arena.add("stdio", Chaos::new().field("requestTimeout", json!(60)));
    // The rest of the message is far smaller than this.
    let (below, above) = (MESSAGE - 4_096, MESSAGE + 65_536);
    let mut names = vec!["stdio".to_owned()];
    for (mode, name) in [("big_body", "body"), ("sse_huge_event", "event")] {
        for (bytes, side) in [(below - below % 65_536, "below"), (above, "above")] {
            let mut entry = hosted.entry(&format!("{mode}:bytes={bytes}"));
            entry["requestTimeout"] = json!(60);
            arena.add_entry(&format!("{name}-{side}"), entry);
            names.push(format!("{name}-{side}"));
        }
    }
    let hub = arena.open().await;
    known(&arena.home, &names).await;
    // Direct, since the four meta-tools truncate what would fill a context.
    let mut connection = hub.connection("one").await;
    connection.url += "/direct";
    let client = Client::open(&connection, "2025-11-25").await;
    let big = async |bytes: usize| client.call("stdio-big", json!({ "bytes": bytes })).await;
    assert_eq!(big(below).await.text().len(), below);
    let refused = big(above).await.complaint();
    assert!(refused.contains("16 MiB"), "{refused}");
    assert_eq!(client.call("stdio-echo", json!({ "text": "next" })).await.text(), "next", "it goes on");
    for name in ["body", "event"] {
        let good = client.call(&format!("{name}-below-echo"), json!({ "text": "x" })).await;
        assert!(good.text().len() > MESSAGE - 2 * 65_536, "{name}");
        let refused = client.call(&format!("{name}-above-echo"), json!({ "text": "x" })).await.complaint();
        assert!(refused.contains("16"), "{name}: {refused:.300}");
    }
}

#[tokio::test]
async fn a_call_may_ask_ten_times_and_not_for_ever() {
    let mut arena = Arena::new().await;
    for rounds in [10, 11] {
        let chaos = Chaos::running("chaos_server.py").arg("--mode", "mrtr_loop").era("modern");
        arena.add(&format!("asks-{rounds}"), chaos.with("rounds", rounds));
    }
    let hub = arena.open().await;
    known(&arena.home, &["asks-10".to_owned(), "asks-11".to_owned()]).await;
    let client = hub.client("one").await;
    let answer = client.execute("asks-10:echo", json!({ "text": "at last" })).await;
    assert_eq!(answer.text(), "at last");
    let refused = client.execute("asks-11:echo", json!({ "text": "at last" })).await;
    assert_eq!(Outcome::of(&refused), Outcome::Refused, "{refused:?}");
    assert!(refused.complaint().contains("leads nowhere"), "{}", refused.complaint());
}

#[tokio::test]
async fn clients_hear_of_changed_lists_at_most_twice_a_second() {
    let mut arena = Arena::new().await;
    let restless: Vec<String> = (0..6).map(|at| format!("restless-{at}")).collect();
    for name in &restless {
        arena.add(name, Chaos::mode("list_flap").field("startup", json!("eager")));
    }
    let hub = arena.open().await;
    let mut connection = hub.connection("one").await;
    connection.url += "/direct";
    // All time since then counts: a computer that stalls hands over several notifications at once.
    let opened = tokio::time::Instant::now();
    let client = Client::open(&connection, "2025-11-25").await;
    let mut notes = client.listen().await;
    known(&arena.home, &restless).await;
    let end = tokio::time::Instant::now() + Duration::from_secs(6);
    let mut heard = 0;
    while tokio::time::timeout_at(end, notes.next("notifications/tools/list_changed")).await.is_ok() {
        heard += 1;
    }
    let seconds = opened.elapsed().as_secs_f64();
    measured!("restless lists: {heard} notices in {seconds:.1} s");
    assert!(heard > 0, "changes are told");
    // The first may come at once.
    assert!(f64::from(heard) <= 2.0 * seconds + 1.0, "{heard} notices in {seconds} s");
}
