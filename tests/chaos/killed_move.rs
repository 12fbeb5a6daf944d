//! S34: whatever moment `import --move` is killed at, which moves servers and their secrets out of a client's file, each of
//! them is in the file still or with Satchel already, and the file can be made again what it was.

use std::path::PathBuf;

use satchel_tests::program;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    arena::{Arena, Chaos},
    keychain::Bus,
    killed_edit::CALLS,
    measured, random, soaking,
};

const CANARY: &str = "canary-1c0e-9d53-77af";
/// No command makes more relevant calls of one kind.
const MOST: usize = 400;

struct Place {
    arena: Arena,
    bus: Bus,
    file: PathBuf,
}

impl Place {
    async fn new() -> (Self, tokio::process::Child) {
        let arena = Arena::new().await;
        arena.configure();
        let bus = Bus::start(&arena).await;
        let keychain = bus.keychain(&arena, Some("correct horse")).await;
        let file = arena.home.file(".cursor/mcp.json");
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
        let entry = Chaos::new().env("CHAOS_CANARY_API_KEY", CANARY).entry(&arena.run);
        let servers = json!({ "gh": entry, "fs": { "command": "npx", "args": ["-y", "fs"], "mine": 1 } });
        let text = format!("// mine\n{{\"mcpServers\": {servers:#}, \"other\": true}}\n");
        std::fs::write(&file, text).expect("the home can be written to");
        (Self { arena, bus, file }, keychain)
    }

    fn command(&self, program: impl AsRef<std::path::Path>) -> Command {
        let mut command = self.arena.home.command(program);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        command
    }

    async fn run(&self, words: &[&str]) {
        let ended = self.command(program("satchel")).args(words).output().await.expect("it can be started");
        assert!(ended.status.success(), "{words:?}: {ended:?}");
    }

    fn now(&self) -> String {
        std::fs::read_to_string(&self.file).expect("it is there")
    }

    /// Finds where each server is.
    fn look(&self, when: &str) {
        let now = self.now();
        let whole = now.strip_prefix("// mine\n").expect("the comment stays");
        let there: Value =
            serde_json::from_str(whole).unwrap_or_else(|error| panic!("{when}: {error}\n{now}"));
        let here = self.arena.home.config();
        assert_eq!(there["other"], true, "{when}");
        for name in ["gh", "fs"] {
            let (there, here) = (&there["mcpServers"][name], &here["mcpServers"][name]);
            let kept = if name == "gh" {
                there["env"]["CHAOS_CANARY_API_KEY"] == CANARY
            } else {
                there["mine"] == 1
            };
            let moved = if name == "gh" {
                here["env"]["CHAOS_CANARY_API_KEY"].is_string()
            } else {
                here["mine"] == 1
            };
            assert!(kept || moved, "{name}, {when}: {there} {here}");
        }
    }
}

/// Returns whether it was killed at all.
async fn survives(calls: &'static str, number: usize) -> bool {
    let (place, _keychain) = Place::new().await;
    place.run(&["connect", "cursor"]).await;
    let before = place.now();
    let mut command = place.command("strace");
    command.args(["-f", "-qqq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:signal=SIGKILL:when={number}")]);
    command.arg(program("satchel")).args(["import", "--from", "cursor", "--move"]);
    let ended = command.output().await.expect("strace is installed; scripts/setup.sh does that");
    let when = format!("killed at {calls} {number}");
    assert!(matches!(ended.status.code(), None | Some(0)), "{when}: {ended:?}");
    place.look(&when);

    place.run(&["import", "--from", "cursor", "--move"]).await;
    place.look("moved");
    assert!(!place.now().contains(CANARY), "{when}: it is moved in the end");
    {
        let _hub = place.bus.hub(&place.arena).await;
        let client = place.arena.client("one").await;
        let value = client.execute("gh:secret_echo", json!({ "name": "CHAOS_CANARY_API_KEY" })).await;
        assert_eq!(value.text(), format!("value: {CANARY}"), "{when}");
        place.run(&["undo"]).await;
    }
    assert_eq!(place.now(), before, "{when}: as it was, byte for byte");
    ended.status.code().is_none()
}

#[tokio::test]
async fn killed_at_any_moment_of_a_move_no_server_and_no_secret_is_lost() {
    let (seed, mut random) = random();
    let (mut kills, mut moments) = (0, 0);
    for (at, calls) in CALLS.iter().enumerate() {
        // Renames matter most; of the others some are sampled.
        let all = at == 0 || soaking();
        let numbers: Vec<usize> = if all { (1..MOST).collect() } else { vec![random.usize(1..12)] };
        for pair in numbers.chunks(2) {
            let second = async {
                match pair.get(1) {
                    Some(number) => survives(calls, *number).await,
                    None => false,
                }
            };
            let (first, second) = tokio::join!(survives(calls, pair[0]), second);
            kills += usize::from(first) + usize::from(second);
            moments += pair.len();
            if !first && !second {
                break;
            }
        }
    }
    measured!("seed {seed}: {moments} moments, {kills} kills, nothing lost");
    assert!(kills >= 5, "it was killed in the middle: {kills}");
}
