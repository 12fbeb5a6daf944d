//! The reaper program. Its first argument selects the role; without one it does nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1).as_deref().and_then(|word| word.to_str()) {
        Some("subreaper") => satchel_reaper::subreaper::main(),
        Some("watchdog") => satchel_reaper::watchdog::main(),
        Some(satchel_reaper::opener::ROLE) => satchel_reaper::opener::main(),
        Some(satchel_reaper::opener::SECOND) => satchel_reaper::opener::serve(),
        _ => ExitCode::FAILURE,
    }
}
