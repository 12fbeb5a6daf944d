//! Gives the items of all servers unique flat names for the direct surface. The same catalog always yields the same
//! names, whatever was added first.
//!
//! Tools and prompts are called `server-name`, and addresses stay as they are. If two would have the same name or
//! address, neither gets it: both are qualified, by a hash of the path or as `server|address`. Otherwise a name that a
//! client already uses would lead to another server as soon as one is added. Addresses of skills always have a label
//! ([`super::labels`]).

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
};

use satchel_mcp::{Raw, RawObject};

use super::{
    Offer, ResourceEntry,
    labels::{Labels, labelled},
    number,
};
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
    /// Skills that lists have, under their addresses here.
    skills: Vec<Box<Raw>>,
    labels: Labels,
    /// The owners of addresses that are listed or that a tool names for its user interface; the latter need not be
    /// listed (`docs/extensions/apps/overview.mdx`).
    owners: Owners,
}

/// Who uses a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    /// Models, which keep lists: what it leads to never changes.
    #[default]
    Tool,
    /// People, who type it.
    Prompt,
}

/// Tools or prompts, in their servers' order, and by flat name.
#[derive(Debug, Default)]
struct Listed {
    form: Form,
    items: Vec<(ToolPath, Box<Raw>)>,
    named: HashMap<String, usize>,
    /// The names that several would have, with all of them.
    contested: HashMap<String, Vec<ToolPath>>,
}

impl Listed {
    /// Names all of `items`.
    fn of<'a>(form: Form, items: impl IntoIterator<Item = (ToolPath, &'a Raw)>) -> Self {
        let items: Vec<_> = items.into_iter().collect();
        let contested = contested(form, items.iter().map(|(path, _)| path));
        let mut listed = Self { form, contested, ..Self::default() };
        for (path, raw) in items {
            let usual = flat_name(form, path.server.as_str(), &path.tool, false);
            let flat = match listed.contested.contains_key(&usual) {
                true => flat_name(form, path.server.as_str(), &path.tool, true),
                false => usual,
            };
            if listed.named.contains_key(&flat) {
                continue;
            }
            let raw = renamed(raw, "name", &flat);
            listed.named.insert(flat, listed.items.len());
            listed.items.push((path, raw));
        }
        listed
    }

    fn get(&self, name: &str) -> Option<&ToolPath> {
        self.items.get(*self.named.get(name)?).map(|(path, _)| path)
    }

    /// What a name that several would have may mean.
    fn ambiguity(&self, name: &str) -> Option<String> {
        let meanings = self.contested.get(name)?.iter().map(|path| {
            let flat = flat_name(self.form, path.server.as_str(), &path.tool, true);
            format!("{flat} ({} of {})", path.tool, path.server)
        });
        Some(ambiguous(name, meanings))
    }
}

/// The usual names that several have, or that are the qualified name of another.
fn contested<'a>(form: Form, paths: impl Iterator<Item = &'a ToolPath>) -> HashMap<String, Vec<ToolPath>> {
    let mut usual: HashMap<String, Vec<&ToolPath>> = HashMap::new();
    let mut seen = HashSet::new();
    for path in paths.filter(|path| seen.insert(*path)) {
        usual.entry(flat_name(form, path.server.as_str(), &path.tool, false)).or_default().push(path);
    }
    let mut contested: HashMap<String, Vec<ToolPath>> = HashMap::new();
    let mut qualified: Vec<&ToolPath> = Vec::new();
    for (name, paths) in &usual {
        if paths.len() > 1 {
            qualified.extend(paths);
            contested.insert(name.clone(), paths.iter().copied().cloned().collect());
        }
    }
    while let Some(path) = qualified.pop() {
        let name = flat_name(form, path.server.as_str(), &path.tool, true);
        if contested.contains_key(&name) {
            continue;
        }
        // Somebody named a tool like the qualified name of another one.
        let others: Vec<_> = usual.get(&name).into_iter().flatten().filter(|other| **other != path).collect();
        if !others.is_empty() {
            qualified.extend(others.iter().copied());
            contested.insert(name, others.into_iter().copied().cloned().collect());
        }
    }
    contested
}

fn ambiguous(name: &str, meanings: impl Iterator<Item = String>) -> String {
    format!("{name} is ambiguous: use {}", meanings.collect::<Vec<_>>().join(" or "))
}

/// A resource or template as listed.
#[derive(Debug)]
struct Placed {
    server: ServerName,
    address: String,
    raw: Box<Raw>,
}

/// By address, the servers that have it.
#[derive(Debug, Default)]
struct Owners(HashMap<String, BTreeSet<ServerName>>);

impl Owners {
    fn add(&mut self, address: &str, server: &ServerName) {
        self.0.entry(address.to_owned()).or_default().insert(server.clone());
    }

    /// Do several servers have it?
    fn is_contested(&self, address: &str) -> bool {
        self.0.get(address).is_some_and(|servers| servers.len() > 1)
    }

    /// The only server that has it.
    fn only(&self, address: &str) -> Option<&ServerName> {
        self.0.get(address).filter(|servers| servers.len() == 1)?.first()
    }
}

impl Flat {
    pub(super) fn of<'a>(servers: impl Iterator<Item = (&'a ServerName, &'a Offer)> + Clone) -> Self {
        let (mut owners, mut patterns) = (Owners::default(), Owners::default());
        for (server, offer) in servers.clone() {
            offer.resources.iter().for_each(|entry| owners.add(&entry.uri, server));
            offer.templates.iter().for_each(|entry| patterns.add(&entry.uri, server));
            offer
                .tools
                .iter()
                .flat_map(|tool| panels(&tool.raw))
                .for_each(|panel| owners.add(&panel, server));
        }
        let labels = Labels::of(servers.clone());
        let (mut resources, mut templates, mut skills) = (Vec::new(), Vec::new(), Vec::new());
        let (mut tools, mut prompts) = (Vec::new(), Vec::new());
        for (server, offer) in servers {
            place(&mut resources, server, &offer.resources, "uri", (&owners, &labels));
            place(&mut templates, server, &offer.templates, "uriTemplate", (&patterns, &labels));
            let listed = offer.skills.entries.iter().filter(|skill| skill.listed);
            skills.extend(listed.map(|skill| skill.under(|own| labelled(server, own))));
            let path = |name: String| ToolPath { server: server.clone(), tool: name };
            let named = |prompt: &'a Raw| Some((path(RawObject::parse(prompt).ok()?.text("name")?), prompt));
            prompts.extend(offer.prompts.iter().filter_map(|prompt| named(prompt)));
            tools.extend(
                offer.tools.iter().map(|tool| (path(tool.name.clone()), shown(&tool.raw, server, &owners))),
            );
        }
        let tools = tools.iter().map(|(path, raw)| (path.clone(), &**raw));
        let prompts = Listed::of(Form::Prompt, prompts);
        Self { tools: Listed::of(Form::Tool, tools), prompts, resources, templates, skills, labels, owners }
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
            "skills/list" => self.skills.iter().map(|raw| &**raw).collect(),
            _ => named(&self.prompts),
        }
    }

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&ToolPath> {
        self.tools.get(name)
    }

    /// A tool as it is listed here.
    pub fn listed_tool(&self, path: &ToolPath) -> Option<&Raw> {
        let found = self.tools.items.iter().find(|(known, _)| known == path);
        found.map(|(_, raw)| &**raw)
    }

    /// The prompt with this name.
    pub fn prompt(&self, name: &str) -> Option<&ToolPath> {
        self.prompts.get(name)
    }

    /// The name of a prompt.
    pub fn prompt_name(&self, path: &ToolPath) -> Option<String> {
        let names =
            [false, true].map(|distinct| flat_name(Form::Prompt, path.server.as_str(), &path.tool, distinct));
        names.into_iter().find(|name| self.prompt(name) == Some(path))
    }

    /// Why no tool has this name, if several would.
    pub fn ambiguous_tool(&self, name: &str) -> Option<String> {
        self.tools.ambiguity(name).filter(|_| self.tool(name).is_none())
    }

    /// Why no prompt has this name, if several would.
    pub fn ambiguous_prompt(&self, name: &str) -> Option<String> {
        self.prompts.ambiguity(name).filter(|_| self.prompt(name).is_none())
    }

    /// Why an address leads nowhere, if several servers have it.
    pub fn ambiguous_resource(&self, address: &str) -> Option<String> {
        if self.resource(address).is_some() {
            return None;
        }
        let servers = match self.owners.0.get(address) {
            Some(servers) => servers.clone(),
            None => self.fitting(address),
        };
        let meanings = servers.iter().map(|server| address_at(server, address));
        (servers.len() > 1).then(|| ambiguous(address, meanings))
    }

    /// The servers with a template for this address.
    fn fitting(&self, address: &str) -> BTreeSet<ServerName> {
        let own = |placed: &Placed| {
            let template = &placed.address;
            let qualified = template.strip_prefix(&address_at(&placed.server, "")).unwrap_or(template);
            fits_template(qualified, address).then(|| placed.server.clone())
        };
        self.templates.iter().filter_map(own).collect()
    }

    /// The owner of an address and its own URI for it: a listed resource, one that matches a template, or a qualified
    /// one. `None` if it may be of several servers.
    pub fn resource(&self, address: &str) -> Option<(ServerName, String)> {
        // A label leads to its server, whatever others list.
        if let Some(labelled) = self.skill(address) {
            return Some(labelled);
        }
        let known = self.resources.iter().chain(&self.templates).find(|placed| placed.address == address);
        if let Some(Placed { server, address, .. }) = known {
            let own = address.strip_prefix(&address_at(server, "")).unwrap_or(address);
            return Some((server.clone(), own.to_owned()));
        }
        if let Some(server) = self.owners.only(address) {
            return Some((server.clone(), address.to_owned()));
        }
        if let Ok(ResourcePath { server, uri }) = address.parse() {
            return Some((server, uri));
        }
        if self.owners.is_contested(address) {
            return None;
        }
        let mut fitting = self.fitting(address);
        let first = fitting.pop_first()?;
        fitting.is_empty().then(|| (first, address.to_owned()))
    }

    /// The server of a skill's address with its label, and its own address.
    pub fn skill(&self, address: &str) -> Option<(ServerName, String)> {
        self.labels.own(address)
    }

    /// The only server that has addresses with the scheme of this one.
    pub fn of_scheme(&self, address: &str) -> Option<ServerName> {
        let scheme = |address: &str| Some(address.split_once(':')?.0.to_ascii_lowercase());
        let wanted = scheme(address)?;
        let own = |placed: &Placed| {
            let own = placed.address.strip_prefix(&address_at(&placed.server, "")).unwrap_or(&placed.address);
            (scheme(own).as_ref() == Some(&wanted)).then(|| placed.server.clone())
        };
        let mut servers: BTreeSet<ServerName> =
            self.resources.iter().chain(&self.templates).filter_map(own).collect();
        let only = servers.pop_first()?;
        servers.is_empty().then_some(only)
    }

    /// The address of a server's resource.
    pub fn address(&self, server: &ServerName, own: &str) -> String {
        if let Some(labelled) = self.labels.labelled(server, own) {
            return labelled;
        }
        match self.owners.0.get(own) {
            Some(owners) if owners.len() > 1 || !owners.contains(server) => address_at(server, own),
            None if self.ambiguous_resource(own).is_some() => address_at(server, own),
            _ => own.to_owned(),
        }
    }
}

/// A tool as it is listed here. The page of its user interface must be available under the name that it states, and
/// belong to the same server. There are no tasks here: the hub waits for the result, and clients refuse to call a tool
/// that is said to need one.
fn shown<'a>(raw: &'a Raw, server: &ServerName, owners: &Owners) -> Cow<'a, Raw> {
    let text = raw.get();
    if !text.contains("resourceUri") && !text.contains("taskSupport") {
        return Cow::Borrowed(raw);
    }
    let Ok(mut tool) = RawObject::parse(raw) else { return Cow::Borrowed(raw) };
    let panel = with_own_panel(&mut tool, server, owners);
    let task = without_task(&mut tool);
    if panel || task { Cow::Owned(tool.to_raw()) } else { Cow::Borrowed(raw) }
}

/// Returns whether something was removed.
fn without_task(tool: &mut RawObject) -> bool {
    let execution = tool.get("execution").and_then(|raw| RawObject::parse(raw).ok());
    let Some(mut execution) = execution else { return false };
    if execution.remove("taskSupport").is_none() {
        return false;
    }
    match execution.is_empty() {
        true => drop(tool.remove("execution")),
        false => tool.set("execution", execution.to_raw()),
    }
    true
}

/// The key in earlier drafts is kept beside the new one.
const EARLIER_PANEL: &str = "ui/resourceUri";

/// The addresses that a tool names for its user interface.
fn panels(raw: &Raw) -> Vec<String> {
    if !raw.get().contains("resourceUri") {
        return vec![];
    }
    let meta = RawObject::parse(raw).ok().and_then(|tool| RawObject::parse(tool.get("_meta")?).ok());
    let Some(meta) = meta else { return vec![] };
    let ui = meta.get("ui").and_then(|ui| RawObject::parse(ui).ok());
    meta.text(EARLIER_PANEL).into_iter().chain(ui.and_then(|ui| ui.text("resourceUri"))).collect()
}

/// Qualifies the addresses that other servers have too. Returns whether there are any.
fn with_own_panel(tool: &mut RawObject, server: &ServerName, owners: &Owners) -> bool {
    let meta = tool.get("_meta").and_then(|raw| RawObject::parse(raw).ok());
    let Some(mut meta) = meta else { return false };
    let mut changed = false;
    let mut own = |fields: &mut RawObject, key: &str| {
        let Some(address) = fields.text(key).filter(|address| owners.is_contested(address)) else {
            return;
        };
        // Strings always serialize.
        fields.put(key, &address_at(server, &address));
        changed = true;
    };
    own(&mut meta, EARLIER_PANEL);
    if let Some(mut ui) = meta.get("ui").and_then(|ui| RawObject::parse(ui).ok()) {
        own(&mut ui, "resourceUri");
        meta.set("ui", ui.to_raw());
    }
    if changed {
        tool.set("_meta", meta.to_raw());
    }
    changed
}

fn place(
    all: &mut Vec<Placed>,
    server: &ServerName,
    entries: &[ResourceEntry],
    key: &str,
    (owners, labels): (&Owners, &Labels),
) {
    for entry in entries {
        let of_skill = labels.labelled(server, &entry.uri);
        let contested = owners.is_contested(&entry.uri) || labels.own(&entry.uri).is_some();
        let other = of_skill.or_else(|| contested.then(|| address_at(server, &entry.uri)));
        let (address, raw) = match other {
            Some(address) => {
                let raw = renamed(&entry.raw, key, &address);
                (address, raw)
            }
            None => (entry.uri.clone(), entry.raw.clone()),
        };
        all.push(Placed { server: server.clone(), address, raw });
    }
}

/// The address of a server's resource that collides with another one's.
fn address_at(server: &ServerName, own: &str) -> String {
    ResourcePath { server: server.clone(), uri: own.to_owned() }.to_string()
}

/// The default name of a tool, unless another one would have it too.
pub fn usual_name(server: &ServerName, tool: &str) -> String {
    flat_name(Form::Tool, server.as_str(), tool, false)
}

/// The name of a tool in its own server's list: its own, if models take it (`2025-11-25/server/tools.mdx#tool-names`; a
/// slash between two parts is common and harmless). Another one is unique, and the same on every machine.
pub fn own_list_name(tool: &str) -> Cow<'_, str> {
    const MOST: usize = 128;
    let part = |part: &str| {
        !part.is_empty()
            && !part.chars().all(|c| c == '.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    if tool.len() <= MOST && tool.split('/').all(part) {
        return Cow::Borrowed(tool);
    }
    let mark = mark(tool);
    let kept: String = clean(tool).chars().take(LONGEST - mark.len() - 1).collect();
    Cow::Owned(format!("{kept}-{mark}"))
}

/// Only characters that every client accepts.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

/// `server-tool` in characters that every client accepts. A name that is too long, collides or has other characters ends with a
/// hash of the whole path.
fn flat_name(form: Form, server: &str, name: &str, distinct: bool) -> String {
    let whole = format!("{}-{}", clean(server), clean(name));
    // What is not its own name could become that of another tool, which clients with an older list would call.
    let changed = match form {
        Form::Tool => clean(name) != name,
        // Of a name in another script nothing is left.
        Form::Prompt => name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii()),
    };
    if whole.len() <= LONGEST && !distinct && !changed {
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
    fields.put(key, &name);
    fields.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_names_are_short_plain_and_never_two_tools() {
        let long = "x".repeat(80);
        assert_eq!(flat_name(Form::Tool, "git", "git_log", false), "git-git_log");
        let changed = flat_name(Form::Tool, "git", "a.b/c", false);
        assert!(changed.starts_with("git-a_b_c-"), "{changed}");
        assert_ne!(changed, flat_name(Form::Tool, "git", "a/b.c", false));
        let (one, two) = (
            flat_name(Form::Tool, "s", &format!("{long}1"), false),
            flat_name(Form::Tool, "s", &format!("{long}2"), false),
        );
        assert!(one.len() == LONGEST && two.len() == LONGEST && one != two);
        assert_ne!(flat_name(Form::Tool, "s", "a.b", true), flat_name(Form::Tool, "s", "a/b", true));
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
            let raw = RawObject::new().to_raw();
            let path = |(server, tool): &(ServerName, String)| ToolPath {
                server: server.clone(),
                tool: tool.clone(),
            };
            Listed::of(Form::Tool, pairs.iter().map(|pair| (path(pair), &*raw)))
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
        let paths = ["b:z", "b:a", "b:m", "a:z", "a:b"];
        let raw = RawObject::new().to_raw();
        let listed = Listed::of(Form::Tool, paths.iter().map(|path| (path.parse().unwrap(), &*raw)));
        let of: Vec<String> = listed.items.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(of, paths);
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
        let mut owners = Owners::default();
        owners.add("ui://page", &one);
        assert_eq!(shown(&tool, &one, &owners).get(), tool.get());
        owners.add("ui://page", &two);
        let flat = Flat { owners, ..Flat::default() };
        for (server, address) in [(&one, "one|ui://page"), (&two, "two|ui://page")] {
            assert_eq!(
                shown(&tool, server, &flat.owners).get(),
                format!(
                    r#"{{"name":"show","_meta":{{"k":1,"ui":{{"resourceUri":"{address}","visibility":["app"]}}}}}}"#
                )
            );
            assert_eq!(flat.resource(address), Some((server.clone(), "ui://page".to_owned())));
            assert_eq!(flat.address(server, "ui://page"), address);
        }
        assert_eq!(flat.resource("ui://page"), None);
    }

    /// The flat names of servers with these tools, resources, templates and prompts.
    fn flat_of(servers: &[(&str, Offer)]) -> Flat {
        let servers: Vec<(ServerName, &Offer)> =
            servers.iter().map(|(name, offer)| (name.parse().unwrap(), offer)).collect();
        Flat::of(servers.iter().map(|(name, offer)| (name, *offer)))
    }

    fn raw(text: &str) -> Box<Raw> {
        Raw::from_string(text.to_owned()).unwrap()
    }

    fn offering(tool: &str, uri: &str, template: &str) -> Offer {
        let item = |name: &str| raw(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
        let entry = |uri: &str, key: &str| ResourceEntry {
            uri: uri.to_owned(),
            raw: raw(&format!(r#"{{"{key}":"{uri}","name":"n"}}"#)),
        };
        Offer {
            tools: super::super::validate::tools(vec![item(tool)]).0,
            prompts: vec![item(tool), item(tool)],
            resources: vec![entry(uri, "uri")],
            templates: vec![entry(template, "uriTemplate")],
            ..Offer::default()
        }
    }

    #[test]
    fn a_name_never_moves_to_another_server_when_one_is_added() {
        let older = ("a-b", offering("c", "note://one", "file:///{path}"));
        let newer = ("a", offering("b-c", "note://one", "file:///{path}"));
        let alone = flat_of(std::slice::from_ref(&older));
        let own: ToolPath = "a-b:c".parse().unwrap();
        let other: ToolPath = "a:b-c".parse().unwrap();
        assert_eq!((alone.tool("a-b-c"), alone.prompt("a-b-c")), (Some(&own), Some(&own)));
        for address in ["note://one", "file:///etc/hosts"] {
            assert_eq!(alone.resource(address), Some((own.server.clone(), address.to_owned())));
            assert_eq!(alone.address(&own.server, address), address);
        }
        let [one, two] =
            [(older, newer.clone()), (newer, ("a-b", offering("c", "note://one", "file:///{path}")))]
                .map(|(first, second)| flat_of(&[first, second]));
        for flat in [one, two] {
            assert_eq!((flat.tool("a-b-c"), flat.prompt("a-b-c")), (None, None));
            for path in [&own, &other] {
                let name = flat_name(Form::Tool, path.server.as_str(), &path.tool, true);
                assert_eq!((flat.tool(&name), flat.prompt(&name)), (Some(path), Some(path)));
                let told = flat.ambiguous_tool("a-b-c").unwrap();
                assert!(told.contains(&name) && Some(told) == flat.ambiguous_prompt("a-b-c"));
            }
            assert_eq!((flat.items("tools/list").len(), flat.items("prompts/list").len()), (2, 2));
            for address in ["note://one", "file:///etc/hosts"] {
                assert_eq!(flat.resource(address), None, "{address}");
                assert_eq!(
                    flat.ambiguous_resource(address),
                    Some(format!("{address} is ambiguous: use a|{address} or a-b|{address}"))
                );
                for path in [&own, &other] {
                    let shown = flat.address(&path.server, address);
                    assert_eq!(shown, address_at(&path.server, address));
                    assert_eq!(flat.resource(&shown), Some((path.server.clone(), address.to_owned())));
                }
            }
            assert_eq!(flat.ambiguous_tool("none"), None);
            assert_eq!(flat.ambiguous_resource("none://"), None);
        }
    }

    #[test]
    fn addresses_of_skills_have_the_label_of_their_server_and_imitate_no_other() {
        let skill = |uri: &str| {
            let row = format!(r#"{{"uri":"{uri}","digest":"sha256:{}","size":1}}"#, "a1".repeat(32));
            raw(&format!(
                r#"{{"uri":"{uri}","frontmatter":{{"name":"refunds","description":"d"}},"resources":[{row}]}}"#
            ))
        };
        let offer = |uri: &str| {
            let said = super::super::Said {
                revision: "2026-07-28".into(),
                server_info: raw("{}"),
                capabilities: raw(r#"{"extensions":{"io.modelcontextprotocol/skills":{}}}"#),
            };
            let skills = super::super::Skills {
                entries: vec![super::super::SkillEntry::parse(&skill(uri), true).unwrap()],
                ..Default::default()
            };
            Offer { skills, hello: Some(said), ..offering("t", uri, "x://{a}") }
        };
        let flat = flat_of(&[
            ("a", offer("skill://refunds/SKILL.md")),
            ("b", offer("skill://a/refunds/SKILL.md")),
            ("c", offering("t", "skill://a/refunds/SKILL.md", "y://{a}")),
        ]);
        let uri = |raw: &Raw| RawObject::parse(raw).unwrap().text("uri").unwrap();
        let listed = ["skill://a/refunds/SKILL.md", "skill://b/a/refunds/SKILL.md"];
        let skills: Vec<String> = flat.items("skills/list").into_iter().map(uri).collect();
        assert_eq!(skills, listed);
        assert!(
            flat.items("skills/list")[1]
                .get()
                .contains(r#""resources":[{"uri":"skill://b/a/refunds/SKILL.md","#)
        );
        let resources: Vec<String> = flat.items("resources/list").into_iter().map(uri).collect();
        assert_eq!(resources, [listed[0], listed[1], "c|skill://a/refunds/SKILL.md"]);
        for (address, server, own) in [
            (listed[0], "a", "skill://refunds/SKILL.md"),
            (listed[1], "b", "skill://a/refunds/SKILL.md"),
            (&resources[2], "c", "skill://a/refunds/SKILL.md"),
            ("skill://a/../b/x.md", "a", "skill://../b/x.md"),
        ] {
            assert_eq!(flat.resource(address), Some((server.parse().unwrap(), own.to_owned())), "{address}");
        }
        assert_eq!(flat.address(&"a".parse().unwrap(), "skill://refunds/r.md"), "skill://a/refunds/r.md");
        assert_eq!(
            (flat.skill("skill://c/x/SKILL.md"), flat.skill("https://a/refunds/SKILL.md")),
            (None, None)
        );
    }

    #[test]
    fn every_name_becomes_one_that_models_take() {
        let raw = RawObject::new().to_raw();
        let names = [
            "Create Share",
            "\u{67e5}\u{8be2}",
            "\u{5929}\u{6c14}",
            "a:b",
            "../x",
            "plain",
            "\u{1f50d}",
            "a b",
            "a_b",
        ];
        let paths = names.map(|name| ToolPath { server: "store".parse().unwrap(), tool: name.to_owned() });
        let listed = Listed::of(Form::Tool, paths.iter().map(|path| (path.clone(), &*raw)));
        assert_eq!((listed.items.len(), listed.named.len()), (names.len(), names.len()), "unique");
        for name in listed.named.keys() {
            assert!(name.len() <= LONGEST && clean(name) == *name, "{name}");
        }
        assert_eq!(listed.get("store-a_b"), Some(&paths[8]), "its own name");
        assert_eq!(listed.get("store-plain"), Some(&paths[5]));
        // The same whatever else is there.
        let alone = Listed::of(Form::Tool, [(paths[1].clone(), &*raw)]);
        let name = alone.named.keys().next().unwrap();
        assert_eq!(listed.get(name), Some(&paths[1]));
    }

    #[test]
    fn a_name_that_models_take_stays_in_its_servers_own_list() {
        for name in ["a", "get.weather/now", "A-b_9", "x".repeat(128).as_str()] {
            assert_eq!(own_list_name(name), name);
        }
        for name in ["Create Share", "\u{67e5}\u{8be2}", "a:b", "../x", "a//b", "x".repeat(129).as_str()] {
            let own = own_list_name(name).into_owned();
            assert!(own.len() <= LONGEST && clean(&own) == own && own_list_name(&own) == own, "{own}");
        }
        assert_ne!(own_list_name("a b"), own_list_name("a:b"));
    }

    #[test]
    fn a_tool_called_like_the_qualified_name_of_another_gets_no_name_of_that_one() {
        let taken = flat_name(Form::Tool, "a-b", "c", true);
        let copied = taken.strip_prefix("a-").unwrap();
        let raw = RawObject::new().to_raw();
        let all = ["a-b:c".to_owned(), "a:b-c".to_owned(), format!("a:{copied}")];
        let listed = Listed::of(Form::Tool, all.iter().map(|path| (path.parse().unwrap(), &*raw)));
        assert_eq!(listed.items.len(), 3);
        assert_eq!(listed.get(&taken).map(ToString::to_string), Some("a-b:c".to_owned()));
    }

    #[test]
    fn a_tool_that_needs_a_task_is_listed_as_one_that_can_be_called() {
        let server: ServerName = "s".parse().unwrap();
        for (execution, expected) in [
            (r#","execution":{"taskSupport":"required"}"#, ""),
            (r#","execution":{"taskSupport":"optional","own":1}"#, r#","execution":{"own":1}"#),
            (r#","execution":{"own":1}"#, r#","execution":{"own":1}"#),
        ] {
            let tool = raw(&format!(r#"{{"name":"t"{execution}}}"#));
            let listed = shown(&tool, &server, &Owners::default());
            assert_eq!(listed.get(), format!(r#"{{"name":"t"{expected}}}"#));
        }
    }
}
