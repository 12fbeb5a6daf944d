//! Renders our entry for a client's file: the table's template with our address, token and program.

use satchel_entry::template::{Piece, rewrite};
use serde_json::{Map, Value};

use super::table::{Client, Transport};

/// Satchel's name in other programs' files. Short, because tool names are limited; no underscore, because Gemini CLI
/// splits names at the first one.
pub const NAME: &str = "satchel";

/// How clients reach Satchel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ourselves {
    /// The entry's name.
    pub name: String,
    /// The endpoint's URL.
    pub url: String,
    /// The bridge program's absolute path.
    pub bridge: String,
    /// The arguments that start the bridge; followed by `--client ID`.
    pub bridge_words: Vec<String>,
}

impl Ourselves {
    /// The entry for a client. `None` if it does not support this transport.
    pub fn entry(&self, client: &Client, over: Transport, token: &str, name: &str) -> Option<Value> {
        let template = match over {
            Transport::Http => client.http.as_ref(),
            Transport::Stdio => client.stdio.as_ref(),
        }?;
        Some(Filling { ourselves: self, client: &client.id, token, name }.value(template))
    }

    /// Is this a Satchel entry, possibly of an earlier port or path?
    pub fn wrote(&self, client: &Client, entry: &Value) -> bool {
        let shape = &client.entry;
        let inner = shape.nested_transport.as_deref().and_then(|field| entry.get(field)).unwrap_or(entry);
        let urls = shape.url.iter().filter_map(|field| inner.get(field)).filter_map(Value::as_str);
        if urls.into_iter().any(|url| same_endpoint(url, &self.url)) {
            return true;
        }
        let command = match inner.get(&shape.command) {
            Some(Value::String(command)) => Some(command.as_str()),
            Some(Value::Array(words)) => words.first().and_then(Value::as_str),
            Some(Value::Object(nested)) => nested.get("path").and_then(Value::as_str),
            _ => None,
        };
        command.is_some_and(|command| program_name(command) == program_name(&self.bridge))
    }
}

/// Both on this computer with the same path: the port changes if the default one is taken.
fn same_endpoint(url: &str, ours: &str) -> bool {
    let path = |url: &str| -> Option<String> {
        let rest = url.strip_prefix("http://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        ["127.0.0.1", "localhost", "[::1]", "host.docker.internal"]
            .contains(&name)
            .then(|| path.trim_end_matches('/').to_owned())
    };
    path(url).is_some_and(|path_of_url| Some(path_of_url) == path(ours))
}

fn program_name(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    name.strip_suffix(".exe").unwrap_or(name)
}

struct Filling<'a> {
    ourselves: &'a Ourselves,
    client: &'a str,
    token: &'a str,
    name: &'a str,
}

impl Filling<'_> {
    fn value(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .flat_map(|item| match item.as_str() {
                        Some("${BRIDGE_ARGS}") => self.bridge_args().into_iter().map(Value::String).collect(),
                        _ => vec![self.value(item)],
                    })
                    .collect(),
            ),
            Value::Object(map) => Value::Object(
                map.iter().map(|(key, value)| (self.text(key), self.value(value))).collect::<Map<_, _>>(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    fn bridge_args(&self) -> Vec<String> {
        let words = self.ourselves.bridge_words.iter().cloned();
        words.chain(["--client".to_owned(), self.client.to_owned()]).collect()
    }

    fn text(&self, template: &str) -> String {
        rewrite(template, &|piece| match piece {
            Piece::Variable { name, default: None } => self.own(name),
            Piece::Variable { .. } | Piece::Text(_) | Piece::Secret(_) | Piece::Source(_) => None,
        })
    }

    fn own(&self, name: &str) -> Option<String> {
        let url = &self.ourselves.url;
        match name {
            "URL" => Some(url.clone()),
            "URL_LOCALHOST" => Some(url.replacen("127.0.0.1", "localhost", 1)),
            "TOKEN" => Some(self.token.to_owned()),
            "BRIDGE" => Some(self.ourselves.bridge.clone()),
            "BRIDGE_ARGS" => Some(self.bridge_args().join(" ")),
            "NAME" => Some(self.name.to_owned()),
            "UUID" => Some(self.uuid()),
            _ => None,
        }
    }

    /// Deterministic per client, so that connecting twice changes nothing. Version 8 of RFC 9562.
    fn uuid(&self) -> String {
        use sha2::{Digest, Sha256};
        let mut hash: Vec<u8> = Sha256::digest(format!("satchel/{}", self.client)).to_vec();
        hash[6] = hash[6] & 0x0f | 0x80;
        hash[8] = hash[8] & 0x3f | 0x80;
        let hex: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use serde_json::json;

    fn ourselves() -> Ourselves {
        Ourselves {
            name: NAME.into(),
            url: "http://127.0.0.1:7411/mcp".into(),
            bridge: "/opt/satchel".into(),
            bridge_words: vec!["bridge".into()],
        }
    }

    #[test]
    fn templates_are_filled_for_every_client() {
        for client in table::clients() {
            for over in [Transport::Http, Transport::Stdio] {
                let Some(entry) = ourselves().entry(client, over, "t0ken", NAME) else { continue };
                assert!(!entry.to_string().contains("${"), "{}: {entry}", client.id);
            }
        }
        let zed = table::client("zed").unwrap();
        assert_eq!(
            ourselves().entry(zed, Transport::Stdio, "", NAME).unwrap(),
            json!({"command": "/opt/satchel", "args": ["bridge", "--client", "zed"], "env": {}})
        );
        let desktop = table::client("claude-desktop").unwrap();
        assert_eq!(ourselves().entry(desktop, Transport::Http, "", NAME), None);
    }

    #[test]
    fn our_entry_is_known_again_with_another_port_and_others_are_not() {
        let check = |entry: Value, expected: bool| {
            let cursor = table::client("cursor").unwrap();
            assert_eq!(ourselves().wrote(cursor, &entry), expected, "{entry}");
        };
        check(json!({"url": "http://127.0.0.1:9999/mcp"}), true);
        check(json!({"url": "http://localhost:1/mcp/"}), true);
        check(json!({"command": "C:\\x\\satchel.exe", "args": []}), true);
        check(json!({"url": "http://127.0.0.1:9999/other"}), false);
        check(json!({"url": "https://example.com/mcp"}), false);
        check(json!({"command": "npx"}), false);
        check(json!({}), false);
    }
}
