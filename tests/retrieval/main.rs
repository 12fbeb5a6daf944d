//! How often the right tool is among the first, over a collection of tools and queries that is not part of the
//! repository: RETRIEVAL_DIR names it. `make retrieval` prints the table; README.md of the collection says what the
//! families are. Figures for people; the floor that is judged is in the catalog's own tests.
#![allow(clippy::disallowed_methods, reason = "what is measured here is the real clock")]

mod collection;
mod costs;
mod habits;
mod score;
mod skeletons;
mod typo;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use collection::{Collection, Crowd, Query};
use score::{HARD, MULTI, SINGLE, Scores};

/// Sizes at which time and memory are measured.
const SIZES: [usize; 3] = [500, 2_000, 10_000];

fn main() -> ExitCode {
    let Some(directory) = std::env::var_os("RETRIEVAL_DIR").map(PathBuf::from) else {
        eprintln!("RETRIEVAL_DIR is not set. It names the directory with tools.jsonl and dev/queries.jsonl.");
        return ExitCode::FAILURE;
    };
    // Cargo gives options of its own along.
    let parts: Vec<String> = std::env::args().skip(1).filter(|part| !part.starts_with('-')).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    match Collection::read(&directory) {
        Ok(collection) => {
            if wanted("recall") {
                report(&collection, &directory);
                println!();
            }
            if wanted("skeletons") {
                skeletons::report(&collection);
                println!();
            }
            if wanted("habits") {
                habits::report(&collection);
                println!();
            }
            if !wanted("costs") {
                return ExitCode::SUCCESS;
            }
            let beside = || directory.parent().map(|parent| parent.join("tools")).unwrap_or_default();
            let lists = std::env::var_os("TOOLS_DIR").map_or_else(beside, PathBuf::from);
            if let Err(error) = costs::report(&lists, &collection.queries) {
                println!("Costs are not measured: {error:#}");
            }
        }
        Err(error) => {
            eprintln!("There is no collection to measure with: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn report(collection: &Collection, directory: &Path) {
    println!(
        "{} tools, {} queries of {}\n",
        collection.tools.len(),
        collection.queries.len(),
        directory.display()
    );
    println!("{:<10}{:>12}{:>12}{:>12}{:>12}", "tools", "query p50", "query p99", "index", "memory");
    // First, and all kept: memory that was given back and used again would not be seen.
    let _kept = SIZES.map(|size| speed(collection, size));
    println!();
    let as_written = |query: &Query| query.text.clone();
    let plain = score::all(collection, |corpus| collection.hub(corpus), as_written);
    println!("{:<22}{:>6}{:>8}{:>8}{:>8}", "recall in %", "n", "at 1", "at 5", "at 10");
    for family in SINGLE.iter().chain(MULTI) {
        line(family, plain.family(family));
    }
    println!();
    macros("", &plain);
    macros(
        ", one typo a query",
        &score::all(collection, |corpus| collection.hub(corpus), |query| typo::in_one_word(&query.text)),
    );
    let crowded = |corpus: &str| collection.crowded_hub(corpus, SIZES[2]);
    macros(", among 10,000 tools", &score::all(collection, crowded, as_written));
}

fn macros(how: &str, scores: &Scores) {
    for (name, families) in [("all single", SINGLE), ("hard", HARD), ("several tools", MULTI)] {
        line(&format!("{name}{how}"), scores.mean(families));
    }
}

fn line(name: &str, (count, recalls): (usize, [f64; 3])) {
    let [one, five, ten] = recalls.map(|recall| 100.0 * recall);
    println!("{name:<38}{count:>6}{one:>8.1}{five:>8.1}{ten:>8.1}");
}

fn speed(collection: &Collection, size: usize) -> Crowd {
    let crowd = collection.crowd(size);
    let before = memory();
    let start = Instant::now();
    // The first search builds the index.
    crowd.catalog.find("index", None);
    let built = start.elapsed();
    let kept = memory().saturating_sub(before);
    // The best of three: other programs run beside this one, and their turns are not ours.
    let time = |query: &Query| {
        let once = |_| {
            let start = Instant::now();
            crowd.catalog.find(&query.text, None);
            start.elapsed()
        };
        (0..3).map(once).min().unwrap_or_default()
    };
    let mut times: Vec<Duration> = collection.queries.iter().map(time).collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{size:<10}{:>9.2} ms{:>9.2} ms{:>9.0} ms{:>9.1} MB",
        at(0.5),
        at(0.99),
        built.as_secs_f64() * 1e3,
        kept as f64 / 1e6
    );
    crowd
}

/// Resident bytes; 0 where the system does not say.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or_default() * 1024
}
