//! Rules: which tools a client may call, and which a person is asked about.

use std::{sync::Arc, time::Duration};

use satchel_mcp::{Raw, RawObject};

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, annotated, tool},
};
use crate::{
    bridge::Caller,
    hub::{Failed, Step},
    model::{
        Code,
        asks::AskAnswer,
        audit::AuditQuery,
        control::Change,
        nature::Permit,
        request::{AnswerAsk, GetStatus, ListAsks, ListTools, SetHidden},
    },
};

/// Longer than a client that asks nobody takes to answer.
const READING: Duration = Duration::from_millis(500);

async fn files() -> (House, TestServer) {
    let server = TestServer::start(vec![
        annotated("read", "Reads a file.", json!({ "readOnlyHint": true })),
        annotated("delete", "Deletes a file.", json!({ "destructiveHint": true })),
        tool("echo", "Says it again."),
    ])
    .await;
    let house = House::with(&[("files", &server)]).await;
    house.until("files", |view| view.tools == Some(3)).await;
    // A face shows questions.
    house.hub.set_attended(true);
    (house, server)
}

fn permit(tool: &str, client: Option<&str>, permit: Option<Permit>) -> Change {
    Change::SetPermit { tool: tool.into(), client: client.map(Into::into), permit }
}

/// Says yes as soon as it counts: approvals in the first moment are ignored, to catch accidental clicks.
async fn say_yes(house: &House, answer: AskAnswer) {
    let id = question(house).await;
    while let Err(refused) = house.ask(AnswerAsk { id, answer }).await {
        assert_eq!(refused.code, Code::TooSoon, "{refused}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The number of the question that waits.
async fn question(house: &House) -> u64 {
    loop {
        if let Some(ask) = house.ask(ListAsks { wait: true }).await.unwrap().asks.first() {
            return ask.id;
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_off_is_in_no_list_and_is_not_called() {
    let (house, server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Off))).await;
    assert_eq!(house.tools_of("editor"), ["files:read", "files:delete"]);
    let refused = house.call("editor", "files:echo", json!({})).await.unwrap_err();
    assert!(refused.contains("switched off"), "{refused}");
    assert_eq!(server.called().len(), 0);
}

#[tokio::test]
async fn a_rule_for_one_client_binds_that_client_alone() {
    let (house, _server) = files().await;
    house.change(permit("files:*", Some("agent"), Some(Permit::Off))).await;
    assert_eq!(house.tools_of("agent"), [""; 0]);
    assert_eq!(house.tools_of("editor").len(), 3);
    house.call("editor", "files:read", json!({})).await.unwrap();
    house.call("agent", "files:read", json!({})).await.unwrap_err();
}

#[tokio::test]
async fn a_call_that_a_rule_asks_about_waits_for_a_yes() {
    let (house, server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let person = async {
        question(&house).await;
        assert_eq!(server.called().len(), 0, "nothing was sent before the yes");
        say_yes(&house, AskAnswer::Once).await;
    };
    let (called, ()) = tokio::join!(house.call("editor", "files:echo", json!({ "text": "a" })), person);
    assert_eq!(called.unwrap(), r#"{"text":"a"}"#);
}

#[tokio::test]
async fn a_no_is_told_to_the_client_and_the_server_hears_nothing() {
    let (house, server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let person = async {
        let id = question(&house).await;
        house.ask(AnswerAsk { id, answer: AskAnswer::No }).await.unwrap();
    };
    let (called, ()) = tokio::join!(house.call("editor", "files:echo", json!({})), person);
    called.unwrap_err();
    assert_eq!(server.called().len(), 0);
}

#[tokio::test]
async fn an_always_becomes_a_rule_of_the_configuration() {
    let (house, _server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let person = async {
        say_yes(&house, AskAnswer::Always).await;
    };
    let (called, ()) = tokio::join!(house.call("editor", "files:echo", json!({})), person);
    called.unwrap();
    house.call("editor", "files:echo", json!({})).await.unwrap();
    let rules = house.config()["toolRules"].to_string();
    assert!(rules.contains("allow") && rules.contains("editor"), "{rules}");
}

#[tokio::test]
async fn a_deleting_tool_is_asked_about_without_any_rule() {
    let (house, server) = files().await;
    let person = async {
        let id = question(&house).await;
        house.ask(AnswerAsk { id, answer: AskAnswer::No }).await.unwrap();
    };
    let (called, ()) = tokio::join!(house.call("editor", "files:delete", json!({})), person);
    called.unwrap_err();
    assert_eq!(server.called().len(), 0);
    house.call("editor", "files:read", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_program_may_tighten_a_rule_and_not_loosen_it() {
    let (house, _server) = files().await;
    house.ask_as_program(permit("files:echo", None, Some(Permit::Off))).await.unwrap();
    let before = house.config();
    for loosening in [Some(Permit::Allow), Some(Permit::Ask), None] {
        let refused = house.ask_as_program(permit("files:echo", None, loosening)).await.unwrap_err();
        assert_eq!(refused.code, Code::NeedsPerson, "{loosening:?}");
    }
    assert_eq!(house.config(), before);
}

#[tokio::test]
async fn a_program_may_not_say_yes_to_a_call() {
    let (house, _server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let program = async {
        let id = question(&house).await;
        let refused = house.ask_as_program(AnswerAsk { id, answer: AskAnswer::Once }).await.unwrap_err();
        assert_eq!(refused.code, Code::NeedsPerson);
        house.ask_as_program(AnswerAsk { id, answer: AskAnswer::No }).await.unwrap();
    };
    let (called, ()) = tokio::join!(house.call("editor", "files:echo", json!({})), program);
    called.unwrap_err();
}

#[tokio::test]
async fn a_person_still_sees_a_tool_that_is_off_and_can_allow_it_again() {
    let (house, _server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Off))).await;
    let list = |query: &str| ListTools { query: query.into(), server: Some("files".into()), limit: 10 };
    let listed = house.ask(list("")).await.unwrap().tools;
    let listed: Vec<(&str, Permit)> = listed.iter().map(|tool| (&*tool.tool_path, tool.permit)).collect();
    let all = [("files:read", Permit::Allow), ("files:delete", Permit::Ask), ("files:echo", Permit::Off)];
    assert_eq!(listed, all);
    assert_eq!(house.ask(list("says it again")).await.unwrap().tools.len(), 0, "no client finds it");
    house.change(permit("files:echo", None, Some(Permit::Allow))).await;
    assert_eq!(house.tools_of("editor").len(), 3);
}

#[tokio::test]
async fn tools_hidden_from_a_client_do_not_exist_for_it() {
    let (house, _server) = files().await;
    let hide = |path: &str, hidden| SetHidden { client: "cursor".into(), path: path.into(), hidden };
    house.ask(hide("files:echo", true)).await.unwrap();
    assert_eq!(house.tools_of("cursor"), ["files:read", "files:delete"]);
    assert_eq!(house.tools_of("editor").len(), 3);
    let refused = house.call("cursor", "files:echo", json!({})).await.unwrap_err();
    assert!(!refused.contains("switched off"), "{refused}");
    assert_eq!(house.ask_as_program(hide("files:echo", false)).await.unwrap_err().code, Code::NeedsPerson);
    house.ask(hide("files:echo", false)).await.unwrap();
    assert_eq!(house.tools_of("cursor").len(), 3);
}

#[tokio::test]
async fn a_tool_that_a_rule_renames_is_called_by_its_new_name_alone() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let rule = json!({ "tool": "files:echo", "rename": "say", "description": "Says it." });
    let house = House::open(json!({ "mcpServers": { "files": server.entry() }, "toolRules": [rule] })).await;
    house.until("files", |view| view.tools == Some(1)).await;
    assert_eq!(house.tools_of("editor"), ["files:say"]);
    house.call("editor", "files:say", json!({})).await.unwrap();
    assert_eq!(server.called()[0]["name"], "echo");
}

#[tokio::test]
async fn an_invalid_rule_restricts_its_tools_and_nothing_else_and_is_told() {
    let server = TestServer::start(vec![
        annotated("read", "Reads a file.", json!({ "readOnlyHint": true })),
        tool("echo", "Says it again."),
    ])
    .await;
    let rules = json!([
        { "tool": "files:echo", "permit": "deny" },
        { "tool": "files:gone", "permit": "off" },
    ]);
    let house = House::open(json!({ "mcpServers": { "files": server.entry() }, "toolRules": rules })).await;
    house.until("files", |view| view.tools == Some(2)).await;
    assert_eq!(house.tools_of("editor"), ["files:read"]);
    house.call("editor", "files:read", json!({})).await.unwrap();
    let refused = house.call("editor", "files:echo", json!({})).await.unwrap_err();
    assert!(refused.contains("files:echo: off, because a rule is invalid"), "{refused}");
    let notices = house.ask(GetStatus {}).await.unwrap().notices;
    let told: Vec<&str> = notices
        .iter()
        .filter(|notice| notice.code == Code::RuleInvalid)
        .map(|one| one.message.as_str())
        .collect();
    assert!(matches!(told[..], [message] if message.contains("unknown variant `deny`")), "{notices:?}");
    // A person who decides about the tool replaces the rule.
    house.change(permit("files:echo", None, Some(Permit::Allow))).await;
    house.call("editor", "files:echo", json!({})).await.unwrap();
    let notices = house.ask(GetStatus {}).await.unwrap().notices;
    assert!(notices.iter().all(|notice| notice.code != Code::RuleInvalid), "{notices:?}");
}

#[tokio::test]
async fn a_setting_that_cannot_be_read_is_cautious_and_told_and_its_servers_go_on() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let config = json!({
        "mcpServers": { "files": server.entry() }, "resultCap": "lots", "history": { "record": "no" },
    });
    let house = House::open(config).await;
    house.until("files", |view| view.tools == Some(1)).await;
    house.call("editor", "files:echo", json!({})).await.unwrap();
    let snapshot = house.ask(GetStatus {}).await.unwrap();
    assert!(!snapshot.ledger.records);
    let told: Vec<&str> = snapshot
        .notices
        .iter()
        .filter(|notice| notice.code == Code::SettingInvalid)
        .map(|one| one.message.as_str())
        .collect();
    assert!(
        matches!(told[..], [message] if message.contains("\"resultCap\"") && message.contains("\"record\"")),
        "{told:?}"
    );
}

/// A client that can ask its user, and what it answers after this time.
async fn call_asking(
    house: &House,
    path: &str,
    answer: &str,
    after: Duration,
) -> (Result<String, String>, usize) {
    let raw = |json: &str| Raw::from_string(json.to_owned()).unwrap();
    let capabilities = Arc::new(RawObject::parse(&raw(r#"{"elicitation":{}}"#)).unwrap());
    let caller = Caller { capabilities, ..Caller::alone("editor") };
    let mut params = RawObject::new();
    params.set("arguments", raw("{}"));
    let mut running = match house.hub.execute_tool(&caller, path, params).await {
        Ok(running) => running,
        Err(failure) => return (Err(Failed::Hub(failure).to_string()), 0),
    };
    let mut questions = 0;
    loop {
        match running.next().await {
            Step::Question(question) => {
                questions += 1;
                tokio::time::sleep(after).await;
                running.answer(&question.key, Ok(raw(answer)));
            }
            Step::Note { .. } => {}
            Step::End(end) => {
                return (
                    end.map(|result| result.to_string()).map_err(|failed| failed.to_string()),
                    questions,
                );
            }
        }
    }
}

const ACCEPTED: &str = r#"{"action":"accept","content":{"allow":"session"}}"#;
const DECLINED: &str = r#"{"action":"decline"}"#;

#[tokio::test]
async fn consent_that_a_client_asked_for_is_recorded_as_its_word() {
    let (house, server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let (called, questions) = call_asking(&house, "files:echo", ACCEPTED, READING).await;
    assert_eq!((called.is_ok(), questions), (true, 1));
    let again = call_asking(&house, "files:echo", DECLINED, READING).await;
    assert_eq!((again.0.is_ok(), again.1, server.called().len()), (true, 0, 2), "for this session");
    let query = AuditQuery { after: 0, limit: 0 };
    let mut records = house.ask(query).await.unwrap().records;
    records.retain(|record| record.kind == "consent");
    assert!(records[0].detail.ends_with("; allowed for this session, as the client says"), "{records:?}");
    // Such a word is not enough where Satchel asks itself.
    let rules = json!([{ "tool": "files:echo", "permit": "ask", "consent": "window" }]);
    house.change(Change::TakeSetting { key: "toolRules".into(), value: Some(rules) }).await;
    let no = async {
        let id = question(&house).await;
        house.ask(AnswerAsk { id, answer: AskAnswer::No }).await.unwrap();
    };
    let (called, ()) = tokio::join!(call_asking(&house, "files:echo", ACCEPTED, READING), no);
    assert_eq!((called.0.is_err(), called.1), (true, 0));
}

#[tokio::test]
async fn satchel_asks_itself_about_what_deletes_while_a_client_is_new() {
    let (house, server) = files().await;
    let no = async {
        let id = question(&house).await;
        house.ask(AnswerAsk { id, answer: AskAnswer::No }).await.unwrap();
    };
    let (called, ()) = tokio::join!(call_asking(&house, "files:delete", ACCEPTED, READING), no);
    assert_eq!((called.0.is_err(), called.1, server.called().len()), (true, 0, 0));
    let defaults = json!({ "consent": "client" });
    house.change(Change::TakeSetting { key: "toolDefaults".into(), value: Some(defaults) }).await;
    let (called, questions) = call_asking(&house, "files:delete", ACCEPTED, READING).await;
    assert_eq!((called.is_ok(), questions), (true, 1));
}

#[tokio::test]
async fn nobody_declines_within_a_moment_so_satchel_asks() {
    let (house, server) = files().await;
    house.change(permit("files:echo", None, Some(Permit::Ask))).await;
    let yes = say_yes(&house, AskAnswer::Once);
    let (called, ()) = tokio::join!(call_asking(&house, "files:echo", DECLINED, Duration::ZERO), yes);
    assert_eq!((called.0.is_ok(), called.1, server.called().len()), (true, 1, 1));
    let (refused, _) = call_asking(&house, "files:echo", DECLINED, READING).await;
    assert!(refused.unwrap_err().contains("the client says that its user did not allow it"));
}
