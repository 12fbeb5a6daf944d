//! Recognizes credentials written in an entry itself, by name and by shape, so that they stay out of the server's log.
//! A false match costs a `***` in one log.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};

use satchel_entry::credential::{self, FieldKind, after_scheme, decoded, in_arguments};

use crate::{model::server::TransportConfig, secrets::Secret};

/// Shorter values are settings, or could be guessed anyway.
const SHORTEST: usize = 6;

/// The plain-text credentials in a transport's settings.
pub(super) fn written_in(transport: &TransportConfig) -> Vec<Secret> {
    let mut found = Vec::new();
    match transport {
        TransportConfig::Stdio { args, env, .. } => {
            named(env, FieldKind::Variable, &mut found);
            arguments(args, &mut found);
        }
        TransportConfig::Http { url, headers, oauth } => {
            found.extend(oauth.client_secret.clone());
            named(headers, FieldKind::Header, &mut found);
            one("url", url, FieldKind::Field, &mut found);
        }
    }
    found.retain(|value| value.len() >= SHORTEST);
    found.into_iter().map(Secret::new).collect()
}

fn named(values: &BTreeMap<String, String>, place: FieldKind, found: &mut Vec<String>) {
    for (name, value) in values {
        one(name, value, place, found);
    }
}

fn one(name: &str, value: &str, place: FieldKind, found: &mut Vec<String>) {
    let parts = credential::parts(name, value, place);
    for part in &parts {
        put(&value[part.range.clone()], found);
    }
    // The text as a whole, as a header is written.
    let whole = value.trim();
    found.extend((!parts.is_empty() && after_scheme(whole) != whole).then(|| whole.to_owned()));
    // A setting within a text is also known without the rest.
    found.extend(credential::inner(value).into_iter().map(|range| value[range].to_owned()));
}

/// A credential in the forms that a server may write it in.
fn put(text: &str, found: &mut Vec<String>) {
    let text = text.trim();
    found.push(text.to_owned());
    found.extend(decoded(text));
    // User name and password.
    let login = STANDARD.decode(after_scheme(text)).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some((_, password)) = login.as_deref().and_then(|login| login.split_once(':')) {
        found.push(password.to_owned());
    }
}

fn arguments(args: &[String], found: &mut Vec<String>) {
    for one in in_arguments(args) {
        let value = &args[one.at];
        put(&value[one.range.clone()], found);
        let start = value[..one.range.start].rfind([':', '=']).map_or(0, |at| at + 1);
        // With the scheme of its header.
        let whole = value[start..one.range.end].trim();
        found.extend((after_scheme(whole) != whole).then(|| whole.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use satchel_entry::credential::CredentialExample;

    fn check(transport: &TransportConfig, expected: &[&str]) {
        let mut found: Vec<String> =
            written_in(transport).iter().map(|secret| secret.reveal().to_owned()).collect();
        found.sort();
        found.dedup();
        let mut expected: Vec<&str> = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// The table that every room is tested with.
    #[test]
    fn the_log_hides_what_every_room_calls_a_credential() {
        let mut rows = 0;
        for CredentialExample { name, value, is_credential } in credential::examples() {
            let parts = credential::parts(name, value, FieldKind::Variable);
            // Shorter ones could be parts of ordinary words.
            if !parts.is_empty() && parts.iter().all(|part| part.range.len() < SHORTEST) {
                continue;
            }
            rows += 1;
            let env = [(name.to_owned(), value.to_owned())].into();
            let transport = TransportConfig::Stdio { command: "x".into(), args: vec![], env, cwd: None };
            let found = written_in(&transport);
            let found: Vec<&str> = found.iter().map(Secret::reveal).collect();
            assert_eq!(!found.is_empty(), is_credential, "{name}={value}: {found:?}");
            assert!(found.iter().all(|one| one.len() >= SHORTEST));
        }
        assert!(rows >= 120, "{rows}");
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
