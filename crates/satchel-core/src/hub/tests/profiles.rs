//! Profiles: which servers and tools a client may use.

use satchel_mcp::RawObject;
use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    bridge::Caller,
    hub::Scope,
    model::{Code, control::Change, profiles::Profile, request::BindClient},
};

async fn two_servers() -> (House, [TestServer; 2]) {
    let tools = || vec![tool("get_a", "Gets a."), tool("delete_a", "Removes a.")];
    let (files, notes) = (TestServer::start(tools()).await, TestServer::start(tools()).await);
    let house = House::with(&[("files", &files), ("notes", &notes)]).await;
    house.until("files", |view| view.tools == Some(2)).await;
    house.until("notes", |view| view.tools == Some(2)).await;
    (house, [files, notes])
}

fn put(name: &str, profile: Profile) -> Change {
    Change::PutProfile { name: name.into(), was: None, profile }
}

fn of(servers: &[&str], except: &[&str]) -> Profile {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Profile { servers: texts(servers), only: vec![], except: texts(except) }
}

fn choose(name: Option<&str>) -> Change {
    Change::UseProfile { name: name.map(Into::into) }
}

#[tokio::test]
async fn the_active_profile_counts_for_every_client_without_its_own() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &["*:delete_*"]))).await;
    assert_eq!(house.tools_of("editor").len(), 4, "a profile that nobody chose changes nothing");
    house.change(choose(Some("writing"))).await;
    assert_eq!(house.tools_of("editor"), ["notes:get_a"]);
    let refused = house.call("editor", "files:get_a", json!({})).await.unwrap_err();
    assert!(refused.contains("writing"), "{refused}");
    house.change(choose(None)).await;
    assert_eq!(house.tools_of("editor").len(), 4);
}

#[tokio::test]
async fn a_bound_client_keeps_its_profile_whichever_is_active() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &[]))).await;
    house.change(put("code", of(&["files"], &[]))).await;
    house.change(choose(Some("code"))).await;
    house.ask(BindClient { client: "cursor".into(), profile: Some("writing".into()) }).await.unwrap();
    assert_eq!(house.tools_of("cursor"), ["notes:get_a", "notes:delete_a"]);
    assert_eq!(house.tools_of("editor"), ["files:get_a", "files:delete_a"]);
}

#[tokio::test]
async fn a_program_may_not_let_a_client_out_of_its_profile() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &[]))).await;
    let bind =
        |profile: Option<&str>| BindClient { client: "cursor".into(), profile: profile.map(Into::into) };
    house.ask_as_program(bind(Some("writing"))).await.unwrap();
    assert_eq!(house.ask_as_program(bind(None)).await.unwrap_err().code, Code::NeedsPerson);
    let wider = Change::PutProfile {
        name: "writing".into(),
        was: Some("writing".into()),
        profile: of(&["notes", "files"], &[]),
    };
    assert_eq!(house.ask_as_program(wider).await.unwrap_err().code, Code::NeedsPerson);
    assert_eq!(house.tools_of("cursor").len(), 2);
}

#[tokio::test]
async fn a_renamed_profile_keeps_its_clients() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &[]))).await;
    house.ask(BindClient { client: "cursor".into(), profile: Some("writing".into()) }).await.unwrap();
    let renamed =
        Change::PutProfile { name: "text".into(), was: Some("writing".into()), profile: of(&["notes"], &[]) };
    house.change(renamed).await;
    let profiles = house.hub.snapshot().profiles.clone();
    assert_eq!(profiles.all.iter().map(|view| view.name.as_str()).collect::<Vec<_>>(), ["text"]);
    assert_eq!(profiles.all[0].clients, ["cursor"]);
    assert_eq!(house.tools_of("cursor").len(), 2);
}

#[tokio::test]
async fn a_profile_in_use_is_not_removed() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &[]))).await;
    house.ask(BindClient { client: "cursor".into(), profile: Some("writing".into()) }).await.unwrap();
    let remove = || Change::RemoveProfile { name: "writing".into() };
    assert_eq!(house.ask(remove()).await.unwrap_err().code, Code::ProfileInUse);
    house.ask(BindClient { client: "cursor".into(), profile: None }).await.unwrap();
    house.change(remove()).await;
    assert_eq!(house.hub.snapshot().profiles.all, []);
}

#[tokio::test]
async fn a_profile_that_is_not_there_lets_nothing_through() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let config = json!({ "mcpServers": { "notes": server.entry() }, "activeProfile": "nowhere" });
    let house = House::open(config).await;
    house.until("notes", |_| true).await;
    assert_eq!(house.tools_of("editor"), [""; 0]);
    let notices = house.hub.snapshot().notices.clone();
    assert!(notices.iter().any(|notice| notice.code == Code::UnknownProfile), "{notices:?}");
    house.change(choose(None)).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    assert!(house.hub.snapshot().notices.is_empty());
}

#[tokio::test]
async fn a_folder_has_a_profile_of_its_own_for_clients_that_work_in_it() {
    let (house, _servers) = two_servers().await;
    house.change(put("web", of(&["files"], &[]))).await;
    house.change(Change::BindFolder { folder: "/home/me/web".into(), profile: Some("web".into()) }).await;
    let within = |folder: &str| {
        let scope = Scope::of(None);
        let hub = house.hub.seen_by("editor").within(&scope);
        hub.works_in(vec![folder.to_owned()]);
        hub.catalog().tools().count()
    };
    assert_eq!((within("/home/me/web/src"), within("/home/me/webs")), (2, 4));
}

#[tokio::test]
async fn an_address_names_a_profile() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &["notes:delete_a"]))).await;
    let count = |name: &str| {
        let hub = house.hub.seen_by("editor").within(&Scope::of(Some(name)));
        hub.catalog().tools().count()
    };
    assert_eq!((count("writing"), count("nowhere")), (1, 0));
    assert!(house.hub.has_profile("writing") && !house.hub.has_profile("nowhere"));
}

#[tokio::test]
async fn choosing_a_profile_that_is_not_there_is_refused() {
    let (house, _servers) = two_servers().await;
    house.ask(choose(Some("nowhere"))).await.unwrap_err();
    let bind = BindClient { client: "cursor".into(), profile: Some("nowhere".into()) };
    assert_eq!(house.ask(bind).await.unwrap_err().code, Code::UnknownProfile);
    assert_eq!(house.tools_of("editor").len(), 4);
}

#[tokio::test]
async fn a_client_bound_to_a_profile_that_is_gone_is_told_what_helps() {
    let (house, _servers) = two_servers().await;
    house.change(put("writing", of(&["notes"], &[]))).await;
    house.ask(BindClient { client: "cursor".into(), profile: Some("writing".into()) }).await.unwrap();
    let mut config = house.config();
    config["profiles"] = json!({});
    std::fs::write(&house.hub.places().config_file, config.to_string()).unwrap();
    let hub = house.hub.seen_by("cursor");
    house.until("notes", |_| hub.lens().is_shut().is_some()).await;
    let way = hub.lens().way_out();
    assert!(way.contains("satchel profile bind") && way.contains("satchel profile unbind"), "{way}");
    let refused = house.hub.execute_tool(&Caller::alone("cursor"), "notes:echo", RawObject::new()).await;
    let refused = refused.unwrap_err();
    assert!(refused.action.contains("satchel profile unbind"), "{refused:?}");
    assert!(!house.hub.seen_by("editor").lens().narrows(), "nobody else is affected");
}
