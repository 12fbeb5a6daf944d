//! Evaluates the user's rules and profiles for the client of a handle, and words the refusals.

use std::collections::BTreeSet;

use super::{CallFailure, Hub, approved, failure::denied, scope};
use crate::{
    catalog::{Catalog, ToolEntry},
    config::{Config, profiles::Lens},
    model::{
        Code, ServerName, ToolPath,
        approvals::Kind,
        nature::{AskedIn, Permit},
    },
    trust::{
        clean, nature,
        rules::{Decision, Rules},
    },
};

/// Can rules switch anything off for this handle's caller?
pub(super) fn may_be_off(hub: &Hub, config: &Config) -> bool {
    rules(config).hide_from(hub.context.ruled())
}

/// What rules switch off in these offers: servers by their names in paths, and tools as `server:tool`.
pub(super) fn off_in(hub: &Hub, all: &Catalog, config: &Config, lens: &Lens) -> BTreeSet<String> {
    let (rules, client) = (rules(config), hub.context.ruled());
    let is_off = |server: &&ServerName| {
        rules.server_off(server.as_str(), client).is_some() || lens.keeps_out(server.as_str()).is_some()
    };
    let servers: BTreeSet<String> =
        all.servers().keys().filter(is_off).map(|server| server.in_path().into_owned()).collect();
    let tools = all.tools().filter(|(server, tool)| {
        rules.decide(&own(server, tool), client, tool.nature()).permit == Permit::Off
            || lens.keeps_out_tool(server.as_str(), tool.name_there()).is_some()
    });
    let tools: Vec<String> =
        tools.map(|(server, tool)| format!("{}:{}", server.in_path(), tool.name)).collect();
    servers.into_iter().chain(tools).collect()
}

/// Why the whole server is switched off, if so.
pub(super) fn server_off(hub: &Hub, server: &str) -> Option<String> {
    rules(&hub.config()).server_off(server, hub.context.ruled())
}

/// Refuses a server that is switched off as a whole.
pub(super) fn refuse_server_off(hub: &Hub, server: &ServerName) -> Result<(), CallFailure> {
    if let Some(why) = hub.lens().keeps_out(server.as_str()) {
        return Err(out_of_profile(server, &format!("\"{server}\""), &why, &hub.lens()));
    }
    server_off(hub, server.as_str()).map_or(Ok(()), |rule| {
        let message = format!("\"{server}\" cannot be used: it is switched off ({rule})");
        let action = Code::Denied.action().to_owned();
        Err(CallFailure::not_sent(Some(server), Some(Code::Denied), message, action))
    })
}

/// Tools that exist but are unavailable: held back or switched off.
pub(super) fn hidden_tools(hub: &Hub) -> Vec<ToolPath> {
    let all = hub.inner.servers.catalog();
    let config = hub.config();
    let off = off_in(hub, &all, &config, &scope::lens_of(hub, &config));
    let path = |(server, tool): (&ServerName, &ToolEntry)| ToolPath {
        server: server.clone(),
        tool: tool.name.clone(),
    };
    let is_off = |path: &ToolPath| off.contains(&*path.server.in_path()) || off.contains(&path.to_string());
    let off = all.tools().map(path).filter(is_off).collect::<Vec<_>>();
    hub.inner.review.held_tools().into_iter().chain(off).collect()
}

/// Refuses a tool that exists but is unavailable.
///
/// # Errors
/// A [`CallFailure`] if it is held back or switched off.
pub(super) fn refuse_hidden_tool(hub: &Hub, path: &ToolPath) -> Result<(), CallFailure> {
    // Do not reveal tools that are hidden from the client.
    if !scope::shows_tool(hub, path.server.as_str(), &path.tool) {
        return Ok(());
    }
    approved::refuse_held(hub, &path.server, Kind::Tool, &path.tool)?;
    let (config, all) = (hub.config(), hub.inner.servers.catalog());
    let there = all.tool(path).map_or(path.tool.as_str(), ToolEntry::name_there);
    let lens = scope::lens_of(hub, &config);
    if let Some(why) = lens.keeps_out_tool(path.server.as_str(), there) {
        return Err(out_of_profile(&path.server, &path.to_string(), &why, &lens));
    }
    let off = match all.tool(path) {
        Some(tool) => {
            let own = own(&path.server, tool);
            let decision = rules(&config).decide(&own, hub.context.ruled(), tool.nature());
            (decision.permit == Permit::Off).then_some(decision.rule)
        }
        // Do not reveal whether a switched-off tool exists.
        None => rules(&config).off(path, hub.context.ruled()),
    };
    off.map_or(Ok(()), |rule| Err(denied(path, &format!("it is switched off ({rule})"))))
}

/// The rules' decision on a tool.
pub(super) fn decision(hub: &Hub, path: &ToolPath) -> Decision {
    decision_about(hub, path, hub.inner.servers.catalog().tool(path))
}

/// The same for a tool that was looked up already.
pub(super) fn decision_about(hub: &Hub, path: &ToolPath, tool: Option<&ToolEntry>) -> Decision {
    let config = hub.config();
    match tool {
        Some(tool) => rules(&config).decide(&own(&path.server, tool), hub.context.ruled(), tool.nature()),
        None => {
            let nothing = nature::of(&satchel_mcp::RawObject::new().to_raw());
            rules(&config).decide(path, hub.context.ruled(), &nothing)
        }
    }
}

/// Where a person is asked about a call of the tool, if a rule says so.
pub(super) fn asked_in(hub: &Hub, path: &ToolPath, tool: Option<&ToolEntry>) -> Option<AskedIn> {
    let config = hub.config();
    let own = tool.map_or_else(|| path.clone(), |tool| own(&path.server, tool));
    rules(&config).asked_in(&own, hub.context.ruled())
}

fn rules(config: &Config) -> Rules<'_> {
    Rules::of(config)
}

fn out_of_profile(server: &ServerName, what: &str, why: &str, lens: &Lens) -> CallFailure {
    let message = format!("{} cannot be used: {why}", clean::visible(what));
    let action = format!("Do without it, or let the user {}.", lens.way_out());
    CallFailure::not_sent(Some(server), Some(Code::NotInProfile), message, action)
}

/// The path with the tool's own name on its server.
pub(super) fn own(server: &ServerName, tool: &ToolEntry) -> ToolPath {
    ToolPath { server: server.clone(), tool: tool.name_there().to_owned() }
}
