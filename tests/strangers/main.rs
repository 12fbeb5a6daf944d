//! 60 real servers behind one hub, as a person has them: approved once, then looked at with `satchel approvals`.
//!
//! `make strangers` installs and runs them. What they need of a network or of an account they do not have; a few may not
//! start for that, and are named.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use satchel_tests::{Home, Hub, repository, target_directory};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// Maximum time for all of them to start and be read.
const PATIENCE: Duration = Duration::from_secs(900);
/// With fewer of the 60 the test is meaningless.
const FEWEST: usize = 50;

/// A server of `servers.json`.
#[derive(Deserialize)]
struct Stranger {
    name: String,
    npm: Option<String>,
    pypi: Option<String>,
    program: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Stranger {
    fn all() -> Vec<Self> {
        let text = std::fs::read_to_string(repository().join("tests/strangers/servers.json"));
        serde_json::from_str(&text.expect("the list can be read")).expect("it is a list of servers")
    }

    /// The path of its program, if installed.
    fn installed(&self) -> Option<PathBuf> {
        let (package, below) = match (&self.npm, &self.pypi) {
            (Some(package), _) => (package, "node_modules/.bin"),
            (None, package) => (package.as_ref()?, "python/bin"),
        };
        let directory = package.trim_start_matches('@').replace('/', "__");
        let path = target_directory().join("strangers").join(directory).join(below).join(&self.program);
        path.exists().then_some(path)
    }

    fn entry(&self, home: &Home) -> Option<Value> {
        let here = |text: &String| text.replace("{home}", &home.path().display().to_string());
        let env: BTreeMap<&String, String> =
            self.env.iter().map(|(name, value)| (name, here(value))).collect();
        let args: Vec<String> = self.args.iter().map(here).collect();
        Some(json!({ "command": self.installed()?, "args": args, "env": env }))
    }
}

/// The number of tools of each server, once as many are known as possible.
async fn known(hub: &Hub<'_>, servers: usize) -> BTreeMap<String, u64> {
    let begun = Instant::now();
    loop {
        let status = hub.status().await;
        let each = status["servers"].as_array().into_iter().flatten();
        let known: BTreeMap<String, u64> = each
            .filter_map(|server| Some((server["name"].as_str()?.to_owned(), server["tools"].as_u64()?)))
            .filter(|(_, tools)| *tools > 0)
            .collect();
        let is_read = |server: &Value| server["state"] != "starting" && !server["state"].is_null();
        let settled = status["servers"].as_array().is_some_and(|servers| servers.iter().all(is_read));
        let waited = begun.elapsed();
        if known.len() == servers || waited > PATIENCE || (settled && waited > PATIENCE / 3) {
            return known;
        }
        sleep(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn of_sixty_real_servers_nothing_is_held_back_by_mistake() {
    let home = Home::empty();
    let strangers = Stranger::all();
    let entries: serde_json::Map<String, Value> = strangers
        .iter()
        .filter_map(|stranger| Some((stranger.name.clone(), stranger.entry(&home)?)))
        .collect();
    let count = entries.len();
    for stranger in strangers.iter().filter(|stranger| !entries.contains_key(&stranger.name)) {
        println!("not installed: {}", stranger.name);
    }
    home.write_config(&json!({ "mcpServers": entries }));
    let hub = home.start_hub_asking().await;
    // Nothing that is only in the file starts before a person has approved it, once for all.
    home.satchel_agreeing(&["approve", "--all"]).await.succeeded();
    let known = known(&hub, count).await;
    for name in entries_of(&home).into_iter().filter(|name| !known.contains_key(name)) {
        println!("no tools: {name}: {}", hub.server(&name).await["note"]);
    }
    hub.connection("lister").await;
    home.satchel(&["surface", "lister", "direct"]).await.succeeded();
    let asked = Instant::now();
    let list = home.satchel(&["approvals", "--json"]).await.succeeded().json();
    let (mut held, mut marked) = (Vec::new(), Vec::new());
    for server in list["servers"].as_array().into_iter().flatten() {
        for item in server["items"].as_array().into_iter().flatten() {
            let findings = item["findings"].as_array().into_iter().flatten();
            let about: Vec<String> =
                findings.map(|one| format!("{}: {}", one["about"], one["text"])).collect();
            let line =
                format!("{} {} {}: {}", server["server"], item["kind"], item["name"], about.join(" | "));
            match (item["held"].is_null(), item["kind"] == "tool") {
                (false, _) => held.push(line),
                (true, true) if !about.is_empty() => marked.push(line),
                (true, _) => {}
            }
        }
    }
    let tools: u64 = known.values().sum();
    println!("approvals took {:?}\nmarked:\n{}", asked.elapsed(), marked.join("\n"));
    println!(
        "{} of 60 servers, {tools} tools: held back {}, marked {}",
        known.len(),
        held.len(),
        marked.len()
    );
    // The output for a person.
    let shown = home.satchel(&["approvals"]).await;
    println!(
        "satchel approvals:\n{}",
        shown.succeeded().stdout.lines().take(20).collect::<Vec<_>>().join("\n")
    );
    let alone = list_p99(&hub).await;
    let asking = async {
        loop {
            home.satchel(&["approvals", "--json"]).await.succeeded();
        }
    };
    let beside =
        tokio::select! { p99 = list_p99(&hub) => p99, () = asking => unreachable!("it asks without end") };
    println!(
        "tools/list of {tools} tools, p99: {alone:?}; beside `satchel approvals` in a loop {beside:?}: {:.2} times",
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    assert!(known.len() >= FEWEST, "only {} are there", known.len());
    assert!(held.is_empty(), "held back by mistake:\n{}", held.join("\n"));
    hub.terminate().await;
}

/// The 99th percentile of 500 lists of all tools.
async fn list_p99(hub: &Hub<'_>) -> Duration {
    let client = hub.client("lister").await;
    let mut took = Vec::with_capacity(500);
    for _ in 0..500 {
        let begun = Instant::now();
        let list = client.request("tools/list", json!({})).await;
        took.push(begun.elapsed());
        assert!(list.value()["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
    }
    took.sort();
    took[took.len() * 99 / 100]
}

fn entries_of(home: &Home) -> Vec<String> {
    let config = home.config();
    config["mcpServers"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}
