//! Edits YAML: entries as block maps or list items, in the file's indentation.

use std::{collections::BTreeMap, ops::Range};

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value};

use super::{
    EditError, Patch, Spot, SyntaxError, Ways, indent_at,
    json::inline,
    line_end, line_ending, line_start, syntax_error,
    tree::{Member, Node, NodeKind},
    twice, wrong_shape,
};

/// The default indentation.
const STEP: usize = 2;
/// Maximum nesting, and maximum number of values including repetitions by aliases.
const DEPTH: usize = 200;
const NODES: usize = 500_000;

pub(super) fn parse(text: &str) -> Result<Option<Node>, SyntaxError> {
    let mut reader = YamlReader::new(text);
    let mut root = None;
    loop {
        let Some(next) = reader.parser.next_event() else { return Ok(root) };
        let (event, span) = next.map_err(|error| reader.error(error.marker().index(), error.info()))?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            Event::StreamEnd => return Ok(root),
            event if root.is_none() => root = reader.node(event, span, 0)?,
            _ => return Err(reader.error(span.start.index(), "there is a second document")),
        }
    }
}

struct YamlReader<'a> {
    text: &'a str,
    /// The byte offset of every character, since the parser counts characters.
    offsets: Vec<usize>,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
}

impl<'a> YamlReader<'a> {
    fn new(text: &'a str) -> Self {
        let offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
        Self { text, offsets, parser: Parser::new_from_str(text), anchors: BTreeMap::new(), nodes: 0 }
    }

    fn offset(&self, index: usize) -> usize {
        self.offsets.get(index).copied().unwrap_or(self.text.len())
    }

    fn error(&self, index: usize, message: &str) -> SyntaxError {
        syntax_error(self.text, self.offset(index), message)
    }

    /// Without the white space and line endings that the parser includes.
    fn range(&self, span: Span) -> Range<usize> {
        let (start, end) = (self.offset(span.start.index()), self.offset(span.end.index()));
        start..start + self.text[start..end.max(start)].trim_end().len()
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), SyntaxError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(self.error(error.marker().index(), error.info())),
            None => Err(self.error(usize::MAX, "the file ends too early")),
        }
    }

    /// `None` for an event that is no value.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Option<Node>, SyntaxError> {
        self.nodes += 1;
        if depth > DEPTH || self.nodes > NODES {
            return Err(self.error(span.start.index(), "the values are nested too deeply, or are too many"));
        }
        let start = self.range(span);
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let value = if plain { plain_scalar(&text) } else { Value::String(text.into_owned()) };
                let node =
                    Node { range: start, kind: NodeKind::Scalar(value), flow: true, shared: anchor != 0 };
                (node, anchor)
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                let end = loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        break self.range(span);
                    }
                    items.extend(self.node(event, span, depth + 1)?);
                };
                let range = self.whole(&start, end, items.last().map(|item| item.range.end));
                (self.collection(range, NodeKind::List(items), anchor), anchor)
            }
            Event::MappingStart(anchor, _) => {
                let mut members: Vec<Member> = Vec::new();
                let end = loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        break self.range(span);
                    }
                    let Some(key) = self.node(event, span, depth + 1)? else { continue };
                    let (event, span) = self.next()?;
                    let Some(mut value) = self.node(event, span, depth + 1)? else { continue };
                    if value.range.is_empty() {
                        // A missing value is positioned after its colon.
                        let colon = self.text[key.range.end..].find(':').map_or(0, |colon| colon + 1);
                        value.range = key.range.end + colon..key.range.end + colon;
                    }
                    let name = match key.kind {
                        NodeKind::Scalar(Value::String(name)) => name,
                        other => Node { kind: other, range: 0..0, flow: true, shared: false }
                            .to_value()
                            .to_string(),
                    };
                    members.push(Member { key: name, key_range: key.range, value });
                };
                let range = self.whole(&start, end, members.last().map(|member| member.value.range.end));
                (self.collection(range, NodeKind::Map(members), anchor), anchor)
            }
            Event::Alias(anchor) => {
                let Some(known) = self.anchors.get(&anchor) else {
                    return Err(self.error(span.start.index(), "an alias refers to a value that contains it"));
                };
                let node = Node { range: start, shared: true, ..known.clone() };
                self.nodes += count(&node);
                (node, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Ok(None),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(Some(node))
    }

    fn whole(&self, start: &Range<usize>, end: Range<usize>, last: Option<usize>) -> Range<usize> {
        let flow = self.text[start.start..].starts_with(['{', '[']);
        match (flow, last) {
            (true, _) => start.start..(end.start + 1).min(self.text.len()),
            (false, Some(last)) => start.start..last,
            (false, None) => start.clone(),
        }
    }

    fn collection(&self, range: Range<usize>, kind: NodeKind, anchor: usize) -> Node {
        let flow = self.text[range.start..].starts_with(['{', '[']);
        Node { range, kind, flow, shared: anchor != 0 }
    }
}

fn count(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Scalar(_) => 1,
        NodeKind::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        NodeKind::Map(members) => 1 + members.iter().map(|member| count(&member.value)).sum::<usize>(),
    }
}

/// The core schema of YAML 1.2.
fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let number = |text: &str| -> Option<Number> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.starts_with(|c: char| c.is_ascii_digit()) || digits.starts_with('.') {
            let whole = text.strip_prefix('+').unwrap_or(text).parse::<i64>().ok().map(Number::from);
            whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
        } else {
            None
        }
    };
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Value) -> Result<(Ways, usize), EditError> {
    let nl = line_ending(text);
    let Some(root) = parse(text)?.filter(|root| !root.is_null()) else {
        let lines = nested_lines(spot, spot.container, entry, 0, STEP).join(nl);
        let end = text.trim_end().len();
        let patch = match end {
            0 => Patch::new(0..text.len(), lines + nl),
            end => Patch::new(end..end, format!("{nl}{lines}")),
        };
        return Ok((vec![vec![patch]], spot.container.len()));
    };
    let mut node = &root;
    let mut key_indent = 0;
    for (depth, key) in spot.container.iter().enumerate() {
        let members = unshared_members(node, &spot.container[..depth])?;
        let mut known = members.iter().filter(|member| member.key == *key);
        let (found, second) = (known.next(), known.next());
        if second.is_some() {
            return Err(twice(key));
        }
        let missing = &spot.container[depth + 1..];
        let created = spot.container.len() - depth;
        let Some(member) = found else {
            let step = step_of(text, &root);
            let lines = |indent| nested_lines(spot, &spot.container[depth..], entry, indent, step);
            return match node.flow {
                true => Ok((add_to_flow(node, Some(key), &nested_value(spot, missing, entry)), created)),
                false => Ok((add_lines(text, node, lines, nl), created)),
            };
        };
        key_indent = column(text, member.key_range.start);
        let empty = match &member.value.kind {
            NodeKind::Scalar(value) => value.is_null(),
            NodeKind::List(items) => items.is_empty() && missing.is_empty() && spot.list.is_some(),
            NodeKind::Map(members) => members.is_empty() && (!missing.is_empty() || spot.list.is_none()),
        };
        if member.value.shared {
            return Err(shared(&spot.container[..=depth]));
        }
        if empty {
            if node.flow {
                let value = nested_value(spot, missing, entry);
                let patch = Patch::new(member.value.range.clone(), format!(" {}", inline(&value)));
                return Ok((vec![vec![patch]], created - 1));
            }
            let step = step_of(text, &root);
            let lines = nested_lines(spot, missing, entry, key_indent + step, step).join(nl);
            let written = member.value.range.clone();
            let written_start = written.start
                - (text[..written.start].len() - text[..written.start].trim_end_matches(' ').len());
            let end = line_end(text, written.end);
            let patches = vec![
                Patch::new(written_start.min(written.start)..written.end, ""),
                Patch::new(end..end, format!("{nl}{lines}")),
            ];
            return Ok((vec![patches], created - 1));
        }
        node = &member.value;
    }
    let items = items(node, spot)?;
    let mut known = items.iter().filter(|item| item.name == Some(spot.name));
    let (found, second) = (known.next(), known.next());
    if second.is_some() {
        return Err(twice(spot.name));
    }
    let step = step_of(text, &root);
    let key = spot.list.is_none().then_some(spot.name);
    let ways = match (found, node.flow) {
        (Some(item), true) => vec![vec![Patch::new(item.value.clone(), inline(entry))]],
        (Some(item), false) => {
            let indent = column(text, item.start(text));
            let lines = entry_lines(spot, entry, indent, step).join(nl);
            vec![vec![Patch::new(item.start(text)..item.value.end, lines.trim_start().to_owned())]]
        }
        (None, true) => add_to_flow(node, key, entry),
        (None, false) => {
            let indent = items.last().map_or(key_indent + step, |last| column(text, last.start(text)));
            add_lines(text, node, |_| entry_lines(spot, entry, indent, step), nl)
        }
    };
    Ok((ways, 0))
}

pub(super) fn take(text: &str, spot: &Spot<'_>, created: usize) -> Result<Ways, EditError> {
    let Some(root) = parse(text)? else { return Ok(vec![]) };
    let mut node = &root;
    let mut parents: Vec<(&Node, &Member)> = Vec::new();
    for (depth, key) in spot.container.iter().enumerate() {
        let members = unshared_members(node, &spot.container[..depth])?;
        let Some(member) = members.iter().find(|member| member.key == *key) else { return Ok(vec![]) };
        parents.push((node, member));
        node = &member.value;
    }
    if node.shared {
        return Err(shared(spot.container));
    }
    let all = items(node, spot)?;
    let Some(index) = all.iter().position(|item| item.name == Some(spot.name)) else { return Ok(vec![]) };
    if node.flow {
        let starts: Vec<_> = all.iter().map(|item| item.start..item.value.end).collect();
        let only_it = vec![Patch::new(from_flow(node, &starts, index), "")];
        let empty = all.len() == 1 && !text[node.range.clone()].contains('#');
        let container = if empty { outermost(&parents, created) } else { None };
        let with_container = container.map(|(parent, member)| {
            let whole = member.key_range.start..member.value.range.end;
            match &parent.kind {
                NodeKind::Map(members) if parent.flow => {
                    let starts: Vec<_> =
                        members.iter().map(|one| one.key_range.start..one.value.range.end).collect();
                    let index = starts.iter().position(|one| *one == whole).unwrap_or_default();
                    vec![Patch::new(from_flow(parent, &starts, index), "")]
                }
                _ => vec![without_lines(text, whole)],
            }
        });
        return Ok(with_container.into_iter().chain([only_it]).collect());
    }
    if all.len() > 1 {
        return Ok(vec![vec![without_lines(text, all[index].start(text)..all[index].value.end)]]);
    }
    // The last entry: containers created for it are removed too; the next one stays, empty.
    if let Some((_, member)) = outermost(&parents, created) {
        return Ok(vec![vec![without_lines(text, member.key_range.start..member.value.range.end)]]);
    }
    let Some((_, member)) = parents.last() else {
        return Ok(vec![vec![without_lines(text, all[index].start(text)..all[index].value.end)]]);
    };
    let colon = member.key_range.end + text[member.key_range.end..].find(':').map_or(0, |colon| colon + 1);
    let empty = if spot.list.is_some() { " []" } else { " {}" };
    Ok(vec![vec![
        Patch::new(colon..colon, empty),
        without_lines(text, all[index].start(text)..all[index].value.end),
    ]])
}

/// The container to remove with its last entry: the outermost created one that has nothing else in it.
fn outermost<'a>(parents: &[(&'a Node, &'a Member)], created: usize) -> Option<(&'a Node, &'a Member)> {
    let mut gone = 0;
    while gone < created.min(parents.len()) {
        gone += 1;
        let (parent, _) = parents[parents.len() - gone];
        let alone = matches!(&parent.kind, NodeKind::Map(members) if members.len() == 1);
        if !alone {
            break;
        }
    }
    (gone > 0).then(|| parents[parents.len() - gone])
}

/// The range to remove for one of the items between brackets, so that the commas remain valid.
fn from_flow(node: &Node, parts: &[Range<usize>], index: usize) -> Range<usize> {
    match (index, parts.get(index + 1)) {
        (_, Some(next)) => parts[index].start..next.start,
        (0, None) => node.range.start + 1..node.range.end - 1,
        (index, None) => parts[index - 1].end..parts[index].end,
    }
}

/// An entry of a container in the text.
struct YamlEntry<'a> {
    name: Option<&'a str>,
    /// The key, or the value of a list item.
    start: usize,
    value: Range<usize>,
    in_list: bool,
}

impl YamlEntry<'_> {
    /// The key, or the dash of a list item.
    fn start(&self, text: &str) -> usize {
        if !self.in_list {
            return self.start;
        }
        text[..self.start].rfind('-').unwrap_or(self.start)
    }
}

fn items<'a>(node: &'a Node, spot: &Spot<'_>) -> Result<Vec<YamlEntry<'a>>, EditError> {
    if node.shared {
        return Err(shared(spot.container));
    }
    match (&node.kind, spot.list) {
        (NodeKind::Map(members), None) => Ok(members
            .iter()
            .map(|member| YamlEntry {
                name: Some(&member.key),
                start: member.key_range.start,
                value: member.value.range.clone(),
                in_list: false,
            })
            .collect()),
        (NodeKind::List(items), Some(field)) => Ok(items
            .iter()
            .map(|item| YamlEntry {
                name: item.text_of(field),
                start: item.range.start,
                value: item.range.clone(),
                in_list: !node.flow,
            })
            .collect()),
        (_, None) => Err(wrong_shape(spot.container, "a map")),
        (_, Some(_)) => Err(wrong_shape(spot.container, "a list")),
    }
}

fn unshared_members<'a>(node: &'a Node, keys: &[String]) -> Result<&'a [Member], EditError> {
    match &node.kind {
        _ if node.shared => Err(shared(keys)),
        NodeKind::Map(members) => Ok(members),
        NodeKind::List(_) | NodeKind::Scalar(_) => Err(wrong_shape(keys, "a map")),
    }
}

fn shared(keys: &[String]) -> EditError {
    EditError::Shape(format!("\"{}\" is shared with another place of the file (& or *)", keys.join(".")))
}

fn add_to_flow(node: &Node, key: Option<&str>, value: &Value) -> Ways {
    let key = key.map(|key| format!("{}: ", Value::String(key.to_owned()))).unwrap_or_default();
    let last = match &node.kind {
        NodeKind::Map(members) => members.last().map(|member| member.value.range.end),
        NodeKind::List(items) => items.last().map(|item| item.range.end),
        NodeKind::Scalar(_) => None,
    };
    let patch = match last {
        Some(end) => Patch::new(end..end, format!(", {key}{}", inline(value))),
        None => Patch::new(node.range.start + 1..node.range.end - 1, format!("{key}{}", inline(value))),
    };
    vec![vec![patch]]
}

/// Inserts lines at the end of a block, after comments at its own indentation.
fn add_lines(text: &str, node: &Node, lines: impl Fn(usize) -> Vec<String>, nl: &str) -> Ways {
    let indent = column(text, node.range.start);
    let lines = lines(indent).join(nl);
    let plain = line_end(text, node.range.end);
    let mut after_comments = plain;
    let mut at = plain;
    while let Some(newline) = text[at..].find('\n') {
        let start = at + newline + 1;
        let end = line_end(text, start);
        let line = &text[start..end];
        let own = line.trim_start().starts_with('#') && line.len() - line.trim_start().len() >= indent;
        if !own && !line.trim().is_empty() {
            break;
        }
        if own {
            after_comments = end;
        }
        at = end;
    }
    let insertion = |at: usize| vec![Patch::new(at..at, format!("{nl}{lines}"))];
    // Empty lines may belong to a block scalar; insert after them.
    let past_blank = at.max(after_comments);
    let at_end = match text[..past_blank].ends_with('\n') {
        true => vec![Patch::new(past_blank..past_blank, format!("{lines}{nl}"))],
        false => insertion(past_blank),
    };
    vec![insertion(after_comments), insertion(plain), at_end]
}

/// The complete lines of this range.
fn without_lines(text: &str, range: Range<usize>) -> Patch {
    let start = line_start(text, range.start);
    let end = line_end(text, range.end);
    match text[end..].find('\n') {
        Some(newline) => Patch::new(start..end + newline + 1, ""),
        None => {
            let before = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
            Patch::new(before.strip_suffix('\r').unwrap_or(before).len()..text.len(), "")
        }
    }
}

fn column(text: &str, position: usize) -> usize {
    text[line_start(text, position)..position].chars().count()
}

/// The file's indentation.
fn step_of(text: &str, root: &Node) -> usize {
    let NodeKind::Map(members) = &root.kind else { return STEP };
    members
        .iter()
        .filter_map(|member| match &member.value.kind {
            NodeKind::Map(inner) if !member.value.flow => inner.first(),
            _ => None,
        })
        .map(|inner| indent_at(text, inner.key_range.start).len())
        .find(|step| (1..=8).contains(step))
        .unwrap_or(STEP)
}

fn nested_value(spot: &Spot<'_>, missing: &[String], entry: &Value) -> Value {
    let innermost = match spot.list {
        None => Value::Object(Map::from_iter([(spot.name.to_owned(), entry.clone())])),
        Some(_) => Value::Array(vec![entry.clone()]),
    };
    missing.iter().rev().fold(innermost, |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
}

fn nested_lines(
    spot: &Spot<'_>,
    missing: &[String],
    entry: &Value,
    indent: usize,
    step: usize,
) -> Vec<String> {
    match missing.split_first() {
        None => entry_lines(spot, entry, indent, step),
        Some((key, rest)) => {
            let mut lines = vec![format!("{}{}:", spaces(indent), plain_key(key))];
            lines.extend(nested_lines(spot, rest, entry, indent + step, step));
            lines
        }
    }
}

fn entry_lines(spot: &Spot<'_>, entry: &Value, indent: usize, step: usize) -> Vec<String> {
    match spot.list {
        None => member_lines(spot.name, entry, indent, step),
        Some(_) => {
            let mut lines = value_lines(entry, indent + 2, step);
            if let Some(first) = lines.first_mut() {
                *first = format!("{}- {}", spaces(indent), first.trim_start());
            }
            lines
        }
    }
}

fn member_lines(key: &str, value: &Value, indent: usize, step: usize) -> Vec<String> {
    let key = format!("{}{}:", spaces(indent), plain_key(key));
    let inside = match value {
        Value::Object(map) if !map.is_empty() => value_lines(value, indent + step, step),
        Value::Array(items) if !items.is_empty() => value_lines(value, indent + step, step),
        other => return vec![format!("{key} {other}")],
    };
    [vec![key], inside].concat()
}

fn value_lines(value: &Value, indent: usize, step: usize) -> Vec<String> {
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| member_lines(key, value, indent, step)).collect()
        }
        Value::Array(items) => {
            items.iter().map(|item| format!("{}- {}", spaces(indent), inline(item))).collect()
        }
        other => vec![format!("{}{other}", spaces(indent))],
    }
}

fn plain_key(key: &str) -> String {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && plain_scalar(key).is_string()
        && !matches!(key.to_ascii_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off");
    if plain { key.to_owned() } else { Value::String(key.to_owned()).to_string() }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}
