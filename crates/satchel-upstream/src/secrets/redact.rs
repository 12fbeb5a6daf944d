//! Replaces known secrets in a text with `***`, in every encoding that programs write them in, and long ones also in
//! another case, with a few characters between theirs, or cut off. It does not guess what else might be a secret.
//!
//! A text is read once, from its beginning. At every place stand the states: which secret, and how much of it the text
//! before has spelled. Each reading of the place ([`escapes`](super::escapes)) takes a state on or ends it, so that any
//! mixture of escapes is followed, and the work grows with the text and not with the number of spellings.

use std::{cmp::Reverse, ops::Range};

use super::{
    Secret,
    escapes::{self, EscapeReading},
    spellings::{self, Comparison},
};

/// Shorter values would blank out half of every text and protect nothing.
const SHORTEST: usize = 4;
/// This many characters of a secret at the end of a line count as its beginning.
const BEGINNING: usize = 4;
/// Maximum number of characters between two letters of a secret that is compared by letters and digits: between the
/// `k` and the `l` of `["k", "-", "l"]` there are nine.
const BETWEEN: u8 = 12;
/// Replaces a secret.
const HIDDEN: &str = "***";

/// Finds and hides secrets.
#[derive(Debug, Default)]
pub struct Redactor {
    needles: Vec<Needle>,
    /// By first byte; empty if there are none.
    starts: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Needle {
    text: Secret,
    comparison: Comparison,
}

impl Needle {
    fn len(&self) -> usize {
        self.text.reveal().len()
    }

    /// Has enough of it been matched? Four fifths of a long secret count as a truncated one.
    fn is_spelled(&self, matched: usize) -> bool {
        match self.comparison {
            Comparison::Exact | Comparison::Digits => matched == self.len(),
            Comparison::Skeleton => matched * 5 >= self.len() * 4,
        }
    }
}

/// Secrets that may have begun on the previous line: which, and how much of each.
#[derive(Debug, Default)]
pub struct Open(Vec<(usize, usize)>);

/// A partial match of a needle that began at `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LineState {
    needle: usize,
    matched: usize,
    /// Foreign characters since the last match.
    between: u8,
    start: usize,
    /// It began on an earlier line.
    carried: bool,
}

impl Redactor {
    /// For these values.
    pub fn of(secrets: &[Secret]) -> Self {
        let mut needles: Vec<Needle> = Vec::new();
        for secret in secrets.iter().filter(|secret| secret.reveal().len() >= SHORTEST) {
            needles.extend(spellings::of(secret.reveal()).into_iter().map(|spelling| Needle {
                text: Secret::new(spelling.text),
                comparison: spelling.comparison,
            }));
        }
        needles
            .sort_unstable_by(|a, b| (a.text.reveal(), a.comparison).cmp(&(b.text.reveal(), b.comparison)));
        needles.dedup_by(|a, b| a.text == b.text && a.comparison == b.comparison);
        let mut starts = vec![Vec::new(); if needles.is_empty() { 0 } else { 256 }];
        for (at, needle) in needles.iter().enumerate() {
            let first = needle.text.reveal().as_bytes()[0];
            starts[usize::from(first)].push(at);
            if needle.comparison != Comparison::Exact && first.is_ascii_lowercase() {
                starts[usize::from(first.to_ascii_uppercase())].push(at);
            }
        }
        Self { needles, starts }
    }

    /// Hides all secrets in a text.
    pub fn hide(&self, text: &str) -> String {
        if self.needles.is_empty() {
            return text.to_owned();
        }
        let (found, _) = self.find(text, Vec::new());
        without(text, found)
    }

    /// Hides secrets in one of several lines, where a secret may continue on the next.
    pub fn hide_line(&self, line: &str, open: &mut Open) -> String {
        if self.needles.is_empty() {
            return line.to_owned();
        }
        let begun = std::mem::take(&mut open.0).into_iter().map(|(needle, matched)| {
            // The line break may be part of the secret.
            let rest = &self.needles[needle].text.reveal()[matched..];
            let own = ["\r\n", "\n"].iter().find(|end| rest.starts_with(**end)).map_or(0, |end| end.len());
            LineState { needle, matched: matched + own, between: 0, start: 0, carried: true }
        });
        let length = |state: &LineState| self.needles[state.needle].len();
        let begun: Vec<LineState> = begun.filter(|state| state.matched < length(state)).collect();
        let (mut found, mut still) = self.find(line, begun);
        // Four letters in any case occur at the end of many lines.
        still.retain(|state| self.needles[state.needle].comparison != Comparison::Skeleton);
        for state in still.iter().filter(|state| state.start < line.len()) {
            // Half of a short value reveals too much.
            if state.carried || state.matched >= BEGINNING || state.matched * 2 >= length(state) {
                found.push(state.start..line.len());
            }
        }
        open.0 = still.iter().map(|state| (state.needle, state.matched)).collect();
        open.0.dedup();
        without(line, found)
    }

    /// Finds secrets, and those that have begun at the end.
    fn find(&self, text: &str, begun: Vec<LineState>) -> (Vec<Range<usize>>, Vec<LineState>) {
        let mut found = Vec::new();
        // Ring buffer of the states at each position from the current one on.
        let mut ahead: Vec<Vec<LineState>> = vec![Vec::new(); escapes::SPAN];
        let (mut states, mut readings): (Vec<LineState>, Vec<EscapeReading>) = (begun, Vec::new());
        for (at, _) in text.char_indices() {
            let slot = at % escapes::SPAN;
            if at > 0 {
                states.clear();
                states.append(&mut ahead[slot]);
            }
            let byte = text.as_bytes()[at];
            if states.is_empty() && self.starts[usize::from(byte)].is_empty() && !escapes::may_escape(byte) {
                continue;
            }
            states.sort_unstable();
            states.dedup_by_key(|state| (state.needle, state.matched, state.carried));
            escapes::readings(text, at, &mut readings);
            for reading in &readings {
                let mut go_on = |state: LineState, bytes: &[u8]| {
                    let Some(state) = self.advance(state, bytes) else { return };
                    let needle = &self.needles[state.needle];
                    if state.between == 0 && needle.is_spelled(state.matched) {
                        found.push(state.start..reading.end);
                    }
                    if state.matched < needle.len() {
                        ahead[reading.end % escapes::SPAN].push(state);
                    }
                };
                states.iter().for_each(|state| go_on(*state, reading.bytes()));
                if let Some(first) = reading.bytes().first() {
                    for needle in &self.starts[usize::from(*first)] {
                        go_on(
                            LineState { needle: *needle, matched: 0, between: 0, start: at, carried: false },
                            reading.bytes(),
                        );
                    }
                }
            }
        }
        let mut still =
            if text.is_empty() { states } else { std::mem::take(&mut ahead[text.len() % escapes::SPAN]) };
        still.sort_unstable();
        still.dedup_by_key(|state| (state.needle, state.matched));
        (found, still)
    }

    /// The state after these bytes.
    fn advance(&self, state: LineState, bytes: &[u8]) -> Option<LineState> {
        let needle = &self.needles[state.needle];
        let rest = &needle.text.reveal().as_bytes()[state.matched..];
        let next = LineState { matched: state.matched + bytes.len(), between: 0, ..state };
        if needle.comparison == Comparison::Exact {
            return rest.starts_with(bytes).then_some(next);
        }
        if rest.get(..bytes.len()).is_some_and(|wanted| wanted.eq_ignore_ascii_case(bytes)) {
            // An escape that stands for nothing, such as a color, counts neither as a match nor as a gap.
            return Some(if bytes.is_empty() { state } else { next });
        }
        let may_stand_between = state.matched > 0
            && match needle.comparison {
                Comparison::Exact => false,
                Comparison::Digits => state.matched.is_multiple_of(2) && matches!(bytes, b" " | b":" | b"-"),
                Comparison::Skeleton => {
                    state.between < BETWEEN && !bytes.iter().any(u8::is_ascii_alphanumeric)
                }
            };
        let between = state.between + u8::from(needle.comparison == Comparison::Skeleton);
        may_stand_between.then_some(LineState { between, ..state })
    }
}

/// Replaces these ranges by `***`. Overlapping ranges are merged.
fn without(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_unstable_by_key(|range| (range.start, Reverse(range.end)));
    let mut hidden = String::with_capacity(text.len());
    let mut shown = 0;
    for range in found {
        if range.start >= shown {
            hidden.push_str(&text[shown..range.start]);
            hidden.push_str(HIDDEN);
        }
        shown = shown.max(range.end);
    }
    hidden.push_str(&text[shown..]);
    hidden
}

#[cfg(test)]
mod tests {
    use base64::{
        Engine,
        engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE},
    };

    use super::*;

    const CANARY: &str = "canary \"ä/b?\u{1f600}\\";

    fn redactor() -> Redactor {
        Redactor::of(&[Secret::new(CANARY), Secret::new("abc")])
    }

    /// How programs escape a text, by name; without the quotes.
    fn escaped(text: &str) -> Vec<(&'static str, String)> {
        let json = |text: &str| {
            let quoted = serde_json::Value::from(text).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        };
        let each = |plain: &dyn Fn(char) -> bool, write: &dyn Fn(char) -> String| -> String {
            text.chars().map(|c| if plain(c) { c.to_string() } else { write(c) }).collect()
        };
        let bytes = |write: &dyn Fn(u8) -> String| text.bytes().map(write).collect::<String>();
        let units = |c: char| {
            let mut both = [0; 2];
            c.encode_utf16(&mut both).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
        };
        let word = |c: char| c.is_ascii_alphanumeric();
        let of_bytes =
            |c: char, write: &dyn Fn(u8) -> String| c.to_string().bytes().map(write).collect::<String>();
        let go = json(text).replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
        let html =
            text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        let mut odd = false;
        let mut every_other = |c: char| {
            odd = !odd;
            if odd { units(c) } else { json(&c.to_string()) }
        };
        let shell = text.replace('\'', "'\\''");
        vec![
            ("json", json(text)),
            ("json twice", json(&json(text))),
            ("json three times", json(&json(&json(text)))),
            ("go", go.clone()),
            ("go in json", json(&go)),
            ("php", json(text).replace('/', "\\/")),
            ("php in json twice", json(&json(&json(text).replace('/', "\\/")))),
            ("units", each(&|_| false, &units)),
            ("units in capitals", each(&|_| false, &|c| units(c).to_uppercase().replace("\\U", "\\u"))),
            ("every other one", text.chars().map(&mut every_other).collect()),
            ("braces", each(&word, &|c| format!("\\u{{{:x}}}", u32::from(c)))),
            ("html", html.clone()),
            ("html with ' named", html.replace('\'', "&apos;").replace('/', "&sol;")),
            ("html twice", html.replace('&', "&amp;")),
            ("html in json", json(&html)),
            ("json in html", json(text).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")),
            ("html decimal", each(&word, &|c| format!("&#{};", u32::from(c)))),
            ("html padded", each(&word, &|c| format!("&#{:05};", u32::from(c)))),
            ("html hexadecimal", each(&word, &|c| format!("&#x{:X};", u32::from(c)))),
            ("html open", each(&word, &|c| format!("&#{}", u32::from(c)))),
            ("python", each(&|c| c != '\\' && c != '\'', &|c| format!("\\{c}"))),
            (
                "python in ascii",
                each(&|c| c.is_ascii() && c != '\\', &|c| match u32::from(c) {
                    92 => "\\\\".to_owned(),
                    code if code < 256 => format!("\\x{code:02x}"),
                    code => format!("\\U{code:08x}"),
                }),
            ),
            (
                "python bytes",
                each(&|c| c.is_ascii() && c != '\\', &|c| match c {
                    '\\' => "\\\\".to_owned(),
                    c => of_bytes(c, &|byte| format!("\\x{byte:02x}")),
                }),
            ),
            ("octal", bytes(&|byte| format!("\\{byte:03o}"))),
            (
                "short octal",
                each(&|c| c.is_ascii() && c != '\\', &|c| of_bytes(c, &|byte| format!("\\{byte:o}"))),
            ),
            ("all hexadecimal", bytes(&|byte| format!("\\x{byte:02X}"))),
            ("shell", shell.clone()),
            ("shell with two quotes", text.replace('\'', "'\"'\"'")),
            ("shell in json", json(&shell)),
            ("shell in html", shell.replace('&', "&amp;").replace('\'', "&#x27;")),
            ("in double quotes", each(&|c| !"\\\"$`".contains(c), &|c| format!("\\{c}"))),
            ("every sign", each(&|c| word(c) || !c.is_ascii(), &|c| format!("\\{c}"))),
            ("yaml", text.replace('\'', "''")),
            ("csv", text.replace('"', "\"\"")),
            ("powershell", each(&|c| !"`\"$".contains(c), &|c| format!("`{c}"))),
            ("address", each(&word, &|c| of_bytes(c, &|byte| format!("%{byte:02X}")))),
            ("address twice", each(&word, &|c| of_bytes(c, &|byte| format!("%25{byte:02x}")))),
            ("address of json", json(text).replace('%', "%25").replace('\\', "%5C").replace('"', "%22")),
            ("script", each(&word, &|c| units(c).replace('\\', "%"))),
            ("form", text.replace('%', "%25").replace('+', "%2B").replace(' ', "+")),
            ("mail", bytes(&|byte| format!("={byte:02X}"))),
            ("style sheet", each(&word, &|c| format!("\\{:x} ", u32::from(c)))),
            ("line breaks in json", text.chars().map(|c| format!("{}\\n", json(&c.to_string()))).collect()),
            ("over lines", text.replace('-', "\n    -")),
            ("zero width", text.chars().map(|c| format!("{c}\u{200b}")).collect()),
            ("coloured", text.replace('-', "\u{1b}[1;31m-")),
            ("hexadecimal", bytes(&|byte| format!("{byte:02x}"))),
            ("in capitals and pairs", bytes(&|byte| format!("{byte:02X}:")).trim_end_matches(':').to_owned()),
            ("base64", STANDARD_NO_PAD.encode(text)),
            ("base64 in php", STANDARD_NO_PAD.encode(text).replace('/', "\\/")),
            ("base64 in an address", STANDARD_NO_PAD.encode(text).replace('/', "%2F").replace('+', "%2B")),
            ("backwards", text.chars().rev().collect()),
        ]
    }

    #[test]
    fn every_spelling_of_a_secret_is_redacted_and_the_text_around_it_stays() {
        for secret in [
            CANARY,
            "Tr0ub&4dor<9>\"'/+=é\\z%Q-1",
            "p&ss<word>/long+1234",
            "hunter2\"quote\\back99-",
            "it's-\\u0026-&amp;-%41-literally",
            "back\\\\slashes-\\n-and-''quotes\"\"",
            "{\"key\": \"-----BEGIN\"}",
            "\u{1f511}-schlüssel-ключ",
        ] {
            let redactor = Redactor::of(&[Secret::new(secret)]);
            for (name, spelled) in escaped(secret) {
                let hidden = redactor.hide(&format!("<{spelled}>"));
                let left = hidden.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
                let left = left.map(|left| left.replace("***", ""));
                // Whatever follows the last character is not part of it; base64 shares its last character with what
                // follows.
                let clear = left
                    .as_ref()
                    .is_some_and(|left| left.len() <= 1 || " \\n\u{200b}".contains(left.as_str()));
                assert!(clear, "{name}: {spelled} -> {hidden}");
            }
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        let redactor = Redactor::of(&[Secret::new("p&ss/word"), Secret::new("abc")]);
        for text in [
            "abc, which is too short",
            r#"{"a":"p\u0026ss","b":"\/word","c":"&amp;&#38;%26"}"#,
            "p&ss / word",
            "p&amp;ss",
            r"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
            "''''''''''''\"\"\"\"\"\"\"%%%%%%%&&&&&&&&#x#x&#",
            "\\",
            "%",
            "&",
            "&#",
            "&#x",
            "\\u",
            "\\ud83d\\u",
            "\\ud83dü\\u",
            "%u",
            "=",
            "\u{1b}[",
            "'\\'",
            "\\u{",
            "\\x{110000}",
            "\\ü&ü%ü",
        ] {
            assert_eq!(redactor.hide(text), text);
        }
    }

    /// Every prefix of the secret restarts at every position, and every position has many readings.
    #[test]
    fn a_text_made_to_be_slow_is_read_all_the_same() {
        let redactor =
            Redactor::of(&[Secret::new("\\'\\'\\'\\'\\'\\'\\'\\'x"), Secret::new("&&&&&&&&&&&&&&&&")]);
        for piece in ["\\", "\\'", "'", "&#38;", "&amp;amp;", "%25", "\\u0026", "\"'", "&"] {
            let text = piece.repeat(500);
            let hidden = redactor.hide(&text);
            assert!(hidden.len() <= text.len(), "{piece}");
        }
    }

    #[test]
    fn among_the_bytes_of_others_base64_is_found() {
        let redactor = redactor();
        for around in ["", "u", "us", "user:"] {
            let text = STANDARD_NO_PAD.encode(format!("{around}{CANARY}{around}"));
            let hidden = redactor.hide(&text);
            assert!(hidden.contains("***"), "{text} -> {hidden}");
            let left = hidden.replace("***", "").len();
            assert!(left <= (2 * around.len()).div_ceil(3) * 4 + 4, "{text} -> {hidden}");
        }
    }

    #[test]
    fn secrets_in_double_or_other_encodings_are_redacted() {
        let wide = |text: &str, write: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(write).collect()
        };
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        for secret in ["sk-live-0123456789ABCDEFabcdef", "Tr0ub&4dor<9>\"'/+=é\\z%Q", CANARY, "7391"] {
            let redactor = Redactor::of(&[Secret::new(secret)]);
            let all = [
                ("twice", STANDARD.encode(STANDARD.encode(secret))),
                (
                    "twice, of more",
                    STANDARD.encode(format!("x{}", STANDARD.encode(format!("us:{secret}:x")))),
                ),
                ("twice, for addresses", URL_SAFE.encode(URL_SAFE.encode(secret))),
                ("of UTF-16", STANDARD.encode(wide(secret, u16::to_le_bytes))),
                ("UTF-16", hex(&wide(secret, u16::to_le_bytes))),
                ("UTF-16, big end first", hex(&wide(secret, u16::to_be_bytes))),
                ("a buffer", format!("{:?}", secret.as_bytes())),
                ("of more", STANDARD.encode(format!("us:{secret}:x"))),
            ];
            for (name, text) in all {
                let hidden = redactor.hide(&text);
                let left = hidden.replace("***", "").len();
                assert!(hidden.contains("***") && left <= 16, "{name}: {text} -> {hidden}");
            }
        }
        // As Python writes them.
        let redactor = Redactor::of(&[Secret::new("sk-live-0123456789ABCDEFabcdef")]);
        for text in [
            "ONVS23DJOZSS2MBRGIZTINJWG44DSQKCINCEKRTBMJRWIZLG",
            "onvs23djozss2mbrgiztinjwg44dsqkcincekrtbmjrwizlg",
            "fx-yvir-0123456789NOPQRSnopqrs",
        ] {
            let hidden = redactor.hide(text);
            assert!(hidden.replace("***", "").len() <= 2, "{text} -> {hidden}");
        }
        // A year is not a short number reversed, and a word is not another word.
        assert_eq!(
            Redactor::of(&[Secret::new("7391"), Secret::new("Ubhfr")]).hide("1937, House"),
            "1937, House"
        );
    }

    #[test]
    fn a_long_one_is_hidden_in_any_case_set_apart_and_cut_off() {
        let long = "sk-live-0123456789ABCDEFabcdef";
        let redactor = Redactor::of(&[Secret::new(long), Secret::new("7391"), Secret::new("Winter24")]);
        let between = |between: &str| -> String {
            long.chars().map(|c| c.to_string()).collect::<Vec<_>>().join(between)
        };
        let (begin, end) = long.split_at(13);
        for (spelled, stays) in [
            (long.to_uppercase(), ""),
            (long.to_lowercase(), ""),
            (between(" "), ""),
            (between("\", \""), ""),
            (between("_"), ""),
            (format!("{begin}**{end}"), ""),
            (format!("{begin}\\n\u{1b}[31m{}", end.to_uppercase()), ""),
            (long[..26].to_owned(), ""),
            ("7 3 9 1".to_owned(), ""),
            // Short values in another case, and prefixes that name a key: both occur in ordinary text.
            ("winter24".to_owned(), "short"),
            ("7, 391".to_owned(), "short"),
            (long[..12].to_owned(), "a beginning"),
            // More characters in between than any separator has, and too many foreign letters.
            (between(&"-".repeat(13)), "too much"),
            (between("x"), "others"),
        ] {
            let text = format!("<{spelled}>");
            let hidden = redactor.hide(&text);
            match stays {
                "" => assert_eq!(hidden.replace("***", ""), "<>", "{spelled}"),
                why => assert_eq!(hidden, text, "{why}"),
            }
        }
    }

    #[test]
    fn a_key_of_several_lines_is_hidden_line_by_line() {
        let redactor =
            Redactor::of(&[Secret::new("-----BEGIN KEY-----\nMIIabcdef\n123456\n-----END KEY-----")]);
        let mut open = Open::default();
        let lines = ["key: -----BEGIN KEY-----", "MIIabcdef", "123456", "-----END KEY----- read"];
        let kept: Vec<String> = lines.iter().map(|line| redactor.hide_line(line, &mut open)).collect();
        assert_eq!(kept, ["key: ***", "***", "***", "*** read"]);
    }

    #[test]
    fn overlapping_secrets_are_both_removed_whole() {
        let redactor = Redactor::of(&[Secret::new("hunter2-hunter2"), Secret::new("er2-and-more")]);
        assert_eq!(redactor.hide("a hunter2-hunter2-and-more b"), "a *** b");
        assert_eq!(redactor.hide("a hunter2-hunter2-hunter2 b"), "a *** b");
        assert_eq!(redactor.hide("hunter2-hunter2er2-and-more"), "******");
        assert_eq!(redactor.hide("hunter2-hunt"), "hunter2-hunt");
    }

    #[test]
    fn wherever_it_is_cut_into_lines_it_is_hidden() {
        let redactor = redactor();
        let ends: Vec<usize> = CANARY.char_indices().map(|(at, _)| at).chain([CANARY.len()]).collect();
        let mut cuts = 0;
        for first in &ends {
            for second in ends.iter().filter(|second| *second > first) {
                let lines = [
                    format!("before {}", &CANARY[..*first]),
                    CANARY[*first..*second].to_owned(),
                    format!("{} after", &CANARY[*second..]),
                ];
                let mut open = Open::default();
                let kept: Vec<String> =
                    lines.iter().map(|line| redactor.hide_line(line, &mut open)).collect();
                let text = kept.concat();
                // A few characters at an end do not count as a beginning.
                let left = text.replace("before ", "").replace(" after", "").replace("***", "");
                assert!(left.len() < BEGINNING && !text.contains(CANARY), "{lines:?} -> {kept:?}");
                assert!(kept[0].starts_with("before ") && kept[2].ends_with(" after"), "{kept:?}");
                cuts += 1;
            }
        }
        assert!(cuts > 50, "{cuts}");
        let mut open = Open::default();
        for line in ["nothing of it", "", "can be", "seen"] {
            assert_eq!(redactor.hide_line(line, &mut open), line);
        }
    }
}
