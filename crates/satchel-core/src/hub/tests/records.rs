//! What is recorded: calls, their failures, and the audit log.

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    bridge::Caller,
    hub::Hub,
    model::{
        Code,
        asks::AskAnswer,
        audit::{AuditKind, AuditQuery},
        control::Change,
        ledger::{ActivityAsk, By, CallKind, ReportAsk},
        nature::Permit,
        request::{
            AnswerAsk, DeleteHistory, GetCall, GetServerDay, ListAsks, MakeToken, RunAgain, VerifyAudit,
        },
    },
    recorder::Program,
};
use satchel_mcp::{Raw, RawObject, era::Era};

async fn notes(keep: bool) -> (House, TestServer) {
    let server = TestServer::start(vec![tool("echo", "Says it again."), tool("fails", "Fails.")]).await;
    let mut entry = server.entry();
    entry["keepCalls"] = json!(keep);
    let house = House::open(json!({ "mcpServers": { "notes": entry } })).await;
    house.until("notes", |view| view.tools == Some(2)).await;
    (house, server)
}

/// A call as the endpoint makes it, with a visit that is recorded.
async fn called(hub: &Hub, client: &str, path: &str) {
    let visit = hub.visit(client, Program::default(), Era::SESSION, None);
    let request = format!(r#"{{"name":"{path}","arguments":{{"text":"a"}}}}"#);
    let observer = hub.observe(&visit, CallKind::Call, path, &request);
    let mut params = RawObject::new();
    params.set("arguments", Raw::from_string(r#"{"text":"a"}"#.into()).unwrap());
    let running = hub.observed(&observer).execute_tool(&Caller::alone(client), path, params).await;
    if let Ok(running) = running {
        let _ = running.finish().await;
    }
    drop(observer);
    hub.recorder().written().await;
}

#[tokio::test]
async fn each_call_has_one_record_with_its_client_and_outcome() {
    let (house, _server) = notes(false).await;
    for path in ["notes:echo", "notes:fails", "notes:nothing"] {
        called(&house.hub, "editor", path).await;
    }
    let page = house.ask(ActivityAsk { limit: 10, ..ActivityAsk::default() }).await.unwrap();
    assert_eq!(page.calls.len(), 3, "{page:#?}");
    assert!(page.calls.iter().all(|line| line.client == "editor"));
    let outcomes: Vec<_> = page.calls.iter().map(|line| line.outcome.as_str()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == "ok").count(), 1, "{outcomes:?}");
    assert_eq!(page.problems, 2);
}

#[tokio::test]
async fn a_call_that_a_person_was_asked_about_says_so_whatever_they_answered() {
    let (house, _server) = notes(false).await;
    house.hub.set_attended(true);
    let tool = "notes:echo".into();
    house.change(Change::SetPermit { tool, client: None, permit: Some(Permit::Ask) }).await;
    let no = async {
        let asks = house.ask(ListAsks { wait: true }).await.unwrap().asks;
        house.ask(AnswerAsk { id: asks[0].id, answer: AskAnswer::No }).await.unwrap();
    };
    tokio::join!(called(&house.hub, "editor", "notes:echo"), no);
    called(&house.hub, "editor", "notes:fails").await;
    let page = house.ask(ActivityAsk { asked: true, ..ActivityAsk::default() }).await.unwrap();
    assert_eq!((page.asked, page.calls.len()), (1, 1), "{page:#?}");
    assert_eq!(page.calls[0].outcome, "not_sent");
}

#[tokio::test]
async fn a_report_sums_up_by_server_and_by_client() {
    let (house, _server) = notes(false).await;
    called(&house.hub, "editor", "notes:echo").await;
    called(&house.hub, "agent", "notes:echo").await;
    for (by, names) in [(By::Server, vec!["notes"]), (By::Client, vec!["agent", "editor"])] {
        let ask = ReportAsk { by, days: Some(1), hours: None, profile: None };
        let report = house.ask(ask).await.unwrap();
        let mut lines: Vec<_> = report.lines.iter().map(|line| line.name.as_str()).collect();
        lines.sort_unstable();
        assert_eq!((report.totals.calls, lines), (2, names));
    }
}

#[tokio::test]
async fn a_servers_last_day_names_its_clients() {
    let (house, _server) = notes(false).await;
    called(&house.hub, "editor", "notes:echo").await;
    called(&house.hub, "editor", "notes:fails").await;
    let day = house.ask(GetServerDay { server: "notes".into() }).await.unwrap();
    assert_eq!((day.calls, day.clients.len()), (2, 1));
    assert_eq!((day.clients[0].client.as_str(), day.clients[0].calls), ("editor", 2));
}

#[tokio::test]
async fn arguments_are_kept_only_where_the_server_keeps_calls() {
    for keep in [false, true] {
        let (house, _server) = notes(keep).await;
        called(&house.hub, "editor", "notes:echo").await;
        let page = house.ask(ActivityAsk { limit: 1, ..ActivityAsk::default() }).await.unwrap();
        let detail = house.ask(GetCall { id: page.calls[0].id }).await.unwrap();
        assert_eq!(detail.arguments.is_some(), keep);
    }
}

#[tokio::test]
async fn a_kept_call_can_be_made_again() {
    let (house, server) = notes(true).await;
    called(&house.hub, "editor", "notes:echo").await;
    let page = house.ask(ActivityAsk { limit: 1, ..ActivityAsk::default() }).await.unwrap();
    house.ask(RunAgain { id: page.calls[0].id, arguments: None }).await.unwrap();
    let other = Some(json!({ "text": "b" }));
    house.ask(RunAgain { id: page.calls[0].id, arguments: other }).await.unwrap();
    let texts: Vec<_> = server.called().iter().map(|call| call["arguments"]["text"].clone()).collect();
    assert_eq!(texts, ["a", "a", "b"]);
}

#[tokio::test]
async fn a_call_whose_arguments_were_not_kept_needs_them_again() {
    let (house, _server) = notes(false).await;
    called(&house.hub, "editor", "notes:echo").await;
    let page = house.ask(ActivityAsk { limit: 1, ..ActivityAsk::default() }).await.unwrap();
    let refused = house.ask(RunAgain { id: page.calls[0].id, arguments: None }).await.unwrap_err();
    assert_eq!(refused.code, Code::ArgumentsNotKept);
    house.ask(RunAgain { id: 9999, arguments: None }).await.unwrap_err();
}

#[tokio::test]
async fn a_deleted_history_is_empty_and_only_a_person_deletes_it() {
    let (house, _server) = notes(false).await;
    called(&house.hub, "editor", "notes:echo").await;
    let refused = house.ask_as_program(DeleteHistory { sums: true }).await.unwrap_err();
    assert_eq!(refused.code, Code::NeedsPerson);
    house.ask(DeleteHistory { sums: true }).await.unwrap();
    let page = house.ask(ActivityAsk { limit: 10, ..ActivityAsk::default() }).await.unwrap();
    assert_eq!(page.calls, []);
}

#[tokio::test]
async fn the_audit_log_names_who_changed_what_and_stays_whole() {
    let (house, _server) = notes(false).await;
    house.change(Change::SetEnabled { name: "notes".into(), enabled: false }).await;
    house.ask_as_program(MakeToken { client: "agent".into(), ephemeral: true }).await.ok();
    let page = house.ask(AuditQuery::default()).await.unwrap();
    let policy = page.records.iter().rfind(|record| record.kind == AuditKind::Policy.as_str()).unwrap();
    assert_eq!((policy.who.as_str(), policy.subject.as_str()), ("person in the window", "notes"));
    let verdict = house.ask(VerifyAudit { noted: None }).await.unwrap();
    assert_eq!(verdict.problems, [""; 0]);
}

#[tokio::test]
async fn refused_changes_of_programs_are_in_the_audit_log() {
    let (house, _server) = notes(false).await;
    house.ask_as_program(DeleteHistory { sums: false }).await.unwrap_err();
    let page = house.ask(AuditQuery::default()).await.unwrap();
    let denied = page.records.iter().rfind(|record| record.kind == AuditKind::Denied.as_str()).unwrap();
    assert!(denied.who.contains("script") && denied.detail.contains("needs a person"), "{denied:?}");
}
