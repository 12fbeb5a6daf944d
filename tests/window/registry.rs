//! A server from a registry in the real window: found, shown as text, installed with what it needs, called, updated, taken
//! back.

use std::{fs, process::Stdio};

use fantoccini::key::Key;
use satchel_tests::{Client, eventually, program, python, repository};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::{app::until_offered, desktop::Desktop};

async fn registry(desktop: &Desktop) -> (Child, String) {
    let mut command = desktop.home.command(python());
    let server = repository().join("tests/registry/server.py");
    command.arg(server).stdout(Stdio::piped());
    let mut process = command.spawn().expect("python starts");
    let stdout = process.stdout.take().expect("its output is a pipe");
    let line = BufReader::new(stdout).lines().next_line().await.expect("it can be read");
    let ready: Value = serde_json::from_str(&line.expect("it says where it listens")).expect("it is JSON");
    (process, ready["url"].as_str().expect("it has an address").to_owned())
}

#[tokio::test]
async fn a_server_of_a_registry_is_found_installed_and_updated_in_the_window() {
    let desktop = Desktop::with_servers(json!({})).await;
    let (_registry, url) = registry(&desktop).await;
    desktop.home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": url }] }));
    desktop.home.trust_config().await;
    desktop.home.satchel(&["install", "--yes", "io.github.adalovelace/ledger@1.1.0"]).await.succeeded();
    let page = desktop.open_window(&[]).await;
    desktop.home.satchel_reading(&["secrets", "use-file"], "correct horse battery\n").await.succeeded();
    page.run("location.hash = '#/catalog'").await;
    page.says("section[aria-label='From registries'] h2", "315 known").await;
    let rows = "const list = document.querySelector('section[aria-label=\"From registries\"]'); \
                list.scrollIntoView(); \
                const rows = [...list.querySelectorAll('[role=listitem]')]; \
                return [rows.length, Number(rows[0]?.getAttribute('aria-setsize'))]";
    eventually("only the visible part of the list is in the page", async || {
        let rows = page.run(rows).await;
        let (here, all) = (rows[0].as_u64()?, rows[1].as_u64()?);
        (all > 200 && (1..60).contains(&here)).then_some(())
    })
    .await;
    page.write("input[type=search], .search input", "h-script").await;
    // After the bundled list's results for these words; the page only contains what is visible.
    eventually("the registry's entry is shown as text", async || {
        let script = "const of = document.querySelector('section[aria-label=\"From registries\"]'); \
                      of.scrollIntoView(); return of.innerText";
        page.run(script).await.as_str()?.contains("<script>alert(2)</script>").then_some(())
    })
    .await;
    let elements =
        "return document.querySelectorAll('section[aria-label=\"From registries\"] :is(script, img)').length";
    assert_eq!(page.run(elements).await, json!(0), "a description is text");

    page.run("location.hash = '#/catalog/io.github.brook-tools%2Fweather'").await;
    page.says(".pane dl", "npx -y brook-tools-weather-mcp@1.0.6").await;
    page.says(".pane dl", "REGION=eu").await;
    assert_eq!(
        page.run("return document.querySelector('.pane [data-yes]').ariaDisabled === 'true'").await,
        json!(true)
    );
    page.write(".pane input[type=password]", "canary-61b2").await;
    page.agree(".pane").await;
    eventually("it is installed", async || {
        let entry = desktop.home.config()["mcpServers"]["weather"].clone();
        entry["env"]["API_KEY"].as_str().is_some_and(|text| text.starts_with("${secret:")).then_some(())
    })
    .await;

    eventually("the window goes to it", async || {
        (page.run("return location.hash").await == json!("#/servers/weather")).then_some(())
    })
    .await;
    page.run("location.hash = '#/servers/ledger'").await;
    page.says("section[aria-label='Update']", "Version 1.2.0 is available. You have 1.1.0.").await;
    page.click("section[aria-label='Update'] button").await;
    page.says("section[aria-label='Update']", "now ada-ledger-mcp@1.2.0").await;
    page.agree("section[aria-label='Update']").await;
    eventually("it is updated", async || {
        let args = desktop.home.config()["mcpServers"]["ledger"]["args"].clone();
        (args == json!(["-y", "ada-ledger-mcp@1.2.0"])).then_some(())
    })
    .await;

    // And back, from the undo bar.
    page.click("[data-undo] button").await;
    eventually("the update is taken back", async || {
        let args = desktop.home.config()["mcpServers"]["ledger"]["args"].clone();
        (args == json!(["-y", "ada-ledger-mcp@1.1.0"])).then_some(())
    })
    .await;
    page.says("section[aria-label='Update']", "Version 1.2.0 is available. You have 1.1.0.").await;
    page.close().await;
}

/// Bundled servers can be read and added while a registry answers slowly, and later updates know where they came from.
#[tokio::test]
async fn the_catalog_is_usable_before_the_last_page_has_arrived() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let desktop = Desktop::with_servers(json!({})).await;
    launcher(&desktop);
    let (_registry, url) = registry(&desktop).await;
    desktop.home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": url }] }));
    desktop.home.trust_config().await;
    // The last page takes hours: a byte a second.
    does(&url, json!({ "fault": "slow", "after": 1 })).await;
    let page = desktop.open_window(&[]).await;
    page.run("location.hash = '#/catalog'").await;
    page.says("section[aria-label='From registries']", "Reading the registry").await;
    page.run("location.hash = '#/catalog/time'").await;
    page.agree(".pane").await;
    eventually("it is added, and its source is known", async || {
        let source = desktop.home.config()["mcpServers"]["time"]["source"].clone();
        (source["registry"] == "satchel" && source["name"] == "time").then_some(())
    })
    .await;
    page.close().await;
}

const WEATHER: &str = "io.github.brook-tools/weather";
const PACKAGE: &str = "brook-tools-weather-mcp";

/// Launchers that fetch nothing: each runs a server whose tool has the description set by [`says`] for the package.
fn launcher(desktop: &Desktop) {
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do case \"$word\" in -*) ;; *) break ;; esac; done\n\
         exec {} --words \"$HOME/words/$word\"\n",
        program("fake-mcp-server").display()
    );
    for name in ["bin/npx", "bin/uvx"] {
        desktop.home.write_program(name, &script);
    }
}

fn says(desktop: &Desktop, version: &str, words: &str) {
    let directory = desktop.home.file("words");
    fs::create_dir_all(&directory).expect("the home can be written to");
    fs::write(directory.join(format!("{PACKAGE}@{version}")), words).expect("the home can be written to");
}

async fn does(url: &str, what: Value) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let sent = client.post(format!("{url}/_test")).body(what.to_string()).send().await;
    assert!(sent.expect("it answers").status().is_success());
}

async fn answers(client: &Client, text: &str) {
    eventually(&format!("it answers {text:?}"), async || {
        let answer = client.execute("weather:echo", json!({ "text": text })).await;
        (answer.outcome.is_ok() && answer.text() == text).then_some(())
    })
    .await;
}

/// From the search to the removal, each step also checked as a client sees it.
#[tokio::test]
async fn a_server_is_found_given_its_key_called_updated_held_back_and_removed_in_the_window() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let desktop = Desktop::with_servers(json!({})).await;
    launcher(&desktop);
    says(&desktop, "1.0.6", "Tells the weather");
    says(&desktop, "1.0.7", "Tells the weather, and sends it on");
    let (_registry, url) = registry(&desktop).await;
    desktop.home.write_config(&json!({ "mcpServers": {}, "registries": [{ "url": url }] }));
    desktop.home.trust_config().await;
    let page = desktop.open_window(&[]).await;
    desktop.home.satchel_reading(&["secrets", "use-file"], "correct horse battery\n").await.succeeded();
    let entry = || desktop.home.config()["mcpServers"]["weather"].clone();

    page.run("location.hash = '#/catalog'").await;
    page.says("section[aria-label='From registries'] h2", "315 known").await;
    page.write("input[type=search], .search input", "brook weather").await;
    page.says("section[aria-label='From registries'] [role=listitem]", "brook-tools").await;
    page.run("location.hash = '#/catalog/io.github.brook-tools%2Fweather'").await;
    page.says(".pane dl", &format!("npx -y {PACKAGE}@1.0.6")).await;
    page.write(".pane input[type=password]", "canary-7d10").await;
    page.agree(".pane").await;
    eventually("it is installed", async || entry().is_object().then_some(())).await;
    assert!(!entry().to_string().contains("canary-7d10"), "the key is in no file: {}", entry());

    let client = desktop.client("editor").await;
    until_offered(&client, "weather", true).await;
    page.run("location.hash = '#/servers/weather/tools/echo'").await;
    page.says("main h2", "echo").await;
    page.write("main form textarea, main form input.box", "sunny").await;
    page.click("[data-run]").await;
    page.says("[data-out]", "sunny").await;
    answers(&client, "rain").await;

    let newer = json!({ "server": { "name": WEATHER, "version": "1.0.7", "description": "Weather",
        "packages": [{ "registryType": "npm", "identifier": PACKAGE, "version": "1.0.7",
            "transport": { "type": "stdio" }, "environmentVariables": [
                { "name": "API_KEY", "isRequired": true, "isSecret": true },
                { "name": "REGION", "default": "eu" }] }] } });
    does(&url, json!({ "publish": newer })).await;
    let outdated = desktop.home.satchel(&["outdated", "--fresh", "--json"]).await.json();
    assert_eq!((&outdated[0]["version"], &outdated[0]["newer"]), (&json!("1.0.6"), &json!("1.0.7")));

    // Nothing changes before a yes, and changed tools are held back after it.
    page.run("location.hash = '#/activity'").await;
    page.find("a[href='#/activity'][aria-current=page]").await;
    page.run("location.hash = '#/servers/weather'").await;
    page.says("section[aria-label='Update']", "Version 1.0.7 is available. You have 1.0.6.").await;
    page.click("section[aria-label='Update'] button").await;
    page.says("section[aria-label='Update']", &format!("now {PACKAGE}@1.0.7")).await;
    assert_eq!(entry()["args"], json!(["-y", format!("{PACKAGE}@1.0.6")]));
    page.agree("section[aria-label='Update']").await;
    eventually("it is updated", async || {
        (entry()["args"] == json!(["-y", format!("{PACKAGE}@1.0.7")])).then_some(())
    })
    .await;
    // The file is written first, the approval after it.
    eventually("it is approved and starts", async || {
        let ran = desktop.home.satchel(&["restart", "weather"]).await;
        (ran.code == Some(0)).then_some(())
    })
    .await;
    page.run("location.hash = '#/servers/weather/tools'").await;
    page.says("main section[aria-label=echo]", "sends it on").await;
    let complaint = client.execute("weather:echo", json!({ "text": "in" })).await.complaint();
    assert!(complaint.contains("held back") || complaint.contains("approve"), "{complaint}");

    // The undo bar closes by itself; its shortcut still works.
    page.write("body", &format!("{}z", char::from(Key::Control))).await;
    eventually("the update is taken back", async || {
        (entry()["args"] == json!(["-y", format!("{PACKAGE}@1.0.6")])).then_some(())
    })
    .await;
    answers(&client, "again").await;
    page.close().await;
}
