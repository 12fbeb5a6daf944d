//! Gives the items of all servers unique flat names for the direct surface. The same catalog always yields the same
//! names.
//!
//! Tools and prompts are called `server-name`. Addresses stay as they are; of two servers that have the same one the
//! second's is called `server|address`.

use std::collections::HashMap;

use satchel_mcp::{Raw, RawObject};

use super::{Offer, ResourceEntry, number};
use crate::model::{ResourcePath, ServerName, ToolPath, address::fits_template};

/// The longest tool name that every client accepts.
const LONGEST: usize = 64;

/// The names of one catalog. Computed on first use.
#[derive(Debug, Default)]
pub struct Flat {
    tools: Listed,
    prompts: Listed,
    resources: Vec<Placed>,
    templates: Vec<Placed>,
    /// The owners of addresses that are listed or that a tool names for its user interface; the latter need not be
    /// listed (`docs/extensions/apps/overview.mdx`).
    owners: HashMap<String, ServerName>,
}

/// Tools or prompts, in their servers' order, and by flat name.
#[derive(Debug, Default)]
struct Listed {
    items: Vec<(ToolPath, Box<Raw>)>,
    named: HashMap<String, usize>,
}

impl Listed {
    fn get(&self, name: &str) -> Option<&ToolPath> {
        self.items.get(*self.named.get(name)?).map(|(path, _)| path)
    }
}

/// A resource or template as listed.
#[derive(Debug)]
struct Placed {
    server: ServerName,
    address: String,
    raw: Box<Raw>,
}

impl Flat {
    pub(super) fn of<'a>(servers: impl Iterator<Item = (&'a ServerName, &'a Offer)> + Clone) -> Self {
        let mut flat = Self::default();
        for (server, offer) in servers.clone() {
            for prompt in &offer.prompts {
                if let Some(name) = RawObject::parse(prompt).ok().and_then(|fields| fields.text("name")) {
                    insert(&mut flat.prompts, server, &name, prompt);
                }
            }
            place(&mut flat.resources, server, &offer.resources, "uri");
            place(&mut flat.templates, server, &offer.templates, "uriTemplate");
        }
        flat.owners = flat
            .resources
            .iter()
            .map(|resource| (resource.address.clone(), resource.server.clone()))
            .collect();
        for (server, offer) in servers {
            for tool in &offer.tools {
                let raw = with_own_panel(&tool.raw, server, &mut flat.owners);
                insert(&mut flat.tools, server, &tool.name, raw.as_deref().unwrap_or(&tool.raw));
            }
        }
        flat
    }

    /// The items of a list, as clients see them.
    pub fn items(&self, method: &str) -> Vec<&Raw> {
        fn named(listed: &Listed) -> Vec<&Raw> {
            listed.items.iter().map(|(_, raw)| &**raw).collect()
        }
        fn placed(items: &[Placed]) -> Vec<&Raw> {
            items.iter().map(|placed| &*placed.raw).collect()
        }
        match method {
            "tools/list" => named(&self.tools),
            "resources/list" => placed(&self.resources),
            "resources/templates/list" => placed(&self.templates),
            _ => named(&self.prompts),
        }
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&ToolPath> {
        self.tools.get(name)
    }

    /// The prompt with this name.
    pub fn prompt(&self, name: &str) -> Option<&ToolPath> {
        self.prompts.get(name)
    }

    /// The owner of an address and its own URI for it: a listed resource, one that matches a template, or a qualified
    /// one.
    pub fn resource(&self, address: &str) -> Option<(ServerName, String)> {
        let known = self.resources.iter().chain(&self.templates).find(|placed| placed.address == address);
        if let Some(Placed { server, address, .. }) = known {
            let own = address.strip_prefix(&address_at(server, "")).unwrap_or(address);
            return Some((server.clone(), own.to_owned()));
        }
        if let Some(server) = self.owners.get(address) {
            return Some((server.clone(), address.to_owned()));
        }
        if let Ok(ResourcePath { server, uri }) = address.parse() {
            return Some((server, uri));
        }
        let fits = self.templates.iter().find(|placed| fits_template(&placed.address, address));
        fits.map(|placed| (placed.server.clone(), address.to_owned()))
    }

    /// The address of a server's resource.
    pub fn address(&self, server: &ServerName, own: &str) -> String {
        match self.owners.get(own) {
            Some(owner) if owner != server => address_at(server, own),
            _ => own.to_owned(),
        }
    }
}

/// A tool may name the page of its user interface; the page must be available under that name, and belong to the same
/// server. `None` if the tool can stay unchanged.
fn with_own_panel(
    raw: &Raw,
    server: &ServerName,
    owners: &mut HashMap<String, ServerName>,
) -> Option<Box<Raw>> {
    if !raw.get().contains("resourceUri") {
        return None;
    }
    let mut tool = RawObject::parse(raw).ok()?;
    let mut meta = RawObject::parse(tool.get("_meta")?).ok()?;
    let mut changed = false;
    let mut own = |fields: &mut RawObject, key: &str| {
        let Some(address) = fields.text(key) else { return };
        if owners.entry(address.clone()).or_insert_with(|| server.clone()) != server {
            // Strings always serialize.
            let _ = fields.put(key, &address_at(server, &address));
            changed = true;
        }
    };
    // The key in earlier drafts is kept beside the new one.
    own(&mut meta, "ui/resourceUri");
    if let Some(mut ui) = meta.get("ui").and_then(|ui| RawObject::parse(ui).ok()) {
        own(&mut ui, "resourceUri");
        meta.set("ui", ui.to_raw());
    }
    tool.set("_meta", meta.to_raw());
    changed.then(|| tool.to_raw())
}

fn insert(all: &mut Listed, server: &ServerName, name: &str, raw: &Raw) {
    let path = ToolPath { server: server.clone(), tool: name.to_owned() };
    let mut flat = flat_name(server.as_str(), name, None);
    if all.named.contains_key(&flat) {
        flat = flat_name(server.as_str(), name, Some(&path));
    }
    let raw = renamed(raw, "name", &flat);
    if all.named.contains_key(&flat) {
        return;
    }
    all.named.insert(flat, all.items.len());
    all.items.push((path, raw));
}

fn place(all: &mut Vec<Placed>, server: &ServerName, entries: &[ResourceEntry], key: &str) {
    for entry in entries {
        let taken = all.iter().any(|placed| placed.address == entry.uri);
        let (address, raw) = if taken {
            let address = address_at(server, &entry.uri);
            let raw = renamed(&entry.raw, key, &address);
            (address, raw)
        } else {
            (entry.uri.clone(), entry.raw.clone())
        };
        all.push(Placed { server: server.clone(), address, raw });
    }
}

/// The address of a server's resource that collides with another one's.
fn address_at(server: &ServerName, own: &str) -> String {
    ResourcePath { server: server.clone(), uri: own.to_owned() }.to_string()
}

/// The default name of a tool, unless another one has it.
pub fn usual_name(server: &ServerName, tool: &str) -> String {
    flat_name(server.as_str(), tool, None)
}

/// `server-tool` in characters that every client accepts. A name that is too long or collides ends with a hash of the
/// whole path.
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

/// A short hash, the same on every machine and in every version.
fn mark(text: &str) -> String {
    format!("{:08x}", number(text) >> 32)
}

fn renamed(raw: &Raw, key: &str, name: &str) -> Box<Raw> {
    let Ok(mut fields) = RawObject::parse(raw) else { return raw.to_owned() };
    // Strings always serialize.
    let _ = fields.put(key, &name);
    fields.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// S29: ten thousand tools of many servers, with names made to collide.
    #[test]
    fn ten_thousand_names_are_all_different_lead_back_and_stay() {
        let mut random = fastrand::Rng::with_seed(29);
        let tools: Vec<char> = "abAB12_-./: \u{e9}\u{430}\u{200b}\u{1f600}".chars().collect();
        let servers: Vec<char> = "abc12-_".chars().collect();
        let word = |pool: &[char], most: usize, random: &mut fastrand::Rng| -> String {
            (0..random.usize(1..most)).map(|_| pool[random.usize(0..pool.len())]).collect()
        };
        let mut pairs = std::collections::BTreeSet::new();
        while pairs.len() < 10_000 {
            let Ok(server) = word(&servers, 5, &mut random).parse::<ServerName>() else { continue };
            let most = if random.u8(0..10) == 0 { 200 } else { 5 };
            pairs.insert((server, word(&tools, most, &mut random)));
        }
        let table = || {
            let mut names = Listed::default();
            for (server, tool) in &pairs {
                insert(&mut names, server, tool, &RawObject::new().to_raw());
            }
            names
        };
        let names = table();
        assert_eq!(names.named.len(), pairs.len(), "no two have one name");
        for (name, at) in &names.named {
            let path = &names.items[*at].0;
            assert!(pairs.contains(&(path.server.clone(), path.tool.clone())), "{name} leads back");
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            assert!(name.len() <= LONGEST && name.chars().all(plain), "{name:?} of {path:?}");
        }
        let again = table();
        assert!(names.named.keys().all(|name| again.get(name) == names.get(name)));
    }

    #[test]
    fn tools_and_prompts_are_listed_in_the_order_in_which_their_server_has_them() {
        let mut listed = Listed::default();
        let of = |listed: &Listed| -> Vec<String> {
            listed.items.iter().map(|(path, _)| path.to_string()).collect()
        };
        for path in ["b:z", "b:a", "b:m", "a:z", "a:b"] {
            let path: ToolPath = path.parse().unwrap();
            insert(&mut listed, &path.server, &path.tool, &RawObject::new().to_raw());
        }
        assert_eq!(of(&listed), ["b:z", "b:a", "b:m", "a:z", "a:b"]);
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
            assert_eq!(fits_template(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn a_page_that_two_servers_have_is_found_with_each_ones_tool() {
        let tool = r#"{"name":"show","_meta":{"k":1,"ui":{"resourceUri":"ui://page","visibility":["app"]}}}"#;
        let tool = Raw::from_string(tool.to_owned()).unwrap();
        let (one, two): (ServerName, ServerName) = ("one".parse().unwrap(), "two".parse().unwrap());
        let mut owners = HashMap::new();
        assert!(with_own_panel(&tool, &one, &mut owners).is_none());
        assert_eq!(
            with_own_panel(&tool, &two, &mut owners).unwrap().get(),
            r#"{"name":"show","_meta":{"k":1,"ui":{"resourceUri":"two|ui://page","visibility":["app"]}}}"#
        );
        let flat = Flat { owners, ..Flat::default() };
        assert_eq!(flat.resource("ui://page"), Some((one.clone(), "ui://page".to_owned())));
        assert_eq!(flat.resource("two|ui://page"), Some((two.clone(), "ui://page".to_owned())));
        assert_eq!((flat.address(&one, "ui://page"), flat.address(&two, "ui://page")).1, "two|ui://page");
    }
}
