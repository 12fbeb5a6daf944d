//! Changes one entry in a configuration file without touching any other byte. Text in, text out; callers decide where
//! the file lies and whether it may be written.
//!
//! Whatever an edit does, its result is read again and must mean exactly what was there before, with the one entry
//! put in or taken out; otherwise the edit is refused. `frontmatter` only compares.

mod comments;
pub mod frontmatter;
mod json;
pub mod toml;
mod tree;
mod yaml;

use std::ops::Range;

use satchel_entry::slips::Spoilt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use comments::without_comments;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, with comments, trailing commas and other common extensions.
    Json,
    /// TOML 1.0.
    Toml,
    /// YAML 1.2, a single document.
    Yaml,
}

/// The location of an entry: in a map under its name, or in a list with a name field.
#[derive(Debug, Clone, Copy)]
pub struct Spot<'a> {
    /// The keys from the root to the container.
    pub container: &'a [String],
    /// The name field, if the container is a list.
    pub list: Option<&'a str>,
    /// The entry's name.
    pub name: &'a str,
}

/// A syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Starts at 1.
    pub line: usize,
    /// Starts at 1, in characters.
    pub column: usize,
    /// The fault.
    pub message: String,
}

/// Why an entry was not added or removed. The text is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text cannot be parsed.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Its structure cannot contain the entry.
    #[error("{0}")]
    Shape(String),
    /// The edited text would not have the intended meaning.
    #[error("the change cannot be made without altering other parts of the file")]
    Unfaithful,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The complete text.
    pub text: String,
    /// Number of innermost containers created for the entry.
    pub created: usize,
}

/// A replacement of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Patch {
    range: Range<usize>,
    text: String,
}

impl Patch {
    fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// Alternative edits with the same result, best first.
type Ways = Vec<Vec<Patch>>;

impl Format {
    /// Parses a text. An empty text is `null`; of duplicate keys, the last one counts.
    ///
    /// # Errors
    /// [`SyntaxError`] with the position.
    pub fn read(self, text: &str) -> Result<Value, SyntaxError> {
        match self {
            Format::Json => Ok(json::parse(text)?.map_or(Value::Null, |node| node.to_value())),
            Format::Toml => toml::read(text),
            Format::Yaml => Ok(yaml::parse(text)?.map_or(Value::Null, |node| node.to_value())),
        }
    }

    /// Adds the entry, or replaces the one at that location.
    ///
    /// # Errors
    /// [`EditError`]; the text must not be written then.
    pub fn put(self, text: &str, spot: &Spot<'_>, entry: &Value) -> Result<Edited, EditError> {
        let before = self.read(text)?;
        if at(&before, spot)
            .is_some_and(|there| *there == *entry || self == Format::Toml && *there == without_nulls(entry))
        {
            return Ok(Edited { text: text.to_owned(), created: 0 });
        }
        let (ways, created) = match self {
            Format::Json => json::put(text, spot, entry)?,
            Format::Toml => toml::put(text, spot, entry)?,
            Format::Yaml => yaml::put(text, spot, entry)?,
        };
        let entry = match self {
            // TOML has no null; a missing field means the same.
            Format::Toml => &without_nulls(entry),
            Format::Json | Format::Yaml => entry,
        };
        let wanted = with(before, spot, Some(entry), 0);
        let text = self.faithful(text, ways, &[wanted])?;
        Ok(Edited { text, created })
    }

    /// Removes the entry, and up to `created` of the innermost containers that become empty. `None` if there is no such
    /// entry.
    ///
    /// # Errors
    /// [`EditError`]; the text must not be written then.
    pub fn take(self, text: &str, spot: &Spot<'_>, created: usize) -> Result<Option<String>, EditError> {
        let before = self.read(text)?;
        if at(&before, spot).is_none() {
            return Ok(None);
        }
        let ways = match self {
            Format::Json => json::take(text, spot, created)?,
            Format::Toml => toml::take(text, spot)?,
            Format::Yaml => yaml::take(text, spot, created)?,
        };
        // In TOML a container exists only through its entries.
        let most = if self == Format::Toml { spot.container.len() } else { created };
        // A container with comments in it stays, empty.
        let wanted: Vec<Value> =
            (0..=most).map(|created| with(before.clone(), spot, None, created)).collect();
        self.faithful(text, ways, &wanted).map(Some)
    }

    fn faithful(self, text: &str, ways: Ways, wanted: &[Value]) -> Result<String, EditError> {
        let mut edited = ways.into_iter().map(|way| apply(text, way));
        let nothing = Value::Object(Map::new());
        edited
            .find(|text| {
                let now = self.read(text).unwrap_or(Value::Bool(false));
                wanted.contains(&now) || (now.is_null() && wanted.contains(&nothing))
            })
            .ok_or(EditError::Unfaithful)
    }
}

/// The entry at a location.
pub fn at<'a>(document: &'a Value, spot: &Spot<'_>) -> Option<&'a Value> {
    let container = container(document, spot.container)?;
    match spot.list {
        None => container.as_object()?.get(spot.name),
        Some(field) => container.as_array()?.iter().find(|item| named(item, field, spot.name)),
    }
}

/// The value at these keys.
pub fn container<'a>(document: &'a Value, keys: &[String]) -> Option<&'a Value> {
    keys.iter().try_fold(document, |value, key| value.as_object()?.get(key))
}

fn named(item: &Value, field: &str, name: &str) -> bool {
    item.get(field).and_then(Value::as_str) == Some(name)
}

/// The document with the entry, or without it and its empty containers.
fn with(document: Value, spot: &Spot<'_>, entry: Option<&Value>, created: usize) -> Value {
    let mut document = if document.is_object() { document } else { Value::Object(Map::new()) };
    edit(&mut document, spot.container, spot, entry, created);
    document
}

/// Returns whether the value became empty and may be removed.
fn edit(value: &mut Value, path: &[String], spot: &Spot<'_>, entry: Option<&Value>, created: usize) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return edit_container(value, spot, entry) && created > 0;
    };
    let Value::Object(map) = value else { return false };
    let empty = match spot.list.is_some() && rest.is_empty() {
        true => Value::Array(vec![]),
        false => Value::Object(Map::new()),
    };
    if entry.is_some() {
        let inner = map.entry(key.clone()).or_insert(Value::Null);
        if inner.is_null() {
            *inner = empty;
        }
        return edit(inner, rest, spot, entry, created);
    }
    let Some(inner) = map.get_mut(key) else { return false };
    if edit(inner, rest, spot, entry, created) && rest.len() < created {
        map.shift_remove(key);
    }
    map.is_empty()
}

fn edit_container(value: &mut Value, spot: &Spot<'_>, entry: Option<&Value>) -> bool {
    match (value, spot.list) {
        (Value::Object(map), None) => {
            match entry {
                Some(entry) => drop(map.insert(spot.name.to_owned(), entry.clone())),
                None => drop(map.shift_remove(spot.name)),
            }
            map.is_empty()
        }
        (Value::Array(items), Some(field)) => {
            let known = items.iter().position(|item| named(item, field, spot.name));
            match (known, entry) {
                (Some(known), Some(entry)) => items[known] = entry.clone(),
                (None, Some(entry)) => items.push(entry.clone()),
                (Some(known), None) => drop(items.remove(known)),
                (None, None) => {}
            }
            items.is_empty()
        }
        _ => false,
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn apply(text: &str, mut patches: Vec<Patch>) -> String {
    patches.sort_by_key(|patch| (patch.range.start, patch.range.end));
    let mut edited = text.to_owned();
    for patch in patches.into_iter().rev() {
        edited.replace_range(patch.range, &patch.text);
    }
    edited
}

/// The most frequent line ending.
fn line_ending(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    if text.matches("\r\n").count() * 2 > all { "\r\n" } else { "\n" }
}

/// The indentation of the line at `position`.
fn indent_at(text: &str, position: usize) -> &str {
    let line = &text[line_start(text, position)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn line_start(text: &str, position: usize) -> usize {
    text[..position].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the line, before its line ending.
fn line_end(text: &str, position: usize) -> usize {
    let end = text[position..].find('\n').map_or(text.len(), |newline| position + newline);
    if end > position && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// Is there only white space before this position on its line?
fn begins_line(text: &str, position: usize) -> bool {
    text[line_start(text, position)..position].trim().is_empty()
}

fn syntax_error(text: &str, offset: usize, message: impl Into<String>) -> SyntaxError {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let message = message.into();
    let message = Spoilt::of(text, offset).map_or(message, |spoilt| spoilt.advice().to_owned());
    SyntaxError {
        line: before.matches('\n').count() + 1,
        column: before[line_start(text, offset)..].chars().count() + 1,
        message,
    }
}

fn twice(key: &str) -> EditError {
    EditError::Shape(format!("\"{key}\" occurs twice"))
}

fn wrong_shape(keys: &[String], expected: &str) -> EditError {
    match keys {
        [] => EditError::Shape(format!("the file does not contain {expected}")),
        keys => EditError::Shape(format!("\"{}\" is not {expected}", keys.join("."))),
    }
}
