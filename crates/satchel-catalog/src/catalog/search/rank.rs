//! Scores tools against a query. Each query word counts once per tool, by its best match; words of the server count in
//! part. The best candidates are then checked more closely: does the query name the tool, and does the verb agree?

use std::collections::HashMap;

use super::{
    habits::Lift,
    index::{Among, ByHash, Index, IndexedTool, Name, NameWord, Posting, Term},
    query::{Clause, Query, Variant},
    vectors::Meant,
};

/// Number of candidates that are checked closely.
const WINDOW: usize = 300;

/// Number of candidates that match by meaning alone.
const MORE: usize = 20;

/// Number of results chosen with regard to those chosen before.
const PICKS: usize = 12;

/// A candidate that is checked closely.
struct Close {
    at: usize,
    /// Score for its server.
    share: f32,
    /// Score for each clause.
    fits: Vec<f32>,
    /// Shares of words and of meaning, if both count.
    shares: Option<Shares>,
}

impl Close {
    fn score(&self) -> f32 {
        together(self.fits.iter().copied()) + self.share
    }

    fn lift(&mut self, lift: Option<&Lift>) {
        let Some(Lift { share, .. }) = lift else { return };
        self.fits.iter_mut().for_each(|fit| *fit *= 1.0 + share);
        self.share *= 1.0 + share;
    }
}

/// A matching tool: its position in the list the index was built from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Position.
    pub at: usize,
    /// Its score. Comparable only within one search.
    pub score: f32,
    /// The shares of words and of meaning in it.
    pub shares: Option<Shares>,
}

/// Scores of two kinds of evidence: 1 equals the words of the best tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Score of the words.
    pub words: f32,
    /// Score of the similarity.
    pub meaning: f32,
}

/// Evidence besides the words of a request.
#[derive(Default)]
pub(in crate::catalog) struct Beside<'a> {
    /// Boosts by position, as a share of the tool's own score.
    pub(in crate::catalog) lifts: HashMap<usize, Lift>,
    /// Similarity of meaning by position.
    pub(in crate::catalog) meant: Option<&'a Meant>,
    /// Whether the request contains the exact name of the tool at a position.
    pub(in crate::catalog) named: Option<&'a dyn Fn(usize) -> bool>,
}

impl Index {
    /// Positions of the matching tools, best first. Equal ones keep the list's order.
    pub fn search(&self, query: &str) -> Vec<usize> {
        self.ranked(query, |_| true).into_iter().map(|hit| hit.at).collect()
    }

    /// The matching tools among the `wanted`, best first.
    pub fn ranked(&self, query: &str, wanted: impl Fn(usize) -> bool) -> Vec<Hit> {
        self.ranked_beside(query, wanted, &Beside::default())
    }

    /// The same with additional evidence.
    pub(in crate::catalog) fn ranked_beside(
        &self,
        query: &str,
        wanted: impl Fn(usize) -> bool,
        beside: &Beside<'_>,
    ) -> Vec<Hit> {
        let query = Query::read(query, self);
        let fits: Vec<Vec<f32>> =
            query.clauses.iter().map(|clause| self.scores(clause, Among::Tools)).collect();
        let servers = self.server_scores(&query);
        let share = |at: usize| self.weights.server_share * servers[self.server_of(at)];
        let fits_at = |at: usize| fits.iter().map(move |fits| fits[at]);
        let mut hits: Vec<Hit> = (0..self.count(Among::Tools))
            .filter(|at| fits_at(*at).any(|fit| fit > 0.0) && wanted(*at))
            .map(|at| Hit { at, score: together(fits_at(at)) + share(at), shares: None })
            .collect();
        hits.sort_unstable_by_key(place);
        let mut rest = hits.split_off(hits.len().min(WINDOW));
        // While vectors are computed, those that have one would win over those that do not: words alone decide then.
        let meant = beside.meant.filter(|meant| hits.iter().all(|hit| meant.known[hit.at]));
        if let Some(meant) = meant {
            self.let_in(&mut hits, &mut rest, meant, wanted);
        }
        let said: Vec<ByHash<f32>> = query.clauses.iter().map(said).collect();
        let mut close: Vec<Close> = hits
            .iter()
            .map(|hit| {
                let name = self.name(hit.at);
                let fit = |(number, clause): (usize, &Clause)| {
                    fits[number][hit.at]
                        + self.cover(&name, &said[number])
                        + self.verb(hit.at, clause)
                        + self.number(hit.at, clause)
                };
                Close {
                    at: hit.at,
                    share: share(hit.at),
                    fits: query.clauses.iter().enumerate().map(fit).collect(),
                    shares: None,
                }
            })
            .collect();
        if meant.is_some() {
            self.tell_siblings_apart(&mut close, &query.clauses);
        }
        self.lift_kin(&mut close, query.clauses.len());
        // Last, so that what was learned of one tool says nothing of its server's others.
        for tool in &mut close {
            tool.lift(beside.lifts.get(&tool.at));
        }
        if let Some(meant) = meant {
            self.fuse(&mut close, meant, |at| beside.named.is_some_and(|named| named(at)), query.foreign);
        }
        let mut hits = self.one_after_another(&mut close, query.clauses.len());
        hits.extend(rest);
        hits
    }

    /// Adds the tools that are closest in meaning as candidates, even without matching words.
    fn let_in(
        &self,
        hits: &mut Vec<Hit>,
        rest: &mut Vec<Hit>,
        meant: &Meant,
        wanted: impl Fn(usize) -> bool,
    ) {
        let mut known = vec![false; self.count(Among::Tools)];
        hits.iter().for_each(|hit| known[hit.at] = true);
        let mut added = vec![false; known.len()];
        let most_first =
            |(a_at, a): &(usize, f32), (b_at, b): &(usize, f32)| b.total_cmp(a).then(a_at.cmp(b_at));
        for meant in std::iter::once(&meant.whole).chain(&meant.parts) {
            let all = meant.iter().copied().enumerate();
            let mut most: Vec<(usize, f32)> = all
                .filter(|(at, meant)| *meant >= self.weights.alike && !known[*at] && wanted(*at))
                .collect();
            if most.len() > MORE {
                most.select_nth_unstable_by(MORE, most_first);
                most.truncate(MORE);
            }
            most.sort_unstable_by(most_first);
            for (at, _) in most {
                if !std::mem::replace(&mut added[at], true) {
                    hits.push(Hit { at, score: 0.0, shares: None });
                }
            }
        }
        rest.retain(|hit| !added[hit.at]);
    }

    /// Brings scores of words and of meaning to one scale and adds them. An exact tool name in the query wins.
    fn fuse(&self, close: &mut [Close], meant: &Meant, named: impl Fn(usize) -> bool, foreign: bool) {
        let w = &self.weights;
        let best = close.iter().map(Close::score).fold(f32::MIN_POSITIVE, f32::max);
        let worth = if foreign && meant.reads_english { w.meaning_abroad } else { 1.0 };
        for tool in close {
            tool.fits.iter_mut().for_each(|fit| *fit /= best);
            tool.share /= best;
            let words = tool.score();
            let is_named = named(tool.at);
            let of = |meant: &[f32]| if is_named { 1.0 } else { worth * meant[tool.at] };
            if tool.fits.len() > 1 && tool.fits.len() == meant.parts.len() {
                for (fit, part) in tool.fits.iter_mut().zip(&meant.parts) {
                    *fit += w.meaning_part * of(part);
                }
                tool.share += w.meaning_among * of(&meant.whole);
            } else {
                tool.share += w.meaning * of(&meant.whole);
            }
            tool.shares = Some(Shares { words, meaning: tool.score() - words });
        }
    }

    /// A word that is common among all tools may still distinguish the tools of one server, and vice versa. The best tool of
    /// a server by such words keeps its score; the others lose in proportion to what they lack.
    fn tell_siblings_apart(&self, close: &mut [Close], clauses: &[Clause]) {
        let mut numbers: Vec<Option<u16>> = vec![None; self.count(Among::Tools)];
        for (number, tool) in (0..).zip(close.iter()) {
            numbers[tool.at] = Some(number);
        }
        for (clause_number, clause) in clauses.iter().enumerate() {
            let tells = self.tells_among_siblings(clause, &numbers, close.len());
            let mut most = vec![0.0f32; self.count(Among::Servers)];
            for (tool, tells) in close.iter().zip(&tells) {
                let most = &mut most[self.server_of(tool.at)];
                *most = most.max(*tells);
            }
            for (tool, tells) in close.iter_mut().zip(&tells) {
                let lacks = most[self.server_of(tool.at)] - tells;
                let fit = &mut tool.fits[clause_number];
                *fit = (*fit - self.weights.sibling * lacks).max(0.0);
            }
        }
    }

    /// For each numbered tool, its score for a clause, where rarer words among its siblings weigh more.
    fn tells_among_siblings(&self, clause: &Clause, numbers: &[Option<u16>], count: usize) -> Vec<f32> {
        let mut tells = vec![0.0f32; count];
        let mut best = vec![0.0f32; count];
        let number = |posting: &Posting| numbers[posting.at as usize].map(usize::from);
        for token in &clause.tokens {
            for Variant { term, likeness, .. } in &token.variants {
                let having = self.having(Among::Tools, *term);
                let mut from = 0;
                // Most servers have no numbered tool, so the others are looked at first.
                while let Some(next) = having[from..].iter().position(|posting| number(posting).is_some()) {
                    let (rarity, of_server) = self.of_one_server(having, from + next);
                    for posting in &having[from + next..of_server.end] {
                        let Some(number) = number(posting) else { continue };
                        best[number] = best[number].max(likeness * rarity * posting.weight);
                    }
                    from = of_server.end;
                }
            }
            for (tells, best) in tells.iter_mut().zip(&mut best) {
                *tells += token.weight * std::mem::take(best);
            }
        }
        tells
    }

    /// If one tool of a server matches well, the server's other tools gain; also if its tools serve several parts of a
    /// request.
    fn lift_kin(&self, close: &mut [Close], clauses: usize) {
        // What serves each part best, by server; a request of one part has none.
        let parts = if clauses > 1 { clauses } else { 0 };
        let mut serves = vec![vec![0.0f32; parts]; self.count(Among::Servers)];
        let mut kin = vec![0.0f32; serves.len()];
        for tool in close.iter() {
            let server = self.server_of(tool.at);
            kin[server] = kin[server].max(together(tool.fits.iter().copied()));
            for (best, fit) in serves[server].iter_mut().zip(&tool.fits) {
                *best = best.max(*fit);
            }
        }
        for tool in close {
            let server = self.server_of(tool.at);
            let serves = together(serves[server].iter().copied());
            tool.share += self.weights.kin * kin[server] + self.weights.serves * serves;
        }
    }

    /// The best first; for a request with several parts, then the tools for parts that have none yet.
    fn one_after_another(&self, close: &mut Vec<Close>, clauses: usize) -> Vec<Hit> {
        let best: Vec<f32> = (0..clauses)
            .map(|number| close.iter().map(|tool| tool.fits[number]).fold(0.01, f32::max))
            .collect();
        let mut open = vec![1.0f32; clauses];
        let mut hits = Vec::new();
        let picks = if clauses > 1 { PICKS } else { 0 };
        for _ in 0..picks {
            let score = |tool: &Close| {
                together(tool.fits.iter().zip(&open).map(|(fit, open)| fit * open)) + tool.share
            };
            let next = close.iter().enumerate().map(|(number, tool)| (number, score(tool)));
            let Some((number, score)) =
                next.max_by(|(a_at, a), (b_at, b)| a.total_cmp(b).then(b_at.cmp(a_at)))
            else {
                break;
            };
            let tool = close.remove(number);
            for (number, open) in open.iter_mut().enumerate() {
                let done = (tool.fits[number] / best[number]).clamp(0.0, 1.0);
                *open *= 1.0 - self.weights.found * done * done;
            }
            hits.push(Hit { at: tool.at, score, shares: tool.shares });
        }
        let mut rest: Vec<Hit> =
            close.iter().map(|tool| Hit { at: tool.at, score: tool.score(), shares: tool.shares }).collect();
        rest.sort_unstable_by_key(place);
        hits.extend(rest);
        hits
    }

    /// Score for a tool's name and verb in one clause.
    pub(super) fn closely(&self, at: usize, clause: &Clause) -> (f32, f32) {
        (self.cover(&self.name(at), &said(clause)), self.verb(at, clause))
    }

    /// Score that a server's match adds to its tools.
    pub(super) fn server_share(&self, query: &Query, server: usize) -> f32 {
        self.weights.server_share * self.server_scores(query)[server]
    }

    fn server_scores(&self, query: &Query) -> Vec<f32> {
        let fits: Vec<Vec<f32>> =
            query.clauses.iter().map(|clause| self.scores(clause, Among::Servers)).collect();
        let mut all: Vec<f32> =
            (0..self.count(Among::Servers)).map(|at| together(fits.iter().map(|fits| fits[at]))).collect();
        let mut mentions = vec![0.0f32; all.len()];
        for (server, name) in &self.server_names {
            let (mut mentioned, mut place) = (0.0, 1.0);
            for (term, rarity) in &name.words {
                if let Some(after_place) = query.mentions.get(term) {
                    mentioned += rarity;
                    place = if *after_place { self.weights.mention_place } else { place };
                }
            }
            let mention = &mut mentions[*server];
            *mention = mention.max(place * mentioned / name.whole);
        }
        for (score, mention) in all.iter_mut().zip(mentions) {
            *score += self.weights.mention * mention;
        }
        all
    }

    /// Adds up the scores of all words; of a word and its alternatives, the best one counts.
    fn scores(&self, clause: &Clause, among: Among) -> Vec<f32> {
        let mut scores = vec![0.0f32; self.count(among)];
        let mut best = scores.clone();
        let mut touched: Vec<usize> = Vec::new();
        for token in &clause.tokens {
            for Variant { term, likeness, .. } in &token.variants {
                let value = token.weight * likeness * self.rarity(among, *term);
                for posting in self.having(among, *term) {
                    let seen = &mut best[posting.at as usize];
                    if *seen == 0.0 {
                        touched.push(posting.at as usize);
                    }
                    *seen = seen.max(value * posting.weight);
                }
            }
            for at in touched.drain(..) {
                scores[at] += std::mem::take(&mut best[at]);
            }
        }
        scores
    }

    /// The name of the tool at this position.
    fn name(&self, at: usize) -> Name {
        let words = self.tool(at).into_iter().flat_map(|(_, tool)| &tool.name);
        Name::of(words.map(|word| (word.term, self.rarity(Among::Tools, word.term))))
    }

    /// Score for a query that contains the tool's name or a part of it.
    fn cover(&self, name: &Name, said: &ByHash<f32>) -> f32 {
        let has = |(term, rarity): &(Term, f32)| rarity * said.get(term).copied().unwrap_or_default();
        let has: f32 = name.words.iter().map(has).sum();
        if name.whole == 0.0 {
            return 0.0;
        }
        self.weights.cover * has / name.whole + self.weights.cover_sum * has
    }

    /// Score for matching number: `get_issue` for one, `list_issues` for many.
    fn number(&self, at: usize, clause: &Clause) -> f32 {
        let name = self.tool(at).map(|(_, tool)| &tool.name);
        let agrees = |part: &NameWord| {
            let said = clause.plural.get(&part.term)?;
            Some(if *said == part.plural { 1.0 } else { -1.0 })
        };
        let sum: f32 = name.into_iter().flatten().filter_map(agrees).sum();
        self.weights.number * sum.clamp(-1.0, 1.0)
    }

    /// Score for a tool that does what the query asks, or does not.
    fn verb(&self, at: usize, clause: &Clause) -> f32 {
        let Some((_, IndexedTool { actions: does, .. })) = self.tool(at) else { return 0.0 };
        if does.meets(clause.first) {
            self.weights.verb
        } else if does.meets(clause.actions) {
            self.weights.any_verb
        } else if does.contradict(clause.first) {
            -self.weights.contradiction
        } else {
            0.0
        }
    }
}

/// Combines several scores: higher ones count more, and many low ones do not add up to a high one.
fn together(fits: impl Iterator<Item = f32>) -> f32 {
    fits.map(|fit| fit.max(0.0).powi(2)).sum::<f32>().sqrt()
}

/// Sorts the best first, and equal ones by position. One number, because a crowd is sorted faster by it than by comparing two
/// fields; scores are not negative, so their bits sort as they do.
fn place(hit: &Hit) -> u64 {
    u64::from(!hit.score.max(0.0).to_bits()) << 32 | hit.at as u64
}

/// All words of a clause and their alternatives with their probabilities.
fn said(clause: &Clause) -> ByHash<f32> {
    let mut said: ByHash<f32> = ByHash::default();
    for token in &clause.tokens {
        for Variant { term, likeness, .. } in &token.variants {
            let known = said.entry(*term).or_default();
            *known = known.max(likeness * token.weight.min(1.0));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{
        super::{index::ToolText, weights::Weights},
        *,
    };

    fn index() -> Index {
        let text =
            |name, description| ToolText { server: "tracker", name, description, ..ToolText::default() };
        let tools = [
            text("create_issue", "Create an issue in a project."),
            text("list_users", "List users."),
            text("delete_issue", "Delete an issue."),
        ];
        Index::read(Weights::default(), tools.into_iter())
    }

    fn order(query: &str, whole: [f32; 3], parts: &[[f32; 3]], named: &[usize]) -> Vec<usize> {
        let parts = parts.iter().map(|part| part.to_vec()).collect();
        let meant = Meant { known: vec![true; 3], whole: whole.to_vec(), parts, reads_english: false };
        let beside =
            Beside { meant: Some(&meant), named: Some(&|at| named.contains(&at)), ..Beside::default() };
        index().ranked_beside(query, |_| true, &beside).into_iter().map(|hit| hit.at).collect()
    }

    #[test]
    fn vectors_add_tools_that_words_miss_and_order_those_that_words_find() {
        assert_eq!(order("who is there", [0.2, 1.0, 0.0], &[], &[]), [1]);
        assert_eq!(order("an issue", [0.1, 0.0, 1.0], &[], &[])[0], 2);
        assert_eq!(order("create an issue", [0.9, 0.0, 1.0], &[], &[])[0], 0);
    }

    #[test]
    fn no_request_is_ranked_by_words_of_some_and_meaning_of_others() {
        let index = index();
        let ranked = |query: &str, known: [bool; 3]| {
            let meant = Meant {
                known: known.to_vec(),
                whole: vec![0.0, 0.0, 1.0],
                parts: vec![],
                reads_english: false,
            };
            index.ranked_beside(query, |_| true, &Beside { meant: Some(&meant), ..Beside::default() })
        };
        let query = "create an issue";
        let words = index.ranked(query, |_| true);
        assert_eq!(ranked(query, [false, true, true]), words, "one candidate has no vector yet");
        assert_ne!(ranked(query, [true, true, true]), words);
        // A tool that does not match the words is no candidate.
        assert_eq!(ranked(query, [true, false, true]), ranked(query, [true, true, true]));
    }

    #[test]
    fn a_name_wins_over_likeness() {
        let query = "create_issue";
        assert_eq!(order(query, [0.0, 1.0, 0.9], &[], &[0])[0], 0);
    }

    #[test]
    fn an_english_model_counts_less_for_another_language() {
        let index = index();
        let meaning = |query: &str, reads_english, named: &[usize]| {
            let (known, whole) = (vec![true; 3], vec![0.2, 0.0, 1.0]);
            let meant = Meant { known, whole, parts: vec![], reads_english };
            let is_named = |at: usize| named.contains(&at);
            let beside = Beside { meant: Some(&meant), named: Some(&is_named), ..Beside::default() };
            let hits = index.ranked_beside(query, |_| true, &beside);
            let most = hits.into_iter().map(|hit| hit.shares.unwrap().meaning).fold(0.0, f32::max);
            (100.0 * most).round() / 100.0
        };
        let german = "Bitte zeige mir das issue zu dem Fehler";
        let (full, less) = (index.weights.meaning, index.weights.meaning * index.weights.meaning_abroad);
        assert_eq!((meaning(german, true, &[]), meaning(german, false, &[])), (less, full));
        assert_eq!(meaning("show me the issue", true, &[]), full);
        assert_eq!(meaning(german, true, &[0]), full, "an exact name counts in full");
    }

    #[test]
    fn each_part_of_a_request_is_meant_by_itself() {
        let query = "create an issue, then look who is there";
        let found = |part: [f32; 3]| order(query, [1.0, 0.1, 0.9], &[[1.0, 0.0, 0.6], part], &[]);
        assert!(found([0.0, 1.0, 0.0]).contains(&1), "words find nothing for the second part");
        assert!(!found([0.0; 3]).contains(&1), "nor does the whole");
        assert_eq!(found([0.0, 1.0, 0.0])[0], 0);
    }

    #[test]
    fn words_that_distinguish_siblings_count_even_if_common() {
        // Nearly all tools list something, so that the word says little; on this server, only one of them does.
        let text = |server, name| ToolText { server, name, ..ToolText::default() };
        let others = ["list_keys", "list_roads", "list_songs", "list_trees", "list_walls", "list_zones"];
        let tools = others.map(|name| text("all", name)).into_iter();
        let own = ["album_cover", "list_album_songs", "album_title"].map(|name| text("music", name));
        let index = Index::read(Weights::default(), tools.chain(own));
        let (listing, cover) = (7, 6);
        let query = Query::read("list album", &index);
        let mut close: Vec<Close> = [cover, listing]
            .map(|at| Close { at, share: 0.0, fits: vec![3.0], shares: None })
            .into_iter()
            .collect();
        index.tell_siblings_apart(&mut close, &query.clauses);
        assert_eq!(close[1].fits, [3.0], "the best keeps what it has");
        assert!(close[0].fits[0] < 3.0, "{:?}", close[0].fits);
    }

    #[test]
    fn shares_add_up_to_the_score() {
        let (known, whole) = (vec![true; 3], vec![0.5, 0.0, 0.25]);
        let meant = Meant { known, whole, parts: vec![], reads_english: false };
        let beside = Beside { meant: Some(&meant), ..Beside::default() };
        for hit in index().ranked_beside("create an issue", |_| true, &beside) {
            let Shares { words, meaning } = hit.shares.unwrap();
            assert!((words + meaning - hit.score).abs() < 1e-5 && (0.0..=1.0).contains(&words), "{hit:?}");
        }
        assert!(index().ranked("create an issue", |_| true).iter().all(|hit| hit.shares.is_none()));
    }
}
