//! Edits TOML: an entry is its own table `[container.name]` at the end of the file, or goes into a container written on
//! one line ([`inline`]).

mod inline;

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml_edit::{Document, Item, Table, TableLike};

use super::{
    EditError, Patch, Spot, SyntaxError, Ways, line_end, line_ending, line_start, syntax_error, twice,
    wrong_shape,
};

/// Parses a text to plain values. Dates and numbers that JSON lacks become strings.
///
/// # Errors
/// [`SyntaxError`] with its position.
pub fn read(text: &str) -> Result<Value, SyntaxError> {
    Ok(Value::Object(object(parse(text)?.as_table())))
}

fn parse(text: &str) -> Result<Document<&str>, SyntaxError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        syntax_error(text, at, error.message())
    })
}

fn object(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect()
}

fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(inner) => plain(inner),
        Item::Table(table) => Value::Object(object(table)),
        Item::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| Value::Object(object(table))).collect())
        }
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Number::from_f64(*number.value())
            .map_or_else(|| Value::String(number.value().to_string()), Value::Number),
        toml_edit::Value::Boolean(switch) => Value::Bool(*switch.value()),
        toml_edit::Value::Datetime(time) => Value::String(time.value().to_string()),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        toml_edit::Value::InlineTable(table) => Value::Object(object(table)),
    }
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Value) -> Result<(Ways, usize), EditError> {
    let nl = line_ending(text);
    let document = parse(text)?;
    let mut table: &Table = document.as_table();
    for (depth, key) in spot.container.iter().enumerate() {
        match table.get(key) {
            None => break,
            Some(Item::Table(inner)) => table = inner,
            Some(item) if let Some(inner) = inline::table_of(item) => {
                return inline::put(inner, &spot.container[depth + 1..], spot.name, entry);
            }
            Some(_) => {
                return Err(wrong_shape(&spot.container[..=depth], "a table with entries of their own"));
            }
        }
        if depth + 1 == spot.container.len() {
            match table.get_key_value(spot.name) {
                None => {}
                Some((_, Item::Table(old))) if !old.is_dotted() => {
                    return Ok((vec![replace_table(text, &document, spot, entry, old, nl)], 0));
                }
                Some((_, Item::Value(old))) => {
                    let range = old.span().ok_or(EditError::Unfaithful)?;
                    return Ok((vec![vec![Patch::new(range, inline(entry))]], 0));
                }
                Some(_) => return Err(twice(spot.name)),
            }
        }
    }
    let created =
        usize::from(table.get(spot.name).is_none() && document.as_table().get(&spot.container[0]).is_none());
    let mut new = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        new.push_str(nl);
    }
    let blank = text.trim().is_empty() || text.ends_with("\n\n") || text.ends_with("\n\r\n");
    if !blank {
        new.push_str(nl);
    }
    new.push_str(&written(spot, entry, nl));
    new.push_str(nl);
    Ok((vec![vec![Patch::new(text.len()..text.len(), new)]], created * spot.container.len()))
}

pub(super) fn take(text: &str, spot: &Spot<'_>) -> Result<Ways, EditError> {
    let document = parse(text)?;
    let mut item: &Item = document.as_item();
    let mut ways = Ways::new();
    for key in spot.container {
        // An inline container that was created for the entry is removed too.
        ways.extend(inline::table_of(item).and_then(|table| inline::take(table, key)));
        match item.get(key) {
            Some(inner) => item = inner,
            None => return Ok(vec![]),
        }
    }
    if let Some(table) = inline::table_of(item) {
        ways.extend(inline::take(table, spot.name));
        return Ok(ways);
    }
    let patches: Vec<Patch> = match item.get(spot.name) {
        Some(Item::Table(table)) if !table.is_dotted() => stretches(text, &document, table)
            .into_iter()
            .map(|stretch| {
                let mut start = line_start(text, stretch.start);
                let end = past_line(text, stretch.end);
                // An empty line before it was added with it.
                let before = text[..start].strip_suffix('\n');
                let before = before.map(|before| before.strip_suffix('\r').unwrap_or(before));
                if let Some(before) = before
                    && (before.ends_with('\n') || before.is_empty())
                {
                    start = before.len();
                }
                Patch::new(start..end, "")
            })
            .collect(),
        _ => {
            return Err(EditError::Shape(format!(
                "\"{}\" is not a table of its own; remove it by hand",
                spot.name
            )));
        }
    };
    Ok(vec![patches])
}

fn replace_table(
    text: &str,
    document: &Document<&str>,
    spot: &Spot<'_>,
    entry: &Value,
    old: &Table,
    nl: &str,
) -> Vec<Patch> {
    let stretches = stretches(text, document, old);
    let new = written(spot, entry, nl);
    let mut patches = Vec::new();
    for (index, stretch) in stretches.into_iter().enumerate() {
        match index {
            0 => patches.push(Patch::new(stretch, new.clone())),
            _ => patches.push(Patch::new(line_start(text, stretch.start)..past_line(text, stretch.end), "")),
        }
    }
    patches
}

/// The ranges of a table and its subtables, in order; adjacent tables form one range.
fn stretches(text: &str, document: &Document<&str>, table: &Table) -> Vec<Range<usize>> {
    let mut headers = Vec::new();
    all_headers(document.as_table(), &mut headers);
    headers.sort_unstable();
    let mut ours = Vec::new();
    below(table, &mut ours);
    ours.sort_by_key(|range| range.start);
    let next_header = |start: usize| headers.iter().copied().find(|header| *header > start);
    let mut stretches: Vec<(Range<usize>, Option<usize>)> = Vec::new();
    for range in ours {
        let next = next_header(range.start);
        let end = line_end(text, range.end);
        match stretches.last_mut() {
            Some((last, follows)) if *follows == Some(range.start) => {
                last.end = end;
                *follows = next;
            }
            _ => stretches.push((range.start..end, next)),
        }
    }
    stretches.into_iter().map(|(range, _)| range).collect()
}

/// The range of every table from its header to the last of its own values.
fn below(table: &Table, found: &mut Vec<Range<usize>>) {
    let mut own = table.span();
    for (key, item) in table.iter() {
        match item {
            Item::Value(value) => {
                let span = value.span().or_else(|| table.key(key).and_then(|key| key.span()));
                own = match (own, span) {
                    (Some(own), Some(span)) => Some(own.start.min(span.start)..own.end.max(span.end)),
                    (own, span) => own.or(span),
                };
            }
            Item::Table(inner) => below(inner, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| below(table, found)),
            Item::None => {}
        }
    }
    found.extend(own);
}

fn all_headers(table: &Table, found: &mut Vec<usize>) {
    found.extend(table.span().map(|span| span.start));
    for (_, item) in table.iter() {
        match item {
            Item::Table(inner) => all_headers(inner, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| all_headers(table, found)),
            Item::Value(_) | Item::None => {}
        }
    }
}

fn past_line(text: &str, position: usize) -> usize {
    text[position..].find('\n').map_or(text.len(), |newline| position + newline + 1)
}

/// The complete table, without a final line ending.
fn written(spot: &Spot<'_>, entry: &Value, nl: &str) -> String {
    let path: Vec<String> =
        spot.container.iter().map(String::as_str).chain([spot.name]).map(bare_key).collect();
    let mut lines = vec![format!("[{}]", path.join("."))];
    if let Value::Object(map) = entry {
        let values = map.iter().filter(|(_, value)| !value.is_null());
        lines.extend(values.map(|(key, value)| format!("{} = {}", bare_key(key), inline(value))));
    }
    lines.join(nl)
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".into(),
        Value::Object(map) => {
            let members: Vec<String> = map
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| format!("{} = {}", quoted(key), inline(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

fn bare_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { key.to_owned() } else { quoted(key) }
}

/// A basic string. TOML requires DEL to be escaped, which JSON does not.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7f}', "\\u007f")
}
