//! What the ledger costs: the same calls with recording on and off, in turns; and how long reports of a million calls
//! take.

use std::{path::Path, sync::Arc, time::Duration};

use satchel_core::{
    model::ledger::{ActivityAsk, By, CallKind, ReportAsk},
    stats::{
        activity,
        event::{Body, Called, End, Event, Offered, Offers, Split, Visit},
        report,
        store::Store,
    },
};
use satchel_tests::{Client, Fake, Home};
use serde_json::json;
use tokio::time::Instant;

/// Rounds of calls with recording on and off.
const TURNS: usize = 60;
const CALLS_A_TURN: usize = 50;
const RECORDS: u64 = 1_000_000;
const DAYS: u64 = 30;

/// The ratio of medians in one run: both hubs share the machine at nearly the same time.
pub(crate) async fn recording() {
    let homes = [true, false].map(|record| {
        let home = Home::empty();
        let fake = Fake::new(&home, "fake").entry();
        home.write_config(&json!({ "mcpServers": { "fake": fake }, "history": { "record": record } }));
        home
    });
    let hubs = [homes[0].start_hub().await, homes[1].start_hub().await];
    let clients = [hubs[0].client("bench").await, hubs[1].client("bench").await];
    for client in &clients {
        turn(client, &mut Vec::new()).await;
    }
    let mut times = [Vec::new(), Vec::new()];
    for at in 0..TURNS {
        // Alternates which one goes first.
        for which in [at % 2, 1 - at % 2] {
            turn(&clients[which], &mut times[which]).await;
        }
    }
    let [on, off] = times.map(median);
    println!("recording on                   {on:>9.3} ms median");
    println!("recording off                  {off:>9.3} ms median");
    println!("recording on / off             {:>9.3} (less than 1.03 is wanted)", on / off);
}

async fn turn(client: &Client, times: &mut Vec<Duration>) {
    for _ in 0..CALLS_A_TURN {
        let start = Instant::now();
        client.execute("fake:echo", json!({ "text": "x" })).await.text();
        times.push(start.elapsed());
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

pub(crate) fn million() {
    let home = Home::empty();
    let path = home.file("ledger.db");
    let began = Instant::now();
    let now_ms = fill(&path);
    let (took, bytes) =
        (began.elapsed().as_secs_f64(), std::fs::metadata(&path).map_or(0, |file| file.len()));
    println!("{RECORDS} records written      {took:>9.1} s, {} MB", bytes / 1024 / 1024);
    for by in [By::Client, By::Server, By::Tool, By::Day] {
        for days in [None, Some(7)] {
            let ask = ReportAsk { by, days, ..ReportAsk::default() };
            let took = usual(|| {
                let report = report::report(&path, &ask, now_ms).expect("it can be read");
                assert!(days.is_some() || report.totals.calls == RECORDS, "{:?}", report.totals);
            });
            let span = if days.is_some() { "7 days" } else { "all" };
            println!("report by {:<8} {span:<11} {took:>9.1} ms", format!("{by:?}").to_lowercase());
        }
    }
    for (what, ask) in [
        ("newest", ActivityAsk::default()),
        ("problems", ActivityAsk { problems: true, ..ActivityAsk::default() }),
        ("server", ActivityAsk { server: Some("server-3".into()), ..ActivityAsk::default() }),
    ] {
        let took = usual(|| {
            let page = activity::page(&path, &ask, now_ms).expect("it can be read");
            assert!(!page.calls.is_empty());
        });
        println!("page of history, {what:<13} {took:>9.1} ms");
    }
}

/// The median of some runs, in milliseconds.
fn usual(mut act: impl FnMut()) -> f64 {
    act();
    let times = (0..9).map(|_| {
        let start = Instant::now();
        act();
        start.elapsed()
    });
    median(times.collect())
}

/// A month of calls: three clients, ten servers of twenty tools, fifty calls per session. Returns the last timestamp.
fn fill(path: &Path) -> u64 {
    let now_ms = 1_795_262_400_000;
    let (mut store, _) = Store::open(path, "one token a byte", now_ms).expect("it can be made");
    let definition: Arc<str> = "d".repeat(400).into();
    let tools = || (0..20).map(|tool| (format!("tool-{tool}"), definition.clone())).collect();
    let servers = (0..10).map(|server| Offered { server: format!("server-{server}"), tools: Some(tools()) });
    let offers: Offers = Arc::new(servers.collect());
    let step = DAYS * 24 * 3600 * 1000 / RECORDS;
    let visit = |session: u64| {
        let client = format!("client-{}", session % 3);
        let (program, version, era) = ("bench".to_owned(), "1".to_owned(), "2025-11-25".to_owned());
        Arc::new(Visit {
            session: Some(session),
            client,
            program,
            version,
            era,
            only: String::new(),
            profile: String::new(),
            face: false,
            defers: false,
        })
    };
    let mut events = Vec::new();
    let mut who = visit(0);
    for at in 0..RECORDS {
        if at % 50 == 0 {
            who = visit(at / 50);
        }
        let at_ms = now_ms - (RECORDS - at) * step;
        let outcome = if at % 40 == 0 { "tool_error" } else { "ok" };
        let time = Split { upstream: Duration::from_micros(500 + at % 90_000), ..Split::default() };
        events.push(Event::Called(Box::new(Called {
            visit: who.clone(),
            at_ms,
            offers: offers.clone(),
            kind: CallKind::Call,
            server: format!("server-{}", at % 10),
            tool: format!("tool-{}", at / 10 % 20),
            end: End { outcome, code: None, message: None, cause: None },
            time,
            request: Body::of("request"),
            direct: Some(Body::of("direct")),
            answer: Body::of("answer"),
            ours: false,
            rule: "rule".into(),
            asked: false,
            server_era: None,
            trace: None,
            arguments: None,
            result: None,
            redact: None,
        })));
        if events.len() == 5_000 || at + 1 == RECORDS {
            store.record(&events).expect("it can be written");
            events.clear();
            let counts: Vec<_> = store.uncounted().iter().map(|(hash, text)| (*hash, text.len())).collect();
            store.counted(&counts).expect("it can be written");
        }
    }
    now_ms
}
