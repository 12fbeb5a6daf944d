//! Tells whether anything that servers offer goes by the name of a product. Pure.

use super::{Catalog, Offer};
use crate::model::{ServerName, ToolPath};

/// A shorter name counts only as a whole word: "git" is in "digit".
const LONG: usize = 4;
/// How much of a server's instructions is read.
const SUMMARY: usize = 600;

impl Catalog {
    /// Has a server one of these lower-case names, in its own name, title or instructions, or in the name of a tool, or one
    /// of the shown tools in its description?
    pub fn goes_by<'a>(&self, names: &[String], shown: impl Iterator<Item = &'a ToolPath>) -> bool {
        let said = |text: &str| names.iter().any(|name| says(text, name));
        let is_told = |path: &ToolPath| self.tool(path).is_some_and(|tool| said(&tool.description));
        let mut shown = shown;
        self.servers().iter().any(|(server, offer)| has_name(server, offer, names)) || shown.any(is_told)
    }
}

fn has_name(server: &ServerName, offer: &Offer, names: &[String]) -> bool {
    let named = |text: &str| names.iter().any(|name| identifies(text, name));
    let said = |text: &str| names.iter().any(|name| says(text, name));
    let instructions = offer.instructions.as_deref().unwrap_or_default();
    let summary = &instructions[..instructions.floor_char_boundary(SUMMARY)];
    named(server.as_str())
        || offer.title.as_deref().is_some_and(named)
        || said(summary)
        || offer.tools.iter().any(|tool| named(&tool.name))
}

/// Is this name in a text, as a word or as the beginning of one?
fn says(text: &str, name: &str) -> bool {
    found(text, name).any(|(before, after)| {
        let is_bound = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        is_bound(before) && (name.len() >= LONG || is_bound(after))
    })
}

/// Is this name in an identifier? Words of `createLinearIssue` have no bounds, so a long name counts anywhere.
pub fn identifies(text: &str, name: &str) -> bool {
    says(text, name) || (name.len() >= LONG && found(text, name).next().is_some())
}

/// What stands before and after this name, wherever it is.
fn found<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (Option<char>, Option<char>)> + 'a {
    let length = name.len().max(1);
    let pieces = text.as_bytes().windows(length).enumerate();
    pieces.filter(move |(_, piece)| piece.eq_ignore_ascii_case(name.as_bytes())).map(move |(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + length..));
        (before.and_then(|text| text.chars().next_back()), after.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_a_text_and_a_part_of_an_identifier() {
        for (text, name, in_text, in_identifier) in [
            ("Creates an issue in Linear.", "linear", true, true),
            ("runs a PostgreSQL query", "postgres", true, true),
            ("a nonlinear fit", "linear", false, true),
            ("createLinearIssue", "linear", false, true),
            ("git_commit", "git", true, true),
            ("counts digits", "git", false, false),
            ("GitHub", "git", false, false),
            ("Lösungen für Jira", "jira", true, true),
            ("", "linear", false, false),
        ] {
            assert_eq!(
                (says(text, name), identifies(text, name)),
                (in_text, in_identifier),
                "{text}: {name}"
            );
        }
    }
}
