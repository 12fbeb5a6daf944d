//! What a registry of 10,000 servers costs: to take in, to keep in memory, and to search with every letter typed. Figures for
//! people; nothing is judged. Time is that of the processor, so that a busy computer does not count.

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use satchel_core::{
    listings::{known::Known, page::Page, shelf::Shelf},
    model::listings::ListingFilter,
};
use satchel_tests::repository;
use serde_json::{Value, json};

const SERVERS: usize = 10_000;
/// Servers of one answer: what the window asks for at once.
const PAGE: usize = 50;
/// Syllables of names that nobody has; people's registries are full of such.
const SYLLABLES: [&str; 24] = [
    "ka", "lo", "mi", "ren", "tos", "vi", "qua", "dor", "ple", "zen", "fra", "gu", "hel", "ix", "jor", "nam",
    "opa", "sil", "tra", "ul", "wen", "yor", "bri", "che",
];
const TOPICS: [&str; 20] = [
    "postgres",
    "calendar",
    "mail",
    "kubernetes",
    "invoices",
    "tickets",
    "weather",
    "maps",
    "search",
    "files",
    "browser",
    "notes",
    "payments",
    "translation",
    "images",
    "monitoring",
    "documents",
    "contacts",
    "music",
    "trains",
];
const DOINGS: [&str; 12] = [
    "look up",
    "change",
    "watch",
    "summarize",
    "send",
    "plan",
    "compare",
    "export",
    "draw",
    "convert",
    "archive",
    "review",
];
/// What people type, letter by letter, with slips and with several words.
const TYPED: [&str; 16] = [
    "postgres",
    "postgress",
    "kubernets clusters",
    "send mail",
    "calender",
    "github issues",
    "web search",
    "invoices for customers",
    "weather",
    "translate documents",
    "ledger",
    "io.github.adalovelace/ledger",
    "file system",
    "payments stripe",
    "monitoring",
    "zzxqv",
];

fn main() {
    let templates = templates();
    let before = resident();
    let (known, took) = spent(|| known(&templates));
    row("taken in from 100 pages", took);
    let known = Arc::new(known);
    let (shelf, took) = spent(|| Shelf::of(vec![known.clone()]));
    row("made searchable", took);
    println!("memory                         {:>9.1} MB more", resident() - before);
    println!("offered                        {:>9}", shelf.offered());
    let file = std::env::temp_dir().join(format!("satchel-bench-{}.json", std::process::id()));
    row("written", spent(|| known.save(&file).expect("it can be written")).1);
    println!(
        "file                           {:>9.1} MB",
        fs::metadata(&file).map_or(0.0, |file| mb(file.len()))
    );
    row("read again", spent(|| Known::load(&file, &known.url)).1);
    drop(fs::remove_file(&file));
    let everything = ListingFilter::default();
    let mut times = Vec::new();
    for typed in TYPED.iter().cycle().take(TYPED.len() * 4) {
        for (at, letter) in typed.char_indices() {
            let query = &typed[..at + letter.len_utf8()];
            times.push(spent(|| shelf.find(query, false, &everything, 0, PAGE)).1);
        }
    }
    report("search with every letter", times);
    report("a page while scrolling", scrolled(&shelf));
    let whole = |typed: &&str| spent(|| shelf.suggested(typed, |_| false)).1;
    report("a suggestion for a model", TYPED.iter().map(whole).collect());
}

fn scrolled(shelf: &Shelf) -> Vec<Duration> {
    let pages = (0..SERVERS / PAGE).map(|page| page * PAGE);
    pages.map(|offset| spent(|| shelf.find("", false, &ListingFilter::default(), offset, PAGE)).1).collect()
}

/// Descriptions as they are, of the list that the tests have.
fn templates() -> Vec<Value> {
    let text = fs::read_to_string(repository().join("tests/registry/registry.json")).expect("it is there");
    let whole: Value = serde_json::from_str(&text).expect("it is JSON");
    let entries = whole["entries"].as_array().expect("it is a list").iter();
    let good =
        entries.filter(|entry| entry["kind"].as_str().is_some_and(|kind| !kind.starts_with("hostile")));
    good.map(|entry| entry["response"].clone()).collect()
}

fn known(templates: &[Value]) -> Known {
    let mut releases = Vec::new();
    for page in 0..SERVERS / 100 {
        let servers: Vec<Value> = (page * 100..page * 100 + 100).map(|at| server(templates, at)).collect();
        let body = json!({ "servers": servers, "metadata": {} }).to_string();
        releases.extend(Page::read(body.as_bytes()).expect("it is a page").releases);
    }
    let mut known = Known::default();
    known.url = "https://registry.example".into();
    known.with(releases, BTreeMap::new(), 1_800_000_000_000)
}

/// A server that nobody has, like one that somebody has.
fn server(templates: &[Value], at: usize) -> Value {
    let mut server = templates[at % templates.len()].clone();
    // A sequence without a pattern that anybody would see, and the same every time.
    let draw = |salt: usize, from: usize| {
        (at * 2_654_435_761 + salt * 40_503).wrapping_mul(2_246_822_519) / 7 % from
    };
    let invented = |salt: usize| -> String {
        (0..3).map(|part| SYLLABLES[draw(salt + part, SYLLABLES.len())]).collect()
    };
    let (topic, doing) = (TOPICS[draw(1, TOPICS.len())], DOINGS[draw(2, DOINGS.len())]);
    let (owner, product) = (invented(3), invented(6));
    server["server"]["name"] = json!(format!("io.github.{owner}/{product}-{topic}-{at}"));
    server["server"]["title"] = json!(format!("{product} {topic}"));
    let about =
        format!("{product} for {owner}: {doing} {topic} and {} of your team", TOPICS[draw(9, TOPICS.len())]);
    server["server"]["description"] = json!(about);
    server
}

/// What it came to, and the processor's time of this thread.
fn spent<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let before = on_processor();
    let made = run();
    (made, on_processor().saturating_sub(before))
}

fn on_processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.expect("this bench needs Linux"))
}

fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn row(what: &str, took: Duration) {
    println!("{what:<30} {:>9.1} ms", took.as_secs_f64() * 1000.0);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!(
        "{what:<30} {:>9.2} ms p50, {:.2} p99, {:.2} most, {} times",
        at(50),
        at(99),
        at(100),
        times.len()
    );
}
