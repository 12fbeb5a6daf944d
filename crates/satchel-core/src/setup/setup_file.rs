//! Reads and writes setup files: readable JSON, with secrets encrypted with a passphrase or left out.

use std::{io, path::Path};

use serde_json::{Map, Value, json};

use super::{
    Parts,
    parts::{blocks, parts_of},
};
use crate::{files, model::left::LeftCause, secrets::SealedSecrets};

/// The extension of setup files.
pub const ENDING: &str = ".satchel.json";
/// Maximum size of a file, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Maximum number of parts in a file.
const MOST: usize = 20_000;
/// The key that identifies a setup file; its value is the format version.
const MARK: &str = "satchelSetup";
const FORMAT: u64 = 1;

/// A setup file.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupFile {
    /// The computer that wrote it.
    pub computer: String,
    /// When it was written, in milliseconds since the Unix epoch.
    pub written_ms: u64,
    /// Its parts.
    pub parts: Parts,
    /// Its secrets, if it has any.
    pub sealed: Option<SealedSecrets>,
}

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An I/O error.
    #[error("{0}")]
    File(#[from] io::Error),
    /// Not a setup file.
    #[error("it is not a Satchel setup: {0}")]
    Other(String),
    /// Written by a newer version of Satchel.
    #[error("{}", LeftCause::Newer)]
    Newer,
    /// Another file exists there, and is left alone.
    #[error("{}", LeftCause::PathTaken)]
    Taken,
}

impl SetupFile {
    /// Reads a setup file. Blocks.
    ///
    /// # Errors
    /// [`SetupError`], also if the file is too large.
    pub fn read(path: &Path) -> Result<Self, SetupError> {
        let bytes = files::read_plain(path, LARGEST)?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Result<Self, SetupError> {
        let other = |what: &str| SetupError::Other(what.to_owned());
        let root: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|error| SetupError::Other(error.to_string()))?;
        match root.get(MARK).and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(newer) if newer > FORMAT => return Err(SetupError::Newer),
            _ => return Err(other("it does not say so")),
        }
        let parts = parts_of(&root);
        if parts.len() > MOST {
            return Err(other("it has too many parts"));
        }
        let sealed = root.get("secrets").cloned().map(serde_json::from_value).transpose();
        let computer = root.get("computer").and_then(Value::as_str).unwrap_or_default();
        Ok(Self {
            computer: tame(computer),
            written_ms: root.get("written").and_then(Value::as_u64).unwrap_or_default(),
            parts,
            sealed: sealed.map_err(|_| other("its secrets are damaged"))?,
        })
    }

    /// Writes a new file, or replaces an older setup. Blocks.
    ///
    /// # Errors
    /// [`SetupError`] if it cannot be written, or another file exists there.
    pub fn write(&self, path: &Path) -> Result<(), SetupError> {
        match Self::read(path) {
            Ok(_) | Err(SetupError::Newer) => {}
            Err(SetupError::File(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(SetupError::File(error)) => return Err(error.into()),
            Err(SetupError::Other(_) | SetupError::Taken) => return Err(SetupError::Taken),
        }
        Ok(files::replace(path, self.text().as_bytes())?)
    }

    /// The file's content.
    fn text(&self) -> String {
        let mut root = Map::new();
        root.insert(MARK.into(), json!(FORMAT));
        root.insert("computer".into(), json!(self.computer));
        root.insert("written".into(), json!(self.written_ms));
        root.extend(blocks(&self.parts));
        if let Some(sealed) = &self.sealed {
            root.insert("secrets".into(), json!(sealed));
        }
        let text = serde_json::to_string_pretty(&root).unwrap_or_default();
        format!("{text}\n")
    }
}

/// A computer's name sanitized for a file name.
fn tame(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> SetupFile {
        let parts = Parts::from([("server:a".parse().unwrap(), json!({ "command": "x" }))]);
        SetupFile { computer: "desk".into(), written_ms: 7, parts, sealed: None }
    }

    #[test]
    fn a_setup_is_written_and_read_again_and_no_other_file_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("desk.satchel.json");
        setup().write(&path).unwrap();
        setup().write(&path).unwrap();
        assert_eq!(SetupFile::read(&path).unwrap(), setup());
        let other = dir.path().join("package.json");
        std::fs::write(&other, "{}").unwrap();
        assert!(matches!(setup().write(&other), Err(SetupError::Taken)));
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "{}");
    }

    #[test]
    fn a_file_that_is_no_setup_gets_a_clear_error() {
        for (text, says) in [
            ("", "not a Satchel setup"),
            ("[]", "not a Satchel setup"),
            ("{}", "not a Satchel setup"),
            ("{\"satchelSetup\": 2}", "newer"),
            ("{\"satchelSetup\": 1, \"secrets\": 7}", "damaged"),
        ] {
            let error = SetupFile::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let odd = SetupFile::parse(br#"{"satchelSetup": 1, "servers": {"a": 7}, "settings": {"mcpServers": {}}, "computer": "../x"}"#);
        let odd = odd.unwrap();
        assert!(odd.parts.is_empty() && !odd.computer.contains('/'));
    }
}
