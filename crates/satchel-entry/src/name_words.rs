//! Splits a name into words, however it is written: `dbPassword`, `DB_PASSWORD`, `db-password`, `DBPassword`.

/// The words of a name, in lower case, without digits at their ends: `password2` is `password`.
pub fn of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let starts = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && after.is_some_and(char::is_lowercase)
                    || before.is_ascii_digit() && after.is_some_and(char::is_lowercase)
            });
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_name_has_the_same_words() {
        for (name, words) in [
            ("DB_PASSWORD", "db password"),
            ("db-password", "db password"),
            ("dbPassword2", "db password"),
            ("DBPassword", "db password"),
            ("OpenAIKey", "open ai key"),
            ("X-API-Key", "x api key"),
            ("oauth2Token", "oauth token"),
            ("Your PIN", "your pin"),
            ("clé_API", "clé api"),
            ("", ""),
        ] {
            assert_eq!(of(name).join(" "), words, "{name}");
        }
    }
}
