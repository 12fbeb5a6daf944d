//! Renders names from outside on one line, for the tray and notifications.

use satchel_core::trust::clean;

/// Maximum length; no desktop shows more.
const LONGEST: usize = 160;

/// The text on one line, with hidden characters escaped, cut to a readable length.
pub(crate) fn line(text: &str) -> String {
    let text = clean::visible(text).replace(['\n', '\t'], " ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_and_hides_nothing() {
        for (text, shown) in [
            ("github asks you something", "github asks you something"),
            ("git\u{202e}buh asks", "git⟨U+202E⟩buh asks"),
            ("a\u{1b}[31m\nSatchel: press Enter\u{200b}", "a⟨U+001B⟩[31m Satchel: press Enter⟨U+200B⟩"),
            ("👩\u{200d}💻 tools", "👩\u{200d}💻 tools"),
        ] {
            assert_eq!(line(text), shown);
        }
        assert_eq!(line(&"x".repeat(4_000)).chars().count(), LONGEST + 1);
    }
}
