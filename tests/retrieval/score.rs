//! Recall by family, and its mean over families, so that no large family counts for more.

use std::collections::BTreeMap;

use super::collection::{Collection, Crowd, Query};

pub(crate) const SINGLE: &[&str] = &[
    "etom-named",
    "etom-implicit",
    "azure",
    "vendor-evals",
    "agent-route",
    "mcpproxy-golden",
    "short-typed",
    "human",
    "user-intent",
];
/// Those that do not name the tool.
pub(crate) const HARD: &[&str] =
    &["vendor-evals", "agent-route", "mcpproxy-golden", "short-typed", "human", "user-intent"];
pub(crate) const MULTI: &[&str] = &["etom-chain", "etom-cross", "livemcp-task", "mcpbench-task"];

const DEPTHS: [usize; 3] = [1, 5, 10];

/// Queries and the sums of their recalls, by family.
#[derive(Default)]
pub(crate) struct Scores(BTreeMap<String, (usize, [f64; 3])>);

/// Each query in the hub that `hub` makes for its tools.
pub(crate) fn all(
    collection: &Collection,
    hub: impl Fn(&str) -> Crowd,
    text: impl Fn(&Query) -> String,
) -> Scores {
    let mut hubs: BTreeMap<&str, Crowd> = BTreeMap::new();
    let mut scores = Scores::default();
    for query in &collection.queries {
        let hub = hubs.entry(&query.corpus).or_insert_with(|| hub(&query.corpus));
        scores.add(query, &hub.find(&text(query), 10));
    }
    scores
}

impl Scores {
    fn add(&mut self, query: &Query, ranked: &[String]) {
        let place = |group: &Vec<String>| ranked.iter().position(|tool| group.contains(tool));
        let places: Vec<Option<usize>> = query.groups.iter().map(place).collect();
        let (count, sums) = self.0.entry(query.family.clone()).or_default();
        *count += 1;
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            let found = places.iter().filter(|place| place.is_some_and(|place| place < depth)).count();
            *sum += found as f64 / places.len() as f64;
        }
    }

    pub(crate) fn family(&self, family: &str) -> (usize, [f64; 3]) {
        let (count, sums) = self.0.get(family).copied().unwrap_or_default();
        (count, sums.map(|sum| sum / count.max(1) as f64))
    }

    pub(crate) fn mean(&self, families: &[&str]) -> (usize, [f64; 3]) {
        let present: Vec<_> =
            families.iter().map(|family| self.family(family)).filter(|(n, _)| *n > 0).collect();
        let mean = |at: usize| {
            present.iter().map(|(_, recalls)| recalls[at]).sum::<f64>() / present.len().max(1) as f64
        };
        (present.iter().map(|(count, _)| count).sum(), [mean(0), mean(1), mean(2)])
    }
}
