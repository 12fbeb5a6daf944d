//! Finds bundled servers for a query: every word must match an entry approximately. Pure.

use std::collections::HashMap;

use fuse_rust::Fuse;

use crate::model::listing::Listed;

/// fuse-rust scores 0 for equal and 1 for nothing alike; worse scores than this do not match.
const ALIKE: f64 = 0.34;
/// Minimum length of a word that may be misspelled; shorter ones must match exactly.
const MISSPELT: usize = 4;
/// A word that contains the query's is at least so similar, and a misspelled one less.
const CONTAINS: f64 = 0.7;
/// fuse-rust stores a pattern in the bits of one machine word.
const LONGEST: usize = 60;

/// Filters and sorts the entries; an empty query keeps all in order.
pub(super) fn rank(entries: &mut Vec<Listed>, query: &str) {
    let words: Vec<String> = split(query).filter(|word| word.len() <= LONGEST).collect();
    if words.is_empty() {
        return;
    }
    let fuse = Fuse { threshold: ALIKE, tokenize: false, ..Fuse::default() };
    // Most words occur in many descriptions.
    let mut seen: Vec<Likeness> = words.iter().map(|_| Likeness::new()).collect();
    let mut found: Vec<(f64, Listed)> = entries
        .drain(..)
        .filter_map(|entry| {
            let fields = fields(&entry);
            let worths: Option<Vec<f64>> =
                words.iter().zip(&mut seen).map(|(word, seen)| worth(&fuse, word, &fields, seen)).collect();
            Some((worths?.iter().sum(), entry))
        })
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    entries.extend(found.into_iter().map(|(_, entry)| entry));
}

/// Cached similarities of one word.
type Likeness = HashMap<String, Option<f64>>;

/// A word of an entry.
struct EntryWord {
    worth: f64,
    word: String,
    /// Of its name or topics. Descriptions and hundreds of tools have words that a query resembles by chance, such as
    /// "watcher" and "weather".
    name: bool,
}

/// The words of an entry.
fn fields(entry: &Listed) -> Vec<EntryWord> {
    let texts = [(8.0, entry.title.as_str()), (8.0, &entry.id), (3.0, &entry.publisher)];
    let topics = entry.topics.iter().map(|topic| (4.0, topic.as_str()));
    let names = texts.into_iter().chain(topics).map(|(worth, text)| (worth, text, true));
    let about = entry.about.values().map(|text| (3.0, text.as_str()));
    let tools = entry.tools.iter().flat_map(|tool| [(2.0, tool.name.as_str()), (1.0, tool.about.as_str())]);
    let all = names.chain(about.chain(tools).map(|(worth, text)| (worth, text, false)));
    all.flat_map(|(worth, text, name)| split(text).map(move |word| EntryWord { worth, word, name })).collect()
}

/// The score of the word's best match, if any.
fn worth(fuse: &Fuse, word: &str, fields: &[EntryWord], seen: &mut Likeness) -> Option<f64> {
    let mut worth = |known: &EntryWord| {
        let alike = match seen.get(&known.word) {
            Some(alike) => *alike,
            None => *seen.entry(known.word.clone()).or_insert_with(|| alike(fuse, word, &known.word)),
        };
        alike.filter(|alike| known.name || *alike >= CONTAINS).map(|alike| known.worth * alike)
    };
    fields.iter().filter_map(&mut worth).max_by(f64::total_cmp)
}

/// 1 for the same word, less for a prefix, a substring or a misspelling.
fn alike(fuse: &Fuse, word: &str, known: &str) -> Option<f64> {
    if known == word {
        Some(1.0)
    } else if known.starts_with(word) {
        Some(0.9)
    } else if word.len() >= MISSPELT && known.contains(word) {
        Some(CONTAINS)
    } else if word.len() >= MISSPELT && known.len() + 2 >= word.len() && known.len() <= word.len() + 2 {
        Some(0.6 * (1.0 - fuse.search_text_in_string(word, known)?.score))
    } else {
        None
    }
}

/// The words of a text, in lower case.
pub(crate) fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use crate::registry::find;

    #[track_caller]
    fn first(query: &str, expected: &str) {
        let found = find(query).entries;
        assert_eq!(found.first().map(|entry| entry.id.as_str()), Some(expected), "{query}");
    }

    #[test]
    fn finds_by_name_by_purpose_and_by_tool() {
        first("github", "github");
        first("file", "filesystem");
        first("git commit", "git");
        first("browser click", "browsermcp");
        first("playwright click", "playwright");
        first("jira", "atlassian");
        first("Zeitzonen", "time");
        first("search issues errors", "sentry");
    }

    #[test]
    fn forgives_a_slip_and_follows_every_letter() {
        first("plawright", "playwright");
        first("notoin", "notion");
        for typed in ["fi", "fil", "file", "filesy"] {
            let found = find(typed).entries;
            assert!(found.iter().any(|entry| entry.id == "filesystem"), "{typed}");
        }
    }

    #[test]
    fn a_slip_is_looked_for_in_names_and_topics_only() {
        let found = find("weather").entries;
        assert!(found.iter().all(|entry| entry.id == "everything"), "{found:#?}");
    }

    #[test]
    fn nothing_is_found_for_nothing_alike_and_all_for_no_words() {
        assert_eq!(find("zzxqv").entries, []);
        assert_eq!(find(" - ").entries.len(), find("").entries.len());
    }
}
