//! Calls as spans at a collector: a real hub, a real server, and a collector that keeps what it is sent.
#![allow(clippy::disallowed_methods, reason = "a collector for one test ends with its runtime")]

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, routing::post};
use satchel_tests::{Fake, Home, eventually};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The data a collector received.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<u8>>>);

impl Collector {
    /// Listens on any port and returns its address.
    async fn listen(&self) -> String {
        async fn take(State(collector): State<Collector>, body: Bytes) {
            collector.0.lock().expect("nobody panics while it writes").extend_from_slice(&body);
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be had");
        let base = format!("http://{}", listener.local_addr().expect("it was just bound"));
        let router = Router::new().route("/v1/traces", post(take)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        base
    }

    fn has(&self, wanted: &[u8]) -> bool {
        self.0.lock().expect("nobody panics while it writes").windows(wanted.len()).any(|part| part == wanted)
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hexadecimal"))
        .collect()
}

#[tokio::test]
async fn a_call_is_a_span_in_the_clients_trace_and_passed_to_the_server() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";
    const SECRET: &str = "nobody's business";
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    let collector = Collector::default();
    let base = collector.listen().await;
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() }, "otlpEndpoint": base }));
    let hub = home.start_hub().await;
    let client = hub.client("traced").await;
    let answer = client
        .request(
            "tools/call",
            json!({
                "name": "execute_mcp_tool",
                "arguments": { "tool_path": "fake:about", "arguments": { "text": SECRET } },
                "_meta": { "traceparent": format!("00-{TRACE}-{PARENT}-01"), "tracestate": "vendor=1", "own": 7 },
            }),
        )
        .await;
    let about: Value = serde_json::from_str(&answer.text()).expect("the server tells what it was given");
    let meta = &about["meta"];
    let told = meta["traceparent"].as_str().expect("the server is told of the trace");
    let span = told.strip_prefix(&format!("00-{TRACE}-")).and_then(|rest| rest.strip_suffix("-01"));
    let span = span.unwrap_or_else(|| panic!("another trace: {told}"));
    assert_ne!(span, PARENT);
    assert_eq!((&meta["tracestate"], &meta["own"]), (&json!("vendor=1"), &json!(7)));
    eventually("the span is at the collector", async || collector.has(&bytes(span)).then_some(())).await;
    for wanted in [&bytes(TRACE)[..], &bytes(PARENT), b"tools/call about", b"satchel.client", b"traced"] {
        assert!(collector.has(wanted), "{wanted:?}");
    }
    assert!(!collector.has(SECRET.as_bytes()), "arguments stay here");
}

#[tokio::test]
async fn without_a_collector_a_trace_passes_through_unchanged() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    let client = hub.client("traced").await;
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let call = |meta: Value| {
        let client = client.clone();
        async move {
            let arguments = json!({ "tool_path": "fake:about" });
            let params = json!({ "name": "execute_mcp_tool", "arguments": arguments, "_meta": meta });
            let answer = client.request("tools/call", params).await;
            serde_json::from_str::<Value>(&answer.text()).expect("the server tells what it was given")
        }
    };
    assert_eq!(call(json!({ "traceparent": traceparent })).await["meta"]["traceparent"], traceparent);
    assert_eq!(call(json!({})).await["meta"]["traceparent"], Value::Null);
}

#[tokio::test]
async fn a_collector_that_is_gone_harms_no_call() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake");
    // A port that was free a moment ago.
    let gone = TcpListener::bind("127.0.0.1:0").await.and_then(|listener| listener.local_addr());
    let gone = gone.expect("a loopback port can be had");
    home.write_config(
        &json!({ "mcpServers": { "fake": fake.entry() }, "otlpEndpoint": format!("http://{gone}") }),
    );
    let hub = home.start_hub().await;
    let client = hub.client("traced").await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "here" })).await.text(), "here");
    assert_eq!(hub.terminate().await, Some(0));
}
