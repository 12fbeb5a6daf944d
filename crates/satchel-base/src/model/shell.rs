//! Words of a command that a person copies into a shell.

use std::borrow::Cow;

/// The word as a shell reads it: itself where no shell reads anything into it, otherwise quoted for this system's shells.
pub fn word(word: &str) -> Cow<'_, str> {
    word_of(word, cfg!(windows))
}

/// Single quotes for POSIX shells. On Windows double quotes, which both cmd and PowerShell take.
fn word_of(word: &str, windows: bool) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@=+,%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => Cow::Borrowed(word),
        false if windows => Cow::Owned(format!("\"{}\"", word.replace('"', "\\\""))),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_anything_into_is_quoted() {
        let on = |windows| move |word: &str| word_of(word, windows).into_owned();
        assert_eq!(["files", "@scope/package", "größe"].map(on(false)), ["files", "@scope/package", "größe"]);
        assert_eq!(
            ["", "my files", "it's", "a;b", "$(id)"].map(on(false)),
            ["''", "'my files'", r"'it'\''s'", "'a;b'", "'$(id)'"]
        );
        assert_eq!(["my files", "a \"b\""].map(on(true)), ["\"my files\"", "\"a \\\"b\\\"\""]);
    }
}
