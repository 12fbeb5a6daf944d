//! The tools and queries as files, and catalogs made of them.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::Arc,
};

use anyhow::{Context, Result};
use satchel_core::{
    catalog::{
        Aids, Catalog, Offer, ToolEntry,
        search::{Meaning, Vectors},
    },
    model::ServerName,
};
use satchel_mcp::{Raw, RawObject};
use serde_json::Value;

use super::sentences::Sentences;

pub(crate) struct Collection {
    pub(crate) tools: Vec<Tool>,
    pub(crate) queries: Vec<Query>,
}

#[derive(Clone)]
pub(crate) struct Tool {
    /// Which of the collection's hubs it belongs to.
    pub(crate) corpus: String,
    pub(crate) server: String,
    about: String,
    pub(crate) name: String,
    description: String,
    schema: Value,
}

#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) id: String,
    pub(crate) corpus: String,
    pub(crate) family: String,
    pub(crate) text: String,
    /// One group for each tool that is needed, of `server:tool`s that do.
    pub(crate) groups: Vec<Vec<String>>,
}

/// A catalog, and how the collection calls its servers.
#[derive(Clone)]
pub(crate) struct Crowd {
    pub(crate) catalog: Catalog,
    names: HashMap<String, String>,
    vectors: Arc<Vectors>,
}

/// The part of the collection that weights are chosen with, and the one that they are looked at with. No server is in
/// both, and which is in which stays as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Choose,
    Check,
}

impl Part {
    /// By the sum of the name's letters, each times its place.
    fn of(server: &str) -> Self {
        let sum: usize = server.bytes().zip(1..).map(|(byte, place)| usize::from(byte) * place).sum();
        if sum.is_multiple_of(2) { Self::Choose } else { Self::Check }
    }
}

impl Query {
    /// Whose tools do.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        self.groups
            .iter()
            .flatten()
            .map(|tool| tool.rsplit_once(':').map_or(tool.as_str(), |(server, _)| server))
    }

    /// `None` where servers of both parts do.
    pub(crate) fn part(&self) -> Option<Part> {
        let mut parts = self.servers().map(Part::of);
        let first = parts.next()?;
        parts.all(|part| part == first).then_some(first)
    }
}

impl Collection {
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let tool = |value: &Value| Tool {
            corpus: text(value, "corpus"),
            server: text(value, "server"),
            about: text(value, "server_description"),
            name: text(value, "name"),
            description: text(value, "description"),
            schema: value["inputSchema"].clone(),
        };
        let query = |value: &Value| {
            let family = text(value, "family");
            Query {
                id: text(value, "id"),
                corpus: text(value, "corpus"),
                // Two halves of one family.
                family: if family.starts_with("human") { "human".to_owned() } else { family },
                text: text(value, "query"),
                groups: serde_json::from_value(value["groups"].clone()).unwrap_or_default(),
            }
        };
        let mut queries: Vec<Query> =
            lines(&directory.join("dev/queries.jsonl"))?.iter().map(query).collect();
        // Queries that no tool fits are not measured here.
        queries.retain(|query| !query.groups.is_empty());
        Ok(Self { tools: lines(&directory.join("tools.jsonl"))?.iter().map(tool).collect(), queries })
    }

    /// One of the collection's hubs.
    pub(crate) fn hub(&self, corpus: &str) -> Crowd {
        Crowd::of(self.tools.iter().filter(|tool| tool.corpus == corpus).cloned())
    }

    /// One of the collection's hubs without the servers that go by one of these names.
    pub(crate) fn hub_without(&self, corpus: &str, names: &[String]) -> Crowd {
        let has = |tool: &&Tool| {
            let texts = [&tool.server, &tool.about].map(|text| text.to_lowercase());
            names.iter().any(|name| texts.iter().any(|text| text.contains(name.as_str())))
        };
        Crowd::of(self.tools.iter().filter(|tool| tool.corpus == corpus && !has(tool)).cloned())
    }

    /// A hub with so many tools: its own, then ones patched together from two of the other hubs'. No
    /// query means those, but half of one may fit it.
    pub(crate) fn crowded_hub(&self, corpus: &str, size: usize) -> Crowd {
        let (own, others): (Vec<&Tool>, Vec<&Tool>) =
            self.tools.iter().partition(|tool| tool.corpus == corpus);
        let patched = patches(&others);
        Crowd::of(own.into_iter().cloned().chain(patched).take(size))
    }

    /// So many tools of all hubs together, for measuring time and memory.
    pub(crate) fn crowd(&self, size: usize) -> Crowd {
        let all: Vec<&Tool> = self.tools.iter().collect();
        Crowd::of(self.tools.iter().cloned().chain(patches(&all)).take(size))
    }
}

/// Ever new tools out of known ones.
fn patches(tools: &[&Tool]) -> impl Iterator<Item = Tool> {
    let count = tools.len();
    // Each round through all of them pairs them otherwise, so that no pair comes twice.
    (0..).map(move |number| {
        let (round, at) = (number / count, number % count);
        patched(tools[at * 7 % count], tools[(at * 13 + 101 + round * 17) % count], number / 20)
    })
}

/// The first half of one tool and the second half of another.
fn patched(one: &Tool, other: &Tool, server: usize) -> Tool {
    let halves = |text: &str, joint: &str, other: &str| {
        let (first, second): (Vec<&str>, Vec<&str>) =
            (text.split(joint).collect(), other.split(joint).collect());
        [&first[..first.len().div_ceil(2)], &second[second.len() / 2..]].concat().join(joint)
    };
    Tool {
        corpus: String::new(),
        server: format!("patched-{server}"),
        about: String::new(),
        name: halves(&one.name, "_", &other.name),
        description: halves(&one.description, " ", &other.description),
        schema: other.schema.clone(),
    }
}

impl Crowd {
    fn of(tools: impl Iterator<Item = Tool>) -> Self {
        let mut names = HashMap::new();
        let mut offers: BTreeMap<ServerName, Offer> = BTreeMap::new();
        for tool in tools {
            let server = tool.server_name();
            names.insert(server.as_str().to_owned(), tool.server.clone());
            let offer = offers.entry(server).or_default();
            offer.instructions = Some(tool.about.clone());
            offer.tools.push(tool.entry());
        }
        let offers = offers.into_iter().map(|(server, offer)| (server, Arc::new(offer))).collect();
        Self { catalog: Catalog::new(offers), names, vectors: Arc::default() }
    }

    /// The same, with the meaning of its tools.
    pub(crate) fn with(mut self, sentences: Option<&Sentences>) -> Self {
        if let Some(sentences) = sentences {
            self.vectors = Arc::new(sentences.of_tools(&self.catalog));
        }
        self
    }

    /// The first ten tools for a query, as the collection calls them.
    pub(crate) fn find(&self, query: &str, sentences: Option<&Sentences>) -> Vec<String> {
        let parts = |sentences: &Sentences| self.catalog.parts(query, sentences.any_language);
        self.found(query, sentences.map(|sentences| (sentences, sentences.of_request(&parts(sentences)))))
    }

    /// The same, where nobody has asked before.
    pub(crate) fn find_anew(&self, query: &str, sentences: &Sentences) -> Vec<String> {
        let parts = self.catalog.parts(query, sentences.any_language);
        self.found(query, Some((sentences, sentences.of_new_request(&parts))))
    }

    fn found(&self, query: &str, parts: Option<(&Sentences, Vec<Vec<f32>>)>) -> Vec<String> {
        let meaning = parts.and_then(|(sentences, parts)| {
            let meaning = Meaning::of(&parts, self.vectors.clone())?;
            Some(if sentences.any_language { meaning } else { meaning.by_english_model() })
        });
        let aids = Aids { habits: None, meaning: meaning.as_ref(), shapes: None };
        let found = self.catalog.find_with(query, None, &aids).into_iter().take(10);
        found.map(|(server, tool)| format!("{}:{}", self.names[server.as_str()], tool.name)).collect()
    }
}

impl Tool {
    /// Its server's name as the hub takes it.
    pub(crate) fn server_name(&self) -> ServerName {
        let allowed = self.server.replace([':', '|', '/', '\\'], " ");
        let allowed: String = allowed.trim().chars().take(60).collect();
        allowed.trim().parse().expect("the name was made to fit")
    }

    pub(crate) fn entry(&self) -> ToolEntry {
        let definition = serde_json::json!({
            "name": self.name, "description": self.description, "inputSchema": self.schema
        });
        let raw = Raw::from_string(definition.to_string()).expect("it was just written");
        let fields = RawObject::parse(&raw).expect("it is an object");
        ToolEntry::new(self.name.clone(), &fields, raw)
    }
}

pub(crate) fn lines(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).with_context(|| path.display().to_string())).collect()
}
