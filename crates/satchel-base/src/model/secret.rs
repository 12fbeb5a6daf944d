//! The list of names that suggest a credential.

use super::words;

/// Names of secrets, as words at the end of a name.
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

/// Words that may follow the name of a secret without changing its meaning.
const ENDINGS: [&str; 5] = ["value", "here", "text", "string", "again"];

/// Does this name denote a credential: `password`, `githubToken`, `API key`?
pub fn is_named(name: &str) -> bool {
    let mut words = words::of(name, |word, c| word.extend(c.to_lowercase()));
    // `password2` counts too.
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    while words.last().is_some_and(|last| last.is_empty() || ENDINGS.contains(&last.as_str())) {
        words.pop();
    }
    NAMES.iter().any(|name| words.ends_with(&name.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>()))
}

/// A looser check for field names in stored text, where a false positive does no harm: also matches
/// `password_of_root`.
pub fn is_named_within(name: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let name_of_field = plain(name);
    // "max_tokens" and "pageToken" are not secrets; "token" at the end of most other names is.
    let harmless = ["tokens", "pagetoken", "nexttoken", "continuationtoken", "synctoken"];
    if harmless.iter().any(|name| name_of_field.ends_with(name)) {
        return false;
    }
    // Short names occur inside too many other words.
    let within = |name: &&str| name.len() > 4 && name_of_field.contains(&plain(name));
    is_named(name) || NAMES.iter().chain(&["authorization", "cookie"]).any(within)
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
    fn a_field_that_is_kept_has_one_within_its_name() {
        for name in
            ["password_of_root", "xApiKeyId", "AUTHORIZATION", "set-cookie", "accessToken", "userPin", "pin"]
        {
            assert!(is_named_within(name), "{name}");
        }
        for name in ["max_tokens", "pageToken", "spinner", "monkey", "key", "pinned", "author"] {
            assert!(!is_named_within(name), "{name}");
        }
    }
}
