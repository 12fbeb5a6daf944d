//! Pinned tools: who lists which.

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    hub::Scope,
    model::{
        Code,
        control::Change,
        nature::Permit,
        pinned::{MOST, PinnedTool},
        profiles::Profile,
        request::SetHidden,
    },
};

fn pin(tool: &str) -> PinnedTool {
    PinnedTool { tool: tool.into(), ..PinnedTool::default() }
}

fn pinned(pin: PinnedTool) -> Change {
    Change::PinTool { pin, pinned: true }
}

/// The tools that are pinned for a client, at an address with this profile.
fn listed(house: &House, client: &str, profile: Option<&str>) -> Vec<String> {
    let hub = house.hub.seen_by(client).within(&Scope::of(profile));
    hub.pinned_tools().iter().map(ToString::to_string).collect()
}

async fn house() -> (House, TestServer) {
    let tools = vec![tool("get_a", "Gets a."), tool("delete_a", "Removes a.")];
    let notes = TestServer::start(tools).await;
    let house = House::with(&[("notes", &notes)]).await;
    house.until("notes", |view| view.tools == Some(2)).await;
    house.hub.client_seen("cursor", None);
    (house, notes)
}

#[tokio::test]
async fn tools_are_pinned_for_all_for_one_client_and_where_a_profile_applies() {
    let (house, _notes) = house().await;
    let profile = Profile { servers: vec!["notes".into()], ..Profile::default() };
    house.change(Change::PutProfile { name: "work".into(), was: None, profile }).await;
    house.change(pinned(PinnedTool { client: Some("cursor".into()), ..pin("notes:get_a") })).await;
    house.change(pinned(PinnedTool { profile: Some("work".into()), ..pin("notes:delete_a") })).await;
    assert_eq!(listed(&house, "cursor", None), ["notes:get_a"]);
    assert_eq!(listed(&house, "zed", None), [""; 0]);
    assert_eq!(listed(&house, "cursor", Some("work")), ["notes:get_a", "notes:delete_a"]);
    house.change(pinned(pin("notes:get_a"))).await;
    assert_eq!(listed(&house, "zed", None), ["notes:get_a"]);
    assert_eq!(listed(&house, "cursor", None), ["notes:get_a"], "once");
    let refused = house.ask(pinned(pin("notes:none"))).await.unwrap_err();
    assert_eq!(refused.code, Code::UnknownPath);
    let refused = house.ask(pinned(PinnedTool { client: Some("nobody-here".into()), ..pin("notes:get_a") }));
    assert_eq!(refused.await.unwrap_err().code, Code::UnknownClient);
}

#[tokio::test]
async fn what_a_client_cannot_use_is_not_listed_and_its_own_name_stays_pinned() {
    let (house, _notes) = house().await;
    house.change(pinned(pin("notes:get_a"))).await;
    let hide = |hidden| SetHidden { client: "cursor".into(), path: "notes:get_a".into(), hidden };
    house.ask(hide(true)).await.unwrap();
    assert_eq!((listed(&house, "cursor", None).len(), listed(&house, "zed", None).len()), (0, 1));
    house.ask(hide(false)).await.unwrap();
    let rule = |permit| Change::SetPermit { tool: "notes:get_a".into(), client: None, permit };
    house.change(rule(Some(Permit::Off))).await;
    assert_eq!(listed(&house, "cursor", None), [""; 0]);
    house.change(rule(None)).await;
    house.change(Change::SetEnabled { name: "notes".into(), enabled: false }).await;
    house.until("notes", |view| !view.enabled).await;
    assert_eq!(listed(&house, "cursor", None), [""; 0]);
    assert!(house.hub.snapshot().pinned[0].path.is_none());
    house.change(Change::SetEnabled { name: "notes".into(), enabled: true }).await;
    house.until("notes", |view| view.enabled && view.tools == Some(2)).await;
    assert_eq!(listed(&house, "cursor", None), ["notes:get_a"]);
    assert_eq!(house.config()["pinnedTools"], json!([{ "tool": "notes:get_a" }]));
}

#[tokio::test]
async fn a_renamed_tool_stays_pinned_and_is_pinned_by_either_name() {
    let notes = TestServer::start(vec![tool("get_a", "Gets a.")]).await;
    let rules = json!([{ "tool": "notes:get_a", "rename": "fetch" }]);
    let config = json!({ "mcpServers": { "notes": notes.entry() }, "toolRules": rules });
    let house = House::open(config).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    house.change(pinned(pin("notes:fetch"))).await;
    assert_eq!(house.config()["pinnedTools"], json!([{ "tool": "notes:get_a" }]));
    assert_eq!(listed(&house, "zed", None), ["notes:fetch"]);
    house.change(Change::PinTool { pin: pin("notes:fetch"), pinned: false }).await;
    assert_eq!(listed(&house, "zed", None), [""; 0]);
}

#[tokio::test]
async fn a_file_with_more_than_twenty_lists_the_first_and_a_program_may_pin() {
    let name = |at: usize| format!("t{at:02}");
    let tools = (0..MOST + 2).map(|at| tool(&name(at), "Does something."));
    let notes = TestServer::start(tools.collect()).await;
    let all: Vec<_> = (1..MOST + 2).map(|at| json!({ "tool": format!("notes:{}", name(at)) })).collect();
    let config = json!({ "mcpServers": { "notes": notes.entry() }, "pinnedTools": all });
    let house = House::open(config).await;
    house.until("notes", |view| view.tools == Some(MOST + 2)).await;
    let pins = listed(&house, "zed", None);
    assert_eq!((pins.len(), pins[0].as_str()), (MOST, "notes:t01"));
    let refused = house.ask_as_program(pinned(pin("notes:t00"))).await.unwrap_err();
    assert_eq!(refused.code, Code::TooManyPinned);
    house.ask_as_program(Change::PinTool { pin: pin("notes:t01"), pinned: false }).await.unwrap();
    house.ask_as_program(Change::PinTool { pin: pin("notes:t02"), pinned: false }).await.unwrap();
    house.ask_as_program(pinned(pin("notes:t00"))).await.unwrap();
    assert!(listed(&house, "zed", None).contains(&"notes:t00".to_owned()));
}
