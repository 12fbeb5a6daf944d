//! Servers are found in every client's files as that client means them.

use std::{fs, path::Path};

use satchel_core::{
    clients::{
        import::{Contents, Source},
        table::{self, Client, client},
    },
    platform::Platform,
};
use serde_json::Value;

use super::{cases, folders, json, name};

/// The location in the table that a case's file represents.
fn source(client: &'static Client, path: &Path, scope: &str) -> Source {
    let file_name = name(path);
    let further = client.also_read.iter().find(|also| also.scope == scope);
    let in_project = client.project_files.iter().find(|file| {
        let ending = file.path.rsplit('/').next().unwrap_or(&file.path);
        scope == "project" && (ending == file_name || ending.starts_with('*'))
    });
    let like = further.and_then(|also| also.like.as_deref());
    let like = like.or_else(|| in_project.and_then(|file| file.like.as_deref())).and_then(table::client);
    let key = match (scope, further, in_project) {
        ("user", _, _) | (_, None, None) => client.key.clone(),
        (_, Some(also), _) => also.key.clone().unwrap_or_else(|| client.key.clone()),
        (_, None, Some(file)) => file.key.clone(),
    };
    Source { client, path: path.to_owned(), scope: scope.into(), key, like: like.unwrap_or(client) }
}

#[test]
fn every_clients_files_hold_the_expected_servers() {
    let (mut wrong, mut files, mut servers) = (Vec::new(), 0, 0);
    for folder in folders(&cases("import")).iter().filter(|folder| name(folder) != "_broken") {
        let expected = json(&folder.join("expected.json"));
        let client = client(expected["client"].as_str().unwrap()).unwrap();
        for file in expected["files"].as_array().unwrap() {
            let path = folder.join(file["path"].as_str().unwrap());
            files += 1;
            servers += file["servers"].as_array().unwrap().len();
            let contents = source(client, &path, file["scope"].as_str().unwrap()).read(Platform::Linux);
            let contents = contents.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let found = serde_json::to_value(&contents).unwrap();
            for part in ["servers", "skipped", "warnings"] {
                if found[part] != file[part] {
                    wrong.push(format!(
                        "{}: {part}\n is {}\nnot {}",
                        path.display(),
                        found[part],
                        file[part]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {files} files:\n{}", wrong.len(), wrong.join("\n"));
    println!("{files} files with {servers} servers");
}

#[test]
fn damaged_files_cause_only_errors() {
    let folder = cases("import").join("_broken");
    let expected = json(&folder.join("expected.json"));
    for (file, rule) in expected.as_object().unwrap() {
        let path = folder.join(file);
        let client = client(match path.extension().unwrap().to_str().unwrap() {
            "toml" => "codex",
            "yaml" => "continue",
            _ => "cursor",
        });
        let before = fs::read(&path).unwrap();
        let read = source(client.unwrap(), &path, "user").read(Platform::Linux);
        let rule = rule.as_str().unwrap();
        match read {
            Err(error) => assert!(
                rule.starts_with("parse-error") && error.to_string().starts_with("line "),
                "{file}: {error}"
            ),
            Ok(Contents { servers, warnings, .. }) => {
                assert!(servers.is_empty() && !rule.starts_with("parse-error"), "{file}");
                assert_eq!(rule.contains("warning"), !warnings.is_empty(), "{file}: {warnings:?}");
            }
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn no_credential_remains_in_imported_entries() {
    use satchel_core::clients::import::into_config;
    let (mut moved, mut kept) = (0, 0);
    for folder in folders(&cases("import")).iter().filter(|folder| name(folder) != "_broken") {
        let expected = json(&folder.join("expected.json"));
        let client = client(expected["client"].as_str().unwrap()).unwrap();
        for file in expected["files"].as_array().unwrap() {
            let path = folder.join(file["path"].as_str().unwrap());
            let contents =
                source(client, &path, file["scope"].as_str().unwrap()).read(Platform::Linux).unwrap();
            for server in &contents.servers {
                let (entry, secrets, _) = into_config(server, &server.name);
                assert_eq!(secrets.len(), server.secret_fields.len(), "{}", path.display());
                let text = Value::Object(entry).to_string();
                for secret in &secrets {
                    assert!(!text.contains(&secret.value), "{}: {text}", path.display());
                    assert!(text.contains(&format!("${{secret:{}}}", secret.name)), "{text}");
                }
                moved += secrets.len();
                kept += 1;
            }
        }
    }
    assert!(moved > 5 && kept > 40, "{moved} {kept}");
}
