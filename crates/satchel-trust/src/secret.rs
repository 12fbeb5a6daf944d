//! Recognizes words and sentences about credentials. Pure; looks at single names and sentences without their context.

pub use satchel_entry::credential::is_named;

use crate::model::words;

/// Names of secrets in prose, where a single word is ambiguous.
const SENTENCES: [&str; 27] = [
    "password",
    "passphrase",
    "passcode",
    "kennwort",
    "passwort",
    "api key",
    "apikey",
    "private key",
    "secret key",
    "access key",
    "access token",
    "auth token",
    "bearer token",
    "refresh token",
    "session token",
    "personal token",
    "api token",
    "your token",
    "your secret",
    "client secret",
    "your pin",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "verification code",
    "credit card",
    "your credentials",
];

/// Verbs that ask someone to hand something over.
const ASKING: [&str; 20] = [
    "enter", "type", "paste", "provide", "give", "input", "share", "send", "tell", "supply", "insert",
    "fill", "submit", "confirm", "repeat", "what is", "need", "require", "eingeben", "geben",
];

/// Does this sentence ask for one?
pub fn is_wanted(text: &str) -> bool {
    let spaced = format!(" {} ", words::of(text, |word, c| word.extend(c.to_lowercase())).join(" "));
    let has = |parts: &[&str]| parts.iter().any(|part| spaced.contains(&format!(" {part} ")));
    has(&SENTENCES) && has(&ASKING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_wants_one_where_it_says_so() {
        for text in ["Enter your password.", "Please paste the API key below", "Bitte Passwort eingeben"] {
            assert!(is_wanted(text), "{text}");
        }
        for text in ["Your password expires soon", "Enter your name", "Choose a token limit", ""] {
            assert!(!is_wanted(text), "{text}");
        }
    }
}
