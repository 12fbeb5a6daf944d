//! Pipes, devices and directories in the place of the hub's files: no start waits for them or fails.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::model::{
    control::Change,
    nature::Permit,
    request::{FollowSetup, GetStatus, MakeToken, RunDoctor, SetSecret, UseVault},
};

/// All files below a directory.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(files_below(&entry.path())),
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort();
    found
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn put(kind: &str, path: &Path) {
    remove(path);
    match kind {
        "pipe" => assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
        "directory" => fs::create_dir(path).unwrap(),
        _ => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
    }
}

#[tokio::test]
async fn what_stands_in_the_place_of_a_file_stops_no_start() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    house.until("notes", |view| view.tools == Some(1)).await;
    house.call("editor", "notes:echo", json!({})).await.unwrap();
    let permit = Change::SetPermit { tool: "notes:x".into(), client: None, permit: Some(Permit::Off) };
    house.change(permit).await;
    house.ask(UseVault { passphrase: "correct horse battery".into() }).await.unwrap();
    house.ask(SetSecret { name: "KEY".into(), value: "s3cret-value".into() }).await.unwrap();
    house.ask(MakeToken { client: "editor".into(), ephemeral: false }).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    house.ask(FollowSetup { folder: Some(folder.path().to_owned()) }).await.unwrap();

    let home = house.hub.places().config_file.parent().unwrap().to_owned();
    let mut kept = Vec::new();
    let mut house = house
        .again_after(|_| {
            kept =
                files_below(&home).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        })
        .await;
    assert!(kept.len() > 6, "{kept:?}");
    for kind in ["pipe", "directory", "device"] {
        for (path, _) in &kept {
            house = house
                .again_after(|_| {
                    files_below(&home).iter().for_each(|path| remove(path));
                    for (path, bytes) in &kept {
                        remove(path);
                        fs::write(path, bytes).unwrap();
                    }
                    put(kind, path);
                })
                .await;
            let at = || format!("{kind} at {}", path.display());
            house.ask(GetStatus {}).await.unwrap_or_else(|refusal| panic!("{}: {refusal}", at()));
            house
                .ask(RunDoctor { environment: [].into() })
                .await
                .unwrap_or_else(|refusal| panic!("{}: {refusal}", at()));
            let made = house.ask(MakeToken { client: "zed".into(), ephemeral: false }).await;
            made.unwrap_or_else(|refusal| panic!("{}: {refusal}", at()));
        }
    }
}
