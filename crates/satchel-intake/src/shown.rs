//! An offer as faces draw it: what runs, what is set, which credentials move.

use satchel_entry::template::names_secret;
use serde_json::{Map, Value};

use crate::{
    clients::import::{self, Candidate, FoundEntry, TransportKind, into_config},
    model::{clients::FoundServer, remark::Remark, shell},
    offers::Offer,
};

pub(crate) fn shown(offer: &Offer) -> FoundServer {
    let Candidate { name, server, origins, known, renamed: _ } = &offer.candidate;
    let (entry, moved, _) = into_config(server, name);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = match entry.get("url") {
        Some(url) => vec![text(Some(url))],
        None => {
            let args =
                entry.get("args").and_then(Value::as_array).into_iter().flatten().map(|arg| text(Some(arg)));
            std::iter::once(text(entry.get("command"))).chain(args).collect::<Vec<_>>()
        }
    };
    FoundServer {
        name: name.clone(),
        // An address stays as it is; words show where each begins and ends.
        runs: match entry.contains_key("url") {
            true => words.concat(),
            false => words.iter().map(|word| apart(word)).collect::<Vec<_>>().join(" "),
        },
        words,
        sets: ["env", "headers"]
            .iter()
            .filter_map(|key| entry.get(*key)?.as_object())
            .flat_map(set)
            .collect(),
        transport: match server.transport {
            TransportKind::Stdio => "stdio",
            TransportKind::Http => "http",
            TransportKind::Sse => "sse",
        }
        .into(),
        enabled: server.enabled,
        switched_off: is_switched_off(server, &entry).then_some(true),
        places: origins
            .iter()
            .map(|origin| format!("{}: {}", origin.client, origin.path.display()))
            .collect(),
        known: known.clone(),
        secrets: moved.into_iter().map(|secret| secret.name).collect(),
        needs: offer.needs.clone(),
        remote: server.unwrap.as_ref().map(|remote| remote.url.clone()),
        warnings: offer.warnings.clone(),
        omitted: import::omitted(server).into_iter().map(|what| Remark::on(name, what)).collect(),
    }
}

/// A word of a command line, quoted where it would read like several or none.
fn apart(word: &str) -> String {
    match word.is_empty() || word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')) {
        true => shell::word(word).into_owned(),
        false => word.to_owned(),
    }
}

/// Is it on there, and off as this entry?
fn is_switched_off(server: &FoundEntry, entry: &Map<String, Value>) -> bool {
    server.enabled && entry.get("enabled") == Some(&Value::Bool(false))
}

/// Each variable with its value; what goes to the keychain, by name.
fn set(values: &Map<String, Value>) -> impl Iterator<Item = String> {
    values.iter().map(|(name, value)| match value.as_str() {
        Some(text) if !names_secret(text) => format!("{name}={text}"),
        _ => name.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clients::table;
    use crate::platform::Platform;

    #[test]
    fn a_server_that_will_be_switched_off_is_not_shown_as_on() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["${workspaceFolderBasename}"]}, "b": {"command": "x"}}}"#;
        std::fs::write(&file, text).unwrap();
        let sources = import::Source::of_file(table::client("cursor").unwrap(), &file);
        let servers = sources[0].read(Platform::Linux).unwrap().servers;
        let off = |server: &FoundEntry| {
            let (entry, ..) = into_config(server, &server.name);
            (server.name.clone(), is_switched_off(server, &entry))
        };
        let off: Vec<_> = servers.iter().map(off).collect();
        assert_eq!(off, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn the_environment_is_shown_with_values_except_credentials() {
        let entry = json!({ "URL": "https://a.example", "API_KEY": "${secret:a-api-key}", "PORT": 1 });
        let shown: Vec<String> = set(entry.as_object().unwrap()).collect();
        assert_eq!(shown, ["URL=https://a.example", "API_KEY", "PORT"]);
    }
}
