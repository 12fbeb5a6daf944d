//! Which tools fit a query: words of the query, and what else they may be called, against the words of name, server,
//! description and parameters, weighed by how rare they are. Deterministic; needs no network and no model.
//!
//! `words` splits texts and identifiers, `index` keeps where words stand, `query` reads what is asked for, `rank` adds
//! up the evidence. `thesaurus` knows verbs and synonyms, `spelling` finds words that are nearly right.

mod explain;
#[cfg(test)]
mod floor;
mod index;
mod query;
mod rank;
mod spelling;
mod thesaurus;
mod weights;
mod words;

use serde_json::Value;

use super::ToolEntry;
use crate::model::ServerName;
use index::Text;
use weights::Weights;

pub use explain::{Explanation, Met};
pub use index::Index;
pub use rank::Hit;

/// What a server says of itself.
#[derive(Debug, Default, Clone, Copy)]
pub struct About<'a> {
    /// Its title or own name.
    pub title: &'a str,
    /// Its instructions or description; the beginning is read.
    pub summary: &'a str,
}

impl Index {
    /// Reads all tools.
    pub fn new<'a>(tools: impl Iterator<Item = (&'a ServerName, &'a ToolEntry)>) -> Self {
        Self::with_servers(tools, |_| About::default())
    }

    /// Reads all tools, and what their servers say of themselves.
    pub fn with_servers<'a>(
        tools: impl Iterator<Item = (&'a ServerName, &'a ToolEntry)>,
        about: impl Fn(&ServerName) -> About<'a>,
    ) -> Self {
        let text = |(server, tool): (&'a ServerName, &'a ToolEntry)| {
            let About { title, summary } = about(server);
            Text {
                server: server.as_str(),
                server_title: title,
                summary: beginning(summary),
                name: &tool.name,
                title: tool.title.as_deref().unwrap_or_default(),
                description: &tool.description,
                parameters: parameters(tool),
            }
        };
        Self::read(Weights::default(), tools.map(text))
    }
}

/// Instructions can be long, and what comes late in them tells servers apart no more.
fn beginning(text: &str) -> &str {
    const CHARS: usize = 600;
    text.char_indices().nth(CHARS).map_or(text, |(end, _)| &text[..end])
}

/// Names and descriptions of what a tool takes.
fn parameters(tool: &ToolEntry) -> Vec<(String, String)> {
    let schema: Option<Value> = tool.input_schema().and_then(|raw| serde_json::from_str(raw.get()).ok());
    let properties = schema.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let text =
        |schema: &Value| schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    properties.into_iter().flatten().map(|(name, schema)| (name.clone(), text(schema))).collect()
}

/// What a tool's name says it deals with, without its verbs and its server's words.
pub fn things(name: &str, server: &str) -> Vec<String> {
    let server: Vec<String> = words::words(server).into_iter().map(|word| word.stem).collect();
    let stems = words::words(name).into_iter().map(|word| word.stem);
    stems.filter(|stem| thesaurus::actions(stem).is_empty() && !server.contains(stem)).collect()
}

/// What a tool's name says it deals with, as words, and as a key that is the same for one and for many.
pub fn subject(name: &str, server: &str) -> Option<(String, String)> {
    let server: Vec<String> = words::words(server).into_iter().map(|word| word.stem).collect();
    let words = words::words(name);
    let is_verb = |word: &words::Word| !thesaurus::actions(&word.stem).is_empty();
    // `pull_request_list` and `list_pull_requests`, but never both ends: "pull" is a verb too.
    let words = match words.as_slice() {
        [before @ .., last] if !before.is_empty() && is_verb(last) => before,
        [first, after @ ..] if is_verb(first) => after,
        all => all,
    };
    let things: Vec<&words::Word> =
        words.iter().filter(|word| !server.contains(&word.stem)).take(2).collect();
    let joined =
        |part: fn(&words::Word) -> &str| things.iter().map(|word| part(word)).collect::<Vec<_>>().join(" ");
    (!things.is_empty()).then(|| (joined(|word| &word.written), joined(|word| &word.stem)))
}

/// How far two words are apart, from 0; `None` where they are not alike.
fn likeness(word: &str, known: &str) -> Option<f64> {
    if word.len() < 3 || known.len() < 3 || word.len().abs_diff(known.len()) > 3 {
        return None;
    }
    if known.starts_with(word) {
        return Some(0.05);
    }
    let score = spelling::apart(word, known)?;
    // A match inside a longer word is weaker than one of the same length.
    Some(score + 0.02 * word.len().abs_diff(known.len()) as f64)
}

/// The names most alike to one that does not exist, nearest first.
pub fn near<'a>(wanted: &str, all: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let asked = words::words(wanted);
    let mut scored: Vec<(f64, &str)> = all
        .filter_map(|name| {
            let own = words::words(name);
            let best = |word: &words::Word| {
                own.iter()
                    .filter_map(|known| {
                        if known.stem == word.stem {
                            Some(0.0)
                        } else {
                            likeness(&word.written, &known.written)
                        }
                    })
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
