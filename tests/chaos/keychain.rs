//! The keychain is missing, locked, dies or comes back: servers without secrets are not touched, the others wait with a
//! reason, nothing hangs, and no secret is ever written to a plain file.

use std::{process::Stdio, time::Duration};

use satchel_tests::{eventually, program};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Child,
};

use crate::{
    arena::{Arena, Chaos, Launched},
    control::Control,
    journal::Outcome,
    measured,
    processes::{Signal, signal},
};

/// Improbable enough to be found only where it was put.
const CANARY: &str = "canary-77ae-01c4-e2b9";

/// A private session bus, without services that start by themselves. Killed when dropped.
pub(crate) struct Bus {
    process: Child,
    pub(crate) address: String,
}

impl Bus {
    pub(crate) async fn start(arena: &Arena) -> Self {
        let configuration = arena.home.file("bus.conf");
        let listen = format!("unix:path={}", arena.home.file("bus").display());
        let policy = r#"<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>"#;
        let text = format!("<busconfig><type>session</type><listen>{listen}</listen>{policy}</busconfig>");
        std::fs::write(&configuration, text).expect("the home can be written");
        let _ = std::fs::remove_file(arena.home.file("bus"));
        let mut command = arena.home.command("dbus-daemon");
        command
            .arg(format!("--config-file={}", configuration.display()))
            .args(["--nofork", "--print-address=1"]);
        let mut process = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("dbus-daemon is installed; scripts/setup.sh does that");
        let stdout = process.stdout.take().expect("its standard output is a pipe");
        BufReader::new(stdout)
            .lines()
            .next_line()
            .await
            .expect("it can be read")
            .expect("it says its address");
        // Not the address it prints, which also identifies this run: a session's address outlives its bus.
        Self { process, address: listen }
    }

    /// A keychain service on this bus, unlocked if there is a password.
    pub(crate) async fn keychain(&self, arena: &Arena, password: Option<&str>) -> Child {
        let runtime = arena.home.file("runtime");
        std::fs::create_dir_all(&runtime).expect("the home can be written");
        let mut command = arena.home.command("gnome-keyring-daemon");
        command.args(["--foreground", "--components=secrets"]);
        if password.is_some() {
            command.arg("--unlock");
        }
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env("XDG_RUNTIME_DIR", runtime);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process =
            command.spawn().expect("gnome-keyring-daemon is installed; scripts/setup.sh does that");
        let mut stdin = process.stdin.take().expect("its standard input is a pipe");
        stdin.write_all(password.unwrap_or_default().as_bytes()).await.expect("it reads");
        drop(stdin);
        let bus = zbus::connection::Builder::address(self.address.as_str()).expect("the bus has an address");
        let bus = bus.build().await.expect("the bus listens");
        let bus = zbus::fdo::DBusProxy::new(&bus).await.expect("the bus speaks");
        eventually("the keychain service is on the bus", async || {
            let name = "org.freedesktop.secrets".try_into().expect("it is a bus name");
            bus.name_has_owner(name).await.is_ok_and(|owned| owned).then_some(())
        })
        .await;
        process
    }

    pub(crate) async fn hub(&self, arena: &Arena) -> Launched {
        let address = self.address.clone();
        let arguments = ["serve", "--port", "0", "--json", "--trust-config"];
        arena
            .launch(&program("satchel"), &arguments, |command| {
                command.env("DBUS_SESSION_BUS_ADDRESS", address);
            })
            .await
    }
}

async fn arena() -> Arena {
    let mut arena = Arena::new().await;
    arena.add("keyed", Chaos::new().env("CHAOS_CANARY_1", "${secret:KEY}")).add("free", Chaos::new());
    arena.configure();
    arena
}

async fn view(arena: &Arena, name: &str) -> Value {
    let status = Control::of(&arena.home).request(json!({ "do": "status" })).await.expect("the hub runs");
    let servers = status["servers"].as_array().expect("a snapshot has servers");
    servers.iter().find(|server| server["name"] == name).expect("it is configured").clone()
}

/// Restarts the keyed server until it has this state.
async fn until(arena: &Arena, state: &str) -> Value {
    eventually(&format!("the keyed server is {state}"), async || {
        let view = view(arena, "keyed").await;
        (view["state"] == state).then_some(view)
    })
    .await
}

async fn restart(arena: &Arena) {
    Control::of(&arena.home)
        .request(json!({ "do": "restart", "server": "keyed" }))
        .await
        .expect("the hub runs");
}

fn nowhere_in_plain(arena: &Arena) {
    let holders: Vec<_> = arena
        .home
        .files()
        .into_iter()
        .filter(|(_, bytes)| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()))
        .map(|(path, _)| path)
        .collect();
    assert!(holders.is_empty(), "a secret lies in {holders:?}");
}

/// R16, keychain missing: no plain-text file instead; servers without secrets run, the others say what they wait for.
#[tokio::test]
async fn a_bus_without_a_keychain_is_said_and_servers_without_secrets_run() {
    let arena = arena().await;
    let bus = Bus::start(&arena).await;
    let _hub = bus.hub(&arena).await;
    let client = arena.client("one").await;
    assert_eq!(client.execute("free:echo", json!({ "text": "x" })).await.text(), "x");
    let answer = client.execute("keyed:echo", json!({ "text": "x" })).await;
    assert_eq!(Outcome::of(&answer), Outcome::Refused);
    assert!(answer.complaint().contains("keychain"), "{}", answer.complaint());
    let view = until(&arena, "needs_credential").await;
    assert_eq!(view["names"], json!(["KEY"]));
    nowhere_in_plain(&arena);
}

/// R16, the keychain or its bus dies: a state, not a hang; servers that need it start when it is back.
#[tokio::test]
async fn a_keychain_that_dies_and_comes_back_is_waited_for_without_hanging() {
    let arena = arena().await;
    let mut bus = Bus::start(&arena).await;
    let mut keychain = bus.keychain(&arena, Some("correct horse")).await;
    let _hub = bus.hub(&arena).await;
    let control = Control::of(&arena.home);
    let set = json!({ "do": "set_secret", "name": "KEY", "value": CANARY });
    control.request(set).await.expect("the hub runs");
    let client = arena.client("one").await;
    let secret = async || client.execute("keyed:secret_echo", json!({ "name": "CHAOS_CANARY_1" })).await;
    assert_eq!(secret().await.text(), format!("value: {CANARY}"));
    let mut rounds = 0;
    for dies in ["the service", "the bus"] {
        if dies == "the bus" {
            bus.process.kill().await.expect("it is ours");
        }
        keychain.kill().await.expect("it is ours");
        // A running server has its secret; only a new start needs the keychain.
        assert_eq!(secret().await.text(), format!("value: {CANARY}"), "after {dies} died");
        restart(&arena).await;
        let view = until(&arena, "needs_credential").await;
        assert!(view["message"].as_str().is_some_and(|message| !message.is_empty()), "it says why: {view}");
        assert_eq!(client.execute("free:echo", json!({ "text": "x" })).await.text(), "x");
        if dies == "the bus" {
            bus = Bus::start(&arena).await;
        }
        keychain = bus.keychain(&arena, Some("correct horse")).await;
        eventually("the secret is had again", async || {
            let answer = secret().await;
            if Outcome::of(&answer) != Outcome::Result {
                // The test harness shows this only if the test fails.
                eprintln!("{}", answer.complaint());
            }
            (Outcome::of(&answer) == Outcome::Result)
                .then(|| assert_eq!(answer.text(), format!("value: {CANARY}")))
        })
        .await;
        rounds += 1;
    }
    nowhere_in_plain(&arena);
    measured!("keychain: died and came back {rounds} times, nothing hung");
    drop(keychain);
}

/// R16, R21: an open keychain must neither delay shutdown nor fail during it.
#[tokio::test]
async fn a_hub_that_used_the_keychain_ends_in_order_even_if_the_keychain_hangs() {
    for hangs in [false, true] {
        let arena = arena().await;
        let bus = Bus::start(&arena).await;
        let keychain = bus.keychain(&arena, Some("correct horse")).await;
        let mut hub = bus.hub(&arena).await;
        let control = Control::of(&arena.home);
        let set = json!({ "do": "set_secret", "name": "KEY", "value": CANARY });
        control.request(set).await.expect("the hub runs");
        let client = arena.client("one").await;
        let answer = client.execute("keyed:secret_echo", json!({ "name": "CHAOS_CANARY_1" })).await;
        assert_eq!(answer.text(), format!("value: {CANARY}"));
        let keychain_pid = keychain.id().expect("it runs");
        if hangs {
            signal(keychain_pid, Signal::STOP);
        }
        signal(hub.pid, Signal::TERM);
        let ended = tokio::time::timeout(Duration::from_secs(60), hub.process.wait()).await;
        if hangs {
            signal(keychain_pid, Signal::CONT);
        }
        let status = ended.expect("it ends").expect("it can be waited for");
        assert_eq!(status.code(), Some(0), "with a keychain that hangs: {hangs}");
        let logs: String = std::fs::read_dir(arena.home.file("logs"))
            .expect("a hub has logs")
            .flatten()
            .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
            .collect();
        assert!(logs.contains("shutting down") && !logs.contains("Satchel panicked"), "{logs}");
        arena.gone("the hub ended", Arena::server_processes).await;
    }
}

/// R16, keychain locked.
#[tokio::test]
async fn a_locked_keychain_is_reported_and_nothing_waits_for_an_invisible_prompt() {
    let arena = arena().await;
    let bus = Bus::start(&arena).await;
    {
        let mut keychain = bus.keychain(&arena, Some("correct horse")).await;
        let hub = bus.hub(&arena).await;
        let set = json!({ "do": "set_secret", "name": "KEY", "value": CANARY });
        Control::of(&arena.home).request(set).await.expect("the hub runs");
        drop(hub);
        keychain.kill().await.expect("it is ours");
        arena
            .gone("the first hub was killed", |arena| {
                arena.everything().into_iter().filter(|process| process.command.contains(" serve ")).collect()
            })
            .await;
    }
    // The same keychain, locked again.
    let _keychain = bus.keychain(&arena, None).await;
    let _hub = bus.hub(&arena).await;
    let client = arena.client("one").await;
    let answer = client.execute("keyed:echo", json!({ "text": "x" })).await;
    assert_eq!(Outcome::of(&answer), Outcome::Refused);
    assert!(answer.complaint().contains("locked"), "{}", answer.complaint());
    assert_eq!(client.execute("free:echo", json!({ "text": "x" })).await.text(), "x");
    nowhere_in_plain(&arena);
}
