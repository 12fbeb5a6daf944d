//! The rules of the house: a module uses only lower floors, an outside crate comes in by one door, every file says
//! what it is. Reads the source text, so a violation is found even where it compiles.

mod glossary;
mod hub;
mod rust;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use satchel_mcp::era::Era;
use satchel_tests::repository;

use rust::{Place, Room, paths, types};

/// The floor of each room. A room may only use lower floors; rooms on one floor do not use each other.
const FLOORS: &[(&str, u8)] = &[
    ("satchel_mcp", 0),
    ("satchel_entry", 0),
    ("satchel_memory", 0),
    ("satchel_embed", 0),
    ("satchel_reaper", 0),
    ("satchel_script", 0),
    ("satchel_tokens", 0),
    ("satchel_core::platform", 0),
    ("satchel_toolbox", 1),
    ("satchel_core::model", 1),
    ("satchel_core::files", 1),
    ("satchel_core::clock", 1),
    ("satchel_core::edit", 1),
    ("satchel_core::tasks", 1),
    ("satchel_core::config", 2),
    ("satchel_core::secrets", 2),
    ("satchel_core::clients", 2),
    ("satchel_core::registry", 2),
    ("satchel_core::stats", 2),
    ("satchel_core::trust", 3),
    ("satchel_core::export", 3),
    ("satchel_core::setup", 3),
    ("satchel_core::upstream", 3),
    ("satchel_core::bridge", 4),
    ("satchel_core::icons", 4),
    // Part of upstream; the crate's root exports it to programs, which start themselves again as a watchdog.
    ("satchel_core::watchdog", 3),
    ("satchel_core::subreaper", 3),
    ("satchel_core::sandbox", 3),
    ("satchel_core::sealed", 3),
    // Who asks: for programs, and for the sides that serve them.
    ("satchel_core::ancestry", 3),
    ("satchel_core::catalog", 4),
    // Likewise, for the process that counts tokens.
    ("satchel_core::tokens", 4),
    ("satchel_core::listings", 5),
    ("satchel_core::own_skills", 5),
    ("satchel_core::prompts", 5),
    ("satchel_core::review", 5),
    ("satchel_core::recorder", 5),
    ("satchel_core::calls", 5),
    ("satchel_core::scripts", 5),
    ("satchel_core::meaning", 5),
    ("satchel_core::intake", 6),
    ("satchel_core::hub", 7),
    ("satchel_core::updates", 7),
    // The roots of the core's crates import and export rooms.
    ("satchel_base", 8),
    ("satchel_upstream", 8),
    ("satchel_catalog", 8),
    ("satchel_listings", 8),
    ("satchel_core", 8),
    ("satchel_endpoint", 9),
    ("satchel_cli", 10),
    ("satchel_app", 10),
];

/// External crates and where they may be used; a trailing `*` matches several.
const DOORS: &[(&str, &[&str])] = &[
    ("anyhow", &["crates/satchel-cli/"]),
    ("apple_native_keyring_store", &[CORE_KEYCHAIN]),
    ("arboard", &["src-tauri/src/clipboard.rs"]),
    ("argon2", &[CORE_VAULT]),
    ("axum", &["crates/satchel-endpoint/"]),
    ("brotli_decompressor", &[DECODING]),
    ("cc", &["crates/satchel-memory/build.rs"]),
    ("chacha20poly1305", &[CORE_VAULT]),
    ("clap*", &["crates/satchel-cli/"]),
    ("directories", &["crates/satchel-base/src/files/places.rs"]),
    ("fancy_regex", &["crates/satchel-tokens/src/lib.rs"]),
    ("flate2", &[DECODING]),
    ("fuse_rust", &["crates/satchel-catalog/src/catalog/search/", "crates/satchel-listings/src/registry/"]),
    ("futures_util", &["crates/satchel-endpoint/", "src-tauri/src/notices/freedesktop.rs"]),
    ("webkit2gtk", &["src-tauri/src/alive.rs"]),
    ("gtk", &["src-tauri/src/appearance.rs", "src-tauri/src/prompt.rs"]),
    ("httpdate", &["crates/satchel-upstream/src/upstream/connect/http.rs"]),
    ("hyper*", &["crates/satchel-endpoint/"]),
    ("image", &["crates/satchel-core/src/icons/"]),
    (
        "icu_normalizer",
        &[
            "crates/satchel-base/src/model/characters.rs",
            "crates/satchel-embed/src/unigram.rs",
            "crates/satchel-embed/src/wordpiece.rs",
        ],
    ),
    ("jsonc_parser", &["crates/satchel-base/src/edit/json.rs"]),
    ("jaq_*", &["crates/satchel-toolbox/src/tools/query/"]),
    ("jiff", &["crates/satchel-toolbox/src/tools/time.rs", "src-tauri/src/tray/mod.rs"]),
    (
        "jsonschema",
        &[
            "crates/satchel-core/src/bridge/form.rs",
            "crates/satchel-catalog/src/catalog/arguments/",
            "crates/satchel-core/src/export/validated.rs",
        ],
    ),
    ("keyring*", &[CORE_KEYCHAIN]),
    ("md5", &["crates/satchel-toolbox/src/tools/hash.rs"]),
    ("memchr", &["crates/satchel-mcp/src/bytes.rs"]),
    ("memory_stats", &["crates/satchel-toolbox/src/tools/query/"]),
    (
        "nix",
        &[
            "crates/satchel-base/src/files/",
            "crates/satchel-base/src/platform/descriptors.rs",
            "crates/satchel-upstream/src/upstream/connect/stdio.rs",
            "crates/satchel-upstream/src/upstream/peer.rs",
            "crates/satchel-upstream/src/upstream/reaper.rs",
            "crates/satchel-upstream/src/upstream/sandbox.rs",
            "crates/satchel-upstream/src/upstream/sealed.rs",
            "crates/satchel-upstream/src/upstream/watchdog.rs",
            "crates/satchel-reaper/",
            "crates/satchel-script/src/clock.rs",
            "src-tauri/src/webkit.rs",
        ],
    ),
    ("opentelemetry*", &["crates/satchel-endpoint/src/otlp.rs"]),
    ("percent_encoding", &["crates/satchel-endpoint/src/roots.rs", "crates/satchel-endpoint/src/surface.rs"]),
    ("pulp", &["crates/satchel-embed/src/kernel.rs"]),
    ("minisign_verify", &["crates/satchel-core/src/updates/offer.rs"]),
    ("notify_rust", &["src-tauri/src/notices.rs"]),
    ("zbus", &["src-tauri/src/notices/freedesktop.rs"]),
    ("open", &["crates/satchel-cli/src/commands/login.rs", "src-tauri/src/opening.rs"]),
    ("notify", &["crates/satchel-base/src/config/watch.rs"]),
    ("process_wrap", &["crates/satchel-upstream/src/upstream/connect/stdio.rs"]),
    ("landlock", SANDBOXES),
    ("seccompiler", SANDBOXES),
    ("security_framework", &[CORE_KEYCHAIN]),
    ("regex", &["crates/satchel-trust/src/inspect/"]),
    ("rquickjs", &["crates/satchel-script/src/engine.rs"]),
    ("reqwest", HTTP_CLIENTS),
    ("rustix", &["crates/satchel-base/src/files/spot.rs"]),
    ("rpassword", &["crates/satchel-cli/src/output.rs"]),
    ("rustls", HTTP_CLIENTS),
    ("ruzstd", &[DECODING]),
    ("semver", &["crates/satchel-core/src/updates/", "src-tauri/src/updates.rs"]),
    ("serde_json_path", &["crates/satchel-core/src/calls/results/paths.rs"]),
    ("sha1", &["crates/satchel-toolbox/src/tools/hash.rs"]),
    (
        "saphyr_parser",
        &["crates/satchel-base/src/edit/frontmatter.rs", "crates/satchel-base/src/edit/yaml.rs"],
    ),
    ("shlex", &["crates/satchel-clients/src/import/command_line.rs"]),
    (
        "similar",
        &[
            "crates/satchel-clients/src/connect.rs",
            "crates/satchel-trust/src/diff.rs",
            "crates/satchel-toolbox/src/tools/diff.rs",
        ],
    ),
    ("rusqlite", &["crates/satchel-stats/src/"]),
    ("snowball_stemmers_rs", &["crates/satchel-catalog/src/catalog/search/words.rs"]),
    ("subtle", &["crates/satchel-clients/src/token.rs"]),
    ("tauri*", &["src-tauri/"]),
    ("tiktoken_rs", &["crates/satchel-tokens/src/tests.rs"]),
    ("toml_edit", &["crates/satchel-base/src/edit/toml"]),
    ("tower*", &["crates/satchel-endpoint/"]),
    ("tracing_appender", LOGS),
    ("tracing_subscriber", LOGS),
    ("unicode_security", &["crates/satchel-base/src/model/characters.rs"]),
    ("unicode_width", &["crates/satchel-cli/src/lines.rs"]),
    (
        "url",
        &[
            "crates/satchel-core/src/bridge/form.rs",
            "crates/satchel-clients/src/import/badge.rs",
            "crates/satchel-core/src/icons/mod.rs",
            "crates/satchel-listings/src/listings/ways.rs",
            "crates/satchel-trust/src/grants.rs",
            "crates/satchel-upstream/src/upstream/oauth/",
        ],
    ),
    ("tikv_jemallocator", &["crates/satchel-memory/src/"]),
    (
        "ts_rs",
        &["crates/satchel-base/src/model/", "crates/satchel-core/src/hub/typescript.rs", "src-tauri/src/"],
    ),
    ("uuid", &["crates/satchel-toolbox/src/tools/"]),
    (
        "sysinfo",
        &[
            "crates/satchel-stats/src/",
            "crates/satchel-upstream/src/upstream/activity.rs",
            "crates/satchel-upstream/src/upstream/ancestry.rs",
            "crates/satchel-reaper/src/processes.rs",
            "crates/satchel-reaper/src/watchdog.rs",
        ],
    ),
    ("windows", &["crates/satchel-upstream/src/upstream/connect/stdio.rs"]),
    ("windows_registry", &["crates/satchel-cli/src/commands/search_path.rs", "src-tauri/src/autostart.rs"]),
    ("windows_native_keyring_store", &[CORE_KEYCHAIN]),
    ("secret_service", &[CORE_KEYCHAIN]),
    ("zbus_secret_service_keyring_store", &[CORE_KEYCHAIN]),
    ("der", &["crates/satchel-listings/src/registry/signature.rs"]),
    (
        "ring",
        &["crates/satchel-listings/src/registry/signature.rs", "crates/satchel-core/src/updates/tests.rs"],
    ),
    ("x509_cert", &["crates/satchel-listings/src/registry/signature.rs"]),
    ("zip", &["crates/satchel-listings/src/registry/bundle.rs"]),
    ("zeroize", &["crates/satchel-upstream/src/secrets/"]),
];
const SANDBOXES: &[&str] =
    &["crates/satchel-upstream/src/upstream/sandbox.rs", "crates/satchel-upstream/src/upstream/sealed.rs"];
const DECODING: &str = "crates/satchel-upstream/src/upstream/decode.rs";
const CORE_KEYCHAIN: &str = "crates/satchel-upstream/src/secrets/keychain.rs";
const CORE_VAULT: &str = "crates/satchel-upstream/src/secrets/sealed.rs";
const HTTP_CLIENTS: &[&str] = &[
    "crates/satchel-catalog/src/catalog/embedding.rs",
    "crates/satchel-listings/src/listings/registry_http.rs",
    "crates/satchel-upstream/src/upstream/connect/body.rs",
    "crates/satchel-upstream/src/upstream/connect/http.rs",
    "crates/satchel-upstream/src/upstream/connect/sse.rs",
    "crates/satchel-upstream/src/upstream/oauth/guarded_http.rs",
    "crates/satchel-upstream/src/upstream/outgoing.rs",
    "crates/satchel-cli/src/control.rs",
    "crates/satchel-endpoint/src/otlp.rs",
];
const LOGS: &[&str] = &["crates/satchel-cli/src/logging.rs", "src-tauri/src/logging.rs"];

/// Crates that every room may use; `tokio` within the limits below.
const EVERYWHERE: &[&str] = &[
    "base64",
    "getrandom",
    "parking_lot",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "tokio",
    "tokio_util",
    "tracing",
];

/// Rooms that decide without a runtime: time is an input, effects are outputs.
const WITHOUT_TOKIO: &[&str] = &[
    "crates/satchel-mcp/",
    "crates/satchel-entry/",
    "crates/satchel-base/src/model/",
    "crates/satchel-trust/src/",
    "crates/satchel-upstream/src/upstream/lifecycle.rs",
    "crates/satchel-upstream/src/upstream/breaker.rs",
    "crates/satchel-upstream/src/upstream/oauth/address.rs",
    "crates/satchel-upstream/src/upstream/oauth/challenge.rs",
    "crates/satchel-upstream/src/upstream/oauth/client.rs",
    "crates/satchel-upstream/src/upstream/oauth/discovery.rs",
    "crates/satchel-upstream/src/upstream/oauth/documents.rs",
    "crates/satchel-upstream/src/upstream/oauth/providers.rs",
    "crates/satchel-upstream/src/upstream/oauth/request.rs",
    "crates/satchel-upstream/src/upstream/oauth/token_response.rs",
    "crates/satchel-catalog/src/catalog/search/",
    "crates/satchel-base/src/config/change.rs",
    "crates/satchel-listings/src/listings/facets.rs",
    "crates/satchel-listings/src/listings/judge.rs",
    "crates/satchel-listings/src/listings/known.rs",
    "crates/satchel-listings/src/listings/page.rs",
    "crates/satchel-listings/src/listings/reading.rs",
    "crates/satchel-listings/src/listings/search.rs",
    "crates/satchel-listings/src/listings/stamp.rs",
    "crates/satchel-listings/src/listings/versions.rs",
    "crates/satchel-listings/src/listings/ways.rs",
    "crates/satchel-core/src/updates/installed.rs",
    "crates/satchel-core/src/updates/offer.rs",
    "crates/satchel-core/src/updates/trial.rs",
    "crates/satchel-base/src/edit/",
];

/// A source file.
struct Source {
    /// Relative to the repository, for example `crates/satchel-base/src/clock.rs`.
    path: String,
    text: String,
}

#[test]
fn the_house_keeps_its_rules() {
    let sources = rust_files(&["crates", "src-tauri", "tests"]);
    assert!(sources.len() > 20, "the source files are found");
    let broken = violations(&sources);
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_dependency_of_the_product_has_a_door() {
    let crates = files_below(&repository().join("crates"), &["toml"]);
    let manifests = crates.into_iter().chain([repository().join("src-tauri/Cargo.toml")]);
    let dependencies: BTreeSet<String> = manifests
        .map(|manifest| fs::read_to_string(manifest).expect("a manifest is text"))
        .flat_map(|manifest| dependencies(&manifest))
        .collect();
    assert!(dependencies.contains("serde_json") && dependencies.contains("reqwest"), "{dependencies:?}");
    let known = |name: &String| {
        EVERYWHERE.contains(&name.as_str()) || name.starts_with("satchel_") || door_of(name).is_some()
    };
    let without: Vec<_> = dependencies.iter().filter(|name| !known(name)).collect();
    assert!(without.is_empty(), "decide where these come in, and say it in DOORS: {without:?}");
}

/// Looking for code in doc comments takes half a minute, and there is none; `doctest = false` in each manifest.
#[test]
fn no_doc_comment_has_code_that_nothing_runs() {
    let code = |line: &str| {
        let comment = line.trim_start();
        let comment = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
        comment.is_some_and(|text| ["```", "```rust", "```no_run"].contains(&text.trim()))
    };
    // A bare fence also closes a block of another language, so count: the first of a pair opens.
    let runs = |source: &Source| {
        let fence = |line: &&str| {
            let text = line.trim_start();
            (text.starts_with("///") || text.starts_with("//!")) && text.contains("```")
        };
        source.text.lines().filter(fence).step_by(2).any(code)
    };
    assert!(runs(&Source { path: String::new(), text: "//! X.\n/// ```\n/// f();\n/// ```".into() }));
    assert!(!runs(&Source { path: String::new(), text: "//! X.\n/// ```text\n/// f();\n/// ```".into() }));
    let sources = rust_files(&["crates", "src-tauri"]);
    let found: Vec<&str> = sources.iter().filter(|source| runs(source)).map(|source| &*source.path).collect();
    assert!(found.is_empty(), "make it a unit test: {found:?}");
}

/// A new revision is one file, so no other file names one.
#[test]
fn only_the_table_of_eras_names_a_revision() {
    let names_one = |source: &Source| {
        let product = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter().any(|line| Era::all().any(|era| line.contains(&format!("\"{}\"", era.revision()))))
    };
    let planted = |text: &str| Source { path: String::new(), text: text.into() };
    assert!(names_one(&planted("fn f() { open(\"2025-06-18\") }")));
    assert!(!names_one(&planted(
        "// \"2025-06-18\"\n#[cfg(test)]\nmod tests { fn f() { open(\"2025-06-18\") } }"
    )));
    let sources = rust_files(&["crates", "src-tauri"]);
    let found: Vec<&str> = sources
        .iter()
        .filter(|source| !is_of_tests(&source.path) && names_one(source))
        .map(|source| &*source.path)
        .collect();
    assert_eq!(found, ["crates/satchel-mcp/src/era.rs"]);
}

/// Reading a pipe waits, and a device never ends. Files of ours, and those of other programs, are read by
/// `files::read_plain`, `files::read_data` and `files::open_plain`.
#[test]
fn only_files_of_the_system_are_read_without_looking_what_they_are() {
    const READS: [&str; 4] = ["fs::read(", "fs::read_to_string(", "File::open(", "Connection::open("];
    /// What they read: `/proc`, `/sys`, the list of accounts, the file of a passphrase or token that a person names, a program of Windows.
    const MAY: [&str; 15] = [
        "crates/satchel-base/src/files/spot.rs",
        "crates/satchel-base/src/platform/people.rs",
        "crates/satchel-cli/src/bridge/hub.rs",
        "crates/satchel-core/src/hub/data_dir.rs",
        "crates/satchel-embed/src/bin/quantise/main.rs",
        "crates/satchel-reaper/src/processes.rs",
        "crates/satchel-reaper/src/watchdog.rs",
        // After it has looked.
        "crates/satchel-stats/src/schema.rs",
        "crates/satchel-upstream/src/upstream/activity.rs",
        "crates/satchel-upstream/src/upstream/ancestry.rs",
        "crates/satchel-upstream/src/upstream/container.rs",
        "crates/satchel-upstream/src/upstream/reaper.rs",
        "crates/satchel-upstream/src/upstream/sealed.rs",
        "crates/satchel-upstream/src/upstream/start/program.rs",
        "src-tauri/src/webkit.rs",
    ];
    let reads = |source: &Source| {
        let product = source.text.split("\nmod tests {").next().unwrap_or_default();
        let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter().any(|line| READS.iter().any(|read| line.contains(read)))
    };
    let planted = |text: &str| Source { path: String::new(), text: text.into() };
    assert!(reads(&planted("fn f() { std::fs::read(path) }")));
    assert!(!reads(&planted("fn f() { files::read_plain(path, 10) }")));
    let sources = rust_files(&["crates", "src-tauri"]);
    let is_product = |path: &str| {
        let for_tests =
            ["/examples/", "/tests/", "tests.rs", "fixture.rs", "typescript.rs", "corpus.rs", "lists.rs"];
        !is_of_tests(path) && !for_tests.iter().any(|part| path.contains(part))
    };
    let found: Vec<&str> = sources
        .iter()
        .filter(|source| is_product(&source.path) && reads(source))
        .map(|source| &*source.path)
        .collect();
    let others: Vec<&&str> = found.iter().filter(|path| !MAY.contains(path)).collect();
    assert!(others.is_empty(), "read it by `files`, or say here what it is: {others:?}");
    assert!(MAY.iter().all(|path| found.contains(path)), "these read nothing any more: {found:?}");
}

/// Whatever the command line prints goes through one file, where nothing can hide in it.
#[test]
fn the_command_line_prints_in_one_place() {
    const PAST_IT: &[&str] = &[
        "print!(",
        "println!(",
        "eprint!(",
        "eprintln!(",
        "dbg!(",
        "io::stdout",
        "io::stderr",
        " stdout()",
        " stderr()",
        "/dev/tty",
        "/dev/stdout",
        "/dev/stderr",
        ".print()",
    ];
    let past = |source: &Source| {
        let code = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let line = code.into_iter().find(|line| {
            // Whether it is a terminal may be asked anywhere.
            let line =
                line.replace("std::io::stderr().is_terminal()", "").replace(" stderr().is_terminal()", "");
            PAST_IT.iter().any(|way| line.contains(way))
        });
        line.map(|line| format!("{}: {}", source.path, line.trim()))
    };
    let planted = |text: &str| Source { path: String::new(), text: text.into() };
    for way in [
        "println!(\"{name}\")",
        "    write!(std::io::stdout(), \"x\")",
        "let out = stderr();",
        "std::io::stderr().lock()",
        "error.print()",
    ] {
        assert!(past(&planted(way)).is_some(), "{way}");
    }
    assert_eq!(past(&planted("// println!()\nstdin().is_terminal() && stderr().is_terminal()")), None);
    let sources = rust_files(&["crates/satchel-cli/src"]);
    assert!(sources.len() > 20, "the source files are found");
    let sink = "crates/satchel-cli/src/output.rs";
    let found: Vec<_> = sources.iter().filter(|source| source.path != sink).filter_map(past).collect();
    assert!(found.is_empty(), "print with {sink}: {found:#?}");
}

#[test]
fn only_the_hub_client_of_the_window_talks_to_tauri() {
    let scripts = files_below(&repository().join("ui/src"), &["ts", "svelte"]);
    assert!(!scripts.is_empty(), "the window's source files are found");
    let broken: Vec<_> = scripts
        .iter()
        .filter(|path| !path.ends_with("lib/hub/client.ts"))
        .filter(|path| fs::read_to_string(path).expect("a source file is text").contains("@tauri-apps/"))
        .collect();
    assert!(broken.is_empty(), "only ui/src/lib/hub/client.ts may import @tauri-apps: {broken:?}");
}

/// Every broken rule, one sentence each.
fn violations(sources: &[Source]) -> Vec<String> {
    let mut broken = Vec::new();
    for source in sources {
        if !source.text.starts_with("//!") {
            broken.push(format!("{}: does not begin with a `//!` line that says what it is", source.path));
        }
        let Some(place) = Place::of(&source.path) else { continue };
        let mut said = BTreeSet::new();
        for (line, path) in paths(&source.text) {
            let rule = upward_use(&place, &path).or_else(|| wrong_door(&source.path, &path));
            // One sentence per file and rule is enough to find the rest.
            if let Some(rule) = rule
                && said.insert(rule.clone())
            {
                broken.push(format!("{}:{line}: {rule}", source.path));
            }
        }
    }
    broken
}

fn floor(room: &Room) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room.0).map(|(_, floor)| *floor)
}

fn upward_use(place: &Place, path: &[String]) -> Option<String> {
    let used = place.resolve(path)?;
    if used == place.room {
        return None;
    }
    let (Some(here), Some(there)) = (floor(&place.room), floor(&used)) else {
        return Some(format!("{} or {} has no floor in tests/suite/floors.rs", place.room.0, used.0));
    };
    (there >= here).then(|| format!("{} (floor {here}) may not use {} (floor {there})", place.room.0, used.0))
}

fn wrong_door(file: &str, path: &[String]) -> Option<String> {
    let outside = path.first()?;
    // An `Instant` is a value; reading the present one is what needs a runtime.
    if outside == "tokio" && path != ["tokio", "time", "Instant"] {
        let pure = WITHOUT_TOKIO.iter().any(|room| file.starts_with(room));
        return pure.then(|| "decides without a runtime and may not use tokio".to_owned());
    }
    let doors = door_of(outside)?;
    let inside = doors.iter().any(|door| file.starts_with(door));
    (!inside).then(|| format!("{outside} comes in by {} only", doors.join(", ")))
}

fn door_of(outside: &str) -> Option<&'static [&'static str]> {
    let stands_for = |name: &str| match name.strip_suffix('*') {
        Some(start) => outside.starts_with(start),
        None => outside == name,
    };
    DOORS.iter().find(|(name, _)| stands_for(name)).map(|(_, doors)| *doors)
}

/// A manifest's dependencies without dev-dependencies, as Rust identifiers.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut of_the_product = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            of_the_product = section.contains("dependencies]") && !section.contains("dev-");
        } else if of_the_product && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            // A crate may have another name in the registry than in the code.
            let name = if name == "md-5" { "md5".into() } else { name.replace('-', "_") };
            found.push(name);
        }
    }
    found.retain(|name| !name.starts_with('#') && !name.is_empty());
    found
}

fn rust_files(directories: &[&str]) -> Vec<Source> {
    let read = |path: PathBuf| Source {
        text: fs::read_to_string(&path).expect("a source file is text"),
        path: path
            .strip_prefix(repository())
            .expect("it lies in the repository")
            .to_string_lossy()
            .into_owned(),
    };
    let files = directories.iter().flat_map(|name| files_below(&repository().join(name), &["rs"]));
    files.map(read).collect()
}

fn files_below(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory can be listed").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            // Third-party, or build output.
            if !["node_modules", "target", "gen", "dist"].iter().any(|skipped| name == *skipped) {
                found.extend(files_below(&path, endings));
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
    found
}

/// Checks which violations a planted file has.
#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let text = if text.starts_with("//!") { text.to_owned() } else { format!("//! Planted.\n{text}") };
    let found = violations(&[Source { path: path.into(), text }]);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (sentence, part) in found.iter().zip(expected) {
        assert!(sentence.contains(part), "{sentence} does not say {part}");
    }
}

#[test]
fn an_upward_use_is_found_however_it_is_written() {
    let base = |file: &str| format!("crates/satchel-base/src/{file}");
    let upward = ["config (floor 2) may not use satchel_core::hub (floor 7)"];
    check(&base("config/file.rs"), "use crate::hub::Hub;", &upward);
    check(&base("config/file.rs"), "use crate::{files, hub::{Hub, call}};", &upward);
    check(&base("config/file.rs"), "use super::super::hub;", &upward);
    check(&base("config/mod.rs"), "fn f() { super::hub::start() }", &upward);
    check(&base("config/file.rs"), "pub use\n  crate::hub;", &upward);
    check(&base("config/file.rs"), "use crate::secrets::Secrets;", &["may not use satchel_core::secrets"]);
    check(
        "crates/satchel-upstream/src/upstream/actor.rs",
        "use satchel_endpoint::serve;",
        &["may not use satchel_endpoint"],
    );
    check(
        "crates/satchel-stats/src/report.rs",
        "use crate::clients;",
        &["stats (floor 2) may not use satchel_core::clients"],
    );
    check(
        "crates/satchel-trust/src/lib.rs",
        "use satchel_catalog::catalog;",
        &["may not use satchel_core::catalog"],
    );
    check("crates/satchel-mcp/src/sse.rs", "use satchel_core::model;", &["may not use satchel_core::model"]);
    check("crates/satchel-endpoint/src/http.rs", "use satchel_cli::args;", &["may not use satchel_cli"]);
    check(&base("config/file.rs"), "use crate::cellar::Wine;", &["satchel_core::cellar has no floor"]);
}

#[test]
fn a_downward_use_is_fine_and_so_is_everything_that_is_not_code() {
    check("crates/satchel-core/src/hub/call.rs", "use crate::{catalog, model::Code, upstream::Lease};", &[]);
    check("crates/satchel-core/src/hub/call.rs", "use super::route::Route; use self::x::Y;", &[]);
    check("crates/satchel-core/src/lib.rs", "pub mod hub; pub use hub::Hub;", &[]);
    check("crates/satchel-trust/src/lib.rs", "use satchel_base::{config, model};", &[]);
    check("crates/satchel-trust/src/rules.rs", "use crate::{clean, model::Name};", &[]);
    check("src-tauri/src/lib.rs", "use satchel_core::hub::Hub; use tauri::Manager;", &[]);
    check("crates/satchel-base/src/config/file.rs", "// use crate::hub;\n/* crate::hub::x */", &[]);
    check(
        "crates/satchel-base/src/config/file.rs",
        r##"const X: &str = "crate::hub"; const Y: &str = r#"use crate::hub; ""#;"##,
        &[],
    );
    check(
        "crates/satchel-base/src/config/file.rs",
        "fn f<'a>(x: &'a str) -> char { '\"' }\n// \"\nuse crate::files;",
        &[],
    );
    check(
        "crates/satchel-base/src/config/file.rs",
        "#[cfg(test)]\nmod tests {\n use crate::hub; fn f() { {} }\n}",
        &[],
    );
}

#[test]
fn a_second_door_is_found() {
    let check_door =
        |file: &str, text: &str, name: &str| check(file, text, &[&format!("{name} comes in by")]);
    check_door("crates/satchel-core/src/hub/call.rs", "use reqwest::Client;", "reqwest");
    check_door(
        "crates/satchel-cli/src/main.rs",
        "fn f() { tauri_plugin_autostart::init() }",
        "tauri_plugin_autostart",
    );
    check_door("crates/satchel-upstream/src/secrets/mod.rs", "use keyring_core::Entry;", "keyring_core");
    check_door("crates/satchel-catalog/src/catalog/entry.rs", "use fuse_rust::Fuse;", "fuse_rust");
    check("crates/satchel-upstream/src/secrets/keychain.rs", "use keyring_core::Entry;", &[]);
    check(
        "crates/satchel-upstream/src/upstream/lifecycle.rs",
        "use tokio::sync::watch;",
        &["may not use tokio"],
    );
    check("crates/satchel-upstream/src/upstream/lifecycle.rs", "use tokio::time::Instant;", &[]);
    check("crates/satchel-upstream/src/upstream/actor.rs", "use tokio::sync::watch;", &[]);
}

#[test]
fn a_file_without_a_module_comment_is_reported() {
    let source = Source { path: "crates/satchel-base/src/files.rs".into(), text: "use std::fs;".into() };
    assert!(violations(&[source])[0].contains("does not begin with a `//!` line"));
}

/// The hub is the root that wires the rooms. This counts what it still holds itself, which may only shrink: a new
/// field or `impl Hub` belongs in a room.
#[test]
fn the_root_does_not_grow() {
    const FIELDS: usize = 12;
    const FILES: usize = 2;
    let hub = repository().join("crates/satchel-core/src/hub");
    let root = fs::read_to_string(hub.join("mod.rs")).expect("the hub has a root");
    let (_, inner) = root.split_once("\nstruct Inner {\n").expect("the root has a struct");
    let (inner, _) = inner.split_once("\n}").expect("which ends");
    let is_field = |line: &&str| line.starts_with("    ") && !line.trim_start().starts_with("//");
    assert_eq!(inner.lines().filter(is_field).count(), FIELDS, "if there are fewer, write that number here");
    let files = files_below(&hub, &["rs"]);
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a source file is text");
    let files = files.iter().filter(|path| text(path).contains("\nimpl Hub {"));
    assert_eq!(files.count(), FILES, "if there are fewer, write that number here");
}

/// Lower files of the hub call nothing above, neither by name nor by a method of the handle.
#[test]
fn no_files_of_the_hub_stand_in_a_circle() {
    let room = repository().join("crates/satchel-core/src/hub");
    let file = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is text");
        (path.strip_prefix(&room).expect("it lies there").to_string_lossy().into_owned(), text)
    };
    let files: Vec<_> = files_below(&room, &["rs"]).into_iter().map(file).collect();
    let uses = hub::uses(&files);
    assert!(uses["requests"].contains("apply") && uses["registry"].contains("launch"), "{uses:#?}");
    let circles = hub::circles(&uses);
    let among = |file: &String| uses[file].intersection(&circles).cloned().collect::<Vec<_>>();
    let told: Vec<_> = circles.iter().map(|file| format!("{file} uses {}", among(file).join(", "))).collect();
    assert!(circles.is_empty(), "\n{}", told.join("\n"));
}

#[test]
fn a_circle_is_found_through_names_methods_and_the_root() {
    let circles = |files: &[(&str, &str)]| {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        hub::circles(&hub::uses(&files)).into_iter().collect::<Vec<_>>().join(" ")
    };
    let below = ("low.rs", "impl Hub { fn low(&self) {} } use super::Hub;");
    assert_eq!(circles(&[below, ("high.rs", "use super::low; fn f(hub: &Hub) { hub.low() }")]), "");
    assert_eq!(circles(&[("a.rs", "use super::b;"), ("b.rs", "use super::{Hub, a::A};")]), "a b");
    assert_eq!(circles(&[("a.rs", "fn f() { super::b::g() }"), ("b.rs", "use crate::hub::a;")]), "a b");
    let calls = "use super::low; impl Hub { fn high(&self) {} }";
    assert_eq!(
        circles(&[("low.rs", "impl Hub { fn low(&self) { self.high() } }"), ("high.rs", calls)]),
        "high low"
    );
    let root = ("mod.rs", "impl Hub { fn root(&self) { high::f(self) } }");
    let through = ("low.rs", "fn low(known: &Known) { known.hub.root(); }");
    assert_eq!(circles(&[root, through, ("high.rs", "use super::low; fn f() {}")]), "high low");
    let inner = ("call/attempt.rs", "use super::super::low; use super::Step;");
    assert_eq!(circles(&[inner, ("low.rs", "use super::call::Step;")]), "call low");
    let tests = "#[cfg(test)]\nmod tests { use super::super::high; }";
    assert_eq!(circles(&[("low.rs", tests), ("high.rs", calls)]), "");
}

/// One name, one thing: no type name in more than two rooms.
#[test]
fn few_types_have_a_name_that_several_rooms_use() {
    const NAMES: usize = 0;
    /// The maximum number of rooms that share a name.
    const ROOMS: usize = 2;
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in rust_files(&["crates", "src-tauri"]) {
        let Some(place) = Place::of(&source.path).filter(|_| !is_of_tests(&source.path)) else { continue };
        for name in types(&source.text) {
            rooms.entry(name).or_default().insert(place.room.0.clone());
        }
    }
    rooms.retain(|_, rooms| rooms.len() > ROOMS);
    assert_eq!(rooms.len(), NAMES, "if there are fewer, write that number here: {rooms:#?}");
}

/// The same holds for modules. A subject has one name in a face's command, in the contract and in the hub's handler; those
/// three count as one room.
#[test]
fn no_module_has_a_name_that_several_rooms_use() {
    const SUBJECT: &[&str] = &["satchel_cli", "satchel_core::model", "satchel_core::hub"];
    const ROOMS: usize = 2;
    let sources = rust_files(&["crates", "src-tauri"]);
    let rooms = module_rooms(sources.iter().map(|source| source.path.as_str()), SUBJECT);
    assert!(rooms.len() > 200, "the modules are found");
    let shared: BTreeMap<_, _> = rooms.into_iter().filter(|(_, rooms)| rooms.len() > ROOMS).collect();
    assert!(shared.is_empty(), "give these a name that says what sets them apart: {shared:#?}");
}

#[test]
fn a_module_name_in_three_rooms_is_found() {
    let paths = |last: &'static str| {
        ["crates/satchel-core/src/hub/rules.rs", "crates/satchel-base/src/model/rules.rs"]
            .into_iter()
            .chain(["crates/satchel-trust/src/rules.rs", "crates/satchel-trust/src/lib.rs", last])
    };
    let subject = ["satchel_core::hub", "satchel_core::model"];
    assert_eq!(module_rooms(paths("src-tauri/src/tray/mod.rs"), &subject)["rules"].len(), 2);
    assert_eq!(module_rooms(paths("src-tauri/src/rules.rs"), &subject)["rules"].len(), 3);
}

/// Names inside tests are no part of the product.
fn is_of_tests(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("/fixture.rs")
}

/// Which rooms have a module of each name; `subject` lists rooms that count as one.
fn module_rooms<'a>(
    paths: impl Iterator<Item = &'a str>,
    subject: &[&str],
) -> BTreeMap<String, BTreeSet<String>> {
    /// Not names of anything.
    const NAMELESS: &[&str] = &["mod", "lib", "main", "tests"];
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        let Some(place) = Place::of(path).filter(|_| !is_of_tests(path)) else { continue };
        let file = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let room = place.room.0;
        // The file that is a room of its own, such as `clock.rs`.
        if NAMELESS.contains(&file) || room.ends_with(&format!("::{file}")) {
            continue;
        }
        let room = if subject.contains(&room.as_str()) { "a subject".into() } else { room };
        rooms.entry(file.to_owned()).or_default().insert(room);
    }
    rooms
}

/// The map names every room with its floor, except re-exports.
#[test]
fn the_map_of_the_house_is_true() {
    const OTHER_NAMES: &[&str] =
        &["satchel_base", "satchel_upstream", "satchel_catalog", "satchel_listings", "satchel_core"];
    let map = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("there is a map");
    let rows: BTreeSet<(u8, &str)> = map
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            let (floor, room) = (cells.next()?.parse().ok()?, cells.next()?);
            Some((floor, room.split('`').nth(1)?))
        })
        .collect();
    // What the crate's root re-exports is part of another room.
    let stands_for_another = |name: &&str| {
        let inside = name.strip_prefix("satchel_core::");
        OTHER_NAMES.contains(name) || inside.is_some_and(|name| !room_exists(name))
    };
    let floors =
        FLOORS.iter().filter(|(name, _)| !stands_for_another(name)).map(|(name, floor)| (*floor, *name));
    assert_eq!(rows, floors.collect(), "ARCHITECTURE.md and FLOORS differ");
}

fn room_exists(name: &str) -> bool {
    let crates = repository().join("crates");
    ["trust", "stats", "clients", "intake"].contains(&name)
        || ["base", "upstream", "catalog", "listings", "core"].iter().any(|home| {
            let source = crates.join(format!("satchel-{home}/src"));
            source.join(name).is_dir() || source.join(format!("{name}.rs")).is_file()
        })
}

/// Every test that a document names as `path/of/a/file.rs::name_of_a_test` exists.
#[test]
fn every_test_that_a_document_names_is_there() {
    let mut named = 0;
    for document in files_below(&repository().join("docs"), &["md"]) {
        let text = fs::read_to_string(document).expect("it can be read");
        for (path, test) in text.split('`').filter_map(|word| word.split_once(".rs::")) {
            let source = fs::read_to_string(repository().join(format!("{path}.rs")))
                .unwrap_or_else(|error| panic!("{path}.rs: {error}"));
            assert!(source.contains(&format!("fn {test}(")), "{path}.rs has no test {test}");
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}

/// A renamed file breaks the scripts that name it, and no test runs all of them.
#[test]
fn every_source_file_that_a_script_names_is_there() {
    let mut scripts = files_below(&repository().join("scripts"), &["sh", "py", "mjs", "cjs"]);
    scripts.extend(files_below(&repository().join(".github"), &["yml"]));
    scripts.push(repository().join("Makefile"));
    let is_source = |word: &&str| {
        let inside = ["crates/", "src-tauri/", "tests/"].iter().any(|directory| word.starts_with(directory));
        inside && [".rs", ".c", "servers.json"].iter().any(|ending| word.ends_with(ending))
    };
    let mut named = 0;
    for script in scripts {
        let text = fs::read_to_string(&script).expect("a script is text");
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c));
        for word in words.filter(is_source) {
            assert!(repository().join(word).is_file(), "{} names {word}", script.display());
            named += 1;
        }
    }
    assert!(named > 3, "{named}");
}
