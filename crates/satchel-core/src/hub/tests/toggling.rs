//! Servers come, change and go.

use serde_json::{Value, json};

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    Code, ServerState, ServerView,
    control::{Change, HIDDEN, Target},
    request::{GetEntry, PutBack, Rest, Restart},
};

async fn notes() -> (House, TestServer) {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    (house, server)
}

fn is_ready(view: &ServerView) -> bool {
    matches!(view.state, ServerState::Ready { .. })
}

fn url(address: &str) -> Target {
    Target::Url { url: address.into(), headers: Default::default() }
}

fn add(name: &str, target: Target) -> Change {
    Change::Add { name: name.into(), target, startup: None, era: None, replace: false }
}

#[tokio::test]
async fn a_server_that_is_off_offers_nothing_and_is_not_called() {
    let (house, server) = notes().await;
    assert_eq!(house.call("editor", "notes:echo", json!({ "text": "a" })).await.unwrap(), r#"{"text":"a"}"#);
    house.change(Change::SetEnabled { name: "notes".into(), enabled: false }).await;
    house.until("notes", |view| !view.enabled).await;
    assert_eq!(house.tools_of("editor"), [""; 0]);
    let refused = house.call("editor", "notes:echo", json!({})).await.unwrap_err();
    assert!(refused.contains("off"), "{refused}");
    assert_eq!(server.called().len(), 1);
}

#[tokio::test]
async fn a_server_that_is_enabled_again_offers_its_previous_tools() {
    let (house, _server) = notes().await;
    for enabled in [false, true] {
        house.change(Change::SetEnabled { name: "notes".into(), enabled }).await;
        house.until("notes", |view| view.enabled == enabled).await;
    }
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}

#[tokio::test]
async fn a_server_added_by_a_person_is_read_at_once() {
    let house = House::open(json!({})).await;
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let address = server.entry()["url"].as_str().unwrap().to_owned();
    house.change(add("notes", url(&address))).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    assert_eq!(house.config()["mcpServers"]["notes"]["url"], address);
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}

#[tokio::test]
async fn adding_a_name_twice_changes_nothing_unless_it_is_to_be_replaced() {
    let (house, _server) = notes().await;
    let before = house.config();
    let refused = house.ask(add("notes", url("http://127.0.0.1:9/mcp"))).await.unwrap_err();
    assert!(refused.message.contains("notes"), "{refused}");
    assert_eq!(house.config(), before);
    let replacing = Change::Add {
        name: "notes".into(),
        target: url("http://127.0.0.1:9/mcp"),
        startup: None,
        era: None,
        replace: true,
    };
    house.change(replacing).await;
    assert_eq!(house.config()["mcpServers"]["notes"]["url"], "http://127.0.0.1:9/mcp");
}

#[tokio::test]
async fn a_removed_server_comes_back_as_it_was() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let mut entry = server.entry();
    entry["anotherProgramsField"] = json!([1, 2]);
    let house = House::open(json!({ "mcpServers": { "notes": entry.clone() } })).await;
    house.change(Change::Remove { name: "notes".into() }).await;
    assert_eq!(house.config()["mcpServers"], json!({}));
    house.ask(PutBack { server: "notes".into() }).await.unwrap();
    assert_eq!(house.config()["mcpServers"]["notes"], entry);
    let refused = house.ask(PutBack { server: "notes".into() }).await.unwrap_err();
    assert_eq!(refused.code, Code::NothingRemoved);
}

#[tokio::test]
async fn a_duplicate_is_set_up_as_the_other_one() {
    let (house, _server) = notes().await;
    house.change(Change::Duplicate { name: "notes".into(), to: "notes-2".into() }).await;
    let config = house.config();
    assert_eq!(config["mcpServers"]["notes-2"]["url"], config["mcpServers"]["notes"]["url"]);
    house.until("notes-2", |view| view.tools == Some(1)).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo", "notes-2:echo"]);
}

#[tokio::test]
async fn an_entry_is_edited_without_showing_its_secrets() {
    let entry = json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer abc", "X-Team": "a" } });
    let house = House::open(json!({ "mcpServers": { "notes": entry } })).await;
    let mut shown = house.ask(GetEntry { server: "notes".into() }).await.unwrap().0;
    assert_eq!(shown["headers"], json!({ "Authorization": HIDDEN, "X-Team": "a" }));
    shown["headers"]["X-Team"] = json!("b");
    house.change(Change::Edit { name: "notes".into(), entry: Value::Object(shown) }).await;
    let headers = &house.config()["mcpServers"]["notes"]["headers"];
    assert_eq!(*headers, json!({ "Authorization": "Bearer abc", "X-Team": "b" }));
}

#[tokio::test]
async fn an_invalid_entry_is_off_alone() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let servers = json!({ "good": server.entry(), "bad": { "command": 7 } });
    let house = House::open(json!({ "mcpServers": servers })).await;
    house.until("good", |view| view.tools == Some(1)).await;
    let bad = house.until("bad", |_| true).await;
    assert!(bad.state.needs_you(), "{bad:?}");
    assert_eq!(house.call("editor", "good:echo", json!({})).await.unwrap(), "{}");
}

#[tokio::test]
async fn a_change_that_makes_no_sense_is_refused_and_writes_nothing() {
    let (house, _server) = notes().await;
    let before = house.config();
    for change in [
        add("no name", Target::Url { url: "nonsense".into(), headers: Default::default() }),
        add("", url("http://127.0.0.1:9/mcp")),
        Change::Remove { name: "nobody".into() },
        Change::SetEnabled { name: "nobody".into(), enabled: true },
        Change::Duplicate { name: "nobody".into(), to: "other".into() },
        Change::Duplicate { name: "notes".into(), to: "notes".into() },
        Change::Edit { name: "notes".into(), entry: json!({ "url": 7 }) },
        Change::Put { name: "other".into(), entry: json!([]), replace: false, rules: vec![] },
    ] {
        let refused = house.ask(change.clone()).await;
        assert!(refused.is_err(), "{change:?}");
    }
    assert_eq!(house.config(), before);
}

#[tokio::test]
async fn requests_about_an_unknown_server_say_so() {
    let house = House::open(json!({})).await;
    let unknown = "nobody".to_owned();
    let refusals = [
        house.ask(Restart { server: unknown.clone() }).await.map(drop).unwrap_err(),
        house.ask(Rest { server: unknown.clone() }).await.map(drop).unwrap_err(),
        house.ask(GetEntry { server: unknown }).await.map(drop).unwrap_err(),
    ];
    assert!(refusals.iter().all(|refusal| refusal.code == Code::UnknownServer), "{refusals:?}");
}

#[tokio::test]
async fn a_server_that_is_put_to_sleep_keeps_its_tools_and_wakes_for_a_call() {
    let (house, server) = notes().await;
    house.ask(Restart { server: "notes".into() }).await.unwrap();
    house.until("notes", is_ready).await;
    house.ask(Rest { server: "notes".into() }).await.unwrap();
    house.until("notes", |view| !is_ready(view)).await;
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
    house.call("editor", "notes:echo", json!({})).await.unwrap();
    assert_eq!(server.called().len(), 1);
}

#[tokio::test]
async fn a_servers_tools_are_known_after_a_restart_of_the_hub() {
    let (house, server) = notes().await;
    house.change(Change::SetEnabled { name: "notes".into(), enabled: true }).await;
    let house = house.again().await;
    drop(server);
    assert_eq!(house.until("notes", |_| true).await.tools, Some(1));
    assert_eq!(house.tools_of("editor"), ["notes:echo"]);
}
