//! `audit trail` and `audit verify`: what was started, allowed, refused and changed, and whether those records are still
//! as they were written.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        request::VerifyTrail,
        trail::{TRAIL_CSV_HEAD, TrailAsk, TrailHead, TrailPage, TrailRecord, TrailVerdict},
    },
};

use super::{history::ago, now_ms};
use crate::{
    output::{counted, say, say_json, shortened, table},
    reach::reach,
};

/// A detail in the table.
const WORDS: usize = 80;

pub(crate) async fn list(places: &Places, csv: bool, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let mut records: Vec<TrailRecord> = Vec::new();
    let read = loop {
        let after = records.last().map_or(0, |record| record.seq);
        let page: Result<TrailPage, _> = hub.ask(TrailAsk { after, limit: 0 }).await;
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
    match (json, csv) {
        (true, _) => say_json(&records)?,
        (false, true) => {
            say(TRAIL_CSV_HEAD);
            records.iter().for_each(|record| say(record.to_csv()));
        }
        (false, false) if records.is_empty() => say("Nothing was recorded yet."),
        (false, false) => say(shown(&records, now_ms())),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn verify(
    places: &Places,
    noted: Option<TrailHead>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let verdict: Result<TrailVerdict, _> = hub.ask(VerifyTrail { noted }).await;
    hub.leave().await;
    let verdict = verdict?;
    if json {
        say_json(&verdict)?
    } else {
        say(judged(&verdict))
    }
    Ok(if verdict.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(records: &[TrailRecord], now_ms: u64) -> String {
    let row = |record: &TrailRecord| {
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

fn judged(verdict: &TrailVerdict) -> String {
    let head = verdict.head.as_ref();
    let mut said = match head {
        Some(head) if verdict.problems.is_empty() => format!(
            "{}, {} to {}, {} written.\nNote this elsewhere to prove it later: {head}",
            if verdict.records == 1 {
                "The one record".to_owned()
            } else {
                format!("All {} records", verdict.records)
            },
            verdict.first,
            head.seq,
            if verdict.records == 1 { "is as it was" } else { "are as they were" }
        ),
        None if verdict.problems.is_empty() => "Nothing was recorded yet.".to_owned(),
        Some(_) | None => {
            format!("The trail is not as it was written ({}):", counted(verdict.records, "record", "records"))
        }
    };
    for problem in &verdict.problems {
        said.push_str(&format!("\n  {problem}"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_what_is_wrong_and_what_to_note() {
        let head = TrailHead { seq: 9, hash: "ab".repeat(32) };
        let whole = TrailVerdict { records: 9, first: 1, head: Some(head), problems: vec![] };
        let said = judged(&whole);
        assert!(said.starts_with("All 9 records, 1 to 9, are as they were written."), "{said}");
        assert!(said.ends_with(&format!("9:{}", "ab".repeat(32))), "{said}");
        let cut = TrailVerdict { problems: vec!["record 3 is not as it was written".into()], ..whole };
        assert_eq!(
            judged(&cut),
            "The trail is not as it was written (9 records):\n  record 3 is not as it was written"
        );
        assert_eq!(judged(&TrailVerdict::default()), "Nothing was recorded yet.");
    }
}
