//! One file per command. Each sends requests to the hub and prints the answers; none keeps state.

pub(crate) mod approvals;
pub(crate) mod asks;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod call_log;
pub(crate) mod clients;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod leave;
pub(crate) mod listings;
pub(crate) mod login;
pub(crate) mod logs;
pub(crate) mod manual;
pub(crate) mod pin;
pub(crate) mod pin_tool;
pub(crate) mod preflight;
pub(crate) mod profiles;
pub(crate) mod questions;
pub(crate) mod quit;
pub(crate) mod search_path;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod setup;
pub(crate) mod skills;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tools;

use std::{io::Read, process::ExitCode};

use anyhow::Context;
use satchel_core::clock::now_ms;
use serde::Serialize;

use crate::{Usage, output};

/// Maximum size of standard input, in bytes.
const INPUT_LIMIT: u64 = 4 * 1024 * 1024;

/// Reports success: a sentence for people, the hub's answer as JSON.
fn done(sentence: &str, answer: &impl Serialize, json: bool) -> anyhow::Result<ExitCode> {
    match json {
        true => output::say_json(answer)?,
        false => output::say(output::Lines::line(sentence)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads all of standard input as text.
fn read_input() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_LIMIT + 1).read_to_string(&mut text);
    if read.context("cannot read standard input as text")? as u64 > INPUT_LIMIT {
        return Err(Usage(format!("standard input has more than {INPUT_LIMIT} bytes")).into());
    }
    Ok(text)
}
