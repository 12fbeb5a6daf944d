//! The words of all tools and where they stand. Built once per catalog; what a query makes of it is in `rank`.

use std::collections::{HashMap, HashSet};

use super::{
    spelling::Spelling,
    thesaurus::{self, Actions},
    weights::Weights,
    words::{self, Word},
};

/// A tool as it is read for the index.
#[derive(Debug, Default, Clone)]
pub(super) struct Text<'a> {
    pub(super) server: &'a str,
    /// The server's own name for itself.
    pub(super) server_title: &'a str,
    /// What the server says of itself.
    pub(super) summary: &'a str,
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    /// Names and descriptions.
    pub(super) parameters: Vec<(String, String)>,
}

/// A number that stands for a word.
pub(super) type Term = u32;

/// Words and where they stand, each with what it is worth there. Positions are those of the list the index was made
/// from.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) weights: Weights,
    pub(super) terms: HashMap<Box<str>, Term>,
    pub(super) by_tool: Postings,
    pub(super) by_server: Postings,
    pub(super) tools: Vec<Tool>,
    pub(super) servers: usize,
    /// The names servers go by.
    pub(super) server_names: Vec<(u32, Vec<Term>)>,
    pub(super) spelling: Spelling,
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) server: u32,
    /// The words of its name that are not its server's.
    pub(super) name: Vec<Term>,
    pub(super) actions: Actions,
}

/// Where each term stands.
#[derive(Debug, Default)]
pub(super) struct Postings {
    lists: Vec<Vec<Posting>>,
    rarities: Vec<f32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) at: u32,
    /// From 0 to 1.
    pub(super) weight: f32,
}

impl Postings {
    fn push(&mut self, term: Term, posting: Posting) {
        let term = term as usize;
        if self.lists.len() <= term {
            self.lists.resize_with(term + 1, Vec::new);
        }
        self.lists[term].push(posting);
    }

    pub(super) fn of(&self, term: Term) -> &[Posting] {
        self.lists.get(term as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// How much a term tells: the fewer have it, the more.
    pub(super) fn rarity(&self, term: Term) -> f32 {
        self.rarities.get(term as usize).copied().unwrap_or_default()
    }

    /// To be called when everything is in, with how many terms and documents there are.
    fn finish(&mut self, terms: usize, documents: usize) {
        let with = |term: usize| self.lists.get(term).map_or(0, Vec::len) as f32;
        let rarity = |with: f32| (1.0 + (documents as f32 - with + 0.5) / (with + 0.5)).ln();
        self.rarities = (0..terms).map(|term| rarity(with(term))).collect();
        self.lists.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

/// The words of one tool or server with what they are worth together.
#[derive(Default)]
struct Sheet {
    worth: HashMap<String, f32>,
}

/// How long a field usually is, and how much a word counts less in a longer one, from 0 to 1.
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

    fn write(self, at: u32, saturation: f32, terms: &mut HashMap<Box<str>, Term>, postings: &mut Postings) {
        let mut words: Vec<(String, f32)> = self.worth.into_iter().collect();
        // Terms are numbered in the same order every time.
        words.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (word, worth) in words {
            postings.push(term(terms, &word), Posting { at, weight: worth / (worth + saturation) });
        }
    }
}

impl Index {
    /// Reads all tools.
    pub(super) fn read<'a>(weights: Weights, texts: impl Iterator<Item = Text<'a>>) -> Self {
        let mut index = Self { weights, ..Self::default() };
        let mut servers: HashMap<&'a str, u32> = HashMap::new();
        let mut sheets: Vec<Sheet> = Vec::new();
        let mut written: HashSet<Box<str>> = HashSet::new();
        for text in texts {
            let server = *servers.entry(text.server).or_insert_with(|| {
                sheets.push(index.read_server(sheets.len() as u32, &text));
                sheets.len() as u32 - 1
            });
            index.read_tool(server, &text, &mut sheets[server as usize], &mut written);
        }
        index.servers = sheets.len();
        for (at, sheet) in sheets.into_iter().enumerate() {
            sheet.write(at as u32, index.weights.own_saturation, &mut index.terms, &mut index.by_server);
        }
        index.by_tool.finish(index.terms.len(), index.tools.len());
        index.by_server.finish(index.terms.len(), index.servers);
        index.spelling = Spelling::new(written.into_iter());
        index
    }

    fn read_server(&mut self, at: u32, text: &Text) -> Sheet {
        let mut sheet = Sheet::default();
        let w = &self.weights;
        for name in [text.server, text.server_title] {
            let words = words::words(name);
            sheet.field(&words, w.own_name, Length(1.0, 0.0));
            sheet.pairs(&words, w.own_name * 0.5, Length(1.0, 0.0));
            let name: Vec<Term> = words.iter().map(|word| term(&mut self.terms, &word.stem)).collect();
            if !name.is_empty() && !self.server_names.contains(&(at, name.clone())) {
                self.server_names.push((at, name));
            }
        }
        sheet.field(&words::words(text.summary), w.own_summary, Length(20.0, 0.5));
        sheet
    }

    fn read_tool(
        &mut self,
        server: u32,
        text: &Text,
        server_sheet: &mut Sheet,
        written: &mut HashSet<Box<str>>,
    ) {
        let w = &self.weights;
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
        server_sheet.field(&name, w.own_tool, Length(3.0, 0.0));
        server_sheet.pairs(&name, w.own_tool * 0.3, Length(3.0, 0.0));
        server_sheet.field(&lead, w.own_lead, Length(12.0, 0.5));

        let at = self.tools.len() as u32;
        sheet.write(at, w.saturation, &mut self.terms, &mut self.by_tool);
        let said =
            name.iter().map(|word| thesaurus::actions(&word.stem)).fold(Actions::default(), Actions::and);
        // A name without a verb: then the description's first word often is one.
        let first = || lead.first().map(|word| thesaurus::actions(&word.stem)).unwrap_or_default();
        let actions = if said.is_empty() { first() } else { said };
        let own =
            |word: &&Word| name.len() == 1 || !server_name.iter().any(|server| server.stem == word.stem);
        let mut name: Vec<Term> =
            name.iter().filter(own).map(|word| term(&mut self.terms, &word.stem)).collect();
        name.dedup();
        self.tools.push(Tool { server, name, actions });
    }
}

fn server_words(text: &Text) -> Vec<Word> {
    let mut words = words::words(text.server);
    for word in words::words(text.server_title) {
        if !words.iter().any(|known| known.stem == word.stem) {
            words.push(word);
        }
    }
    words
}

/// The first sentence, and the others.
fn lead(text: &str) -> (&str, &str) {
    /// A shorter one is a heading or an abbreviation.
    const SENTENCE: usize = 20;
    let ends = |(at, mark): &(usize, &str)| {
        *at > SENTENCE && text[at + mark.len()..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = text.match_indices(['.', '\n', '!', '?']).find(ends);
    text.split_at(end.map_or(text.len(), |(at, mark)| at + mark.len()))
}

fn term(terms: &mut HashMap<Box<str>, Term>, word: &str) -> Term {
    if let Some(term) = terms.get(word) {
        return *term;
    }
    let term = terms.len() as Term;
    terms.insert(word.into(), term);
    term
}
