//! Recall by family, and its mean over families, so that no large family counts for more.

use std::collections::BTreeMap;

use super::collection::{Crowd, Query};

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

/// What every query recalled, by family.
#[derive(Default)]
pub(crate) struct Scores(BTreeMap<String, Vec<Recalled>>);

struct Recalled {
    /// Queries of one server are alike.
    server: String,
    recalls: [f64; 3],
}

/// A mean of families.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mean {
    pub(crate) count: usize,
    pub(crate) recalls: [f64; 3],
    /// Half of the interval in which it lies in 95 of 100 collections like this one.
    pub(crate) half: [f64; 3],
}

/// Each query in the hub that `hub` makes for its tools.
pub(crate) fn all<'a>(
    queries: impl Iterator<Item = &'a Query>,
    hub: impl Fn(&str) -> Crowd,
    find: impl Fn(&Crowd, &Query) -> Vec<String>,
) -> Scores {
    let mut hubs: BTreeMap<&str, Crowd> = BTreeMap::new();
    let mut scores = Scores::default();
    for query in queries {
        let hub = hubs.entry(&query.corpus).or_insert_with(|| hub(&query.corpus));
        scores.add(query, &find(hub, query));
    }
    scores
}

impl Scores {
    fn add(&mut self, query: &Query, ranked: &[String]) {
        let place = |group: &Vec<String>| ranked.iter().position(|tool| group.contains(tool));
        let places: Vec<Option<usize>> = query.groups.iter().map(place).collect();
        let recalls = DEPTHS.map(|depth| {
            let found = places.iter().filter(|place| place.is_some_and(|place| place < depth)).count();
            found as f64 / places.len() as f64
        });
        let server = query.servers().next().unwrap_or_default().to_owned();
        self.0.entry(query.family.clone()).or_default().push(Recalled { server, recalls });
    }

    pub(crate) fn family(&self, family: &str) -> Mean {
        let Some(all) = self.0.get(family) else { return Mean::default() };
        let count = all.len() as f64;
        let recalls = [0, 1, 2].map(|at| all.iter().map(|one| one.recalls[at]).sum::<f64>() / count);
        let half = [0, 1, 2].map(|at| {
            // Queries of one server stand and fall together, so servers are what is drawn.
            let mut servers: BTreeMap<&str, f64> = BTreeMap::new();
            for one in all {
                *servers.entry(&one.server).or_default() += one.recalls[at] - recalls[at];
            }
            let of_servers: f64 = servers.values().map(|sum| sum * sum).sum();
            let of_queries: f64 = all.iter().map(|one| (one.recalls[at] - recalls[at]).powi(2)).sum();
            // One server alone tells nothing of others.
            1.96 * of_servers.max(of_queries).sqrt() / count
        });
        Mean { count: all.len(), recalls, half }
    }

    pub(crate) fn mean(&self, families: &[&str]) -> Mean {
        let present: Vec<Mean> = families.iter().map(|family| self.family(family)).collect();
        let present: Vec<&Mean> = present.iter().filter(|mean| mean.count > 0).collect();
        let families = present.len().max(1) as f64;
        Mean {
            count: present.iter().map(|mean| mean.count).sum(),
            recalls: [0, 1, 2].map(|at| present.iter().map(|mean| mean.recalls[at]).sum::<f64>() / families),
            half: [0, 1, 2]
                .map(|at| present.iter().map(|mean| mean.half[at].powi(2)).sum::<f64>().sqrt() / families),
        }
    }
}
