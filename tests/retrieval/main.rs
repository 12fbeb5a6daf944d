//! How often the right tool is among the first, over a collection of tools and queries that is not part of the
//! repository: RETRIEVAL_DIR names it. `make retrieval` prints the table; README.md of the collection says what the
//! families are. Figures for people; the floor that is judged is in the catalog's own tests.
#![allow(clippy::disallowed_methods, reason = "what is measured here is the real clock")]

mod collection;
mod costs;
mod habits;
mod languages;
mod score;
mod sentences;
mod skeletons;
mod suggestions;
mod typo;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use collection::{Collection, Crowd, Part, Query};
use score::{HARD, MULTI, Mean, SINGLE, Scores};
use sentences::Sentences;

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
            let sentences = Sentences::read();
            if sentences.is_none() {
                println!("There is no sentence model (`make model`); words alone.\n");
            }
            println!(
                "{} tools, {} queries of {}\n",
                collection.tools.len(),
                collection.queries.len(),
                directory.display()
            );
            if wanted("speed") {
                println!(
                    "{:<22}{:>12}{:>12}{:>12}{:>12}",
                    "tools", "query p50", "query p99", "index", "memory"
                );
                // All kept: memory that was given back and used again would not be seen.
                let _kept = SIZES.map(|size| speed(&collection, size, sentences.as_ref()));
                println!();
            }
            if wanted("recall") {
                recall(&collection, sentences.as_ref());
                println!();
            }
            if wanted("languages") {
                languages::report(&collection, sentences.as_ref());
                println!();
            }
            if wanted("crowd") {
                let hub = |corpus: &str| collection.crowded_hub(corpus, SIZES[2]).with(sentences.as_ref());
                let find = |hub: &Crowd, query: &Query| hub.find(&query.text, sentences.as_ref());
                macros(", among 10,000 tools", &score::all(collection.queries.iter(), hub, find));
                println!();
            }
            if let Some(sentences) = &sentences {
                sentences.keep();
            }
            if wanted("skeletons") {
                skeletons::report(&collection);
                println!();
            }
            if wanted("habits") {
                habits::report(&collection);
                println!();
            }
            if wanted("suggestions") {
                suggestions::report(&collection);
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

fn recall(collection: &Collection, sentences: Option<&Sentences>) {
    let hub = |corpus: &str| collection.hub(corpus).with(sentences);
    let find = |hub: &Crowd, query: &Query| hub.find(&query.text, sentences);
    let by_words = |hub: &Crowd, query: &Query| hub.find(&query.text, None);
    let plain = score::all(collection.queries.iter(), hub, find);
    println!(
        "{:<44}{:>6}{:>8}{:>12}{:>12}",
        "recall in %, and its interval of 95 %", "n", "at 1", "at 5", "at 10"
    );
    for family in SINGLE.iter().chain(MULTI) {
        line(family, plain.family(family));
    }
    println!();
    macros(
        ", words alone",
        &score::all(collection.queries.iter(), |corpus| collection.hub(corpus), by_words),
    );
    macros("", &plain);
    for (name, wanted) in [(", to choose with", Part::Choose), (", to check with", Part::Check)] {
        let queries = || collection.queries.iter().filter(|query| query.part() == Some(wanted));
        let words = score::all(queries(), |corpus| collection.hub(corpus), by_words);
        macros(&format!("{name}, words alone"), &words);
        macros(name, &score::all(queries(), hub, find));
    }
    let slip = |hub: &Crowd, query: &Query| hub.find(&typo::in_one_word(&query.text), sentences);
    macros(", one typo a query", &score::all(collection.queries.iter(), hub, slip));
}

fn macros(how: &str, scores: &Scores) {
    for (name, families) in [("all single", SINGLE), ("hard", HARD), ("several tools", MULTI)] {
        line(&format!("{name}{how}"), scores.mean(families));
    }
}

fn line(name: &str, Mean { count, recalls, half }: Mean) {
    print!("{name:<44}{count:>6}");
    for (recall, half) in recalls.into_iter().zip(half) {
        print!("{:>7.1} ±{:<4.1}", 100.0 * recall, 100.0 * half);
    }
    println!();
}

fn speed(collection: &Collection, size: usize, sentences: Option<&Sentences>) -> Crowd {
    let crowd = collection.crowd(size);
    let before = memory();
    let start = Instant::now();
    // The first search builds the index.
    crowd.catalog.find("index", None);
    let built = start.elapsed();
    let kept = memory().saturating_sub(before);
    let [p50, p99] = times(collection, |query| drop(crowd.find(query, None)));
    println!(
        "{size:<22}{p50:>9.2} ms{p99:>9.2} ms{:>9.0} ms{:>9.1} MB",
        built.as_secs_f64() * 1e3,
        kept as f64 / 1e6
    );
    let Some(sentences) = sentences else { return crowd };
    let crowd = crowd.with(Some(sentences));
    crowd.find("index", Some(sentences));
    let [p50, p99] = times(collection, |query| drop(crowd.find_anew(query, sentences)));
    println!("{:<22}{p50:>9.2} ms{p99:>9.2} ms", format!("{size}, with meaning"));
    crowd
}

/// In milliseconds: of the median query, and of the slowest of a hundred.
fn times(collection: &Collection, find: impl Fn(&str)) -> [f64; 2] {
    // The best of three: other programs run beside this one, and their turns are not ours.
    let time = |query: &Query| {
        let once = |_| {
            let start = Instant::now();
            find(&query.text);
            start.elapsed()
        };
        (0..3).map(once).min().unwrap_or_default()
    };
    let mut times: Vec<Duration> = collection.queries.iter().map(time).collect();
    times.sort_unstable();
    [0.5, 0.99].map(|share| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3)
}

/// Resident bytes; 0 where the system does not say.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or_default() * 1024
}
