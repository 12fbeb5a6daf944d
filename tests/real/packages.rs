//! Servers that a registry lists, installed as a person installs them and fetched from npm and PyPI by the launchers that
//! people have. The registry is a mock; the packages are not.

use std::process::Stdio;

use satchel_tests::{Home, eventually, program, python, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::house::installed;

/// The mock of a registry, and its address; it ends with the first.
async fn registry(home: &Home) -> (Child, String) {
    let mut command: Command = home.command(python());
    command.arg(repository().join("tests/registry/server.py")).stdout(Stdio::piped());
    let mut process = command.spawn().expect("python starts");
    let stdout = process.stdout.take().expect("its output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
    let ready: Value = serde_json::from_str(&line.expect("it says where it listens")).expect("it is JSON");
    (process, ready["url"].as_str().expect("it has an address").to_owned())
}

#[tokio::test]
async fn five_packages_of_npm_and_pypi_are_installed_from_a_registry_and_answer() {
    assert!(program("satchel").exists());
    let home = Home::empty();
    let (_registry, url) = registry(&home).await;
    home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": url }] }));
    let path = std::env::var("PATH").expect("there is one");
    let uv = installed("python/bin/uvx");
    let path = format!("{path}:{}", uv.parent().expect("it has one").display());
    let hub = home.start_hub_with(&[("PATH", &path)]).await;
    std::fs::write(home.file("hello.txt"), "hello from a file\n").expect("the home can be written to");
    let repository = home.file("repository");
    let mut git = home.command("git");
    git.args(["init", "--quiet", repository.to_str().expect("temporary paths are UTF-8")]);
    assert!(git.status().await.expect("git can be started").success());

    let folder = format!("directory={}", home.path().display());
    let repository = format!("repository={}", repository.display());
    for (name, set, version, tool, arguments, answer) in [
        ("everything", None, "2026.8.31", "echo", json!({ "message": "in" }), "in"),
        (
            "filesystem",
            Some(&folder),
            "2026.8.31",
            "read_text_file",
            json!({ "path": home.file("hello.txt") }),
            "hello from a file",
        ),
        ("memory", None, "2026.8.31", "read_graph", json!({}), "entities"),
        ("time", None, "2026.10.19", "get_current_time", json!({ "timezone": "UTC" }), "UTC"),
        (
            "git",
            Some(&repository),
            "2026.10.19",
            "git_status",
            json!({ "repo_path": home.file("repository") }),
            "branch",
        ),
    ] {
        let listed = format!("io.github.modelcontextprotocol/{name}");
        let mut words = vec!["install", "--yes", "--json", &listed];
        words.extend(set.iter().flat_map(|set| ["--set", set.as_str()]));
        let done = home.satchel(&words).await.json();
        assert_eq!((&done["server"], &done["version"]), (&json!(name), &json!(version)), "{done}");
        // The first start fetches the package.
        home.satchel(&["restart", name]).await.succeeded();
        let client = hub.client("one").await;
        eventually(&format!("{name} answers"), async || {
            let called = client.execute(&format!("{name}:{tool}"), arguments.clone()).await;
            (called.outcome.is_ok() && called.text().contains(answer)).then_some(())
        })
        .await;
    }
    let outdated = home.satchel(&["outdated", "--json"]).await.json();
    assert_eq!(outdated.as_array().map(Vec::len), Some(5), "{outdated}");
}
