//! Translates other programs' placeholders into one spelling: `${env:X}`, `${env:X:-default}`, `${input:x}`,
//! `${file:path}`, `${secret:X}`, `${host:name}` and `${cmd:text}`. Expands nothing and runs no command.

use std::collections::BTreeSet;

use satchel_entry::placeholder::Placeholder;

/// Parses a placeholder at the start of a text: returns its length and its canonical form.
type Reads = fn(&str) -> Option<(usize, String)>;

/// The placeholder syntaxes of clients, by their names in the table.
const SYNTAXES: &[(&str, Reads)] = &[
    ("mcphubCmd", |_| None),
    ("ghSecret", gh_secret),
    ("input", |text| {
        word_in(text, "${input:", "}", dotted_name).map(|(n, x)| (n, format!("${{input:{x}}}")))
    }),
    ("dollarEnvColon", |text| word_in(text, "${env:", "}", name).map(env)),
    ("dollarFile", |text| {
        word_in(text, "${file:", "}", anything).map(|(n, x)| (n, format!("${{file:{x}}}")))
    }),
    // Understood by every client or none: see `translate`.
    ("workspace", |_| None),
    ("bracedDefault", braced_default),
    ("braced", |text| word_in(text, "${", "}", name).map(env)),
    ("curlyEnv", |text| word_in(text, "{env:", "}", name).map(env)),
    ("curlyFile", |text| word_in(text, "{file:", "}", anything).map(|(n, x)| (n, format!("${{file:{x}}}")))),
    ("shellCmd", |text| word_in(text, "$(", ")", command).map(|(n, x)| (n, format!("${{cmd:{x}}}")))),
    ("bare", bare),
    ("percent", |text| word_in(text, "%", "%", name).map(env)),
];

/// Translates the placeholders of one client.
#[derive(Debug)]
pub struct References<'a> {
    understood: &'a [String],
    /// `%X%` is a variable on Windows only; elsewhere it may be percent-encoding.
    windows: bool,
    /// Every placeholder found, in canonical form.
    pub found: BTreeSet<String>,
}

impl<'a> References<'a> {
    /// For a client that supports these syntaxes.
    pub fn of(understood: &'a [String], windows: bool) -> Self {
        Self { understood, windows, found: BTreeSet::new() }
    }

    /// Translates placeholders to canonical form. Unsupported ones stay as they are.
    pub fn translate(&mut self, text: &str) -> String {
        if self.understands("mcphubCmd")
            && let Some(command) = text.strip_prefix("$: ")
        {
            return self.note(format!("${{cmd:{command}}}"));
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let matched = match next {
                // Of a client that does not understand it, the server would get the placeholder itself.
                '$' | '{' | '%' => other_placeholder(rest).or_else(|| {
                    let understood = SYNTAXES.iter().filter(|(name, _)| self.understands(name));
                    understood.into_iter().find_map(|(_, reads)| reads(rest))
                }),
                _ => None,
            };
            let length = match matched {
                Some((length, canonical)) => {
                    out.push_str(&self.note(canonical));
                    length
                }
                None => {
                    out.push(next);
                    next.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        out
    }

    /// Records a placeholder and returns it.
    pub fn note(&mut self, canonical: String) -> String {
        self.found.insert(canonical.clone());
        canonical
    }

    fn understands(&self, name: &str) -> bool {
        (name != "percent" || self.windows) && self.understood.iter().any(|known| known == name)
    }
}

/// Are all of these syntaxes known?
pub fn known(names: &[String]) -> bool {
    names.iter().all(|name| SYNTAXES.iter().any(|(known, _)| known == name))
}

/// Does the text contain a placeholder in canonical form?
pub fn holds_reference(text: &str) -> bool {
    ["${env:", "${input:", "${file:", "${secret:", "${host:", "${cmd:"]
        .iter()
        .any(|start| text.contains(start))
}

fn env((length, name): (usize, &str)) -> (usize, String) {
    (length, format!("${{env:{name}}}"))
}

/// The text between `start` and `end` at the beginning, and the total length.
fn word_in<'a>(text: &'a str, start: &str, end: &str, is: fn(&str) -> bool) -> Option<(usize, &'a str)> {
    let inside = text.strip_prefix(start)?;
    let length = inside.find(end)?;
    let word = &inside[..length];
    is(word).then_some((start.len() + length + end.len(), word))
}

fn name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn dotted_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// A placeholder of an editor or a bundle.
fn other_placeholder(text: &str) -> Option<(usize, String)> {
    // What editors ask for has syntaxes of its own.
    fn is_one(word: &str) -> bool {
        let of_editors = |one| matches!(one, Placeholder::Editor | Placeholder::Variable(_));
        Placeholder::of(word).is_some_and(|one| !of_editors(one))
    }
    let (length, word) = word_in(text, "${", "}", is_one)?;
    let word = word.strip_prefix("env:").unwrap_or(word);
    Some((length, format!("${{host:{word}}}")))
}

fn anything(word: &str) -> bool {
    !word.is_empty()
}

fn command(_: &str) -> bool {
    true
}

fn gh_secret(text: &str) -> Option<(usize, String)> {
    let (length, inside) = word_in(text, "${{", "}}", anything)?;
    let name = inside.trim().strip_prefix("secrets.")?;
    let fits = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'));
    fits.then(|| (length, format!("${{secret:{name}}}")))
}

fn braced_default(text: &str) -> Option<(usize, String)> {
    let (length, inside) = word_in(text, "${", "}", anything)?;
    let (variable, default) = inside.split_once(":-")?;
    name(variable).then(|| (length, format!("${{env:{variable}:-{default}}}")))
}

fn bare(text: &str) -> Option<(usize, String)> {
    let inside = text.strip_prefix('$')?;
    let length = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inside.len());
    let word = &inside[..length];
    name(word).then(|| (1 + length, format!("${{env:{word}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_that_the_client_supports_are_translated() {
        let check = |understood: &[&str], windows: bool, text: &str, expected: &str| {
            let understood: Vec<String> = understood.iter().map(|name| (*name).to_owned()).collect();
            assert!(known(&understood));
            assert_eq!(References::of(&understood, windows).translate(text), expected, "{text}");
        };
        let claude = &["bracedDefault", "braced"];
        check(claude, false, "Bearer ${TOKEN}!", "Bearer ${env:TOKEN}!");
        check(claude, false, "${A:-b c}/${env:X}$Y", "${env:A:-b c}/${env:X}$Y");
        check(&["bare", "braced"], false, "$A-${B}$1$", "${env:A}-${env:B}$1$");
        check(&["percent"], true, "%HOME%\\x", "${env:HOME}\\x");
        check(&["percent"], false, "%C3%A4", "%C3%A4");
        check(&["curlyEnv", "curlyFile"], false, "{env:A}{file:~/x}{b}", "${env:A}${file:~/x}{b}");
        check(&["ghSecret"], false, "Bearer ${{ secrets.GH }}", "Bearer ${secret:GH}");
        check(&["input"], false, "${input:gh-pat}", "${input:gh-pat}");
        check(&["workspace"], false, "${workspaceFolder}/ü", "${host:workspaceFolder}/ü");
        check(&["shellCmd"], false, "a$(pass show x)", "a${cmd:pass show x}");
        check(&["mcphubCmd"], false, "$: cmd:op read x", "${cmd:cmd:op read x}");
        check(&[], false, "${A} $B", "${A} $B");
        check(&[], false, "${workspaceFolder}${PWD}", "${host:workspaceFolder}${host:PWD}");
        check(claude, false, "${PWD}/${user_config.key}", "${host:PWD}/${host:user_config.key}");
    }
}
