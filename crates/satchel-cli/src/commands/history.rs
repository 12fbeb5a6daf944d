//! `history`: shows recent calls and single calls, and manages what is kept.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{
        control::Change,
        ledger::{ActivityAsk, ActivityPage, CallDetail, CallLine},
        name::in_path,
        request::{DeleteHistory, ForgetHabits, GetCall, RunAgain, ToolResult},
    },
};
use serde_json::Value;

use super::{done, now_ms};
use crate::{
    Usage,
    args::{History, HistoryAct, OnOff},
    output::{Lines, say, say_json, say_json_text, shortened, table},
    reach,
};

/// Maximum width of a failure's message.
const MESSAGE: usize = 60;

pub(crate) async fn run(places: &Places, history: History, json: bool) -> anyhow::Result<ExitCode> {
    let keep = async |server: satchel_core::model::ServerName, keep: bool| {
        let change = Change::SetKeepCalls { name: server.to_string(), keep };
        let answer = reach::once(places, change).await?;
        let sentence = match keep {
            true => format!("Arguments and results of {server} are kept from now on, without secrets."),
            false => format!("Arguments and results of {server} are no longer kept."),
        };
        done(&sentence, &answer, json)
    };
    match history.act {
        None => {
            let ask = ActivityAsk {
                limit: history.limit,
                problems: history.problems,
                server: history.server,
                client: history.client,
                profile: history.profile,
                ..ActivityAsk::default()
            };
            let unfiltered = ActivityAsk { limit: ask.limit, ..ActivityAsk::default() } == ask;
            let page: ActivityPage = reach::once(places, ask).await?;
            match json {
                true => say_json(&page)?,
                false if page.calls.is_empty() && !unfiltered => say("No call matches."),
                false => say(list(&page, now_ms())),
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(HistoryAct::Export(asked)) => super::call_log::run(places, &asked, json).await,
        Some(HistoryAct::Show { id }) => {
            let call: CallDetail = reach::once(places, GetCall { id }).await?;
            match json {
                true => say_json(&call)?,
                false => say(detail(&call, now_ms())),
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(HistoryAct::Again { id, arguments }) => {
            if let Some(wrong) = arguments.as_ref().and_then(|text| serde_json::from_str::<Value>(text).err())
            {
                return Err(Usage(format!("the arguments are not JSON: {wrong}")).into());
            }
            let arguments = arguments.map(Value::from);
            let ToolResult(answer) = reach::once(places, RunAgain { id, arguments }).await?;
            match answer.as_str() {
                Some(text) => say_json_text(text),
                None => say_json(&answer)?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(HistoryAct::Clear { sums }) => {
            let answer = reach::once(places, DeleteHistory { sums }).await?;
            let sentence = match sums {
                true => "Deleted the history, what was learned from searches, and all totals.",
                false => "Deleted the history and what was learned from searches; totals stay.",
            };
            done(sentence, &answer, json)
        }
        Some(HistoryAct::Forget) => {
            let answer = reach::once(places, ForgetHabits {}).await?;
            done("Deleted what was learned from searches.", &answer, json)
        }
        Some(HistoryAct::Learn { state }) => {
            let learn = state == OnOff::On;
            let answer = reach::once(places, Change::SetLearning { learn }).await?;
            let sentence = match state {
                OnOff::On => {
                    "Learning is on: tools that are used after a search rank higher in similar searches."
                }
                OnOff::Off => {
                    "Learning is off, and what was learned is no longer used. `satchel history forget` deletes it."
                }
            };
            done(sentence, &answer, json)
        }
        Some(HistoryAct::Keep { server }) => keep(server, true).await,
        Some(HistoryAct::Drop { server }) => keep(server, false).await,
    }
}

fn list(page: &ActivityPage, now_ms: u64) -> Lines {
    if page.calls.is_empty() {
        return "No calls yet. Ask a client to use a tool, and it shows up here.".into();
    }
    let rows: Vec<_> = page.calls.iter().map(|call| row(call, now_ms)).collect();
    table(["ID", "WHEN", "CLIENT", "WHAT", "TOOK MS", "TOKENS", "RESULT"], &rows)
}

fn row(call: &CallLine, now_ms: u64) -> [String; 7] {
    [
        call.id.to_string(),
        ago(call.time_ms, now_ms),
        call.client.clone(),
        what(call),
        format!("{:.0}", call.took_ms),
        call.tokens.map_or_else(|| "–".into(), |tokens| tokens.to_string()),
        result(call),
    ]
}

/// The result of a call; for a script also whether it cost more than it saved.
fn result(call: &CallLine) -> String {
    match call.kept_out {
        Some(..0) if call.outcome == "ok" => "ok · cost more than it saved".to_owned(),
        Some(_) | None => shortened(call.message.as_deref().unwrap_or(&call.outcome), MESSAGE),
    }
}

fn what(call: &CallLine) -> String {
    if call.server.is_empty() {
        call.tool.clone()
    } else {
        format!("{}:{}", in_path(&call.server), call.tool)
    }
}

fn detail(call: &CallDetail, now_ms: u64) -> Lines {
    let number = |count: Option<u64>| count.map_or_else(|| "–".into(), |count| count.to_string());
    let line = &call.line;
    let mut lines = vec![
        format!("{} · {} · {}", what(line), line.client, ago(line.time_ms, now_ms)),
        format!(
            "outcome    {}",
            [Some(line.outcome.clone()), line.code.clone(), line.message.clone()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" · ")
        ),
        format!(
            "took       {:.1} ms: {:.1} waiting, {:.1} starting the server, {:.1} in the server, {:.1} in Satchel",
            line.took_ms, call.wait_ms, call.start_ms, call.upstream_ms, call.ours_ms
        ),
        format!(
            "size       call {} bytes, {} tokens; result {} bytes, {} tokens",
            call.request_bytes,
            number(call.request_tokens),
            call.result_bytes,
            number(call.result_tokens)
        ),
        format!("allowed by {}", if call.rule.is_empty() { "–" } else { &call.rule }),
        format!(
            "protocol   client {}, server {}",
            call.client_era,
            call.server_era.as_deref().unwrap_or("–")
        ),
    ];
    for step in &call.route {
        lines.push(format!("before     {} · {} tokens", step.tool, number(step.tokens)));
    }
    for inside in &call.inside {
        let tokens = number(inside.tokens);
        lines.push(format!(
            "called     {} · {} · {:.1} ms · {tokens} tokens",
            what(inside),
            inside.outcome,
            inside.took_ms
        ));
    }
    match line.kept_out {
        Some(tokens @ ..0) => {
            lines.push(format!(
                "cost       {} tokens more than it kept out of the context",
                tokens.unsigned_abs()
            ));
        }
        Some(tokens) => lines.push(format!("kept out   {tokens} tokens of the context")),
        None => {}
    }
    if let Some(script) = call.script {
        lines.push(format!("script     call {script}"));
    }
    match (&call.arguments, &call.result) {
        (None, None) if line.kind == "script" => {
            lines.push(
                "A script is stored only if calls of every server it uses are stored (`satchel \
                history keep SERVER`); this one was not."
                    .to_owned(),
            );
        }
        (None, None) => lines.push("Arguments and results of this server are not kept.".to_owned()),
        (arguments, result) => {
            lines.push(format!("arguments  {}", arguments.as_deref().unwrap_or("–")));
            lines.push(format!("result     {}", result.as_deref().unwrap_or("–")));
        }
    }
    lines.into_iter().collect()
}

pub(super) fn ago(then_ms: u64, now_ms: u64) -> String {
    match now_ms.saturating_sub(then_ms) / 1000 {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}
