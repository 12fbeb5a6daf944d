//! What the servers offer, as last seen: an immutable value, replaced whole. Nothing here starts a server.

mod annotate;
pub mod answer;
pub mod arguments;
pub mod disk;
pub mod embedding;
pub mod entry;
pub mod fetch;
pub mod flat;
mod resolve;
pub mod rules;
pub mod search;
pub mod signature;
pub mod tokens;
pub mod validate;
pub mod versions;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::model::{ServerName, ToolPath};
pub use entry::{Offer, ResourceEntry, Said, ToolEntry};

/// The offers of all enabled servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    servers: Arc<BTreeMap<ServerName, Arc<Offer>>>,
    index: Arc<OnceLock<search::Indexed>>,
    /// The index of an earlier catalog, where it has one, until ours is made of it.
    before: Arc<Mutex<Option<Arc<OnceLock<search::Indexed>>>>>,
    subjects: Arc<OnceLock<BTreeMap<ServerName, Vec<String>>>>,
    flat: Arc<OnceLock<flat::Flat>>,
    /// What stands for the meaning of each tool, by its position.
    meant: Arc<OnceLock<Vec<u64>>>,
}

/// A number that stands for a text, the same on every machine and in every version: FNV-1a.
fn number(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// What helps a search besides its words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aids<'a> {
    /// What was used after similar searches.
    pub habits: Option<&'a search::Habits>,
    /// What it means, where a source of the user's says so.
    pub meaning: Option<&'a search::Meaning>,
}

/// What stands for a tool's meaning.
fn meaning_text(server: &ServerName, tool: &ToolEntry) -> String {
    /// Models read no more than a few hundred words.
    const CHARS: usize = 1_000;
    let name: Vec<&str> = tool.name.split(['_', '-', '.', '/']).collect();
    format!("{server}: {}. {}", name.join(" "), entry::shorten(&tool.description, CHARS))
}

/// So many subjects of a server are known.
pub const SUBJECTS: usize = 3;

impl Catalog {
    /// A catalog of these offers.
    pub fn new(servers: BTreeMap<ServerName, Arc<Offer>>) -> Self {
        Self { servers: Arc::new(servers), ..Self::default() }
    }

    /// A catalog of these offers, after this one: what of it was read for searching is not read again.
    #[must_use]
    pub fn followed_by(&self, servers: BTreeMap<ServerName, Arc<Offer>>) -> Self {
        let before = match self.index.get() {
            Some(_) => Some(self.index.clone()),
            // Nobody searched in it; then the one before it is still the latest.
            None => self.before.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        };
        Self { servers: Arc::new(servers), before: Arc::new(Mutex::new(before)), ..Self::default() }
    }

    /// Whether it is this very catalog, and not one made after it.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.servers, &other.servers)
    }

    /// All offers, by server.
    pub fn servers(&self) -> &BTreeMap<ServerName, Arc<Offer>> {
        &self.servers
    }

    /// One server's offer, where its lists have been read once.
    pub fn offer(&self, server: &str) -> Option<&Arc<Offer>> {
        self.servers.get(server)
    }

    /// A tool by its path.
    pub fn tool(&self, path: &ToolPath) -> Option<&ToolEntry> {
        self.servers.get(&path.server)?.tool(&path.tool)
    }

    /// Everything under names of its own. Built once, when it is first asked for.
    pub fn flat(&self) -> &flat::Flat {
        self.flat
            .get_or_init(|| flat::Flat::of(self.servers.iter().map(|(server, offer)| (server, &**offer))))
    }

    /// All tools, by server and in the server's order.
    pub fn tools(&self) -> impl Iterator<Item = (&ServerName, &ToolEntry)> {
        self.servers.iter().flat_map(|(server, offer)| offer.tools.iter().map(move |tool| (server, tool)))
    }

    /// Tools that fit the query, best first. An empty query means all.
    pub fn find(&self, query: &str, server: Option<&str>) -> Vec<(&ServerName, &ToolEntry)> {
        self.find_with(query, server, &Aids::default())
    }

    /// The same, with what else is known.
    pub fn find_with(
        &self,
        query: &str,
        server: Option<&str>,
        aids: &Aids<'_>,
    ) -> Vec<(&ServerName, &ToolEntry)> {
        let wanted = |(name, tool): &(&ServerName, &ToolEntry)| {
            tool.for_models && server.is_none_or(|server| name.as_str() == server)
        };
        if query.trim().is_empty() {
            return self.tools().filter(wanted).collect();
        }
        let all: Vec<_> = self.tools().collect();
        let lifts = self.lifts(query, aids.habits);
        let mut hits = self.index().lifted(query, |at| wanted(&all[at]), &lifts);
        if let Some(meaning) = aids.meaning {
            let texts = self.meant.get_or_init(|| {
                all.iter().map(|(server, tool)| number(&meaning_text(server, tool))).collect()
            });
            let texts = texts.iter().copied().enumerate().filter(|(at, _)| wanted(&all[*at]));
            hits = meaning.fused(hits, &texts.collect::<Vec<_>>());
        }
        hits.into_iter().map(|hit| all[hit.at]).collect()
    }

    /// Why a tool fits the query, or how little; `None` where there is no such tool.
    pub fn explain(
        &self,
        query: &str,
        path: &ToolPath,
        habits: Option<&search::Habits>,
    ) -> Option<search::Explanation> {
        let at = self.position(path)?;
        let learned = self.lifts(query, habits).get(&at).copied();
        Some(search::Explanation { learned, ..self.index().explain(query, at)? })
    }

    /// What is to be turned into vectors for all tools, each with its number.
    pub fn meaning_texts(&self) -> Vec<(u64, String)> {
        let text = |(server, tool): (&ServerName, &ToolEntry)| {
            let text = meaning_text(server, tool);
            (number(&text), text)
        };
        self.tools().filter(|(_, tool)| tool.for_models).map(text).collect()
    }

    /// What habits add to the tools at which positions.
    fn lifts(&self, query: &str, habits: Option<&search::Habits>) -> HashMap<usize, search::Lift> {
        let Some(habits) = habits.filter(|habits| !habits.is_empty()) else { return HashMap::new() };
        let lifts = habits.lifts(query, self.index());
        let at = |(path, lift): (&str, search::Lift)| Some((self.position(&path.parse().ok()?)?, lift));
        lifts.into_iter().filter_map(at).collect()
    }

    /// Where a tool stands among all.
    fn position(&self, path: &ToolPath) -> Option<usize> {
        let before = self.servers.range::<ServerName, _>(..&path.server).map(|(_, offer)| offer.tools.len());
        let own = self.servers.get(&path.server)?.tools.iter().position(|tool| tool.name == path.tool)?;
        Some(before.sum::<usize>() + own)
    }

    /// Built at the first search after a change, not at every change: lists change more often than people search.
    fn index(&self) -> &search::Index {
        let read = || {
            let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
            search::Indexed::new(&self.servers, before.as_ref().and_then(|before| before.get()))
        };
        &self.index.get_or_init(read).index
    }

    /// What a server's tools deal with, by their names, most of them first.
    pub fn subjects(&self, server: &str) -> &[String] {
        let all = self.subjects.get_or_init(|| {
            let of = |(server, offer): (&ServerName, &Arc<Offer>)| (server.clone(), offer.subjects(server));
            self.servers.iter().map(of).collect()
        });
        all.get(server).map(Vec::as_slice).unwrap_or_default()
    }

    /// The paths nearest to one that does not exist.
    pub fn near(&self, path: &str, limit: usize) -> Vec<String> {
        let all: Vec<String> =
            self.tools().map(|(server, tool)| format!("{}:{}", server.in_path(), tool.name)).collect();
        search::near(path, all.iter().map(String::as_str), limit)
    }
}
