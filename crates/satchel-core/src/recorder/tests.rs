//! The recorder without a hub: what the observer of a call reports, and what becomes of it with and without a ledger.

use std::{sync::Arc, time::Duration};

use satchel_mcp::{ErrorObject, Raw};
use tempfile::TempDir;
use tokio::{
    sync::{Semaphore, watch},
    time::advance,
};
use tokio_util::task::TaskTracker;

use super::{CallTrouble, Mailbox, Observer, Program, Recorder, Settings, task::REOPENING, visit};
use crate::{
    config::Config,
    files::Places,
    model::{Code, audit::AuditKind, audit::AuditQuery, ledger::CallKind},
    stats::event::{Called, Event, Offers},
    upstream::{Outcome, log::ServerLog},
};

/// A recorder whose task has not started, in a home of its own.
fn opened(config: &str) -> (TempDir, Recorder, Mailbox) {
    let home = tempfile::tempdir().unwrap();
    let places = Places::below(home.path());
    places.create().unwrap();
    let settings = Settings {
        own_program: home.path().join("no-program"),
        places,
        passive: true,
        config: watch::channel(Arc::new(Config::parse(config).unwrap())).1,
        counting: Arc::new(Semaphore::new(1)),
    };
    let (recorder, mailbox, trouble) = Recorder::open(settings);
    assert_eq!(trouble, None);
    (home, recorder, mailbox)
}

fn observed(recorder: &Recorder, kind: CallKind) -> Observer {
    let visit = Arc::new(visit("editor", Program::default(), "2025-11-25", None));
    recorder.observe(&visit, kind, "weather:get", r#"{"name":"get"}"#, Offers::default)
}

fn raw(text: &str) -> Box<Raw> {
    Raw::from_string(text.to_owned()).unwrap()
}

/// What is queued for the one call that was observed.
fn queued(mailbox: &mut Mailbox) -> Called {
    match mailbox.events.try_recv() {
        Ok((Event::Called(called), _weight)) => *called,
        other => panic!("no call is queued: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_recorded_when_its_last_handle_is_dropped_and_each_part_of_its_time_once() {
    let (_home, recorder, mut mailbox) = opened("{}");
    let call = observed(&recorder, CallKind::Call);
    let path = "weather:get".parse().unwrap();
    call.routed(&path, Some(&raw(r#"{"city":"Rom"}"#)), false, &ServerLog::nowhere());
    call.decided("weather:*");
    call.decision_took(Duration::from_secs(7));
    advance(Duration::from_secs(9)).await;
    call.leased(false, Duration::from_secs(2), Some("2024-11-05".into()), true);
    advance(Duration::from_secs(5)).await;
    call.waited(Duration::from_secs(3));
    call.answered(&raw(r#"{"content":[{"type":"text","text":"sunny"}]}"#), false);
    let other = call.clone();
    drop(call);
    advance(Duration::from_secs(60)).await;
    assert!(mailbox.events.try_recv().is_err(), "a handle is left");
    drop(other);

    let called = queued(&mut mailbox);
    assert_eq!(
        (called.server.as_str(), called.tool.as_str(), called.rule.as_str()),
        ("weather", "get", "weather:*")
    );
    assert_eq!(called.end.outcome, "ok");
    let seconds = [called.time.wait, called.time.start, called.time.upstream, called.time.ours]
        .map(|part| part.as_secs());
    assert_eq!(seconds, [10, 2, 2, 0], "waited for people, started, in the server, in the hub");
    assert!(called.asked, "the server asked a person");
    let direct = called.direct.and_then(|body| body.text);
    assert_eq!(direct.as_deref(), Some(r#"{"name":"get","arguments":{"city":"Rom"}}"#));
    assert_eq!((called.arguments, called.result), (None, None), "they are not stored");
}

#[tokio::test]
async fn a_call_that_nobody_ends_was_cancelled_and_the_first_end_counts() {
    let (_home, recorder, mut mailbox) = opened("{}");
    drop(observed(&recorder, CallKind::Call));
    assert_eq!(queued(&mut mailbox).end.outcome, "cancelled");

    let call = observed(&recorder, CallKind::Call);
    let why = CallTrouble { code: Some(Code::Crashed), message: "it crashed", cause: None };
    call.failed(Outcome::Unknown, Some("weather"), why);
    call.answered(&raw(r#"{"content":[]}"#), false);
    assert_eq!(call.used(), None, "it did not succeed");
    drop(call);
    let called = queued(&mut mailbox);
    assert_eq!((called.end.outcome, called.end.code.as_deref()), ("unknown", Some("crashed")));
    assert_eq!((called.end.message.as_deref(), called.server.as_str()), (Some("it crashed"), "weather"));
}

/// The texts of a server may hold whatever its user works with; the hub's own texts do not.
#[tokio::test]
async fn what_a_server_says_is_stored_only_with_its_results_and_what_the_hub_says_always() {
    let error = raw(r#"{"content":[{"type":"text","text":"private words"}],"isError":true}"#);
    for (keep, ours, outcome, message) in [
        (false, false, "tool_error", None),
        (true, false, "tool_error", None),
        (false, true, "not_sent", Some("private words")),
    ] {
        let (_home, recorder, mut mailbox) = opened("{}");
        let call = observed(&recorder, CallKind::Call);
        call.routed(&"weather:get".parse().unwrap(), Some(&raw("{}")), keep, &ServerLog::nowhere());
        call.answered(&error, ours);
        drop(call);
        let called = queued(&mut mailbox);
        assert_eq!((called.end.outcome, called.end.message.as_deref()), (outcome, message));
        assert_eq!((called.arguments.is_some(), called.result.is_some()), (keep, keep), "{keep} {ours}");
    }

    let (_home, recorder, mut mailbox) = opened("{}");
    let call = observed(&recorder, CallKind::Call);
    let refusal = ErrorObject { code: -32602, message: "private words".into(), data: None };
    call.refused(&refusal);
    drop(call);
    let called = queued(&mut mailbox);
    assert_eq!((called.end.outcome, called.end.code.as_deref()), ("upstream_error", Some("-32602")));
    assert_eq!((called.end.message, called.result), (None, None));
}

#[tokio::test]
async fn a_call_and_what_it_causes_share_the_trace_of_the_client() {
    let (_home, recorder, _mailbox) = opened("{}");
    let client = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    let call = observed(&recorder, CallKind::Script);
    call.trace(client);
    assert_eq!(call.traceparent(), None, "no collector is attached");
    let cause = call.cause();
    assert!(cause.starts_with(&client[..36]) && cause.ends_with("-01"), "{cause}");
    assert_ne!(cause, client, "it is a span of its own");
    assert_eq!(call.script(), None, "it is the script itself");

    let invented = observed(&recorder, CallKind::Script).cause();
    assert!(
        invented.len() == client.len() && invented.ends_with("-00"),
        "{invented}: no collector receives it"
    );

    let _spans = recorder.spans().expect("no collector is attached yet");
    assert!(recorder.spans().is_none(), "one collector at a time");
    let call = observed(&recorder, CallKind::Inside);
    call.trace(client);
    let sent = call.traceparent().expect("a collector is there");
    assert!(sent.starts_with(&client[..36]) && sent != client, "{sent}");
    assert_eq!(call.script().as_deref(), Some(client));
}

#[tokio::test]
async fn without_a_record_of_calls_none_is_queued_and_the_audit_log_goes_on() {
    let (_home, recorder, mut mailbox) = opened(r#"{"history": {"record": false}}"#);
    let call = observed(&recorder, CallKind::Call);
    call.answered(&raw(r#"{"content":[]}"#), false);
    drop(call);
    recorder.did(AuditKind::Denied, "ed\u{202e}itor", "weather", "why");
    let Ok((Event::Audit(record), _weight)) = mailbox.events.try_recv() else {
        panic!("only the audit record is queued")
    };
    assert!(!record.who.contains('\u{202e}'), "hidden characters are escaped: {}", record.who);
    assert!(mailbox.events.try_recv().is_err());
}

#[test]
fn what_a_client_says_of_itself_is_cut() {
    let long = "ä".repeat(1000);
    let visit = visit(
        "editor",
        Program { name: &long, version: &long },
        "2025-11-25",
        Some(&"weather".parse().unwrap()),
    );
    assert_eq!((visit.program.chars().count(), visit.version.chars().count()), (100, 100));
    assert_eq!((visit.only.as_str(), visit.session), ("weather", None));
}

/// A ledger that a newer version wrote: it is neither opened nor moved aside. A whole, empty database of one page.
fn newer_ledger() -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    // Size of a page, versions, and the constants of the header.
    page[16..24].copy_from_slice(&[0x10, 0, 1, 1, 0, 64, 32, 32]);
    // One page, UTF-8, and the version of its tables.
    for (at, value) in [(28, 1_u32), (44, 4), (56, 1), (60, 9_999)] {
        page[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    // An empty table, whose contents would begin at the end of the page.
    page[100] = 0x0d;
    page[105..107].copy_from_slice(&[0x10, 0]);
    page
}

/// A disk that was full when the hub started, for example.
#[tokio::test(start_paused = true)]
async fn a_ledger_that_could_not_be_opened_is_used_as_soon_as_it_can_be() {
    let (home, recorder, mailbox) = opened("{}");
    let in_the_way = Places::below(home.path()).data.join("ledger.db");
    std::fs::write(&in_the_way, newer_ledger()).unwrap();
    let tasks = TaskTracker::new();
    tasks.spawn(recorder.clone().run(mailbox));
    recorder.did(AuditKind::Denied, "early", "", "");
    recorder.written().await;
    assert!(recorder.health().borrow().unusable.is_some(), "it says that nothing is recorded");
    assert!(
        recorder.delete_history(false).await.is_err(),
        "what cannot be reached is not said to be deleted"
    );

    std::fs::remove_file(&in_the_way).unwrap();
    advance(REOPENING).await;
    recorder.did(AuditKind::Denied, "late", "", "");
    let page = recorder.audit_page(AuditQuery::default()).await.unwrap();
    assert_eq!(page.records.iter().map(|record| record.who.as_str()).collect::<Vec<_>>(), ["late"]);
    assert_eq!(recorder.health().borrow().unusable, None);
    assert!(recorder.delete_history(false).await.is_ok());
    recorder.end();
    tasks.close();
    tasks.wait().await;
}
