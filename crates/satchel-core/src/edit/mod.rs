//! Changes one entry in a configuration file without touching any other byte. Text in, text out; callers decide where
//! the file lies and whether it may be written.
//!
//! Whatever an edit does, its result is read again and must mean exactly what was there before, with the one entry
//! put in or taken out; otherwise the edit is refused.

mod comments;
mod json;
pub mod toml;
mod tree;
mod yaml;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use comments::without_comments;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, with comments, trailing commas and what else is found in such files.
    Json,
    /// TOML 1.0.
    Toml,
    /// YAML 1.2, one document.
    Yaml,
}

/// Where an entry lies: in a map under its name, or in a list where a field holds its name.
#[derive(Debug, Clone, Copy)]
pub struct Spot<'a> {
    /// Literal keys from the top to the container.
    pub container: &'a [String],
    /// The field that names an entry, where the container is a list.
    pub list: Option<&'a str>,
    /// The entry's name.
    pub name: &'a str,
}

/// A text that cannot be read, and where reading stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// Why an entry was not put in or taken out. The text is then as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text cannot be read.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It can, but does not have the shape that could take an entry.
    #[error("{0}")]
    Shape(String),
    /// The edited text would mean something else than it should.
    #[error("the change cannot be made without altering other parts of the file")]
    Unfaithful,
}

/// A text with the entry in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// How many of the innermost containers had to be made for the entry.
    pub created: usize,
}

/// One replaced stretch of a text.
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

/// Several ways to make the same change, best first.
type Ways = Vec<Vec<Patch>>;

impl Format {
    /// Reads the whole text. An empty text is `null`; of keys that occur twice the last one counts.
    ///
    /// # Errors
    /// [`SyntaxError`] with the place.
    pub fn read(self, text: &str) -> Result<Value, SyntaxError> {
        match self {
            Format::Json => Ok(json::parse(text)?.map_or(Value::Null, |node| node.to_value())),
            Format::Toml => toml::read(text),
            Format::Yaml => Ok(yaml::parse(text)?.map_or(Value::Null, |node| node.to_value())),
        }
    }

    /// Puts the entry in, or in place of the one at that spot.
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
            // TOML cannot say null; there a field that is not said means the same.
            Format::Toml => &without_nulls(entry),
            Format::Json | Format::Yaml => entry,
        };
        let wanted = with(before, spot, Some(entry), 0);
        let text = self.faithful(text, ways, &[wanted])?;
        Ok(Edited { text, created })
    }

    /// Takes the entry out, and with it as many of the innermost containers as `created` says, where nothing else is
    /// in them. `None` where there is no such entry.
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
        // In TOML a container is only the way to its entries and goes with the last of them.
        let most = if self == Format::Toml { spot.container.len() } else { created };
        // A container with somebody's comments in it stays, empty.
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

/// The entry at a spot.
pub fn at<'a>(document: &'a Value, spot: &Spot<'_>) -> Option<&'a Value> {
    let container = container(document, spot.container)?;
    match spot.list {
        None => container.as_object()?.get(spot.name),
        Some(field) => container.as_array()?.iter().find(|item| named(item, field, spot.name)),
    }
}

/// What literal keys lead to.
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

/// Returns whether the value became empty and may go.
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

/// The line ending that the text uses most.
fn line_ending(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    if text.matches("\r\n").count() * 2 > all { "\r\n" } else { "\n" }
}

/// Spaces and tabs at the beginning of the line that `position` is in.
fn indent_at(text: &str, position: usize) -> &str {
    let line = &text[line_start(text, position)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn line_start(text: &str, position: usize) -> usize {
    text[..position].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the line, before its ending.
fn line_end(text: &str, position: usize) -> usize {
    let end = text[position..].find('\n').map_or(text.len(), |newline| position + newline);
    if end > position && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// Does the line hold nothing but space before this position?
fn begins_line(text: &str, position: usize) -> bool {
    text[line_start(text, position)..position].trim().is_empty()
}

fn syntax_error(text: &str, offset: usize, message: impl Into<String>) -> SyntaxError {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    SyntaxError {
        line: before.matches('\n').count() + 1,
        column: before[line_start(text, offset)..].chars().count() + 1,
        message: message.into(),
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
