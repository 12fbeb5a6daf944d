//! Maps our references to names that an engine expands, and remembers which ones were used.

use std::collections::BTreeMap;

use satchel_entry::template::{Piece, Template};

/// The names assigned so far, each with its reference.
#[derive(Debug, Default)]
pub(super) struct References {
    names: BTreeMap<String, String>,
}

/// A part of a configuration text, split at references.
pub(super) enum TemplatePart {
    Text(String),
    /// An environment variable and its default.
    Variable {
        name: String,
        default: Option<Vec<TemplatePart>>,
    },
    /// The name assigned to a secret.
    Secret(String),
}

impl References {
    /// The parts of a text. Assigns names to its secrets.
    pub(super) fn parts(&mut self, text: &str) -> Vec<TemplatePart> {
        self.named(Template::parse(text))
    }

    fn named(&mut self, template: Template) -> Vec<TemplatePart> {
        let named = |piece: Piece| match piece {
            Piece::Text(text) => TemplatePart::Text(text),
            Piece::Variable { name, default } => {
                TemplatePart::Variable { name, default: default.map(|default| self.named(default)) }
            }
            Piece::Secret(name) => TemplatePart::Secret(self.secret(&name)),
            // No engine reads it there.
            Piece::Source(source) => TemplatePart::Secret(self.secret(&source.to_string())),
        };
        template.into_pieces().into_iter().map(named).collect()
    }

    /// A text without references, unchanged; `None` for any other.
    pub(super) fn plain(&mut self, text: &str) -> Option<String> {
        let texts = self.parts(text).into_iter().map(|part| match part {
            TemplatePart::Text(text) => Some(text),
            TemplatePart::Variable { .. } | TemplatePart::Secret(_) => None,
        });
        texts.collect()
    }

    /// The variable name of a secret; duplicates get numbers.
    fn secret(&mut self, secret: &str) -> String {
        let what = format!("the secret \"{secret}\" of Satchel");
        let base: String = secret
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let base = if base.starts_with(|c: char| c.is_ascii_digit()) { format!("_{base}") } else { base };
        let mut name = base.clone();
        let mut number = 2;
        while self.names.get(&name).is_some_and(|known| *known != what) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.names.insert(name.clone(), what);
        name
    }

    /// Records a name for something other than a single secret.
    pub(super) fn note(&mut self, name: String, what: String) {
        self.names.insert(name, what);
    }

    pub(super) fn needs(self) -> Vec<(String, String)> {
        self.names.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_one_name_and_no_two_share_one() {
        let mut references = References::default();
        let names: Vec<String> = ["a.b", "a_b", "a.b", "1x"].map(|secret| references.secret(secret)).into();
        assert_eq!(names, ["A_B", "A_B_2", "A_B", "_1X"]);
    }
}
