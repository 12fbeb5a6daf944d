//! Explains for people why a search found a tool: the evidence that `rank` added up.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    habits::Lift,
    index::{Among, Index},
    query::{Query, Token, Variant, words_of},
    rank::Shares,
    words::is_chatter,
};

/// Why a tool was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Words of the query, the indexed words they matched, and their scores; highest first.
    pub words: Vec<Met>,
    /// Score for a matching server.
    pub server: f32,
    /// Score for a query that contains the tool's name.
    pub name: f32,
    /// Score, possibly negative, for the action: does the tool do what the query asks?
    pub verb: f32,
    /// Score for use after similar searches.
    pub learned: Option<Lift>,
    /// The shares of words and of meaning, if a model embedded the query.
    pub shares: Option<Shares>,
}

/// A word of the query and the indexed word it matched.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// As written in the query.
    pub said: String,
    /// As indexed: the stem.
    pub found: String,
    /// Its score.
    pub worth: f32,
}

impl Index {
    /// The share of a query's words that the tool at this position matches; 0 if it has none.
    pub fn coverage(&self, query: &str, at: usize) -> f32 {
        let wanted: BTreeMap<String, String> = words_of(query)
            .into_iter()
            .filter(|word| !is_chatter(&word.written))
            .rev()
            .map(|word| (word.stem, word.written))
            .collect();
        let query = Query::read(query, self);
        let tokens = query.clauses.iter().flat_map(|clause| &clause.tokens);
        let is_met =
            |token: &&Token| token.variants.iter().any(|variant| self.worth(variant.term, at).is_some());
        let met: BTreeSet<&str> = tokens.filter(is_met).map(|token| token.said.as_str()).collect();
        let matching = wanted.values().filter(|written| met.contains(written.as_str())).count();
        matching as f32 / wanted.len().max(1) as f32
    }

    /// Explains how well the tool at this position matches the query.
    pub fn explain(&self, query: &str, at: usize) -> Option<Explanation> {
        let (server, _) = self.tool(at)?;
        let query = Query::read(query, self);
        let mut words: Vec<Met> = Vec::new();
        let mut closest: Option<(f32, f32)> = None;
        for clause in &query.clauses {
            for token in &clause.tokens {
                let worth = |variant: &Variant| {
                    let Variant { word, term, likeness } = variant;
                    let weight = self.worth(*term, at)?;
                    Some((token.weight * likeness * self.rarity(Among::Tools, *term) * weight, word.clone()))
                };
                let best = token.variants.iter().filter_map(worth).max_by(|(a, _), (b, _)| a.total_cmp(b));
                if let Some((worth, found)) = best {
                    words.push(Met { said: token.said.clone(), found, worth });
                }
            }
            let (name, verb) = self.closely(at, clause);
            if closest.is_none_or(|(best_name, best_verb)| name + verb > best_name + best_verb) {
                closest = Some((name, verb));
            }
        }
        let (name, verb) = closest.unwrap_or_default();
        words.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.said.cmp(&b.said)));
        Some(Explanation {
            words,
            server: self.server_share(&query, server),
            name,
            verb,
            learned: None,
            shares: None,
        })
    }
}

impl fmt::Display for Explanation {
    /// `ticket → issu 4.1, new 1.2; name 2.0, verb 0.7, server 0.3`, followed by
    /// `; all of it +15 %, used 2 times after similar searches` if habits apply, and by
    /// `; words 0.81, meaning 1.00` if a model embedded the query
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, Met { said, found, worth }) in self.words.iter().enumerate() {
            let joint = if number == 0 { "" } else { ", " };
            if found.starts_with(said.as_str()) || said.starts_with(found.as_str()) {
                write!(f, "{joint}{said} {worth:.1}")?;
            } else {
                write!(f, "{joint}{said} → {found} {worth:.1}")?;
            }
        }
        if self.words.is_empty() {
            write!(f, "no word of it")?;
        }
        write!(f, "; name {:.1}, verb {:.1}, server {:.1}", self.name, self.verb, self.server)?;
        if let Some(Lift { share, uses }) = self.learned {
            let times = if uses == 1 { "once".to_owned() } else { format!("{uses} times") };
            write!(f, "; all of it +{:.0} %, used {times} after similar searches", 100.0 * share)?;
        }
        if let Some(Shares { words, meaning }) = self.shares {
            write!(f, "; words {words:.2}, meaning {meaning:.2}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{index::ToolText, weights::Weights};
    use super::*;

    #[test]
    fn an_explanation_names_the_words_and_their_matches() {
        let text =
            |name, description| ToolText { server: "tracker", name, description, ..ToolText::default() };
        let tools =
            [text("create_issue", "Create an issue in a project."), text("list_users", "List users.")];
        let index = Index::read(Weights::default(), tools.into_iter());
        let explanation = index.explain("file a ticket in tracker", 0).unwrap();
        let said: Vec<(&str, &str)> =
            explanation.words.iter().map(|met| (met.said.as_str(), met.found.as_str())).collect();
        assert!(said.contains(&("ticket", "issu")), "{explanation}");
        assert!(
            explanation.server > 0.0 && explanation.name > 0.0 && explanation.verb > 0.0,
            "{explanation}"
        );
        assert!(explanation.to_string().contains("ticket → issu "), "{explanation}");
        assert!(index.explain("x", 2).is_none());
        let against = index.explain("delete the users", 1).unwrap();
        assert!(against.verb < 0.0 && against.to_string().contains("verb -"), "{against}");
    }
}
