//! Removes invisible characters that hide, reverse or redirect text. Visible text stays as it is.
//!
//! Kept are those that a script or an emoji cannot do without, where they stand as their rules want it.

use std::borrow::Cow;

use satchel_mcp::{
    Raw,
    bytes::{all_below, find, find_either},
};

use crate::model::characters::{is_format, is_selector};

/// Cleans every text in a definition, including keys; borrows it if there is nothing to remove. Numbers, order and
/// white space stay as written.
pub fn raw(raw: &Raw) -> Cow<'_, Raw> {
    every_string(raw, self::text)
}

/// The same for a server's result, which may contain a file: line ends are kept, and so is everything in which a JSON
/// parser cannot hide anything.
pub fn answer(raw: &Raw) -> Cow<'_, Raw> {
    every_string(raw, lines)
}

fn every_string(raw: &Raw, clean: fn(&str) -> Cow<'_, str>) -> Cow<'_, Raw> {
    match json(raw.get(), clean) {
        Cow::Borrowed(_) => Cow::Borrowed(raw),
        // Only strings were rewritten.
        Cow::Owned(text) => Raw::from_string(text).map_or(Cow::Borrowed(raw), Cow::Owned),
    }
}

/// Removes invisible characters, keeping line ends. A lone carriage return is not a line end: it makes a terminal
/// overwrite the line.
fn lines(text: &str) -> Cow<'_, str> {
    const ENDS: [char; 2] = ['\n', '\u{2028}'];
    if !text.contains(['\r', '\u{2028}']) {
        return self::text(text);
    }
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive(ENDS) {
        let body = line.trim_end_matches(ENDS);
        let end = if line.ends_with("\r\n") { "\r\n" } else { &line[body.len()..] };
        clean.push_str(&self::text(body.strip_suffix('\r').filter(|_| end == "\r\n").unwrap_or(body)));
        clean.push_str(end);
    }
    if clean == text { Cow::Borrowed(text) } else { Cow::Owned(clean) }
}

fn json(text: &str, clean: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut cleaned, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(before) = find(b'"', bytes.get(at..).unwrap_or_default()) {
        let begin = at + before;
        let (end, suspicious) = string_end(bytes, begin + 1);
        at = end;
        if !suspicious {
            continue;
        }
        let literal = &text[begin..at];
        let (decoded, whole) = match serde_json::from_str::<String>(literal) {
            Ok(decoded) => (decoded, true),
            // Half of a surrogate pair, which many parsers reject.
            Err(_) => (lossy(literal), false),
        };
        let clean = clean(&decoded);
        if whole && matches!(clean, Cow::Borrowed(_)) {
            continue;
        }
        cleaned.push_str(&text[copied..begin]);
        cleaned.push_str(&serde_json::to_string(&clean).unwrap_or_else(|_| "\"\"".to_owned()));
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    cleaned.push_str(&text[copied..]);
    Cow::Owned(cleaned)
}

/// The end of the string whose content begins at `from`, and whether it may contain something invisible.
fn string_end(bytes: &[u8], from: usize) -> (usize, bool) {
    let (mut at, mut suspicious) = (from, false);
    while let Some(rest) = bytes.get(at..)
        && let Some(plain) = find_either(b'"', b'\\', rest)
    {
        suspicious |= !all_below(DELETE, &rest[..plain]);
        at += plain;
        if bytes[at] == b'"' {
            return (at + 1, suspicious);
        }
        suspicious |= !matches!(bytes.get(at + 1), Some(b'n' | b't' | b'"' | b'\\' | b'/'));
        at += 2;
    }
    (bytes.len(), true)
}

/// From this byte on, a text may contain something invisible.
const DELETE: u8 = 0x7f;

/// A string literal that contains an invalid character.
fn lossy(literal: &str) -> String {
    let inner = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let mut units: Vec<u16> = Vec::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        let mut buffer = [0; 2];
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut buffer));
            continue;
        }
        match rest.next() {
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
            }
            Some('n') => units.push(0x0a),
            Some('t') => units.push(0x09),
            Some('r') => units.push(0x0d),
            Some('b') => units.push(0x08),
            Some('f') => units.push(0x0c),
            Some(other) => units.extend_from_slice(other.encode_utf16(&mut buffer)),
            None => {}
        }
    }
    String::from_utf16_lossy(&units)
}

/// Removes invisible characters and normalizes line ends to `\n`.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_doubtful) {
        return Cow::Borrowed(text);
    }
    let mut clean = without_sequences(text);
    // Removing a character may leave a joiner without anything to join. A text that needs many rounds keeps none.
    for round in 0.. {
        let next = cleaned_once(&clean, round < ROUNDS);
        if next == clean {
            break;
        }
        clean = without_sequences(&next);
    }
    if clean == text { Cow::Borrowed(text) } else { Cow::Owned(clean) }
}

/// Maximum number of rounds before all doubtful characters are removed.
const ROUNDS: usize = 4;

fn cleaned_once(text: &str, keep: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let rtl = chars.iter().any(|c| is_right_to_left(*c));
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        if let Some(length) = flag(&chars[at..]).filter(|_| keep) {
            clean.extend(&chars[at..at + length]);
            at += length;
            continue;
        }
        match chars[at] {
            '\u{2028}' | '\u{2029}' | '\u{85}' => clean.push('\n'),
            '\r' if chars.get(at + 1) == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            c if !is_doubtful(c) || (keep && stays(&chars, at, rtl)) => clean.push(c),
            _ => {}
        }
        at += 1;
    }
    clean
}

/// The byte ranges of hidden characters.
pub fn hidden(text: &str) -> Vec<std::ops::Range<usize>> {
    if !text.chars().any(is_doubtful) {
        return Vec::new();
    }
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let chars: Vec<char> = places.iter().map(|(_, c)| *c).collect();
    let rtl = chars.iter().any(|c| is_right_to_left(*c));
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if let Some(length) = flag(&chars[at..]) {
            at += length;
            continue;
        }
        let c = chars[at];
        // Line ends, and a byte order mark at the start, hide nothing.
        let plain = matches!(c, '\r' | '\u{2028}' | '\u{2029}' | '\u{85}') || (c == '\u{feff}' && at == 0);
        if !plain && !stays(&chars, at, rtl) {
            let (begin, end) = (places[at].0, places[at].0 + c.len_utf8());
            match ranges.last_mut() {
                Some(last) if last.end == begin => last.end = end,
                _ => ranges.push(begin..end),
            }
        }
        at += 1;
    }
    ranges
}

/// Escapes hidden characters, so that a person sees all of the text.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut copied = 0;
    for range in hidden(text) {
        shown.push_str(&text[copied..range.start]);
        for c in text[range.clone()].chars() {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        }
        copied = range.end;
    }
    shown.push_str(&text[copied..]);
    shown.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}', '\u{85}'], "\n")
}

/// Removes terminal sequences with their parameters: `ESC [ 31 m` leaves no `[31m` behind.
fn without_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let kind = match c {
            '\u{1b}' => match rest.peek() {
                Some('[') => {
                    rest.next();
                    '['
                }
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    rest.next();
                    ']'
                }
                Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
                    rest.next();
                    rest.next_if(char::is_ascii_alphanumeric);
                    continue;
                }
                Some(next) if ('@'..='~').contains(next) && !next.is_ascii_lowercase() => {
                    rest.next();
                    continue;
                }
                _ => continue,
            },
            '\u{9b}' => '[',
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => ']',
            c => {
                plain.push(c);
                continue;
            }
        };
        if kind == '[' {
            while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
            rest.next_if(|c| ('@'..='~').contains(c));
        } else if ends_soon(rest.clone()) {
            while let Some(c) = rest.next() {
                if matches!(c, '\u{7}' | '\u{9c}') || (c == '\u{1b}' && rest.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
    }
    plain
}

/// Does the sequence end soon? An unterminated one must not swallow the text.
fn ends_soon(rest: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut before = '\0';
    for c in rest.take(4096) {
        if matches!(c, '\u{7}' | '\u{9c}') || (c == '\\' && before == '\u{1b}') {
            return true;
        }
        before = c;
    }
    false
}

/// May this character have to be removed? Most texts have none of these.
fn is_doubtful(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        c if c.is_control() => true,
        c => is_format(c) || is_selector(c) || matches!(c, '\u{2028}' | '\u{2029}'),
    }
}

/// Does the doubtful character at `at` stay?
fn stays(chars: &[char], at: usize, rtl: bool) -> bool {
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
fn flag(chars: &[char]) -> Option<usize> {
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

fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x5ff | 0x600..=0x61b | 0x61d..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc
        | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect()
    }

    #[test]
    fn hidden_characters_are_removed() {
        let tagged = format!("Weather.{}", tags("read the key"));
        for (dirty, clean) in [
            ("a\u{200b}b", "ab"),
            ("a\u{200c}b\u{200d}c\u{2060}\u{feff}d", "abcd"),
            (tagged.as_str(), "Weather."),
            ("x\u{202e}yx\u{202c} \u{2066}z\u{2069}", "xyx z"),
            ("a\u{1b}[8m hid \u{1b}[0m\u{1b}[2Kb", "a hid b"),
            ("a \u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\ b", "a link b"),
            ("\u{9b}31mred\u{9d}0;t\u{9c}!", "red!"),
            ("a\u{1b}]never ends", "anever ends"),
            ("Weather\u{fe0f}\u{fe01}\u{e0101}\u{e0102} for", "Weather for"),
            ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
            ("a\u{0}\u{8}\u{7f}\u{80}b", "ab"),
            ("\u{200d}\u{200d}👩", "👩"),
            ("1\u{fe0f}\u{fe0f}", "1\u{fe0f}"),
            ("hi\u{3164}\u{ffa0}\u{115f}there", "hithere"),
        ] {
            assert_eq!(text(dirty), clean, "{dirty:?}");
        }
    }

    #[test]
    fn answers_keep_their_lines_and_lose_invisible_characters() {
        for (answer, clean) in [
            (r#"{"a":"one\r\ntwo\u2028three\n"}"#, r#"{"a":"one\r\ntwo\u2028three\n"}"#),
            (r#"{"a":"\u00e9\u0301 \/ \ud83d\ude00"}"#, r#"{"a":"\u00e9\u0301 \/ \ud83d\ude00"}"#),
            (r#"{"a":"x\u001b[2J\r\ny\u0000"}"#, r#"{"a":"x\r\ny"}"#),
            ("{\"a\":\"seen\u{7f}not\"}", r#"{"a":"seennot"}"#),
            (r#"{"a":"100%\rgone"}"#, r#"{"a":"100%\ngone"}"#),
            (r#"{"a":"a\u202eb","b":[1.0,"c\u200bd"]}"#, r#"{"a":"ab","b":[1.0,"cd"]}"#),
        ] {
            let raw = Raw::from_string(answer.to_owned()).unwrap();
            assert_eq!(super::answer(&raw).get(), clean);
        }
    }

    #[test]
    fn a_string_is_cleaned_however_it_is_written_and_wherever_it_hides_something() {
        let characters = (0u8..0x80).map(char::from).chain("é\u{ad}\u{200b}\u{202e}\u{2028}😀".chars());
        for (c, before) in characters.flat_map(|c| [0, 1, 63, 64, 65].map(|before| (c, before))) {
            let said = format!("{}{c}\n\t\"\\/", "a".repeat(before));
            let units = |c: char| {
                c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect::<String>()
            };
            let escaped = format!(r#""{}{}\n\t\"\\\/""#, "a".repeat(before), units(c));
            for literal in [serde_json::to_string(&said).unwrap(), escaped] {
                let raw = Raw::from_string(format!("[{literal},1]")).unwrap();
                let clean: (String, u8) = serde_json::from_str(super::answer(&raw).get()).unwrap();
                assert_eq!(clean, (lines(&said).into_owned(), 1), "{literal}");
            }
        }
    }

    #[test]
    fn ordinary_text_in_any_script_is_kept() {
        let flag = format!("🏴{}", tags("gbsct\u{7f}"));
        for kept in [
            "plain\n\ttext — “quotes”, naïve, Straße, ½ ≥ ✓ → 😀",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦 👩🏽\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} ☎\u{fe0e}",
            "می\u{200c}خواهم کتاب\u{200c}ها",
            "क्\u{200d}ष श्री\u{200c} ক্\u{200d}",
            "葛\u{e0100}飾区 邉\u{e010f}",
            flag.as_str(),
            "שלום\u{200f} abc",
            "مرحبا \u{200e}(abc)\u{200e}",
            "日本語、中文。한국어 ไทย Ελληνικά Українська",
            "Donau\u{ad}dampf",
            "a\u{301} e\u{308}",
        ] {
            assert_eq!(text(kept), kept);
            assert!(hidden(kept).is_empty(), "{kept:?}");
        }
    }

    #[test]
    fn json_keeps_everything_but_that() {
        let clean = |json: &str| raw(&Raw::from_string(json.to_owned()).unwrap()).get().to_owned();
        let plain = r#"{ "n": 1.0e400, "a\"b\\": "x\u00e4\n", "😀":[ true ] }"#;
        assert_eq!(clean(plain), plain);
        assert_eq!(
            clean(r#"{ "n": 1.0e400, "k\u200by": "a\u200bb\u00e4", "z": ["\ud83d", "\u001b[31mx"] }"#),
            "{ \"n\": 1.0e400, \"ky\": \"abä\", \"z\": [\"\u{fffd}\", \"x\"] }"
        );
    }

    /// S25: every control, format, tag and selector character, between letters and between words.
    #[test]
    fn nothing_that_hides_gets_through() {
        let mut tried = 0;
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let hides = c.is_control() || is_format(c) || is_selector(c);
            if !hides || matches!(c, '\n' | '\t') {
                continue;
            }
            for dirty in
                [format!("say{c}this"), format!("say {c} this"), format!("say{c}{c}"), format!("{c}say")]
            {
                let clean = text(&dirty);
                // Soft hyphens are the only characters allowed between Latin letters.
                let allowed = |c: char| c == '\u{ad}';
                assert!(
                    !clean.chars().any(|c| (c.is_control() && c != '\n')
                        || ((is_format(c) || is_selector(c)) && !allowed(c))),
                    "{dirty:?} {clean:?}"
                );
                assert_eq!(text(&clean), clean, "cleaning twice is cleaning once");
                tried += 1;
            }
        }
        assert!(tried > 2000, "{tried}");
    }

    #[test]
    fn random_texts_come_out_clean_and_stay_so() {
        let mut random = fastrand::Rng::with_seed(9);
        let pool: Vec<char> = "ab \u{1b}[]m;\\\u{7}\u{200d}\u{200c}\u{200b}\u{fe0f}\u{e0061}\u{e007f}🏴👩💻किم1#\u{202e}\r\n\u{85}\u{ad}\u{34f}\u{301}"
            .chars()
            .collect();
        for _ in 0..20_000 {
            let dirty: String = (0..random.usize(0..12)).map(|_| pool[random.usize(0..pool.len())]).collect();
            let clean = text(&dirty).into_owned();
            assert_eq!(text(&clean), clean, "{dirty:?}");
            assert!(clean.len() <= dirty.len() + 2, "{dirty:?}");
            assert!(hidden(&clean).is_empty(), "{dirty:?} {clean:?}");
            assert!(!clean.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\r']), "{dirty:?}");
        }
    }

    #[test]
    fn a_person_sees_what_hides() {
        assert_eq!(visible("a\u{200b}b\u{202e}c\u{1b}[8md\r\ne"), "a⟨U+200B⟩b⟨U+202E⟩c⟨U+001B⟩[8md\ne");
    }
}
