//! Ranks tools slightly higher that were used after similar searches on this computer. Bounded in size and effect, and
//! deterministic: no clock, no disk.
//!
//! Words are stored as hashes ([`Term`]), never as text.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    index::{ByHash, Index, Term, term},
    query::{Query, telling},
};
use crate::model::ToolPath;

/// Maximum number of pairs of words and tool; the least recently used one is dropped.
const REMEMBERED: usize = 500;
/// Maximum number of words stored per search.
const WORDS: usize = 16;
/// More uses than these add nothing.
const USES: u32 = 5;
/// Maximum gain, as a share of a tool's own score. The second tool of a search usually scores a fifth less than the
/// first, so habits can reverse these two; a tool below three quarters of another's score never passes it.
const MOST: f32 = 0.33;
/// Searches are similar if they share at least this much of their combined words.
const SIMILAR: f32 = 0.5;
/// Weight of a synonym, relative to the word itself.
const SYNONYM: f32 = 0.8;

/// Tools that were used after searches, the most recent one last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Habits {
    habits: Vec<Habit>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Habit {
    /// Sorted and unique.
    words: Vec<Term>,
    tool: String,
    uses: u32,
    /// Day of last use, counted from the Unix epoch.
    day: u32,
}

/// What habits add to a tool's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lift {
    /// The gain as a share of its own score.
    pub share: f32,
    /// Uses after similar searches, up to the counted maximum.
    pub uses: u32,
}

impl Habits {
    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.habits.is_empty()
    }

    /// Records that a tool was used after a search for these words.
    pub fn used(&mut self, query: &str, tool: &ToolPath, day: u32) {
        let words = terms(query);
        if words.is_empty() {
            return;
        }
        let tool = tool.to_string();
        let known = self.habits.iter().position(|habit| habit.tool == tool && habit.words == words);
        let uses = known.map_or(0, |at| self.habits.remove(at).uses);
        self.habits.push(Habit { words, tool, uses: (uses + 1).min(USES), day });
        self.shorten();
    }

    /// Forgets everything not used since that day.
    pub fn forget_before(&mut self, day: u32) {
        self.habits.retain(|habit| habit.day >= day);
    }

    /// Forgets the tools of a server.
    pub fn forget_server(&mut self, server: &str) {
        let is_its = |tool: &str| tool.parse::<ToolPath>().is_ok_and(|path| path.server.as_str() == server);
        self.habits.retain(|habit| !is_its(&habit.tool));
    }

    /// Normalises entries read from a file, which may have been edited by anyone.
    #[must_use]
    pub fn checked(mut self) -> Self {
        for habit in &mut self.habits {
            habit.words.sort_unstable();
            habit.words.dedup();
            habit.words.truncate(WORDS);
            habit.uses = habit.uses.clamp(1, USES);
        }
        self.habits.retain(|habit| !habit.words.is_empty() && habit.tool.parse::<ToolPath>().is_ok());
        self.shorten();
        self
    }

    fn shorten(&mut self) {
        self.habits.drain(..self.habits.len().saturating_sub(REMEMBERED));
    }

    /// The boosts for a query, by tool path.
    pub(in crate::catalog) fn lifts(&self, query: &str, index: &Index) -> HashMap<&str, Lift> {
        let mut lifts: HashMap<&str, Lift> = HashMap::new();
        let asked = terms(query);
        if self.habits.is_empty() || asked.is_empty() {
            return lifts;
        }
        let meant = Query::read(query, index).meant();
        for habit in &self.habits {
            let alike = habit.alike(&asked, &meant);
            if alike < SIMILAR {
                continue;
            }
            // The first use says most: half of what can be said, the second half of the rest.
            let sure = 1.0 - 0.5f32.powi(habit.uses.min(USES).cast_signed());
            let lift = Lift { share: MOST * alike * sure, uses: habit.uses };
            let known = lifts.entry(&habit.tool).or_insert(lift);
            if lift.share > known.share {
                *known = lift;
            }
        }
        lifts
    }
}

impl Habit {
    /// Similarity of two sets of words, from 0 to 1.
    fn alike(&self, asked: &[Term], meant: &ByHash<f32>) -> f32 {
        let common = |word: &Term| match asked.binary_search(word) {
            Ok(_) => 1.0,
            Err(_) => meant.get(word).map_or(0.0, |likeness| SYNONYM * likeness.clamp(0.0, 1.0)),
        };
        let common = self.words.iter().map(common).sum::<f32>().min(asked.len() as f32);
        common / (self.words.len() as f32 + asked.len() as f32 - common)
    }
}

/// The words of a query that carry its subject, sorted.
fn terms(query: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = telling(query).iter().take(WORDS).map(|word| term(&word.stem)).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

#[cfg(test)]
mod tests {
    use super::super::{Beside, index::ToolText, weights::Weights};
    use super::*;

    fn path(path: &str) -> ToolPath {
        path.parse().unwrap()
    }

    fn index() -> Index {
        let text =
            |name, description| ToolText { server: "tracker", name, description, ..ToolText::default() };
        let tools = [
            text("create_issue", "Create an issue in a project."),
            text("create_ticket", "Create a ticket."),
            text("list_users", "List the users."),
        ];
        Index::read(Weights::default(), tools.into_iter())
    }

    fn share(habits: &Habits, query: &str, tool: &str) -> f32 {
        habits.lifts(query, &index()).get(tool).map_or(0.0, |lift| lift.share)
    }

    #[test]
    fn similar_words_raise_the_tools_used_before_and_other_words_do_not() {
        let mut habits = Habits::default();
        habits.used("create an issue for the login page", &path("tracker:create_issue"), 1);
        let same = share(&habits, "create an issue for the login page", "tracker:create_issue");
        let near = share(&habits, "Create issues about login", "tracker:create_issue");
        assert!(same > near && near > 0.0, "{same} {near}");
        for other in ["list users", "create a calendar event", "", "please"] {
            assert_eq!(share(&habits, other, "tracker:create_issue"), 0.0, "{other}");
        }
        assert_eq!(share(&habits, "create an issue", "tracker:create_ticket"), 0.0);
    }

    #[test]
    fn synonyms_are_similar() {
        let mut habits = Habits::default();
        habits.used("create ticket", &path("tracker:create_ticket"), 1);
        assert!(share(&habits, "create issue", "tracker:create_ticket") > 0.0);
    }

    #[test]
    fn the_effect_grows_and_ends() {
        let mut habits = Habits::default();
        let mut shares = vec![];
        for _ in 0..100 {
            habits.used("file a bug", &path("tracker:create_issue"), 1);
            shares.push(share(&habits, "file a bug", "tracker:create_issue"));
        }
        assert!(shares[0] < shares[1] && shares[1] < shares[4], "{shares:?}");
        assert!(shares.iter().all(|share| *share < MOST) && shares[4] == shares[99], "{shares:?}");
    }

    #[test]
    fn a_poor_match_never_precedes_a_good_one() {
        let index = index();
        let query = "create an issue in a project";
        let place = |habits: &Habits| {
            let lifts = habits.lifts(query, &index);
            let at = |path: &str| match path {
                "tracker:create_issue" => 0,
                "tracker:create_ticket" => 1,
                _ => 2,
            };
            let lifts = lifts.into_iter().map(|(path, lift)| (at(path), lift)).collect();
            index.ranked_beside(query, |_| true, &Beside { lifts, ..Beside::default() })
        };
        let mut habits = Habits::default();
        let before = place(&habits);
        for _ in 0..100 {
            habits.used(query, &path("tracker:list_users"), 1);
        }
        let after = place(&habits);
        assert_eq!((before[0].at, after[0].at), (0, 0));
        let users = |hits: &[super::super::Hit]| hits.iter().find(|hit| hit.at == 2).map(|hit| hit.score);
        assert!(users(&after) >= users(&before), "{after:?}");
        assert!(users(&after).unwrap_or_default() < after[0].score / 2.0, "{after:?}");
    }

    #[test]
    fn only_so_much_is_remembered_and_the_oldest_goes_first() {
        let mut habits = Habits::default();
        for at in 0..2 * REMEMBERED {
            habits.used(&format!("word{at}"), &path("s:t"), at as u32);
            // Used again and again, it is never the oldest.
            habits.used("kept", &path("s:t"), at as u32);
        }
        assert_eq!(habits.habits.len(), REMEMBERED);
        assert!(share(&habits, "kept", "s:t") > 0.0 && share(&habits, "word1", "s:t") == 0.0);
        habits.forget_before(2 * REMEMBERED as u32 - 10);
        assert_eq!(habits.habits.len(), 11);
        habits.forget_server("s");
        assert!(habits.is_empty());
        let long = (0..1_000).map(|at| format!("word{at} ")).collect::<String>();
        habits.used(&long, &path("s:t"), 0);
        assert_eq!(habits.habits[0].words.len(), WORDS);
    }

    #[test]
    fn values_and_words_of_courtesy_are_not_remembered() {
        let mut habits = Habits::default();
        habits.used("please 'my secret plan' at https://example.com/private", &path("s:t"), 1);
        assert!(habits.is_empty(), "{habits:?}");
    }

    #[test]
    fn a_hand_written_habits_file_has_no_more_effect_than_habits() {
        let read: Habits = serde_json::from_str(
            r#"{"habits":[{"words":[3,1,3],"tool":"s:t","uses":4000000000,"day":1},
                {"words":[],"tool":"s:t","uses":1,"day":1},{"words":[1],"tool":"nothing","uses":1,"day":1}]}"#,
        )
        .unwrap();
        let checked = read.checked();
        assert_eq!(checked.habits, [Habit { words: vec![1, 3], tool: "s:t".into(), uses: USES, day: 1 }]);
    }
}
