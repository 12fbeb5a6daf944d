//! The text cleaner: nothing that hides is left, what is clean stays as it is, and nothing grows but what is shown to a
//! person, where every hidden character is written out.

use satchel_core::trust::{clean, diff, inspect};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let cleaned = clean::text(&text);
    assert_eq!(clean::text(&cleaned), cleaned, "cleaned twice, it is the same");
    assert!(cleaned.len() <= text.len(), "it grew");
    for c in cleaned.chars() {
        assert!(!is_forbidden(c), "{:?} is left of {text:?}", c);
    }
    for range in clean::hidden(&text).into_iter().chain(inspect::risky(&text)) {
        assert!(text.get(range.clone()).is_some() || clean::visible(&text).get(range).is_some());
    }
    let visible = clean::visible(&text);
    assert!(!visible.chars().any(is_forbidden), "{visible:?} hides something");
    let (before, now) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let _ = diff::words(before, now);
}

/// Characters that are always removed: terminal escape sequences, bidirectional controls, tags outside of flags.
fn is_forbidden(c: char) -> bool {
    let command = c.is_control() && !matches!(c, '\n' | '\t');
    command
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0001}' | '\u{2028}' | '\u{2029}')
}
