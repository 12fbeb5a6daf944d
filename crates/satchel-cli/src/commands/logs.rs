//! `logs`: prints the end of a server's log.

use std::process::ExitCode;

use satchel_core::{files::Places, model::request::ReadLog};

use crate::{
    args::Logs,
    output::{Lines, say, say_json},
    reach::once,
};

pub(crate) async fn run(places: &Places, logs: Logs, json: bool) -> anyhow::Result<ExitCode> {
    let request = ReadLog { server: logs.name.to_string(), lines: logs.lines };
    let log = once(places, request).await?;
    match (json, log.lines.is_empty()) {
        (true, _) => say_json(&log)?,
        (false, true) => say(format!("Nothing was logged yet in {}.", log.path)),
        (false, false) => say(log.lines.iter().collect::<Lines>()),
    }
    Ok(ExitCode::SUCCESS)
}
