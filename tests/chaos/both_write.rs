//! S34: a client's own program writes its file while Satchel edits it. What the other program wrote is there afterwards,
//! whole, and Satchel's edit has either been made or been refused with a reason.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use satchel_tests::eventually;
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::{
    arena::{Arena, python},
    measured, sized,
};

/// Writes its file again and again, in one of the ways programs do. After each write, and a moment later, it checks
/// whether its contents are there, or come back before its patience ends; what another program wrote instead is lost.
const OTHER: &str = r#"
import json, os, random, sys, time
path, way, stop, patience = sys.argv[1:]
n, lost, torn, landed = 0, [], 0, 0
def write(text):
    data = text.encode()
    if way == 'renamed over':
        with open(path + '.theirs', 'wb') as f: f.write(data)
        os.replace(path + '.theirs', path)
    elif way == 'in place':
        with open(path, 'r+b', buffering=0) as f:
            for at in range(0, len(data), 2000): f.write(data[at:at + 2000])
            f.truncate(len(data))
    else:
        with open(path, 'wb', buffering=0) as f:
            for at in range(0, len(data), 2000): f.write(data[at:at + 2000])
def read():
    global torn
    try: return json.loads(open(path, 'rb').read())
    except ValueError:
        torn += 1
        return {}
def awaited(n):
    end = time.time() + float(patience)
    while (there := read()).get('n') != n:
        if time.time() > end:
            lost.append(n)
            break
    return there
while not os.path.exists(stop) and not lost:
    n += 1
    write(json.dumps({'mcpServers': {'own': {'command': 'x'}}, 'n': n, 'more': 'm' * 12000}, indent=2))
    awaited(n)
    pause = time.time() + random.choice([0, 0.002, 0.02, 0.1])
    while time.time() < pause and not os.path.exists(stop):
        time.sleep(0.001)
    landed += not lost and 'satchel' in awaited(n).get('mcpServers', {})
print(json.dumps({'writes': n, 'lost': lost, 'torn': torn, 'landed': landed}))
"#;

/// Reads, waits, and renames over whatever is there by then.
const CARELESS: &str = r#"
import json, os, sys, time
path, stop = sys.argv[1:]
while not os.path.exists(stop):
    try: there = json.loads(open(path, 'rb').read())
    except ValueError: continue
    there['mcpServers']['satchel'] = {}
    time.sleep(0.005)
    open(path + '.ours', 'w').write(json.dumps(there))
    os.replace(path + '.ours', path)
"#;

struct Other {
    process: Child,
    stop: PathBuf,
}

impl Other {
    async fn start(arena: &Arena, file: &Path, way: &str, patience: u8) -> Self {
        let stop = arena.home.file("stop");
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
        std::fs::write(file, "{}").expect("the home can be written to");
        let mut command = Command::new(python());
        command
            .args(["-c", OTHER])
            .arg(file)
            .arg(way)
            .arg(&stop)
            .arg(patience.to_string())
            .kill_on_drop(true);
        let process = command.stdout(Stdio::piped()).spawn().expect("python runs");
        eventually("it writes", async || (std::fs::read(file).ok()?.len() > 10_000).then_some(())).await;
        Self { process, stop }
    }

    async fn ended(self) -> Value {
        std::fs::write(&self.stop, "").expect("the home can be written to");
        let output = self.process.wait_with_output().await.expect("it ends");
        serde_json::from_slice(&output.stdout).expect("it says what it saw")
    }
}

#[tokio::test]
async fn concurrent_writes_of_a_clients_own_program_are_neither_lost_nor_torn() {
    let (mut made, mut refused) = (0, 0);
    for way in ["renamed over", "in place", "emptied and written"] {
        let arena = Arena::new().await;
        arena.configure();
        let file = arena.home.file(".cursor/mcp.json");
        let other = Other::start(&arena, &file, way, 30).await;
        for _ in 0..sized(25, 300) {
            for word in ["connect", "disconnect"] {
                let ran = arena.home.satchel(&[word, "cursor"]).await;
                if ran.code == Some(0) {
                    made += 1;
                    continue;
                }
                refused += 1;
                let why = &ran.stderr;
                // A half-written file is not JSON.
                let clear =
                    why.contains("by another program a moment ago") || why.contains("Nothing was written");
                assert!(clear, "{way}: {ran:?}");
            }
        }
        let seen = other.ended().await;
        measured!("{way}: {seen}");
        assert_eq!((&seen["lost"], &seen["torn"]), (&Value::Array(vec![]), &0.into()), "{way}: {seen}");
        assert!(seen["writes"].as_u64() >= Some(10), "{way}: {seen}");

        // Now that nobody else writes.
        arena.home.satchel(&["disconnect", "cursor"]).await;
        let before = std::fs::read(&file).expect("it is there");
        let there: Value = serde_json::from_slice(&before).expect("it is whole");
        assert_eq!((&there["n"], &there["mcpServers"]["own"]["command"]), (&seen["writes"], &"x".into()));
        arena.home.satchel(&["connect", "cursor"]).await.succeeded();
        assert_ne!(std::fs::read(&file).expect("it is there"), before);
        arena.home.satchel(&["undo"]).await.succeeded();
        assert_eq!(std::fs::read(&file).expect("it is there"), before, "{way}: as it was, byte for byte");
        let beside = std::fs::read_dir(file.parent().expect("it has one")).expect("it can be listed");
        assert_eq!(beside.count(), 1, "{way}: nothing is left beside it");
    }
    measured!("{made} edits were made and {refused} were refused");
    assert!(made >= 4, "{made} were made, {refused} refused");
}

#[tokio::test]
async fn planted_a_careless_program_is_seen_to_lose_what_another_wrote() {
    let arena = Arena::new().await;
    let file = arena.home.file("mcp.json");
    let mut other = Other::start(&arena, &file, "renamed over", 2).await;
    let mut command = Command::new(python());
    command.args(["-c", CARELESS]).arg(&file).arg(&other.stop).kill_on_drop(true);
    let mut careless = command.spawn().expect("python runs");
    // It exits when it has lost something.
    other.process.wait().await.expect("it ends");
    let seen = other.ended().await;
    assert_ne!(seen["lost"], Value::Array(vec![]), "{seen}");
    careless.wait().await.expect("it ends");
}
