//! As much of Rust's grammar as the rules of the house need: which paths a file names, and which room they lead to.

/// A room: a crate, or a module of the core. The modules of the core lie in several crates; satchel-core exports all of them,
/// so each has one name, `satchel_core::config` for example, wherever it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Room(pub(super) String);

/// A file's position among the modules.
pub(super) struct Place {
    /// The file's module path, beginning with its crate.
    module: Vec<String>,
    pub(super) room: Room,
}

/// The crates whose modules have their own floors.
const DIVIDED: &[&str] =
    &["satchel_base", "satchel_upstream", "satchel_catalog", "satchel_listings", "satchel_core"];

/// The crates of the core that are one room, with its name.
const WHOLE: &[(&str, &str)] = &[
    ("satchel_trust", "trust"),
    ("satchel_stats", "stats"),
    ("satchel_clients", "clients"),
    ("satchel_intake", "intake"),
];

impl Place {
    /// `None` for files that are not part of the product.
    pub(super) fn of(path: &str) -> Option<Self> {
        let (package, file) = match path.strip_prefix("crates/") {
            Some(rest) => rest.split_once("/src/")?,
            None => ("satchel-app", path.strip_prefix("src-tauri/src/")?),
        };
        let mut module = vec![package.replace('-', "_")];
        module.extend(file.strip_suffix(".rs")?.split('/').map(str::to_owned));
        if ["mod", "lib", "main"].contains(&module.last()?.as_str()) {
            module.pop();
        }
        let room = room_of(&module);
        Some(Self { module, room })
    }

    /// The room a path leads to; `None` if it leads out of the workspace or stays in its own.
    pub(super) fn resolve(&self, path: &[String]) -> Option<Room> {
        let mut module = match path.first()?.as_str() {
            "crate" => vec![self.module[0].clone()],
            "self" => self.module.clone(),
            "super" => self.module.clone(),
            name if name.starts_with("satchel_") => vec![name.to_owned()],
            _ => return None,
        };
        for step in path {
            match step.as_str() {
                "super" => drop(module.pop()),
                "crate" | "self" => {}
                step if module.first().is_some_and(|name| name == step) => {}
                step => module.push(step.to_owned()),
            }
        }
        Some(room_of(&module))
    }
}

fn room_of(module: &[String]) -> Room {
    let core = |name: &str| Room(format!("satchel_core::{name}"));
    let package = module.first().map_or("", String::as_str);
    let inside = module.get(1).map(String::as_str);
    match (WHOLE.iter().find(|(name, _)| *name == package), inside) {
        // The root of such a crate imports the rooms it uses.
        (Some(_), Some(name)) if super::floor(&core(name)).is_some() => core(name),
        (Some((_, name)), _) => core(name),
        (None, Some(name)) if DIVIDED.contains(&package) => core(name),
        (None, _) => Room(package.to_owned()),
    }
}

/// The structs, enums, traits and unions that a file defines, without those of its tests.
pub(super) fn types(text: &str) -> Vec<String> {
    let tokens = without_tests(tokens(text));
    let defines = |token: &Token| ["struct", "enum", "trait", "union"].contains(&token.text.as_str());
    let named = tokens.windows(2).filter(|pair| defines(&pair[0]) && is_word(&pair[1].text));
    named.map(|pair| pair[1].text.clone()).collect()
}

/// Every path of two or more segments, and everything a `use` names, with its line.
pub(super) fn paths(text: &str) -> Vec<(usize, Vec<String>)> {
    paths_of(&product_tokens(text))
}

/// A file without its tests and comments.
pub(super) fn product_tokens(text: &str) -> Vec<Token> {
    without_tests(tokens(text))
}

/// The same paths, of a part of a file.
pub(super) fn paths_of(tokens: &[Token]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (line, token) = (tokens[at].line, tokens[at].text.as_str());
        if token == "use" {
            at = use_tree(tokens, at + 1, line, &[], &mut found);
        } else if is_word(token) {
            let mut path = vec![token.to_owned()];
            while is(tokens, at + 1, "::") && tokens.get(at + 2).is_some_and(|token| is_word(&token.text)) {
                path.push(tokens[at + 2].text.clone());
                at += 2;
            }
            if path.len() > 1 {
                found.push((line, path));
            }
        }
        at += 1;
    }
    found
}

/// Follows one branch of a `use`; returns the position of the token that ended it.
fn use_tree(
    tokens: &[Token],
    mut at: usize,
    line: usize,
    before: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "{" => {
                while !is(tokens, at, "}") && at < tokens.len() {
                    at = use_tree(tokens, at + 1, line, &path, found);
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            // The alias says nothing about the origin.
            "as" => at += 1,
            word if is_word(word) => path.push(word.to_owned()),
            _ => {}
        }
        at += 1;
    }
    if path.len() > before.len() {
        found.push((line, path));
    }
    at
}

pub(super) struct Token {
    line: usize,
    pub(super) text: String,
}

pub(super) fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

pub(super) fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Words, `::` and single signs; comments, strings and characters are left out.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' {
            // A character literal ends with a quote; a lifetime does not.
            let is_character = rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'');
            if is_character { quoted(rest, '\'') } else { 1 }
        } else {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
            if !first.is_whitespace() {
                tokens.push(Token { line, text: rest[..length].to_owned() });
            }
            length
        };
        line += rest[..length].bytes().filter(|byte| *byte == b'\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The length of `r"…"`, `r#"…"#` and so on, if the text begins with one.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = body.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some(text.len() - body.len() + end + 1 + hashes)
}

/// The length of a quoted text, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            character if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Without the items marked `#[cfg(test)]`: tests may use anything.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    let mut matched: Vec<Token> = Vec::new();
    while let Some(token) = tokens.next() {
        if token.text != mark[matched.len()] {
            kept.append(&mut matched);
            kept.push(token);
            continue;
        }
        matched.push(token);
        if matched.len() == mark.len() {
            matched.clear();
            let mut depth = 0;
            for token in tokens.by_ref() {
                match token.text.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                if depth == 0 && ["}", ";"].contains(&token.text.as_str()) {
                    break;
                }
            }
        }
    }
    kept.append(&mut matched);
    kept
}
