//! Invisible characters that act on text, and characters that look like others; what that means for a name.

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_security::{GeneralSecurityProfile, MixedScript, RestrictionLevel, RestrictionLevelDetection};

use super::hidden;

/// Does the name have a character that cannot be seen, or a blank that only looks like one?
pub fn hides(name: &str) -> bool {
    !hidden::unseen(name).is_empty() || name.chars().any(|c| is_odd_blank(c) || is_nothing(c))
}

/// A character without a meaning of its own: every font draws it in another way, or not at all.
fn is_nothing(c: char) -> bool {
    matches!(u32::from(c), 0xe000..=0xf8ff | 0xfff9..=0xfffd | 0xf0000..=0x10ffff)
}

/// A blank other than the usual one, and the empty braille pattern, which looks like it.
fn is_odd_blank(c: char) -> bool {
    (c.is_whitespace() && c != ' ') || c == '\u{2800}'
}

/// What poses as Latin: letters of another alphabet, styled ones and loose accents in one word with Latin letters, and signs that
/// look like those of ASCII (UTS 39, section 5; words of Latin and East Asian letters are common).
pub fn posing(name: &str) -> Vec<char> {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(name);
    let words = composed.split(|c: char| !is_of_a_word(c));
    let mixed = words.filter(|word| word.contains(|c: char| c.is_ascii_alphabetic()) && is_mixed(word));
    let letters = mixed.flat_map(|word| word.chars().filter(|c| !c.is_ascii() && is_foreign(*c)));
    letters.chain(composed.chars().filter(|c| is_like_a_sign(*c))).collect()
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || is_accent(c) || styled(c).is_some()
}

/// An accent that no letter before it takes up.
fn is_accent(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

fn is_mixed(word: &str) -> bool {
    let word: String = word.chars().filter(|c| !is_small_number(*c)).collect();
    word.chars().any(is_accent)
        || !matches!(
            word.detect_restriction_level(),
            RestrictionLevel::ASCIIOnly
                | RestrictionLevel::SingleScript
                | RestrictionLevel::HighlyRestrictive
        )
}

/// As in m², which nobody takes for another name.
fn is_small_number(c: char) -> bool {
    matches!(c, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{bc}'..='\u{be}' | '\u{2070}'..='\u{209c}')
}

/// Is it no usual letter of Latin words?
fn is_foreign(c: char) -> bool {
    let with_latin: String = ['a', c].iter().collect();
    !is_small_number(c) && is_odd_letter(c, &with_latin)
}

fn is_odd_letter(c: char, with_latin: &str) -> bool {
    is_accent(c) || !c.identifier_allowed() || !with_latin.is_single_script()
}

/// A sign that looks like one of ASCII, such as a slash that is another character.
fn is_like_a_sign(c: char) -> bool {
    // Quotes, dashes and dots of text processors hide nothing.
    const TYPED: [char; 10] = ['‘', '’', '‚', '“', '”', '„', '–', '—', '‐', '·'];
    let mut prototype =
        unicode_security::skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>().into_iter();
    let is_sign = |sign: char| matches!(sign, ':' | '/' | '|' | '%' | '\\' | '@' | '#');
    !c.is_ascii()
        && !c.is_alphanumeric()
        && !TYPED.contains(&c)
        && prototype.next().is_some_and(is_sign)
        && prototype.next().is_none()
}

/// How many of its characters look like others and are none.
pub fn imitations(name: &str) -> usize {
    // The prototype of an m is rn, which is the imitation.
    let is_other = |c: &char| *c != 'm' && !unicode_security::skeleton(c.encode_utf8(&mut [0; 4])).eq([*c]);
    name.chars().filter(is_other).count()
}

/// The name with everything that hides or poses written out: `g⟨U+0456⟩thub`.
pub fn spelled(name: &str) -> String {
    let posing = posing(name);
    let shown = hidden::shown(name);
    let each = shown.chars().map(|c| {
        match is_odd_blank(c) || is_nothing(c) || c.is_control() || posing.contains(&c) {
            true => hidden::code_point(c),
            false => c.to_string(),
        }
    });
    each.collect()
}

/// What the name looks like (UTS 39, section 4), however its accents and styled letters are composed (NFKC). Names with one
/// skeleton look the same.
pub fn skeleton(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in ComposingNormalizerBorrowed::new_nfkc().normalize(name).chars() {
        match styled(c).or_else(|| look_alike(c)) {
            Some(latin) => plain.push_str(latin),
            None => plain.push(c),
        }
    }
    unicode_security::skeleton(&plain).collect::<String>().to_lowercase()
}

/// Is this character invisible (Unicode `Cf` and `Default_Ignorable_Code_Point`)? Excludes the visible ones among
/// them: the Arabic, Syriac and Kaithi signs that enclose numbers.
pub fn is_format(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe00ff | 0xe01f0..=0xe0fff)
}

/// Is this a variation selector?
pub fn is_selector(c: char) -> bool {
    matches!(u32::from(c), 0xfe00..=0xfe0f | 0xe0100..=0xe01ef)
}

/// The Latin letters that a letter of another script looks like.
pub fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        // Cyrillic.
        'а' | 'А' => "a",
        'В' | 'в' | 'ь' | 'Ь' => "b",
        'с' | 'С' => "c",
        'ԁ' => "d",
        'е' | 'Е' | 'ё' | 'Ё' | 'є' => "e",
        'ɡ' | 'ց' => "g",
        'Н' | 'н' | 'һ' | 'Һ' => "h",
        'і' | 'І' | 'ї' => "i",
        'ј' | 'Ј' => "j",
        'К' | 'к' => "k",
        'М' | 'м' => "m",
        'ո' | 'ռ' => "n",
        'о' | 'О' | 'օ' | 'ο' | 'Ο' => "o",
        'р' | 'Р' => "p",
        'ԛ' => "q",
        'ѕ' | 'Ѕ' => "s",
        'Т' | 'т' => "t",
        'ս' => "u",
        'ѵ' => "v",
        'ԝ' | 'ѡ' => "w",
        'х' | 'Х' => "x",
        'у' | 'У' | 'ү' => "y",
        'ⅼ' | 'Ӏ' | 'ӏ' | 'ǀ' => "l",
        // Greek.
        'α' | 'Α' => "a",
        'Β' => "b",
        'Ε' | 'ε' => "e",
        'Η' => "h",
        'Ι' | 'ι' => "i",
        'Κ' | 'κ' => "k",
        'Μ' => "m",
        'Ν' => "n",
        'ρ' | 'Ρ' => "p",
        'Τ' | 'τ' => "t",
        'υ' => "u",
        'ν' => "v",
        'Χ' | 'χ' => "x",
        'Υ' => "y",
        'Ζ' => "z",
        // Others.
        'Ꭺ' => "a",
        'Ꮯ' | 'ⅽ' => "c",
        'ⅾ' => "d",
        'Ꭼ' => "e",
        'Ꮋ' => "h",
        'ⅰ' => "i",
        'ⅿ' => "m",
        'Ꮲ' => "p",
        'Ꮪ' => "s",
        'Ꭲ' => "t",
        'ⅴ' => "v",
        'ⅹ' => "x",
        _ => return None,
    })
}

/// The plain form of a styled Latin letter: mathematical, full-width, circled.
pub fn styled(c: char) -> Option<&'static str> {
    const SMALL: [&str; 26] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z",
    ];
    let code = u32::from(c);
    let at = match code {
        0x1d400..=0x1d6a3 => (code - 0x1d400) % 26,
        0xff21..=0xff3a => code - 0xff21,
        0xff41..=0xff5a => code - 0xff41,
        0x24b6..=0x24cf => code - 0x24b6,
        0x24d0..=0x24e9 => code - 0x24d0,
        0x1f110..=0x1f129 => code - 0x1f110,
        0x1f130..=0x1f149 => code - 0x1f130,
        0x1f150..=0x1f169 => code - 0x1f150,
        0x1f170..=0x1f189 => code - 0x1f170,
        0x249c..=0x24b5 => code - 0x249c,
        0x212a => 10,
        0x210e => 7,
        0x2110 | 0x2111 => 8,
        0x2112 | 0x2113 => 11,
        0x211b..=0x211d => 17,
        0x212c => 1,
        0x2130 => 4,
        0x2131 => 5,
        0x2133 => 12,
        0x2134 => 14,
        0x212f => 4,
        0x210a => 6,
        0x1d00 => 0,
        0x1d04 => 2,
        0x1d05 => 3,
        0x1d07 => 4,
        0x1d0a => 9,
        0x1d0b => 10,
        0x1d0d => 12,
        0x1d0f => 14,
        0x1d18 => 15,
        0x1d1b => 19,
        0x1d1c => 20,
        0x1d20 => 21,
        0x1d21 => 22,
        0x1d22 => 25,
        0x0280 => 17,
        0x0274 => 13,
        0x029f => 11,
        0x026a => 8,
        0xa731 => 18,
        _ => return None,
    };
    SMALL.get(at as usize).copied()
}
