//! Every way in which a server of the fixtures misbehaves, with what the hub must make of it. The table is the
//! fixtures' catalogue (its "hub must" column) as expectations; a mode without a row fails the test, and so does a row
//! without a mode.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use satchel_tests::{Answer, Client, eventually};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    arena::{Arena, Chaos, Ledger, known, run_fixture},
    control::Control,
    journal::Outcome,
    measured, soaking,
};

/// The required outcome of a call of `echo`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    /// Its text comes back.
    Answers,
    /// A good result that contains these words.
    Says(&'static str),
    /// An explicit failure.
    Fails,
    /// An explicit failure that leaves open whether it ran.
    FailsUnknown,
    /// Its text or an explicit failure; the server exits at a random moment.
    Ends,
    /// Refused, because the server cannot be used; its state has one of these codes.
    Unusable(&'static [&'static str]),
}
use Call::{Answers, Ends, Fails, FailsUnknown, Says, Unusable};

/// What must be known of its tools afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tools {
    /// No requirement.
    Any,
    /// Exactly this many, and none left out.
    All(usize),
    /// At least this many, and some left out with a reason.
    Kept(usize),
    /// None: the list could not be read.
    None,
}
use Tools::{All, Any, Kept};

/// Tools of a well-behaved server of the fixtures.
const GOOD: usize = 10;

struct Row {
    mode: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    call: Call,
    tools: Tools,
}

const fn row(mode: &'static str, call: Call, tools: Tools) -> Row {
    Row { mode, parameters: &[], call, tools }
}

const fn with(
    mode: &'static str,
    parameters: &'static [(&'static str, &'static str)],
    call: Call,
    tools: Tools,
) -> Row {
    Row { mode, parameters, call, tools }
}

/// The slowest come first.
const TABLE: &[Row] = &[
    // Modes that run into a limit.
    row("hang_tools_list", Fails, Tools::None),
    row("hang_initialize", Unusable(&["handshake_timeout"]), Tools::None),
    row("hang_call", FailsUnknown, All(GOOD)),
    row("only_wrong_id", FailsUnknown, All(GOOD)),
    row("stdin_never_read", FailsUnknown, All(GOOD)),
    with("endless_line", &[("bytes", "40000000")], FailsUnknown, All(GOOD)),
    row("wedge", Answers, All(GOOD)),
    row("slow_drip", Answers, All(GOOD)),
    row("slow_start", Answers, All(GOOD)),
    // Framing.
    row("banner_stdout", Answers, All(GOOD)),
    row("junk_between", Answers, All(GOOD)),
    row("crlf", Answers, All(GOOD)),
    row("bom", Answers, All(GOOD)),
    row("invalid_utf8", Says("needle"), All(GOOD)),
    row("huge_line", FailsUnknown, All(GOOD)),
    // The catalogue allows a clear refusal; the hub joins split messages.
    row("pretty_json", Answers, All(GOOD)),
    row("blank_lines", Answers, All(GOOD)),
    row("two_per_write", Answers, All(GOOD)),
    row("no_final_newline", Ends, All(GOOD)),
    // Lifecycle.
    row("silent_discover", Answers, All(GOOD)),
    row("exit_on_start", Unusable(&["dependency_broken"]), Tools::None),
    row("exit_after_init", Fails, Tools::None),
    row("exit_mid_call", FailsUnknown, All(GOOD)),
    row("exit_before_exec", FailsUnknown, All(GOOD)),
    row("crash_loop", Ends, Any),
    row("random_death", Ends, Any),
    row("ignore_sigterm", Answers, All(GOOD)),
    row("ignore_eof", Answers, All(GOOD)),
    row("slow_shutdown", Answers, All(GOOD)),
    row("grandchild", Answers, All(GOOD)),
    row("npx_chain", Answers, All(GOOD)),
    row("stderr_flood", Answers, All(GOOD)),
    // Ids.
    row("duplicate_response", Answers, All(GOOD)),
    row("wrong_id", Answers, All(GOOD)),
    row("id_type", Answers, All(GOOD)),
    row("response_before_request", Answers, All(GOOD)),
    row("null_id_error", Answers, All(GOOD)),
    row("both_result_error", Fails, All(GOOD)),
    row("neither", Fails, All(GOOD)),
    // Concurrent calls are covered by another test.
    with("out_of_order", &[("n", "1")], Answers, All(GOOD)),
    row("unknown_notification", Answers, All(GOOD)),
    row("unknown_request", Answers, All(GOOD)),
    // Lists: a bad tool never hides a good one.
    row("pagination_ok", Answers, All(GOOD)),
    row("pagination_loop", Answers, Kept(GOOD)),
    row("pagination_infinite", Fails, Kept(10_000)),
    row("many_tools", Answers, All(GOOD + 5_000)),
    row("huge_schema", Answers, Kept(GOOD)),
    row("deep_schema", Answers, Kept(GOOD)),
    row("duplicate_tool_names", Answers, Kept(GOOD)),
    row("bad_tool_names", Answers, Kept(GOOD)),
    row("non_object_schema", Answers, Kept(GOOD)),
    row("missing_fields", Answers, Kept(GOOD)),
    row("list_is_object", Fails, Tools::None),
    // Changing and poisoned definitions: approvals are tested elsewhere; here nothing may break.
    row("rug_pull", Answers, All(GOOD)),
    row("rug_pull_schema", Answers, All(GOOD)),
    row("rug_pull_annotations", Answers, All(GOOD)),
    row("rug_pull_new_tool", Answers, All(GOOD)),
    row("reorder_only", Answers, All(GOOD)),
    with("list_changed_storm", &[("secs", "5")], Answers, All(GOOD)),
    row("list_flap", Answers, Any),
    row("poison", Answers, All(GOOD + 14)),
    row("poison_fields", Answers, All(GOOD + 7)),
    row("poison_instructions", Answers, All(GOOD)),
    row("poison_output", Says("ok"), All(GOOD)),
    row("shadow_names", Answers, All(GOOD + 14)),
    // Questions to this test's client, which supports none: each is declined and the call continues.
    with("elicit_mid_call", &[("wait", "20")], Says("nobody answered"), All(GOOD)),
    with("elicit_secret", &[("wait", "20")], Says("not answered"), All(GOOD)),
    with("elicit_url", &[("wait", "2")], Says("nobody answered"), All(GOOD)),
    with("sampling_mid_call", &[("wait", "2")], Says("sampling/createMessage: error -32601"), All(GOOD)),
    with("roots_mid_call", &[("wait", "2")], Says("roots/list: error -32601"), All(GOOD)),
    row("request_flood", Answers, All(GOOD)),
    row("mrtr_elicit", Answers, All(GOOD)),
    row("mrtr_loop", Answers, All(GOOD)),
    // Notifications.
    row("progress", Answers, All(GOOD)),
    row("progress_flood", Answers, All(GOOD)),
    row("progress_unknown_token", Answers, All(GOOD)),
    row("log_flood", Answers, All(GOOD)),
    // Revisions.
    row("version_old", Answers, All(GOOD)),
    row("version_future", Unusable(&["protocol_version"]), Tools::None),
    row("version_garbage", Unusable(&["handshake_refused", "protocol_version"]), Tools::None),
    row("version_only_future", Answers, All(GOOD)),
    row("capabilities_lying", Answers, All(GOOD)),
    row("result_type_unknown", Answers, All(GOOD)),
    row("jitter", Answers, All(GOOD)),
];

/// Modes that run into a limit, or flood for a while: for a soak.
const PATIENT: [&str; 10] = [
    "hang_tools_list",
    "hang_initialize",
    "hang_call",
    "stdin_never_read",
    "endless_line",
    "list_flap",
    "many_tools",
    "pagination_infinite",
    "list_changed_storm",
    "huge_line",
];
/// Modes whose numbers are smaller for every commit.
const FLOODS: [&str; 4] = ["progress_flood", "log_flood", "request_flood", "stderr_flood"];

/// The required outcome of a mode in an era. The hub uses the older family with a process that supports both.
fn expected(row: &Row, era: &str) -> (Call, Tools) {
    if era != "modern" {
        return (row.call, row.tools);
    }
    match row.mode {
        // A stateless server may not ask during a call, and nobody answers one that does.
        "elicit_mid_call" | "elicit_secret" | "elicit_url" | "sampling_mid_call" | "roots_mid_call" => {
            (Says("no answer"), row.tools)
        }
        // It asks in its response; this test's client supports no questions, and no person is present.
        "mrtr_elicit" => (Says("not answered"), row.tools),
        "mrtr_loop" => (Fails, row.tools),
        "result_type_unknown" => (Fails, Any),
        "version_only_future" => (Unusable(&["protocol_version"]), Tools::None),
        _ => (row.call, row.tools),
    }
}

/// The parameters of a mode in an era: a call that gets no answer anyway waits for less time.
fn parameters(row: &Row, era: &str) -> &'static [(&'static str, &'static str)] {
    match row.parameters {
        [("wait", _)] if era == "modern" => &[("wait", "2")],
        parameters => parameters,
    }
}

/// The observations of one mode.
#[derive(Debug)]
struct Seen {
    answer: Answer,
    /// The server in `status` afterwards.
    view: Value,
}

/// What is wrong with the observations; `None` if nothing is.
fn fault(call: Call, tools: Tools, seen: &Seen) -> Option<String> {
    let outcome = Outcome::of(&seen.answer);
    let text = seen
        .answer
        .outcome
        .as_ref()
        .map_or_else(|error| error.message.clone(), |result| result.get().to_owned());
    let answered = outcome == Outcome::Result && text.contains("needle");
    let failed = outcome != Outcome::Result;
    let ended_well = match call {
        Answers => answered,
        Says(words) => outcome == Outcome::Result && text.contains(words),
        Fails => failed,
        FailsUnknown => outcome == Outcome::Unknown,
        Ends => answered || failed,
        Unusable(codes) => {
            let code = Outcome::code(&seen.answer);
            outcome == Outcome::Refused && code.is_some_and(|code| codes.contains(&code.as_str()))
        }
    };
    if !ended_well {
        let (state, code) = (&seen.view["state"], Outcome::code(&seen.answer));
        return Some(format!(
            "the call must be {call:?}, but was {outcome:?} {code:?}: {text:.200}; then {state}"
        ));
    }
    let (known, skipped) = (seen.view["tools"].as_u64(), seen.view["skipped"].as_array().map_or(0, Vec::len));
    let listed_well = match tools {
        Any => true,
        All(count) => known == Some(count as u64) && skipped == 0,
        Kept(count) => known.is_some_and(|known| known >= count as u64) && skipped > 0,
        Tools::None => known.is_none(),
    };
    (!listed_well).then(|| format!("its tools must be {tools:?}, but are {known:?}, {skipped} left out"))
}

async fn every_mode(era: &'static str) {
    let catalogue = modes_of_the_fixtures().await;
    let rows: BTreeSet<String> = TABLE.iter().map(|row| row.mode.to_owned()).collect();
    assert_eq!(rows, catalogue, "every mode has a row, and every row a mode");
    // Every commit runs each mode in one of the two families, and slow modes in none. A process that supports both is
    // used like one of the older family, so a few of those will do.
    let quick = TABLE.iter().filter(|row| !PATIENT.contains(&row.mode)).enumerate();
    let chosen = quick.filter(|(at, _)| match era {
        "legacy" => at % 2 == 0,
        "modern" => at % 2 == 1,
        _ => at % 12 == 0,
    });
    let chosen = chosen.map(|(_, row)| row);
    let rows_of_today: Vec<&'static Row> = if soaking() { TABLE.iter().collect() } else { chosen.collect() };
    assert!(rows_of_today.len() > 5);
    let mut arena = Arena::new().await;
    let mut ledgers = BTreeMap::new();
    for row in &rows_of_today {
        let ledger = arena.ledger(row.mode);
        let mut chaos = Chaos::running("chaos_server.py").arg("--mode", row.mode).era(era).writing(&ledger);
        for (name, value) in parameters(row, era) {
            chaos = chaos.with(name, value);
        }
        // A soak uses the fixtures' own numbers.
        if !soaking() && FLOODS.contains(&row.mode) {
            chaos = chaos.with("n", 2_000).with("lines", 20_000);
        }
        // A longer limit for what is answered, however busy the machine is. One mode is silent in the end, by design.
        if matches!(expected(row, era).0, Answers | Says(_)) && row.mode != "wedge" {
            chaos = chaos.field("requestTimeout", json!(60));
        }
        // Servers start one after another, so that they do not all start at once, and none falls asleep in between.
        arena.add(row.mode, chaos.field("startup", json!("manual")).field("idleTimeout", json!("1h")));
        ledgers.insert(row.mode, ledger);
    }
    arena.add("good", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["good".to_owned()]).await;
    let client = hub.client("matrix").await;
    let control = Control::of(&arena.home);
    let turns = Arc::new(Semaphore::new(8));
    let mut watched = JoinSet::new();
    for row in &rows_of_today {
        let row: &'static Row = row;
        let (client, control, turns) = (client.clone(), control.clone(), turns.clone());
        let ledger = ledgers[row.mode].clone();
        watched.spawn(async move {
            let _turn = turns.acquire().await.expect("it is never closed");
            let seen = watch(row.mode, &client, &control, era).await;
            let (call, tools) = expected(row, era);
            let fault = match fault(call, tools, &seen) {
                Some(fault) => Some(fault),
                None => beyond_the_answer(row.mode, era, &ledger, &client, &seen.view).await,
            };
            let neighbour = client.execute("good:echo", json!({ "text": "fine" })).await;
            assert_eq!(neighbour.text(), "fine", "beside {}", row.mode);
            fault.map(|fault| format!("{} ({era}): {fault}", row.mode))
        });
    }
    let seen = watched.join_all().await;
    let faults: Vec<String> = seen.iter().flatten().cloned().collect();
    measured!("mode matrix, {era}: {} modes, {} faults", seen.len(), faults.len());
    assert_eq!(seen.len(), rows_of_today.len());
    assert_eq!(hub.terminate().await, Some(0));
    arena.gone("the hub ended", Arena::everything).await;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Starts a server, calls it once, and observes it.
async fn watch(mode: &str, client: &Client, control: &Control, era: &str) -> Seen {
    control.request(json!({ "do": "restart", "server": mode })).await.expect("the hub runs");
    let call = async || client.execute(&format!("{mode}:echo"), json!({ "text": "needle" })).await;
    let answer = call().await;
    let row = TABLE.iter().find(|row| row.mode == mode).expect("it has a row");
    let (outcome, tools) = expected(row, era);
    let view = async || {
        let status = control.request(json!({ "do": "status" })).await.expect("the hub runs");
        let servers = status["servers"].as_array().expect("a snapshot has servers");
        servers.iter().find(|server| server["name"] == mode).expect("it is configured").clone()
    };
    // The status follows within a moment.
    let mut last = Seen { answer, view: view().await };
    let is_told = |seen: &Seen| mode != "exit_on_start" || seen.view["message"].is_string();
    for _ in 0..600 {
        if fault(outcome, tools, &last).is_none() && is_told(&last) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        // A busy machine takes longer to start it than a call waits; it then asks to be called again.
        if is_still_starting(&last.answer) {
            last.answer = call().await;
        }
        last.view = view().await;
    }
    last
}

fn is_still_starting(answer: &Answer) -> bool {
    answer.outcome.as_ref().is_ok_and(|result| result.get().contains("It is still starting; call it again"))
}

/// What the catalogue requires beyond the response of one call.
async fn beyond_the_answer(
    mode: &str,
    era: &str,
    ledger: &Ledger,
    client: &Client,
    view: &Value,
) -> Option<String> {
    let count = |event: &str| ledger.events(event).len();
    if count("bad_input") > 0 {
        return Some("the hub wrote something that is no message".to_owned());
    }
    if era == "modern" {
        return None;
    }
    match mode {
        "hang_call" | "exit_mid_call" if count("exec") != 1 => {
            Some(format!("it ran {} times", count("exec")))
        }
        "exit_before_exec" if count("exec") != 0 => Some(format!("it ran {} times", count("exec"))),
        "hang_call" => {
            let told = ledger.events("notification");
            let told = told.iter().any(|line| line["method"] == "notifications/cancelled");
            (!told).then(|| "the server was not told that nobody waits any more".to_owned())
        }
        "wedge" => {
            // Three calls are answered; after that it is silent, and the hub says so.
            let mut outcomes = Vec::new();
            for _ in 0..3 {
                let answer = client.execute("wedge:echo", json!({ "text": "needle" })).await;
                outcomes.push(Outcome::of(&answer));
            }
            (outcomes.last() != Some(&Outcome::Unknown)).then(|| format!("{outcomes:?}"))
        }
        "exit_on_start" => {
            let message = view["message"].as_str().unwrap_or_default();
            let named = message.contains("exit code 1") && message.contains("Cannot find module");
            (!named).then(|| format!("it does not say why: {message}"))
        }
        "unknown_request" => {
            let answered = ledger.events("client_response");
            let refused = !answered.is_empty() && answered.iter().all(|line| line["error"] == -32601);
            (!refused).then(|| format!("its questions were not refused: {answered:?}"))
        }
        "junk_between" | "null_id_error" if count("client_response") > 0 => {
            Some("the hub answered junk".to_owned())
        }
        "list_changed_storm" => {
            let lists = count("list");
            (lists > 40).then(|| format!("2,500 notices in 5 s made it read the lists {lists} times"))
        }
        "list_flap" => {
            let before = count("list");
            tokio::time::sleep(Duration::from_secs(10)).await;
            let more = count("list") - before;
            (more > 20).then(|| format!("its lists were read {more} times in 10 s, and so on for ever"))
        }
        "bad_tool_names" | "missing_fields" | "non_object_schema" => {
            let good = client.execute(&format!("{mode}:add"), json!({ "a": 1, "b": 2 })).await;
            (Outcome::of(&good) != Outcome::Result).then(|| "a bad tool hides a good one".to_owned())
        }
        "bom" | "crlf" | "slow_drip" | "progress_flood" => {
            let again = client.execute(&format!("{mode}:echo"), json!({ "text": "again" })).await;
            (Outcome::of(&again) != Outcome::Result).then(|| "a second call fails".to_owned())
        }
        _ => None,
    }
}

async fn modes_of_the_fixtures() -> BTreeSet<String> {
    let (code, said) = run_fixture("chaos_server.py", &["--list-modes", "--json"]).await;
    assert_eq!(code, 0, "{said}");
    let modes: Vec<Value> = serde_json::from_str(&said).expect("the catalogue is JSON");
    modes.iter().map(|mode| mode["name"].as_str().expect("a mode has a name").to_owned()).collect()
}

/// R10, mode matrix: each line of the catalogue has its outcome; a bad tool never hides a good one.
#[tokio::test]
async fn every_mode_of_the_older_revisions_has_its_expected_outcome() {
    every_mode("legacy").await;
}

/// R10, mode matrix.
#[tokio::test]
async fn every_mode_of_servers_of_both_eras_has_its_expected_outcome() {
    every_mode("dual").await;
}

/// R10, mode matrix.
#[tokio::test]
async fn every_mode_of_the_stateless_revisions_has_its_expected_outcome() {
    every_mode("modern").await;
}

#[tokio::test]
async fn many_calls_at_once_each_get_their_own_answer_from_a_server_that_reorders_them() {
    let mut arena = Arena::new().await;
    arena.add("o", Chaos::mode("out_of_order").with("n", 8).field("requestTimeout", json!(60)));
    let hub = arena.open().await;
    known(&arena.home, &["o".to_owned()]).await;
    let client = hub.client("one").await;
    let mut calls = JoinSet::new();
    for at in 0..8 {
        let client = client.clone();
        calls.spawn(
            async move { (at, client.execute("o:echo", json!({ "text": at.to_string() })).await.text()) },
        );
    }
    for (at, text) in calls.join_all().await {
        assert_eq!(text, at.to_string());
    }
}

/// Planted: a server that answers something other than it was asked does not pass as one that answers.
#[tokio::test]
async fn planted_lies_are_caught_by_the_table() {
    let mut arena = Arena::new().await;
    arena.add("liar", Chaos::mode("poison_output")).add("mute", Chaos::mode("hang_call"));
    arena.add("dead", Chaos::mode("exit_on_start")).add("honest", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["liar".to_owned(), "mute".to_owned(), "honest".to_owned()]).await;
    let client = hub.client("one").await;
    let seen = async |name: &str| {
        let answer = client.execute(&format!("{name}:echo"), json!({ "text": "needle" })).await;
        let mut seen = Seen { answer, view: Value::Null };
        eventually("the state is shown", async || {
            seen.view = hub.server(name).await;
            (seen.view["state"] != "starting").then_some(())
        })
        .await;
        seen
    };
    let honest = seen("honest").await;
    assert_eq!(fault(Answers, All(GOOD), &honest), None);
    for (call, tools) in [
        (Fails, All(GOOD)),
        (Unusable(&["exited_early"]), Any),
        (Answers, All(9)),
        (Answers, Kept(10)),
        (Answers, Tools::None),
    ] {
        assert!(fault(call, tools, &honest).is_some(), "{call:?} {tools:?}");
    }
    assert!(fault(Answers, Any, &seen("liar").await).is_some());
    let mute = seen("mute").await;
    assert!(fault(Answers, Any, &mute).is_some() && fault(FailsUnknown, Any, &mute).is_none());
    let dead = seen("dead").await;
    assert!(fault(Unusable(&["handshake_timeout"]), Any, &dead).is_some());
    assert!(fault(FailsUnknown, Any, &dead).is_some() && fault(Ends, Any, &dead).is_none());
}
