//! Compares the frontmatter of a Markdown file with the values that a server states for it. Readers of YAML 1.1 and 1.2
//! differ in what an unquoted word means (`no`, `010`, a date), so both meanings count. Refuses what readers may take for
//! different things: a key that occurs twice, tags. Edits nothing.

use std::{collections::BTreeMap, rc::Rc};

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Number, Value};

/// Maximum size of a frontmatter, in bytes, and maximum nesting of it.
const LARGEST: usize = 64 * 1024;
const DEPTH: usize = 64;
/// Maximum number of maps that one map merges (`<<`).
const MERGED: usize = 16;

/// Does the frontmatter of this file say exactly this?
///
/// # Errors
/// Why not: there is no readable frontmatter, or the first field that differs.
pub fn says(file: &str, expected: &Map<String, Value>) -> Result<(), String> {
    let root = read(file)?;
    let Yaml::Map(members) = &*root else {
        return Err("its frontmatter is not a map".to_owned());
    };
    match differing(members, expected) {
        None => Ok(()),
        Some(field) => Err(format!("its frontmatter has another value of \"{field}\"")),
    }
}

/// The fields of a file's frontmatter, with the texts of those that have one.
///
/// # Errors
/// As for [`says`].
pub fn texts(file: &str) -> Result<BTreeMap<String, Option<String>>, String> {
    let root = read(file)?;
    let Yaml::Map(members) = &*root else {
        return Err("its frontmatter is not a map".to_owned());
    };
    let text = |value: &Yaml| match value {
        Yaml::Scalar(scalar) => Some(scalar.text.clone()),
        Yaml::List(_) | Yaml::Map(_) => None,
    };
    Ok(members.iter().map(|(key, value)| (key.text.clone(), text(value))).collect())
}

fn read(file: &str) -> Result<Rc<Yaml>, String> {
    let text = frontmatter(file).ok_or("it has no frontmatter, or one that does not end")?;
    if text.len() > LARGEST {
        return Err(format!("its frontmatter is larger than {} KiB", LARGEST / 1024));
    }
    YamlTree::parse(text)
}

/// The text between the first two lines `---`.
fn frontmatter(file: &str) -> Option<&str> {
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    let is_mark = |line: &str| line.trim_end_matches(['\n', '\r', ' ', '\t']) == "---";
    let mut lines = file.split_inclusive('\n');
    let first = lines.next().filter(|line| is_mark(line) && line.ends_with('\n'))?;
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            return Some(&file[first.len()..end]);
        }
        end += line.len();
    }
    None
}

/// A value. Repetitions by aliases share it, so that a short text is never a large value.
#[derive(Debug)]
enum Yaml {
    Scalar(Scalar),
    List(Vec<Rc<Yaml>>),
    Map(Vec<(Scalar, Rc<Yaml>)>),
}

#[derive(Debug)]
struct Scalar {
    text: String,
    /// Without quotes: it may mean something else than its text.
    plain: bool,
}

struct YamlTree<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: BTreeMap<usize, Rc<Yaml>>,
}

impl<'a> YamlTree<'a> {
    /// Parses a single document.
    fn parse(text: &'a str) -> Result<Rc<Yaml>, String> {
        let mut tree = Self { parser: Parser::new_from_str(text), anchors: BTreeMap::new() };
        let mut root = None;
        loop {
            match tree.next()? {
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                Event::StreamEnd => return root.ok_or_else(|| "its frontmatter is empty".to_owned()),
                event if root.is_none() => root = Some(tree.node(event, 0)?),
                _ => return Err("its frontmatter has several documents".to_owned()),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(format!("its frontmatter is not readable ({})", error.info())),
            None => Err("its frontmatter ends too early".to_owned()),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Rc<Yaml>, String> {
        if depth > DEPTH {
            return Err("its frontmatter is nested too deeply".to_owned());
        }
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && !is_text(tag.as_deref())?;
                (Yaml::Scalar(Scalar { text: text.into_owned(), plain }), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                is_text(tag.as_deref())?;
                (Yaml::List(self.items(depth)?), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                is_text(tag.as_deref())?;
                (Yaml::Map(self.members(depth)?), anchor)
            }
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                return known.ok_or_else(|| "its frontmatter repeats a value within itself".to_owned());
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err("its frontmatter is not readable".to_owned()),
        };
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Rc<Yaml>>, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(items),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(Scalar, Rc<Yaml>)>, String> {
        let mut members: Vec<(Scalar, Rc<Yaml>)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(members),
                event => self.node(event, depth + 1)?,
            };
            let Yaml::Scalar(Scalar { text, plain }) = &*key else {
                return Err("its frontmatter has a key that is not a text".to_owned());
            };
            if !seen.insert(text.clone()) {
                return Err(format!("its frontmatter has \"{text}\" twice"));
            }
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            members.push((Scalar { text: text.clone(), plain: *plain }, value));
        }
    }
}

/// The tags that every reader knows.
const TAGS: [&str; 7] = ["str", "int", "float", "bool", "null", "seq", "map"];

/// Does the tag say that a value is its text? Other tags mean something to some readers only.
fn is_text(tag: Option<&Tag>) -> Result<bool, String> {
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema() && TAGS.contains(&tag.suffix.as_str()) => {
            Ok(tag.suffix == "str")
        }
        Some(tag) => Err(format!("its frontmatter has the tag {tag}")),
    }
}

/// The first field that is not in both with the same value.
fn differing(members: &[(Scalar, Rc<Yaml>)], expected: &Map<String, Value>) -> Option<String> {
    let merged = if expected.contains_key(MERGE) { None } else { merged(members) };
    let as_written = || members.iter().map(|(key, value)| (key, value)).collect::<Vec<_>>();
    differs_in(&merged.unwrap_or_else(as_written), expected)
}

fn differs_in(members: &[(&Scalar, &Rc<Yaml>)], expected: &Map<String, Value>) -> Option<String> {
    for (key, value) in members {
        let there = key.as_keys().into_iter().find_map(|key| expected.get(&key));
        if there.is_none_or(|there| !is_same(value, there)) {
            return Some(key.text.clone());
        }
    }
    if members.len() == expected.len() {
        return None;
    }
    let known = |name: &String| members.iter().any(|(key, _)| key.as_keys().contains(name));
    Some(expected.keys().find(|name| !known(name)).cloned().unwrap_or_default())
}

/// The key whose value another map takes over, in YAML 1.1.
const MERGE: &str = "<<";

/// The members with those that are taken over; `None` if there are none.
fn merged(members: &[(Scalar, Rc<Yaml>)]) -> Option<Vec<(&Scalar, &Rc<Yaml>)>> {
    let (_, source) = members.iter().find(|(key, _)| key.plain && key.text == MERGE)?;
    let sources: Vec<&Rc<Yaml>> = match &**source {
        Yaml::Map(_) => vec![source],
        Yaml::List(items) if items.len() <= MERGED => items.iter().collect(),
        Yaml::List(_) | Yaml::Scalar(_) => return None,
    };
    let mut all: Vec<(&Scalar, &Rc<Yaml>)> =
        members.iter().filter(|(key, _)| key.text != MERGE).map(|(key, value)| (key, value)).collect();
    for source in sources {
        let Yaml::Map(more) = &**source else { return None };
        for (key, value) in more {
            if !all.iter().any(|(known, _)| known.text == key.text) {
                all.push((key, value));
            }
        }
    }
    Some(all)
}

/// May a reader take this for that value? Takes as long as the value is large, whatever the aliases.
fn is_same(yaml: &Yaml, value: &Value) -> bool {
    match (yaml, value) {
        (Yaml::Map(members), Value::Object(fields)) => differing(members, fields).is_none(),
        (Yaml::List(items), Value::Array(values)) => {
            items.len() == values.len() && items.iter().zip(values).all(|(item, value)| is_same(item, value))
        }
        (Yaml::Scalar(scalar), value) => scalar.may_mean(value),
        (Yaml::Map(_) | Yaml::List(_), _) => false,
    }
}

const NOTHING: [&str; 5] = ["", "~", "null", "Null", "NULL"];
const YES: [&str; 3] = ["true", "yes", "on"];
const NO: [&str; 3] = ["false", "no", "off"];

impl Scalar {
    fn may_mean(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => *text == self.text || (self.plain && is_same_date(&self.text, text)),
            Value::Null => self.plain && NOTHING.contains(&self.text.as_str()),
            Value::Bool(value) => self.plain && self.switch() == Some(*value),
            Value::Number(number) => self.plain && self.numbers().iter().any(|own| is_equal(*own, number)),
            Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// The JSON keys that readers may make of it.
    fn as_keys(&self) -> Vec<String> {
        let mut keys = vec![self.text.clone()];
        if self.plain {
            keys.extend(self.switch().map(|value| value.to_string()));
            keys.extend(NOTHING.contains(&self.text.as_str()).then(|| "null".to_owned()));
            keys.extend(self.numbers().iter().map(f64::to_string));
        }
        keys
    }

    /// `yes`, `Yes` and `YES`, but not `yEs`.
    fn switch(&self) -> Option<bool> {
        let lower = self.text.to_ascii_lowercase();
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        let is = |word: &&&str| {
            self.text == **word || self.text == word.to_ascii_uppercase() || self.text == capital(word)
        };
        let among = |words: &[&str]| words.iter().filter(|word| **word == lower).any(|word| is(&word));
        if among(&YES) { Some(true) } else { among(&NO).then_some(false) }
    }

    /// The numbers that readers may take it for: 8 and 10 for `010`.
    fn numbers(&self) -> Vec<f64> {
        let whole = self.text.replace('_', "");
        let (sign, digits) = match whole.strip_prefix(['-', '+']) {
            Some(digits) => (if whole.starts_with('-') { -1.0 } else { 1.0 }, digits),
            None => (1.0, whole.as_str()),
        };
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return vec![];
        }
        let radix = |text: Option<&str>, radix| {
            text.and_then(|text| u64::from_str_radix(text, radix).ok()).map(|number| number as f64)
        };
        let octal =
            || digits.strip_prefix('0').filter(|rest| !rest.is_empty() && !rest.starts_with(['x', 'b']));
        let sixty = || {
            let parts: Vec<f64> = digits.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
            (parts.len() > 1).then(|| parts.into_iter().fold(0.0, |sum, part| sum * 60.0 + part))
        };
        let is_decimal =
            digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
        [
            is_decimal.then(|| digits.parse().ok()).flatten(),
            radix(digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")), 16),
            radix(digits.strip_prefix("0o"), 8),
            radix(digits.strip_prefix("0b"), 2),
            radix(octal(), 8),
            sixty(),
        ]
        .into_iter()
        .flatten()
        .map(|number: f64| sign * number)
        .collect()
    }
}

fn is_equal(own: f64, number: &Number) -> bool {
    // Readers of JavaScript have no other numbers.
    number.as_f64().is_some_and(|value| value == own)
}

/// Are they the same point in time, which readers write in different forms?
fn is_same_date(own: &str, value: &str) -> bool {
    let is_date = |text: &str| {
        let mut parts = text.get(..10).unwrap_or_default().split('-');
        let all_digits = |part: Option<&str>, length| {
            part.is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        all_digits(parts.next(), 4) && all_digits(parts.next(), 2) && all_digits(parts.next(), 2)
    };
    let digits = |text: &str| -> String {
        let text = text.strip_suffix("+00:00").unwrap_or(text);
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        format!(
            "{}{}",
            &digits[..8.min(digits.len())],
            digits.get(8..).unwrap_or_default().trim_end_matches('0')
        )
    };
    let has_zone =
        |text: &str| text.len() > 10 && text[10..].contains(['+', '-']) && !text.ends_with("+00:00");
    is_date(own) && is_date(value) && !has_zone(own) && !has_zone(value) && digits(own) == digits(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(front: &str, value: &Value) -> Result<(), String> {
        says(&format!("---\n{front}---\n\n# Body\n"), value.as_object().unwrap())
    }

    #[test]
    fn a_frontmatter_says_what_any_reader_of_yaml_finds_in_it() {
        let plain = "name: a\nreviewed: 2026-11-03\ndraft: no\nlevel: 010\nratio: 1.10\n";
        for value in [
            json!({ "name": "a", "reviewed": "2026-11-03", "draft": false, "level": 8, "ratio": 1.1 }),
            json!({ "name": "a", "reviewed": "2026-11-03", "draft": "no", "level": 10, "ratio": 1.1 }),
            json!({ "name": "a", "reviewed": "2026-11-03T00:00:00.000Z", "draft": "no", "level": "010", "ratio": 1.1 }),
        ] {
            assert_eq!(check(plain, &value), Ok(()), "{value}");
        }
        let forms = "# a comment\nname: 'a'\ndescription: >-\n  One line,\n  folded.\nmetadata: &m {owner: \"a: b\", tags: [x, 'y']}\ncopy: *m\nnotes: |\n  first\n  second\nnothing:\non: 1\n";
        let metadata = json!({ "owner": "a: b", "tags": ["x", "y"] });
        let value = json!({ "name": "a", "description": "One line, folded.", "metadata": metadata,
            "copy": metadata, "notes": "first\nsecond\n", "nothing": null, "true": 1 });
        assert_eq!(check(forms, &value), Ok(()));
        let merging = "base: &b {x: 1, y: 2}\nall: {<<: *b, y: 3}\n";
        assert_eq!(check(merging, &json!({ "base": {"x": 1, "y": 2}, "all": {"x": 1, "y": 3} })), Ok(()));
        assert_eq!(
            says("\u{feff}---\r\nname: a\r\n---\r\n", json!({ "name": "a" }).as_object().unwrap()),
            Ok(())
        );
        assert_eq!(
            check(
                "n: 0x1F\ns: 1:30\nb: Yes\nu: 1_000\ni: -7\nf: 3.0\n",
                &json!({ "n": 31, "s": 90, "b": true, "u": 1000, "i": -7, "f": 3 })
            ),
            Ok(())
        );
    }

    #[test]
    fn what_differs_is_named() {
        for (front, value, expected) in [
            ("name: a\n", json!({ "name": "b" }), "\"name\""),
            ("name: a\nallowed-tools: Bash(*)\n", json!({ "name": "a" }), "\"allowed-tools\""),
            ("name: a\n", json!({ "name": "a", "license": "MIT" }), "\"license\""),
            ("name: a\nx: '1'\n", json!({ "name": "a", "x": 1 }), "\"x\""),
            ("name: a\nx: 1\n", json!({ "name": "a", "x": 2 }), "\"x\""),
            ("name: a\nx: [1, 2]\n", json!({ "name": "a", "x": [1] }), "\"x\""),
            ("name: a\nd: 2026-11-03\n", json!({ "name": "a", "d": "2026-11-04" }), "\"d\""),
            ("name: a\nname: b\n", json!({ "name": "a" }), "twice"),
            ("name: a\nx: {y: 1, y: 2}\n", json!({ "name": "a", "x": { "y": 2 } }), "twice"),
            ("name: a\nx: !!python/object:os.system [1]\n", json!({ "name": "a", "x": [1] }), "tag"),
            ("- name\n", json!({ "name": "a" }), "not a map"),
            ("name: [\n", json!({ "name": "a" }), "readable"),
        ] {
            let why = check(front, &value).unwrap_err();
            assert!(why.contains(expected), "{front}: {why}");
        }
        for file in ["", "name: a\n", "---\nname: a\n", "---\nname: a\n----\n", "--- \nname: a"] {
            assert!(says(file, json!({ "name": "a" }).as_object().unwrap()).is_err(), "{file:?}");
        }
    }

    #[test]
    fn aliases_that_multiply_cost_nothing() {
        let mut front = "name: a\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for at in 1..30 {
            let before = format!("*a{}", at - 1);
            front.push_str(&format!("a{at}: &a{at} [{}]\n", [before.as_str(); 9].join(",")));
        }
        assert!(check(&front, &json!({ "name": "a" })).is_err());
        assert!(check("a: &a [*a]\n", &json!({ "a": [] })).is_err());
    }
}
