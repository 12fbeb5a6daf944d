//! Renders changes of other programs' files before they are made: line by line, with credentials hidden. Pure; the text that
//! is written does not come from here.

use std::path::Path;

use serde_json::Value;

use crate::{
    clients::{
        connect::{format_of, patch},
        document::Document,
        import::credentials_in,
        table::Client,
    },
    model::clients::FileChange,
    secrets::{
        Secret,
        redact::{Open, Redactor},
    },
    stats::retention::without_keys,
};

/// Placeholder for the token in a preview.
pub const TOKEN_TO_COME: &str = "sat_(made when you connect)";

/// A client's file before and after a change.
pub struct Changed<'a> {
    /// The client.
    pub client: &'a Client,
    /// Its file.
    pub path: &'a Path,
    /// `None` if there is no file yet.
    pub before: Option<&'a [u8]>,
    /// What will be in it.
    pub after: &'a [u8],
}

impl Changed<'_> {
    /// Describes the change: what was done, and to which entry.
    pub fn shown(&self, what: &str, entry: &str) -> FileChange {
        FileChange {
            path: self.path.display().to_string(),
            what: what.into(),
            entry: entry.into(),
            diff: self.diff(),
        }
    }

    fn diff(&self) -> String {
        let (before, after) = (text_of(self.before.unwrap_or_default()), text_of(self.after));
        let patch = patch(self.path, self.before.is_some().then_some(&before), &after);
        // Whatever is not the value of a field, such as a comment, is judged by its form.
        let known = format_of(self.client, self.path).read(&before).unwrap_or(Value::Null);
        let credentials: Vec<Secret> = credentials_in(&known).into_iter().map(Secret::new).collect();
        let redactor = Redactor::of(&credentials);
        let mut open = Open::default();
        patch.split_inclusive('\n').map(|line| hidden(&redactor.hide_line(line, &mut open))).collect()
    }
}

fn hidden(line: &str) -> String {
    if line.contains(TOKEN_TO_COME) { line.to_owned() } else { without_keys(line) }
}

fn text_of(bytes: &[u8]) -> String {
    Document::decode(bytes)
        .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), |document| document.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::table;
    use satchel_entry::credential::{self, CredentialExample};

    #[track_caller]
    fn shown(client: &str, path: &str, before: &str, after: &str) -> String {
        let client = table::client(client).unwrap();
        let (before, after) = (Some(before.as_bytes()), after.as_bytes());
        Changed { client, path: Path::new(path), before, after }.shown("added", "satchel").diff
    }

    #[test]
    fn credentials_of_the_clients_own_servers_are_hidden_and_the_rest_stays_readable() {
        let before = r#"{
  // "OLD_TOKEN": "ghp_0123456789abcdefghij"
  "mcpServers": {
    "a": { "command": "npx", "args": ["-y", "pkg", "--api-key", "q8Zx-plain-2"], "env": { "DB_PASSWORD": "hunter2-hunter2", "PIN": "77", "REGION": "eu-west-1" } },
    "b": { "url": "https://x.example/mcp?token=in-the-address&page=2", "headers": { "Authorization": "Bearer abc-def-ghi", "X-Team": "blue" } },
    "c": { "url": "https://me:pass-word-9@y.example/mcp", "env": { "ANY": "sk-0123456789abcdef0123", "KEY": "${env:KEY}" } }
  }
}
"#;
        let after = before.replace(
            "  }\n}\n",
            "  ,\"satchel\": { \"headers\": { \"Authorization\": \"Bearer sat_(made when you connect)\" } }\n  }\n}\n",
        );
        let diff = shown("cursor", "mcp.json", before, &after);
        for secret in [
            "ghp_0123456789abcdefghij",
            "q8Zx-plain-2",
            "hunter2-hunter2",
            "\"77\"",
            "in-the-address",
            "abc-def-ghi",
            "pass-word-9",
            "sk-0123456789abcdef0123",
        ] {
            assert!(!diff.contains(secret), "{secret} is shown:\n{diff}");
        }
        for plain in [
            "eu-west-1",
            "X-Team",
            "blue",
            "DB_PASSWORD",
            "--api-key",
            "${env:KEY}",
            "y.example",
            TOKEN_TO_COME,
        ] {
            assert!(diff.contains(plain), "{plain} is missing:\n{diff}");
        }
        assert!(diff.lines().any(|line| line.starts_with('+') && line.contains("satchel")), "{diff}");
    }

    /// The table that every room is tested with.
    #[test]
    fn a_preview_hides_what_every_room_calls_a_credential() {
        let mut rows = 0;
        for CredentialExample { name, value, is_credential } in credential::examples() {
            // In a file of another program, a random text is more often the identifier of a document.
            if name == "FOO" {
                continue;
            }
            rows += 1;
            let block = serde_json::json!({ "command": "program-of-its-own", "env": { name: value } });
            let before = format!("{{\n  \"mcpServers\": {{\n    \"a\": {block}\n  }}\n}}\n");
            let diff = shown(
                "cursor",
                "mcp.json",
                &before,
                &before.replace("\n  }\n", ",\n    \"satchel\": {}\n  }\n"),
            );
            let written = serde_json::Value::from(value).to_string();
            assert_eq!(!diff.contains(&written), is_credential, "{name}={value}:\n{diff}");
        }
        assert!(rows >= 120, "{rows}");
    }

    #[test]
    fn names_of_servers_and_fields_are_never_hidden() {
        for before in [
            r#"{"mcpServers":{"with-password":{"command":"python3","args":["--token","q8Zx-plain"]},"b":{"command":"x"}}}"#,
            r#"{"mcpServers": {"with-password": {"command": "python3", "args": ["--token=q8Zx-plain"]}, "b": {"command": "x"}}}"#,
            "{\n  \"mcpServers\": {\n    \"my-token\": { \"command\": \"python3\", \"env\": { \"A_KEY\": \"q8Zx-plain\" } },\n    \"b\": {}\n  }\n}\n",
        ] {
            let diff = shown("cursor", "mcp.json", before, &before.replace("\"b\"", "\"satchel\""));
            let name = if before.contains("my-token") { "my-token" } else { "with-password" };
            assert!([name, "\"command\"", "python3"].iter().all(|text| diff.contains(text)), "{diff}");
            assert!(!diff.contains("q8Zx-plain"), "{diff}");
        }
    }

    #[test]
    fn credentials_are_hidden_in_every_format_that_clients_keep() {
        let toml = "[mcp_servers.a]\ncommand = \"npx\"\n[mcp_servers.a.env]\nSOME_SECRET = 'plain value 9'\n";
        let diff =
            shown("codex", "config.toml", toml, &format!("{toml}[mcp_servers.satchel]\nurl = \"u\"\n"));
        assert!(diff.contains("SOME_SECRET") && !diff.contains("plain value 9"), "{diff}");
        let yaml = "extensions:\n  a:\n    cmd: npx\n    envs:\n      SOME_KEY: plain-value-9\n";
        let diff = shown("goose", "config.yaml", yaml, &format!("{yaml}  satchel:\n    uri: u\n"));
        assert!(diff.contains("SOME_KEY") && !diff.contains("plain-value-9"), "{diff}");
        let one_line = r#"{"mcpServers":{"a":{"command":"x","env":{"MY_TOKEN":"plain-value-9"}}}}"#;
        let diff =
            shown("cursor", "mcp.json", one_line, &one_line.replace("}}}}", r#"}},"satchel":{"url":"u"}}}"#));
        assert!(diff.contains("satchel") && !diff.contains("plain-value-9"), "{diff}");
    }
}
