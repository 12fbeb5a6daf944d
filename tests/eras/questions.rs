//! What a server asks in the middle of a call reaches the client as it was asked, and the answer reaches the call.

use serde_json::{Value, json};

use crate::{client::Told, pairs::with_every_pair};

/// The only question.
#[track_caller]
fn asked<'told>(told: &'told Told, method: &str) -> &'told Value {
    assert_eq!(told.questions.len(), 1, "one question: {told:?}");
    assert_eq!(told.questions[0]["method"], method);
    &told.questions[0]["params"]
}

#[track_caller]
fn says(told: &Told, part: &str) {
    assert!(told.text().contains(part), "{} does not say {part}", told.text());
}

#[tokio::test]
async fn a_form_reaches_the_client_and_its_answer_the_tool() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_elicitation", json!({ "message": "Who is there?" })).await;
        let params = asked(&told, "elicitation/create");
        assert_eq!(params["message"], "Who is there?");
        assert_eq!(
            params["requestedSchema"],
            json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            })
        );
        says(&told, r#""username":"ada""#);
        says(&told, r#""action":"accept""#);
    })
    .await;
}

#[tokio::test]
async fn a_page_to_visit_reaches_the_client_and_its_consent_the_tool() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_url_elicitation", json!({})).await;
        let params = asked(&told, "elicitation/create");
        assert_eq!(params["mode"], "url");
        assert_eq!(params["url"], "https://example.com/sign-in");
        assert_eq!(params["message"], "Please sign in.");
        says(&told, r#""action":"accept""#);
    })
    .await;
}

#[tokio::test]
async fn a_question_for_the_model_reaches_the_client_and_its_answer_the_tool() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_sampling", json!({ "prompt": "What is new?" })).await;
        let params = asked(&told, "sampling/createMessage");
        assert_eq!(params["messages"][0]["content"]["text"], "What is new?");
        assert_eq!(params["maxTokens"], 100);
        says(&told, "LLM response: said by the model");
    })
    .await;
}

#[tokio::test]
async fn the_clients_roots_reach_the_tool() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_list_roots", json!({})).await;
        asked(&told, "roots/list");
        says(&told, "file:///home/ada/work");
    })
    .await;
}

#[tokio::test]
async fn three_questions_at_once_and_two_in_a_row_are_all_answered() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let told = pair.client.call("test_input_required_result_multiple_inputs", json!({})).await;
        let mut methods: Vec<_> =
            told.questions.iter().map(|question| question["method"].to_string()).collect();
        methods.sort();
        assert_eq!(methods, [r#""elicitation/create""#, r#""roots/list""#, r#""sampling/createMessage""#]);
        says(&told, "All three came.");

        let told = pair.client.call("test_input_required_result_multi_round", json!({})).await;
        let asked: Vec<_> = told.questions.iter().map(|question| &question["params"]["message"]).collect();
        assert_eq!(asked, ["Step 1: what is your name?", "Step 2: what is your favourite colour?"]);
        says(&told, "Both steps are done.");
    })
    .await;
}

#[tokio::test]
async fn a_prompt_may_ask_too() {
    with_every_pair(|mut pair| async move {
        pair.client.open().await;
        let params = json!({ "name": "test_input_required_result_prompt", "arguments": {} });
        let told = pair.client.request("prompts/get", params).await;
        asked(&told, "elicitation/create");
        assert_eq!(told.result()["messages"][0]["content"]["text"], "It is about nothing.");
    })
    .await;
}
