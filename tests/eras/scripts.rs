//! A client that runs scripts: its calls go the way of every call, whichever era the client and the servers speak.

use satchel_tests::{Home, LEGACY, MODERN, eventually, fixture};
use serde_json::{Value, json};

use crate::{
    client::{Client, Era, Told},
    pairs::client_at,
};

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// Two servers, one of each era; one tool needs a person's permission, one is hidden.
fn home() -> Home {
    let home = Home::empty();
    home.write_config(&json!({
        "toolRules": [
            { "tool": "*:test_structured_content", "permit": "ask" },
            { "tool": "*:test_audio_content", "permit": "off" },
        ],
        "mcpServers": { "old": fixture(LEGACY), "new": fixture(MODERN) },
    }));
    home
}

async fn open(home: &Home, hub: &satchel_tests::Hub<'_>, era: Era) -> Client {
    let name = format!("{era:?}").to_lowercase();
    let mut client = client_at(hub, "", era).await;
    home.satchel(&["surface", &name, "script"]).await.succeeded();
    client.open().await;
    client
}

async fn run(client: &Client, script: &str) -> Told {
    client.call("run_mcp_script", json!({ "script": script, "input": { "n": 2 } })).await
}

#[tokio::test]
async fn one_script_calls_servers_of_both_eras_and_returns_values() {
    let home = home();
    let hub = home.start_hub().await;
    for era in BOTH {
        let client = open(&home, &hub, era).await;
        let listed = client.request("tools/list", json!({})).await;
        let names: Vec<&Value> =
            listed.result()["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["discover_mcp_tools", "run_mcp_script"], "{era:?}");
        let script = "
            const both = await Promise.all(['old', 'new'].map((name) => servers[name].test_simple_text()));
            const picture = await call('new:test_image_content');
            console.log('seen', both.length);
            let wrong;
            try { await servers.old.test_error_handling() } catch (error) { wrong = [error.name, error.tool] }
            return { same: both[0] === both[1], n: input.n, picture, wrong };";
        let told = run(&client, script).await;
        let content = &told.result()["content"];
        let value: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).expect("a value");
        assert_eq!((&value["same"], &value["n"]), (&json!(true), &json!(2)), "{era:?}: {told:?}");
        assert_eq!(value["wrong"], json!(["ToolError", "old:test_error_handling"]), "{era:?}");
        assert_eq!(value["picture"]["mimeType"], "image/png", "{era:?}: {value}");
        assert_eq!(content[1]["text"], "Logged:\nseen 2", "{era:?}");
        assert_eq!(content[2]["type"], "image", "{era:?}");
        // Tools of the other surface are not on this one.
        let gone = client.call("execute_mcp_tool", json!({ "tool_path": "old:test_simple_text" })).await;
        assert_eq!(gone.outcome.unwrap_err().code, -32602, "{era:?}");
    }
}

#[tokio::test]
async fn nothing_is_weaker_inside_a_script() {
    let home = home();
    let hub = home.start_hub().await;
    for era in BOTH {
        let client = open(&home, &hub, era).await;
        for server in ["old", "new"] {
            let what = format!("{era:?} {server}");
            // A rule asks the client's user, and the script waits for the answer.
            let asked =
                run(&client, &format!("return await servers.{server}.test_structured_content()")).await;
            assert_eq!(asked.questions.len(), 1, "{what}: {asked:?}");
            let message = asked.questions[0]["params"]["message"].to_string();
            assert!(message.contains(&format!("{server}:test_structured_content")), "{what}: {message}");
            assert_ne!(asked.result()["isError"], true, "{what}: {asked:?}");
            let audit = home.satchel(&["audit", "--json"]).await;
            assert!(audit.succeeded().stdout.contains("in a script, trace 00-"), "{what}: {}", audit.stdout);
            // So does a server.
            let script = format!("return await servers.{server}.test_elicitation({{ message: 'Who?' }})");
            let told = run(&client, &script).await;
            assert_eq!(told.questions.len(), 1, "{what}: {told:?}");
            assert!(told.text().contains("ada"), "{what}: {}", told.text());
            let denied = run(&client, &format!("return await servers.{server}.test_audio_content()")).await;
            assert_eq!(denied.result()["isError"], true, "{what}");
            assert!(denied.text().contains("rule"), "{what}: {}", denied.text());
        }
        let name = format!("{era:?}").to_lowercase();
        home.satchel(&["hide", &name, "old:test_simple_text"]).await.succeeded();
        let hidden = run(&client, "return await servers.old.test_simple_text()").await;
        assert!(hidden.text().contains("cannot be called"), "{era:?}: {}", hidden.text());
    }
}

#[tokio::test]
async fn taking_the_request_back_takes_back_the_calls_of_its_script() {
    let home = home();
    let hub = home.start_hub().await;
    for era in BOTH {
        let client = open(&home, &hub, era).await;
        let script = "await Promise.all([servers.old, servers.new].map((one) => one.test_cancellation({ name: input })))";
        let request = json!({ "name": "run_mcp_script", "arguments": { "script": script, "input": format!("{era:?}") }, "_meta": { "progressToken": 7 } });
        let mut reply = client.send("tools/call", request).await;
        // Each call reports as progress that it begins, and then that the server has received it.
        for _ in 0..4 {
            reply.until("notifications/progress").await;
        }
        client.cancel(reply).await;
        for server in ["old", "new"] {
            eventually(&format!("{server} hears of it"), async || {
                let told =
                    run(&client, &format!("return await servers.{server}.test_cancelled_calls()")).await;
                told.text().contains(&format!("{era:?}")).then_some(())
            })
            .await;
        }
    }
}

#[tokio::test]
async fn types_of_results_are_inferred_where_a_server_declares_none() {
    let home = home();
    let hub = home.start_hub().await;
    let client = open(&home, &hub, Era::Legacy).await;
    let about = async |query: &str, client: &Client| {
        let asked = json!({ "query": query, "server": "old", "limit": 1 });
        client.call("discover_mcp_tools", asked).await.text().to_owned()
    };
    let asked = "test_simple_text";
    assert!(!about(asked, &client).await.contains("->"));
    assert!(run(&client, "return await servers.old.test_simple_text()").await.text().len() > 3);
    let told = about(asked, &client).await;
    assert!(told.contains("test_simple_text() -> string (seen)"), "{told}");
    // A failure teaches nothing.
    run(&client, "return await servers.old.test_error_handling()").await;
    let told = about("test_error_handling", &client).await;
    assert!(told.contains("test_error_handling(") && !told.contains("(seen)"), "{told}");
    home.satchel(&["history", "forget"]).await.succeeded();
    assert!(!about(asked, &client).await.contains("(seen)"));
}

#[tokio::test]
async fn a_question_stops_its_script_and_nothing_else() {
    let home = home();
    let hub = home.start_hub().await;
    let client = open(&home, &hub, Era::Legacy).await;
    let script = "const other = servers.old.test_simple_text(); const asked = servers.new.test_structured_content(); return [await other, await asked].length";
    let request = json!({ "name": "run_mcp_script", "arguments": { "script": script } });
    let mut reply = client.send("tools/call", request).await;
    let (question, _) = reply.until("elicitation/create").await;
    assert!(question["params"]["message"].to_string().contains("new:test_structured_content"), "{question}");
    // While the question is open, another script of this client, and a call to the same server, continue.
    assert_eq!(run(&client, "return 40 + input.n").await.text(), "42");
    let neighbour = run(&client, "return await servers.new.test_simple_text()").await;
    assert!(!neighbour.text().is_empty() && neighbour.result()["isError"] != true, "{neighbour:?}");
    client.cancel(reply).await;
}
