//! Which tools fit a query: words of the query against words of name, server and description, weighed by how rare
//! they are, with fuse-rust for words that are nearly right. Deterministic; needs no network and no model.

use std::collections::HashMap;

use fuse_rust::Fuse;

use super::ToolEntry;
use crate::model::ServerName;

/// What a word counts, by where it stands.
const NAME: f64 = 4.0;
const SERVER: f64 = 2.0;
const TITLE: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
/// Damping of repeated words, and of long texts (the usual k1 and b of BM25).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// fuse-rust scores 0 for equal and 1 for nothing alike.
const NEARLY: f64 = 0.3;
/// What a nearly right word counts, compared with the right one.
const NEAR_WORTH: f64 = 0.5;
const STOP_WORDS: [&str; 30] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "i", "in", "is", "it", "me", "my",
    "of", "on", "or", "please", "some", "that", "the", "this", "to", "want", "what", "with", "you",
];

/// Words and where they stand. Positions are those of the list it was made from.
#[derive(Debug, Default)]
pub struct Index {
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    average: f64,
}

impl Index {
    /// Reads all tools.
    pub fn new<'a>(tools: impl Iterator<Item = (&'a ServerName, &'a ToolEntry)>) -> Self {
        let mut index = Self::default();
        for (at, (server, tool)) in tools.enumerate() {
            let mut weights: HashMap<String, f64> = HashMap::new();
            let fields = [
                (tool.name.as_str(), NAME),
                (server.as_str(), SERVER),
                (tool.title.as_deref().unwrap_or_default(), TITLE),
                (tool.description.as_str(), DESCRIPTION),
            ];
            let mut length = 0.0;
            for (text, weight) in fields {
                for word in words(text) {
                    *weights.entry(word).or_default() += weight;
                    length += 1.0;
                }
            }
            for (word, weight) in weights {
                index.postings.entry(word).or_default().push((at, weight));
            }
            index.lengths.push(length);
        }
        index.average = index.lengths.iter().sum::<f64>().max(1.0) / index.lengths.len().max(1) as f64;
        index
    }

    /// Positions of the tools that fit, best first. Equal ones keep the list's order.
    pub fn search(&self, query: &str) -> Vec<usize> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let mut wanted = words(query);
        wanted.sort();
        wanted.dedup();
        for word in &wanted {
            if self.postings.contains_key(word) {
                self.add(word, 1.0, &mut scores);
            } else {
                for near in self.near_words(word) {
                    self.add(near, NEAR_WORTH, &mut scores);
                }
            }
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|(a_at, a), (b_at, b)| b.total_cmp(a).then(a_at.cmp(b_at)));
        found.into_iter().map(|(at, _)| at).collect()
    }

    fn add(&self, word: &str, worth: f64, scores: &mut HashMap<usize, f64>) {
        let Some(postings) = self.postings.get(word) else { return };
        let (all, with) = (self.lengths.len() as f64, postings.len() as f64);
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        for (at, weight) in postings {
            let damping = SATURATION * (1.0 - LENGTH + LENGTH * self.lengths[*at] / self.average);
            *scores.entry(*at).or_default() +=
                worth * rarity * weight * (SATURATION + 1.0) / (weight + damping);
        }
    }

    /// Words we know that a misspelt or shortened one may mean, at most three.
    fn near_words(&self, word: &str) -> Vec<&str> {
        let known = self.postings.keys().map(String::as_str);
        let mut near: Vec<(&str, f64)> =
            known.filter_map(|known| Some((known, likeness(word, known)?))).collect();
        near.sort_by(|(a_word, a), (b_word, b)| a.total_cmp(b).then(a_word.cmp(b_word)));
        near.into_iter().take(3).map(|(word, _)| word).collect()
    }
}

/// How far two words are apart, from 0; `None` where they are not alike.
fn likeness(word: &str, known: &str) -> Option<f64> {
    if word.len() < 3 || known.len() < 3 || word.len().abs_diff(known.len()) > 3 {
        return None;
    }
    if known.starts_with(word) {
        return Some(0.05);
    }
    let fuse = Fuse { threshold: NEARLY, distance: 32, ..Fuse::default() };
    let pattern = fuse.create_pattern(word)?;
    let score = fuse.search(Some(&pattern), known)?.score;
    // A match inside a longer word is weaker than one of the same length.
    Some(score + 0.02 * word.len().abs_diff(known.len()) as f64)
}

/// The names most alike to one that does not exist, nearest first.
pub fn near<'a>(wanted: &str, all: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let asked = words(wanted);
    let mut scored: Vec<(f64, &str)> = all
        .filter_map(|name| {
            let own = words(name);
            let best = |word: &String| {
                own.iter()
                    .filter_map(|known| if known == word { Some(0.0) } else { likeness(word, known) })
                    .fold(1.0, f64::min)
            };
            let distance = asked.iter().map(best).sum::<f64>() / asked.len().max(1) as f64;
            let extra = own.len().saturating_sub(asked.len()) as f64 * 0.01;
            (distance < 0.7).then_some((distance + extra, name))
        })
        .collect();
    scored.sort_by(|(a, a_name), (b, b_name)| a.total_cmp(b).then(a_name.cmp(b_name)));
    scored.into_iter().take(limit).map(|(_, name)| name.to_owned()).collect()
}

/// The words of a text: split at everything that is no letter or digit and where camelCase begins a new one, in lower
/// case, without the commonest, plural endings taken off.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut previous_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && previous_lower) {
            push_word(&mut word, &mut words);
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous_lower = c.is_lowercase();
    }
    push_word(&mut word, &mut words);
    words
}

fn push_word(word: &mut String, words: &mut Vec<String>) {
    let mut taken = std::mem::take(word);
    if taken.is_empty() || STOP_WORDS.contains(&taken.as_str()) {
        return;
    }
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("s", "")] {
        if taken.len() > ending.len() + 2
            && taken.ends_with(ending)
            && !taken.ends_with("ss")
            && !taken.ends_with("us")
        {
            taken.truncate(taken.len() - ending.len());
            taken.push_str(instead);
            break;
        }
    }
    words.push(taken);
}

#[cfg(test)]
mod tests {
    use satchel_mcp::{Raw, RawObject};

    use super::*;

    fn tools() -> Vec<(ServerName, ToolEntry)> {
        let tool = |server: &str, name: &str, description: &str| {
            let raw =
                Raw::from_string(serde_json::json!({ "name": name, "description": description }).to_string())
                    .unwrap();
            (server.parse().unwrap(), ToolEntry::new(name.to_owned(), &RawObject::parse(&raw).unwrap(), raw))
        };
        vec![
            tool("github", "create_issue", "Create a new issue in a repository"),
            tool("github", "listPullRequests", "List pull requests of a repository"),
            tool("slack", "post_message", "Post a message to a channel"),
            tool("files", "read_file", "Read the contents of a file"),
        ]
    }

    #[test]
    fn the_right_tool_comes_first() {
        let tools = tools();
        let index = Index::new(tools.iter().map(|(server, tool)| (server, tool)));
        for (query, first) in [
            ("create an issue", "create_issue"),
            ("open pull requests", "listPullRequests"),
            ("send message in Slack", "post_message"),
            ("reading files", "read_file"),
            ("crete isue", "create_issue"),
            ("pull_request", "listPullRequests"),
        ] {
            let found = index.search(query);
            assert_eq!(found.first().map(|at| tools[*at].1.name.as_str()), Some(first), "{query}");
        }
        assert!(index.search("zzz qqq").is_empty());
    }

    #[test]
    fn a_wrong_path_finds_its_neighbours() {
        let all = ["github:create_issue", "github:listPullRequests", "slack:post_message"];
        assert_eq!(near("github:create_isue", all.into_iter(), 1), ["github:create_issue"]);
        assert_eq!(near("create_issue", all.into_iter(), 1), ["github:create_issue"]);
        assert_eq!(near("slak:postMessage", all.into_iter(), 1), ["slack:post_message"]);
        assert!(near("qqq", all.into_iter(), 3).is_empty());
    }
}
