//! Expands `${VAR}`, `${VAR:-default}` and `${secret:NAME}`. A name without a value is an error, never an empty string.
//! `$${VAR}` is the literal text `${VAR}`.

use std::collections::{BTreeMap, BTreeSet};

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
        /// The value to use if it is not set.
        default: Option<String>,
    },
    /// A secret, by name.
    Secret(String),
}

/// Resolves references.
pub trait Values {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The value of a secret.
    fn secret(&self, name: &str) -> Option<String>;
}

impl Template {
    /// Parses a text. An unterminated `${` is literal text.
    pub fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, inside, after)) = next_reference(rest) {
            match before.strip_suffix('$') {
                Some(before) => pieces.push(Piece::Text(format!("{before}${{{inside}}}"))),
                None => {
                    if !before.is_empty() {
                        pieces.push(Piece::Text(before.to_owned()));
                    }
                    pieces.push(reference(inside));
                }
            }
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Self(pieces)
    }

    /// Its parts, in order.
    pub fn into_pieces(self) -> Vec<Piece> {
        self.0
    }

    /// The names of the secrets it references.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Secret(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::Variable { .. } => None,
        })
    }

    /// Substitutes values. Adds references that have none to `missing`.
    pub fn fill(&self, values: &impl Values, missing: &mut BTreeSet<String>) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            let (name, value) = match piece {
                Piece::Text(piece) => {
                    text.push_str(piece);
                    continue;
                }
                Piece::Variable { name, default } => {
                    let value = values.variable(name).filter(|value| !value.is_empty());
                    (name, value.or_else(|| default.clone()))
                }
                Piece::Secret(name) => (name, values.secret(name)),
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

/// Escapes a text so that parsing yields exactly that text, without references.
pub fn literal(text: &str) -> String {
    let (mut escaped, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, inside, after)) = next_reference(rest) {
        escaped.push_str(&format!("{before}$${{{inside}}}"));
        rest = after;
    }
    escaped + rest
}

fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find("${")?;
        let end = start + text[start..].find('}')?;
        let inside = &text[start + 2..end];
        if is_reference(inside) {
            return Some((&text[..start], inside, &text[end + 1..]));
        }
        from = start + 2;
    }
}

/// Is this a valid name? Anything else, such as a shell's `${x%%y}`, stays literal.
fn is_reference(inside: &str) -> bool {
    let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
    let name = name.strip_prefix("secret:").unwrap_or(name);
    // An editor's word for what separates the parts of a path.
    name == "/"
        || !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

fn reference(inside: &str) -> Piece {
    if let Some(name) = inside.strip_prefix("secret:") {
        return Piece::Secret(name.to_owned());
    }
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    match inside.split_once(":-") {
        Some((name, default)) => Piece::Variable { name: name.to_owned(), default: Some(default.to_owned()) },
        None => Piece::Variable { name: inside.to_owned(), default: None },
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
    }

    #[test]
    fn a_text_that_is_written_literally_means_itself() {
        for text in [
            "${HOME}",
            "$${HOME}",
            "$$${HOME}",
            "a${secret:TOKEN}b${NONE:-x}",
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
    fn secrets_are_known_before_anything_is_filled() {
        let template = Template::parse("${secret:A}-${B}-${secret:C.d}");
        assert_eq!(template.secrets().collect::<Vec<_>>(), ["A", "C.d"]);
    }
}
