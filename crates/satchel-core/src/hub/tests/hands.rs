//! Other hands: what a changed file, or the setup of another computer, may do before a person has looked.

use serde_json::{Value, json};

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    Code,
    control::Change,
    nature::Permit,
    request::{ApproveSettings, ListApprovals, ReadSetup, TakeSetup, Undo, WriteSetup},
    setup::{SetupChoice, SetupSource, TakenSetup},
};

async fn echo() -> TestServer {
    TestServer::start(vec![tool("echo", "Says it again.")]).await
}

fn with(entry: Value, more: &Value) -> Value {
    let mut entry = entry;
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

/// Accepts the settings that wait, as a person in the window.
async fn accept(house: &House) {
    let waiting = house.ask(ListApprovals { server: None }).await.unwrap().settings.unwrap();
    let accept = || ApproveSettings { fingerprint: waiting.fingerprint.clone() };
    assert_eq!(house.ask_as_program(accept()).await.unwrap_err().code, Code::NeedsPerson);
    house.ask(accept()).await.unwrap();
    assert!(house.ask(ListApprovals { server: None }).await.unwrap().settings.is_none());
}

#[tokio::test]
async fn what_another_hand_switches_on_waits_while_the_hub_runs_and_after_a_restart() {
    let server = echo().await;
    let off = with(server.entry(), &json!({ "enabled": false }));
    let house = House::open(json!({ "mcpServers": { "notes": off } })).await;
    let on = with(server.entry(), &json!({ "exactResults": true, "keepCalls": true }));
    let loose = json!({ "mcpServers": { "notes": on }, "history": { "record": false } });
    std::fs::write(&house.hub.places().config_file, loose.to_string()).unwrap();
    let mut watch = house.hub.watch();
    let held = |snapshot: &crate::model::Snapshot| {
        snapshot.notices.iter().any(|notice| notice.code == Code::SettingsHeld)
    };
    let told = watch.wait_for(|snapshot| held(snapshot));
    let told = tokio::time::timeout(std::time::Duration::from_secs(30), told).await.is_ok();
    assert!(told, "{:?}", house.hub.snapshot().notices);
    let check = async |house: &House| {
        let config = house.hub.config();
        let entry = &config.servers()["notes"];
        assert_eq!((entry.enabled, entry.exact_results, entry.keep_calls), (false, false, false));
        assert!(config.history().record);
        assert!(!house.until("notes", |_| true).await.enabled);
        house.call("editor", "notes:echo", json!({})).await.unwrap_err();
    };
    check(&house).await;
    let house = house.again().await;
    check(&house).await;
    accept(&house).await;
    house.until("notes", |view| view.enabled).await;
    assert!(!house.hub.config().history().record && house.hub.config().servers()["notes"].exact_results);
}

#[tokio::test]
async fn a_person_switches_on_what_another_hand_had_written() {
    let server = echo().await;
    let off = with(server.entry(), &json!({ "enabled": false }));
    let house = House::open(json!({ "mcpServers": { "notes": off } })).await;
    let house = house.again_with(&json!({ "mcpServers": { "notes": server.entry() } })).await;
    assert!(!house.until("notes", |_| true).await.enabled);
    house.change(Change::SetEnabled { name: "notes".into(), enabled: true }).await;
    house.until("notes", |view| view.enabled).await;
    assert!(house.ask(ListApprovals { server: None }).await.unwrap().settings.is_none());
}

async fn take_all(house: &House, from: &SetupSource) -> TakenSetup {
    let review = house.ask(ReadSetup { from: from.clone() }).await.unwrap();
    let choice = |one: &crate::model::setup::SetupDifference| SetupChoice {
        id: one.id.clone(),
        seen: one.seen.clone(),
    };
    let parts = review.differences.iter().map(choice).collect();
    house.ask(TakeSetup { from: from.clone(), parts, passphrase: None }).await.unwrap()
}

#[tokio::test]
async fn a_setup_switches_nothing_on_and_what_it_loosens_waits() {
    let (server, other) = (echo().await, echo().await);
    let theirs = House::open(json!({
        "mcpServers": {
            "new": with(server.entry(), &json!({ "exactResults": true })),
            "known": other.entry(),
        },
        "toolRules": [{ "tool": "*:*", "permit": "allow" }],
        "toolDefaults": { "deletes": "allow" },
        "history": { "record": false },
        "profiles": { "p": { "servers": ["new", "known"] } },
    }))
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.satchel.json");
    theirs.ask(WriteSetup { path: path.clone(), passphrase: None }).await.unwrap();
    let from = SetupSource::File(path);

    let house = House::open(json!({
        "mcpServers": { "known": server.entry() },
        "profiles": { "p": { "servers": ["known"] } },
        "activeProfile": "p",
    }))
    .await;
    house.until("known", |view| view.tools == Some(1)).await;
    let review = house.ask(ReadSetup { from: from.clone() }).await.unwrap();
    let warned: Vec<&str> =
        review.differences.iter().filter(|one| !one.warnings.is_empty()).map(|one| one.id.as_str()).collect();
    for part in ["profile:p", "setting:history", "setting:toolDefaults", "setting:toolRules"] {
        assert!(warned.contains(&part), "{part}: {warned:?}");
    }
    let taken = take_all(&house, &from).await;
    assert!(taken.left.is_empty() && taken.waits, "{taken:?}");
    assert_eq!(taken.off, ["new"]);
    let config = house.hub.config();
    assert!(!config.servers()["new"].enabled && !config.servers()["new"].exact_results);
    assert!(config.tool_rules().is_empty() && config.tool_defaults().deletes.is_none());
    assert!(config.history().record);
    assert!(!config.profiles().all()["p"].lets_in("new"));
    // Another program of the same name runs nothing before a person has looked.
    house.until("known", |view| view.not_started.is_some()).await;

    let again = house.ask(ReadSetup { from: from.clone() }).await.unwrap();
    assert_eq!(again.differences, [], "whether a server is on is no difference");
    accept(&house).await;
    let rule = house.hub.config().tool_rules()[0].permit;
    assert_eq!(rule, Some(Permit::Allow));
    house.ask(Undo { environment: [].into() }).await.unwrap();
    assert!(house.hub.config().tool_rules().is_empty());
    assert!(house.ask(ListApprovals { server: None }).await.unwrap().settings.is_none());
}

#[tokio::test]
async fn a_secret_in_arguments_waits_for_a_yes_where_other_people_could_read_it() {
    let put = |args: &[&str]| Change::Put {
        name: "far".into(),
        entry: json!({ "command": "no-such-program", "args": args }),
        replace: true,
        rules: vec![],
    };
    let waits = async |house: &House| house.until("far", |_| true).await.not_started.is_some();
    let house = House::open(json!({})).await;
    house.change(put(&["--token", "${secret:TOKEN}"])).await;
    assert!(!waits(&house).await, "on a computer of one person");

    let house = House::among_others(json!({})).await;
    house.change(put(&["--plain"])).await;
    assert!(!waits(&house).await, "without a secret");
    house.change(put(&["--token", "${secret:TOKEN}"])).await;
    assert!(waits(&house).await);
    let listed = house.ask(ListApprovals { server: Some("far".into()) }).await.unwrap();
    let shown = serde_json::to_string(&listed).unwrap();
    assert!(shown.contains("every program of this computer can read: ${secret:TOKEN}"), "{shown}");
}
