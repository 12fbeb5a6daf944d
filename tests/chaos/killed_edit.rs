//! S34: whatever moment a command is killed at that writes into another program's file, the file is as it was or as it was
//! to become, and can be made again what it was, byte for byte.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use satchel_tests::{Home, program};

use crate::{arena::Arena, measured, random, soaking};

/// A client, its file below the home, and its contents: nothing of it may be lost, however odd.
const FILES: [(&str, &str, Option<&str>); 5] = [
    (
        "cursor",
        ".cursor/mcp.json",
        Some(
            "// mine\n{\n\t\"mcpServers\": {\n\t\t\"fs\": { \"command\": \"npx\", \"args\": [\"-y\", \"fs\"] }, // keep\n\t}\n}",
        ),
    ),
    ("codex", ".codex/config.toml", Some("model = \"x\"\r\n# mine\r\n[mcp_servers.a]\r\ncommand = 'npx'")),
    ("windsurf", ".codeium/windsurf/mcp_config.json", Some("\u{feff}{\"mcpServers\":{}}\n\n\n")),
    (
        "goose",
        ".config/goose/config.yaml",
        Some("extensions:\n    # mine\n    dev: {enabled: true}\nother: 'x'\n"),
    ),
    ("gemini-cli", ".gemini/settings.json", None),
];
/// System calls that change files.
pub(crate) const CALLS: [&str; 8] = [
    "/rename",
    "/unlink",
    "/sync",
    "/mkdir",
    "/chmod",
    "/^write$",
    "/^pwrite",
    "/^(openat|creat|ftruncate|link)",
];
/// No command makes more relevant calls of one kind.
const MOST: usize = 400;

struct Place {
    arena: Arena,
    client: &'static str,
    file: PathBuf,
    before: Option<Vec<u8>>,
}

/// At which call of which kind the command is killed, or after how long.
#[derive(Debug, Clone, Copy)]
enum Moment {
    Call(&'static str, usize),
    After(Duration),
}

impl Place {
    async fn new(number: usize) -> Self {
        let (client, file, before) = FILES[number % FILES.len()];
        let arena = Arena::new().await;
        let file = arena.home.file(file);
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("the home can be written to");
        if let Some(before) = before {
            std::fs::write(&file, before).expect("the home can be written to");
        }
        arena.configure();
        Self { arena, client, file, before: before.map(|text| text.as_bytes().to_vec()) }
    }

    fn now(&self) -> Option<Vec<u8>> {
        std::fs::read(&self.file).ok()
    }

    /// The contents without what differs from run to run.
    fn plain(&self, bytes: Option<Vec<u8>>) -> Option<String> {
        let text = String::from_utf8(bytes?).expect("it is text");
        let token = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let parts = text.split("sat_").enumerate();
        let parts = parts.map(|(at, part)| if at == 0 { part } else { part.trim_start_matches(token) });
        let home = self.arena.home.path().to_str().expect("it is plain");
        Some(parts.collect::<Vec<_>>().join("TOKEN").replace(home, "HOME"))
    }

    /// Leftover files that should not be there.
    fn litter(&self) -> BTreeSet<PathBuf> {
        let beside =
            std::fs::read_dir(self.file.parent().expect("it has one")).into_iter().flatten().flatten();
        beside.map(|entry| entry.path()).filter(|path| *path != self.file).collect()
    }
}

/// Runs a command that is killed before it finishes; `false` if it finished.
async fn killed(home: &Home, words: &[&str], moment: Moment) -> bool {
    match moment {
        Moment::Call(calls, number) => {
            let mut command = home.command("strace");
            command.args(["-f", "-qqq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
            command.args(["-e", &format!("inject={calls}:signal=SIGKILL:when={number}")]);
            command.arg(program("satchel")).args(words);
            let ended = command.output().await.expect("strace is installed; scripts/setup.sh does that");
            assert!(ended.status.code() != Some(1) || words == ["undo"], "{ended:?}");
            ended.status.code().is_none()
        }
        Moment::After(time) => {
            let mut command = home.command(program("satchel"));
            let mut child = command.args(words).spawn().expect("satchel can be started");
            let lives = tokio::time::timeout(time, child.wait()).await.is_err();
            child.kill().await.expect("a child can be killed");
            lives
        }
    }
}

/// Connects a client, killed at this moment, and disconnects it, killed at it too. Returns whether it was killed at
/// all.
async fn survives(number: usize, moment: Moment) -> bool {
    let reference = Place::new(number).await;
    reference.arena.home.satchel(&["connect", reference.client]).await.succeeded();
    let after = reference.plain(reference.now());
    assert_ne!(reference.now(), reference.before);

    let place = Place::new(number).await;
    let home = &place.arena.home;
    let whole = |when: &str| {
        let now = place.now();
        let is_one = now == place.before || place.plain(now.clone()) == after;
        assert!(is_one, "{} {moment:?}, {when}: {:?}", place.client, place.plain(now));
    };
    let mut was = killed(home, &["connect", place.client], moment).await;
    whole("connecting");
    was |= killed(home, &["undo"], moment).await;
    whole("taking back");
    // Undoing what is left works, and undoing once more does no harm.
    home.satchel(&["undo"]).await;
    assert_eq!(place.now(), place.before, "{} {moment:?}: as it was", place.client);
    home.satchel(&["connect", place.client]).await.succeeded();
    assert_eq!(place.plain(place.now()), after, "{} {moment:?}", place.client);
    home.satchel(&["undo"]).await.succeeded();
    assert_eq!(place.now(), place.before, "{} {moment:?}: as it was once more", place.client);
    assert_eq!(place.litter(), BTreeSet::new(), "{} {moment:?}", place.client);
    was
}

#[tokio::test]
async fn killed_at_any_moment_a_clients_file_is_whole_and_comes_back_byte_for_byte() {
    let (seed, mut random) = random();
    let (mut kills, mut moments) = (0, 0);
    for (at, calls) in CALLS.iter().enumerate() {
        // These are few and matter most; of the others some are sampled.
        let all = at < 3 || soaking();
        let numbers: Vec<usize> =
            if all { (1..MOST).collect() } else { (0..2).map(|_| random.usize(1..20)).collect() };
        let clients: Vec<usize> = if soaking() { (0..FILES.len()).collect() } else { vec![at % FILES.len()] };
        for client in clients {
            for pair in numbers.chunks(2) {
                let both =
                    pair.iter().map(|number| tokio::spawn(survives(client, Moment::Call(calls, *number))));
                let mut lived = 0;
                for one in both.collect::<Vec<_>>() {
                    let was = one.await.expect("it survives");
                    lived += usize::from(!was);
                    kills += usize::from(was);
                    moments += 1;
                }
                if lived == pair.len() && all {
                    break;
                }
            }
        }
    }
    for number in 0..crate::sized(FILES.len() * 2, 500) {
        let time = Duration::from_micros(random.u64(0..300_000));
        kills += usize::from(survives(number, Moment::After(time)).await);
        moments += 1;
    }
    measured!(
        "seed {seed}: {moments} moments, {kills} kills, {moments} files whole and restored byte for byte"
    );
    assert!(kills >= 20, "it was killed in the middle: {kills}");
}

/// Planted: a program that writes in place is caught by the same check.
#[tokio::test]
async fn planted_a_file_that_is_written_in_place_is_seen_torn() {
    let place = Place::new(0).await;
    let naive = format!(
        "import os\nf=open({:?},'wb',buffering=0)\nfor _ in range(50): f.write(b'x'*9)\nf.close()\nos.rename({:?},{:?})",
        place.file,
        place.file,
        place.file.with_extension("done")
    );
    let mut command = place.arena.home.command("strace");
    command.args(["-f", "-qqq", "-o", "/dev/null", "-e", "trace=/^write$", "-e"]);
    command.args(["inject=/^write$:signal=SIGKILL:when=20", crate::arena::python(), "-c", &naive]);
    let ended = command.output().await.expect("strace is installed");
    assert_eq!(ended.status.code(), None, "it was killed: {ended:?}");
    assert!(place.now().is_some_and(|now| Some(&now) != place.before.as_ref() && !now.is_empty()));
}
