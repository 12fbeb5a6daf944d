//! The command line on Windows: the real `satchel.exe`, run under Wine. `make windows` builds it and starts this.
//!
//! What Wine cannot judge is not asked here: access rights, virus scanners, notifications, the window.
#![allow(clippy::disallowed_methods)] // plain programs are waited for, without a runtime

mod cases;
mod clients;
mod home;
mod installer;
mod node;
mod sandbox;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

use home::{Home, Windows};

/// Where the programs for Windows are. Set by `scripts/windows.sh`.
const PROGRAMS: &str = "SATCHEL_WINDOWS";
/// The directory of Node for Windows, if installed; set by the script too.
const NODE: &str = "SATCHEL_WINDOWS_NODE";

/// A name that states the behaviour, and its test.
type Case = (&'static str, fn(&Home));

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let all = cases::CASES
        .iter()
        .chain(clients::CASES)
        .chain(installer::CASES)
        .chain(sandbox::CASES)
        .chain(node::CASES);
    let mut all: Vec<&Case> = all.filter(|(name, _)| wanted(name)).collect();
    let Some(programs) = std::env::var_os(PROGRAMS).map(PathBuf::from) else {
        println!("SKIPPED: {} cases of Windows. `make windows` builds satchel.exe and runs them.", all.len());
        println!("0 passed, 0 failed, {} skipped", all.len());
        return ExitCode::SUCCESS;
    };
    let asked = all.len();
    if std::env::var_os(NODE).is_none() {
        all.retain(|(name, _)| node::CASES.iter().all(|(other, _)| other != name));
        println!("SKIPPED: {} cases with Node for Windows. `make windows` installs it.", asked - all.len());
    }
    let windows = Windows::new(&programs);
    // A case's panic message is printed once, with its name.
    std::panic::set_hook(Box::new(|_| {}));
    let failed = all.iter().filter(|(name, case)| !passes(&windows, name, *case)).count();
    println!("{} passed, {failed} failed, {} skipped", all.len() - failed, asked - all.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passes(windows: &Windows, name: &str, case: fn(&Home)) -> bool {
    let (began, home) = (Instant::now(), windows.home());
    let result = catch_unwind(AssertUnwindSafe(|| case(&home)));
    let left = home.end();
    let seconds = began.elapsed().as_secs_f32();
    let reason = match (result, left) {
        (Ok(()), 0) => {
            println!("ok      {name} ({seconds:.1} s)");
            return true;
        }
        (Ok(()), left) => format!("{left} processes were left"),
        (Err(panic), _) => match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (None, Some(text)) => (*text).to_owned(),
            (None, None) => "it panicked".to_owned(),
        },
    };
    println!("FAILED  {name} ({seconds:.1} s)\n        {}", reason.replace('\n', "\n        "));
    false
}
