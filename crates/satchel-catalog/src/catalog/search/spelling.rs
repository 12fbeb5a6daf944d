//! Finds known words within one or two typos of a given word, and words that it abbreviates.
//!
//! Two words that differ by one typo are equal after removing one letter from each, so the index stores every known word
//! under all results of removing one letter.

use std::sync::LazyLock;

use fuse_rust::Fuse;

use super::{thesaurus, words::LONGEST};

/// Shorter words resemble too many others.
const SHORTEST: usize = 4;
/// From this length on, two typos are accepted.
const LONG: usize = 9;
/// Minimum length for fuse-rust: shorter matches are chance. At most this many words with the same first letters are asked.
const FUZZY_LENGTH: usize = 6;
const FUZZY: usize = 8;
const BEGINNING: usize = 3;
/// fuse-rust scores 0 for equal and 1 for unrelated.
const NEARLY: f64 = 0.3;
/// Maximum number of longer words considered for an abbreviation.
const LONGER: usize = 24;
/// Minimum similarity; below, it may be another word.
const SURE: f32 = 0.6;
/// Maximum number of suggestions.
const MOST: usize = 4;

/// The known words.
#[derive(Debug, Default)]
pub struct Spelling {
    /// As written, sorted.
    words: Vec<Box<str>>,
    /// Words by their remains after removing a letter, sorted.
    remains: Vec<(u32, u32)>,
}

/// Words that are known only as hints: a typo is corrected to one of them only if it is very close.
static HINTING: LazyLock<Spelling> = LazyLock::new(|| {
    Spelling::of(thesaurus::hinting().filter(|word| can_be_misspelt(word)).map(Into::into).collect())
});

/// Maximum length: longer words are rarely misspelt, and the search takes time quadratic in the length.
fn can_be_misspelt(word: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&word.len()) && word.is_ascii()
}

impl Spelling {
    /// Prepares corrections into these words.
    pub fn new(known: impl Iterator<Item = Box<str>>) -> Self {
        let known = known.filter(|word| can_be_misspelt(word));
        Self::of(known.chain(thesaurus::written().map(Into::into)).collect())
    }

    fn of(mut words: Vec<Box<str>>) -> Self {
        words.sort_unstable();
        words.dedup();
        words.shrink_to_fit();
        let mut remains = Vec::new();
        for (at, word) in words.iter().enumerate() {
            remains.extend(self::remains(word).map(|hash| (hash, at as u32)));
        }
        remains.sort_unstable();
        remains.dedup();
        remains.shrink_to_fit();
        Self { words, remains }
    }

    /// Known words that `word` may mean, with their similarity.
    pub fn near<'a>(&'a self, word: &str) -> Vec<(&'a str, f32)> {
        let near = self.nearest(word);
        let unsure = near.first().is_none_or(|(_, likeness)| *likeness < SURE);
        let hinting = if unsure { HINTING.nearest(word) } else { vec![] };
        if hinting.first().is_some_and(|(_, likeness)| *likeness >= SURE) { hinting } else { near }
    }

    fn nearest<'a>(&'a self, word: &str) -> Vec<(&'a str, f32)> {
        if !can_be_misspelt(word) || word.bytes().any(|byte| byte.is_ascii_digit()) {
            return vec![];
        }
        let slips = remains(word).flat_map(|hash| self.remaining(hash)).map(|at| &*self.words[at as usize]);
        let longer = self.beginning_with(word).take(LONGER);
        let mut near: Vec<(&'a str, f32)> =
            slips.chain(longer).filter_map(|known| Some((known, likeness(word, known)?))).collect();
        if near.is_empty() && word.len() >= FUZZY_LENGTH {
            // Nothing is a letter away: then what fuse-rust finds alike, for less.
            let similar =
                self.beginning_with(&word[..BEGINNING]).filter(|known| known.len().abs_diff(word.len()) <= 2);
            let apart = apart_from(word);
            let alike = |known: &'a str| Some((known, 0.5 * (1.0 - apart(known)? as f32)));
            near = similar.take(FUZZY).filter_map(alike).collect();
        }
        near.sort_by(|(a_word, a), (b_word, b)| b.total_cmp(a).then(a_word.cmp(b_word)));
        near.dedup();
        near.truncate(MOST);
        near
    }

    fn remaining(&self, hash: u32) -> impl Iterator<Item = u32> {
        let from = self.remains.partition_point(|(known, _)| *known < hash);
        self.remains[from..].iter().take_while(move |(known, _)| *known == hash).map(|(_, at)| *at)
    }

    fn beginning_with<'a, 'b>(&'a self, beginning: &'b str) -> impl Iterator<Item = &'a str> + use<'a, 'b> {
        let from = self.words.partition_point(|known| **known < *beginning);
        self.words[from..].iter().map(|known| &**known).take_while(move |known| known.starts_with(beginning))
    }
}

/// Hashes of the word and of each result of removing one letter.
fn remains(word: &str) -> impl Iterator<Item = u32> {
    (0..=word.len()).map(move |without| {
        // FNV-1a.
        let bytes = word.bytes().enumerate().filter(move |(at, _)| *at != without);
        bytes.fold(0x811c_9dc5_u32, |hash, (_, byte)| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    })
}

/// Similarity of a known word to the one typed, up to 1.
fn likeness(word: &str, known: &str) -> Option<f32> {
    let letters = distance(word, known);
    let allowed = if word.len() < LONG { 1 } else { 2 };
    if letters <= allowed {
        // People rarely err in the first letter.
        let first = if word.as_bytes()[0] == known.as_bytes()[0] { 1.0 } else { 0.8 };
        return Some(first * (1.0 - letters as f32 * 1.2 / word.len() as f32));
    }
    if known.starts_with(word) {
        return Some(0.4 + 0.4 * word.len() as f32 / known.len() as f32);
    }
    None
}

/// fuse-rust's score for two words, which also finds one within the other: 0 for equal, up to 1.
pub(super) fn apart(word: &str, known: &str) -> Option<f64> {
    apart_from(word)(known)
}

/// The same for several known words.
fn apart_from(word: &str) -> impl Fn(&str) -> Option<f64> {
    let fuse = Fuse { threshold: NEARLY, distance: 32, ..Fuse::default() };
    let pattern = fuse.create_pattern(word);
    move |known| Some(fuse.search(Some(pattern.as_ref()?), known)?.score)
}

/// Number of letters to insert, drop, change or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 2 {
        return 9;
    }
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[1][j] + 1).min(rows[2][j - 1] + 1).min(rows[1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_length_are_neither_kept_nor_corrected() {
        let long = "x".repeat(LONGEST + 1);
        let spelling = Spelling::new(["x".repeat(LONGEST), long.clone()].map(Into::into).into_iter());
        assert!(!spelling.words.iter().any(|word| **word == *long));
        assert!(spelling.near(&long).is_empty());
        assert_eq!(spelling.near(&"x".repeat(LONGEST - 1)).len(), 1);
    }

    #[test]
    fn a_slip_of_the_fingers_finds_the_word() {
        let known = ["screenshot", "repository", "list", "weather", "calendar", "configuration"];
        let spelling = Spelling::new(known.into_iter().map(Into::into));
        for (wrong, meant) in [
            ("screnshot", "screenshot"),
            ("repostiory", "repository"),
            ("lsit", "list"),
            ("weathher", "weather"),
            ("calemdar", "calendar"),
            ("config", "configuration"),
        ] {
            assert!(spelling.near(wrong).iter().any(|(word, _)| *word == meant), "{wrong}");
        }
        assert!(
            spelling.near("qqqqqq").is_empty()
                && spelling.near("ÄÖÜÄÖÜ").is_empty()
                && spelling.near("").is_empty()
        );
    }
}
