//! The outcomes as people read them.

use std::fmt::Write;

use crate::outcome::Outcome;

/// One line per pair, followed by its failures.
pub(crate) fn of(outcomes: &[Outcome]) -> String {
    let mut table = String::new();
    let _ = writeln!(table, "{:24}{:>10}{:>12}{:>10}", "client→server", "required", "scenarios", "checks");
    for outcome in outcomes {
        let (scored, scenarios, checks) = (outcome.scored(), outcome.scenarios(), outcome.checks());
        let _ = writeln!(table, "{:24}{scored:>10}{scenarios:>12}{checks:>10}", outcome.cell.to_string());
    }
    for outcome in outcomes {
        for (failure, words) in outcome.failures() {
            let words: String = words.chars().take(160).collect();
            let _ = writeln!(table, "{} failed {failure}: {}", outcome.cell, words.replace('\n', " "));
        }
    }
    table
}
