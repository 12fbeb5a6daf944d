//! Bundles: where their files are, and which of them a server runs.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::house::House;
use crate::model::{
    clients::{From, Imported},
    control::Change,
    request::{ImportServers, Undo},
};

/// A zip archive of stored files.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
    };
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let (at, size) = (u32::try_from(archive.len()).unwrap(), u32::try_from(text.len()).unwrap());
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        // Version, flags, method, time, date, CRC, both sizes, lengths of the name and of what follows it.
        let mut header = [10u8, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        header.extend([crc(text.as_bytes()), size, size].iter().flat_map(|number| number.to_le_bytes()));
        header.extend(length.iter().chain(&[0, 0]));
        archive.extend([b"PK\x03\x04", &*header, name.as_bytes(), text.as_bytes()].concat());
        directory
            .extend([b"PK\x01\x02\x0a\x00", &*header, &[0; 10], &at.to_le_bytes(), name.as_bytes()].concat());
    }
    let (at, size) = (u32::try_from(archive.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &size.to_le_bytes(), &at.to_le_bytes(), &[0, 0]];
    archive.extend([&*directory, &end.concat()].concat());
    archive
}

/// A bundle that always says it is figma 1.2.0, and contains a server of this text.
fn figma(text: &str) -> Vec<u8> {
    let runs = json!({ "command": "node", "args": ["${__dirname}/server.js"] });
    let manifest = json!({
        "manifest_version": "0.3", "name": "figma", "version": "1.2.0", "description": "d", "author": { "name": "x" },
        "server": { "type": "node", "entry_point": "server.js", "mcp_config": runs },
    });
    zip(&[("manifest.json", &manifest.to_string()), ("server.js", text)])
}

async fn import(house: &House, text: &str) -> Imported {
    let path = house.hub.places().data.join("given.mcpb");
    fs::write(&path, figma(text)).unwrap();
    let wanted = ImportServers {
        from: From::File(path),
        names: None,
        answers: [].into(),
        seen: None,
        take_out: false,
        dry_run: false,
        named: [].into(),
        replace: vec![],
        off: false,
        environment: [].into(),
    };
    house.ask(wanted).await.unwrap()
}

/// The file that a server runs.
fn program(house: &House, server: &str) -> PathBuf {
    let config = house.config();
    PathBuf::from(config["mcpServers"][server]["args"][0].as_str().unwrap())
}

fn directories(house: &House) -> Vec<String> {
    let found = fs::read_dir(house.hub.places().data.join("bundles")).into_iter().flatten().flatten();
    found.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

async fn empty() -> House {
    House::open(json!({ "mcpServers": {} })).await
}

fn remove(server: &str) -> Change {
    Change::Remove { name: server.into() }
}

#[tokio::test]
async fn a_bundle_runs_its_own_files_whatever_another_one_says_it_is_called() {
    let house = empty().await;
    assert_eq!(import(&house, "evil").await.added, ["figma"]);
    assert_eq!(import(&house, "good").await.added, ["figma-2"]);
    let text = |server: &str| fs::read_to_string(program(&house, server)).unwrap();
    assert_eq!((text("figma"), text("figma-2")), ("evil".into(), "good".into()));
    assert_eq!(import(&house, "good").await.known, ["figma-2"], "the same files are the same server");
    let paths = [program(&house, "figma"), program(&house, "figma-2")];
    assert!(paths.iter().all(|path| !path.to_string_lossy().contains("1.2.0")), "{paths:?}");
}

#[tokio::test]
async fn the_files_of_a_bundle_go_with_the_last_server_that_uses_them() {
    let house = empty().await;
    import(&house, "one").await;
    house.change(Change::Duplicate { name: "figma".into(), to: "copy".into() }).await;
    house.ask_as_program(remove("figma")).await.unwrap();
    assert_eq!(directories(&house).len(), 1, "the copy uses them");
    house.ask_as_program(remove("copy")).await.unwrap();
    assert_eq!(directories(&house), [""; 0]);
    import(&house, "two").await;
    house.ask(Undo { environment: [].into() }).await.unwrap();
    assert_eq!(directories(&house), [""; 0], "an import that was undone");
}

#[tokio::test]
async fn what_stands_where_a_bundle_belongs_is_replaced() {
    let house = empty().await;
    import(&house, "good").await;
    let place = program(&house, "figma").parent().unwrap().to_owned();
    house.ask_as_program(remove("figma")).await.unwrap();
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("server.js"), "planted").unwrap();
    fs::write(place.join("other.js"), "planted").unwrap();
    import(&house, "good").await;
    assert_eq!(fs::read_to_string(program(&house, "figma")).unwrap(), "good");
    assert!(!program(&house, "figma").with_file_name("other.js").exists());
}

#[tokio::test]
async fn files_of_a_bundle_in_a_directory_of_before_stay_while_a_server_uses_them() {
    let house = empty().await;
    let bundles = house.hub.places().data.join("bundles");
    let entry = |name: &str| -> Value {
        fs::create_dir_all(bundles.join(name)).unwrap();
        json!({ "command": "node", "args": [bundles.join(name).join("server.js")] })
    };
    let config = json!({ "mcpServers": { "old": entry("old-1.0.0") } });
    entry("gone-2.0.0");
    let house = house.again_with(&config).await;
    assert_eq!(directories(&house), ["old-1.0.0"]);
    // Nobody knows what a file that is not a configuration names.
    entry("gone-2.0.0");
    house.hub.shutdown().await;
    fs::write(&house.hub.places().config_file, "{").unwrap();
    let house = house.again().await;
    assert_eq!(directories(&house).len(), 2);
}

#[tokio::test]
async fn a_bundle_that_is_not_imported_leaves_no_files() {
    let house = empty().await;
    let files = [("manifest.json", "{}"), ("server.js", "x")];
    let path = house.hub.places().data.join("given.mcpb");
    fs::write(&path, zip(&files)).unwrap();
    let from = From::File(path);
    let wanted = ImportServers {
        from,
        names: None,
        answers: [].into(),
        seen: None,
        take_out: false,
        dry_run: false,
        named: [].into(),
        replace: vec![],
        off: false,
        environment: [].into(),
    };
    house.ask(wanted).await.unwrap_err();
    assert_eq!(directories(&house), [""; 0]);
}
