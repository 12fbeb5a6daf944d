//! What a query asks for: its words with what each is worth, what else they may be called, what is to be done, and
//! which servers it names.

use std::collections::HashMap;

use super::{
    index::Index,
    thesaurus::{self, Actions},
    words::{self, Word},
};

pub(super) struct Token {
    pub(super) weight: f32,
    pub(super) variants: Vec<(u32, f32)>,
}

#[derive(Default)]
pub(super) struct Query {
    pub(super) tokens: Vec<Token>,
    pub(super) mentions: HashMap<u32, bool>,
    pub(super) first: Actions,
    pub(super) actions: Actions,
}

impl Query {
    pub(super) fn read(text: &str, index: &Index) -> Self {
        let w = &index.weights;
        let quoted = quoted(text);
        let addresses = addresses(text);
        let all = words::words(text);
        let mut query = Self::default();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (number, word) in all.iter().enumerate() {
            let is_quoted = quoted.iter().any(|(from, to)| (*from..*to).contains(&word.at));
            let is_address = addresses.iter().any(|(from, to)| (*from..*to).contains(&word.at));
            let weight = if is_quoted {
                w.quoted
            } else if is_address {
                w.address
            } else {
                1.0
            };
            let actions = thesaurus::actions(&word.stem);
            if !is_quoted && !is_address && !actions.is_empty() {
                query.actions = query.actions.and(actions);
                if query.first.is_empty() {
                    query.first = actions;
                }
            }
            if let Some(term) = index.terms.get(word.stem.as_str()) {
                let place = mentioned(text, word.at);
                let known = query.mentions.entry(*term).or_insert(false);
                *known |= place;
            }
            if let Some(at) = seen.get(&word.stem) {
                let token: &mut Token = &mut query.tokens[*at];
                token.weight = (token.weight + weight * w.again).min(2.0);
            } else {
                let variants = variants(word, index, !is_quoted && !is_address);
                if !variants.is_empty() {
                    seen.insert(word.stem.clone(), query.tokens.len());
                    query.tokens.push(Token { weight, variants });
                }
            }
            if let Some(next) = all.get(number + 1).filter(|next| next.joined) {
                let pair = words::pair_of(word, next);
                if seen.contains_key(&pair) {
                    continue;
                }
                let mut variants = vec![];
                add(&mut variants, index, &pair, 1.0);
                for other in thesaurus::same(&pair) {
                    add(&mut variants, index, other, w.same);
                }
                for other in thesaurus::related(&pair) {
                    add(&mut variants, index, other, w.related);
                }
                if let Some(term) = index.terms.get(pair.as_str()) {
                    query.mentions.insert(*term, mentioned(text, word.at));
                }
                if !variants.is_empty() {
                    seen.insert(pair, query.tokens.len());
                    query.tokens.push(Token { weight: weight * w.pair, variants });
                }
            }
        }
        query
    }
}

fn add(variants: &mut Vec<(u32, f32)>, index: &Index, word: &str, weight: f32) {
    if let Some(term) = index.terms.get(word)
        && !variants.iter().any(|(known, _)| known == term)
    {
        variants.push((*term, weight));
    }
}

fn variants(word: &Word, index: &Index, plain: bool) -> Vec<(u32, f32)> {
    let w = &index.weights;
    let mut variants = vec![];
    add(&mut variants, index, &word.stem, 1.0);
    if !plain {
        return variants;
    }
    let exact = !variants.is_empty();
    if !exact && !thesaurus::knows(&word.stem) && !thesaurus::knows(&word.written) {
        for (near, likeness) in index.spelling.near(&word.written, &word.stem) {
            add(&mut variants, index, near, w.near * likeness);
            for other in thesaurus::same(near) {
                add(&mut variants, index, other, w.near * likeness * w.same);
            }
            for other in thesaurus::related(near) {
                add(&mut variants, index, other, w.near * likeness * w.related);
            }
        }
        return variants;
    }
    for other in thesaurus::same(&word.stem) {
        add(&mut variants, index, other, w.same);
    }
    for other in thesaurus::related(&word.stem) {
        add(&mut variants, index, other, w.related);
    }
    for other in thesaurus::verbs(&word.stem) {
        add(&mut variants, index, other, w.same_verb);
    }
    variants
}

/// Whether the word follows one that names where something is to be done.
fn mentioned(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        last.to_ascii_lowercase().as_str(),
        "in" | "on" | "using" | "via" | "with" | "from" | "through" | "the" | "at" | "my" | "to" | "use"
    )
}

/// Spans between quotation marks: values, not what a tool is about.
fn quoted(text: &str) -> Vec<(usize, usize)> {
    let mut spans = vec![];
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match open {
            None => {
                let close = match c {
                    '"' => Some('"'),
                    '“' => Some('”'),
                    '‘' => Some('’'),
                    '`' => Some('`'),
                    '\'' if !before.is_alphanumeric() => Some('\''),
                    _ => None,
                };
                open = close.map(|close| (at, close));
            }
            Some((from, close)) if c == close => {
                let after = text[at + c.len_utf8()..].chars().next();
                if close != '\'' || after.is_none_or(|after| !after.is_alphanumeric()) {
                    spans.push((from, at));
                    open = None;
                }
            }
            Some(_) => {}
        }
        before = c;
    }
    spans
}

/// Web and mail addresses, paths, and words with digits: values too.
fn addresses(text: &str) -> Vec<(usize, usize)> {
    let mut spans = vec![];
    let mut at = 0;
    for part in text.split_inclusive(char::is_whitespace) {
        let plain = part.trim();
        let looks = plain.contains("://")
            || plain.contains('@')
            || plain.starts_with('/')
            || plain.matches('/').count() > 1;
        if looks {
            spans.push((at, at + part.len()));
        }
        at += part.len();
    }
    spans
}
