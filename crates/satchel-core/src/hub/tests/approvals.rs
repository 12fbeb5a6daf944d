//! What nobody has approved: entries, definitions, settings.

use satchel_mcp::RawObject;
use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    bridge::Caller,
    config::Config,
    hub::failure::CallFailure,
    model::{
        Code,
        approvals::{ApprovalItem, Kind, NotStarted, Seen, Why},
        request::{Approve, ApproveSettings, KeepHeld, ListApprovals, LookedAt, Restart},
    },
};

async fn notes() -> (House, TestServer) {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    house.ask(LookedAt { server: "notes".into() }).await.unwrap();
    (house, server)
}

/// What there is to look at of one server.
async fn items(house: &House, server: &str) -> Vec<ApprovalItem> {
    let list = house.ask(ListApprovals { server: Some(server.into()) }).await.unwrap();
    list.servers.into_iter().flat_map(|server| server.items).collect()
}

fn seen(item: &ApprovalItem) -> Seen {
    Seen { kind: item.kind, name: item.name.clone(), fingerprint: item.fingerprint.clone() }
}

/// Has the server's lists read again.
async fn reread(house: &House, held: usize) {
    house.ask(Restart { server: "notes".into() }).await.unwrap();
    house.until("notes", |view| view.held == held).await;
}

#[tokio::test]
async fn nothing_connects_to_an_entry_before_approval() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::unapproved(json!({ "mcpServers": { "notes": server.entry() } })).await;
    let view = house.until("notes", |view| view.not_started.is_some()).await;
    assert_eq!(view.not_started, Some(NotStarted::NewEntry));
    house.call("editor", "notes:echo", json!({})).await.unwrap_err();
    let launch = items(&house, "notes").await;
    assert_eq!(launch.iter().map(|item| item.kind).collect::<Vec<_>>(), [Kind::Launch]);
    let approve = |items| Approve { server: "notes".into(), items };
    let by_program = house.ask_as_program(approve(vec![seen(&launch[0])])).await.unwrap_err();
    assert_eq!(by_program.code, Code::NeedsPerson);
    house.ask(approve(vec![seen(&launch[0])])).await.unwrap();
    house.until("notes", |view| view.not_started.is_none() && view.tools == Some(1)).await;
    house.call("editor", "notes:echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn an_entry_that_was_written_just_before_a_crash_is_not_held_back_after_it() {
    let (house, server) = notes().await;
    let mut config = house.config();
    let mut entry = server.entry();
    entry["headers"] = json!({ "X-Team": "blue" });
    config["mcpServers"]["notes"] = entry;
    let written = Config::parse(&config.to_string()).unwrap();
    let (name, new) = written.servers().get_key_value("notes").unwrap();
    house.hub.inner.review.begin_accepting(name, new, true).await.unwrap();
    let house = house.again_with(&config).await;
    let view = house.until("notes", |view| view.tools == Some(1)).await;
    assert_eq!(view.not_started, None);
    house.call("editor", "notes:echo", json!({})).await.unwrap();

    // The same by another hand is held back, and so is what came before it.
    config["mcpServers"]["notes"] = server.entry();
    let house = house.again_with(&config).await;
    let view = house.until("notes", |view| view.not_started.is_some()).await;
    assert_eq!(view.not_started, Some(NotStarted::ChangedEntry));
}

#[tokio::test]
async fn an_approval_holds_after_a_restart_of_the_hub() {
    let (house, _server) = notes().await;
    let house = house.again().await;
    house.until("notes", |view| view.not_started.is_none()).await;
    house.call("editor", "notes:echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_changed_text_waits_and_the_tool_goes_on_as_it_was() {
    let (house, server) = notes().await;
    server.offer(vec![tool("echo", "Says it again, and more.")]);
    reread(&house, 1).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
    house.call("editor", "notes:echo", json!({ "text": "x" })).await.unwrap();
    let described = || {
        let catalog = house.hub.seen_by("editor").catalog();
        catalog.tool(&"notes:echo".parse().unwrap()).map(|tool| tool.description.clone())
    };
    assert_eq!(described().as_deref(), Some("Says it again."));
    let held = items(&house, "notes").await;
    assert_eq!((held[0].held, held[0].name.as_str()), (Some(Why::Changed), "echo"));
    house.ask(Approve { server: "notes".into(), items: vec![seen(&held[0])] }).await.unwrap();
    assert_eq!(described().as_deref(), Some("Says it again, and more."));
}

#[tokio::test]
async fn a_tool_that_needs_more_is_held_back_until_exactly_that_is_approved() {
    let (house, server) = notes().await;
    let mut changed = tool("echo", "Says it again.");
    changed["inputSchema"]["required"] = json!(["text"]);
    server.offer(vec![changed]);
    reread(&house, 1).await;
    assert_eq!(house.tools_of("editor"), [""; 0]);
    let refused = house.call("editor", "notes:echo", json!({})).await.unwrap_err();
    assert!(refused.contains("held back") || refused.contains("changed"), "{refused}");
    let held = items(&house, "notes").await;
    assert_eq!((held[0].held, held[0].name.as_str()), (Some(Why::Changed), "echo"));
    let other = Seen { fingerprint: "0".repeat(64), ..seen(&held[0]) };
    house.ask(Approve { server: "notes".into(), items: vec![other] }).await.unwrap_err();
    assert_eq!(house.tools_of("editor"), [""; 0]);
    house.ask(Approve { server: "notes".into(), items: vec![seen(&held[0])] }).await.unwrap();
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}

#[tokio::test]
async fn a_tool_that_comes_later_is_held_back_and_the_others_are_not() {
    let (house, server) = notes().await;
    server.offer(vec![tool("echo", "Says it again."), tool("shout", "Says it loudly.")]);
    reread(&house, 1).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
    assert_eq!(items(&house, "notes").await[0].held, Some(Why::Added));
    assert_eq!(house.hub.hidden_tools().iter().map(ToString::to_string).collect::<Vec<_>>(), ["notes:shout"]);
}

#[tokio::test]
async fn a_tool_that_was_kept_back_stays_so_and_counts_as_looked_at() {
    let (house, server) = notes().await;
    server.offer(vec![tool("echo", "Says it again."), tool("shout", "Says it loudly.")]);
    reread(&house, 1).await;
    let held = seen(&items(&house, "notes").await[0]);
    house.ask(KeepHeld { server: "notes".into(), items: vec![held] }).await.unwrap();
    house.until("notes", |view| view.held == 0).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
    house.call("editor", "notes:shout", json!({})).await.unwrap_err();
}

#[tokio::test]
async fn a_tool_that_changes_back_needs_no_other_approval() {
    let (house, server) = notes().await;
    server.offer(vec![tool("echo", "Something else.")]);
    reread(&house, 1).await;
    server.offer(vec![tool("echo", "Says it again.")]);
    reread(&house, 0).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}

#[tokio::test]
async fn a_client_can_read_what_a_result_linked_to_though_its_listing_waits() {
    let server = TestServer::start(vec![tool("link", "Links to a note.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    house.ask(LookedAt { server: "notes".into() }).await.unwrap();
    server.teach(vec![], &[("note://late", "a late note")]);
    reread(&house, 1).await;
    let read = async |client: &str| {
        let caller = Caller::alone(client);
        let running = house.hub.read_resource(&caller, "notes|note://late", RawObject::new()).await?;
        Ok::<_, CallFailure>(running.finish().await.unwrap().get().to_owned())
    };
    assert_eq!(read("editor").await.unwrap_err().code, Some(Code::HeldBack));
    house.call("editor", "notes:link", json!({ "text": "note://late" })).await.unwrap();
    assert!(read("editor").await.unwrap().contains("a late note"));
    assert_eq!(read("agent").await.unwrap_err().code, Some(Code::HeldBack), "it was given to another client");
}

#[tokio::test]
async fn new_servers_can_be_held_until_reviewed() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let config = json!({ "mcpServers": { "notes": server.entry() }, "newServers": "hold" });
    let house = House::open(config).await;
    house.until("notes", |view| view.held > 0).await;
    assert_eq!(house.tools_of("editor"), [""; 0]);
    let items = items(&house, "notes").await.iter().map(seen).collect();
    house.ask(Approve { server: "notes".into(), items }).await.unwrap();
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}

#[tokio::test]
async fn settings_of_another_hand_loosen_nothing_before_they_are_accepted() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let config = json!({
        "mcpServers": { "notes": server.entry() },
        "toolDefaults": { "unstated": "off", "deletes": "allow" },
    });
    let house = House::unapproved(config).await;
    let list = house.ask(ListApprovals { server: None }).await.unwrap();
    let settings = list.settings.expect("the settings wait");
    let wrong = ApproveSettings { fingerprint: "another".into() };
    house.ask(wrong).await.unwrap_err();
    let right = ApproveSettings { fingerprint: settings.fingerprint };
    assert_eq!(house.ask_as_program(right.clone()).await.unwrap_err().code, Code::NeedsPerson);
    house.ask(right).await.unwrap();
    assert_eq!(house.ask(ListApprovals { server: None }).await.unwrap().settings, None);
}

#[tokio::test]
async fn approving_for_an_unknown_server_says_so() {
    let house = House::open(json!({})).await;
    let unknown = || "nobody".to_owned();
    for refused in [
        house.ask(Approve { server: unknown(), items: vec![] }).await.map(drop),
        house.ask(LookedAt { server: unknown() }).await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code, Code::UnknownServer);
    }
}
