//! Thousands of files that look real, with everything people and programs do to them: our entry goes in and out, and
//! no byte beside it is lost or moved.

use std::{fs, path::Path};

use satchel_core::{
    clients::{
        connect::{self, Without, Written},
        table::{Client, Transport, client},
        template::Ourselves,
    },
    edit::{Format, Spot, at},
};

use super::{cases, folders, name};

/// How many files are tried; `make night` names a larger number.
fn files() -> usize {
    std::env::var("SATCHEL_MUTATED_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(3_000)
}

const TOKEN: &str = "sat_0123456789";

fn ourselves() -> Ourselves {
    Ourselves {
        name: "satchel".into(),
        url: "http://127.0.0.1:7411/mcp".into(),
        bridge: "/opt/Satchel App/satchel".into(),
        bridge_words: vec!["bridge".into()],
    }
}

/// Every complete file of the cases, with its client.
fn seeds() -> Vec<(&'static Client, String)> {
    let mut seeds = Vec::new();
    for group in ["connect", "import"] {
        for folder in folders(&cases(group)) {
            let Some(client) = client(name(&folder)) else { continue };
            let files = fs::read_dir(&folder).expect("it can be listed").flatten().map(|entry| entry.path());
            for file in files.filter(|path| path.is_file() && !name(path).contains("expected")) {
                let text = fs::read_to_string(&file).expect("it is text");
                seeds.push((client, text.trim_start_matches('\u{feff}').to_owned()));
            }
        }
    }
    for (id, text) in [
        ("goose", "extensions: {}\n"),
        ("goose", "extensions:\n# nothing yet\nGOOSE_MODEL: x\n"),
        ("goose", "a: |\n  text\n\n\nb: [1, 2]\n"),
        ("continue", "name: x\nmcpServers: []  # none\n"),
        ("continue", "mcpServers:\n- name: a\n  command: b\n\nmodels:\n- x\n"),
        ("codex", "a = 1\n[mcp_servers]\n[[profiles]]\nx = \"y\"\n"),
        ("codex", "mcp_servers.a.url = \"http://x\"\n"),
        ("witsy", "{\"mcp\": {\"servers\": []}, \"a\": 1}"),
        ("cursor", "// only this\n{ // here\n}\n"),
        ("vscode", "{\n\t\"servers\": { /* none */ },\n}"),
    ] {
        seeds.push((client(id).expect("it is known"), text.to_owned()));
    }
    seeds
}

/// Applies one random change, as happens to files.
fn mutate(text: &mut String, format: Format, random: &mut fastrand::Rng) {
    let lines: Vec<String> = text.split_inclusive('\n').map(ToOwned::to_owned).collect();
    let line = random.usize(..lines.len().max(1));
    let comment = if format == Format::Json { "// ä \"x\": {" } else { "# ä \"x\": {" };
    let rebuilt = |change: &dyn Fn(usize, &str) -> String| -> String {
        lines.iter().enumerate().map(|(index, line)| change(index, line)).collect()
    };
    *text = match random.u8(..12) {
        0 => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        1 if format != Format::Yaml => text.replace("  ", "\t"),
        2 if format != Format::Yaml => text.replace("  ", "    "),
        3 => rebuilt(&|index, old| if index == line { format!("{comment}\n{old}") } else { old.into() }),
        4 => rebuilt(&|index, old| match (index == line, old.strip_suffix('\n')) {
            (true, Some(old)) => format!("{old} {comment}\n"),
            _ => old.into(),
        }),
        5 => text.trim_end().to_owned(),
        6 => format!("{text}\n\n"),
        7 if format == Format::Json => text.replace("\n", " "),
        8 => rebuilt(&|index, old| if index == line { format!("\n{old}") } else { old.into() }),
        9 if format == Format::Json => text.replacen('}', ",}", 1),
        // Damage: something is removed or inserted.
        10 => {
            let mut chars: Vec<char> = text.chars().collect();
            if !chars.is_empty() {
                chars.remove(random.usize(..chars.len()));
            }
            chars.into_iter().collect()
        }
        11 => {
            let mut chars: Vec<char> = text.chars().collect();
            let new = ['{', '}', '"', ',', ':', '\n', ' ', '#', '[', '\u{2028}', '日'];
            chars.insert(random.usize(..=chars.len()), new[random.usize(..new.len())]);
            chars.into_iter().collect()
        }
        _ => format!("{text} "),
    };
}

fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Is `part` a subsequence of `whole`?
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|c| whole.by_ref().any(|other| other == c))
}

#[test]
fn whatever_happened_to_a_file_nothing_but_our_entry_changes() {
    let (seeds, files) = (seeds(), files());
    let mut random = fastrand::Rng::with_seed(7);
    let (mut written, mut refused) = (0, 0);
    for number in 0..files {
        let (client, seed) = &seeds[number % seeds.len()];
        let mut text = seed.clone();
        for _ in 0..random.usize(..5) {
            mutate(&mut text, client.format, &mut random);
        }
        let marked = random.u8(..8) == 0;
        let bytes = if marked { format!("\u{feff}{text}").into_bytes() } else { text.clone().into_bytes() };
        match one(client, &text, bytes) {
            Some(()) => written += 1,
            None => refused += 1,
        }
    }
    assert!(written > files / 2 && refused > files / 50, "{written} written, {refused} refused");
    println!("{written} of {files} written, {refused} refused");
}

/// Adds our entry and removes it. `None` if the file is refused.
fn one(client: &Client, text: &str, bytes: Vec<u8>) -> Option<()> {
    let path = Path::new(match client.format {
        Format::Json => "/x/file.json",
        Format::Toml => "/x/file.toml",
        Format::Yaml => "/x/file.yaml",
    });
    let plan =
        |bytes: Vec<u8>| connect::plan(client, &ourselves(), Transport::Http, TOKEN, path, Some(bytes));
    let plan_once = plan(bytes.clone())
        .or_else(|_| connect::plan(client, &ourselves(), Transport::Stdio, TOKEN, path, Some(bytes.clone())))
        .ok()?;
    let after = String::from_utf8(plan_once.after.clone()).expect("text stays text");
    let unmarked = after.trim_start_matches('\u{feff}');
    assert_eq!(after.len() - unmarked.len(), bytes.len() - text.len(), "the mark stays: {text:?}");
    let read = client.format.read(text).expect("it was read to be planned");
    let spot = Spot { container: &client.key, list: client.list(), name: &plan_once.name };
    assert!(at(&read, &spot).is_none(), "there was none of ours");
    // An empty text, or null in place of the servers, has nothing that could be lost.
    let nothing = dense(text).is_empty() || dense(text) == "null" || read.is_null();
    // Empty brackets are rewritten in YAML.
    let before = dense(text).replace("{}", "").replace("[]", "").replace("null", "").replace('~', "");
    assert!(nothing || is_within(&before, &dense(unmarked)), "lost something:\n{text}\n---\n{after}");
    let twice =
        connect::plan(client, &ourselves(), Transport::Http, TOKEN, path, Some(plan_once.after.clone()))
            .or_else(|_| {
                connect::plan(
                    client,
                    &ourselves(),
                    Transport::Stdio,
                    TOKEN,
                    path,
                    Some(plan_once.after.clone()),
                )
            });
    assert!(twice.expect("it can be read").changes_nothing(), "{text}");
    let written = Written {
        path: path.to_owned(),
        name: plan_once.name.clone(),
        entry: String::new(),
        created: plan_once.created,
        after: "changed since".into(),
        backup: None,
        new_file: false,
        bits_before: None,
        shared: false,
    };
    match connect::without(client, &written, Some(&plan_once.after), None) {
        Ok(Without::Removed(now)) => {
            let now = String::from_utf8(now).expect("text stays text");
            let (now, was) = (dense(now.trim_start_matches('\u{feff}')), dense(text));
            let same = now == was || nothing || now.replace("{}", "").replace("[]", "") == before;
            assert!(same, "not taken out:\n{text}\n---\n{after}\n---\n{now}");
        }
        other => panic!("{other:?}:\n{text}\n---\n{after}"),
    }
    Some(())
}
