//! Edits JSON as people and editors write it: with comments, trailing commas and any indentation, on one line or many.

use std::ops::Range;

use jsonc_parser::{CollectOptions, ParseOptions, ast, common::Ranged};
use serde_json::{Map, Value};

use super::{
    EditError, Patch, Spot, SyntaxError, Ways, begins_line, indent_at, line_ending, syntax_error,
    tree::{Member, Node, NodeKind},
    twice, wrong_shape,
};

/// The default indentation.
const STEP: &str = "  ";

pub(super) fn parse(text: &str) -> Result<Option<Node>, SyntaxError> {
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| syntax_error(text, error.range().start, error.kind().to_string()))?;
    Ok(parsed.value.map(node))
}

fn node(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let range = range.start..range.end;
    let kind = match value {
        ast::Value::StringLit(text) => NodeKind::Scalar(Value::String(text.value.into_owned())),
        ast::Value::NumberLit(number) => NodeKind::Scalar(
            serde_json::from_str(number.value).unwrap_or_else(|_| Value::String(number.value.to_owned())),
        ),
        ast::Value::BooleanLit(switch) => NodeKind::Scalar(Value::Bool(switch.value)),
        ast::Value::NullKeyword(_) => NodeKind::Scalar(Value::Null),
        ast::Value::Array(array) => NodeKind::List(array.elements.into_iter().map(node).collect()),
        ast::Value::Object(object) => NodeKind::Map(
            object
                .properties
                .into_iter()
                .map(|property| {
                    let key_range = property.name.range();
                    Member {
                        key: property.name.as_str().to_owned(),
                        key_range: key_range.start..key_range.end,
                        value: node(property.value),
                    }
                })
                .collect(),
        ),
    };
    Node { range, kind, flow: true, shared: false }
}

/// The object or list that contains the entries.
struct Container<'a> {
    node: &'a Node,
    /// Each with its key.
    items: Vec<Range<usize>>,
}

pub(super) fn put(text: &str, spot: &Spot<'_>, entry: &Value) -> Result<(Ways, usize), EditError> {
    let nl = line_ending(text);
    let root = match parse(text)? {
        Some(root) if !root.is_null() => root,
        // Only white space and comments, or null.
        empty => {
            let document = nested(spot, spot.container, entry);
            let mut written = written(&document, "", STEP, nl);
            let patch = match empty {
                Some(null) => Patch::new(null.range, written),
                None if text.trim().is_empty() => Patch::new(0..text.len(), written + nl),
                None => {
                    let end = text.trim_end().len();
                    written.insert_str(0, nl);
                    Patch::new(end..end, written)
                }
            };
            return Ok((vec![vec![patch]], spot.container.len()));
        }
    };
    let step = step_of(text, &root);
    let mut node = &root;
    for (depth, key) in spot.container.iter().enumerate() {
        let members = members(node, &spot.container[..depth])?;
        let mut known = members.iter().filter(|member| member.key == *key);
        let (found, second) = (known.next(), known.next());
        if second.is_some() {
            return Err(twice(key));
        }
        let created = spot.container.len() - depth;
        match found {
            None => {
                let value = nested(spot, &spot.container[depth + 1..], entry);
                let patches = insert(text, &container(node), Some(key), &value, &step, nl);
                return Ok((vec![patches], created));
            }
            Some(member) if member.value.is_null() => {
                let value = nested(spot, &spot.container[depth + 1..], entry);
                let indent = indent_at(text, member.key_range.start);
                let patch = Patch::new(member.value.range.clone(), written(&value, indent, &step, nl));
                return Ok((vec![vec![patch]], created - 1));
            }
            Some(member) => node = &member.value,
        }
    }
    let value_range = match (find(node, spot)?, spot.list) {
        (Some(index), None) => Some(members(node, spot.container)?[index].value.range.clone()),
        (Some(index), Some(_)) => Some(container(node).items[index].clone()),
        (None, _) => None,
    };
    let patches = match value_range {
        Some(range) => {
            let all = container(node);
            let one_line = !text[all.node.range.start..range.end].contains('\n');
            let new = match one_line {
                true => inline(entry),
                false => written(entry, indent_at(text, range.start), &step, nl),
            };
            vec![Patch::new(range, new)]
        }
        None => {
            let key = spot.list.is_none().then_some(spot.name);
            insert(text, &container(node), key, entry, &step, nl)
        }
    };
    Ok((vec![patches], 0))
}

pub(super) fn take(text: &str, spot: &Spot<'_>, created: usize) -> Result<Ways, EditError> {
    let Some(root) = parse(text)? else { return Ok(vec![]) };
    // From the root to the container, each with the index of the next item.
    let mut way = Vec::new();
    let mut node = &root;
    for (depth, key) in spot.container.iter().enumerate() {
        let members = members(node, &spot.container[..depth])?;
        let mut known = members.iter().enumerate().filter(|(_, member)| member.key == *key);
        let Some((index, member)) = known.next() else { return Ok(vec![]) };
        if known.next().is_some() {
            return Err(twice(key));
        }
        way.push((node, index));
        node = &member.value;
    }
    let Some(index) = find(node, spot)? else { return Ok(vec![]) };
    way.push((node, index));
    // A container that was created for the entry and has nothing else in it is removed too.
    let mut level = way.len() - 1;
    for _ in 0..created.min(spot.container.len()) {
        let inside = way[level].0;
        let items = container(inside).items;
        let [item] = items.as_slice() else { break };
        let before = Tail::scan(text, inside.range.start + 1, item.start);
        if before.comments || Tail::between(text, inside, Some(item.end)).comments {
            break;
        }
        level -= 1;
    }
    let (node, index) = way[level];
    Ok(vec![remove(text, &container(node), index)])
}

fn members<'a>(node: &'a Node, keys: &[String]) -> Result<&'a [Member], EditError> {
    match &node.kind {
        NodeKind::Map(members) => Ok(members),
        NodeKind::List(_) | NodeKind::Scalar(_) => Err(wrong_shape(keys, "an object")),
    }
}

fn find(node: &Node, spot: &Spot<'_>) -> Result<Option<usize>, EditError> {
    let mut known: Box<dyn Iterator<Item = usize>> = match (&node.kind, spot.list) {
        (NodeKind::Map(members), None) => {
            Box::new((0..members.len()).filter(|index| members[*index].key == spot.name))
        }
        (NodeKind::List(items), Some(field)) => {
            Box::new((0..items.len()).filter(move |index| items[*index].text_of(field) == Some(spot.name)))
        }
        (_, None) => return Err(wrong_shape(spot.container, "an object")),
        (_, Some(_)) => return Err(wrong_shape(spot.container, "a list")),
    };
    let first = known.next();
    if known.next().is_some() {
        return Err(twice(spot.name));
    }
    Ok(first)
}

fn container(node: &Node) -> Container<'_> {
    let items = match &node.kind {
        NodeKind::Map(members) => {
            members.iter().map(|member| member.key_range.start..member.value.range.end).collect()
        }
        NodeKind::List(items) => items.iter().map(|item| item.range.clone()).collect(),
        NodeKind::Scalar(_) => vec![],
    };
    Container { node, items }
}

/// The entry wrapped in the missing containers.
fn nested(spot: &Spot<'_>, missing: &[String], entry: &Value) -> Value {
    let innermost = match spot.list {
        None => Value::Object(Map::from_iter([(spot.name.to_owned(), entry.clone())])),
        Some(_) => Value::Array(vec![entry.clone()]),
    };
    missing.iter().rev().fold(innermost, |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])))
}

fn insert(
    text: &str,
    container: &Container<'_>,
    key: Option<&str>,
    value: &Value,
    step: &str,
    nl: &str,
) -> Vec<Patch> {
    let key = key.map(|key| format!("{}: ", quoted(key))).unwrap_or_default();
    let (open, close) = (container.node.range.start, container.node.range.end - 1);
    let base = indent_at(text, open);
    let tail = Tail::between(text, container.node, container.items.last().map(|item| item.end));
    let rest_has_newline = text[tail.content_end..close].contains('\n');
    let Some(last) = container.items.last() else {
        let indent = format!("{base}{step}");
        let member = format!("{nl}{indent}{key}{}", written(value, &indent, step, nl));
        let closing = if tail.comments && rest_has_newline { String::new() } else { format!("{nl}{base}") };
        let from = tail.content_end;
        let until = if tail.comments { from } else { close };
        return vec![Patch::new(from..until, member + &closing)];
    };
    let mut patches = Vec::new();
    if tail.comma.is_none() {
        patches.push(Patch::new(last.end..last.end, ","));
    }
    let closing_comma = if tail.comma.is_some() { "," } else { "" };
    let own_line = container.items.iter().rev().find(|item| begins_line(text, item.start));
    let new = match own_line {
        Some(item) => {
            let indent = indent_at(text, item.start);
            format!("{nl}{indent}{key}{}{closing_comma}", written(value, indent, step, nl))
        }
        // The last comment may extend to the end of its line.
        None if rest_has_newline => {
            let indent = format!("{base}{step}");
            format!("{nl}{indent}{key}{}{closing_comma}", written(value, &indent, step, nl))
        }
        None => format!(" {key}{}{closing_comma}", inline(value)),
    };
    patches.push(Patch::new(tail.content_end..tail.content_end, new));
    merged(patches)
}

/// Merges insertions at one position, to fix their order.
fn merged(patches: Vec<Patch>) -> Vec<Patch> {
    match patches.as_slice() {
        [first, second] if first.range == second.range => {
            vec![Patch::new(first.range.clone(), format!("{}{}", first.text, second.text))]
        }
        _ => patches,
    }
}

fn remove(text: &str, container: &Container<'_>, index: usize) -> Vec<Patch> {
    let item = &container.items[index];
    let before = match index {
        0 => Tail::scan(text, container.node.range.start + 1, item.start),
        index => Tail::scan(text, container.items[index - 1].end, item.start),
    };
    let after_until = container.items.get(index + 1).map_or(container.node.range.end - 1, |next| next.start);
    let after = Tail::scan(text, item.end, after_until);
    let only = container.items.len() == 1;
    if only && !before.comments && !after.comments {
        return vec![Patch::new(container.node.range.start + 1..container.node.range.end - 1, "")];
    }
    // On one line, the next item takes its place.
    if let (0, Some(next), false) = (index, container.items.get(1), after.comments)
        && !text[container.node.range.start..next.start].contains('\n')
    {
        return vec![Patch::new(item.start..next.start, "")];
    }
    let end = after.comma.map_or(item.end, |comma| comma + 1);
    // On a line that it shares, a comment may be about another.
    let end = if begins_line(text, item.start) { after_own_comment(text, end, after_until) } else { end };
    let mut patches = vec![Patch::new(before.content_end..end, "")];
    // The removed item was the last and had no trailing comma, so the comma before it was added for it.
    if after.comma.is_none()
        && let Some(comma) = before.comma
    {
        match comma + 1 == before.content_end {
            true => patches[0].range.start = comma,
            false => patches.push(Patch::new(comma..comma + 1, "")),
        }
    }
    patches
}

/// The end of the comments after an item that stand on its line, where nothing else follows on that line. They are about
/// the item and go with it.
fn after_own_comment(text: &str, end: usize, until: usize) -> usize {
    let (mut at, mut own) = (end, end);
    while at < until {
        let rest = &text[at..until];
        if rest.starts_with("//") {
            let line = rest.lines().next().unwrap_or_default();
            return at + line.len();
        }
        if rest.starts_with('\n') {
            return own;
        }
        at += match rest.strip_prefix("/*") {
            Some(comment) => comment.find("*/").map_or(rest.len(), |length| length + 4),
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        if !text[own..at].trim().is_empty() {
            own = at;
        }
    }
    end
}

/// The text between an item and the next one or the closing bracket: white space, comments, at most one comma.
#[derive(Debug)]
struct Tail {
    comma: Option<usize>,
    /// After the last comment or comma, or at the start.
    content_end: usize,
    comments: bool,
}

impl Tail {
    /// The text before a container's closing bracket.
    fn between(text: &str, node: &Node, last_item_end: Option<usize>) -> Self {
        Self::scan(text, last_item_end.unwrap_or(node.range.start + 1), node.range.end - 1)
    }

    fn scan(text: &str, from: usize, until: usize) -> Self {
        let mut tail = Self { comma: None, content_end: from, comments: false };
        let mut at = from;
        while at < until {
            let rest = &text[at..until];
            let length = if rest.starts_with("//") {
                tail.comments = true;
                rest.find('\n')
                    .map_or(rest.len(), |newline| newline - usize::from(rest[..newline].ends_with('\r')))
            } else if rest.starts_with("/*") {
                tail.comments = true;
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if rest.starts_with(',') {
                tail.comma = Some(at);
                1
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            at += length;
            tail.content_end = at;
        }
        tail
    }
}

/// The file's indentation.
fn step_of(text: &str, root: &Node) -> String {
    let first = container(root).items.into_iter().find(|item| begins_line(text, item.start));
    let base = indent_at(text, root.range.start);
    first
        .and_then(|item| indent_at(text, item.start).strip_prefix(base))
        .filter(|step| !step.is_empty())
        .unwrap_or(STEP)
        .to_owned()
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// A multi-line value. Its first line is not indented.
fn written(value: &Value, indent: &str, step: &str, nl: &str) -> String {
    let inner = format!("{indent}{step}");
    let lines: Vec<String> = match value {
        Value::Object(map) if !map.is_empty() => map
            .iter()
            .map(|(key, value)| format!("{inner}{}: {}", quoted(key), written(value, &inner, step, nl)))
            .collect(),
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{inner}{}", written(item, &inner, step, nl))).collect()
        }
        other => return other.to_string(),
    };
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    format!("{open}{nl}{}{nl}{indent}{close}", lines.join(&format!(",{nl}")))
}

/// A single-line value, valid in YAML too.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", quoted(key), inline(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Spot};

    #[track_caller]
    fn check(text: &str, name: &str, after: &str) {
        let container = ["mcpServers".to_owned()];
        let spot = Spot { container: &container, list: None, name };
        assert_eq!(Format::Json.take(text, &spot, 0).unwrap().as_deref(), Some(after), "{name}");
    }

    #[test]
    fn a_comment_at_the_end_of_an_entrys_line_goes_with_it_and_no_other_line_changes() {
        let text = r#"{
  "mcpServers": {
    // The first.
    "odd": { "command": "a" }, // odd
    "never-answers": { "command": "b" }, /* trailing */
    "two": { "command": "c" }, /* of */ // two
    /* above */ "last": { "command": "d" } // last
    // At the end.
  }
}
"#;
        let without = |line: &str| {
            assert!(text.contains(line), "{line}");
            text.replace(line, "")
        };
        check(
            text,
            "never-answers",
            &without("    \"never-answers\": { \"command\": \"b\" }, /* trailing */\n"),
        );
        check(text, "two", &without("    \"two\": { \"command\": \"c\" }, /* of */ // two\n"));
        check(text, "odd", &without("    \"odd\": { \"command\": \"a\" }, // odd\n"));
        let only = "{\n  \"mcpServers\": {\n    \"a\": {} /* a */\n  }\n}\n";
        check(only, "a", "{\n  \"mcpServers\": {\n  }\n}\n");
        let one_line = r#"{"mcpServers": {"a": 1, /* of b */ "b": 2, "c": 3}}"#;
        check(one_line, "a", r#"{"mcpServers": { /* of b */ "b": 2, "c": 3}}"#);
        check(one_line, "c", r#"{"mcpServers": {"a": 1, /* of b */ "b": 2}}"#);
    }
}
