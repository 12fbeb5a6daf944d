//! Measures inspection on tool lists of real servers: `SATCHEL_LISTS` names a directory of them.
//!
//! The lists are other people's texts and not in the repository; without a directory nothing is measured. A list is a
//! file `{server: <initialize result>, tools: […], prompts: […], …}`. Whoever chooses patterns or weights by some lists
//! reports what comes of others.

use std::{collections::BTreeSet, path::PathBuf};

use satchel_mcp::Raw;
use serde_json::Value;

use super::*;

fn lists() -> Vec<(String, Value)> {
    let Some(directory) = std::env::var_os("SATCHEL_LISTS") else { return Vec::new() };
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the directory can be read")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("it is a text");
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        (name, serde_json::from_str(&text).expect("it is JSON"))
    };
    files.iter().map(read).collect()
}

fn definitions(list: &Value) -> Vec<(&'static str, Value)> {
    let each = |kind: &'static str, key: &str| {
        let entries = list[key].as_array().cloned().unwrap_or_default();
        entries.into_iter().map(move |entry| (kind, entry))
    };
    let mut all: Vec<(&'static str, Value)> = each("tool", "tools")
        .chain(each("prompt", "prompts"))
        .chain(each("resource", "resources"))
        .chain(each("template", "resourceTemplates"))
        .collect();
    let server = &list["server"];
    all.push(("introduction", serde_json::json!({ "serverInfo": server["serverInfo"] })));
    if server["instructions"].is_string() {
        all.push(("instructions", server["instructions"].clone()));
    }
    all
}

#[test]
fn real_lists_have_the_recorded_findings() {
    let (lists, mut tools, mut others) = (lists(), 0, 0);
    let (mut held, mut marked) = (BTreeSet::new(), BTreeSet::new());
    for (server, list) in &lists {
        let own: BTreeSet<&str> =
            list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        let mut told = Told::default();
        let around = Around { server, own: &own, servers: &[server.as_str()].into() };
        for (kind, value) in definitions(list) {
            *if kind == "tool" { &mut tools } else { &mut others } += 1;
            let tree = Tree::of(&Raw::from_string(value.to_string()).expect("it is JSON"));
            let name = value["name"].as_str().or(value["uri"].as_str()).unwrap_or_default();
            let findings = findings(&tree, &around);
            if is_alarming(&tree) {
                held.insert(format!("{server} {kind} {name}"));
            }
            if told.adds(&findings) && kind == "tool" {
                marked.insert((server, name.to_owned()));
            }
            for finding in findings {
                let words = finding.text.replace('\n', " ");
                println!(
                    "found: {server}\t{kind} {name}\t{}\t{}\t{words}",
                    finding.about.words(),
                    finding.place
                );
            }
        }
    }
    let (held_back, marked) = (held.len(), marked.len());
    println!(
        "measured: {} lists, {tools} tools, {others} others: held back {held_back}, tools marked {marked}",
        lists.len()
    );
    println!("held back:\n{}", held.into_iter().collect::<Vec<_>>().join("\n"));
}
