//! Arguments that are secrets by their name: whoever calls the tool hands them over.

use std::ops::Range;

use super::fold::Folded;
use crate::trust::fingerprint::Tree;

/// Names of things that open something, in parts as they are written in `snake_case`.
const SECRETS: [&[&str]; 24] = [
    &["password"],
    &["passwd"],
    &["passphrase"],
    &["api", "key"],
    &["apikey"],
    &["access", "token"],
    &["auth", "token"],
    &["refresh", "token"],
    &["bearer", "token"],
    &["session", "token"],
    &["private", "key"],
    &["secret", "key"],
    &["ssh", "key"],
    &["client", "secret"],
    &["seed", "phrase"],
    &["recovery", "phrase"],
    &["mnemonic"],
    &["credit", "card"],
    &["card", "number"],
    &["cvv"],
    &["ssn"],
    &["social", "security"],
    &["one", "time", "code"],
    &["otp"],
];

/// Tools that are there to set, check or make one.
const ABOUT_SECRETS: [&str; 36] = [
    "password",
    "passwd",
    "secret",
    "credential",
    "login",
    "log_in",
    "signin",
    "sign_in",
    "authenticate",
    "auth",
    "user",
    "account",
    "vault",
    "connect",
    "connection",
    "encrypt",
    "decrypt",
    "certificate",
    "key",
    "token",
    "database",
    "server_create",
    "payment",
    "vm_create",
    "vmss_create",
    "wifi",
    "unlock",
    "totp",
    "otp",
    "registry",
    "postgres",
    "mysql",
    "sql",
    "mongo",
    "redis",
    "smtp",
];

/// The arguments of a tool that are secrets: where they stand, their name, and the part of it that says so.
pub(super) fn secrets(tree: &Tree) -> Vec<(String, String, Range<usize>)> {
    let Tree::Object(fields) = tree else { return Vec::new() };
    let text = |key: &str| match fields.iter().find(|(known, _)| known == key) {
        Some((_, Tree::Text(text))) => Folded::of(text).text,
        _ => String::new(),
    };
    let about = words(&text("name")).join("_");
    if ABOUT_SECRETS.iter().any(|word| about.contains(word)) {
        return Vec::new();
    }
    let Some((_, schema)) = fields.iter().find(|(key, _)| key == "inputSchema") else { return Vec::new() };
    let mut found = Vec::new();
    below(schema, "inputSchema", &mut found);
    found
}

fn below(schema: &Tree, place: &str, found: &mut Vec<(String, String, Range<usize>)>) {
    let Tree::Object(fields) = schema else { return };
    for (key, value) in fields {
        let place = format!("{place}.{key}");
        match (key.as_str(), value) {
            ("properties", Tree::Object(properties)) => {
                for (name, property) in properties {
                    let place = format!("{place}.{name}");
                    if is_secret(name) && takes_text(property) {
                        found.push((place.clone(), name.clone(), 0..name.len()));
                    }
                    below(property, &place, found);
                }
            }
            (_, Tree::Object(_)) => below(value, &place, found),
            (_, Tree::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    below(item, &format!("{place}.{at}"), found);
                }
            }
            _ => {}
        }
    }
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `password_policy` and `access_token_lifetime` are about one, and none themselves.
    SECRETS.iter().any(|secret| {
        words.ends_with(secret)
            || (words.len() == secret.len() + 1 && words.ends_with(&["value"]) && words.starts_with(secret))
    }) && !words.iter().any(|word| {
        matches!(
            *word,
            "has"
                | "is"
                | "no"
                | "use"
                | "generate"
                | "require"
                | "show"
                | "hide"
                | "max"
                | "min"
                | "num"
                | "with"
        )
    })
}

fn takes_text(property: &Tree) -> bool {
    let Tree::Object(fields) = property else { return true };
    match fields.iter().find(|(key, _)| key == "type") {
        Some((_, Tree::Text(kind))) => kind == "string",
        _ => true,
    }
}

/// `apiKey`, `api-key` and `api_key` are the same.
fn words(name: &str) -> Vec<String> {
    crate::model::words::of(name, |word, c| word.push_str(&Folded::of(&c.to_string()).text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for (name, secret) in [
            ("password", true),
            ("userPassword", true),
            ("API-Key", true),
            ("openai_api_key", true),
            ("accessToken", true),
            ("privateKey", true),
            ("max_tokens", false),
            ("next_page_token", false),
            ("primary_key", false),
            ("password_policy", false),
            ("has_password", false),
            ("key", false),
            ("author", false),
        ] {
            assert_eq!(is_secret(name), secret, "{name}");
        }
    }
}
