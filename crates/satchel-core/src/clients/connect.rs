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
    files,
};

/// The most entries of ours that are looked for in one file.
const NAMES: usize = 9;

/// Why a client's file is not touched.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// It has no file for this.
    #[error("{0} keeps its servers where no other program should write")]
    Paste(String),
    /// It is not installed, and too little known to make its file.
    #[error("{client} does not seem to be installed: there is no {}", path.display())]
    NotThere {
        /// Its name.
        client: String,
        /// The file that would be written.
        path: PathBuf,
    },
    /// It does not exist on this system.
    #[error("{0} is not available on this system")]
    NotHere(String),
    /// It cannot be connected that way.
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
    /// The file is text of a kind we do not write.
    #[error("{}: it is encoded as UTF-16", .0.display())]
    Wide(PathBuf),
    /// The file may not be written.
    #[error("{} is write-protected", .0.display())]
    Protected(PathBuf),
    /// It cannot take the entry.
    #[error("{}: {error}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        error: EditError,
    },
    /// Somebody else wrote it in the meantime.
    #[error("{} was changed by another program a moment ago; try again", .0.display())]
    Changed(PathBuf),
    /// The file system says no.
    #[error("{0}")]
    Files(#[from] io::Error),
}

/// One file as it is and as it would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The file, as the client names it; it may be a symbolic link.
    pub path: PathBuf,
    /// Its bytes; `None` where there is no file.
    pub before: Option<Vec<u8>>,
    /// What is to be written.
    pub after: Vec<u8>,
    /// What our entry is called in it.
    pub name: String,
    /// Our entry.
    pub entry: Value,
    /// How many of the innermost containers are made for it.
    pub created: usize,
    /// An entry of ours was there before.
    pub replaces: bool,
}

impl Plan {
    /// Is everything as wanted already?
    pub fn changes_nothing(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

/// The change of a file, line by line, with everything that stands in it; `None` where there is no file yet.
pub fn patch(path: &Path, before: Option<&String>, after: &str) -> String {
    let old = before.map_or("/dev/null".into(), |_| path.display().to_string());
    let diff = TextDiff::from_lines(before.map_or("", String::as_str), after);
    diff.unified_diff().context_radius(3).header(&old, &path.display().to_string()).to_string()
}

/// The files of a client that would be written: those that exist, else the one that would be made.
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
        // Of several places the one whose folder is there already is the one the client looks at.
        let likely = candidates.iter().find(|path| path.parent().is_some_and(Path::exists));
        targets.push(likely.cloned().unwrap_or(first));
    }
    Ok(targets)
}

/// Plans the change of one file, from its bytes.
///
/// # Errors
/// [`ConnectError`]; the file is then left alone.
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

/// The file's ending says more than the table where the two differ.
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

/// The name under which our entry lies there, or the first that nobody else has.
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

/// Our entry in a client's document, and what it is called.
pub fn find(client: &Client, ourselves: &Ourselves, document: &Value) -> Option<(String, Value)> {
    let name = name_in(client, ourselves, document);
    let entry = at(document, &Spot { container: &client.key, list: client.list(), name: &name })?;
    Some((name, entry.clone()))
}

/// The bearer token in an entry of ours.
pub fn token_in(entry: &Value) -> Option<String> {
    match entry {
        Value::String(text) => text.strip_prefix("Bearer ").map(ToOwned::to_owned),
        Value::Array(items) => items.iter().find_map(token_in),
        Value::Object(map) => map.values().find_map(token_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Writes what was planned: whole or not at all, with the rights the file had, through symbolic links, and reads it
/// again.
///
/// # Errors
/// [`ConnectError::Changed`] where the file is no longer what was planned from.
pub fn write(path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), ConnectError> {
    let in_document = |error| ConnectError::Document { path: path.to_owned(), error };
    let there = read_bytes(path).map_err(in_document)?;
    if there.as_deref() != before {
        return Err(ConnectError::Changed(path.to_owned()));
    }
    if there.as_deref() == Some(after) {
        return Ok(());
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
    // Looked at once more where it is written: what the path leads to may be another file by now.
    if !files::replace_known(path, before, after)? {
        return Err(ConnectError::Changed(path.to_owned()));
    }
    match read_bytes(path).map_err(in_document)?.as_deref() == Some(after) {
        true => Ok(()),
        false => Err(ConnectError::Changed(path.to_owned())),
    }
}

/// Removes a file that is ours altogether.
///
/// # Errors
/// [`ConnectError::Changed`] where the file is no longer as it was known.
pub fn remove(path: &Path, before: &[u8]) -> Result<(), ConnectError> {
    if files::remove_known(path, before)? { Ok(()) } else { Err(ConnectError::Changed(path.to_owned())) }
}

/// What was written into one file, as far as taking it out again needs it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// What our entry is called.
    pub name: String,
    /// The fingerprint of our entry, to see whether somebody edited it.
    pub entry: String,
    /// How many of the innermost containers were made for it.
    pub created: usize,
    /// The fingerprint of the whole file as we left it.
    pub after: String,
    /// A copy of the file as it was; `None` where there was none.
    pub backup: Option<PathBuf>,
    /// The file is ours altogether.
    pub new_file: bool,
}

/// What tells an entry from an edited one.
pub fn entry_fingerprint(entry: &Value) -> String {
    fingerprint(entry.to_string().as_bytes())
}

/// A file without our entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Without {
    /// Exactly what was there before.
    Restored(Vec<u8>),
    /// What is there now, without our entry, because somebody wrote the file since.
    Removed(Vec<u8>),
    /// There was no file before, and nothing but ours is in it.
    Deleted,
    /// Our entry is not in it any more.
    Gone,
}

/// What a file would be without our entry.
///
/// # Errors
/// [`ConnectError`]; the file is then left alone.
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

/// The text a person can paste.
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
