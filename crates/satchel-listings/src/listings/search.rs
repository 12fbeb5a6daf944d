//! Searches registry entries: every word of the query must match an entry approximately. Pure, local.

use std::collections::{BTreeMap, HashMap};

use crate::{catalog::search::Spelling, registry::find::split};

/// Maximum number of query words.
const WORDS: usize = 12;
/// Minimum length of a word that may match inside another.
const WITHIN: usize = 4;

/// The searchable texts of an entry.
#[derive(Debug, Clone, Default)]
pub struct Card {
    /// Its name in the registry.
    pub name: String,
    /// Texts with their weights.
    pub texts: Vec<(f32, String)>,
    /// Offered but ranked last: deprecated, or easily mistaken for another entry.
    pub behind: bool,
    /// Found only if deleted entries are requested.
    pub deleted: bool,
}

/// An immutable search index.
#[derive(Debug, Default)]
pub struct Index {
    cards: Vec<Card>,
    words: BTreeMap<Box<str>, Vec<(u32, f32)>>,
    spelling: Spelling,
}

impl Index {
    /// Indexes these entries, in display order for an empty query.
    pub fn of(mut cards: Vec<Card>) -> Self {
        let mut words: BTreeMap<Box<str>, Vec<(u32, f32)>> = BTreeMap::new();
        for (at, card) in cards.iter_mut().enumerate() {
            let mut of_card: HashMap<String, f32> = HashMap::new();
            let name = card.name.rsplit('/').next().unwrap_or_default().to_owned();
            let own = [(8.0, name), (2.0, card.name.clone())];
            for (worth, text) in std::mem::take(&mut card.texts).into_iter().chain(own) {
                for word in split(&text) {
                    let best = of_card.entry(word).or_default();
                    *best = best.max(worth);
                }
            }
            for (word, worth) in of_card {
                words.entry(word.into()).or_default().push((u32::try_from(at).unwrap_or(u32::MAX), worth));
            }
        }
        let spelling = Spelling::new(words.keys().cloned());
        Self { cards, words, spelling }
    }

    /// Matching entries by position, best first.
    pub fn find(&self, query: &str, all: bool) -> Vec<usize> {
        let words: Vec<String> = split(query).take(WORDS).collect();
        let offered = |at: &usize| all || !self.cards[*at].deleted;
        if words.is_empty() {
            let mut places: Vec<usize> = (0..self.cards.len()).filter(offered).collect();
            places.sort_by_key(|at| (self.cards[*at].deleted, self.cards[*at].behind));
            return places;
        }
        let mut worth: HashMap<u32, (usize, f32)> = HashMap::new();
        for word in &words {
            for (at, best) in self.matches(word) {
                let sum = worth.entry(at).or_default();
                *sum = (sum.0 + 1, sum.1 + best);
            }
        }
        let typed = query.trim().to_lowercase();
        // Entries with all words if there are any, otherwise with as many as possible.
        let most = worth.values().map(|(words, _)| *words).max().unwrap_or_default();
        let mut found: Vec<(usize, f32)> = worth
            .into_iter()
            .filter(|(_, (words, _))| *words == most)
            .map(|(at, (_, worth))| (at as usize, worth + self.is_named(at as usize, &typed)))
            .filter(|(at, _)| offered(at))
            .collect();
        found.sort_by(|(a, a_worth), (b, b_worth)| {
            let behind = |at: &usize| (self.cards[*at].deleted, self.cards[*at].behind);
            let names = || self.cards[*a].name.cmp(&self.cards[*b].name);
            behind(a).cmp(&behind(b)).then(b_worth.total_cmp(a_worth)).then_with(names)
        });
        found.into_iter().map(|(at, _)| at).collect()
    }

    /// Entries that match every word and have no negative mark, best first; none for an empty query.
    pub fn find_all_words(&self, query: &str) -> Vec<usize> {
        let words: Vec<String> = split(query).take(WORDS).collect();
        if words.is_empty() {
            return vec![];
        }
        let matches: Vec<HashMap<u32, f32>> = words.iter().map(|word| self.matches(word)).collect();
        let every = |at: &usize| {
            let at = u32::try_from(*at).unwrap_or(u32::MAX);
            matches.iter().all(|of_word| of_word.contains_key(&at))
        };
        let found = self.find(query, false).into_iter().filter(|at| !self.cards[*at].behind);
        found.take(20).filter(every).collect()
    }

    /// Is this its exact name? `typed` is in lower case.
    fn is_named(&self, at: usize, typed: &str) -> f32 {
        let name = &self.cards[at].name;
        let last = name.rsplit('/').next().unwrap_or_default();
        // Nearly every name has another length.
        if name.len() == typed.len() && name.to_lowercase() == typed {
            20.0
        } else if last.len() == typed.len() && last.to_lowercase() == typed.replace(' ', "-") {
            4.0
        } else {
            0.0
        }
    }

    /// Entries with a matching word, with scores.
    fn matches(&self, word: &str) -> HashMap<u32, f32> {
        let mut best: HashMap<u32, f32> = HashMap::new();
        let mut add = |known: &str, likeness: f32| {
            for (at, worth) in self.words.get(known).into_iter().flatten() {
                let before = best.entry(*at).or_default();
                *before = before.max(worth * likeness);
            }
        };
        add(word, 1.0);
        let from = self.words.range::<str, _>((std::ops::Bound::Excluded(word), std::ops::Bound::Unbounded));
        let longer = from.map(|(known, _)| known).take_while(|known| known.starts_with(word));
        longer.for_each(|known| add(known, 0.85));
        if word.len() >= WITHIN {
            let within = self.words.keys().filter(|known| known.len() > word.len() && known.contains(word));
            within.for_each(|known| add(known, 0.6));
        }
        if best.is_empty() {
            let mut add = |known: &str, likeness: f32| {
                for (at, worth) in self.words.get(known).into_iter().flatten() {
                    let before = best.entry(*at).or_default();
                    *before = before.max(worth * likeness);
                }
            };
            for (known, likeness) in self.spelling.near(word) {
                add(known, 0.5 * likeness);
            }
        }
        best
    }

    /// Number of entries on offer.
    pub fn offered(&self) -> usize {
        self.cards.iter().filter(|card| !card.deleted).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let card = |name: &str, about: &str| Card {
            name: name.into(),
            texts: vec![(3.0, about.into())],
            behind: about.contains("old"),
            deleted: about.contains("gone"),
        };
        Index::of(vec![
            card("io.github.a/postgres", "Postgres for agents"),
            card("io.github.b/postgres-old", "Postgres, old"),
            card("io.github.a/kubernetes", "Kubernetes clusters"),
            card("io.github.a/mail", "Mail"),
            card("io.github.b/old-mail", "Mail, old"),
            card("io.github.b/gone", "Mail, gone"),
            card("io.github.c/tickets", "Look up mail and issues"),
        ])
    }

    #[track_caller]
    fn check(query: &str, all: bool, expected: &[&str]) {
        let index = index();
        let names: Vec<&str> = index
            .find(query, all)
            .into_iter()
            .map(|at| index.cards[at].name.rsplit('/').next().unwrap())
            .collect();
        assert_eq!(names, expected, "{query}");
    }

    #[test]
    fn the_best_result_comes_first_and_discouraged_ones_last() {
        check("postgres", false, &["postgres", "postgres-old"]);
        check("mail", false, &["mail", "tickets", "old-mail"]);
        check("mail issues", false, &["tickets"]);
        check("old mail", false, &["old-mail"]);
        check("io.github.b/postgres-old", false, &["postgres-old"]);
    }

    #[test]
    fn slips_are_forgiven_and_every_letter_is_followed() {
        for typed in ["postgress", "postgers", "Postgre", "pos"] {
            check(typed, false, &["postgres", "postgres-old"]);
        }
        check("kubernets", false, &["kubernetes"]);
        check("zzxqv", false, &[]);
    }

    #[test]
    fn deleted_servers_are_found_only_on_request() {
        check("gone", false, &[]);
        check("gone", true, &["gone"]);
        let index = index();
        assert_eq!((index.find("", false).len(), index.find(" - ", true).len(), index.offered()), (6, 7, 6));
    }
}
