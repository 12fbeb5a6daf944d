//! An oracle: the official Rust SDK signs in to the same servers. Where it comes to another end than Satchel must, the table
//! says why. What Satchel comes to is shown by the cases themselves.

use std::collections::BTreeMap;

use rmcp::transport::auth::{AuthorizationRequest, OAuthState};
use satchel_tests::{Home, browse, kit, plain_http, protected};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

/// Nobody listens there: the browser prints the URL it was redirected to.
const REDIRECT: &str = "http://127.0.0.1:7413/callback";
const AT_ONCE: usize = 4;

/// Cases with another outcome in the SDK, and why Satchel differs.
const DIFFERS: &[(&str, &str)] = &[
    (
        "challenge_multi",
        "it takes `resource_metadata` from whatever scheme has one; only that of Bearer is meant (RFC 9110, 11.6.1)",
    ),
    (
        "dcr_secret_post",
        "it proves itself as the metadata lists; the answer to the registration rules (RFC 7591, 3.2.1)",
    ),
    ("dcr_secret_restart", "as dcr_secret_post"),
    ("resource_refused", "it has no way to leave `resource` out, which the user asks for here"),
    ("expires_as_text", "it reads no number that is written as text, which real providers send"),
    ("no_pkce", "it only warns where S256 is not announced; the specification says MUST refuse"),
];

/// Is this an ordinary sign-in, by a person who accepts, on this computer alone?
fn is_comparable(case: &Value) -> bool {
    let begins_as_plain =
        ["refresh", "accounts", "leaving"].map(|group| case["group"] == group).contains(&true);
    case["steps"][0] == "sign_in" && case["proxy"].is_null() && !begins_as_plain
}

/// Signs in like the SDK, and lists the tools with the result. The error names the step that failed.
async fn verdict(case: &str, config: &Value) -> Result<(), String> {
    let home = Home::empty();
    let server = protected(&home, case).await;
    let failed = |step: &'static str| move |error: rmcp::transport::AuthError| format!("{step}: {error}");
    let mut request =
        AuthorizationRequest::new(REDIRECT).with_client_name("oracle").with_initial_scope_selection();
    if let Some(id) = config["client_id"].as_str() {
        request = request.with_preregistered_client(id);
    }
    if let Some(secret) = config["client_secret"].as_str() {
        request = request.with_client_secret(secret);
    }
    if let Some(document) = config["client_metadata_url"].as_str() {
        request = request.with_client_metadata_url(document);
    }
    let mut flow = OAuthState::new(server.url(), None).await.map_err(failed("begins"))?;
    flow.start_authorization(request).await.map_err(failed("prepares"))?;
    let page = flow.get_authorization_url().await.map_err(failed("makes a page"))?;
    let shown = browse(&home, &page, true).await;
    let back = shown["paste"].as_str().ok_or_else(|| format!("opens {page}: {shown}"))?;
    flow.handle_callback_url(back).await.map_err(failed("comes back"))?;
    let manager = flow.into_authorization_manager().ok_or("is not signed in")?;
    let token = manager.get_access_token().await.map_err(failed("has tokens"))?;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let listed = plain_http()
        .post(server.url())
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(message.to_string())
        .send()
        .await
        .map_err(|error| format!("lists: {error}"))?;
    if listed.status().is_success() { Ok(()) } else { Err(format!("lists: {}", listed.status())) }
}

/// A second opinion on A1 and A6: the SDK's outcome is the same for every case, or the reason is documented.
#[tokio::test]
async fn the_official_sdk_judges_alike_or_the_reason_is_known() {
    let text = std::fs::read_to_string(kit("cases.json")).expect("the cases are there");
    let all: Value = serde_json::from_str(&text).expect("the cases are JSON");
    let turns = std::sync::Arc::new(Semaphore::new(AT_ONCE));
    let mut playing = JoinSet::new();
    // It needs a TLS provider before the first client is built.
    drop(plain_http());
    let cases: Vec<Value> =
        all["cases"].as_array().into_iter().flatten().filter(|case| is_comparable(case)).cloned().collect();
    for case in &cases {
        let (case, turns) = (case.clone(), turns.clone());
        playing.spawn(async move {
            let _turn = turns.acquire().await.expect("nobody closes it");
            let name = case["name"].as_str().expect("a case has a name").to_owned();
            let ended = verdict(&name, &case["config"]).await;
            let wanted = case["expect"]["steps"][0].as_str().is_some_and(|step| step.contains("ok"));
            (name, wanted, ended)
        });
    }
    let reasons: BTreeMap<&str, &str> = DIFFERS.iter().copied().collect();
    let (mut alike, mut wrong) = (0, vec![]);
    for (name, wanted, ended) in playing.join_all().await {
        match (wanted == ended.is_ok(), reasons.get(name.as_str())) {
            (true, None) => alike += 1,
            (false, Some(_)) => {}
            (true, Some(reason)) => {
                wrong.push(format!("{name}: judges alike by now, yet it is said: {reason}"))
            }
            (false, None) => wrong.push(format!(
                "{name}: Satchel must {}, the SDK {ended:?}",
                if wanted { "sign in" } else { "refuse" }
            )),
        }
    }
    println!(
        "measured: the official SDK judges {alike} of {} cases alike; {} differ for a reason",
        cases.len(),
        reasons.len()
    );
    assert!(cases.len() >= 50, "{} cases can be compared", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
