//! `history export`: writes every recorded call with the rule that decided about it.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        call_log::{CSV_HEAD, CallLogLine, CallLogPage, CallLogQuery},
        name::in_path,
    },
};

use super::{history::ago, now_ms};
use crate::{
    args::Table,
    output::{Lines, say, say_json, shortened, table},
    reach::reach,
};

/// Maximum width of a rule or failure.
const WORDS: usize = 60;

pub(crate) async fn run(places: &Places, asked: &Table, json: bool) -> anyhow::Result<ExitCode> {
    let hub = reach(places).await?;
    let mut ask = CallLogQuery { from_ms: asked.since.begins_at(now_ms()), ..CallLogQuery::default() };
    let mut lines: Vec<CallLogLine> = Vec::new();
    loop {
        let page: Result<CallLogPage, _> = hub.ask(ask.clone()).await;
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                hub.leave().await;
                return Err(error);
            }
        };
        ask.after = page.lines.last().map(|line| line.id);
        lines.extend(page.lines);
        if !page.more {
            break;
        }
    }
    hub.leave().await;
    match (json, asked.csv) {
        (true, _) => say_json(&lines)?,
        (false, true) => {
            say(CSV_HEAD);
            lines.iter().for_each(|line| say(line.to_csv()));
        }
        (false, false) if lines.is_empty() => say("No calls in this period."),
        (false, false) => say(shown(&lines, now_ms())),
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(lines: &[CallLogLine], now_ms: u64) -> Lines {
    let row = |line: &CallLogLine| {
        let what = if line.server.is_empty() {
            line.tool.clone()
        } else {
            format!("{}:{}", in_path(&line.server), line.tool)
        };
        let answer = line.message.clone().unwrap_or_else(|| line.outcome.clone());
        [
            line.id.to_string(),
            ago(line.time_ms, now_ms),
            line.client.clone(),
            what,
            shortened(&line.rule, WORDS),
            shortened(&answer, WORDS),
        ]
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    table(["ID", "WHEN", "CLIENT", "CALLED", "RULE", "ANSWER"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_caller_request_rule_and_answer() {
        let line = CallLogLine {
            id: 7,
            time_ms: 0,
            client: "cursor".into(),
            program: "Cursor 2.0".into(),
            session: 1,
            kind: "call".into(),
            server: "git".into(),
            tool: "push".into(),
            rule: "tools that delete: ask first; allowed once".into(),
            asked: true,
            outcome: "ok".into(),
            code: None,
            message: None,
            took_ms: 12.5,
            arguments: Some("=cmd|' /C calc'!A0".into()),
            result: None,
        };
        assert_eq!(
            shown(std::slice::from_ref(&line), 120_000).to_string(),
            "\
ID  WHEN       CLIENT  CALLED    RULE                                        ANSWER
7   2 min ago  cursor  git:push  tools that delete: ask first; allowed once  ok"
        );
        let csv = line.to_csv();
        assert!(csv.starts_with(
            "7,0,cursor,Cursor 2.0,1,call,git,push,tools that delete: ask first; allowed once,true,ok,,,12.500,'="
        ));
        assert_eq!(CSV_HEAD.split(',').count(), 16);
    }
}
