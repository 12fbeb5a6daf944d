//! BERT's uncased WordPiece tokenizer: lower case, no accents, punctuation and Chinese characters separate, longest
//! match first.

use std::collections::HashMap;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Longer words become the unknown token.
const LONGEST: usize = 100;
/// Maximum number of characters read per possible token, so that a long text does not delay callers.
const CHARS_A_TOKEN: usize = 32;

#[derive(Debug)]
pub(crate) struct Tokenizer {
    words: HashMap<Box<str>, u32>,
    first: u32,
    last: u32,
    unknown: u32,
}

impl Tokenizer {
    pub(crate) fn new(vocabulary: &str) -> Self {
        let words: HashMap<Box<str>, u32> = vocabulary.lines().map(Into::into).zip(0..).collect();
        let known = |word: &str| words.get(word).copied().unwrap_or_default();
        Self { first: known("[CLS]"), last: known("[SEP]"), unknown: known("[UNK]"), words }
    }

    /// At most `most` tokens, including the first and last special token.
    pub(crate) fn of(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.first];
        let text: String = text.chars().take(most * CHARS_A_TOKEN).flat_map(char::to_lowercase).collect();
        let plain = DecomposingNormalizerBorrowed::new_nfd().normalize(&text);
        let mut word = String::new();
        for c in plain.chars().chain([' ']) {
            if tokens.len() + 1 >= most {
                break;
            }
            match c {
                c if is_left_out(c) => {}
                c if c.is_whitespace() => self.cut(&mut word, &mut tokens),
                c if stands_alone(c) => {
                    self.cut(&mut word, &mut tokens);
                    word.push(c);
                    self.cut(&mut word, &mut tokens);
                }
                c => word.push(c),
            }
        }
        tokens.truncate(most - 1);
        tokens.push(self.last);
        tokens
    }

    /// Splits a word into its longest known prefix, then the longest of the rest, and so on.
    fn cut(&self, word: &mut String, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut rest = word.as_str();
        if word.chars().count() > LONGEST {
            tokens.push(self.unknown);
            rest = "";
        }
        let mut piece = String::new();
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let known = ends.into_iter().find_map(|end| {
                piece.clear();
                piece.push_str(if tokens.len() > before { "##" } else { "" });
                piece.push_str(&rest[..end]);
                Some((end, *self.words.get(piece.as_str())?))
            });
            let Some((end, token)) = known else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                break;
            };
            tokens.push(token);
            rest = &rest[end..];
        }
        word.clear();
    }
}

/// Accents, which are separate characters after decomposition, and invisible characters.
fn is_left_out(c: char) -> bool {
    let accent = matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{902}' | '\u{93c}' | '\u{941}'..='\u{948}' | '\u{94d}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{3099}' | '\u{309a}' | '\u{20d0}'..='\u{20f0}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}');
    let hidden = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e007f}');
    accent || hidden || (c.is_control() && !c.is_whitespace())
}

fn stands_alone(c: char) -> bool {
    let punctuation = c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '・' | '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}' | '\u{ff5d}'..='\u{ff65}');
    let chinese = matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}');
    punctuation || chinese
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Tokenizer {
        Tokenizer::new("[PAD]\n[UNK]\n[CLS]\n[SEP]\nread\nfile\n##s\nun\n##aff\n##able\n天\n,\ncafe")
    }

    #[test]
    fn words_are_cut_into_the_longest_known_pieces() {
        for (text, expected) in [
            ("", &[2, 3][..]),
            ("Read FILES", &[2, 4, 5, 6, 3]),
            ("unaffable, café", &[2, 7, 8, 9, 11, 12, 3]),
            ("read天file", &[2, 4, 10, 5, 3]),
            ("zebra\u{200b} re\u{ad}ad", &[2, 1, 4, 3]),
        ] {
            assert_eq!(tokens().of(text, 32), expected, "{text}");
        }
    }

    #[test]
    fn a_text_without_end_is_read_to_a_bound() {
        assert_eq!(tokens().of(&"read ".repeat(1_000_000), 16).len(), 16);
        assert_eq!(tokens().of(&"x".repeat(1_000_000), 16), [2, 1, 3]);
    }
}
