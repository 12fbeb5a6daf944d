//! Words that are nearly right: a known word that differs by a letter or two, or one that it shortens.

use std::collections::HashMap;

use fuse_rust::Fuse;

/// Shorter words are too often nearly others.
const SHORTEST: usize = 4;
/// From here on two letters may be wrong.
const LONG: usize = 9;
/// So many words with the most parts in common are looked at.
const CANDIDATES: usize = 80;
/// So many of them by fuse-rust, which takes longer.
const FUZZY: usize = 4;
/// Shorter words are alike by chance.
const FUZZY_LENGTH: usize = 6;
/// fuse-rust scores 0 for equal and 1 for nothing alike.
const NEARLY: f64 = 0.3;
const MOST: usize = 4;

/// The known words by their three-letter parts.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    /// As written, in order.
    words: Vec<Box<str>>,
    parts: HashMap<[u8; 3], Vec<u32>>,
}

impl Spelling {
    pub(super) fn new(known: impl Iterator<Item = Box<str>>) -> Self {
        let mut words: Vec<Box<str>> =
            known.filter(|word| word.len() >= SHORTEST && word.is_ascii()).collect();
        words.extend(super::thesaurus::written().map(Into::into));
        words.sort_unstable();
        words.dedup();
        words.shrink_to_fit();
        let mut by_part: HashMap<[u8; 3], Vec<u32>> = HashMap::new();
        for (at, word) in words.iter().enumerate() {
            for part in parts(word) {
                let list = by_part.entry(part).or_default();
                if list.last() != Some(&(at as u32)) {
                    list.push(at as u32);
                }
            }
        }
        Self { words, parts: by_part }
    }

    /// Known words that `word` may mean, with how much they are alike, at most three.
    pub(super) fn near(&self, word: &str) -> Vec<(&str, f32)> {
        if word.len() < SHORTEST || !word.is_ascii() || word.bytes().any(|byte| byte.is_ascii_digit()) {
            return vec![];
        }
        let known = |at: u32| &*self.words[at as usize];
        let candidates = self.candidates(word);
        let alike = |at: &u32| Some((likeness(word, known(*at))?, *at));
        let mut near: Vec<(f32, u32)> = candidates.iter().filter_map(alike).collect();
        if near.is_empty() && word.len() >= FUZZY_LENGTH {
            // Nothing is a letter away: then what fuse-rust finds alike, for less.
            let alike = |at: &u32| Some((0.5 * (1.0 - apart(word, known(*at))? as f32), *at));
            near = candidates.iter().take(FUZZY).filter_map(alike).collect();
        }
        near.sort_by(|(a, a_at), (b, b_at)| b.total_cmp(a).then(a_at.cmp(b_at)));
        near.into_iter().take(MOST).map(|(likeness, at)| (known(at), likeness)).collect()
    }

    /// Words with the most parts in common, those of similar length first.
    fn candidates(&self, word: &str) -> Vec<u32> {
        let lists = parts(word).into_iter().filter_map(|part| self.parts.get(&part));
        let mut shared: Vec<u32> = lists.flatten().copied().collect();
        shared.sort_unstable();
        let mut candidates: Vec<(usize, usize, u32)> = shared
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() > 1)
            .map(|same| {
                (usize::MAX - same.len(), self.words[same[0] as usize].len().abs_diff(word.len()), same[0])
            })
            .collect();
        if candidates.len() > CANDIDATES {
            candidates.select_nth_unstable(CANDIDATES);
            candidates.truncate(CANDIDATES);
        }
        candidates.sort_unstable();
        candidates.into_iter().map(|(_, _, at)| at).collect()
    }
}

/// How much a known word is what was meant, up to 1.
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

/// How much two words are alike by fuse-rust, which also finds one within the other: from 0 for equal to 1.
pub(super) fn apart(word: &str, known: &str) -> Option<f64> {
    let fuse = Fuse { threshold: NEARLY, distance: 32, ..Fuse::default() };
    let pattern = fuse.create_pattern(word)?;
    Some(fuse.search(Some(&pattern), known)?.score)
}

/// Three letters each; the beginning counts as one.
fn parts(word: &str) -> Vec<[u8; 3]> {
    let bytes: Vec<u8> = std::iter::once(b'^').chain(word.bytes()).collect();
    bytes.array_windows().copied().collect()
}

/// Letters to insert, drop, change or swap.
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
