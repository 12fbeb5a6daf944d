//! The catalog: an immutable snapshot of what all servers offer, replaced as a whole. Nothing here starts a server.

mod annotate;
pub mod answer;
pub mod arguments;
pub mod brand;
pub mod disk;
pub mod embedding;
pub mod entry;
pub mod fetch;
pub mod flat;
mod labels;
pub mod lists;
mod mending;
mod others;
pub mod overrides;
mod repair;
mod resolve;
pub mod result_shapes;
pub mod search;
pub mod shape;
pub mod signature;
pub mod skills;
pub mod tokens;
mod types;
pub mod validate;
pub mod versions;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use crate::model::{ServerName, ToolPath};
pub use entry::{Offer, ResourceEntry, Said, ToolEntry};
pub use labels::labelled;
pub use skills::{SkillEntry, Skills};

/// The offers of all enabled servers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Catalog(Arc<CatalogParts>);

/// The offer, and values derived from it on first use.
#[derive(Debug, Default)]
struct CatalogParts {
    servers: BTreeMap<ServerName, Arc<Offer>>,
    index: Arc<OnceLock<search::Indexed>>,
    /// The index of the previous catalog, if any, until this one's is built from it.
    before: Mutex<Option<Arc<OnceLock<search::Indexed>>>>,
    subjects: OnceLock<BTreeMap<ServerName, Vec<String>>>,
    flat: OnceLock<flat::Flat>,
    others: OnceLock<others::Others>,
    lists: lists::Lists,
    for_models: OnceLock<usize>,
    /// The hash of each tool's meaning text, by position.
    meant: OnceLock<Vec<Option<u64>>>,
}

/// A hash of a text, the same on every machine and in every version: FNV-1a.
fn number(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Evidence for ranking besides words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aids<'a> {
    /// Tools used after similar searches.
    pub habits: Option<&'a search::Habits>,
    /// The embedding of the query, if a model is available.
    pub meaning: Option<&'a search::Meaning>,
    /// The shapes of earlier results.
    pub shapes: Option<&'a shape::Shapes>,
}

/// A search result.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Its server.
    pub server: &'a ServerName,
    /// The tool.
    pub tool: &'a ToolEntry,
    /// The shares of words and meaning in its score, if both count.
    pub shares: Option<search::Shares>,
}

/// The words of a request that may be names of tools, as only a program would write them. Mostly there are none.
struct WrittenNames<'a> {
    whole: &'a str,
    words: HashSet<&'a str>,
}

/// Whether a character separates the words of a name.
fn joins_words(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/')
}

impl<'a> WrittenNames<'a> {
    fn of(request: &'a str) -> Self {
        let words = request.split(|c: char| !c.is_alphanumeric() && !joins_words(c));
        let is_written = |word: &&str| word.chars().skip(1).any(|c| joins_words(c) || c.is_uppercase());
        let words = words.map(|word| word.trim_matches(joins_words)).filter(is_written).collect();
        Self { whole: request.trim(), words }
    }

    /// Does the request have this name in it?
    fn has(&self, tool: &str) -> bool {
        self.whole == tool || self.words.contains(tool)
    }
}

/// The text that is embedded for a tool.
fn meaning_text(server: &ServerName, tool: &ToolEntry) -> String {
    /// Models read only a few hundred words.
    const CHARS: usize = 1_000;
    let name: Vec<&str> = tool.name.split(['_', '-', '.', '/']).collect();
    format!("{server}: {}. {}", name.join(" "), entry::shorten(&tool.description, CHARS))
}

/// Number of subjects kept per server.
pub const SUBJECTS: usize = 3;

impl Catalog {
    /// Creates a catalog of these offers.
    pub fn new(servers: BTreeMap<ServerName, Arc<Offer>>) -> Self {
        Self(Arc::new(CatalogParts { servers, ..CatalogParts::default() }))
    }

    /// Creates the next catalog; what was indexed for searching is reused.
    #[must_use]
    pub fn followed_by(&self, servers: BTreeMap<ServerName, Arc<Offer>>) -> Self {
        let before = match self.0.index.get() {
            Some(_) => Some(self.0.index.clone()),
            // It was never searched; its predecessor's index is still the latest.
            None => self.0.before.lock().clone(),
        };
        Self(Arc::new(CatalogParts { servers, before: Mutex::new(before), ..CatalogParts::default() }))
    }

    /// Is it the same instance?
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// All offers, by server.
    pub fn servers(&self) -> &BTreeMap<ServerName, Arc<Offer>> {
        &self.0.servers
    }

    /// A server's offer, if its lists have been read.
    pub fn offer(&self, server: &str) -> Option<&Arc<Offer>> {
        self.0.servers.get(server)
    }

    /// A tool by its path.
    pub fn tool(&self, path: &ToolPath) -> Option<&ToolEntry> {
        self.0.servers.get(&path.server)?.tool(&path.tool)
    }

    /// Everything under flat names. Computed on first use.
    pub fn flat(&self) -> &flat::Flat {
        self.0
            .flat
            .get_or_init(|| flat::Flat::of(self.0.servers.iter().map(|(server, offer)| (server, &**offer))))
    }

    /// All tools, by server and in the server's order.
    pub fn tools(&self) -> impl Iterator<Item = (&ServerName, &ToolEntry)> {
        self.0.servers.iter().flat_map(|(server, offer)| offer.tools.iter().map(move |tool| (server, tool)))
    }

    /// Number of tools that models may use. Cached, because every request checks it to choose the surface.
    pub fn tools_for_models(&self) -> usize {
        *self.0.for_models.get_or_init(|| self.tools().filter(|(_, tool)| tool.for_models).count())
    }

    /// Tools that match the query, best first. An empty query matches all.
    pub fn find(&self, query: &str, server: Option<&str>) -> Vec<(&ServerName, &ToolEntry)> {
        self.find_with(query, server, &Aids::default())
    }

    /// The same with further evidence.
    pub fn find_with(
        &self,
        query: &str,
        server: Option<&str>,
        aids: &Aids<'_>,
    ) -> Vec<(&ServerName, &ToolEntry)> {
        self.found(query, server, aids).into_iter().map(|found| (found.server, found.tool)).collect()
    }

    /// The same with the shares of the score.
    pub fn found(&self, query: &str, server: Option<&str>, aids: &Aids<'_>) -> Vec<Found<'_>> {
        let wanted = |(name, tool): &(&ServerName, &ToolEntry)| {
            tool.for_models && server.is_none_or(|server| name.as_str() == server)
        };
        let found = |(server, tool), shares| Found { server, tool, shares };
        if query.trim().is_empty() {
            return self.tools().filter(wanted).map(|tool| found(tool, None)).collect();
        }
        let all: Vec<_> = self.tools().collect();
        let meant = aids.meaning.and_then(|meaning| meaning.meant(self.meant_texts()));
        let written = meant.as_ref().map(|_| WrittenNames::of(query));
        let is_named = |at: usize| written.as_ref().is_some_and(|written| written.has(&all[at].1.name));
        let beside = search::Beside {
            lifts: self.lifts(query, aids.habits),
            named: Some(&is_named),
            meant: meant.as_ref(),
        };
        // Looking at each tool takes a while where there are many, and mostly all are wanted.
        let all_wanted = server.is_none() && self.tools_for_models() == all.len();
        let hits = self.index().ranked_beside(query, |at| all_wanted || wanted(&all[at]), &beside);
        hits.into_iter().map(|hit| found(all[hit.at], hit.shares)).collect()
    }

    /// Why a tool matches the query, or how little; `None` if there is no such tool.
    pub fn explain(
        &self,
        query: &str,
        found: &Found<'_>,
        habits: Option<&search::Habits>,
    ) -> Option<search::Explanation> {
        let path = ToolPath { server: found.server.clone(), tool: found.tool.name.clone() };
        let at = self.position(&path)?;
        let learned = self.lifts(query, habits).get(&at).copied();
        let explanation = self.index().explain(query, at)?;
        Some(search::Explanation { learned, shares: found.shares, ..explanation })
    }

    /// The texts to embed for a request: the whole, and each part if there are several. Words that are nearly right are put
    /// right, but `as_written`.
    pub fn parts(&self, query: &str, as_written: bool) -> Vec<String> {
        self.index().parts(query, as_written)
    }

    /// The hash of each tool's text, by position.
    fn meant_texts(&self) -> &[Option<u64>] {
        let text = |(server, tool): (&ServerName, &ToolEntry)| {
            tool.for_models.then(|| number(&meaning_text(server, tool)))
        };
        self.0.meant.get_or_init(|| self.tools().map(text).collect())
    }

    /// The texts to embed for all tools, with their hashes.
    pub fn meaning_texts(&self) -> Vec<(u64, String)> {
        let text = |(server, tool): (&ServerName, &ToolEntry)| {
            let text = meaning_text(server, tool);
            (number(&text), text)
        };
        self.tools().filter(|(_, tool)| tool.for_models).map(text).collect()
    }

    /// The boost from habits, by position.
    fn lifts(&self, query: &str, habits: Option<&search::Habits>) -> HashMap<usize, search::Lift> {
        let Some(habits) = habits.filter(|habits| !habits.is_empty()) else { return HashMap::new() };
        let lifts = habits.lifts(query, self.index());
        let at = |(path, lift): (&str, search::Lift)| Some((self.position(&path.parse().ok()?)?, lift));
        lifts.into_iter().filter_map(at).collect()
    }

    /// A tool's position.
    fn position(&self, path: &ToolPath) -> Option<usize> {
        let before =
            self.0.servers.range::<ServerName, _>(..&path.server).map(|(_, offer)| offer.tools.len());
        let own = self.0.servers.get(&path.server)?.tools.iter().position(|tool| tool.name == path.tool)?;
        Some(before.sum::<usize>() + own)
    }

    /// Built at the first search after a change: lists change more often than people search.
    fn index(&self) -> &search::Index {
        let read = || {
            let before = self.0.before.lock().take();
            search::Indexed::new(&self.0.servers, before.as_ref().and_then(|before| before.get()))
        };
        &self.0.index.get_or_init(read).index
    }

    /// The subjects of a server's tools, most frequent first.
    pub fn subjects(&self, server: &str) -> &[String] {
        let all = self.0.subjects.get_or_init(|| {
            let of = |(server, offer): (&ServerName, &Arc<Offer>)| (server.clone(), offer.subjects(server));
            self.0.servers.iter().map(of).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_a_tool_where_only_a_program_would_write_so() {
        for (request, tool, expected) in [
            ("use create_issue for this", "create_issue", true),
            ("call github/create_issue", "create_issue", false),
            ("run `listPullRequests`.", "listPullRequests", true),
            ("search the web", "search", false),
            ("search", "search", true),
            ("create an issue", "create_issue", false),
            ("create_issues", "create_issue", false),
        ] {
            assert_eq!(WrittenNames::of(request).has(tool), expected, "{request}");
        }
    }
}
