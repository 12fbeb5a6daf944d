//! Lists the fields of a client's entry that have no effect in Satchel. Reports names of fields, never
//! their values, and reads no file that an entry names.

use satchel_entry::template::Template;
use serde_json::Value;

use super::{
    FoundEntry, Target, Words,
    plain_secrets::{holds_credential, is_secret},
};
use crate::model::remark::RemarkKind;

/// Fields that only describe a server.
const ABOUT: &[&str] = &[
    "author",
    "bundled",
    "categories",
    "category",
    "comment",
    "comments",
    "createdat",
    "description",
    "displayname",
    "docs",
    "documentation",
    "gallery",
    "homepage",
    "icon",
    "iconpath",
    "icons",
    "id",
    "installed",
    "keywords",
    "label",
    "license",
    "logo",
    "logourl",
    "metadata",
    "name",
    "note",
    "notes",
    "provider",
    "repository",
    "source",
    "tags",
    "title",
    "updatedat",
    "uuid",
    "version",
    "website",
];

/// Satchel's own field names. In another program's file they have that program's meaning.
const OURS: &[&str] = &[
    "enabled",
    "disabled",
    "startup",
    "idleTimeout",
    "requestTimeout",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "command",
    "args",
    "env",
    "cwd",
    "envFile",
    "exactResults",
    "keepCalls",
    "era",
    "discoveryTimeout",
    "refreshInterval",
    "toolTimeouts",
    "sandbox",
];

/// The sign-in settings, which mean the same in most programs and in Satchel.
const SIGN_IN: &str = "oauth";

/// Fields allowed in pasted text: they only restrict, or set timeouts.
const PASTED: &[&str] = &["discoveryTimeout", "refreshInterval", "toolTimeouts", "sandbox"];

/// Is this unknown field copied to the Satchel configuration?
pub(super) fn is_kept(server: &FoundEntry, key: &str, value: &Value) -> bool {
    let is_ours = OURS.contains(&key);
    let pasted = server.words == Words::Pasted && PASTED.contains(&key);
    (!is_ours || pasted) && !is_secret(key, value) && !holds_credential(value) && !reads_a_secret(value)
}

/// Does a text in it run a command or read a file for a secret? References in other fields become secrets of their own.
fn reads_a_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => Template::parse(text).sources().next().is_some(),
        Value::Array(items) => items.iter().any(reads_a_secret),
        Value::Object(fields) => fields.values().any(reads_a_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Settings without effect in Satchel; empty if everything was imported.
pub fn omitted(server: &FoundEntry) -> Vec<RemarkKind> {
    let mut said = Vec::new();
    if let Target::Program { env_file: Some(file), .. } = &server.target
        && !file.trim().is_empty()
    {
        said.push(RemarkKind::EnvFile { file: file.replace("${host:", "${") });
    }
    let (mut sandbox, mut ours, mut theirs, mut secret) = (vec![], vec![], vec![], vec![]);
    for (key, value) in server.unknown.iter().filter(|(key, value)| says_something(value) && !is_about(key)) {
        let is_ours = OURS.contains(&key.as_str());
        let fields = match is_ours {
            true if is_kept(server, key, value) => continue,
            _ if key.to_lowercase().starts_with("sandbox") => &mut sandbox,
            true => &mut ours,
            false if key == SIGN_IN && !is_kept(server, key, value) => &mut secret,
            false if key == SIGN_IN => continue,
            false => &mut theirs,
        };
        fields.push(key.clone());
    }
    type Kind = fn(Vec<String>) -> RemarkKind;
    let groups: [(Vec<String>, Kind); 4] = [
        (sandbox, |fields| RemarkKind::OtherSandbox { fields }),
        (ours, |fields| RemarkKind::NotTaken { fields }),
        (secret, |fields| RemarkKind::HoldsSecret { fields }),
        (theirs, |fields| RemarkKind::NoEffect { fields }),
    ];
    said.extend(
        groups.into_iter().filter(|(fields, _)| !fields.is_empty()).map(|(fields, kind)| kind(fields)),
    );
    said.extend(server.remarks.iter().cloned());
    said
}

/// Disabled switches and empty lists change nothing.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

fn is_about(key: &str) -> bool {
    let letters = key.replace(['_', '-'], "").to_lowercase();
    key.starts_with(['_', '$', '/', '#']) || key.starts_with("x-") || ABOUT.contains(&&*letters)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::{
        edit::Format,
        import::{Source, into_config, read_pasted},
        platform::Platform,
        table,
    };

    fn found(client: &str, text: &str) -> FoundEntry {
        let client = table::client(client).unwrap();
        let source =
            Source { client, path: "x".into(), scope: "user".into(), key: client.key.clone(), like: client };
        source.contents(&Format::Json.read(text).unwrap(), Platform::Linux).servers.remove(0)
    }

    #[track_caller]
    fn check(server: &FoundEntry, expected: &[&str]) -> Map<String, Value> {
        let said: Vec<String> = omitted(server).iter().map(ToString::to_string).collect();
        assert_eq!(said, expected);
        into_config(server, &server.name).0
    }

    #[test]
    fn fields_of_other_programs_that_have_no_effect_here_are_named_once() {
        let vscode = found(
            "vscode",
            r#"{"servers": {"a": {"command": "npx", "envFile": "${workspaceFolder}/.env", "sandboxEnabled": true,
                "sandbox": {"filesystem": {"allowWrite": ["."]}}, "dev": {"watch": "src"}, "gallery": true}}}"#,
        );
        let entry = check(
            &vscode,
            &[
                "\"envFile\" was left out: Satchel does not read the variables in ${workspaceFolder}/.env; write those it \
                 needs into \"env\" of its entry, secrets as ${secret:NAME}",
                "\"sandboxEnabled\", \"sandbox\" were left out, so it runs here without that sandbox; Satchel's own is \
                 \"sandbox\": true in its entry",
                "\"dev\" has no effect in Satchel",
            ],
        );
        assert!(!entry.contains_key("envFile") && !entry.contains_key("sandbox"), "{entry:?}");
        let claude = r#"{"mcpServers": {"a": {"type": "http", "url": "https://a.example", "headersHelper": "x.sh",
            "oauth": {"clientSecret": "s3cr3t"}, "description": "d", "_x": 1, "off": false, "none": []}}}"#;
        let entry = check(
            &found("claude-code", claude),
            &[
                "\"oauth\" was left out, because it contains a secret; store that with `satchel secrets set NAME`, and write \
                 \"oauth\" with ${secret:NAME} into its entry",
                "\"headersHelper\" has no effect in Satchel",
            ],
        );
        assert!(
            !Value::Object(entry).to_string().contains("s3cr3t"),
            "no credential comes along in plain text"
        );
        check(&found("cursor", r#"{"mcpServers": {"a": {"command": "npx", "cwd": "/x"}}}"#), &[]);
        let runs = r#"{"mcpServers": {"a": {"url": "https://a.example", "oauth": {"clientId": "x", "clientSecret": "${cmd:touch a}"}}}}"#;
        assert!(!into_config(&found("cursor", runs), "a").0.contains_key("oauth"), "it would run");
        let signs_in = r#"{"mcpServers": {"a": {"url": "https://a.example", "oauth": {"clientId": "app"}}}}"#;
        assert!(check(&found("cursor", signs_in), &[]).contains_key("oauth"), "it means the same here");
        // Their names for the same.
        for (theirs, ours, said) in [
            (
                r#""auth": {"CLIENT_ID": "app", "CLIENT_SECRET": "s3cr3t", "scopes": ["read"]}"#,
                json!({ "clientId": "app", "scopes": ["read"] }),
                Some(
                    "its client secret was left out; enter it with `satchel login NAME --client-id ID --client-secret`",
                ),
            ),
            (r#""oauth_client_id": "app""#, json!({ "clientId": "app" }), None),
            (
                r#""oauth": {"callbackPort": 8080}, "oauth_client_id": "app""#,
                json!({ "callbackPort": 8080, "clientId": "app" }),
                None,
            ),
            (
                r#""oauth": {"client_id": "mine"}, "oauth_client_id": "app""#,
                json!({ "client_id": "mine" }),
                None,
            ),
            (r#""oauth": false, "oauth_client_id": "app""#, json!(false), None),
        ] {
            let text = format!(r#"{{"mcpServers": {{"a": {{"url": "https://a.example", {theirs}}}}}}}"#);
            let said: Vec<&str> = said.into_iter().collect();
            let entry = check(&found("cursor", &text), &said);
            assert_eq!(entry["oauth"], ours, "{theirs}");
            assert!(!Value::Object(entry).to_string().contains("s3cr3t"), "{theirs}");
        }
    }

    #[test]
    fn a_pasted_entry_may_restrict_and_never_loosen() {
        let text = r#"{"mcpServers": {"a": {"command": "x", "sandbox": true, "exactResults": true}}}"#;
        let entry = check(
            &read_pasted(text).unwrap()[0],
            &["\"exactResults\" was left out; set it in the configuration if you want it here"],
        );
        assert!(entry.contains_key("sandbox") && !entry.contains_key("exactResults"), "{entry:?}");
    }
}
