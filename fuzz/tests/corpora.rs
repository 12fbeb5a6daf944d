//! Every target with the texts that are kept for it, and with mutations of them: so many as `SATCHEL_FUZZ_ROUNDS` says, or
//! for as long as `SATCHEL_FUZZ_SECONDS` says. `SATCHEL_SEED` says which.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use satchel_fuzz::TARGETS;

/// One text a line, in base64: they hold whatever there is.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target).with_extension("b64");
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lines.lines().map(|line| STANDARD.decode(line).expect("a line is base64")).collect()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

fn holds(target: fn(&[u8]), data: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| target(data))).is_ok()
}

#[test]
fn every_target_keeps_its_promises_on_its_corpus() {
    let (rounds, seconds) = (number("SATCHEL_FUZZ_ROUNDS", 1_000), number("SATCHEL_FUZZ_SECONDS", 0));
    let seed = number("SATCHEL_SEED", 1);
    let waiting = Mutex::new(TARGETS.iter());
    let next = || waiting.lock().expect("no holder panics").next();
    let work = || {
        while let Some((name, target)) = next() {
            let rounds = if SLOW.contains(name) { rounds / 20 } else { rounds };
            let tried = mutate(name, *target, rounds, Duration::from_secs(seconds), seed);
            println!("{name}: {tried} texts, seed {seed}");
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// Tries what is kept, and mutations of it until there were enough and the time is over. How many it tried.
#[expect(clippy::disallowed_methods, reason = "no clock is paused here")]
fn mutate(name: &str, target: fn(&[u8]), rounds: u64, time: Duration, seed: u64) -> usize {
    let texts = corpus(name);
    assert!(texts.len() >= 5, "{name} has next to no corpus");
    for text in &texts {
        assert!(holds(target, text), "{name}: {}", STANDARD.encode(text));
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let (began, mut tried) = (Instant::now(), 0);
    while tried < rounds || began.elapsed() < time {
        let text = mutated(&texts, &mut random);
        assert!(holds(target, &text), "{name}: {}", STANDARD.encode(&text));
        tried += 1;
    }
    texts.len() + usize::try_from(tried).unwrap_or(usize::MAX)
}

/// A text of `records` is a database that is opened, checked and written to, one of `scripts` is
/// run, and one of `searches` is tried at great length.
const SLOW: [&str; 3] = ["records", "scripts", "searches"];

fn mutated(texts: &[Vec<u8>], random: &mut fastrand::Rng) -> Vec<u8> {
    let any = |random: &mut fastrand::Rng| &texts[random.usize(..texts.len())];
    let mut text = any(random).clone();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..=text.len());
        match random.u8(..6) {
            0 if at < text.len() => text[at] ^= 1 << random.u8(..8),
            1 => text.insert(at, random.u8(..)),
            2 => text.truncate(at),
            3 => {
                let end = (at + random.usize(..16)).min(text.len());
                text.drain(at..end);
            }
            4 => {
                let other = any(random);
                let from = random.usize(..=other.len());
                let piece = &other[from..(from + random.usize(..64)).min(other.len())];
                text.splice(at..at, piece.iter().copied());
            }
            _ => {
                let tokens: [&[u8]; 12] = [
                    b"\"",
                    b"{",
                    b"}",
                    b"[",
                    b"]",
                    b"\n",
                    b"\r\n",
                    b"\\u202e",
                    b"null",
                    b"-1e999",
                    b"\xef\xbb\xbf",
                    b":",
                ];
                text.splice(at..at, tokens[random.usize(..tokens.len())].iter().copied());
            }
        }
    }
    text
}

/// Packs directories that libFuzzer filled, or unpacks what is kept: `SATCHEL_CORPUS` names the directory, with one
/// below it for each target, and `SATCHEL_CORPUS_DO` what to do. `make fuzz` calls it.
#[test]
#[ignore = "moves files; `make fuzz` runs it"]
fn move_corpora() {
    let directory =
        PathBuf::from(std::env::var_os("SATCHEL_CORPUS").expect("SATCHEL_CORPUS names a directory"));
    let pack = std::env::var("SATCHEL_CORPUS_DO").expect("SATCHEL_CORPUS_DO says pack or unpack") == "pack";
    for (name, _) in TARGETS {
        let below = directory.join(name);
        if pack {
            let mut lines: Vec<String> = std::fs::read_dir(&below)
                .expect("the target has a directory")
                .map(|file| {
                    STANDARD.encode(std::fs::read(file.expect("it can be listed").path()).expect("a file"))
                })
                .filter(|line| line.len() <= LONGEST)
                .collect();
            lines.sort_by_key(|line| (line.len(), line.clone()));
            lines.dedup();
            // Spread over all sizes, so that the file stays small and the long ones are in it too.
            let step = lines.len().div_ceil(KEPT).max(1);
            let kept: Vec<String> = lines.into_iter().step_by(step).collect();
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name).with_extension("b64");
            let already = corpus(name).into_iter().map(|text| STANDARD.encode(text));
            let mut all: Vec<String> = already.chain(kept).collect();
            all.sort_by_key(|line| (line.len(), line.clone()));
            all.dedup();
            std::fs::write(path, all.join("\n") + "\n").expect("the corpus can be written");
        } else {
            std::fs::create_dir_all(&below).expect("the directory can be made");
            for (at, text) in corpus(name).into_iter().enumerate() {
                std::fs::write(below.join(format!("kept-{at}")), text).expect("it can be written");
            }
        }
    }
}

/// In base64.
const LONGEST: usize = 2048;
/// New ones a target and a packing.
const KEPT: usize = 120;
