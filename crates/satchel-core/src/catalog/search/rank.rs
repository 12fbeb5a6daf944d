//! How well each tool fits a query. Every word of the query counts once for a tool, by its best match; the words of the
//! tool's server count a share; and the best of them are looked at more closely: does the query say the tool's name,
//! and the same verb?

use std::collections::HashMap;

use super::{
    index::{Index, Postings, Term},
    query::{Query, Token},
};

/// So many are looked at closely.
const WINDOW: usize = 300;

/// A tool that fits: its position in the list the index was made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Position.
    pub at: usize,
    /// How well it fits. Comparable within one search only.
    pub score: f32,
}

impl Index {
    /// Positions of the tools that fit, best first. Equal ones keep the list's order.
    pub fn search(&self, query: &str) -> Vec<usize> {
        self.ranked(query, |_| true).into_iter().map(|hit| hit.at).collect()
    }

    /// The tools among the `wanted` that fit, best first.
    pub fn ranked(&self, query: &str, wanted: impl Fn(usize) -> bool) -> Vec<Hit> {
        let query = Query::read(query, self);
        let own = scores(&query, &self.by_tool, self.tools.len());
        let servers = self.server_scores(&query);
        let mut hits: Vec<Hit> = (0..self.tools.len())
            .filter(|at| own[*at] > 0.0 && wanted(*at))
            .map(|at| {
                let share = self.weights.server_share * servers[self.tools[at].server as usize];
                Hit { at, score: own[at] + share }
            })
            .collect();
        hits.sort_unstable_by(best_first);
        let said = said(&query);
        let close = hits.len().min(WINDOW);
        for hit in &mut hits[..close] {
            hit.score += self.cover(hit.at, &said) + self.verb(hit.at, &query);
        }
        hits[..close].sort_unstable_by(best_first);
        hits
    }

    fn server_scores(&self, query: &Query) -> Vec<f32> {
        let mut all = scores(query, &self.by_server, self.server_names.len());
        let mut mentions = vec![0.0f32; all.len()];
        for (server, name) in &self.server_names {
            let (mut mentioned, mut whole, mut place) = (0.0, 0.0, 1.0);
            for term in name {
                let rarity = self.by_server.rarity(*term);
                whole += rarity;
                if let Some(after_place) = query.mentions.get(term) {
                    mentioned += rarity;
                    place = if *after_place { self.weights.mention_place } else { place };
                }
            }
            let mention = &mut mentions[*server as usize];
            *mention = mention.max(place * mentioned / whole);
        }
        for (score, mention) in all.iter_mut().zip(mentions) {
            *score += self.weights.mention * mention;
        }
        all
    }

    /// What it is worth that the query says the tool's name, or part of it.
    fn cover(&self, at: usize, said: &HashMap<Term, f32>) -> f32 {
        let (mut has, mut whole) = (0.0, 0.0);
        for term in &self.tools[at].name {
            let rarity = self.by_tool.rarity(*term);
            whole += rarity;
            has += rarity * said.get(term).copied().unwrap_or_default();
        }
        if whole == 0.0 { 0.0 } else { self.weights.cover * has / whole + self.weights.cover_sum * has }
    }

    /// What it is worth that the tool does what the query says, or does not.
    fn verb(&self, at: usize, query: &Query) -> f32 {
        let does = self.tools[at].actions;
        if does.meets(query.first) {
            self.weights.verb
        } else if does.meets(query.actions) {
            self.weights.any_verb
        } else if does.contradict(query.first) {
            -self.weights.contradiction
        } else {
            0.0
        }
    }
}

fn best_first(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.at.cmp(&b.at))
}

/// Adds up what each document has of the query; of a word and what may stand for it, the best one counts.
fn scores(query: &Query, postings: &Postings, documents: usize) -> Vec<f32> {
    let mut scores = vec![0.0f32; documents];
    let mut best = vec![0.0f32; documents];
    let mut touched: Vec<u32> = Vec::new();
    for Token { weight, variants } in &query.tokens {
        for (term, likeness) in variants {
            let value = weight * likeness * postings.rarity(*term);
            for posting in postings.of(*term) {
                let seen = &mut best[posting.at as usize];
                if *seen == 0.0 {
                    touched.push(posting.at);
                }
                *seen = seen.max(value * posting.weight);
            }
        }
        for at in touched.drain(..) {
            scores[at as usize] += std::mem::take(&mut best[at as usize]);
        }
    }
    scores
}

/// Everything the query says or may mean, with how likely.
fn said(query: &Query) -> HashMap<Term, f32> {
    let mut said: HashMap<Term, f32> = HashMap::new();
    for token in &query.tokens {
        for (term, likeness) in &token.variants {
            let known = said.entry(*term).or_default();
            *known = known.max(likeness * token.weight.min(1.0));
        }
    }
    said
}
