//! Answers searches for tools, with what was learned from earlier ones and what a model says the words mean.

use satchel_mcp::{Raw, RawObject};

use super::{Hub, ruled};
use crate::{
    catalog::{
        Aids, Catalog, ToolEntry,
        answer::{Answer, Asked},
        search::Meaning,
        shape,
    },
    model::{
        ServerName, ToolPath,
        control::{Refusal, ToolLine, ToolList},
        nature::UsualRule,
    },
    scripts::{Blocks, Settlement},
    stats::event::Visit,
    upstream::log::ServerLog,
};

/// Maximum length of a description in a list of tools.
const DESCRIPTION: usize = 200;

/// The name of a catalog server that this answer's query asks for and that is not here, if suggestions are enabled.
pub(super) async fn suggested_server(hub: &Hub, query: &str, answer: &Answer) -> Option<String> {
    if !hub.config().suggests_servers() {
        return None;
    }
    let path = |tool: &serde_json::Value| tool.get("tool")?.as_str()?.parse().ok();
    let found: Vec<ToolPath> = answer.tools.iter().filter_map(path).collect();
    let (hub, query) = (hub.clone(), query.to_owned());
    // The lists are read the first time.
    let looked = tokio::task::spawn_blocking(move || super::listings::suggested(&hub, &query, &found));
    looked.await.ok().flatten()
}

/// Answers a client's search, and remembers it until one of the tools is used.
pub(super) async fn search(hub: &Hub, visit: &Visit, asked: &Asked<'_>) -> Answer {
    let (habits, meaning) = (hub.recorder().habits(), meaning(hub, asked.query).await);
    let shapes = hub.recorder().shapes().filter(|_| asked.types);
    let aids = Aids { habits: habits.as_deref(), meaning: meaning.as_ref(), shapes: shapes.as_deref() };
    let answer = hub.catalog().answer(&Asked { aids, ..*asked });
    let path = |tool: &serde_json::Value| Some(tool.get("tool")?.as_str()?.to_owned());
    hub.recorder().searched(visit, asked.query, || answer.tools.iter().filter_map(path).collect());
    answer
}

/// Learns a tool's result shape. If its server declares none, its first results supply names and types, after its
/// secrets are redacted.
pub(super) fn learn_shape(hub: &Hub, path: &ToolPath, result: &Raw, log: &ServerLog) {
    let Some(shapes) = hub.recorder().shapes() else { return };
    let catalog = hub.catalog();
    let Some(tool) = catalog.tool(path).filter(|tool| shapes.wants(path, tool)) else { return };
    drop(shapes);
    if result.get().len() > shape::LARGEST || !has_value(result) {
        return;
    }
    let Settlement::Value(value) = Blocks::default().value(result) else { return };
    if let Ok(value) = serde_json::from_str(&log.redacted(value.get())) {
        hub.recorder().learn_shape(path, tool, &value);
    }
}

/// The embedding of a query, if a model supplies it in time.
pub(super) async fn meaning(hub: &Hub, query: &str) -> Option<Meaning> {
    hub.inner.meanings.of(query, |query, as_written| hub.catalog().parts(query, as_written)).await
}

pub(super) async fn tool_list(
    hub: &Hub,
    query: &str,
    server: Option<&str>,
    limit: usize,
) -> Result<ToolList, Refusal> {
    if let Some(server) = server
        && !hub.servers().contains_key(server)
    {
        return Err(Refusal::unknown_server(server));
    }
    // A person who lists tools also decides about those that rules switch off; a search finds what clients find.
    let catalog = if query.trim().is_empty() { hub.inner.servers.catalog() } else { hub.catalog() };
    let (habits, meaning) = (hub.recorder().habits(), meaning(hub, query).await);
    let aids = Aids { habits: habits.as_deref(), meaning: meaning.as_ref(), shapes: None };
    let found = catalog.found(query, server, &aids);
    let why = |found: &crate::catalog::Found<'_>| {
        let explained = catalog.explain(query, found, habits.as_deref()).filter(|_| !query.trim().is_empty());
        explained.map(|explanation| explanation.to_string())
    };
    let line = |found: &crate::catalog::Found<'_>| {
        let crate::catalog::Found { server, tool, .. } = *found;
        tool_line(hub, &catalog, server, tool, why(found))
    };
    Ok(ToolList { tools: found.iter().take(limit).map(line).collect(), total: found.len() })
}

/// A tool as shown in lists.
pub(super) fn tool_line(
    hub: &Hub,
    catalog: &Catalog,
    server: &ServerName,
    tool: &ToolEntry,
    why: Option<String>,
) -> ToolLine {
    let version = catalog.offer(server.as_str()).and_then(|offer| offer.version(tool));
    let path = crate::model::ToolPath { server: server.clone(), tool: tool.name.clone() };
    let crate::trust::rules::Decision { permit, rule } = ruled::decision(hub, &path);
    ToolLine {
        tool_path: format!("{}:{}", server.in_path(), tool.name),
        description: tool.summary(DESCRIPTION),
        signature: tool.signature().to_owned(),
        tokens: tool.tokens.get().copied(),
        category: tool.category(),
        complexity: tool.complexity(),
        version: version.map_or(0, |version| version.number),
        first_seen_ms: version.map(|version| version.first_ms),
        changed_ms: version.and_then(|version| version.changed_ms),
        why,
        nature: tool.nature().clone(),
        permit,
        usual: UsualRule::read(&rule),
        rule,
    }
}

/// Is it a tool's final result, rather than a question or a task that has just begun?
fn has_value(result: &Raw) -> bool {
    let fields = RawObject::parse(result).unwrap_or_default();
    fields.get("content").is_some() && fields.read("isError") != Some(true)
}
