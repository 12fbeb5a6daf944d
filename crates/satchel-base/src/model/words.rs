//! Splits a name into words, however it is written.

/// Splits a name into words: before a capital that follows a lower-case letter, and at characters that are neither
/// letters nor digits. `put` appends a character to a word, normalizing its case.
pub fn of(name: &str, put: impl Fn(&mut String, char)) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let new = (c.is_uppercase() && before.is_lowercase()) || !c.is_alphanumeric();
        if new && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            put(word, c);
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}
