//! Pins what an entry runs or connects to. An entry that a person added or approved is pinned; a change by another hand
//! is not started before a person has looked at it.

use satchel_entry::{
    credential::{self, FieldKind},
    template::{ProjectUse, project_use},
};
use satchel_mcp::Raw;
use serde_json::{Map, json};
use sha2::{Digest, Sha256};

use std::{collections::BTreeMap, fmt::Write};

use crate::{
    model::{
        ServerConfig, ServerName, TransportConfig,
        approvals::{Kind, Why},
        caution::Caution,
        oauth::OAuth,
        server::ContainerEngine,
    },
    registry::launch_risks,
    trust::{Fingerprint, Item, clean, fingerprint::Tree},
    upstream::sources_of,
};

/// Everything in an entry that determines what runs. Values that may be secrets enter the fingerprint, never the text.
pub(super) fn item(name: &ServerName, config: &ServerConfig) -> Item {
    Item {
        kind: Kind::Launch,
        name: name.to_string(),
        print: Fingerprint::of_tree(Kind::Launch.as_str(), &tree(config)),
        text: readable(config),
        alarming: false,
        sought: false,
        definition: None,
    }
}

/// Why a server is not started, for callers that need it.
pub(super) fn because(why: Why) -> &'static str {
    match why {
        Why::Changed | Why::Added => {
            "its entry in the configuration file was changed, and nobody has approved what it would run now"
        }
        Why::New | Why::Alarming => "it came with the configuration file, and nobody has approved it",
        Why::Lost => "its approval was lost",
    }
}

fn tree(config: &ServerConfig) -> Tree {
    let mut fields = Map::new();
    match &config.transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            fields.insert("command".into(), json!(command));
            fields.insert("args".into(), json!(args));
            fields.insert("env".into(), json!(env));
            fields.insert("cwd".into(), json!(cwd));
        }
        TransportConfig::Http { url, headers, oauth } => {
            fields.insert("url".into(), json!(url));
            fields.insert("headers".into(), json!(headers));
            if **oauth != OAuth::default() {
                fields.insert("oauth".into(), json!(oauth));
            }
        }
    }
    fields.insert("sandbox".into(), json!(config.sandbox));
    let raw: Box<Raw> = serde_json::value::to_raw_value(&fields).expect("a JSON value always serializes");
    Tree::of(&raw)
}

/// The command line or address; then environment, directory and sandbox, one line each.
fn readable(config: &ServerConfig) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: &str| {
        // Writing to a string never fails.
        let _ = writeln!(text, "{what}: {value}");
    };
    match &config.transport {
        TransportConfig::Stdio { command, args, env: _, cwd } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            line("runs", &words.join(" "));
            let secrets: Vec<String> = config.transport.secret_arguments().into_iter().map(quoted).collect();
            if !secrets.is_empty() {
                line("every program of this computer can read", &secrets.join(" "));
            }
            cwd.iter().for_each(|cwd| line("in", &quoted(cwd)));
        }
        TransportConfig::Http { url, headers: _, oauth } => {
            line("connects to", &quoted(url));
            for (what, value) in oauth.told() {
                let value = if what == "clientSecret" { told(&value) } else { value };
                line(&format!("sign-in {what}"), &quoted(&value));
            }
        }
    }
    if let Some(sandbox) = &config.sandbox {
        for (what, paths) in [("reads", &sandbox.read), ("reads and writes", &sandbox.write)] {
            if !paths.is_empty() {
                line(what, &paths.iter().map(|path| quoted(path)).collect::<Vec<_>>().join(" "));
            }
        }
        if let Some(container) = &sandbox.container {
            let note = match container.is_pinned() {
                true => "",
                false => " (whichever image has this name here; none is fetched)",
            };
            let engine = match container.engine {
                ContainerEngine::Auto => "podman or docker",
                ContainerEngine::Podman => "podman",
                ContainerEngine::Docker => "docker",
            };
            line(&format!("inside, by {engine}"), &format!("{}{note}", quoted(&container.image)));
        }
        line(
            "sandbox",
            if sandbox.network { "these files and the network" } else { "these files, no network" },
        );
    }
    for source in sources_of(&config.transport) {
        match source.command() {
            Some(Some(words)) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                line("runs before each start, for a secret", &words.join(" "));
            }
            Some(None) => line("cannot run without a shell", &quoted(&source.to_string())),
            None => line("reads at each start, for a secret", &quoted(&source.to_string())),
        }
    }
    if config.transport.clone().project_texts().any(|text| project_use(text) != ProjectUse::None) {
        line("${project}", "the folder of the session that calls");
    }
    for risk in risks(config) {
        line("careful", &one_line(&format!("it {risk}")));
    }
    // Last, because there may be many, and a face may fold them.
    let (what, values) = match &config.transport {
        TransportConfig::Stdio { env, .. } => (VARIABLE, env),
        TransportConfig::Http { headers, .. } => (HEADER, headers),
    };
    for (name, value) in values {
        // What decides which code is loaded is part of what runs.
        let is_code = launch_risks::decides_what_is_loaded(name)
            && !credential::of(name, value, FieldKind::Variable).is_credential();
        let shown = if is_code { value.clone() } else { told(value) };
        line(&format!("{what}{}", quoted(name)), &quoted(&shown));
    }
    text.truncate(text.trim_end().len());
    text
}

/// What it does besides running the server that it names.
fn risks(config: &ServerConfig) -> Vec<Caution> {
    let values = |texts: &BTreeMap<String, String>| {
        texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect()
    };
    match &config.transport {
        TransportConfig::Stdio { command, args, env, .. } => {
            launch_risks::of_program(command, args, &values(env), &[])
        }
        TransportConfig::Http { url, headers, .. } => launch_risks::of_address(url, &values(headers)),
    }
}

/// What begins the line of a variable, and of a header.
const VARIABLE: &str = "env ";
const HEADER: &str = "header ";

/// A readable entry in two: what runs, where it goes and what it may reach; and its variables and headers.
pub(super) fn decisive_first(text: &str) -> (String, String) {
    let is_rest = |line: &&str| line.starts_with(VARIABLE) || line.starts_with(HEADER);
    let (rest, first): (Vec<&str>, Vec<&str>) = text.lines().partition(is_rest);
    let rest = if rest.is_empty() { String::new() } else { format!("\n{}", rest.join("\n")) };
    (first.join("\n"), rest)
}

/// Quotes a word so that different entries never look the same. Hidden characters are escaped.
/// Without line breaks, which could look like lines of the review.
fn one_line(text: &str) -> String {
    clean::visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\\'));
    if is_plain {
        return clean::visible(word);
    }
    let mut text = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{85}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "⟨U+{:04X}⟩", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    clean::visible(&text)
}

/// References are shown as they are; other values only by a short fingerprint.
fn told(value: &str) -> String {
    if value.is_empty() || value.contains("${") {
        return value.to_owned();
    }
    let digest = Sha256::digest(value.as_bytes());
    format!("(a value, {:02x}{:02x})", digest[0], digest[1])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::Config;

    fn of(entry: &Value) -> Item {
        let config = Config::parse(&json!({ "mcpServers": { "a": entry } }).to_string()).unwrap();
        let name: ServerName = "a".parse().unwrap();
        item(&name, &config.servers()["a"])
    }

    /// S9, S33: every byte that determines what runs is part of what is approved, and nothing else is.
    #[test]
    fn what_runs_and_is_read_for_a_secret_is_shown_in_full() {
        let entry = json!({ "command": "x", "args": ["${project}"],
            "env": { "A": "${cmd:pass show 'my key'}", "B": "${file:~/key}", "C": "${cmd:a | b}", "D": "${op://v/i/f}" } });
        let text = of(&entry).text;
        for line in [
            "${project}: the folder of the session that calls",
            "runs before each start, for a secret: pass show \"my key\"",
            "runs before each start, for a secret: op read op://v/i/f",
            "cannot run without a shell: \"cmd:a | b\"",
            "reads at each start, for a secret: file:~/key",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
        }
    }

    #[test]
    fn changing_one_byte_that_decides_what_runs_changes_the_launch() {
        let stdio = json!({
            "command": "npx", "args": ["-y", "server@1.2.3", "--flag"], "cwd": "/srv/a",
            "env": { "TOKEN": "${secret:TOKEN}", "MODE": "plain" },
            "sandbox": { "read": ["~/notes"], "write": ["~/out"], "network": false, "container": null },
        });
        let contained = json!({
            "command": "npx", "sandbox": { "container": { "image": "node@sha256:0123", "engine": "docker" } },
        });
        let docker =
            json!({ "command": "docker", "args": ["run", "-i", "mcp/fetch@sha256:0123456789abcdef"] });
        let hosted = json!({
            "url": "https://example.com/mcp?x=1", "headers": { "Authorization": "Bearer ${secret:KEY}", "X-Team": "a" },
        });
        let mut mutations = 0;
        for entry in [&stdio, &contained, &docker, &hosted] {
            let before = of(entry);
            assert_eq!(before, of(entry));
            for (place, text) in texts(entry, String::new()) {
                for at in 0..text.len() {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] = if bytes[at] == b'q' { b'z' } else { b'q' };
                    let Ok(Some(changed)) = std::panic::catch_unwind(|| {
                        let mut changed = entry.clone();
                        *changed.pointer_mut(&place)? = json!(String::from_utf8(bytes).ok()?);
                        let document = json!({ "mcpServers": { "a": changed } }).to_string();
                        Config::parse(&document)
                            .is_ok_and(|config| config.faults().is_empty())
                            .then_some(changed)
                    }) else {
                        continue;
                    };
                    assert_ne!(of(&changed).print, before.print, "{place}, byte {at}");
                    mutations += 1;
                }
            }
        }
        for (place, value) in [
            ("/sandbox/network", json!(true)),
            ("/sandbox", json!(false)),
            ("/sandbox/container", json!("node")),
            ("/args", json!(["-y", "server@1.2.3"])),
            ("/args/1", json!("server@1.2.4")),
            ("/env", json!({ "TOKEN": "${secret:TOKEN}" })),
            ("/env", json!({ "TOKENS": "${secret:TOKEN}", "MODE": "plain" })),
        ] {
            let mut changed = stdio.clone();
            *changed.pointer_mut(place).unwrap() = value;
            assert_ne!(of(&changed).print, of(&stdio).print, "{place}");
            mutations += 1;
        }
        println!("measured: {mutations} mutations of one byte or one value, each another launch");
        assert!(mutations >= 60, "{mutations}");
        for (field, value) in [
            ("idleTimeout", json!(5)),
            ("startup", json!("eager")),
            ("enabled", json!(false)),
            ("keepCalls", json!(true)),
            ("exactResults", json!(true)),
            ("mine", json!("a note")),
        ] {
            let mut same = stdio.clone();
            same[field] = value;
            assert_eq!(of(&same), of(&stdio), "{field} decides nothing of it");
        }
    }

    fn texts(value: &Value, place: String) -> Vec<(String, String)> {
        match value {
            Value::String(text) => vec![(place, text.clone())],
            Value::Array(items) => {
                items.iter().enumerate().flat_map(|(at, item)| texts(item, format!("{place}/{at}"))).collect()
            }
            Value::Object(fields) => {
                fields.iter().flat_map(|(key, value)| texts(value, format!("{place}/{key}"))).collect()
            }
            _ => vec![],
        }
    }

    #[test]
    fn the_review_shows_the_whole_command_and_no_possible_secret() {
        let long = "x".repeat(4096);
        let read = of(&json!({
            "command": "npx", "args": ["-y", "a\nb", "\u{202e}gpj.exe", long],
            "env": { "KEY": "canary-in-plain-text", "TOKEN": "${secret:TOKEN}" },
        }));
        assert!(read.text.starts_with("runs: npx -y \"a\\nb\" "), "{}", read.text);
        assert!(read.text.contains(&"x".repeat(4096)) && read.text.contains("⟨U+202E⟩"), "{}", read.text);
        assert!(read.text.contains("${secret:TOKEN}") && !read.text.contains("canary"), "{}", read.text);
        let exposed = of(&json!({ "command": "npx", "args": ["--key", "${secret:KEY}"] }));
        let readable = "\nevery program of this computer can read: ${secret:KEY}\n";
        assert!(exposed.text.contains(readable), "{}", exposed.text);
        assert!(!read.text.contains("every program"), "{}", read.text);
        let other = of(&json!({ "command": "npx", "env": { "KEY": "canary-in-plain-texu" } }));
        let this = of(&json!({ "command": "npx", "env": { "KEY": "canary-in-plain-text" } }));
        assert_ne!(this.text, other.text, "that it is another value can be seen");
    }

    #[test]
    fn what_runs_and_what_it_may_reach_stand_before_any_number_of_variables() {
        let env: Map<String, Value> = (0..500).map(|at| (format!("A{at}"), "x".into())).collect();
        let entry = json!({ "env": env, "command": "sh", "args": ["-c", "touch /x"], "cwd": "/srv", "sandbox": true });
        let (first, rest) = decisive_first(&of(&entry).text);
        assert_eq!(
            first,
            "runs: sh -c \"touch /x\"\nin: /srv\nsandbox: these files, no network\n\
            careful: it runs what is written here (sh -c)"
        );
        assert_eq!(rest.lines().filter(|line| !line.is_empty()).count(), 500);
    }
}
