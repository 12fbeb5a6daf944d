//! Finds the tools that match a query, by words and their synonyms in names, servers, descriptions and parameters,
//! weighted by rarity. Deterministic; needs no network and no model.
//!
//! `words` splits texts and identifiers, `index` stores postings, `query` parses requests, `rank` computes scores.
//! `thesaurus` has verbs and synonyms, `spelling` corrects typos, `habits` stores what was used after similar searches,
//! `vectors` compares sentence vectors.

mod explain;
#[cfg(test)]
mod floor;
mod foreign;
mod habits;
mod index;
mod query;
mod rank;
mod spelling;
mod thesaurus;
mod vectors;
mod weights;
mod words;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Offer, ToolEntry};
use crate::model::ServerName;
use index::{Segment, ToolText};
use weights::Weights;
use words::beginning;

pub use explain::{Explanation, Met};
pub use habits::{Habits, Lift};
pub use index::Index;
pub(super) use rank::Beside;
pub use rank::{Hit, Shares};
pub use spelling::Spelling;
pub use vectors::{Meaning, TOKENS, Vector, Vectors};

/// Maximum characters read of a server's texts. Later text hardly distinguishes tools, and the limit bounds the work for
/// endless texts: the server's own name and description are read for each of its tools.
const NAME: usize = 200;
const SUMMARY: usize = 600;
const DESCRIPTION: usize = 8_000;
const PARAMETER: usize = 1_000;
const PARAMETERS: usize = 300;
/// Maximum values of all parameters together, their length, and how deep alternatives are looked into.
const VALUES: usize = 200;
const VALUE: usize = 60;
const NESTED: usize = 3;

/// A server's indexed words, and the offer they were read from.
#[derive(Debug, Clone)]
pub(super) struct Read {
    server: ServerName,
    offer: Arc<Offer>,
    segment: Arc<Segment>,
}

/// The index over the current offers. Rebuilt after a change; only changed servers are read again.
#[derive(Debug)]
pub struct Indexed {
    /// The index; positions are those of [`Catalog::tools`](super::Catalog::tools).
    pub index: Index,
    read: Vec<Read>,
}

impl Indexed {
    /// Indexes all offers, and reuses unchanged segments of `before`.
    pub fn new(servers: &BTreeMap<ServerName, Arc<Offer>>, before: Option<&Indexed>) -> Self {
        let weights = Weights::default();
        let known = |server: &ServerName, offer: &Arc<Offer>| {
            let read = before?.read.iter().find(|read| read.server == *server)?;
            same_words(&read.offer, offer).then(|| read.segment.clone())
        };
        let read = |(server, offer): (&ServerName, &Arc<Offer>)| Read {
            server: server.clone(),
            offer: offer.clone(),
            segment: known(server, offer)
                .unwrap_or_else(|| Arc::new(Segment::read(&weights, texts(server, offer)))),
        };
        let with_tools = servers.iter().filter(|(_, offer)| !offer.tools.is_empty());
        let read: Vec<Read> = with_tools.map(read).collect();
        let segments = read.iter().map(|read| read.segment.clone()).collect();
        Self { index: Index::join(weights, segments), read }
    }
}

/// Whether two offers have the same indexed texts.
fn same_words(one: &Arc<Offer>, other: &Arc<Offer>) -> bool {
    let tools = |offer: &Offer| offer.tools.len();
    Arc::ptr_eq(one, other)
        || (one.title == other.title
            && one.instructions == other.instructions
            && tools(one) == tools(other)
            && one.tools.iter().zip(&other.tools).all(|(one, other)| one.raw.get() == other.raw.get()))
}

fn texts<'a>(server: &'a ServerName, offer: &'a Offer) -> impl Iterator<Item = ToolText<'a>> {
    let schema =
        |tool: &ToolEntry| -> Option<Value> { serde_json::from_str(tool.input_schema()?.get()).ok() };
    let with_schema = move |tool: &'a ToolEntry| (tool, schema(tool).unwrap_or_default());
    offer.tools.iter().map(with_schema).map(move |(tool, schema)| ToolText {
        server: server.as_str(),
        server_title: beginning(offer.title.as_deref().unwrap_or_default(), NAME),
        summary: beginning(offer.instructions.as_deref().unwrap_or_default(), SUMMARY),
        name: &tool.name,
        title: beginning(tool.title.as_deref().unwrap_or_default(), NAME),
        description: beginning(&tool.description, DESCRIPTION),
        parameters: parameters(&schema),
        values: values(&schema),
    })
}

/// Names and descriptions of a tool's parameters.
fn parameters(schema: &Value) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let text =
        |schema: &Value| schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let read = |(name, schema): (&String, &Value)| {
        (beginning(name, NAME).to_owned(), beginning(&text(schema), PARAMETER).to_owned())
    };
    properties.into_iter().flatten().take(PARAMETERS).map(read).collect()
}

/// The values that a tool's parameters may have, where its schema lists them.
fn values(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut values = Vec::new();
    properties
        .into_iter()
        .flatten()
        .take(PARAMETERS)
        .for_each(|(_, schema)| values_of(schema, &mut values, 0));
    values
}

fn values_of(schema: &Value, values: &mut Vec<String>, depth: usize) {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let texts = listed.chain(schema.get("const")).filter_map(Value::as_str);
    let room = VALUES.saturating_sub(values.len());
    values.extend(texts.take(room).map(|text| beginning(text, VALUE).to_owned()));
    if depth == NESTED || values.len() >= VALUES {
        return;
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    let inner = alternatives.flatten().chain(schema.get("items"));
    inner.for_each(|schema| values_of(schema, values, depth + 1));
}

/// The stem of a word.
pub fn stem(word: &str) -> String {
    words::stem(word)
}

/// Whether the word only frames a request ("please", "want").
pub fn is_filler(word: &str) -> bool {
    words::is_stop_word(word) || words::is_chatter(word)
}

/// The subject of a tool's name: without verbs and the words of its server's name.
pub fn things(name: &str, server: &str) -> Vec<String> {
    let server: Vec<String> = words::words(server).into_iter().map(|word| word.stem).collect();
    let stems = words::words(name).into_iter().map(|word| word.stem);
    stems.filter(|stem| thesaurus::actions(stem).is_empty() && !server.contains(stem)).collect()
}

/// The same as words, and as a key that is equal for singular and plural.
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

/// The action of a tool: by the verb of its name, otherwise by the first word of its description.
pub fn kind(name: &str, description: &str) -> &'static str {
    let verb = |words: Vec<words::Word>| {
        let actions = words.into_iter().map(|word| thesaurus::actions(&word.stem));
        actions.into_iter().find(|actions| !actions.is_empty())
    };
    let first = || verb(words::words(description).into_iter().take(1).collect());
    verb(words::words(name)).or_else(first).map_or("other", thesaurus::Actions::kind)
}

/// The distance of two words, 0 for equal; `None` if they are not similar.
fn likeness(word: &str, known: &str) -> Option<f64> {
    let fits = 3..=words::LONGEST;
    if !fits.contains(&word.len()) || !fits.contains(&known.len()) || word.len().abs_diff(known.len()) > 3 {
        return None;
    }
    if known.starts_with(word) {
        return Some(0.05);
    }
    let score = spelling::apart(word, known)?;
    // A match inside a longer word is weaker than one of the same length.
    Some(score + 0.02 * word.len().abs_diff(known.len()) as f64)
}

/// The names most similar to one that does not exist, nearest first.
pub fn near<'a>(wanted: &str, all: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    let asked = words::words(beginning(wanted, NAME));
    let mut scored: Vec<(f64, &str)> = all
        .filter_map(|name| {
            let own = words::words(beginning(name, NAME));
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

    fn offers(servers: &[(&str, &[(&str, &str)])]) -> BTreeMap<ServerName, Arc<Offer>> {
        let tool = |(name, description): &(&str, &str)| {
            let raw =
                Raw::from_string(serde_json::json!({ "name": name, "description": description }).to_string())
                    .unwrap();
            ToolEntry::new((*name).to_owned(), &RawObject::parse(&raw).unwrap(), raw)
        };
        let offer =
            |tools: &[_]| Arc::new(Offer { tools: tools.iter().map(tool).collect(), ..Offer::default() });
        servers.iter().map(|(server, tools)| (server.parse().unwrap(), offer(tools))).collect()
    }

    const FORGE: &[(&str, &str)] = &[
        ("create_issue", "Create a new issue in a repository"),
        ("listPullRequests", "List pull requests of a repository"),
    ];
    const SLACK: &[(&str, &str)] = &[("post_message", "Post a message to a channel")];
    const FILES: &[(&str, &str)] = &[("read_file", "Read the contents of a file")];

    fn first<'a>(
        offers: &'a BTreeMap<ServerName, Arc<Offer>>,
        indexed: &Indexed,
        query: &str,
    ) -> Option<&'a str> {
        let tools: Vec<&str> =
            offers.values().flat_map(|offer| &offer.tools).map(|tool| tool.name.as_str()).collect();
        indexed.index.search(query).first().map(|at| tools[*at])
    }

    #[test]
    fn the_right_tool_comes_first() {
        let offers = offers(&[("empty", &[]), ("files", FILES), ("github", FORGE), ("slack", SLACK)]);
        let indexed = Indexed::new(&offers, None);
        for (query, tool) in [
            ("create an issue", "create_issue"),
            ("open pull requests", "listPullRequests"),
            ("send message in Slack", "post_message"),
            ("reading files", "read_file"),
            ("crete isue", "create_issue"),
            ("pull_request", "listPullRequests"),
        ] {
            assert_eq!(first(&offers, &indexed, query), Some(tool), "{query}");
        }
        assert!(indexed.index.search("zzz qqq").is_empty());
    }

    #[test]
    fn values_of_parameters_are_words_of_a_tool() {
        let tool = |name: &str, schema: Value| {
            let text = serde_json::json!({ "name": name, "description": "Converts a document.", "inputSchema": schema });
            let raw = Raw::from_string(text.to_string()).unwrap();
            ToolEntry::new(name.to_owned(), &RawObject::parse(&raw).unwrap(), raw)
        };
        let to = |formats: &[&str]| serde_json::json!({ "type": "object", "properties": { "to": { "enum": formats } } });
        let nested = serde_json::json!({ "type": "object", "properties": { "to": { "anyOf": [
            { "type": "array", "items": { "const": "latex" } }, { "type": "null" }] } } });
        let tools = vec![
            tool("convert", to(&["docx", "html"])),
            tool("transform", to(&["epub", "odt"])),
            tool("change", nested),
        ];
        let offer = Arc::new(Offer { tools, ..Offer::default() });
        let offers: BTreeMap<ServerName, Arc<Offer>> = [("pandoc".parse().unwrap(), offer)].into();
        let indexed = Indexed::new(&offers, None);
        for (query, tool) in
            [("make an epub of it", "transform"), ("as docx", "convert"), ("turn it into latex", "change")]
        {
            assert_eq!(first(&offers, &indexed, query), Some(tool), "{query}");
        }
    }

    #[test]
    fn one_and_many_are_told_apart() {
        let tools: &[_] = &[
            ("fetch_invoice", "Give back what was billed."),
            ("fetch_invoices", "Give back what was billed."),
            ("delete_many", "Delete documents."),
            ("row_count", "Count documents."),
        ];
        let offers = offers(&[("shop", tools)]);
        let indexed = Indexed::new(&offers, None);
        for (query, tool) in [
            ("fetch the invoice 4711", "fetch_invoice"),
            ("fetch invoices of last month", "fetch_invoices"),
            ("How many documents are there?", "row_count"),
            ("delete many documents", "delete_many"),
        ] {
            assert_eq!(first(&offers, &indexed, query), Some(tool), "{query}");
        }
    }

    #[test]
    fn synonyms_are_used_only_for_words_that_no_tool_has() {
        let market: &[_] = &[("latest_price", "The price of a stock by its ticker.")];
        let files: &[_] = &[("read_file", "Read the contents of a file.")];
        let query = "how is nvidia doing";
        let strange = offers(&[("files", files), ("market", market)]);
        assert_eq!(first(&strange, &Indexed::new(&strange, None), query), Some("latest_price"));
        // Where tools say the word themselves, they are meant.
        let drivers: &[_] = &[("driver_version", "The version of the Nvidia driver.")];
        let known = offers(&[("drivers", drivers), ("files", files), ("market", market)]);
        let indexed = Indexed::new(&known, None);
        assert_eq!(indexed.index.search(query), [0]);
    }

    #[test]
    fn next_week_begins_no_other_request() {
        let read = |text: &str| {
            let indexed = Indexed::new(&offers(&[("slack", SLACK)]), None);
            query::Query::read(text, &indexed.index).clauses.len()
        };
        assert_eq!(read("post a message in the channel next week"), 1);
        assert_eq!(read("post a message in the channel, next read the message"), 2);
    }

    #[test]
    fn only_a_server_that_changed_is_read_again() {
        let before = offers(&[("files", FILES), ("github", FORGE), ("slack", SLACK)]);
        let indexed = Indexed::new(&before, None);
        let mut after = before.clone();
        let more: &[_] = &[SLACK[0], ("list_channels", "List the channels of the workspace")];
        after.extend(offers(&[("slack", more), ("weather", &[("forecast", "Weather of the coming days")])]));
        after.remove("github");
        // A list that was fetched again and says the same.
        after.extend(offers(&[("files", FILES)]));
        let again = Indexed::new(&after, Some(&indexed));
        let read_again = |server: &str| {
            let segment = |indexed: &Indexed| {
                let read = indexed.read.iter().find(|read| read.server.as_str() == server);
                read.map(|read| Arc::as_ptr(&read.segment))
            };
            segment(&again) != segment(&indexed)
        };
        assert_eq!(["files", "slack", "weather"].map(read_again), [false, true, true]);
        let anew = Indexed::new(&after, None);
        for query in ["channels", "read a file", "rain tomorrow", "create an issue", "pst mesage"] {
            assert_eq!(again.index.ranked(query, |_| true), anew.index.ranked(query, |_| true), "{query}");
        }
        assert_eq!(first(&after, &again, "which channels are there"), Some("list_channels"));
    }

    #[test]
    fn long_names_have_no_suggestions() {
        let long = "q".repeat(100);
        let path = format!("s:{long}");
        assert!(near(&format!("s:{long}q"), [path.as_str()].into_iter(), 3).is_empty());
        assert!(near(&"word ".repeat(100_000), [path.as_str()].into_iter(), 3).is_empty());
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
