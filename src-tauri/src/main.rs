//! The desktop app's program. The hub also starts it in other roles, which must not touch a display.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1).as_deref().and_then(|word| word.to_str()) {
        Some("toolbox") => satchel_toolbox::main(),
        Some("subreaper") => satchel_core::subreaper::main(),
        Some("sandboxed") => satchel_core::sandbox::main(),
        Some("watchdog") => satchel_core::watchdog::main(),
        Some("tokens") => satchel_core::tokens::main(),
        Some(satchel_core::scripts::process::ROLE) => satchel_core::scripts::main(),
        _ => satchel_app::main(),
    }
}
