//! Docker Compose: one file with Docker's MCP gateway and the catalog that it reads. The gateway starts an image for each server
//! and passes addresses on; programs of this computer are left out. Compose reads `$$` as `$`, also inside the catalog.

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

/// The port of the gateway, on this computer only.
const PORT: u16 = 8811;
/// The file with the values of secrets, one `NAME=value` per line. Beside the exported file, never part of it.
const SECRETS: &str = "./satchel.env";

pub(super) fn write(
    config: &Config,
    servers: &[(&ServerName, &ServerConfig)],
    references: &mut References,
    left: &mut Vec<Left>,
) -> String {
    if !config.tool_rules().is_empty() {
        left.push(left_out("toolRules", "the gateway names the tools that are let through (--tools)"));
    }
    let mut registry = serde_json::Map::new();
    for ((name, server), label) in servers.iter().zip(labels(servers.iter().map(|(name, _)| *name))) {
        let entry = match &server.transport {
            TransportConfig::Stdio { env, .. } => image(name, &server.transport, env, references, left),
            TransportConfig::Http { url, headers, .. } => address(name, url, headers, references, left),
        };
        if let Some(entry) = entry {
            registry.insert(label, entry);
        }
    }
    let has_secrets = registry.values().any(|entry| entry.get("secrets").is_some());
    let names: Vec<&str> = registry.keys().map(String::as_str).collect();
    let mut command = vec![
        "--transport=streaming".to_owned(),
        format!("--port={PORT}"),
        "--catalog=/mcp/catalog.yaml".to_owned(),
        format!("--servers={}", names.join(",")),
    ];
    let catalog = json!({ "version": 2, "name": "satchel", "registry": registry });
    let mut gateway = json!({
        "image": "docker/mcp-gateway",
        "ports": [format!("127.0.0.1:{PORT}:{PORT}")],
        // It starts the images.
        "volumes": ["/var/run/docker.sock:/var/run/docker.sock"],
        "configs": [{ "source": "catalog", "target": "/mcp/catalog.yaml" }],
    });
    let mut file = json!({ "name": "satchel" });
    if has_secrets {
        command.push("--secrets=/run/secrets/satchel".to_owned());
        gateway["secrets"] = json!(["satchel"]);
        file["secrets"] = json!({ "satchel": { "file": SECRETS } });
    }
    gateway["command"] = command.into();
    file["services"] = json!({ "gateway": gateway });
    file["configs"] = json!({ "catalog": { "content": yaml::write(&catalog).replace('$', "$$") } });
    yaml::write(&file)
}

fn image(
    name: &ServerName,
    transport: &TransportConfig,
    env: &BTreeMap<String, String>,
    references: &mut References,
    left: &mut Vec<Left>,
) -> Option<Value> {
    let container = container(name, transport, "the gateway", left)?;
    let mut entry = entry("server", name);
    entry["image"] = json!(container.image);
    if let Some(args) = container.arguments(name, references, left) {
        entry["command"] = args.into();
    }
    let (mut values, mut secrets) = (Vec::new(), Vec::new());
    for (variable, value) in env {
        match (references.plain(value), references.parts(value).as_slice()) {
            (Some(value), _) => values.push(json!({ "name": variable, "value": value })),
            (None, [TemplatePart::Secret(secret)]) => {
                secrets.push(json!({ "name": secret, "env": variable }))
            }
            (None, _) => {
                secrets.push(json!({ "name": variable, "env": variable }));
                references.note(variable.clone(), format!("the variable {variable} of \"{name}\", whole"));
            }
        }
    }
    if !values.is_empty() {
        entry["env"] = values.into();
    }
    if !secrets.is_empty() {
        entry["secrets"] = secrets.into();
    }
    Some(entry)
}

fn address(
    name: &ServerName,
    url: &str,
    headers: &BTreeMap<String, String>,
    references: &mut References,
    left: &mut Vec<Left>,
) -> Option<Value> {
    let Some(url) = references.plain(url) else {
        left.push(left_out(name.as_str(), "its address has references in it; write it by hand"));
        return None;
    };
    let mut entry = entry("remote", name);
    entry["remote"] = json!({ "url": url, "transport_type": "streamable-http" });
    let mut secrets = Vec::new();
    for (header, value) in headers {
        // The gateway resolves `${NAME}` from the server's secrets, and nothing else.
        let mut written = String::new();
        for part in references.parts(value) {
            match part {
                TemplatePart::Text(text) => written.push_str(&text),
                TemplatePart::Secret(secret) => {
                    written.push_str(&format!("${{{secret}}}"));
                    secrets.push(json!({ "name": secret, "env": secret }));
                }
                TemplatePart::Variable { name: variable, .. } => {
                    written.push_str(&format!("${{{variable}}}"));
                    secrets.push(json!({ "name": variable, "env": variable }));
                    references.note(variable.clone(), format!("the variable {variable} in \"{name}\""));
                }
            }
        }
        entry["remote"]["headers"][header] = written.into();
    }
    if !secrets.is_empty() {
        entry["secrets"] = secrets.into();
    }
    Some(entry)
}

fn entry(kind: &str, name: &ServerName) -> Value {
    json!({ "type": kind, "title": name.as_str(), "description": format!("{name}, of Satchel") })
}
