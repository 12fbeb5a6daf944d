//! Parses a query: weighted words, synonyms, the action asked for, and the servers it names.

use std::{collections::HashMap, ops::Range};

use super::{
    foreign,
    index::{Among, ByHash, Index, Term, term},
    thesaurus::{self, Actions},
    words::{self, Word},
};

/// Maximum characters read of a query.
const CHARS: usize = 2_000;
/// Maximum number of separate requests in a query.
const CLAUSES: usize = 16;
/// How far to look for the previous or next word, in bytes: a run of letters may be endless.
const NEARBY: usize = 48;

/// A word of the query and its alternatives.
pub(super) struct Token {
    /// As written in the query.
    pub(super) said: String,
    /// Its weight, usually 1.
    pub(super) weight: f32,
    /// Indexed words with the probability that they are meant.
    pub(super) variants: Vec<Variant>,
}

/// An alternative for a word.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) word: String,
    pub(super) term: Term,
    /// From 0 to 1; 1 is the word itself.
    pub(super) likeness: f32,
}

/// One request. Long queries contain several.
#[derive(Default)]
pub(super) struct Clause {
    pub(super) tokens: Vec<Token>,
    /// The action of its first verb.
    pub(super) first: Actions,
    /// The actions of all its verbs.
    pub(super) actions: Actions,
    /// Its words, and whether each is singular or plural.
    pub(super) plural: ByHash<bool>,
}

/// A parsed query.
#[derive(Default)]
pub(super) struct Query {
    pub(super) clauses: Vec<Clause>,
    /// Words that may name a server, and whether they follow a word like "in" or "using".
    pub(super) mentions: ByHash<bool>,
    /// Whether it is in another language than the tools' texts.
    pub(super) foreign: bool,
}

impl Query {
    pub(super) fn read(text: &str, index: &Index) -> Self {
        let text = asked(text);
        let Said { all, values, foreign } = Said::of(text, index);
        let mut query = Self { foreign, ..Self::default() };
        for part in split(text, &all) {
            query.read_clause(text, &all[part], &values, index);
        }
        query
    }

    fn read_clause(&mut self, text: &str, words: &[Word], values: &Values, index: &Index) {
        let w = &index.weights;
        let mut clause = Clause::default();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (number, word) in words.iter().enumerate() {
            if asks_for_an_answer(text, word) {
                continue;
            }
            let value = values.at(word.at);
            let weight = value
                .map_or(1.0, |value| if value.kind == RequestKind::Quoted { w.quoted } else { w.address });
            let weight = if words::is_chatter(&word.written) { weight * w.chatter } else { weight };
            let (variants, actions) = if asks_how_many(text, word) {
                (others("count", index, 1.0), thesaurus::actions("list"))
            } else {
                variants(word, index, value.is_none(), self.foreign)
            };
            if value.is_none() {
                clause.plural.insert(term(&word.stem), word.is_plural());
                clause.actions = clause.actions.and(actions);
                if clause.first.is_empty() {
                    clause.first = actions;
                }
            }
            self.mention(&word.stem, text, word, index);
            if let Some(at) = seen.get(&word.stem) {
                let token: &mut Token = &mut clause.tokens[*at];
                token.weight = (token.weight + weight * w.again).min(2.0);
            } else if !variants.is_empty() {
                seen.insert(word.stem.clone(), clause.tokens.len());
                clause.tokens.push(Token { said: word.written.clone(), weight, variants });
            }
            let Some(next) = words.get(number + 1).filter(|next| next.joined) else { continue };
            let pair = words::pair_of(word, next);
            self.mention(&pair, text, word, index);
            let variants = others(&pair, index, 1.0);
            if !variants.is_empty() && !seen.contains_key(&pair) {
                seen.insert(pair, clause.tokens.len());
                let said = format!("{} {}", word.written, next.written);
                clause.tokens.push(Token { said, weight: weight * w.pair, variants });
            }
        }
        let span = words.first().map_or(0, |word| word.at)..words.last().map_or(0, |word| word.at + 1);
        for kind in [RequestKind::Url, RequestKind::Mail, RequestKind::Path] {
            if values.has(kind, &span)
                && let Some(word) = kind.word()
                && !seen.contains_key(&words::stem(word))
            {
                clause.tokens.push(Token {
                    said: word.to_owned(),
                    weight: w.value,
                    variants: others(&words::stem(word), index, 1.0),
                });
            }
        }
        self.clauses.push(clause);
    }

    /// All words and alternatives with their probabilities.
    pub(super) fn meant(&self) -> ByHash<f32> {
        let mut meant: ByHash<f32> = ByHash::default();
        let variants =
            self.clauses.iter().flat_map(|clause| &clause.tokens).flat_map(|token| &token.variants);
        for Variant { term, likeness, .. } in variants {
            let known = meant.entry(*term).or_default();
            *known = known.max(*likeness);
        }
        meant
    }

    fn mention(&mut self, term: &str, text: &str, word: &Word, index: &Index) {
        if index.knows(term) {
            *self.mentions.entry(self::term(term)).or_default() |= follows_a_place_word(text, word.at);
        }
    }
}

/// The whole request, and each part if it has several, with typos corrected.
pub(super) fn parts(text: &str, index: &Index, as_written: bool) -> Vec<String> {
    let text = asked(text);
    let Said { all, values, foreign } = Said::of(text, index);
    let as_written = as_written || foreign;
    let meant = |word: &Word| {
        let plain = !as_written && values.at(word.at).is_none();
        plain.then(|| index.misspelt_word(word)).flatten()
    };
    // Looked up once, for the whole and for its part: it takes time.
    let meant: Vec<Option<&str>> = all.iter().map(meant).collect();
    let right = |part: Range<usize>, mut from: usize, end: usize| {
        let mut right = String::new();
        for (word, near) in all[part.clone()].iter().zip(&meant[part]) {
            let Some(near) = near else { continue };
            right.push_str(text.get(from..word.at).unwrap_or_default());
            right.push_str(near);
            from = word.at + word.written.len();
        }
        right + text.get(from..end).unwrap_or_default()
    };
    let mut parts = vec![right(0..all.len(), 0, text.len())];
    let split = split(text, &all);
    if split.len() > 1 {
        parts.extend(split.iter().map(|part| {
            let end = all.get(part.end).map_or(text.len(), |next| next.at);
            right(part.clone(), all[part.start].at, end)
        }));
    }
    parts
}

/// The words of a request.
struct Said {
    all: Vec<Word>,
    values: Values,
    /// Whether it is in another language than the tools' texts.
    foreign: bool,
}

impl Said {
    fn of(text: &str, index: &Index) -> Self {
        let (mut all, values) = (words::words(text), Values::of(text));
        let plain = all.iter().filter(|word| values.at(word.at).is_none());
        let foreign = foreign::is_foreign(text, plain, |word| index.has_heard_of(word));
        if foreign {
            all.retain(|word| !foreign::is_frame(&word.written));
        }
        Self { all, values, foreign }
    }
}

/// The words of each part.
fn split(text: &str, all: &[Word]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for to in 1..=all.len() {
        if to == all.len() || parts.len() + 1 < CLAUSES && begins_clause(text, all, to) {
            parts.push(from..to);
            from = to;
        }
    }
    parts
}

/// The words of the part of a query that is read.
pub(super) fn words_of(text: &str) -> Vec<Word> {
    words::words(asked(text))
}

/// The part of a query that is read. Models send a sentence or two; longer queries must not delay others.
fn asked(text: &str) -> &str {
    words::beginning(text, CHARS)
}

/// The text just before a position.
fn before(text: &str, at: usize) -> &str {
    &text[text.floor_char_boundary(at.saturating_sub(NEARBY))..at]
}

/// The text just after a position.
fn after(text: &str, at: usize) -> &str {
    text.get(at..text.floor_char_boundary(at.saturating_add(NEARBY))).unwrap_or_default()
}

/// The words of a query that carry its subject: without values for the tool and conversational words.
pub(super) fn telling(text: &str) -> Vec<Word> {
    let text = asked(text);
    let values = Values::of(text);
    let mut words = words::words(text);
    words.retain(|word| {
        values.at(word.at).is_none() && !words::is_chatter(&word.written) && !asks_for_an_answer(text, word)
    });
    words
}

/// "Tell me", "let us know": says how to answer, not what to find.
fn asks_for_an_answer(text: &str, word: &Word) -> bool {
    let after = text.get(word.at + word.written.len()..).unwrap_or_default();
    let me = after.starts_with(" me") || after.starts_with(" us");
    match word.written.as_str() {
        "tell" => me,
        "know" => true,
        _ => false,
    }
}

/// The "many" of "how many", which does not mean `delete-many`.
fn asks_how_many(text: &str, word: &Word) -> bool {
    let before = || before(text, word.at).split_whitespace().next_back().unwrap_or_default();
    matches!(word.written.as_str(), "many" | "much") && before().eq_ignore_ascii_case("how")
}

/// The "next" of "next week", which starts no new request.
fn is_of_time(text: &str, word: &Word) -> bool {
    const TIMES: &str = "couple day days few friday hour hours minute minutes month months monday quarter saturday \
                         sunday thursday tuesday wednesday week weekend weeks year years";
    if word.written != "next" {
        return false;
    }
    let after = after(text, word.at + word.written.len());
    let next = after.split(|c: char| !c.is_alphanumeric()).find(|next| !next.is_empty()).unwrap_or_default();
    let next = next.to_lowercase();
    TIMES.split(' ').any(|time| time == next) || next.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a new request starts at this word.
fn begins_clause(text: &str, words: &[Word], at: usize) -> bool {
    let (before, word) = (&words[at - 1], &words[at]);
    let between = text.get(before.at + before.written.len()..word.at).unwrap_or_default().to_lowercase();
    let ends = |mark: char| between.contains(mark);
    let sentence = between.contains(". ") || ends('!') || ends('?') || ends(';') || ends('\n');
    let then = between
        .split(|c: char| !c.is_alphabetic())
        .any(|word| matches!(word, "then" | "finally" | "afterwards" | "also"));
    let and = between.split(|c: char| !c.is_alphabetic()).any(|word| word == "and")
        && !thesaurus::actions(&word.stem).is_empty();
    sentence
        || then
        || and
        || matches!(word.written.as_str(), "next" | "afterwards" | "finally" | "first" | "second")
            && !is_of_time(text, word)
}

fn add(all: &mut Vec<Variant>, index: &Index, word: &str, likeness: f32) {
    if index.knows(word) {
        put(all, word.to_owned(), likeness);
    }
}

/// The alternatives of a word, and its action. An unknown word may be a typo, or in another language be akin to one that
/// tools have.
fn variants(word: &Word, index: &Index, plain: bool, foreign: bool) -> (Vec<Variant>, Actions) {
    let w = &index.weights;
    let exact = index.knows(&word.stem);
    if !plain {
        let mut only = vec![];
        add(&mut only, index, &word.stem, 1.0);
        return (only, Actions::default());
    }
    if exact || thesaurus::knows(&word.stem) {
        return (others(&word.stem, index, 1.0), thesaurus::actions(&word.stem));
    }
    let (mut all, mut actions) = (vec![], Actions::default());
    let sure = if foreign { w.cognate } else { 1.0 };
    for (near, likeness) in index.spelling.near(&word.written) {
        let near = words::stem(near);
        for variant in others(&near, index, likeness * w.near * sure) {
            put(&mut all, variant.word, variant.likeness);
        }
        actions = actions.and(thesaurus::actions(&near));
    }
    (all, actions)
}

impl Index {
    /// The whole request, and each part if it has several, with typos corrected.
    pub fn parts(&self, query: &str, as_written: bool) -> Vec<String> {
        parts(query, self, as_written)
    }

    /// An unknown word of the query, and the known word it was replaced by.
    pub fn misspelt(&self, query: &str) -> Option<(String, String)> {
        let query = asked(query);
        let Said { all, values, foreign } = Said::of(query, self);
        if foreign {
            return None;
        }
        let mut said = all.iter().filter(|word| values.at(word.at).is_none());
        said.find_map(|word| Some((word.written.clone(), self.misspelt_word(word)?.to_owned())))
    }

    /// Whether a tool or a list of ours has the word.
    fn has_heard_of(&self, word: &Word) -> bool {
        self.knows(&word.stem) || thesaurus::knows(&word.stem) || words::is_chatter(&word.written)
    }

    /// The known word that an unknown word probably means.
    fn misspelt_word(&self, word: &Word) -> Option<&str> {
        if self.has_heard_of(word) {
            return None;
        }
        let (near, likeness) = self.spelling.near(&word.written).first().copied()?;
        (likeness >= 0.75).then_some(near)
    }
}

/// The word and its synonyms. If no tool contains the word, its synonyms count more; loosely related words count only
/// if no tool, or few, contain it.
fn others(stem: &str, index: &Index, likeness: f32) -> Vec<Variant> {
    let w = &index.weights;
    let (hint, unsaid) = if !index.knows(stem) {
        (w.hint, w.unsaid)
    } else if index.rarity(Among::Tools, term(stem)) > w.rare {
        (w.hint_rare, 1.0)
    } else {
        (0.0, 1.0)
    };
    let mut all = vec![];
    add(&mut all, index, stem, likeness);
    for (others, worth) in [
        (thesaurus::same(stem), w.same),
        (thesaurus::related(stem), w.related),
        (thesaurus::hints(stem), hint),
        (thesaurus::verbs(stem), w.same_verb),
    ] {
        if worth == 0.0 {
            continue;
        }
        for other in others {
            add(&mut all, index, other, likeness * worth * unsaid);
        }
    }
    all
}

fn put(all: &mut Vec<Variant>, word: String, likeness: f32) {
    let term = term(&word);
    match all.iter_mut().find(|known| known.term == term) {
        Some(known) => known.likeness = known.likeness.max(likeness),
        None => all.push(Variant { word, term, likeness }),
    }
}

/// Whether the word follows one that introduces a place or an instrument.
fn follows_a_place_word(text: &str, at: usize) -> bool {
    const PLACES: [&str; 12] =
        ["at", "from", "in", "my", "on", "the", "through", "to", "use", "using", "via", "with"];
    let before = before(text, at).trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    PLACES.contains(&last.to_ascii_lowercase().as_str())
}

/// A value in the query, to be passed to the tool; says little about which tool is meant.
struct Value {
    /// Byte range.
    span: Range<usize>,
    kind: RequestKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Quoted,
    Url,
    Mail,
    Path,
}

impl RequestKind {
    /// Names that parameters for such a value often have.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Quoted => None,
            Self::Url => Some("url"),
            Self::Mail => Some("email"),
            Self::Path => Some("file"),
        }
    }
}

/// The values of a query, by kind and in order. Values of one kind do not overlap.
struct Values {
    quoted: Vec<Value>,
    addresses: Vec<Value>,
}

impl Values {
    fn of(text: &str) -> Self {
        let mut addresses = vec![];
        let mut at = 0;
        for part in text.split_inclusive(char::is_whitespace) {
            if let Some(kind) = address(part.trim().trim_matches(|c: char| ".,;:!?()'\"<>[]".contains(c))) {
                addresses.push(Value { span: at..at + part.len(), kind });
            }
            at += part.len();
        }
        Self { quoted: quoted(text), addresses }
    }

    /// The value that contains this position.
    fn at(&self, at: usize) -> Option<&Value> {
        let find = |values: &'_ [Value]| values.partition_point(|value| value.span.end <= at);
        let within = |value: &&Value| value.span.contains(&at);
        let quoted = self.quoted.get(find(&self.quoted)).filter(within);
        quoted.or_else(|| self.addresses.get(find(&self.addresses)).filter(within))
    }

    /// Whether that part of the query contains an address of this kind.
    fn has(&self, kind: RequestKind, part: &Range<usize>) -> bool {
        let first = self.addresses.partition_point(|value| value.span.end <= part.start);
        let mut within = self.addresses[first..].iter().take_while(|value| value.span.start < part.end);
        within.any(|value| value.kind == kind)
    }
}

fn address(part: &str) -> Option<RequestKind> {
    /// The most common ones; others are rarely written without a scheme.
    const DOMAINS: [&str; 8] = ["com", "org", "net", "io", "dev", "ai", "app", "edu"];
    let ending =
        part.rsplit_once('.').map(|(before, ending)| (before, ending.split('/').next().unwrap_or_default()));
    if part.contains("://") || part.starts_with("www.") {
        Some(RequestKind::Url)
    } else if part.contains('@') && ending.is_some() {
        Some(RequestKind::Mail)
    } else if ending.is_some_and(|(before, ending)| !before.is_empty() && DOMAINS.contains(&ending)) {
        Some(RequestKind::Url)
    } else if part.starts_with(['/', '~']) && part.len() > 1 || part.matches('/').count() > 1 {
        Some(RequestKind::Path)
    } else {
        None
    }
}

fn quoted(text: &str) -> Vec<Value> {
    let mut values = vec![];
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match open {
            None => {
                let close = match c {
                    '"' | '`' => Some(c),
                    '“' => Some('”'),
                    '‘' => Some('’'),
                    // Not the apostrophe of "team's".
                    '\'' if !before.is_alphanumeric() => Some(c),
                    _ => None,
                };
                open = close.map(|close| (at, close));
            }
            Some((from, close)) if c == close => {
                let inside = text[at + c.len_utf8()..].starts_with(char::is_alphanumeric);
                if close != '\'' || !inside {
                    values.push(Value { span: from..at, kind: RequestKind::Quoted });
                    open = None;
                }
            }
            Some(_) => {}
        }
        before = c;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{
        super::{index::ToolText, weights::Weights},
        *,
    };

    fn words_of(text: &str) -> usize {
        Query::read(text, &Index::default()).clauses.iter().map(|clause| clause.plural.len()).sum()
    }

    #[test]
    fn a_query_of_any_length_is_read_to_a_bound() {
        let many = |count: usize| (0..count).map(|at| format!("w{at}q ")).collect::<String>();
        assert_eq!(words_of(&many(200)), 200);
        assert!(words_of(&many(100_000)) <= CHARS / 4);
        let requests = |text: &str| Query::read(text, &Index::default()).clauses.len();
        assert_eq!(requests(&"list files. ".repeat(10)), 10);
        assert_eq!(requests(&"list files. ".repeat(10_000)), CLAUSES);
        assert!(telling(&many(100_000)).len() <= CHARS / 4);
    }

    #[test]
    fn words_of_another_language_are_no_typos() {
        let text = ToolText { server: "tracker", name: "create_issue", ..ToolText::default() };
        let index = Index::read(Weights::default(), std::iter::once(text));
        let corrected = |request: &str| (index.misspelt(request).is_some(), parts(request, &index, false));
        let english = "create an isssue";
        assert_eq!(corrected(english), (true, vec!["create an issue".to_owned()]));
        let french = "je veux creates un issue dans le projet";
        assert_eq!(corrected(french), (false, vec![french.to_owned()]));
        let terms = |request: &str| {
            Query::read(request, &index).clauses.iter().map(|clause| clause.plural.len()).sum()
        };
        assert_eq!((terms(english), terms(french)), (2usize, 4), "without the words that only frame it");
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let values = Values::of("open https://a.com/x and \"the report\" by me@b.org, then ~/notes.txt 'x'");
        let kind = |text: &str, needle: &str| values.at(text.find(needle).unwrap()).map(|value| value.kind);
        let text = "open https://a.com/x and \"the report\" by me@b.org, then ~/notes.txt 'x'";
        for (needle, expected) in [
            ("open", None),
            ("a.com", Some(RequestKind::Url)),
            ("and", None),
            ("report", Some(RequestKind::Quoted)),
            ("by", None),
            ("b.org", Some(RequestKind::Mail)),
            ("notes", Some(RequestKind::Path)),
        ] {
            assert!(kind(text, needle) == expected, "{needle}");
        }
        assert!(values.has(RequestKind::Url, &(0..20)) && !values.has(RequestKind::Url, &(25..60)));
    }
}
