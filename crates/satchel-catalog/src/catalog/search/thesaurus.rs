//! Synonyms: verbs by what they do, and a list of everyday words. General language only, never for a particular server
//! or tool.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock},
};

use super::words;

const SYNONYMS: &str = include_str!("thesaurus.txt");

/// Everyday words and the words that tools use for them, from many fields. Usually right, not always: they count only if
/// no tool contains the words themselves.
const HINTS: &str = include_str!("hints.txt");

/// Classes of verbs. Tools are named by these verbs, and people use all of them.
const VERBS: [(Action, &str); 12] = [
    (
        Action::Get,
        "get fetch retrieve show read view display obtain give return describe see inspect access pull load tell provide grab open check lookup info details",
    ),
    (Action::List, "list enumerate show get all browse display view fetch retrieve"),
    (Action::Search, "search find query lookup look locate discover seek explore identify filter match"),
    (
        Action::Create,
        "create make new add generate build start set register open insert produce compose draft initialize init provision establish write file define spin prepare",
    ),
    (Action::Add, "add append attach insert include put join assign link create"),
    (
        Action::Update,
        "update edit modify change set patch alter adjust rename replace configure revise amend write put fix move mark turn",
    ),
    (
        Action::Delete,
        "delete remove drop destroy erase clear purge discard uninstall eliminate unassign detach teardown rid wipe trash",
    ),
    (
        Action::Send,
        "send post publish submit share reply deliver forward email message write push notify tell",
    ),
    (Action::Run, "run execute start launch invoke call trigger perform evaluate"),
    (Action::Stop, "stop cancel kill terminate abort end halt close disable pause shut shutdown"),
    (
        Action::Convert,
        "convert transform translate turn change export render transcribe parse encode decode extract",
    ),
    (
        Action::Check,
        "check validate verify test analyze analyse inspect scan audit review compare assess evaluate examine monitor detect status diagnose lint",
    ),
];

/// A class of verbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    List,
    Search,
    Create,
    Add,
    Update,
    Delete,
    Send,
    Run,
    Stop,
    Convert,
    Check,
}

/// A set of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Actions(u16);

impl Actions {
    pub(super) fn of(action: Action) -> Self {
        Self(1 << action as u16)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn has(self, action: Action) -> bool {
        self.meets(Self::of(action))
    }

    /// The most specific action of the set.
    pub(super) fn kind(self) -> &'static str {
        let kinds: [(&[Action], &str); 7] = [
            (&[Action::Delete], "deleting"),
            (&[Action::Search], "searching"),
            (&[Action::Run, Action::Stop], "running"),
            (&[Action::Get, Action::List, Action::Check], "reading"),
            (&[Action::Create, Action::Add, Action::Update], "writing"),
            (&[Action::Send], "sending"),
            (&[Action::Convert], "converting"),
        ];
        let is_one = |(actions, _): &&(&[Action], &str)| actions.iter().any(|action| self.has(*action));
        kinds.iter().find(is_one).map_or("other", |(_, kind)| kind)
    }

    /// Whether two actions exclude each other: a query for showing something does not mean a tool that
    /// deletes it.
    pub(super) fn contradict(self, other: Self) -> bool {
        let kinds = |actions: Self| KINDS.map(|kind| kind.iter().any(|action| actions.has(*action)));
        let (ours, theirs) = (kinds(self), kinds(other));
        let any = |kinds: [bool; 3]| kinds.contains(&true);
        any(ours) && any(theirs) && ours.iter().zip(theirs).all(|(ours, theirs)| !(*ours && theirs))
    }
}

/// Reading, removing, creating.
const KINDS: [&[Action]; 3] = [
    &[Action::Get, Action::List, Action::Search],
    &[Action::Delete, Action::Stop],
    &[Action::Create, Action::Add, Action::Update, Action::Send],
];

/// A word, which many entries share.
type Stem = Arc<str>;

struct Tables {
    verbs: HashMap<Stem, Vec<Stem>>,
    actions: HashMap<Stem, Actions>,
    same: HashMap<Stem, Vec<Stem>>,
    related: HashMap<Stem, Vec<Stem>>,
    hints: HashMap<Stem, Vec<Stem>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables {
        verbs: HashMap::new(),
        actions: HashMap::new(),
        same: HashMap::new(),
        related: HashMap::new(),
        hints: HashMap::new(),
    };
    let mut known = HashSet::new();
    for (action, verbs) in VERBS {
        let stems = shared(&mut known, verbs.split(' ').map(words::stem).collect());
        for stem in &stems {
            let actions = tables.actions.entry(stem.clone()).or_default();
            *actions = actions.and(Actions::of(action));
            put(&mut tables.verbs, stem, &stems);
        }
    }
    for entry in entries(SYNONYMS, &mut known) {
        match entry {
            SynonymRule::Same(group) => group.iter().for_each(|word| put(&mut tables.same, word, &group)),
            SynonymRule::MayMean(said, meant) => {
                said.iter().for_each(|word| put(&mut tables.related, word, &meant))
            }
        }
    }
    for entry in entries(HINTS, &mut known) {
        let (said, meant) = match entry {
            SynonymRule::Same(group) => (group.clone(), group),
            SynonymRule::MayMean(said, meant) => (said, meant),
        };
        said.iter().for_each(|word| put(&mut tables.hints, word, &meant));
    }
    for table in [&mut tables.verbs, &mut tables.same, &mut tables.related, &mut tables.hints] {
        table.values_mut().for_each(Vec::shrink_to_fit);
        table.shrink_to_fit();
    }
    tables
});

/// The words as others have them already.
fn shared(known: &mut HashSet<Stem>, words: Vec<String>) -> Vec<Stem> {
    let one = |word: String| match known.get(word.as_str()) {
        Some(word) => word.clone(),
        None => {
            let word = Stem::from(word);
            known.insert(word.clone());
            word
        }
    };
    words.into_iter().map(one).collect()
}

fn put(table: &mut HashMap<Stem, Vec<Stem>>, word: &Stem, others: &[Stem]) {
    let known = table.entry(word.clone()).or_default();
    for other in others {
        if other != word && !known.contains(other) {
            known.push(other.clone());
        }
    }
}

/// A line of a list.
enum SynonymRule {
    /// `= a b`
    Same(Vec<Stem>),
    /// `a b > c d`
    MayMean(Vec<Stem>, Vec<Stem>),
}

fn entries(list: &'static str, known: &mut HashSet<Stem>) -> impl Iterator<Item = SynonymRule> {
    let mut keys = |words: &str| shared(known, words.split(' ').map(key).collect());
    lines(list).filter_map(move |line| match line.strip_prefix("= ") {
        Some(group) => Some(SynonymRule::Same(keys(group))),
        None => line.split_once(" > ").map(|(said, meant)| SynonymRule::MayMean(keys(said), keys(meant))),
    })
}

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// `pull_request` as a pair is looked up.
fn key(entry: &str) -> String {
    match entry.rsplit_once('_') {
        None => words::stem(entry),
        Some((first, last)) => format!("{}{}", first.replace('_', ""), words::stem(last)),
    }
}

/// The action of a word, or of a pair of words written as one. `stem` is without its ending.
pub(super) fn actions(stem: &str) -> Actions {
    TABLES.actions.get(stem).copied().unwrap_or_default()
}

/// Verbs for the same action.
pub(super) fn verbs(stem: &str) -> &'static [Stem] {
    TABLES.verbs.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Synonyms.
pub(super) fn same(stem: &str) -> &'static [Stem] {
    TABLES.same.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Words that may be meant.
pub(super) fn related(stem: &str) -> &'static [Stem] {
    TABLES.related.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Words that may be meant if no tool contains the word itself.
pub(super) fn hints(stem: &str) -> &'static [Stem] {
    TABLES.hints.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Whether the thesaurus contains the word, so that it is not corrected as a typo.
pub(super) fn knows(stem: &str) -> bool {
    TABLES.actions.contains_key(stem)
        || [&TABLES.same, &TABLES.related, &TABLES.hints].iter().any(|table| table.contains_key(stem))
}

/// Verbs and words with synonyms, as written.
pub(super) fn written() -> impl Iterator<Item = &'static str> {
    VERBS.iter().flat_map(|(_, verbs)| verbs.split(' ')).chain(single(SYNONYMS))
}

/// Words with loosely related ones, as written.
pub(super) fn hinting() -> impl Iterator<Item = &'static str> {
    single(HINTS)
}

fn single(list: &'static str) -> impl Iterator<Item = &'static str> {
    let words = lines(list).flat_map(|line| line.split(' '));
    words.filter(|word| !matches!(*word, "=" | ">") && !word.contains('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_looked_up() {
        let word =
            |word: &&str| !word.is_empty() && word.matches('_').count() <= 1 && word.to_lowercase() == **word;
        for (name, list) in [("thesaurus.txt", SYNONYMS), ("hints.txt", HINTS)] {
            let mut seen = std::collections::HashSet::new();
            for line in lines(list) {
                assert!(seen.insert(line), "{name} has this twice: {line}");
                let (said, meant) = match line.strip_prefix("= ") {
                    Some(group) => (group, group),
                    None => line.split_once(" > ").unwrap_or_default(),
                };
                let fine = |words: &str| words.split(' ').all(|part| word(&part));
                assert!(fine(said) && fine(meant), "{name} has this, which is no entry: {line}");
            }
        }
    }
}
