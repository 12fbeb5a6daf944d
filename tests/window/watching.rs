//! Two clients of the official SDK, one of each era, that watch their tools while the real tray chooses a profile.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex},
};

use satchel_tests::{Connection, Fake, Home, eventually, repository, target_directory};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::desktop::Desktop;

/// Where `scripts/real-servers.sh` installs what others wrote.
pub(crate) fn installed(name: &str) -> PathBuf {
    let path = target_directory().join("real").join(name);
    assert!(path.exists(), "{} is not installed: run `make test`", path.display());
    path
}

/// A client, and every list of tools that it got.
struct Watching {
    lists: Arc<Mutex<Vec<Value>>>,
    _process: Child,
}

impl Watching {
    async fn start(desktop: &Desktop, id: &str, mode: &str) -> Self {
        let home = &desktop.home;
        let printed = home.satchel(&["connect", "--print", "--client", id, "--json"]).await.json();
        let connection: Connection = serde_json::from_value(printed).expect("connect prints url and headers");
        home.satchel(&["surface", id, "direct"]).await.succeeded();
        let plan = json!({ "url": connection.url, "headers": connection.headers, "mode": mode });
        let mut command = home.command("node");
        command.arg(repository().join("tests/window/watching_client.mjs"));
        command.arg(installed("node_modules")).arg(plan.to_string());
        command.stdout(Stdio::piped()).stderr(desktop.output()).kill_on_drop(true);
        let mut process = command.spawn().expect("Node is installed");
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let lists = Arc::new(Mutex::new(Vec::new()));
        let heard = lists.clone();
        #[expect(clippy::disallowed_methods, reason = "it ends with the process")]
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                heard.lock().expect("no holder panics").extend(serde_json::from_str(&line));
            }
        });
        Self { lists, _process: process }
    }

    /// Waits until the last list that it got has tools of these servers and of no others; its revision.
    async fn until(&self, servers: &[&str]) -> String {
        eventually(&format!("a client sees {servers:?}"), async || {
            let last = self.lists.lock().expect("no holder panics").last()?.clone();
            let tools = last["tools"].as_array()?.iter().filter_map(Value::as_str);
            let mut seen: Vec<&str> = tools.filter_map(|tool| Some(tool.split_once('-')?.0)).collect();
            seen.dedup();
            seen.sort_unstable();
            seen.dedup();
            (seen == servers).then(|| last["revision"].as_str().unwrap_or_default().to_owned())
        })
        .await
    }

    fn count(&self) -> usize {
        self.lists.lock().expect("no holder panics").len()
    }
}

#[tokio::test]
async fn clients_of_both_eras_are_told_when_the_tray_chooses_a_profile() {
    let home = Home::empty();
    let servers = json!({ "one": Fake::new(&home, "one").entry(), "two": Fake::new(&home, "two").entry() });
    home.write_config(&json!({ "mcpServers": servers, "profiles": { "Few": { "servers": ["one"] } } }));
    let desktop = Desktop::around(home).await;
    let panel = desktop.panel().await;
    let _app = desktop.start(&["--hidden"]).await;
    let icon = panel.icon().await;
    icon.line("Profile: Everything").await;
    let modern = Watching::start(&desktop, "modern", "auto").await;
    let legacy = Watching::start(&desktop, "legacy", "legacy").await;
    assert_eq!(modern.until(&["one", "two"]).await, "2026-07-28");
    assert_eq!(legacy.until(&["one", "two"]).await, "2025-11-25");

    icon.click("Few").await;
    for client in [&modern, &legacy] {
        client.until(&["one"]).await;
    }
    let told = [modern.count(), legacy.count()];
    icon.click("Everything").await;
    for (client, told) in [&modern, &legacy].into_iter().zip(told) {
        client.until(&["one", "two"]).await;
        assert!(client.count() > told, "it was told, and asked again by itself");
    }
    icon.until("Few", |line| line.ticked == Some(false)).await;
}
