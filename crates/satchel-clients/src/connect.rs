//! Adds our entry to another program's configuration file and removes it: plan, preview, write. Writes only what was
//! planned from bytes that are still there.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use similar::TextDiff;

use super::{
    document::{Document, DocumentError, Encoding, fingerprint, read_bytes},
    machine::Machine,
    table::{Client, Method, Tier, Transport},
    template::Ourselves,
};
use crate::{
    edit::{EditError, Format, Spot, at, container},
    files::{self, Access},
};

/// Maximum number of Satchel entries looked for in one file.
const NAMES: usize = 9;

/// Why a client's file is not changed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The client has no file that can be edited.
    #[error("{0} keeps its servers where no other program should write")]
    Paste(String),
    /// It is not installed, and too little is known about it to create its file.
    #[error("{client} does not seem to be installed: there is no {}", path.display())]
    NotThere {
        /// Its name.
        client: String,
        /// The file that would be written.
        path: PathBuf,
    },
    /// It is not available on this system.
    #[error("{0} is not available on this system")]
    NotHere(String),
    /// It does not support this transport.
    #[error("{0} cannot be connected that way")]
    NoWay(String),
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// Why.
        error: DocumentError,
    },
    /// The file has an encoding that Satchel does not write.
    #[error("{}: it is encoded as UTF-16", .0.display())]
    Wide(PathBuf),
    /// The file is write-protected.
    #[error("{} is write-protected", .0.display())]
    Protected(PathBuf),
    /// The entry cannot be added.
    #[error("{}: {error}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        error: EditError,
    },
    /// Another program changed it in the meantime.
    #[error("{} was changed by another program a moment ago; try again", .0.display())]
    Changed(PathBuf),
    /// An I/O error.
    #[error("{0}")]
    Files(#[from] io::Error),
}

/// A planned change to one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The path as the client names it, possibly a symbolic link.
    pub path: PathBuf,
    /// The present content; `None` if there is no file.
    pub before: Option<Vec<u8>>,
    /// The new content.
    pub after: Vec<u8>,
    /// The name of Satchel's entry.
    pub name: String,
    /// The entry.
    pub entry: Value,
    /// Number of innermost containers created for it.
    pub created: usize,
    /// It replaces an existing Satchel entry.
    pub replaces: bool,
}

impl Plan {
    /// Is there nothing to change?
    pub fn changes_nothing(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

/// The change as a line diff, unredacted.
pub fn patch(path: &Path, before: Option<&String>, after: &str) -> String {
    let old = before.map_or("/dev/null".into(), |_| path.display().to_string());
    let diff = TextDiff::from_lines(before.map_or("", String::as_str), after);
    diff.unified_diff().context_radius(3).header(&old, &path.display().to_string()).to_string()
}

/// The files of a client to write: those that exist, otherwise the one to create.
///
/// # Errors
/// [`ConnectError::NotHere`], [`ConnectError::Paste`], [`ConnectError::NotThere`].
pub fn targets(client: &Client, machine: &Machine) -> Result<Vec<PathBuf>, ConnectError> {
    if client.connect == Method::Paste {
        return Err(ConnectError::Paste(client.title().to_owned()));
    }
    let candidates = machine.all_paths(&client.paths);
    let Some(first) = candidates.first().cloned() else {
        return Err(ConnectError::NotHere(client.title().to_owned()));
    };
    let mut targets: Vec<PathBuf> = candidates.iter().filter(|path| path.exists()).cloned().collect();
    if !client.write_all {
        targets.truncate(1);
    }
    targets.extend(machine.all_paths(&client.also_write).into_iter().filter(|path| path.exists()));
    if targets.is_empty() {
        let folder = first.parent().is_some_and(Path::exists);
        if client.tier != Tier::A && !folder {
            return Err(ConnectError::NotThere { client: client.title().to_owned(), path: first });
        }
        // Of several candidates, the client uses the one whose folder exists.
        let likely = candidates.iter().find(|path| path.parent().is_some_and(Path::exists));
        targets.push(likely.cloned().unwrap_or(first));
    }
    Ok(targets)
}

/// Plans the change of one file.
///
/// # Errors
/// [`ConnectError`]; the file is not changed then.
pub fn plan(
    client: &Client,
    ourselves: &Ourselves,
    over: Transport,
    token: &str,
    path: &Path,
    before: Option<Vec<u8>>,
) -> Result<Plan, ConnectError> {
    let document = decode(path, before.as_deref().unwrap_or_default())?;
    let format = format_of(client, path);
    let in_edit = |error: EditError| ConnectError::Edit { path: path.to_owned(), error };
    let known = format.read(&document.text).map_err(|error| in_edit(error.into()))?;
    let name = name_in(client, ourselves, &known);
    let entry = ourselves
        .entry(client, over, token, &name)
        .ok_or_else(|| ConnectError::NoWay(client.title().to_owned()))?;
    let spot = Spot { container: &client.key, list: client.list(), name: &name };
    let text = match (&client.new_file, document.text.trim().is_empty()) {
        (Some(new), true) => new_file(format, new),
        _ => document.text.clone(),
    };
    let replaces = at(&known, &spot).is_some();
    let edited = format.put(&text, &spot, &entry).map_err(in_edit)?;
    let after = document.encode(&edited.text);
    Ok(Plan { path: path.to_owned(), before, after, name, entry, created: edited.created, replaces })
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Document, ConnectError> {
    let document =
        Document::decode(bytes).map_err(|error| ConnectError::Document { path: path.to_owned(), error })?;
    match document.encoding {
        Encoding::Utf8 { .. } => Ok(document),
        Encoding::Utf16 => Err(ConnectError::Wide(path.to_owned())),
    }
}

/// The file's extension overrides the table.
pub fn format_of(client: &Client, path: &Path) -> Format {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => Format::Toml,
        Some("yaml" | "yml") => Format::Yaml,
        Some("json" | "jsonc" | "json5") => Format::Json,
        _ => client.format,
    }
}

fn new_file(format: Format, holds: &Value) -> String {
    let Value::Object(map) = holds else { return String::new() };
    match format {
        Format::Yaml => map.iter().fold(String::new(), |text, (key, value)| {
            text + &format!("{key}: {}\n", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }),
        Format::Json | Format::Toml => String::new(),
    }
}

/// The name of Satchel's present entry, or the first unused one.
fn name_in(client: &Client, ourselves: &Ourselves, document: &Value) -> String {
    let names = (1..=NAMES).map(|number| match number {
        1 => ourselves.name.clone(),
        number => format!("{}-{number}", ourselves.name),
    });
    let mut free = None;
    for name in names {
        match at(document, &Spot { container: &client.key, list: client.list(), name: &name }) {
            Some(entry) if ourselves.wrote(client, entry) => return name,
            Some(_) => {}
            None => free = free.or(Some(name)),
        }
    }
    free.unwrap_or_else(|| format!("{}-{}", ourselves.name, NAMES + 1))
}

/// Satchel's entry in a client's document, and its name.
pub fn find(client: &Client, ourselves: &Ourselves, document: &Value) -> Option<(String, Value)> {
    let name = name_in(client, ourselves, document);
    let entry = at(document, &Spot { container: &client.key, list: client.list(), name: &name })?;
    Some((name, entry.clone()))
}

/// The bearer token in a Satchel entry.
pub fn token_in(entry: &Value) -> Option<String> {
    match entry {
        Value::String(text) => text.strip_prefix("Bearer ").map(ToOwned::to_owned),
        Value::Array(items) => items.iter().find_map(token_in),
        Value::Object(map) => map.values().find_map(token_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Writes a planned change atomically, preserving symbolic links, and reads it back.
///
/// # Errors
/// [`ConnectError::Changed`] if the file has changed since the plan.
pub fn write(path: &Path, before: Option<&[u8]>, after: &[u8], access: Access) -> Result<(), ConnectError> {
    let in_document = |error| ConnectError::Document { path: path.to_owned(), error };
    let there = read_bytes(path).map_err(in_document)?;
    if there.as_deref() != before {
        return Err(ConnectError::Changed(path.to_owned()));
    }
    if there.as_deref() == Some(after) {
        return Ok(files::grant(path, access)?);
    }
    match std::fs::metadata(path) {
        Ok(about) if about.permissions().readonly() => return Err(ConnectError::Protected(path.to_owned())),
        Ok(_) => {}
        Err(_) => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
        }
    }
    // Checked again at the time of writing: the path may lead to another file by now.
    if !files::replace_known(path, before, after, access)? {
        return Err(ConnectError::Changed(path.to_owned()));
    }
    match read_bytes(path).map_err(in_document)?.as_deref() == Some(after) {
        true => Ok(()),
        false => Err(ConnectError::Changed(path.to_owned())),
    }
}

/// Removes a file that Satchel created.
///
/// # Errors
/// [`ConnectError::Changed`] if the file has changed.
pub fn remove(path: &Path, before: &[u8]) -> Result<(), ConnectError> {
    if files::remove_known(path, before)? { Ok(()) } else { Err(ConnectError::Changed(path.to_owned())) }
}

/// The record of a written file, needed to remove the entry again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// The name of Satchel's entry.
    pub name: String,
    /// The entry's fingerprint, to detect edits.
    pub entry: String,
    /// Number of innermost containers created for it.
    pub created: usize,
    /// The fingerprint of the whole file as written.
    pub after: String,
    /// A copy of the original file; `None` if there was none.
    pub backup: Option<PathBuf>,
    /// Satchel created the file.
    pub new_file: bool,
    /// Its permission bits before Satchel took them from others, because it has a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits_before: Option<u32>,
    /// The person wants it to stay as readable as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

impl Written {
    /// The access that the file had before, if it still has what Satchel gave it.
    pub fn access_before(&self) -> Access {
        match self.bits_before {
            Some(bits) if files::bits_of(&self.path) == Some(PRIVATE) => Access::Bits(bits),
            _ => Access::Kept,
        }
    }
}

/// The permission bits of a file that has a token.
pub const PRIVATE: u32 = 0o600;

/// The permission bits of a file that other accounts of the computer can read or write.
pub fn open_to_others(path: &Path) -> Option<u32> {
    files::bits_of(path).filter(|bits| bits & 0o077 != 0)
}

/// The fingerprint of an entry. The order of its fields does not count: some clients write all entries anew in one of
/// their own.
pub fn entry_fingerprint(entry: &Value) -> String {
    fingerprint(sorted(entry).to_string().as_bytes())
}

/// Is the entry what this fingerprint was made of? Earlier versions counted the order of fields.
pub fn is_as_written(entry: &Value, print: &str) -> bool {
    entry_fingerprint(entry) == print || fingerprint(entry.to_string().as_bytes()) == print
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A file without Satchel's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Without {
    /// The exact original content.
    Restored(Vec<u8>),
    /// The present content without the entry, because the file was changed since.
    Removed(Vec<u8>),
    /// Satchel created the file, and nothing else is in it.
    Deleted,
    /// The entry is no longer in it.
    Gone,
}

/// What a file would be without Satchel's entry.
///
/// # Errors
/// [`ConnectError`]; the file is not changed then.
pub fn without(
    client: &Client,
    written: &Written,
    now: Option<&[u8]>,
    backup: Option<Vec<u8>>,
) -> Result<Without, ConnectError> {
    let Some(now) = now else { return Ok(Without::Gone) };
    if let (Some(backup), true) = (backup, fingerprint(now) == written.after) {
        return Ok(Without::Restored(backup));
    }
    let path = &written.path;
    let document = decode(path, now)?;
    let format = format_of(client, path);
    let spot = Spot { container: &client.key, list: client.list(), name: &written.name };
    let taken = format
        .take(&document.text, &spot, written.created)
        .map_err(|error| ConnectError::Edit { path: path.clone(), error })?;
    let Some(text) = taken else { return Ok(Without::Gone) };
    let left = format.read(&text).unwrap_or(Value::Null);
    let only_ours = left.is_null()
        || left == Value::Object(Map::new())
        || client.new_file.as_ref() == Some(&left)
        || only_the_container(&left, &client.key);
    if written.new_file && only_ours {
        return Ok(Without::Deleted);
    }
    Ok(Without::Removed(document.encode(&text)))
}

fn only_the_container(document: &Value, keys: &[String]) -> bool {
    let empty = |value: &Value| match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let alone = |value: &Value| value.as_object().is_some_and(|map| map.len() == 1);
    container(document, keys).is_some_and(empty)
        && (0..keys.len()).all(|depth| container(document, &keys[..depth]).is_some_and(alone))
}

/// The text for a person to paste.
pub fn snippet(client: &Client, ourselves: &Ourselves, over: Transport, token: &str) -> Option<String> {
    let entry = ourselves.entry(client, over, token, &ourselves.name)?;
    if client.connect == Method::Paste {
        return Some(match entry.get("elisp").and_then(Value::as_str) {
            Some(lisp) => lisp.to_owned(),
            None => format!("{entry:#}"),
        });
    }
    let spot = Spot { container: &client.key, list: client.list(), name: &ourselves.name };
    client.format.put("", &spot, &entry).ok().map(|edited| edited.text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_in_another_order_is_the_same_and_one_with_another_value_is_not() {
        let entry =
            json!({ "type": "http", "url": "u", "headers": { "A": "1", "B": "2" }, "tools": ["x", "y"] });
        let print = entry_fingerprint(&entry);
        let reordered =
            json!({ "tools": ["x", "y"], "headers": { "B": "2", "A": "1" }, "type": "http", "url": "u" });
        assert!(is_as_written(&reordered, &print));
        assert!(!is_as_written(&json!({ "tools": ["y", "x"], "type": "http", "url": "u" }), &print));
        let of_earlier = fingerprint(entry.to_string().as_bytes());
        assert!(is_as_written(&entry, &of_earlier));
    }
}
