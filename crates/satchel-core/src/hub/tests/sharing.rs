//! Servers that not all callers share: whose call goes to which instance, how many there are, and when one ends.

use std::{path::Path, time::Duration};

use satchel_mcp::{Raw, RawObject};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    bridge::Caller,
    hub::{Failed, Hub, NamedFolder, Scope, instances::MOST},
    model::{
        ServerView,
        control::Change,
        request::{CallTool, Pause, Restart, Resume},
        server::Share,
        snapshot::InstanceView,
    },
};

/// Nothing here takes so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// What a result says where its server was started anew.
const ANEW: &str = "was started anew";

async fn notes(share: Value) -> (House, TestServer) {
    let server = TestServer::start(vec![tool("echo", "Says it again."), tool("slow", "Waits.")]).await;
    let mut entry = server.entry();
    if !share.is_null() {
        entry["share"] = share;
    }
    let house = House::open(json!({ "mcpServers": { "notes": entry } })).await;
    house.until("notes", |view| view.tools == Some(2)).await;
    (house, server)
}

/// A session of a client.
struct Session {
    hub: Hub,
    client: &'static str,
    scope: Scope,
}

impl Session {
    fn open(house: &House, client: &'static str) -> Self {
        let scope = Scope::of(None);
        scope.begin_session(false);
        Self { hub: house.hub.within(&scope), client, scope }
    }

    /// The same in a folder, which the client's roots name.
    fn within(house: &House, client: &'static str, folder: &Path) -> Self {
        let session = Self::open(house, client);
        session.hub.seen_by(client).works_in(vec![folder.to_string_lossy().into_owned()]);
        session
    }

    /// A client that opens no session.
    fn none(house: &House, client: &'static str) -> Self {
        let scope = Scope::of(None);
        Self { hub: house.hub.within(&scope), client, scope }
    }

    async fn call(&self, path: &str) -> Result<Value, String> {
        let mut params = RawObject::new();
        params.set("arguments", Raw::from_string("{}".to_owned()).unwrap());
        let called = async {
            let running = self.hub.execute_tool(&Caller::alone(self.client), path, params).await;
            running.map_err(Failed::Hub)?.finish().await
        };
        let result = tokio::time::timeout(PATIENCE, called).await.expect("a call ends");
        Ok(serde_json::from_str(result.map_err(|failed| failed.to_string())?.get()).unwrap())
    }

    /// Calls the tool that answers at once, and gives the whole result as a text.
    async fn echo(&self) -> String {
        self.call("notes:echo").await.unwrap().to_string()
    }
}

fn instances(view: &ServerView) -> &[InstanceView] {
    view.share.as_ref().map(|share| share.instances.as_slice()).unwrap_or_default()
}

fn whose(view: &ServerView) -> Vec<&str> {
    instances(view).iter().filter_map(|instance| instance.client.as_deref()).collect()
}

#[tokio::test]
async fn without_the_setting_all_callers_share_one_instance() {
    for share in [Value::Null, json!("all"), json!(true)] {
        let (house, _server) = notes(share).await;
        Session::open(&house, "editor").echo().await;
        Session::open(&house, "agent").echo().await;
        let view = house.until("notes", |view| view.calls == 2).await;
        assert_eq!((instances(&view).len(), view.starts), (0, 1), "{:?}", view.share);
    }
}

#[tokio::test]
async fn each_session_has_its_own_instance_which_ends_with_it() {
    let (house, _server) = notes(json!("session")).await;
    let (one, two) = (Session::open(&house, "editor"), Session::open(&house, "editor"));
    one.echo().await;
    two.echo().await;
    two.echo().await;
    let view = house.until("notes", |view| view.calls == 3).await;
    assert!(
        instances(&view)
            .iter()
            .all(|instance| instance.session && instance.client.as_deref() == Some("editor"))
    );
    assert_eq!(instances(&view).len(), 2, "{view:#?}");
    one.scope.end_session();
    let view = house.until("notes", |view| instances(view).len() == 1).await;
    drop(two);
    assert!(view.share.unwrap().chosen);
    house.until("notes", |view| instances(view).is_empty()).await;
}

#[tokio::test]
async fn the_sessions_of_a_client_share_its_instance_and_clients_without_sessions_have_one() {
    let (house, _server) = notes(json!("client")).await;
    for session in [Session::open(&house, "editor"), Session::open(&house, "editor")] {
        session.echo().await;
    }
    Session::none(&house, "agent").echo().await;
    Session::none(&house, "agent").echo().await;
    let view = house.until("notes", |view| view.calls == 4).await;
    assert_eq!(whose(&view), ["editor", "agent"]);
    let (house, _server) = notes(json!("session")).await;
    Session::none(&house, "agent").echo().await;
    Session::none(&house, "agent").echo().await;
    let view = house.until("notes", |view| view.calls == 2).await;
    assert_eq!((whose(&view), instances(&view)[0].session), (vec!["agent"], false));
}

#[tokio::test]
async fn what_a_session_has_open_stays_while_it_is_connected() {
    let (house, _server) = notes(json!("client")).await;
    let session = Session::open(&house, "editor");
    session.echo().await;
    Session::none(&house, "agent").echo().await;
    let sleeps = |view: &InstanceView| match view.state {
        crate::model::ServerState::Ready { in_flight: 0, sleeps_at_ms } => Some(sleeps_at_ms.is_some()),
        _ => None,
    };
    let stand = |view: &ServerView| instances(view).iter().map(sleeps).collect::<Vec<_>>();
    house.until("notes", |view| stand(view) == [Some(false), Some(true)]).await;
    session.scope.end_session();
    house.until("notes", |view| stand(view) == [Some(true), Some(true)]).await;
}

#[tokio::test]
async fn one_more_takes_the_place_of_the_one_unused_for_longest_and_that_is_said_when_it_returns() {
    let (house, _server) = notes(json!("session")).await;
    let sessions: Vec<Session> = (0..=MOST).map(|_| Session::open(&house, "editor")).collect();
    for session in &sessions {
        assert!(!session.echo().await.contains(ANEW));
    }
    let view = house.until("notes", |view| view.calls == MOST as u64 + 1).await;
    assert_eq!(instances(&view).len(), MOST);
    let again = sessions[0].echo().await;
    assert!(again.contains(ANEW) && again.contains("dev.satchel/startedAnew"), "{again}");
    assert!(!sessions[0].echo().await.contains(ANEW), "it is said once");
    assert!(!sessions[MOST].echo().await.contains(ANEW), "it was used more recently");
}

#[tokio::test]
async fn while_all_instances_are_in_use_one_more_is_refused_with_the_reason() {
    let (house, server) = notes(json!("session")).await;
    let mut calls = JoinSet::new();
    for _ in 0..MOST {
        let session = Session::open(&house, "editor");
        calls.spawn(async move { session.call("notes:slow").await });
    }
    let busy = |view: &ServerView| {
        let in_flight =
            |one: &InstanceView| matches!(one.state, crate::model::ServerState::Ready { in_flight: 1.., .. });
        instances(view).iter().filter(|one| in_flight(one)).count() == MOST
    };
    house.until("notes", busy).await;
    let refused = Session::open(&house, "editor").call("notes:echo").await.unwrap_err();
    assert!(refused.contains("has 8 instances") && refused.contains("calls in flight"), "{refused}");
    (0..MOST).for_each(|_| server.go_on());
    assert!(calls.join_all().await.iter().all(Result::is_ok));
}

#[tokio::test]
async fn more_sessions_at_once_than_instances_take_no_instance_from_a_call() {
    let (house, _server) = notes(json!("session")).await;
    let mut calls = JoinSet::new();
    for _ in 0..MOST + 4 {
        let session = Session::open(&house, "editor");
        calls.spawn(async move { session.call("notes:echo").await });
    }
    let (answered, refused): (Vec<_>, Vec<_>) = calls.join_all().await.into_iter().partition(Result::is_ok);
    assert!(answered.len() >= MOST, "{refused:?}");
    let is_told =
        |refused: &Result<Value, String>| refused.as_ref().is_err_and(|why| why.contains("has 8 instances"));
    assert!(refused.iter().all(is_told), "{refused:?}");
}

#[tokio::test]
async fn a_session_that_was_opened_again_is_told_that_its_server_was_started_anew() {
    let (house, _server) = notes(json!("session")).await;
    let scope = Scope::of(None);
    scope.begin_session(true);
    let session = Session { hub: house.hub.within(&scope), client: "editor", scope };
    assert!(session.echo().await.contains(ANEW));
    assert!(!session.echo().await.contains(ANEW));
}

#[tokio::test]
async fn instances_end_with_a_pause_and_with_another_choice() {
    let (house, _server) = notes(json!("session")).await;
    let session = Session::open(&house, "editor");
    session.echo().await;
    house.until("notes", |view| instances(view).len() == 1).await;
    house.ask(Pause { until_ms: None }).await.unwrap();
    house.until("notes", |view| instances(view).is_empty()).await;
    house.ask(Resume {}).await.unwrap();
    assert!(session.echo().await.contains(ANEW));
    house.change(Change::SetShare { name: "notes".into(), share: Some(Share::All) }).await;
    house.until("notes", |view| instances(view).is_empty()).await;
    assert!(!session.echo().await.contains(ANEW), "the instance that all share had nothing open for it");
    assert_eq!(house.config()["mcpServers"]["notes"]["share"], "all");
}

#[tokio::test]
async fn a_program_may_share_less_and_a_person_is_asked_before_more_is_shared() {
    let (house, _server) = notes(json!("client")).await;
    let change = |share| Change::SetShare { name: "notes".into(), share };
    house.ask_as_program(change(Some(Share::Session))).await.unwrap();
    for share in [Some(Share::Client), Some(Share::All), None] {
        house.ask_as_program(change(share)).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_person_uses_the_instance_that_is_shown() {
    let (house, _server) = notes(json!("session")).await;
    house.ask(CallTool { tool_path: "notes:echo".into(), arguments: json!({}) }).await.unwrap();
    let view = house.until("notes", |view| view.calls == 1).await;
    assert_eq!(instances(&view).len(), 0);
}

#[tokio::test]
async fn a_client_is_told_when_a_browser_that_all_share_has_begun_anew() {
    let tools = vec![
        tool("go", "Opens an address in the browser."),
        tool("see", "Says which page is open in the browser."),
    ];
    let server = TestServer::start(tools).await;
    let mut entry = server.entry();
    entry["share"] = json!("all");
    let house = House::open(json!({ "mcpServers": { "web": entry } })).await;
    house.until("web", |view| view.tools == Some(2)).await;
    let session = Session::open(&house, "editor");
    let see = async || session.call("web:see").await.unwrap().to_string();
    assert!(!see().await.contains(ANEW));
    house.ask(Restart { server: "web".into() }).await.unwrap();
    house.until("web", |view| view.starts > 1).await;
    assert!(!Session::open(&house, "agent").call("web:see").await.unwrap().to_string().contains(ANEW));
    assert!(see().await.contains(ANEW));
    assert!(!see().await.contains(ANEW), "it is said once");
}

#[tokio::test]
async fn a_server_whose_tools_keep_something_open_is_not_shared_unless_a_person_says_so() {
    let tools = vec![
        tool("go", "Opens an address in the browser."),
        tool("see", "Says which page is open in the browser."),
    ];
    let server = TestServer::start(tools).await;
    let house = House::with(&[("web", &server)]).await;
    let view = house.until("web", |view| view.share.is_some()).await.share.unwrap();
    assert_eq!(view.sentence(), "Each session has an instance of its own, because it keeps a browser open");
    let sessions = [Session::open(&house, "editor"), Session::open(&house, "agent")];
    for session in &sessions {
        session.call("web:see").await.unwrap();
    }
    let view = house.until("web", |view| view.calls == 2).await;
    assert_eq!(whose(&view), ["editor", "agent"]);
    house.change(Change::SetShare { name: "web".into(), share: Some(Share::All) }).await;
    let view = house.until("web", |view| instances(view).is_empty()).await.share.unwrap();
    assert_eq!(view.sentence(), "All clients share one instance, although it keeps a browser open");
    house.change(Change::SetShare { name: "web".into(), share: None }).await;
    let view = house.until("web", |view| view.share.as_ref().is_some_and(|share| !share.chosen)).await;
    assert_eq!(view.share.unwrap().share, Share::Session);
}

fn folders(view: &ServerView) -> Vec<&str> {
    instances(view).iter().filter_map(|instance| instance.folder.as_deref()).collect()
}

#[tokio::test]
async fn who_works_in_one_folder_shares_an_instance_and_others_use_the_one_for_all() {
    let (house, _server) = notes(json!("project")).await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (web, api) = (dir.join("web"), dir.join("api"));
    std::fs::create_dir(&web).unwrap();
    std::fs::create_dir(&api).unwrap();
    let (web_text, api_text) = (web.to_string_lossy(), api.to_string_lossy());
    Session::within(&house, "editor", &web).echo().await;
    Session::within(&house, "agent", &web.join("../web")).echo().await;
    Session::within(&house, "editor", &api).echo().await;
    Session::open(&house, "editor").echo().await;
    let view = house.until("notes", |view| view.calls == 4).await;
    assert_eq!(folders(&view), [&*web_text, &*api_text]);
    assert_eq!(whose(&view), [""; 0]);
    assert_eq!(view.share.unwrap().sentence(), "Each project folder has an instance of its own");
}

#[tokio::test]
async fn a_folder_that_a_request_names_counts_before_roots_and_those_before_where_a_program_started() {
    let (house, _server) = notes(json!("project")).await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let folder = |name: &str| {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.to_string_lossy().into_owned()
    };
    let within = |named: NamedFolder, roots: Vec<String>| {
        let scope = Scope::of(None).naming(Some(named));
        scope.begin_session(false);
        let session = Session { hub: house.hub.within(&scope), client: "editor", scope };
        session.hub.seen_by("editor").works_in(roots);
        session
    };
    let named = within(NamedFolder::Project(folder("named")), vec![folder("root")]);
    let rooted = within(NamedFolder::StartedIn(folder("cwd")), vec![folder("root"), folder("other")]);
    let started = within(NamedFolder::StartedIn(folder("cwd")), vec![]);
    for session in [&named, &rooted, &started] {
        session.echo().await;
    }
    let view = house.until("notes", |view| view.calls == 3).await;
    assert_eq!(folders(&view), [folder("named"), folder("root"), folder("cwd")]);
}

#[tokio::test]
async fn a_session_that_moves_to_another_folder_gets_another_instance() {
    let (house, _server) = notes(json!("project")).await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = Session::within(&house, "editor", &dir);
    session.echo().await;
    let next = dir.join("next");
    std::fs::create_dir(&next).unwrap();
    session.hub.seen_by("editor").works_in(vec![next.to_string_lossy().into_owned()]);
    session.echo().await;
    let view = house.until("notes", |view| view.calls == 2).await;
    assert_eq!(folders(&view), [dir.to_string_lossy(), next.to_string_lossy()]);
}

#[tokio::test]
async fn a_server_that_runs_in_a_folder_is_not_started_for_a_session_without_one() {
    let entry = json!({ "command": "no-such-program", "args": ["${project}"], "startup": "eager" });
    let house = House::open(json!({ "mcpServers": { "code": entry } })).await;
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    let none = Session::open(&house, "editor").call("code:look").await.unwrap_err();
    assert!(
        none.contains("runs in the folder of a session") && none.contains("its client names none"),
        "{none}"
    );
    let missing = Session::within(&house, "editor", &gone).call("code:look").await.unwrap_err();
    assert!(missing.contains("there is no folder"), "{missing}");
    let person = CallTool { tool_path: "code:look".into(), arguments: json!({}) };
    let person = house.ask(person).await.unwrap_err();
    assert!(person.message.contains("a person's call belongs to none"), "{person}");
    let view = house.until("code", |_| true).await;
    assert_eq!((view.starts, &view.last_failure, instances(&view).len()), (0, &None, 0));
    let there = Session::within(&house, "editor", dir.path()).call("code:look").await.unwrap_err();
    assert!(there.contains("no-such-program"), "its start was tried there: {there}");
    assert_eq!(
        house.until("code", |view| view.share.is_some()).await.share.unwrap().sentence(),
        "Each project folder has an instance of its own, because its entry contains ${project}"
    );
}
