//! Servers behind an address, and what can go wrong on the way to them.

use std::sync::Arc;

use satchel_tests::{Client, Home, Hub, eventually};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::station::{Asked, Speaks, Station, broken, held, never, status, text};

/// A hub with one hosted server, "far".
struct World {
    home: Home,
}

impl World {
    fn of(entry: &Value) -> Self {
        Self { home: Home::with_servers(json!({ "far": entry })) }
    }

    fn at(station: &Station) -> Self {
        Self::of(&json!({ "url": station.url }))
    }
}

async fn work(client: &Client) -> satchel_tests::Answer {
    client.execute("far:work", json!({})).await
}

/// The error of a failed call, and whether the call may have run.
async fn failure(client: &Client) -> (String, Value) {
    let answer = work(client).await;
    let result = answer.value();
    (answer.complaint(), result["_meta"]["dev.satchel/outcome"].clone())
}

async fn restarted(hub: &Hub<'_>, home: &Home) {
    let starts = hub.server("far").await["starts"].as_u64().unwrap_or_default();
    home.satchel(&["restart", "far"]).await.succeeded();
    eventually("it is started again", async || {
        let far = hub.server("far").await;
        (far["starts"].as_u64() > Some(starts) && far["state"] == "ready").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_and_nowhere_else() {
    let moved = Station::start(Speaks::Legacy, |asked: &Asked| {
        (asked.path == "/mcp").then(|| status(307, &[("location", "/there")]))
    })
    .await;
    let world = World::at(&moved);
    let hub = world.home.start_hub().await;
    assert_eq!(work(&hub.client("one").await).await.text(), "done");

    let elsewhere = Station::start(Speaks::Both, |_: &Asked| None).await;
    let to = elsewhere.url.clone();
    let station =
        Station::start(Speaks::Both, move |_: &Asked| Some(status(307, &[("location", to.as_str())]))).await;
    let world = World::of(&json!({ "url": station.url, "headers": { "Authorization": "Bearer mine" } }));
    let hub = world.home.start_hub().await;
    let (complaint, _) = failure(&hub.client("one").await).await;
    assert!(complaint.contains("307"), "{complaint}");
    assert!(elsewhere.asked().is_empty(), "nobody else hears of it, and of our credentials least of all");
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_when_it_said() {
    const LONG_AGO: &str = "Thu, 01 Jan 1970 00:00:00 GMT";
    for (refusal, header, method) in [
        (429, "1", "tools/call"),
        (429, LONG_AGO, "tools/call"),
        (429, "", "tools/call"),
        (503, "1", "tools/list"),
        (503, LONG_AGO, "tools/list"),
    ] {
        let header = header.to_owned();
        let station = Station::start(Speaks::Legacy, move |asked: &Asked| {
            let busy = asked.method() == method && asked.before == 0;
            let headers = [("retry-after", header.as_str())];
            busy.then(|| status(refusal, if header.is_empty() { &[] } else { &headers }))
        })
        .await;
        let world = World::at(&station);
        let hub = world.home.start_hub().await;
        assert_eq!(work(&hub.client("one").await).await.text(), "done", "{refusal}");
        assert_eq!(station.count(method), 2, "{refusal}");
        assert_eq!(station.count("tools/call"), if method == "tools/call" { 2 } else { 1 }, "{refusal}");
    }
}

#[tokio::test]
async fn a_server_that_stays_busy_is_given_up_and_its_call_did_not_run() {
    for header in ["0", "3600"] {
        let station = Station::start(Speaks::Legacy, move |asked: &Asked| {
            (asked.method() == "tools/call").then(|| status(429, &[("retry-after", header)]))
        })
        .await;
        let world = World::at(&station);
        let hub = world.home.start_hub().await;
        let (complaint, outcome) = failure(&hub.client("one").await).await;
        assert!(complaint.contains("429") && complaint.contains("asks to retry"), "{complaint}");
        assert_eq!(outcome, "not_executed", "{complaint}");
    }
}

#[tokio::test]
async fn a_call_that_may_have_run_is_never_made_again() {
    let broken_off: fn() -> axum::response::Response = broken;
    let busy: fn() -> axum::response::Response = || status(503, &[("retry-after", "0")]);
    for how in [broken_off, busy, || status(503, &[]), || status(500, &[]), || status(502, &[])] {
        let station =
            Station::start(Speaks::Legacy, move |asked: &Asked| (asked.method() == "tools/call").then(how))
                .await;
        let world = World::at(&station);
        let hub = world.home.start_hub().await;
        let (complaint, outcome) = failure(&hub.client("one").await).await;
        assert_eq!(outcome, "unknown", "{complaint}");
        assert_eq!(station.count("tools/call"), 1, "{complaint}");
    }
}

#[tokio::test]
async fn a_call_to_an_unreachable_server_is_sent_when_the_server_returns() {
    let mut station = Station::start(Speaks::Legacy, |_: &Asked| None).await;
    let world = World::at(&station);
    let hub = world.home.start_hub().await;
    let client = hub.client("one").await;
    assert_eq!(work(&client).await.text(), "done");
    station.close().await;
    let calling = tokio::spawn({
        let client = client.clone();
        async move { work(&client).await.text() }
    });
    // The call is in flight, and the server is gone.
    eventually("it is being made", async || (hub.server("far").await["in_flight"] == 1).then_some(())).await;
    station.open().await;
    assert_eq!(calling.await.expect("the call is answered"), "done");
    assert_eq!(station.count("tools/call"), 2);

    station.close().await;
    let (complaint, outcome) = failure(&client).await;
    assert_eq!(outcome, "not_sent", "{complaint}");
}

#[tokio::test]
async fn a_forgotten_session_is_opened_again_without_anybody_noticing() {
    // It knows only the latest session, and forgets that at the second call.
    let station = Station::start(Speaks::Legacy, |asked: &Asked| {
        let forgotten = asked.header("mcp-session-id") == "session-1";
        let gone = asked.method() == "tools/call" && asked.before > 0 && forgotten;
        gone.then(|| asked.error(404, -32001, "Session not found"))
    })
    .await;
    let world = World::at(&station);
    let hub = world.home.start_hub().await;
    let client = hub.client("one").await;
    for _ in 0..2 {
        assert_eq!(work(&client).await.text(), "done");
    }
    assert_eq!(station.count("initialize"), 2);
    let calls: Vec<_> = station.asked().into_iter().filter(|asked| asked.method() == "tools/call").collect();
    let sessions: Vec<_> = calls.iter().map(|asked| asked.header("mcp-session-id")).collect();
    assert_eq!(sessions, ["session-1", "session-1", "session-2"]);
}

#[tokio::test]
async fn calls_in_progress_get_their_answers_after_a_session_is_lost() {
    // A new session is available and forgotten as well, or unavailable.
    for opens_again in [true, false] {
        let release = Arc::new(Notify::new());
        let released = release.clone();
        let station = Station::start(Speaks::Legacy, move |asked: &Asked| match asked.method() {
            "initialize" if asked.before > 0 && !opens_again => Some(status(500, &[])),
            "tools/call" if asked.before == 0 => {
                Some(held(asked.result(&text("in the end")), released.clone()))
            }
            "tools/call" => Some(asked.error(404, -32001, "Session not found")),
            _ => None,
        })
        .await;
        let world = World::at(&station);
        let hub = world.home.start_hub().await;
        let (slow, quick) = (hub.client("slow").await, hub.client("quick").await);
        let waiting = tokio::spawn(async move { work(&slow).await });
        eventually("the first call has come", async || (station.count("tools/call") == 1).then_some(()))
            .await;
        let (complaint, outcome) = failure(&quick).await;
        assert_eq!(outcome, "not_executed", "{complaint}");
        release.notify_one();
        assert_eq!(waiting.await.expect("the call ends").text(), "in the end", "{opens_again}");
    }
}

#[tokio::test]
async fn headers_are_filled_from_the_environment_and_from_secrets() {
    let station = Station::start(Speaks::Both, |_: &Asked| None).await;
    let headers = json!({
        "Authorization": "Bearer ${secret:far-token}", "X-Home": "${HOME}", "X-Else": "${SATCHEL_TEST_NONE:-else}",
    });
    let world = World::of(&json!({ "url": station.url, "headers": headers }));
    let hub = world.home.start_hub().await;
    let client = hub.client("one").await;
    world.home.satchel_reading(&["secrets", "use-file"], "open sesame\n").await.succeeded();
    let (complaint, _) = failure(&client).await;
    assert!(complaint.contains("far-token"), "it says what is missing: {complaint}");
    assert!(station.asked().is_empty(), "nothing is sent with a hole in it");

    world.home.satchel_reading(&["secrets", "set", "far-token"], "let-me-in\n").await.succeeded();
    assert_eq!(work(&client).await.text(), "done");
    let expected = [
        ("authorization", "Bearer let-me-in".to_owned()),
        ("x-home", world.home.path().display().to_string()),
        ("x-else", "else".to_owned()),
    ];
    for asked in station.asked() {
        for (name, value) in &expected {
            assert_eq!(asked.header(name), value, "{}", asked.method());
        }
    }
}

#[tokio::test]
async fn a_server_that_never_answers_the_handshake_fails_after_the_timeout() {
    let silent = Station::start(Speaks::Both, |_: &Asked| Some(never())).await;
    let world = World::of(&json!({ "url": silent.url, "discoveryTimeout": 5 }));
    let hub = world.home.start_hub().await;
    let (complaint, _) = failure(&hub.client("one").await).await;
    assert!(complaint.contains("5 s"), "{complaint}");
}

#[tokio::test]
async fn a_servers_revision_is_probed_once_and_remembered() {
    for (speaks, first, other) in [
        (Speaks::Legacy, "initialize", "server/discover"),
        (Speaks::Modern, "server/discover", "initialize"),
        (Speaks::Both, "server/discover", "initialize"),
    ] {
        let station = Station::start(speaks, |_: &Asked| None).await;
        let world = World::at(&station);
        let hub = world.home.start_hub().await;
        assert_eq!(work(&hub.client("one").await).await.text(), "done", "{speaks:?}");
        let probed = station.count(other);
        assert_eq!(probed, usize::from(speaks == Speaks::Legacy), "{speaks:?}");
        restarted(&hub, &world.home).await;
        assert_eq!((station.count(first), station.count(other)), (2, probed), "{speaks:?}");
    }
}

#[tokio::test]
async fn which_revisions_a_server_is_spoken_to_in_can_be_chosen() {
    for (era, used, unused) in
        [("legacy", "initialize", "server/discover"), ("modern", "server/discover", "initialize")]
    {
        let station = Station::start(Speaks::Both, |_: &Asked| None).await;
        let home = Home::empty();
        home.satchel(&["add", "far", "--era", era, "--url", &station.url]).await.succeeded();
        assert_eq!(home.config()["mcpServers"]["far"]["era"], era);
        let hub = home.start_hub().await;
        assert_eq!(work(&hub.client("one").await).await.text(), "done", "{era}");
        assert_eq!((station.count(used), station.count(unused)), (1, 0), "{era}");
    }
    // A protocol it does not support is not tried in another way.
    let station = Station::start(Speaks::Legacy, |_: &Asked| None).await;
    let world = World::of(&json!({ "url": station.url, "era": "modern" }));
    let hub = world.home.start_hub().await;
    work(&hub.client("one").await).await.complaint();
    assert_eq!(station.count("initialize"), 0);
}

#[tokio::test]
async fn a_page_that_an_old_client_cannot_show_is_told_it_in_words() {
    let station = Station::start(Speaks::Modern, |asked: &Asked| {
        let question = json!({ "method": "elicitation/create", "params": {
            "mode": "url", "message": "Please sign in.", "url": "https://example.com/sign-in" } });
        let ask = json!({ "resultType": "input_required", "inputRequests": { "sign-in": question } });
        (asked.method() == "tools/call").then(|| asked.result(&ask))
    })
    .await;
    let world = World::at(&station);
    let hub = world.home.start_hub().await;
    let old = Client::open(&hub.connection("old").await, "2025-06-18").await;
    let complaint = work(&old).await.complaint();
    assert!(complaint.contains("https://example.com/sign-in"), "{complaint}");
}

/// A legacy server's error that names a URL to visit first: passed on to a client that can show it, as text to one
/// that cannot.
#[tokio::test]
async fn an_address_to_visit_first_reaches_clients_that_show_it_and_those_that_do_not() {
    let station = Station::start(Speaks::Legacy, |asked: &Asked| {
        let visit = json!([{ "mode": "url", "elicitationId": "1", "url": "https://example.com/sign-in", "message": "Please sign in." }]);
        let error = json!({ "code": -32042, "message": "visit first", "data": { "elicitations": visit } });
        let body = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error });
        (asked.method() == "tools/call").then(|| {
            let mut response = axum::response::Response::new(axum::body::Body::from(body.to_string()));
            response.headers_mut().insert("content-type", "application/json".parse().expect("a header's value"));
            response
        })
    })
    .await;
    let world = World::at(&station);
    let hub = world.home.start_hub().await;
    for revision in ["2025-06-18", "2025-11-25"] {
        let plain = Client::open(&hub.connection(revision).await, revision).await;
        let complaint = work(&plain).await.complaint();
        assert!(complaint.contains("https://example.com/sign-in"), "{revision}: {complaint}");
        assert!(complaint.contains("Please sign in."), "{revision}: {complaint}");
    }
    let execute = json!({ "tool_path": "far:work", "arguments": {} });
    let mut shows = crate::client::Client::new(hub.connection("shows").await, crate::client::Era::Legacy);
    shows.open().await;
    let error =
        shows.call("execute_mcp_tool", execute.clone()).await.outcome.expect_err("it is told as it came");
    assert_eq!(
        (error.code, &error.data["elicitations"][0]["elicitationId"]),
        (-32042, &json!("1")),
        "{error:?}"
    );
    let mut modern = crate::client::Client::new(hub.connection("modern").await, crate::client::Era::Modern);
    modern.open().await;
    let asked = modern
        .raw("tools/call", json!({ "name": "execute_mcp_tool", "arguments": execute }))
        .await
        .expect("a result");
    let asked: Value = serde_json::from_str(&asked).expect("it is JSON");
    let question = &asked["inputRequests"]["visit_1"]["params"];
    assert_eq!((&question["mode"], &question["elicitationId"]), (&json!("url"), &Value::Null), "{asked}");
}

#[tokio::test]
async fn an_answer_may_come_as_json_or_as_a_stream_of_events() {
    let station = Station::start(Speaks::Legacy, |asked: &Asked| {
        (asked.method() == "tools/call").then(|| {
            let answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": text("streamed") });
            let mut response = axum::response::Response::new(axum::body::Body::from(format!(
                ": a comment\r\n\r\nevent: ping\r\ndata: {{}}\r\n\r\nid: 7\r\nevent: message\r\ndata: {answer}\r\n\r\n"
            )));
            response.headers_mut().insert("content-type", "text/event-stream".parse().expect("a header's value"));
            response
        })
    })
    .await;
    let world = World::at(&station);
    let hub = world.home.start_hub().await;
    assert_eq!(work(&hub.client("one").await).await.text(), "streamed");
}
