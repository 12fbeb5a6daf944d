//! Writes the configured servers as the configuration of an engine that serves them to more than one person.
//!
//! Pure: a configuration goes in, a text and what has no counterpart come out. No value of a secret is read, so none can be
//! written: a reference becomes a name that the engine fills in. What a server offers, approvals and sign-ins are not part of it.

mod agentgateway;
mod compose;
mod container;
mod reference;
mod toolhive;
#[cfg(test)]
mod validated;
mod yaml;

use crate::{
    config::Config,
    model::{ServerConfig, ServerName, TransportConfig, left::Left},
};
use reference::References;

/// The target engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// agentgateway 1.x: one file with programs and addresses. <https://agentgateway.dev/schema/config>
    AgentGateway,
    /// The ToolHive operator: Kubernetes resources for images and addresses. `toolhive.stacklok.dev/v1beta1`
    ToolHive,
    /// Docker Compose with Docker's MCP gateway: images and addresses. <https://github.com/docker/mcp-gateway>
    Compose,
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The engine's configuration as YAML.
    pub text: String,
    /// What has no counterpart there, by server or setting.
    pub left: Vec<Left>,
    /// Values that the engine needs: the name there, and what it stands for in Satchel.
    pub needs: Vec<(String, String)>,
}

/// Exports the enabled servers for an engine. The toolbox is part of Satchel and not exported.
pub fn export(config: &Config, engine: Engine) -> Exported {
    let mut left = left_out_of_all(config);
    let mut references = References::default();
    let servers: Vec<_> =
        config.servers().iter().filter(|(name, server)| goes_along(name, server, &mut left)).collect();
    let body = match engine {
        Engine::AgentGateway => agentgateway::write(config, &servers, &mut references, &mut left),
        Engine::ToolHive => toolhive::write(config, &servers, &mut references, &mut left),
        Engine::Compose => compose::write(config, &servers, &mut references, &mut left),
    };
    let needs = references.needs();
    let mut text = String::from("# Written by `satchel export`. It contains no secrets.\n");
    for (name, what) in &needs {
        text.push_str(&format!("# needs {name}: {what}\n"));
    }
    for one in &left {
        text.push_str(&format!("# left out, {}: {}\n", one_line(&one.place), one_line(&one.reason)));
    }
    Exported { text: text + &body, left, needs }
}

/// Settings that no engine has.
fn left_out_of_all(config: &Config) -> Vec<Left> {
    let mut left = Vec::new();
    for (name, fault) in config.faults() {
        left.push(Left::new(name.clone(), format!("its entry is wrong: {fault}")));
    }
    for fault in config.rule_faults() {
        left.push(Left::new("toolRules", format!("an invalid rule: {fault}")));
    }
    for fault in config.setting_faults() {
        left.push(Left::new("settings", format!("an invalid setting: {fault}")));
    }
    if *config.tool_defaults() != crate::config::rules::Defaults::default() {
        left.push(left_out("toolDefaults", "the defaults for calls that no rule matches"));
    }
    left
}

fn goes_along(name: &ServerName, server: &ServerConfig, left: &mut Vec<Left>) -> bool {
    match &server.transport {
        _ if !server.enabled => {
            left.push(left_out(name.as_str(), "it is switched off"));
            false
        }
        TransportConfig::Stdio { command, .. } if command == "satchel" => {
            left.push(left_out(name.as_str(), "it is part of Satchel"));
            false
        }
        TransportConfig::Stdio { .. } | TransportConfig::Http { .. } => {
            if server.sandbox.is_some() {
                left.push(left_out(name.as_str(), "its sandbox; the engine decides what it may reach"));
            }
            true
        }
    }
}

fn left_out(place: &str, reason: &str) -> Left {
    Left::new(place, reason)
}

/// Keeps a comment on one line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '$' { ' ' } else { c }).collect()
}

/// DNS labels for server names, as both engines require: lower-case letters, digits and hyphens, at most 63
/// characters. Duplicates get numbers.
fn labels<'a>(names: impl Iterator<Item = &'a ServerName>) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for name in names {
        let dashed: String = name
            .as_str()
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let dashed: String = dashed.trim_matches('-').chars().take(58).collect();
        let base =
            if dashed.is_empty() { "server".to_owned() } else { dashed.trim_end_matches('-').to_owned() };
        let mut label = base.clone();
        let mut number = 2;
        while labels.contains(&label) {
            label = format!("{base}-{number}");
            number += 1;
        }
        labels.push(label);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{"mcpServers": {
        "toolbox": {"command": "satchel", "args": ["toolbox"]},
        "off": {"command": "x", "enabled": false},
        "files": {"command": "npx", "args": ["-y", "fs@1.0.0", "cost: $5", "${HOME:-/root}/a"], "env": {"KEY": "${secret:files.KEY}"},
                  "cwd": "/work", "sandbox": {}},
        "io.github.u/gh": {"url": "https://gh.example/mcp", "headers": {"Authorization": "Bearer ${secret:GH}", "X-A": "plain"}},
        "image": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "TOKEN", "-v", "/data:/data", "mcp/fetch@sha256:00", "--fast"],
                  "env": {"TOKEN": "${secret:image.TOKEN}", "MODE": "quick"}}
    }, "toolRules": [{"tool": "files:delete_*", "permit": "off"}, {"tool": "files:write", "permit": "ask"}]}"#;

    fn exported(engine: Engine) -> Exported {
        export(&Config::parse(CONFIG).unwrap(), engine)
    }

    #[test]
    fn agentgateway_gets_programs_addresses_and_rules() {
        let written = exported(Engine::AgentGateway);
        let body: String = written
            .text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        insta_like(
            &body,
            r#"
"mcp":
  "port": 3000
  "prefixMode": "always"
  "policies":
    "mcpAuthorization":
      "rules":
        - "require": "!has(mcp.tool) || !((mcp.tool.target + \":\" + mcp.tool.name).matches(\"^files:delete_.*$$\"))"
  "targets":
    - "name": "files"
      "stdio":
        "cmd": "npx"
        "args":
          - "-y"
          - "fs@1.0.0"
          - "cost: $$5"
          - "${HOME:-/root}/a"
        "env":
          "KEY": "${FILES_KEY}"
    - "name": "image"
      "stdio":
        "cmd": "docker"
        "args":
          - "run"
          - "-i"
          - "--rm"
          - "-e"
          - "TOKEN"
          - "-v"
          - "/data:/data"
          - "mcp/fetch@sha256:00"
          - "--fast"
        "env":
          "MODE": "quick"
          "TOKEN": "${IMAGE_TOKEN}"
    - "name": "io-github-u-gh"
      "mcp":
        "host": "https://gh.example/mcp"
      "policies":
        "requestHeaderModifier":
          "set":
            "Authorization": "Bearer ${GH}"
            "X-A": "plain"
"#,
        );
        let needs: Vec<_> = written.needs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(needs, ["FILES_KEY", "GH", "IMAGE_TOKEN"]);
    }

    #[test]
    fn toolhive_gets_images_and_addresses_and_secrets_by_name() {
        let written = exported(Engine::ToolHive);
        let documents: Vec<&str> = written.text.split("---\n").skip(1).collect();
        assert_eq!(documents.len(), 3, "{}", written.text);
        assert!(
            documents[1].contains("\"kind\": \"MCPServer\"")
                && documents[1].contains("\"image\": \"mcp/fetch@sha256:00\"")
        );
        assert!(
            documents[1].contains("\"targetEnvName\": \"TOKEN\"") && documents[1].contains("- \"--fast\"")
        );
        assert!(
            documents[2].contains("\"kind\": \"MCPServerEntry\"")
                && documents[2].contains("\"headerName\": \"Authorization\"")
        );
        assert!(!written.text.contains("${"), "{}", written.text);
    }

    #[test]
    fn compose_gets_a_gateway_with_its_catalog_and_secrets_by_name() {
        let written = exported(Engine::Compose);
        let file = crate::edit::Format::Yaml.read(&written.text).unwrap();
        let gateway = &file["services"]["gateway"];
        assert_eq!(gateway["command"][3], "--servers=image,io-github-u-gh", "{}", written.text);
        assert_eq!(gateway["ports"][0], "127.0.0.1:8811:8811", "nobody else reaches it");
        assert_eq!(file["secrets"]["satchel"]["file"], "./satchel.env");
        let catalog = file["configs"]["catalog"]["content"].as_str().unwrap();
        assert!(!catalog.replace("$$", "").contains('$'), "Compose fills in what has one sign: {catalog}");
        let catalog = crate::edit::Format::Yaml.read(&catalog.replace("$$", "$")).unwrap();
        let image = &catalog["registry"]["image"];
        assert_eq!(
            (image["type"].as_str(), image["image"].as_str()),
            (Some("server"), Some("mcp/fetch@sha256:00"))
        );
        assert_eq!(image["command"], serde_json::json!(["--fast"]));
        assert_eq!(image["env"], serde_json::json!([{ "name": "MODE", "value": "quick" }]));
        assert_eq!(image["secrets"], serde_json::json!([{ "name": "IMAGE_TOKEN", "env": "TOKEN" }]));
        let remote = &catalog["registry"]["io-github-u-gh"];
        assert_eq!(remote["remote"]["headers"]["Authorization"], "Bearer ${GH}");
        assert_eq!(remote["secrets"], serde_json::json!([{ "name": "GH", "env": "GH" }]));
        assert!(catalog["registry"]["files"].is_null(), "it is a program of this computer");
    }

    #[test]
    fn settings_without_a_counterpart_are_named_and_no_secret_is_written() {
        for engine in [Engine::AgentGateway, Engine::ToolHive, Engine::Compose] {
            let written = exported(engine);
            let places: Vec<&str> = written.left.iter().map(|left| left.place.as_str()).collect();
            for place in ["toolbox", "off", "files", "toolRules"] {
                assert!(places.contains(&place), "{engine:?}: {place} is not among {places:?}");
            }
            assert!(!written.text.contains("secret:"), "{}", written.text);
        }
    }

    #[test]
    fn names_become_labels_that_are_each_their_own() {
        let names: Vec<ServerName> =
            ["A b", "a-b", "ä", "x/y"].iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(labels(names.iter()), ["a-b", "a-b-2", "server", "x-y"]);
    }

    #[track_caller]
    fn insta_like(found: &str, expected: &str) {
        assert_eq!(found, expected.trim_start_matches('\n'), "{found}");
    }
}
