//! The command line: parses arguments, sends requests to the hub, prints answers.
//!
//! Exit codes: 0 success, 1 failure, 2 usage error.
//!
//! `args` is the grammar, one file for each group of commands, and `commands` what they do; `reach` finds the hub
//! and `control` talks to it; `bridge` serves clients that start a program; `output` is the only place that prints.
//! Decides nothing that the hub decides.
//! A test to copy: `lines.rs::columns_are_aligned_by_displayed_width`.

mod args;
mod bridge;
mod commands;
mod control;
mod keyboard;
mod lines;
mod logging;
mod output;
mod reach;
mod terminal;
mod tips;

use std::process::ExitCode;

use args::{Args, Audit, AuditAct, Command};
use output::Lines;
use satchel_core::{files::Places, model::Code};

fn main() -> ExitCode {
    // The hub starts this program in other roles, which must be light and own their standard streams.
    match std::env::args_os().nth(1).as_deref().and_then(|word| word.to_str()) {
        Some("toolbox") => return satchel_toolbox::main(),
        Some("subreaper") => return satchel_core::subreaper::main(),
        Some("sandboxed") => return satchel_core::sandbox::main(),
        Some("watchdog") => return satchel_core::watchdog::main(),
        Some("tokens") => return satchel_core::tokens::main(),
        Some(satchel_core::scripts::process::ROLE) => return satchel_core::scripts::main(),
        _ => {}
    }
    satchel_core::files::keep_new_files_private();
    let args = match tips::parse(std::env::args_os()) {
        Ok(args) => args,
        Err(told) => return usage(&told),
    };
    let json = args.json;
    // A process started by an MCP server could otherwise approve itself.
    if let Err(refusal) = satchel_core::hub::origin_here(false) {
        return complain(&refusal.into(), json);
    }
    let done = tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| {
        let done = runtime.block_on(Box::pin(run(args)));
        // A pending read of standard input must not delay the exit.
        runtime.shutdown_background();
        done
    });
    let code = done.unwrap_or_else(|error| complain(&error, json));
    if code == ExitCode::SUCCESS && !output::all_written() { ExitCode::FAILURE } else { code }
}

async fn run(args: Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Completions { shell } => return commands::manual::completions(*shell),
        Command::Man { directory } => return commands::manual::man(directory),
        Command::SearchPath { act } => return commands::search_path::run(*act),
        _ => {}
    }
    let places = Places::from_environment()?;
    let json = args.json;
    if !matches!(args.command, Command::Serve(_)) {
        logging::for_command();
        satchel_core::tasks::report_panics();
    }
    match args.command {
        Command::Serve(serve) => commands::serve::run(&places, &serve, json).await,
        Command::Bridge { client, profile, project, socket, token_file } => {
            let socket =
                socket.zip(token_file).map(|(path, token_file)| bridge::ClientSocket { path, token_file });
            bridge::run(&places, bridge::Connecting { client, profile, project, socket }).await
        }
        Command::Preflight { what } => commands::preflight::run(&places, what, json).await,
        Command::Quit => commands::quit::run(&places, json).await,
        Command::Add(add) => commands::servers::add(&places, &add, json).await,
        Command::Remove(remove) => commands::servers::remove(&places, remove, json).await,
        Command::List => commands::servers::list(&places, json).await,
        Command::Enable { name } => commands::servers::set_enabled(&places, name, true, json).await,
        Command::Disable { name } => commands::servers::set_enabled(&places, name, false, json).await,
        Command::Restart { name } => commands::servers::restart(&places, name, json).await,
        Command::Dismiss { name } => commands::servers::dismiss(&places, name, json).await,
        Command::Share(share) => commands::servers::share(&places, share, json).await,
        Command::Sandbox(sandbox) => commands::servers::sandbox(&places, sandbox, json).await,
        Command::Pin { name, version } => commands::pin::run(&places, name, version, json).await,
        Command::Skills { act } => commands::skills::run(&places, act, json).await,
        Command::PinTool(pin) => commands::pin_tool::pin(&places, pin, json).await,
        Command::UnpinTool(unpin) => commands::pin_tool::unpin(&places, unpin, json).await,
        Command::Tools(tools) => commands::tools::run(&places, tools, json).await,
        Command::Call(call) => commands::call::run(&places, call, json).await,
        Command::Secrets(secrets) => commands::secrets::run(&places, secrets, json).await,
        Command::Login(login) => commands::login::run(&places, login, json).await,
        Command::Logout { name, keep_registration } => {
            commands::login::out(&places, name, keep_registration, json).await
        }
        Command::Accounts => commands::login::accounts(&places, json).await,
        Command::Approvals { server, each } => commands::approvals::list(&places, server, each, json).await,
        Command::Approve(approve) => commands::approvals::approve(&places, approve, json).await,
        Command::Asks { watch } => commands::asks::run(&places, watch, json).await,
        Command::Answer { id, word, fields } => {
            commands::asks::answer(&places, id, word, fields.as_deref(), json).await
        }
        Command::Rule(rule) => commands::tools::rule(&places, rule, json).await,
        Command::Status { debug: false } => commands::status::run(&places, json).await,
        Command::Status { debug: true } => commands::status::debug(&places, json).await,
        Command::Stats(stats) => commands::stats::run(&places, &stats, json).await,
        Command::History(history) => commands::history::run(&places, history, json).await,
        Command::Audit(Audit { act: Some(AuditAct::Verify { head }), .. }) => {
            commands::audit::verify(&places, head, json).await
        }
        Command::Audit(Audit { act: Some(AuditAct::Trail(table)), .. } | Audit { act: None, table }) => {
            commands::audit::list(&places, &table, json).await
        }
        Command::Logs(logs) => commands::logs::run(&places, logs, json).await,
        Command::Clients { client: Some(client), .. } => commands::clients::one(&places, &client, json).await,
        Command::Clients { client: None, all } => commands::clients::list(&places, all, json).await,
        Command::Connect(connect) => commands::connect::run(&places, connect, json).await,
        Command::Disconnect { client, dry_run } => {
            commands::clients::disconnect(&places, client, dry_run, json).await
        }
        Command::Surface { client, surface } => {
            commands::clients::see(&places, client, surface.into(), json).await
        }
        Command::Hide { client, path } => commands::clients::hide(&places, client, path, true, json).await,
        Command::Show { client, path } => commands::clients::hide(&places, client, path, false, json).await,
        Command::Export { to, output } => commands::export::run(&places, to.into(), output, json),
        Command::Leave { dry_run } => commands::leave::run(&places, dry_run, json).await,
        Command::Profile { act } => commands::profiles::run(&places, act, json).await,
        Command::Setup { act } => commands::setup::run(&places, act, json).await,
        Command::Undo => commands::clients::undo(&places, json).await,
        Command::Search(search) => commands::listings::search(&places, search, json).await,
        Command::Info(info) => commands::listings::info(&places, info, json).await,
        Command::Install(install) => commands::install::install(&places, install, json).await,
        Command::Outdated(outdated) => commands::listings::outdated(&places, outdated, json).await,
        Command::Update(update) => commands::install::update(&places, update, json).await,
        Command::Uninstall(uninstall) => commands::install::uninstall(&places, uninstall, json).await,
        Command::Import(import) => commands::import::run(&places, import, json).await,
        Command::Completions { shell } => commands::manual::completions(shell),
        Command::Man { directory } => commands::manual::man(&directory),
        Command::SearchPath { act } => commands::search_path::run(act),
        Command::Doctor => commands::doctor::run(&places, json).await,
    }
}

/// Invalid command line arguments or standard input.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Prints clap's message; the exit code that goes with it.
fn usage(told: &clap::Error) -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    output::say_usage(told, &words);
    let code = u8::try_from(told.exit_code()).unwrap_or(2);
    if output::all_written() { ExitCode::from(code) } else { ExitCode::FAILURE }
}

fn complain(error: &anyhow::Error, json: bool) -> ExitCode {
    let refusal = reach::refusal(error);
    let message = format!("{error:#}");
    let action = refusal.map(|refusal| refusal.action.clone()).unwrap_or_default();
    if json {
        let code = refusal.map_or("failed", |refusal| refusal.code.as_str());
        let error = serde_json::json!({"error": {"code": code, "message": message, "action": action}});
        output::say_json_aside(&error);
    } else {
        let action = (!action.is_empty()).then(|| Lines::line(format!("  {action}")));
        output::say_aside(Lines::line(format!("satchel: {message}")).and(action.unwrap_or_default()));
    }
    // An unknown client is a usage error.
    let misnamed = refusal.is_some_and(|refusal| refusal.code == Code::UnknownClient);
    ExitCode::from(if error.is::<Usage>() || misnamed { 2 } else { 1 })
}
