//! Copies of other programs' files without the credentials that left the file: names of secrets stand in their place, and
//! the copy can be completed again. Reads no secrets itself.

use std::fmt::Write;

use crate::{document::Document, import::Moved};

/// The copy without these values; `None` where a value is written in a form that is not recognized, or the file already
/// contains what would stand in its place.
pub fn masked(bytes: &[u8], secrets: &[Moved]) -> Option<Vec<u8>> {
    let document = Document::decode(bytes).ok()?;
    let forms = forms(secrets);
    if forms.iter().any(|(_, mark)| document.text.contains(mark.as_str())) {
        return None;
    }
    let written = |secret: &Moved| {
        let own = self::forms(std::slice::from_ref(secret));
        own.iter().any(|(form, _)| document.text.contains(form.as_str()))
    };
    let copy = document.encode(&replaced(&document.text, &forms));
    let whole = secrets.iter().filter(|secret| !secret.value.is_empty()).all(written);
    (whole && completed(&copy, secrets).as_deref() == Some(bytes)).then_some(copy)
}

/// The same for a copy of an earlier state, which may lack some of the values.
pub fn masked_further(bytes: &[u8], secrets: &[Moved]) -> Option<Vec<u8>> {
    let document = Document::decode(bytes).ok()?;
    let copy = document.encode(&replaced(&document.text, &forms(secrets)));
    (completed(&copy, secrets).as_deref() == Some(bytes)).then_some(copy)
}

/// The copy with the values again.
pub fn completed(bytes: &[u8], secrets: &[Moved]) -> Option<Vec<u8>> {
    let document = Document::decode(bytes).ok()?;
    let back: Vec<(String, String)> = forms(secrets).into_iter().map(|(form, mark)| (mark, form)).collect();
    Some(document.encode(&replaced(&document.text, &back)))
}

/// The ways in which each value may be written, the longest first, each with the mark in its place.
fn forms(secrets: &[Moved]) -> Vec<(String, String)> {
    let mut forms = Vec::new();
    for Moved { name, value } in secrets.iter().filter(|secret| !secret.value.is_empty()) {
        let quoted = serde_json::Value::from(value.as_str()).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        let written = [
            ("json-ascii", ascii(&escaped)),
            ("json", escaped.clone()),
            ("slash", escaped.replace('/', "\\/")),
            ("single", value.replace('\'', "''")),
            ("", value.clone()),
        ];
        for (form, text) in written {
            if !forms.iter().any(|(known, _)| *known == text) {
                let form = if text == *value { "" } else { form };
                let separator = if form.is_empty() { "" } else { "|" };
                forms.push((text, format!("${{secret:{name}{separator}{form}}}")));
            }
        }
    }
    forms.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    forms
}

fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a text cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Each place is replaced once; what replaces it is not looked at again.
fn replaced(text: &str, pairs: &[(String, String)]) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(next) = rest.chars().next() {
        match pairs.iter().find(|(from, _)| rest.starts_with(from.as_str())) {
            Some((from, to)) => {
                out.push_str(to);
                rest = &rest[from.len()..];
            }
            None => {
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(pairs: &[(&str, &str)]) -> Vec<Moved> {
        let one = |(name, value): &(&str, &str)| Moved { name: (*name).into(), value: (*value).into() };
        pairs.iter().map(one).collect()
    }

    #[test]
    fn a_copy_holds_no_value_and_is_completed_to_the_same_bytes() {
        for (text, secrets) in [
            (
                r#"{"env":{"DB_PASS":"hunter2","PIN":"7"},"n":17}"#,
                &[("a.DB_PASS", "hunter2"), ("a.PIN", "7")][..],
            ),
            (r#"{"a":"qu\"ote\\d/x","b":"e"}"#, &[("a", "qu\"ote\\d/x"), ("b", "e")]),
            ("{\"a\":\"p\\u00e4ss\"}", &[("a", "päss")]),
            ("key: 'it''s'\n", &[("a", "it's")]),
            ("\u{feff}{\"a\":\"secret\"}\r\n", &[("secret", "secret")]),
        ] {
            let secrets = moved(secrets);
            let copy = masked(text.as_bytes(), &secrets).unwrap_or_else(|| panic!("{text}"));
            let shown = String::from_utf8(copy.clone()).unwrap();
            for secret in secrets.iter().filter(|one| one.value.len() > 3 && one.name != one.value) {
                assert!(!shown.contains(&secret.value), "{shown}");
            }
            assert_eq!(completed(&copy, &secrets).as_deref(), Some(text.as_bytes()), "{text}");
        }
        let in_it = moved(&[("a", "x1")]);
        assert_eq!(masked(b"{\"k\":\"${secret:a} x1\"}", &in_it), None);
    }
}
