//! Finds arguments that are credentials by name: whoever calls the tool hands them over.
//!
//! Many good servers take the password, key or token of the one service that they are for as an argument, and say so in
//! its description. That is nothing to look at. What opens more than one service, or belongs to the person, always is.

use std::ops::Range;

use super::fold::Folded;
use crate::fingerprint::Tree;

/// Names of credentials for one service, as `snake_case` words.
const OF_A_SERVICE: [&[&str]; 9] = [
    &["password"],
    &["passwd"],
    &["passphrase"],
    &["api", "key"],
    &["apikey"],
    &["access", "token"],
    &["auth", "token"],
    &["refresh", "token"],
    &["client", "secret"],
];

/// Names of powerful or personal credentials.
const OF_A_PERSON: [&[&str]; 15] = [
    &["bearer", "token"],
    &["session", "token"],
    &["private", "key"],
    &["secret", "key"],
    &["ssh", "key"],
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

/// Arguments beside a password that show whose it is.
const LOGINS: [&str; 6] = ["user", "username", "login", "email", "account", "mail"];

/// Tools that set, check or create secrets, and parts of arguments that contain one.
const ABOUT_SECRETS: [&str; 38] = [
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
    "proxy",
    "protect",
];

/// The arguments of a tool that are secrets: path, name, and the part of the name that matched.
pub(super) fn secrets(tree: &Tree) -> Vec<(String, String, Range<usize>)> {
    let Tree::Object(fields) = tree else { return Vec::new() };
    let text = |key: &str| match fields.iter().find(|(known, _)| known == key) {
        Some((_, Tree::Text(text))) => Folded::of(text).text,
        _ => String::new(),
    };
    if is_about_secrets(&text("name")) {
        return Vec::new();
    }
    let Some((_, schema)) = fields.iter().find(|(key, _)| key == "inputSchema") else { return Vec::new() };
    let told = match fields.iter().find(|(key, _)| key == "description") {
        Some((_, Tree::Text(text))) => text.as_str(),
        _ => "",
    };
    let mut found = Vec::new();
    below(schema, "inputSchema", told, &mut found);
    found
}

fn is_about_secrets(name: &str) -> bool {
    let about = words(name).join("_");
    ABOUT_SECRETS.iter().any(|word| about.contains(word))
}

fn below(schema: &Tree, place: &str, told: &str, found: &mut Vec<(String, String, Range<usize>)>) {
    let Tree::Object(fields) = schema else { return };
    for (key, value) in fields {
        let place = format!("{place}.{key}");
        match (key.as_str(), value) {
            ("properties", Tree::Object(properties)) => {
                let is_login = properties.iter().any(|(name, _)| is_login(name));
                for (name, property) in properties {
                    let place = format!("{place}.{name}");
                    let wanted = match sort(name) {
                        Some(Sort::Person) => true,
                        Some(Sort::Service) => !(is_login || is_described(property) || names(told, name)),
                        None => false,
                    };
                    if wanted && takes_text(property) {
                        found.push((place.clone(), name.clone(), 0..name.len()));
                    }
                    if !is_about_secrets(name) {
                        below(property, &place, told, found);
                    }
                }
            }
            // An object about secrets, or about what one protects.
            (_, Tree::Object(_)) if is_about_secrets(key) => {}
            (_, Tree::Object(_)) => below(value, &place, told, found),
            (_, Tree::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    below(item, &format!("{place}.{at}"), told, found);
                }
            }
            _ => {}
        }
    }
}

/// What an argument gives access to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// The tool's own service.
    Service,
    /// Much more, or a person's data.
    Person,
}

fn sort(name: &str) -> Option<Sort> {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `password_policy` and `access_token_lifetime` are about a secret but are none.
    let ends = |secret: &&[&str]| {
        words.ends_with(secret)
            || (words.len() == secret.len() + 1 && words.ends_with(&["value"]) && words.starts_with(secret))
    };
    let about = |word: &&str| {
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
    };
    if words.iter().any(about) {
        return None;
    }
    match OF_A_PERSON.iter().any(ends) {
        true => Some(Sort::Person),
        false => OF_A_SERVICE.iter().any(ends).then_some(Sort::Service),
    }
}

fn is_login(name: &str) -> bool {
    let words = words(name);
    words.last().is_some_and(|last| LOGINS.contains(&last.as_str()))
        || words.ends_with(&["user".to_owned(), "name".to_owned()])
}

/// Does the schema describe it?
fn is_described(property: &Tree) -> bool {
    let Tree::Object(fields) = property else { return false };
    fields.iter().any(|(key, value)| {
        key == "description" && matches!(value, Tree::Text(text) if text.chars().any(char::is_alphabetic))
    })
}

/// Does a description name the argument?
fn names(told: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    told.split(|c: char| !is_word(c)).any(|word| word == name)
}

fn takes_text(property: &Tree) -> bool {
    let Tree::Object(fields) = property else { return true };
    match fields.iter().find(|(key, _)| key == "type") {
        Some((_, Tree::Text(kind))) => kind == "string",
        _ => true,
    }
}

/// `apiKey`, `api-key` and `api_key` are equal.
fn words(name: &str) -> Vec<String> {
    crate::model::words::of(name, |word, c| word.push_str(&Folded::of(&c.to_string()).text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        let (service, person) = (Some(Sort::Service), Some(Sort::Person));
        for (name, of) in [
            ("password", service),
            ("userPassword", service),
            ("API-Key", service),
            ("openai_api_key", service),
            ("accessToken", service),
            ("privateKey", person),
            ("seed_phrase", person),
            ("max_tokens", None),
            ("next_page_token", None),
            ("primary_key", None),
            ("password_policy", None),
            ("has_password", None),
            ("key", None),
            ("author", None),
        ] {
            assert_eq!(sort(name), of, "{name}");
        }
    }

    #[test]
    fn the_key_of_the_service_that_a_tool_is_for_is_nothing_to_look_at_where_it_is_told() {
        let of = |description: &str, properties: serde_json::Value| {
            let tool = serde_json::json!({
                "name": "list_campaigns", "description": description,
                "inputSchema": { "type": "object", "properties": properties },
            });
            let tree = Tree::of(&satchel_mcp::Raw::from_string(tool.to_string()).unwrap());
            secrets(&tree).len()
        };
        let text = || serde_json::json!({ "type": "string" });
        let described = |text: &str| serde_json::json!({ "type": "string", "description": text });
        for (description, properties, found) in [
            ("Lists campaigns.", serde_json::json!({ "api_key": text() }), 1),
            ("Lists campaigns.", serde_json::json!({ "api_key": described(" ") }), 1),
            ("Lists campaigns.", serde_json::json!({ "api_key": described("Key of the service.") }), 0),
            (
                "Lists.\n\nArgs:\n  access_token: of the service",
                serde_json::json!({ "access_token": text() }),
                0,
            ),
            ("Lists campaigns.", serde_json::json!({ "username": text(), "password": text() }), 0),
            ("Lists campaigns.", serde_json::json!({ "proxy": { "properties": { "password": text() } } }), 0),
            ("Lists campaigns.", serde_json::json!({ "theme": { "properties": { "password": text() } } }), 1),
            ("Lists campaigns.", serde_json::json!({ "private_key": described("Key of the account.") }), 1),
            ("Lists, with `seed_phrase`.", serde_json::json!({ "seed_phrase": text() }), 1),
        ] {
            assert_eq!(of(description, properties.clone()), found, "{description} {properties}");
        }
    }
}
