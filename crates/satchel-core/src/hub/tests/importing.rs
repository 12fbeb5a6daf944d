//! What an import of a stranger's words may start, and for whom.

use std::collections::BTreeMap;

use serde_json::json;

use super::house::House;
use crate::model::{
    Code,
    clients::From,
    request::{FindServers, ImportServers},
};

fn block(command: &str) -> From {
    From::Text(json!({ "mcpServers": { "notes": { "command": command, "startup": "manual" } } }).to_string())
}

fn import(from: From, seen: Option<String>) -> ImportServers {
    ImportServers {
        from,
        names: None,
        answers: BTreeMap::new(),
        seen,
        take_out: false,
        dry_run: false,
        named: BTreeMap::new(),
        replace: vec![],
        off: false,
        environment: BTreeMap::new(),
    }
}

#[tokio::test]
async fn what_nobody_was_shown_waits_and_what_a_person_saw_does_not() {
    let house = House::open(json!({ "mcpServers": {} })).await;
    let imported = house.ask_as_program(import(block("no-such"), None)).await.unwrap();
    assert_eq!((imported.added, imported.waiting), (vec!["notes".to_owned()], vec!["notes".to_owned()]));
    house.until("notes", |view| view.not_started.is_some()).await;

    let house = House::open(json!({ "mcpServers": {} })).await;
    let imported = house.ask(import(block("no-such"), None)).await.unwrap();
    assert_eq!((imported.added.len(), imported.waiting.len()), (1, 0));
    house.until("notes", |view| view.not_started.is_none()).await;
}

#[tokio::test]
async fn an_import_of_something_else_than_was_shown_is_refused() {
    let house = House::open(json!({ "mcpServers": {} })).await;
    let find = FindServers { from: block("good"), answers: BTreeMap::new(), environment: BTreeMap::new() };
    let seen = house.ask(find).await.unwrap().seen;
    let refused = house.ask(import(block("evil"), Some(seen.clone()))).await.unwrap_err();
    assert_eq!(refused.code, Code::ChangedMeanwhile);
    assert!(house.config()["mcpServers"]["notes"].is_null(), "{}", house.config());
    house.ask(import(block("good"), Some(seen))).await.unwrap();
}

#[tokio::test]
async fn a_file_of_a_project_has_not_run_here_and_waits() {
    let house = House::open(json!({ "mcpServers": {} })).await;
    let project = tempfile::tempdir().unwrap();
    let text = json!({ "mcpServers": { "notes": { "command": "no-such" } } }).to_string();
    std::fs::write(project.path().join(".mcp.json"), &text).unwrap();
    let everywhere = From::Everywhere { project: Some(project.path().to_owned()) };
    let imported = house.ask_as_program(import(everywhere, None)).await.unwrap();
    assert_eq!(imported.waiting, ["notes"]);
    let file = project.path().join("cursor.json");
    std::fs::write(&file, text.replace("notes", "others").replace("no-such", "no-other")).unwrap();
    let named = From::ClientFile { client: "cursor".into(), path: file };
    let imported = house.ask_as_program(import(named, None)).await.unwrap();
    assert_eq!(imported.waiting, ["others"]);
}

#[tokio::test]
async fn two_entries_that_differ_are_two_servers() {
    let house = House::open(json!({ "mcpServers": {} })).await;
    let block = json!({ "mcpServers": {
        "test": { "command": "no-such", "env": { "DB": "test" } },
        "production": { "command": "no-such", "env": { "DB": "production" } },
        "same": { "command": "no-such", "env": { "DB": "test" } },
    } });
    let imported = house.ask(import(From::Text(block.to_string()), None)).await.unwrap();
    assert_eq!(imported.added, ["test", "production"]);
    let servers = &house.config()["mcpServers"];
    assert_eq!(
        (&servers["test"]["env"]["DB"], &servers["production"]["env"]["DB"]),
        (&json!("test"), &json!("production"))
    );
    let again = house.ask(import(From::Text(block.to_string()), None)).await.unwrap();
    assert_eq!((again.added, again.known.len()), (vec![], 2));
}

#[tokio::test]
async fn what_other_programs_write_is_taken_as_it_is_meant() {
    let house = House::open(json!({ "mcpServers": {} })).await;
    let block = json!({ "mcpServers": {
        "project": { "command": "no-such", "args": ["${workspaceFolder}/src"] },
        "editor": { "command": "no-such", "args": ["${workspaceFolderBasename}"] },
        "program": { "command": "${workspaceFolder}/run", "cwd": "${workspaceFolder}" },
        "bundle": { "command": "no-such", "args": ["--proxy", "${user_config.proxy}", "x"], "env": { "P": "${user_config.proxy}" } },
        "line": { "command": "no-such --flag" },
        "address": { "type": "stdio", "command": "https://x.example/mcp" },
        "tools": { "command": "no-such", "args": ["t"], "environment": { "A": "1" }, "includeTools": ["read"] },
    } });
    let imported = house.ask(import(From::Text(block.to_string()), None)).await.unwrap();
    assert_eq!(
        imported.added,
        ["project", "editor", "program", "bundle", "line", "address", "tools"],
        "{imported:?}"
    );
    let config = house.config();
    let servers = &config["mcpServers"];
    assert_eq!(servers["project"], json!({ "command": "no-such", "args": ["${project}/src"] }));
    assert_eq!(servers["editor"]["args"], json!(["${workspaceFolderBasename}"]));
    assert_eq!(servers["editor"]["enabled"], false, "{config}");
    // What a program is does not depend on a project.
    assert_eq!(servers["program"]["command"], "${workspaceFolder}/run");
    assert_eq!(
        (&servers["program"]["cwd"], &servers["program"]["enabled"]),
        (&json!("${project}"), &json!(false))
    );
    assert_eq!(servers["bundle"], json!({ "command": "no-such", "args": ["x"] }));
    assert_eq!(servers["line"]["args"], json!(["--flag"]));
    assert_eq!(servers["address"], json!({ "url": "https://x.example/mcp" }));
    assert_eq!(servers["tools"]["env"]["A"], "1");
    assert_eq!(
        config["toolRules"],
        json!([{ "tool": "tools:*", "except": ["tools:read"], "permit": "off" }])
    );
    assert!(!config.to_string().contains("secret:"), "{config}");
    let remarks: Vec<&str> = imported.remarks.iter().map(|remark| remark.place.as_str()).collect();
    for place in ["bundle", "line", "address"] {
        assert!(remarks.contains(&place), "{place}: {:?}", imported.remarks);
    }
}
