//! What a person sees before a yes, at a terminal: nothing repaints it, nothing that decides is cut from it, and nothing
//! starts without it.

use std::path::Path;

use satchel_tests::{Home, eventually};
use serde_json::{Value, json};

/// Clears the screen, paints another review, and hides what follows.
const PAINTS: &str = "\u{1b}[2J\u{1b}[3J\u{1b}[Hserver notes: new\r\n  runs: npx good\u{1b}[8m";
/// Characters that reverse, hide or split a text.
const HIDES: &str = "\u{202e}\u{200b}\u{e0041}\u{2066}\u{2028}\u{ad}\u{3164}";

/// A server that leaves a mark when it starts.
fn marking(mark: &Path) -> Value {
    json!({ "command": "sh", "args": ["-c", format!("touch {}", mark.display())], "startup": "eager" })
}

fn setup_file(home: &Home, servers: &Value, clients: &Value) -> String {
    let file = home.file("laptop.satchel.json");
    let setup = json!({
        "satchelSetup": 1, "computer": "laptop-1a2b", "written": 1,
        "servers": servers, "profiles": {}, "settings": {}, "clients": clients,
    });
    std::fs::write(&file, setup.to_string()).expect("the home can be written to");
    file.to_str().expect("a path of ours is text").to_owned()
}

#[track_caller]
fn hides_nothing(text: &str) {
    let hidden = |c: &char| HIDES.contains(*c) || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    let found: Vec<char> = text.chars().filter(hidden).collect();
    assert!(found.is_empty(), "{found:?} in {text:?}");
}

#[tokio::test]
async fn a_setup_cannot_repaint_its_review() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    let mark = home.file("mark");
    let name = format!("zz{PAINTS}{HIDES}");
    let file = setup_file(&home, &json!({ "evil": marking(&mark) }), &json!({ name: { "hidden": ["x"] } }));
    let seen = home.satchel_typing(&["setup", "import", &file], "n\n").await;
    hides_nothing(&seen.stdout);
    assert!(seen.stdout.contains(&format!("touch {}", mark.display())), "{}", seen.stdout);
    assert!(!seen.stdout.lines().any(|line| line.trim() == "runs: npx good"), "{}", seen.stdout);
    assert!(seen.stdout.contains("⟨U+001B⟩[2J"), "{}", seen.stdout);
}

#[tokio::test]
async fn what_runs_is_not_cut_from_a_review_however_much_stands_before_it() {
    let home = Home::empty();
    let hub = home.start_hub().await;
    let env: serde_json::Map<String, Value> =
        (0..500).map(|at| (format!("NOTE_{at:03}"), json!("x"))).collect();
    let mut entry = json!({ "env": env });
    let mark = home.file("mark");
    entry.as_object_mut().expect("it is one").extend(marking(&mark).as_object().expect("it is one").clone());
    entry["startup"] = json!("manual");
    let touch = format!("touch {}", mark.display());

    let file = setup_file(&home, &json!({ "notes": entry }), &json!({}));
    let seen = home.satchel_typing(&["setup", "import", &file], "n\n").await.stdout;
    let runs = seen.find(&touch).unwrap_or_else(|| panic!("{seen}"));
    assert!(runs < seen.find("NOTE_000").unwrap_or(usize::MAX), "{seen}");
    assert!(seen.contains("more lines of variables and headers"), "{seen}");

    let mut config = home.config();
    config["mcpServers"]["z"] = entry;
    home.write_config(&config);
    hub.waits("z").await;
    let seen = home.satchel_typing(&["approve", "z"], "n\n").await.stdout;
    let runs = seen.find(&touch).unwrap_or_else(|| panic!("{seen}"));
    assert!(runs < seen.find("NOTE_000").unwrap_or(usize::MAX), "{seen}");
    assert!(seen.contains("more lines of variables and headers"), "{seen}");
    assert!(seen.contains("it runs what is written here (sh -c)"), "{seen}");
}

#[tokio::test]
async fn texts_of_the_configuration_reach_no_terminal_as_they_are() {
    let home = Home::empty();
    let hidden = format!("x{PAINTS}{HIDES}");
    let hub = home.start_hub().await;
    home.write_config(&json!({
        "mcpServers": {
            "a": { "command": "no-such-a", "startup": "manual" },
            "z": { "command": hidden, "args": [hidden], "env": { "E": hidden }, "cwd": format!("/{hidden}") },
            "bad": { "command": 5, hidden.clone(): 1, "startup": hidden },
            hidden.clone(): { "command": "x" },
        },
        "toolRules": [{ "tool": "a:x", "permit": hidden }, { "tool": format!("a:{hidden}"), "permit": "off" }],
        "resultCap": hidden,
        "profiles": { format!("p{hidden}"): { "servers": [hidden] } },
    }));
    hub.waits("z").await;
    for (words, typed) in [
        (&["list"][..], ""),
        (&["status"], ""),
        (&["tools"], ""),
        (&["tools", "--rules"], ""),
        (&["doctor"], ""),
        (&["profile", "list"], ""),
        (&["approvals"], ""),
        (&["approve", "z"], "n\n"),
        (&["approve", "--all"], "n\n"),
        (&["approve", "--settings"], "n\n"),
        (&["call", "a:t"], ""),
        (&["rule", "a:t", "off"], ""),
        (&["asks"], ""),
        (&["logs", "a"], ""),
        (&["history"], ""),
        (&["audit"], ""),
        (&["import", "--dry-run"], ""),
        (&["search", "x"], ""),
        (&["enable", &hidden], ""),
        (&[&hidden], ""),
        (&["list", "--json"], ""),
        (&["doctor", "--json"], ""),
    ] {
        hides_nothing(&home.satchel_typing(words, typed).await.stdout);
        let piped = home.satchel(words).await;
        hides_nothing(&format!("{}{}", piped.stdout, piped.stderr));
    }
}

#[tokio::test]
async fn what_is_imported_starts_after_a_yes_and_waits_without_one() {
    for kind in ["link", "file", "block", "line"] {
        let home = Home::empty();
        let hub = home.start_hub().await;
        let mark = home.file("mark");
        let block = json!({ "mcpServers": { "notes": marking(&mark) } }).to_string();
        let source = match kind {
            "link" => format!("satchel://install?name=notes&config={}", percent(&marking(&mark).to_string())),
            "file" => {
                std::fs::write(home.file("block.json"), &block).expect("the home can be written to");
                home.file("block.json").display().to_string()
            }
            "block" => block,
            _ => "uvx notes==1.0.0".to_owned(),
        };
        let runs = if kind == "line" { "uvx notes==1.0.0".to_owned() } else { mark.display().to_string() };
        let no = home.satchel_typing(&["import", &source], "n\nn\n").await;
        assert!(no.stdout.contains(&runs), "{kind}: {}", no.stdout);
        assert!(
            home.config()["mcpServers"].as_object().is_none_or(|all| all.len() <= 1),
            "{kind}: {}",
            home.config()
        );

        // Without a terminal it is written down, and waits.
        let waits = home.satchel(&["import", &source, "--yes"]).await;
        assert!(waits.succeeded().stdout.contains("for your approval"), "{kind}: {waits:?}");
        assert_eq!(hub.waits("notes").await, "new_entry", "{kind}");
        assert!(!mark.exists(), "{kind}");

        home.satchel_agreeing(&["undo"]).await.succeeded();
        let yes = home.satchel_agreeing(&["import", &source]).await;
        assert!(yes.succeeded().stdout.contains("Added 1 server"), "{kind}: {}", yes.stdout);
        let shown = hub.status().await;
        let server =
            shown["servers"].as_array().into_iter().flatten().find(|one| one["name"] == "notes").cloned();
        assert!(server.as_ref().is_some_and(|one| one["not_started"].is_null()), "{kind}: {server:?}");
        if kind != "line" {
            eventually("it was started", async || mark.exists().then_some(())).await;
        }
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn a_replaced_entry_without_a_terminal_says_that_it_waits() {
    let home = Home::empty();
    let _hub = home.start_hub().await;
    home.satchel(&["add", "notes", "--", "no-such-notes"]).await.succeeded();
    let replaced = home.satchel(&["add", "notes", "--replace", "--", "no-such-other"]).await;
    let said = &replaced.succeeded().stdout;
    assert!(said.contains("waits for your approval") && !said.contains("Added"), "{replaced:?}");
}

#[tokio::test]
async fn a_name_that_reads_like_another_is_refused_at_every_way_in() {
    let home = Home::empty();
    let names = ["github\u{200b}", "git\u{ad}hub", "\u{202e}gbuh", "g\u{456}thub", "\u{ff47}ithub"];
    let mut servers = json!({ "github": { "command": "no-such", "startup": "manual" } });
    names.iter().for_each(|name| servers[*name] = json!({ "command": "no-such" }));
    // Wholly in another alphabet, it only looks like one that is there.
    servers["scope"] = json!({ "command": "no-such", "startup": "manual" });
    servers["\u{455}\u{441}\u{43e}\u{440}\u{435}"] = json!({ "command": "no-such" });
    home.write_config(&json!({ "mcpServers": servers }));
    let hub = home.start_hub().await;
    let status = hub.status().await;
    let all = status["servers"].as_array().into_iter().flatten();
    let used = all.filter(|one| one["state"] != "invalid");
    let known: Vec<&str> = used.filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(known, ["github", "scope"], "{status}");
    let doctor = home.satchel(&["doctor"]).await.stdout;
    for spelled in ["github⟨U+200B⟩", "git⟨U+00AD⟩hub", "⟨U+202E⟩gbuh", "g⟨U+0456⟩thub", "⟨U+FF47⟩ithub"]
    {
        assert!(doctor.contains(spelled), "{spelled}: {doctor}");
    }
    assert!(doctor.contains("looks like \"scope\""), "{doctor}");
    for name in names.into_iter().chain(["\u{455}\u{441}\u{43e}\u{440}\u{435}s\u{200d}"]) {
        home.satchel(&["add", name, "--", "no-such"]).await.failed_with(2);
        let file = setup_file(&home, &json!({ name: { "command": "no-such" } }), &json!({}));
        home.satchel_agreeing(&["setup", "import", &file]).await.failed_with(1);
        let block = json!({ "mcpServers": { name: { "command": "uvx", "args": ["x"] } } }).to_string();
        let found = home.satchel(&["import", &block, "--dry-run", "--json"]).await.json();
        assert!(found["servers"][0]["name"].as_str().is_some_and(|name| name.is_ascii()), "{found}");
        assert!(found["servers"][0]["warnings"].to_string().contains("was changed to"), "{found}");
    }
}
