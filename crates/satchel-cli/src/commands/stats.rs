//! `stats`: prints calls, tokens and savings as the hub aggregates them.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::ledger::{Report, ReportLine, Savings, Scripted, Sharing},
};

use super::status::megabytes;
use crate::{
    args::Stats,
    output::{Lines, counted, say, say_json, shortened, table},
    reach,
};

/// Maximum width of a name.
const NAME: usize = 44;

pub(crate) async fn run(places: &Places, stats: &Stats, json: bool) -> anyhow::Result<ExitCode> {
    let report: Report = reach::once(places, stats.ask()).await?;
    match (json, stats.csv) {
        (true, _) => say_json(&report)?,
        (false, true) => say(Lines::block("", &report.to_csv())),
        (false, false) => say(in_words(&report, stats.how)),
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(report: &Report, how: bool) -> Lines {
    let since =
        if report.from.is_empty() { "Since the beginning".into() } else { format!("Since {}", report.from) };
    let totals = &report.totals;
    let mut parts = vec![Lines::line(format!(
        "{since}: {}, {} of them failed, {}. Median {:.0} ms, 95 % within {:.0} ms.",
        counted(totals.calls, "call", "calls"),
        totals.failures,
        counted(totals.searches, "search", "searches"),
        totals.took.median_ms,
        totals.took.p95_ms
    ))];
    parts.push(subtraction(&report.savings));
    parts.extend(scripted(&report.scripts).map(Lines::from));
    parts.extend(sharing(&report.sharing).map(Lines::from));
    if !report.lines.is_empty() {
        let heading = match report.by {
            satchel_core::model::ledger::By::Client => "CLIENT",
            satchel_core::model::ledger::By::Server => "SERVER",
            satchel_core::model::ledger::By::Tool => "TOOL",
            satchel_core::model::ledger::By::Day => "DAY",
        };
        let rows: Vec<_> = report.lines.iter().map(row).collect();
        parts.push(table(
            [heading, "CALLS", "FAILED", "RESULT TOKENS", "P50 MS", "WITHOUT", "WITH", "NET"],
            &rows,
        ));
    }
    if totals.uncounted > 0 {
        let uncounted = counted(totals.uncounted, "call is", "calls are");
        parts.push(format!("{uncounted} not counted in tokens.").into());
    }
    parts.push(format!("Tokens of {}. How this is counted: satchel stats --how", report.tokenizer).into());
    if how {
        parts.push(report.how.iter().map(|line| format!("- {line}")).collect());
    }
    Lines::paragraphs(parts)
}

fn subtraction(savings: &Savings) -> Lines {
    let spent = &savings.spent;
    let percent = savings.percent.map(|percent| format!(" ({percent:.0} %)")).unwrap_or_default();
    let sessions = counted(savings.sessions, "session", "sessions");
    let mut text = Lines::line(&savings.verdict)
        .and(format!("  without  {:>10}  tokens of tool lists, in {sessions}", savings.without))
        .and(format!(
            "  with     {:>10}  = {} definitions + {} searches + {} descriptions + {} wrapping",
            savings.with, spent.definitions, spent.find, spent.describe, spent.wrapping,
        ))
        .and(format!("  net      {:>10}{percent}", savings.net));
    // Rounded to zero, it would say nothing.
    if let Some(searches) = savings.break_even_searches.filter(|searches| *searches >= 0.05) {
        text.push(format!("  A session pays off up to {searches:.1} searches."));
    }
    if savings.left_out > 0 {
        text.push(format!(
            "  {} left out: not everything in {} was counted.",
            counted(savings.left_out, "session is", "sessions are"),
            if savings.left_out == 1 { "it" } else { "them" }
        ));
    }
    text
}

fn losses(losses: u64) -> String {
    match losses {
        0 => String::new(),
        1 => " One of them cost more than it kept out (`satchel history`).".to_owned(),
        losses => format!(" {losses} of them cost more than they kept out (`satchel history`)."),
    }
}

/// `None` if no script was run.
fn scripted(scripts: &Scripted) -> Option<String> {
    (scripts.runs > 0).then(|| {
        let verdict = match scripts.net {
            net @ ..0 => {
                format!("Scripts cost {} tokens more than they kept out of contexts", net.unsigned_abs())
            }
            net => format!("Scripts kept {net} more tokens out of contexts"),
        };
        format!(
            "{verdict}: {} with {}, {} tokens inside, {} for scripts and what they returned.{}",
            counted(scripts.runs, "script", "scripts"),
            counted(scripts.calls, "call", "calls"),
            scripts.inside,
            scripts.spent,
            losses(scripts.losses)
        )
    })
}

/// `None` if no server was shared.
fn sharing(sharing: &Sharing) -> Option<String> {
    (sharing.most_processes > 0).then(|| {
        format!(
            "Sharing saved {:.1} processes and {} on average, at most {} and {}, over {:.1} hours in which servers ran.",
            sharing.processes,
            megabytes(sharing.memory_bytes),
            sharing.most_processes,
            megabytes(sharing.most_memory_bytes),
            sharing.measured_hours
        )
    })
}

fn row(line: &ReportLine) -> [String; 8] {
    let totals = &line.totals;
    [
        shortened(&line.name, NAME),
        totals.calls.to_string(),
        totals.failures.to_string(),
        totals.result_tokens.to_string(),
        format!("{:.0}", totals.took.median_ms),
        line.without.to_string(),
        line.with.to_string(),
        line.net.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use satchel_core::model::ledger::{Spent, Took, Totals};

    #[test]
    fn scripts_are_told_apart_whether_they_saved_or_cost() {
        let told = |inside: i64, spent: i64| {
            scripted(&Scripted {
                runs: 2,
                calls: 9,
                inside,
                spent,
                net: inside - spent,
                losses: u64::from(spent > inside),
            })
            .unwrap()
        };
        let saved = "Scripts kept 700 more tokens out of contexts: 2 scripts with 9 calls, 1000 tokens inside, 300 for scripts and what they returned.";
        assert_eq!(told(1000, 300), saved);
        assert!(told(10, 300).starts_with("Scripts cost 290 tokens more than they kept out of contexts: "));
        assert!(told(10, 300).ends_with(" One of them cost more than it kept out (`satchel history`)."));
        assert_eq!(scripted(&Scripted::default()), None);
    }

    #[test]
    fn the_subtraction_is_written_out() {
        let took = Took { median_ms: 12.4, p95_ms: 80.0, ..Took::default() };
        let totals =
            Totals { calls: 7, failures: 1, searches: 2, result_tokens: 90, took, ..Totals::default() };
        let spent = Spent { definitions: 300, find: 200, describe: 0, wrapping: 50 };
        let verdict = "Satchel kept back 450 tokens, in 5 sessions.".to_owned();
        let savings = Savings {
            sessions: 5,
            without: 1000,
            with: 550,
            spent,
            net: 450,
            percent: Some(45.0),
            break_even_searches: Some(1.4),
            verdict,
            ..Savings::default()
        };
        let line = ReportLine {
            name: "git".into(),
            totals: totals.clone(),
            without: 1000,
            with: 550,
            net: 450,
            ..ReportLine::default()
        };
        let report = Report {
            from: "2026-11-15 00:00".into(),
            tokenizer: "x".into(),
            totals,
            savings,
            lines: vec![line],
            how: vec!["So.".into()],
            ..Report::default()
        };
        let expected = "\
Since 2026-11-15 00:00: 7 calls, 1 of them failed, 2 searches. Median 12 ms, 95 % within 80 ms.

Satchel kept back 450 tokens, in 5 sessions.
  without        1000  tokens of tool lists, in 5 sessions
  with            550  = 300 definitions + 200 searches + 0 descriptions + 50 wrapping
  net             450 (45 %)
  A session pays off up to 1.4 searches.

SERVER  CALLS  FAILED  RESULT TOKENS  P50 MS  WITHOUT  WITH  NET
git     7      1       90             12      1000     550   450

Tokens of x. How this is counted: satchel stats --how

- So.";
        assert_eq!(in_words(&report, true).to_string(), expected);
        let savings = Savings { break_even_searches: Some(0.04), ..report.savings.clone() };
        let said = in_words(&Report { savings, ..report }, true).to_string();
        assert!(!said.contains("pays off"), "up to 0.0 searches says nothing: {said}");
    }
}
