//! Splits a name into words, however it is written.

/// Splits where a capital follows a small letter and at what is neither letter nor digit; `put` adds a character to a
/// word, in the spelling that is wanted.
pub(crate) fn of(name: &str, put: impl Fn(&mut String, char)) -> Vec<String> {
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
