//! Our entry goes in, stays when it goes in again, and comes out without a trace.

use std::{fs, path::Path};

use satchel_core::{
    clients::{
        connect::{self, Plan, Without, Written},
        document::fingerprint,
        table::{Client, Method, Transport, client, clients},
        template::Ourselves,
    },
    edit::{Format, Spot},
};
use serde_json::Value;

use super::{cases, json, name};

fn ourselves(about: &Value, os: &str) -> (Ourselves, String) {
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let ourselves = Ourselves {
        name: "hub".into(),
        url: text(&about["hub"]["HUB_URL"]),
        bridge: text(&about["bridge"][os]),
        bridge_words: vec!["stdio".into()],
    };
    (ourselves, text(&about["hub"]["HUB_TOKEN"]))
}

#[test]
fn every_file_gets_exactly_the_expected_bytes_and_gives_them_back() {
    let folder = cases("connect");
    let about = json(&folder.join("cases.json"));
    let all = about["cases"].as_array().unwrap();
    let mut wrong = Vec::new();
    for case in all {
        let id = case["client"].as_str().unwrap();
        let label = format!("{id}/{}", case["case"].as_str().unwrap());
        let client = client(id).unwrap_or_else(|| panic!("{id} is in no table"));
        let (ourselves, token) = ourselves(&about, case["os"].as_str().unwrap());
        let over = if case["mode"] == "stdio" { Transport::Stdio } else { Transport::Http };
        let file = |key: &str| case[key].as_str().map(|path| folder.join(path));
        let before = file("before").map(|path| fs::read(path).unwrap());
        let path = file("after").unwrap();
        let expected = fs::read(&path).unwrap();
        let plan = |bytes: Option<Vec<u8>>| connect::plan(client, &ourselves, over, &token, &path, bytes);
        let planned = match plan(before.clone()) {
            Ok(planned) => planned,
            Err(error) => {
                wrong.push(format!("{label}: {error}"));
                continue;
            }
        };
        if planned.after != expected {
            wrong.push(format!("{label}:\n{}", String::from_utf8_lossy(&planned.after)));
            continue;
        }
        if !plan(Some(expected.clone())).unwrap().changes_nothing() {
            wrong.push(format!("{label}: a second time changes something"));
        }
        wrong.extend(undone(&label, case, client, &planned, before.as_deref()));
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    println!("{} of {} cases", all.len(), all.len());
}

/// What is wrong after the entry is removed: with the backup copy, and without it, as after a change by the client.
fn undone(label: &str, case: &Value, client: &Client, plan: &Plan, before: Option<&[u8]>) -> Vec<String> {
    let mut wrong = Vec::new();
    let written = |after: &str| Written {
        path: plan.path.clone(),
        name: plan.name.clone(),
        entry: connect::entry_fingerprint(&plan.entry),
        created: plan.created,
        after: after.to_owned(),
        backup: None,
        new_file: before.is_none(),
        bits_before: None,
        shared: false,
    };
    let untouched = fingerprint(&plan.after);
    let expected = match before {
        Some(before) => Without::Restored(before.to_vec()),
        None => Without::Deleted,
    };
    let restored =
        connect::without(client, &written(&untouched), Some(&plan.after), before.map(<[u8]>::to_vec))
            .expect("it comes out");
    if restored != expected {
        wrong.push(format!("{label}: not restored: {restored:?}"));
    }
    // Without the copy, a previous entry cannot come back.
    if case["undoByteExact"] == false {
        return wrong;
    }
    match (
        connect::without(client, &written("other"), Some(&plan.after), None).expect("it comes out"),
        before,
    ) {
        (Without::Removed(now), Some(before)) if now == before => {}
        (Without::Removed(now), Some(before))
            if label == "codex/no-final-newline-crlf" || label == "cline/compact" =>
        {
            // The line ending and the position inside the brackets are not recorded; the values are.
            let read =
                |bytes: &[u8]| client.format.read(&String::from_utf8_lossy(bytes)).expect("it can be read");
            assert_eq!(read(&now), read(before), "{label}");
        }
        (Without::Deleted, None) => {}
        (other, _) => wrong.push(format!("{label}: without the copy: {other:?}")),
    }
    wrong
}

#[test]
fn a_file_that_cannot_hold_an_entry_is_refused() {
    let folder = cases("connect").join("_refuse");
    let (mut refused, mut all) = (0, 0);
    for file in json(&folder.join("expected.json")).as_object().unwrap().keys() {
        let path = folder.join(file);
        let client = client(match path.extension().unwrap().to_str().unwrap() {
            "toml" => "codex",
            "yaml" => "goose",
            _ => "cursor",
        });
        let about = json(&cases("connect").join("cases.json"));
        let (ourselves, token) = ourselves(&about, "linux");
        let bytes = fs::read(&path).unwrap();
        let planned = connect::plan(client.unwrap(), &ourselves, Transport::Http, &token, &path, Some(bytes));
        all += 1;
        let error = planned.expect_err(name(&path)).to_string();
        let syntax = file.contains("syntax") || file.contains("broken");
        assert!(!syntax || error.contains("line 1, column "), "{file}: {error}");
        refused += 1;
    }
    println!("{refused} of {all} refused");
}

#[test]
fn every_client_that_has_a_file_gets_an_entry_in_a_new_one_and_loses_it_again() {
    let (ourselves, token) = ourselves(&json(&cases("connect").join("cases.json")), "linux");
    let mut tried = 0;
    for client in clients().iter().filter(|client| client.connect == Method::Edit) {
        for over in [Transport::Http, Transport::Stdio] {
            let path = Path::new("/nowhere/file");
            let Ok(plan) = connect::plan(client, &ourselves, over, &token, path, None) else { continue };
            tried += 1;
            let text = String::from_utf8(plan.after.clone()).unwrap();
            let spot = Spot { container: &client.key, list: client.list(), name: "hub" };
            let read = client.format.read(&text).unwrap();
            let found = satchel_core::edit::at(&read, &spot);
            match client.format {
                // TOML has no null, and omits the key instead.
                Format::Toml => assert!(found.is_some(), "{}", client.id),
                Format::Json | Format::Yaml => assert_eq!(found, Some(&plan.entry), "{}", client.id),
            }
            let again =
                connect::plan(client, &ourselves, over, &token, path, Some(plan.after.clone())).unwrap();
            assert!(again.changes_nothing(), "{}: {}", client.id, String::from_utf8_lossy(&again.after));
            let written = Written {
                path: path.to_owned(),
                name: "hub".into(),
                entry: String::new(),
                created: plan.created,
                after: String::new(),
                backup: None,
                new_file: true,
                bits_before: None,
                shared: false,
            };
            let without = connect::without(client, &written, Some(&plan.after), None).unwrap();
            assert_eq!(without, Without::Deleted, "{}:\n{text}", client.id);
        }
    }
    assert!(tried > 60, "{tried}");
}
