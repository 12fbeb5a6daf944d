//! What came out for one pair of client and server.

use std::{collections::BTreeMap, fmt};

use crate::suite::Checks;

/// A client of one era in front, a server behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    pub(crate) client: &'static str,
    /// Its name in the configuration; `router` is the hub's own surface.
    pub(crate) server: &'static str,
}

/// The outcome of one run of the suite.
pub(crate) struct Outcome {
    pub(crate) cell: Cell,
    scenarios: BTreeMap<String, Checks>,
    scored: Option<Vec<String>>,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) of: usize,
}

impl Outcome {
    /// `scored` lists the required scenarios; `None` means all.
    pub(crate) fn new(cell: Cell, scored: Option<Vec<String>>, scenarios: BTreeMap<String, Checks>) -> Self {
        Self { cell, scenarios, scored }
    }

    /// The scenarios a revision requires.
    pub(crate) fn scored(&self) -> Count {
        let counts = |name: &String| self.scored.as_ref().is_none_or(|scored| scored.contains(name));
        let scored = self.scenarios.iter().filter(|(name, _)| counts(name));
        scored.map(|(_, checks)| passed(checks)).collect()
    }

    /// All scenarios.
    pub(crate) fn scenarios(&self) -> Count {
        self.scenarios.values().map(passed).collect()
    }

    /// All checks.
    pub(crate) fn checks(&self) -> Count {
        self.scenarios.values().flatten().map(|(_, outcome)| outcome.is_ok()).collect()
    }

    /// Every failure: `scenario:check` and the suite's message.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (String, &str)> {
        self.scenarios.iter().flat_map(|(scenario, checks)| {
            checks.iter().filter_map(move |(check, outcome)| {
                outcome.as_ref().err().map(|words| (format!("{scenario}:{check}"), words.as_str()))
            })
        })
    }
}

fn passed(checks: &Checks) -> bool {
    checks.iter().all(|(_, outcome)| outcome.is_ok())
}

impl FromIterator<bool> for Count {
    fn from_iter<I: IntoIterator<Item = bool>>(all: I) -> Self {
        let one = |count: Self, passed| Self { passed: count.passed + usize::from(passed), of: count.of + 1 };
        all.into_iter().fold(Self::default(), one)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&format!("{}/{}", self.passed, self.of))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}→{}", self.client, self.server)
    }
}
