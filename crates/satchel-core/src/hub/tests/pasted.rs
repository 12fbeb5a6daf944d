//! Every pasted text has one reading: what the window is shown is what is added, what is added is what a setup carries to
//! another computer, and read there again it is the same.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::house::House;
use crate::model::{
    Code,
    clients::{Findings, FoundServer, From},
    request::{FindServers, ImportServers, ReadSetup, TakeSetup, UseVault, WriteSetup},
    setup::{SetupChoice, SetupPart, SetupSource},
};

#[derive(Deserialize)]
struct Pasted {
    what: String,
    text: String,
    reads: Vec<String>,
}

fn pasted() -> Vec<Pasted> {
    serde_json::from_str(include_str!("pasted.json")).unwrap()
}

fn find(from: From) -> FindServers {
    FindServers { from, answers: BTreeMap::new(), environment: BTreeMap::new() }
}

/// Name, what runs, names of what is set to something hidden, and whether it is off.
fn told(server: &FoundServer) -> String {
    let hidden: Vec<&str> = server.sets.iter().map(|set| set.split('=').next().unwrap_or(set)).collect();
    let hidden = if hidden.is_empty() { String::new() } else { format!(" [{}]", hidden.join(", ")) };
    format!("{}: {}{hidden}{}", server.name, server.runs, if server.enabled { "" } else { " (off)" })
}

fn import(from: From, found: &Findings) -> ImportServers {
    let answers = found.servers.iter().flat_map(|server| &server.needs);
    ImportServers {
        from,
        names: None,
        answers: answers.map(|need| (need.id.clone(), "yes".into())).collect(),
        seen: None,
        take_out: false,
        dry_run: false,
        named: BTreeMap::new(),
        replace: vec![],
        off: true,
        environment: BTreeMap::new(),
    }
}

/// The servers of a setup as another computer would have them.
async fn taken_over(house: &House) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    house.ask(WriteSetup { path: path.clone(), passphrase: None }).await.unwrap();
    let other = House::open(serde_json::json!({})).await;
    let from = || SetupSource::File(path.clone());
    let review = other.ask(ReadSetup { from: from() }).await.unwrap();
    let servers = review.differences.into_iter().filter(|one| one.part == SetupPart::Server);
    let parts = servers.map(|one| SetupChoice { id: one.id, seen: one.seen }).collect();
    other.ask(TakeSetup { from: from(), parts, passphrase: None }).await.unwrap();
    other.config()["mcpServers"].clone()
}

#[tokio::test]
async fn a_pasted_text_has_one_reading_in_every_way_in() {
    for Pasted { what, text, reads } in pasted() {
        let house = House::open(serde_json::json!({})).await;
        house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
        let found = house.ask(find(From::Text(text.clone()))).await;
        if reads.is_empty() {
            assert_eq!(found.unwrap_err().code, Code::NotAServer, "{what}");
            continue;
        }
        let found = found.unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        assert_eq!(found.servers.iter().map(told).collect::<Vec<_>>(), reads, "{what}");

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pasted.txt");
        std::fs::write(&file, &text).unwrap();
        let in_file = house.ask(find(From::File(file))).await.unwrap();
        assert_eq!(in_file.servers, found.servers, "{what}");

        let imported = house.ask(import(From::Text(text), &found)).await.unwrap();
        assert_eq!(imported.added.len(), reads.len(), "{what}: {:?}", imported.left);
        let entries = house.config()["mcpServers"].clone();
        for server in &found.servers {
            assert_eq!(words(&entries[server.name.as_str()]), server.words, "{what}");
        }
        assert_eq!(taken_over(&house).await, entries, "{what}");
    }
}

/// The words of an entry, as they are shown.
fn words(entry: &Value) -> Vec<String> {
    let args = entry["args"].as_array().into_iter().flatten();
    let first = [&entry["url"], &entry["command"]];
    first.into_iter().chain(args).filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}
