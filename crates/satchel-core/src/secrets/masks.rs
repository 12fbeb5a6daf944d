//! Known secrets in a text, in every spelling that programs write them in, replaced by `***`. By exact match: what is not
//! known is not guessed at.

use std::{cmp::Reverse, collections::BTreeSet, ops::Range};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

use super::Secret;

/// Shorter values would blank out half of every text and protect nothing.
const SHORTEST: usize = 4;
/// The same for a spelling that is not the value itself.
const SHORTEST_SPELLED: usize = 6;
/// So much of a secret at the end of a line is taken for its beginning.
const BEGINNING: usize = 4;
/// Written where a secret was.
const HIDDEN: &str = "***";

/// What must not be kept.
#[derive(Debug, Default)]
pub struct Masks {
    /// The longest first: where one is the beginning of another, nothing of the other stays.
    needles: Vec<Secret>,
}

/// Secrets that the line before may have begun: which, and how much of each.
#[derive(Debug, Default)]
pub struct Open(Vec<(usize, usize)>);

impl Masks {
    /// For these values.
    pub fn of(secrets: &[Secret]) -> Self {
        let long = secrets.iter().map(Secret::reveal).filter(|secret| secret.len() >= SHORTEST);
        let all: BTreeSet<String> = long.flat_map(spellings).collect();
        let mut needles: Vec<Secret> = all.into_iter().map(Secret::new).collect();
        needles.sort_by_key(|needle| Reverse(needle.reveal().len()));
        Self { needles }
    }

    /// A text without them.
    pub fn hide(&self, text: &str) -> String {
        let found = self.needles.iter().flat_map(|needle| places(text, needle.reveal()));
        let mut found: Vec<Range<usize>> = found.collect();
        // Where two overlap, both go altogether.
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

    /// One line of several, where a secret may begin in one and go on in the next.
    pub fn hide_line(&self, line: &str, open: &mut Open) -> String {
        if self.needles.is_empty() {
            return line.to_owned();
        }
        let mut still = Vec::new();
        // The most of what the line before had begun that ends in this one.
        let mut ended = 0;
        for (needle, from) in std::mem::take(&mut open.0) {
            let rest = &self.needles[needle].reveal()[from..];
            if line.starts_with(rest) {
                ended = ended.max(rest.len());
            } else if !line.is_empty() && rest.starts_with(line) {
                still.push((needle, from + line.len()));
            }
        }
        let goes_on = !still.is_empty();
        let body = &line[ended..];
        let mut most = 0;
        for (at, needle) in self.needles.iter().enumerate() {
            let needle = needle.reveal();
            let begun = needle
                .char_indices()
                .map(|(end, _)| end)
                .skip(1)
                .filter(|end| body.ends_with(&needle[..*end]));
            for end in begun {
                still.push((at, end));
                // Of a value that is short all the same, half says too much.
                if end >= BEGINNING || end * 2 >= needle.len() {
                    most = most.max(end);
                }
            }
        }
        open.0 = still;
        if goes_on {
            return HIDDEN.to_owned();
        }
        let before = if ended > 0 { HIDDEN } else { "" };
        let after = if most > 0 { HIDDEN } else { "" };
        format!("{before}{}{after}", self.hide(&body[..body.len() - most]))
    }
}

/// Where a text has this, also where one begins within another.
fn places<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(needle)?;
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
        Some(at..at + needle.len())
    })
}

/// A value as it is, and as programs write it: in base64 at every place among other bytes, in hexadecimal digits, for an
/// address or a form, and within JSON, once and twice.
fn spellings(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let lower: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let percent = |kept: &dyn Fn(u8) -> bool, upper: bool| -> String {
        let spelled = bytes.iter().map(|byte| match (kept(*byte), upper) {
            (true, _) => char::from(*byte).to_string(),
            (false, true) => format!("%{byte:02X}"),
            (false, false) => format!("%{byte:02x}"),
        });
        spelled.collect()
    };
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let script = |byte: u8| unreserved(byte) || b"!*'()".contains(&byte);
    let path = |byte: u8| unreserved(byte) || byte == b'/';
    let none = |_: u8| false;
    let mut all = vec![lower.to_uppercase(), lower];
    for kept in [&unreserved as &dyn Fn(u8) -> bool, &script, &path, &none] {
        for upper in [true, false] {
            let spelled = percent(kept, upper);
            all.push(spelled.replace("%20", "+"));
            all.push(spelled);
        }
    }
    let once = in_json(secret, false);
    let only_ascii = in_json(secret, true);
    all.extend([in_json(&once, false), in_json(&only_ascii, true), once.replace('/', "\\/")]);
    all.extend([once, only_ascii, in_units(secret, false), in_units(secret, true)]);
    for before in 0..3 {
        // The characters that its neighbours have no part in.
        let (begin, end) = ((before * 8usize).div_ceil(6), (before + bytes.len()) * 8 / 6);
        let among = [&[0; 3][..before], bytes].concat();
        all.extend(
            [STANDARD_NO_PAD.encode(&among), URL_SAFE_NO_PAD.encode(&among)]
                .map(|text| text[begin..end].to_owned()),
        );
    }
    if bytes.len() >= 6 {
        all.push(secret.chars().rev().collect());
    }
    all.retain(|spelled| spelled.len() >= SHORTEST_SPELLED);
    all.push(secret.to_owned());
    all
}

/// As it stands between the quotes of a JSON string.
fn in_json(text: &str, only_ascii: bool) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = &quoted[1..quoted.len() - 1];
    if !only_ascii {
        return inner.to_owned();
    }
    inner
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { in_units(&c.to_string(), false) })
        .collect()
}

/// Every character as `\uXXXX`.
fn in_units(text: &str, upper: bool) -> String {
    let unit = |unit: u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
    text.encode_utf16().map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANARY: &str = "canary \"ä/b?\u{1f600}\\";

    fn masks() -> Masks {
        Masks::of(&[Secret::new(CANARY), Secret::new("abc")])
    }

    #[test]
    fn every_spelling_is_hidden_and_what_is_around_it_stays() {
        let masks = masks();
        let mut seen = BTreeSet::new();
        for spelled in spellings(CANARY) {
            assert_eq!(masks.hide(&format!("<{spelled}>")), "<***>", "{spelled}");
            seen.insert(spelled);
        }
        assert!(seen.len() > 20, "{}", seen.len());
        assert_eq!(masks.hide("abc, which is too short"), "abc, which is too short");
        for around in ["", "u", "us", "user:"] {
            let text = STANDARD_NO_PAD.encode(format!("{around}{CANARY}{around}"));
            let hidden = masks.hide(&text);
            assert!(hidden.contains("***"), "{text} -> {hidden}");
            let left = hidden.replace("***", "").len();
            assert!(left <= (2 * around.len()).div_ceil(3) * 4 + 4, "{text} -> {hidden}");
        }
    }

    #[test]
    fn where_two_overlap_nothing_of_either_stays() {
        let masks = Masks::of(&[Secret::new("hunter2-hunter2"), Secret::new("er2-and-more")]);
        assert_eq!(masks.hide("a hunter2-hunter2-and-more b"), "a *** b");
        assert_eq!(masks.hide("a hunter2-hunter2-hunter2 b"), "a *** b");
        assert_eq!(masks.hide("hunter2-hunter2er2-and-more"), "******");
        assert_eq!(masks.hide("hunter2-hunter"), "hunter2-hunter");
    }

    #[test]
    fn wherever_it_is_cut_into_lines_it_is_hidden() {
        let masks = masks();
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
                let kept: Vec<String> = lines.iter().map(|line| masks.hide_line(line, &mut open)).collect();
                let text = kept.concat();
                // A few characters at an end are no beginning of anything yet.
                let left = text.replace("before ", "").replace(" after", "").replace("***", "");
                assert!(left.len() < BEGINNING && !text.contains(CANARY), "{lines:?} -> {kept:?}");
                assert!(kept[0].starts_with("before ") && kept[2].ends_with(" after"), "{kept:?}");
                cuts += 1;
            }
        }
        assert!(cuts > 50, "{cuts}");
        let mut open = Open::default();
        for line in ["nothing of it", "", "can be", "seen"] {
            assert_eq!(masks.hide_line(line, &mut open), line);
        }
    }
}
