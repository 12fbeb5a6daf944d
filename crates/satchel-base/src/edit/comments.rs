//! Turns JSON with comments into plain JSON by replacing comments and trailing commas with blanks, so that all
//! positions stay the same. Other errors are left to the reader of the text.

use std::borrow::Cow;

/// Removes comments and trailing commas.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    let mut blank: Vec<std::ops::Range<usize>> = Vec::new();
    let bytes = text.as_bytes();
    // The last comma followed only by white space and comments so far.
    let mut comma = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = &text[at..];
        let length = match byte {
            b'"' => string(rest),
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            // Unterminated, so not a comment; the parser reports it.
            b'/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(1, |end| end + 4),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        match byte {
            b'/' if length > 1 => blank.push(at..at + length),
            b',' => comma = Some(at),
            b']' | b'}' => blank.extend(comma.take().map(|comma| comma..comma + 1)),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => comma = None,
        }
        at += length;
    }
    if blank.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut plain = text.to_owned();
    for range in blank {
        let spaces: String =
            text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        plain.replace_range(range, &spaces);
    }
    Cow::Owned(plain)
}

/// The length of the string at the start of a text, including quotes.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_blanks() {
        for (text, plain) in [
            ("{}", "{}"),
            ("[1, /* a */ 2,]", "[1,         2 ]"),
            ("[1,\n// é\n]", "[1 \n     \n]"),
            ("{\"a\": \"//, ]\", /* , */ }", "{\"a\": \"//, ]\"          }"),
            ("[\"\\\"/*\", 1]", "[\"\\\"/*\", 1]"),
            ("[1, 2 /* open", "[1, 2 /* open"),
            ("[,]", "[ ]"),
            ("/", "/"),
            ("\"", "\""),
        ] {
            assert_eq!(without_comments(text), plain, "{text}");
            assert_eq!(without_comments(text).len(), text.len());
        }
    }
}
