//! Texts with references: `${VAR}`, `${VAR:-default}`, `${secret:NAME}`, `${file:PATH}`, `${cmd:COMMAND}`. A name without a value is an error, never an empty
//! string. `$${VAR}` is the literal text `${VAR}`. Contains the only scanner of `${…}`, which reads other programs' placeholders
//! too. Looks up no value itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{placeholder::PROJECT_FOLDER, source::SecretSource};

/// How many defaults may stand inside each other: `${A:-${B:-${C}}}`.
const DEPTH: usize = 8;

/// A text with references to variables and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// An environment variable.
    Variable {
        /// Its name.
        name: String,
        /// The value to use if it is not set, which may contain references.
        default: Option<Template>,
    },
    /// A secret, by name.
    Secret(String),
    /// A secret that is read from where it is.
    Source(SecretSource),
}

/// Resolves references.
pub trait Values {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The value of a secret.
    fn secret(&self, name: &str) -> Option<String>;
    /// The secret that was read from there; `None` where none is read.
    fn source(&self, _source: &SecretSource) -> Option<String> {
        None
    }
}

impl Template {
    /// Parses a text. An unterminated `${` is literal text.
    pub fn parse(text: &str) -> Self {
        Self::within(text, DEPTH)
    }

    fn within(text: &str, depth: usize) -> Self {
        let mut pieces = Vec::new();
        let mut before = "";
        for part in scan(text, is_reference) {
            match (part, before.strip_suffix('$')) {
                (Scanned::Text(text), _) => before = text,
                (Scanned::Placeholder { whole, .. }, Some(unescaped)) => {
                    pieces.push(Piece::Text(format!("{unescaped}{whole}")));
                    before = "";
                }
                (Scanned::Placeholder { inside, .. }, None) => {
                    if !before.is_empty() {
                        pieces.push(Piece::Text(before.to_owned()));
                    }
                    pieces.push(reference(inside, depth));
                    before = "";
                }
            }
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        Self(pieces)
    }

    /// Its parts, in order.
    pub fn into_pieces(self) -> Vec<Piece> {
        self.0
    }

    /// The names of the secrets it references, also in defaults.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.references().filter_map(|piece| match piece {
            Piece::Secret(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::Variable { .. } | Piece::Source(_) => None,
        })
    }

    /// The sources of secrets that it references, also in defaults.
    pub fn sources(&self) -> impl Iterator<Item = &SecretSource> {
        self.references().filter_map(|piece| match piece {
            Piece::Source(source) => Some(source),
            Piece::Text(_) | Piece::Variable { .. } | Piece::Secret(_) => None,
        })
    }

    /// The names of the variables it references, also in defaults.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.references().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name.as_str()),
            Piece::Text(_) | Piece::Secret(_) | Piece::Source(_) => None,
        })
    }

    fn references(&self) -> Box<dyn Iterator<Item = &Piece> + '_> {
        Box::new(self.0.iter().flat_map(|piece| -> Box<dyn Iterator<Item = &Piece> + '_> {
            match piece {
                Piece::Text(_) => Box::new(std::iter::empty()),
                Piece::Variable { default: Some(default), .. } => {
                    Box::new(std::iter::once(piece).chain(default.references()))
                }
                Piece::Variable { default: None, .. } | Piece::Secret(_) | Piece::Source(_) => {
                    Box::new(std::iter::once(piece))
                }
            }
        }))
    }

    /// Substitutes values. Adds references that have none to `missing`.
    pub fn fill(&self, values: &impl Values, missing: &mut BTreeSet<String>) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            let source_name;
            let (name, value) = match piece {
                Piece::Text(piece) => {
                    text.push_str(piece);
                    continue;
                }
                Piece::Variable { name, default } => {
                    let value = values.variable(name).filter(|value| !value.is_empty());
                    (name, value.or_else(|| Some(default.as_ref()?.fill(values, missing))))
                }
                Piece::Secret(name) => (name, values.secret(name)),
                Piece::Source(source) => {
                    source_name = source.to_string();
                    (&source_name, values.source(source))
                }
            };
            match value {
                Some(value) => text.push_str(&value),
                None => {
                    missing.insert(name.clone());
                }
            }
        }
        text
    }
}

/// Fills the values of a map; see [`Template::fill`].
pub fn fill_map(
    map: &BTreeMap<String, String>,
    values: &impl Values,
    missing: &mut BTreeSet<String>,
) -> BTreeMap<String, String> {
    map.iter().map(|(key, value)| (key.clone(), Template::parse(value).fill(values, missing))).collect()
}

/// The reference to a secret.
pub fn to_secret(name: &str) -> String {
    format!("${{secret:{name}}}")
}

/// The names of the secrets that these values reference in any text.
pub fn secrets_in<'a>(values: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open: Vec<&Value> = values.into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => names.extend(Template::parse(text).secrets().map(ToOwned::to_owned)),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    names
}

/// How texts use the folder of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProjectUse {
    /// Not at all.
    None,
    /// With a default for a session without a folder.
    Optional,
    /// Without a default.
    Needed,
}

/// How a text uses the folder of a session.
pub fn project_use(text: &str) -> ProjectUse {
    let template = Template::parse(text);
    let uses = template.references().map(|piece| match piece {
        Piece::Variable { name, default: Some(_) } if name == PROJECT_FOLDER => ProjectUse::Optional,
        Piece::Variable { name, default: None } if name == PROJECT_FOLDER => ProjectUse::Needed,
        Piece::Variable { .. } | Piece::Secret(_) | Piece::Source(_) | Piece::Text(_) => ProjectUse::None,
    });
    uses.max().unwrap_or(ProjectUse::None)
}

/// May a folder of this name stand in a text? Beside what is written there, one of these characters could begin, end or escape
/// a reference.
pub fn is_plain(folder: &str) -> bool {
    !folder.contains(['$', '{', '}'])
}

/// The text with a session's folder in place of `${project}`. A folder that is not [`is_plain`] stands nowhere.
pub fn with_project(text: &str, folder: &str) -> String {
    rewrite(text, &|piece| match piece {
        Piece::Variable { name, .. } if name == PROJECT_FOLDER => is_plain(folder).then(|| folder.to_owned()),
        Piece::Variable { .. } | Piece::Secret(_) | Piece::Source(_) | Piece::Text(_) => None,
    })
}

/// Does a text reference a secret?
pub fn names_secret(text: &str) -> bool {
    Template::parse(text).secrets().next().is_some()
}

/// Escapes a text so that parsing yields exactly that text, without references.
pub fn literal(text: &str) -> String {
    let escaped = scan(text, is_reference).into_iter().map(|part| match part {
        Scanned::Text(text) => text.to_owned(),
        Scanned::Placeholder { whole, .. } => format!("${whole}"),
    });
    escaped.collect()
}

/// The text with others in place of the references that `replaced` has one for, also in defaults. Everything else stays as
/// it is written.
pub fn rewrite(text: &str, replaced: &dyn Fn(&Piece) -> Option<String>) -> String {
    rewrite_within(text, replaced, DEPTH)
}

/// Rewrites every text of a value, but no names; see [`rewrite`].
pub fn rewrite_all(value: &mut Value, replaced: &dyn Fn(&Piece) -> Option<String>) {
    match value {
        Value::String(text) => *text = rewrite(text, replaced),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_all(item, replaced)),
        Value::Object(map) => map.values_mut().for_each(|item| rewrite_all(item, replaced)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn rewrite_within(text: &str, replaced: &dyn Fn(&Piece) -> Option<String>, depth: usize) -> String {
    let (mut new, mut escaped) = (String::with_capacity(text.len()), false);
    for part in scan(text, is_reference) {
        match part {
            Scanned::Text(text) => new.push_str(text),
            Scanned::Placeholder { whole, .. } if escaped || depth == 0 => new.push_str(whole),
            Scanned::Placeholder { whole, inside } => {
                match (replaced(&reference(inside, depth)), inside.split_once(":-")) {
                    (Some(text), _) => new.push_str(&text),
                    (None, Some((name, default))) => {
                        let default = rewrite_within(default, replaced, depth - 1);
                        new.push_str(&format!("${{{name}:-{default}}}"));
                    }
                    (None, None) => new.push_str(whole),
                }
            }
        }
        escaped = matches!(part, Scanned::Text(text) if text.ends_with('$'));
    }
    new
}

/// A part of a text that was scanned for placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned<'a> {
    /// Text between placeholders.
    Text(&'a str),
    /// `${…}`.
    Placeholder {
        /// As written.
        whole: &'a str,
        /// What stands between the braces.
        inside: &'a str,
    },
}

/// Splits a text at the outermost placeholders `${…}` that are accepted, by what stands inside. Others are text.
pub fn scan(text: &str, accepts: impl Fn(&str) -> bool) -> Vec<Scanned<'_>> {
    let (mut parts, mut done) = (Vec::new(), 0);
    for (start, end) in closed(text) {
        let inside = &text[start + 2..end];
        if start < done || !accepts(inside) {
            continue;
        }
        if start > done {
            parts.push(Scanned::Text(&text[done..start]));
        }
        parts.push(Scanned::Placeholder { whole: &text[start..=end], inside });
        done = end + 1;
    }
    if done < text.len() {
        parts.push(Scanned::Text(&text[done..]));
    }
    parts
}

/// The position of each `${` and of the brace that closes it, in order.
fn closed(text: &str) -> Vec<(usize, usize)> {
    let (mut open, mut closed) = (Vec::new(), Vec::new());
    for (at, brace) in text.match_indices(['{', '}']) {
        match brace {
            "{" if text[..at].ends_with('$') => open.push(at - 1),
            "{" => {}
            _ => closed.extend(open.pop().map(|start| (start, at))),
        }
    }
    closed.sort_unstable();
    closed
}

/// Is this a valid name, perhaps with a default? Anything else, such as a shell's `${x%%y}`, stays literal. Reads no further
/// than the name.
fn is_reference(inside: &str) -> bool {
    // An editor's word for what separates the parts of a path.
    if inside == "/" || SecretSource::of(inside).is_some() {
        return true;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let end = inside.find(|c| !is_part(c)).unwrap_or(inside.len());
    let (name, has_default) = match inside[..end].split_once(":-") {
        Some((name, _)) => (name, true),
        None => (&inside[..end], false),
    };
    (has_default || end == inside.len()) && !name.strip_prefix("secret:").unwrap_or(name).is_empty()
}

fn reference(inside: &str, depth: usize) -> Piece {
    if let Some(name) = inside.strip_prefix("secret:") {
        return Piece::Secret(name.to_owned());
    }
    if let Some(source) = SecretSource::of(inside) {
        return Piece::Source(source);
    }
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let Some((name, default)) = inside.split_once(":-") else {
        return Piece::Variable { name: inside.to_owned(), default: None };
    };
    let default = match depth.checked_sub(1) {
        Some(depth) => Template::within(default, depth),
        None => Template(vec![Piece::Text(default.to_owned())]),
    };
    Piece::Variable { name: name.to_owned(), default: Some(default) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;
    impl Values for Fixed {
        fn variable(&self, name: &str) -> Option<String> {
            match name {
                "HOME" => Some("/home/ada".into()),
                "EMPTY" => Some(String::new()),
                _ => None,
            }
        }
        fn secret(&self, name: &str) -> Option<String> {
            (name == "TOKEN").then(|| "s3cret".into())
        }
        fn source(&self, source: &SecretSource) -> Option<String> {
            Some(format!("s3cret of {source}"))
        }
    }

    #[test]
    fn references_are_filled_and_everything_else_stays() {
        let check = |text: &str, expected: &str, expected_missing: &[&str]| {
            let mut missing = BTreeSet::new();
            assert_eq!(Template::parse(text).fill(&Fixed, &mut missing), expected, "{text}");
            assert_eq!(missing.iter().map(String::as_str).collect::<Vec<_>>(), expected_missing, "{text}");
        };
        check("plain $HOME ${", "plain $HOME ${", &[]);
        check("${HOME}/x", "/home/ada/x", &[]);
        check("${env:HOME}", "/home/ada", &[]);
        check("Bearer ${secret:TOKEN}!", "Bearer s3cret!", &[]);
        check("${NONE:-a b}", "a b", &[]);
        check("${NONE:-}", "", &[]);
        check("${EMPTY:-x}${HOME}", "x/home/ada", &[]);
        check("${EMPTY}", "", &["EMPTY"]);
        check("${NONE}${secret:GONE}", "", &["GONE", "NONE"]);
        check("${input:key}", "", &["input:key"]);
        check("${x%%y} {} ${}", "${x%%y} {} ${}", &[]);
        check("${/}", "", &["/"]);
        check("${a b}${HOME}", "${a b}/home/ada", &[]);
        check("${a${HOME}}", "${a/home/ada}", &[]);
        check("${HOME}$${HOME}${HOME}", "/home/ada${HOME}/home/ada", &[]);
        check("a${cmd:pass show k}b", "as3cret of cmd:pass show kb", &[]);
        check(
            "${file:/run/k ${HOME}}${NONE:-${op:a/b/c}}",
            "s3cret of file:/run/k ${HOME}s3cret of op:a/b/c",
            &[],
        );
        check("$${cmd:pass}${cmd:-x}", "${cmd:pass}x", &[]);
    }

    #[test]
    fn a_default_may_contain_references() {
        let check = |text: &str, expected: &str, expected_missing: &[&str]| {
            let mut missing = BTreeSet::new();
            let template = Template::parse(text);
            assert_eq!(template.fill(&Fixed, &mut missing), expected, "{text}");
            assert_eq!(missing.iter().map(String::as_str).collect::<Vec<_>>(), expected_missing, "{text}");
        };
        check("${NONE:-${HOME}/.config}/x", "/home/ada/.config/x", &[]);
        check("${A:-${B:-${HOME}/b}/a}", "/home/ada/b/a", &[]);
        check("${HOME:-${NONE}}", "/home/ada", &[]);
        check("${A:-${B}}", "", &["B"]);
        check("${A:-$${HOME}}", "${HOME}", &[]);
        let nested = Template::parse("${A:-${secret:B}${C:-${secret:D}}}");
        assert_eq!(nested.secrets().collect::<Vec<_>>(), ["B", "D"]);
        assert_eq!(nested.variables().collect::<Vec<_>>(), ["A", "C"]);
        let deep = format!("{}x{}", "${A:-".repeat(100_000), "}".repeat(100_000));
        assert!(Template::parse(&deep).fill(&Fixed, &mut BTreeSet::new()).contains('x'));
    }

    #[test]
    fn a_text_that_is_written_literally_means_itself() {
        for text in [
            "${HOME}",
            "$${HOME}",
            "$$${HOME}",
            "a${secret:TOKEN}b${NONE:-x}",
            "${NONE:-${HOME}}",
            "${x%%y}",
            "${",
            "${env:HOME}${HOME}",
            "${a${HOME}}",
            "$",
            "plain",
        ] {
            let mut missing = BTreeSet::new();
            let written = literal(text);
            assert_eq!(Template::parse(&written).fill(&Fixed, &mut missing), text, "{written}");
            assert!(missing.is_empty() && Template::parse(&written).secrets().next().is_none(), "{written}");
        }
        assert_eq!(literal("a ${B}"), "a $${B}");
    }

    #[test]
    fn a_sessions_folder_stands_as_it_is_called_and_becomes_no_reference() {
        for (text, uses, filled) in [
            ("--root=${project}/src", ProjectUse::Needed, "--root=/a b/c/src"),
            ("${project:-/srv}", ProjectUse::Optional, "/a b/c"),
            ("${A:-${project}}", ProjectUse::Needed, "/a b/c"),
            ("$${project} ${projects}", ProjectUse::None, "${project} "),
            ("${HOME}", ProjectUse::None, "/home/ada"),
        ] {
            assert_eq!(project_use(text), uses, "{text}");
            let filled_in = with_project(text, "/a b/c");
            assert_eq!(Template::parse(&filled_in).fill(&Fixed, &mut BTreeSet::new()), filled, "{text}");
            // Joined with what the entry has around it, such a name could run a command or name another's secret.
            for folder in ["/x${cmd:touch a", "/x${secret:B", "/x$", "/{HOME}", "/a}"] {
                assert_eq!(with_project(text, folder), text, "{folder}");
                assert!(!is_plain(folder));
            }
        }
    }

    #[test]
    fn secrets_are_known_before_anything_is_filled() {
        let template = Template::parse("${secret:A}-${B}-${secret:C.d}");
        assert_eq!(template.secrets().collect::<Vec<_>>(), ["A", "C.d"]);
    }

    #[test]
    fn only_references_that_are_replaced_change() {
        let to_b = |piece: &Piece| (*piece == Piece::Secret("a".into())).then(|| to_secret("b"));
        for (text, new) in [
            ("x ${secret:a}${secret:ab}", "x ${secret:b}${secret:ab}"),
            ("$${secret:a} ${x%%${secret:a}}", "$${secret:a} ${x%%${secret:b}}"),
            ("${env:X} ${env:Y:-z${secret:a}}", "${env:X} ${env:Y:-z${secret:b}}"),
            ("${secret:a", "${secret:a"),
        ] {
            assert_eq!(rewrite(text, &to_b), new, "{text}");
        }
    }

    #[test]
    fn other_programs_placeholders_are_found_whole() {
        let inside = |text: &'static str| -> Vec<&str> {
            let parts = scan(text, |_| true).into_iter().filter_map(|part| match part {
                Scanned::Placeholder { inside, .. } => Some(inside),
                Scanned::Text(_) => None,
            });
            parts.collect()
        };
        assert_eq!(inside("${cmd:pass ${X}} {y} ${} ${z"), ["cmd:pass ${X}", ""]);
        assert_eq!(inside("${a ${b}"), ["b"]);
    }
}
