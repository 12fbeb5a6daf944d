//! A rule that wants a person asked: the client asks its own user, in the words of its era, and once a call.

use satchel_tests::{Home, LEGACY, MODERN, fixture};
use serde_json::{Value, json};

use crate::{
    client::{Era, Told},
    pairs::client_at,
};

const SERVERS: [&str; 2] = ["legacy", "modern"];
const ROUNDS: &str = "test_input_required_result_multi_round";

fn asking() -> Home {
    let home = Home::empty();
    home.write_config(&json!({
        "toolRules": [{ "tool": "*:test_simple_text", "permit": "ask" }, { "tool": format!("*:{ROUNDS}"), "permit": "ask" }],
        "mcpServers": { "legacy": fixture(LEGACY), "modern": fixture(MODERN) },
    }));
    home
}

fn ours(told: &Told) -> Vec<&Value> {
    let is_ours = |question: &&Value| {
        question["params"]["message"].as_str().is_some_and(|message| message.starts_with("Satchel asks"))
    };
    told.questions.iter().filter(is_ours).collect()
}

#[tokio::test]
async fn the_client_asks_its_user_and_an_accepted_form_is_a_yes() {
    let home = asking();
    let hub = home.start_hub().await;
    for era in [Era::Legacy, Era::Modern] {
        for server in SERVERS {
            let mut client = client_at(&hub, &format!("/server/{server}"), era).await;
            client.open().await;
            let told = client.call("test_simple_text", json!({})).await;
            assert_eq!((ours(&told).len(), told.questions.len()), (1, 1), "{era:?} {server}: {told:?}");
            let message = ours(&told)[0]["params"]["message"].to_string();
            assert!(message.contains(&format!("{server}:test_simple_text")), "{message}");
            assert!(told.text().contains("simple text"), "{}", told.text());
        }
    }
}

#[tokio::test]
async fn a_call_of_several_rounds_is_allowed_once_and_its_server_asks_as_before() {
    let home = asking();
    let hub = home.start_hub().await;
    for era in [Era::Legacy, Era::Modern] {
        for server in SERVERS {
            let mut client = client_at(&hub, &format!("/server/{server}"), era).await;
            client.open().await;
            let told = client.call(ROUNDS, json!({})).await;
            assert_eq!((ours(&told).len(), told.questions.len()), (1, 3), "{era:?} {server}: {told:?}");
            assert!(told.text().contains("Both steps are done."), "{}", told.text());
            // The next call is asked about again.
            assert_eq!(ours(&client.call(ROUNDS, json!({})).await).len(), 1, "{era:?} {server}");
        }
    }
}

#[tokio::test]
async fn a_client_that_declines_has_said_no() {
    let home = asking();
    let hub = home.start_hub().await;
    for era in [Era::Legacy, Era::Modern] {
        for server in SERVERS {
            let mut client = client_at(&hub, &format!("/server/{server}"), era).await.that_declines();
            client.open().await;
            let told = client.call("test_simple_text", json!({})).await;
            assert_eq!(ours(&told).len(), 1, "{told:?}");
            assert_eq!(told.result()["isError"], true, "{era:?} {server}: {told:?}");
            // At once, so it asked nobody.
            assert!(told.text().contains("without asking its user"), "{}", told.text());
        }
    }
}
