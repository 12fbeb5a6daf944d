//! What cannot pass, and why: `expected-failures.txt`.
//!
//! A line is `CLIENT→SERVER SCENARIO:CHECK REASON`; `*` stands for any text in the first two. There is no line without
//! a reason, and none for something that passes.

use std::fs;

use satchel_tests::repository;

use crate::outcome::{Cell, Outcome};

pub(crate) struct Expectations(Vec<Line>);

struct Line {
    cell: String,
    failure: String,
    text: String,
    not_asked: bool,
    met: std::cell::Cell<bool>,
    /// Whether one of its cells was run.
    asked: std::cell::Cell<bool>,
}

impl Expectations {
    pub(crate) fn read() -> Self {
        let file = repository().join("tests/conformance/expected-failures.txt");
        let text = fs::read_to_string(file).expect("the expected failures can be read");
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(Line::parse).collect())
    }

    /// Is a scenario not run? Its line says so: `not asked: …`.
    pub(crate) fn is_not_asked(&self, cell: &Cell, scenario: &str) -> bool {
        let cell = cell.to_string();
        let mut lines = self.0.iter().filter(|line| line.not_asked && fits(&line.cell, &cell));
        lines.any(|line| line.failure.split_once(':').is_some_and(|(name, _)| fits(name, scenario)))
    }

    /// The unexpected outcomes, one sentence each.
    pub(crate) fn differences(&self, outcomes: &[Outcome]) -> Vec<String> {
        let mut differences = Vec::new();
        for outcome in outcomes {
            let cell = outcome.cell.to_string();
            let lines: Vec<_> = self.0.iter().filter(|line| fits(&line.cell, &cell)).collect();
            lines.iter().for_each(|line| line.asked.set(true));
            for (failure, _) in outcome.failures() {
                let mut expected = lines.iter().filter(|line| fits(&line.failure, &failure)).peekable();
                if expected.peek().is_none() {
                    differences.push(format!("unexpected: {cell} fails {failure}"));
                }
                expected.for_each(|line| line.met.set(true));
            }
        }
        let stale = self.0.iter().filter(|line| line.asked.get() && !line.met.get() && !line.not_asked);
        differences.extend(stale.map(|line| format!("passes, and is expected to fail: {}", line.text)));
        differences
    }
}

impl Line {
    fn parse(text: &str) -> Self {
        let mut words = text.splitn(3, char::is_whitespace);
        let (Some(cell), Some(failure), Some(reason)) = (words.next(), words.next(), words.next()) else {
            panic!("an expected failure without a reason: {text}");
        };
        assert!(!reason.trim().is_empty(), "an expected failure without a reason: {text}");
        let not_asked = reason.trim().starts_with("not asked:");
        let (cell, failure) = (cell.to_owned(), failure.to_owned());
        Self {
            cell,
            failure,
            text: text.to_owned(),
            not_asked,
            met: Default::default(),
            asked: Default::default(),
        }
    }
}

/// Does a text match a pattern in which `*` stands for any text?
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter(|end| text.is_char_boundary(*end)).any(|end| fits(rest, &text[end..]))
}
