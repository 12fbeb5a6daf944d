//! Keeps `ui/src/lib/hub/bindings.ts` true: writes one value of every shape the window is sent into
//! `ui/src/lib/hub/samples.ts`, where TypeScript compares each with its declared type, field by field.
//! A new variant does not compile here until it has a sample; a changed field does not compile there.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use satchel_core::model::{
    Code, Notice, Paused, Place, ServerState, ServerView, Snapshot, Startup,
    approvals::{
        ApprovalItem, ApprovalList, Finding, Kind, Mark, NotStarted, Odd, Part, Seen, ServerApprovals,
        SettingsChange, Unseen, Why,
    },
    asks::{
        Ask, AskAnswer, AskArgument, FieldInput, FieldOption, FormField, QuestionAnswer, ServerQuestion,
        TextFormat, Wanted,
    },
    control::{Change, Complexity, Refusal, Target, ToolLine, ToolList, Wish},
    ledger::{
        ActivityAsk, ActivityPage, By, CallDetail, CallLine, LastDay, LedgerView, Minute, Report, ReportAsk,
        ReportLine, Savings, SessionLine, Sharing, Spent, Took, Totals,
    },
    nature::{Effect, Nature, Permit, Safety},
    package::{PackageView, Pinned},
    server::{Era, Sandbox},
    snapshot::{Avoided, ClientView, During, LastFailure, Phase, Usage},
};
use serde::Serialize;

use crate::{
    commands::About,
    state::{HubState, Refused},
};

const REWRITE: &str = "SATCHEL_WRITE_SAMPLES";

#[test]
fn the_windows_types_are_the_ones_we_send() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/src/lib/hub/samples.ts");
    let samples = samples();
    if std::env::var_os(REWRITE).is_some() {
        std::fs::write(&path, &samples).expect("the source can be written to");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, samples,
        "what the window is sent has changed: run the test with {REWRITE}=1, then `npm run check` in ui/"
    );
}

fn samples() -> String {
    let mut file = String::from(
        "// Written by `cargo test -p satchel-app samples` from the Rust types. Not for editing.\n\
         import type * as hub from \"./bindings\";\n",
    );
    put(&mut file, "hubStates", "hub.HubState[]", &hub_states());
    put(&mut file, "codes", "hub.Code[]", &Code::ALL.to_vec());
    put(&mut file, "wishes", "hub.Wish[]", &wishes());
    put(&mut file, "tools", "hub.ToolList", &tools());
    put(&mut file, "packages", "hub.PackageView[]", &packages());
    put(&mut file, "pinned", "hub.Pinned", &Pinned { package: "server".into(), version: "1.2.3".into() });
    put(&mut file, "report", "hub.Report", &report());
    put(&mut file, "activity", "hub.ActivityPage", &activity());
    put(&mut file, "lastDay", "hub.LastDay", &last_day());
    put(&mut file, "calls", "hub.CallDetail[]", &vec![call(true), call(false)]);
    put(&mut file, "listing", "hub.Listing", &satchel_core::registry::find("filesystem"));
    put(&mut file, "approvals", "hub.ApprovalList", &approvals());
    put(&mut file, "about", "hub.About", &about());
    file
}

fn put(file: &mut String, name: &str, kind: &str, value: &impl Serialize) {
    let json = serde_json::to_string_pretty(value).expect("a sample can be written");
    write!(file, "\nexport const {name}: {kind} = {json};\n").expect("a string takes everything");
}

fn hub_states() -> Vec<HubState> {
    let servers = states().into_iter().map(server).collect();
    let snapshot = Snapshot {
        version: 7,
        endpoint: Some("http://127.0.0.1:7411/mcp".into()),
        notices: vec![Notice::new(Code::PortTaken, "the usual port is taken")],
        servers,
        clients: vec![ClientView {
            id: "cursor".into(),
            requests: 3,
            last_call: Some("github:search_issues".into()),
            last_seen_ms: 1,
        }],
        avoided: Avoided { clients: 2, processes: 3, memory_bytes: 4, formula: "how".into() },
        ledger: LedgerView {
            newest: 1,
            calls_hour: 2,
            failures_hour: 3,
            net_today: -4,
            records: true,
            learns: true,
        },
        paused: Some(Paused { until_ms: Some(5) }),
        asks: asks(),
    };
    let refused =
        Refused { server: "github".into(), refusal: Refusal::new("config_invalid", "why", "what to do") };
    let all = vec![
        HubState::Opening,
        HubState::Open { snapshot: snapshot.into(), refused: Some(refused) },
        HubState::Open { snapshot: Snapshot::default().into(), refused: None },
        HubState::Held { pid: Some(1), url: Some("http://127.0.0.1:7411/mcp".into()) },
        HubState::Held { pid: None, url: None },
        HubState::Stopped { message: "why".into() },
    ];
    for state in &all {
        match state {
            HubState::Opening | HubState::Open { .. } | HubState::Held { .. } | HubState::Stopped { .. } => {}
        }
    }
    all
}

fn states() -> Vec<ServerState> {
    let (code, message) = (Code::SpawnNotFound, "why".to_owned());
    let all = vec![
        ServerState::Off,
        ServerState::Asleep,
        ServerState::Starting { since_ms: 1, phase: Phase::Downloading },
        ServerState::Ready { in_flight: 1, sleeps_at_ms: Some(2) },
        ServerState::Stopping,
        ServerState::BackingOff { code, message: message.clone(), retry_at_ms: 3, failures: 1 },
        ServerState::Broken { code, message: message.clone(), retry_at_ms: 3, failures: 3 },
        ServerState::NeedsCredential {
            names: vec!["TOKEN".into()],
            variables: vec!["HOST".into()],
            message: message.clone(),
        },
        ServerState::Invalid { message },
    ];
    for state in &all {
        match state {
            ServerState::Off
            | ServerState::Asleep
            | ServerState::Starting { .. }
            | ServerState::Ready { .. }
            | ServerState::Stopping
            | ServerState::BackingOff { .. }
            | ServerState::Broken { .. }
            | ServerState::NeedsCredential { .. }
            | ServerState::Invalid { .. } => {}
        }
    }
    all
}

/// Every optional value is there in half of the samples and missing in the others.
fn server(state: ServerState) -> ServerView {
    let known = state.needs_you();
    let startup =
        [Startup::Lazy, Startup::KeepAlive, Startup::Eager, Startup::Manual][state.name().len() % 4];
    ServerView {
        name: state.name().into(),
        title: known.then(|| "title".into()),
        place: if known { Place::Hosted } else { Place::Computer },
        enabled: state != ServerState::Off,
        startup,
        state,
        pid: known.then_some(1),
        tools: known.then_some(2),
        tokens: known.then_some(3),
        resources: known.then_some(4),
        skipped: vec!["why".into()],
        held: usize::from(known),
        not_started: known.then_some(NotStarted::NewEntry),
        unseen: known.then_some(Unseen::New),
        runs: "program".into(),
        idle_timeout_seconds: 180,
        sandbox: None,
        starts: 5,
        fresh: !known,
        last_failure: known.then(|| LastFailure {
            code: Code::ExitedEarly,
            message: "why".into(),
            at_ms: 4,
            during: During::Start,
        }),
        calls: 6,
        wake_ms: known.then_some(7),
        usage: Usage {
            processes: known.then_some(2),
            memory_bytes: known.then_some(8),
            cpu_percent: known.then_some(0.5),
            restarts: 9,
            noise: 10,
        },
    }
}

/// Those the window makes.
fn wishes() -> Vec<Wish> {
    let pairs = || BTreeMap::from([("NAME".to_owned(), "value".to_owned())]);
    let command = Target::Command { command: "npx".into(), args: vec!["-y".into()], env: pairs(), cwd: None };
    let url = Target::Url { url: "https://mcp.example.com".into(), headers: pairs() };
    let name = || "github".to_owned();
    vec![
        Wish::Tools { query: String::new(), server: Some(name()), limit: 10 },
        Wish::Change(Change::Add { name: name(), target: command, startup: None, era: None, replace: false }),
        Wish::Change(Change::Add {
            name: name(),
            target: url,
            startup: Some(Startup::Lazy),
            era: Some(Era::Auto),
            replace: true,
        }),
        Wish::Change(Change::Remove { name: name() }),
        Wish::Change(Change::SetEnabled { name: name(), enabled: true }),
        Wish::Entry { server: name() },
        Wish::OwnSecrets { server: name() },
        Wish::Package { server: name() },
        Wish::Pin { server: name(), version: Some("1.2.3".into()) },
        Wish::Pin { server: name(), version: None },
        Wish::PutBack { server: name() },
        Wish::DismissFailure { server: name() },
        Wish::Change(Change::Edit { name: name(), entry: serde_json::json!({ "command": "npx" }) }),
        Wish::Change(Change::Duplicate { name: name(), to: "github-2".into() }),
        Wish::Restart { server: name() },
        Wish::Rest { server: name() },
        Wish::Pause { until_ms: Some(1) },
        Wish::Resume,
        Wish::Listing { query: "browser".into() },
        Wish::SecretNames,
        Wish::SetSecret { name: "TOKEN".into(), value: "value".into() },
        Wish::RemoveSecret { name: "TOKEN".into() },
        Wish::AnswerSecret { id: 1, value: "value".into() },
        Wish::UseVault { passphrase: "words".into() },
        Wish::UnlockVault { passphrase: "words".into() },
        Wish::Log { server: name(), lines: 10 },
        Wish::Change(Change::SetKeepCalls { name: name(), keep: true }),
        Wish::Change(Change::SetSandbox {
            name: name(),
            sandbox: Some(Sandbox { read: vec!["~/notes".into()], write: vec![], network: false }),
        }),
        Wish::Report(ReportAsk { by: By::Tool, days: Some(30), hours: None }),
        Wish::Activity(ActivityAsk { server: Some(name()), ..ActivityAsk::default() }),
        Wish::LastDay,
        Wish::CallDetail { id: 1 },
        Wish::RunAgain { id: 1, arguments: Some(serde_json::json!({})) },
        Wish::DeleteHistory { sums: false },
        Wish::ForgetHabits,
        Wish::Change(Change::SetLearning { learn: true }),
        Wish::Approvals { server: Some(name()) },
        Wish::Approve { server: name(), items: seen() },
        Wish::LookedAt { server: name() },
        Wish::ApproveSettings { fingerprint: "00ff".into() },
        Wish::KeepHeld { server: name(), items: seen() },
        Wish::Change(Change::SetPermit {
            tool: "github:delete_*".into(),
            client: Some("cursor".into()),
            permit: Some(Permit::Ask),
        }),
        Wish::Change(Change::SetPermit { tool: "github:delete_*".into(), client: None, permit: None }),
        Wish::ReadingAsk { id: 1 },
    ]
    .into_iter()
    .chain(AskAnswer::ALL.map(|answer| Wish::AnswerAsk { id: 1, answer }))
    .chain(question_answers().into_iter().map(|answer| Wish::AnswerQuestion { id: 1, answer }))
    .collect()
}

fn asks() -> Vec<Ask> {
    let of = |effect| Ask {
        id: 1,
        client: "cursor".into(),
        server: "github".into(),
        tool: "delete_branch".into(),
        effect,
        stated: effect == Effect::Deletes,
        arguments: vec![AskArgument { title: "Branch".into(), value: "main".into() }],
        json: r#"{"branch":"main"}"#.into(),
        rule: "what deletes is asked".into(),
        since_ms: 1,
        until_ms: 2,
        question: None,
    };
    let confirms = [Effect::Reads, Effect::Writes, Effect::Deletes, Effect::Unstated].map(of);
    let asked =
        questions().into_iter().map(|question| Ask { question: Some(question), ..of(Effect::Unstated) });
    confirms.into_iter().chain(asked).collect()
}

fn questions() -> Vec<ServerQuestion> {
    let option = || FieldOption { value: "eng".into(), title: "Engineering".into() };
    let text = |format| FieldInput::Text { format, min: Some(1), max: None, initial: String::new() };
    let inputs = [
        text(None),
        text(Some(TextFormat::Email)),
        text(Some(TextFormat::Uri)),
        text(Some(TextFormat::Date)),
        text(Some(TextFormat::DateTime)),
        FieldInput::Number { whole: true, min: Some(1.0), max: None, initial: Some(2.0) },
        FieldInput::Toggle { initial: true },
        FieldInput::Choice { options: vec![option()], initial: None },
        FieldInput::Several { options: vec![option()], min: None, max: Some(2), initial: vec!["eng".into()] },
    ];
    let field = |input| FormField {
        name: "field".into(),
        title: "Field".into(),
        description: String::new(),
        required: true,
        input,
    };
    [
        Wanted::Form { fields: inputs.map(field).into() },
        Wanted::Secret { fields: vec!["Password".into()] },
        Wanted::Credential { name: "TOKEN".into() },
        Wanted::Page { url: "https://example.com/".into(), host: "example.com".into() },
    ]
    .map(|wants| ServerQuestion { message: "Which one?".into(), wants })
    .into()
}

fn question_answers() -> Vec<QuestionAnswer> {
    let content = serde_json::json!({ "title": "Notes", "count": 1, "sure": true, "some": ["eng"] });
    vec![
        QuestionAnswer::Accept { content: content.as_object().cloned().unwrap_or_default() },
        QuestionAnswer::Decline,
        QuestionAnswer::Cancel,
        QuestionAnswer::Mute,
    ]
}

fn seen() -> Vec<Seen> {
    Kind::ALL.map(|kind| Seen { kind, name: "name".into(), fingerprint: "00ff".into() }).into()
}

fn approvals() -> ApprovalList {
    let parts = [Mark::Same, Mark::Removed, Mark::Added];
    let diff = parts.map(|mark| Part { mark, risky: mark == Mark::Added, text: "words".into() });
    let finding =
        |about| Finding { about, place: "description".into(), begin: 1, end: 2, text: "words".into() };
    let item = |held| ApprovalItem {
        kind: Kind::Tool,
        name: "echo".into(),
        fingerprint: "00ff".into(),
        held,
        kept: false,
        diff: diff.clone().into(),
        findings: Odd::ALL.map(finding).into(),
    };
    let held =
        [None, Some(Why::Changed), Some(Why::Added), Some(Why::New), Some(Why::Alarming), Some(Why::Lost)];
    let of =
        |unseen| ServerApprovals { server: "github".into(), unseen, new: 3, items: held.map(item).into() };
    let settings = SettingsChange { fingerprint: "00ff".into(), diff: diff.clone().into() };
    let servers = [None, Some(Unseen::New), Some(Unseen::Imported)].map(of).into();
    ApprovalList { servers, settings: Some(settings) }
}

fn packages() -> Vec<PackageView> {
    let of = |version: Option<&str>| PackageView {
        package: "server".into(),
        version: version.map(ToOwned::to_owned),
        digest: version.map(|_| "sha512-00ff".into()),
        fetched: vec!["1.2.3".into()],
        kept: true,
        example: "server@1.2.3".into(),
    };
    vec![of(None), of(Some("1.2.3"))]
}

fn tools() -> ToolList {
    let line = |tokens| ToolLine {
        tool_path: "github:search_issues".into(),
        description: "Find issues.".into(),
        signature: "search_issues(query: string)".into(),
        tokens,
        category: "searching".into(),
        complexity: [Complexity::Simple, Complexity::Moderate, Complexity::Complex][tokens.unwrap_or(0) % 3],
        version: 2,
        first_seen_ms: tokens.map(|_| 1),
        changed_ms: tokens.map(|_| 2),
        why: None,
        nature: Nature { safety: Safety::Safe, ..Nature::default() },
        permit: if tokens.is_some() { Permit::Allow } else { Permit::Off },
        rule: "what reads is allowed".into(),
    };
    ToolList { tools: vec![line(Some(12)), line(None)], total: 2 }
}

fn report() -> Report {
    let took =
        Took { median_ms: 1.5, p95_ms: 2.5, wait_ms: 0.5, start_ms: 3.5, upstream_ms: 4.5, ours_ms: 5.5 };
    let totals = Totals { calls: 1, failures: 2, searches: 3, took, ..Totals::default() };
    let spent = Spent { definitions: 1, find: 2, describe: 3, wrapping: 4 };
    let line = ReportLine { name: "github".into(), totals: totals.clone(), net: -1, ..ReportLine::default() };
    let savings = Savings { percent: Some(1.5), break_even_searches: Some(2.5), spent, ..Savings::default() };
    let sharing = Sharing { measured_hours: 1.5, processes: 2.5, memory_bytes: 3, ..Sharing::default() };
    Report {
        by: By::Server,
        totals,
        savings,
        sharing,
        lines: vec![line],
        how: vec!["so".into()],
        ..Report::default()
    }
}

/// Every optional value is there in half of the samples and missing in the others.
fn call_line(known: bool) -> CallLine {
    let some = |text: &str| known.then(|| text.to_owned());
    CallLine {
        id: 1,
        time_ms: 2,
        session: 3,
        client: "cursor".into(),
        kind: "call".into(),
        server: "github".into(),
        tool: "search_issues".into(),
        outcome: "ok".into(),
        code: some("code"),
        message: some("why"),
        took_ms: 4.5,
        tokens: known.then_some(5),
        argument: some("{}"),
    }
}

fn session() -> SessionLine {
    SessionLine {
        id: 3,
        client: "cursor".into(),
        program: "Cursor 2.0".into(),
        era: "2025-11-25".into(),
        started_ms: 1,
        last_ms: 2,
        calls: 3,
        searches: 4,
        without: 5,
        spent: Spent::default(),
        net: 5,
        counted: true,
    }
}

fn activity() -> ActivityPage {
    let minutes = vec![Minute { calls: 2, failures: 1 }];
    let calls = vec![call_line(true), call_line(false)];
    ActivityPage { calls, sessions: vec![session()], more: true, minutes, problems: 1, asked: 0 }
}

fn last_day() -> LastDay {
    LastDay { calls: [("github".to_owned(), vec![0, 3])].into() }
}

fn call(known: bool) -> CallDetail {
    let some = |text: &str| known.then(|| text.to_owned());
    CallDetail {
        line: call_line(known),
        session: known.then(session),
        wait_ms: 0.5,
        start_ms: 1.5,
        upstream_ms: 2.5,
        ours_ms: 0.25,
        request_bytes: 1,
        result_bytes: 2,
        request_tokens: known.then_some(3),
        result_tokens: known.then_some(4),
        rule: "rule".into(),
        client_era: "2025-11-25".into(),
        server_era: some("2026-07-28"),
        trace: some("00-1-2-01"),
        arguments: some("{}"),
        result: some("{}"),
        route: vec![call_line(known)],
    }
}

fn about() -> About {
    About { version: "0.1.0", config_file: "/config.json".into(), logs: "/logs".into(), walls: true }
}
