//! Surfaces: four meta-tools, two tools for scripts, all tools under flat names, or one server as it is.

use std::{borrow::Cow, sync::Arc};

use axum::http::HeaderMap;
use percent_encoding::percent_decode_str;
use satchel_core::{
    catalog::{Offer, Said, flat, skills},
    hub::{CallFailure, Hub, NamedFolder},
    model::{ServerName, ToolPath, clients},
};
use satchel_mcp::{
    Raw, RawObject,
    era::Era,
    meta::{self as metadata, Ttl},
};
use serde_json::{Value, json, value::to_raw_value};

use crate::meta;

/// How long clients may cache lists and tool descriptions.
pub(crate) const FRESH: Ttl = Ttl(60_000);

/// The header that names the folder to work in.
const PROJECT_HEADER: &str = "satchel-project";
/// The header that names the folder that a client's program was started in.
const DIRECTORY_HEADER: &str = "satchel-directory";

/// What a client sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Surface {
    /// Four meta-tools that represent all tools; resources and prompts as for [`Surface::Direct`].
    Router,
    /// The same with the router's search, and one tool that runs scripts.
    Script,
    /// All tools, resources and prompts of all servers.
    Direct,
    /// One server, under its own names.
    Server(ServerName),
}

impl Surface {
    /// The surface of `/mcp` for this client.
    pub(crate) fn usual(hub: &Hub, client: &str) -> Self {
        match hub.surface_of(client).0 {
            clients::Surface::Direct => Surface::Direct,
            clients::Surface::Script => Surface::Script,
            clients::Surface::Router | clients::Surface::Auto => Surface::Router,
        }
    }

    /// Are its tools Satchel's own, which stay the same whatever is behind them?
    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, Surface::Router | Surface::Script)
    }

    /// May a session of this surface be used at the other's path? A client's surface at `/mcp` may change during a
    /// session.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Surface::Server(own), Surface::Server(other)) => own == other,
            (Surface::Server(_), _) | (_, Surface::Server(_)) => false,
            _ => true,
        }
    }

    /// The surface of a path; `None` if nothing is served there. `usual` is that of `/mcp` for this client.
    pub(crate) fn at(path: &str, usual: Surface) -> Option<Self> {
        match path {
            "/mcp" => Some(usual),
            path if profile_at(path).is_some() || project_at(path).is_some() => Some(usual),
            "/mcp/direct" => Some(Surface::Direct),
            path => {
                let slug = path.strip_prefix("/mcp/server/").filter(|slug| !slug.contains('/'))?;
                let name = percent_decode_str(slug).decode_utf8().ok()?;
                Some(Surface::Server(name.parse().ok()?))
            }
        }
    }
}

/// The profile in a path, which means `/mcp` through that profile.
pub(crate) fn profile_at(path: &str) -> Option<String> {
    let slug = path.strip_prefix("/mcp/profile/").filter(|slug| !slug.is_empty() && !slug.contains('/'))?;
    Some(percent_decode_str(slug).decode_utf8().ok()?.into_owned())
}

/// The folder in a path, which means `/mcp` in that folder.
pub(crate) fn project_at(path: &str) -> Option<String> {
    let slug = path.strip_prefix("/mcp/project/").filter(|slug| !slug.is_empty() && !slug.contains('/'))?;
    Some(percent_decode_str(slug).decode_utf8().ok()?.into_owned())
}

/// The folder that a request names, in its path or a header. In both it is percent-encoded.
pub(crate) fn folder_of(path: &str, headers: &HeaderMap) -> Option<NamedFolder> {
    let header = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some(percent_decode_str(value).decode_utf8().ok()?.into_owned())
    };
    let named = project_at(path).or_else(|| header(PROJECT_HEADER)).map(NamedFolder::Project);
    named.or_else(|| header(DIRECTORY_HEADER).map(NamedFolder::StartedIn))
}

/// The hub's implementation info.
pub(crate) fn own_info() -> Box<Raw> {
    raw(&json!({ "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") }))
}

/// The implementation info of a surface: for a single server its own, as far as known without asking it.
pub(crate) fn info_of(hub: &Hub, surface: &Surface) -> Box<Raw> {
    match surface {
        Surface::Router | Surface::Script | Surface::Direct => own_info(),
        Surface::Server(server) => {
            let catalog = hub.catalog();
            let offer = catalog.offer(server.as_str());
            offer.and_then(|offer| offer.hello.as_ref()).map_or_else(own_info, complete_info)
        }
    }
}

/// The introduction that a client receives.
pub(crate) struct Hello {
    pub(crate) info: Box<Raw>,
    pub(crate) capabilities: Box<Raw>,
    pub(crate) instructions: Option<String>,
}

impl Hello {
    pub(crate) fn router(hub: &Hub) -> Self {
        let has_skill = |offer: &Arc<Offer>| offer.skills.entries.iter().any(|skill| skill.listed);
        let mut instructions = meta::INSTRUCTIONS.to_owned();
        if hub.catalog().servers().values().any(has_skill) {
            instructions.push_str(meta::ABOUT_SKILLS);
        }
        let capabilities = raw(&of_all_servers());
        Self { info: own_info(), capabilities, instructions: Some(instructions) }
    }

    pub(crate) fn script(hub: &Hub) -> Self {
        Self { instructions: Some(meta::SCRIPT_INSTRUCTIONS.to_owned()), ..Self::router(hub) }
    }

    pub(crate) fn direct() -> Self {
        let mut capabilities = of_all_servers();
        capabilities["logging"] = json!({});
        Self { info: own_info(), capabilities: raw(&capabilities), instructions: None }
    }

    /// A server's introduction, without what the other era does not have.
    pub(crate) fn server(offer: &Offer, era: Era) -> Self {
        let Some(said) = &offer.hello else { return Self::unsaid(offer) };
        let mut capabilities = RawObject::parse(&said.capabilities).unwrap_or_default();
        if !said.era().shares_tasks_with(era) {
            without_tasks(&mut capabilities);
        }
        declare_offered(&mut capabilities, offer);
        declare_skills(&mut capabilities);
        Self {
            info: complete_info(said),
            capabilities: capabilities.to_raw(),
            instructions: offer.instructions.clone(),
        }
    }

    /// For lists stored before introductions were: announces what it has.
    fn unsaid(offer: &Offer) -> Self {
        let mut capabilities = json!({ "tools": {} });
        if !offer.resources.is_empty() || !offer.templates.is_empty() {
            capabilities["resources"] = json!({});
        }
        if !offer.prompts.is_empty() {
            capabilities["prompts"] = json!({});
        }
        Self { info: own_info(), capabilities: raw(&capabilities), instructions: offer.instructions.clone() }
    }
}

/// The capabilities of the addresses of all servers.
fn of_all_servers() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "extensions": { metadata::SKILLS: {} },
    })
}

/// Declares the lists that the server offers without saying so: clients ask for no others. Empty lists for objects and
/// the like, which clients reject, become objects.
fn declare_offered(capabilities: &mut RawObject, offer: &Offer) {
    let lists = [
        ("tools", !offer.tools.is_empty()),
        ("resources", !offer.resources.is_empty() || !offer.templates.is_empty()),
        ("prompts", !offer.prompts.is_empty()),
    ];
    let undeclared = |capabilities: &RawObject, list: &str| {
        capabilities.get(list).is_none_or(|value| matches!(value.get(), "null" | "false"))
    };
    for (list, _) in lists.iter().filter(|(_, offered)| *offered) {
        if undeclared(capabilities, list) {
            capabilities.set(list, RawObject::new().to_raw());
        }
    }
    let names: Vec<String> = capabilities.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        match capabilities.get(&name).map(Raw::get) {
            Some("null" | "false") => drop(capabilities.remove(&name)),
            Some(value) if !value.starts_with('{') => capabilities.set(&name, RawObject::new().to_raw()),
            Some(_) | None => {}
        }
    }
}

/// Declares what the hub passes on of skills, and the resources that they consist of.
fn declare_skills(capabilities: &mut RawObject) {
    let Some(declared) = skills::declared(capabilities) else { return };
    let mut passed = RawObject::new();
    if declared.read("directoryRead") == Some(true) {
        passed.put("directoryRead", &true);
    }
    let extensions = capabilities.get("extensions").and_then(|raw| RawObject::parse(raw).ok());
    let mut extensions = extensions.unwrap_or_default();
    extensions.set(metadata::SKILLS, passed.to_raw());
    capabilities.set("extensions", extensions.to_raw());
    if capabilities.get("resources").is_none() {
        capabilities.set("resources", RawObject::new().to_raw());
    }
}

/// Removes task capabilities, which differ between the eras in everything but the name; the hub waits for the result
/// instead. All other capabilities are the same in both.
fn without_tasks(capabilities: &mut RawObject) {
    capabilities.remove("tasks");
    let extensions = capabilities.get("extensions").and_then(|raw| RawObject::parse(raw).ok());
    if let Some(mut extensions) = extensions {
        extensions.remove(metadata::TASKS);
        match extensions.is_empty() {
            true => drop(capabilities.remove("extensions")),
            false => capabilities.set("extensions", extensions.to_raw()),
        }
    }
}

/// Clients reject an introduction without name or version.
fn complete_info(said: &Said) -> Box<Raw> {
    let mut info = RawObject::parse(&said.server_info).unwrap_or_default();
    for (key, value) in [("name", "server"), ("version", "0")] {
        if info.text(key).is_none() {
            // Strings always serialize.
            info.put(key, &value);
        }
    }
    info.to_raw()
}

/// A list with just these items.
pub(crate) fn list(key: &str, items: &[&Raw]) -> Box<Raw> {
    let mut list = RawObject::new();
    // Raw values always serialize.
    list.put(key, &items);
    list.to_raw()
}

/// A server's list in its own form, with the items of all pages.
pub(crate) fn list_of(offer: &Offer, method: &str, key: &str) -> Box<Raw> {
    let mut list =
        offer.frames.get(method).and_then(|frame| RawObject::parse(frame).ok()).unwrap_or_default();
    let items: Vec<Cow<'_, Raw>> = match method {
        "tools/list" => offer.tools.iter().map(|tool| taken(&tool.name, &tool.raw)).collect(),
        method => items_of(offer, method).into_iter().map(Cow::Borrowed).collect(),
    };
    // Raw values always serialize.
    list.put(key, &items.iter().map(|item| &**item).collect::<Vec<_>>());
    list.to_raw()
}

/// A tool under a name that models take; unchanged if its own is one.
fn taken<'a>(own: &str, raw: &'a Raw) -> Cow<'a, Raw> {
    let name = flat::own_list_name(own);
    match RawObject::parse(raw) {
        Ok(mut fields) if name != own => {
            fields.put("name", &name);
            Cow::Owned(fields.to_raw())
        }
        Ok(_) | Err(_) => Cow::Borrowed(raw),
    }
}

/// The server's own name of a tool that is listed under another one.
pub(crate) fn own_tool_name(offer: &Offer, listed: &str) -> Option<String> {
    if offer.tool(listed).is_some() {
        return None;
    }
    let own = offer.tools.iter().find(|tool| flat::own_list_name(&tool.name) == listed);
    own.map(|tool| tool.name.clone())
}

/// The items of a server's list, unchanged.
pub(crate) fn items_of<'a>(offer: &'a Offer, method: &str) -> Vec<&'a Raw> {
    match method {
        "tools/list" => offer.tools.iter().map(|tool| &*tool.raw).collect(),
        "resources/list" => offer.resources.iter().map(|entry| &*entry.raw).collect(),
        "resources/templates/list" => offer.templates.iter().map(|entry| &*entry.raw).collect(),
        "skills/list" => {
            let listed = offer.skills.entries.iter().filter(|skill| skill.listed);
            listed.map(|skill| &*skill.raw).collect()
        }
        _ => offer.prompts.iter().map(|prompt| &**prompt).collect(),
    }
}

/// The key of the items in a list method's result; `None` for other methods.
pub(crate) fn list_key(method: &str) -> Option<&'static str> {
    match method {
        "tools/list" => Some("tools"),
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        "prompts/list" => Some("prompts"),
        "skills/list" => Some("skills"),
        _ => None,
    }
}

/// The pinned tools of this handle's client, as they are listed beside Satchel's own. A client that hides tools until they
/// are searched for shows them as well.
pub(crate) fn pinned_tools(hub: &Hub) -> Vec<Box<Raw>> {
    let pinned = hub.pinned_tools();
    if pinned.is_empty() {
        return Vec::new();
    }
    let catalog = hub.catalog();
    let listed = |path: &ToolPath| {
        let raw = catalog.flat().listed_tool(path)?;
        let Ok(mut tool) = RawObject::parse(raw) else { return Some(raw.to_owned()) };
        let meta = tool.get("_meta").and_then(|meta| RawObject::parse(meta).ok());
        let mut meta = meta.unwrap_or_default();
        // A boolean always serializes.
        meta.put(meta::STAYS, &true);
        tool.set("_meta", meta.to_raw());
        Some(tool.to_raw())
    };
    pinned.iter().filter_map(listed).collect()
}

/// Is it the flat name of a tool that is pinned for this handle's client? One that is held back or switched off counts, so
/// that the refusal can say so.
pub(crate) fn is_pinned(hub: &Hub, name: &str) -> bool {
    if !hub.has_pinned_tools() {
        return false;
    }
    match hub.catalog().flat().tool(name) {
        Some(path) => hub.pinned_tools().contains(path),
        None => hidden(hub, name).is_some(),
    }
}

/// Why a tool of this flat name is unavailable, if it is held back or switched off.
pub(crate) fn hidden(hub: &Hub, name: &str) -> Option<CallFailure> {
    let is_meant = |path: &ToolPath| flat::usual_name(&path.server, &path.tool) == name;
    let path = hub.hidden_tools().into_iter().find(is_meant)?;
    hub.refuse_hidden_tool(&path).err()
}

fn raw(value: &Value) -> Box<Raw> {
    to_raw_value(value).expect("a JSON value always serializes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_surface() {
        let at = |path| Surface::at(path, Surface::Router);
        assert_eq!(at("/mcp"), Some(Surface::Router));
        assert_eq!(at("/mcp/direct"), Some(Surface::Direct));
        assert_eq!(at("/mcp/server/git"), Some(Surface::Server("git".parse().unwrap())));
        assert_eq!(at("/mcp/server/my%20git"), Some(Surface::Server("my git".parse().unwrap())));
        for (path, server) in [
            ("/mcp/server/%40scope%2fpkg", "@scope/pkg"),
            ("/mcp/server/a:b", "a:b"),
            ("/mcp/server/a%3Ab", "a:b"),
        ] {
            assert_eq!(at(path), Some(Surface::Server(server.parse().unwrap())), "{path}");
        }
        assert_eq!(at("/mcp/profile/my%20set"), Some(Surface::Router));
        assert_eq!(profile_at("/mcp/profile/my%20set").as_deref(), Some("my set"));
        for path in [
            "/",
            "/mcp/",
            "/mcp/server/",
            "/mcp/server/a/b",
            "/mcp/server/%0a",
            "/mcp/server/%ff",
            "/MCP",
            "/mcp/profile/",
            "/mcp/profile/a/b",
            "/mcp/profile/%ff",
        ] {
            assert_eq!(at(path), None, "{path}");
        }
    }
}
