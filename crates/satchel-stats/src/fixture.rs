//! Test sessions with hand-computed figures, one of which costs more than it saves. The test tokenizer counts one token
//! per byte.

use std::{path::Path, sync::Arc, time::Duration};

use super::{
    activity,
    definitions::Definitions,
    event::{Body, Called, End, Event, Offered, Offers, Redact, Split, Visit},
    report,
    sharing::{Measured, Use},
    store::{PAUSE, Store},
};
use crate::model::{
    cause::{FailureCause, ProcessEnd},
    ledger::{
        ActivityAsk, By, CallKind, DAY_PARTS, Report, ReportAsk, ReportLine, Scripted, ServerDay, Sharing,
        Spent,
    },
};

/// Noon UTC, so that it is the same day nearly everywhere.
const NOON: u64 = 1_795_262_400_000;

fn visit(session: Option<u64>, client: &str, program: &str, version: &str) -> Arc<Visit> {
    let defers = program == "claude-code";
    let (client, program, version) = (client.to_owned(), program.to_owned(), version.to_owned());
    Arc::new(Visit {
        session,
        client,
        program,
        version,
        era: "2025-11-25".into(),
        only: String::new(),
        profile: String::new(),
        face: false,
        defers,
    })
}

/// Two servers: one with definitions of 400 and 200 bytes, one with 100. As one list 2 + 700 + 2 = 704 tokens.
fn offers() -> Offers {
    let tool = |name: &str, bytes: usize| (name.to_owned(), Arc::from("d".repeat(bytes)));
    Arc::new(vec![
        Offered { server: "big".into(), tools: Some(vec![tool("a", 400), tool("b", 200)]) },
        Offered { server: "small".into(), tools: Some(vec![tool("c", 100)]) },
    ])
}

fn definitions(list: &str) -> Arc<Definitions> {
    Arc::new(list.into())
}

fn listed(visit: &Arc<Visit>, at_ms: u64, bytes: usize) -> Event {
    Event::Listed {
        visit: visit.clone(),
        at_ms,
        definitions: definitions(&"l".repeat(bytes)),
        offers: offers(),
    }
}

fn called(
    visit: &Arc<Visit>,
    at_ms: u64,
    kind: CallKind,
    tool: &str,
    request: usize,
    answer: &str,
) -> Called {
    let path = tool.split_once(':');
    Called {
        visit: visit.clone(),
        at_ms,
        offers: offers(),
        kind,
        server: path.map(|(server, _)| server.to_owned()).unwrap_or_default(),
        tool: path.map_or(tool, |(_, tool)| tool).to_owned(),
        end: End { outcome: "ok", code: None, message: None, cause: None },
        time: Split {
            upstream: Duration::from_millis(6),
            ours: Duration::from_millis(1),
            ..Split::default()
        },
        request: Body::of(&"r".repeat(request)),
        direct: None,
        answer: Body::of(answer),
        ours: false,
        rule: "rule".into(),
        asked: false,
        server_era: None,
        trace: None,
        arguments: None,
        result: None,
        redact: None,
    }
}

/// A call through the hub that is `more` bytes longer than a direct one of 20.
fn executed(visit: &Arc<Visit>, at_ms: u64, tool: &str, more: usize) -> Event {
    let call = called(visit, at_ms, CallKind::Call, tool, 20 + more, &"x".repeat(50));
    Event::Called(Box::new(Called { direct: Some(Body::of(&"p".repeat(20))), ..call }))
}

/// A search whose answer mentions `big:a` and `small:c` in the proportion 3 to 1.
fn searched(visit: &Arc<Visit>, at_ms: u64, kind: CallKind) -> (Event, i64) {
    let entry = |path: &str, bytes: usize| {
        let empty = format!(r#"{{"tool_path":"{path}","x":""}}"#).len();
        format!(r#"{{"tool_path":"{path}","x":"{}"}}"#, "y".repeat(bytes - empty))
    };
    let found = format!(r#"{{"tools":[{},{}]}}"#, entry("big:a", 150), entry("small:c", 50));
    let answer = serde_json::json!([{ "type": "text", "text": found }]).to_string();
    let tokens = i64::try_from(answer.len()).unwrap();
    (Event::Called(Box::new(called(visit, at_ms, kind, "discover_mcp_tools", 30, &answer))), tokens)
}

/// Counts everything that waits, one token per byte.
fn count(store: &mut Store) {
    while store.uncounted_bytes() > 0 {
        let counts: Vec<_> = store.uncounted().iter().map(|(hash, text)| (*hash, text.len())).collect();
        store.counted(&counts).unwrap();
    }
}

fn open(path: &Path) -> Store {
    Store::open(path, "one token a byte", NOON).unwrap().0
}

fn ask(path: &Path, by: By) -> Report {
    report::report(path, &ReportAsk { by, ..ReportAsk::default() }, NOON).unwrap()
}

fn line<'a>(report: &'a Report, name: &str) -> &'a ReportLine {
    report.lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("no {name} in {report:?}"))
}

/// One session that saves, one that costs more than it saves, and one of a client that defers tools.
fn three_sessions(store: &mut Store) -> i64 {
    let good = visit(Some(1), "cursor", "Cursor", "2.0");
    let dear = visit(Some(2), "zed", "Zed", "1.0");
    let defers = visit(Some(3), "claude", "claude-code", "2.1.7");
    let (search, answer) = searched(&good, NOON, CallKind::Find);
    let described = searched(&dear, NOON, CallKind::Describe).0;
    let mut events = vec![
        // 704 without; 100 definitions, one search, 30 for asking it, 15 for wrapping: a failed call counts too.
        listed(&good, NOON, 100),
        listed(&good, NOON, 100),
        search,
        executed(&good, NOON, "big:a", 15),
        // 704 without; 500 and 300 definitions of two different lists, one description, 30 for asking.
        listed(&dear, NOON, 500),
        listed(&dear, NOON, 300),
        described,
        // mcp__big__a, mcp__big__b, mcp__small__c, as lines: 37 without, and 400 for the one it used twice.
        listed(&defers, NOON, 100),
        executed(&defers, NOON, "big:a", 10),
        executed(&defers, NOON, "big:a", 10),
    ];
    // The hub itself refused this one: nothing of it would have been there without.
    let refused = called(&good, NOON, CallKind::Call, "nonsense", 25, "no such tool");
    let end = End { outcome: "not_sent", code: Some("unknown".into()), message: None, cause: None };
    events.push(Event::Called(Box::new(Called { ours: true, end, ..refused })));
    store.record(&events).unwrap();
    answer
}

#[test]
fn sessions_worked_out_by_hand_give_these_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let answer = three_sessions(&mut store);
    assert_eq!(ask(&path, By::Client).savings.left_out, 3, "nothing is counted yet, so nothing is claimed");
    count(&mut store);

    let report = ask(&path, By::Client);
    let savings = &report.savings;
    let spent = Spent {
        definitions: 100 + 800 + 100,
        find: answer,
        describe: answer,
        // Asking: 30 + 30. Longer calls: 15 + 10 + 10. The refused call with its answer: 25 + 12.
        wrapping: 60 + 35 + 37,
    };
    assert_eq!(savings.spent, spent);
    assert_eq!((savings.sessions, savings.left_out), (3, 0));
    assert_eq!(savings.without, 704 + 704 + 437);
    assert_eq!((savings.with, savings.net), (spent.sum(), 1845 - spent.sum()));
    assert_eq!((savings.percent, savings.verdict.as_str()), (None, "Too early to judge: 3 sessions."));
    let totals = &report.totals;
    assert_eq!((totals.calls, totals.failures, totals.searches, totals.uncounted), (4, 1, 2, 0));
    assert_eq!((totals.request_tokens, totals.result_tokens), (35 + 30 + 30 + 25, 50 * 3 + 12));
    assert_eq!((totals.request_bytes, totals.result_bytes), (120, 162));
    assert_eq!((totals.took.upstream_ms, totals.took.ours_ms), (24.0, 4.0));

    let zed = line(&report, "zed");
    assert_eq!((zed.sessions, zed.without, zed.with), (1, 704, 800 + answer + 30));
    assert!(zed.net < 0, "this one costs more than it saves");
    let claude = line(&report, "claude");
    assert_eq!((claude.without, claude.with, claude.net), (437, 120, 317));
    let cursor = line(&report, "cursor");
    assert_eq!((cursor.without, cursor.with), (704, 100 + answer + 30 + 15 + 37));
    assert_eq!(
        report.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>()[2],
        "zed",
        "worst last"
    );
}

#[test]
fn every_division_adds_up_to_the_same_totals() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let answer = three_sessions(&mut store);
    count(&mut store);
    let whole = ask(&path, By::Client);
    for by in [By::Client, By::Server, By::Tool, By::Day] {
        let report = ask(&path, by);
        assert_eq!((&report.totals, &report.savings), (&whole.totals, &whole.savings));
        let sum = |of: fn(&ReportLine) -> i64| report.lines.iter().map(of).sum::<i64>();
        assert_eq!(sum(|line| line.without), whole.savings.without, "{by:?}");
        assert_eq!(sum(|line| line.with), whole.savings.with, "{by:?}");
        assert_eq!(sum(|line| line.net), whole.savings.net, "{by:?}");
        let calls: u64 = report.lines.iter().map(|line| line.totals.calls).sum();
        assert_eq!(calls, whole.totals.calls, "{by:?}");
    }
    // Definitions of 600 and 100 of 700 bytes, twice in a list of 704; names of 23 and 13 of 36, once in 37; and the
    // one tool that was loaded: 603.4 + 603.4 + 23.6 + 400 and 100.6 + 100.6 + 13.4.
    let report = ask(&path, By::Server);
    assert_eq!((line(&report, "big").without, line(&report, "small").without), (1630, 215));
    // Three quarters of both answers, and the wrapping of its three calls.
    assert_eq!(line(&report, "big").with, 2 * (answer * 3 / 4) + 35);
}

#[test]
fn a_session_without_initialize_ends_with_a_pause_and_survives_a_restart_of_the_hub() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let client = visit(None, "modern", "", "");
    let mut store = open(&path);
    store.record(&[listed(&client, NOON, 100), executed(&client, NOON + PAUSE, "big:a", 5)]).unwrap();
    count(&mut store);
    drop(store);
    let mut store = open(&path);
    let again = [listed(&client, NOON + 2 * PAUSE, 100), listed(&client, NOON + 3 * PAUSE + 1, 100)];
    store.record(&again).unwrap();
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    let spent = Spent { definitions: 200, wrapping: 5, ..Spent::default() };
    assert_eq!((savings.sessions, savings.without, savings.spent), (2, 2 * 704, spent));
}

#[test]
fn servers_that_were_not_read_yet_are_added_when_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "c", "", "");
    let with = |change: fn(&mut Vec<Offered>)| {
        let mut offers = (*offers()).clone();
        change(&mut offers);
        Event::Listed {
            visit: client.clone(),
            at_ms: NOON,
            definitions: definitions("l"),
            offers: Arc::new(offers),
        }
    };
    let unread = with(|offers| offers[0].tools = None);
    let read = with(|_| {});
    let later = with(|offers| {
        let added = offers[0].clone();
        offers.push(Offered { server: "added".into(), ..added });
    });
    store.record(&[unread]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 102);
    store.record(&[read]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 704);
    store.record(&[later]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 704, "what was added later it would not have seen");
}

/// A script that calls without ever requesting a list would have loaded none.
#[test]
fn a_session_that_never_asked_for_a_list_saves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    for number in 0..100 {
        let program = if number % 2 == 0 { "curl" } else { "claude-code" };
        let script = visit(Some(number), "script", program, "2.1.7");
        let search = searched(&script, NOON, CallKind::Find).0;
        store.record(&[executed(&script, NOON, "big:a", 15), search]).unwrap();
    }
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    assert_eq!((savings.sessions, savings.left_out, savings.without), (2, 0, 0));
    assert!(savings.net < 0 && savings.percent.is_none(), "{savings:?}");
    // One that requests a list later has it from then on.
    let late = visit(Some(0), "script", "curl", "2.1.7");
    store.record(&[listed(&late, NOON, 10), executed(&late, NOON, "big:a", 15)]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 704);
}

/// A client that initializes and lists for each call is one conversation, whose list is saved once.
#[test]
fn a_client_that_initializes_for_each_call_saves_its_list_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let each = |store: &mut Store, number: u64, at_ms: u64| {
        let client = visit(Some(number), "curl", "curl", "8");
        store.record(&[listed(&client, at_ms, 100), executed(&client, at_ms, "big:a", 15)]).unwrap();
    };
    (0..100).for_each(|number| each(&mut store, number, NOON + number * 1000));
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    let spent = Spent { definitions: 100, wrapping: 100 * 15, ..Spent::default() };
    assert_eq!((savings.sessions, savings.without, savings.spent), (1, 704, spent));

    // A restart of the hub does not save it again; a later conversation does.
    drop(store);
    let mut store = open(&path);
    each(&mut store, 1, NOON + PAUSE);
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 704);
    each(&mut store, 2, NOON + 3 * PAUSE);
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    assert_eq!((savings.sessions, savings.without, savings.spent.definitions), (2, 2 * 704, 200));
}

/// Two windows of one editor each have the list in their model's context.
#[test]
fn sessions_that_are_open_side_by_side_each_save_their_list() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let windows = [1, 2].map(|number| visit(Some(number), "editor", "Editor", "1"));
    for (at_ms, window) in [(NOON, 0), (NOON + 1, 1), (NOON + 2, 0), (NOON + 3, 1)] {
        let window = &windows[window];
        store.record(&[listed(window, at_ms, 100), executed(window, at_ms, "big:a", 5)]).unwrap();
    }
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    let spent = Spent { definitions: 200, wrapping: 20, ..Spent::default() };
    assert_eq!((savings.sessions, savings.without, savings.spent), (2, 2 * 704, spent));
}

/// A client that receives every tool directly saves nothing through the hub, however its servers format their lists.
#[test]
fn white_space_and_escapes_of_a_server_are_no_saving() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let padded =
        "{ \"name\" :  \"t\\u0065st\",\n  \"inputSchema\" : { \"type\" : \"object\" , \"maximum\":1.0 } }";
    let tools = Some(vec![("test".to_owned(), Arc::from(padded)), ("two".to_owned(), Arc::from(padded))]);
    let offers: Offers = Arc::new(vec![Offered { server: "a".into(), tools }]);
    let sent = r#"{"name":"test","inputSchema":{"type":"object","maximum":1.0}}"#;
    for (number, list) in
        [format!("[{padded},{padded}]"), format!("[{sent}, {sent}]")].into_iter().enumerate()
    {
        let client = visit(Some(number as u64), &format!("direct-{number}"), "", "");
        let definitions = definitions(&list);
        store
            .record(&[Event::Listed { visit: client, at_ms: NOON, definitions, offers: offers.clone() }])
            .unwrap();
    }
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    let whole = 2 * (sent.len() as i64 * 2 + 3);
    assert_eq!((savings.sessions, savings.without, savings.with, savings.net), (2, whole, whole, 0));
}

#[test]
fn the_same_offers_are_the_same_baseline_however_many_are_given_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let (offers, definitions) = (offers(), definitions("l"));
    let given = |number: u64, program: &str| Event::Listed {
        visit: visit(Some(number), &format!("c{number}"), program, "99.0.0"),
        at_ms: NOON,
        definitions: definitions.clone(),
        offers: offers.clone(),
    };
    store.record(&[given(1, ""), given(2, "")]).unwrap();
    count(&mut store);
    store.record(&[given(3, "")]).unwrap();
    count(&mut store);
    let savings = ask(&path, By::Client).savings;
    let spent = Spent { definitions: 3, ..Spent::default() };
    assert_eq!((savings.sessions, savings.without, savings.spent), (3, 3 * 704, spent));
    // Deleted totals do not come back.
    store.delete_history(true).unwrap();
    store.record(&[given(4, "")]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Client).savings.without, 704);
}

#[test]
fn calls_beyond_the_amounts_that_may_wait_for_a_count_are_recorded_as_not_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "cursor", "Cursor", "2.0");
    let call = || executed(&client, NOON, "big:a", 5);
    store.record(&[call()]).unwrap();
    let of_one_call = store.uncounted_amounts();
    assert!(of_one_call > 0);
    store.keep_amounts(3 * of_one_call);
    store.record(&[call(), call(), call(), call()]).unwrap();
    assert_eq!(store.uncounted_amounts(), 3 * of_one_call);
    count(&mut store);
    assert_eq!(store.uncounted_amounts(), 0);
    // What has a count needs no room.
    store.keep_amounts(0);
    store.record(&[call()]).unwrap();
    let totals = ask(&path, By::Client).totals;
    assert_eq!((totals.calls, totals.uncounted), (6, 2));
}

#[test]
fn the_view_changes_when_tokens_of_recorded_calls_are_counted_and_not_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "cursor", "Cursor", "2.0");
    let read = || activity::page(&path, &ActivityAsk::default(), NOON).unwrap().calls.remove(0).tokens;
    store.record(&[executed(&client, NOON, "big:a", 5)]).unwrap();
    let before = store.view(NOON).unwrap();
    assert_eq!(read(), None);
    assert_eq!(store.view(NOON).unwrap(), before);
    count(&mut store);
    let after = store.view(NOON).unwrap();
    assert!(read().is_some());
    assert_eq!(after.newest, before.newest);
    assert!(after.counted > before.counted, "{before:?} {after:?}");
}

#[test]
fn a_persons_own_calls_neither_cost_nor_save() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let person = Arc::new(Visit { face: true, ..(*visit(None, "satchel", "", "")).clone() });
    store.record(&[executed(&person, NOON, "big:a", 0)]).unwrap();
    count(&mut store);
    let report = ask(&path, By::Client);
    assert_eq!((report.totals.calls, report.savings.sessions, report.savings.without), (1, 0, 0));
}

#[test]
fn a_script_is_one_line_that_opens_into_its_calls_and_what_they_kept_out_is_counted_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "cursor", "Cursor", "2.0");
    let within = |trace: &str, called: Called| {
        Event::Called(Box::new(Called { trace: Some(trace.to_owned()), ..called }))
    };
    let inside = |trace: &str, tool: &str, answer: usize| {
        let answer = "r".repeat(answer);
        within(trace, called(&client, NOON, CallKind::Inside, tool, 10, &answer))
    };
    let script = |trace: &str| {
        within(trace, called(&client, NOON, CallKind::Script, "run_mcp_script", 100, &"a".repeat(20)))
    };
    let plain = called(&client, NOON, CallKind::Call, "big:a", 30, "rr");
    store
        .record(&[
            inside("one", "big:a", 500),
            inside("two", "big:b", 7),
            inside("one", "small:c", 300),
            script("one"),
            script("two"),
            Event::Called(Box::new(plain)),
        ])
        .unwrap();
    count(&mut store);
    // What a person runs in the window reaches no model.
    let person = Arc::new(Visit { face: true, ..(*visit(None, "Satchel window", "", "")).clone() });
    let theirs = called(&person, NOON, CallKind::Script, "run_mcp_script", 100, "a");
    store.record(&[within("three", theirs)]).unwrap();
    count(&mut store);
    let report = ask(&path, By::Tool);
    let all = Scripted { runs: 2, calls: 3, inside: 3 * 10 + 807, spent: 2 * 120, net: 597, losses: 1 };
    assert_eq!(report.scripts, all);
    let totals = &report.totals;
    // What scripts called is counted as a call, but not as text that a model read.
    assert_eq!((totals.calls, totals.searches, totals.result_tokens), (4, 0, 2));
    let page = |ask: &ActivityAsk| {
        let page = activity::page(&path, ask, NOON).unwrap();
        page.calls.into_iter().map(|call| call.kind).collect::<Vec<_>>()
    };
    assert_eq!(page(&ActivityAsk::default()), ["script", "call", "script", "script"]);
    let of_server = ActivityAsk { server: Some("small".into()), ..ActivityAsk::default() };
    assert_eq!(page(&of_server), ["inside"]);
    let detail = |id: i64| activity::call(&path, id).unwrap().unwrap();
    let kept_out = |id: i64| detail(id).line.kept_out;
    assert_eq!((kept_out(4), kept_out(5), kept_out(1)), (Some(820 - 120), Some(17 - 120), None));
    let names = |id: i64| detail(id).inside.into_iter().map(|call| call.tool).collect::<Vec<_>>();
    assert_eq!((names(4), names(5)), (vec!["a".to_owned(), "c".to_owned()], vec!["b".to_owned()]));
    assert_eq!((detail(1).script, detail(2).script, detail(6).script), (Some(4), Some(5), None));
}

#[test]
fn savings_of_sharing_are_weighed_by_time_and_kept_as_long_as_the_sums() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    assert_eq!(ask(&path, By::Server).sharing, Sharing::default());
    let measured = |at_ms, seconds, processes: u64, mb: u64| {
        let used = Use { processes: 2, memory_bytes: 100_000_000 };
        let avoided = Use { processes, memory_bytes: mb * 1_000_000 };
        Event::Measured(Measured { at_ms, lasted: Duration::from_secs(seconds), used, avoided })
    };
    // An hour before the others: a quarter of the time without savings.
    let hour = 3_600_000;
    store.record(&[measured(NOON - 2 * hour, 900, 0, 0), measured(NOON, 1800, 4, 200)]).unwrap();
    store.record(&[measured(NOON, 900, 8, 400)]).unwrap();
    let sharing = ask(&path, By::Server).sharing;
    let expected = Sharing {
        measured_hours: 1.0,
        processes: 4.0,
        memory_bytes: 200_000_000,
        most_processes: 8,
        most_memory_bytes: 400_000_000,
        used_processes: 2.0,
        used_memory_bytes: 100_000_000,
    };
    assert_eq!(sharing, expected);
    let last = ReportAsk { by: By::Server, hours: Some(1), ..ReportAsk::default() };
    assert_eq!(report::report(&path, &last, NOON).unwrap().sharing.measured_hours, 0.75);
    store.delete_history(false).unwrap();
    assert_eq!(ask(&path, By::Server).sharing, expected, "sums stay");
    store.delete_history(true).unwrap();
    assert_eq!(ask(&path, By::Server).sharing, Sharing::default());
}

#[test]
fn deleted_history_is_gone_from_the_disk_and_the_sums_stay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "c", "", "");
    let mut call = called(&client, NOON, CallKind::Call, "big:a", 30, "x");
    call.arguments = Some(r#"{"q":"canary-in-arguments"}"#.into());
    call.end.message = Some("canary-in-message".into());
    store.record(&[Event::Called(Box::new(call))]).unwrap();
    count(&mut store);
    let found = |needle: &str| {
        let files = std::fs::read_dir(dir.path()).unwrap().flatten();
        let mut all = files.map(|file| std::fs::read(file.path()).unwrap());
        all.any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    assert!(found("canary-in-arguments") && found("canary-in-message"));
    let before = ask(&path, By::Server);
    store.delete_history(false).unwrap();
    assert!(!found("canary-in-arguments") && !found("canary-in-message"));
    assert_eq!(ask(&path, By::Server), before, "sums stay");
    assert!(activity::page(&path, &ActivityAsk::default(), NOON).unwrap().calls.is_empty());
    store.delete_history(true).unwrap();
    assert_eq!(ask(&path, By::Server).totals.calls, 0);
    store.record(&[executed(&client, NOON, "big:a", 0)]).unwrap();
    count(&mut store);
    assert_eq!(ask(&path, By::Server).totals.calls, 1, "it goes on afterwards");
}

#[test]
fn the_history_is_kept_within_its_days_and_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "c", "", "");
    let day = 24 * 3600 * 1000;
    let events: Vec<Event> = (0..12_000)
        .map(|at| executed(&client, NOON + if at < 10 { 0 } else { 2 * day }, "big:a", 0))
        .collect();
    store.record(&events).unwrap();
    let kept = |ask: ActivityAsk| activity::page(&path, &ask, NOON).unwrap();
    store.retain(NOON + 2 * day, 1, u64::MAX).unwrap();
    let old = ActivityAsk { to_ms: Some(NOON + day), ..ActivityAsk::default() };
    assert!(kept(old).calls.is_empty() && kept(ActivityAsk::default()).more);
    store.retain(NOON + 2 * day, 1, 900_000).unwrap();
    let oldest = ActivityAsk { before: Some(5_000), ..ActivityAsk::default() };
    assert!(kept(oldest).calls.is_empty(), "the oldest went first");
    assert_eq!(ask(&path, By::Server).totals.calls, 12_000, "sums stay");
}

#[test]
fn a_ledger_that_is_damaged_while_it_is_used_is_set_aside_and_nothing_that_comes_then_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let client = visit(Some(1), "c", "", "");
    let mut store = open(&path);
    let many: Vec<Event> = (0..3_000).map(|_| executed(&client, NOON, "big:a", 0)).collect();
    store.record(&many).unwrap();
    drop(store);
    // Everything after the first page.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let (mut store, at_start) = Store::open(&path, "one token a byte", NOON).unwrap();
    let damaged = match at_start {
        Some(damaged) => damaged,
        None => store.check().unwrap().expect("a check finds it"),
    };
    assert!(damaged.aside.exists());
    store.record(&[executed(&client, NOON, "big:a", 0)]).unwrap();
    assert_eq!(ask(&path, By::Server).totals.calls, 1);
}

#[test]
fn a_day_is_split_by_server_and_counts_only_calls_that_reached_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "c", "", "");
    let (hour, day) = (3_600_000, 24 * 3_600_000);
    let made = |ago: u64, tool: &str| executed(&client, NOON - ago, tool, 0);
    let searched = called(&client, NOON, CallKind::Find, "words", 10, "x");
    let events = [
        made(0, "big:a"),
        made(0, "big:b"),
        made(9 * hour, "big:a"),
        made(2 * hour, "small:c"),
        made(day, "big:a"),
    ];
    store.record(&events).unwrap();
    store.record(&[Event::Called(Box::new(searched))]).unwrap();
    let told = activity::last_day(&path, NOON).unwrap().calls;
    // Noon starts a part of 90 minutes: 2 hours ago is two parts back, 9 hours six, and a day sixteen, which is
    // outside.
    let mut big = vec![0; DAY_PARTS];
    (big[9], big[15]) = (1, 2);
    let mut small = vec![0; DAY_PARTS];
    small[13] = 1;
    assert_eq!(told, [("big".to_owned(), big), ("small".to_owned(), small)].into());
    assert!(activity::last_day(&path, NOON + 2 * day).unwrap().calls.is_empty());
}

#[test]
fn a_page_has_filters_and_a_call_its_route() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    three_sessions(&mut store);
    count(&mut store);
    let page = |ask: ActivityAsk| activity::page(&path, &ask, NOON).unwrap();
    let all = page(ActivityAsk::default());
    assert_eq!((all.calls.len(), all.problems, all.more, all.sessions.len()), (6, 1, false, 3));
    assert_eq!(all.minutes.last().unwrap().calls, 4);
    let problems = page(ActivityAsk { problems: true, ..ActivityAsk::default() });
    assert_eq!(problems.calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["nonsense"]);
    let of_claude = page(ActivityAsk { client: Some("claude".into()), limit: 1, ..ActivityAsk::default() });
    assert!(of_claude.more && of_claude.calls.len() == 1);
    let next = ActivityAsk {
        before: Some(of_claude.calls[0].id),
        client: Some("claude".into()),
        ..ActivityAsk::default()
    };
    assert_eq!(page(next).calls.len(), 1);
    let first =
        page(ActivityAsk { client: Some("cursor".into()), tool: Some("a".into()), ..ActivityAsk::default() });
    let detail = activity::call(&path, first.calls[0].id).unwrap().unwrap();
    assert_eq!(detail.route.iter().map(|step| step.kind.as_str()).collect::<Vec<_>>(), ["find"]);
    assert_eq!((detail.request_tokens, detail.result_tokens), (Some(35), Some(50)));
    assert_eq!(detail.session.unwrap().without, 704);
    assert!(activity::call(&path, 99).unwrap().is_none());
}

#[test]
fn calls_and_savings_are_told_by_the_profile_they_were_asked_for_through() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let through = |profile: &str| {
        Arc::new(Visit { profile: profile.into(), ..Visit::clone(&visit(Some(1), "cursor", "c", "1")) })
    };
    let (at_work, elsewhere) = (through("work"), through(""));
    let events = vec![
        listed(&at_work, NOON, 100),
        executed(&at_work, NOON + 1, "big:a", 15),
        // The profile changes within the session, which keeps its first one.
        executed(&elsewhere, NOON + 2, "big:b", 15),
    ];
    store.record(&events).unwrap();
    count(&mut store);
    let report = |profile: Option<&str>| {
        let profile = profile.map(ToOwned::to_owned);
        let ask = ReportAsk { by: By::Client, profile, ..ReportAsk::default() };
        let report = report::report(&path, &ask, NOON + 4).unwrap();
        (report.totals.calls, report.savings.sessions, report.savings.without)
    };
    assert_eq!(report(None), (2, 1, 704));
    assert_eq!(report(Some("work")), (1, 1, 704));
    assert_eq!(report(Some("home")), (0, 0, 0));
    let page = |profile: &str| {
        let ask = ActivityAsk { profile: Some(profile.into()), ..ActivityAsk::default() };
        let calls = activity::page(&path, &ask, NOON + 4).unwrap().calls;
        calls.into_iter().map(|call| call.tool).collect::<Vec<_>>()
    };
    assert_eq!((page("work"), page("home")), (vec!["a".to_owned()], vec![]));
}

#[test]
fn why_a_calls_server_failed_is_kept_in_parts_without_secrets_and_an_unknown_cause_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let client = visit(Some(1), "cursor", "Cursor", "2.0");
    let failed = |wrote: &str| {
        let exited = |wrote: &str| FailureCause::Exited {
            end: ProcessEnd::Code(3),
            wrote: Some(wrote.to_owned()),
            served: false,
        };
        let end = End {
            outcome: "not_sent",
            code: Some("exited_early".into()),
            message: Some("it ended".into()),
            cause: Some(Box::new(exited(wrote))),
        };
        let redact = Redact(Arc::new(|text: &str| text.replace("s3cret", "***")));
        let one = called(&client, NOON, CallKind::Call, "big:a", 5, "");
        (Event::Called(Box::new(Called { end, redact: Some(redact), ..one })), exited("no key ***"))
    };
    let (event, expected) = failed("no key s3cret");
    store.record(&[event]).unwrap();
    let read = || activity::page(&path, &ActivityAsk::default(), NOON).unwrap().calls.remove(0);
    assert_eq!(read().cause, Some(expected.clone()));
    let detail = activity::call(&path, read().id).unwrap().unwrap();
    assert_eq!((detail.line.cause, detail.upstream_ms, detail.request_bytes), (Some(expected), 6.0, 5));
    for unknown in [r#"{"kind":"of_later"}"#, "no JSON"] {
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute("UPDATE calls SET cause = ?1", [unknown]).unwrap();
        let line = read();
        assert_eq!((line.cause, line.message.as_deref()), (None, Some("it ended")));
    }
}

#[test]
fn a_servers_day_counts_its_calls_who_made_them_and_how_long_they_took() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let mut store = open(&path);
    let visit = |client: &str| visit(None, client, "", "");
    let call = |client: &str, at_ms: u64, tool: &str, ms: u64| {
        let one = called(&visit(client), at_ms, CallKind::Call, tool, 20, "answer");
        let time = Split { upstream: Duration::from_millis(ms), ..Split::default() };
        Event::Called(Box::new(Called { time, ..one }))
    };
    let ended = |outcome: &'static str, event: Event| match event {
        Event::Called(one) => {
            let end = End { outcome, code: None, message: None, cause: None };
            Event::Called(Box::new(Called { end, ..*one }))
        }
        other => other,
    };
    let hour = 3_600_000;
    let mut events: Vec<Event> = (1..=19).map(|ms| call("zed", NOON - hour, "big:a", ms)).collect();
    events.push(ended("tool_error", call("cursor", NOON - 2 * hour, "big:b", 1_000)));
    // Refused, after a long wait or at once: neither is a duration.
    events.extend([0, 60_000].map(|ms| ended("not_sent", call("zed", NOON - hour, "big:a", ms))));
    // Another server's, and one of the previous day.
    events.push(call("zed", NOON - hour, "small:c", 5));
    events.push(call("zed", NOON - 25 * hour, "big:a", 5));
    store.record(&events).unwrap();
    let day = activity::server_day(&path, "big", NOON).unwrap();
    assert_eq!((day.calls, day.failures, day.timed), (22, 3, 20));
    assert_eq!((day.median_ms, day.p95_ms), (Some(10.0), Some(19.0)));
    let clients: Vec<_> = day.clients.iter().map(|one| (one.client.as_str(), one.calls)).collect();
    assert_eq!(clients, [("zed", 21), ("cursor", 1)]);
    let none = activity::server_day(&path, "none", NOON).unwrap();
    assert_eq!(none, ServerDay::default());
}
