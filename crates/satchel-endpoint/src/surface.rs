//! What a client sees: four meta-tools, all tools under flat names, or one server as it is.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use satchel_core::{
    catalog::{Catalog, Offer, ResourceEntry, Said},
    hub::Hub,
    model::{ServerName, ToolPath, clients},
};
use satchel_mcp::{Raw, RawObject, era};
use serde_json::{Value, json, value::to_raw_value};

use crate::meta;

/// The longest name of a tool that every client takes.
const LONGEST: usize = 64;

/// What a client sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Surface {
    /// Four meta-tools that stand for everything.
    Router,
    /// All tools, resources and prompts of all servers.
    Direct,
    /// One server, with its own names.
    Server(ServerName),
}

impl Surface {
    /// What `/mcp` is for this client.
    pub(crate) fn usual(hub: &Hub, client: &str) -> Self {
        match hub.surface_of(client).0 {
            clients::Surface::Direct => Surface::Direct,
            clients::Surface::Router | clients::Surface::Auto => Surface::Router,
        }
    }

    /// May a session of this surface be used at the address of the other? What a client sees at `/mcp` may be changed
    /// while it has a session; what it has seen stays until it opens another.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Surface::Server(own), Surface::Server(other)) => own == other,
            (Surface::Server(_), _) | (_, Surface::Server(_)) => false,
            _ => true,
        }
    }

    /// The surface of a path; `None` where nothing is served there. `usual` is what `/mcp` is for this client.
    pub(crate) fn at(path: &str, usual: Surface) -> Option<Self> {
        match path {
            "/mcp" => Some(usual),
            "/mcp/direct" => Some(Surface::Direct),
            path => {
                let slug = path.strip_prefix("/mcp/server/").filter(|slug| !slug.contains('/'))?;
                let name = percent_decode_str(slug).decode_utf8().ok()?;
                Some(Surface::Server(name.parse().ok()?))
            }
        }
    }
}

/// Who the hub is.
pub(crate) fn own_info() -> Box<Raw> {
    raw(&json!({ "name": "satchel", "title": "Satchel", "version": env!("CARGO_PKG_VERSION") }))
}

/// What a client is told at the beginning.
pub(crate) struct Hello {
    pub(crate) info: Box<Raw>,
    pub(crate) capabilities: Box<Raw>,
    pub(crate) instructions: Option<String>,
}

impl Hello {
    pub(crate) fn router() -> Self {
        Self {
            info: own_info(),
            capabilities: raw(&json!({ "tools": {} })),
            instructions: Some(meta::INSTRUCTIONS.to_owned()),
        }
    }

    pub(crate) fn direct() -> Self {
        let capabilities = json!({
            "tools": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "prompts": { "listChanged": true },
            "completions": {},
            "logging": {},
        });
        Self { info: own_info(), capabilities: raw(&capabilities), instructions: None }
    }

    /// A server as it introduced itself. What only its own family of revisions has is left out for the other.
    pub(crate) fn server(offer: &Offer, modern: bool) -> Self {
        let Some(said) = &offer.hello else { return Self::unsaid(offer) };
        let mut capabilities = RawObject::parse(&said.capabilities).unwrap_or_default();
        if era::is_legacy(&said.revision) == modern {
            capabilities.remove("tasks");
            capabilities.remove("extensions");
        }
        Self {
            info: complete_info(said),
            capabilities: capabilities.to_raw(),
            instructions: offer.instructions.clone(),
        }
    }

    /// A list from before introductions were kept: what it has, it offers.
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

/// Clients refuse an introduction without a name or a version.
fn complete_info(said: &Said) -> Box<Raw> {
    let mut info = RawObject::parse(&said.server_info).unwrap_or_default();
    for (key, value) in [("name", "server"), ("version", "0")] {
        if info.text(key).is_none() {
            // A string always serializes.
            let _ = info.put(key, &value);
        }
    }
    info.to_raw()
}

/// A list with these items, and nothing else.
pub(crate) fn list(key: &str, items: &[Box<Raw>]) -> Box<Raw> {
    let mut list = RawObject::new();
    // Raw values always serialize.
    let _ = list.put(key, &items);
    list.to_raw()
}

/// One of a server's lists as it answered itself, with the items of all its pages.
pub(crate) fn list_of(offer: &Offer, method: &str, key: &str) -> Box<Raw> {
    let mut list =
        offer.frames.get(method).and_then(|frame| RawObject::parse(frame).ok()).unwrap_or_default();
    // Raw values always serialize.
    let _ = list.put(key, &items_of(offer, method));
    list.to_raw()
}

/// The items of one of a server's lists, as it wrote them.
pub(crate) fn items_of(offer: &Offer, method: &str) -> Vec<Box<Raw>> {
    match method {
        "tools/list" => offer.tools.iter().map(|tool| tool.raw.clone()).collect(),
        "resources/list" => offer.resources.iter().map(|entry| entry.raw.clone()).collect(),
        "resources/templates/list" => offer.templates.iter().map(|entry| entry.raw.clone()).collect(),
        _ => offer.prompts.clone(),
    }
}

/// The key under which the answer to a list method has its items; `None` where it is no list method.
pub(crate) fn list_key(method: &str) -> Option<&'static str> {
    match method {
        "tools/list" => Some("tools"),
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        "prompts/list" => Some("prompts"),
        _ => None,
    }
}

/// Everything under names of its own: the same list always gives the same names.
pub(crate) struct Flat {
    tools: BTreeMap<String, (ToolPath, Box<Raw>)>,
    prompts: BTreeMap<String, (ToolPath, Box<Raw>)>,
    resources: Vec<(ServerName, String, Box<Raw>)>,
    templates: Vec<(ServerName, String, Box<Raw>)>,
}

impl Flat {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut flat =
            Self { tools: BTreeMap::new(), prompts: BTreeMap::new(), resources: vec![], templates: vec![] };
        for (server, offer) in catalog.servers() {
            for tool in &offer.tools {
                insert(&mut flat.tools, server, &tool.name, &tool.raw);
            }
            for prompt in &offer.prompts {
                if let Some(name) = RawObject::parse(prompt).ok().and_then(|fields| fields.text("name")) {
                    insert(&mut flat.prompts, server, &name, prompt);
                }
            }
            place(&mut flat.resources, server, &offer.resources, "uri");
            place(&mut flat.templates, server, &offer.templates, "uriTemplate");
        }
        flat
    }

    pub(crate) fn items(&self, method: &str) -> Vec<Box<Raw>> {
        let named = |items: &BTreeMap<String, (ToolPath, Box<Raw>)>| {
            items.iter().map(|(name, (_, raw))| renamed(raw, "name", name)).collect()
        };
        let placed =
            |items: &[(ServerName, String, Box<Raw>)]| items.iter().map(|(_, _, raw)| raw.clone()).collect();
        match method {
            "tools/list" => named(&self.tools),
            "resources/list" => placed(&self.resources),
            "resources/templates/list" => placed(&self.templates),
            _ => named(&self.prompts),
        }
    }

    /// Which tool a name stands for.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolPath> {
        self.tools.get(name).map(|(path, _)| path)
    }

    /// Which prompt a name stands for.
    pub(crate) fn prompt(&self, name: &str) -> Option<&ToolPath> {
        self.prompts.get(name).map(|(path, _)| path)
    }

    /// Whose an address is, and what it is called there: a resource's, one that fits a template, or one that says it.
    pub(crate) fn resource(&self, uri: &str) -> Option<(ServerName, String)> {
        if let Some((server, known, _)) =
            self.resources.iter().chain(&self.templates).find(|(_, known, _)| known == uri)
        {
            let own = known.strip_prefix(&format!("{server}|")).unwrap_or(known);
            return Some((server.clone(), own.to_owned()));
        }
        if let Some((server, rest)) = uri.split_once('|')
            && let Ok(server) = server.parse::<ServerName>()
        {
            return Some((server, rest.to_owned()));
        }
        let fits = self.templates.iter().find(|(_, template, _)| fits(template, uri));
        fits.map(|(server, _, _)| (server.clone(), uri.to_owned()))
    }
}

/// Could this address be of that template? The parts between its variables must be there, in order.
fn fits(template: &str, uri: &str) -> bool {
    let (mut rest, mut first) = (uri, true);
    for part in template.split('{') {
        let fixed = if first { part } else { part.split_once('}').map_or("", |(_, fixed)| fixed) };
        match rest.find(fixed) {
            Some(0) => rest = &rest[fixed.len()..],
            Some(at) if !first => rest = &rest[at + fixed.len()..],
            _ => return false,
        }
        first = false;
    }
    template.ends_with('}') || rest.is_empty()
}

fn insert(all: &mut BTreeMap<String, (ToolPath, Box<Raw>)>, server: &ServerName, name: &str, raw: &Raw) {
    let path = ToolPath { server: server.clone(), tool: name.to_owned() };
    let mut flat = flat_name(server.as_str(), name, None);
    if all.contains_key(&flat) {
        flat = flat_name(server.as_str(), name, Some(&path));
    }
    all.insert(flat, (path, raw.to_owned()));
}

/// Addresses stay as they are; of two servers that have the same one the second's says whose it is.
fn place(
    all: &mut Vec<(ServerName, String, Box<Raw>)>,
    server: &ServerName,
    entries: &[ResourceEntry],
    key: &str,
) {
    for entry in entries {
        let taken = all.iter().any(|(_, uri, _)| *uri == entry.uri);
        let (uri, raw) = if taken {
            let uri = format!("{server}|{}", entry.uri);
            let raw = renamed(&entry.raw, key, &uri);
            (uri, raw)
        } else {
            (entry.uri.clone(), entry.raw.clone())
        };
        all.push((server.clone(), uri, raw));
    }
}

/// `server-tool` with the characters that every client takes. One that is too long, or would be another's, ends with a
/// mark made from its whole path.
fn flat_name(server: &str, name: &str, distinct: Option<&ToolPath>) -> String {
    let clean = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
            .collect()
    };
    let whole = format!("{}-{}", clean(server), clean(name));
    if whole.len() <= LONGEST && distinct.is_none() {
        return whole;
    }
    let mark = mark(&format!("{server}:{name}"));
    let kept: String = whole.chars().take(LONGEST - mark.len() - 1).collect();
    format!("{kept}-{mark}")
}

/// FNV-1a: short, and the same on every machine and in every version.
fn mark(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", hash >> 32)
}

fn renamed(raw: &Raw, key: &str, name: &str) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(raw) else { return raw.to_owned() };
    // A string always serializes.
    let _ = fields.put(key, &name);
    fields.to_raw()
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
        for path in
            ["/", "/mcp/", "/mcp/server/", "/mcp/server/a/b", "/mcp/server/a%2fb", "/mcp/server/%ff", "/MCP"]
        {
            assert_eq!(at(path), None, "{path}");
        }
    }

    #[test]
    fn flat_names_are_short_plain_and_never_two_tools() {
        let long = "x".repeat(80);
        let path = |tool: &str| ToolPath { server: "s".parse().unwrap(), tool: tool.to_owned() };
        assert_eq!(flat_name("git", "git_log", None), "git-git_log");
        assert_eq!(flat_name("git", "a.b/c", None), "git-a_b_c");
        let (one, two) =
            (flat_name("s", &format!("{long}1"), None), flat_name("s", &format!("{long}2"), None));
        assert!(one.len() == LONGEST && two.len() == LONGEST && one != two);
        assert_ne!(flat_name("s", "a.b", None), flat_name("s", "a/b", Some(&path("a/b"))));
    }

    #[test]
    fn an_address_fits_its_template() {
        for (template, uri, expected) in [
            ("test://template/{id}/data", "test://template/7/data", true),
            ("test://template/{id}/data", "test://template/7/other", false),
            ("file:///{path}", "file:///a/b", true),
            ("file:///{path}", "http://a", false),
            ("x://{a}{b}", "x://1", true),
        ] {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
