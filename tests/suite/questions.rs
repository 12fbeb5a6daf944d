//! What servers ask when the client cannot: a person is asked at Satchel's own faces, in both families of revisions.

use std::time::Duration;

use satchel_tests::{Answer, Client, Home, Hub, LEGACY, MODERN, eventually, fixture};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::offered;

fn home() -> Home {
    Home::with_servers(json!({ "legacy": fixture(LEGACY), "modern": fixture(MODERN) }))
}

/// A client without elicitation.
async fn client(hub: &Hub<'_>) -> Client {
    let client = hub.client("plain").await;
    for server in ["legacy", "modern"] {
        offered(&client, &format!("{server}:test_elicitation")).await;
    }
    client
}

fn call(client: &Client, path: String, arguments: Value) -> JoinHandle<Answer> {
    let client = client.clone();
    #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
    tokio::spawn(async move { client.execute(&path, arguments).await })
}

async fn asked(home: &Home) -> Value {
    eventually("it is asked", async || home.satchel(&["asks", "--json"]).await.json()["asks"].get(0).cloned())
        .await
}

async fn said(home: &Home, ask: &Value, words: &[&str]) {
    let id = ask["id"].to_string();
    let words = [&["answer", id.as_str()], words].concat();
    eventually("the word is taken once the question could be read", async || {
        (home.satchel_agreeing(&words).await.code == Some(0)).then_some(())
    })
    .await;
}

async fn answered(call: JoinHandle<Answer>) -> String {
    let answer =
        tokio::time::timeout(Duration::from_secs(100), call).await.expect("it ends").expect("no panic");
    format!("{:?}", answer.outcome)
}

#[tokio::test]
async fn a_form_is_filled_in_by_a_person_and_reaches_the_call_that_asked() {
    let home = home();
    let hub = home.start_hub().await;
    let client = client(&hub).await;
    for server in ["legacy", "modern"] {
        let path = format!("{server}:test_elicitation");
        let calling = call(&client, path.clone(), json!({ "message": "Who is there?\u{202e}" }));
        let ask = asked(&home).await;
        assert_eq!((&ask["server"], &ask["client"]), (&json!(server), &json!("plain")), "named by us");
        let question = &ask["question"];
        assert_eq!(question["kind"], "form", "{ask}");
        assert!(!question["message"].as_str().unwrap().contains('\u{202e}'), "nothing hides: {question}");
        let names: Vec<_> =
            question["fields"].as_array().unwrap().iter().map(|field| &field["name"]).collect();
        assert_eq!(names, ["username", "email"]);
        // An invalid answer is refused, and the prompt stays open.
        let id = ask["id"].to_string();
        home.satchel(&["answer", &id, "session"]).await.failed_with(2);
        eventually("a yes without what is needed is refused by its field", async || {
            let ran = home.satchel_agreeing(&["answer", &id, "yes"]).await;
            ran.stdout.contains("it is required").then_some(())
        })
        .await;
        said(&home, &ask, &["yes", r#"{"username":"ada","email":"ada@example.com"}"#]).await;
        let result = answered(calling).await;
        assert!(result.contains("ada@example.com") && result.contains("accept"), "{server}: {result}");
        assert!(!result.contains("Satchel:"), "{result}");
        home.satchel(&["answer", &id, "no"]).await.failed_with(1);

        let calling = call(&client, path, json!({ "message": "Again?" }));
        said(&home, &asked(&home).await, &["no"]).await;
        let result = answered(calling).await;
        assert!(!result.contains("accept"), "{server}: {result}");
    }
}

#[tokio::test]
async fn a_page_is_agreed_to_with_its_host_in_view() {
    let home = home();
    let hub = home.start_hub().await;
    let client = client(&hub).await;
    for server in ["legacy", "modern"] {
        let calling = call(&client, format!("{server}:test_url_elicitation"), json!({}));
        let ask = asked(&home).await;
        let question = &ask["question"];
        assert_eq!(
            (&question["kind"], &question["host"], &question["url"]),
            (&json!("page"), &json!("example.com"), &json!("https://example.com/sign-in")),
        );
        let listed = home.satchel(&["asks"]).await.stdout;
        assert!(listed.contains("host: example.com"), "{listed}");
        said(&home, &ask, &["yes"]).await;
        let result = answered(calling).await;
        assert!(result.contains("accept"), "{server}: {result}");
    }
}

#[tokio::test]
async fn without_a_person_the_answer_is_no_and_tells_the_caller() {
    let home = home();
    let hub = home.start_hub().await;
    let client = client(&hub).await;
    for server in ["legacy", "modern"] {
        let answer = client.execute(&format!("{server}:test_elicitation"), json!({ "message": "m" })).await;
        let result = format!("{:?}", answer.outcome);
        assert!(result.contains("no user is there to be asked"), "{server}: {result}");
        assert!(!result.contains("accept"), "{server}: {result}");
    }
}

#[tokio::test]
async fn one_servers_questions_come_one_at_a_time_and_can_be_muted() {
    let home = home();
    let hub = home.start_hub().await;
    let client = client(&hub).await;
    let calls: Vec<_> = (0..3)
        .map(|_| call(&client, "legacy:test_elicitation".to_owned(), json!({ "message": "m" })))
        .collect();
    let other = call(&client, "modern:test_elicitation".to_owned(), json!({ "message": "m" }));
    let list = eventually("both servers ask", async || {
        let list = home.satchel(&["asks", "--json"]).await.json()["asks"].clone();
        (list.as_array()?.len() >= 2).then_some(list)
    })
    .await;
    let servers: Vec<_> =
        list.as_array().unwrap().iter().map(|ask| ask["server"].as_str().unwrap()).collect();
    assert_eq!(servers.iter().filter(|server| **server == "legacy").count(), 1, "{servers:?}");
    assert_eq!(servers.iter().filter(|server| **server == "modern").count(), 1, "{servers:?}");
    let of = |name: &str| list.as_array().unwrap().iter().find(|ask| ask["server"] == name).unwrap();
    said(&home, of("legacy"), &["mute"]).await;
    // The other server's question stays.
    said(&home, of("modern"), &["yes", r#"{"username":"a","email":"a@example.com"}"#]).await;
    assert!(answered(other).await.contains("accept"));
    for call in calls {
        assert!(!answered(call).await.contains("accept"));
    }
    let muted = client.execute("legacy:test_elicitation", json!({ "message": "m" })).await;
    assert!(format!("{:?}", muted.outcome).contains("muted its questions"), "{:?}", muted.outcome);
}
