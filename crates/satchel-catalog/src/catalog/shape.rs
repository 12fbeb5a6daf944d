//! What a tool's results look like, learned from a few of them: names and types, never a value. Bounded in size, and
//! deterministic: no clock, no disk.
//!
//! A name can be a value too, in an object that has an entry for each person, file or address. Where names may be that,
//! only the type of the entries is kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ToolEntry;
use crate::{model::ToolPath, stats::retention};

/// Number of results of one definition to learn from.
const RESULTS: u32 = 5;
/// Maximum size of such a result, in bytes.
pub const LARGEST: usize = 256 * 1024;
/// Number of tools remembered; the one learned longest ago is dropped.
const TOOLS: usize = 400;
/// Number of list items examined.
const ENTRIES: usize = 20;
/// Maximum nesting.
const DEPTH: usize = 4;
/// Maximum number of fields of an object; more of one type are map entries.
const NAMES: usize = 24;
const FIELDS: usize = 12;
/// Maximum number of values examined in one result, and of types kept.
const VALUES: usize = 4_000;
const TYPES: usize = 200;
/// Maximum length of a name, in bytes, and maximum number of digits in it.
const NAME: usize = 40;
const DIGITS: usize = 4;

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const NUMBER: u8 = 8;
const STRING: u8 = 16;
const WORDS: [(u8, &str); 5] =
    [(BOOLEAN, "boolean"), (INTEGER, "int"), (NUMBER, "number"), (STRING, "string"), (NULL, "null")];

/// The type of a value, as observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The scalar types it had, as bits.
    #[serde(default, skip_serializing_if = "is_none")]
    plain: u8,
    /// The type of its items, if it was a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    list: Option<Box<Shape>>,
    /// Its fields, if it was an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Fields>,
}

fn is_none(plain: &u8) -> bool {
    *plain == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fields {
    /// Fixed field names.
    Named { fields: Vec<Field>, more: bool },
    /// Names that are data: a map, with the type of its values.
    Any(Box<Shape>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Field {
    name: String,
    /// It was in every result.
    always: bool,
    shape: Shape,
}

/// The remaining limits while one value is examined.
struct Room {
    values: usize,
}

impl Shape {
    /// The shape of one value.
    pub fn of(value: &Value) -> Self {
        let mut shape = Self::within(value, 0, &mut Room { values: VALUES });
        shape.shorten();
        shape
    }

    fn within(value: &Value, depth: usize, room: &mut Room) -> Self {
        if depth > DEPTH || room.values == 0 {
            return Self::default();
        }
        room.values -= 1;
        let plain = |plain| Self { plain, ..Self::default() };
        match value {
            Value::Null => plain(NULL),
            Value::Bool(_) => plain(BOOLEAN),
            Value::Number(number) if number.is_f64() => plain(NUMBER),
            Value::Number(_) => plain(INTEGER),
            Value::String(_) => plain(STRING),
            Value::Array(items) => {
                let entries = items.iter().take(ENTRIES).map(|item| Self::within(item, depth + 1, room));
                let entry = entries.reduce(|all, one| all.merged(one)).unwrap_or_default();
                Self { list: Some(Box::new(entry)), ..Self::default() }
            }
            Value::Object(fields) => {
                Self { fields: Some(Fields::of(fields, depth, room)), ..Self::default() }
            }
        }
    }

    /// The union of two shapes.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        let list = match (self.list, other.list) {
            (Some(one), Some(two)) => Some(Box::new(one.merged(*two))),
            (one, two) => one.or(two),
        };
        let fields = match (self.fields, other.fields) {
            (Some(one), Some(two)) => Some(one.merged(two)),
            (one, two) => one.or(two),
        };
        Self { plain: self.plain | other.plain, list, fields }
    }

    /// The kinds of values it had; `null` may replace any.
    fn sorts(&self) -> (u8, bool, bool) {
        (self.plain & !NULL, self.list.is_some(), self.fields.is_some())
    }

    fn is_several(&self) -> bool {
        self.plain.count_ones() + u32::from(self.list.is_some()) + u32::from(self.fields.is_some()) > 1
    }

    fn names(&self) -> Vec<&str> {
        match &self.fields {
            Some(Fields::Named { fields, .. }) => fields.iter().map(|field| field.name.as_str()).collect(),
            Some(Fields::Any(_)) | None => vec![],
        }
    }

    /// Drops the deepest types until few enough remain.
    fn shorten(&mut self) {
        for level in (1..=DEPTH).rev() {
            if self.count() <= TYPES {
                return;
            }
            self.cut(level);
        }
    }

    fn count(&self) -> usize {
        let fields = match &self.fields {
            Some(Fields::Named { fields, .. }) => fields.iter().map(|field| field.shape.count()).sum(),
            Some(Fields::Any(entry)) => entry.count(),
            None => 0,
        };
        1 + self.list.as_ref().map_or(0, |entry| entry.count()) + fields
    }

    fn cut(&mut self, level: usize) {
        if level == 0 {
            *self = Self::default();
            return;
        }
        if let Some(entry) = &mut self.list {
            entry.cut(level - 1);
        }
        match &mut self.fields {
            Some(Fields::Named { fields, .. }) => {
                fields.iter_mut().for_each(|field| field.shape.cut(level - 1));
            }
            Some(Fields::Any(entry)) => entry.cut(level - 1),
            None => {}
        }
    }

    /// The type on one line of at most about `bytes`; the deepest parts are left out if it is longer.
    pub fn line(&self, bytes: usize) -> String {
        let lines = (0..=DEPTH + 1).rev().map(|levels| self.written(levels));
        let mut last = String::new();
        for line in lines {
            if line.len() <= bytes {
                return line;
            }
            last = line;
        }
        last
    }

    fn written(&self, levels: usize) -> String {
        let mut kinds: Vec<String> = Vec::new();
        match &self.fields {
            Some(_) if levels == 0 => kinds.push("object".to_owned()),
            Some(Fields::Any(entry)) => kinds.push(format!("{{[name]: {}}}", entry.written(levels - 1))),
            Some(Fields::Named { fields, more }) => {
                let rest = more.then(|| "…".to_owned());
                let fields = fields.iter().map(|field| field.written(levels - 1));
                kinds.push(format!("{{{}}}", fields.chain(rest).collect::<Vec<_>>().join(", ")));
            }
            None => {}
        }
        if let Some(entry) = &self.list {
            let written = entry.written(levels);
            kinds.push(if entry.is_several() { format!("({written})[]") } else { format!("{written}[]") });
        }
        let plain = WORDS.iter().filter(|(bit, _)| self.plain & bit != 0);
        kinds.extend(plain.map(|(_, word)| (*word).to_owned()));
        if kinds.is_empty() { "any".to_owned() } else { kinds.join(" | ") }
    }
}

impl Fields {
    fn of(fields: &Map<String, Value>, depth: usize, room: &mut Room) -> Self {
        let named = fields.keys().take(VALUES).all(|name| is_name(name));
        let mut seen: Vec<Field> = Vec::new();
        for (name, value) in fields.iter().take(if named { 2 * NAMES } else { ENTRIES }) {
            let shape = Shape::within(value, depth + 1, room);
            seen.push(Field { name: name.clone(), always: true, shape });
        }
        if !named || are_values(&seen) {
            return Self::any(seen);
        }
        let more = fields.len() > NAMES;
        seen.truncate(NAMES);
        Self::Named { fields: seen, more }
    }

    /// An object as a map.
    fn any(fields: Vec<Field>) -> Self {
        let entry = fields.into_iter().map(|field| field.shape).reduce(Shape::merged);
        Self::Any(Box::new(entry.unwrap_or_default()))
    }

    fn entry(self) -> Shape {
        match self {
            Self::Any(entry) => *entry,
            Self::Named { fields, .. } => {
                fields.into_iter().map(|field| field.shape).reduce(Shape::merged).unwrap_or_default()
            }
        }
    }

    fn merged(self, other: Self) -> Self {
        let (mut one, two, more) = match (self, other) {
            (Self::Named { fields: one, more: a }, Self::Named { fields: two, more: b }) => {
                (one, two, a || b)
            }
            (one, two) => return Self::Any(Box::new(one.entry().merged(two.entry()))),
        };
        let common = two.iter().filter(|field| one.iter().any(|known| known.name == field.name)).count();
        let apart = 2 * common < one.len().min(two.len());
        for field in &mut one {
            field.always &= two.iter().any(|other| other.name == field.name);
        }
        for field in two {
            match one.iter_mut().find(|known| known.name == field.name) {
                Some(known) => {
                    known.always &= field.always;
                    known.shape = std::mem::take(&mut known.shape).merged(field.shape);
                }
                None => one.push(Field { always: false, ..field }),
            }
        }
        // An object with different names each time and one type is a map.
        if (apart && are_alike(&one)) || are_values(&one) {
            return Self::any(one);
        }
        let more = more || one.len() > NAMES;
        one.truncate(NAMES);
        Self::Named { fields: one, more }
    }
}

impl Field {
    fn written(&self, levels: usize) -> String {
        format!("{}{}: {}", self.name, if self.always { "" } else { "?" }, self.shape.written(levels))
    }
}

/// Do all fields have one type?
fn are_alike(fields: &[Field]) -> bool {
    fields.windows(2).all(|two| two[0].shape.sorts() == two[1].shape.sorts())
}

/// Do the fields' common features suggest that their names are data?
fn are_values(fields: &[Field]) -> bool {
    // Three objects with the same fields, or more strings or numbers than anyone would name.
    let objects = || {
        let names = fields[0].shape.names();
        !names.is_empty() && fields.iter().all(|field| field.shape.names() == names)
    };
    // `user_1`, `user_2`
    let counted = || {
        let stem = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let first = stem(&fields[0].name);
        fields.iter().all(|field| stem(&field.name) == first)
    };
    match fields.len() {
        0 | 1 => false,
        2 => counted(),
        number => counted() || objects() || (number > FIELDS && are_alike(fields)),
    }
}

/// Can it be a field name in a program? Ids, addresses, paths and keys are data.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || "_$@".contains(c));
    let goes_on = name.chars().skip(1).all(|c| c.is_ascii_alphanumeric() || "_$-".contains(c));
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let numbered = name.as_bytes().windows(2).any(|two| two[0] == b'-' && two[1].is_ascii_digit());
    let as_json = || Value::from(name).to_string();
    begins
        && goes_on
        && name.len() <= NAME
        && digits <= DIGITS
        && !numbered
        && retention::redacted(&as_json()) == as_json()
}

/// The learned shapes of tools without an output schema.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shapes {
    /// By tool path.
    #[serde(default)]
    tools: BTreeMap<String, Learned>,
    /// Increases with each tool learned.
    #[serde(default)]
    turn: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Learned {
    /// The hash of the definition it was learned for.
    definition: u64,
    results: u32,
    turn: u64,
    shape: Shape,
}

impl Shapes {
    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Would another result of this tool add information? Not if it declares an output schema.
    pub fn wants(&self, path: &ToolPath, tool: &ToolEntry) -> bool {
        let enough = self.known(path, tool).is_some_and(|known| known.results >= RESULTS);
        !enough && !tool.says_output()
    }

    /// Learns from a result of the present definition.
    pub fn learn(&mut self, path: &ToolPath, tool: &ToolEntry, value: &Value) {
        let (definition, shape) = (tool.number(), Shape::of(value));
        self.turn += 1;
        let turn = self.turn;
        let known = self.tools.remove(&path.to_string()).filter(|known| known.definition == definition);
        let learned = match known {
            Some(Learned { results, shape: before, .. }) => {
                let mut shape = before.merged(shape);
                shape.shorten();
                Learned { definition, results: results.saturating_add(1), turn, shape }
            }
            None => Learned { definition, results: 1, turn, shape },
        };
        self.tools.insert(path.to_string(), learned);
        while self.tools.len() > TOOLS {
            let oldest = self.tools.iter().min_by_key(|(_, learned)| learned.turn);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { return };
            self.tools.remove(&oldest);
        }
    }

    /// The shape of a tool's results, for its present definition.
    pub fn of(&self, path: &ToolPath, tool: &ToolEntry) -> Option<&Shape> {
        self.known(path, tool).map(|known| &known.shape)
    }

    fn known(&self, path: &ToolPath, tool: &ToolEntry) -> Option<&Learned> {
        let known = self.tools.get(&path.to_string())?;
        (known.definition == tool.number()).then_some(known)
    }

    /// Forgets a server's tools.
    pub fn forget_server(&mut self, server: &str) {
        let is_its = |tool: &str| tool.parse::<ToolPath>().is_ok_and(|path| path.server.as_str() == server);
        self.tools.retain(|tool, _| !is_its(tool));
    }

    /// Enforces the limits on data from a file.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.tools.retain(|path, learned| {
            path.parse::<ToolPath>().is_ok()
                && learned.shape.count() <= TYPES
                && learned.shape.is_named_well()
        });
        let more = self.tools.len().saturating_sub(TOOLS);
        let paths: Vec<String> = self.tools.keys().take(more).cloned().collect();
        for path in paths {
            self.tools.remove(&path);
        }
        self
    }
}

impl Shape {
    fn is_named_well(&self) -> bool {
        let fields = match &self.fields {
            Some(Fields::Named { fields, .. }) => {
                fields.len() <= NAMES
                    && fields.iter().all(|field| is_name(&field.name) && field.shape.is_named_well())
            }
            Some(Fields::Any(entry)) => entry.is_named_well(),
            None => true,
        };
        fields && self.list.as_ref().is_none_or(|entry| entry.is_named_well())
    }
}

#[cfg(test)]
mod tests {
    use satchel_mcp::Raw;
    use serde_json::json;

    use super::*;

    fn line(values: &[Value]) -> String {
        values.iter().map(Shape::of).reduce(Shape::merged).unwrap().line(400)
    }

    #[test]
    fn a_shape_has_names_and_types_and_no_values() {
        for (values, expected) in [
            (vec![json!("secret words")], "string"),
            (vec![json!(7), json!(7.5), json!(null)], "int | number | null"),
            (vec![json!([])], "any[]"),
            (vec![json!([1, "a"])], "(int | string)[]"),
            (vec![json!([{ "a": null }, null])], "({a: null} | null)[]"),
            (
                vec![json!([{ "id": 1, "by": "ada" }, { "id": 2, "open": true }])],
                "{id: int, by?: string, open?: boolean}[]",
            ),
            (
                vec![json!({ "all": [{ "id": 1 }] }), json!({ "all": [], "next": null })],
                "{all: {id: int}[], next?: null}",
            ),
            (vec![json!({ "a": { "b": { "c": { "d": { "e": 1 } } } } })], "{a: {b: {c: {d: {e: any}}}}}"),
            (vec![json!({})], "{}"),
        ] {
            assert_eq!(line(&values), expected);
        }
    }

    #[test]
    fn names_that_are_values_are_not_kept() {
        for name in [
            "ada@example.org",
            "/home/ada/notes.txt",
            "notes.txt",
            "550e8400-e29b-41d4-a716-446655440000",
            "PROJ-12",
            "2026-11-23",
            "12",
            "Ada Lovelace",
            "ghp_abcdefghijklmnopqrstuvwxyzabcdefghij",
            "U0123456789",
            "***",
            "größe",
            "",
        ] {
            assert_eq!(line(&[json!({ "id": 1, name: 2 })]), "{[name]: int}", "{name}");
        }
        // A map, although each key could be a name.
        let each = |names: &[&str], value: Value| {
            Value::Object(names.iter().map(|name| ((*name).to_owned(), value.clone())).collect())
        };
        let people = ["ada", "bob", "cyd"];
        assert_eq!(line(&[each(&people, json!({ "age": 1 }))]), "{[name]: {age: int}}");
        assert_eq!(line(&[each(&["user1", "user2"], json!(1))]), "{[name]: int}");
        assert_eq!(line(&[each(&people, json!(1)), each(&["dan", "eve"], json!(2))]), "{[name]: int}");
        let many: Vec<String> = ('a'..='n').map(|c| format!("{c}{c}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(line(&[each(&many, json!("x"))]), "{[name]: string}");
        // These are fields.
        assert_eq!(
            line(&[json!({ "lines": 1, "words": 2, "sha256": "x" })]),
            "{lines: int, words: int, sha256: string}"
        );
    }

    #[test]
    fn a_shape_is_bounded_for_any_input() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep, { "a": deep }]);
            if deep.to_string().len() > 100_000 {
                break;
            }
        }
        let wide: Map<String, Value> = (0..26u8)
            .flat_map(|a| (0..26u8).map(move |b| (a, b)))
            .enumerate()
            .map(|(at, (a, b))| {
                let value = if at % 2 == 0 { json!({ "x": [at], "y": { "z": at } }) } else { json!(at) };
                (format!("{}{}", char::from(b'a' + a), char::from(b'a' + b)), value)
            })
            .collect();
        for value in [deep, Value::Object(wide)] {
            let shape = Shape::of(&value);
            assert!(shape.count() <= TYPES, "{}", shape.count());
            assert!(serde_json::to_string(&shape).unwrap().len() <= 32 * 1024);
            assert!(shape.line(400).len() <= 400, "{}", shape.line(400));
        }
    }

    fn tool(definition: &Value) -> ToolEntry {
        let raw = Raw::from_string(definition.to_string()).unwrap();
        let (mut tools, _) = super::super::validate::tools(vec![raw]);
        tools.remove(0)
    }

    #[test]
    fn a_tool_that_changes_is_learned_anew_and_few_results_are_enough() {
        let mut shapes = Shapes::default();
        let path: ToolPath = "s:t".parse().unwrap();
        let before = tool(&json!({ "name": "t", "inputSchema": { "type": "object" } }));
        for at in 0..RESULTS {
            assert!(shapes.wants(&path, &before), "{at}");
            shapes.learn(&path, &before, &json!({ "a": at }));
        }
        assert!(!shapes.wants(&path, &before));
        assert_eq!(shapes.of(&path, &before).unwrap().line(99), "{a: int}");
        let after = tool(&json!({ "name": "t", "description": "x", "inputSchema": { "type": "object" } }));
        assert_eq!(shapes.of(&path, &after), None);
        assert!(shapes.wants(&path, &after));
        shapes.learn(&path, &after, &json!("x"));
        assert_eq!(shapes.of(&path, &after).unwrap().line(99), "string");
        assert_eq!(shapes.of(&path, &before), None);
        let says = tool(
            &json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" } }),
        );
        assert!(!shapes.wants(&path, &says));
        shapes.forget_server("s");
        assert!(shapes.is_empty());
    }

    #[test]
    fn the_tool_learned_longest_ago_gives_way_and_a_strange_file_is_put_in_order() {
        let one = tool(&json!({ "name": "t", "inputSchema": { "type": "object" } }));
        let mut shapes = Shapes::default();
        for at in 0..=TOOLS {
            shapes.learn(&format!("s:t{at}").parse().unwrap(), &one, &json!(1));
        }
        assert_eq!(shapes.tools.len(), TOOLS);
        assert!(!shapes.tools.contains_key("s:t0"));
        let bad = r#"{"tools":{"s:t":{"definition":1,"results":1,"turn":1,"shape":{"fields":{"named":{"fields":[{"name":"ada@example.org","always":true,"shape":{}}],"more":false}}}}}}"#;
        assert!(serde_json::from_str::<Shapes>(bad).unwrap().checked().is_empty());
        let text = serde_json::to_string(&shapes).unwrap();
        assert_eq!(serde_json::from_str::<Shapes>(&text).unwrap().checked(), shapes);
    }
}
