//! The encodings in which a secret is searched for: base64, base32, base85, hexadecimal and number lists, at every byte
//! offset, as UTF-8 and UTF-16, and base64 within base64. Of ciphers it knows only ROT13, and no compression.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

/// Shorter values reversed or in ROT13 are words or numbers that occur in ordinary text.
const SHORTEST_TURNED: usize = 6;
/// Shorter values in another case, or with gaps, occur in ordinary text.
const SHORTEST_SKELETON: usize = 10;
/// The same for a part of an encoded value.
const SHORTEST_ENCODED: usize = 4;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// The alphabets of Python, git and IPv6; of ZeroMQ; and of Ascii85, as in PDF and PostScript.
const BASE85: [&[u8; 85]; 3] = [
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
    b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
];

/// A text to search for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spelling {
    pub(super) text: String,
    pub(super) comparison: Comparison,
}

/// How a text is compared with a spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Comparison {
    /// Byte by byte.
    Exact,
    /// Hexadecimal and base32: case-insensitive, with separators between pairs.
    Digits,
    /// Letters and digits, case-insensitive, with short gaps, possibly truncated.
    Skeleton,
}

/// All spellings of a secret, including itself. Escapes of each are decoded during the search.
pub(super) fn of(secret: &str) -> Vec<Spelling> {
    let bytes = secret.as_bytes();
    let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide_first: Vec<u8> = secret.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let mut exact = base64(bytes);
    for inner in base64(bytes) {
        exact.extend(base64(inner.as_bytes()));
    }
    exact.extend(base64(&wide));
    exact.extend(base64(&wide_first));
    exact.extend(base85(bytes));
    // A buffer in JSON.
    exact.extend([",", ", "].map(|between| numbers(bytes, between)));
    exact.retain(|text| text.len() >= SHORTEST_ENCODED);
    if bytes.len() >= SHORTEST_TURNED {
        exact.push(secret.chars().rev().collect());
        exact.extend(rot13(secret));
    }
    exact.push(spaced(secret));
    exact.push(secret.to_owned());
    let skeleton: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    let skeleton = (skeleton.len() >= SHORTEST_SKELETON).then(|| skeleton.to_ascii_lowercase());
    let loose = [hex(bytes), hex(&wide), hex(&wide_first)].into_iter().chain(base32(bytes));
    let loose = loose.filter(|text| text.len() > SHORTEST_ENCODED);
    let as_one = |comparison| move |text| Spelling { text, comparison };
    let mut all: Vec<Spelling> = exact.into_iter().map(as_one(Comparison::Exact)).collect();
    all.extend(loose.map(as_one(Comparison::Digits)));
    all.extend(skeleton.map(as_one(Comparison::Skeleton)));
    all.sort_unstable();
    all.dedup();
    all
}

/// Encodings at each of three offsets among other bytes: only the characters that do not depend on neighbors.
fn base64(bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let (begin, end) = ((before * 8usize).div_ceil(6), (before + bytes.len()) * 8 / 6);
        let among = [&[0; 3][..before], bytes].concat();
        let each = [STANDARD_NO_PAD.encode(&among), URL_SAFE_NO_PAD.encode(&among)];
        all.extend(each.iter().filter_map(|text| text.get(begin..end)).map(ToOwned::to_owned));
    }
    all
}

/// The same at each of five offsets.
fn base32(bytes: &[u8]) -> Vec<String> {
    let digits = |before: usize| {
        let bit = |at: usize| {
            let byte = at / 8;
            let byte = byte.checked_sub(before).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
            usize::from(byte >> (7 - at % 8) & 1)
        };
        let (begin, end) = ((before * 8).div_ceil(5), (before + bytes.len()) * 8 / 5);
        let digit = |at: usize| (at * 5..at * 5 + 5).fold(0, |value, at| value << 1 | bit(at));
        (begin..end).map(|at| char::from(BASE32[digit(at)])).collect()
    };
    (0..5).map(digits).collect()
}

/// At each of four offsets among other bytes: the complete groups of four.
fn base85(bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for alphabet in BASE85 {
        let group = |four: [u8; 4], text: &mut String| {
            let mut value = u32::from_be_bytes(four);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = alphabet[value as usize % 85];
                value /= 85;
            }
            text.extend(digits.map(char::from));
        };
        for skipped in 0..4 {
            let mut text = String::new();
            let groups = bytes.get(skipped..).unwrap_or_default().chunks_exact(4);
            let rest = groups.remainder();
            groups.filter_map(|four| four.try_into().ok()).for_each(|four| group(four, &mut text));
            if skipped == 0 && !rest.is_empty() {
                let mut four = [0; 4];
                four[..rest.len()].copy_from_slice(rest);
                let mut whole = text.clone();
                group(four, &mut whole);
                whole.truncate(text.len() + rest.len() + 1);
                all.push(whole);
            }
            all.push(text);
        }
    }
    all
}

/// With a space between all characters.
fn spaced(secret: &str) -> String {
    let mut text: String = secret.chars().flat_map(|c| [c, ' ']).collect();
    text.pop();
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn numbers(bytes: &[u8], between: &str) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(between)
}

/// ROT13; `None` without letters.
fn rot13(secret: &str) -> Option<String> {
    let turned = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from(c as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(c as u8 - 13),
        c => c,
    };
    let text: String = secret.chars().map(turned).collect();
    (text != secret).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_those_of_others() {
        // Output of Python's base64 module.
        let text = "hunter2-hunter2!";
        assert!(base32(text.as_bytes()).contains(&"nb2w45dfoizc22dvnz2gk4rsee"[..25].to_owned()));
        for whole in ["XmxIMWpXktcm", "BQ\\37ATBOXGQ"] {
            assert!(base85(b"hunter2-x").contains(&whole.to_owned()), "{whole}");
        }
        assert!(base64(b"user:hunter2").contains(&"dXNlcjpodW50ZXIy".to_owned()));
        assert_eq!(rot13("Passw0rd").as_deref(), Some("Cnffj0eq"));
        assert_eq!(rot13("1234-5678"), None);
    }
}
