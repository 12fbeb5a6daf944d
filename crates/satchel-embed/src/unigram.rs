//! SentencePiece's unigram tokenizer, as multilingual-e5-small uses it: compatibility forms are made one, and each word is
//! cut into the known pieces that are likeliest together. No regular expressions, no special tokens inside a text.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Begins a word.
const WORD: char = '\u{2581}';
/// How much less likely than any piece a character is that no piece has.
const UNKNOWN: f32 = 10.0;
/// Maximum number of characters read per possible token, so that a long text does not delay callers.
const CHARS_A_TOKEN: usize = 32;

/// The pieces with their scores. A piece's number is its place among all of them, which are sorted.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    pieces: Box<str>,
    /// Where each piece begins; one more at the end.
    starts: Vec<u32>,
    scores: Vec<f32>,
    unknown_score: f32,
    first: u32,
    last: u32,
    unknown: u32,
}

/// The likeliest way to cut a word up to some place: its score, where its last piece begins, and that piece.
#[derive(Debug, Clone, Copy)]
struct BestCut {
    score: f32,
    from: usize,
    piece: u32,
}

impl Tokenizer {
    /// Of sorted pieces, one per line, and a score for each.
    pub(crate) fn new(vocabulary: &str, scores: &[f32]) -> Self {
        let mut starts = vec![0u32];
        starts.extend(vocabulary.match_indices('\n').map(|(at, _)| at as u32 + 1));
        starts.push(vocabulary.len() as u32 + 1);
        let mut tokenizer = Self {
            pieces: vocabulary.into(),
            starts,
            scores: scores.to_vec(),
            unknown_score: scores.iter().fold(0.0f32, |least, score| least.min(*score)) - UNKNOWN,
            first: 0,
            last: 0,
            unknown: 0,
        };
        tokenizer.scores.resize(tokenizer.count(), 0.0);
        let [first, last, unknown, ..] =
            ["<s>", "</s>", "<unk>", "<pad>", "<mask>"].map(|name| tokenizer.special(name));
        Self { first, last, unknown, ..tokenizer }
    }

    /// At most `most` tokens of the text after its prefix, including the first and last special token.
    pub(crate) fn of(&self, prefix: &str, text: &str, most: usize) -> Vec<u32> {
        let text: String = prefix.chars().chain(text.chars().take(most * CHARS_A_TOKEN)).collect();
        let text = ComposingNormalizerBorrowed::new_nfkc().normalize(&text).into_owned();
        let plain: String = text.chars().filter_map(readable).collect();
        let mut tokens = vec![self.first];
        for word in plain.split_whitespace() {
            if tokens.len() + 1 >= most {
                break;
            }
            self.cut(word, &mut tokens);
        }
        tokens.truncate(most - 1);
        tokens.push(self.last);
        tokens
    }

    /// Adds the likeliest pieces of a word.
    fn cut(&self, word: &str, tokens: &mut Vec<u32>) {
        let word: String = std::iter::once(WORD).chain(word.chars()).collect();
        let mut best: Vec<Option<BestCut>> = vec![None; word.len() + 1];
        best[0] = Some(BestCut { score: 0.0, from: 0, piece: self.unknown });
        for (from, c) in word.char_indices() {
            let Some(BestCut { score, .. }) = best[from] else { continue };
            let mut take = |to: usize, piece: u32, more: f32| {
                if best[to].is_none_or(|step| score + more > step.score) {
                    best[to] = Some(BestCut { score: score + more, from, piece });
                }
            };
            take(from + c.len_utf8(), self.unknown, self.unknown_score);
            self.pieces_at(&word, from, |to, piece| take(to, piece, self.scores[piece as usize]));
        }
        let before = tokens.len();
        let mut to = word.len();
        while to > 0 {
            let Some(step) = best[to] else { break };
            // Unknown characters in a row are one unknown token.
            if step.piece != self.unknown || tokens.len() == before || tokens.last() != Some(&self.unknown) {
                tokens.push(step.piece);
            }
            to = step.from;
        }
        tokens[before..].reverse();
    }

    /// Every piece that the word has from a place on, with its end. The pieces that begin with what was read stand side by
    /// side, and become fewer with each character.
    fn pieces_at(&self, word: &str, from: usize, mut found: impl FnMut(usize, u32)) {
        let mut range = 0..self.count();
        for (at, c) in word[from..].char_indices() {
            let to = from + at + c.len_utf8();
            let read = &word[from..to];
            let low = range.start + self.count_while(range.clone(), |piece| piece < read);
            let high = low + self.count_while(low..range.end, |piece| piece.starts_with(read));
            if low == high {
                return;
            }
            if self.piece(low) == read && self.scores[low] > f32::MIN {
                found(to, low as u32);
            }
            range = low..high;
        }
    }

    /// How many pieces at the beginning of a range fit; none does after the first that does not.
    fn count_while(&self, range: std::ops::Range<usize>, fits: impl Fn(&str) -> bool) -> usize {
        let (start, mut low, mut high) = (range.start, range.start, range.end);
        while low < high {
            let middle = low.midpoint(high);
            if fits(self.piece(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - start
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn piece(&self, number: usize) -> &str {
        &self.pieces[self.starts[number] as usize..self.starts[number + 1] as usize - 1]
    }

    /// The number of a piece that stands for no text.
    fn special(&mut self, name: &str) -> u32 {
        let number = self.count_while(0..self.count(), |piece| piece < name);
        if number == self.count() || self.piece(number) != name {
            return 0;
        }
        self.scores[number] = f32::MIN;
        number as u32
    }
}

/// What is left of a character after compatibility forms were made one: nothing of control characters, a space of what
/// separates or cannot be seen.
fn readable(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\u{c}' | '\r' => Some(' '),
        '\0'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}' => None,
        '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{fffd}' | WORD => Some(' '),
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: &[(&str, f32)] = &[
        ("</s>", 0.0),
        ("<s>", 0.0),
        ("<unk>", 0.0),
        ("a", -6.0),
        ("d", -6.0),
        ("da", -4.0),
        ("e", -6.0),
        ("es", -4.0),
        ("t", -6.0),
        ("tei", -5.0),
        ("▁", -4.0),
        ("▁date", -5.0),
        ("▁datei", -3.0),
        ("▁file", -3.0),
        ("读", -5.0),
        ("读取", -6.0),
    ];

    fn pieces(text: &str, most: usize) -> Vec<String> {
        let vocabulary: Vec<&str> = PIECES.iter().map(|(piece, _)| *piece).collect();
        assert!(vocabulary.is_sorted());
        let scores: Vec<f32> = PIECES.iter().map(|(_, score)| *score).collect();
        let tokenizer = Tokenizer::new(&vocabulary.join("\n"), &scores);
        let tokens = tokenizer.of("", text, most);
        tokens.iter().map(|token| tokenizer.piece(*token as usize).to_owned()).collect()
    }

    #[test]
    fn a_word_is_cut_into_the_pieces_that_are_likeliest_together() {
        for (text, expected) in [
            ("", &[][..]),
            ("datei", &["▁datei"]),
            ("dateies file", &["▁datei", "es", "▁file"]),
            ("datet", &["▁date", "t"]),
            ("读取datei", &["▁", "读取", "da", "tei"]),
            ("  file\tfile\u{200b}", &["▁file", "▁file"]),
            ("ｆｉｌｅ \u{fb01}le", &["▁file", "▁file"]),
            ("file<s>", &["▁file", "<unk>"]),
            ("🦜🦜", &["▁", "<unk>"]),
        ] {
            let found = pieces(text, 32);
            assert_eq!(found[1..found.len() - 1], *expected, "{text}");
            assert!(found[0] == "<s>" && found[found.len() - 1] == "</s>");
        }
    }

    #[test]
    fn a_text_without_end_is_read_to_a_bound() {
        assert_eq!(pieces(&"file ".repeat(1_000_000), 16).len(), 16);
        assert_eq!(pieces(&"读".repeat(1_000_000), 16).len(), 16);
        assert_eq!(pieces(&"🦜".repeat(1_000_000), 16), ["<s>", "▁", "<unk>", "</s>"]);
    }
}
