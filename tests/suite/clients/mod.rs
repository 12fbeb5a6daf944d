//! What other programs' files become when we read, change and leave them. The cases are data: tests/clients.

mod connect;
mod import;
mod mutated;
mod registry;
mod story;

use std::{
    fs,
    path::{Path, PathBuf},
};

use satchel_tests::repository;
use serde_json::Value;

/// The cases, or those of another directory in the same format.
fn cases(folder: &str) -> PathBuf {
    let all = std::env::var_os("SATCHEL_CLIENT_CASES").map(PathBuf::from);
    all.unwrap_or_else(|| repository().join("tests/clients")).join(folder)
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folders(inside: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(inside)
        .expect("the cases are there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("it has a name")
}
