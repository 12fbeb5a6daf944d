//! Inverted index over the words of all tools. Each server has its own [`Segment`], built once per list; an [`Index`]
//! combines them. `rank` evaluates queries.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
    sync::Arc,
};

use super::{
    super::number,
    spelling::Spelling,
    thesaurus::{self, Actions},
    weights::Weights,
    words::{self, Word},
};

/// The texts of a tool that are indexed.
#[derive(Debug, Default, Clone)]
pub(super) struct ToolText<'a> {
    pub(super) server: &'a str,
    /// The name the server reports.
    pub(super) server_title: &'a str,
    /// The server's own description.
    pub(super) summary: &'a str,
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// Names and descriptions.
    pub(super) parameters: Vec<(String, String)>,
    /// The values that parameters may have, where a schema lists them: what a converter converts is often nowhere else.
    pub(super) values: Vec<String>,
}

/// The hash of a word, the same in every segment.
pub(super) type Term = u64;

/// The hash of a word.
pub(super) fn term(word: &str) -> Term {
    number(word)
}

/// A hasher that returns hashes unchanged.
#[derive(Debug, Default)]
pub(super) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A map keyed by the hash of a text.
pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;

/// The indexed words of one server.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) tools: Vec<IndexedTool>,
    /// All names of the server.
    pub(super) names: Vec<Vec<Term>>,
    /// Sorted.
    terms: Vec<Term>,
    /// Start of each term's postings.
    starts: Vec<u32>,
    postings: Vec<Posting>,
    /// Weight of each term for the server itself; 0 if its texts lack it.
    own: Vec<f32>,
    /// Words of names and first sentences, for correcting typos.
    written: Vec<Box<str>>,
}

#[derive(Debug)]
pub(super) struct IndexedTool {
    /// The words of its name that are not part of its server's name.
    pub(super) name: Vec<NameWord>,
    pub(super) actions: Actions,
}

/// A word of a tool's name.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameWord {
    pub(super) term: Term,
    /// True for `list_issues`, false for `get_issue`.
    pub(super) plural: bool,
}

/// The words of a name with their weights among all tools, or all servers.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) words: Vec<(Term, f32)>,
    /// The sum of the weights.
    pub(super) whole: f32,
}

impl Name {
    pub(super) fn of(words: impl Iterator<Item = (Term, f32)>) -> Self {
        let words: Vec<(Term, f32)> = words.collect();
        Self { whole: words.iter().map(|(_, rarity)| rarity).sum(), words }
    }
}

/// Weight of a term for a tool or server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    /// Position within the segment, or among all tools.
    pub(super) at: u32,
    /// From 0 to 1.
    pub(super) weight: f32,
}

/// All segments. Positions are those in the list the index was built from.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) weights: Weights,
    pub(super) segments: Vec<Arc<Segment>>,
    /// The position of each segment's first tool.
    firsts: Vec<u32>,
    /// The segment of each position.
    servers: Vec<u32>,
    /// Every name of every server, with the server's position.
    pub(super) server_names: Vec<(usize, Name)>,
    terms: ByHash<KnownWord>,
    by_tool: Vec<Posting>,
    by_server: Vec<Posting>,
    pub(super) spelling: Spelling,
}

/// Postings of a term among all tools and servers.
#[derive(Debug, Default)]
struct KnownWord {
    tools: Stand,
    servers: Stand,
}

/// A slice of the postings, and the term's weight: the rarer, the higher.
#[derive(Debug, Default)]
struct Stand {
    first: u32,
    count: u32,
    rarity: f32,
}

/// The kind of document a query looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    Tools,
    Servers,
}

/// The words of one tool or server with their combined weights.
#[derive(Default)]
struct Sheet {
    worth: HashMap<String, f32>,
}

/// Average length of a field, and how much longer fields are discounted, from 0 to 1.
struct Length(f32, f32);

impl Sheet {
    fn field(&mut self, words: &[Word], worth: f32, length: Length) {
        let worth = worth / (1.0 - length.1 + length.1 * words.len() as f32 / length.0);
        for word in words {
            *self.worth.entry(word.stem.clone()).or_default() += worth;
        }
    }

    fn pairs(&mut self, words: &[Word], worth: f32, length: Length) {
        let worth = worth / (1.0 - length.1 + length.1 * words.len() as f32 / length.0);
        for pair in words::pairs(words) {
            *self.worth.entry(pair).or_default() += worth;
        }
    }

    /// The weight of each word, by term.
    fn terms(self, saturation: f32) -> impl Iterator<Item = (Term, f32)> {
        self.worth.into_iter().map(move |(word, worth)| (term(&word), worth / (worth + saturation)))
    }
}

impl Segment {
    /// Indexes the tools of one server.
    pub(super) fn read<'a>(w: &Weights, texts: impl Iterator<Item = ToolText<'a>>) -> Self {
        let mut segment = Self::default();
        let mut own = Sheet::default();
        let mut postings: ByHash<Vec<Posting>> = ByHash::default();
        let mut written: HashSet<Box<str>> = HashSet::new();
        for text in texts {
            if segment.tools.is_empty() {
                segment.read_server(w, &text, &mut own);
            }
            let at = segment.tools.len() as u32;
            let sheet = segment.read_tool(w, &text, &mut own, &mut written);
            for (term, weight) in sheet.terms(w.saturation) {
                postings.entry(term).or_default().push(Posting { at, weight });
            }
        }
        let own: ByHash<f32> = own.terms(w.own_saturation).collect();
        segment.terms = postings.keys().chain(own.keys()).copied().collect();
        segment.terms.sort_unstable();
        segment.terms.dedup();
        segment.own = segment.terms.iter().map(|term| own.get(term).copied().unwrap_or_default()).collect();
        for term in &segment.terms {
            segment.starts.push(segment.postings.len() as u32);
            segment.postings.extend(postings.get(term).into_iter().flatten());
        }
        segment.starts.push(segment.postings.len() as u32);
        segment.postings.shrink_to_fit();
        segment.written = written.into_iter().collect();
        segment
    }

    fn postings(&self, number: usize) -> &[Posting] {
        let at = |number: usize| self.starts.get(number).map_or(0, |start| *start as usize);
        self.postings.get(at(number)..at(number + 1)).unwrap_or_default()
    }

    fn read_server(&mut self, w: &Weights, text: &ToolText, sheet: &mut Sheet) {
        for name in [text.server, text.server_title] {
            let words = words::words(name);
            sheet.field(&words, w.own_name, Length(1.0, 0.0));
            sheet.pairs(&words, w.own_name * 0.5, Length(1.0, 0.0));
            let name: Vec<Term> = words.iter().map(|word| term(&word.stem)).collect();
            if !name.is_empty() && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        sheet.field(&words::words(text.summary), w.own_summary, Length(20.0, 0.5));
    }

    fn read_tool(
        &mut self,
        w: &Weights,
        text: &ToolText,
        server_sheet: &mut Sheet,
        written: &mut HashSet<Box<str>>,
    ) -> Sheet {
        let mut sheet = Sheet::default();
        let name = words::words(text.name);
        let title = words::words(text.title);
        let server_name = server_words(text);
        let (lead, rest) = lead(text.description);
        let lead = words::words(lead);
        let short = || Length(3.0, w.name_b);
        let sentence = || Length(12.0, w.lead_b);
        sheet.field(&name, w.name, short());
        sheet.pairs(&name, w.name * w.pairs, short());
        sheet.field(&title, w.title, short());
        sheet.pairs(&title, w.title * w.pairs, short());
        sheet.field(&server_name, w.server, Length(3.0, 0.3));
        sheet.pairs(&server_name, w.server * w.pairs, Length(3.0, 0.3));
        sheet.field(&lead, w.lead, sentence());
        sheet.pairs(&lead, w.lead * w.pairs * 0.5, sentence());
        sheet.field(&words::words(rest), w.rest, Length(25.0, w.rest_b));
        sheet.field(&words::words(text.summary), w.summary, Length(20.0, 0.5));
        let parameters = |part: fn(&(String, String)) -> &String| -> Vec<Word> {
            text.parameters.iter().flat_map(|parameter| words::words(part(parameter))).collect()
        };
        for word in [&name, &title, &server_name, &lead].into_iter().flatten() {
            if !written.contains(word.written.as_str()) {
                written.insert(word.written.as_str().into());
            }
        }
        sheet.field(&parameters(|(name, _)| name), w.parameter, Length(6.0, w.parameter_b));
        sheet.field(&parameters(|(_, text)| text), w.parameter_text, Length(30.0, w.parameter_b));
        let values: Vec<Word> = text.values.iter().flat_map(|value| words::words(value)).collect();
        sheet.field(&values, w.values, Length(12.0, w.parameter_b));
        server_sheet.field(&name, w.own_tool, Length(3.0, 0.0));
        server_sheet.pairs(&name, w.own_tool * 0.3, Length(3.0, 0.0));
        server_sheet.field(&lead, w.own_lead, Length(12.0, 0.5));

        let said =
            name.iter().map(|word| thesaurus::actions(&word.stem)).fold(Actions::default(), Actions::and);
        // A name without a verb: then the description's first word often is one.
        let first = || lead.first().map(|word| thesaurus::actions(&word.stem)).unwrap_or_default();
        let actions = if said.is_empty() { first() } else { said };
        let own =
            |word: &&Word| name.len() == 1 || !server_name.iter().any(|server| server.stem == word.stem);
        let part = |word: &Word| NameWord { term: term(&word.stem), plural: word.is_plural() };
        let mut name: Vec<NameWord> = name.iter().filter(own).map(part).collect();
        name.dedup_by_key(|part| part.term);
        self.tools.push(IndexedTool { name, actions });
        sheet
    }
}

impl Index {
    /// Indexes all tools, which must be grouped by server.
    #[cfg(test)]
    pub(super) fn read<'a>(weights: Weights, texts: impl Iterator<Item = ToolText<'a>>) -> Self {
        let mut texts = texts.peekable();
        let mut segments = Vec::new();
        while let Some(server) = texts.peek().map(|text| text.server) {
            let own = std::iter::from_fn(|| texts.next_if(|text| text.server == server));
            segments.push(Arc::new(Segment::read(&weights, own)));
        }
        Self::join(weights, segments)
    }

    /// Combines segments without reading their texts again.
    pub(super) fn join(weights: Weights, segments: Vec<Arc<Segment>>) -> Self {
        let mut index = Self { weights, segments, ..Self::default() };
        for (at, segment) in (0..).zip(&index.segments) {
            index.firsts.push(index.servers.len() as u32);
            index.servers.resize(index.servers.len() + segment.tools.len(), at);
            for (number, term) in segment.terms.iter().enumerate() {
                let known = index.terms.entry(*term).or_default();
                known.tools.count += segment.postings(number).len() as u32;
                known.servers.count += u32::from(segment.own[number] > 0.0);
            }
        }
        let (tools, servers) = (index.servers.len(), index.segments.len());
        let (mut of_tools, mut of_servers) = (0, 0);
        for known in index.terms.values_mut() {
            known.tools.begin(&mut of_tools, tools);
            known.servers.begin(&mut of_servers, servers);
        }
        let nothing = Posting { at: 0, weight: 0.0 };
        index.by_tool = vec![nothing; of_tools as usize];
        index.by_server = vec![nothing; of_servers as usize];
        for (at, segment) in (0..).zip(&index.segments) {
            let first = index.firsts[at as usize];
            for (number, term) in segment.terms.iter().enumerate() {
                let Some(known) = index.terms.get_mut(term) else { continue };
                for posting in segment.postings(number) {
                    let posting = Posting { at: first + posting.at, ..*posting };
                    known.tools.put(posting, &mut index.by_tool);
                }
                if segment.own[number] > 0.0 {
                    known.servers.put(Posting { at, weight: segment.own[number] }, &mut index.by_server);
                }
            }
        }
        let names = index.segments.iter().enumerate();
        let names = names.flat_map(|(at, segment)| segment.names.iter().map(move |name| (at, name)));
        let weighted =
            |name: &Vec<Term>| Name::of(name.iter().map(|term| (*term, index.rarity(Among::Servers, *term))));
        index.server_names = names.map(|(at, name)| (at, weighted(name))).collect();
        let written: HashSet<&str> =
            index.segments.iter().flat_map(|segment| &segment.written).map(|word| &**word).collect();
        index.spelling = Spelling::new(written.into_iter().map(Into::into));
        index
    }

    /// Number of tools.
    pub(super) fn count(&self, among: Among) -> usize {
        match among {
            Among::Servers => self.segments.len(),
            Among::Tools => self.servers.len(),
        }
    }

    /// The tool at this position, and its server.
    pub(super) fn tool(&self, at: usize) -> Option<(usize, &IndexedTool)> {
        let server = *self.servers.get(at)? as usize;
        let tool = self.segments[server].tools.get(at - self.firsts[server] as usize)?;
        Some((server, tool))
    }

    /// The server of the tool at this position, which must exist.
    pub(super) fn server_of(&self, at: usize) -> usize {
        self.servers[at] as usize
    }

    /// Whether any tool or server contains the word.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.terms.contains_key(&term(word))
    }

    fn stand(&self, among: Among, term: Term) -> Option<&Stand> {
        let known = self.terms.get(&term)?;
        Some(if among == Among::Tools { &known.tools } else { &known.servers })
    }

    /// The weight of a term: the rarer, the higher.
    pub(super) fn rarity(&self, among: Among, term: Term) -> f32 {
        self.stand(among, term).map_or(0.0, |stand| stand.rarity)
    }

    /// All postings of a term, sorted.
    pub(super) fn having(&self, among: Among, term: Term) -> &[Posting] {
        let Some(stand) = self.stand(among, term) else { return &[] };
        let all = if among == Among::Tools { &self.by_tool } else { &self.by_server };
        all.get(stand.first as usize..(stand.first + stand.count) as usize).unwrap_or_default()
    }

    /// Of a term's postings, those of the server that the one with this number belongs to, and the term's weight among that
    /// server's tools.
    pub(super) fn of_one_server(&self, having: &[Posting], number: usize) -> (f32, Range<usize>) {
        let server = self.server_of(having[number].at as usize);
        let (first, tools) = (self.firsts[server], self.segments[server].tools.len());
        let (before, after) = having.split_at(number);
        let start = before.partition_point(|posting| posting.at < first);
        let end = number + after.partition_point(|posting| ((posting.at - first) as usize) < tools);
        (rarity(end - start, tools), start..end)
    }

    /// The weight of a term for the tool at this position.
    pub(super) fn worth(&self, term: Term, at: usize) -> Option<f32> {
        let postings = self.having(Among::Tools, term);
        let found = postings.binary_search_by_key(&(at as u32), |posting| posting.at).ok()?;
        Some(postings[found].weight)
    }
}

impl Stand {
    /// Takes its slice of the postings, which starts where the previous one ends.
    fn begin(&mut self, end: &mut u32, documents: usize) {
        self.rarity = rarity(self.count as usize, documents);
        self.first = *end;
        *end += self.count;
        // Counted again while they are put in.
        self.count = 0;
    }

    fn put(&mut self, posting: Posting, all: &mut [Posting]) {
        all[(self.first + self.count) as usize] = posting;
        self.count += 1;
    }
}

/// The weight of a term that this many of all documents contain.
fn rarity(having: usize, all: usize) -> f32 {
    let (having, all) = (having as f32, all as f32);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn server_words(text: &ToolText) -> Vec<Word> {
    let mut words = words::words(text.server);
    for word in words::words(text.server_title) {
        if !words.iter().any(|known| known.stem == word.stem) {
            words.push(word);
        }
    }
    words
}

/// Splits a description into its first sentence and the rest.
fn lead(text: &str) -> (&str, &str) {
    /// A shorter one is a heading or an abbreviation.
    const SENTENCE: usize = 20;
    let ends = |(at, mark): &(usize, &str)| {
        *at > SENTENCE && text[at + mark.len()..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = text.match_indices(['.', '\n', '!', '?']).find(ends);
    text.split_at(end.map_or(text.len(), |(at, mark)| at + mark.len()))
}
