//! Whatever happened to the files the hub keeps: it starts, or says clearly why it does not, and loses nothing a person
//! wrote. What it cannot read it moves aside and says so.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use crate::{
    arena::{Arena, Chaos, known},
    measured, random, sized, soaking,
};

/// The limit of the goal sheet, for a soak. Every commit has a longer one: its machine may be slow.
fn bound() -> Duration {
    Duration::from_secs(if soaking() { 5 } else { 20 })
}

/// Files to damage. The first two hold what a person or a client relies on.
const FILES: [&str; 11] = [
    "config.json",
    "data/clients.json",
    "data/catalogs/s.json",
    "data/run.json",
    "data/hub.lock",
    "data/hub.json",
    "data/config.last-good.json",
    "data/habits.json",
    "data/approvals/s.json",
    "data/ledger.db",
    "data/trail.head",
];

/// Kinds of damage that leave nothing of the file's contents.
const WHOLLY: [&str; 8] =
    ["cut off", "empty", "garbage", "zeros", "huge", "another shape", "directory", "dangling link"];

const DAMAGES: [&str; 11] = [
    "bit flips",
    "cut off",
    "empty",
    "garbage",
    "zeros",
    "huge",
    "another shape",
    "directory",
    "full directory",
    "no rights",
    "dangling link",
];

/// R7, corrupt state: the hub starts within its limit or says why not; the damaged file is moved aside, and reported.
#[tokio::test]
async fn damaged_files_never_stop_the_hub_for_long_and_are_never_lost() {
    let (seed, mut random) = random();
    let cases = sized(50, 500);
    let golden = golden().await;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for case in 0..cases {
        let (file, damage) =
            (FILES[case % FILES.len()], DAMAGES[(case / FILES.len() + case) % DAMAGES.len()]);
        let arena = Arena::new().await;
        lay_out(&golden, arena.home.path());
        let path = arena.home.file(file);
        inflict(damage, &path, &mut random);
        let before = print_of(&path);
        let outcome =
            start(&arena).await.unwrap_or_else(|fault| panic!("{file}, {damage}, seed {seed}: {fault}"));
        let said = match &outcome {
            Start::Ready { notices, .. } => notices.clone(),
            Start::Refused(words) => words.clone(),
        };
        // Approvals are never guessed: without their record everything waits for a person.
        if let ("data/approvals/s.json", true, Start::Ready { held, tools, .. }) =
            (file, WHOLLY.contains(&damage), &outcome)
        {
            assert!(*tools > 0 && held >= tools, "{damage}, seed {seed}: {held} of {tools} are held; {said}");
        }
        if file == "data/ledger.db" && said.contains("set aside") {
            assert!(before.is_none() || kept_aside(&path, before.as_ref()), "{damage}: the ledger is gone");
        }
        // What a person wrote, and clients' tokens, are still there: in place, or moved aside and reported.
        if ["config.json", "data/clients.json"].contains(&file) && before.is_some() {
            let here = print_of(&path) == before;
            let aside = kept_aside(&path, before.as_ref());
            assert!(here || aside, "{file}, {damage}, seed {seed}: it is gone; said: {said}");
            if aside && !here {
                assert!(said.contains("set aside") || said.contains("damaged"), "{file}, {damage}: {said:?}");
            }
        }
        if file == "config.json" {
            assert!(
                print_of(&path) == before || before.is_none(),
                "{damage}: the configuration is never touched"
            );
        }
        *seen
            .entry(match outcome {
                Start::Ready { .. } => "started".to_owned(),
                Start::Refused(_) => format!("refused ({file}, {damage})"),
            })
            .or_default() += 1;
    }
    measured!("corrupt state: seed {seed}, {cases} cases, {seen:?}");
    assert!(seen.get("started").copied().unwrap_or(0) * 10 >= cases * 8, "most damage is got over: {seen:?}");
}

/// The files of a home as a hub leaves them.
async fn golden() -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut arena = Arena::new().await;
    arena.add("s", Chaos::new());
    let hub = arena.open().await;
    known(&arena.home, &["s".to_owned()]).await;
    let editor = hub.client("editor").await;
    // Search, then use: this stores a habit.
    editor.paths("s:echo").await;
    editor.execute("s:echo", json!({ "text": "x" })).await.text();
    let running = fs::read(arena.home.file("data/hub.json")).expect("a running hub has an address");
    assert_eq!(hub.terminate().await, Some(0));
    let mut files = arena.home.files();
    files.push((arena.home.file("data/hub.json"), running));
    files
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix(arena.home.path()).expect("below it").to_owned(), bytes))
        .collect()
}

fn lay_out(files: &[(std::path::PathBuf, Vec<u8>)], home: &Path) {
    for (path, bytes) in files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a directory"))
            .expect("a home can be written");
        fs::write(path, bytes).expect("a home can be written");
    }
    for file in FILES {
        assert!(home.join(file).exists(), "a hub leaves {file} behind");
    }
}

fn inflict(damage: &str, path: &Path, random: &mut fastrand::Rng) {
    let mut bytes = fs::read(path).expect("it is there");
    match damage {
        "bit flips" => {
            for _ in 0..random.usize(1..6) {
                if let Some(byte) = random.choice(bytes.iter_mut()) {
                    *byte ^= 1 << random.u32(0..8);
                }
            }
        }
        "cut off" => bytes.truncate(random.usize(0..bytes.len().max(1))),
        "empty" => bytes.clear(),
        "garbage" => bytes = (0..random.usize(1..4_000)).map(|_| random.u8(..)).collect(),
        "zeros" => bytes = vec![0; bytes.len().max(4_096)],
        "huge" => bytes = vec![b'['; 30_000_000],
        "another shape" => {
            let shapes =
                ["null", "[]", "7", "\"x\"", "{\"clients\": []}", "{\"format\": 9}", "{\"mcpServers\": []}"];
            bytes = shapes[random.usize(..shapes.len())].into();
        }
        "directory" | "full directory" => {
            fs::remove_file(path).expect("it is ours");
            fs::create_dir(path).expect("its place is free");
            if damage == "full directory" {
                fs::write(path.join("something"), "of somebody's").expect("it can be written");
            }
            return;
        }
        "no rights" => {
            // Root can read a file without permissions; then this is the case without damage.
            fs::set_permissions(path, fs::Permissions::from_mode(0o0)).expect("it is ours");
            return;
        }
        "dangling link" => {
            fs::remove_file(path).expect("it is ours");
            symlink(path.with_file_name("nowhere").join("there"), path).expect("its place is free");
            return;
        }
        other => panic!("no damage is called {other}"),
    }
    fs::write(path, bytes).expect("it can be written");
}

/// Part of a file's contents, to find it again under another name; `None` if there is nothing to lose.
fn print_of(path: &Path) -> Option<Vec<u8>> {
    match fs::symlink_metadata(path).ok()? {
        kind if kind.is_dir() => fs::read(path.join("something")).ok(),
        kind if kind.is_symlink() => None,
        _ => {
            let mode = fs::metadata(path).ok()?.permissions();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).ok()?;
            let bytes = fs::read(path).ok().filter(|bytes| !bytes.is_empty());
            fs::set_permissions(path, mode).ok()?;
            bytes
        }
    }
}

fn kept_aside(path: &Path, print: Option<&Vec<u8>>) -> bool {
    let beside = fs::read_dir(path.parent().expect("it lies in a directory")).into_iter().flatten().flatten();
    beside.map(|entry| entry.path()).any(|other| print_of(&other).as_ref() == print)
}

enum Start {
    /// It runs, with these notices and tools, some of them held back.
    Ready { notices: String, tools: u64, held: u64 },
    /// It exited with this message.
    Refused(String),
}

async fn start(arena: &Arena) -> Result<Start, String> {
    let mut command = arena.home.command(satchel_tests::program("satchel"));
    command
        .args(["serve", "--port", "0", "--json", "--trust-config"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = command.spawn().expect("satchel can be started");
    let stdout = process.stdout.take().expect("its standard output is a pipe");
    let mut lines = BufReader::new(stdout).lines();
    let line =
        timeout(bound(), lines.next_line()).await.map_err(|_| format!("not ready within {:?}", bound()))?;
    if line.expect("it can be read").is_some() {
        let status = arena.home.satchel(&["status", "--json"]).await.json();
        if !status["servers"].is_array() {
            return Err(format!("it runs but shows nothing: {status}"));
        }
        let server = &status["servers"][0];
        let count = |key: &str| server[key].as_u64().unwrap_or(0);
        let notices = status["notices"].to_string();
        return Ok(Start::Ready { notices, tools: count("tools"), held: count("held") });
    }
    let output =
        timeout(bound(), process.wait_with_output()).await.map_err(|_| "it does not end".to_owned())?;
    let output = output.expect("it can be waited for");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() != Some(1) || words.trim().is_empty() || words.contains("panicked") {
        return Err(format!("no clear refusal: {:?}, {words}", output.status));
    }
    Ok(Start::Refused(words))
}

#[tokio::test]
async fn two_damages_in_a_row_lose_neither() {
    let golden = golden().await;
    let arena = Arena::new().await;
    lay_out(&golden, arena.home.path());
    let path = arena.home.file("data/clients.json");
    let mut prints: Vec<Vec<u8>> = Vec::new();
    for word in ["first", "second", "third"] {
        let damaged = json!({ "clients": word }).to_string();
        fs::write(&path, &damaged).unwrap();
        prints.push(damaged.into_bytes());
        assert!(
            matches!(start(&arena).await, Ok(Start::Ready { notices, .. }) if notices.contains("clients"))
        );
        eventually_ended(&arena).await;
    }
    for print in &prints {
        assert!(kept_aside(&path, Some(print)), "{} is gone", String::from_utf8_lossy(print));
    }
}

/// [`start`] drops the hub, which kills it.
async fn eventually_ended(arena: &Arena) {
    arena.gone("its handle was dropped", Arena::everything).await;
}

#[tokio::test]
async fn planted_a_lost_file_is_noticed() {
    let arena = Arena::new().await;
    let path = arena.home.file("x.json");
    fs::write(&path, "precious").unwrap();
    let before = print_of(&path);
    assert!(print_of(&path) == before && kept_aside(&path, before.as_ref()));
    fs::rename(&path, arena.home.file("x.damaged")).unwrap();
    assert!(print_of(&path) != before && kept_aside(&path, before.as_ref()));
    fs::remove_file(arena.home.file("x.damaged")).unwrap();
    assert!(print_of(&path) != before && !kept_aside(&path, before.as_ref()));
    let _ = Value::Null;
}
