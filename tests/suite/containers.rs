//! A container as a server's sandbox: how it is started, and that it ends with its server, also where its client or the hub is
//! killed. The engine is a stand-in that writes down its words and keeps what it started, as engines do.

use std::fs;

use satchel_tests::{Fake, Home, eventually, process};
use serde_json::json;

const IMAGE: &str = "localhost/fake@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// What it starts has an environment and a session of its own, so that nothing but its name leads to it.
const ENGINE: &str = r#"#!/bin/sh
printf '%s\n' "$*" >>HOME/engine.log
case $1 in
    info) echo true ;;
    ps) cat HOME/left 2>/dev/null ;;
    kill | rm)
        for last; do :; done
        if [ -f "HOME/$last.pid" ]; then
            kill -9 "$(cat "HOME/$last.pid")"
            rm "HOME/$last.pid"
        fi
        ;;
    run)
        printf 'the client has TOKEN=%s\n' "$TOKEN" >>HOME/engine.log
        while [ "$1" != IMAGE ]; do
            [ "$1" != --name ] || name=$2
            shift
        done
        shift
        exec 3<&0
        env -i setsid "$@" <&3 3<&- &
        echo $! >"HOME/$name.pid"
        exec 3<&-
        wait $!
        ;;
esac
"#;

/// A home with the engine and one server in a container.
fn furnished(fake: impl FnOnce(Fake) -> Fake) -> Home {
    let home = Home::empty();
    let place = home.path().to_str().expect("temporary paths are UTF-8");
    home.write_program("bin/podman", &ENGINE.replace("HOME", place).replace("IMAGE", IMAGE));
    let mut entry = fake(Fake::new(&home, "fake").env("TOKEN", "canary")).entry();
    entry["sandbox"] = json!({ "container": IMAGE, "read": ["~/notes"], "write": [home.path()] });
    home.write_config(&json!({ "mcpServers": { "fake": entry } }));
    home
}

fn path(home: &Home) -> String {
    format!("{}:/usr/bin:/bin", home.file("bin").display())
}

fn said(home: &Home) -> Vec<String> {
    let log = fs::read_to_string(home.file("engine.log")).unwrap_or_default();
    log.lines().map(ToOwned::to_owned).collect()
}

/// The name of the container that was started last.
fn name(home: &Home) -> String {
    let said = said(home);
    let run = said.iter().rfind(|line| line.starts_with("run ")).expect("it was started");
    let name = run.split(' ').skip_while(|word| *word != "--name").nth(1);
    name.expect("it has a name").to_owned()
}

#[tokio::test]
async fn a_server_in_a_container_has_what_its_entry_names_and_is_ended_by_its_name() {
    let home = furnished(|fake| fake.behaving(&["--ignore-eof"]));
    fs::write(home.file("left"), "0a1b2c\n").expect("the home can be written to");
    let hub = home.start_hub_with(&[("PATH", &path(&home))]).await;
    let client = hub.client("one").await;
    assert_eq!(client.execute("fake:echo", json!({ "text": "inside" })).await.text(), "inside");
    let (name, said) = (name(&home), said(&home));
    let at = |beginning: &str| said.iter().position(|line| line.starts_with(beginning)).expect(beginning);
    assert!(at("rm --force 0a1b2c") < at("run "), "what an earlier run left behind goes first: {said:?}");
    let run = &said[at("run ")];
    let place = home.path().display();
    for part in [
        format!("run --rm --interactive --init --name {name} --label satchel="),
        "--cap-drop ALL --security-opt no-new-privileges --read-only".into(),
        "--network none".into(),
        "--userns keep-id".into(),
        format!("--mount type=bind,source={place},target={place} "),
        format!("--mount type=bind,source={place}/notes,target={place}/notes,readonly"),
        format!("--env TOKEN {IMAGE} "),
    ] {
        assert!(run.contains(&part), "{part}: {run}");
    }
    assert!(!said.iter().any(|line| line.starts_with("run ") && line.contains("canary")), "{run}");
    assert!(said.iter().any(|line| line == "the client has TOKEN=canary"), "{said:?}");

    let pid = *fake_pids(&home).last().expect("it was started");
    home.satchel(&["disable", "fake"]).await.succeeded();
    eventually("the container ends", async || (!process::is_alive(pid)).then_some(())).await;
    let kill = format!("kill {name}");
    eventually("it is ended by its name", async || self::said(&home).contains(&kill).then_some(())).await;
}

#[tokio::test]
async fn a_container_ends_with_its_client_and_with_the_hub() {
    let home = furnished(|fake| fake.behaving(&["--ignore-eof"]));
    let hub = home.start_hub_with(&[("PATH", &path(&home))]).await;
    let client = hub.client("one").await;
    client.execute("fake:echo", json!({ "text": "one" })).await;
    let (first, inside) = (name(&home), *fake_pids(&home).last().expect("it was started"));
    let engine = u32::try_from(hub.server("fake").await["pid"].as_u64().expect("its client runs"));
    process::signal(engine.expect("a process id"), process::Signal::KILL);
    eventually("the container of a killed client ends", async || (!process::is_alive(inside)).then_some(()))
        .await;
    assert!(said(&home).contains(&format!("kill {first}")));

    client.execute("fake:echo", json!({ "text": "two" })).await;
    let (second, inside) = (name(&home), *fake_pids(&home).last().expect("it was started again"));
    assert!(second != first && process::is_alive(inside));
    hub.kill().await;
    eventually("the container of a killed hub ends", async || (!process::is_alive(inside)).then_some(()))
        .await;
    let removed = format!("rm --force {second}");
    eventually("nothing of it is left", async || said(&home).contains(&removed).then_some(())).await;
}

fn fake_pids(home: &Home) -> Vec<u32> {
    Fake::new(home, "fake").ledger().starts()
}
