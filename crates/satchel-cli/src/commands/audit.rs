//! `audit` and `audit verify`: prints the audit log and verifies its hash chain.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        audit::{AUDIT_CSV_HEAD, AuditHead, AuditPage, AuditQuery, AuditRecord, AuditVerdict},
        request::VerifyAudit,
    },
};

use super::{history::ago, now_ms};
use crate::{
    args::Table,
    output::{Lines, counted, say, say_json, shortened, table},
    reach::reach,
};

/// Maximum width of a detail.
const WORDS: usize = 80;

pub(crate) async fn list(places: &Places, asked: &Table, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let mut records: Vec<AuditRecord> = Vec::new();
    let read = loop {
        let after = records.last().map_or(0, |record| record.seq);
        let page: Result<AuditPage, _> = hub.ask(AuditQuery { after, limit: 0 }).await;
        match page {
            Ok(page) => {
                records.extend(page.records);
                if !page.more {
                    break Ok(());
                }
            }
            Err(error) => break Err(error),
        }
    };
    hub.leave().await;
    read?;
    if let Some(begins) = asked.since.begins_at(now_ms()) {
        records.retain(|record| record.time_ms >= begins);
    }
    match (json, asked.csv) {
        (true, _) => say_json(&records)?,
        (false, true) => {
            say(AUDIT_CSV_HEAD);
            records.iter().for_each(|record| say(record.to_csv()));
        }
        (false, false) if records.is_empty() => say("Nothing is recorded yet."),
        (false, false) => say(shown(&records, now_ms())),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn verify(
    places: &Places,
    noted: Option<AuditHead>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let verdict: Result<AuditVerdict, _> = hub.ask(VerifyAudit { noted }).await;
    hub.leave().await;
    let verdict = verdict?;
    if json {
        say_json(&verdict)?
    } else {
        say(judged(&verdict))
    }
    Ok(if verdict.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(records: &[AuditRecord], now_ms: u64) -> Lines {
    let row = |record: &AuditRecord| {
        [
            record.seq.to_string(),
            ago(record.time_ms, now_ms),
            record.kind.clone(),
            record.who.clone(),
            shortened(&record.subject, WORDS),
            shortened(&record.detail, WORDS),
        ]
    };
    let rows: Vec<_> = records.iter().map(row).collect();
    table(["NUMBER", "WHEN", "WHAT", "WHO", "ABOUT", "DETAIL"], &rows)
}

fn judged(verdict: &AuditVerdict) -> Lines {
    let head = verdict.head.as_ref();
    let mut said: Lines = match head {
        Some(head) if verdict.problems.is_empty() => Lines::line(format!(
            "{}, {} to {}, {}.",
            if verdict.records == 1 {
                "The one record".to_owned()
            } else {
                format!("All {} records", verdict.records)
            },
            verdict.first,
            head.seq,
            if verdict.records == 1 { "is intact" } else { "are intact" }
        ))
        .and(format!("Store this head elsewhere to verify the log later: {head}")),
        None if verdict.problems.is_empty() => "Nothing is recorded yet.".into(),
        Some(_) | None => {
            format!("The audit log was altered ({}):", counted(verdict.records, "record", "records")).into()
        }
    };
    for problem in &verdict.problems {
        said.push(format!("  {problem}"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_lists_faults_and_notes() {
        let head = AuditHead { seq: 9, hash: "ab".repeat(32) };
        let whole = AuditVerdict { records: 9, first: 1, head: Some(head), problems: vec![] };
        let said = judged(&whole).to_string();
        assert!(said.starts_with("All 9 records, 1 to 9, are intact."), "{said}");
        assert!(said.ends_with(&format!("9:{}", "ab".repeat(32))), "{said}");
        let cut = AuditVerdict { problems: vec!["record 3 is not as it was written".into()], ..whole };
        assert_eq!(
            judged(&cut).to_string(),
            "The audit log was altered (9 records):\n  record 3 is not as it was written"
        );
        assert_eq!(judged(&AuditVerdict::default()).to_string(), "Nothing is recorded yet.");
    }
}
