//! Credentials reach the server that needs them and nobody and nothing else.

use satchel_tests::{Fake, Home, eventually, process};
use serde_json::{Value, json};

use crate::offered;

/// Improbable enough to be found only where it was put.
const CANARY: &str = "canary-4f1c-9a77-d20b";
const PASSPHRASE: &str = "correct horse battery";

async fn choose_file(home: &Home) {
    home.satchel_reading(&["secrets", "use-file"], &format!("{PASSPHRASE}\n")).await.succeeded();
}

#[tokio::test]
async fn without_a_keychain_the_choice_is_offered_and_nothing_is_written() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    let ran = home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await;
    ran.failed_with(1);
    assert!(ran.stderr.contains("keychain") && ran.stderr.contains("secrets use-file"), "{ran:?}");
    assert_eq!(holders(&home, CANARY), Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_reaches_its_server_and_is_found_nowhere_else() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("TOKEN", "${secret:TOKEN}").env("LOUD", "x");
    let header = format!("X-Token: {CANARY}");
    let hosted = home.start_http_server(&["--require-header", &header]).await;
    let far = json!({ "url": hosted.url, "headers": { "X-Token": "${secret:TOKEN}" } });
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry(), "far": far } }));
    let hub = home.start_hub().await;
    let client = hub.client("one").await;

    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("fake") && complaint.contains("secrets use-file"), "{complaint}");
    assert_eq!(hub.until("fake", "needs_credential").await["names"], json!(["TOKEN"]));

    choose_file(&home).await;
    home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await.succeeded();
    let listed = home.satchel(&["secrets", "list", "--json"]).await.json();
    assert_eq!(listed, json!({ "locked": false, "names": ["TOKEN"], "store": "file" }));

    let about = client.execute("fake:about", json!({ "env": ["TOKEN"] })).await.text();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["env"]["TOKEN"], CANARY);
    assert_eq!(client.execute("far:echo", json!({ "text": "in" })).await.text(), "in");

    // The status, files and command lines.
    assert!(!hub.status().await.to_string().contains(CANARY));
    assert_eq!(holders(&home, CANARY), Vec::<String>::new());
    assert_eq!(holders(&home, PASSPHRASE), Vec::<String>::new());
    let told: Vec<_> =
        home.processes().into_iter().filter(|process| process.command.contains(CANARY)).collect();
    // The test itself gave it to the hosted stand-in.
    assert!(told.iter().all(|process| process.command.contains("--http")), "{told:?}");
    // Its own process has it in its environment; the subreaper that started it, the hub and its other children do not.
    let ours: Vec<_> = home.processes().into_iter().map(|process| process.pid).collect();
    let with_it = process::marked("TOKEN", CANARY).into_iter().map(|process| process.pid);
    let with_it: Vec<_> = with_it.filter(|pid| ours.contains(pid)).collect();
    assert_eq!(with_it, [u32::try_from(about["pid"].as_u64().unwrap()).unwrap()]);

    home.satchel(&["secrets", "rm", "TOKEN"]).await.succeeded();
    assert_eq!(home.satchel(&["secrets", "list", "--json"]).await.json()["names"], json!([]));
    home.satchel(&["secrets", "rm", "TOKEN"]).await.failed_with(1);
}

#[tokio::test]
async fn a_call_waits_for_a_missing_credential_if_a_person_can_answer() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("TOKEN", "${secret:TOKEN}").env("OTHER", "${secret:OTHER}");
    let bare = Fake::new(&home, "bare").env("TOKEN", "${secret:TOKEN}").env("VARIABLE", "${UNSET_VARIABLE}");
    let refused = Fake::new(&home, "refused").env("TOKEN", "${secret:REFUSED}");
    home.write_config(&json!({ "mcpServers": {
        "fake": fake.entry(), "bare": bare.entry(), "refused": refused.entry(),
    } }));
    let hub = home.start_hub().await;
    choose_file(&home).await;
    let client = hub.client("one").await;
    let call = |path: &str, arguments: Value| {
        let (client, path) = (client.clone(), path.to_owned());
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        tokio::spawn(async move { client.execute(&path, arguments).await })
    };
    let asked = async |name: &str| {
        eventually("it is asked", async || {
            let ask = home.satchel(&["asks", "--json"]).await.json()["asks"].get(0).cloned()?;
            (ask["question"]["name"] == name).then_some(ask)
        })
        .await
    };
    // A person is present from here on.
    home.satchel(&["asks"]).await.succeeded();

    // Nobody can supply here what the environment also has to contain.
    let complaint = client.execute("bare:echo", json!({ "text": "x" })).await.complaint();
    assert!(complaint.contains("UNSET_VARIABLE"), "{complaint}");

    let calls = [0, 1, 2].map(|_| call("fake:about", json!({ "env": ["TOKEN", "OTHER"] })));
    let ask = asked("OTHER").await;
    assert_eq!((&ask["server"], &ask["client"]), (&json!("fake"), &json!("one")));
    assert_eq!(ask["question"]["kind"], "credential");
    let asks = home.satchel(&["asks"]).await.stdout;
    assert!(asks.contains("fake, called by one, cannot start without a credential"), "{asks}");
    assert_eq!(asks.matches("OTHER").count(), 1, "three calls, one question: {asks}");
    // An ordinary answer does not fit, and an empty value is not accepted.
    let id = ask["id"].to_string();
    let given = async |value: &str| home.satchel_reading(&["answer", &id, "yes"], value).await;
    given("\n").await.failed_with(2);
    eventually("the value is taken once the question could be read", async || {
        (given("canary-other\n").await.code == Some(0)).then_some(())
    })
    .await;
    // The next is stored in the usual way, and the calls continue by themselves.
    asked("TOKEN").await;
    home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await.succeeded();
    for call in calls {
        let about: Value = serde_json::from_str(&call.await.unwrap().text()).unwrap();
        assert_eq!(about["env"], json!({ "TOKEN": CANARY, "OTHER": "canary-other" }));
    }
    for canary in [CANARY, "canary-other"] {
        assert_eq!(holders(&home, canary), Vec::<String>::new());
        assert!(!hub.status().await.to_string().contains(canary));
    }

    // One no declines every waiting call, and each error says what to do.
    let calls = [0, 1].map(|_| call("refused:echo", json!({ "text": "x" })));
    let id = asked("REFUSED").await["id"].to_string();
    home.satchel(&["answer", &id, "no"]).await.succeeded();
    for call in calls {
        let complaint = call.await.unwrap().complaint();
        assert!(complaint.contains("REFUSED") && complaint.contains("satchel secrets set"), "{complaint}");
    }
    assert_eq!(home.satchel(&["asks", "--json"]).await.json()["asks"], json!([]));
}

#[tokio::test]
async fn the_encrypted_file_is_opened_with_its_passphrase_after_a_restart() {
    let home = Home::empty();
    let fake = Fake::new(&home, "fake").env("TOKEN", "${secret:TOKEN}");
    home.write_config(&json!({ "mcpServers": { "fake": fake.entry() } }));
    let hub = home.start_hub().await;
    choose_file(&home).await;
    home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{CANARY}\n")).await.succeeded();
    hub.terminate().await;

    let hub = home.start_hub().await;
    let client = hub.client("one").await;
    let complaint = client.execute("fake:echo", json!({ "text": "x" })).await.complaint();
    let advised = |said: &str| said.contains("secrets unlock") && !said.contains("secrets set");
    assert!(advised(&complaint), "{complaint}");
    assert_eq!(hub.until("fake", "needs_credential").await["code"], "vault_locked");
    for words in [&["status"][..], &["list"], &["doctor"], &["secrets", "list"]] {
        let ran = home.satchel(words).await;
        assert!(advised(&ran.stdout), "{words:?}: {ran:?}");
    }
    home.satchel_reading(&["secrets", "unlock"], "wrong\n").await.failed_with(1);
    home.satchel_reading(&["secrets", "unlock"], &format!("{PASSPHRASE}\n")).await.succeeded();
    assert_eq!(client.execute("fake:echo", json!({ "text": "open" })).await.text(), "open");
}

#[tokio::test]
async fn a_clients_token_is_in_no_log() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let connection = hub.connection("one").await;
    let token = connection.headers["Authorization"].strip_prefix("Bearer ").unwrap().to_owned();
    let client = satchel_tests::Client::open(&connection, "2025-11-25").await;
    client.paths("hash").await;
    hub.terminate().await;
    let logs: Vec<_> = holders(&home, &token).into_iter().filter(|file| !file.contains("/data/")).collect();
    assert_eq!(logs, Vec::<String>::new());
}

/// Files of the home that contain a text.
fn holders(home: &Home, text: &str) -> Vec<String> {
    let needle = text.as_bytes();
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let files = home.files().into_iter().filter(|(_, bytes)| holds(bytes));
    files.map(|(path, _)| path.to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn a_server_that_goes_can_take_the_secrets_with_it_that_only_it_needs() {
    let home = Home::empty();
    let one = Fake::new(&home, "one").env("A", "${secret:ONLY_ONE}").env("B", "${secret:SHARED}");
    let two = Fake::new(&home, "two").env("B", "${secret:SHARED}");
    home.write_config(&json!({ "mcpServers": { "one": one.entry(), "two": two.entry() } }));
    let _hub = home.start_hub().await;
    choose_file(&home).await;
    for name in ["ONLY_ONE", "SHARED"] {
        home.satchel_reading(&["secrets", "set", name], "value\n").await.succeeded();
    }
    let stored = async || home.satchel(&["secrets", "list", "--json"]).await.json()["names"].clone();
    let ran = home.satchel(&["remove", "one", "--secrets"]).await;
    assert!(ran.stdout.contains("ONLY_ONE") && !ran.stdout.contains("SHARED"), "{ran:?}");
    assert_eq!(stored().await, json!(["SHARED"]));
    // Without the flag they stay, and the command says so.
    let ran = home.satchel(&["remove", "two"]).await;
    assert!(ran.stdout.contains("SHARED") && ran.stdout.contains("Kept"), "{ran:?}");
    assert_eq!(stored().await, json!(["SHARED"]));
}

#[tokio::test]
async fn a_secret_stays_in_its_file_or_command_and_is_redacted() {
    let home = Home::empty();
    std::fs::write(home.file("key"), "s3cret-of-the-file\n").expect("the home can be written");
    let fake = Fake::new(&home, "fake");
    let fake = fake.env("A", "${cmd:sh -c 'echo s3cret-of-the-command'}").env("B", "${file:~/key}");
    let [absent, failing] = ["absent", "failing"].map(|name| Fake::new(&home, name));
    let absent = absent.env("A", "${cmd:no-such-program-anywhere x}").entry();
    let failing = failing.env("A", "${cmd:sh -c 'exit 3'}").entry();
    home.write_config(
        &json!({ "mcpServers": { "fake": fake.entry(), "absent": absent, "failing": failing } }),
    );
    let hub = home.start_hub().await;
    let client = hub.client("editor").await;
    offered(&client, "fake:about").await;
    let told = client.execute("fake:about", json!({ "env": ["A", "B"] })).await.text();
    assert!(told.contains("s3cret-of-the-command") && told.contains("s3cret-of-the-file"), "{told}");
    let listed = home.satchel(&["secrets", "list"]).await.stdout;
    assert!(!listed.contains("s3cret"), "nothing is stored: {listed}");
    for (server, why) in [
        ("absent", "the command no-such-program-anywhere of its entry is not installed"),
        ("failing", "failed (exit status: 3); run it in a terminal"),
    ] {
        let refused = client.execute(&format!("{server}:about"), json!({})).await.complaint();
        assert!(refused.contains(why), "{refused}");
    }
    let logged = home.satchel(&["logs", "fake"]).await.stdout;
    assert!(logged.contains("other people of this computer can read the secret"), "{logged}");
    assert!(!logged.contains("s3cret"), "{logged}");
}
