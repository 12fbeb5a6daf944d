//! Other programs' names for the same fields of an entry. People copy entries from one program's documentation into another
//! one's file, so a field means the same wherever it stands; the client's own name for it comes first.

use serde_json::{Map, Value};

use crate::table::Shape;

const ENV: &[&str] = &["env", "environment", "environmentVariables", "environment_variables", "envs"];
const CWD: &[&str] = &["cwd", "workingDirectory", "working_directory", "workingDir", "workdir"];
const ARGS: &[&str] = &["args", "arguments"];
const COMMAND: &[&str] = &["command", "cmd"];
const URLS: &[&str] = &["httpUrl", "serverUrl", "url", "uri"];
const HEADERS: &[&str] = &["headers", "http_headers", "requestInit.headers", "requestOptions.headers"];
const DISABLED: &[&str] = &["disabled"];
const ENABLED: &[&str] = &["enabled", "isActive", "is_active", "active"];
const ALLOW: &[&str] = &[
    "includeTools",
    "include_tools",
    "enabledTools",
    "enabled_tools",
    "allowedTools",
    "allowed_tools",
    "availableTools",
    "available_tools",
    "tools",
];
const DENY: &[&str] = &[
    "excludeTools",
    "exclude_tools",
    "disabledTools",
    "disabled_tools",
    "blockedTools",
    "blocked_tools",
    "deniedTools",
];
const APPROVE: &[&str] =
    &["alwaysAllow", "always_allow", "autoApprove", "auto_approve", "autoApproved", "trust"];
const SECONDS: &[&str] = &["tool_timeout_sec", "timeout_sec", "timeoutSeconds", "timeout_seconds"];
const MILLISECONDS: &[&str] = &["timeoutMs", "timeout_ms", "requestTimeoutMs"];
const TIME: &str = "timeout";

/// A time of at most this is in seconds, a larger one in milliseconds: calls take no shorter and no longer.
const LARGEST_IN_SECONDS: f64 = 3600.0;

/// The shape that reads this entry: where the entry lacks the client's own field, another program's name for it counts.
pub(super) fn widened(shape: &Shape, entry: &Map<String, Value>) -> Shape {
    let inner = shape.nested_transport.as_deref().and_then(|field| entry.get(field)?.as_object());
    let has = |name: &str| entry.contains_key(name) || inner.is_some_and(|inner| inner.contains_key(name));
    let value = |name: &str| entry.get(name).or_else(|| inner?.get(name));
    let other = |own: Option<&String>, names: &[&str], fits: fn(&Value) -> bool| {
        if own.is_some_and(|own| has(own)) {
            return None;
        }
        let found = names.iter().find(|name| value(name).is_some_and(fits) && !is_own(shape, name));
        found.map(|name| (*name).to_owned())
    };
    let mut wide = shape.clone();
    for (field, names) in [(&mut wide.env, ENV), (&mut wide.cwd, CWD), (&mut wide.args, ARGS)] {
        if let Some(name) = other(Some(field), names, |value| !value.is_null()) {
            *field = name;
        }
    }
    if let Some(name) = other(Some(&shape.command), COMMAND, |value| !value.is_null()) {
        wide.command = name;
    }
    type Fits = fn(&Value) -> bool;
    let options: [(&mut Option<String>, &[&str], Fits); 5] = [
        (&mut wide.disabled_field, DISABLED, Value::is_boolean),
        (&mut wide.enabled_field, ENABLED, Value::is_boolean),
        (&mut wide.tools_allow, ALLOW, is_list_of_names),
        (&mut wide.tools_deny, DENY, is_list_of_names),
        (&mut wide.auto_approve, APPROVE, |value| value.is_boolean() || is_list_of_names(value)),
    ];
    for (field, names, fits) in options {
        if let Some(name) = other(field.as_ref(), names, fits) {
            *field = Some(name);
        }
    }
    let further = |known: &[String], names: &[&str]| {
        let more = names.iter().filter(|name| !known.iter().any(|known| known == *name));
        more.filter(|name| !is_own(shape, name)).map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    // Beside a program, another program's word for an address is an argument or a note.
    if !has(&wide.command) {
        wide.url.extend(further(&shape.url, URLS));
    }
    wide.headers.extend(further(&shape.headers, HEADERS));
    if let Some((name, in_seconds)) = time(shape, &has, &value) {
        (wide.timeout_field, wide.timeout_in_seconds) = (Some(name), in_seconds);
    }
    wide
}

/// The field with the time of a call, and whether it is in seconds.
fn time<'a>(
    shape: &Shape,
    has: &impl Fn(&str) -> bool,
    value: &impl Fn(&str) -> Option<&'a Value>,
) -> Option<(String, bool)> {
    if shape.timeout_field.as_deref().is_some_and(has) {
        return None;
    }
    let named = |names: &[&str], in_seconds: bool| {
        let name = names.iter().find(|name| value(name).is_some_and(Value::is_number))?;
        Some(((*name).to_owned(), in_seconds))
    };
    named(SECONDS, true).or_else(|| named(MILLISECONDS, false)).or_else(|| {
        let number = value(TIME)?.as_f64().filter(|_| !is_own(shape, TIME))?;
        Some((TIME.to_owned(), number <= LARGEST_IN_SECONDS))
    })
}

fn is_list_of_names(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

/// Has this client a meaning of its own for the field?
fn is_own(shape: &Shape, name: &str) -> bool {
    let options = [
        &shape.name_field,
        &shape.type_field,
        &shape.env_vars,
        &shape.keychain_env,
        &shape.env_headers,
        &shape.bearer_env,
        &shape.api_key_bearer,
        &shape.disabled_field,
        &shape.enabled_field,
        &shape.state_field,
        &shape.timeout_field,
        &shape.tools_allow,
        &shape.tools_deny,
        &shape.auto_approve,
        &shape.nested_transport,
    ];
    let plain = [&shape.command, &shape.args, &shape.env, &shape.cwd];
    options.into_iter().flatten().chain(plain).chain(&shape.url).any(|own| own == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        import::{FoundEntry, Source, Target, omitted, read_pasted},
        platform::Platform,
        table,
    };

    #[track_caller]
    fn check(server: &FoundEntry, at: &str) {
        let Target::Program { command, args, env, .. } = &server.target else { panic!("{at}") };
        assert_eq!(
            (command.as_str(), args.as_slice()),
            ("npx", &["-y".to_owned(), "x".to_owned()][..]),
            "{at}"
        );
        assert_eq!(env.get("REGION"), Some(&json!("eu")), "{at}");
        assert_eq!(server.timeout_ms, Some(90_000), "{at}");
        assert_eq!(server.tools_allow.as_deref(), Some(&["read".to_owned(), "list".to_owned()][..]), "{at}");
        assert_eq!(server.tools_deny, ["rm"], "{at}");
        assert_eq!(server.auto_approve, ["read"], "{at}");
        assert!(!server.enabled, "{at}");
        assert_eq!(omitted(server), [], "{at}");
    }

    #[test]
    fn other_programs_words_mean_the_same_wherever_they_stand() {
        let entries = [
            json!({ "command": ["npx", "-y", "x"], "environment": { "REGION": "eu" }, "timeout": 90_000,
                "includeTools": ["read,list"], "excludeTools": ["rm"], "alwaysAllow": ["read"], "disabled": true }),
            json!({ "command": "npx", "args": ["-y", "x"], "env": { "REGION": "eu" }, "tool_timeout_sec": 90,
                "enabled_tools": ["read", "list"], "disabled_tools": ["rm"], "autoApprove": ["read"], "enabled": false }),
            json!({ "cmd": "npx", "arguments": ["-y", "x"], "environment_variables": { "REGION": "eu" }, "timeout": 90,
                "allowedTools": ["read", "list"], "blockedTools": ["rm"], "always_allow": ["read"], "isActive": false }),
        ];
        for entry in &entries {
            for id in ["claude-desktop", "cursor", "cline"] {
                let client = table::client(id).unwrap();
                let (key, path) = (client.key.clone(), "x".into());
                let source = Source { client, path, scope: "user".into(), key: key.clone(), like: client };
                let inside = json!({ "a": entry });
                let document = key.iter().rev().fold(inside, |inside, key| json!({ key: inside }));
                let contents = source.contents(&document, Platform::Linux);
                assert!(!contents.servers.is_empty(), "{id}: {contents:?}");
                // Where it is a client's own word, its own unit counts.
                if client.entry.timeout_field.is_none() || entry.get("timeout").is_none() {
                    check(&contents.servers[0], id);
                }
            }
            for block in ["mcpServers", "mcp", "servers", "mcp_servers"] {
                let text = json!({ block: { "a": entry } }).to_string();
                check(&read_pasted(&text).unwrap()[0], block);
            }
        }
    }
}
