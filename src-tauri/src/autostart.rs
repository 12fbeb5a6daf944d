//! Start at login, hidden. The operating system's entry is the only record of it.

use satchel_core::{
    model::{Code, control::Refusal},
    platform::{Environment, Passing},
};
use tauri::AppHandle;
use tauri_plugin_autostart::ManagerExt;

/// Is there an entry?
pub(crate) fn is_on(app: &AppHandle) -> Result<bool, Refusal> {
    app.autolaunch().is_enabled().map_err(refusal)
}

/// Writes or removes the entry, and says what is true afterwards.
pub(crate) fn set(app: &AppHandle, on: bool) -> Result<bool, Refusal> {
    if on {
        will_last()?;
    }
    let entry = app.autolaunch();
    if on { entry.enable() } else { entry.disable() }.map_err(refusal)?;
    #[cfg(windows)]
    if on {
        registry::quote().map_err(|error| refused(&error))?;
    }
    is_on(app)
}

/// The command of the entry on Windows. In quotes: without them a path with a space is tried at the space first, and whoever
/// can put a program there has it started.
#[cfg(any(windows, test))]
fn command(program: &std::path::Path) -> String {
    format!("\"{}\" --hidden", program.display())
}

/// The plugin writes the command without quotes, and for everybody where it may.
#[cfg(windows)]
mod registry {
    use windows_registry::{CURRENT_USER, LOCAL_MACHINE, Result};

    const KEY: &str = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Run";
    const NAME: &str = "Satchel";

    /// Writes the entry of this user, and takes away what the plugin wrote for all.
    pub(super) fn quote() -> Result<()> {
        let own = std::env::current_exe().unwrap_or_default();
        CURRENT_USER.create(KEY)?.set_string(NAME, super::command(&own))?;
        if let Ok(everybody) = LOCAL_MACHINE.options().write().open(KEY) {
            // Absent where the plugin could not write there.
            let _ = everybody.remove_value(NAME);
        }
        Ok(())
    }
}

/// The entry names the path of this program, or for an AppImage the file that it came in.
fn will_last() -> Result<(), Refusal> {
    let own = std::env::current_exe().unwrap_or_default();
    match Passing::of(&own, &Environment::of_this_process()) {
        None | Some(Passing::AppImage) => Ok(()),
        Some(passing) => {
            let message = format!("the system could not start it later: {passing}");
            Err(Refusal::new(Code::PassingPath, message, passing.action()))
        }
    }
}

fn refusal(error: tauri_plugin_autostart::Error) -> Refusal {
    refused(&error)
}

fn refused(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::Autostart, format!("cannot change what starts at login: {error}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_windows_cannot_be_read_as_another_program() {
        let entry = command(std::path::Path::new(r"C:\Users\Jane Doe\Satchel\satchel-app.exe"));
        assert_eq!(entry, r#""C:\Users\Jane Doe\Satchel\satchel-app.exe" --hidden"#);
    }
}
