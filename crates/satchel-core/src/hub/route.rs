//! Resolves a tool path or resource URI to the server that serves it.

use super::{
    Hub, approved, credential,
    failure::{CallFailure, refused},
    fresh_lists, instantiate, links, ruled,
    ruled::own,
    scope,
    servers::Registered,
};
use crate::{
    catalog::{Catalog, ToolEntry},
    model::{
        Code, NameError, ResourcePath, ServerName, ToolPath, approvals::Kind, control::Change,
        pinned::PinnedTool,
    },
    trust::clean,
    upstream::LeaseError,
};

/// The destination of a call: looked up once and used by every decision about it.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) server: Registered,
    pub(super) path: ToolPath,
    /// The caller's catalog at the time of the lookup.
    catalog: Catalog,
}

impl Route {
    /// The tool in the caller's catalog.
    pub(super) fn tool(&self) -> Option<&ToolEntry> {
        self.catalog.tool(&self.path)
    }
}

/// Resolves a path to server and tool.
///
/// # Errors
/// A [`CallFailure`] that names the nearest paths, or says why the server is unavailable. Nothing was sent.
pub(super) async fn route_tool(hub: &Hub, named: &str) -> Result<Route, CallFailure> {
    match read_path(hub, named) {
        Ok(path) => route_path(hub, Some(named), path).await,
        Err(_) => Err(unknown_tool(hub, named, "a tool path has the form server:tool")),
    }
}

/// The same for a parsed path.
///
/// # Errors
/// As for [`route_tool`].
pub(super) async fn route_path(hub: &Hub, named: Option<&str>, path: ToolPath) -> Result<Route, CallFailure> {
    let named = |path: &ToolPath| named.map_or_else(|| path.to_string(), ToOwned::to_owned);
    let server = match route_server(hub, &path.server) {
        Ok(server) => server,
        Err(Some(failure)) => return Err(failure),
        Err(None) => {
            let why = format!("there is no server \"{}\"", path.server);
            return Err(unknown_tool(hub, &named(&path), &why));
        }
    };
    let mut route = Route { server, path, catalog: hub.catalog() };
    if route.tool().is_some() {
        return Ok(route);
    }
    hub.refuse_hidden_tool(&route.path)?;
    // The tools of a server that was just added are unknown until its list is read.
    if route.catalog.offer(route.path.server.as_str()).is_none() {
        let (name, server) = (&route.path.server, &reader(hub, &route.path.server, &route.server).await?);
        let leased = credential::lease_with_credentials(hub, name, server).await;
        let lease = leased.map_err(|error| refused(name, server, &error))?;
        let read = fresh_lists::first_lists(hub, name, &server.upstream, lease).await;
        read.map_err(|error| refused(name, server, &error))?;
        route.catalog = hub.catalog();
    }
    if route.tool().is_none() {
        hub.refuse_hidden_tool(&route.path)?;
        let ToolPath { server, tool } = &route.path;
        if let Some(failure) = left_out(&route) {
            return Err(failure);
        }
        let why = format!("{server} has no tool \"{tool}\"");
        return Err(unknown_tool(hub, &named(&route.path), &why));
    }
    Ok(route)
}

/// The server with the instance that reads its first lists: the one that all share, or where it runs only in a folder, the
/// caller's.
///
/// # Errors
/// A [`CallFailure`] if it needs a folder and the caller works in none.
pub(super) async fn reader(
    hub: &Hub,
    name: &ServerName,
    server: &Registered,
) -> Result<Registered, CallFailure> {
    match server.sharing.needs_folder() {
        true => Box::pin(instantiate::own(hub, name, server)).await,
        false => Ok(server.clone()),
    }
}

/// The refusal of a tool whose definition is not usable, with the reason.
fn left_out(route: &Route) -> Option<CallFailure> {
    let ToolPath { server, tool } = &route.path;
    let reason = route.catalog.offer(server.as_str())?.left_out(tool)?;
    let message = format!("\"{}\" cannot be called: it is left out ({})", route.path, clean::visible(reason));
    let action = format!("Do without it: {server} has to correct its definition.");
    Some(CallFailure::not_sent(Some(server), None, message, action))
}

/// How this caller finds tools: a client, or a person at a shell.
pub(super) fn how_to_find(hub: &Hub) -> &'static str {
    match hub.context.is_by_hand() {
        true => "`satchel tools` lists the tools.",
        false => "Use discover_mcp_tools to find tools.",
    }
}

fn unknown_tool(hub: &Hub, named: &str, why: &str) -> CallFailure {
    let near = hub.catalog().near(named, 3);
    let action = match near.as_slice() {
        [] => how_to_find(hub).to_owned(),
        near => format!("Did you mean {}?", near.join(", ")),
    };
    CallFailure::not_sent(None, None, format!("\"{named}\" cannot be called: {why}"), action)
}

/// Parses a path whose server name may contain colons: picks the split for which the server exists, and of several the
/// one whose tool exists.
pub(super) fn read_path(hub: &Hub, path: &str) -> Result<ToolPath, NameError> {
    let usual = path.parse::<ToolPath>();
    let catalog = hub.catalog();
    let (servers, config) = (hub.servers(), hub.config());
    let is_configured =
        |name: &ServerName| servers.contains_key(name) || config.faults().contains_key(name.as_str());
    let there: Vec<_> = ToolPath::readings(path).filter(|reading| is_configured(&reading.server)).collect();
    let known = there.iter().find(|reading| catalog.tool(reading).is_some());
    known.or(there.first()).cloned().map_or(usual, Ok)
}

/// Resolves a resource path to its server. Only the server knows whether the resource exists: templates produce
/// resources that are in no list.
pub(super) fn route_resource(
    hub: &Hub,
    client: &str,
    path: &str,
) -> Result<(Registered, ResourcePath), CallFailure> {
    let action = || "Use list_mcp_resources to see what there is.".to_owned();
    // As a server wrote it in a result.
    let as_given = || links::owner(hub, client, path).map(|(server, uri)| ResourcePath { server, uri });
    let parsed = match path.parse::<ResourcePath>() {
        Ok(parsed) if hub.servers().contains_key(&parsed.server) => parsed,
        Ok(parsed) => as_given().unwrap_or(parsed),
        Err(error) => {
            as_given().ok_or_else(|| CallFailure::not_sent(None, None, error.to_string(), action()))?
        }
    };
    match route_server(hub, &parsed.server) {
        Ok(server) => {
            approved::refuse_held(hub, &parsed.server, Kind::Resource, &parsed.uri)?;
            Ok((server, parsed))
        }
        Err(Some(failure)) => Err(failure),
        Err(None) => {
            let message = format!("there is no server \"{}\"", parsed.server);
            Err(CallFailure::not_sent(None, None, message, action()))
        }
    }
}

/// A server that may be used; the error is `None` if there is none of that name.
pub(super) fn route_known_server(hub: &Hub, name: &ServerName) -> Result<Registered, CallFailure> {
    route_server(hub, name).map_err(|failure| {
        failure.unwrap_or_else(|| {
            let message = format!("there is no server \"{name}\"");
            let action = "Look at the list of servers in Satchel, or with `satchel list`.".to_owned();
            CallFailure::not_sent(None, None, message, action)
        })
    })
}

fn route_server(hub: &Hub, name: &ServerName) -> Result<Registered, Option<CallFailure>> {
    if let Some(fault) = hub.config().faults().get(name.as_str())
        && scope::knows(hub, name.as_str())
    {
        let message =
            format!("\"{name}\" is off, because its entry in the configuration is invalid: {fault}");
        let (code, action) = (Some(Code::ConfigInvalid), Code::INVALID_ENTRY.to_owned());
        return Err(Some(CallFailure::not_sent(Some(name), code, message, action)));
    }
    let known = hub.servers().get(name).cloned();
    let Some(server) = known.filter(|_| scope::knows(hub, name.as_str())) else { return Err(None) };
    if !server.config.enabled {
        return Err(Some(refused(name, &server, &LeaseError::Off)));
    }
    ruled::refuse_server_off(hub, name).map_err(Some)?;
    if server.held {
        approved::refuse_held_launch(hub, name).map_err(Some)?;
    }
    Ok(server)
}

/// Translates a tool's public name to its own name, which rules use.
pub(super) fn by_own_name(hub: &Hub, change: Change) -> Change {
    let own_name = |tool: String| {
        let all = hub.inner.servers.catalog();
        let named = read_path(hub, &tool).ok();
        let known = named.and_then(|path| Some(own(&path.server, all.tool(&path)?).to_string()));
        known.unwrap_or(tool)
    };
    match change {
        Change::SetPermit { tool, client, permit } => {
            Change::SetPermit { tool: own_name(tool), client, permit }
        }
        Change::PinTool { pin, pinned } => {
            Change::PinTool { pin: PinnedTool { tool: own_name(pin.tool), ..pin }, pinned }
        }
        other => other,
    }
}
