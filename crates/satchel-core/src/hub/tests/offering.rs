//! What faces and models are shown of what servers offer: searches, tools, resources and prompts.

use std::time::Duration;

use super::{
    super::launch::AGAIN,
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    Code,
    control::Change,
    nature::Permit,
    offered::OfferedThing,
    request::{CancelTry, FollowTry, GetTool, ListOffered, ListTools, ReadOffered, TryTool},
};

async fn notes() -> (House, TestServer) {
    let tools = vec![
        tool("create_note", "Creates a note."),
        tool("list_mail", "Lists mail."),
        tool("slow", "Waits."),
    ];
    let server = TestServer::start(tools).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(3) && view.resources == Some(1)).await;
    (house, server)
}

/// A laptop that is offline or busy when it starts.
#[tokio::test]
async fn a_server_that_was_down_when_its_lists_were_first_wanted_is_asked_again() {
    let server = TestServer::start(vec![tool("create_note", "Creates a note.")]).await;
    server.set_down(true);
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.last_failure.is_some()).await;
    server.set_down(false);
    let notes = house.hub.servers()["notes"].clone();
    while notes.unread.try_lock().is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::pause();
    tokio::time::advance(AGAIN[0]).await;
    tokio::time::resume();
    house.until("notes", |view| view.tools == Some(1)).await;
}

fn search(query: &str) -> ListTools {
    ListTools { query: query.into(), server: None, limit: 10 }
}

fn attempt(run: &str, path: &str, arguments: &str) -> TryTool {
    TryTool { run: run.into(), tool_path: path.into(), arguments: arguments.into(), page_of: None }
}

#[tokio::test]
async fn a_search_finds_the_tool_first_that_says_its_words() {
    let (house, _server) = notes().await;
    let found = house.ask(search("mail")).await.unwrap();
    assert_eq!(found.tools[0].tool_path, "notes:list_mail");
    let all = house.ask(search("")).await.unwrap();
    assert_eq!((all.tools.len(), all.total), (3, 3));
}

#[tokio::test]
async fn a_tools_page_says_which_rule_switches_it_off() {
    let (house, _server) = notes().await;
    let off = Change::SetPermit { tool: "notes:list_mail".into(), client: None, permit: Some(Permit::Off) };
    house.change(off).await;
    let line = house.ask(GetTool { tool_path: "notes:list_mail".into() }).await.unwrap().line;
    assert_eq!(line.permit, Permit::Off);
    assert!(line.rule.contains("list_mail"), "{}", line.rule);
}

#[tokio::test]
async fn a_tools_page_has_its_definition_as_the_server_wrote_it() {
    let (house, _server) = notes().await;
    let details = house.ask(GetTool { tool_path: "notes:create_note".into() }).await.unwrap();
    let definition: serde_json::Value = serde_json::from_str(&details.definition).unwrap();
    assert_eq!(definition, tool("create_note", "Creates a note."));
    for (path, code) in [("notes:nothing", Code::UnknownPath), ("nobody:x", Code::UnknownServer)] {
        let refused = house.ask(GetTool { tool_path: path.into() }).await.unwrap_err();
        assert_eq!(refused.code, code, "{path}");
    }
}

#[tokio::test]
async fn resources_and_prompts_are_listed_and_read_for_a_person() {
    let (house, _server) = notes().await;
    let offered = house.ask(ListOffered { server: "notes".into() }).await.unwrap();
    assert_eq!((offered.resources.len(), offered.prompts.len()), (1, 1));
    let read = |what| ReadOffered { server: "notes".into(), what };
    let note = house.ask(read(OfferedThing::Resource("note://one".into()))).await.unwrap();
    assert!(note.result.contains("a note"), "{}", note.result);
    let greeting = OfferedThing::Prompt { name: "greet".into(), arguments: Default::default() };
    let greeting = house.ask(read(greeting)).await.unwrap();
    assert!(greeting.result.contains("hello"), "{}", greeting.result);
}

#[tokio::test]
async fn a_tool_that_is_tried_goes_by_the_rules_of_the_window() {
    let (house, server) = notes().await;
    let tried = house.ask(attempt("1", "notes:create_note", r#"{"text":"a"}"#)).await.unwrap();
    assert!(tried.result.contains(r#"{\"text\":\"a\"}"#), "{}", tried.result);
    let off = Change::SetPermit { tool: "notes:create_note".into(), client: None, permit: Some(Permit::Off) };
    house.change(off).await;
    house.ask(attempt("2", "notes:create_note", "{}")).await.unwrap_err();
    let bad = house.ask(attempt("3", "notes:list_mail", "[]")).await.unwrap_err();
    assert_eq!((bad.code, server.called().len()), (Code::BadArguments, 1));
}

#[tokio::test]
async fn a_tool_that_is_tried_can_be_cancelled() {
    let (house, _server) = notes().await;
    let person = async {
        // It is under way once the server was asked.
        house.until("notes", |view| view.calls == 1).await;
        house.ask(CancelTry { run: "1".into() }).await.unwrap();
    };
    let (tried, ()) = tokio::join!(house.ask(attempt("1", "notes:slow", "{}")), person);
    assert_eq!(tried.unwrap_err().code, Code::Cancelled);
    assert!(house.ask(FollowTry { run: "1".into(), seen: 0 }).await.unwrap().over);
}

#[tokio::test]
async fn a_search_of_a_client_finds_nothing_that_it_may_not_use() {
    let (house, _server) = notes().await;
    let off = Change::SetPermit {
        tool: "notes:list_mail".into(),
        client: Some("agent".into()),
        permit: Some(Permit::Off),
    };
    house.change(off).await;
    let found = |client: &str| {
        let catalog = house.hub.seen_by(client).catalog();
        catalog.find("list mail", None).iter().any(|(_, tool)| tool.name == "list_mail")
    };
    assert_eq!((found("agent"), found("editor")), (false, true));
}
