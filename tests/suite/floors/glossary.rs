//! The glossary: words that this code avoids because the field has another term, in comments, identifiers, texts and
//! documents, in Rust and in the window.

use std::fs;

use satchel_tests::repository;

use super::{Source, files_below, rust_files};

/// Words to avoid, and the term to use instead.
const AVOIDED: &[(&[&str], &str)] = &[
    (&["wish", "wishes", "wished"], "request"),
    (&["fulfil", "fulfils", "fulfilled"], "handle"),
    (&["deed", "deeds"], "audit event"),
    (&["trail", "trails"], "audit log"),
    (&["leash", "leashes", "leashed"], "reaper"),
    (&["walls"], "sandbox"),
    (&["gate", "gates", "gated"], "preflight"),
    (&["masks"], "redact"),
    (&["news"], "event, or notification"),
    (&["happening", "happenings"], "event"),
    (&["knock", "knocks", "knocked"], "failed attempt, or auth throttle"),
];

/// File names to avoid; as words in a text they are fine.
const AVOIDED_FILES: &[(&str, &str)] = &[("keep", "retention"), ("fulfil", "the name of the request")];

/// Where an avoided word is right: a path prefix, and the word.
const ALLOWED: &[(&str, &str)] = &[
    // The list itself, and texts that quote it.
    ("tests/suite/floors/glossary.rs", "*"),
    // What attackers and people write, not what we do.
    ("crates/satchel-trust/src/inspect/", "*"),
    // Words that a query leaves out, and words with the same stem.
    ("crates/satchel-catalog/src/catalog/search/", "*"),
    // JavaScript's state of a promise.
    ("crates/satchel-script/src/engine.rs", "fulfilled"),
    // Names that stay as they were on disk: the tables and the file of the audit log.
    ("crates/satchel-stats/src/", "trail"),
    ("tests/chaos/corrupt_state.rs", "trail"),
    ("tests/chaos/fixtures/README.md", "trail"),
    // `satchel audit trail`, which scripts use.
    ("crates/satchel-cli/src/args/records.rs", "trail"),
    ("crates/satchel-cli/src/main.rs", "trail"),
    // A gate that is open while leases can be taken.
    ("crates/satchel-upstream/src/upstream/hold.rs", "gate"),
    ("crates/satchel-upstream/src/upstream/actor.rs", "gate"),
    ("crates/satchel-upstream/src/upstream/handle.rs", "gate"),
];

#[test]
fn no_avoided_word_is_used() {
    let mut sources = rust_files(&["crates", "src-tauri", "tests", "fuzz"]);
    let documents = files_below(&repository().join("docs"), &["md"]);
    let window =
        ["ui/src", "ui/shots"].map(|place| files_below(&repository().join(place), &["ts", "svelte", "mjs"]));
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| repository().join(name));
    sources.extend(documents.into_iter().chain(window.into_iter().flatten()).chain(others).map(|path| {
        Source {
            text: fs::read_to_string(&path).expect("a document is text"),
            path: path
                .strip_prefix(repository())
                .expect("it is in the repository")
                .to_string_lossy()
                .into_owned(),
        }
    }));
    assert!(sources.len() > 300, "the source files are found");
    let found: Vec<String> = sources.iter().flat_map(avoided_words).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn an_avoided_word_is_found_in_comments_identifiers_and_texts() {
    let found = |path: &str, text: &str| avoided_words(&Source { path: path.into(), text: text.into() });
    let path = "crates/satchel-base/src/files.rs";
    assert_eq!(found(path, "/// Says what the\n/// Deeds were.").len(), 1);
    assert!(found(path, "\n// the news")[0].starts_with(&format!("{path}:2: `news`")));
    assert!(found(path, "struct TokenWish;")[0].contains("`wish`"));
    assert!(found(path, "const HTTPTrail: u8 = 1;")[0].contains("`trail`"));
    assert_eq!(found(path, "fn too_many_knocks() { bail!(\"no walls\") }").len(), 2);
    assert_eq!(found("docs/new.md", "The audit trail.").len(), 1);
    assert_eq!(found("crates/satchel-stats/src/keep.rs", "").len(), 1);
    // Part of a longer word, or an ordinary use of `keep`.
    assert!(found(path, "// indeed, a trailing newsletter; investigate what to keep").is_empty());
    // Allowed there, and only there.
    let table = "DELETE FROM trail";
    assert!(found("crates/satchel-stats/src/audit.rs", table).is_empty());
    assert_eq!(found("crates/satchel-core/src/recorder/mod.rs", table).len(), 1);
}

/// One sentence for each avoided word of a file.
fn avoided_words(source: &Source) -> Vec<String> {
    let allowed = |word: &str| {
        ALLOWED.iter().any(|(path, known)| source.path.starts_with(path) && ["*", word].contains(known))
    };
    let mut found = Vec::new();
    let stem = source.path.rsplit('/').next().and_then(|name| name.split('.').next());
    for (name, instead) in AVOIDED_FILES.iter().filter(|(name, _)| stem == Some(*name)) {
        found.push(format!("{}: call the file after its term, {instead}, not `{name}`", source.path));
    }
    for (line, text) in source.text.lines().enumerate() {
        for word in words(text) {
            let avoided = AVOIDED.iter().find(|(words, _)| words.contains(&word.as_str()));
            if let Some((_, instead)) = avoided.filter(|_| !allowed(&word)) {
                found.push(format!(
                    "{}:{}: `{word}` is avoided here; write {instead}",
                    source.path,
                    line + 1
                ));
            }
        }
    }
    found
}

/// The words of a line in lower case; `too_many_knocks` is three, `TokenWish` two.
fn words(line: &str) -> Vec<String> {
    let signs: Vec<char> = line.chars().collect();
    let mut words = vec![String::new()];
    for (at, sign) in signs.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| signs[before]);
        let begins_lower = signs.get(at + 1).is_some_and(|next| next.is_lowercase());
        let is_start = sign.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || (before.is_uppercase() && begins_lower));
        if !sign.is_alphabetic() || is_start {
            words.push(String::new());
        }
        if sign.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(sign.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
