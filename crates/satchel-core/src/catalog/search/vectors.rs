//! Meaning as vectors, where the user names a source of them: how alike a query and the tools are, put together with
//! what their words say. Pure; where vectors come from and how they are kept is no matter of this room.

use std::{collections::HashMap, sync::Arc};

use super::rank::Hit;

/// What words count, and what meaning does.
const WORDS: f32 = 0.6;
const MEANING: f32 = 0.4;
/// Tools without any word of the query come in when they are so much like it, compared with the one that is most.
const ALIKE: f32 = 0.6;
/// So many of them.
const MORE: usize = 20;

/// Vectors of length one, by the number of the text they stand for.
#[derive(Debug, Clone, Default)]
pub struct Vectors(HashMap<u64, Arc<[f32]>>);

/// A query's vector, and those of the tools.
#[derive(Debug, Clone)]
pub struct Meaning {
    query: Arc<[f32]>,
    vectors: Arc<Vectors>,
}

impl Vectors {
    /// Takes in a vector. False for one that points nowhere.
    pub fn put(&mut self, text: u64, vector: &[f32]) -> bool {
        let Some(vector) = unit(vector) else { return false };
        self.0.insert(text, vector);
        true
    }

    /// Is it known?
    pub fn knows(&self, text: u64) -> bool {
        self.0.contains_key(&text)
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in no order.
    pub fn all(&self) -> impl Iterator<Item = (u64, &[f32])> {
        self.0.iter().map(|(text, vector)| (*text, &**vector))
    }

    /// Forgets those of other texts.
    pub fn keep(&mut self, is_wanted: impl Fn(u64) -> bool) {
        self.0.retain(|text, _| is_wanted(*text));
    }
}

impl Meaning {
    /// `None` for a query whose vector points nowhere.
    pub fn of(query: &[f32], vectors: Arc<Vectors>) -> Option<Self> {
        Some(Self { query: unit(query)?, vectors })
    }

    /// How alike the query and a text are, from -1 to 1; `None` where the text has no vector of the same kind.
    fn likeness(&self, text: u64) -> Option<f32> {
        let vector = self.vectors.0.get(&text).filter(|vector| vector.len() == self.query.len())?;
        Some(self.query.iter().zip(vector.iter()).map(|(a, b)| a * b).sum())
    }

    /// What words found, put in order anew, with what only means the same. `texts` are the numbers of the texts at
    /// the positions that are wanted.
    pub(in crate::catalog) fn fused(&self, hits: Vec<Hit>, texts: &[(usize, u64)]) -> Vec<Hit> {
        let likeness = |(at, text): &(usize, u64)| Some((*at, self.likeness(*text)?));
        let alike: HashMap<usize, f32> = texts.iter().filter_map(likeness).collect();
        if alike.is_empty() {
            return hits;
        }
        // Models differ in what is much: what counts is how far a tool stands out.
        let usual = alike.values().sum::<f32>() / alike.len() as f32;
        let most = alike.values().copied().fold(f32::MIN, f32::max);
        let meant = |at: usize| match alike.get(&at) {
            Some(likeness) if most > usual => ((likeness - usual) / (most - usual)).clamp(0.0, 1.0),
            _ => 0.0,
        };
        let best = hits.iter().map(|hit| hit.score).fold(f32::MIN_POSITIVE, f32::max);
        let mut fused: Vec<Hit> = hits
            .iter()
            .map(|hit| Hit {
                at: hit.at,
                score: WORDS * (hit.score / best).clamp(0.0, 1.0) + MEANING * meant(hit.at),
            })
            .collect();
        let found: std::collections::HashSet<usize> = hits.iter().map(|hit| hit.at).collect();
        let mut others: Vec<Hit> = alike
            .keys()
            .filter(|at| !found.contains(at) && meant(**at) >= ALIKE)
            .map(|at| Hit { at: *at, score: MEANING * meant(*at) })
            .collect();
        others.sort_unstable_by(best_first);
        fused.extend(others.into_iter().take(MORE));
        fused.sort_unstable_by(best_first);
        fused
    }
}

fn best_first(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.at.cmp(&b.at))
}

fn unit(vector: &[f32]) -> Option<Arc<[f32]>> {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    (length.is_finite() && length > 0.0).then(|| vector.iter().map(|part| part / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(query: &[f32], tools: &[&[f32]]) -> (Meaning, Vec<(usize, u64)>) {
        let mut vectors = Vectors::default();
        for (text, vector) in (0..).zip(tools) {
            vectors.put(text, vector);
        }
        (Meaning::of(query, Arc::new(vectors)).unwrap(), (0..tools.len()).map(|at| (at, at as u64)).collect())
    }

    fn order(hits: Vec<Hit>) -> Vec<usize> {
        hits.into_iter().map(|hit| hit.at).collect()
    }

    #[test]
    fn meaning_finds_what_words_do_not_and_decides_between_equals() {
        let (meaning, texts) = meaning(&[1.0, 0.0], &[&[0.0, 3.0], &[2.0, 0.1], &[0.1, 1.0], &[0.0, -1.0]]);
        assert_eq!(order(meaning.fused(vec![], &texts)), [1]);
        let equal = vec![Hit { at: 0, score: 5.0 }, Hit { at: 1, score: 5.0 }];
        assert_eq!(order(meaning.fused(equal, &texts)), [1, 0]);
        let named = vec![Hit { at: 0, score: 9.0 }, Hit { at: 2, score: 1.0 }];
        assert_eq!(
            order(meaning.fused(named, &texts)),
            [0, 1, 2],
            "what is named comes before what is only meant"
        );
    }

    #[test]
    fn without_vectors_of_the_same_kind_words_alone_decide() {
        let (meaning, texts) = meaning(&[1.0, 0.0, 0.0], &[&[0.0, 1.0], &[1.0, 0.0]]);
        let hits = vec![Hit { at: 1, score: 1.0 }, Hit { at: 0, score: 0.5 }];
        assert_eq!(meaning.fused(hits.clone(), &texts), hits);
    }

    #[test]
    fn a_vector_that_points_nowhere_is_none() {
        let mut vectors = Vectors::default();
        for vector in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert!(!vectors.put(1, vector) && Meaning::of(vector, Arc::default()).is_none());
        }
        assert!(vectors.is_empty() && vectors.put(1, &[0.0, 2.0]) && vectors.knows(1));
    }
}
