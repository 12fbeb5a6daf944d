//! Words for things that open something. Pure; knows single names and sentences, not where they stand.

use super::words;

/// Names of secrets, in words, as a name may end.
const NAMES: [&str; 46] = [
    "password",
    "passwords",
    "passwort",
    "kennwort",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "pin",
    "otp",
    "totp",
    "cvv",
    "cvc",
    "ssn",
    "mnemonic",
    "credential",
    "credentials",
    "apikey",
    "api key",
    "private key",
    "secret key",
    "access key",
    "ssh key",
    "signing key",
    "encryption key",
    "license key",
    "recovery key",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "backup code",
    "security code",
    "verification code",
    "one time code",
    "authenticator code",
    "auth code",
    "card number",
    "credit card",
    "social security number",
    "session cookie",
    "authorization header",
    "connection string",
    "bearer",
    "service account key",
];

/// What follows the name of a secret without making another thing of it.
const ENDINGS: [&str; 5] = ["value", "here", "text", "string", "again"];

/// The same in sentences, where a single word says less.
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

/// Verbs by which somebody is asked to hand something over.
const WISHES: [&str; 20] = [
    "enter", "type", "paste", "provide", "give", "input", "share", "send", "tell", "supply", "insert",
    "fill", "submit", "confirm", "repeat", "what is", "need", "require", "eingeben", "geben",
];

/// Is this the name of something that opens something: `password`, `githubToken`, `API key`?
pub fn is_named(name: &str) -> bool {
    let mut words = words::of(name, |word, c| word.extend(c.to_lowercase()));
    // `password2` is one as well.
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    while words.last().is_some_and(|last| last.is_empty() || ENDINGS.contains(&last.as_str())) {
        words.pop();
    }
    NAMES.iter().any(|name| words.ends_with(&name.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>()))
}

/// Is this the name of a variable or header that carries one, as a rule?
pub fn is_given_as(name: &str) -> bool {
    let header = ["authorization", "proxy-authorization", "cookie"];
    let parts = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY", "_PAT", "_DSN"];
    let upper = name.to_uppercase();
    header.iter().any(|header| name.eq_ignore_ascii_case(header))
        || is_named(name)
        || parts.iter().any(|part| upper.contains(part))
}

/// Does this sentence ask for one?
pub fn is_wanted(text: &str) -> bool {
    let spaced = format!(" {} ", words::of(text, |word, c| word.extend(c.to_lowercase())).join(" "));
    let has = |parts: &[&str]| parts.iter().any(|part| spaced.contains(&format!(" {part} ")));
    has(&SENTENCES) && has(&WISHES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for name in [
            "password",
            "newPassword",
            "apiToken",
            "api_key",
            "API key",
            "private-key",
            "Your PIN",
            "clientSecret",
            "OTP",
            "token",
            "GITHUB_TOKEN",
            "password2",
            "Kennwort",
            "verification code",
            "token value",
        ] {
            assert!(is_named(name), "{name}");
        }
        for name in [
            "monkey",
            "keyboard layout",
            "tokyo",
            "spinner",
            "max_tokens",
            "token_count",
            "key",
            "pinned",
            "secretary",
            "author",
            "passage",
        ] {
            assert!(!is_named(name), "{name}");
        }
    }

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
