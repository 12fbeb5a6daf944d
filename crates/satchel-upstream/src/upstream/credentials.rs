//! Recognizes credentials written in an entry itself, by name and by shape, so that they stay out of the server's log.
//! A false match costs a `***` in one log.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    model::{secret::is_named_within, server::TransportConfig, words},
    secrets::Secret,
    stats::retention,
};

/// Shorter values are settings, or could be guessed anyway.
const SHORTEST: usize = 6;
/// Minimum length for ambiguous names.
const SHORTEST_OF_A_KEY: usize = 16;
/// Ambiguous names, which count if the value looks like a credential.
const LOOSE: [&str; 8] = ["key", "auth", "pat", "pass", "pw", "dsn", "jwt", "login"];
/// Endings of names of paths and addresses.
const PLACES: [&str; 6] = ["file", "path", "dir", "directory", "url", "uri"];
/// Values of switches.
const SWITCHES: [&str; 8] =
    ["disabled", "enabled", "required", "optional", "default", "always", "prompt", "keychain"];

/// The plain-text credentials in a transport's settings.
pub(super) fn written_in(transport: &TransportConfig) -> Vec<Secret> {
    let mut found = Vec::new();
    match transport {
        TransportConfig::Stdio { args, env, .. } => {
            named(env, &mut found);
            arguments(args, &mut found);
        }
        TransportConfig::Http { url, headers, oauth } => {
            found.extend(oauth.client_secret.clone());
            named(headers, &mut found);
            address(url, &mut found);
        }
    }
    found.retain(|value| value.len() >= SHORTEST && !SWITCHES.contains(&value.to_ascii_lowercase().as_str()));
    found.into_iter().map(Secret::new).collect()
}

fn named(values: &BTreeMap<String, String>, found: &mut Vec<String>) {
    for (name, value) in values {
        one(name, value, found);
    }
}

fn one(name: &str, value: &str, found: &mut Vec<String>) {
    let value = value.trim();
    address(value, found);
    found.extend(
        value
            .split([' ', ',', ';', '"', '\''])
            .filter(|word| retention::looks_like_key(word))
            .map(Into::into),
    );
    if is_credential(name, value) {
        found.push(value.to_owned());
        if let Some((scheme, rest)) = value.split_once(' ')
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        {
            found.push(rest.trim().to_owned());
            // User name and password.
            let login = STANDARD.decode(rest.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            if let Some((_, password)) = login.as_deref().and_then(|login| login.split_once(':')) {
                found.push(password.to_owned());
            }
        }
    }
}

fn is_credential(name: &str, value: &str) -> bool {
    let parts = words::of(name, |word, c| word.extend(c.to_lowercase()));
    let last = parts.iter().rev().find(|word| !word.is_empty()).map_or("", String::as_str);
    let is_path =
        value.starts_with(['/', '~', '.']) || value.get(1..3).is_some_and(|drive| drive.starts_with(':'));
    if PLACES.contains(&last) || last.starts_with("credential") && is_path {
        return false;
    }
    is_named_within(name)
        || LOOSE.contains(&last)
            && (value.len() >= SHORTEST_OF_A_KEY || value.bytes().any(|byte| byte.is_ascii_digit()))
}

/// `--token VALUE`, `--token=VALUE`, `-e API_KEY=VALUE`, `--header "Authorization: Bearer VALUE"`, and URLs.
fn arguments(args: &[String], found: &mut Vec<String>) {
    for (at, arg) in args.iter().enumerate() {
        one("", arg, found);
        let name = arg.trim_start_matches('-');
        match name.find(['=', ':']) {
            Some(end) if !name[end..].starts_with("://") => one(&name[..end], &name[end + 1..], found),
            _ if name.len() < arg.len() => {
                let value = args.get(at + 1).filter(|value| !value.starts_with('-'));
                value.into_iter().for_each(|value| one(name, value, found));
            }
            _ => {}
        }
    }
}

/// The password and the query parameters of a URL.
fn address(text: &str, found: &mut Vec<String>) {
    let Some((_, rest)) = text.split_once("://") else { return };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((login, _)) = host.rsplit_once('@') {
        let password = login.split_once(':').map_or(login, |(_, password)| password);
        found.push(password.to_owned());
        found.extend(decoded(password));
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    for (name, value) in query.split(['&', '#', ';']).filter_map(|pair| pair.split_once('=')) {
        if is_credential(name, value) {
            found.push(value.to_owned());
            found.extend(decoded(value));
        }
    }
}

/// Percent-decoded, if it contains escapes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|plain| plain != text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(transport: &TransportConfig, expected: &[&str]) {
        let mut found: Vec<String> =
            written_in(transport).iter().map(|secret| secret.reveal().to_owned()).collect();
        found.sort();
        found.dedup();
        let mut expected: Vec<&str> = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn values_named_like_keys_are_credentials() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let program = |env: &[(&str, &str)], args: &[&str]| TransportConfig::Stdio {
            command: "x".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: map(env),
            cwd: None,
        };
        check(
            &program(
                &[
                    ("API_KEY", "plain-value-1"),
                    ("TOKEN", "tok en"),
                    ("OPENAI_KEY", "abc123xyz"),
                    ("SORT_KEY", "created"),
                    ("DB", "postgres://me:p%40ss-w@host/db"),
                    ("MAX_TOKENS", "100000"),
                    ("AUTH_TOKEN", "true"),
                    ("SECRET_MODE", "disabled"),
                    ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
                    ("KEY_FILE", "/home/me/secret.json"),
                    ("NOTE", "use ghp_0123456789abcdefghij"),
                    ("PASSWORD", "short"),
                ],
                &[],
            ),
            &["plain-value-1", "tok en", "abc123xyz", "p%40ss-w", "p@ss-w", "ghp_0123456789abcdefghij"],
        );
        check(
            &program(
                &[],
                &[
                    "--api-key",
                    "value-one",
                    "--token=value-two",
                    "-e",
                    "API_KEY=value-three",
                    "--header",
                    "Authorization: Bearer value-four",
                    "--port",
                    "8080",
                    "--secret",
                    "--verbose",
                    "https://example.com/x?token=value-five&limit=1000000",
                ],
            ),
            &["value-one", "value-two", "value-three", "Bearer value-four", "value-four", "value-five"],
        );
        check(
            &TransportConfig::Http {
                url: "https://example.com/mcp?api_key=value-six".into(),
                headers: map(&[
                    ("Authorization", "Basic bWU6cGFzc3dvcmQ="),
                    ("X-API-Key", "value-seven"),
                    ("X-Region", "europe-west"),
                ]),
                oauth: Box::default(),
            },
            &["value-six", "Basic bWU6cGFzc3dvcmQ=", "bWU6cGFzc3dvcmQ=", "password", "value-seven"],
        );
    }
}
