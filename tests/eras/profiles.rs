//! Profiles: clients of both eras are told when another one counts, see only what it has, and what nobody may use any more
//! goes to sleep.

use satchel_tests::{Client as Raw, Fake, Home, Hub, eventually, plain_http, process};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era},
    pairs::client_at,
};

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];
const CHANGED: &str = "notifications/tools/list_changed";

/// Two servers, and a profile for each.
fn home_of(notes: &Fake, git: &Fake, home: &Home) {
    home.write_config(&json!({
        "mcpServers": { "notes": notes.entry(), "git": git.entry() },
        "profiles": { "writing": { "servers": ["notes"] }, "code": { "servers": ["git"], "except": ["git:sleep"] } },
    }));
}

/// What the first tool's description says about servers.
async fn named(client: &Client) -> String {
    let told = client.request("tools/list", json!({})).await;
    let tools = told.result()["tools"].as_array().expect("a list of tools").clone();
    let text = tools[0]["description"].as_str().expect("a description").to_owned();
    text.split_once("Servers: ").map(|(_, names)| names.to_owned()).unwrap_or_default()
}

async fn call(client: &Client, path: &str) -> Value {
    let arguments = json!({ "tool_path": path, "arguments": { "text": "x" } });
    client.call("execute_mcp_tool", arguments).await.result().clone()
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

async fn until_read(hub: &Hub<'_>) {
    let client: Raw = hub.client("reader").await;
    for path in ["notes:echo", "git:echo"] {
        eventually("its tools are known", async || {
            client.paths(path).await.contains(&path.to_owned()).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_profile_narrows_what_clients_of_both_eras_see_and_starts_nothing() {
    let home = Home::empty();
    let (notes, git) =
        (Fake::new(&home, "notes").with("startup", json!("keep-alive")), Fake::new(&home, "git"));
    home_of(&notes, &git.with("startup", json!("keep-alive")), &home);
    let git = Fake::new(&home, "git");
    let hub = home.start_hub().await;
    until_read(&hub).await;
    let mut watching = vec![];
    for era in BOTH {
        let mut client = client_at(&hub, "", era).await;
        client.open().await;
        assert!(named(&client).await.contains("git") && named(&client).await.contains("notes"));
        let stream = client.listen_to_lists().await;
        watching.push((era, client, stream));
    }
    for path in ["notes:echo", "git:echo"] {
        assert_eq!(text(&call(&watching[0].1, path).await), "x");
    }
    let pid = |fake: &Fake| *fake.ledger().starts().last().expect("it was started");
    let (kept, left) = (pid(&notes), pid(&git));

    home.satchel(&["profile", "use", "writing"]).await.succeeded();
    for (era, client, stream) in &mut watching {
        stream.until(CHANGED).await;
        let names = named(client).await;
        assert!(names.contains("notes") && !names.contains("git"), "{era:?}: {names}");
        assert_eq!(text(&call(client, "notes:echo").await), "x");
        let refused = call(client, "git:echo").await;
        assert_eq!(refused["isError"], true, "{era:?}: {refused}");
        assert!(text(&refused).contains("not in the profile \"writing\""), "{era:?}: {refused}");
        assert!(text(&refused).contains("satchel profile use"), "{era:?}: {refused}");
    }
    eventually("what nobody may use any more ends", async || (!process::is_alive(left)).then_some(())).await;
    assert!(process::is_alive(kept), "and nothing else");
    let starts = git.ledger().starts().len();
    let listed = home.satchel(&["tools"]).await;
    assert!(listed.stdout.contains("git:echo"), "a person decides about all tools: {}", listed.stdout);
    assert!(listed.stderr.contains("profile \"writing\" is active"), "{}", listed.stderr);

    home.satchel(&["profile", "use", "--everything"]).await.succeeded();
    for (era, client, stream) in &mut watching {
        stream.until(CHANGED).await;
        assert!(named(client).await.contains("git"), "{era:?}");
    }
    assert_eq!(git.ledger().starts().len(), starts, "to see it again starts nothing");
    assert_eq!(text(&call(&watching[1].1, "git:echo").await), "x");

    // Another program removes the active profile: that permits nothing, not everything.
    home.edit_config(|config| config["activeProfile"] = json!("gone"));
    for (era, client, stream) in &mut watching {
        stream.until(CHANGED).await;
        assert_eq!(named(client).await, "", "{era:?}");
        let refused = text(&call(client, "notes:echo").await);
        assert!(refused.contains("there is no profile \"gone\""), "{era:?}: {refused}");
    }
    let status = hub.status().await;
    assert_eq!(status["notices"][0]["code"], "unknown_profile", "{status}");
}

#[tokio::test]
async fn a_call_under_way_ends_before_its_server_goes_to_sleep() {
    let home = Home::empty();
    let kept = Fake::new(&home, "git").with("startup", json!("keep-alive"));
    home_of(&Fake::new(&home, "notes"), &kept, &home);
    let hub = home.start_hub().await;
    until_read(&hub).await;
    let client: Raw = hub.client("one").await;
    let arguments = json!({ "ms": 120_000, "until": home.file("end") });
    let calling = tokio::spawn(async move { client.execute("git:sleep", arguments).await });
    eventually("the call is under way", async || (hub.server("git").await["in_flight"] == 1).then_some(()))
        .await;
    let pid = *kept.ledger().starts().last().expect("it was started");
    home.satchel(&["profile", "use", "writing"]).await.succeeded();
    std::fs::write(home.file("end"), "").expect("the home can be written to");
    let answer = calling.await.expect("the call ends").value();
    assert_ne!(answer["isError"], true, "{answer}");
    eventually("then it ends", async || (!process::is_alive(pid)).then_some(())).await;
}

#[tokio::test]
async fn an_address_a_binding_and_a_folder_choose_a_profile() {
    let home = Home::empty();
    let (notes, git) = (Fake::new(&home, "notes"), Fake::new(&home, "git"));
    home_of(&notes, &git, &home);
    let hub = home.start_hub().await;
    until_read(&hub).await;
    home.satchel(&["profile", "use", "writing"]).await.succeeded();
    for era in BOTH {
        let mut client = client_at(&hub, "/profile/code", era).await;
        client.open().await;
        let names = named(&client).await;
        assert!(names.contains("git") && !names.contains("notes"), "{era:?}: {names}");
        assert_eq!(text(&call(&client, "git:echo").await), "x");
        assert!(text(&call(&client, "git:sleep").await).contains("not in the profile \"code\""), "{era:?}");

        // Bound to another one, it has only what both permit.
        let id = format!("{era:?}").to_lowercase();
        home.satchel(&["profile", "bind", &id, "writing"]).await.succeeded();
        assert_eq!(named(&client).await, "", "{era:?}");
        assert!(text(&call(&client, "git:echo").await).contains("not in the profile \"writing\""), "{era:?}");
        // A program cannot release a client from a profile.
        let refused = home.satchel(&["profile", "unbind", &id]).await;
        assert!(refused.failed_with(1).stderr.contains("needs a person"), "{refused:?}");
        let wider = home.satchel(&["profile", "edit", "writing", "--add", "git"]).await;
        assert!(wider.failed_with(1).stderr.contains("needs a person"), "nor gives them more: {wider:?}");
    }
    let connection = hub.connection("other").await;
    let mut request = plain_http().post(format!("{}/profile/gone", hub.url));
    for (name, value) in &connection.headers {
        request = request.header(name, value);
    }
    let response = request
        .header("content-type", "application/json")
        .body("{}")
        .send()
        .await
        .expect("the endpoint answers");
    assert_eq!(response.status(), 404);
    assert!(response.text().await.expect("a body").contains("there is no profile"), "it says why");

    // The client works below a folder with a profile, and the hub asks it for its folders.
    let mut client = Client::new(hub.connection("worker").await, Era::Legacy);
    client.open().await;
    let mut stream = client.listen_to_lists().await;
    assert!(!named(&client).await.contains("git"), "the active one counts");
    home.satchel(&["profile", "bind", "--folder", "/home/ada", "code"]).await.succeeded();
    let (question, _) = stream.until("roots/list").await;
    client.answer(&question).await;
    stream.until(CHANGED).await;
    let names = named(&client).await;
    assert!(names.contains("git") && !names.contains("notes"), "{names}");
    home.satchel(&["profile", "unbind", "--folder", "/home/ada"]).await.succeeded();
    stream.until(CHANGED).await;
    assert!(named(&client).await.contains("notes"), "the active one again");
}
