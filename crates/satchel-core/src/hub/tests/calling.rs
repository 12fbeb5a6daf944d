//! Calls of clients, and of people by hand.

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    Code,
    ledger::ActivityAsk,
    request::{CallTool, Pause, Resume},
};

async fn notes() -> (House, TestServer) {
    let mut strict = tool("create_note", "Creates a note.");
    strict["inputSchema"]["required"] = json!(["text"]);
    let tools = vec![tool("echo", "Says it again."), strict, tool("fails", "Fails."), tool("slow", "Waits.")];
    let server = TestServer::start(tools).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(4)).await;
    (house, server)
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_nearest_names() {
    let (house, server) = notes().await;
    let refused = house.call("editor", "notes:ech_o_what", json!({})).await.unwrap_err();
    assert!(refused.contains("notes") && refused.contains("cannot be called"), "{refused}");
    assert_eq!(server.called().len(), 0);
}

#[tokio::test]
async fn a_tool_that_was_left_out_is_refused_with_the_reason() {
    let mut bad = tool("bad", "Takes a list.");
    bad["inputSchema"] = json!({ "type": "array" });
    let server = TestServer::start(vec![tool("good", "Works."), bad]).await;
    let house = House::with(&[("odd", &server)]).await;
    house.until("odd", |view| view.tools == Some(1)).await;
    let refused = house.call("editor", "odd:bad", json!({})).await.unwrap_err();
    assert!(refused.contains("left out") && refused.contains("its inputSchema is not of type"), "{refused}");
}

#[tokio::test]
async fn a_call_to_a_server_with_an_invalid_entry_is_refused_with_its_fault() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let invalid = json!({ "command": "x", "args": "--x" });
    let house = House::open(json!({ "mcpServers": { "notes": server.entry(), "time": invalid } })).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    let refused = house.call("editor", "time:now", json!({})).await.unwrap_err();
    assert!(
        refused.contains("\"time\" is off") && refused.contains("must be a list of strings"),
        "{refused}"
    );
    let view = house.until("time", |_| true).await;
    assert_eq!(
        view.action(),
        Code::INVALID_ENTRY,
        "the others go on, and so does a changed entry of this one not"
    );
    house.call("editor", "notes:echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_person_is_told_of_the_command_that_lists_tools_and_a_client_of_the_search() {
    let house = House::open(json!({})).await;
    let refused =
        house.ask(CallTool { tool_path: "nosuch:x".into(), arguments: json!({}) }).await.unwrap_err();
    assert_eq!(refused.action, "`satchel tools` lists the tools.");
}

#[tokio::test]
async fn a_name_that_can_mean_one_tool_only_is_corrected() {
    let (house, server) = notes().await;
    house.call("editor", "notes:createNote", json!({ "text": "a" })).await.unwrap();
    assert_eq!(server.called()[0]["name"], "create_note");
}

#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_server() {
    let (house, server) = notes().await;
    let refused = house.call("editor", "notes:create_note", json!({})).await.unwrap_err();
    assert!(refused.contains("text"), "{refused}");
    assert_eq!(server.called().len(), 0);
}

#[tokio::test]
async fn a_tools_own_error_is_a_result() {
    let (house, _server) = notes().await;
    assert_eq!(house.call("editor", "notes:fails", json!({})).await.unwrap(), "it went wrong");
}

#[tokio::test]
async fn clients_share_one_server_and_their_calls_run_side_by_side() {
    let (house, server) = notes().await;
    let slow = house.call("editor", "notes:slow", json!({}));
    let quick = async {
        let quick = house.call("agent", "notes:echo", json!({})).await;
        server.go_on();
        quick
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!((slow.unwrap().as_str(), quick.unwrap().as_str()), ("at last", "{}"));
    assert_eq!(house.until("notes", |_| true).await.calls, 2);
}

#[tokio::test]
async fn a_long_result_is_cut_for_clients_and_whole_for_people() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let config = json!({ "mcpServers": { "notes": server.entry() }, "resultCap": 1000 });
    let house = House::open(config).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    let arguments = json!({ "text": "long ".repeat(1000) });
    let cut = house.call("editor", "notes:echo", arguments.clone()).await.unwrap();
    assert!(cut.len() < 2000, "{}", cut.len());
    let whole = house.ask(CallTool { tool_path: "notes:echo".into(), arguments }).await.unwrap();
    assert!(whole.0.to_string().len() > 5000);
}

#[tokio::test]
async fn a_call_by_hand_is_recorded_as_one_of_a_person() {
    let (house, _server) = notes().await;
    let arguments = json!({ "text": "a" });
    house.ask(CallTool { tool_path: "notes:echo".into(), arguments }).await.unwrap();
    house.hub.recorder().written().await;
    let page = house.ask(ActivityAsk { limit: 10, ..ActivityAsk::default() }).await.unwrap();
    let lines: Vec<_> = page
        .calls
        .iter()
        .map(|line| (line.client.as_str(), line.server.as_str(), line.tool.as_str()))
        .collect();
    assert_eq!(lines, [("satchel", "notes", "echo")]);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused() {
    let (house, _server) = notes().await;
    let refused = house.ask(CallTool { tool_path: "notes:echo".into(), arguments: json!([1]) }).await;
    assert_eq!(refused.unwrap_err().code, Code::BadArguments);
}

#[tokio::test]
async fn a_pause_refuses_calls_until_a_person_ends_it() {
    let (house, server) = notes().await;
    house.ask(Pause { until_ms: None }).await.unwrap();
    let refused = house.call("editor", "notes:echo", json!({})).await.unwrap_err();
    assert!(refused.contains("paused"), "{refused}");
    assert_eq!(house.ask_as_program(Resume {}).await.unwrap_err().code, Code::NeedsPerson);
    assert!(house.hub.snapshot().paused.is_some());
    house.ask(Resume {}).await.unwrap();
    house.call("editor", "notes:echo", json!({})).await.unwrap();
    assert_eq!(server.called().len(), 1);
}

#[tokio::test]
async fn a_pause_whose_time_is_over_refuses_nothing() {
    let (house, _server) = notes().await;
    house.ask(Pause { until_ms: Some(1) }).await.unwrap();
    house.call("editor", "notes:echo", json!({})).await.unwrap();
    assert!(house.hub.snapshot().paused.is_none());
}

#[tokio::test]
async fn a_call_to_a_server_that_cannot_be_reached_says_that_nothing_was_sent() {
    let house = House::open(json!({ "mcpServers": { "gone": { "url": "http://127.0.0.1:9/mcp" } } })).await;
    let refused = house.call("editor", "gone:anything", json!({})).await.unwrap_err();
    assert!(refused.contains("gone"), "{refused}");
    house.until("gone", |view| view.last_failure.is_some()).await;
}
