//! Remembers which port each client was told, so that the next hub listens there again while the port is free. Reads no
//! client's files; a file of ours that is damaged counts as empty.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use crate::files;

/// Largest file that is read.
const LONGEST: u64 = 64 * 1024;

fn file(data: &Path) -> PathBuf {
    data.join("told-ports.json")
}

fn read(data: &Path) -> BTreeMap<String, u16> {
    let bytes = files::read_plain(&file(data), LONGEST).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The port that most clients were told; of several, the lowest. `None` if no client was told any.
pub fn port(data: &Path) -> Option<u16> {
    let mut counts = BTreeMap::<u16, usize>::new();
    read(data).into_values().for_each(|port| *counts.entry(port).or_default() += 1);
    counts.into_iter().max_by_key(|(port, count)| (*count, std::cmp::Reverse(*port))).map(|(port, _)| port)
}

/// Remembers that a client's file has this address.
///
/// # Errors
/// When the file cannot be written.
pub fn tell(data: &Path, client: &str, url: &str) -> io::Result<()> {
    let port = url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
    let Some(port) = port else { return Ok(()) };
    let mut told = read(data);
    if told.insert(client.to_owned(), port) == Some(port) {
        return Ok(());
    }
    write(data, &told)
}

/// Forgets what a client was told whose entry was removed.
///
/// # Errors
/// When the file cannot be written.
pub fn forget(data: &Path, client: &str) -> io::Result<()> {
    let mut told = read(data);
    match told.remove(client) {
        Some(_) => write(data, &told),
        None => Ok(()),
    }
}

fn write(data: &Path, told: &BTreeMap<String, u16>) -> io::Result<()> {
    files::replace(&file(data), &serde_json::to_vec(told)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_that_most_clients_were_told_is_wanted_again() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path();
        assert_eq!(port(data), None);
        tell(data, "cursor", "http://127.0.0.1:7411/mcp").unwrap();
        tell(data, "codex", "http://127.0.0.1:7413/mcp").unwrap();
        assert_eq!(port(data), Some(7411));
        tell(data, "gemini", "http://127.0.0.1:7413/mcp").unwrap();
        assert_eq!(port(data), Some(7413));
        // Connected again elsewhere: the last one counts.
        tell(data, "codex", "http://127.0.0.1:7411/mcp").unwrap();
        tell(data, "gemini", "http://127.0.0.1:7411/mcp").unwrap();
        assert_eq!(port(data), Some(7411));
        for client in ["cursor", "codex", "gemini"] {
            forget(data, client).unwrap();
        }
        assert_eq!(port(data), None);
    }

    #[test]
    fn a_damaged_file_counts_as_empty() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(file(home.path()), "{").unwrap();
        assert_eq!(port(home.path()), None);
        tell(home.path(), "cursor", "http://127.0.0.1:7413/mcp").unwrap();
        assert_eq!(port(home.path()), Some(7413));
    }
}
