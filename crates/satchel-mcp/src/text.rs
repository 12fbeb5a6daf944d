//! Strings in JSON that no strict reader takes: half of a surrogate pair becomes U+FFFD, everything else stays as
//! written.

use std::borrow::Cow;

use crate::bytes::find;

/// Replaces every string in a JSON text that has half of a surrogate pair; borrows the text if there is none.
pub fn whole_pairs(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let (mut mended, mut copied) = (String::new(), 0);
    let mut at = first_surrogate(bytes, 0);
    while let Some(surrogate) = at {
        // A pair: the common case.
        if let Some(after) = pair_end(bytes, surrogate) {
            at = first_surrogate(bytes, after);
            continue;
        }
        mended.push_str(&json[copied..surrogate]);
        mended.push('\u{fffd}');
        copied = surrogate + ESCAPE;
        at = first_surrogate(bytes, copied);
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[copied..]);
    Cow::Owned(mended)
}

/// `\ud800`
const ESCAPE: usize = 6;

/// The place of the next escaped surrogate. A backslash stands only inside of strings.
fn first_surrogate(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += find(b'\\', bytes.get(at..)?)?;
        if unit(bytes, at).is_some_and(|unit| (0xd800..0xe000).contains(&unit)) {
            return Some(at);
        }
        // The escaped character may be a backslash itself.
        at += 2;
    }
}

/// The end of the pair that begins here, if it is one.
fn pair_end(bytes: &[u8], at: usize) -> Option<usize> {
    let is =
        |at: usize, range: std::ops::Range<u16>| unit(bytes, at).is_some_and(|unit| range.contains(&unit));
    (is(at, 0xd800..0xdc00) && is(at + ESCAPE, 0xdc00..0xe000)).then_some(at + 2 * ESCAPE)
}

/// The UTF-16 unit that is escaped here.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_pair_is_replaced_and_a_whole_one_stays_as_written() {
        for (json, expected) in [
            (r#"{"a":"x\ud83dy"}"#, "{\"a\":\"x\u{fffd}y\"}"),
            (
                r#"["\udee0","\uD83D","\ud83d\ud83d\ude00"]"#,
                "[\"\u{fffd}\",\"\u{fffd}\",\"\u{fffd}\\ud83d\\ude00\"]",
            ),
            (r#"["\ude00\ud83d"]"#, "[\"\u{fffd}\u{fffd}\"]"),
            (r#"["\\ud83d","\\\ud83d"]"#, "[\"\\\\ud83d\",\"\\\\\u{fffd}\"]"),
        ] {
            assert_eq!(whole_pairs(json), expected);
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        }
        for plain in [r#"["\ud83d\ude00","\u00e9","\n\\"]"#, "{}", "", "\\", "\\u", "\\ud8"] {
            assert!(matches!(whole_pairs(plain), Cow::Borrowed(_)), "{plain}");
        }
    }
}
