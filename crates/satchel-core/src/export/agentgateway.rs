//! Exports to agentgateway: one target per server. It expands `${NAME}` from its own environment throughout the file
//! and reads `$$` as `$`.

use serde_json::{Map, Value, json};

use super::{
    labels, left_out,
    reference::{References, TemplatePart},
    yaml,
};
use crate::{
    config::{Config, rules::ToolRule},
    model::{ServerConfig, ServerName, TransportConfig, left::Left, name::TOOL_SEPARATOR, nature::Permit},
};

/// The port in its examples.
const PORT: u16 = 3000;

pub(super) fn write(
    config: &Config,
    servers: &[(&ServerName, &ServerConfig)],
    references: &mut References,
    left: &mut Vec<Left>,
) -> String {
    let labels = labels(servers.iter().map(|(name, _)| *name));
    let targets: Vec<Value> = servers
        .iter()
        .zip(&labels)
        .map(|((name, server), label)| target(name, server, label, references, left))
        .collect();
    let mut rules = Vec::new();
    for rule in config.tool_rules() {
        match required(rule, servers, &labels) {
            Some(rule) => rules.push(json!({ "require": rule })),
            None => left.push(left_out("toolRules", &format!("what its rule for \"{}\" says", rule.tool))),
        }
    }
    // Names are always `server_tool`, even with a single server.
    let mut mcp = json!({ "port": PORT, "prefixMode": "always" });
    if !rules.is_empty() {
        mcp["policies"] = json!({ "mcpAuthorization": { "rules": rules } });
    }
    mcp["targets"] = targets.into();
    yaml::write(&json!({ "mcp": mcp }))
}

fn target(
    name: &ServerName,
    server: &ServerConfig,
    label: &str,
    references: &mut References,
    left: &mut Vec<Left>,
) -> Value {
    match &server.transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            let mut stdio = json!({ "cmd": filled(command, references) });
            if !args.is_empty() {
                stdio["args"] = args.iter().map(|arg| filled(arg, references)).collect();
            }
            if !env.is_empty() {
                stdio["env"] = all_filled(env, references).into();
            }
            if cwd.is_some() {
                left.push(left_out(name.as_str(), "its working directory; it runs in the engine's"));
            }
            json!({ "name": label, "stdio": stdio })
        }
        TransportConfig::Http { url, headers, .. } => {
            let mut target = json!({ "name": label, "mcp": { "host": filled(url, references) } });
            if !headers.is_empty() {
                target["policies"] =
                    json!({ "requestHeaderModifier": { "set": all_filled(headers, references) } });
            }
            target
        }
    }
}

fn all_filled<'a>(
    values: impl IntoIterator<Item = (&'a String, &'a String)>,
    references: &mut References,
) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.clone(), filled(value, references).into())).collect()
}

/// A text with its references in the engine's syntax.
fn filled(text: &str, references: &mut References) -> String {
    written(references.parts(text), plain)
}

/// `with` writes the text between references. A default is not escaped.
fn written(parts: Vec<TemplatePart>, with: fn(&str) -> String) -> String {
    let each = |part: TemplatePart| match part {
        TemplatePart::Text(text) => with(&text),
        TemplatePart::Variable { name, default: None } => format!("${{{name}}}"),
        TemplatePart::Variable { name, default: Some(default) } => {
            format!("${{{name}:-{}}}", written(default, str::to_owned))
        }
        TemplatePart::Secret(name) => format!("${{{name}}}"),
    };
    parts.into_iter().map(each).collect()
}

/// A text without references.
fn plain(text: &str) -> String {
    text.replace('$', "$$")
}

/// A rule that allows everything except what Satchel's rule forbids; `None` without a counterpart.
fn required(rule: &ToolRule, servers: &[(&ServerName, &ServerConfig)], labels: &[String]) -> Option<String> {
    let only_forbids = rule.rename.is_none() && rule.description.is_none() && rule.client.is_none();
    let forbids = rule.hide || rule.permit == Some(Permit::Off);
    if !(forbids && only_forbids) {
        return None;
    }
    // There, a failing comparison denies, so what has no tool is allowed first.
    let tool = matching(&rule.tool, servers, labels);
    let except: Vec<String> =
        rule.except.iter().map(|except| format!("!{}", matching(except, servers, labels))).collect();
    let forbidden = [vec![tool], except].concat().join(" && ");
    Some(format!("!has(mcp.tool) || !({forbidden})"))
}

/// A Satchel pattern over `server:tool`, with the engine's server name.
fn matching(pattern: &str, servers: &[(&ServerName, &ServerConfig)], labels: &[String]) -> String {
    let (server, tool) = pattern.split_once(TOOL_SEPARATOR).unwrap_or(("*", pattern));
    let known = servers.iter().position(|(name, _)| name.in_path() == server);
    let server = known.and_then(|at| labels.get(at)).map_or(server, String::as_str);
    let mut regex = String::from("^");
    for c in format!("{server}{TOOL_SEPARATOR}{tool}").chars() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            c if c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '/') => regex.push(c),
            c => regex.push_str(&format!(
                "[{}]",
                if matches!(c, '\\' | '^' | ']' | '[') { format!("\\{c}") } else { c.to_string() }
            )),
        }
    }
    // Escaped once for the regular expression, once for the string around it.
    let regex = Value::from(format!("{regex}$")).to_string();
    plain(&format!("(mcp.tool.target + \"{TOOL_SEPARATOR}\" + mcp.tool.name).matches({regex})"))
}
