//! The hub is killed while it writes: the configuration and the list of clients are always whole, and what it said it
//! had done stays done.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use satchel_tests::{Client, Connection, eventually};
use serde_json::{Value, json};

use crate::{
    arena::{Arena, run_fixture},
    control::Control,
    measured,
    processes::{Signal, signal},
    random, sized,
};

/// Makes the file long enough that half of it could be written.
const PADDING: usize = 200_000;

/// Runs of a writer that writes in place, in one of which it must be met.
const TRIES: usize = 8;

/// R6, torn write: 0 torn configurations, 0 acknowledged changes lost, no temporary file after a start.
#[tokio::test]
async fn a_configuration_is_whole_and_acknowledged_changes_stay() {
    let arena = Arena::new().await;
    arena.home.write_config(&json!({ "padding": "x".repeat(PADDING), "mcpServers": {} }));
    let (seed, mut random) = random();
    let rounds = sized(100, 1_000);
    let (mut acknowledged, mut changes, mut most_temporary) = (0, 0, 0);
    for round in 0..rounds {
        let hub = arena.home.start_hub().await;
        let control = Control::of(&arena.home);
        let done = Arc::new(AtomicUsize::new(acknowledged));
        let counted = done.clone();
        let writer = tokio::spawn(async move {
            // Each change adds a server named after its number; only the last few stay, so that the file stays small.
            loop {
                let next = counted.load(Ordering::Relaxed) + 1;
                let add = json!({
                    "do": "change", "change": "add", "name": format!("g{next}"), "startup": "manual",
                    "target": { "kind": "url", "url": "http://127.0.0.1:9/mcp", "headers": {} }, "replace": true,
                });
                if control.request(add).await.is_none() {
                    return;
                }
                counted.store(next, Ordering::Relaxed);
                let remove = format!("g{}", next.saturating_sub(2));
                if next > 2
                    && control
                        .request(json!({ "do": "change", "change": "remove", "name": remove }))
                        .await
                        .is_none()
                {
                    return;
                }
            }
        });
        // However busy the machine is, the kill comes during a write.
        eventually("a change is made", async || (done.load(Ordering::Relaxed) > acknowledged).then_some(()))
            .await;
        tokio::time::sleep(Duration::from_millis(random.u64(0..40))).await;
        signal(hub.pid, Signal::KILL);
        hub.kill().await;
        writer.await.expect("the writer does not panic");

        let done = done.load(Ordering::Relaxed);
        let generation = whole(&arena.home.file("config.json"), PADDING)
            .unwrap_or_else(|fault| panic!("round {round}, seed {seed}: {fault}"));
        assert!(
            generation == done || generation == done + 1,
            "round {round}: {done} were said, {generation} is there"
        );
        changes += generation - acknowledged;
        acknowledged = generation;
        most_temporary = most_temporary.max(temporaries(arena.home.path()).len());
    }
    let hub = arena.home.start_hub().await;
    let left = temporaries(arena.home.path());
    measured!(
        "torn configuration: seed {seed}, {rounds} kills, {changes} changes, 0 torn, at most {most_temporary} temporary files at once, {} after a start",
        left.len()
    );
    assert!(changes >= rounds, "the kills came while it was writing: {changes} changes");
    assert_eq!(left, Vec::<PathBuf>::new(), "what a killed write left is cleaned up at the next start");
    drop(hub);
}

/// R6, torn write: 0 issued tokens are lost.
#[tokio::test]
async fn every_token_that_was_given_out_works_after_a_kill() {
    let arena = Arena::new().await;
    arena.configure();
    let (seed, mut random) = random();
    let rounds = sized(4, 300);
    let mut given: Vec<(usize, Connection)> = Vec::new();
    let mut number = 0;
    for _ in 0..rounds {
        let hub = arena.home.start_hub().await;
        // The tokens of the previous round, with a hub that knows them only from the file.
        for (at, token) in given.drain(..) {
            let again = Connection { url: hub.url.clone(), headers: token.headers };
            assert!(Client::open(&again, "2025-11-25").await.opened.is_object(), "token {at} is known");
        }
        let control = Control::of(&arena.home);
        let (begun, first) = tokio::sync::oneshot::channel();
        let mut begun = Some(begun);
        let writer = tokio::spawn(async move {
            let mut given = Vec::new();
            while let Some(made) =
                control.request(json!({ "do": "connect", "client": "c", "ephemeral": false })).await
            {
                given.push(serde_json::from_value(made).expect("a connection"));
                begun.take().map(|begun| begun.send(()));
            }
            given
        });
        // During a write, however long a busy machine takes to begin.
        first.await.expect("it begins to write");
        tokio::time::sleep(Duration::from_millis(random.u64(0..60))).await;
        signal(hub.pid, Signal::KILL);
        hub.kill().await;
        let made: Vec<Connection> = writer.await.expect("the writer does not panic");
        number += made.len();
        // The hub keeps a client's eight newest; the one being made during the kill may be one of them.
        given.extend(made.into_iter().rev().take(7).enumerate());
        let file = std::fs::read(arena.home.file("data/clients.json"));
        if let Ok(bytes) = file {
            serde_json::from_slice::<Value>(&bytes).expect("the list of clients is whole");
        }
    }
    measured!("torn list of clients: seed {seed}, {rounds} kills, {number} tokens given out, 0 lost");
    assert!(number >= rounds, "tokens were made: {number}");
}

/// The number of the newest change in a configuration, or what is wrong with the file.
fn whole(file: &Path, padding: usize) -> Result<usize, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("it cannot be read: {error}"))?;
    let config: Value =
        serde_json::from_str(&text).map_err(|error| format!("{} bytes, {error}", text.len()))?;
    if config["padding"].as_str().map(str::len) != Some(padding) {
        return Err("a part of it is missing".to_owned());
    }
    let servers = config["mcpServers"].as_object().ok_or("it has no servers")?;
    let numbers = servers.keys().filter_map(|name| name.strip_prefix('g')?.parse::<usize>().ok());
    Ok(numbers.max().unwrap_or(0))
}

/// Files that an interrupted write leaves behind.
fn temporaries(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in [home.to_owned(), home.join("data"), home.join("data/catalogs")] {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        found.extend(
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "tmp")),
        );
    }
    found.sort();
    found
}

#[tokio::test]
async fn planted_a_writer_that_writes_in_place_is_caught() {
    let arena = Arena::new().await;
    let file = arena.home.file("naive.json");
    let text = json!({ "padding": "x".repeat(PADDING), "mcpServers": { "g7": {} } }).to_string();
    std::fs::write(&file, &text).unwrap();
    assert_eq!(whole(&file, PADDING), Ok(7));
    for cut in [0, 1, text.len() / 2, text.len() - 1] {
        std::fs::write(&file, &text[..cut]).unwrap();
        assert!(whole(&file, PADDING).is_err(), "cut to {cut} bytes");
    }
    // A program that really writes in place and is really killed.
    let path = arena.home.file("torn.json");
    let path = path.to_str().unwrap();
    let torn = |writer: &'static str| async move {
        let arguments = [
            "--start", writer, "--file", path, "--rounds", "15", "--min-ms", "150", "--max-ms", "700",
            "--json",
        ];
        run_fixture("torn_write.py", &arguments).await
    };
    // Whether one of fifteen kills meets a write depends on what else the machine does.
    let mut caught = false;
    for _ in 0..TRIES {
        caught |= torn("builtin:naive").await.0 == 1;
        let _ = std::fs::remove_file(path);
        if caught {
            break;
        }
    }
    assert!(caught, "no kill met a write in {TRIES} runs");
    let (code, said) = torn("builtin:atomic").await;
    assert_eq!(code, 0, "{said}");
}
