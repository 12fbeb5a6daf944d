//! `logs`: the last lines that a server wrote.

use std::process::ExitCode;

use satchel_core::{files::Places, model::control::Wish};
use serde::{Deserialize, Serialize};

use crate::{
    args::Logs,
    output::{say, say_foreign, say_json},
    reach::once_as,
};

#[derive(Deserialize, Serialize)]
struct Log {
    path: String,
    lines: Vec<String>,
}

pub(crate) async fn run(places: &Places, logs: Logs, json: bool) -> anyhow::Result<ExitCode> {
    let wish = Wish::Log { server: logs.name.to_string(), lines: logs.lines };
    let log: Log = once_as(places, wish).await?;
    match (json, log.lines.is_empty()) {
        (true, _) => say_json(&log)?,
        (false, true) => say(format!("Nothing was logged yet in {}.", log.path)),
        (false, false) => say_foreign(&log.lines.join("\n")),
    }
    Ok(ExitCode::SUCCESS)
}
