//! Which characters of a text hide, reverse or redirect it, and how they are shown to a person. Knows no JSON, no terminal
//! and no language.
//!
//! There are two measures. A text for models keeps what any script or emoji may have ([`ranges`]). What a person decides
//! by keeps only what cannot be left out without another text ([`unseen`]): a soft hyphen or a direction mark can make
//! two commands look alike, and no command needs one.

use std::{borrow::Cow, ops::Range};

use super::characters::{is_format, is_selector};

/// The byte ranges of characters that a text for models may not have.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let rtl = text.chars().any(is_right_to_left);
    found(text, is_doubtful, |chars, at| {
        // Line ends, and a byte order mark at the start, hide nothing.
        let plain = matches!(chars[at], '\r' | '\u{2028}' | '\u{2029}' | '\u{85}');
        plain || (chars[at] == '\u{feff}' && at == 0) || stays(chars, at, rtl)
    })
}

/// The byte ranges of characters that a person would not see, or not as what they are. Line feeds and tabs are not
/// among them.
pub fn unseen(text: &str) -> Vec<Range<usize>> {
    found(text, |c| is_doubtful(c) || has_no_form(c), is_needed)
}

/// Is it drawn as nothing, or as whatever a font likes? Private use, noncharacters, the object replacement character, and
/// signs without ink.
fn has_no_form(c: char) -> bool {
    matches!(u32::from(c), 0xe000..=0xf8ff | 0xf_0000.. | 0xfffc | 0xfdd0..=0xfdef | 0x1_d159 | 0x1_3440..=0x1_3455)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// The text with each of these characters written out: `⟨U+202E⟩`.
pub fn shown(text: &str) -> Cow<'_, str> {
    written_out(text, &unseen(text))
}

/// The text with these ranges written out.
pub fn written_out<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut copied) = (String::with_capacity(text.len() + 16), 0);
    for range in ranges {
        shown.push_str(&text[copied..range.start]);
        text[range.clone()].chars().for_each(|c| shown.push_str(&code_point(c)));
        copied = range.end;
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown)
}

/// A character as what it is.
pub fn code_point(c: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(c))
}

fn found(
    text: &str,
    is_suspect: impl Fn(char) -> bool,
    may_stay: impl Fn(&[char], usize) -> bool,
) -> Vec<Range<usize>> {
    if !text.chars().any(is_suspect) {
        return Vec::new();
    }
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let chars: Vec<char> = places.iter().map(|(_, c)| *c).collect();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if let Some(length) = flag(&chars[at..]) {
            at += length;
            continue;
        }
        if !may_stay(&chars, at) {
            let (begin, end) = (places[at].0, places[at].0 + chars[at].len_utf8());
            match ranges.last_mut() {
                Some(last) if last.end == begin => last.end = end,
                _ => ranges.push(begin..end),
            }
        }
        at += 1;
    }
    ranges
}

/// Would leaving it out make another text of it, rather than one that looks the same?
fn is_needed(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| chars[at]);
    match chars[at] {
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{200e}'..='\u{200f}' => false,
        '\u{fe00}'..='\u{fe0d}' | '\u{e0100}'..='\u{e01ef}' => false,
        c if has_no_form(c) => false,
        // Behind a digit it changes nothing, except in the symbol of a key.
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(is_emoji) || chars.get(at + 1) == Some(&'\u{20e3}') && stays(chars, at, false)
        }
        _ => stays(chars, at, false),
    }
}

/// May this character have to be removed? Most texts have none of these.
pub fn is_doubtful(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        c if c.is_control() => true,
        c => is_format(c) || is_selector(c) || matches!(c, '\u{2028}' | '\u{2029}'),
    }
}

/// Does the doubtful character at `at` belong to the text around it? `rtl`: the text has right-to-left letters.
pub fn stays(chars: &[char], at: usize, rtl: bool) -> bool {
    let c = chars[at];
    if !is_doubtful(c) {
        return true;
    }
    let before = at.checked_sub(1).map(|at| chars[at]);
    let after = chars.get(at + 1).copied();
    match c {
        // A composite emoji, also if the first part has a skin tone or a selector.
        '\u{200d}' if before.is_some_and(ends_emoji) && after.is_some_and(is_emoji) => true,
        // Scripts in which joiners connect or separate letters.
        '\u{200c}' | '\u{200d}' => {
            before.is_some_and(is_joining) && after.is_none_or(|c| is_joining(c) || c.is_whitespace())
        }
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(takes_emoji_style),
        '\u{fe00}'..='\u{fe0d}' => before.is_some_and(|c| is_ideograph(c) || is_mathematical(c)),
        '\u{e0100}'..='\u{e01ef}' => before.is_some_and(is_ideograph),
        '\u{180b}'..='\u{180f}' => before.is_some_and(|c| matches!(u32::from(c), 0x1820..=0x18aa)),
        // Direction marks, if there is right-to-left text.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            rtl && before.is_none_or(|c| !is_doubtful(c)) && after.is_none_or(|c| !is_doubtful(c))
        }
        // Soft hyphens between two letters.
        '\u{ad}' => before.is_some_and(char::is_alphabetic) && after.is_some_and(char::is_alphabetic),
        // Fillers in Old Hangul.
        '\u{115f}' | '\u{1160}' => {
            let jamo = |c: char| matches!(u32::from(c), 0x1100..=0x115e | 0x1161..=0x11ff);
            before.is_some_and(jamo) || after.is_some_and(jamo)
        }
        '\u{34f}' => before.is_some_and(is_combining) || after.is_some_and(is_combining),
        _ => false,
    }
}

/// The three flags that are encoded with tags: England, Scotland, Wales.
pub fn flag(chars: &[char]) -> Option<usize> {
    const BLACK_FLAG: char = '\u{1f3f4}';
    if chars.first() != Some(&BLACK_FLAG) {
        return None;
    }
    ["gbeng", "gbsct", "gbwls"].iter().find_map(|region| {
        let tags = region.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c)));
        let sequence = tags.chain(['\u{e007f}']);
        chars[1..].iter().copied().take(6).eq(sequence).then_some(7)
    })
}

fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x1f000..=0x1faff | 0x2190..=0x21ff | 0x2300..=0x23ff | 0x2600..=0x27bf
        | 0x2934..=0x2935 | 0x2b00..=0x2bff | 0xa9 | 0xae | 0x203c | 0x2049 | 0x2122 | 0x2139 | 0x24c2
        | 0x25aa..=0x25fe | 0x3030 | 0x303d | 0x3297 | 0x3299)
}

fn ends_emoji(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}'
}

fn takes_emoji_style(c: char) -> bool {
    is_emoji(c) || c.is_ascii_digit() || matches!(c, '#' | '*')
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af)
}

fn is_mathematical(c: char) -> bool {
    matches!(u32::from(c), 0x2200..=0x22ff | 0x2a00..=0x2aff | 0x30)
}

fn is_combining(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x34e | 0x350..=0x36f | 0x591..=0x5bd | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff)
}

/// Letters and marks of scripts in which a joiner changes the appearance.
fn is_joining(c: char) -> bool {
    matches!(u32::from(c),
        0x600..=0x6ff | 0x700..=0x74f | 0x750..=0x77f | 0x780..=0x7bf | 0x7c0..=0x7ff | 0x840..=0x86f
        | 0x8a0..=0x8ff | 0x900..=0xdff | 0xe00..=0xfff | 0x1000..=0x109f | 0x1780..=0x17dd | 0x1800..=0x18aa
        | 0x1a20..=0x1aad | 0x1b00..=0x1bff | 0xa800..=0xa82f | 0xa8e0..=0xa8ff | 0xfb50..=0xfdff
        | 0xfe70..=0xfefc | 0x11000..=0x11fff | 0x1e900..=0x1e95f)
}

/// Is this a letter of a script that is written from right to left?
pub fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x5ff | 0x600..=0x61b | 0x61d..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc
        | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_every_character_that_hides() {
        for (text, seen) in [
            ("a\u{200b}b", "a⟨U+200B⟩b"),
            ("\u{202e}gpj.exe", "⟨U+202E⟩gpj.exe"),
            ("git\u{ad}hub", "git⟨U+00AD⟩hub"),
            ("שלום\u{200f} abc", "שלום⟨U+200F⟩ abc"),
            ("1\u{fe0f}", "1⟨U+FE0F⟩"),
            ("葛\u{e0100}", "葛⟨U+E0100⟩"),
            ("a\u{1b}[2J\r\u{9b}", "a⟨U+001B⟩[2J⟨U+000D⟩⟨U+009B⟩"),
            ("a\u{e000}\u{1d159}\u{fffc}\u{fffe}b", "a⟨U+E000⟩⟨U+1D159⟩⟨U+FFFC⟩⟨U+FFFE⟩b"),
            ("x\u{e0041}\u{2028}\u{3164}\u{feff}", "x⟨U+E0041⟩⟨U+2028⟩⟨U+3164⟩⟨U+FEFF⟩"),
        ] {
            assert_eq!(shown(text), seen, "{text:?}");
        }
    }

    #[test]
    fn what_a_script_or_an_emoji_needs_is_left_as_it_is() {
        for text in [
            "plain\n\ttext — “quotes”, naïve 日本語 한국어 Ελληνικά Українська",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم क्\u{200d}ष",
            "a\u{301}",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
