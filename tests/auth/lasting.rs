//! A sign-in lasts: whenever the hub is killed, however many programs want it renewed at once, and however often it is
//! started beside servers that nobody has signed in to.

use std::{collections::BTreeSet, fs, time::Duration};

use satchel_tests::{Home, Hub, Protected, protected};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

/// In a soak, as often as the goal says.
fn often(usual: usize, soak: usize) -> usize {
    let is_soak = std::env::var_os("SATCHEL_SOAK").is_some_and(|value| !value.is_empty() && value != "0");
    if is_soak { soak } else { usual }
}

/// A home whose credentials are in the encrypted file, which each hub opens by itself.
struct Signed {
    home: Home,
    server: Protected,
    passphrase: String,
}

impl Signed {
    async fn up(case: &str) -> Self {
        let home = Home::empty();
        let server = protected(&home, case).await;
        home.write_config(&json!({ "mcpServers": { "a": { "url": server.url() } } }));
        let passphrase = home.file("passphrase");
        fs::write(&passphrase, "correct horse").expect("the home can be written");
        let passphrase = passphrase.to_str().expect("temporary paths are UTF-8").to_owned();
        let signed = Self { home, server, passphrase };
        let hub = signed.hub().await;
        signed.home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
        signed.home.sign_in("a").await;
        hub.terminate().await;
        signed
    }

    async fn hub(&self) -> Hub<'_> {
        self.home.start_hub_with(&[("SATCHEL_PASSPHRASE_FILE", &self.passphrase)]).await
    }

    async fn refreshes(&self) -> usize {
        let log = self.server.log().await;
        log.iter().filter(|event| event["grant"] == "refresh_token").count()
    }

    async fn reused(&self) -> bool {
        self.server.log().await.iter().any(|event| event["reuse"] == true)
    }
}

async fn call(hub: &Hub<'_>, client: &str) -> satchel_tests::Answer {
    hub.client(client).await.execute("a:echo", json!({ "text": "x" })).await
}

/// A4: the hub is killed during a refresh. If the provider repeats a lost response, nobody is signed out.
#[tokio::test]
async fn a_hub_that_is_killed_while_it_renews_loses_no_sign_in() {
    let signed = Signed::up("refresh_lost_grace").await;
    let rounds = often(6, 100);
    for round in 0..rounds {
        // The response takes a moment, so that some kills come before it and some after.
        signed.server.set(&json!({ "refresh_script": [], "refresh_takes": 0.08, "grace": 60 })).await;
        signed.server.tell("expire").await;
        let hub = signed.hub().await;
        let client = hub.client("one").await;
        let moment = Duration::from_millis((round as u64 * 37) % 160);
        let calling = client.execute("a:echo", json!({ "text": "x" }));
        // Whether it finished first does not matter.
        let _ = tokio::time::timeout(moment, calling).await;
        hub.kill().await;
        signed.server.set(&json!({ "refresh_takes": 0 })).await;
        let hub = signed.hub().await;
        let answer = call(&hub, "two").await;
        assert_eq!(answer.text(), "echo:x", "round {round}, killed after {moment:?}");
        hub.terminate().await;
    }
    let pages = signed.server.pages().await;
    println!("measured: {rounds} kills, {} refreshes, {pages} page", signed.refreshes().await);
    assert_eq!(pages, 1);
    assert!(!signed.reused().await);
}

/// A4: without a hub, each command is a process of its own.
#[tokio::test]
async fn programs_that_need_it_renewed_at_once_renew_it_once() {
    let signed = Signed::up("plain").await;
    signed.server.tell("expire").await;
    let before = signed.refreshes().await;
    let mut commands = JoinSet::new();
    for _ in 0..4 {
        let mut command = signed.home.command(satchel_tests::program("satchel"));
        command
            .args(["call", "a:echo", r#"{"text":"x"}"#])
            .env("SATCHEL_PASSPHRASE_FILE", &signed.passphrase);
        commands.spawn(async move { command.output().await.expect("satchel can be started") });
    }
    for output in commands.join_all().await {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("echo:x"), "{output:?}");
    }
    assert_eq!(signed.refreshes().await - before, 1);
    assert!(!signed.reused().await);
}

/// A4: tokens that live for two seconds, under calls of many clients: one refresh for each.
#[tokio::test]
async fn short_lived_tokens_are_renewed_once_each_under_many_calls() {
    let signed = Signed::up("short_lived").await;
    let hub = signed.hub().await;
    signed.server.set(&json!({ "ttl": 2 })).await;
    signed.server.tell("expire").await;
    let before = signed.refreshes().await;
    let began = tokio::time::Instant::now();
    let (clients, each) = (8, often(5, 25));
    let mut calls = JoinSet::new();
    for number in 0..clients {
        let client = hub.client(&format!("c{number}")).await;
        calls.spawn(async move {
            for _ in 0..each {
                let answer = client.execute("a:echo", json!({ "text": "x" })).await;
                assert_eq!(answer.text(), "echo:x");
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        });
    }
    while let Some(ended) = calls.join_next().await {
        ended.expect("every call is answered");
    }
    let seconds = began.elapsed().as_secs_f64();
    let refreshes = signed.refreshes().await - before;
    println!("measured: {} calls in {seconds:.0} s, {refreshes} refreshes", clients * each);
    // One at the end of each token's life; a token may be refreshed a little early.
    assert!(refreshes >= 1 && refreshes as f64 <= seconds + 2.0, "{refreshes} refreshes in {seconds} s");
    assert!(!signed.reused().await);
    assert_eq!(signed.server.pages().await, 1);
}

/// A4: an expired token, and fifty calls by eight clients at once: one refresh.
#[tokio::test]
async fn fifty_calls_by_eight_clients_renew_once() {
    let signed = Signed::up("plain").await;
    let hub = signed.hub().await;
    let mut clients = vec![];
    for number in 0..8 {
        clients.push(hub.client(&format!("c{number}")).await);
    }
    signed.server.tell("expire").await;
    let before = signed.refreshes().await;
    let mut calls = JoinSet::new();
    for at in 0..50 {
        let client = clients[at % clients.len()].clone();
        calls.spawn(async move { client.execute("a:echo", json!({ "text": "x" })).await.text() });
    }
    assert_eq!(calls.join_all().await, vec!["echo:x"; 50]);
    let refreshes = signed.refreshes().await - before;
    println!("measured: 50 calls by 8 clients, {refreshes} refresh, {} page", signed.server.pages().await);
    assert_eq!((refreshes, signed.server.pages().await), (1, 1));
    assert!(!signed.reused().await);
}

/// A5: twenty servers that need a sign-in, and a hub that starts ten times: no page, no registration, and each call
/// says what to do. Twenty clicks then open twenty pages.
#[tokio::test]
async fn twenty_servers_that_want_a_sign_in_open_nothing() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    let names: Vec<String> = (0..20).map(|at| format!("s{at}")).collect();
    let entries: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "url": server.url(), "startup": "eager" }))).collect();
    home.write_config(&json!({ "mcpServers": entries }));
    for _ in 0..10 {
        let hub = home.start_hub().await;
        for name in &names {
            hub.until(name, "needs_sign_in").await;
        }
        let mut told = BTreeSet::new();
        for number in 0..8 {
            let client = hub.client(&format!("c{number}")).await;
            let name = &names[number * 2];
            let complaint = client.execute(&format!("{name}:echo"), json!({ "text": "x" })).await.complaint();
            assert!(complaint.contains(&format!("satchel login {name}")), "{complaint}");
            told.insert(name.clone());
        }
        assert_eq!(told.len(), 8);
        home.satchel(&["tools"]).await.succeeded();
        hub.terminate().await;
    }
    let log = server.log().await;
    let asked = |endpoint: &str| log.iter().filter(|event| event["endpoint"] == endpoint).count();
    assert_eq!((asked("authorize"), asked("register"), asked("token")), (0, 0, 0));
    let _hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    for name in &names {
        home.sign_in(name).await;
    }
    println!("measured: 10 starts, 20 servers, 0 pages; 20 clicks, {} pages", server.pages().await);
    assert_eq!(server.pages().await, 20);
}
