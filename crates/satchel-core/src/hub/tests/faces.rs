//! What faces hold and show: tokens, notices, surfaces, stored secrets, the whole setup.

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    Code, Notice,
    clients::Surface,
    control::{Change, Target},
    request::{
        EnterVariable, ListSecrets, MakeToken, ReadLog, ReadSetup, RemoveSecret, SetSecret, SetSurface,
        ShowWindow, TakeSetup, UseVault, WriteSetup,
    },
    setup::{SetupChoice, SetupSource},
};

#[tokio::test]
async fn a_token_is_known_until_the_hub_ends_or_for_good() {
    let house = House::open(json!({})).await;
    house.hub.set_endpoint(Some("http://127.0.0.1:7411/mcp".into()));
    let token = async |ephemeral| {
        let connection = house.ask(MakeToken { client: "agent".into(), ephemeral }).await.unwrap();
        let header = connection.headers.values().next().unwrap();
        header.trim_start_matches("Bearer ").to_owned()
    };
    let (short, long) = (token(true).await, token(false).await);
    assert_eq!(house.hub.client_of(&short).as_deref(), Some("agent"));
    assert_eq!(house.hub.client_of("made up"), None);
    let house = house.again().await;
    assert_eq!((house.hub.client_of(&short), house.hub.client_of(&long).as_deref()), (None, Some("agent")));
}

#[tokio::test]
async fn a_token_made_before_anything_listens_names_the_usual_port() {
    let house = House::open(json!({})).await;
    let made = house.ask(MakeToken { client: "agent".into(), ephemeral: true }).await.unwrap();
    assert_eq!(made.url, format!("http://127.0.0.1:{}/mcp", crate::hub::USUAL_PORT));
    let nameless = MakeToken { client: String::new(), ephemeral: true };
    assert_eq!(house.ask(nameless).await.unwrap_err().code, Code::BadClient);
}

#[tokio::test]
async fn a_notice_replaces_the_one_of_its_kind_and_can_be_taken_back() {
    let house = House::open(json!({})).await;
    for message in ["first", "second"] {
        house.hub.notice(Notice::new(Code::PortTaken, message.to_owned()));
    }
    let messages: Vec<_> = house.hub.snapshot().notices.iter().map(|notice| notice.message.clone()).collect();
    assert_eq!(messages, ["second"]);
    house.hub.clear_notice(Code::PortTaken);
    assert_eq!(house.hub.snapshot().notices, []);
}

#[tokio::test]
async fn a_client_that_made_a_request_is_shown() {
    let house = House::open(json!({})).await;
    house.hub.client_seen("editor", None);
    house.hub.client_seen("editor", Some("notes:echo"));
    let clients = house.hub.snapshot().clients.clone();
    assert_eq!(clients.len(), 1);
    assert_eq!(clients[0].id, "editor");
}

#[tokio::test]
async fn a_chosen_surface_counts_and_says_why() {
    let house = House::open(json!({})).await;
    house.ask(SetSurface { client: "cursor".into(), surface: Surface::Direct }).await.unwrap();
    let (surface, why) = house.hub.surface_of("cursor");
    assert_eq!(surface, Surface::Direct);
    assert!(!why.is_empty());
    house.ask(SetSurface { client: "cursor".into(), surface: Surface::Auto }).await.unwrap();
    assert_ne!(house.hub.surface_of("cursor").0, Surface::Auto);
}

#[tokio::test]
async fn secrets_go_into_the_vault_and_never_out() {
    let house = House::open(json!({})).await;
    house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
    house.ask(SetSecret { name: "KEY".into(), value: "s3cret-value".into() }).await.unwrap();
    let stored = house.ask(ListSecrets {}).await.unwrap();
    assert!(format!("{stored:?}").contains("KEY"));
    for file in walk(house.hub.places().data.as_path()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(12).any(|window| window == b"s3cret-value"), "{}", file.display());
    }
    house.ask(RemoveSecret { name: "KEY".into() }).await.unwrap();
    assert_eq!(house.ask(RemoveSecret { name: "KEY".into() }).await.unwrap_err().code, Code::UnknownSecret);
}

#[tokio::test]
async fn a_server_that_is_added_leaves_its_credentials_in_the_vault() {
    let house = House::open(json!({})).await;
    house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
    house.ask(SetSecret { name: "some.password".into(), value: "another".into() }).await.unwrap();
    let args = ["-y", "x", "--password", "Tr0ub4dor", "--token=zzTop-1", "https://u:pw9912x@h.example/x"];
    let target = Target::Command {
        command: "npx".into(),
        args: args.map(String::from).to_vec(),
        env: [("API_KEY".to_owned(), "k-1".to_owned()), ("LEVEL".to_owned(), "info".to_owned())].into(),
        cwd: None,
    };
    let add = || Change::Add {
        name: "some".into(),
        target: target.clone(),
        startup: None,
        era: None,
        replace: false,
    };
    house.ask(add()).await.unwrap();
    let entry = house.hub.config().entry("some").cloned().unwrap();
    let args = [
        "-y",
        "x",
        "--password",
        "${secret:some.password-3}",
        "--token=${secret:some.token}",
        "https://u:${secret:some.password-2}@h.example/x",
    ];
    let env = json!({ "API_KEY": "${secret:some.API_KEY}", "LEVEL": "info" });
    assert_eq!((&entry["args"], &entry["env"]), (&json!(args), &env));
    assert_eq!(house.ask(add()).await.unwrap_err().code, Code::ServerExists);
}

#[tokio::test]
async fn a_variable_that_is_not_set_gets_its_value_from_the_vault() {
    let entry =
        json!({ "url": "https://h.example/mcp", "headers": { "Authorization": "Bearer ${env:DOCS_9}" } });
    let house = House::open(json!({ "mcpServers": { "docs": entry } })).await;
    house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
    let enter = |variable: &str, value: &str| EnterVariable {
        server: "docs".into(),
        variable: variable.into(),
        value: value.into(),
    };
    assert_eq!(house.ask(enter("OTHER", "v")).await.unwrap_err().code, Code::BadRequest);
    assert_eq!(house.ask(enter("DOCS_9", "")).await.unwrap_err().code, Code::Empty);
    house.ask(enter("DOCS_9", "s3cret-value")).await.unwrap();
    let entry = house.hub.config().entry("docs").cloned().unwrap();
    assert_eq!(entry["headers"], json!({ "Authorization": "Bearer ${secret:docs.DOCS_9}" }));
    let stored = house.ask(ListSecrets {}).await.unwrap();
    assert!(stored.names.iter().any(|name| name == "docs.DOCS_9"), "{stored:?}");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn the_log_of_a_known_server_is_readable_and_an_unknown_name_is_refused() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    house.ask(ReadLog { server: "notes".into(), lines: 10 }).await.unwrap();
    let refused = house.ask(ReadLog { server: "nobody".into(), lines: 10 }).await.unwrap_err();
    assert_eq!(refused.code, Code::UnknownServer);
}

#[tokio::test]
async fn a_setup_is_taken_over_part_by_part_and_nothing_else() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let first = House::with(&[("notes", &server), ("other", &server)]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setup.json");
    let written = first.ask(WriteSetup { path: path.clone(), passphrase: None }).await.unwrap();
    assert_eq!((written.servers, written.secrets), (2, 0));
    let second = House::open(json!({})).await;
    let from = SetupSource::File(path);
    let review = second.ask(ReadSetup { from: from.clone() }).await.unwrap();
    let chosen: Vec<_> = review
        .differences
        .iter()
        .filter(|difference| difference.id.contains("notes"))
        .map(|difference| SetupChoice { id: difference.id.clone(), seen: difference.seen.clone() })
        .collect();
    assert_eq!(chosen.len(), 1, "{review:#?}");
    let take = || TakeSetup { from: from.clone(), parts: chosen.clone(), passphrase: None };
    assert_eq!(second.ask_as_program(take()).await.unwrap_err().code, Code::NeedsPerson);
    let taken = second.ask(take()).await.unwrap();
    assert_eq!(taken.taken.len(), 1);
    let servers = second.config()["mcpServers"].clone();
    assert!(servers.get("notes").is_some() && servers.get("other").is_none(), "{servers}");
}

#[tokio::test]
async fn sealed_secrets_that_are_missing_here_are_offered_though_nothing_else_differs() {
    let entry = json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer ${secret:KEY}" }, "startup": "manual" });
    let house = House::open(json!({ "mcpServers": { "remote": entry } })).await;
    house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
    house.ask(SetSecret { name: "KEY".into(), value: "s3cret-value".into() }).await.unwrap();
    house.ask(SetSecret { name: "OLD".into(), value: "unused-value".into() }).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.satchel.json");
    let write = |passphrase: &str| WriteSetup { path: path.clone(), passphrase: Some(passphrase.into()) };
    assert_eq!(house.ask(write("")).await.unwrap_err().code, Code::Empty);
    assert_eq!(house.ask(write("of file")).await.unwrap_err().code, Code::ShortPassphrase);
    assert!(!path.exists());
    let written = house.ask(write("of the file")).await.unwrap();
    let left: Vec<_> = written
        .left
        .iter()
        .map(|one| (one.place.as_str(), one.refusal.as_ref().map(|refusal| refusal.code)))
        .collect();
    assert_eq!((written.secrets, left), (1, vec![("OLD", Some(Code::Unreferenced))]));
    let from = SetupSource::File(path);
    let review = house.ask(ReadSetup { from: from.clone() }).await.unwrap();
    assert_eq!(review.differences, [], "the value is stored here");

    house.ask(RemoveSecret { name: "KEY".into() }).await.unwrap();
    let review = house.ask(ReadSetup { from: from.clone() }).await.unwrap();
    let parts: Vec<_> = review.differences.iter().map(|one| one.id.clone()).collect();
    assert_eq!(parts, ["sealed:secrets"]);
    let chosen =
        [&review.differences[0]].map(|one| SetupChoice { id: one.id.clone(), seen: one.seen.clone() });
    let take = |passphrase: Option<&str>| TakeSetup {
        from: from.clone(),
        parts: chosen.to_vec(),
        passphrase: passphrase.map(Into::into),
    };
    let without = house.ask(take(None)).await.unwrap();
    assert_eq!((without.taken.len(), without.left.len(), without.secrets), (0, 1, 0));
    let taken = house.ask(take(Some("of the file"))).await.unwrap();
    assert_eq!((taken.taken, taken.secrets), (vec!["sealed:secrets".to_owned()], 1));
    assert!(format!("{:?}", house.ask(ListSecrets {}).await.unwrap()).contains("KEY"));
    assert_eq!(house.ask(ReadSetup { from }).await.unwrap().differences, []);
}

#[tokio::test]
async fn a_file_edited_by_another_hand_is_read_again() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    let mut config = house.config();
    config["mcpServers"]["notes"]["enabled"] = json!(false);
    std::fs::write(&house.hub.places().config_file, config.to_string()).unwrap();
    house.until("notes", |view| !view.enabled).await;
    std::fs::write(&house.hub.places().config_file, "{ no JSON").unwrap();
    let refused = house.ask(Change::SetEnabled { name: "notes".into(), enabled: true }).await;
    assert!(refused.is_err(), "a file that cannot be read is not written over");
    assert_eq!(house.until("notes", |_| true).await.tools, Some(1), "what ran before goes on");
}

#[tokio::test]
async fn only_an_app_can_be_asked_for_its_window() {
    let house = House::open(json!({})).await;
    let wanted = |dry_run| ShowWindow { link: Some("satchel:install?name=a".into()), dry_run };
    for dry_run in [true, false] {
        assert_eq!(house.ask(wanted(dry_run)).await.unwrap_err().code, Code::NotOpen);
    }
    let mut requests = house.hub.window_requests();
    house.ask(wanted(true)).await.unwrap();
    assert!(requests.try_recv().is_err());
    house.ask(wanted(false)).await.unwrap();
    assert_eq!(requests.try_recv().unwrap().as_deref(), Some("satchel:install?name=a"));
}
