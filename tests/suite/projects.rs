//! Servers that run in the folder of a session, with real processes: where they run, what they are told, and who has none.

use std::path::{Path, PathBuf};

use satchel_tests::{Client, Fake, Home, Hub};
use serde_json::{Value, json};

use crate::{bridge::Bridge, offered};

/// A server with its folder in an argument, a variable and its directory, and two folders.
fn with_code(home: &Home) -> [PathBuf; 2] {
    let code = Fake::new(home, "code").behaving(&["--needs-roots", "${project}/src"]);
    let code = code.env("WHERE", "${project}").with("cwd", json!("${project}"));
    home.write_config(&json!({ "mcpServers": { "code": code.entry() } }));
    ["web", "my api"].map(|name| {
        let folder = home.path().canonicalize().expect("the home is there").join(name);
        std::fs::create_dir(&folder).expect("the home can be written");
        folder
    })
}

/// A session of a client whose requests name a folder.
async fn within(hub: &Hub<'_>, client: &str, folder: &Path) -> Client {
    let mut connection = hub.connection(client).await;
    let encoded = folder.to_str().expect("a test's path is text").replace(' ', "%20");
    connection.headers.insert("satchel-project".into(), encoded);
    Client::open(&connection, "2025-11-25").await
}

fn about(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn a_server_runs_in_the_folder_of_its_session_and_in_no_other() {
    let home = Home::empty();
    let [web, api] = with_code(&home);
    let hub = home.start_hub().await;
    let none = hub.client("editor").await;
    let refused = none.execute("code:about", json!({})).await.complaint();
    assert!(refused.contains("runs in the folder of a session"), "{refused}");
    assert_eq!(hub.server("code").await["starts"], 0);

    let (one, other) = (within(&hub, "editor", &web).await, within(&hub, "agent", &api).await);
    let mut pids = vec![];
    for (client, folder) in [(&one, &web), (&other, &api)] {
        // Its tools become known with the first session that works in a folder.
        offered(client, "code:about").await;
        let told = about(&client.execute("code:about", json!({ "env": ["WHERE"] })).await.text());
        let folder = folder.to_str().expect("a test's path is text");
        assert_eq!((&told["cwd"], &told["env"]["WHERE"]), (&json!(folder), &json!(folder)));
        assert!(told["args"].to_string().contains(&format!("\"{folder}/src\"")), "{told}");
        let roots = client.execute("code:roots", json!({})).await.text();
        assert!(roots.contains(&format!("file://{}\"", folder.replace(' ', "%20"))), "{roots}");
        pids.push(told["pid"].clone());
    }
    assert_ne!(pids[0], pids[1]);
    let third = within(&hub, "agent", &web).await;
    let told = about(&third.execute("code:about", json!({})).await.text());
    assert_eq!(told["pid"], pids[0], "who works in one folder shares the instance");

    let status = home.satchel(&["status"]).await.stdout;
    assert!(status.contains("because its entry contains ${project}"), "{status}");
    let at_home = within(&hub, "editor", home.path()).await;
    let refused = at_home.execute("code:about", json!({})).await.complaint();
    assert!(refused.contains("is your home directory, not a project"), "{refused}");
    let refused = none.execute("code:about", json!({})).await.complaint();
    assert!(refused.contains("its client names none"), "{refused}");
}

#[tokio::test]
async fn a_bridge_works_in_the_folder_that_its_client_started_it_in_or_in_the_one_that_it_is_told() {
    let home = Home::empty();
    let [web, api] = with_code(&home);
    let _hub = home.start_hub().await;
    for (arguments, folder) in
        [(vec![], &web), (vec!["--project".to_owned(), api.display().to_string()], &api)]
    {
        let mut bridge = Bridge::start_in(&home, &web, &arguments);
        bridge.open().await;
        let call = json!({ "tool_path": "code:about", "arguments": {} });
        let told = bridge.ask("tools/call", json!({ "name": "execute_mcp_tool", "arguments": call })).await;
        let text = told["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{told}"));
        assert_eq!(about(text)["cwd"], json!(folder.to_str()));
    }
}
