//! Lists the stored secrets that an entry refers to, and who would receive each: a program with its arguments, or the
//! origin of an address. Knows no values and decides nothing.

use std::collections::BTreeSet;

use satchel_entry::template::Template;
use serde_json::json;

use super::{Fingerprint, Item, fingerprint::Tree};
use crate::model::{TransportConfig, approvals::Kind};

/// One item for every secret that the entry references. Its text is the recipient, for people.
pub fn of(transport: &TransportConfig) -> Vec<Item> {
    let secrets: BTreeSet<String> = transport
        .texts()
        .flat_map(|text| Template::parse(text).secrets().map(ToOwned::to_owned).collect::<Vec<_>>())
        .collect();
    let recipient = recipient(transport);
    secrets.into_iter().map(|secret| item(secret, &recipient)).collect()
}

fn item(secret: String, recipient: &str) -> Item {
    let raw = serde_json::value::to_raw_value(&json!({ "secret": secret, "recipient": recipient }))
        .expect("a JSON value always serializes");
    let print = Fingerprint::of_tree(Kind::Secret.as_str(), &Tree::of(&raw));
    Item {
        kind: Kind::Secret,
        name: secret,
        print,
        text: recipient.to_owned(),
        alarming: false,
        sought: false,
        definition: None,
    }
}

/// The recipient of an entry's values. Another path of the same origin is the same recipient; another argument of a
/// program is not, because it may select another program.
fn recipient(transport: &TransportConfig) -> String {
    match transport {
        TransportConfig::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args);
            words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
        TransportConfig::Http { url, .. } => match url::Url::parse(url) {
            // A reference within the address may determine its host.
            Ok(parsed) if parsed.host_str().is_some_and(|host| !host.contains(['$', '{', '%'])) => {
                parsed.origin().ascii_serialization()
            }
            _ => url.clone(),
        },
    }
}

/// Quotes a word, so that different recipients never look the same.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\\'));
    if plain { word.to_owned() } else { format!("{word:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn of_entry(entry: &serde_json::Value) -> Vec<Item> {
        let config = Config::parse(&json!({ "mcpServers": { "a": entry } }).to_string()).unwrap();
        of(&config.servers()["a"].transport)
    }

    #[test]
    fn every_reference_is_found_and_its_recipient_is_named() {
        for (entry, secrets, recipient) in [
            (json!({ "command": "npx", "args": ["-y", "x"] }), vec![], ""),
            (
                json!({ "command": "npx", "args": ["-y", "x y"], "env": { "A": "${secret:K}", "B": "${secret:J}" } }),
                vec!["J", "K"],
                r#"npx -y "x y""#,
            ),
            (json!({ "command": "${secret:K}" }), vec!["K"], "${secret:K}"),
            (
                json!({ "url": "https://Example.com:443/mcp", "headers": { "A": "Bearer ${secret:K}" } }),
                vec!["K"],
                "https://example.com",
            ),
            (json!({ "url": "https://example.com/q?k=${secret:K}" }), vec!["K"], "https://example.com"),
            (json!({ "url": "http://127.0.0.1:99/${secret:K}" }), vec!["K"], "http://127.0.0.1:99"),
            (
                json!({ "url": "https://${secret:K}.example.com/" }),
                vec!["K"],
                "https://${secret:K}.example.com/",
            ),
        ] {
            let items = of_entry(&entry);
            assert_eq!(items.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), secrets, "{entry}");
            assert!(items.iter().all(|item| item.text == recipient), "{entry}: {items:?}");
        }
    }

    #[test]
    fn another_program_argument_or_origin_is_another_recipient() {
        let hosted =
            |url: &str| of_entry(&json!({ "url": url, "headers": { "A": "${secret:K}" } })).remove(0);
        assert_eq!(hosted("https://a.example/x").print, hosted("https://a.example/y?z").print);
        for other in ["http://a.example/x", "https://a.example:8443/x", "https://b.example/x"] {
            assert_ne!(hosted("https://a.example/x").print, hosted(other).print, "{other}");
        }
        let program = |args: serde_json::Value| {
            of_entry(&json!({ "command": "npx", "args": args, "env": { "A": "${secret:K}" } })).remove(0)
        };
        assert_eq!(program(json!(["a", "b"])).print, program(json!(["a", "b"])).print);
        for other in [json!(["a b"]), json!(["a", "c"]), json!(["a"]), json!(["a", "b", ""])] {
            assert_ne!(program(json!(["a", "b"])).print, program(other.clone()).print, "{other}");
        }
    }
}
