//! Agents from their own packages, with a scripted model instead of a real one: no login, no network. Each has the
//! entry that `satchel connect` wrote, finds the hub's tools and calls one; which protocol revision it agreed on with
//! the hub is printed. `make clients` runs this:
//! what has to be installed is large.

use std::{path::PathBuf, process::Stdio};

use satchel_tests::{Home, LEGACY, eventually, fixture, repository, target_directory};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

/// The text of the fixture's simplest tool.
const ANSWER: &str = "This is a simple text response for testing.";

/// A hub with a server, a model that wants one tool, and a client of that hub.
struct Scene {
    home: Home,
    _model: Child,
    model: String,
}

impl Scene {
    async fn build() -> Self {
        let home = Home::with_servers(json!({ "fixture": fixture(LEGACY) }));
        let mut command = home.command(node());
        command.arg(repository().join("tests/agents/scripted_models.mjs"));
        let mut model =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the model can be started");
        let plan = json!({ "tool": "execute_mcp_tool",
            "arguments": { "tool_path": "fixture:test_simple_text", "arguments": {} } });
        let mut stdin = model.stdin.take().expect("its standard input is a pipe");
        stdin.write_all(plan.to_string().as_bytes()).await.expect("the model reads its plan");
        drop(stdin);
        let stdout = model.stdout.take().expect("its standard output is a pipe");
        let line = BufReader::new(stdout).lines().next_line().await.ok().flatten();
        let ready: Value = serde_json::from_str(&line.expect("it says where it listens")).expect("JSON");
        let address = ready["url"].as_str().expect("an address").to_owned();
        Self { home, _model: model, model: address }
    }

    /// A command in a directory of its own.
    fn command(&self, program: PathBuf) -> Command {
        let work = self.home.file("work");
        std::fs::create_dir_all(&work).expect("the home can be written to");
        let mut command = self.home.command(program);
        let node = node();
        let path = std::env::var("PATH").unwrap_or_default();
        if let Some(directory) = node.parent().filter(|directory| directory.is_absolute()) {
            command.env("PATH", format!("{}:{path}", directory.display()));
        }
        // Some read their directory from the environment.
        command.env("PWD", &work).current_dir(work);
        command
    }

    /// Adds our entry to the client's own settings, as a person does, and uses nothing else of them.
    async fn connect(&self, client: &str, file: &str, settings: &str) {
        let file = self.home.file(file);
        std::fs::create_dir_all(file.parent().expect("settings lie in a directory")).expect("it can be made");
        std::fs::write(&file, settings).expect("the home can be written to");
        self.home.satchel(&["connect", client]).await.succeeded();
        let now = std::fs::read_to_string(&file).expect("the settings are text");
        assert!(now.contains("satchel") && now.contains("sat_"), "{client}: {now}");
    }

    /// Runs the client, which must make its call, at this revision.
    async fn calls(&self, client: &str, mut command: Command, revision: &str) {
        let output = command.output().await.unwrap_or_else(|error| panic!("{client}: {error}"));
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let mut history = Value::Null;
        eventually(&format!("{client} has called; it said {said}"), async || {
            history = self.home.satchel(&["history", "--client", client, "--json"]).await.json();
            history["calls"].as_array().is_some_and(|calls| !calls.is_empty()).then_some(())
        })
        .await;
        let (session, call) = (&history["sessions"][0], &history["calls"][0]);
        println!("{client}: {} speaks {}", session["program"], session["era"]);
        assert_eq!((&call["tool"], &call["outcome"]), (&json!("test_simple_text"), &json!("ok")), "{said}");
        assert_eq!(session["era"], revision, "{client}: {history}");
        assert!(said.contains(ANSWER), "{client} heard the answer: {said}");
    }
}

#[tokio::test]
async fn codex_calls_a_tool() {
    let scene = Scene::build().await;
    let _hub = scene.home.start_hub().await;
    let settings = format!(
        "model = \"gpt-5-codex\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\n",
        scene.model
    );
    scene.connect("codex", ".codex/config.toml", &settings).await;
    let mut command = scene.command(node());
    command.arg(installed("node_modules/@openai/codex/bin/codex.js")).args([
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "go",
    ]);
    scene.calls("codex", command, "2025-06-18").await;
}

#[tokio::test]
async fn gemini_cli_calls_a_tool() {
    let scene = Scene::build().await;
    let _hub = scene.home.start_hub().await;
    let settings = json!({
        "security": { "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } },
        "telemetry": { "enabled": false }, "general": { "disableAutoUpdate": true },
    });
    scene.connect("gemini-cli", ".gemini/settings.json", &settings.to_string()).await;
    let mut command = scene.command(node());
    command
        .arg(installed("node_modules/.bin/gemini"))
        .args(["-p", "go", "--yolo", "-m", "gemini-2.5-flash", "--output-format", "json"])
        .env("GEMINI_API_KEY", "not-a-key")
        .env("GOOGLE_GEMINI_BASE_URL", &scene.model);
    scene.calls("gemini-cli", command, "2025-06-18").await;
}

#[tokio::test]
async fn qwen_code_calls_a_tool() {
    let scene = Scene::build().await;
    let _hub = scene.home.start_hub().await;
    let settings = json!({
        "security": { "folderTrust": { "enabled": false }, "auth": { "selectedType": "openai" } },
        "telemetry": { "enabled": false }, "privacy": { "usageStatisticsEnabled": false },
        "general": { "disableAutoUpdate": true, "enableAutoUpdate": false },
    });
    scene.connect("qwen-code", ".qwen/settings.json", &settings.to_string()).await;
    let mut command = scene.command(node());
    command
        .arg(installed("node_modules/.bin/qwen"))
        .args(["-p", "go", "--yolo", "--output-format", "json"])
        .env("OPENAI_API_KEY", "not-a-key")
        .env("OPENAI_MODEL", "scripted")
        .env("OPENAI_BASE_URL", format!("{}/v1", scene.model));
    scene.calls("qwen-code", command, "2025-11-25").await;
}

#[tokio::test]
async fn opencode_calls_a_tool() {
    let scene = Scene::build().await;
    let _hub = scene.home.start_hub().await;
    let options = json!({ "baseURL": format!("{}/v1", scene.model), "apiKey": "not-a-key" });
    let settings = json!({
        "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "snapshot": false,
        "model": "scripted/m", "small_model": "scripted/m",
        "provider": { "scripted": { "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options,
            "models": { "m": { "name": "m", "tool_call": true } } } },
    });
    scene.connect("opencode", ".config/opencode/opencode.json", &settings.to_string()).await;
    let mut command = scene.command(opencode());
    command.args(["run", "go"]);
    scene.calls("opencode", command, "2025-11-25").await;
}

/// A file of the installation, which must exist.
fn installed(name: &str) -> PathBuf {
    let path = target_directory().join("agents").join(name);
    assert!(path.exists(), "{} is not installed: run `make clients`", path.display());
    path
}

fn opencode() -> PathBuf {
    let cpu = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    installed(&format!("node_modules/opencode-linux-{cpu}/bin/opencode"))
}

/// The Node that every agent here supports.
fn node() -> PathBuf {
    let cpu = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    installed(&format!("node_modules/node-linux-{cpu}/bin/node"))
}
