//! The features of a text for the model.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    sync::LazyLock,
};

use super::SIGNS;
use crate::inspect::fold;

/// Number of sentences in a stretch.
const TOGETHER: usize = 3;
/// Maximum length of a sentence in words; longer ones are split.
const WORDS: usize = 60;
/// Number of words per sentence that count for topics.
const ABOUT: usize = 40;
/// A shorter line, in bytes, was not wrapped for its length.
const LINE: usize = 48;
/// Maximum length of a known word beginning.
const BEGIN: usize = 24;
/// Minimum number of words in a text.
const FEWEST: usize = 3;

/// The share of each kind of sign, however many a stretch has: words, word pairs, topics.
const SORTS: [f32; 3] = [1.0, 1.0, 1.5];

/// A feature of a stretch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sign {
    /// The index of its weight.
    pub(super) at: u32,
    pub(super) sort: u8,
    /// The first sentence of the stretch that contains it.
    pub(super) sentence: u8,
}

/// A few consecutive sentences.
pub(super) struct Stretch {
    pub(super) sentences: Vec<Range<usize>>,
    /// Each once, in order.
    pub(super) signs: Vec<Sign>,
    /// The factor for each kind.
    shares: [f32; SORTS.len()],
}

impl Stretch {
    fn of(sentences: Vec<Range<usize>>, each: &[Vec<(u32, u8)>]) -> Self {
        let mut signs = Vec::new();
        for (sentence, of) in (0_u8..).zip(each) {
            signs.extend(of.iter().map(|(at, sort)| Sign { at: *at, sort: *sort, sentence }));
        }
        signs.sort_unstable();
        signs.dedup_by_key(|sign| (sign.at, sign.sort));
        let mut shares = [0.0_f32; SORTS.len()];
        for sign in &signs {
            shares[usize::from(sign.sort)] += 1.0;
        }
        for (share, most) in shares.iter_mut().zip(SORTS) {
            *share = most / share.max(1.0).sqrt();
        }
        Self { sentences, signs, shares }
    }

    /// The factor of a sign: the more signs a stretch has, the less each counts.
    pub(super) fn share(&self, sign: &Sign) -> f32 {
        self.shares[usize::from(sign.sort)]
    }

    /// Is it a word or a word pair rather than a topic?
    pub(super) fn is_literal(sign: &Sign) -> bool {
        sign.sort < 2
    }

    /// Is it a single word?
    pub(super) fn is_word(sign: &Sign) -> bool {
        sign.sort == 0
    }
}

/// The topics of words.
struct Classes {
    names: Vec<&'static str>,
    whole: HashMap<String, Vec<usize>>,
    /// Word beginnings.
    begins: HashMap<String, Vec<usize>>,
    /// Substrings in scripts without blanks.
    inside: Vec<(String, usize)>,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let mut classes =
        Classes { names: Vec::new(), whole: HashMap::new(), begins: HashMap::new(), inside: Vec::new() };
    for line in include_str!("classes.txt").lines() {
        let Some((name, words)) = line.split_once(':') else { continue };
        let class = classes.names.len();
        classes.names.push(name);
        for word in words.split_whitespace() {
            // Texts are folded, so the words are too.
            let folded: String = word
                .chars()
                .map(|c| fold::plain_letter(c).map_or_else(|| c.to_string(), str::to_owned))
                .collect();
            if folded.chars().all(is_wide) {
                classes.inside.push((folded, class));
            } else if let Some(begin) = folded.strip_suffix('*') {
                classes.begins.entry(begin.to_owned()).or_default().push(class);
            } else {
                classes.whole.entry(folded).or_default().push(class);
            }
        }
    }
    classes
});

impl Classes {
    fn of(&self, word: &str, classes: &mut Vec<usize>) {
        let known = |classes: &mut Vec<usize>, found: Option<&Vec<usize>>| {
            for class in found.into_iter().flatten() {
                if !classes.contains(class) {
                    classes.push(*class);
                }
            }
        };
        known(classes, self.whole.get(word));
        for (at, c) in word.char_indices().take(BEGIN) {
            let end = at + c.len_utf8();
            known(classes, self.begins.get(&word[..end]));
        }
    }
}

/// Is this a script without blanks between words?
fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7a3 | 0xe00..=0xe7f)
}

/// A word of a sentence.
struct WordSign {
    text: String,
    classes: Vec<usize>,
}

/// The stretches of a folded text, each one sentence further.
pub(super) fn stretches(text: &str) -> Vec<Stretch> {
    let sentences = sentences(text);
    let words: Vec<Vec<WordSign>> = sentences.iter().map(|range| words(&text[range.clone()])).collect();
    if words.iter().map(Vec::len).sum::<usize>() < FEWEST {
        return Vec::new();
    }
    let known: BTreeSet<usize> = words.iter().take(1).flat_map(|words| about(words)).collect();
    let signs: Vec<Vec<(u32, u8)>> =
        words.iter().enumerate().map(|(at, words)| signs(words, (at > 0).then_some(&known))).collect();
    let last = sentences.len().saturating_sub(TOGETHER);
    let stretch = |begin: usize| {
        let end = (begin + TOGETHER).min(sentences.len());
        Stretch::of(sentences[begin..end].to_vec(), &signs[begin..end])
    };
    (0..=last).map(stretch).collect()
}

/// Approximate number of stretches in a folded text.
pub(super) fn count(text: &str) -> usize {
    sentences(text).len().saturating_sub(TOGETHER - 1).max(1)
}

fn about(words: &[WordSign]) -> Vec<usize> {
    words.iter().flat_map(|word| word.classes.iter().copied()).take(ABOUT).collect()
}

/// Splits at full stops followed by a blank, and at line ends.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let (mut begin, mut blanks) = (0, 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, c)| *c);
        blanks += usize::from(c == ' ');
        let ends = match c {
            '\n' => {
                end - begin < LINE
                    || text[begin..at].trim_end().ends_with(|c: char| !c.is_alphanumeric())
                    || next.is_none_or(|next| !next.is_alphanumeric())
            }
            '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' | ';' | ':' => next.is_none_or(char::is_whitespace) && !matches!(c, ':' | ';'),
            _ => next.is_none() || (c == ' ' && blanks >= WORDS),
        };
        if ends {
            if text[begin..end].chars().any(char::is_alphanumeric) {
                sentences.push(begin..end);
            }
            (begin, blanks) = (end, 0);
        }
    }
    sentences
}

fn words(sentence: &str) -> Vec<WordSign> {
    let mut words = Vec::new();
    let classes = &*CLASSES;
    for chunk in sentence.split([' ', '\n', '(', ')', ',', ';']) {
        let bare = chunk
            .trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '~' | '/' | '.' | '$' | '<' | '{'));
        let bare = bare.trim_end_matches(['.', '!', '?', ':', '/']);
        if bare.is_empty() {
            continue;
        }
        let quoted = chunk.contains(['`', '\'', '"']) && bare.len() < chunk.len();
        let special = if bare.contains("://") || bare.starts_with("www.") {
            Some("<url>")
        } else if bare.contains('@') && bare.contains('.') {
            Some("<mail>")
        } else if bare.starts_with("~/")
            || bare.starts_with('/')
            || bare.starts_with("./")
            || bare.starts_with('.')
        {
            Some("<path>")
        } else if bare.contains('/') {
            Some("<slash>")
        } else if bare.contains('_') {
            Some("<ident>")
        } else if bare.starts_with('<') {
            Some("<tag>")
        } else if bare.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '.') {
            Some("<number>")
        } else if bare.contains('.') {
            Some("<dotted>")
        } else {
            None
        };
        if quoted {
            words.push(WordSign { text: "<quoted>".to_owned(), classes: Vec::new() });
        }
        if let Some(special) = special {
            words.push(WordSign { text: special.to_owned(), classes: Vec::new() });
            if special == "<url>" || special == "<mail>" {
                continue;
            }
        }
        for part in bare.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-')) {
            let part = part.trim_matches(['\'', '-']);
            if part.is_empty() {
                continue;
            }
            if part.chars().any(is_wide) {
                wide(part, &mut words);
                continue;
            }
            let mut found = Vec::new();
            classes.of(part, &mut found);
            let text = stem(part);
            if found.is_empty() {
                classes.of(&text, &mut found);
            }
            words.push(WordSign { text, classes: found });
        }
    }
    words
}

/// Character bigrams, and known substrings.
fn wide(part: &str, words: &mut Vec<WordSign>) {
    for (word, class) in &CLASSES.inside {
        if part.contains(word.as_str()) {
            words.push(WordSign { text: word.clone(), classes: vec![*class] });
        }
    }
    let chars: Vec<char> = part.chars().collect();
    for pair in chars.windows(2) {
        words.push(WordSign { text: pair.iter().collect(), classes: Vec::new() });
    }
}

/// A word without its ending.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 5 {
        return word.to_owned();
    }
    for (end, instead) in [("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")] {
        if let Some(stem) = word.strip_suffix(end)
            && stem.len() >= 3
            && !stem.ends_with('s')
        {
            return format!("{stem}{instead}");
        }
    }
    word.to_owned()
}

/// The signs of a sentence. `known` holds the topics of the first sentence, unless this is it.
fn signs(words: &[WordSign], known: Option<&BTreeSet<usize>>) -> Vec<(u32, u8)> {
    let mut signs = Vec::new();
    for (place, word) in words.iter().enumerate() {
        signs.push((hash(0, &[word.text.as_bytes()]), 0));
        if let Some(next) = words.get(place + 1) {
            signs.push((hash(1, &[word.text.as_bytes(), next.text.as_bytes()]), 1));
        }
    }
    if let Some(word) = words.first() {
        signs.push((hash(2, &[word.text.as_bytes()]), 0));
    }
    let line = about(words);
    let marks: BTreeSet<&str> =
        words.iter().map(|word| word.text.as_str()).filter(|word| word.starts_with('<')).collect();
    let name = |class: usize| CLASSES.names[class].as_bytes();
    let mut seen = BTreeSet::new();
    for (place, class) in line.iter().enumerate() {
        if let Some(next) = line.get(place + 1) {
            signs.push((hash(4, &[name(*class), name(*next)]), 2));
        }
        // Each pair once, in order.
        for later in &line[place + 1..] {
            if later != class && seen.insert((*class, *later)) {
                signs.push((hash(5, &[name(*class), name(*later)]), 2));
            }
        }
        if !seen.insert((*class, *class)) {
            continue;
        }
        signs.push((hash(3, &[name(*class)]), 2));
        signs.extend(marks.iter().map(|mark| (hash(6, &[name(*class), mark.as_bytes()]), 2)));
        if known.is_some_and(|known| !known.contains(class)) {
            signs.push((hash(7, &[name(*class)]), 2));
        }
    }
    signs
}

/// FNV-1a, folded to the number of weights.
fn hash(kind: u8, parts: &[&[u8]]) -> u32 {
    let mut hash = 0x811c_9dc5 ^ u32::from(kind);
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
    (hash ^ (hash >> 15)) & (SIGNS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let of = |text: &str| -> Vec<String> {
            sentences(text).into_iter().map(|range| text[range].trim().to_owned()).collect()
        };
        assert_eq!(
            of("read ~/.env first. then stop! why? a v1.2 of it"),
            ["read ~/.env first.", "then stop!", "why?", "a v1.2 of it"]
        );
        assert_eq!(of("天気。次に送信。"), ["天気。", "次に送信。"]);
        let full = "a line that is so long that it was broken because it was full\nand goes on\n- one\n- two";
        assert_eq!(of(full).len(), 3);
    }

    #[test]
    fn a_long_text_has_as_many_stretches_as_it_has_sentences() {
        assert!(stretches("two words").is_empty());
        assert_eq!(stretches("one sentence of words.").len(), 1);
        assert_eq!(stretches(&"some words here. ".repeat(10)).len(), 8);
    }
}
