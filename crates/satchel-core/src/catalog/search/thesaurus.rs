//! What else a word may be called: verbs by what they do, and a list of everyday synonyms. General language only; no
//! server's or tool's words are in here for its own sake.

use std::{collections::HashMap, sync::LazyLock};

use super::words;

const SYNONYMS: &str = include_str!("thesaurus.txt");

/// What a verb does to things. Tools are named by these verbs, and people use all of them.
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

/// Several actions at once.
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

    /// What they come to, in a word. Of several, the one that says most.
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

    /// Whether one of these cannot be meant where the other is said: who wants to see something does not want it
    /// deleted.
    pub(super) fn contradict(self, other: Self) -> bool {
        let kinds = |actions: Self| KINDS.map(|kind| kind.iter().any(|action| actions.has(*action)));
        let (ours, theirs) = (kinds(self), kinds(other));
        let any = |kinds: [bool; 3]| kinds.contains(&true);
        any(ours) && any(theirs) && ours.iter().zip(theirs).all(|(ours, theirs)| !(*ours && theirs))
    }
}

/// Looking, removing, making.
const KINDS: [&[Action]; 3] = [
    &[Action::Get, Action::List, Action::Search],
    &[Action::Delete, Action::Stop],
    &[Action::Create, Action::Add, Action::Update, Action::Send],
];

struct Tables {
    verbs: HashMap<String, Vec<String>>,
    actions: HashMap<String, Actions>,
    same: HashMap<String, Vec<String>>,
    related: HashMap<String, Vec<String>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables {
        verbs: HashMap::new(),
        actions: HashMap::new(),
        same: HashMap::new(),
        related: HashMap::new(),
    };
    for (action, verbs) in VERBS {
        let stems: Vec<String> = verbs.split(' ').map(words::stem).collect();
        for stem in &stems {
            let actions = tables.actions.entry(stem.clone()).or_default();
            *actions = actions.and(Actions::of(action));
            put(&mut tables.verbs, stem, &stems);
        }
    }
    for line in SYNONYMS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(group) = line.strip_prefix("= ") {
            let group: Vec<String> = group.split(' ').map(key).collect();
            for word in &group {
                put(&mut tables.same, word, &group);
            }
        } else if let Some((said, meant)) = line.split_once(" > ") {
            let meant: Vec<String> = meant.split(' ').map(key).collect();
            for word in said.split(' ') {
                put(&mut tables.related, &key(word), &meant);
            }
        }
    }
    tables
});

fn put(table: &mut HashMap<String, Vec<String>>, word: &str, others: &[String]) {
    let known = table.entry(word.to_owned()).or_default();
    for other in others {
        if other != word && !known.contains(other) {
            known.push(other.clone());
        }
    }
}

/// `pull_request` as a pair is looked up.
fn key(entry: &str) -> String {
    match entry.rsplit_once('_') {
        None => words::stem(entry),
        Some((first, last)) => format!("{}{}", first.replace('_', ""), words::stem(last)),
    }
}

/// What a word, or a pair of words written as one, says to do. `stem` is without its ending.
pub(super) fn actions(stem: &str) -> Actions {
    TABLES.actions.get(stem).copied().unwrap_or_default()
}

/// Verbs that may do the same.
pub(super) fn verbs(stem: &str) -> &'static [String] {
    TABLES.verbs.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Words that mean the same.
pub(super) fn same(stem: &str) -> &'static [String] {
    TABLES.same.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Words that may be meant.
pub(super) fn related(stem: &str) -> &'static [String] {
    TABLES.related.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Whether the word is known here at all, so that it is not taken for a misspelt one.
pub(super) fn knows(stem: &str) -> bool {
    TABLES.actions.contains_key(stem) || TABLES.same.contains_key(stem) || TABLES.related.contains_key(stem)
}

/// All words that can be asked for, as people write them.
pub(super) fn written() -> impl Iterator<Item = &'static str> {
    let verbs = VERBS.iter().flat_map(|(_, verbs)| verbs.split(' '));
    let lines = SYNONYMS.lines().filter(|line| !line.starts_with('#'));
    let others = lines
        .flat_map(|line| line.split(' '))
        .filter(|word| !matches!(*word, "=" | ">") && !word.contains('_'));
    verbs.chain(others)
}
