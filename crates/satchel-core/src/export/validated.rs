//! Checks what is exported against the schemas of the released engines. `scripts/engine-schemas.py` writes them anew.

use serde_json::Value;

use super::{Engine, export};
use crate::{config::Config, edit::Format};

const AGENTGATEWAY: &str = include_str!("schemas/agentgateway.json");
const TOOLHIVE: &str = include_str!("schemas/toolhive.json");
const COMPOSE: &str = include_str!("schemas/compose.json");

/// Everything that a server's entry may have and an engine may take.
const CONFIG: &str = r#"{"mcpServers": {
    "files": {"command": "npx", "args": ["-y", "fs@1.0.0", "cost: $5", "${HOME:-/root}/a"], "env": {"KEY": "${secret:files.KEY}"}, "cwd": "/w"},
    "bare": {"command": "uvx"},
    "Ümlaut Server": {"url": "http://127.0.0.1:8080/mcp"},
    "gh": {"url": "https://gh.example:8443/a/mcp?x=1", "headers": {"Authorization": "Bearer ${secret:GH}", "X-A": "plain"}},
    "secretive": {"url": "https://s.example/mcp", "headers": {"X-Key": "${secret:S}"}, "oauth": {"clientId": "x"}},
    "image": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "TOKEN", "-v", "/data:/data:ro", "-p", "80:80", "mcp/fetch@sha256:00", "--fast"],
              "env": {"TOKEN": "${secret:image.TOKEN}", "MODE": "quick", "TEAM": "${TEAM}"}},
    "plain": {"command": "podman", "args": ["run", "-i", "mcp/time"]},
    "boxed": {"command": "npx", "args": ["x"], "sandbox": {"container": "node:22", "read": ["/a"]}}
}, "toolRules": [
    {"tool": "files:delete_*", "permit": "off"}, {"tool": "image:fetch", "permit": "off"},
    {"tool": "gh:*", "client": "a", "permit": "off"}, {"tool": "files:write", "permit": "ask"}
]}"#;

fn exported(engine: Engine) -> Vec<Value> {
    let text = export(&Config::parse(CONFIG).unwrap(), engine).text;
    let documents =
        text.split("---\n").filter(|document| document.lines().any(|line| !line.starts_with('#')));
    documents.map(|document| Format::Yaml.read(document).unwrap()).collect()
}

fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let told = |error: jsonschema::ValidationError| format!("{}: {error}", error.instance_path());
    validator.iter_errors(document).map(told).collect()
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn agentgateway_takes_what_is_exported_for_it() {
    let documents = exported(Engine::AgentGateway);
    assert_eq!(documents.len(), 1);
    assert_eq!(faults(&schema(AGENTGATEWAY), &documents[0]), Vec::<String>::new(), "{:#}", documents[0]);
    let mut wrong = documents[0].clone();
    wrong["mcp"]["targets"][0]["command"] = "npx".into();
    assert!(!faults(&schema(AGENTGATEWAY), &wrong).is_empty(), "the schema says no to what it does not know");
}

#[test]
fn toolhive_takes_what_is_exported_for_it() {
    let (documents, schemas) = (exported(Engine::ToolHive), schema(TOOLHIVE));
    let kinds: Vec<&str> = documents.iter().filter_map(|document| document["kind"].as_str()).collect();
    for kind in ["MCPGroup", "MCPServer", "MCPServerEntry"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    for document in &documents {
        let kind = document["kind"].as_str().unwrap_or_default();
        assert_eq!(faults(&schemas[kind], document), Vec::<String>::new(), "{document:#}");
        let mut wrong = document.clone();
        wrong["spec"]["imagine"] = "x".into();
        assert!(
            !faults(&schemas[kind], &wrong).is_empty(),
            "{kind}: the schema says no to what it does not know"
        );
    }
}

#[test]
fn compose_takes_what_is_exported_for_it() {
    let documents = exported(Engine::Compose);
    assert_eq!(documents.len(), 1);
    assert_eq!(faults(&schema(COMPOSE), &documents[0]), Vec::<String>::new(), "{:#}", documents[0]);
    let mut wrong = documents[0].clone();
    wrong["services"]["gateway"]["pictures"] = "x".into();
    assert!(!faults(&schema(COMPOSE), &wrong).is_empty(), "the schema says no to what it does not know");
}
