//! Exports to the ToolHive operator: a group, an `MCPServer` per image, an `MCPServerEntry` per address. A cluster runs
//! images only, so servers that a launcher such as `npx` would fetch are left out, with instructions for building an
//! image.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    container::container,
    labels, left_out,
    reference::{References, TemplatePart},
    yaml,
};
use crate::{
    config::Config,
    model::{ServerConfig, ServerName, TransportConfig, left::Left},
};

const VERSION: &str = "toolhive.stacklok.dev/v1beta1";
/// The group and the Secret that contain everything.
const GROUP: &str = "satchel";
const SECRET: &str = "satchel";

pub(super) fn write(
    config: &Config,
    servers: &[(&ServerName, &ServerConfig)],
    references: &mut References,
    left: &mut Vec<Left>,
) -> String {
    if !config.tool_rules().is_empty() {
        left.push(left_out(
            "toolRules",
            "a filter there names the tools that are let through (MCPToolConfig)",
        ));
    }
    let group = json!({ "description": "Servers of Satchel" });
    let mut documents = vec![resource("MCPGroup", GROUP, &group)];
    for ((name, server), label) in servers.iter().zip(labels(servers.iter().map(|(name, _)| *name))) {
        let written = match &server.transport {
            TransportConfig::Stdio { .. } => image(name, &server.transport, references, left)
                .map(|spec| resource("MCPServer", &label, &spec)),
            TransportConfig::Http { url, headers, .. } => {
                address(name, &label, url, headers, references, left)
                    .map(|spec| resource("MCPServerEntry", &label, &spec))
            }
        };
        documents.extend(written);
    }
    documents.iter().map(|document| format!("---\n{}", yaml::write(document))).collect()
}

fn resource(kind: &str, name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": VERSION, "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// The container that an entry runs; `None` for anything else.
fn image(
    name: &ServerName,
    transport: &TransportConfig,
    references: &mut References,
    left: &mut Vec<Left>,
) -> Option<Value> {
    let TransportConfig::Stdio { env, .. } = transport else { return None };
    let container = container(name, transport, "a cluster", left)?;
    let mut spec = json!({ "image": container.image, "transport": "stdio", "proxyMode": "streamable-http", "groupRef": { "name": GROUP } });
    if let Some(args) = container.arguments(name, references, left) {
        spec["args"] = args.into();
    }
    let (mut plain, mut secret) = (Vec::new(), Vec::new());
    for (variable, value) in env {
        match only(references.parts(value)) {
            Some(TemplatePart::Text(value)) => plain.push(json!({ "name": variable, "value": value })),
            Some(TemplatePart::Secret(key)) => {
                secret.push(json!({ "name": SECRET, "key": key, "targetEnvName": variable }));
            }
            Some(TemplatePart::Variable { .. }) | None => {
                secret.push(json!({ "name": SECRET, "key": variable, "targetEnvName": variable }));
                references.note(variable.clone(), format!("the variable {variable} of \"{name}\", whole"));
            }
        }
    }
    if !plain.is_empty() {
        spec["env"] = plain.into();
    }
    if !secret.is_empty() {
        spec["secrets"] = secret.into();
    }
    Some(spec)
}

fn address(
    name: &ServerName,
    label: &str,
    url: &str,
    headers: &BTreeMap<String, String>,
    references: &mut References,
    left: &mut Vec<Left>,
) -> Option<Value> {
    let Some(url) = references.plain(url) else {
        left.push(left_out(name.as_str(), "its address has references in it; write it by hand"));
        return None;
    };
    let (mut plain, mut secret) = (serde_json::Map::new(), Vec::new());
    for (header, value) in headers {
        match only(references.parts(value)) {
            Some(TemplatePart::Text(value)) => {
                plain.insert(header.clone(), value.into());
            }
            // There, a header value is a secret as a whole, including the word before the token.
            _ => {
                let key = format!("{label}.{header}");
                secret
                    .push(json!({ "headerName": header, "valueSecretRef": { "name": SECRET, "key": key } }));
                references.note(key, format!("the header {header} of \"{name}\", whole"));
            }
        }
    }
    let mut spec = json!({ "remoteUrl": url, "transport": "streamable-http", "groupRef": { "name": GROUP } });
    if !plain.is_empty() {
        spec["headerForward"]["addPlaintextHeaders"] = plain.into();
    }
    if !secret.is_empty() {
        spec["headerForward"]["addHeadersFromSecret"] = secret.into();
    }
    Some(spec)
}

/// The only part of a text; an empty text counts as one.
fn only(mut parts: Vec<TemplatePart>) -> Option<TemplatePart> {
    match parts.len() {
        0 => Some(TemplatePart::Text(String::new())),
        1 => parts.pop(),
        _ => None,
    }
}
